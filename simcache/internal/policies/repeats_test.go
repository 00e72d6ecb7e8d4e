package policies

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// A repeater draws programs in which accesses stay in their lines for a while, in the innermost loop or
// in the one around it.
type repeater struct {
	enginetest.Draw
	line, arrays int
	alike        bool // most passes are alike
}

func (d *repeater) steps(depth int) (all []int) {
	width := []int{1, 2, 4, 8}[d.Draw(4)]
	for l := range depth {
		far := d.line * []int{0, 1, 1, 2, 3, 5, 8, 16}[d.Draw(8)]
		choices := []int{0, far, width, d.Draw(5 * d.line)}
		switch {
		case l == depth-1 && d.alike:
			choices = []int{far, far, far, far, far + d.line/2, d.line / 2 * d.Draw(2), -far - d.line/4}
		case l == depth-1:
			choices = []int{far, far, width, -width, 0, d.line / 2, d.Draw(2 * d.line)}
		case l == depth-2 && d.alike:
			choices = []int{0, width, width, -width}
		case l == depth-2:
			choices = []int{0, width, width, -width, 2 * width, 1, far}
		}
		all = append(all, choices[d.Draw(len(choices))])
	}
	return all
}

func (d *repeater) accesses(depth, many int) (list []nest.Node) {
	for range many {
		if before := len(list); before > 0 && d.One(4) {
			op := list[d.Draw(before)].(nest.Operand)
			op.Kind = nest.Kind(d.Draw(3))
			list = append(list, op)
			continue
		}
		op := nest.Operand{Kind: nest.Kind(d.Draw(3)), Width: 1 << d.Draw(4), Base: uint64(1<<20 + d.Draw(d.arrays)<<12 + d.Draw(8)*d.line), Strides: d.steps(depth)}
		if d.One(6) {
			op.Base += uint64(d.Draw(d.line))
		}
		if d.One(4) {
			op.Base += uint64(d.line / 2)
		}
		if len(list) > 0 && d.One(3) {
			op.Strides = slices.Clone(list[0].(nest.Operand).Strides)
		}
		list = append(list, op)
	}
	return list
}

// sometimes is accesses in some iterations of the loop around them.
func (d *repeater) sometimes(depth int, list []nest.Node) nest.Node {
	from, to := d.Draw(6), d.Draw(10)
	one := append(make([]int, depth-1), 1)
	minus := append(make([]int, depth-1), -1)
	return &nest.If{When: nest.Condition{{{Const: -to, Coef: one}}, {{Const: from, Coef: minus}}}, Then: list}
}

func (d *repeater) loop(depth, deepest int) *nest.Loop {
	trips := 1 + d.Draw(8)
	if depth == deepest-2 {
		trips = 1 + d.Draw(30)
	}
	if depth == deepest-1 {
		trips = 1 + d.Draw(60)
		if d.alike {
			trips += 30
		}
	}
	l := &nest.Loop{From: []nest.Affine{{Coef: make([]int, depth)}}, To: []nest.Affine{{Const: trips, Coef: make([]int, depth)}}, Step: 1}
	if depth > 0 && d.One(12) { // a triangle
		l.To[0].Coef[depth-1] = 1
	}
	if depth == deepest-1 {
		l.Body = d.accesses(depth+1, 1+d.Draw(3))
		return l
	}
	add := func(odds int, list []nest.Node) {
		if d.One(odds) {
			l.Body = append(l.Body, d.sometimes(depth+1, list))
		} else {
			l.Body = append(l.Body, list...)
		}
	}
	if d.One(4) {
		add(2, d.accesses(depth+1, 1))
	}
	add(6, []nest.Node{d.loop(depth+1, deepest)})
	if d.One(3) {
		add(3, []nest.Node{d.loop(depth+1, max(depth+2, deepest-d.Draw(2)))})
	}
	if d.One(4) {
		add(2, d.accesses(depth+1, 1))
	}
	return l
}

func (d *repeater) program() (p nest.Program) {
	for range 1 + d.Draw(2) {
		p = append(p, d.loop(0, 1+d.Draw(4)))
	}
	return p
}

