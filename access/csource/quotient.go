package csource

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
)

const (
	// maxWraps is how often a remainder begins again at most where no loop can be cut into turns.
	maxWraps = 8
	// maxTurn is how many iterations are a turn at most.
	maxTurn = 1 << 24
)

// quotients are x / n and x % n of an affine function. Where it comes to so many multiples of
// n that these are no few pieces, it asks for turns of a loop, and fails for now.
func (b *builder) quotients(a nest.Affine, n int, floors, positive bool) (quotient, remainder piece,
	ok bool) {
	low, high, ok := b.span(a)
	if !ok {
		return quotient, remainder, false
	}
	if !floors && !positive && low < 0 { // C rounds towards 0
		return quotient, remainder, false
	}
	if positive {
		low = max(low, 0)
	}
	return b.pieces(a, n, low, high)
}

// pieces are the quotient and the remainder, rounded down, of a function that is from low to high.
func (b *builder) pieces(a nest.Affine, n, low, high int) (quotient, remainder piece, ok bool) {
	// a is n*whole + rest.
	rest, whole := nest.Affine{Const: a.Const, Coef: make([]int, len(a.Coef))}, nest.Affine{Coef: make(
		[]int, len(a.Coef))}
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
		over := plus(rest, -1, nest.Constant(from))
		q := plus(plus(whole, 1, nest.Constant(first)), 1, over)
		return piece{affine: q}, piece{affine: plus(nest.Constant(n-1), 1-n, over)}, true
	}
	for k := last; k >= first; k-- {
		q, r := piece{affine: plus(whole, 1, nest.Constant(k))}, piece{affine: plus(rest, -k,
			nest.Constant(n))}
		if k == last {
			quotient, remainder = q, r
			continue
		}
		when := nest.Condition{{plus(nest.Constant(n-1), -1, r.affine)}}
		quotient = piece{kind: choice, when: when, args: []piece{q, quotient}}
		remainder = piece{kind: choice, when: when, args: []piece{r, remainder}}
	}
	return quotient, remainder, true
}

// divided is what C makes of an integer and a constant by / % << >> or &.
func (b *builder) divided(e *expr, x integer, n int) piece {
	by, floors, understood := n, true, n > 0
	switch e.op {
	case "<<":
		if n >= 0 && n < 62 {
			return constant(0).plus(1<<n, x.piece)
		}
		understood = false
	case ">>":
		by, understood = 1<<min(max(n, 0), 61), n >= 0 && n < 62
	case "&":
		by = n + 1
		understood = n >= 0 && n < math.MaxInt && by&n == 0
	case "/", "%":
		floors = false
	default:
		understood = false
	}
	if !understood {
		panic(e.fails("%s of a variable and %d is not affine", e.op, n))
	}
	remains := e.op == "%" || e.op == "&"
	return b.eachLeaf(x.piece, func(a nest.Affine) piece {
		if m, fixed := (piece{affine: a}).number(); fixed {
			return byConstants(e, m, n, x.t)
		}
		if q, is := multiple(a, by); is {
			return map[bool]piece{true: constant(0), false: {affine: q}}[remains]
		}
		low, high := x.t.limits()
		least, most, ok := b.span(a)
		if ok && x.t.signed && (least < low || most > high) {
			b.stays(e.args[0], x)
		}
		var q, r piece
		if ok {
			q, r, ok = b.quotients(a, by, floors, !x.t.signed)
		}
		if !ok {
			panic(e.fails("%s of a variable is not affine here, or has too many cases", e.op))
		}
		if remains {
			return r
		}
		return q
	})
}

// multiple is an affine function divided by n, if all of it is a multiple.
func multiple(a nest.Affine, n int) (q nest.Affine, is bool) {
	q, is = nest.Affine{Const: a.Const / n, Coef: make([]int, len(a.Coef))}, a.Const%n == 0
	for d, c := range a.Coef {
		q.Coef[d] = c / n
		is = is && c%n == 0
	}
	return q, is
}

// eachLeaf makes a piece of each affine function that a piece can be.
func (b *builder) eachLeaf(p piece, f func(nest.Affine) piece) piece {
	if p.kind == leaf {
		return f(p.affine)
	}
	c := p.choice()
	c.args = []piece{b.eachLeaf(c.args[0], f), b.eachLeaf(c.args[1], f)}
	bound(c.size())
	return c
}

// span is between what an affine function lies, as far as the bounds of the loops around tell.
func (b *builder) span(a nest.Affine) (low, high int, ok bool) {
	loops := make([]*nest.Loop, len(b.loops))
	for i, v := range b.loops {
		loops[i] = v.loop
	}
	below, ok1 := nest.Most(plus(nest.Constant(0), -1, a), loops)
	high, ok2 := nest.Most(a, loops)
	const far = 1 << 61
	return -below, high, ok1 && ok2 && max(below, -below, high, -high) < far
}

// spanOf is between what a piece lies.
func (b *builder) spanOf(p piece) (low, high int, ok bool) {
	if p.kind == leaf {
		return b.span(p.affine)
	}
	for n, a := range p.args {
		least, most, known := b.spanOf(a)
		if !known {
			return 0, 0, false
		}
		switch {
		case n == 0:
			low, high = least, most
		case p.kind == greatest:
			low, high = max(low, least), max(high, most)
		case p.kind == choice:
			low, high = min(low, least), max(high, most)
		default:
			low, high = min(low, least), min(high, most)
		}
	}
	return low, high, true
}

// turn asks for turns of a loop around after which the remainder by n of a function begins
// again, and tells whether there is such a loop: all is built once more then.
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
		few := v.part == undivided && (high-low)/max(v.step, -v.step) < turn
		if !ok || few || turn > maxTurn || v.turn >= turn || b.turns[v.node] >= turn {
			continue
		}
		b.turns[v.node], b.again = turn, true
		return true
	}
	return false
}

// plain is a condition of several cases without what the bounds of the loops around decide.
func (b *builder) plain(c nest.Condition) nest.Condition {
	if len(c) < 2 {
		return c
	}
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

// inTurns is a loop as one of turns around one in a turn, of so many iterations, and the
// value of the variable there: the first value, and turn*step*outer + inner.
func (b *builder) inTurns(l *nest.Loop, turn int) (outer, inner *nest.Loop, at nest.Affine,
	ok bool) {
	own, by, ok := len(b.loops), turn*l.Step, true // by: what a turn adds
	if turn == 0 || own+2 > maxLoops || len(l.From) > 1 || max(by, -by) > maxTurn<<8 {
		return nil, nil, at, false
	}
	outer = &nest.Loop{Name: l.Name + "_q", Step: 1, From: []nest.Affine{nest.Constant(0)}}
	inner = &nest.Loop{Name: l.Name + "_r", Step: l.Step, From: []nest.Affine{nest.Constant(0)}}
	inner.To = []nest.Affine{nest.Constant(by)}
	at = plus(plus(l.From[0], by, nest.Variable(own)), 1, nest.Variable(own+1))
	sign := 1
	if l.Step < 0 {
		sign = -1
	}
	for _, to := range l.To {
		way := plus(to, -1, l.From[0])
		if turns, whole := multiple(way, by); whole {
			outer.To = append(outer.To, turns)
			continue
		}
		inner.To = append(inner.To, plus(way, -by, nest.Variable(own)))
		low, high, known := b.span(way) // what it is at most decides how many turns there are
		ok = ok && known
		outer.To = append(outer.To, nest.Constant(nest.FloorDiv(max(sign*low, sign*high)-1, sign*by)+1))
	}
	return outer, inner, at, ok
}
