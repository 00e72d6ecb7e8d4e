package results

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"

	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// A Set is the content of one or several files of results.
type Set struct {
	Results  []*benchfmt.Result
	Units    benchfmt.UnitMetadataMap
	Comments map[string][]Pair // by file: lines "# key: value", in order
}

// Limits of a file, so that a stranger's file does not exhaust memory.
const (
	maxResults = 1 << 18
	maxConfig  = 1 << 18 // keys, all counted again at each change of one
)

// Read reads files in the Go benchmark format. It returns an error with file, line and text for the
// first broken line, and for a file without a result, or above 64 MiB or 262144 results.
func Read(paths ...string) (*Set, error) { return ReadBy(infile.Text, paths...) }

// ReadBy is Read with the files' texts from textOf.
func ReadBy(textOf func(path string) ([]byte, error), paths ...string) (*Set, error) {
	set := &Set{Comments: map[string][]Pair{}}
	var reader benchfmt.Reader
	for _, path := range paths {
		text, err := textOf(path)
		if err == nil {
			err = set.read(&reader, path, text)
		}
		if err != nil {
			return nil, err
		}
	}
	set.Units = withOwn(reader.Units())
	return set, nil
}

// withOwn says what this program's units are, whatever a file says: it may be cut out of another,
// or come from a stranger.
func withOwn(units benchfmt.UnitMetadataMap) benchfmt.UnitMetadataMap {
	all := maps.Clone(units)
	for _, u := range Units {
		assume := "nothing"
		if u.Exact {
			assume = "exact"
		}
		_, tidied := benchunit.Tidy(1, u.Name)
		for key, value := range map[string]string{"better": u.Better, "assume": assume} {
			k := benchfmt.UnitMetadataKey{Unit: tidied, Key: key}
			all[k] = &benchfmt.UnitMetadata{UnitMetadataKey: k, OrigUnit: u.Name, Value: value}
		}
	}
	return all
}

// Parse reads a file's text; name is for errors and Set.Comments.
func Parse(name string, text []byte) (*Set, error) {
	return ReadBy(func(string) ([]byte, error) { return text, nil }, name)
}

func (s *Set) read(reader *benchfmt.Reader, name string, text []byte) error {
	if len(text) > infile.Most {
		return fmt.Errorf("%s is longer than the %s that a results file may have", name,
			show.Bytes(infile.Most))
	}
	if !hasResult(text) {
		return fmt.Errorf("%s holds no benchmark results%s", name, foreign(text))
	}
	if text[len(text)-1] != '\n' {
		return fmt.Errorf("%s: the last line has no end: the file is cut off", name)
	}
	if n := conflict(text); n > 0 {
		return fmt.Errorf("%s:%d: the line %q is of a merge that is not resolved: keep one side, "+
			"or both without such lines", name, n, strings.TrimSuffix(lineOf(text, n), "\r"))
	}
	before, changes := len(s.Results), 0
	var config []benchfmt.Config // of the previous result
	reader.Reset(bytes.NewReader(text), name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if len(s.Results)-before == maxResults || changes > maxConfig {
				return fmt.Errorf("%s holds more than %d results or changes of configuration",
					name, maxResults)
			}
			r := record.Clone()
			if slices.EqualFunc(r.Config, config, sameConfig) {
				r.Config = config // shared, since it is most of a result
			} else {
				config, changes = r.Config, changes+len(r.Config)
			}
			s.Results = append(s.Results, r)
		case *benchfmt.SyntaxError:
			return fmt.Errorf("%w in the line %q", record, lineOf(text, record.Line))
		}
	}
	if err := reader.Err(); err != nil {
		return err // it names the file
	}
	if len(s.Results) == before {
		return fmt.Errorf("%s holds no benchmark results%s", name, foreign(text))
	}
	s.Comments[name] = comments(text)
	return nil
}

var conflictMarks = []string{"<<<<<<< ", "||||||| ", "=======\n", "=======\r\n", ">>>>>>> "}

// conflict returns the line of the first mark, 0 if none. Readers of the format skip these lines.
func conflict(text []byte) int {
	first := len(text)
	for _, mark := range conflictMarks {
		if bytes.HasPrefix(text, []byte(mark)) {
			return 1
		}
		if at := bytes.Index(text[:first], []byte("\n"+mark)); at >= 0 {
			first = at
		}
	}
	if first == len(text) {
		return 0
	}
	return 2 + bytes.Count(text[:first], []byte("\n"))
}

