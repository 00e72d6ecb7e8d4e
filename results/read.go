package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
)

// A Set is the content of one or several files of results.
type Set struct {
	Results  []*benchfmt.Result
	Units    benchfmt.UnitMetadataMap
	Comments map[string][]Pair // by file: lines "# key: value", in order
}

// What a file may hold, so that one of a stranger does not eat the memory.
const (
	maxFile    = 64 << 20
	maxResults = 1 << 18
	maxConfig  = 1 << 18 // keys, counted anew with every change of one
)

// Read reads files in the Go benchmark format. The first line that is broken
// is an error with file, line and text, and so are a file without a result, and
// one of more than 64 MiB or 262144 results.
func Read(paths ...string) (*Set, error) { return ReadBy(ReadText, paths...) }

// ReadBy is Read where the texts of files come from elsewhere.
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
	set.Units = reader.Units()
	return set, nil
}

// Parse reads the text of a file, as [Read] does; name is for errors and for
// Set.Comments.
func Parse(name string, text []byte) (*Set, error) {
	set := &Set{Comments: map[string][]Pair{}}
	var reader benchfmt.Reader
	if err := set.read(&reader, name, text); err != nil {
		return nil, err
	}
	set.Units = reader.Units()
	return set, nil
}

// ReadText reads the text of a file for [Parse], but no more than it refuses, and without a
// mark of UTF-8 at its head (see [SkipMark]).
func ReadText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return TextOf(file)
}

// TextOf is ReadText of what is open.
func TextOf(file io.Reader) ([]byte, error) {
	text := bufio.NewReader(io.LimitReader(file, maxFile+1))
	SkipMark(text)
	return io.ReadAll(text)
}

// SkipMark skips the bytes that editors of Windows put at the head of a file to mark it as UTF-8,
// and returns how many there are: before a key, they would make it another.
func SkipMark(text *bufio.Reader) int {
	const mark = "\xEF\xBB\xBF"
	if head, _ := text.Peek(len(mark)); string(head) != mark { // an error is the next read's, too
		return 0
	}
	n, _ := text.Discard(len(mark))
	return n
}

func (s *Set) read(reader *benchfmt.Reader, name string, text []byte) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s is longer than the %s that a results file may have", name,
			Bytes(maxFile))
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
	before, keys := len(s.Results), 0
	var config []benchfmt.Config // of the result before
	reader.Reset(bytes.NewReader(text), name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if len(s.Results)-before == maxResults || keys > maxConfig {
				return fmt.Errorf("%s holds more than %d results or changes of configuration",
					name, maxResults)
			}
			r := record.Clone()
			if slices.EqualFunc(r.Config, config, sameConfig) {
				r.Config = config // shared, since it is most of a result
			} else {
				config, keys = r.Config, keys+len(r.Config)
			}
			s.Results = append(s.Results, r)
		case *benchfmt.SyntaxError:
			line := lineOf(text, record.Line)
			return fmt.Errorf("%w%s in the line %q", record, measurement(record, text), line)
		}
	}
	if err := reader.Err(); errors.Is(err, bufio.ErrTooLong) { // it counts the line before
		return fmt.Errorf("%s:%d: the line is longer than the %s that readers of the format take",
			name, longLine(text), Bytes(bufio.MaxScanTokenSize))
	} else if err != nil {
		return err // names the file
	}
	if len(s.Results) == before {
		return fmt.Errorf("%s holds no benchmark results%s", name, foreign(text))
	}
	s.Comments[name] = comments(text)
	return nil
}

// measurement is which field of a line is no value of a measurement, where that is what is wrong,
// and what would be one.
func measurement(fault *benchfmt.SyntaxError, text []byte) string {
	if !strings.HasPrefix(fault.Msg, "parsing measurement") {
		return ""
	}
	lines := bytes.SplitN(text, []byte("\n"), fault.Line+1)
	fields := strings.Fields(string(lines[fault.Line-1]))
	for i := 2; i < len(fields); i += 2 {
		_, err := strconv.ParseFloat(fields[i], 64)
		if err == nil {
			continue
		}
		unit := ""
		if i+1 < len(fields) {
			unit = " " + fields[i+1]
		}
		return fmt.Sprintf(": %.100q (want a number and its unit, such as 12.5 ns/op)",
			fields[i]+unit)
	}
	return ""
}

// conflictMarks begin the lines that git writes around the sides of a merge.
var conflictMarks = []string{"<<<<<<< ", "||||||| ", "=======\n", "=======\r\n", ">>>>>>> "}

// conflict is the number of the first such line of a text, which readers of the format pass over; 0
// if it has none.
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

// longLine is the number of the first line of a text that a bufio.Scanner does not take.
func longLine(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if n++; len(line) >= bufio.MaxScanTokenSize {
			return n
		}
	}
	return n
}

