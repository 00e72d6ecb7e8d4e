package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestCrowded compares misses and contents with what a cache is, for loops around innermost ones of which
// each begins and ends in one set, that all that rests goes on in: it has about as many ways as lines that
// are said to be in use, which more may be where accesses are made again in an iteration.
func TestCrowded(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 55)
		l, p := crowded(d)
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500, 2000}[d(4)], floods: d.One(2)})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Flooded < programs/4 || did.Slid < programs/4 || did.Drifted < programs/8 {
		t.Errorf("not often enough: %+v", did)
	}
}

// crowded draws a level and a program for it.
func crowded(d enginetest.Draw) (engine.Level, nest.Program) {
	const line = 32
	sets, moves, rests := []int{4, 8, 2, 4}[d(4)], 1+d(5)/3, []int{0, 1, 2, 2, 3}[d(5)]
	span, every, laps := sets*line, []int{1, 1, 1, 2}[d(4)], 12+d(30)
	down := every * []int{1, 1, 3, 5, -1}[d(5)] * line
	slow := d.One(3) // what slides goes on by less than a line
	if slow {
		laps += 50
	}
	away := func() int {
		if slow {
			return []int{0, 0, 4, 4, 8, -4, 16, span, line}[d(9)]
		}
		return []int{0, 0, span, span, -span, 2 * span, 4, line, span + line, -4}[d(10)]
	}
	op := func(array int, strides ...int) nest.Operand {
		return nest.Operand{Base: uint64(1<<32 + array<<22 + d(8)*4), Width: 4, Strides: append([]int{0}, strides...)}
	}
	var large []nest.Node
	for i := range moves {
		switch d(8) {
		case 0: // a row
			large = append(large, op(i, []int{0, 0, 0, line, span}[d(5)], []int{4, 8, 16, -4}[d(4)]))
		case 1:
			large = append(large, op(i, away(), []int{-down, span, 2 * down}[d(3)]))
		default:
			large = append(large, op(i, []int{away(), 0, 4}[d(3)], down))
		}
	}
	for i := range rests {
		large = append(large, op(8+i, away(), 0))
	}
	shuffle := func(list []nest.Node) []nest.Node {
		list = slices.Clone(list)
		for i := range list {
			k := i + d(len(list)-i)
			list[i], list[k] = list[k], list[i]
		}
		return list
	}
	ways := max(1, 2*moves+rests+[]int{0, 0, 0, 1, -1, -moves}[d(6)])
	trips := (ways+d(4))*max(1, sets/every) + []int{1, 1, 0, 2}[d(4)]
	plain := func() (list []nest.Node) {
		for range d(6) / 3 {
			last := large[d(len(large))].(nest.Operand)
			switch last.Strides = slices.Clone(last.Strides); d(4) {
			case 0: // where it ends
				last.Base += uint64(last.Strides[2] * (trips - 1))
			case 1: // where it was
				last.Base -= uint64(last.Strides[1])
			case 2:
				last = op(16, away(), 0)
			}
			last.Strides = last.Strides[:2]
			list = append(list, last)
		}
		return list
	}
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	inner := shuffle(large)
	switch d(4) {
	case 0: // again, in the same order or another
		inner = append(inner, inner[:1+d(len(inner))]...)
	case 1:
		inner = append(inner, shuffle(inner)...)
	case 2:
		inner = slices.Insert(inner, d(len(inner)+1), inner[d(len(inner))])
	}
	body := append(plain(), loop(trips, inner...))
	if d.One(5) {
		body = append(body, loop(trips, shuffle(inner)...))
	}
	body = append(body, plain()...)
	return engine.Level{Sets: sets, Ways: ways, Shift: 5}, nest.Program{loop(1+d(3), loop(laps, body...))}
}
