package lookup

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// A Visit is a walk that makes one reference after another.
type Visit struct {
	// Add simulates a reference. still means that it hit in the first level alone, and that
	// repeating it among other still references changes nothing.
	Add   func(op int, addr, size uint64, kind nest.Kind) (still bool)
	Line  uint64 // of the first level; 0 to make all references
	Watch *Watch // observer, or nil

	operands []nest.Operand
	noted    []int // by access of the current iteration, the slot of its reuse
}

// Walk makes the references of a program. what identifies it: the program, or its canonical nest.
func (v *Visit) Walk(what any, p nest.Program) {
	v.operands = p.Operands()
	if v.Watch != nil {
		v.Watch.enter(what, p, v.operands)
		defer v.Watch.leave()
	}
	for run := range p.Runs() {
		v.run(run)
	}
}

// run makes the references of a run. Iterations in which no access leaves its lines of the first
// level look up the same lines in the same order. If all references of one are still, the later
// ones are still too. These are then counted, not made.
func (v *Visit) run(run *nest.Run) {
	if v.Watch != nil {
		v.Watch.run(run)
	}
	short := v.Line > 0
	for _, s := range run.Strides {
		short = short && uint64(max(s, -s)) <= v.Line/3
	}
	for i := 0; i < run.Trips; {
		stay := 1
		if short {
			stay = v.stay(run, i)
		}
		for n := range stay {
			if still := v.iterate(run, i+n); still && n > 0 && n+1 < stay {
				if v.Watch != nil {
					v.Watch.again(run, v, i+n+1, stay-n-1)
				}
				break
			}
		}
		i += stay
	}
}

func (v *Visit) stay(run *nest.Run, i int) int {
	stay := uint64(run.Trips - i)
	for k, addr := range run.Addrs {
		stride := uint64(run.Strides[k])
		width := uint64(v.operands[run.First+k].Width)
		stay = min(stay, touched.Stay(addr+uint64(i)*stride, width, stride, v.Line))
	}
	return int(stay)
}

func (v *Visit) iterate(run *nest.Run, i int) bool {
	if i > 0 && v.Watch != nil {
		v.Watch.next()
	}
	still := true
	v.noted = v.noted[:0]
	for k, addr := range run.Addrs {
		op := &v.operands[run.First+k]
		at := addr + uint64(i*run.Strides[k])
		still = v.Add(run.First+k, at, uint64(op.Width), op.Kind) && still
		if v.Watch != nil && v.Line > 0 {
			v.noted = append(v.noted, v.Watch.noted)
		}
	}
	return still
}

// again counts times iterations of a run, from i on, that repeat the iteration before.
func (w *Watch) again(run *nest.Run, v *Visit, i, times int) {
	first, n := &w.levels[0], len(run.Addrs)
	last := w.serial + uint64((times-1)*n)
	for k, addr := range run.Addrs {
		op, stride := run.First+k, run.Strides[k]
		width := uint64(v.operands[op].Width)
		addr += uint64(i * stride)
		if w.observe&Classes != 0 {
			w.now.slots[op][v.noted[k]].refs += uint64(times)
			for block := addr >> first.shift; block <= (addr+width-1)>>first.shift; block++ {
				first.Numbers[first.place(op, block)] = last + uint64(k) + 1
			}
		}
		if far := max(stride, -stride); w.observe&UsedBytes == 0 || far == 0 {
			continue
		} else if far <= int(width) { // without gaps
			to := addr + uint64((times-1)*stride)
			w.use(op, min(addr, to), uint64((times-1)*far)+width)
			continue
		}
		for range times {
			w.use(op, addr, width)
			addr += uint64(stride)
		}
	}
	w.serial += uint64(times * n)
}
