// Package fleet is the program's own and promises nothing. It compares machines that ran one suite,
// and finds those that are out of line with their peers.
//
//  1. [Read] reads the files of all machines, or their merged file, one result at a
//     time, into a [Matrix] of machines by benchmark.
//  2. [Matrix.Judge] compares each machine with its peers, the machines of the same
//     CPU. It returns the machines out of line, by how much, and why, if the files say it.
//  3. [Matrix.WriteCSV] writes the matrix.
package fleet

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/merge"
)

// A Cell is one benchmark on one machine. Its zero value has no samples.
type Cell struct {
	Ns     float64 // median
	Spread float64 // median absolute deviation, as a share of the median
	GHz    float64 // CPU cycles by time, 0 if not counted
	N      int     // samples
}

// A Machine is one value of the label.
type Machine struct {
	Name   string
	Config map[string]string
	Facts  map[string]string // comments of its files, such as microcode and activity
	Cells  []Cell            // by benchmark
}

// A Matrix is machines by benchmark.
type Matrix struct {
	Label      string // whose values the machines are
	Machines   []Machine
	Benchmarks []string // by first appearance, without the word Benchmark
	// by benchmark: over 1% of accesses miss the last simulated cache
	Memory []bool

	// Copies are files whose samples all lie in others too, such as single runs next to their
	// merged file. A sample counts once.
	Copies []string
}

// Limits of a fleet: more is taken for a mistake.
const (
	maxSamples = 1 << 26
	maxNames   = 1 << 16
)

// facts are the comments that describe a machine.
var facts = []string{keys.Node, keys.Activity, "kernel-release", "microcode", "memory",
	"hypervisor", "governor", "turbo", "pages-obtained"}

type reader struct {
	*Matrix
	machines   map[string]*samples
	file       map[string]*samples // of the current file
	benchmarks map[string]int
	total      int
	sizes      map[string]int // samples of each file
	own        map[string]int // benchmarks whose samples come from the file, by file
}

type samples struct {
	Machine
	cells []cell
}

type cell struct {
	ns, cycles []float64
	files      []string // that the samples come from
}

// fold adds the samples of a file. It drops those of a benchmark that others have all of, and
// replaces others that the file has all of.
func (r *reader) fold(file string) {
	for name, part := range r.file {
		s := r.machines[name]
		s.cells = append(s.cells, make([]cell, max(0, len(part.cells)-len(s.cells)))...)
		for i, added := range part.cells {
			all := &s.cells[i]
			r.sizes[file] += len(added.ns)
			switch {
			case holds(all.ns, added.ns): // also if the file has none
			case holds(added.ns, all.ns):
				for _, other := range all.files {
					r.own[other]--
				}
				added.files = []string{file}
				*all, r.own[file] = added, r.own[file]+1
			default:
				r.own[file]++
				*all = cell{append(all.ns, added.ns...), append(all.cycles, added.cycles...),
					append(all.files, file)}
			}
		}
	}
	clear(r.file)
}

// holds reports whether all samples of others are among all.
func holds(all, others []float64) bool {
	at, all := 0, slices.Sorted(slices.Values(all))
	for _, v := range slices.Sorted(slices.Values(others)) {
		for at < len(all) && all[at] < v {
			at++
		}
		if at == len(all) || all[at] != v {
			return false
		}
		at++
	}
	return true
}

// Read reads files into a matrix by the values of a label, and calls step after each. Every result
// needs the label.
func Read(label string, stdin io.Reader, step func(), paths ...string) (*Matrix, error) {
	r := reader{&Matrix{Label: label}, map[string]*samples{}, map[string]*samples{},
		map[string]int{}, 0, map[string]int{}, map[string]int{}}
	size := func(path string) int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return math.MaxInt64 // stdin
	}
	// merged files come before the runs that they are made of
	for _, path := range slices.SortedStableFunc(slices.Values(paths), func(a, b string) int {
		return cmp.Compare(size(b), size(a))
	}) {
		if err := r.read(path, stdin); err != nil {
			return nil, err
		}
		r.fold(path)
		if step != nil {
			step()
		}
	}
	if r.total == 0 {
		return nil, errors.New("no time of a benchmark in these files")
	}
	for _, s := range r.machines {
		s.Cells = make([]Cell, len(r.Benchmarks))
		for i, c := range s.cells {
			s.Cells[i] = cellOf(c.ns, c.cycles)
		}
		r.Machines = append(r.Machines, s.Machine)
	}
	for _, path := range paths {
		if r.sizes[path] > 0 && r.own[path] == 0 {
			r.Copies = append(r.Copies, path)
		}
	}
	slices.SortFunc(r.Machines, func(a, b Machine) int { return merge.Natural(a.Name, b.Name) })
	return r.Matrix, nil
}

// A NoLabelError reports a result before any line with the label.
type NoLabelError struct {
	File  string
	Line  int
	Label string
}

// Error returns the place, and the command that writes the line.
func (e *NoLabelError) Error() string {
	return fmt.Sprintf("%s:%d: a result without a line \"%s:\" before it (bench run --label "+
		"%[3]s=VALUE writes one)", e.File, e.Line, e.Label)
}

