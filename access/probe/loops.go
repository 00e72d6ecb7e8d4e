package probe

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file has what the plain loops of operations take where no level but the first is asked, what
// memory takes for runs of lines, and what the last level has of lines that are far apart.

// A Loop is what an element takes, of an operation by the scalar kernel, in the first level, in ns.
type Loop struct {
	Op    access.Op
	DType layouts.DType
	Run   float64 // where the elements of all operands lie side by side
	Step  float64 // where every other element of x counts
}

// A Run is so many adjacent lines of memory, and what it takes to sum an element of each, in ns,
// where runs of many rows take turns, so that no stream goes on in the next run.
type Run struct {
	Lines int
	Ns    float64
}

// The operations and dtypes whose loops are measured: those of each size, and those that are
// converted.
var (
	loopOps    = []access.Op{access.Sum, access.Fill, access.Copy, access.Add}
	loopDTypes = []layouts.DType{layouts.Int8, layouts.Int16, layouts.Int32, layouts.Int64, layouts.Float16, layouts.BFloat16, layouts.Float32, layouts.Float64}
)

// loopBytes are those of x in a loop that is measured, of which loopLess are subtracted, and with
// them what it takes to begin: few enough that three tensors stay in the first level.
const (
	loopBytes = 8 << 10
	loopLess  = 2 << 10
)

// loopTimes is at how many moments loops are measured, between other stages: a busy host slows down all
// samples of one.
const loopTimes = 3

// loops measures the loops, and keeps the least of this moment's and those before.
func (s *sampler) loops(m *Machine) error {
	var now []Loop
	for _, dtype := range loopDTypes {
		for _, op := range loopOps {
			var specs []access.Spec
			for _, step := range []int{1, 2} {
				specs = append(specs, loopOf(op, dtype, loopBytes, step), loopOf(op, dtype, loopLess, step))
			}
			ns, err := s.least(specs, 3, loopsShare/loopTimes/float64(len(loopDTypes)*len(loopOps)), s.pages, nil)
			if err != nil {
				return err
			}
			each := func(k int) float64 { // a disturbed sample leaves the least that one pass can say
				return max((loopBytes*ns[k]-loopLess*ns[k+1])/(loopBytes-loopLess), ns[k]/2)
			}
			now = append(now, Loop{op, dtype, each(0), each(2)})
		}
	}
	for i, l := range m.Loops {
		now[i].Run, now[i].Step = min(l.Run, now[i].Run), min(l.Step, now[i].Step)
	}
	m.Loops = now
	return nil
}

// loopOf is the operation on every step-th element of so many bytes.
func loopOf(op access.Op, dtype layouts.DType, bytes, step int) access.Spec {
	n := bytes / dtype.Size() / step
	s := access.Spec{Op: op, DType: dtype, Shape: []int{n * step}}
	if step > 1 {
		s.View = layouts.MustParseChain(fmt.Sprintf("slice(0,0,%d,%d)", n*step, step))
	}
	if op == access.Add {
		s.With = []int{n}
	}
	return s
}

// runLines are the lengths of the runs that are measured, and runRows how many rows take turns, of
// rowLines each: of an odd number of lines, so that all sets are used.
const (
	runRows  = 64
	rowLines = 129
)

var runLines = []int{1, 2, 4, 8, 16, 32}

// runs measures runs of lines of memory, and a chase through the last level over lines that lie as far
// apart as makes them share sets, if those follow from the place in a page.
func (s *sampler) runs(m *Machine) error {
	if m.Memory == (Speed{}) {
		s.done += runsShare
		s.progress(0)
		return nil
	}
	var specs []access.Spec
	for _, lines := range runLines {
		specs = append(specs, running(s.MaxSize, lines))
	}
	ns, err := s.least(specs, 2, .6*runsShare, s.pages, nil)
	if err != nil {
		return err
	}
	for i, lines := range runLines {
		m.Runs = append(m.Runs, Run{lines, ns[i] * float64(lines)})
	}
	last := m.Levels[len(m.Levels)-1]
	lines := last.Capacity / sparseShare / line
	if len(m.Levels) < 3 || lines*sparseStep > s.MaxSize {
		s.done += .4 * runsShare
		s.progress(0)
		return nil
	}
	if ns, err = s.least([]access.Spec{access.ChaseSpec(lines, sparseStep)}, 8, .4*runsShare, s.pages, nil); err == nil {
		m.Sparse = ns[0]
	}
	return err
}

// The lines of the sparse chase are a sparseShare-th of those of the last level, sparseStep bytes apart.
const (
	sparseShare = 4
	sparseStep  = 8 * line
)

