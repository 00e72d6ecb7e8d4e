package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/montanaflynn/stats"
)

// A Set is the content of one or several files of results.
type Set struct {
	Results  []*benchfmt.Result
	Units    benchfmt.UnitMetadataMap
	Comments map[string][]Pair // by file: lines "# key: value", in order
}

// Read reads files in the Go benchmark format. The first line that is broken
// is an error with file, line and text, and so is a file without a result.
func Read(paths ...string) (*Set, error) {
	set := &Set{Comments: map[string][]Pair{}}
	var reader benchfmt.Reader
	for _, path := range paths {
		before := len(set.Results)
		if err := set.read(&reader, path); err != nil {
			return nil, err
		}
		if len(set.Results) == before {
			return nil, fmt.Errorf("%s holds no benchmark results", path)
		}
	}
	set.Units = reader.Units()
	return set, nil
}

func (s *Set) read(reader *benchfmt.Reader, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	comments := &commentReader{r: file}
	reader.Reset(comments, path)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			s.Results = append(s.Results, record.Clone())
		case *benchfmt.SyntaxError:
			return fmt.Errorf("%w in the line %q", record, lineOf(path, record.Line))
		}
	}
	s.Comments[path] = comments.pairs
	return reader.Err()
}

// lineOf is the text of line n, cut to a length that fits an error.
func lineOf(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for range n - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if len(line) > 120 {
		line = append(line[:117:117], "..."...)
	}
	return string(line)
}

// A commentReader passes a file on and keeps its "# key: value" lines.
type commentReader struct {
	r       io.Reader
	partial []byte // of a line, as far as it may become a comment
	pairs   []Pair
}

// Read implements io.Reader.
func (c *commentReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	rest := p[:n]
	for len(rest) > 0 {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if len(c.partial) < bufio.MaxScanTokenSize { // longer lines are no use to benchfmt either
			c.partial = append(c.partial, line...)
		}
		if !ended {
			break
		}
		c.line()
		rest = after
	}
	if errors.Is(err, io.EOF) {
		c.line()
	}
	return n, err
}

func (c *commentReader) line() {
	if text, ok := strings.CutPrefix(string(c.partial), "# "); ok {
		if key, value, ok := strings.Cut(text, ": "); ok && !strings.Contains(key, " ") {
			c.pairs = append(c.pairs, Pair{key, strings.TrimSpace(value)})
		}
	}
	c.partial = c.partial[:0]
}

// Config returns the configuration that all results share, but for FamilyKey.
// It refuses results that differ in any other key, naming them: they do not
// compare.
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
	for _, field := range benchproc.NonSingularFields(keys) {
		differ = append(differ, fmt.Sprintf("%s (%q and others)", field.Name, keys[0].Get(field)))
	}
	if differ != nil {
		return nil, fmt.Errorf("the results do not compare, since they differ in %s: take files of one machine and geometry", strings.Join(differ, ", "))
	}
	return config, nil
}

// A Stat sums up the samples of one benchmark in one unit.
type Stat struct {
	benchmath.Summary         // median and its 95% confidence interval; of an exact unit, the value
	N                 int     // samples
	Spread            float64 // median absolute deviation from the median, as a share of it
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

// Rows sums up the results by name, in the order in which names appear.
func (s *Set) Rows() ([]Row, error) {
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
			stat, err := s.stat(unit, values)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, unit, err)
			}
			row.Stats[unit] = stat
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *Set) stat(unit string, values []float64) (Stat, error) {
	median, err := stats.Median(values)
	if err != nil {
		return Stat{}, err
	}
	deviation, err := stats.MedianAbsoluteDeviation(values)
	if err != nil {
		return Stat{}, err
	}
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	stat := Stat{Summary: s.Units.GetAssumption(unit).Summary(sample, 0.95), N: len(values)}
	if median != 0 {
		stat.Spread = deviation / median
	}
	return stat, nil
}

// Noisy returns the rows whose times spread by more than limit (see
// Stat.Spread), such as 0.05.
func Noisy(rows []Row, limit float64) []Row {
	var noisy []Row
	for _, r := range rows {
		if r.Stats["sec/op"].Spread > limit {
			noisy = append(noisy, r)
		}
	}
	return noisy
}
