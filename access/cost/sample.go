package cost

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A place is a level of the caches or of the TLB.
type place struct {
	block, sets, ways int
	hashed            bool
}

func (p place) blocks() float64 { return float64(p.sets * p.ways) }

// places are the levels, then those of the TLB.
func (c caches) places() []place {
	var all []place
	for i, l := range c.levels {
		all = append(all, place{l.Line, l.Sets(), l.Ways, i >= len(c.simulated())})
	}
	for _, t := range c.tlb {
		all = append(all, place{t.Page, t.Entries / t.Ways, t.Ways, false})
	}
	return all
}

// pass is how many blocks of each place a pass over the nests touches.
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

// An excerpt is the part of a nest that is simulated: of one loop so many
// iterations to warm the caches, and as many as are counted.
type excerpt struct {
	nest          nest.Nest
	loop          int
	warm, counted int
	touches       *footprints // of the nest
}

// excerptOf chooses it.
func (c caches) excerptOf(n nest.Nest) excerpt {
	line := c.levels[0].Line
	for l, trips := range n.Trips {
		each := accesses(n, l+1)
		if each*trips <= c.window {
			return excerpt{n, l, 0, trips, footprintsOf(n)}
		}
		period := 1 // iterations until each operand starts a line anew
		for _, op := range n.Operands {
			if s := op.Strides[l]; s != 0 {
				period = max(period, line/nest.GCD(s, line))
			}
		}
		if 2*period*each > c.window {
			continue
		}
		counted := period * max(1, c.part()/(period*each))
		return excerpt{n, l, counted, counted, footprintsOf(n)}
	}
	panic("cost: a canonical nest of more accesses than a window has a loop of more iterations than any period")
}

// accesses is how many an iteration of the loop before l makes.
func accesses(n nest.Nest, l int) int {
	product := len(n.Operands)
	for _, t := range n.Trips[l:] {
		product *= t
	}
	return product
}

// cut is the excerpt's nest with so many iterations of its loop, from one on.
func (e excerpt) cut(from, trips int) nest.Nest {
	return e.nest.Inside(e.loop).Range(0, from, from+trips)
}

// sample counts an excerpt of the walk's nest for all of it; all is what the
// pass touches at each place.
func (c caches) sample(w *Counted, all []float64) error {
	h, err := c.hierarchy()
	if err != nil {
		return err
	}
	defer idles.Put(h)
	e := c.excerptOf(w.Nest)
	if e.warm > 0 {
		if _, err := h.hierarchy.RunMisses(e.cut(0, e.warm)); err != nil {
			return err
		}
	}
	simulated, err := h.hierarchy.RunMisses(e.cut(e.warm, e.counted))
	if err != nil {
		return err
	}
	scale := float64(accesses(w.Nest, 0)) / float64(accesses(e.cut(0, e.counted), 0))
	places, both := c.places(), footprintsOf(e.cut(0, e.warm+e.counted))
	w.Misses = make([]Misses, len(simulated))
	for r, m := range simulated {
		cold := e.fresh(r)
		missed := append(floats(m.Levels), make([]float64, len(c.levels)-len(m.Levels))...)
		missed = append(missed, floats(m.TLB)...)
		for i, p := range places {
			gone := cold(p.block) * (1 - e.again(r, p, all[i]))
			switch {
			case !p.hashed:
				missed[i] = max(missed[i]-cold(p.block)+gone, 0)
			case both.of(0, p.block) <= p.blocks():
				missed[i] = gone
			default:
				missed[i] = missed[i-1]
			}
			if i > 0 && i != len(c.levels) {
				missed[i] = min(missed[i], missed[i-1])
			}
		}
		for i := range missed {
			missed[i] *= scale
		}
		w.Misses[r] = Misses{missed[:len(c.levels)], missed[len(c.levels):]}
	}
	return nil
}

// fresh tells how many blocks operand r touches in the counted part that it did
// not touch in what came before.
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
			return op.Lines(trips, block)
		}
		return max(count(e.warm+e.counted)-count(e.warm), 0)
	}
}

// operand is operand r in the loops from the excerpt's on, and whether another
// touches its blocks first.
func (e excerpt) operand(r, block int) (op nest.Operand, first bool) {
	op = e.nest.Operands[r]
	op.Strides = op.Strides[e.loop:]
	return op, e.touches.twin(r, block)
}

// again is the share of the blocks that operand r touches for the first time in
// the excerpt that a place still has from an earlier iteration of a loop around
// it, or from the pass before; the pass touches so many blocks.
func (e excerpt) again(r int, p place, pass float64) float64 {
	n, op := e.nest, e.nest.Operands[r]
	within := func(l int) float64 { o := op; o.Strides = op.Strides[l:]; return o.Lines(n.Trips[l:], p.block) }
	fits := func(l int, all float64) bool {
		if all > p.blocks() {
			return false
		}
		o := op
		o.Strides = op.Strides[l:]
		return p.hashed || within(l) <= room(o, n.Trips[l:], p.block, p.sets, p.ways)
	}
	rest := 1.0
	for l := e.loop - 1; l >= 0; l-- {
		if !fits(l+1, e.touches.of(l+1, p.block)) {
			return 1 - rest
		}
		rest *= min(1, within(l)/(float64(n.Trips[l])*within(l+1)))
	}
	if fits(0, pass) {
		return 1
	}
	return 1 - rest
}
