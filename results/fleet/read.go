// Package fleet compares machines that ran one suite, and finds those that are out of
// line with their peers.
//
//  1. [Read] reads the files of all machines, or the one that they were merged to, a
//     result at a time, into a [Matrix] of machines by benchmark.
//  2. [Matrix.Judge] compares each machine with those of the same CPU, and says which
//     are out of line, by how much, and what their files say that explains it.
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
	"github.com/stridebench/stridebench/results/merge"
)

// A Cell is one benchmark on one machine. Its zero value is none.
type Cell struct {
	Ns     float64 // the median
	Spread float64 // median absolute deviation, as a share of it
	GHz    float64 // cycles that the CPU counted by time, 0 if it counted none
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
	// by benchmark: more than one of 100 accesses misses the last simulated cache
	Memory []bool

	// Copies are files that have no sample that another one lacks, such as those of single runs
	// beside what they were merged to: what several files have counts once.
	Copies []string
}

// What a fleet may be: more is taken for a mistake.
const (
	maxSamples = 1 << 26
	maxNames   = 1 << 16
)

// facts are the comments that say something of a machine.
var facts = []string{results.NodeKey, results.ActivityKey, "kernel-release", "microcode", "memory",
	"hypervisor", "governor", "turbo", "pages-obtained"}

// A reader makes a matrix of results.
type reader struct {
	*Matrix
	machines   map[string]*samples
	benchmarks map[string]int
	total      int
	file       int          // the index of the one that is read
	sizes      map[int]int  // of files, how many samples they have
	own        map[int]bool // files of which a sample counts
}

// samples are those of a machine, by benchmark.
type samples struct {
	Machine
	ns, cycles [][]float64
	files      []int // that have some, in the order in which they were read
	// of each but the last of these, how many samples there were after it, of ns[i] and of
	// cycles[i] by turns
	ends [][]int
}

// begin notes that samples of a file follow.
func (s *samples) begin(file int) {
	n := len(s.files)
	if n > 0 && s.files[n-1] == file {
		return
	}
	if n > 0 {
		var ends []int
		for i := range s.ns {
			ends = append(ends, len(s.ns[i]), len(s.cycles[i]))
		}
		s.ends = append(s.ends, ends)
	}
	s.files = append(s.files, file)
}

// part is what the k-th of the files has of one benchmark.
func (s *samples) part(k, i int) (ns, cycles []float64) {
	at := func(k, j, all int) int { // where the file k ends
		switch {
		case k < 0:
			return 0
		case k == len(s.ends):
			return all
		case j < len(s.ends[k]):
			return s.ends[k][j]
		}
		return 0 // it had not begun
	}
	n, c := len(s.ns[i]), len(s.cycles[i])
	return s.ns[i][at(k-1, 2*i, n):at(k, 2*i, n)], s.cycles[i][at(k-1, 2*i+1, c):at(k, 2*i+1, c)]
}

// once leaves of a machine's samples of a benchmark those of a file out that another one has all
// of, such as the one that it was merged to; of two that have the same it leaves that which has
// more of all machines.
func (r *reader) once(s *samples, i int) {
	if len(s.files) == 1 {
		r.own[s.files[0]] = true
	}
	if len(s.files) < 2 {
		return
	}
	var sorted [][]float64
	for k := range s.files {
		ns, _ := s.part(k, i)
		sorted = append(sorted, slices.Sorted(slices.Values(ns)))
	}
	var ns, cycles []float64
	for k := range s.files {
		copied := false
		for j := range s.files {
			more := cmp.Or(cmp.Compare(len(sorted[j]), len(sorted[k])),
				cmp.Compare(r.sizes[s.files[j]], r.sizes[s.files[k]]), cmp.Compare(k, j))
			copied = copied || more > 0 && holds(sorted[j], sorted[k])
		}
		if partNs, partCycles := s.part(k, i); !copied && len(partNs) > 0 {
			ns, cycles = append(ns, partNs...), append(cycles, partCycles...)
			r.own[s.files[k]] = true
		}
	}
	s.ns[i], s.cycles[i] = ns, cycles
}

// holds tells whether sorted values have all of others, as often.
func holds(all, others []float64) bool {
	at := 0
	for _, v := range others {
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

// Read reads files by the values of a label. A result without the label is an error.
func Read(label string, stdin io.Reader, step func(), paths ...string) (*Matrix, error) {
	if err := results.CheckLabel(label); err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	r := reader{&Matrix{Label: label}, map[string]*samples{}, map[string]int{}, 0, 0, map[int]int{},
		map[int]bool{}}
	for i, path := range paths {
		r.file = i
		if err := r.read(path, stdin); err != nil {
			return nil, err
		}
		if step != nil {
			step()
		}
	}
	if r.total == 0 {
		return nil, errors.New("no time of a benchmark in these files")
	}
	for _, s := range r.machines {
		s.Cells = make([]Cell, len(r.Benchmarks))
		for i := range s.ns {
			r.once(s, i)
		}
		for i, ns := range s.ns {
			s.Cells[i] = cellOf(ns, s.cycles[i])
		}
		r.Machines = append(r.Machines, s.Machine)
	}
	for i, path := range paths {
		if r.sizes[i] > 0 && !r.own[i] {
			r.Copies = append(r.Copies, path)
		}
	}
	slices.SortFunc(r.Machines, func(a, b Machine) int { return merge.Natural(a.Name, b.Name) })
	return r.Matrix, nil
}

// A NoLabelError is a result that no line with the label is before.
type NoLabelError struct {
	File  string
	Line  int
	Label string
}

// Error says where it is, and what writes the line.
func (e *NoLabelError) Error() string {
	return fmt.Sprintf("%s:%d: a result without a line \"%s:\" before it (bench run --label "+
		"%[3]s=VALUE writes one)", e.File, e.Line, e.Label)
}

// nothing says why a file has no result, as other readers do, if it can be read again.
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

// read reads a file, or stdin of the path -, twice at once: benchfmt has its results, and what it
// skips, the comments, is kept for the machine whose results follow them or come before.
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
		results.SkipMark(plain)
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
	for _, c := range found { // in a merged file, before the results; at an end, behind them
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

// An owner is a machine, with the lines of its first and last result.
type owner struct {
	first, last int
	name        string
}

// A comment is one with its line.
type comment struct {
	line       int
	key, value string
}

// commentsOf passes a text on, and keeps the comments in it that are facts.
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

// add keeps the time of a result.
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
		return nil // of a study
	}
	seconds := record.Values[at].Value
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		said := record.Values[at]
		if said.OrigUnit == "" { // it is as the line has it
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
	for len(s.ns) <= i {
		s.ns, s.cycles = append(s.ns, nil), append(s.cycles, nil)
	}
	s.begin(r.file)
	r.sizes[r.file]++
	s.ns[i] = append(s.ns[i], seconds*1e9)
	if cycles, ok := record.Value("hw-cycles/op"); ok {
		s.cycles[i] = append(s.cycles[i], cycles)
	}
	if r.total++; r.total > maxSamples || len(r.Benchmarks) > maxNames ||
		len(r.machines) > maxNames {
		return fmt.Errorf("more than %d samples, or than %d machines or benchmarks",
			maxSamples, maxNames)
	}
	return nil
}

// WriteCSV writes a line for each cell: the machine, the benchmark, the median in ns,
// its spread, the number of samples, and the ratio to the peers' median. Bytes of names that
// are no UTF-8 are replaced.
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
