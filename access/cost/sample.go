package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
)

type place struct {
	block, sets, ways int
	hashed            bool // counted by footprint alone, since a hash chooses the sets

	// missing is Model.missing by blocks; nil if LRU applies.
	missing func(blocks float64) float64
}

func (p place) blocks() float64 { return float64(p.sets * p.ways) }

func (p place) room(op nest.Operand, trips []int) float64 {
	if p.hashed {
		return p.blocks()
	}
	return room(op, trips, p.block, p.sets, p.ways)
}

// kept returns the share of an operand's reused blocks that the place still has. The operands touch
// all blocks in the reuse interval, and this operand touches own, with room for room of them.
func (p place) kept(all, own, room float64) float64 {
	if p.missing != nil {
		return 1 - p.missing(max(all, own*p.blocks()/room))
	}
	if all > p.blocks() || own > room {
		return 0
	}
	return 1
}

func (c caches) places() []place {
	all := make([]place, 0, len(c.levels)+len(c.tlb))
	for i, l := range c.levels {
		p := place{block: l.Line, sets: l.Sets(), ways: l.Ways}
		if p.hashed = i >= len(c.simulated()); p.hashed {
			c.asHashed(&p, i)
		}
		all = append(all, p)
	}
	for _, t := range c.tlb {
		all = append(all, place{block: t.Page, sets: t.Entries / t.Ways, ways: t.Ways})
	}
	return all
}

func (c caches) asHashed(p *place, i int) {
	if c.missing == nil {
		return
	}
	blocks := p.blocks()
	p.missing = func(n float64) float64 {
		if share, known := c.missing(i, n*float64(p.block)); known {
			return share
		}
		if n > blocks {
			return 1
		}
		return 0
	}
}

func (c caches) pass(walks []Counted) []float64 {
	var all []float64
	for _, p := range c.places() {
		sum := 0.0
		for _, w := range walks {
			sum += footprint(w.Nest, p.block)
		}
		all = append(all, sum)
	}
	return all
}

// An excerpt is the simulated part of a nest: warming and counted iterations of one loop.
type excerpt struct {
	nest          nest.Nest
	loop          int
	warm, counted int
	touches       *footprints
}

// excerptOf chooses the outermost loop with enough iterations in the window. It chooses the
// innermost loop if an iteration has thousands of accesses, as in panels.
func (c caches) excerptOf(n nest.Nest) excerpt {
	line := c.levels[0].Line
	for l := 0; ; l++ {
		trips, each := n.Trips[l], accesses(n, l+1)
		period := 1 // iterations until each operand starts a new line
		for _, op := range n.Operands {
			if s := op.Strides[l]; s != 0 {
				period = max(period, line/nest.GCD(s, line))
			}
		}
		innermost := l == len(n.Trips)-1
		switch {
		case times(each, trips) <= c.window || innermost && trips < 2*period:
			return excerpt{n, l, 0, trips, footprintsOf(n)}
		case times(2*period, each) <= c.window || innermost:
			counted := period * max(1, c.window/16/times(period, each))
			return excerpt{n, l, counted, counted, footprintsOf(n)}
		}
	}
}

// most saturates counts, since a hostile shape may have more accesses than an int holds.
const most = math.MaxInt / 4

// times multiplies non-negative numbers and saturates at most.
func times(a, b int) int {
	if b > 0 && a > most/b {
		return most
	}
	return a * b
}

func accesses(n nest.Nest, l int) int {
	product := len(n.Operands)
	for _, t := range n.Trips[l:] {
		product = times(product, t)
	}
	return product
}

func (e excerpt) cut(from, trips int) nest.Nest {
	return e.nest.Inside(e.loop).Range(0, from, from+trips)
}

// A part is an excerpt and the misses that each operand has in its counted iterations.
type part struct {
	excerpt
	misses []simcache.OperandMisses
}

func (c caches) sample(n nest.Nest) (part, error) {
	h, err := c.hierarchy()
	if err != nil {
		return part{}, err
	}
	defer idles.Put(h)
	e := c.excerptOf(n)
	if e.warm > 0 {
		if _, err := h.hierarchy.RunMisses(e.cut(0, e.warm)); err != nil {
			return part{}, err
		}
	}
	misses, err := h.hierarchy.RunMisses(e.cut(e.warm, e.counted))
	return part{e, misses}, err
}

// scaled extrapolates the part to the whole nest. all is the result of pass.
func (c caches) scaled(n nest.Nest, e part, all []float64) []Misses {
	scale := float64(accesses(n, 0)) / float64(accesses(e.cut(0, e.counted), 0))
	places, both := c.places(), footprintsOf(e.cut(0, e.warm+e.counted))
	misses := make([]Misses, len(e.misses))
	for r, m := range e.misses {
		cold := e.fresh(r)
		missed := append(floats(m.Levels), make([]float64, len(c.levels)-len(m.Levels))...)
		missed = append(missed, floats(m.TLB)...)
		for i, p := range places {
			gone := cold(p.block) * (1 - e.again(r, p, all[i]))
			if !p.hashed {
				missed[i] = max(missed[i]-cold(p.block)+gone, 0)
			} else { // a level serves the misses of the one before
				// their reuse interval is at most an iteration
				op, trips := both.nest.Operands[r], both.nest.Trips[1:]
				op.Strides = op.Strides[1:]
				kept := p.kept(both.of(1, p.block), touched.Lines(op, trips, p.block),
					p.room(op, trips))
				missed[i] = kept*gone + (1-kept)*missed[i-1]
			}
			if i > 0 && i != len(c.levels) {
				missed[i] = min(missed[i], missed[i-1])
			}
		}
		for i := range missed {
			missed[i] *= scale
		}
		misses[r] = Misses{missed[:len(c.levels)], missed[len(c.levels):]}
	}
	return misses
}

// fresh returns how many blocks operand r touches first in the counted iterations.
func (e excerpt) fresh(r int) func(block int) float64 {
	return func(block int) float64 {
		op, twin := e.operand(r, block)
		if twin {
			return 0
		}
		trips := slices.Clone(e.nest.Trips[e.loop:])
		count := func(n int) float64 {
			if n == 0 {
				return 0
			}
			trips[0] = n
			return touched.Lines(op, trips, block)
		}
		return max(count(e.warm+e.counted)-count(e.warm), 0)
	}
}

// operand returns operand r in the excerpt's loops, and whether another touches its blocks first.
func (e excerpt) operand(r, block int) (op nest.Operand, first bool) {
	op = e.nest.Operands[r]
	op.Strides = op.Strides[e.loop:]
	return op, e.touches.twin(r, block)
}

// again returns the share of the excerpt's new blocks that the place still has, from an earlier
// iteration of a loop around it or from the pass before. A pass touches pass blocks.
func (e excerpt) again(r int, p place, pass float64) float64 {
	n, op := e.nest, e.nest.Operands[r]
	within := func(l int) float64 {
		o := op
		o.Strides = op.Strides[l:]
		return touched.Lines(o, n.Trips[l:], p.block)
	}
	kept := func(l int, all float64) float64 {
		o := op
		o.Strides = op.Strides[l:]
		return p.kept(all, within(l), p.room(o, n.Trips[l:]))
	}
	// shares of blocks: found again in the place, and not yet touched in loops down to this one
	found, rest := 0.0, 1.0
	for l := e.loop - 1; l >= 0; l-- {
		again := 1 - min(1, within(l)/(float64(n.Trips[l])*within(l+1)))
		found += rest * again * kept(l+1, e.touches.of(l+1, p.block))
		rest *= 1 - again
	}
	return found + rest*kept(0, pass)
}
