// Package export writes results in the formats of other programs: CSV, JSON
// lines, github-action-benchmark's and Bencher's.
//
//  1. Read results ([results.Read]).
//  2. [Records] summarizes them, with a [Record] for each benchmark and unit.
//  3. [Of] adds the commit, the date and the machine.
//  4. [Formats] write them.
package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/stridebench/stridebench/results"
)

// A Record is one benchmark in one unit, of one file.
type Record struct {
	Commit      string  `json:"commit,omitempty"`
	Date        string  `json:"date,omitempty"`
	Fingerprint string  `json:"fingerprint,omitempty"` // of the machine
	Name        string  `json:"name"`                  // with the word Benchmark
	Unit        string  `json:"unit"`                  // as in the files: ns/op, B/s, D1-misses/op
	Median      float64 `json:"median"`
	// of the median's 95% interval; nil if the samples are too few, and of an exact unit
	Lower   *float64 `json:"lower,omitempty"`
	Upper   *float64 `json:"upper,omitempty"`
	Samples int      `json:"samples"`
	Exact   bool     `json:"exact"`
	Better  string   `json:"better"` // "lower" or "higher"
}

// Records sums up a set, in the order of its names and of [results.Units],
// other units after them.
func Records(set *results.Set) ([]Record, error) {
	if err := set.CheckValues(); err != nil {
		return nil, err
	}
	with := *set
	with.Units = withOurs(set.Units)
	var records []Record
	for _, row := range with.Rows() {
		units := slices.SortedFunc(maps.Keys(row.Stats), func(a, b string) int {
			if d := rank(a) - rank(b); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		for _, unit := range units {
			records = append(records, record(with.Units, row, unit))
		}
	}
	return records, nil
}

// noCopies refuses a file of which another one has all results, if these are timed: simulated ones
// are the same of each run.
func noCopies(set *results.Set) error {
	files := set.Files()
	var lines []map[string]int // of each file, how often it has a result
	timed := make([]int, len(files))
	for i, file := range files {
		lines = append(lines, map[string]int{})
		for _, r := range file.Results {
			if _, ok := r.Value("sec/op"); ok {
				lines[i][fmt.Sprint(r.Name, r.Iters, r.Values)]++
				timed[i]++
			}
		}
	}
	for i := range files {
		for j := range files {
			if i == j || timed[i] == 0 || timed[i] > timed[j] || timed[i] == timed[j] && i < j {
				continue
			}
			copied := true
			for line, n := range lines[i] {
				copied = copied && lines[j][line] >= n
			}
			if copied {
				return fmt.Errorf("%s: %s has all of its results, and they would count twice: "+
					"leave one of the two out", files[i].Name, files[j].Name)
			}
		}
	}
	return nil
}

// withOurs are the units of files with ours that are exact, of which a file that was cut out of
// another may not say it.
func withOurs(units benchfmt.UnitMetadataMap) benchfmt.UnitMetadataMap {
	all := maps.Clone(units)
	for _, u := range results.Units {
		_, tidied := benchunit.Tidy(1, u.Name)
		key := benchfmt.UnitMetadataKey{Unit: tidied, Key: "assume"}
		if u.Exact && all[key] == nil {
			all[key] = &benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: u.Name,
				Value: "exact"}
		}
	}
	return all
}

// Of sets where records are from: the commit, the date and the machine's
// fingerprint that the files name, where all of them name the same. Files that do not
// compare are an error, and one of which another has all results, as its samples count
// twice.
func Of(set *results.Set, records []Record) error {
	config, err := set.Config()
	if err != nil {
		return err
	}
	if err := noCopies(set); err != nil {
		return err
	}
	fingerprint := ""
	if f := results.FingerprintOf(config); f.Known() {
		fingerprint = f.Hash()
	}
	commit, date := set.Comment("commit"), set.Comment("date")
	for i := range records {
		records[i].Commit, records[i].Date, records[i].Fingerprint = commit, date, fingerprint
	}
	return nil
}

// rank is the place of a unit, tidied, among ours.
func rank(unit string) int {
	_, plain := results.InFiles(0, unit)
	if i := slices.IndexFunc(results.Units, func(u results.Unit) bool {
		return u.Name == plain
	}); i >= 0 {
		return i
	}
	return len(results.Units)
}

func record(units benchfmt.UnitMetadataMap, row results.Row, unit string) Record {
	s := row.Stats[unit]
	median, plain := results.InFiles(s.Center, unit)
	r := Record{Name: "Benchmark" + row.Name, Unit: plain, Median: median, Samples: s.N,
		Exact: units.GetAssumption(unit) == benchmath.AssumeExact, Better: "lower"}
	if results.Better(units, unit) > 0 {
		r.Better = "higher"
	}
	if !r.Exact && !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		lo, _ := results.InFiles(s.Lo, unit)
		hi, _ := results.InFiles(s.Hi, unit)
		r.Lower, r.Upper = &lo, &hi
	}
	return r
}