func sameConfig(a, b benchfmt.Config) bool {
	return a.Key == b.Key && a.File == b.File && bytes.Equal(a.Value, b.Value)
}

// A Part is what one file has of a Set.
type Part struct {
	Name string // of the file
	*Set
}

// Files takes a Set apart by file, in the order of their first results. A file
// that was read twice is one.
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

// CheckValues refuses values that are NaN or infinite, which compare with
// nothing, and those below 0 of our units, of which none can be.
func (s *Set) CheckValues() error {
	for _, r := range s.Results {
		for _, v := range r.Values {
			unit, value, wrong := v.Unit, v.Value, ""
			if v.OrigUnit != "" { // as the line has it
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

// Are tells whether a text is results that bench wrote, and not another's benchmarks or
// notes: it begins as these do, has one, and says which caches were simulated or which
// program it is from, or how many results it has, as what was merged of others' benchmarks does.
func Are(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if !inFormat().Match(first) || !hasResult(text) {
		return false
	}
	return signed().Match(text[:min(len(text), 64<<10)]) ||
		ended().Match(text[max(len(text)-100, 0):])
}

// signed is a line that each of our results has before the first benchmark.
var signed = compiled(`(?m)^(sim-[0-9a-z]+|# version): `)

// ended is the last line of a file of ours.
var ended = compiled(`(?:^|\n)# ` + EndKey + `: [0-9]+ results\s*$`)

// inFormat is a line that a file without results may have.
var inFormat = compiled(`^(Benchmark|Unit |#|[a-z][^\s:]*:|(PASS|ok|FAIL|---|\?)\b|\s*$)`)

// compiled is an expression that is compiled when it is used first: most commands read no results,
// and each of them would pay for it.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// foreign says which line of a text is the first that results do not have, for an error. It looks
// at the first MiB.
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

// lineOf is line n of a text, cut to a length that fits an error.
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

// comments are the lines "# key: value" of a text.
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

// Complete refuses a file of ours that is cut off between two lines: one that says of what program
// it is but not at its end how many results it has ([EndKey]), or of others. One of a run that was
// interrupted is refused, too, and one that was merged of parts that are not all.
func (s *Set) Complete() error {
	for _, part := range s.Files() {
		wrote, said, ends := false, 0, 0
		for _, c := range part.Comments[part.Name] {
			switch c.Key {
			case "command":
				wrote = true
			case "interrupted":
				return fmt.Errorf("%s is of a run that was interrupted %s", part.Name, c.Value)
			case PartialKey:
				return fmt.Errorf("%s was merged of parts that are not all: %s", part.Name, c.Value)
			case EndKey:
				n := 0
				if _, err := fmt.Sscanf(c.Value, "%d results", &n); err == nil {
					ends, said = ends+1, said+n
				}
			}
		}
		switch {
		case ends == 0 && wrote:
			return fmt.Errorf("%s is cut off: its last line is not \"# %s: N results\"",
				part.Name, EndKey)
		case ends > 0 && said != len(part.Results) && !part.bothSides(said):
			return fmt.Errorf("%s is cut off or was changed: it has %s, and by its last line %d",
				part.Name, Counted(len(part.Results), "result"), said)
		}
	}
	return nil
}

// bothSides tells whether a file has more results than it says, and no more benchmarks: where
// a merge kept both sides of lines that both had changed, the last line is there once.
func (s *Set) bothSides(said int) bool {
	names := map[string]bool{}
	for _, r := range s.Results {
		names[r.Name.String()] = true
	}
	return len(s.Results) > said && len(names) <= said
}

// Comment is the value of a comment "# key: value" that all files have in common,
// the first of each; "" if one has none or another.
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

// Config returns the configuration that all results share, but for FamilyKey.
// It refuses results that differ in any other key, naming them: they do not
// compare. Labels may differ between benchmarks (see [IsLabel]), and are then left
// out; of SweptKey, each name has to mean the same wherever a benchmark has it.
func (s *Set) Config() (map[string]string, error) {
	var parser benchproc.ProjectionParser
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse(FamilyKey, filter); err != nil { // keeps it out of .config
		return nil, err
	}
	projection, err := parser.Parse(".config", filter)
	if err != nil {
		return nil, err
	}
	var keys []benchproc.Key
	seen := map[benchproc.Key]bool{}
	for _, r := range s.Results {
		if k := projection.Project(r); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	config := map[string]string{}
	for _, field := range projection.FlattenedFields() {
		config[field.Name] = keys[0].Get(field)
	}
	var differ []string
	hint := ""
	for _, field := range benchproc.NonSingularFields(keys) {
		if field.Name == SweptKey {
			all, clash := s.sweptCaches()
			config[SweptKey], differ = all, append(differ, clash...)
			continue
		}
		if IsLabel(field.Name) && s.byShard(field.Name) {
			delete(config, field.Name)
			continue
		}
		if hint == "" && IsLabel(field.Name) && !strings.HasPrefix(field.Name, TuningPrefix) {
			hint = ", or compare machines with bench report --by " + field.Name
		}
		first := keys[0].Get(field)
		other := slices.IndexFunc(keys, func(k benchproc.Key) bool { return k.Get(field) != first })
		differ = append(differ, fmt.Sprintf("%s (%s and %s)", field.Name, orAbsent(first),
			orAbsent(keys[other].Get(field))))
	}
	if differ != nil {
		return nil, fmt.Errorf("the results do not compare, since they differ in %s: take files "+
			"of one machine and geometry%s", strings.Join(differ, ", "), hint)
	}
	return config, nil
}

// sweptCaches is what the results of several sweeps say together of their caches, and of
// which of the names they mean different ones.
func (s *Set) sweptCaches() (all string, differ []string) {
	meant, refused := map[string]string{}, map[string]bool{}
	var entries []string
	for _, r := range s.Results {
		name := Row{Name: r.Name.String()}.Key(sweptPart)
		entry := swept(r.GetConfig(SweptKey), name)
		switch known, ok := meant[name]; {
		case !ok:
			meant[name] = entry
			if entry != "" {
				entries = append(entries, entry)
			}
		case known != entry && !refused[name]:
			refused[name] = true
			differ = append(differ, fmt.Sprintf("%s of %s (%s and %s)", SweptKey, name,
				orAbsent(known), orAbsent(entry)))
		}
	}
	return strings.Join(entries, " "), differ
}

// byShard tells whether all results of a benchmark have the same value of a label, as
// where the shards of a run were run on several machines.
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

// Better is 1 where higher values of a unit are better, and -1 where lower ones
// are. Rates (.../s) are better higher unless something else is said.
func Better(units benchfmt.UnitMetadataMap, unit string) int {
	if b := units.GetBetter(unit); b != 0 {
		return b
	}
	if strings.HasSuffix(unit, "/s") {
		return 1
	}
	return -1
}

// A Stat sums up the samples of one benchmark in one unit.
type Stat struct {
	// median and its 95% confidence interval; of an exact unit, the value
	benchmath.Summary
	N       int       // samples
	Samples []float64 // ascending
}

// HalfWidth is that of the interval, as a share of the median; ok is false where there are too
// few samples for one.
func (s Stat) HalfWidth() (share float64, ok bool) {
	share = max(s.Hi-s.Center, s.Center-s.Lo) / s.Center
	return share, s.N > 0 && !math.IsNaN(share) && !math.IsInf(share, 0)
}

// Unstable is what is said of a time whose interval is wider than the time itself.
const Unstable = "unstable"

// Spread is the half width of an interval in words: "±3%", or Unstable if the share is more than 1.
func Spread(share float64) string {
	if share > 1 {
		return Unstable
	}
	return fmt.Sprintf("±%.0f%%", 100*share)
}

// Median is the median of values, of an even number of them the mean of the two in the middle; NaN
// of none.
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

// Family is the name before its keys: "Traverse".
func (r Row) Family() string { return string(benchfmt.Name(r.Name).Base()) }

// Key is the value of a key in the name, "" if it has none: Key("order") of
// Traverse/op=sum/order=row is "row".
func (r Row) Key(key string) string {
	_, parts := benchfmt.Name(r.Name).Parts()
	for _, part := range parts {
		if value, ok := strings.CutPrefix(string(part), "/"+key+"="); ok {
			return value
		}
	}
	return ""
}

// Bytes is the value of a key as a number of bytes, such as 4KiB; 0 if it is none.
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

// ByElement is the median of a unit by element of a pass. Which elements a pass has its two times
// tell, which lines have to six digits: so it is rounded to five, for what is exact to be the same
// whatever the times of a run were. It is in the unit that lines have, and not ok where they have
// none of it, or no time.
func (r Row) ByElement(unit string) (byElement float64, ok bool) {
	elements := r.Stats["sec/op"].Center / r.Stats["sec/elem"].Center
	s, ok := r.Stats[unit]
	byElement, err := strconv.ParseFloat(strconv.FormatFloat(s.Center/elements, 'e', 4, 64), 64)
	return byElement, ok && err == nil && elements > 1e-30 && elements < 1e30
}

// Rows sums up the results by name, in the order in which names appear.
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

// Noisy returns the rows whose times are uncertain by more than limit (see
// Stat.HalfWidth), such as 0.05.
func Noisy(rows []Row, limit float64) []Row {
	var noisy []Row
	for _, r := range rows {
		if width, ok := r.Stats["sec/op"].HalfWidth(); ok && width > limit {
			noisy = append(noisy, r)
		}
	}
	return noisy
}
