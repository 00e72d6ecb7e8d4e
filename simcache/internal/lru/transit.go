package lru

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// walk simulates a canonical nest. Runs of iterations that stay in their lines
// are counted in bulk where that is exact.
func (c *Chain) walk(n nest.Nest) {
	if len(n.Operands) == 0 || n.Iterations() == 0 || c.walkOnCores(n) {
		return
	}
	c.walkOne(n)
}

func (c *Chain) walkOne(n nest.Nest) {
	w := c.newTransit(n)
	outer := n.Trips[:max(len(n.Trips)-1, 0)]
	run := w.run
	if depth := w.flatten(); w.flat != nil {
		outer, run = n.Trips[:depth], w.packFlat
	}
	again := w.repeats()
	left, skip := 0, 0 // iterations of the loop around the innermost
	for l := range nest.Walk(outer) {
		if l >= 0 {
			w.step(l)
		}
		if again == nil {
			run()
			continue
		}
		if left--; l != len(outer)-1 {
			left = outer[len(outer)-1] - 1
		}
		if skip--; skip >= 0 {
			w.pack(again.moving, 0, 1, 1)
			continue
		}
		run()
		skip = again.times(w, left) - 1
	}
}

// A transit is a nest on its way through a chain: streams at the start of an
// innermost run.
type transit struct {
	c       *Chain
	nest    nest.Nest // canonical
	trips   uint64    // of the innermost loop
	streams []*stream
	// slow streams stay in their line of the first level for a few iterations,
	// fast ones do not.
	slow, fast []*stream
	// inLine: every stride is well shorter than a line, so that runs of
	// iterations stay in the lines that they are in; and after one iteration all
	// its lines are in the first level, however they fall into sets, since no
	// set can have to hold more of them than it has ways.
	inLine bool
	// packed: all references can be packed, and none crosses a line anywhere.
	packed bool
	// gap is after how many iterations a slow stream's line, that of a stay, is still
	// there if it was not touched since, even where all streams fall into one set.
	gap uint64
	// full, if not 0, is after how many iterations a fast stream misses wherever it comes
	// to another line, see fills.
	full uint64
	// lockstep, if not 0, is in how many iterations all streams come from the
	// start of a line to that of the next, all at once.
	lockstep uint64

	// flat, by stream: how far from its address its accesses in the innermost loops lie, see flatten
	flat [][]uint64

	// of runs of a program, which may lie at other addresses each: packed and lockstep
	// where addresses allow it
	mayPack bool
	mayStep uint64
}

type stream struct {
	op     int // number of its operand
	addr   uint64
	width  uint64
	stride uint64 // modulo 2^64: a negative one wraps
	kind   nest.Kind
	steps  []int // by loop around the innermost, see nest.Steps
}

func (c *Chain) newTransit(n nest.Nest) *transit {
	first := &c.levels[0]
	w := &transit{c: c, nest: n, trips: 1, inLine: !c.brute, packed: len(n.Operands) <= opCount}
	lines := 0 // of an iteration, at most
	inner := len(n.Trips) - 1
	if inner >= 0 {
		w.trips = uint64(n.Trips[inner])
	}
	for i, op := range n.Operands {
		s := &stream{op: i, addr: op.Base, width: uint64(op.Width), kind: op.Kind}
		w.streams = append(w.streams, s)
		if inner >= 0 {
			s.stride = uint64(op.Strides[inner])
			s.steps = nest.Steps(n.Trips[:inner], op.Strides)
		}
		if 4*max(int(s.stride), -int(s.stride)) <= 1<<first.shift && !c.brute {
			w.slow = append(w.slow, s)
		} else {
			w.fast = append(w.fast, s)
			w.inLine = false
		}
		w.packed = w.packed && c.packs(op, n.Trips)
		lines += max(op.Width-2, 0)>>first.shift + 2
	}
	w.inLine = w.inLine && lines <= first.ways
	slow, fast := w.thin()
	w.gap = uint64(max(first.ways-slow, 0) / max(fast, 1))
	w.full = w.fills()
	if w.inLine && w.packed && inner >= 0 {
		w.lockstep = w.inStep()
	}
	return w
}

// inStep is lockstep: streams of one stride that divides the line, at one place
// in it whenever the innermost loop starts.
func (w *transit) inStep() uint64 {
	line := 1 << w.c.levels[0].shift
	one := w.nest.Operands[0]
	stride := max(one.Strides[len(one.Strides)-1], -one.Strides[len(one.Strides)-1])
	if stride == 0 || line%stride != 0 {
		return 0
	}
	for _, op := range w.nest.Operands {
		for l, s := range op.Strides {
			if inner := l == len(op.Strides)-1; inner && s != one.Strides[l] || (s-one.Strides[l])%line != 0 {
				return 0
			}
		}
		if (op.Base-one.Base)%uint64(line) != 0 || op.Width != one.Width {
			return 0
		}
	}
	return uint64(line / stride)
}

