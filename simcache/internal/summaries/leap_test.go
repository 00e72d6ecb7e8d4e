package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestLeap compares misses and contents with what a cache is, for slides of which most periods are
// one lap, or a few, in caches so small that what rests, or is accessed ahead and behind, is in
// few sets: it meets other such lines, and a row's, in or about a lap that a leap may begin or end
// at, or on the way; conditions come and go, also within others; ends bend, and steps are of 2.
func TestLeap(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 52)
		l := engine.Level{Sets: []int{1, 1, 2, 4}[d(4)], Ways: []int{4, 5, 6, 8}[d(4)], Shift: 5}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, leaping(d, l.Sets*l.Ways))
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Leapt < 10*programs || did.Settled < programs/10 {
		t.Errorf("not often enough: %+v", did)
	}
}

// leaping draws a program for a cache of so many lines.
func leaping(d enginetest.Draw, lines int) nest.Program {
	const line = 32
	constant := nest.Constant
	affine := func(c, coef int) nest.Affine { return nest.Affine{Const: c, Coef: []int{0, coef}} }
	loop := func(step int, to []nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{constant(0)}, To: to, Step: step, Body: body}
	}
	op := func(base int, strides ...int) nest.Node {
		return nest.Operand{Base: uint64(base), Width: 4, Strides: append([]int{0}, strides...)}
	}
	laps, stride := 62+d(60), []int{4, 8, 16, 16, -8}[d(5)]
	grows := []int{0, 0, 1, -1, line / max(stride, -stride), -line / max(stride, -stride)}[d(6)]
	trips := 2*lines + 12 + d(60) + max(0, -grows*laps)
	step, to := 1, []nest.Affine{affine(trips, grows)}
	switch d(8) {
	case 0:
		step = 2
	case 1: // from a lap on, it ends elsewhere
		to = append(to, affine(trips+d(laps), grows-1))
	}
	to[0].Const *= step
	to[len(to)-1].Const *= step
	row := 1 << 33
	place := func() (base, move int) {
		move = []int{0, 0, line, -line, 2 * line, -2 * line, 4, 8, -16}[d(9)]
		at := 1<<32 + line*d(2)
		if d.One(2) { // where the row begins, or ends, or between
			at = row + stride*[]int{0, lines, trips / 2, trips - lines, trips}[d(5)] + line*(d(5)-2)
		}
		return at - move*[]int{0, 1, laps / 2, d(laps), laps - 2, laps - 1, laps}[d(7)], move
	}
	var bases, moves [4]int
	for i := range bases {
		bases[i], moves[i] = place()
	}
	plain := func(most int) (list []nest.Node) {
		for range d(most) {
			i := d(len(bases))
			list = append(list, op(bases[i], moves[i]))
		}
		return list
	}
	some := func() []nest.Node {
		list := plain(4)
		if d.One(3) {
			when := func() nest.Condition { return nest.Condition{{affine(d(laps), -1)}, {affine(-d(2*laps), 1)}}[:1+d(2)] }
			inside := plain(3)
			if d.One(2) {
				inside = append(inside, &nest.If{When: when(), Then: plain(3), Else: plain(3)})
			}
			list = append(list, &nest.If{When: when(), Then: inside, Else: plain(3)})
		}
		return list
	}
	var large []nest.Node
	for range d(3) {
		i := d(len(bases))
		large = append(large, op(bases[i], moves[i], 0))
	}
	large = append(large, op(1<<36, []int{0, 4, line}[d(3)], []int{3, 5}[d(2)]*line))
	if d.One(2) {
		large = append(large, op(row, 0, stride))
	}
	body := append(some(), loop(step, to, large...))
	body = append(body, some()...)
	return nest.Program{loop(1, []nest.Affine{constant(1 + d(2))}, loop(1, []nest.Affine{constant(laps)}, body...))}
}
