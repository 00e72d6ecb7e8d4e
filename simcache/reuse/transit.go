package reuse

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// Run counts every access of the nest, on the stacks as they are. It refuses a
// nest that does not pass Check.
func (s *Stacks) Run(n nest.Nest) error { return s.runPasses(1, n) }

// runPasses counts so many passes over nests, walked one after the other. It
// refuses what Run and simcache.Config.CheckPasses refuse.
//
// After a pass its lines are on top of the stacks, in the order of their last touches in it. So
// every pass finds the stacks as the second one does, and counts as it: two are walked.
func (s *Stacks) runPasses(passes int, nests ...nest.Nest) error {
	if err := (simcache.Config{}).CheckPasses(passes, nests...); err != nil {
		return err
	}
	if passes > 0 {
		s.pass(1, nests)
	}
	if passes > 1 {
		s.pass(uint64(passes-1), nests)
	}
	return s.full
}

// runProgram counts every access of so many passes over a program, on the stacks as
// they are. From the second on, all passes have the distances of the second and leave
// the stacks as it did. It refuses a program that does not pass Check.
func (s *Stacks) runProgram(passes int, p nest.Program) error {
	if err := p.Check(); err != nil {
		return err
	}
	operands := p.Operands()
	s.reserve(max(1, len(operands)))
	s.program(p, operands, 1)
	if passes > 1 {
		s.program(p, operands, uint64(passes-1))
	}
	return s.full
}

// program counts each access of a program so many times.
func (s *Stacks) program(p nest.Program, operands []nest.Operand, times uint64) {
	for run := range p.Runs() {
		if s.full != nil {
			return
		}
		for i := range run.Trips {
			for k, addr := range run.Addrs {
				op := run.First + k
				s.push(addr+uint64(i*run.Strides[k]), uint64(operands[op].Width), op, times)
			}
		}
	}
}

// pass walks nests once, and counts that so many times.
func (s *Stacks) pass(times uint64, nests []nest.Nest) {
	for _, n := range nests {
		if len(n.Operands) == 0 || n.Iterations() == 0 {
			continue
		}
		s.reserve(len(n.Operands))
		w := newTransit(s, n.Canonical())
		w.loop(0, times)
	}
}

// A transit is a nest on its way through the stacks.
type transit struct {
	s       *Stacks
	trips   []int
	streams []stream
	stays   []bool // by loop: more than one iteration in a row may touch the same lines
}

type stream struct {
	addr    uint64 // at the present indices
	width   uint64
	inner   uint64   // the last of the strides, at hand for the hot loop
	strides []uint64 // by loop, modulo 2^64: a negative one wraps
	grains  []uint64 // by loop, see stay
}

func newTransit(s *Stacks, n nest.Nest) *transit {
	w := &transit{s: s, trips: n.Trips, stays: make([]bool, len(n.Trips))}
	for l := range w.stays {
		w.stays[l] = true
	}
	for _, op := range n.Operands {
		st := stream{addr: op.Base, width: uint64(op.Width),
			strides: make([]uint64, len(n.Trips)), grains: make([]uint64, len(n.Trips))}
		if inner := len(n.Trips) - 1; inner >= 0 {
			st.inner = uint64(op.Strides[inner])
		}
		grain := uint64(s.line)
		for l := len(n.Trips) - 1; l >= 0; l-- {
			stride := uint64(op.Strides[l])
			st.strides[l], st.grains[l] = stride, grain
			w.stays[l] = w.stays[l] && min(stride, -stride) < grain
			if stride != 0 {
				grain = min(grain, stride&-stride) // the powers of two that divide it
			}
		}
		w.streams = append(w.streams, st)
	}
	return w
}

// loop counts the loops from the l-th on so many times, and leaves the streams
// where they were.
//
// Iterations that touch the same lines in the same order, straight one after
// the other, need not all be walked. The first of them brings these lines to
// the top of their stacks, in an order that each further one restores. So from
// the second on, whose touches reach no deeper than these lines, all have the
// distances of the second and leave the stacks as it did.
func (w *transit) loop(l int, times uint64) {
	switch {
	case l == len(w.trips):
		w.iterate(times)
		return
	case l == len(w.trips)-1 && !w.stays[l]:
		w.run(times)
		return
	}
	trips := uint64(w.trips[l])
	for i := uint64(0); i < trips; {
		stay := uint64(1)
		if w.stays[l] {
			stay = min(w.stay(l), trips-i)
		}
		w.loop(l+1, times)
		w.step(l, 1)
		if stay > 1 {
			w.loop(l+1, times*(stay-1))
			w.step(l, stay-1)
		}
		i += stay
	}
	w.step(l, -trips)
}

// step moves every stream by so many iterations of loop l.
func (w *transit) step(l int, iterations uint64) {
	for k := range w.streams {
		st := &w.streams[k]
		st.addr += iterations * st.strides[l]
	}
}

// run counts the innermost loop, each iteration of it, so many times.
func (w *transit) run(times uint64) {
	l := len(w.trips) - 1
	for range w.trips[l] {
		for k := range w.streams {
			st := &w.streams[k]
			w.s.push(st.addr, st.width, k, times)
			st.addr += st.inner
		}
	}
	w.step(l, -uint64(w.trips[l]))
}

// iterate counts the access of each stream so many times.
func (w *transit) iterate(times uint64) {
	for k := range w.streams {
		st := &w.streams[k]
		w.s.push(st.addr, st.width, k, times)
	}
}

// stay is the number of iterations of loop l from here on, at least 1, in
// which every access of the loops inside stays in its lines: these loops'
// strides are multiples of the stream's grain, which divides the line.
func (w *transit) stay(l int) uint64 {
	stay := uint64(math.MaxUint64)
	for k := range w.streams {
		st := &w.streams[k]
		stay = min(stay, nest.Stay(st.addr, st.width, st.strides[l], st.grains[l]))
	}
	return stay
}
