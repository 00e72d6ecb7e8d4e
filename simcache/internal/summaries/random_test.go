package summaries

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// accesses is how many accesses a program makes, up to a limit.
func accesses(p nest.Program, limit int) int {
	n := 0
	for range p.Accesses() {
		if n++; n > limit {
			break
		}
	}
	return n
}

// TestEqualsReference compares misses and contents with what a cache is, on
// random programs and levels, cold, and after another program. Every mechanism must
// have been used often.
func TestEqualsReference(t *testing.T) {
	t.Parallel()
	programs := enginetest.Cases(20000)
	var did did
	for seed := range uint64(programs) {
		did.add(checkSeed(t, seed))
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", did)
	d, often := reflect.ValueOf(did), programs/enginetest.Cases(20) // of few, chance decides
	// see TestAlign, TestAmple, TestBeside, TestDrift, TestDriftBehind, TestEven, TestFeed, TestFlood, TestLed, TestLone, TestNested, TestSlide, TestTurn, TestTurnGrows
	elsewhere := []string{"Aligned", "Behind", "Beside", "Flooded", "Ahead", "Same", "Replayed", "Slid", "Leapt", "Fed", "Spared", "Settled", "Turned", "Short", "Nested", "Known", "Grown", "Drifted", "Evenly", "Looked", "Led", "Lone", "Beyond", "Parted", "Singles", "Among", "Rounds", "Ample"}
	if did.Behind < often/10 { // it takes long loops
		t.Errorf("%+v", did)
	}
	for i := range d.NumField() {
		if n := int(d.Field(i).Int()); n < often && !slices.Contains(elsewhere, d.Type().Field(i).Name) {
			t.Errorf("%s only %d times, want %d", d.Type().Field(i).Name, n, often)
		}
	}
}

// TestNeighbours: as above, for accesses that walk next to each other, a few sets
// apart, out of step, over lines and over columns.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 42)
		levels := []engine.Level{{Sets: []int{8, 16, 64, 12}[d(4)], Ways: []int{8, 8, 2, 4}[d(4)], Shift: 5}, {Sets: 32, Ways: 4, Shift: uint(4 + d(3))}}[:1+d(2)]
		strides := []int{4, 8, 16, 4, 8, 32, 64, 32 * (1 + d(20))}
		inner, outer := strides[d(8)], strides[d(8)]
		var body []nest.Node
		for i := range 2 + d(3) {
			op := nest.Operand{Base: uint64(1<<30 + i<<20 + 32*d(5) + 4*d(8)), Width: 4, Strides: []int{d(2) * outer, inner}}
			if d.One(4) {
				op.Strides[1] = 0
			}
			body = append(body, op)
		}
		loop := func(trips int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
		}
		p := nest.Program{loop(1+d(20), loop(1+d(600), body...))}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		for _, o := range []Options{{Brute: true}, {Threshold: 20}} {
			if got, err := New(levels, o).Run(p); err != nil || !slices.Equal(got, want) {
				t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, levels, o, p, got, err, want)
			}
		}
	}
}

// TestBetween: as above, for loops that mostly touch the same lines again and again,
// of which some are long enough for a summary and others change a few sets in
// between. A triangular loop makes them longer.
func TestBetween(t *testing.T) {
	t.Parallel()
	did := did{}
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 43)
		levels := []engine.Level{{Sets: []int{8, 16, 64, 12}[d(4)], Ways: []int{8, 8, 8, 4}[d(4)], Shift: 5}, {Sets: 32, Ways: 8, Shift: 5}}[:1+d(4)/3]
		constant := nest.Constant
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		depth := 1 + d(2)
		ops := func(n int, inner ...int) (list []nest.Node) {
			for range 1 + d(n) {
				op := nest.Operand{Base: uint64(1<<30 + d(3)<<20 + 4*d(600)), Width: 4, Strides: make([]int, depth)}
				for i := range op.Strides {
					op.Strides[i] = []int{0, 0, 0, 4, 32}[d(5)]
				}
				if len(inner) > 0 {
					op.Strides = append(op.Strides, inner[d(len(inner))])
				}
				list = append(list, op)
			}
			return list
		}
		var body []nest.Node
		for range 2 + d(3) {
			to := constant([]int{5, 20, 40, 150}[d(4)])
			if d.One(3) {
				to.Coef = make([]int, depth)
				to.Coef[depth-1] = 1
			}
			switch d(4) {
			case 0:
				body = append(body, ops(2)...)
			default:
				body = append(body, loop(to, ops(3, 0, 4, 4, 8, 32, 32*(1+d(9)))...))
			}
		}
		for range depth {
			body = []nest.Node{loop(constant(2+d(12)), body...)}
		}
		p := nest.Program(body)
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: []int{20, 40, 100}[d(3)]})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, levels, e.options, p, got, err, want)
		}
		did.add(e.did)
	}
	t.Logf("%+v", did)
}

