package exact

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	. "github.com/stridebench/stridebench/simcache/internal/enginetest"
)

type of = []int

// line is the size of lines in most generators.
const line = 32

func cache(sets, ways int) engine.Level { return engine.Level{Sets: sets, Ways: ways, Shift: 5} }

// A generator draws levels and a program for them, seldom none.
type generator struct {
	name  string
	cases int
	draw  func(d Draw) ([]engine.Level, nest.Program)
	// thresholds are those of the engines, with the most accesses that a program may make; nil and
	// 0 are usual ones.
	thresholds of
	most       int
}

var (
	often = of{1, 5, 20}
	long  = of{20, 100, 500}
	usual = of{1, 5, 20, 20, 20, 20, 20, 100, 100, 500}
)

var generators = []generator{
	{"anything", 20000, anything, nil, 0}, {"tlbs", 400, tlbs, nil, 0},
	{"stencils", 9000, stencils, of{20, 1 << 30}, 0}, {"between", 4000, between, of{20, 40, 100}, 0},
	{"quiet", 3000, quiet, often, 0}, {"small", 2000, small, of{5, 20, 40}, 0},
	{"arrays", 6000, arrays, of{5, 20, 40}, 0}, {"triangles", 4000, triangles, of{5, 20, 60}, 0},
	{"rows", 300, rows, of{10, 30, 100}, 0}, {"matrices", 400, matrices, nil, 0},
	{"nested", 4000, nested, often, 0}, {"circles", 1500, circles, of{1, 20, 100}, 80_000},
	{"thrashes", 6000, thrashes, long, 40_000}, {"even", 4000, even, long, 120_000},
	{"drifts", 4000, drifts, of{20, 100}, 0}, {"lone", 4000, loners, of{20, 100}, 0},
	{"seconds", 2000, seconds, of{20}, 150_000}, {"singles", 3000, singles, of{20}, 0},
	{"turns", 6000, turnedRows, long, 0}, {"known", 400, known, of{20}, 0},
	{"grown", 4000, grown, long, 150_000}, {"slides", 3000, slides, long, 0},
	{"leaps", 4000, leaps, long, 0}, {"feeds", 4000, feeds, long, 0},
	{"just fed", 800, justFed, of{20}, 0}, {"crowds", 4000, crowds, of{20, 100, 500, 2000}, 0},
}

// anything draws programs of all kinds.
func anything(d Draw) ([]engine.Level, nest.Program) {
	levels := d.ProgramLevels()
	return levels, d.Program(levels)
}

// tlbs draws programs on a first level of few sets, of more ways than a word has bits.
func tlbs(d Draw) ([]engine.Level, nest.Program) {
	sets := 1 + d(2)
	first, second := cache(sets, 65+d(20)), cache(sets<<(1+d(3)), 1+d(12))
	levels := []engine.Level{first, second, cache(16, 3)}[:2+d(4)/3]
	return levels, d.Program(levels)
}

// stencils draws accesses that walk next to each other, a few sets apart, in step and out of
// step.
func stencils(d Draw) ([]engine.Level, nest.Program) {
	sets := d.Of(1, 2, 4, 8, 16, 64, 12, 24, 48)
	second := cache(sets*(1+d(6)), 1+d(4))
	second.Shift = uint(d.Of(5, 5, 5, 5, 6, 4))
	width, alike := d.Of(2, 4, 8, 16), !d.One(3)
	row := line*d.Of(d(2*sets+8), 4+d(8)) + width*d(2)*d(8)
	stride := d.Of(1, 1, 1, 1, 2, -1) * width
	if !alike {
		row, stride = d.Of(4, 8, 16, line, 64, line*(1+d(20))),
			d.Of(4, 8, 16, line, 64, line*(1+d(20)))
	}
	var body []nest.Node
	for range 2 + d(9) {
		place := Array(0) + width*(d(5)-2) + row*d(3) + d(20)/19*line*d(4)
		o := Access(place+d(2)*d(2)<<20, row, stride)
		if !alike {
			o = Access(Array(d(8))+line*d(5)+4*d(8), d(2)*row, d.Of(stride, stride, stride, 0))
		}
		if o.Width = width; d.One(12) {
			o.Strides[0] += line * d(3)
		}
		body = append(body, o)
	}
	levels := []engine.Level{cache(sets, d.Of(8, 8, 1, 2, 4)), second}[:1+d(2)]
	return levels, nest.Program{Times(1+d(20), Times(5+d(d.Of(200, 200, 600)), body...))}
}

