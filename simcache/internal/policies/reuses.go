package policies

import (
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// sinces is how many times of a last touch are told apart but for the loops.
const sinces = int(engine.EarlierPass) + 1

// reuses watches the references to an engine, and counts those of nests.
type reuses struct {
	nests  []nest.Nest // all different ones, canonical
	slots  [][]reuseSlot
	runs   []nestRun      // in order
	pass   uint64         // serial of the last reference before this pass
	shift  uint           // log2 of the first level's line
	last   *lines.Map     // the serial of each line's last touch
	began  []uint64       // by loop of the nest under way, the serial of the last reference before its iteration
	along  []lines.Finger // by operand
	levels int
	inside bool // a nest runs
	noted  int  // the slot of the last reference

	programs []*programPlace
	program  *programPlace // that runs
}

// A nestRun is one walk of a nest.
type nestRun struct {
	nest  int
	start uint64 // serial of the last reference before it
}

// A reuseSlot counts the references of an operand at a level by one time of their
// lines' last touch.
type reuseSlot struct {
	refs     uint64
	classes  [conflict + 1]uint64
	at, last uint64 // the first reference that missed, or else the first, and its line's last touch
	missed   bool
	lines    uint64 // of a program's: touched since then
}

func newReuses(levels []*cache) *reuses {
	return &reuses{shift: levels[0].shift, levels: len(levels), last: new(lines.Map)}
}

// since is how many lines were touched after a reference.
func (u *reuses) since(last uint64) (lines uint64) {
	for _, serial := range u.last.Numbers {
		if serial > last {
			lines++
		}
	}
	return lines
}

// begin starts a walk of a canonical nest after so many references.
func (u *reuses) begin(n nest.Nest, serial uint64) {
	number := slices.IndexFunc(u.nests, func(m nest.Nest) bool { return reflect.DeepEqual(m, n) })
	if number < 0 {
		number = len(u.nests)
		u.nests = append(u.nests, n)
		u.slots = append(u.slots, make([]reuseSlot, u.levels*len(n.Operands)*slotsOf(&n)))
	}
	u.runs = append(u.runs, nestRun{number, serial})
	u.inside = true
	u.began = make([]uint64, len(n.Trips))
	u.step(0, serial)
}

// step goes on to an iteration of a loop, and of those in it, after so many references.
func (u *reuses) step(loop int, serial uint64) {
	for l := loop; l < len(u.began); l++ {
		u.began[l] = serial
	}
}

// enter goes on to a row after so many references.
func (u *reuses) enter(r *row, serial uint64) {
	if u.program != nil {
		u.program.begin(r.first, r.same, r.again, serial)
		return
	}
	u.step(r.same, serial)
}

// innermost is the serial of the last reference before the iteration of the innermost loop.
func (u *reuses) innermost() *uint64 {
	began := u.began
	if u.program != nil {
		began = u.program.began
	}
	return &began[len(began)-1]
}

// slotsHere are the slots of an access of what runs at a level.
func (u *reuses) slotsHere(level, op int) []reuseSlot {
	if u.program != nil {
		return u.program.slots[level*len(u.program.operands)+op]
	}
	return u.slotsAt(u.runs[len(u.runs)-1].nest, level, op)
}

// slotsOf is how many times of a last touch there are: loops are told apart.
func slotsOf(n *nest.Nest) int { return sinces + len(n.Trips) }

// slotsAt are the slots of an operand of the nest of a number at a level.
func (u *reuses) slotsAt(number, level, op int) []reuseSlot {
	n := &u.nests[number]
	return u.slots[number][(level*len(n.Operands)+op)*slotsOf(n):][:slotsOf(n)]
}

// see takes note of a reference that is done at all levels.
func (u *reuses) see(d *Engine, op int, addr, size uint64) {
	first, lost := addr>>u.shift, addr>>u.shift
	if d.levels[0].missedAt == d.serial {
		lost = d.levels[0].lost
	}
	var last uint64
	for block := first; block <= (addr+size-1)>>u.shift; block++ {
		at := &u.last.Numbers[u.last.Along(fingerOf(&u.along, op), block)]
		if block == lost {
			last = *at
		}
		*at = d.serial
	}
	u.note(d, op, last)
}

// note takes note of a reference that is done at all levels, to a line that was touched at last.
func (u *reuses) note(d *Engine, op int, last uint64) {
	switch {
	case u.program != nil:
		w := u.program
		i := w.slot(last, u.pass)
		u.noted = i
		for level, l := range d.levels {
			if l.askedAt != d.serial {
				continue
			}
			if slot := &w.slots[level*len(w.operands)+op][i]; l.count(slot, last) && last > 0 {
				slot.lines = u.since(last)
			}
		}
	case u.inside:
		number, i := u.runs[len(u.runs)-1].nest, u.slot(last)
		u.noted = i
		for level, l := range d.levels {
			if l.askedAt == d.serial {
				l.count(&u.slotsAt(number, level, op)[i], last)
			}
		}
	}
}

// noteHit is note of a hit in the first level, of an operand that has these slots there.
func (u *reuses) noteHit(slots []reuseSlot, last, serial uint64) {
	if u.program != nil {
		u.noted = u.program.slot(last, u.pass)
	} else {
		u.noted = u.slot(last)
	}
	slot := &slots[u.noted]
	if slot.refs++; slot.refs > 1 {
		return
	}
	slot.at, slot.last = serial, last
	if u.program != nil && last > 0 {
		slot.lines = u.since(last)
	}
}

// count counts the reference that is done and reached the level, whose line was touched at last, and
// reports whether it is the slot's first of its kind.
func (c *cache) count(slot *reuseSlot, last uint64) (first bool) {
	missed := c.missedAt == c.askedAt
	slot.refs++
	if missed {
		slot.classes[c.why]++
	}
	if first = slot.refs == 1 || missed && !slot.missed; first {
		slot.at, slot.last, slot.missed = c.askedAt, last, missed
	}
	return first
}

// slot is that of a reference of the nest under way to a line that was touched at
// last: of the outermost loop that has gone on since.
func (u *reuses) slot(last uint64) int {
	inner := len(u.began) - 1
	for loop := inner; loop >= 0; loop-- { // most are of the loops further in
		if last <= u.began[loop] {
			continue
		}
		if loop == inner {
			return int(engine.ThisIteration)
		}
		return sinces + loop + 1
	}
	switch {
	case last == 0:
		return int(engine.Never)
	case last <= u.pass:
		return int(engine.EarlierPass)
	case last <= u.runs[len(u.runs)-1].start:
		return int(engine.ThisPass)
	case inner < 0:
		return int(engine.ThisIteration)
	}
	return sinces
}

// list returns what was counted at a level.
func (u *reuses) list(level int) (all []engine.Reuse) {
	for _, w := range u.programs {
		all = append(all, w.list(level)...)
	}
	for number, n := range u.nests {
		for op := range n.Operands {
			for i, slot := range u.slotsAt(number, level, op) {
				if slot.refs == 0 {
					continue
				}
				r := engine.Reuse{Nest: number, Operand: op, Tensor: n.Operands[op].Tensor, Since: engine.Since(i), Refs: slot.refs,
					Compulsory: slot.classes[compulsory], Capacity: slot.classes[capacity], Conflict: slot.classes[conflict]}
				if i >= sinces {
					r.Since, r.Loop = engine.ThisLoop, i-sinces
				}
				if slot.last > 0 {
					r.Lines = u.between(slot.last, slot.at)
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// mostBetween is how many references are walked to list the lines between two.
const mostBetween = 1 << 17

// between is how many different lines the references after one touch, up to another; 0 where these are too many, or not all of nests.
func (u *reuses) between(from, to uint64) uint64 {
	if to-from > mostBetween {
		return 0
	}
	seen := map[uint64]bool{}
	first := slices.IndexFunc(u.runs, func(r nestRun) bool { return r.start > from })
	if first < 0 {
		first = len(u.runs)
	}
	for i := first - 1; from < to; i++ {
		if i < 0 || i == len(u.runs) || u.runs[i].start > from {
			return 0
		}
		run := u.runs[i]
		end := min(to, run.start+uint64(u.nests[run.nest].Iterations()*len(u.nests[run.nest].Operands)))
		for k := from - run.start; k < end-run.start; k++ {
			op, addr := u.nests[run.nest].Access(k)
			width := uint64(u.nests[run.nest].Operands[op].Width)
			for block := addr >> u.shift; block <= (addr+width-1)>>u.shift; block++ {
				seen[block] = true
			}
		}
		from = max(from, end)
	}
	return uint64(len(seen))
}