// TestRepeats compares what leaves references out with what looks all up, on levels of any policies and sizes of lines, one walk
// after the other: all counts, the last of which depend on all that is known of every line.
func TestRepeats(t *testing.T) {
	t.Parallel()
	policies := []func(sets, ways int) Policy{LRU, FIFO, Random(7), TreePLRU, BitPLRU, SRRIP}
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 71)
		shift := uint(4 + d(4))
		var levels []Level
		sets := 1
		for range 1 + d(3) {
			sets = max(1, sets*(1+d(4)))
			l := Level{Level: engine.Level{Sets: sets, Ways: []int{1, 2, 3, 4, 8, 16, 20}[d(7)], Shift: shift}}
			if d.One(4) {
				if l.Replace = policies[d(len(policies))]; l.Ways&(l.Ways-1) != 0 { // which a tree has to be
					l.Replace = BitPLRU
				}
			}
			levels = append(levels, l)
		}
		dirty, o := d.One(4), Observe(1+d(7))
		if d.One(2) {
			o = Classes | SetMisses | UsedBytes
		}
		got, want := New(levels, dirty, o), New(levels, dirty, o)
		want.Brute()
		for range 1 + d(3) {
			programs := &repeater{Draw: d, line: 1 << shift, arrays: 1 + d(3), alike: d(3) > 0}
			p := programs.program()
			for count, err := p.Count(); err != nil || count > 12000; count, err = p.Count() {
				p = programs.program()
			}
			if n, is := p.Nest(); is && d.One(2) {
				nests, many := []nest.Nest{n.Canonical()}, 1+d(2)
				if a, b := got.Run(nests, many), want.Run(nests, many); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, %+v, %v: misses %v, want %v", seed, levels, n, a, b)
				}
			} else if a, b := got.RunProgram(p), want.RunProgram(p); !slices.Equal(a, b) {
				t.Fatalf("seed %d, %+v:\n%v misses %v, want %v", seed, levels, p, a, b)
			}
			for level := range levels {
				if a, b := got.Besides(level), want.Besides(level); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, %+v, dirty %t, observed %b, level %d:\n%v\n got %+v\nwant %+v", seed, levels, dirty, o, level, p, a, b)
				}
			}
			if !slices.Equal(got.watch.known.Numbers, want.watch.known.Numbers) || got.serial != want.serial {
				t.Fatalf("seed %d, %+v:\n%v the clocks differ", seed, levels, p)
			}
		}
		left := got.watch.repeats.left
		if got.looked+left.inLine+left.passes != want.looked {
			t.Fatalf("seed %d: of %d references %d were looked up, and left out %+v", seed, want.looked, got.looked, left)
		}
	}
}

// TestRepeatsOfOldLines: what leaves in the second pass may have been there before the first, and used
// for more than what leaves in the third.
func TestRepeatsOfOldLines(t *testing.T) {
	t.Parallel()
	const sets = 16
	before := nest.Nest{Trips: []int{sets}, Operands: []nest.Operand{{Base: 1<<20 + 2*sets*64 + 48, Width: 16, Strides: []int{64}}}}
	passes := nest.Nest{Trips: []int{6, 4 * sets}, Operands: []nest.Operand{{Base: 1 << 20, Width: 8, Strides: []int{8, 64}}}}
	levels := []Level{{Level: engine.Level{Sets: sets, Ways: 3, Shift: 6}}, {Level: engine.Level{Sets: 8 * sets, Ways: 4, Shift: 6}}}
	got, want := New(levels, false, UsedBytes), New(levels, false, UsedBytes)
	want.Brute()
	for _, n := range []nest.Nest{before, passes} {
		got.Run([]nest.Nest{n}, 1)
		want.Run([]nest.Nest{n}, 1)
	}
	if a, b := got.Besides(0), want.Besides(0); !reflect.DeepEqual(a, b) || got.watch.repeats.left.passes == 0 {
		t.Errorf("got %+v, want %+v; left out %+v", a, b, got.watch.repeats.left)
	}
}

