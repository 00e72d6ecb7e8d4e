package enginetest

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// ProgramLevels draws a level, or two or three, small enough for a program to fill.
func (d Draw) ProgramLevels() []engine.Level {
	if d.One(3) {
		return d.Levels()
	}
	if d.One(3) {
		first := 1 << d(4)
		levels := []engine.Level{{Sets: first, Ways: 1 + d(8), Shift: 5},
			{Sets: first << d(4), Ways: []int{16, 1 + d(16), 1 + d(3)}[d(3)],
				Shift: uint(5 + d(8)/7)}}
		if d.One(5) {
			levels = append(levels, engine.Level{Sets: first * (1 + d(20)), Ways: 1 + d(16),
				Shift: levels[1].Shift})
		}
		return levels
	}
	sets := []int{4, 8, 8, 16, 64, 1, 3, 5, 12}[d(9)]
	return []engine.Level{{Sets: sets, Ways: []int{1, 2, 4, 8, 8, 8, 3}[d(7)], Shift: d.shift()}}
}

// A programmer draws a program.
type programmer struct {
	Draw
	levels  []engine.Level
	line    int
	width   int
	arrays  []uint64
	rows    []int // bytes between the rows of an array
	strides []int
	odd     bool // accesses may straddle lines
	long    bool // few loops, the innermost of many trips
}

// Program draws a program of one to three arrays: triangles, negative steps,
// conditions, several statements, accesses that straddle lines, loops of no trip.
func (d Draw) Program(levels []engine.Level) nest.Program {
	return (&programmer{Draw: d, levels: levels}).program()
}

func (d *programmer) program() nest.Program {
	l := d.levels[0]
	d.line = 1 << l.Shift
	d.width = 1 << (1 + d.Draw(3))
	for _, of := range d.levels {
		d.width = min(d.width, 1<<of.Shift)
	}
	span := l.Sets * d.line
	d.strides = []int{d.width, d.width, d.width, 2 * d.width, d.line / 2, d.line, d.line + d.width,
		2 * d.line, span, span + d.width, span + d.line,
		max(d.width, span/2&^(d.width-1)), d.width * (1 + d.Draw(60)), d.line * (1 + d.Draw(16)),
		-d.width, -d.line, d.width * (1 + d.Draw(400))}
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

func (d *programmer) affine(depth, low, high, often int) nest.Affine {
	a := nest.Affine{Const: low + d.Draw(high-low+1), Coef: make([]int, depth)}
	for i := range a.Coef {
		if d.Draw(100) < often {
			a.Coef[i] = []int{1, 1, 1, -1}[d.Draw(4)]
		}
	}
	return a
}

func (d *programmer) loop(depth int) nest.Node {
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

func (d *programmer) body(depth int) []nest.Node {
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

func (d *programmer) branch(depth int) nest.Node {
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

func (d *programmer) accesses(list []nest.Node, depth int) []nest.Node {
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
				op.Strides[i] = []int{d.width, d.width, d.rows[a], d.rows[a],
					d.strides[d.Draw(len(d.strides))]}[d.Draw(5)]
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