// between draws loops that mostly touch the same lines again and again, of which some are long
// enough for a summary and others change a few sets in between; triangular loops make them
// longer.
func between(d Draw) ([]engine.Level, nest.Program) {
	levels := []engine.Level{cache(d.Of(8, 16, 64, 12), d.Of(8, 8, 8, 4)), cache(32, 8)}[:1+d(4)/3]
	depth := 1 + d(2)
	accesses := func(most int, inner ...int) (list []nest.Node) {
		for range 1 + d(most) {
			o := Access(Array(d(3))+4*d(600), drawStrides(d, depth, 0, 0, 0, 4, line)...)
			if len(inner) > 0 {
				o.Strides = append(o.Strides, d.Of(inner...))
			}
			list = append(list, o)
		}
		return list
	}
	var body []nest.Node
	for range 2 + d(3) {
		if d.One(4) {
			body = append(body, accesses(2)...)
			continue
		}
		to := Bound(d.Of(5, 20, 40, 150), 0, 0)
		to.Coef[depth-1] = d.Of(0, 0, 1)
		body = append(body, Loop(to, accesses(3, 0, 4, 4, 8, line, line*(1+d(9)))...))
	}
	for range depth {
		body = []nest.Node{Times(2+d(12), body...)}
	}
	return levels, body
}

// quiet draws short loops over the same few lines in small caches, one after the other and
// again: what the first level keeps of one is found by the next, and is old in the second.
func quiet(d Draw) ([]engine.Level, nest.Program) {
	sets := d.Of(1, 2, 4, 3)
	first, second := cache(sets, d.Of(8, 8, 4, 2, 3)), cache(sets*(1+d(4)), 1+d(8))
	levels := []engine.Level{first, second, cache(sets*8, 2)}[:2+d(5)/4]
	inner := func(depth int) nest.Node {
		var list []nest.Node
		for range 1 + d(3) {
			o := Access(Array(0)+line*d(30)+4*d(8), make([]int, depth+1)...)
			o.Strides[depth] = d.Of(4, line, line, -line, 2*line, 0, line*(1+d(5)))
			o.Strides[d(depth)] = d.Of(0, 0, 4, line)
			list = append(list, o)
		}
		to := Bound(d.Of(4, 12, 20, 40), 0, 0)
		to.Coef[depth-1] = d(5) / 4
		return Loop(to, list...)
	}
	var body []nest.Node
	for range 1 + d(3) {
		if d.One(3) {
			body = append(body, Times(2+d(5), inner(2)))
		} else {
			body = append(body, inner(1))
		}
	}
	return levels, nest.Program{Times(3+d(8), body...)}
}

// small draws accesses to small arrays that go from line to line around a loop over larger ones,
// longer and elsewhere each time.
func small(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 12), d.Of(8, 8, 2, 4))
	away, on := line*d(20), d.Of(line, 2*line, line*l.Sets, line*(1+d(16)))
	var list, large []nest.Node
	for range 1 + d(2) {
		list = append(list, Access(Array(0)+d(20)*line, away, d.Of(0, line, 4), d.Of(4, 8, 0, -4)))
	}
	for range 1 + d(3) {
		strides := of{away, d.Of(on, 0), d.Of(0, 0, 0, 4, line), d.Of(4, 4, line, 3*line, 0, 8)}
		large = append(large, Access(Array(1+d(2))+d(40)*line, strides...))
	}
	list = append(list, Times(20+d(40), large...))
	grows := Loop(Bound(1+d(3), 1), Loop(Bound(2+d(12), 0, d(3)), list...))
	return []engine.Level{l}, nest.Program{Times(2+d(3), grows)}
}

// arrays draws small arrays ahead of a loop that brings more lines to each set than it has ways,
// or about as many, or to some sets only; its lines may meet others, and conditions may change.
func arrays(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 12), d.Of(8, 1, 2, 4))
	span := line * l.Sets
	away := of{0, line, 3 * line, span + line}
	accesses := func(bases of, most int, strides ...of) (list []nest.Node) {
		for i := range 1 + d(most) {
			o := drawAccess(d, bases, strides...)
			o.Base += uint64(i*d(2)<<20 + d(60)*4)
			list = append(list, o)
		}
		return list
	}
	list := accesses(of{Array(0)}, 2, of{0, line}, of{4, 2, 1, 0, -1})
	if d.One(2) {
		holds := nest.Condition{{Bound(d(30), d(2), d.Of(0, 0, 1, -1))}}
		other := accesses(of{Array(1) + d(20)*line}, 2, away, of{0, 4})
		list = append(list, When(holds, accesses(of{Array(0)}, 2, of{0}, of{0, 1}), other))
	}
	around := (1 + d(4)) * span
	columns := of{line, 3 * line, 5 * line, -3 * line, 2 * line, line + line/4, 7*line - 4,
		span + line, span}
	own := of{0, 0, 0, 4, 4, 1, around, -around}
	large := accesses(of{Array(2), Array(2), Array(2), Array(0)}, 1, away, own, columns)
	others := of{0, 0, 0, 0, 0, 4, around / 8, -around / 8}
	bases := of{Array(3), Array(3), Array(3), Array(2)}
	large = append(large, accesses(bases, 2, away, others, of{4, 0, 8, -4, line})...)
	trips := Bound((l.Ways+d(6))*l.Sets+d(20), d(2), d(3)-1)
	list = append(list, Loop(trips, large...))
	return []engine.Level{l}, nest.Program{Times(2+d(5), Times(10+d(40), list...))}
}

