// Package export is the program's own and promises nothing. It writes results in the formats of
// other programs: CSV, JSON lines, github-action-benchmark's and Bencher's.
//
//  1. Read results ([results.Read]).
//  2. [Records] summarizes them, with a [Record] for each benchmark and unit.
//  3. [Of] adds the commit, the date and the machine.
//  4. [Formats] write them.
package export

import (
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

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A Record is one benchmark of a file in one unit.
type Record struct {
	Commit      string  `json:"commit,omitempty"`
	Date        string  `json:"date,omitempty"`
	Fingerprint string  `json:"fingerprint,omitempty"` // of the machine
	Name        string  `json:"name"`                  // with the word Benchmark
	Unit        string  `json:"unit"`                  // as in the files: ns/op, B/s, D1-misses/op
	Median      float64 `json:"median"`
	// of the median's 95% interval; nil for few samples and exact units
	Lower   *float64 `json:"lower,omitempty"`
	Upper   *float64 `json:"upper,omitempty"`
	Samples int      `json:"samples"`
	Exact   bool     `json:"exact"`
	Better  string   `json:"better"` // "lower" or "higher"
}

// Records summarizes a set by name, and units in the order of [results.Units], then others.
func Records(set *results.Set) ([]Record, error) {
	if err := set.CheckValues(); err != nil {
		return nil, err
	}
	var records []Record
	for _, row := range set.Rows() {
		units := slices.SortedFunc(maps.Keys(row.Stats), func(a, b string) int {
			if d := rank(a) - rank(b); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		for _, unit := range units {
			records = append(records, record(set.Units, row, unit))
		}
	}
	return records, nil
}

// Of sets the commit, date and machine's fingerprint that all files name. It returns an error if
// files do not compare.
func Of(set *results.Set, records []Record) error {
	config, err := set.Config()
	if err != nil {
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

// Formats maps the name of a format to its writer.
var Formats = map[string]func(io.Writer, []Record) error{
	"csv": writeCSV, "jsonl": writeJSONLines, "github-action-benchmark": writeGitHubActionBenchmark,
	"bencher": writeBencher,
}

// writeCSV writes CSV (RFC 4180). A text that a spreadsheet would read as a formula gets a leading
// '. Invalid UTF-8 is replaced as in JSON.
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

func writeJSONLines(w io.Writer, records []Record) error {
	e := json.NewEncoder(w)
	for _, r := range records {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// writeGitHubActionBenchmark writes the medians for github-action-benchmark's tool
// "customSmallerIsBetter": objects with name, unit, value, range and extra
// (https://github.com/benchmark-action/github-action-benchmark, README, "Minimal setup" of custom
// benchmarks). Names follow its "go" tool with several units: "BenchmarkX - ns/op". Units in which
// more is better are left out.
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
			Extra: "median of " + show.Counted(r.Samples, "sample")}
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

// Bencher's limits for names (https://bencher.dev/docs/reference/bencher-metric-format/).
const (
	maxBenchmark = 1024
	maxMeasure   = 64
)

// writeBencher writes Bencher Metric Format. The measure of ns/op is Bencher's "latency", in ns;
// others are named by their unit.
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
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
