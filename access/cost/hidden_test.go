package cost

import (
	"math"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
)

// TestHidden: how much of what streams a loop hides is what plain loops over int32 tell, whose loop takes about as long as memory does.
func TestHidden(t *testing.T) {
	loop := func(op access.Op, line float64) probe.Loop {
		return probe.Loop{Op: op, DType: layouts.Int32, Run: line / 16}
	}
	loops := []probe.Loop{loop(access.Sum, 3), {Op: access.Copy, DType: layouts.Int64, Run: 100}, loop(access.Fill, 4), loop(access.Copy, 3)}
	streamed := func(sum, fill, copied float64) []probe.Stream {
		return []probe.Stream{{Op: access.Sum, Ns: 4, Ints: sum}, {Op: access.Fill, Ns: 3, Ints: fill}, {Op: access.Copy, Ns: 4, Ints: copied}}
	}
	for _, c := range []struct {
		name string
		m    probe.Machine
		want float64
	}{
		{"not measured", probe.Machine{Loops: loops, Streamed: streamed(0, 0, 0)}, 0},
		{"no loops", probe.Machine{Streamed: streamed(5, 5, 5)}, 0},
		{"a norm of order two", probe.Machine{Loops: loops, Streamed: streamed(5, 5, 5)}, 2},
		{"one after the other", probe.Machine{Loops: loops, Streamed: streamed(7, 7, 8)}, 1},
		{"all is hidden", probe.Machine{Loops: loops, Streamed: streamed(4, 3.9, 4)}, mostOrder},
		{"that in the middle", probe.Machine{Loops: loops, Streamed: streamed(7, 4, 5)}, 2},
		{"of those that were measured", probe.Machine{Loops: loops, Streamed: streamed(0, 5, 0)}, 2},
		{"too unlike to tell", probe.Machine{Loops: []probe.Loop{loop(access.Sum, 1.9), loop(access.Fill, 7), loop(access.Copy, 9)}, Streamed: streamed(5, 5, 5)}, 0},
	} {
		if got := hidden(c.m); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: order %v, want %v", c.name, got, c.want)
		}
	}
}

// TestHiddenOfStreams: what streams is hidden as was measured, what lies apart as by the rules, and of what is both a share.
func TestHiddenOfStreams(t *testing.T) {
	m := Model{Times: Generic("in a test"), Caches: typical, Rules: &Rules{Overlap: 2}}
	if got := m.overlap(1); got != 2 {
		t.Errorf("%v where it was not measured, want the rules' 2", got)
	}
	m.Times.Hidden = 8
	for share, want := range map[float64]float64{0: 2, .5: 5, 1: 8} {
		if got := m.overlap(share); got != want {
			t.Errorf("%v of a share of %v, want %v", got, share, want)
		}
	}
	m.Rules = nil
	predicted := func(spec access.Spec, hidden float64) float64 {
		m.Times.Hidden = hidden
		p, err := m.Predict(pattern(t, spec))
		if err != nil {
			t.Fatal(err)
		}
		return p.Ns
	}
	stream := access.Spec{Shape: []int{4 << 20}, DType: layouts.Int32}
	apart := access.Spec{Shape: []int{1 << 12, 1 << 12}, DType: layouts.Int32, Order: access.Col}
	if all, none := predicted(stream, mostOrder), predicted(stream, 1); all >= none*.9 {
		t.Errorf("a stream takes %v ns where all is hidden, and %v where nothing is", all, none)
	}
	if all, none := predicted(apart, mostOrder), predicted(apart, 1); all < none*.999 {
		t.Errorf("lines a page apart take %v ns where all that streams is hidden, and %v where nothing is", all, none)
	}
}
