package reuse

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
)

// Run counts every access of the nest on the present stacks, or returns the error of n.Check.
func (s *Stacks) Run(n nest.Nest) error { return s.runPasses(1, n) }

// runPasses counts passes over nests, or returns the error of Run or simcache.Config.CheckPasses.
//
// After a pass its lines are on top of the stacks, in order of last touch. So every later pass
// counts like the second: two are walked.
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

// runProgram counts passes over a program; see runPasses. It returns the error of p.Check.
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

type transit struct {
	s       *Stacks
	trips   []int
	streams []stream
	stays   []bool // by loop: several consecutive iterations may touch the same lines
}

type stream struct {
	addr    uint64 // at the current indices
	width   uint64
	inner   uint64   // the last stride, for the hot loop
	strides []uint64 // by loop, modulo 2^64: a negative stride wraps
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
				grain = min(grain, stride&-stride) // the power of two that divides it
			}
		}
		w.streams = append(w.streams, st)
	}
	return w
}

// loop counts the loops from the l-th on times times, and restores the streams.
//
// Consecutive iterations that touch the same lines in the same order need not all be walked. The
// first brings these lines to the top, in an order that each later one restores. The second reaches
// no deeper. So all later ones have its distances and leave the same stacks.
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

func (w *transit) step(l int, iterations uint64) {
	for k := range w.streams {
		st := &w.streams[k]
		st.addr += iterations * st.strides[l]
	}
}

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

func (w *transit) iterate(times uint64) {
	for k := range w.streams {
		st := &w.streams[k]
		w.s.push(st.addr, st.width, k, times)
	}
}

// stay returns the number of iterations of loop l from here on, at least 1, in which inner accesses
// stay in their lines. Inner strides are multiples of the stream's grain, which divides the line.
func (w *transit) stay(l int) uint64 {
	stay := uint64(math.MaxUint64)
	for k := range w.streams {
		st := &w.streams[k]
		stay = min(stay, touched.Stay(st.addr, st.width, st.strides[l], st.grains[l]))
	}
	return stay
}
