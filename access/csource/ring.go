package csource

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A ring is what a variable goes round, as that of r = r == 99 ? 0 : r + 1 or if (++r >= n) r = 0 does: by the same pace in every iteration, and
// where that leads out of low to low+size-1, on from the other end.
type ring struct{ low, size int }

// An assumption is what was not looked into when an iteration was built for nothing: that a value lies between low and high.
type assumption struct {
	piece
	low, high int
}

// mostRing is how far from 0 a ring lies at most.
const mostRing = 1 << 32

// goesRound finds the ring of a path that has no pace, by what an iteration makes of a symbol: a number is one in the ring behind an iteration
// where it was one in front of it. In front of the loop it has to be one, too.
func (p *path) goesRound(symbol int) bool {
	if p.next == nil {
		return false
	}
	places := []int{0}
	if n, fixed := p.from.at().number(); fixed {
		places = append(places, n)
	}
	places = p.next.breaks(symbol, places)
	slices.Sort(places)
	places = slices.Compact(places)
	known := map[int]image{} // by what is asked again for each ring that is tried
	to := func(s int) image {
		is, looked := known[s]
		if !looked {
			is.n, is.ok = p.next.at(symbol, s)
			known[s] = is
		}
		return is
	}
	var steps, values []int
	for _, s := range places {
		if is := to(s); is.ok && max(is.n, -is.n) < mostRing {
			values = append(values, is.n)
			if !slices.Contains(steps, is.n-s) {
				steps = append(steps, is.n-s)
			}
		}
	}
	if len(steps) > maxRound {
		return false
	}
	values = append(values, 0)
	slices.SortFunc(values, func(a, b int) int { return cmp.Or(cmp.Compare(max(a, -a), max(b, -b)), cmp.Compare(a, b)) })
	values = slices.Compact(values)
	tried := map[ring]bool{}
	for _, pace := range steps {
		clear(tried)
		for _, back := range steps {
			for _, low := range values {
				r := ring{low, max(pace-back, back-pace)}
				n, fixed := p.from.at().number()
				if tried[r] || 2*max(pace, -pace) > r.size || fixed && (n < low || n >= low+r.size) {
					continue
				}
				tried[r] = true
				if p.follows(r, pace, symbol, places, to) {
					p.pace, p.ring, p.lost = pace, r, nil
					return true
				}
			}
		}
	}
	return false
}

// An image is what an iteration makes of a number, if that is known.
type image struct {
	n  int
	ok bool
}

// follows tells whether an iteration moves by a pace in a ring: it does everywhere if it does wherever one of the two changes from one affine
// function to another. So it is with what was assumed.
func (p *path) follows(r ring, pace, symbol int, places []int, to func(s int) image) bool {
	if r.size < 2 || pace == 0 {
		return false
	}
	last := r.low + r.size - 1
	moves := func(s int) bool {
		return s < r.low || s > last || to(s) == image{r.low + floorMod(s+pace-r.low, r.size), true}
	}
	if !moves(r.low) || !moves(last) {
		return false
	}
	for _, edge := range []int{last - pace, r.low - pace} {
		if !moves(edge-1) || !moves(edge) || !moves(edge+1) {
			return false
		}
	}
	for _, s := range places {
		if !moves(s) {
			return false
		}
	}
	for _, a := range p.assumed {
		for _, s := range a.breaks(symbol, []int{r.low, last}) {
			if n, ok := a.at(symbol, s); ok && s >= r.low && s <= last && (n < a.low || n > a.high) {
				return false
			}
		}
	}
	return true
}

// entersRing tells whether a walker is in its ring in front of a loop, wherever the loops around lead. Of a symbol that is taken to be so: what is found
// out by it is looked at where it is. So it is of a loop around that begins or ends at one.
func (b *builder) entersRing(p path) bool {
	at := p.from.at()
	if at.usesAny(isSymbol) {
		return b.dry
	}
	bad, err := at.beyond(p.ring.low, p.ring.low+p.ring.size-1)
	if bad = simplified(bad); err != nil || never(bad) {
		return err == nil
	}
	var around []nest.Node
	for _, v := range b.loops {
		if v.loop == nil {
			return false
		}
		if slices.ContainsFunc(slices.Concat(v.loop.From, v.loop.To), func(a nest.Affine) bool { return piece{affine: a}.usesAny(isSymbol) }) {
			return b.dry
		}
		around = append(around, &nest.Loop{Name: v.loop.Name, From: v.loop.From, To: v.loop.To, Step: v.loop.Step})
	}
	return b.proved(check{bad, &Error{}}, around) == nil
}