// TestRepeatsRules has for each rule of what is left out a program that would be counted in another way without it. Where the
// rule keeps some out of what is left out, others are still left out.
func TestRepeatsRules(t *testing.T) {
	t.Parallel()
	const base = 1 << 20
	upTo := func(n int) []nest.Affine { return []nest.Affine{nest.Constant(n)} }
	// lines are accesses to one line after the other, in a loop of so many trips at a depth.
	lines := func(depth int, to []nest.Affine, at uint64, stride int) nest.Node {
		strides := make([]int, depth+1)
		strides[depth] = stride
		return &nest.Loop{From: upTo(0), To: to, Step: 1, Body: []nest.Node{nest.Operand{Base: at, Width: 4, Strides: strides}}}
	}
	loop := func(to []nest.Affine, body ...nest.Node) *nest.Loop {
		return &nest.Loop{From: upTo(0), To: to, Step: 1, Body: body}
	}
	full := func(ways int) []Level { return []Level{{Level: engine.Level{Sets: 1, Ways: ways, Shift: 6}}} }
	large := []Level{{Level: engine.Level{Sets: 64, Ways: 8, Shift: 6}}, {Level: engine.Level{Sets: 1024, Ways: 8, Shift: 6}}}
	bits := full(4)
	bits[0].Replace = BitPLRU
	var four []nest.Node
	for k := range uint64(4) {
		four = append(four, nest.Operand{Base: base + 64*k, Width: 4, Strides: []int{4}})
	}
	var rows []nest.Node
	for k := range uint64(mostRows) {
		rows = append(rows, lines(1, upTo(4), base+64*k, 8))
	}
	for name, c := range map[string]struct {
		levels []Level
		o      Observe
		p      nest.Program
		none   bool // nothing is left out
	}{
		"a touch may clear what one before has set": {bits, SetMisses, nest.Program{loop(upTo(16), four...),
			nest.Operand{Base: base + 1<<12, Width: 4}, lines(0, upTo(4), base, 64)}, true},
		"a fill for the store of a modify is no miss": {full(1), SetMisses, nest.Program{loop(upTo(20),
			loop(upTo(64), nest.Operand{Base: base + 60, Width: 8, Kind: nest.Modify, Strides: []int{0, 64}}))}, true},
		"an iteration of the loop around": {large, Classes, nest.Program{loop(upTo(6), loop(upTo(8),
			&nest.If{When: nest.Condition{{{Coef: []int{-1}}}, {{Coef: []int{0, -1}}}}, Then: []nest.Node{lines(2, upTo(64), base, 64)}}))}, false},
		"an iteration of a loop further in": {large, Classes, nest.Program{loop(upTo(6), loop(upTo(8),
			&nest.If{When: nest.Condition{{{Const: -5, Coef: []int{1}}}, {{Coef: []int{0, -1}}}}, Then: []nest.Node{lines(2, upTo(64), base, 64)}}))}, false},
		"another access in the first pass": {large, Classes, nest.Program{loop(upTo(20), &nest.If{When: nest.Condition{{{Coef: []int{-1}}}},
			Then: []nest.Node{lines(1, upTo(64), base, 64)}, Else: []nest.Node{lines(1, upTo(64), base, 64)}})}, false},
		"another access later": {large, Classes, nest.Program{loop(upTo(20), &nest.If{When: nest.Condition{{{Const: 9, Coef: []int{-1}}}},
			Then: []nest.Node{lines(1, upTo(64), base, 64)}, Else: []nest.Node{lines(1, upTo(64), base, 64)}})}, false},
		"more trips":  {large, Classes, nest.Program{loop(upTo(40), lines(1, []nest.Affine{{Const: 65, Coef: []int{1}}, nest.Constant(80)}, base, 64))}, false},
		"fewer trips": {full(80), Classes, nest.Program{loop(upTo(40), lines(1, []nest.Affine{nest.Constant(80), {Const: 101, Coef: []int{-1}}}, base, 64))}, false},
		"two lines, and then one": {full(17), SetMisses, nest.Program{loop(upTo(14), lines(1, upTo(64), base, 16),
			nest.Operand{Base: base + 1<<12 + 60, Width: 8, Strides: []int{-4}})}, false},
		"a part of a pass at the end": {large, Classes, nest.Program{loop(upTo(20), lines(1, upTo(64), base, 64),
			&nest.If{When: nest.Condition{{{Const: 18, Coef: []int{-1}}}}, Then: []nest.Node{lines(1, upTo(64), base+1<<14, 64)}})}, false},
		"a first pass of more rows than are kept": {full(mostRows), SetMisses, nest.Program{loop(upTo(20), append(slices.Clone(rows),
			&nest.If{When: nest.Condition{{{Coef: []int{-1}}}}, Then: []nest.Node{lines(1, upTo(4), base+1<<14, 8)}})...)}, true},
		"more rows than are kept":  {large, SetMisses, nest.Program{loop(upTo(20), append(slices.Clone(rows), lines(1, upTo(4), base+1<<14, 8))...)}, true},
		"more fills than are kept": {full(4), SetMisses, nest.Program{loop(upTo(5), lines(1, upTo(mostFills+1), base, 64))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := New(c.levels, false, c.o), New(c.levels, false, c.o)
			want.Brute()
			for range 2 {
				if a, b := got.RunProgram(c.p), want.RunProgram(c.p); !slices.Equal(a, b) {
					t.Errorf("misses %v, want %v", a, b)
				}
			}
			for level := range c.levels {
				if a, b := got.Besides(level), want.Besides(level); !reflect.DeepEqual(a, b) {
					t.Errorf("level %d:\n got %+v\nwant %+v", level, a, b)
				}
			}
			left := got.watch.repeats.left
			if none := left.passes == 0; none != c.none && (c.none || left.inLine == 0) {
				t.Errorf("%+v are left out", left)
			}
		})
	}
}