// TestSmall: as above, for loops in which accesses to small arrays go from line to
// line around a loop over larger ones, longer and elsewhere each time.
func TestSmall(t *testing.T) {
	t.Parallel()
	did := did{}
	for seed := range uint64(enginetest.Cases(2000)) {
		d := enginetest.Random(seed, 45)
		levels := []engine.Level{{Sets: []int{4, 8, 16, 12}[d(4)], Ways: []int{8, 8, 2, 4}[d(4)], Shift: 4}}
		line, constant := 16, nest.Constant
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		var small, large []nest.Node
		for range 1 + d(2) {
			small = append(small, nest.Operand{Base: uint64(1<<30 + d(20)*line), Width: 4, Strides: []int{[]int{0, line, 4}[d(3)], []int{4, 8, 0, -4}[d(4)]}})
		}
		shift := []int{line, 2 * line, line * levels[0].Sets, line * (1 + d(16))}[d(4)]
		for range 1 + d(3) {
			large = append(large, nest.Operand{Base: uint64(1<<31 + d(2)<<20 + d(40)*line), Width: 4,
				Strides: []int{[]int{shift, 0}[d(2)], []int{0, 0, 0, 4, line}[d(5)], []int{4, 4, line, 3 * line, 0, 8}[d(6)]}})
		}
		all, away := append(small, loop(constant(20+d(40)), large...)), line*d(20)
		for _, list := range [][]nest.Node{small, large} {
			for i, n := range list {
				op := n.(nest.Operand)
				op.Strides = append([]int{away}, op.Strides...)
				list[i] = op
			}
		}
		copy(all, small)
		y, o := constant(2+d(12)), constant(1+d(3))
		y.Coef, o.Coef = []int{0, d(3)}, []int{1}
		p := nest.Program{loop(constant(2+d(3)), loop(o, loop(y, all...)))}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: []int{5, 20, 40}[d(3)]})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, levels, e.options, p, got, err, want)
		}
		did.add(e.did)
	}
	if did.Pieces < enginetest.Cases(2000) || did.Alike < enginetest.Cases(2000) {
		t.Errorf("%+v", did)
	}
}

// TestBeside: as above, where the loop behind the small accesses brings more lines to each
// set than it has ways, or about as many, or to some sets only, and its lines may meet
// others; conditions may change from one iteration to the next.
func TestBeside(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(6000), did{} // of fewer, chance decides
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 46)
		levels := []engine.Level{{Sets: []int{4, 8, 16, 12}[d(4)], Ways: []int{8, 1, 2, 4}[d(4)], Shift: 5}}
		line, constant, span := 32, nest.Constant, 32*levels[0].Sets
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		affine := func(c int, coef ...int) nest.Affine { return nest.Affine{Const: c, Coef: coef} }
		ops := func(base, n, places int, strides ...[]int) (list []nest.Node) {
			for i := range 1 + d(n) {
				op := nest.Operand{Base: uint64(base + i*d(2)<<20 + d(places)*4), Width: 4}
				for _, s := range strides {
					op.Strides = append(op.Strides, s[d(len(s))])
				}
				list = append(list, op)
			}
			return list
		}
		away := []int{0, line, 3 * line, span + line}
		small := ops(1<<30, 2, 40, []int{0, line}, []int{4, 2, 1, 0, -1})
		if d.One(2) {
			small = append(small, &nest.If{When: nest.Condition{{affine(d(30), d(2), []int{0, 0, 1, -1}[d(4)])}}, Then: ops(1<<30, 2, 40, []int{0}, []int{0, 1}), Else: ops(1<<31+d(20)*line, 2, 9, away, []int{0, 4})})
		}
		column := []int{line, 3 * line, 5 * line, -3 * line, 2 * line, line + line/4, 7*line - 4, span + line, span}
		around := 1 + d(4) // so many periods less between two touches of a line
		large := ops([]int{1 << 32, 1 << 32, 1 << 32, 1 << 30}[d(4)], 1, 40, away, []int{0, 0, 0, 4, 4, 1, around * span, -around * span}, column)
		large = append(large, ops([]int{1 << 33, 1 << 33, 1 << 33, 1 << 32}[d(4)], 2, 60, away, []int{0, 0, 0, 0, 0, 4, around * span / 8, -around * span / 8}, []int{4, 0, 8, -4, line})...)
		trips := affine((levels[0].Ways+d(6))*levels[0].Sets+d(20), d(2), d(3)-1)
		p := nest.Program{loop(constant(2+d(5)), loop(constant(10+d(40)), append(small, loop(trips, large...))...))}
		if accesses(p, 300000) > 300000 {
			continue
		}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: []int{5, 20, 40}[d(3)]})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, levels, e.options, p, got, err, want)
		}
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Beside < programs/enginetest.Cases(10) || did.Alike < 3*programs {
		t.Errorf("not often enough: %+v", did)
	}
}