// isSymbol tells whether a depth is that of the symbol of a walker, or of something unknown that comes of one.
func isSymbol(depth int) bool { return depth >= maxLoops }

// at is a piece where a symbol is a number, if it depends on nothing else there.
func (p piece) at(symbol, s int) (n int, ok bool) {
	if p.kind == leaf {
		return valueAt(p.affine, symbol, s)
	}
	c, err := p.choice()
	if err != nil {
		return 0, false
	}
	for _, all := range c.when {
		holds := true
		for _, a := range all {
			n, ok := valueAt(a, symbol, s)
			if !ok {
				return 0, false
			}
			holds = holds && n >= 0
		}
		if holds {
			return c.args[0].at(symbol, s)
		}
	}
	return c.args[1].at(symbol, s)
}

func valueAt(a nest.Affine, symbol, s int) (n int, ok bool) {
	by := 0
	for d, c := range a.Coef {
		if d == symbol {
			by = c
		} else if c != 0 {
			return 0, false
		}
	}
	const most = 1 << 24
	if by > most || by < -most || max(a.Const, -a.Const) > 1<<60 {
		return 0, false
	}
	return a.Const + by*s, true
}

// breaks adds to a list where a piece changes from one affine function of a symbol to another, and the numbers beside these.
func (p piece) breaks(symbol int, list []int) []int {
	if p.kind == leaf {
		return list
	}
	c, err := p.choice()
	if err != nil {
		return list
	}
	for _, all := range c.when {
		for _, a := range all {
			if !usesVar(a, symbol) {
				continue
			}
			by := a.Coef[symbol]
			if at := nest.FloorDiv(max(by, -by)/by*-a.Const, max(by, -by)); max(at, -at) < mostRing {
				list = append(list, at-1, at, at+1)
			}
		}
	}
	return c.args[1].breaks(symbol, c.args[0].breaks(symbol, list))
}

// around is a walker that was moved along its path, back in its ring.
func (b *builder) around(p path, w walker) walker {
	if w.lost != nil || p.ring.size == 0 {
		return w
	}
	at, err := b.eachLeaf(w.at(), func(a nest.Affine) (piece, error) {
		from, err := plus(a, -1, nest.Constant(p.ring.low))
		if err != nil {
			return piece{}, err
		}
		low, high := 1, 0 // of a symbol
		if start := p.from.at(); start.kind == leaf {
			low, high = p.ring.low-start.affine.Const, p.ring.low+p.ring.size-1-start.affine.Const
		}
		r, ok := b.symbolic(from, p.ring.size, low, high)
		if !ok {
			_, r, ok = b.quotients(from, p.ring.size, true, false)
		}
		if !ok {
			return piece{}, errCases
		}
		return r.plus(1, constant(p.ring.low))
	})
	if err != nil {
		return walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: lostRing}}
	}
	return w.to(at)
}

// symbolic is the remainder by n, which is not below 0, of a function of a walker's symbol, if it is one. Of the symbol and a constant it is known where
// the symbol lies between low and high, at most n apart; of everything else nothing is.
func (b *builder) symbolic(a nest.Affine, n, low, high int) (piece, bool) {
	if !b.dry || !(piece{affine: a}).usesAny(isSymbol) {
		return piece{}, false
	}
	b.symbols++
	unknown := piece{affine: nest.Variable(maxLoops + b.symbols - 1)}
	own := len(a.Coef) - 1
	for own > 0 && a.Coef[own] == 0 {
		own--
	}
	symbol := nest.Variable(own)
	rest, err := plus(a, -1, symbol)
	if _, fixed := (piece{affine: rest}).number(); err != nil || !fixed || low > high {
		return unknown, true
	}
	moved := a
	moved.Const -= n * nest.FloorDiv(low+a.Const, n)
	within := func(of nest.Affine, low, high int) nest.Condition {
		above, err1 := plus(of, 1, nest.Constant(-low))
		below, err2 := plus(nest.Constant(high), -1, of)
		if err1 != nil || err2 != nil {
			return nil
		}
		return nest.Condition{{above, below}}
	}
	over := moved
	over.Const -= n
	known := piece{kind: choice, when: within(moved, 0, n-1), args: []piece{{affine: moved}, {affine: over}}}
	return piece{kind: choice, when: within(symbol, low, high), args: []piece{known, unknown}}, true
}

func floorMod(a, n int) int { return a - n*nest.FloorDiv(a, n) }