// triangles draws loops that grow with the one around, ahead of which small arrays are accessed,
// one line or two: they bring less lines to a set than it has ways, then as many, then more.
func triangles(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 64, 12), d.Of(8, 8, 4, 6, 16, 3, 2, 1))
	size, matrix, within := 20+d(60), Array(1), l.Sets*line
	row := d.Of(4*size+4*d(20), 4*size+4*d(20), line*(1+d(2*l.Sets))*d.Of(1, 3))
	list := []nest.Node{Access(Array(0)+d(within), 0, d.Of(1, 2, 4, 1, 4, 0))}
	if d.One(2) {
		list = append(list, Access(Array(0)+d(within)&^3, d.Of(1, 4), d(2)))
	}
	if d.One(3) {
		list = []nest.Node{When(nest.Condition{{Bound(-d(20), 0, 1)}}, list, list[:d(2)])}
	}
	head := []nest.Node{Access(matrix, row, 4), Access(matrix+row, row, 4)}[:1+d(2)]
	if list = append(head, list...); d.One(2) {
		list = append(list, list[d(len(list))])
	}
	if d.One(8) { // another loop
		list = append(list, Times(1+d(30), Access(Array(0)+d(within)&^3, 0, d(2), 4)))
	}
	inner := []nest.Node{Access(matrix, row, 0, 4), Access(matrix+row, row, 4, row),
		Access(matrix, row, 4, 0)}
	if inner = inner[d(2) : 2+d(2)]; d.One(6) {
		inner = append(inner, Access(matrix+d(40)*line, row, d.Of(0, 4), d.Of(0, 4, -4, row, line)))
	}
	grows := Loop(Bound(d(9)-2, d(2), 1), drawOrder(d, inner)...)
	if d.One(6) { // or it does not, or ends early
		grows.To = []nest.Affine{Bound(d(9)+d(2)*size, 0, 1), Bound(d(2*size), 0, -d(2))}
	}
	list = append(drawOrder(d, list), grows)
	return []engine.Level{l}, nest.Program{Times(2+d(12), Times(size, list...))}
}

// rows draws loops over the rows of an array against one that is another in each instance, or
// the same array's.
func rows(d Draw) ([]engine.Level, nest.Program) {
	row := d.Of(line, 96, 40, 36, 160, 64)
	base, array := d.Of(Array(0), Array(0), Array(0)+256, Array(1)), Array(0)
	inner := Times(d.Of(row/4, row/4, 40, 9), Access(array, 0, row, 4),
		Access(base, d.Of(row, row, line, 4), 0, 4), Access(array, d(3)*4, row, 0))
	levels := []engine.Level{cache(d.Of(4, 8, 8, 12), d.Of(4, 8, 3))}
	return levels, nest.Program{Times(2+d(12), Times(40+d(300), inner))}
}

// matrices draws products on first levels of 8 ways and second ones of 16: columns and rows, of
// which trips grow, around a line that rests.
func matrices(d Draw) ([]engine.Level, nest.Program) {
	sets := d.Of(8, 16, line, 12, 20, 64)
	levels := []engine.Level{cache(sets, 8), cache(sets<<d(3), 16)}
	row := 8 * (4*(1+d(3*sets)) + d(2)*d(4))
	matrix := func(strides ...int) nest.Node {
		o := Access(Array(d(3)*d(2)), strides...)
		o.Width = 8
		return o
	}
	list := []nest.Node{matrix(row, 8, 0), matrix(row, 0, 8), matrix(0, d.Of(8, 8, line), row)}
	list = append(list, list[:d(3)/2]...)[d(2):]
	body := []nest.Node{Loop(Bound(4*sets+d(12*sets), d(2)*d(2), d(2)*d(3)), list...)}
	if d.One(3) {
		body = append(body, matrix(row, 8))
	}
	return levels, nest.Program{Times(2+d(8), Loop(Bound(4+d(20), d(3)/2), body...))}
}