func nothing(path string) error {
	if file, err := os.Open(path); err == nil {
		defer file.Close()
		if head, err := io.ReadAll(io.LimitReader(file, 1<<20)); err == nil {
			if _, err := results.Parse(path, head); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%s holds no time of a benchmark", path)
}

func cellOf(ns, cycles []float64) Cell {
	if len(ns) == 0 {
		return Cell{}
	}
	c := Cell{Ns: results.Median(ns), N: len(ns)}
	deviation, err := stats.MedianAbsoluteDeviation(ns)
	if err == nil && c.Ns > 0 {
		c.Spread = deviation / c.Ns
	}
	if len(cycles) > 0 && c.Ns > 0 {
		c.GHz = results.Median(cycles) / c.Ns
	}
	return c
}

// read reads a file, or stdin for "-", in two readers at once: benchfmt parses the results and
// skips comments, which the other keeps. A comment belongs to the machine whose results follow or
// precede it.
func (r *reader) read(path string, in io.Reader) error {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	text, feed := io.Pipe()
	comments := make(chan []comment, 1)
	go func() {
		plain := bufio.NewReaderSize(in, 1<<16)
		infile.SkipMark(plain)
		found, err := commentsOf(plain, feed)
		feed.CloseWithError(err)
		comments <- found
	}()
	owners, err := r.results(path, text)
	text.CloseWithError(io.ErrClosedPipe)
	found := <-comments
	if err != nil {
		return err
	}
	if len(owners) == 0 {
		return nothing(path)
	}
	for _, c := range found { // merged files have comments before the results, others at the end
		at, _ := slices.BinarySearchFunc(owners, c.line, func(o owner, line int) int {
			return o.first - line
		})
		if at == len(owners) || at > 0 && c.line < owners[at-1].last {
			at--
		}
		r.machines[owners[at].name].Facts[c.key] = c.value
	}
	return nil
}

type owner struct {
	first, last int
	name        string
}

type comment struct {
	line       int
	key, value string
}

func commentsOf(in *bufio.Reader, to io.Writer) (found []comment, err error) {
	out := bufio.NewWriterSize(to, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if text, ok := strings.CutPrefix(line, "# "); ok && len(found) < maxNames {
			if key, value, _ := strings.Cut(strings.TrimSpace(text),
				": "); slices.Contains(facts, key) {
				found = append(found, comment{n, key, value})
			}
		}
		if _, err := out.WriteString(line); err != nil {
			return found, err
		}
		if err == io.EOF {
			return found, out.Flush()
		}
		if err != nil {
			return found, err
		}
	}
}

func (r *reader) results(path string, text io.Reader) (owners []owner, err error) {
	in := benchfmt.NewReader(text, path)
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			_, line := record.Pos()
			name := record.GetConfig(r.Label)
			if name == "" {
				return nil, &NoLabelError{path, line, r.Label}
			}
			if len(owners) == 0 || owners[len(owners)-1].name != name {
				owners = append(owners, owner{line, line, name})
			}
			owners[len(owners)-1].last = line
			if err := r.add(record, name); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, line, err)
			}
		}
	}
	return owners, in.Err()
}

func (r *reader) add(record *benchfmt.Result, name string) error {
	s := r.machines[name]
	if s == nil {
		s = &samples{Machine: Machine{Name: name, Config: map[string]string{},
			Facts: map[string]string{}}}
		for _, c := range record.Config {
			s.Config[c.Key] = string(c.Value)
		}
		r.machines[name] = s
	}
	at := slices.IndexFunc(record.Values, func(v benchfmt.Value) bool { return v.Unit == "sec/op" })
	if at < 0 {
		return nil // a study has no times
	}
	seconds := record.Values[at].Value
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		said := record.Values[at]
		if said.OrigUnit == "" { // the line has the tidied unit
			said.OrigValue, said.OrigUnit = said.Value, said.Unit
		}
		return fmt.Errorf("%v %s: want a finite number of more than 0", said.OrigValue,
			said.OrigUnit)
	}
	i, ok := r.benchmarks[string(record.Name)]
	if !ok {
		i = len(r.Benchmarks)
		r.benchmarks[string(record.Name)] = i
		refs, _ := record.Value("D-refs/op")
		misses, _ := record.Value("LL-misses/op")
		r.Benchmarks, r.Memory = append(r.Benchmarks, record.Name.String()),
			append(r.Memory, refs > 0 && misses/refs > 0.01)
	}
	part := r.file[name]
	if part == nil {
		part = &samples{}
		r.file[name] = part
	}
	part.cells = append(part.cells, make([]cell, max(0, i+1-len(part.cells)))...)
	c := &part.cells[i]
	c.ns = append(c.ns, seconds*1e9)
	if cycles, ok := record.Value("hw-cycles/op"); ok {
		c.cycles = append(c.cycles, cycles)
	}
	if r.total++; r.total > maxSamples || len(r.Benchmarks) > maxNames ||
		len(r.machines) > maxNames {
		return fmt.Errorf("more than %d samples, or than %d machines or benchmarks",
			maxSamples, maxNames)
	}
	return nil
}

// WriteCSV writes a line for each cell: machine, benchmark, median in ns, spread, samples, ratio to
// the peers' median. Invalid UTF-8 is replaced.
func (m *Matrix) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	err := out.Write([]string{m.Label, "benchmark", "ns", "spread", "samples", "ratio"})
	ratios := m.Ratios()
	for i, machine := range m.Machines {
		for k, c := range machine.Cells {
			if c.N > 0 && err == nil {
				err = out.Write([]string{text(machine.Name), text(m.Benchmarks[k]), number(c.Ns),
					number(c.Spread), strconv.Itoa(c.N), number(ratios[i][k])})
			}
		}
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func text(name string) string { return string([]rune(name)) }
