package exact

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A unit is a loop or a block that has summaries, and everything that decides its sequence of
// lines.
type unit struct {
	refs  []ref
	gates []gate
	pairs [][2]int // refs that may touch one line
	// period is the least number of iterations that moves all references by whole lines, and
	// equally modulo the span of the sets; 0 if there is none.
	period int
	fixed  bool // no bound or condition inside depends on the unit's induction variable
	slot   int  // of the unit's induction variable
	asks   bool // a condition depends on induction variables in the unit
	opLow  int
	opHigh int

	table    []*entry
	held     int // bytes of its entries
	tries    int
	account  int // see machine.book
	extends  int
	big      float64 // touches of an instance from which on its miss stream is too long
	room     int     // recently sufficient items of a row's log, about
	listed   int     // recently sufficient length of a log's lists
	logs     bool    // summaries keep miss streams
	inner    bool    // a loop around accesses only
	off      bool    // its summaries do not pay
	alone    bool    // of a loop's moving accesses; see solo
	byRow    bool    // misses are counted by row; see tiny
	key      []int
	base     []int
	low, hig []int
}

// A ref is the address of one or more accesses: a function of slots outside the unit, its induction
// variable, and those inside.
type ref struct {
	out    affine
	own    int    // stride of the unit's loop in bytes
	in     []term // with the unit's induction variable
	g      int    // greatest power of two that divides all inner coefficients and the smallest line
	within int    // the same without the unit's induction variable
}

// A gate is a bound or a condition inside the unit, split like a ref.
type gate struct {
	of      *node
	outs    []affine
	own     []int
	ins     [][]term
	depends bool // on induction variables of the unit
}

const mostRefs = 64

// units makes the units of a tree, leaves first, and returns its nodes.
func (m *machine) units(n *node) (inside []*node) {
	for _, list := range [][]*node{n.body, n.orelse} {
		for _, c := range list {
			inside = append(inside, m.units(c)...)
		}
	}
	if n.kind == loop || n.kind == block {
		n.unit = m.unit(n, inside)
	}
	return append(inside, n)
}

// unit makes the unit of a node. It returns nil if an access may straddle lines, if a bound is not
// affine, or if there is too much to compare.
func (m *machine) unit(n *node, inside []*node) *unit {
	u := &unit{
		fixed: true, slot: n.slot, inner: n.inner, opLow: n.opLow, opHigh: n.opHigh, logs: m.deep,
		big: math.Inf(1),
	}
	if m.deep {
		u.big = 400 * m.threshold
	}
	slots := map[int]bool{n.slot: true}
	for _, c := range inside {
		if c.straddles || c.kind == loop && c.firstSlot >= 0 {
			return nil
		}
		if c.kind == loop || c.kind == block {
			slots[c.slot] = true
		}
	}
	isInside := func(slot int) bool { return slots[slot] }
	var seen []affine
	for _, c := range inside {
		switch c.kind {
		case access:
			if slices.ContainsFunc(seen, func(a affine) bool { return a.same(&c.addr) }) {
				continue
			}
			seen = append(seen, c.addr)
			u.refs = append(u.refs, m.ref(n, c.addr, isInside))
		case loop:
			u.gate(n, c, c.spans, isInside)
		case branch:
			u.gate(n, c, slices.Concat(c.when...), isInside)
		}
	}
	if len(u.refs) == 0 || len(u.refs) > mostRefs {
		return nil
	}
	u.period = m.period(u)
	for r := range u.refs {
		for q := range r {
			u.pairs = append(u.pairs, [2]int{q, r})
		}
	}
	u.base = make([]int, len(u.refs))
	u.low, u.hig = slices.Clone(u.base), slices.Clone(u.base)
	return u
}

func (m *machine) ref(n *node, addr affine, inside func(int) bool) ref {
	r := ref{own: addr.coef(n.slot)}
	r.out, r.in = addr.split(inside)
	r.within = m.minLine
	for _, t := range r.in {
		if t.slot != n.slot {
			r.within = nest.GCD(r.within, t.coef)
		}
	}
	r.g = nest.GCD(r.within, r.own)
	return r
}

