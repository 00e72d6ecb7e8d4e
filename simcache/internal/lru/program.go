package lru

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// RunProgram simulates a program, after what single references counted has been taken.
func (c *Chain) RunProgram(p nest.Program) []uint64 {
	c.Flush()
	operands := p.Operands()
	c.track(len(operands))
	if c.watch != nil {
		c.visit().Program(p)
	} else {
		c.walkProgram(p, operands)
	}
	c.Flush()
	misses := engine.ByOperand(c.misses, len(operands))
	c.track(engine.Sorts)
	return misses
}

// walkProgram makes the accesses of a program.
func (c *Chain) walkProgram(p nest.Program, operands []nest.Operand) {
	transits := make([]*transit, len(operands)) // by the number of a run's first access
	for run := range p.Runs() {
		w := transits[run.First]
		if w == nil {
			w = c.transitOf(run, operands)
			transits[run.First] = w
		}
		w.enter(run)
		w.run()
	}
}

// transitOf makes a transit for all runs of the same accesses. These are a nest whose
// outer loops step the variables by 1 from 0, wherever they begin, and whose innermost
// is the run.
func (c *Chain) transitOf(run *nest.Run, operands []nest.Operand) *transit {
	depth := len(run.Vars)
	n := nest.Nest{Trips: make([]int, depth+1)}
	for l := range n.Trips {
		n.Trips[l] = 1
	}
	for k, stride := range run.Strides {
		op := operands[run.First+k]
		strides := make([]int, depth+1)
		copy(strides, op.Strides)
		strides[depth] = stride
		op.Strides = strides
		n.Operands = append(n.Operands, op)
	}
	w := c.newTransit(n)
	for _, s := range w.streams {
		s.op += run.First
	}
	w.mayPack = w.packed && len(operands) <= opCount
	return w
}

// enter puts the streams where a run begins. What is packed must lie below the limit.
func (w *transit) enter(run *nest.Run) {
	w.trips, w.packed = uint64(run.Trips), w.mayPack
	for _, s := range w.streams {
		s.addr = run.Addrs[s.op-run.First]
		if last := s.addr + uint64(run.Trips-1)*s.stride; max(s.addr, last)+s.width > w.c.limit {
			w.packed = false
		}
	}
}
