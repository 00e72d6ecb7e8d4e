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
			want := Loop{op.String(), dtype.String(), float64(op) + 1, 3 * (float64(op) + 1)}
			if !slices.ContainsFunc(m.Loops, func(l Loop) bool {
				return l.Op == want.Op && l.DType == want.DType &&
					max(l.Run-want.Run, want.Run-l.Run, l.Step-want.Step, want.Step-l.Step) < 1e-9
			}) {
				t.Errorf("no %v in %v", want, m.Loops)
			}
		}
	}
}

// TestStreams: loops over elements of 8 bytes go over all that is behind the caches, by one and by
// all workers at once, of which all are slow at one moment, and one alone is at another.
func TestStreams(t *testing.T) {
	slow := [2]float64{1, 1}
	ask := func(p access.Pattern) float64 {
		op, threads := p.Spec.Op, max(p.Spec.Threads, 1)
		if bytes := p.Elems * p.Spec.DType.Size(); bytes != 64<<20 &&
			(bytes != 32<<20 || op != access.Copy) {
			t.Errorf("%v of %d B", op, bytes)
		}
		return slow[min(threads, 2)/2] * (1.5 + float64(op)) / float64(threads)
	}
	var m Machine
	s := &sampler{Options: Options{MaxSize: 64 << 20, ask: ask}}
	if err := s.streams(&m); err != nil || !slices.Equal(m.Streamed,
		[]Stream{{"sum", 12, 0}, {"fill", 20, 0}, {"copy", 28, 0}}) {
		t.Errorf("%v: %v", err, m.Streamed)
	}
	s.Workers, m.Streamed = make([]cpu.Logical, 2), nil
	for _, slow = range [][2]float64{{1, 3}, {2, 1}} {
		if err := s.streams(&m); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(m.Streamed, []Stream{{"sum", 12, 6}, {"fill", 20, 10}, {"copy", 28, 14}}) {
		t.Errorf("%v", m.Streamed)
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