// packs reports whether all accesses of an operand can be packed: they are
// aligned to their width, which divides the grain, and below the limit.
func (c *Chain) packs(op nest.Operand, trips []int) bool {
	together := op.Base | uint64(op.Width)
	last := op.Base + uint64(op.Width-1)
	for l, s := range op.Strides {
		together |= uint64(s)
		if s > 0 {
			last += uint64(s) * uint64(trips[l]-1)
		}
	}
	aligned := uint64(1) << bits.TrailingZeros64(together)
	return uint64(op.Width) <= aligned && op.Width <= 1<<c.grain && last < c.limit
}

// step moves every stream on as loop l goes to its next iteration.
func (w *transit) step(l int) {
	for _, s := range w.streams {
		s.addr += uint64(s.steps[l])
	}
}

// repeated are the streams of a nest whose innermost loop touches the same lines again and
// again: still ones do in one iteration of the loop around it as in the next, each in its
// order, and a moving one is in one line at a time. As long as the first level has room for all
// of these together, in one set, the still ones hit, and what of them is looked up changes
// nothing but the order among these lines. That is as if they had been looked up each time, when
// they are once more in the end: till then only a moving one's first access is.
type repeated struct {
	still, moving []*stream
	lines         int // that the still ones touch in the innermost loop, at most
	loop          int // the one around it
}

// repeats are the streams of this nest if they are such ones, else nil.
func (w *transit) repeats() *repeated {
	first, loop := &w.c.levels[0], len(w.nest.Trips)-2
	if loop < 0 || !w.packed || w.inLine || w.c.brute || w.flat != nil || w.trips < 2 {
		return nil
	}
	line := 1 << first.shift
	r := &repeated{loop: loop}
	for _, s := range w.streams {
		strides := w.nest.Operands[s.op].Strides
		span := max(strides[loop+1], -strides[loop+1])*int(w.trips-1) + int(s.width)
		switch {
		case 2*max(strides[loop], -strides[loop]) <= line:
			r.still = append(r.still, s)
			r.lines += min(int(w.trips), (span-1)/line+2)
		case span <= line:
			r.moving = append(r.moving, s)
		default:
			return nil
		}
	}
	if r.lines+3*len(r.moving) > first.ways {
		return nil
	}
	return r
}

// times is how many iterations of the loop around the innermost come after this one in which
// all goes on as in this one, of those that are left.
func (r *repeated) times(w *transit, left int) int {
	first := &w.c.levels[0]
	line := uint64(1) << first.shift
	n := uint64(left)
	if len(r.moving) > 0 {
		n = min(n, uint64((first.ways-r.lines)/len(r.moving)-1))
	}
	for _, s := range r.still {
		by := uint64(w.nest.Operands[s.op].Strides[r.loop])
		for i, addr := uint64(0), s.addr; i < w.trips && n > 1; i++ {
			n = min(n, nest.Stay(addr, s.width, by, line)-1)
			if addr += s.stride; s.stride%line == 0 {
				break
			}
		}
	}
	for _, s := range r.moving {
		by := uint64(w.nest.Operands[s.op].Strides[r.loop])
		for i, addr := uint64(0), s.addr; i <= n && n > 1; i++ {
			if nest.Stay(addr, s.width, s.stride, line) < w.trips {
				n = max(i, 1) - 1
			}
			if addr += by; by%line == 0 {
				break
			}
		}
	}
	return int(n)
}

// run simulates the innermost loop from the streams' addresses, which it
// leaves where they were.
//
// Iterations during which every stream stays in the lines that it is in touch
// the same lines in the same order. With inLine, the first of them leaves all
// of these in the first level, in that order, so that the others hit and
// change nothing: they need not be looked up.
func (w *transit) run() {
	switch {
	case w.lockstep > 0:
		w.iterate(0)
		from := w.stay(w.streams, 0)
		w.pack(w.streams, from, w.lockstep, (w.trips-from+w.lockstep-1)/w.lockstep)
	case w.inLine:
		for i := uint64(0); i < w.trips; i += w.stay(w.streams, i) {
			w.iterate(i)
		}
	case w.packed && !w.c.levels[0].modulo && (len(w.slow) > 0 || w.full > 0):
		w.mixed()
	case w.packed:
		w.pack(w.streams, 0, 1, w.trips)
	default:
		for i := range w.trips {
			w.iterate(i)
		}
	}
}

