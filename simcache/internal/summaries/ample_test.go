package summaries

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// closer moves the accesses of drawn programs, whose arrays lie far apart, so many bytes apart.
func closer(list []nest.Node, apart int) (moved []nest.Node) {
	for _, n := range list {
		switch m := n.(type) {
		case nest.Operand:
			array := (m.Base - 1<<30) >> 22
			m.Base -= array<<22 - array*uint64(apart)
			n = m
		case *nest.Loop:
			l := *m
			l.Body = closer(m.Body, apart)
			n = &l
		case *nest.If:
			l := *m
			l.Then, l.Else = closer(m.Then, apart), closer(m.Else, apart)
			n = &l
		}
		moved = append(moved, n)
	}
	return moved
}

// TestAmple compares misses, and what the levels hold, with what a cache is, where the last levels may have room for
// all that is touched: of one program after the other, or the same again.
func TestAmple(t *testing.T) {
	t.Parallel()
	did, after, refilled, alone := did{}, 0, 0, 0
	programs := enginetest.Cases(2000)
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 61)
		levels := d.ProgramLevels()
		shift := levels[len(levels)-1].Shift
		if shift > 4 && d.One(8) {
			shift-- // as the lines in front may be the longer ones
		}
		levels = append(levels[:d(len(levels)+1)], engine.Level{Sets: []int{1 << d(12), 1 + d(3000)}[d(2)], Ways: 1 + d(24), Shift: shift})
		if d.One(4) {
			levels = append(levels, engine.Level{Sets: 2 * levels[len(levels)-1].Sets, Ways: 1 + d(24), Shift: shift + uint(d(8)/7)})
		}
		e := New(levels, Options{Threshold: []int{1, 10, 100}[d(3)], Ample: true})
		want := reference.New(levels)
		apart := 8 * d(2000)
		var p nest.Program
		for i := range 1 + d(3) {
			if p == nil || !d.One(3) {
				p = closer(d.Program(levels), apart)
			}
			if accesses(p, 40000) > 40000 {
				continue
			}
			wanted := want.Run(p.Operands(), p.Accesses())
			ran := e.ample
			if got, err := e.Run(p); err != nil || !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, program %d, %+v,\n%v: %v, %v, want %v", seed, i, levels, p, got, err, wanted)
			}
			switch {
			case ran != nil && e.ample != nil:
				after++
			case ran != nil:
				refilled++
			case e.ample != nil && e.ample.near == nil:
				alone++
			}
		}
		did.add(e.did)
		if !d.One(4) {
			continue
		}
		for level, l := range levels {
			for set := range l.Sets {
				if have := e.Contents(level, set); !slices.Equal(have, want.Contents(level, set)) {
					t.Fatalf("seed %d, %+v,\n%v, level %d, set %d: %v, want %v", seed, levels, p, level, set, have, want.Contents(level, set))
				}
			}
		}
	}
	t.Logf("%d of %d; %d after others, %d not; %d in all levels", did.Ample, programs, after, refilled, alone)
	if did.Ample < programs/2 || after < programs/10 || refilled < programs/30 || alone < programs/10 {
		t.Error("not often enough")
	}
}

// firstOf walks a program to its first touches, and reports whether that was not too long.
func firstOf(t *testing.T, p nest.Program) bool {
	t.Helper()
	level := engine.Level{Sets: 1 << 14, Ways: 16, Shift: 6}
	b := &builder{line: 64, from: math.MaxInt}
	program := b.nodes(p)
	accesses, err := p.Count()
	if err != nil {
		t.Fatal(err)
	}
	_, ok := new(lines).first(b, program, accesses, level)
	return ok
}

// TestFirstsTakeLittle has a walk that comes once to each line be made, and one be given up that looks at bounds again
// and again for few accesses.
func TestFirstsTakeLittle(t *testing.T) {
	t.Parallel()
	at := func(c int, coef ...int) nest.Affine { return nest.Affine{Const: c, Coef: coef} }
	loop := func(from, to []nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: from, To: to, Step: 1, Body: body}
	}
	one := func(a nest.Affine) []nest.Affine { return []nest.Affine{a} }
	row := nest.Operand{Base: 1 << 30, Width: 4, Strides: []int{4}}
	if !firstOf(t, nest.Program{loop(one(at(0)), one(at(1<<20)), row)}) {
		t.Error("a walk along a row was given up")
	}
	const n, steps = 200, 50
	var body []nest.Node
	for _, by := range []int{0, 4, 4 * n} { // waves, in which each point comes once a step
		body = append(body, nest.Operand{Base: uint64(1<<30 + by), Width: 4, Strides: []int{4, -8, 4 * (n - 1)}})
	}
	waves := loop(one(at(0)), one(at(2*steps+2*n)), loop(one(at(0)), one(at(steps)),
		loop([]nest.Affine{at(0), at(1-n, 1, -2)}, []nest.Affine{at(n), at(1, 1, -2)}, body...)))
	if firstOf(t, nest.Program{waves}) {
		t.Error("a walk along waves was not given up")
	}
	b := &builder{line: 64, from: math.MaxInt}
	program := b.nodes(nest.Program{waves})
	slots := len(b.low)
	f := &firsts{slots: make([]int, slots), lows: make([]int, slots), highs: make([]int, slots)}
	f.list(program, nil)
	f.bound(program)
	f.narrow(f.sites[0], f.sites[0].terms)
	if bounds := len(f.sites[0].terms) * len(f.sites[0].allows); -f.budget < bounds {
		t.Errorf("%d bounds are %d steps", bounds, -f.budget)
	}
}
