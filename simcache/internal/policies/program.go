package policies

import (
	"reflect"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// RunProgram simulates a pass over a program, after what single references counted
// has been taken.
func (d *Engine) RunProgram(p nest.Program) []uint64 {
	operands := p.Operands()
	d.track(max(len(operands), engine.Sorts))
	var at *programPlace
	if d.reuses != nil {
		at = d.reuses.beginProgram(p, operands, d.serial)
		defer func() { d.reuses.program = nil }()
	}
	if d.watch != nil {
		d.watch.program(p, operands)
		misses := engine.ByOperand(d.misses, len(operands))
		d.track(engine.Sorts)
		return misses
	}
	for run := range p.Runs() {
		if at != nil {
			at.enter(run, d.serial)
		}
		for i := range run.Trips {
			if at != nil && i > 0 {
				at.next(d.serial)
			}
			for k, addr := range run.Addrs {
				op := &operands[run.First+k]
				d.Add(run.First+k, addr+uint64(i*run.Strides[k]), uint64(op.Width), op.Kind)
			}
		}
	}
	misses := engine.ByOperand(d.misses, len(operands))
	d.track(engine.Sorts)
	return misses
}

// A programPlace is where a program is, and counts its references by the last touch
// of their lines. A line was touched last outside of the outermost loop that has
// begun since, or in an earlier iteration of it.
type programPlace struct {
	program  nest.Program
	operands []nest.Operand
	around   [][]*nest.Loop // the loops around each access
	slots    [][]reuseSlot  // by level and access: sinces, then a loop's iterations, then what is outside of a loop
	// of the loops that the program is in
	inLoops
	entered, began []uint64 // the serial of the last reference before the loop, and before its iteration
}

// inLoops are the loops that a program is in, and their variables.
type inLoops struct {
	loops []*nest.Loop
	vars  []int
}

// beginProgram starts a pass over a program after so many references. Of one that is
// run again the counts go on.
func (u *reuses) beginProgram(p nest.Program, operands []nest.Operand, serial uint64) *programPlace {
	u.pass = serial
	for _, known := range u.programs {
		if reflect.DeepEqual(known.program, p) {
			u.program = known
		}
	}
	if u.program == nil {
		u.program = &programPlace{program: p, operands: operands, around: p.Around()}
		for range u.levels {
			for op := range operands {
				u.program.slots = append(u.program.slots, make([]reuseSlot, sinces+2*len(u.program.around[op])))
			}
		}
		u.programs = append(u.programs, u.program)
	}
	u.program.loops, u.program.vars = nil, nil
	u.program.entered, u.program.began = nil, nil
	return u.program
}

// goTo goes on to a run in these loops, of the same iteration of so many of those before, and perhaps
// of another of the next.
func (w *inLoops) goTo(loops []*nest.Loop, run *nest.Run) (same int, again bool) {
	for same < min(len(loops), len(w.loops)) && loops[same] == w.loops[same] && run.Vars[same] == w.vars[same] {
		same++
	}
	again = same < min(len(loops), len(w.loops)) && loops[same] == w.loops[same]
	w.loops, w.vars = loops, append(w.vars[:0], run.Vars...)
	return same, again
}

// enter goes on to a run after so many references.
func (w *programPlace) enter(run *nest.Run, serial uint64) {
	same, again := w.goTo(w.around[run.First], run)
	w.begin(run.First, same, again, serial)
}

// begin goes on to a run after so many references, of which it is known where it is (see goTo).
func (w *programPlace) begin(first, same int, again bool, serial uint64) {
	kept := same
	if again {
		w.began[same] = serial
		kept++
	}
	w.entered, w.began = w.entered[:kept], w.began[:kept]
	for range w.around[first][kept:] {
		w.entered, w.began = append(w.entered, serial), append(w.began, serial)
	}
}

// program walks a program.
func (w *watch) program(p nest.Program, operands []nest.Operand) {
	w.begin(operands)
	around := p.Around()
	var in inLoops
	var r row
	for run := range p.Runs() {
		r.first, r.trips, r.addrs, r.strides = run.First, run.Trips, run.Addrs, run.Strides
		loops := around[run.First]
		r.same, r.again = in.goTo(loops, run)
		if run.Trips > 1 {
			inner := len(loops) - 1
			in.vars[inner] += (run.Trips - 1) * loops[inner].Step
		}
		w.see(&r)
	}
	w.finish()
}

// next goes on to the next iteration of a run's loop.
func (w *programPlace) next(serial uint64) {
	inner := len(w.began) - 1
	w.began[inner] = serial
	w.vars[inner] += w.loops[inner].Step
}

// slot is that of a reference of an access to a line that was touched at last.
func (w *programPlace) slot(last, pass uint64) int {
	d := len(w.began) // the loop outside of whose iteration it was, of those further in
	for d > 0 && last <= w.began[d-1] {
		d--
	}
	switch {
	case d > 0:
	case last == 0:
		return int(engine.Never)
	case last <= pass:
		return int(engine.EarlierPass)
	}
	switch {
	case d == len(w.began):
		return int(engine.ThisIteration)
	case last <= w.entered[d]:
		return sinces + len(w.entered) + d
	}
	return sinces + d
}

// list returns what was counted at a level.
func (w *programPlace) list(level int) (all []engine.Reuse) {
	for op := range w.operands {
		depth := len(w.around[op])
		for i, slot := range w.slots[level*len(w.operands)+op] {
			if slot.refs == 0 {
				continue
			}
			r := engine.Reuse{Operand: op, Tensor: w.operands[op].Tensor, Since: engine.Since(i), Refs: slot.refs,
				Compulsory: slot.classes[compulsory], Capacity: slot.classes[capacity], Conflict: slot.classes[conflict], Lines: slot.lines}
			if i >= sinces+depth {
				r.Since, r.Loop = engine.ThisPass, i-sinces-depth
			} else if i >= sinces {
				r.Since, r.Loop = engine.ThisLoop, i-sinces
			}
			all = append(all, r)
		}
	}
	return all
}
