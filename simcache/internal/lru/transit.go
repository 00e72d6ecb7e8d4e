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
	for l := range nest.Walk(n.Trips[:max(len(n.Trips)-1, 0)]) {
		if l >= 0 {
			w.step(l)
		}
		w.run()
	}
}

// A transit is a nest on its way through a chain: streams at the start of an
// innermost run.
type transit struct {
	c       *Chain
	trips   uint64 // of the innermost loop
	streams []*stream
	// inLine: every stride is well shorter than a line, so that runs of
	// iterations stay in the lines that they are in; and after one iteration all
	// its lines are in the first level, however they fall into sets, since no
	// set can have to hold more of them than it has ways.
	inLine bool
	// packed: all references can be packed, and none crosses a line anywhere.
	packed  bool
	mayPack bool // packed, of runs of a program whose addresses allow it
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
	w := &transit{c: c, trips: 1, inLine: !c.brute, packed: len(n.Operands) <= opCount}
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
		w.inLine = w.inLine && 4*max(int(s.stride), -int(s.stride)) <= 1<<first.shift
		w.packed = w.packed && c.packs(op, n.Trips)
		lines += max(op.Width-2, 0)>>first.shift + 2
	}
	w.inLine = w.inLine && lines <= first.ways
	return w
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

// run simulates the innermost loop from the streams' addresses, which it
// leaves where they were.
//
// Iterations during which every stream stays in the lines that it is in touch
// the same lines in the same order. With inLine, the first of them leaves all
// of these in the first level, in that order, so that the others hit and
// change nothing: they need not be looked up.
func (w *transit) run() {
	switch {
	case w.inLine:
		for i := uint64(0); i < w.trips; i += w.stay(i) {
			w.iterate(i)
		}
	case w.packed:
		w.pack(w.streams, 0, w.trips)
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
func (w *transit) stay(i uint64) uint64 {
	stay := w.trips - i
	line := uint64(1) << w.c.levels[0].shift
	for _, s := range w.streams {
		stay = min(stay, nest.Stay(s.addr+i*s.stride, s.width, s.stride, line))
	}
	return stay
}

// pack lets so many iterations of some streams of the innermost loop, from one on,
// wait for the first level.
func (w *transit) pack(streams []*stream, from, iterations uint64) {
	c, n := w.c, uint64(len(streams))
	if n > batch {
		for i := range iterations {
			for some := range slices.Chunk(streams, batch) {
				w.pack(some, from+i, 1)
			}
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
		w.fill(room, streams, from)
		c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
		from += now
		iterations -= now
	}
}

// fill packs iterations of streams, from one on, as many as there is room for.
func (w *transit) fill(room []uint64, streams []*stream, from uint64) {
	c := w.c
	for k, s := range streams {
		addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
		for at := k; at < len(room); at += len(streams) {
			room[at] = addr>>c.grain<<grains | rest
			addr += s.stride
		}
	}
}
