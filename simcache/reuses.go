package simcache

import (
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// A Since says when the line of a reference was touched before, by whatever
// operand.
type Since uint8

// The times of a line's last touch.
const (
	// Never: the reference is the line's first touch.
	Never Since = iota
	// ThisIteration: an operand before it in the same iteration.
	ThisIteration
	// ThisLoop: an earlier iteration of a loop of the nest, the outermost whose
	// index is another now.
	ThisLoop
	// ThisPass: another nest, earlier in the same pass.
	ThisPass
	// EarlierPass: a pass before, or an earlier run or access.
	EarlierPass
)

var sinceNames = []string{"never", "this iteration", "this loop", "this pass", "earlier pass"}

// String is such as "this loop".
func (s Since) String() string { return sinceNames[s] }

// MarshalText writes String.
func (s Since) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Since) UnmarshalText(text []byte) error {
	return oneOf(s, "time of a last touch", sinceNames, text)
}

// A Reuse counts the references of one operand of a nest that reached a level and
// whose line was touched last at one time. Lines are those of the first level, at
// all of them; of a reference to two, the first that is absent there counts, else
// the lower.
type Reuse struct {
	Nest    int    `json:"nest"` // in the order in which different canonical nests were first run
	Operand int    `json:"operand"`
	Tensor  string `json:"tensor"`
	Since   Since  `json:"since"`
	Loop    int    `json:"loop"` // of ThisLoop: in Nest.Canonical, the outermost is 0
	Refs    uint64 `json:"refs"`
	// Those that missed, by class (LevelCounts).
	Compulsory uint64 `json:"compulsory,omitzero"`
	Capacity   uint64 `json:"capacity,omitzero"`
	Conflict   uint64 `json:"conflict,omitzero"`
	// Lines is how many different lines were touched from the last touch on, the
	// reference's own included: of the first of them that missed, or if none did of
	// the first. It is 0 for Never, and where that is too many references ago.
	Lines uint64 `json:"lines,omitzero"`
}

// Misses is the number of the references that missed.
func (r Reuse) Misses() uint64 { return r.Compulsory + r.Capacity + r.Conflict }

// reuses watches the references to a deep, and counts those of nests.
type reuses struct {
	nests  []Nest // all different ones, canonical
	slots  [][]reuseSlot
	runs   []nestRun // in order
	pass   uint64    // serial of the last reference before this pass
	shift  uint      // log2 of the first level's line
	last   lines.Map // the serial of each line's last touch
	levels int
	inside bool // a nest runs
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
}

func newReuses(levels []*cache) *reuses {
	return &reuses{shift: levels[0].shift, levels: len(levels)}
}

// begin starts a walk of a canonical nest after so many references.
func (u *reuses) begin(n Nest, serial uint64) {
	nest := slices.IndexFunc(u.nests, func(m Nest) bool { return reflect.DeepEqual(m, n) })
	if nest < 0 {
		nest = len(u.nests)
		u.nests = append(u.nests, n)
		u.slots = append(u.slots, make([]reuseSlot, u.levels*len(n.Operands)*slotsOf(n)))
	}
	u.runs = append(u.runs, nestRun{nest, serial})
	u.inside = true
}

// slotsOf is how many times of a last touch there are: loops are told apart.
func slotsOf(n Nest) int { return len(sinceNames) + len(n.Trips) }

// slotsAt are the slots of an operand of a nest at a level.
func (u *reuses) slotsAt(nest, level, op int) []reuseSlot {
	n := u.nests[nest]
	return u.slots[nest][(level*len(n.Operands)+op)*slotsOf(n):][:slotsOf(n)]
}

// see takes note of a reference that is done at all levels.
func (u *reuses) see(d *deep, op int, addr, size uint64) {
	first, lost := addr>>u.shift, addr>>u.shift
	if d.levels[0].missedAt == d.serial {
		lost = d.levels[0].lost
	}
	var last uint64
	for block := first; block <= (addr+size-1)>>u.shift; block++ {
		at := u.last.At(block)
		if block == lost {
			last = *at
		}
		*at = d.serial
	}
	if !u.inside {
		return
	}
	nest, i := u.runs[len(u.runs)-1].nest, u.slot(last, d.serial)
	for level, l := range d.levels {
		if l.askedAt != d.serial {
			continue
		}
		slot, missed := &u.slotsAt(nest, level, op)[i], l.missedAt == d.serial
		slot.refs++
		if missed {
			slot.classes[l.why]++
		}
		if slot.refs == 1 || missed && !slot.missed {
			slot.at, slot.last, slot.missed = d.serial, last, missed
		}
	}
}

// slot is that of a reference of the nest under way to a line that was touched at
// last.
func (u *reuses) slot(last, now uint64) int {
	run := u.runs[len(u.runs)-1]
	switch {
	case last == 0:
		return int(Never)
	case last <= u.pass:
		return int(EarlierPass)
	case last <= run.start:
		return int(ThisPass)
	}
	n := &u.nests[run.nest]
	before, at := (last-run.start-1)/uint64(len(n.Operands)), (now-run.start-1)/uint64(len(n.Operands))
	if before == at {
		return int(ThisIteration)
	}
	loop := len(n.Trips) - 1
	for ; loop > 0; loop-- { // until the loops around it are where they were
		before, at = before/uint64(n.Trips[loop]), at/uint64(n.Trips[loop])
		if before == at {
			break
		}
	}
	return len(sinceNames) + loop
}

// list returns what was counted at a level.
func (u *reuses) list(level int) (all []Reuse) {
	for nest, n := range u.nests {
		for op := range n.Operands {
			for i, slot := range u.slotsAt(nest, level, op) {
				if slot.refs == 0 {
					continue
				}
				r := Reuse{Nest: nest, Operand: op, Tensor: n.Operands[op].Tensor, Since: Since(i), Refs: slot.refs,
					Compulsory: slot.classes[compulsory], Capacity: slot.classes[capacity], Conflict: slot.classes[conflict]}
				if i >= len(sinceNames) {
					r.Since, r.Loop = ThisLoop, i-len(sinceNames)
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
		u.nests[run.nest].part(from-run.start, end-run.start, func(addr, width uint64) {
			for block := addr >> u.shift; block <= (addr+width-1)>>u.shift; block++ {
				seen[block] = true
			}
		})
		from = max(from, end)
	}
	return uint64(len(seen))
}

// part calls f with the accesses of a nest from one number to before another.
func (n Nest) part(from, to uint64, f func(addr, width uint64)) {
	for k := from; k < to; k++ {
		op := n.Operands[k%uint64(len(n.Operands))]
		addr, iteration := op.Base, k/uint64(len(n.Operands))
		for l := len(n.Trips) - 1; l >= 0; l-- {
			addr += iteration % uint64(n.Trips[l]) * uint64(op.Strides[l])
			iteration /= uint64(n.Trips[l])
		}
		f(addr, uint64(op.Width))
	}
}
