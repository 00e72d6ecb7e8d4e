package probe

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestLoops: what it takes to begin a loop is not in the time of its elements, and the least of all
// moments counts.
func TestLoops(t *testing.T) {
	const begin = 40.0 // ns
	slow := 1.0
	ask := func(p access.Pattern) float64 {
		op := p.Nests[0].Operands[0]
		ns := slow * (float64(p.Spec.Op) + 1)
		if op.Strides[0] > op.Width {
			ns *= 3
		}
		return ns + begin/float64(p.Elems)
	}
	var m Machine
	s := &sampler{Options: Options{ask: ask}}
	for _, slow = range []float64{2, 1, 3} {
		if err := s.loops(&m); err != nil {
			t.Fatal(err)
		}
	}
	if want := len(loopOps) * len(loopDTypes); len(m.Loops) != want {
		t.Fatalf("%d loops, want %d", len(m.Loops), want)
	}
	for _, op := range loopOps {
		for _, dtype := range loopDTypes {
			want := Loop{op, dtype, float64(op) + 1, 3 * (float64(op) + 1)}
			if !slices.ContainsFunc(m.Loops, func(l Loop) bool {
				return l.Op == op && l.DType == dtype && max(l.Run-want.Run, want.Run-l.Run, l.Step-want.Step, want.Step-l.Step) < 1e-9
			}) {
				t.Errorf("no %v in %v", want, m.Loops)
			}
		}
	}
}

// TestRuns: runs are of so many adjacent lines, each row's by turns, over all that is behind the caches,
// and the sparse chase goes over a quarter of the last level's lines.
func TestRuns(t *testing.T) {
	var asked []int
	ask := func(p access.Pattern) float64 {
		if p.Ring != nil {
			if len(p.Ring) != (8<<20)/4/line || int(p.Ring[1]-p.Ring[0])*p.Spec.DType.Size()%sparseStep != 0 {
				t.Errorf("a chase over %d lines", len(p.Ring))
			}
			return 80
		}
		n := p.Nests[0].Inside(0)
		op, size := p.Spec.Op, p.Spec.DType.Size()
		if bytes := p.Elems * size; bytes == 64<<20 && op != access.Copy || bytes == 32<<20 && op == access.Copy { // one after the other
			if p.Spec.DType == layouts.Int32 {
				return 2 + float64(op)
			}
			return (1.5 + float64(op)) / float64(max(p.Spec.Threads, 1))
		}
		lines := 1 // of a run, which is no loop of its own in a run of one line
		row := n.Operands[0]
		last := len(n.Trips) - 1
		if row.Strides[last] == line {
			lines = n.Trips[last]
			last--
		}
		if n.Trips[last] != runRows || row.Strides[last] != rowLines*line {
			t.Errorf("%v rows %d apart", n.Trips, row.Strides[last])
		}
		if got := p.Elems; got < (60<<20)/line || got > (64<<20)/line {
			t.Errorf("%d lines", got)
		}
		asked = append(asked, lines)
		return 10 / float64(lines)
	}
	m := Machine{Levels: []Level{{Name: "L1D", Capacity: 32 << 10}, {Name: "L2", Capacity: 1 << 20}, {Name: "L3", Capacity: 8 << 20}}, Memory: Speed{Latency: 90}}
	s := &sampler{Options: Options{MaxSize: 64 << 20, ask: ask}}
	if err := s.runs(&m); err != nil {
		t.Fatal(err)
	}
	if err := s.streams(&m); err != nil || !slices.Equal(m.Streamed, []Stream{{access.Sum, 12, 32, 0}, {access.Fill, 20, 48, 0}, {access.Copy, 28, 64, 0}}) {
		t.Errorf("%v: %v", err, m.Streamed)
	}
	if !slices.Equal(asked, runLines) || m.Sparse != 80 || len(m.Runs) != len(runLines) || m.Runs[3] != (Run{8, 10}) {
		t.Errorf("%v asked, %+v", asked, m)
	}
	// By two workers at once, of which all are slow at one moment, and one alone is at another.
	s.Workers = make([]cpu.Logical, 2)
	m.Streamed = nil
	for _, slow := range [][2]float64{{1, 3}, {2, 1}} {
		s.ask = func(p access.Pattern) float64 { return slow[min(p.Spec.Threads, 2)/2] * ask(p) }
		if err := s.streams(&m); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(m.Streamed, []Stream{{access.Sum, 12, 32, 6}, {access.Fill, 20, 48, 10}, {access.Copy, 28, 64, 14}}) {
		t.Errorf("%v", m.Streamed)
	}
	s.ask = ask
	// Two levels, of which the last one's sets are looked up; and nothing behind the caches.
	m = Machine{Levels: m.Levels[1:], Memory: m.Memory}
	if err := s.runs(&m); err != nil || m.Sparse != 0 || len(m.Runs) != len(runLines) {
		t.Errorf("%v, %+v", err, m)
	}
	m = Machine{Levels: m.Levels}
	if err := s.runs(&m); err != nil || m.Sparse != 0 || m.Runs != nil {
		t.Errorf("%v, %+v", err, m)
	}
}

// TestLoopOf: the patterns of loops touch what they say.
func TestLoopOf(t *testing.T) {
	for _, op := range loopOps {
		p, err := loopOf(op, layouts.Int16, 8<<10, 2).Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if p.Elems != 2048 || p.Nests[0].Operands[0].Strides[0] != 4 {
			t.Errorf("%v: %d elements, %v", op, p.Elems, p.Nests[0])
		}
	}
}