func sameConfig(a, b benchfmt.Config) bool {
	return a.Key == b.Key && a.File == b.File && bytes.Equal(a.Value, b.Value)
}

// A Part is one file's share of a Set.
type Part struct {
	Name string // of the file
	*Set
}

// Files splits a Set by file, in the order of first results. A file read twice is one Part.
func (s *Set) Files() []Part {
	var parts []Part
	at := map[string]int{}
	for _, r := range s.Results {
		name, _ := r.Pos()
		i, ok := at[name]
		if !ok {
			i = len(parts)
			at[name] = i
			parts = append(parts, Part{name, &Set{Units: s.Units,
				Comments: map[string][]Pair{name: s.Comments[name]}}})
		}
		parts[i].Results = append(parts[i].Results, r)
	}
	return parts
}

// Names returns the names of the results, without the word Benchmark.
func (s *Set) Names() map[string]bool {
	names := map[string]bool{}
	for _, r := range s.Results {
		names[r.Name.String()] = true
	}
	return names
}

// CheckValues returns an error for values that cannot be compared: NaN, infinite, or below 0 in
// this program's units.
func (s *Set) CheckValues() error {
	for _, r := range s.Results {
		for _, v := range r.Values {
			unit, value, wrong := v.Unit, v.Value, ""
			if v.OrigUnit != "" { // as in the line
				unit, value = v.OrigUnit, v.OrigValue
			}
			switch {
			case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
				wrong = "is not a finite number"
			case v.Value < 0 && slices.ContainsFunc(Units, func(u Unit) bool {
				return u.Name == unit
			}):
				wrong = "is less than nothing (want 0 or more)"
			default:
				continue
			}
			file, line := r.Pos()
			return fmt.Errorf("%s:%d: %v %s %s", file, line, value, unit, wrong)
		}
	}
	return nil
}

func hasResult(text []byte) bool {
	return bytes.HasPrefix(text, []byte("Benchmark")) || bytes.Contains(text, []byte("\nBenchmark"))
}

// Are reports whether bench wrote a text. It must begin in the format and have a result. It must
// also name simulated caches or the program, or end with the number of results, as merged files of
// others do.
func Are(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if !inFormat().Match(first) || !hasResult(text) {
		return false
	}
	return signed().Match(text[:min(len(text), 64<<10)]) ||
		ended().Match(text[max(len(text)-100, 0):])
}

var signed = compiled(`(?m)^(sim-[0-9a-z]+|# version): `)

// ended matches the last line that bench writes.
var ended = compiled(`(?:^|\n)# ` + keys.End + `: [0-9]+ results\s*$`)

var inFormat = compiled(`^(Benchmark|Unit |#|[a-z][^\s:]*:|(PASS|ok|FAIL|---|\?)\b|\s*$)`)

// compiled compiles an expression at first use: most commands read no results.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// foreign returns the first line that results cannot have, within the first MiB.
func foreign(text []byte) string {
	switch {
	case len(text) == 0:
		return ": it is empty"
	case bytes.HasPrefix(text, []byte{0x1F, 0x8B}):
		return ": it is packed by gzip: unpack it first (gunzip)"
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}), bytes.HasPrefix(text, []byte{0xFE, 0xFF}):
		return ": it is UTF-16, as > of PowerShell writes it: want UTF-8 (| Out-File " +
			"-Encoding utf8)"
	}
	n := 0
	for line := range bytes.Lines(text[:min(len(text), 1<<20)]) {
		if n++; inFormat().Match(line) {
			continue
		}
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return fmt.Sprintf(": line %d is not text", n)
		}
		return fmt.Sprintf(": line %d is %q", n, lineOf(text, n))
	}
	return ": no line begins with Benchmark"
}

func lineOf(text []byte, n int) string {
	for range n - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if len(line) > 120 {
		line = append(line[:117:117], "..."...)
	}
	return string(line)
}

func comments(text []byte) []Pair {
	var pairs []Pair
	for line := range bytes.Lines(text) {
		remark, ok := bytes.CutPrefix(line, []byte("# "))
		if !ok {
			continue
		}
		if key, value, ok := bytes.Cut(remark, []byte(": ")); ok && !bytes.ContainsRune(key, ' ') {
			pairs = append(pairs, Pair{string(key), string(bytes.TrimSpace(value))})
		}
	}
	return pairs
}

