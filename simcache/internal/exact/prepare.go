package exact

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A node is a part of a program as it runs here. Loops count from 0 to their trips. Addresses are
// functions of the slots of these induction variables.
type node struct {
	kind   kind
	body   []*node // of a loop or block, or a branch whose condition holds
	orelse []*node // of a branch

	// of an access
	op, width int
	addr      affine
	straddles bool // some of its bytes may lie in the next line

	// of a loop
	slot      int
	firstSlot int      // slot of the first value, if that is the max or min of several; else -1
	firsts    []affine // their functions
	up        bool     // the first value is their max
	spans     []affine // distances from first to end; the least, divided by step, is the trips
	step      int      // positive
	inner     bool     // its body has accesses only
	inside    *inner   // of an inner loop
	solo      *solo    // of an inner loop, or nil
	enter     *enter   // of an inner loop, if needed
	tiny      *tiny    // of a loop around others, or nil
	light     bool     // a block without summaries; see prepare

	progress func(share float64) // of an outermost loop, or nil

	when [][]affine // of a branch: an or of ands of "at least 0"

	opLow, opHigh int   // the accesses in it
	unit          *unit // for summaries; nil if none are kept
}

type kind uint8

const (
	access kind = iota
	loop
	branch
	block // a loop's body of several nodes, as a loop of one trip
)

type builder struct {
	vars      []affine // the variables of the loops around, by slots
	low, high []int    // by slot: bounds of its number
	ops       int
	line      int     // the smallest line size
	dead      int     // number of loops around that never run
	accesses  []*node // those that may be made
	from, to  int     // bounds of their bytes
}

func (b *builder) nodes(list []nest.Node) []*node {
	var made []*node
	for _, n := range list {
		low := b.ops
		var m *node
		switch n := n.(type) {
		case nest.Operand:
			m = b.access(n)
		case *nest.Loop:
			m = b.loop(n)
		case *nest.If:
			m = b.branch(n)
		}
		m.opLow, m.opHigh = low, b.ops
		made = append(made, m)
	}
	return made
}

func (b *builder) access(op nest.Operand) *node {
	m := &node{kind: access, op: b.ops, width: op.Width, addr: affine{c: int(op.Base)}}
	b.ops++
	for d, s := range op.Strides {
		if s != 0 {
			m.addr = m.addr.plus(s, b.vars[d])
		}
	}
	// All addresses are base plus multiples of g. So the last place in a line at which the access
	// may begin is base mod g, counted from g bytes before the line's end.
	g := b.line
	for _, t := range m.addr.terms {
		g = nest.GCD(g, t.coef)
	}
	m.straddles = m.addr.c&(g-1)+op.Width > g
	if b.dead == 0 {
		low, high := m.addr.bounds(b.low, b.high)
		b.from, b.to = min(b.from, low), max(b.to, high+op.Width-1)
		b.accesses = append(b.accesses, m)
	}
	return m
}

func (b *builder) affine(a nest.Affine) affine {
	v := affine{c: a.Const}
	for d, c := range a.Coef {
		if c != 0 {
			v = v.plus(c, b.vars[d])
		}
	}
	return v
}

func (b *builder) slot(low, high int) int {
	b.low, b.high = append(b.low, low), append(b.high, high)
	return len(b.low) - 1
}

// loop rewrites v = first, first+step, ... as v = first + step*y, for y from 0 to the trips. A max
// of several first values is not affine. It gets a slot of its own, set where the loop begins.
func (b *builder) loop(l *nest.Loop) *node {
	m := &node{kind: loop, slot: b.slot(0, 0), firstSlot: -1, up: l.Step > 0}
	m.step = max(l.Step, -l.Step)
	first := b.affine(l.From[0])
	if len(l.From) > 1 {
		low, high := first.bounds(b.low, b.high)
		for _, a := range l.From {
			value := b.affine(a)
			m.firsts = append(m.firsts, value)
			l, h := value.bounds(b.low, b.high)
			low, high = min(low, l), max(high, h)
		}
		m.firstSlot = b.slot(low, high)
		first = affine{terms: []term{{m.firstSlot, 1}}}
	}
	for _, a := range l.To {
		if to := b.affine(a); m.up {
			m.spans = append(m.spans, to.plus(-1, first))
		} else {
			m.spans = append(m.spans, first.plus(-1, to))
		}
	}
	trips := math.MaxInt
	for _, span := range m.spans {
		_, high := span.bounds(b.low, b.high)
		trips = min(trips, m.count(high))
	}
	b.high[m.slot] = max(0, trips-1)
	value := first.plus(1, affine{})
	value.add(m.slot, l.Step)
	if b.vars = append(b.vars, value); trips == 0 {
		b.dead++
		defer func() { b.dead-- }()
	}
	m.body = b.wrapped(l.Body)
	b.vars = b.vars[:len(b.vars)-1]
	m.inner = true
	for _, c := range m.body {
		m.inner = m.inner && c.kind == access
	}
	return m
}

func (b *builder) branch(c *nest.If) *node {
	m := &node{kind: branch}
	for _, all := range c.When {
		var and []affine
		for _, a := range all {
			and = append(and, b.affine(a))
		}
		m.when = append(m.when, and)
	}
	m.body, m.orelse = b.wrapped(c.Then), b.wrapped(c.Else)
	return m
}

// wrapped makes a block of several nodes, unless all are accesses, so that one summary covers them.
func (b *builder) wrapped(list []nest.Node) []*node {
	low := b.ops
	made := b.nodes(list)
	if len(made) < 2 {
		return made
	}
	for _, m := range made {
		if m.kind != access {
			return []*node{{
				kind: block, body: made, slot: b.slot(0, 0), firstSlot: -1, spans: []affine{{c: 1}},
				step: 1, opLow: low, opHigh: b.ops,
			}}
		}
	}
	return made
}

// trips returns how often a loop runs, with these numbers in the slots around it.
func (n *node) trips(slots []int) int {
	if n.firstSlot >= 0 {
		first := n.firsts[0].at(slots)
		for i := range n.firsts[1:] {
			if v := n.firsts[i+1].at(slots); v > first == n.up {
				first = v
			}
		}
		slots[n.firstSlot] = first
	}
	return n.count(n.least(slots))
}

func (n *node) least(slots []int) int {
	span := n.spans[0].at(slots)
	for i := range n.spans[1:] {
		span = min(span, n.spans[i+1].at(slots))
	}
	return span
}

func (n *node) count(span int) int {
	if span <= 0 {
		return 0
	}
	if n.step == 1 {
		return span
	}
	return (span + n.step - 1) / n.step
}

func (n *node) holds(slots []int) bool {
	for _, all := range n.when {
		held := true
		for i := range all {
			held = held && all[i].at(slots) >= 0
		}
		if held {
			return true
		}
	}
	return false
}