// Formats are the formats, by name.
var Formats = map[string]func(io.Writer, []Record) error{
	"csv": writeCSV, "jsonl": writeJSONLines, "github-action-benchmark": writeGitHubActionBenchmark,
	"bencher": writeBencher,
}

// writeCSV writes a line for each record under a head (RFC 4180). A text that a
// spreadsheet would take for a formula gets a ' before it, and bytes that are no UTF-8
// are replaced as in JSON.
func writeCSV(w io.Writer, records []Record) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"commit", "date", "fingerprint", "name", "unit", "median", "lower",
		"upper", "samples", "exact", "better"}); err != nil {
		return err
	}
	for _, r := range records {
		cells := []string{text(r.Commit), text(r.Date), text(r.Fingerprint), text(r.Name),
			text(r.Unit),
			number(&r.Median), number(r.Lower), number(r.Upper), strconv.Itoa(r.Samples),
			strconv.FormatBool(r.Exact), r.Better}
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func text(cell string) string {
	cell = string([]rune(cell))
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// writeJSONLines writes each record as JSON in a line.
func writeJSONLines(w io.Writer, records []Record) error {
	e := json.NewEncoder(w)
	for _, r := range records {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// writeGitHubActionBenchmark writes the medians as github-action-benchmark's tool
// "customSmallerIsBetter" reads them: an array of objects with name, unit,
// value, range and extra (https://github.com/benchmark-action/github-action-benchmark,
// README, "Minimal setup" of custom benchmarks). A name is that of its "go"
// tool with several units: "BenchmarkX - ns/op". Units of which more is
// better, such as B/s, are left out.
func writeGitHubActionBenchmark(w io.Writer, records []Record) error {
	type entry struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
		Range string  `json:"range,omitempty"`
		Extra string  `json:"extra"`
	}
	list := []entry{}
	for _, r := range records {
		if r.Better == "higher" {
			continue
		}
		e := entry{Name: r.Name + " - " + r.Unit, Unit: r.Unit, Value: r.Median,
			Extra: "median of " + results.Counted(r.Samples, "sample")}
		switch {
		case r.Exact:
			e.Extra = "simulated, exact"
		case r.Samples == 1:
			e.Extra = "1 sample"
		}
		if r.Lower != nil {
			e.Range = "± " + strconv.FormatFloat(max(r.Median-*r.Lower,
				*r.Upper-r.Median), 'g', 3, 64)
		}
		list = append(list, e)
	}
	return writeJSON(w, list)
}

// Bencher's limits of names (https://bencher.dev/docs/reference/bencher-metric-format/).
const (
	maxBenchmark = 1024
	maxMeasure   = 64
)

// writeBencher writes Bencher Metric Format: benchmarks with their measures, each
// with value and, of times, lower_value and upper_value. The measure of ns/op
// is Bencher's own "latency", which is in ns; others are named by their unit.
func writeBencher(w io.Writer, records []Record) error {
	type metric struct {
		Value float64  `json:"value"`
		Lower *float64 `json:"lower_value,omitempty"`
		Upper *float64 `json:"upper_value,omitempty"`
	}
	all := map[string]map[string]metric{}
	for _, r := range records {
		measure := r.Unit
		if measure == "ns/op" {
			measure = "latency"
		}
		if len(r.Name) > maxBenchmark || len(measure) > maxMeasure {
			return fmt.Errorf("%.60s... in %.60s: Bencher takes names of at most %d characters "+
				"and units of %d", r.Name, r.Unit, maxBenchmark, maxMeasure)
		}
		if all[r.Name] == nil {
			all[r.Name] = map[string]metric{}
		}
		all[r.Name][measure] = metric{r.Median, r.Lower, r.Upper}
	}
	return writeJSON(w, all)
}

func writeJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
