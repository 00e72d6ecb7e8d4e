package lookup

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// walk simulates a program. Iterations that stay in their lines are counted in bulk if that is
// exact.
func (c *Chain) walk(p nest.Program) {
	if n, is := p.Nest(); is && (n.Iterations() == 0 || c.walkOnCores(n) || c.box(n)) {
		return
	}
	operands := p.Operands()
	transits := make([]*transit, len(operands)) // by the number of a run's first access
	for run := range p.Runs() {
		w := c.transit(transits, run, operands)
		w.part(0, w.trips)
	}
}

// short is the most trips of a loop for which to begin a run takes longer than to look it up.
const short = 12

// box simulates a nest whose innermost loop is short, or whose body is long, and reports whether it
// is one. It unrolls the innermost loops to a quarter of a batch.
func (c *Chain) box(n nest.Nest) bool {
	inner, depth, size := len(n.Trips)-1, len(n.Trips), len(n.Operands)
	for depth > 0 && size > 0 && n.Trips[depth-1] <= batch/4/size {
		depth--
		size *= n.Trips[depth]
	}
	if size <= batch && (depth >= inner || n.Trips[inner] > short) || !c.packs(n) {
		return false
	}
	var moves [][]int // nest.Steps of operands, each once
	of, inside := []int{}, nest.Nest{Trips: n.Trips[depth:]}
	for _, op := range n.Operands {
		steps := nest.Steps(n.Trips[:depth], op.Strides)
		move := slices.IndexFunc(moves, func(w []int) bool { return slices.Equal(w, steps) })
		if move < 0 {
			move, moves = len(moves), append(moves, steps)
		}
		of = append(of, move)
		inside.Operands = append(inside.Operands,
			nest.Operand{Base: op.Base, Strides: op.Strides[depth:]})
	}
	type access struct {
		move        int
		first, rest uint64
	}
	var body []access
	for k, first := range inside.Accesses() {
		rest := uint64(k)<<opBit | dirties(n.Operands[k].Kind)&c.dirty
		body = append(body, access{of[k], first, rest})
	}
	moved := make([]uint64, len(moves))
	for l := range nest.Walk(n.Trips[:depth]) {
		for move := range moved {
			if l >= 0 {
				moved[move] += uint64(moves[move][l])
			}
		}
		for some := range slices.Chunk(body, batch) {
			if len(c.waiting[0])+len(some) > batch {
				c.drain(0)
			}
			waiting := c.waiting[0]
			room := waiting[len(waiting):][:len(some)]
			for i := range some {
				a := &some[i]
				room[i] = (a.first+moved[a.move])>>c.grain<<grains | a.rest
			}
			c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
		}
	}
	return true
}

// A transit is runs of the same accesses through a chain.
type transit struct {
	c       *Chain
	trips   uint64
	streams []stream
	// inLine: strides are much shorter than a line, so that several iterations stay in the same
	// lines. After one iteration all these are in the first level, since they are not more than a
	// set has ways.
	inLine bool
	// aligned: no access crosses a grain, and a batch holds an iteration. packed: also, the current
	// run has no address too high.
	aligned, packed bool
}

type stream struct {
	op     int // number of its operand
	addr   uint64
	width  uint64
	stride uint64 // modulo 2^64: a negative stride wraps
	kind   nest.Kind
}

// transit returns the transit of a run, at its start.
func (c *Chain) transit(known []*transit, run *nest.Run, operands []nest.Operand) *transit {
	w := known[run.First]
	if w == nil {
		ops := operands[run.First:][:len(run.Addrs)]
		w = &transit{c: c, inLine: c.inLine(ops, run.Strides)}
		w.aligned = len(ops) <= batch && len(operands) <= opCount
		for k, op := range ops {
			w.streams = append(w.streams, stream{op: run.First + k, width: uint64(op.Width),
				stride: uint64(run.Strides[k]), kind: op.Kind})
			w.aligned = w.aligned && c.aligned(op)
		}
		known[run.First] = w
	}
	w.trips, w.packed = uint64(run.Trips), w.aligned
	for k := range w.streams {
		s := &w.streams[k]
		s.addr = run.Addrs[k]
		last := s.addr + (w.trips-1)*s.stride
		w.packed = w.packed && max(s.addr, last)+s.width <= c.limit
	}
	return w
}

// inLine returns transit.inLine for accesses with these strides.
func (c *Chain) inLine(operands []nest.Operand, strides []int) bool {
	shift, lines, in := c.levels[0].shift, 0, !c.brute
	for k, op := range operands {
		in = in && 4*max(strides[k], -strides[k]) <= 1<<shift
		lines += max(op.Width-2, 0)>>shift + 2 // at most
	}
	return in && lines <= c.levels[0].ways
}

// aligned reports whether all accesses of an operand are aligned to their width, which divides the
// grain.
func (c *Chain) aligned(op nest.Operand) bool {
	together := op.Base | uint64(op.Width)
	for _, s := range op.Strides {
		together |= uint64(s)
	}
	return op.Width <= min(1<<bits.TrailingZeros64(together), 1<<c.grain)
}

// part simulates a range of iterations of the run. Iterations in which every stream stays in its
// lines touch the same lines in the same order. With inLine, the first of them leaves these lines
// in the first level in that order. The others then hit and change nothing, so they are not looked
// up.
func (w *transit) part(from, to uint64) {
	switch {
	case w.inLine:
		for i := from; i < to; i += w.stay(i, to) {
			w.iterate(i)
		}
	case w.packed:
		w.pack(from, to-from)
	default:
		for i := from; i < to; i++ {
			w.iterate(i)
		}
	}
}

func (w *transit) iterate(i uint64) {
	for _, s := range w.streams {
		w.c.Add(s.op, s.addr+i*s.stride, s.width, s.kind)
	}
}

// stay returns the number of iterations from i on, at least 1, in which both ends of each access
// stay in their lines of the first level.
func (w *transit) stay(i, to uint64) uint64 {
	stay := to - i
	line := uint64(1) << w.c.levels[0].shift
	for _, s := range w.streams {
		stay = min(stay, touched.Stay(s.addr+i*s.stride, s.width, s.stride, line))
	}
	return stay
}

func (w *transit) pack(from, iterations uint64) {
	c, n := w.c, uint64(len(w.streams))
	for iterations > 0 {
		if uint64(len(c.waiting[0]))+n > batch {
			c.drain(0)
		}
		waiting := c.waiting[0]
		now := min((batch-uint64(len(waiting)))/n, iterations)
		room := waiting[len(waiting):cap(waiting)][:now*n]
		for k, s := range w.streams {
			addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
			for at := k; at < len(room); at += int(n) {
				room[at] = addr>>c.grain<<grains | rest
				addr += s.stride
			}
		}
		c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
		from += now
		iterations -= now
	}
}
