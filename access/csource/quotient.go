package csource

import (
	"maps"
	"math"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

const (
	// maxWraps is how often a remainder begins again at most where no loop can be cut into turns.
	maxWraps = 8
	// maxTurn is how many iterations are a turn at most.
	maxTurn = 1 << 24
)

// quotients are x / n and x % n of an affine function. Where it comes to so many multiples of n that these are no few pieces,
// it asks for turns of a loop, and refuses them for now.
func (b *builder) quotients(a nest.Affine, n int, floors, positive bool) (quotient, remainder piece, ok bool) {
	low, high, ok := b.span(a)
	if !ok {
		return quotient, remainder, false
	}
	if floors || positive || low >= 0 {
		if positive {
			low = max(low, 0)
		}
		return b.pieces(a, n, low, high)
	}
	// C rounds towards 0: below it, what it makes of the opposite.
	opposite, err := plus(nest.Constant(0), -1, a)
	if err != nil {
		return quotient, remainder, false
	}
	q, r, ok := b.pieces(opposite, n, max(-high, 0), -low)
	if !ok {
		return quotient, remainder, false
	}
	q, err1 := constant(0).plus(-1, q)
	r, err2 := constant(0).plus(-1, r)
	if high <= 0 {
		return q, r, err1 == nil && err2 == nil
	}
	above, err3 := piece{affine: a}.atLeast0()
	q0, r0, ok := b.pieces(a, n, 0, high)
	return choose(above, q0, q), choose(above, r0, r), ok && err1 == nil && err2 == nil && err3 == nil
}

// pieces are the quotient and the remainder, rounded down, of a function that is from low to high.
func (b *builder) pieces(a nest.Affine, n, low, high int) (quotient, remainder piece, ok bool) {
	// a is n*whole + rest.
	rest, whole := nest.Affine{Const: a.Const, Coef: make([]int, len(a.Coef))}, nest.Affine{Coef: make([]int, len(a.Coef))}
	varies := false
	for d, c := range a.Coef {
		whole.Coef[d] = nest.FloorDiv(c, n)
		rest.Coef[d] = c - n*whole.Coef[d]
		if rest.Coef[d] > n-rest.Coef[d] { // as of (n-1)*i
			whole.Coef[d]++
			rest.Coef[d] -= n
		}
		varies = varies || whole.Coef[d] != 0
	}
	from, to := low, high
	if varies {
		if from, to, ok = b.span(rest); !ok {
			return quotient, remainder, false
		}
	}
	if from > to { // it is reached nowhere
		return constant(0), constant(0), true
	}
	first, last := nest.FloorDiv(from, n), nest.FloorDiv(to, n)
	if wraps := last - first; wraps > 1 && b.turn(rest, n) || wraps < 0 || wraps > maxWraps {
		return quotient, remainder, false
	}
	if last > first && to == from+1 { // 0 and 1, say, and what is affine of the two
		n0 := piece{affine: rest}
		over, err1 := n0.plus(-1, constant(from))
		q, err2 := piece{affine: whole}.plus(1, constant(first))
		q, err3 := q.plus(1, over)
		r, err4 := constant(n-1).plus(1-n, over)
		return q, r, err1 == nil && err2 == nil && err3 == nil && err4 == nil
	}
	for k := last; k >= first; k-- {
		q, err1 := plus(whole, 1, nest.Constant(k))
		r, err2 := plus(rest, -k, nest.Constant(n))
		if err1 != nil || err2 != nil {
			return quotient, remainder, false
		}
		if k == last {
			quotient, remainder = piece{affine: q}, piece{affine: r}
			continue
		}
		below, err := plus(nest.Constant(n-1), -1, r)
		if err != nil {
			return quotient, remainder, false
		}
		when := nest.Condition{{below}}
		quotient = piece{kind: choice, when: when, args: []piece{{affine: q}, quotient}}
		remainder = piece{kind: choice, when: when, args: []piece{{affine: r}, remainder}}
	}
	return quotient, remainder, true
}

// divided is what C makes of an integer and a constant by / % >> or &, or by << where it is a multiple.
func (b *builder) divided(e *expr, x integer, n int) (piece, error) {
	op := e.op
	by, floors, remains := n, op == ">>" || op == "&", op == "%" || op == "&"
	understood := false
	switch op {
	case "%":
		by, understood = max(n, -n), n != 0 && n > math.MinInt
	case "/":
		understood = n > 0
	case ">>":
		if understood = n >= 0 && n < 62; understood {
			by = 1 << n
		}
	case "&":
		by = n + 1
		understood = n >= 0 && n < math.MaxInt && by&n == 0
	}
	if !understood {
		return x.each(n < 0, func(a nest.Affine) (nest.Affine, error) { return exact(op, a, n) })
	}
	return b.eachLeaf(x.piece, func(a nest.Affine) (piece, error) {
		if m, fixed := (piece{affine: a}).number(); fixed {
			return byConstants(op, m, n, x.t)
		}
		if q, err := exact(op, a, n); err == nil {
			return piece{affine: q}, nil
		}
		if r, is := b.symbolic(a, by, 0, by); is && remains && (floors || a.Const >= 0) {
			return r, nil
		} else if is { // nothing is known of it
			return piece{affine: nest.Variable(maxLoops + b.symbols - 1)}, nil
		}
		low, high := x.t.limits()
		least, most, ok := b.span(a)
		if !ok {
			return piece{}, notAffine(op, n)
		}
		if x.t.signed && (least < low || most > high) {
			if err := b.stays(e.args[0], x); err != nil {
				return piece{}, err
			}
		}
		switch q, r, ok := b.quotients(a, by, floors, !x.t.signed); {
		case !ok:
			return piece{}, notAffine(op, n)
		case remains:
			return r, nil
		default:
			return q, nil
		}
	})
}

// eachLeaf makes a piece of each affine function that a piece can be.
func (b *builder) eachLeaf(p piece, f func(nest.Affine) (piece, error)) (piece, error) {
	if p.kind == leaf {
		return f(p.affine)
	}
	c, err := p.choice()
	if err != nil {
		return piece{}, err
	}
	q, err := c.arms(func(arm piece) (piece, error) { return b.eachLeaf(arm, f) })
	if err == nil && q.size() > maxCases {
		return piece{}, errCases
	}
	return q, err
}

// maxLooks bounds how many bounds of loops are looked at for one span.
const maxLooks = 256

// span is between what an affine function lies, as far as the bounds of the loops around tell.
func (b *builder) span(a nest.Affine) (low, high int, ok bool) {
	opposite, err := plus(nest.Constant(0), -1, a)
	looks := maxLooks
	below, ok1 := b.most(opposite, &looks)
	looks = maxLooks
	high, ok2 := b.most(a, &looks)
	const far = 1 << 61
	return -below, high, ok1 && ok2 && err == nil && max(below, -below, high, -high) < far
}

// most is what an affine function is at most.
func (b *builder) most(a nest.Affine, looks *int) (most int, ok bool) {
	d := len(a.Coef) - 1
	for d >= 0 && a.Coef[d] == 0 {
		d--
	}
	if d < 0 {
		return a.Const, true
	}
	if d >= len(b.loops) || b.loops[d].loop == nil {
		return 0, false
	}
	l, c := b.loops[d].loop, a.Coef[d]
	bounds, beside := l.From, 0
	if (c > 0) == (l.Step > 0) {
		bounds, beside = l.To, 1
		if l.Step > 0 {
			beside = -1
		}
	}
	rest := nest.Affine{Const: a.Const, Coef: a.Coef[:d]}
	for _, bound := range bounds {
		if *looks--; *looks < 0 && ok {
			break
		}
		end, err1 := plus(bound, 1, nest.Constant(beside))
		at, err2 := plus(rest, c, end)
		if err1 != nil || err2 != nil {
			continue
		}
		if m, known := b.most(at, looks); known && (!ok || m < most) {
			most, ok = m, true
		}
	}
	return most, ok
}

// turn asks for turns of a loop around after which the remainder by n of a function begins again, and tells whether there is such
// a loop: it is built once more then.
func (b *builder) turn(a nest.Affine, n int) bool {
	for d := min(len(a.Coef), len(b.loops)) - 1; d >= 0 && n <= maxTurn; d-- {
		if a.Coef[d] == 0 || b.loops[d].part == inTurn {
			continue
		}
		v, low, high, ok := b.loops[d], 0, 0, true
		turn := v.turn * (n / nest.GCD(a.Coef[d], n))
		if v.part == undivided {
			turn = n / nest.GCD(v.step%n*a.Coef[d], n)
			low, high, ok = b.span(nest.Variable(d))
		}
		if !ok || turn > maxTurn || v.turn >= turn || v.part == undivided && (high-low)/max(v.step, -v.step) < turn {
			continue
		}
		b.turns[v.node] = turn
		return true
	}
	return false
}

// plain is a condition of several cases without what the bounds of the loops around decide.
func (b *builder) plain(c nest.Condition) nest.Condition {
	if len(c) < 2 {
		return c
	}
	return b.decidedBySpans(c)
}

// decidedBySpans is plain of a condition of one case, too.
func (b *builder) decidedBySpans(c nest.Condition) nest.Condition {
	var kept nest.Condition
	for _, all := range c {
		rows, can := []nest.Affine{}, true
		for _, a := range all {
			low, high, ok := b.span(a)
			if can = can && (!ok || high >= 0); !ok || low < 0 {
				rows = append(rows, a)
			}
		}
		if can {
			kept = append(kept, rows)
		}
	}
	return kept
}

// The parts of a loop are itself, or the loop of its turns and the loop in one.
type part int

const (
	undivided part = iota
	ofTurns
	inTurn
)

// walk builds a loop: again, if a quotient within asks for turns.
func (b *builder) walk(h header, l *nest.Loop) *Error {
	for {
		turn := b.turns[h.node]
		before := b.state()
		nodes, err := b.body(func() *Error { return b.walkOnce(h, *l) })
		if b.turns[h.node] == turn && !b.takesApart(&h, l, err) {
			if err == nil {
				b.nodes = append(b.nodes, nodes...)
			}
			return err
		}
		b.restore(before)
	}
}

func (b *builder) walkOnce(h header, l nest.Loop) *Error {
	turn, before, ends := b.turns[h.node], b.now, l
	if _, ok := iterations(&l, maxApart); ok && turn == unrolled { // in each of which walkers are what they are
		h.paths = nil
		around, err := b.parted(h, &l, turn, func() *Error { return b.iterate(&h) })
		b.nodes = append(b.nodes, around...)
		delete(b.now, h.v.decl)
		return err
	}
	if err := b.walks(&h, &l); err != nil || b.turns[h.node] != turn {
		return err
	}
	h.v.at = nest.Variable(len(b.loops))
	h.counts(&l, turn)
	around, err := b.parted(h, &l, turn, func() *Error {
		b.enters(&h, &l, before)
		if b.dry && len(h.paths) > 0 && turn >= 0 {
			return nil // it was built to find the paces
		}
		return b.rounds(&h, &l, func() *Error { return b.iterate(&h) })
	})
	b.nodes = append(b.nodes, around...)
	b.behind(&h, &ends, before)
	return err
}

// parted builds a loop, of so many iterations a turn if there are turns.
func (b *builder) parted(h header, l *nest.Loop, turn int, body func() *Error) ([]nest.Node, *Error) {
	if turn == unrolled {
		turn = 0
		if values, ok := iterations(l, maxApart); ok {
			return b.copies(h, l, values, body)
		}
	}
	own := len(b.loops)
	defer func() { b.loops = b.loops[:own] }()
	v := h.v
	v.node, v.step, v.turn, v.loop = h.node, l.Step, turn, l
	outer, inner, at, ok := b.inTurns(l, turn)
	if !ok {
		b.loops = append(b.loops, v)
		inside, err := b.body(body)
		return []nest.Node{&nest.Loop{Name: l.Name, From: l.From, To: l.To, Step: l.Step, Body: inside}}, err
	}
	v.at, v.loop, v.part = at, outer, ofTurns
	b.loops = append(b.loops, v)
	v.loop, v.part = inner, inTurn
	b.loops = append(b.loops, v)
	b.values[outer], b.values[inner] = value{}, value{h.name, at}
	inside, err := b.body(body)
	outer.Body, inner.Body = []nest.Node{inner}, inside
	return []nest.Node{outer}, err
}

// A value is that of a variable of C in a loop of a program, which has no name where a loop inside of it has the variable.
type value struct {
	name string
	at   nest.Affine
}

// inTurns is a loop as one of turns around one in a turn, of so many iterations, and the value of the variable there: turn*outer + inner
// where its step is 1 or -1, else the first value and that.
func (b *builder) inTurns(l *nest.Loop, turn int) (outer, inner *nest.Loop, at nest.Affine, ok bool) {
	own, up, size := len(b.loops), l.Step > 0, max(l.Step, -l.Step)
	if turn == 0 || own+2 > maxLoops || size > 1 && len(l.From) > 1 || size*turn > maxTurn<<8 {
		return nil, nil, at, false
	}
	outer, inner = &nest.Loop{Name: l.Name + "_q", Step: 1}, &nest.Loop{Name: l.Name + "_r", Step: l.Step}
	by, base, ok := turn*l.Step, l.From[0], true // what a turn adds
	if size == 1 {
		by, base, outer.Step = turn, nest.Constant(0), l.Step
	}
	sum := func(a nest.Affine, factor int, c nest.Affine) nest.Affine {
		s, err := plus(a, factor, c)
		ok = ok && err == nil
		return s
	}
	at = sum(sum(base, by, nest.Variable(own)), 1, nest.Variable(own+1))
	// The quotient of a bound, if it is one, or what it is at most or at least.
	quotient := func(a nest.Affine, most bool) nest.Affine {
		n, fraction := max(by, -by), false
		q := nest.Affine{Const: nest.FloorDiv(a.Const, n), Coef: make([]int, len(a.Coef))}
		for d, c := range a.Coef {
			q.Coef[d], fraction = c/n, fraction || c%n != 0
		}
		if !fraction {
			return q
		}
		low, high, known := b.span(a)
		if ok = ok && known; most {
			low = high
		}
		return nest.Constant(nest.FloorDiv(low, n))
	}
	whole := func(a nest.Affine) bool { // turns
		return !slices.ContainsFunc(append(slices.Clone(a.Coef), a.Const), func(c int) bool { return c%by != 0 })
	}
	first, last := nest.Constant(0), nest.Constant(turn*l.Step)
	if size == 1 && !up {
		first, last = nest.Constant(turn-1), nest.Constant(-1)
	}
	inner.From, inner.To = []nest.Affine{first}, []nest.Affine{last}
	for _, from := range l.From {
		if size > 1 {
			outer.From = append(outer.From, nest.Constant(0))
			continue
		}
		outer.From = append(outer.From, quotient(from, !up))
		if begin := sum(from, -by, nest.Variable(own)); !whole(sum(from, -1, first)) {
			inner.From = append(inner.From, begin)
		}
	}
	for _, to := range l.To {
		final := sum(to, -1, base)
		if !whole(sum(final, -1, last)) {
			inner.To = append(inner.To, sum(final, -by, nest.Variable(own)))
		}
		switch {
		case size == 1 && !up:
			outer.To = append(outer.To, sum(quotient(sum(final, 1, nest.Constant(1)), false), 1, nest.Constant(-1)))
		case up:
			outer.To = append(outer.To, sum(quotient(sum(final, 1, nest.Constant(-1)), true), 1, nest.Constant(1)))
		default:
			outer.To = append(outer.To, sum(quotient(sum(nest.Constant(-1), -1, final), true), 1, nest.Constant(1)))
		}
	}
	return outer, inner, at, ok
}

// A state is what building a part of the tree adds to or changes.
type state struct {
	accesses, statements, notes, aims, calls, copies int
	copied                                           map[copied]int
	known                                            map[*cc.Declarator]integer
	unknown, astray                                  map[*cc.Declarator]*Error
	aliases                                          map[*cc.Declarator]lvalue
	now                                              map[*cc.Declarator]walker
}

func (b *builder) state() state {
	return state{
		len(b.accesses), len(b.file.Statements), len(b.file.Notes), len(b.aims), b.allCalls, b.allCopies, maps.Clone(b.copied),
		maps.Clone(b.known), maps.Clone(b.unknown), maps.Clone(b.astray), maps.Clone(b.aliases),
		maps.Clone(b.now),
	}
}

func (b *builder) restore(s state) {
	b.accesses, b.file.Statements, b.file.Notes = b.accesses[:s.accesses], b.file.Statements[:s.statements], b.file.Notes[:s.notes]
	b.aims, b.allCalls, b.allCopies, b.copied = b.aims[:s.aims], s.calls, s.copies, s.copied
	b.known, b.unknown, b.astray, b.aliases, b.now = s.known, s.unknown, s.astray, s.aliases, s.now
}
