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

// A drawer draws programs.
type drawer struct {
	enginetest.Draw
	levels  []engine.Level
	line    int
	width   int
	arrays  []uint64
	rows    []int // bytes between the rows of an array
	strides []int
	odd     bool // accesses may straddle lines
	long    bool // few loops, the innermost of many trips
}

// program draws one of two or three arrays.
func (d *drawer) program() nest.Program {
	l := d.levels[0]
	d.line = 1 << l.Shift
	d.width = min(d.line, 1<<(1+d.Draw(3)))
	span := l.Sets * d.line
	d.strides = []int{d.width, d.width, d.width, 2 * d.width, d.line / 2, d.line, d.line + d.width, 2 * d.line, span, span + d.width, span + d.line,
		max(d.width, span/2&^(d.width-1)), d.width * (1 + d.Draw(60)), d.line * (1 + d.Draw(16)), -d.width, -d.line, d.width * (1 + d.Draw(400))}
	d.odd, d.long = d.One(12), d.One(8)
	for i := range 1 + d.Draw(3) {
		d.arrays = append(d.arrays, uint64(1<<30+i<<22+d.Draw(64)*d.line))
		d.rows = append(d.rows, d.strides[d.Draw(len(d.strides))])
	}
	p := nest.Program{d.loop(0)}
	if d.One(3) {
		p = append(p, d.loop(0))
	}
	return p
}

func (d *drawer) affine(depth, low, high, often int) nest.Affine {
	a := nest.Affine{Const: low + d.Draw(high-low+1), Coef: make([]int, depth)}
	for i := range a.Coef {
		if d.Draw(100) < often {
			a.Coef[i] = []int{1, 1, 1, -1}[d.Draw(4)]
		}
	}
	return a
}

func (d *drawer) loop(depth int) nest.Node {
	l := &nest.Loop{Step: 1}
	trips := []int{4, 12, 30, 60}[d.Draw(4)]
	if depth == 0 {
		trips = []int{4, 12, 40, 90}[d.Draw(4)]
	}
	if d.long && depth > 0 {
		trips = 100 + d.Draw(500)
	}
	from, to := d.affine(depth, 0, 2, 25), d.affine(depth, trips/2, trips, 30)
	l.From, l.To = []nest.Affine{from}, []nest.Affine{to}
	if d.One(10) {
		l.From = append(l.From, d.affine(depth, 0, 4, 25))
	}
	if d.One(10) {
		l.To = append(l.To, d.affine(depth, trips/2, trips, 50))
	}
	if d.One(8) {
		l.Step = 1 + d.Draw(4)
	}
	if d.One(4) { // downwards
		l.From, l.To, l.Step = l.To, l.From, -l.Step
	}
	l.Body = d.body(depth + 1)
	return l
}

func (d *drawer) body(depth int) []nest.Node {
	deepest := 3
	if d.long {
		deepest = 2
	}
	var list []nest.Node
	if d.One(3) {
		list = d.accesses(list, depth)
	}
	for range 1 + d.Draw(8)/5 {
		switch {
		case depth < deepest && d.Draw(4) > 0:
			list = append(list, d.loop(depth))
		case depth < deepest && d.One(8):
			list = append(list, d.branch(depth))
		default:
			list = d.accesses(list, depth)
		}
	}
	if d.One(5) {
		list = d.accesses(list, depth)
	}
	return list
}

func (d *drawer) branch(depth int) nest.Node {
	var when nest.Condition
	for range 1 + d.Draw(2) {
		and := []nest.Affine{d.affine(depth, -6, 10, 70)}
		if d.One(2) {
			and = append(and, d.affine(depth, -6, 10, 70))
		}
		when = append(when, and)
	}
	c := &nest.If{When: when, Then: d.body(depth)}
	if d.One(2) {
		c.Else = d.body(depth)
	}
	return c
}

func (d *drawer) accesses(list []nest.Node, depth int) []nest.Node {
	for range 1 + d.Draw(4) {
		if before := len(list); before > 0 && d.One(5) {
			if op, is := list[d.Draw(before)].(nest.Operand); is { // once more
				list = append(list, op)
				continue
			}
		}
		a := d.Draw(len(d.arrays))
		op := nest.Operand{Kind: nest.Kind(d.Draw(3)), Width: d.width, Strides: make([]int, depth)}
		for i := range op.Strides {
			if d.Draw(10) < 7 {
				op.Strides[i] = []int{d.width, d.width, d.rows[a], d.rows[a], d.strides[d.Draw(len(d.strides))]}[d.Draw(5)]
			}
		}
		w := d.width
		off := []int{0, 0, w, -w, d.line, d.rows[a], w * (d.Draw(100) - 50)}[d.Draw(7)]
		if op.Base = d.arrays[a] + 1<<21 + uint64(off); d.odd && d.One(2) {
			op.Base += uint64(d.Draw(d.line))
		}
		list = append(list, op)
	}
	return list
}

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
	programs := 20000
	if testing.Short() || slow {
		programs = 2000
	}
	var did did
	for seed := range uint64(programs) {
		did.add(checkSeed(t, seed))
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", did)
	d, often := reflect.ValueOf(did), programs/20
	for i := range d.NumField() {
		if n := int(d.Field(i).Int()); n < often {
			t.Errorf("%s only %d times, want %d", d.Type().Field(i).Name, n, often)
		}
	}
}

// TestNeighbours: as above, for accesses that walk next to each other, a few sets
// apart, out of step, over lines and over columns.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
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
	for seed := range uint64(4000) {
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

// checkSeed compares one or two programs, and returns what was done.
func checkSeed(t *testing.T, seed uint64) did {
	draw := enginetest.Random(seed, 41)
	levels := drawLevels(draw)
	got := New(levels, Options{Threshold: []int{1, 10, 30, 100, 300}[draw(5)]})
	want := reference.New(levels)
	brute := New(levels, Options{Brute: true})
	for range 1 + draw(2) {
		d := drawer{Draw: draw, levels: levels}
		p := d.program()
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

// drawLevels draws a level, or two or three.
func drawLevels(d enginetest.Draw) []engine.Level {
	if d.One(3) {
		return d.Levels()
	}
	if d.One(3) {
		first := 1 << d(4)
		return []engine.Level{{Sets: first, Ways: 1 + d(8), Shift: 5}, {Sets: first << d(4), Ways: 1 + d(16), Shift: uint(5 + d(8)/7)}}
	}
	sets := []int{4, 8, 8, 16, 64, 1, 3, 5, 12}[d(9)]
	return []engine.Level{{Sets: sets, Ways: []int{1, 2, 4, 8, 8, 8, 3}[d(7)], Shift: uint(4 + d(3))}}
}

func (d *did) add(e did) {
	sum, more := reflect.ValueOf(d).Elem(), reflect.ValueOf(e)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}
