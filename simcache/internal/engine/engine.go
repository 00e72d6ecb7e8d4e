// Package engine defines the engines of package simcache. Package lookup looks accesses up in
// independent levels, exact counts nests and programs on such levels without looking up all, and
// policies supports all other levels. All are tested against package reference.
package engine

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Level is the shape of one level. A block is an address divided by the line size, its set the
// block modulo the sets.
type Level struct {
	Sets, Ways int
	Shift      uint // log2 of the line size in bytes
}

// Lines returns the number of lines.
func (l Level) Lines() int { return l.Sets * l.Ways }

// Wide reports whether an operand is wider than some level's line. An access may then span more
// than two lines, which no proof covers: it is looked up.
func Wide(levels []Level, operands []nest.Operand) bool {
	line := math.MaxInt
	for _, l := range levels {
		line = min(line, 1<<l.Shift)
	}
	return slices.ContainsFunc(operands, func(op nest.Operand) bool { return op.Width > line })
}

// The sorts of references, which are the operands of those outside nests.
const (
	Loads  = iota // reads and modifies
	Stores        // writes
	Fetches
	Sorts
)

// Sort returns the sort of a data reference.
func Sort(k nest.Kind) int {
	if k == nest.Write {
		return Stores
	}
	return Loads
}

// An Engine simulates levels of caches.
type Engine interface {
	// Add simulates a reference. The operand of a single one is its sort.
	Add(op int, addr, size uint64, kind nest.Kind)
	// AddAll adds each reference in order.
	AddAll(refs []Reference)
	// At sets the instruction of the next references.
	At(pc uint64)
	// Descend simulates a fetch that missed in I1, from the second level on.
	Descend(op int, addr, size uint64)
	// Take returns a level's misses of single references by operand since the last Take, until the
	// next reference.
	Take(level int) []uint64
	// Track sets the number of operands of single references, including the sorts, after all misses
	// were taken. A run ends it.
	Track(operands int)
	// Run simulates passes over canonical nests. In each pass and nest, the misses of operand r at
	// level i of n are at r*n+i.
	Run(nests []nest.Nest, passes int) [][][]uint64
	// RunProgram simulates a pass over a program. The misses of access r at level i of n are at
	// r*n+i.
	RunProgram(p nest.Program) []uint64
	// Effort estimates Run's lookups, and the time in seconds.
	Effort(nests []nest.Nest, passes int) (lookUps, seconds float64)
	// Settled returns the number of passes after which each repeats the last; 0 if unknown.
	Settled() int
	// Work returns the number of references looked up.
	Work() uint64
	// Besides returns a level's other counts than references and misses.
	Besides(level int) Besides
	// LooksUp reports whether RunProgram looks up each access of these operands.
	LooksUp(operands []nest.Operand) bool
	// Progress sets a function to call now and then with the share of a program done. It must
	// precede the first program.
	Progress(done func(share float64))
	// Reset makes the engine new.
	Reset()
}

// A Reference holds the arguments of Add.
type Reference struct {
	Addr     uint64
	Size, Op int32
	Kind     nest.Kind
}

// A Besides holds a level's other counts than references and misses, 0 if not counted.
type Besides struct {
	Stores                         uint64 // references without a miss at the level before
	BytesIn, BytesOut, WriteBacks  uint64 // if dirty lines are tracked
	VictimHits                     uint64
	Prefetches, Useful, Useless    uint64
	Compulsory, Capacity, Conflict uint64
	Reuses                         []Reuse
	SetMisses                      []uint64
	BytesFilled, BytesUsed         uint64
}

// Repeat adds the difference between before and after times times.
func (b *Besides) Repeat(before, after Besides, times uint64) {
	all, from, to := b.numbers(), before.numbers(), after.numbers()
	for i, n := range all {
		*n += times * (*to[i] - *from[i])
	}
	for set := range b.SetMisses {
		b.SetMisses[set] += times * (after.SetMisses[set] - before.SetMisses[set])
	}
	for i := range b.Reuses {
		r := &b.Reuses[i]
		was, is := r.in(before.Reuses), r.in(after.Reuses)
		r.Refs += times * (is.Refs - was.Refs)
		r.Compulsory += times * (is.Compulsory - was.Compulsory)
		r.Capacity += times * (is.Capacity - was.Capacity)
		r.Conflict += times * (is.Conflict - was.Conflict)
	}
}

func (b *Besides) numbers() []*uint64 {
	return []*uint64{&b.Stores, &b.BytesIn, &b.BytesOut, &b.WriteBacks, &b.VictimHits,
		&b.Prefetches, &b.Useful, &b.Useless,
		&b.Compulsory, &b.Capacity, &b.Conflict, &b.BytesFilled, &b.BytesUsed}
}

func (r Reuse) in(list []Reuse) Reuse {
	i := slices.IndexFunc(list, func(o Reuse) bool {
		return o.Nest == r.Nest && o.Operand == r.Operand && o.Since == r.Since && o.Loop == r.Loop
	})
	if i < 0 {
		return Reuse{}
	}
	return list[i]
}

// A Since says when the line of a reference was last touched, by any operand.
type Since uint8

// The times of a line's last touch.
const (
	Never         Since = iota // this is the line's first touch
	ThisIteration              // an earlier operand in the same iteration
	// an earlier iteration of a loop of the nest, the outermost whose index has changed
	ThisLoop
	ThisPass    // another nest, earlier in the same pass
	EarlierPass // an earlier pass, run or access
)

// MarshalText returns the words for JSON.
func (s Since) MarshalText() ([]byte, error) {
	return []byte([...]string{"never", "this iteration", "this loop", "this pass",
		"earlier pass"}[s]), nil
}

// A Reuse is explained at simcache.Reuse.
type Reuse struct {
	Nest    int    `json:"nest"` // in the order in which distinct canonical nests first ran
	Operand int    `json:"operand"`
	Tensor  string `json:"tensor"`
	Since   Since  `json:"since"`
	Loop    int    `json:"loop"` // for ThisLoop: in Nest.Canonical, the outermost is 0
	Refs    uint64 `json:"refs"`
	// Misses by class (simcache.LevelCounts).
	Compulsory uint64 `json:"compulsory,omitzero"`
	Capacity   uint64 `json:"capacity,omitzero"`
	Conflict   uint64 `json:"conflict,omitzero"`
	// Lines is the reuse distance: the distinct lines touched since the last touch, including the
	// reference's own, for the first reference that missed, else the first. It is 0 for Never, and
	// if the touch is too far back.
	Lines uint64 `json:"lines,omitzero"`
}

// Misses returns the number of references that missed.
func (r Reuse) Misses() uint64 { return r.Compulsory + r.Capacity + r.Conflict }

// References returns the references of passes over nests.
func References(nests []nest.Nest, passes int) float64 {
	sum := 0.0
	for _, n := range nests {
		sum += float64(n.Iterations()) * float64(len(n.Operands))
	}
	return sum * float64(passes)
}

// RunEach runs the nests in order, in each pass.
func RunEach(nests []nest.Nest, passes int, one func(nest.Nest) []uint64) [][][]uint64 {
	misses := make([][][]uint64, passes)
	for p := range misses {
		for _, n := range nests {
			misses[p] = append(misses[p], one(n))
		}
	}
	return misses
}

// ByOperand orders misses as engines return them: of operand op at level l of n at op*n+l.
func ByOperand(misses [][]uint64, operands int) []uint64 {
	all := make([]uint64, 0, operands*len(misses))
	for op := range operands {
		for _, level := range misses {
			all = append(all, level[op])
		}
	}
	return all
}