// running sums an element of each of so many adjacent lines, in one row after the other, then of those
// that follow in each row, in so many bytes.
func running(bytes, lines int) access.Spec {
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	block := runRows * rowLines * line
	blocks := max(bytes/block, 1)
	spec.Shape = []int{blocks * block / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,%d,%d,%d),(%d,%d,%d,%d))",
		blocks, (rowLines-1)/lines, runRows, lines, block/size, lines*line/size, rowLines*line/size, line/size))
	return spec
}

// writeLoops writes tables of runs and loops.
func (m Machine) writeLoops(t *tabwriter.Writer) {
	if len(m.Runs) > 0 {
		fmt.Fprintln(t)
		writeRow(t, "lines of memory that are adjacent", m.Runs, func(r Run) string { return strconv.Itoa(r.Lines) })
		writeRow(t, "of many rows, interleaved", m.Runs, func(r Run) string { return timeCell(r.Ns) })
	}
	m.writeStarts(t)
	if m.Sparse > 0 {
		fmt.Fprintf(t, "\nof %s, 512 B apart\t%.3g ns\n", m.Levels[len(m.Levels)-1].Name, m.Sparse)
	}
	if len(m.Loops) == 0 {
		return
	}
	fmt.Fprint(t, "\nan element takes")
	for _, op := range loopOps {
		fmt.Fprintf(t, "\t%v\tapart", op)
	}
	fmt.Fprintln(t)
	for _, dtype := range loopDTypes {
		fmt.Fprint(t, dtype)
		for _, op := range loopOps {
			cells := "\t\t"
			if i := slices.IndexFunc(m.Loops, func(l Loop) bool { return l.Op == op && l.DType == dtype }); i >= 0 {
				cells = fmt.Sprintf("\t%.3g ns\t%.3g ns", m.Loops[i].Run, m.Loops[i].Step)
			}
			fmt.Fprint(t, cells)
		}
		fmt.Fprintln(t)
	}
}

// The parts of the section measured that runs and loops are.
type (
	run struct {
		Lines int     `yaml:"lines"`
		Ns    float64 `yaml:"ns"`
	}
	loop struct {
		Op    string  `yaml:"op"`
		DType string  `yaml:"dtype"`
		Run   float64 `yaml:"run-ns"`
		Step  float64 `yaml:"step-ns"`
	}
)

// MarshalYAML implements yaml.BytesMarshaler.
func (r run) MarshalYAML() ([]byte, error) { type plain run; return flow(plain(r)) }

// MarshalYAML implements yaml.BytesMarshaler.
func (l loop) MarshalYAML() ([]byte, error) { type plain loop; return flow(plain(l)) }

// positive reports whether something can take so many ns.
func positive(ns float64) bool { return ns > 0 && !math.IsInf(ns, 1) }

// checkLoops refuses what nothing can be concluded from, and tells the path of the part at fault.
func (s section) checkLoops() (path string, err error) {
	if s.Sparse != 0 && !positive(s.Sparse) {
		return "sparse-ns", fmt.Errorf("%v ns (want a positive time)", s.Sparse)
	}
	last := Point{}
	for i, r := range s.Runs {
		if last, err = follows(last, Point{r.Lines, r.Ns}); err != nil {
			return fmt.Sprintf("runs[%d]", i), err
		}
	}
	known := map[Loop]bool{}
	for i, l := range s.Loops {
		path := fmt.Sprintf("loops[%d]", i)
		of, err := l.loop()
		if err != nil {
			return path, err
		}
		if !positive(l.Run) || !positive(l.Step) {
			return path, fmt.Errorf("%v and %v ns an element (want both positive)", l.Run, l.Step)
		}
		if of.Run, of.Step = 0, 0; known[of] {
			return path, fmt.Errorf("a second time of op %v of %v", of.Op, of.DType)
		}
		known[of] = true
	}
	return "", nil
}

// loop is what it stands for.
func (l loop) loop() (Loop, error) {
	op, err := access.ParseOp(l.Op)
	if err != nil {
		return Loop{}, fmt.Errorf("op %q: %w", l.Op, err)
	}
	dtype, err := layouts.ParseDType(l.DType)
	if err != nil {
		return Loop{}, fmt.Errorf("dtype %q: %w", l.DType, err)
	}
	return Loop{op, dtype, l.Run, l.Step}, nil
}

// JSON of runs and loops.
type (
	jsonRun struct {
		Lines int     `json:"lines"`
		Ns    float64 `json:"ns"`
	}
	jsonLoop struct {
		Op    string  `json:"op"`
		DType string  `json:"dtype"`
		Run   float64 `json:"runNs"`
		Step  float64 `json:"stepNs"`
	}
	jsonTile struct {
		Order   string  `json:"order"`
		Rows    int     `json:"rows"`
		Columns int     `json:"columns"`
		Ns      float64 `json:"ns"`
	}
)
