package proofs

import (
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A nestEnd is what levels hold after a nest, whatever they held before.
type nestEnd struct {
	nest     nest.Nest
	contents [][][]uint64
}

// tail makes the chain, which is empty, hold what it does after a nest, from the last of its iterations
// alone, and reports whether it could.
//
// A set of the first level holds what it does at the end once it is full, whatever it held
// before these iterations. When all are, the second level is emptied, as from there on it is asked
// what it would be; when it is full, it holds what it does at the end too, and so on.
//
// A set of the last level that is not full in the end lacks what it was asked before it was emptied. So the
// iterations before are run on empty levels likewise, up to where it was emptied last: what
// this leaves in a set is older than what the set has.
func (e *Engine) tail(n nest.Nest) bool {
	if len(n.Trips) == 0 {
		return false
	}
	if e.end.contents != nil && reflect.DeepEqual(e.end.nest, n) {
		e.ends++
		e.fill(e.end.contents)
		return true
	}
	before := e.Chain.Work()
	defer func() { e.inVain += e.Chain.Work() - before }() // they are counted
	c := e.cut(n)
	all := n.Trips[0] * c.parts
	last := len(e.levels) - 1
	var contents [][][]uint64
	for to, some := all, e.leastAtEnd(c); some <= to-(all-all/mostOfNest); {
		begun := e.ending(c, to-some, to)
		if begun == to {
			some *= 2
			e.empty(0)
			continue
		}
		if contents == nil {
			contents = e.all()
		} else {
			e.older(contents[last])
		}
		e.empty(0)
		held, lines := 0, e.levels[last].Lines()
		for _, set := range contents[last] {
			held += len(set)
		}
		if held == lines {
			e.tails++
			e.end = nestEnd{n, contents}
			e.fill(contents)
			return true
		}
		// As many as would fill what is left, if they did so as evenly, and as many again as it took to know the levels before.
		warm, done := begun-(to-some), all-begun
		more := min(float64(done)*float64(lines-held)/float64(max(1, held)), mostMore*float64(done))
		to, some = begun, warm+max(warm, int(more), done/leastMore, 1)
	}
	return false
}

// leastAtEnd is about how many parts fill the last level at the least, if it is known how often they miss
// there, and else one.
func (e *Engine) leastAtEnd(c cut) int {
	at := slices.IndexFunc(e.cold, func(run coldRun) bool { return reflect.DeepEqual(run.nest, c.nest) })
	if at < 0 {
		return 1
	}
	misses, run := uint64(0), e.cold[at].misses
	for at := len(e.levels) - 1; at < len(run); at += len(e.levels) {
		misses += run[at]
	}
	lines := e.levels[len(e.levels)-1].Lines()
	return 1 + int(min(float64(lines)/float64(misses), 1./mostOfNest)*float64(c.nest.Trips[0]*c.parts))
}

// mostMore is how many times as many iterations as before are looked at next, at most, for the end of
// a nest, and leastMore the part of them that is the least.
const (
	mostMore  = 4
	leastMore = 4
)

// ending runs parts of a nest on the chain, which is empty, and returns from which part on the last level
// held nothing but what it does whatever the levels held before; to if that is not so.
func (e *Engine) ending(c cut, from, to int) (begun int) {
	begun = from
	for known := 0; known < len(e.levels)-1 && begun < to; begun++ {
		e.runParts(c, begun, begun+1)
		for known < len(e.levels)-1 && e.full(known) {
			known++
			e.empty(known)
		}
	}
	e.runParts(c, begun, to)
	return begun
}

// older adds to the sets of the last level what the chain has in it, as older than what they have.
func (e *Engine) older(sets [][]uint64) {
	last := len(e.levels) - 1
	var list []uint64
	for set, kept := range sets {
		if len(kept) == e.levels[last].Ways {
			continue
		}
		list = e.Chain.Contents(list[:0], last, set)
		for _, block := range list {
			if len(kept) < e.levels[last].Ways && !slices.Contains(kept, block) {
				kept = append(slices.Clip(kept), block)
			}
		}
		sets[set] = kept
	}
}

// A cut is a nest of which each iteration of the outermost loop is cut into as many parts.
type cut struct {
	nest  nest.Nest
	parts int
}

// cut cuts the iterations of the outermost loop, where they are long.
func (e *Engine) cut(n nest.Nest) cut {
	c := cut{n, 1}
	if len(n.Trips) > 1 {
		c.parts = max(1, min(mostParts, n.Trips[1], accessesOf(n)/n.Trips[0]/e.partFrom))
	}
	return c
}

// mostParts is into how many parts an iteration is cut at most.
const mostParts = 16

// runParts runs parts from one up to another on the chain.
func (e *Engine) runParts(c cut, from, to int) {
	for from < to {
		y, next := from/c.parts, (from/c.parts+1)*c.parts
		if from%c.parts == 0 && next <= to {
			next = to / c.parts * c.parts
			e.Chain.One(c.nest.Range(0, y, next/c.parts).Canonical())
		} else {
			next = min(next, to)
			low, high := from-y*c.parts, next-y*c.parts
			one := c.nest.Range(0, y, y+1).Range(1, c.nest.Trips[1]*low/c.parts, c.nest.Trips[1]*high/c.parts)
			e.Chain.One(one.Canonical())
		}
		from = next
	}
}

// full reports whether all sets of a level of the chain are.
func (e *Engine) full(level int) bool {
	l := e.levels[level]
	var list []uint64
	for set := range l.Sets {
		if list = e.Chain.Contents(list[:0], level, set); len(list) < l.Ways {
			return false
		}
	}
	return true
}
