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

// quotient returns x / n, rounded down, of an affine function from low to high. Where too many
// multiples of n would need too many pieces, it asks for a strip-mined loop, and fails for now.
func (b *builder) quotient(a nest.Affine, n, low, high int) (q piece, ok bool) {
	var whole nest.Affine // a is n*whole + rest
	for d, c := range a.Coef {
		whole = plus(whole, nest.FloorDiv(c+(n-1)/2, n), nest.Variable(d))
	}
	rest := plus(a, -n, whole)
	if len(whole.Coef) > 0 {
		if low, high, ok = b.span(rest); !ok {
			return q, false
		}
	}
	first, last := nest.FloorDiv(low, n), nest.FloorDiv(high, n)
	switch wraps := last - first; {
	case wraps < 0: // it is reached nowhere
		return constant(0), true
	case wraps > 1 && b.turn(rest, n), wraps > maxWraps:
		return q, false
	}
	q = piece{affine: plus(whole, 1, nest.Constant(first))}
	if last > first && high == low+1 { // 0 and 1, say, and what is affine of the two
		return q.plus(1, piece{affine: plus(rest, -1, nest.Constant(low))}), true
	}
	q.affine.Const = last
	for k := last - 1; k >= first; k-- {
		below := plus(nest.Constant(k*n+n-1), -1, rest)
		q = piece{kind: choice, when: nest.Condition{{below}},
			args: []piece{{affine: plus(whole, 1, nest.Constant(k))}, q}}
	}
	return q, true
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
		affine, ok := multiple(a, by)
		q := piece{affine: affine}
		if !ok {
			low, high, known := b.span(a)
			least, most := x.t.limits()
			if known && x.t.signed && (low < least || high > most) {
				b.stays(e.args[0], x)
			}
			if low = max(low, least); known && low > high { // it is reached nowhere
				return constant(0)
			}
			if known && (floors || low >= 0) { // C rounds towards 0
				q, ok = b.quotient(a, by, low, high)
			}
		}
		if !ok {
			panic(e.fails("%s of a variable is not affine here, or has too many cases", e.op))
		}
		if remains {
			return piece{affine: a}.plus(-by, q)
		}
		return q
	})
}

// multiple is an affine function divided by n, if all of it is a multiple.
func multiple(a nest.Affine, n int) (q nest.Affine, is bool) {
	q, is = nest.Constant(a.Const/n), a.Const%n == 0
	for d, c := range a.Coef {
		q = plus(q, c/n, nest.Variable(d))
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

// span returns bounds of an affine function, if the bounds of the loops around give any.
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

// spanOf returns bounds of a piece.
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

// turn asks for a loop around to be strip-mined by the period of a function's remainder by n. It
// reports whether there is such a loop. Everything is then built again.
func (b *builder) turn(a nest.Affine, n int) bool {
	for d := min(len(a.Coef), len(b.loops)) - 1; d >= 0 && n <= maxTurn; d-- {
		v := b.loops[d]
		if a.Coef[d] == 0 || v.inner {
			continue
		}
		turn, worth := v.turn*(n/nest.GCD(a.Coef[d], n)), true
		if v.turn == 0 {
			turn = n / nest.GCD(v.step%n*a.Coef[d], n)
			low, high, ok := b.span(nest.Variable(d))
			worth = ok && (high-low)/max(v.step, -v.step) >= turn
		}
		if worth && turn <= maxTurn && turn > max(v.turn, b.turns[v.node]) {
			b.turns[v.node], b.again = turn, true
			return true
		}
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

// inTurns strip-mines a loop: an outer one over strips of turn iterations, an inner one in a strip,
// and the variable's value there: the first value, and turn*step*outer + inner.
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
		outer.To = append(outer.To, nest.Constant(nest.FloorDiv(max(sign*low, sign*high)-1,
			sign*by)+1))
	}
	return outer, inner, at, ok
}