func (w *transit) iterate(i uint64) {
	for _, s := range w.streams {
		w.c.Add(s.op, s.addr+i*s.stride, s.width, s.kind)
	}
}

// stay is the number of iterations from i on, at least 1, in which the first
// and the last byte of each of the streams' accesses stay in their lines of the
// first level.
func (w *transit) stay(streams []*stream, i uint64) uint64 {
	stay := w.trips - i
	line := uint64(1) << w.c.levels[0].shift
	for _, s := range streams {
		stay = min(stay, nest.Stay(s.addr+i*s.stride, s.width, s.stride, line))
	}
	return stay
}

// pack lets so many iterations, from, from+every, ..., of some streams of the
// innermost loop wait for the first level.
func (w *transit) pack(streams []*stream, from, every, iterations uint64) {
	c, n := w.c, uint64(len(streams))
	if n == 1 && c.classes != 0 {
		w.packOwn(streams[0], from, every, iterations)
		return
	}
	if n > batch {
		for range iterations {
			for some := range slices.Chunk(streams, batch) {
				w.pack(some, from, every, 1)
			}
			from += every
		}
		return
	}
	for n > 0 && iterations > 0 {
		waiting := c.waiting[0]
		if uint64(len(waiting))+n > batch {
			c.drain(0)
			waiting = c.waiting[0]
		}
		now := min((batch-uint64(len(waiting)))/n, iterations)
		room := waiting[len(waiting):cap(waiting)][:now*n]
		w.fill(room, streams, from, every)
		c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
		from += now * every
		iterations -= now
	}
}

// fill packs iterations from, from+every, ... of streams, as many as there is room for.
func (w *transit) fill(room []uint64, streams []*stream, from, every uint64) {
	c := w.c
	for k, s := range streams {
		addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
		for at := k; at < len(room); at += len(streams) {
			room[at] = addr>>c.grain<<grains | rest
			addr += every * s.stride
		}
	}
}

// Of an innermost loop of fewer than fewTrips, to begin takes longer than to look its accesses up. It is walked with loops
// around it, of as many accesses together as mostFlat.
const (
	fewTrips = 12
	mostFlat = 128
)

// flatten prepares packFlat, and returns how many loops are around it: all but the innermost, if it is not
// worth it. Then the streams step with these.
func (w *transit) flatten() (depth int) {
	trips := w.nest.Trips
	depth = len(trips) - 1
	if !w.packed || w.inLine || depth < 1 || trips[depth] >= fewTrips {
		return depth
	}
	iterations := trips[depth]
	for depth > 0 && iterations*trips[depth-1]*len(w.streams) <= mostFlat {
		depth--
		iterations *= trips[depth]
	}
	if depth == len(trips)-1 {
		return depth
	}
	for _, s := range w.streams {
		op := w.nest.Operands[s.op]
		inside := nest.Nest{Trips: trips[depth:], Operands: []nest.Operand{{Strides: op.Strides[depth:]}}}
		var flat []uint64
		for _, addr := range inside.Accesses() {
			flat = append(flat, addr)
		}
		w.flat = append(w.flat, flat)
		s.steps = nest.Steps(trips[:depth], op.Strides)
	}
	return depth
}

// packFlat lets all accesses of the innermost loops wait for the first level.
func (w *transit) packFlat() {
	c, n := w.c, len(w.streams)
	size := n * len(w.flat[0])
	if len(c.waiting[0])+size > batch {
		c.drain(0)
	}
	waiting := c.waiting[0]
	room := waiting[len(waiting):cap(waiting)][:size]
	for k, s := range w.streams {
		rest := uint64(s.op)<<opBit | dirties(s.kind)&c.dirty
		at := k
		for _, far := range w.flat[k] {
			room[at] = (s.addr+far)>>c.grain<<grains | rest
			at += n
		}
	}
	c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
}

// packOwn is pack for one stream, of which only the chain's class waits.
func (w *transit) packOwn(s *stream, from, every, iterations uint64) {
	c := w.c
	addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
	for iterations > 0 {
		if len(c.waiting[0]) >= batch {
			c.drain(0)
		}
		waiting := c.waiting[0]
		room := waiting[len(waiting):cap(waiting)][:batch]
		now, kept := min(uint64(len(room)), iterations), uint64(0)
		for range now {
			ref := addr>>c.grain<<grains | rest
			room[kept] = ref
			kept += c.isOwn(ref)
			addr += every * s.stride
		}
		c.waiting[0] = waiting[:len(waiting)+int(kept)]
		iterations -= now
	}
}
