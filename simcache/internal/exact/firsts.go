package exact

import (
	"cmp"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A walk to first touches takes at most leastWalked steps plus 1/walkedOf of the program's
// accesses, and at most mostWalked. A step is a touch, or a look at a word of bits or at a bound.
const (
	mostWalked  = 1 << 28
	leastWalked = 1 << 14
	walkedOf    = 8
)

// lines has a bit for each touched line.
type lines struct {
	low      int // the line of the first bit
	bits     []uint64
	from, to int // the first touched line, and the one after the last
}

func (l *lines) span() int { return l.to - l.from }

const mostBits = 1 << 26

// grow extends the bits to lines from..to, and reports whether they are at most mostBits.
func (l *lines) grow(from, to int) bool {
	if l.bits != nil {
		from, to = min(from, l.low), max(to, l.low+64*len(l.bits)-1)
	}
	if to-from < 0 || to-from >= mostBits {
		return false
	}
	from = floor(from, 64)
	bits := make([]uint64, (to-from)/64+1)
	if l.bits != nil {
		copy(bits[(l.low-from)/64:], l.bits)
	}
	l.low, l.bits = from, bits
	return true
}

// first touches the lines of a program, and returns the number of first touches by operand. It
// fails if the lines span more than the level, or if the walk exceeds its budget.
func (l *lines) first(b *builder, program []*node, accesses int, level engine.Level) (
	misses []uint64, ok bool) {
	if len(b.accesses) == 0 {
		return make([]uint64, b.ops), true
	}
	if !l.grow(b.from>>level.Shift, b.to>>level.Shift) {
		return nil, false
	}
	slots := len(b.low)
	f := &firsts{
		lines: l, shift: level.Shift, most: level.Lines(),
		budget: min(mostWalked, leastWalked+accesses/walkedOf),
		slots:  make([]int, slots), lows: make([]int, slots), highs: make([]int, slots),
		misses: make([]uint64, b.ops),
	}
	f.list(program, nil)
	f.visit(program)
	return f.misses, f.budget >= 0
}

// firsts finds which access of a program touches a line first. It walks the program, but skips an
// access in a loop if all lines within its bounds there were touched before.
type firsts struct {
	*lines
	shift       uint
	most        int // largest allowed span, in lines
	slots       []int
	lows, highs []int     // by slot: bounds of its number
	sites       []*site   // by access
	out         []*site   // skipped accesses of the loops being walked
	walks       []walking // scratch
	misses      []uint64
	budget      int
}

// A site is an access with its terms, the largest first, and the loops around it. These make the
// access only if each of allows is at least 1.
type site struct {
	n      *node
	live   bool // it may touch new lines in the loops being walked
	terms  []term
	loops  []*node
	allows []affine
}

type walking struct{ op, addr, step, line int }

func (f *firsts) list(list, loops []*node) {
	for _, n := range list {
		switch n.kind {
		case access:
			p := &site{n: n, live: true, loops: slices.Clone(loops)}
			p.terms = slices.Clone(n.addr.terms)
			slices.SortFunc(p.terms, func(a, b term) int {
				return cmp.Compare(max(b.coef, -b.coef), max(a.coef, -a.coef))
			})
			for _, l := range loops {
				for _, span := range l.spans {
					allow := span.plus(1, affine{})
					allow.add(l.slot, -l.step)
					p.allows = append(p.allows, allow)
				}
			}
			f.sites = append(f.sites, p)
		case loop:
			f.list(n.body, append(slices.Clone(loops), n))
		default:
			f.list(n.body, loops)
			f.list(n.orelse, loops)
		}
	}
}

func (f *firsts) visit(list []*node) {
	for _, n := range list {
		switch n.kind {
		case access:
			if f.sites[n.op].live {
				f.touch(n.op, n.addr.at(f.slots)>>f.shift)
			}
		case branch:
			if n.holds(f.slots) {
				f.visit(n.body)
			} else {
				f.visit(n.orelse)
			}
		case block:
			f.visit(n.body)
		case loop:
			f.loop(n)
		}
	}
}

func (f *firsts) touch(op, line int) {
	f.budget--
	at := line - f.low
	bit := uint64(1) << (at & 63)
	if f.bits[at>>6]&bit != 0 {
		return
	}
	f.bits[at>>6] |= bit
	f.misses[op]++
	if f.to == 0 {
		f.from, f.to = line, line+1
	}
	f.from, f.to = min(f.from, line), max(f.to, line+1)
	if f.span() > f.most {
		f.budget = -1
	}
}

// loop walks a loop. Before iterations 0, 1, 2, 4, 8 and so on, it drops the accesses without new
// lines in the remaining iterations.
func (f *firsts) loop(n *node) {
	trips := n.trips(f.slots)
	if n.firstSlot >= 0 {
		f.lows[n.firstSlot], f.highs[n.firstSlot] = f.slots[n.firstSlot], f.slots[n.firstSlot]
	}
	left := len(f.out)
	for y := 0; y < trips && f.budget >= 0; {
		if !f.leave(n, y, trips) {
			break
		}
		end := min(trips, max(1, 2*y))
		if n.inner {
			f.inner(n, y, end)
			y = end
		}
		for ; y < end && f.budget >= 0; y++ {
			f.slots[n.slot], f.lows[n.slot], f.highs[n.slot] = y, y, y
			f.visit(n.body)
		}
	}
	for _, p := range f.out[left:] {
		p.live = true
	}
	f.out = f.out[:left]
}

// leave drops these accesses, and reports whether others are left.
func (f *firsts) leave(n *node, y, trips int) (some bool) {
	f.slots[n.slot], f.lows[n.slot], f.highs[n.slot] = y, y, trips-1
	if !n.inner {
		f.bound(n.body)
	}
	for _, p := range f.sites[n.opLow:n.opHigh] {
		switch {
		case !p.live:
		case n.inner && f.row(p, n, trips-y) || !n.inner && f.covered(p):
			p.live = false
			f.out = append(f.out, p)
		default:
			some = true
		}
	}
	return some
}

// row is covered for the next trips iterations of an innermost loop.
func (f *firsts) row(p *site, n *node, trips int) bool {
	at, by := p.n.addr.at(f.slots), p.n.addr.coef(n.slot)
	if by <= 1<<f.shift && by >= -1<<f.shift {
		end := at + by*(trips-1)
		return f.were(min(at, end)>>f.shift, max(at, end)>>f.shift)
	}
	for range trips {
		if !f.were(at>>f.shift, at>>f.shift) {
			return false
		}
		at += by
	}
	return true
}

func (f *firsts) inner(n *node, from, to int) {
	f.slots[n.slot] = from
	f.walks = f.walks[:0]
	for _, p := range f.sites[n.opLow:n.opHigh] {
		if p.live {
			at, step := p.n.addr.at(f.slots), p.n.addr.coef(n.slot)
			f.walks = append(f.walks, walking{p.n.op, at, step, -1})
		}
	}
	for range to - from {
		for i := range f.walks {
			w := &f.walks[i]
			if line := w.addr >> f.shift; line != w.line {
				f.touch(w.op, line)
				w.line = line
			}
			w.addr += w.step
		}
	}
}

// bound bounds the induction variables of the loops in list.
func (f *firsts) bound(list []*node) {
	for _, n := range list {
		if n.kind == loop {
			if f.budget--; n.firstSlot >= 0 {
				f.boundFirst(n)
			}
			trips := math.MaxInt
			for i := range n.spans {
				_, most := n.spans[i].bounds(f.lows, f.highs)
				trips = min(trips, n.count(most))
			}
			f.lows[n.slot], f.highs[n.slot] = 0, trips-1
		}
		f.bound(n.body)
		f.bound(n.orelse)
	}
}

func (f *firsts) boundFirst(n *node) {
	for i := range n.firsts {
		low, high := n.firsts[i].bounds(f.lows, f.highs)
		if now := f.lows[n.firstSlot]; i == 0 || low > now == n.up {
			f.lows[n.firstSlot] = low
		}
		if now := f.highs[n.firstSlot]; i == 0 || high > now == n.up {
			f.highs[n.firstSlot] = high
		}
	}
}

// covered reports whether all lines that an access may touch, within the bounds, were touched.
func (f *firsts) covered(p *site) bool {
	for _, l := range p.loops {
		if f.highs[l.slot] < f.lows[l.slot] {
			return true // it is never made
		}
	}
	return f.all(p, 0, p.n.addr.c)
}

// all is covered for the terms from one on. addr is the sum of the terms before.
func (f *firsts) all(p *site, term, addr int) bool {
	if term == len(p.terms) {
		return f.were(addr>>f.shift, addr>>f.shift)
	}
	rest := affine{addr, p.terms[term:]}
	if from, to := rest.bounds(f.lows, f.highs); f.were(from>>f.shift, to>>f.shift) {
		return true
	}
	t := p.terms[term]
	low, high := f.lows[t.slot], f.highs[t.slot]
	if t.coef <= 1<<f.shift && t.coef >= -1<<f.shift {
		return false
	}
	defer func() { f.lows[t.slot], f.highs[t.slot] = low, high }()
	var lows, highs [8]int
	inner := p.terms[term+1:]
	if len(inner) > len(lows) {
		return false
	}
	for i, t := range inner {
		lows[i], highs[i] = f.lows[t.slot], f.highs[t.slot]
	}
	for v := low; v <= high; v++ {
		f.lows[t.slot], f.highs[t.slot] = v, v
		ok := f.narrow(p, inner) || f.all(p, term+1, addr+t.coef*v)
		for i, t := range inner {
			f.lows[t.slot], f.highs[t.slot] = lows[i], highs[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

// narrow narrows the bounds of slots to what the loops allow, and reports whether none is left.
func (f *firsts) narrow(p *site, terms []term) (nothing bool) {
	f.budget -= 2 * len(terms) * len(p.allows)
	for _, t := range terms {
		low, high := &f.lows[t.slot], &f.highs[t.slot]
		for i := range p.allows {
			a := &p.allows[i]
			coef := a.coef(t.slot)
			if coef == 0 {
				continue
			}
			// coef * number + the maximum of the other terms is at least 1.
			_, most := a.bounds(f.lows, f.highs)
			rest := most - max(coef**low, coef**high) - 1
			if coef > 0 {
				*low = max(*low, -nest.FloorDiv(rest, coef))
			} else {
				*high = min(*high, nest.FloorDiv(rest, -coef))
			}
			if *low > *high {
				return true
			}
		}
	}
	return false
}

// were reports whether all lines from..to were touched.
func (f *firsts) were(from, to int) bool {
	from -= f.low
	to -= f.low
	if from < 0 || to >= 64*len(f.bits) {
		return false
	}
	f.budget--
	first, last := ^uint64(0)<<(from&63), ^uint64(0)>>(63-to&63)
	i, end := from>>6, to>>6
	if i == end {
		return f.bits[i]|^(first&last) == ^uint64(0)
	}
	if f.bits[i]|^first != ^uint64(0) || f.bits[end]|^last != ^uint64(0) {
		return false
	}
	for i++; i < end; i++ {
		if f.bits[i] != ^uint64(0) {
			return false
		}
		f.budget--
	}
	return true
}
