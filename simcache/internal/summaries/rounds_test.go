package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// drawRounds draws levels, and how often loops run around accesses, which are rounds mostly.
func drawRounds(d enginetest.Draw) (l, second engine.Level, rounds, passes, trips int, inner []nest.Operand) {
	const line = 32
	l = engine.Level{Sets: []int{1, 2, 4}[d(3)], Ways: []int{2, 4, 6, 8}[d(4)], Shift: 5}
	second = engine.Level{Sets: l.Sets * []int{1, 2, 3, 4}[d(4)], Ways: []int{1, 2, 4, 8, 12}[d(5)], Shift: 5}
	stride := []int{line, 16, 8, -16, line}[d(5)]
	far := max(stride, -stride)
	trips = 1 + d(8*line/far)
	if d.One(4) {
		trips *= 5
	}
	own := max(line, far*trips+[]int{0, 0, 0, 4, 8, line - 4, line, -far * (1 + d(trips))}[d(8)])
	need := (l.Lines() + second.Lines()) * line / own
	passes, rounds = need+4+d(2*need+12), 8+d(50)
	const at = 1 << 32
	lowest := min(0, stride*(trips-1))
	away := func() int { return 1<<24*(1+d(3)) + 4*d(16) }
	inner = []nest.Operand{{Base: at, Width: 4, Strides: []int{0, own, stride}}}
	for range 1 + d(8)/7 { // in all passes
		with := []int{own, own, own, 2 * own, -own, own + line, line, 4}[d(8)]
		base := at + own*d(4)
		if with < 0 {
			base = at + own*(rounds+d(4))
		}
		if d.One(3) {
			base = at + away()
		}
		inner = append(inner, nest.Operand{Base: uint64(base), Width: 4, Strides: []int{with, 0, []int{stride, stride, stride, 0, -stride}[d(5)]}})
	}
	if d.One(6) { // over the last, or next to it
		r := inner[len(inner)-1]
		r.Base += uint64(4 * d(64))
		inner = append(inner, r)
	}
	if d.One(2) { // in the row
		inner = append(inner, nest.Operand{Base: uint64(at + lowest + 4*d(4)), Width: 4, Strides: []int{4 * d(2), own, 0}})
	}
	for range d(5) / 3 { // beside it
		by := line*(1+d(4)) + 4*d(8)
		with := []int{0, 4, 8, -4, line, by * d(passes)}[d(6)]
		inner = append(inner, nest.Operand{Base: uint64(at + 1<<20*(d(4)/3) + away() + by*d(2)), Width: 4, Strides: []int{with, by, 0}})
	}
	for range d(3) {
		inner = append(inner, inner[d(len(inner))])
	}
	for i := range inner {
		k := i + d(len(inner)-i)
		inner[i], inner[k] = inner[k], inner[i]
	}
	return l, second, rounds, passes, trips, inner
}

// TestRounds compares misses and contents of two levels with what caches are, for loops that go through the same rows in each
// iteration, and along another one in each pass: one of these rows, or elsewhere. There may be too few rows, or rows that meet
// or lie apart; what is beside them may go on among them.
func TestRounds(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(1500), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 59)
		l, second, rounds, passes, trips, inner := drawRounds(d)
		var all []nest.Node
		for _, o := range inner {
			all = append(all, o)
		}
		p := nest.Program{nestOf([]int{rounds, passes, trips}, all)}
		switch row := inner[0]; d(4) {
		case 0: // what it leaves
			p = append(p, p[0])
		case 1: // what is there when it begins
			p = append(nest.Program{nestOf([]int{1, d(passes), trips}, []nest.Node{row})}, p...)
		}
		if accesses(p, 80000) > 80000 {
			continue
		}
		e := New([]engine.Level{l, second}, Options{Threshold: []int{1, 20, 100}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Rounds < programs {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestRoundsGone compares what is said of a round's lines with what a cache of the first level is: how many they are, and whether
// each is gone when it is touched first.
func TestRoundsGone(t *testing.T) {
	t.Parallel()
	gone := 0
	for seed := range uint64(1000) {
		l, second, rounds, passes, trips, inner := drawRounds(enginetest.Random(seed, 60))
		if rounds*passes*trips*len(inner) > 100000 {
			continue
		}
		var all []nest.Node
		for _, o := range inner {
			all = append(all, o)
		}
		p := nest.Program{nestOf([]int{rounds, passes, trips}, all)}
		m, err := New([]engine.Level{l, second}, Options{}).machine(p)
		if err != nil {
			t.Fatal(err)
		}
		n := m.program[0]
		if n.rounds == nil || !n.rounds.sizes(m, n, rounds) {
			continue
		}
		cache := make([][]uint64, l.Sets)
		for y := range rounds {
			said, seen, there := n.rounds.look(m, n, y), map[uint64]bool{}, 0
			for i := range passes {
				for k := range trips {
					for _, o := range inner {
						line := (o.Base + uint64(o.Strides[0]*y+o.Strides[1]*i+o.Strides[2]*k)) >> l.Shift
						set := &cache[line%uint64(l.Sets)]
						at := slices.Index(*set, line)
						if at >= 0 {
							if *set = slices.Delete(*set, at, at+1); !seen[line] {
								there++
							}
						}
						seen[line] = true
						*set = append(*set, line)[max(0, len(*set)+1-l.Ways):]
					}
				}
			}
			if y == 0 || !said {
				continue
			}
			gone++
			if there > 0 || len(seen) < n.rounds.lines {
				t.Fatalf("seed %d, %+v, %v: round %d of %d lines, %d not gone, said to be of %d, all gone", seed, l, p, y, len(seen), there, n.rounds.lines)
			}
		}
	}
	if t.Log(gone); gone < 2000 {
		t.Errorf("only %d rounds", gone)
	}
}

// nestOf is loops around accesses.
func nestOf(trips []int, body []nest.Node) nest.Node {
	for i := len(trips) - 1; i >= 0; i-- {
		body = []nest.Node{&nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips[i])}, Step: 1, Body: body}}
	}
	return body[0]
}
