package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestAppliedElsewhere: a summary that became longer and was then applied to another
// state is not on top of the state that it was applied to before.
func TestAppliedElsewhere(t *testing.T) {
	levels := []engine.Level{{Sets: 4, Ways: 2, Shift: 6}}
	m, err := New(levels, Options{}).machine(nest.Program{nest.Operand{Base: 1 << 20, Width: 4}})
	if err != nil {
		t.Fatal(err)
	}
	known := func() *state { return newState(levels[0], 0, 1).known() }
	apply := func(to *state, e *summary) { m.apply(&context{states: []*state{to}}, e, nil) }
	e, one, other, want := newSummary(newState(levels[0], 0, 1)), known(), known(), known()
	e.id = m.newID()
	e.touch(1, 0)
	apply(one, e)
	e.touch(5, 0) // of the same set
	apply(other, e)
	apply(one, e)
	for _, line := range []uint32{1, 1, 5} {
		want.touch(line, 0)
	}
	if !slices.Equal(one.tags, want.tags) || one.misses[0] != want.misses[0] {
		t.Errorf("%v and %d misses, want %v and %d", one.tags, one.misses[0], want.tags, want.misses[0])
	}
	if !slices.Equal(other.tags, want.tags) {
		t.Errorf("%v, want %v", other.tags, want.tags)
	}
}

// TestConditions: where a condition holds at first, it need not always, and two
// instances in which it stops elsewhere are not alike.
func TestConditions(t *testing.T) {
	levels := []engine.Level{{Sets: 4, Ways: 2, Shift: 6}}
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	for _, sign := range []int{1, -1} {
		op := func(base uint64) nest.Node {
			return nest.Operand{Base: base, Width: 4, Strides: []int{0, 64, 4}}
		}
		holds := nest.Affine{Const: 8 * sign, Coef: []int{sign, -sign}} // i + 8 - j, or the other way round
		choice := &nest.If{When: nest.Condition{{holds}}, Then: []nest.Node{loop(9, op(1<<20))}, Else: []nest.Node{loop(9, op(1<<21))}}
		p := nest.Program{loop(6, loop(20, choice))}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		if got, err := New(levels, Options{Threshold: 1}).Run(p); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v, want %v", p, got, err, want)
		}
	}
}