// Complete returns an error if a file of bench is cut off between two lines, by the number of
// results at its end ([keys.End]). Interrupted runs and incomplete merges are errors too.
func (s *Set) Complete() error {
	for _, part := range s.Files() {
		wrote, said, ends := false, 0, 0
		for _, c := range part.Comments[part.Name] {
			switch c.Key {
			case "command":
				wrote = true
			case "interrupted":
				return fmt.Errorf("%s is of a run that was interrupted %s", part.Name, c.Value)
			case keys.Partial:
				return fmt.Errorf("%s was merged of parts that are not all: %s", part.Name, c.Value)
			case keys.End:
				n := 0
				if _, err := fmt.Sscanf(c.Value, "%d results", &n); err == nil {
					ends, said = ends+1, said+n
				}
			}
		}
		switch {
		case ends == 0 && wrote:
			return fmt.Errorf("%s is cut off: its last line is not \"# %s: N results\"",
				part.Name, keys.End)
		case ends > 0 && said != len(part.Results) && !part.bothSides(said):
			return fmt.Errorf("%s is cut off or was changed: it has %s, and by its last line %d",
				part.Name, show.Counted(len(part.Results), "result"), said)
		}
	}
	return nil
}

// bothSides reports more results than the last line says, but not more benchmarks: a merge that
// kept both sides of changed lines keeps the last line once.
func (s *Set) bothSides(said int) bool {
	return len(s.Results) > said && len(s.Names()) <= said
}

// Comment returns the value of a comment "# key: value" that all files share, else "".
func (s *Set) Comment(key string) string {
	common, files := "", 0
	for _, pairs := range s.Comments {
		value := ""
		if i := slices.IndexFunc(pairs, func(p Pair) bool { return p.Key == key }); i >= 0 {
			value = pairs[i].Value
		}
		if files++; files > 1 && value != common {
			return ""
		}
		common = value
	}
	return common
}

// Config returns the configuration that all results share, without [keys.Family]. It returns an
// error with the keys that differ: such results do not compare. Labels that differ only between
// benchmarks are left out ([keys.IsLabel]). A name in [keys.Swept] must mean the same caches in all
// results.
func (s *Set) Config() (map[string]string, error) {
	var parser benchproc.ProjectionParser
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse(keys.Family, filter); err != nil { // excludes it from .config
		return nil, err
	}
	projection, err := parser.Parse(".config", filter)
	if err != nil {
		return nil, err
	}
	var all []benchproc.Key
	seen := map[benchproc.Key]bool{}
	for _, r := range s.Results {
		if k := projection.Project(r); !seen[k] {
			seen[k] = true
			all = append(all, k)
		}
	}
	config := map[string]string{}
	for _, field := range projection.FlattenedFields() {
		config[field.Name] = all[0].Get(field)
	}
	var differ []string
	hint := ""
	for _, field := range benchproc.NonSingularFields(all) {
		if field.Name == keys.Swept {
			caches, clash := s.sweptCaches()
			config[keys.Swept], differ = caches, append(differ, clash...)
			continue
		}
		label := keys.IsLabel(field.Name)
		if label && s.byShard(field.Name) {
			delete(config, field.Name)
			continue
		}
		if hint == "" && label && !strings.HasPrefix(field.Name, keys.Tuning) {
			hint = ", or compare machines with bench report --by " + field.Name
		}
		first := all[0].Get(field)
		other := slices.IndexFunc(all, func(k benchproc.Key) bool { return k.Get(field) != first })
		differ = append(differ, fmt.Sprintf("%s (%s and %s)", field.Name, orAbsent(first),
			orAbsent(all[other].Get(field))))
	}
	if differ != nil {
		return nil, fmt.Errorf("the results do not compare, since they differ in %s: take files "+
			"of one machine and geometry%s", strings.Join(differ, ", "), hint)
	}
	return config, nil
}

// sweptCaches returns the caches of several sweeps, and names that mean different ones.
func (s *Set) sweptCaches() (all string, differ []string) {
	meant, refused := map[string]string{}, map[string]bool{}
	var entries []string
	for _, r := range s.Results {
		name := Row{Name: r.Name.String()}.Key(sweptPart)
		entry := swept(r.GetConfig(keys.Swept), name)
		switch known, ok := meant[name]; {
		case !ok:
			meant[name] = entry
			if entry != "" {
				entries = append(entries, entry)
			}
		case known != entry && !refused[name]:
			refused[name] = true
			differ = append(differ, fmt.Sprintf("%s of %s (%s and %s)", keys.Swept, name,
				orAbsent(known), orAbsent(entry)))
		}
	}
	return strings.Join(entries, " "), differ
}