func (u *unit) gate(n, of *node, list []affine, inside func(int) bool) {
	g := gate{of: of}
	for _, a := range list {
		out, in := a.split(inside)
		g.outs, g.own, g.ins = append(g.outs, out), append(g.own, a.coef(n.slot)), append(g.ins, in)
		g.depends = g.depends || len(in) > 0
		u.fixed = u.fixed && a.coef(n.slot) == 0
	}
	u.asks = u.asks || g.depends && of.kind == branch
	u.gates = append(u.gates, g)
}

// period finds a P such that P*own is whole lines for each reference, and P times the difference of
// two own strides whole spans.
func (m *machine) period(u *unit) int {
	if !u.fixed {
		return 0
	}
	p := 1
	lcm := func(of, step int) {
		q := of / nest.GCD(of, step)
		if p = p / nest.GCD(p, q) * q; p > 1<<20 {
			p = 1 << 20
		}
	}
	for _, r := range u.refs {
		lcm(m.maxLine, r.own)
		lcm(m.span, r.own-u.refs[0].own)
	}
	if p >= 1<<20 {
		return 0
	}
	return p
}

// placeIn writes to base the places of an instance's references: trips iterations from y on. It
// writes to key everything that decides the sequence of lines, up to moving:
//
//  1. A reference's addresses are base + multiples of g, a power of two that divides the line. So
//     base, rounded down to a multiple of g, decides their lines.
//  2. If all rounded bases move by whole lines, each line moves by the same distance as its
//     reference.
//  3. If these moves agree modulo the sets, lines that shared a set still do.
//  4. Bounds and conditions inside are functions of the same inner induction variables. The key has
//     their values at zero.
//  5. If a condition always or never holds in the instance, the key says only that. The same then
//     holds for each part of the instance.
func (u *unit) placeIn(m *machine, y, trips int) {
	for i := range u.refs {
		r := &u.refs[i]
		u.base[i] = floor(r.out.at(m.slots)+r.own*y, r.g)
	}
	key := append(u.key[:0], u.base[0]&(m.maxLine-1))
	for _, b := range u.base[1:] {
		key = append(key, m.modSpan(b-u.base[0]))
	}
	if u.asks {
		u.reach(m, y, trips)
	}
	for i := range u.gates {
		key = u.gates[i].key(key, m, y)
	}
	u.key = key
}

func (g *gate) key(key []int, m *machine, y int) []int {
	if !g.depends {
		if g.of.kind == loop {
			return append(key, g.of.count(g.of.least(m.slots)))
		}
		if g.of.holds(m.slots) {
			return append(key, 1)
		}
		return append(key, 0)
	}
	for i := range g.outs {
		v := g.outs[i].at(m.slots) + g.own[i]*y
		if g.of.kind == loop {
			key = append(key, v)
			continue
		}
		low, high := bounds(v, g.ins[i], m.least, m.most)
		switch {
		case low >= 0:
			key = append(key, always)
		case high < 0:
			key = append(key, noValue)
		default:
			key = append(key, sometimes, v)
		}
	}
	return key
}

const (
	noValue = iota
	always
	sometimes
)

func (m *machine) modSpan(a int) int { return modulo(a, m.span) }

// modulo returns a modulo b, which is never negative.
func modulo(a, b int) int {
	if b&(b-1) == 0 {
		return a & (b - 1)
	}
	if a %= b; a < 0 {
		a += b
	}
	return a
}

// boxes writes to low and hig bounds of each reference's addresses in trips iterations from y on.
func (u *unit) boxes(m *machine, y, trips int) {
	u.reach(m, y, trips)
	for i := range u.refs {
		u.low[i], u.hig[i] = bounds(u.base[i], u.refs[i].in, m.least, m.most)
	}
}

// reach finds upper bounds of the unit's induction variables.
func (u *unit) reach(m *machine, y, trips int) {
	m.most[u.slot] = trips - 1
	for i := len(u.gates) - 1; i >= 0; i-- { // from the outside in
		if g := &u.gates[i]; g.of.kind == loop {
			m.most[g.of.slot] = max(0, g.most(m, y)-1)
		}
	}
}

// most returns an upper bound of an inner loop's trips.
func (g *gate) most(m *machine, y int) int {
	least := 0
	for i := range g.outs {
		v := g.outs[i].at(m.slots) + g.own[i]*y
		if _, v = bounds(v, g.ins[i], m.least, m.most); i == 0 || v < least {
			least = v
		}
	}
	return g.of.count(least)
}