// asReference runs a program on an engine that is new, and compares its counts and what its levels
// hold then with the reference's.
func asReference(t *testing.T, seed uint64, e *Engine, p nest.Program) {
	t.Helper()
	want := reference.New(e.levels)
	wanted := want.Run(p.Operands(), p.Accesses())
	if got, err := e.Run(p); err != nil || !slices.Equal(got, wanted) {
		t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, e.levels, e.options, p, got, err, wanted)
	}
	for level, l := range e.levels {
		for set := range l.Sets {
			if have := e.Contents(level, set); !slices.Equal(have, want.Contents(level, set)) {
				t.Fatalf("seed %d, %+v, %+v,\n%v, level %d, set %d: %v, want %v", seed, e.levels, e.options, p, level, set, have, want.Contents(level, set))
			}
		}
	}
}

// checkSeed compares one or two programs, and returns what was done.
func checkSeed(t *testing.T, seed uint64) did {
	draw := enginetest.Random(seed, 41)
	levels := draw.ProgramLevels()
	got := New(levels, Options{Threshold: []int{1, 10, 30, 100, 300}[draw(5)], kept: []int{0, 0, 0, 20_000}[seed%4], owed: []int{0, 0, 0, 0, 0, 0, 0, 10_000}[seed/4%8]})
	want := reference.New(levels)
	brute := New(levels, Options{Brute: true})
	for range 1 + draw(2) {
		p := draw.Program(levels)
		if accesses(p, 60000) > 60000 {
			continue
		}
		wanted := want.Run(p.Operands(), p.Accesses())
		for _, e := range []*Engine{brute, got} {
			if misses, err := e.Run(p); err != nil || !slices.Equal(misses, wanted) {
				t.Errorf("seed %d, %+v, brute %v,\n%vare %v, %v,\nnot the %v misses", seed, levels, e.options, p, misses, err, wanted)
				return got.did
			}
			for level, l := range levels {
				for set := range l.Sets {
					if have := e.Contents(level, set); !slices.Equal(have, want.Contents(level, set)) {
						t.Errorf("seed %d, %+v, brute %v\n%v, level %d, set %d: %v, want %v", seed, levels, e.options, p, level, set, have, want.Contents(level, set))
						return got.did
					}
				}
			}
		}
	}
	return got.did
}

func (d *did) add(e did) {
	sum, more := reflect.ValueOf(d).Elem(), reflect.ValueOf(e)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// TestQuiet: as above, for short loops over the same few lines in small caches, one
// after the other and again: what the first level keeps of one is found by the next,
// and is old in the second.
func TestQuiet(t *testing.T) {
	t.Parallel()
	did := did{}
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 45)
		sets := []int{1, 2, 4, 3}[d(4)]
		levels := []engine.Level{{Sets: sets, Ways: []int{8, 8, 4, 2, 3}[d(5)], Shift: 5}, {Sets: sets * (1 + d(4)), Ways: 1 + d(8), Shift: 5},
			{Sets: sets * 8, Ways: 2, Shift: 5}}[:2+d(5)/4]
		loop := func(trips, rest int, body ...nest.Node) nest.Node {
			to := nest.Constant(trips)
			if rest > 0 { // trips that go up with the loop around
				to.Coef = make([]int, rest)
				to.Coef[rest-1] = 1
			}
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		inner := func(depth int) nest.Node {
			var ops []nest.Node
			for range 1 + d(3) {
				op := nest.Operand{Base: uint64(1<<30 + 32*d(30) + 4*d(8)), Width: 4, Strides: make([]int, depth+1)}
				op.Strides[depth] = []int{4, 32, 32, -32, 64, 0, 32 * (1 + d(5))}[d(7)]
				op.Strides[d(depth)] = []int{0, 0, 4, 32}[d(4)]
				ops = append(ops, op)
			}
			return loop([]int{4, 12, 20, 40}[d(4)], d(5)/4*depth, ops...)
		}
		var body []nest.Node
		for range 1 + d(3) {
			if d.One(3) {
				body = append(body, loop(2+d(5), 0, inner(2)))
			} else {
				body = append(body, inner(1))
			}
		}
		p := nest.Program{loop(3+d(8), 0, body...)}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: []int{1, 5, 20}[d(3)]})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v", seed, levels, e.options, p, got, err, want)
		}
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Quiet < enginetest.Cases(1000) || did.Nothing < enginetest.Cases(1000) || did.Shortened < enginetest.Cases(1000) {
		t.Errorf("not often enough: %+v", did)
	}
}