// byShard reports whether each benchmark has one value of a label, as for shards run on several
// machines.
func (s *Set) byShard(label string) bool {
	of := map[string]string{}
	for _, r := range s.Results {
		name, value := r.Name.String(), r.GetConfig(label)
		if known, ok := of[name]; ok && known != value {
			return false
		}
		of[name] = value
	}
	return true
}

// Better returns 1 if higher values are better, else -1. Rates (.../s) are better higher by
// default.
func Better(units benchfmt.UnitMetadataMap, unit string) int {
	if b := units.GetBetter(unit); b != 0 {
		return b
	}
	if strings.HasSuffix(unit, "/s") {
		return 1
	}
	return -1
}

// A Stat summarizes the samples of one benchmark in one unit.
type Stat struct {
	// median and its 95% confidence interval; for an exact unit, the value
	benchmath.Summary
	N       int       // samples
	Samples []float64 // ascending
}

// HalfWidth returns half the interval's width as a share of the median. ok is false for too few
// samples.
func (s Stat) HalfWidth() (share float64, ok bool) {
	share = max(s.Hi-s.Center, s.Center-s.Lo) / s.Center
	return share, s.N > 0 && !math.IsNaN(share) && !math.IsInf(share, 0)
}

// Median returns the median, NaN for no values.
func Median(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		return math.NaN()
	}
	return m
}

// A Row is one benchmark with its statistics.
type Row struct {
	Name  string          // without the word Benchmark
	Stats map[string]Stat // by tidied unit: sec/op, B/s, D1-misses/op, ...
}

// Family returns the name before its keys: "Traverse".
func (r Row) Family() string { return string(benchfmt.Name(r.Name).Base()) }

// Key returns a key's value in the name, "" if absent: Key("order") of Traverse/op=sum/order=row is
// "row".
func (r Row) Key(key string) string {
	_, parts := benchfmt.Name(r.Name).Parts()
	for _, part := range parts {
		if value, ok := strings.CutPrefix(string(part), "/"+key+"="); ok {
			return value
		}
	}
	return ""
}

// Bytes returns a key's value in bytes, such as 4KiB, 0 if malformed.
func (r Row) Bytes(key string) int {
	text := r.Key(key)
	for i, unit := range []string{"KiB", "MiB", "GiB", "B"} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		shift := []int{10, 20, 30, 0}[i]
		if err != nil || n <= 0 || n > 1<<50>>shift {
			return 0
		}
		return n << shift
	}
	return 0
}

// ByElement returns the median of a unit per element, in the files' unit. The number of elements
// follows from the two times, which lines hold to six digits. So the result is rounded to five, and
// an exact unit does not vary with a run's times. ok is false without the unit or a time.
func (r Row) ByElement(unit string) (byElement float64, ok bool) {
	elements := r.Stats["sec/op"].Center / r.Stats["sec/elem"].Center
	s, ok := r.Stats[unit]
	byElement, err := strconv.ParseFloat(strconv.FormatFloat(s.Center/elements, 'e', 4, 64), 64)
	return byElement, ok && err == nil && elements > 1e-30 && elements < 1e30
}

// Rows summarizes the results by name, in order of appearance.
func (s *Set) Rows() []Row {
	samples := map[string]map[string][]float64{} // by name and unit
	var names []string
	for _, r := range s.Results {
		name := r.Name.String()
		if samples[name] == nil {
			samples[name] = map[string][]float64{}
			names = append(names, name)
		}
		for _, v := range r.Values {
			samples[name][v.Unit] = append(samples[name][v.Unit], v.Value)
		}
	}
	var rows []Row
	for _, name := range names {
		row := Row{name, map[string]Stat{}}
		for unit, values := range samples[name] {
			row.Stats[unit] = s.stat(unit, values)
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *Set) stat(unit string, values []float64) Stat {
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	return Stat{Summary: s.Units.GetAssumption(unit).Summary(sample, 0.95), N: len(values),
		Samples: sample.Values}
}
