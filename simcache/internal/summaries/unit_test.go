package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// tiles is a program of two loops around a unit of two, and the machine and the unit.
func tiles(t *testing.T, level engine.Level, trips [4]int, ops ...nest.Node) (*machine, *unit, []int) {
	t.Helper()
	p := nest.Program(ops)
	for _, n := range []int{trips[3], trips[2], trips[1], trips[0]} {
		p = nest.Program{&nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(n)}, Step: 1, Body: p}}
	}
	m, err := New([]engine.Level{level}, Options{}).machine(p)
	if err != nil {
		t.Fatal(err)
	}
	highest := []int{trips[0] - 1, trips[1] - 1, trips[2] - 1, trips[3] - 1}
	return m, m.program[0].body[0].body[0].unit, highest
}

// TestKeys: the number of keys is that of all instances, each written down.
func TestKeys(t *testing.T) {
	many := 0
	for seed := range uint64(enginetest.Cases(100)) {
		d := enginetest.Random(seed, 47)
		level := engine.Level{Sets: []int{4, 8, 3}[d(3)], Ways: 2, Shift: 5}
		var ops []nest.Node
		for i := range 1 + d(3) {
			ops = append(ops, nest.Operand{Base: uint64(1<<30 + i<<20 + 4*d(8)), Width: 4,
				Strides: []int{4 * d(70), []int{0, 32, 128, 4 * d(70)}[d(4)], 32 * d(9), 4}})
		}
		m, u, highest := tiles(t, level, [4]int{96, 96, 4, 5}, ops...)
		got, instances := m.keys(u, highest, 1<<16)
		different := map[uint64]bool{}
		for y := range 96 {
			for x := range 96 {
				m.slots[0], m.slots[1] = y, x
				u.placeIn(m, 0, 4)
				different[hash(u.key)] = true
			}
		}
		if got != len(different) {
			t.Fatalf("seed %d, %+v, %v: %d keys of %v instances, want %d", seed, level, ops, got, instances, len(different))
		}
		if got > 100 {
			many++
		}
	}
	if many < enginetest.Cases(20) {
		t.Errorf("more than 100 keys only %d times", many)
	}
}

// TestFewKeys: a copy of transposed tiles of 37 x 41 elements has 16,384 keys. That is few of
// 262,980 instances, but not of a quarter; and not where the level has more sets, and so more keys.
func TestFewKeys(t *testing.T) {
	const rows = 80000
	ops := []nest.Node{nest.Operand{Base: 1 << 32, Width: 4, Strides: []int{4 * 37, 41 * rows, 4, rows}},
		nest.Operand{Base: 1 << 34, Width: 4, Strides: []int{37 * rows, 4 * 41, rows, 4}}}
	for _, c := range []struct {
		trips [4]int
		sets  int
		few   bool
	}{{[4]int{540, 487, 37, 41}, 64, true}, {[4]int{135, 487, 37, 41}, 64, false}, {[4]int{540, 487, 37, 41}, 128, false}} {
		m, u, highest := tiles(t, engine.Level{Sets: c.sets, Ways: 8, Shift: 6}, c.trips, ops...)
		if got := m.fewKeys(u, highest); got != c.few || u.few != c.few {
			keys, instances := m.keys(u, highest, 1<<20)
			t.Errorf("%v: few %t, %t, want %t; %d keys of %v instances", c.trips, got, u.few, c.few, keys, instances)
		}
	}
}

// TestBlockThatChanges: no summaries are kept of a block that has a loop as long as an outermost loop's counter; they are where
// loops are as long each time, and where a loop is around it in which they are.
func TestBlockThatChanges(t *testing.T) {
	loop := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	around := nest.Affine{Coef: []int{1}}
	two := func(to nest.Affine, depth int) []nest.Node {
		skip := make([]int, depth)
		walk := func(base uint64) nest.Node { return loop(to, op(base, append(skip, 4)...)) }
		return []nest.Node{walk(1 << 32), walk(1 << 33)}
	}
	level := engine.Level{Sets: 4, Ways: 2, Shift: 5}
	for i, c := range []struct {
		p     nest.Program
		depth int
		light bool
	}{
		{nest.Program{loop(nest.Constant(90), two(around, 1)...)}, 1, true},
		{nest.Program{loop(nest.Constant(90), two(nest.Constant(70), 1)...)}, 1, false},
		{nest.Program{loop(nest.Constant(30), loop(nest.Constant(20), two(around, 2)...))}, 2, false},
	} {
		e := New([]engine.Level{level}, Options{Threshold: 20})
		asReference(t, uint64(i), e, c.p)
		m, err := e.machine(c.p)
		if err != nil {
			t.Fatal(err)
		}
		n := m.program[0]
		for range c.depth {
			n = n.body[0]
		}
		if n.kind != block || n.light != c.light {
			t.Errorf("%d: kind %d, light %v", i, n.kind, n.light)
		}
	}
}
