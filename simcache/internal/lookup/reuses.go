package lookup

import (
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// sinces is how many times of a last touch are told apart but for the loops.
const sinces = int(engine.EarlierPass) + 1

// reuses counts the references of nests and programs by the last touch of their lines.
type reuses struct {
	parts []*part // all different ones, in order
	now   *part   // that runs, or nil
	// the serials of the last references before this pass, before the walk under way, and
	// before the nests that have followed each other since, up to the last reference of them
	pass, start, nests, nestsTo uint64
	// where the walk is: the loops, their variables, and the serials of the last references
	// before each loop, and before its iteration
	loops          []*nest.Loop
	vars           []int
	entered, began []uint64
	noted          int // the slot of the last reference
}

// A part is a nest or a program, with slots by level and access: sinces, then the iterations
// of each loop, then what is outside of each loop.
type part struct {
	what     any // a nest.Nest or a nest.Program
	isNest   bool
	operands []nest.Operand
	around   [][]*nest.Loop // the loops around each access
	slots    [][]slot
}

// A slot counts the references of an access at a level by one time of their lines' last touch.
type slot struct {
	refs    uint64
	classes [conflict + 1]uint64
	lines   uint64 // touched since then, of the first reference that missed, or else the first
	missed  bool
}

// Pass starts a pass of nests.
func (w *Watch) Pass() { w.pass = w.serial }

// enter starts a walk of a canonical nest or a program. Of one that is walked again the
// counts go on.
func (w *Watch) enter(what any, p nest.Program, operands []nest.Operand) {
	if w.observe&Classes == 0 {
		return
	}
	known := slices.IndexFunc(w.parts, func(t *part) bool {
		return reflect.DeepEqual(t.what, what)
	})
	if known < 0 {
		known = len(w.parts)
		_, isNest := what.(nest.Nest)
		t := &part{what: what, isNest: isNest, operands: operands, around: p.Around()}
		for range w.levels {
			for op := range operands {
				t.slots = append(t.slots, make([]slot, sinces+2*len(t.around[op])))
			}
		}
		w.parts = append(w.parts, t)
	}
	w.now, w.start = w.parts[known], w.serial
	if !w.now.isNest {
		w.pass = w.serial
	} else if w.nestsTo != w.serial {
		w.nests = w.serial
	}
	w.loops, w.vars, w.entered, w.began = nil, nil, nil, nil
}

// leave ends a walk.
func (w *Watch) leave() {
	if w.now != nil && w.now.isNest {
		w.nestsTo = w.serial
	}
	w.now = nil
}

// run goes on to a run: the same iteration of some of the loops before, and perhaps another of
// the next.
func (w *Watch) run(run *nest.Run) {
	if w.now == nil {
		return
	}
	loops, same := w.now.around[run.First], 0
	most := min(len(loops), len(w.loops))
	for same < most && loops[same] == w.loops[same] && run.Vars[same] == w.vars[same] {
		same++
	}
	kept := same
	if same < most && loops[same] == w.loops[same] {
		w.began[same] = w.serial
		kept++
	}
	w.entered, w.began = w.entered[:kept], w.began[:kept]
	for range loops[kept:] {
		w.entered, w.began = append(w.entered, w.serial), append(w.began, w.serial)
	}
	w.loops, w.vars = loops, append(w.vars[:0], run.Vars...)
	if run.Trips > 1 {
		inner := len(loops) - 1
		w.vars[inner] += (run.Trips - 1) * loops[inner].Step
	}
}

// next goes on to the next iteration of a run's loop.
func (w *Watch) next() {
	if w.now != nil {
		w.began[len(w.began)-1] = w.serial
	}
}

// slot is that of a reference to a line that was touched at last: outside of the outermost
// loop that has begun since, or in an earlier iteration of it.
func (w *Watch) slot(last uint64) int {
	d := len(w.began)
	for d > 0 && last <= w.began[d-1] { // most are of the loops further in
		d--
	}
	switch {
	case d > 0:
	case last == 0:
		return int(engine.Never)
	case last <= w.pass:
		return int(engine.EarlierPass)
	case last <= w.start:
		return int(engine.ThisPass)
	}
	switch {
	case d == len(w.began):
		return int(engine.ThisIteration)
	case last <= w.entered[d]:
		return sinces + len(w.entered) + d
	}
	return sinces + d
}

// reuse counts a reference that is done, at all levels that it came to.
func (w *Watch) reuse(op int, addr, size uint64) {
	first := &w.levels[0]
	lost := addr >> first.shift
	if first.missedAt == w.serial {
		lost = first.lost
	}
	var last uint64
	for block := addr >> first.shift; block <= (addr+size-1)>>first.shift; block++ {
		at := &first.Numbers[first.place(op, block)]
		if block == lost {
			last = *at
		}
		*at = w.serial
	}
	if w.now == nil {
		return
	}
	w.noted = w.slot(last)
	for level := range w.levels {
		s := &w.levels[level]
		if s.askedAt != w.serial {
			continue
		}
		t := &w.now.slots[level*len(w.now.operands)+op][w.noted]
		t.refs++
		missed := s.missedAt == w.serial
		if missed {
			t.classes[s.why]++
		}
		if t.refs == 1 || missed && !t.missed {
			t.lines, t.missed = w.since(last), missed
		}
	}
}

// mostSince is how many references a nest may be behind a line's last touch to count the lines
// touched since.
const mostSince = 1 << 17

// since is how many lines were touched after a reference, 0 if that is too many references ago,
// or if nests and others were among them.
func (w *Watch) since(last uint64) (lines uint64) {
	if last == 0 || w.now.isNest && (w.serial-last > mostSince || last < w.nests) {
		return 0
	}
	for _, serial := range w.grids[0].Numbers {
		if serial > last {
			lines++
		}
	}
	return lines
}

// list returns what was counted at a level, programs first.
func (w *Watch) list(level int) (all []engine.Reuse) {
	var ofNests []engine.Reuse
	nests := 0
	for _, t := range w.parts {
		if t.isNest {
			ofNests = t.list(ofNests, level, nests)
			nests++
		} else {
			all = t.list(all, level, 0)
		}
	}
	return append(all, ofNests...)
}

// list appends what was counted at a level.
func (t *part) list(all []engine.Reuse, level, number int) []engine.Reuse {
	for op, operand := range t.operands {
		depth := len(t.around[op])
		for i, s := range t.slots[level*len(t.operands)+op] {
			if s.refs == 0 {
				continue
			}
			r := engine.Reuse{Nest: number, Operand: op, Tensor: operand.Tensor,
				Since: engine.Since(i), Refs: s.refs, Lines: s.lines,
				Compulsory: s.classes[compulsory],
				Capacity:   s.classes[capacity], Conflict: s.classes[conflict]}
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