// nested draws nests in which some accesses rest, as the sums of convolutions do, and others go
// anywhere: through few lines or many, or onto what rests. Half of the nests come to the same sets
// each time, so that summaries come again.
func nested(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 12, 1), d.Of(8, 4, 3, 6, 16, 2))
	levels := []engine.Level{l, cache(l.Sets*(1+d(4)), l.Ways+d(9))}[:1+d(3)/2]
	span, depth, wide := l.Sets*line, 2+d(2), d.One(4)
	around, own := of{0, 4, line, 4 * line, span}, of{0, 4, 8, line, 3 * line}
	if d.One(2) { // the same sets in each instance
		around, own = of{0, span}, of{0, 0, 0, span}
	}
	access := func(array int, inner of) nest.Operand {
		o := Access(Array(array)+d(3)<<20+4*d(60), d.Of(around...), d.Of(own...))
		o.Kind, o.Strides = nest.Kind(d(2)), append(o.Strides, inner...)
		return o
	}
	rest := func() nest.Operand { return access(d.Of(0, 1, 1, 1), make(of, depth)) }
	var body []nest.Node
	for range 1 + d(d.Of(3, 3, 3, 6)) {
		body = append(body, rest())
	}
	for range 1 + d(3) {
		moves := drawStrides(d, depth, 0, 4, 4, 8, line, -line, 3*line, 5*line-4, span, span+line)
		if wide { // what moves outermost goes on by the span of the sets
			moves[0] = span
		}
		body = append(body, access(0, moves))
	}
	body = drawOrder(d, append(body, body[:d(2)]...)) // twice, as a compound assignment
	for i := range depth {
		trips := 1 + d(d.Of(4, 8, 20))
		if i == 0 {
			trips = 2 + d(20)
		}
		one := Times(trips-d(20)/19, body...)
		if d.One(6) {
			one.To[0].Coef = of{d(2), d(2)}
		}
		if body = []nest.Node{one}; d.One(12) {
			one.From = append(one.From, Bound(-1, 0, 1))
		} else if d.One(12) {
			o := rest()
			o.Strides = o.Strides[:1+depth-i]
			body = append(body, o)
		}
	}
	return levels, nest.Program{Times(1+d(4), Times(2+d(12), body...))}
}

// circles draws loops that go through the same rows in each iteration, and along another one in
// each pass: one of these rows, or elsewhere. There may be too few rows, or rows that meet or
// lie apart.
func circles(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(1, 2, 4), d.Of(2, 4, 6, 8))
	second := cache(l.Sets*d.Of(1, 2, 3, 4), d.Of(1, 2, 4, 8, 12))
	stride := d.Of(line, 16, 8, -16, line)
	far := max(stride, -stride)
	trips := (1 + d(8*line/far)) * d.Of(1, 1, 1, 5)
	own := max(line, far*trips+d.Of(0, 0, 0, 4, 8, line-4, line, -far*(1+d(trips))))
	need := (l.Lines() + second.Lines()) * line / own
	passes, times, first := need+4+d(2*need+12), 8+d(50), Array(1)
	list := []nest.Node{Access(first, 0, own, stride)}
	for range 1 + d(8)/7 { // in all passes
		with := d.Of(own, own, own, 2*own, -own, own+line, line, 4)
		base := d.Of(first+own*d(4)+max(0, -with)*times, drawAt(d, 9))
		list = append(list, Access(base, with, 0, d.Of(stride, stride, stride, 0, -stride)))
	}
	if d.One(2) { // in the row
		list = append(list, Access(first+min(0, stride*(trips-1))+4*d(4), 4*d(2), own, 0))
	}
	for range d(5) / 3 { // beside it
		by := line*(1+d(4)) + 4*d(8)
		base, with := d.Of(first+by, drawAt(d, 9), drawAt(d, 9)), d.Of(0, 4, 8, -4, line, by*d(passes))
		list = append(list, Access(base, with, by, 0))
	}
	for range d(3) {
		again := list[d(len(list))].(nest.Operand)
		again.Base += uint64(4 * d(64) * d(2))
		list = append(list, again)
	}
	p := nest.Program{Times(times, Times(passes, Times(trips, drawOrder(d, list)...)))}
	switch d(4) {
	case 0: // what it leaves
		p = append(p, p[0])
	case 1: // what is there when it begins
		p = nest.Program{Times(1, Times(d(passes), Times(trips, list[0]))), p[0]}
	}
	return []engine.Level{l, second}, p
}
