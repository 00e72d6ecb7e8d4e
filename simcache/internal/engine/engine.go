// Package engine is the seam between package simcache and the engines that simulate for it. Package
// lookup looks accesses up in levels that know nothing of each other, exact counts nests and
// programs on such levels without looking all up, and policies has every other kind of level. All
// are tested against package reference.
package engine

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Level is the shape of one level. A block is an address divided by the
// line, and its set is the block modulo the sets.
type Level struct {
	Sets, Ways int
	Shift      uint // log2 of the line in bytes
}

// Lines is how many lines the level holds.
func (l Level) Lines() int { return l.Sets * l.Ways }

// Wide reports whether an operand is wider than a line of some level, so that an access may
// lie in more than two lines. No proof knows of such accesses: they are looked up.
func Wide(levels []Level, operands []nest.Operand) bool {
	line := math.MaxInt
	for _, l := range levels {
		line = min(line, 1<<l.Shift)
	}
	return slices.ContainsFunc(operands, func(op nest.Operand) bool { return op.Width > line })
}

// References are counted by three sorts, which are the operands of those that
// belong to no nest.
const (
	Loads  = iota // reads and modifies
	Stores        // writes
	Fetches
	Sorts
)

// Sort is the sort of a reference of data.
func Sort(k nest.Kind) int {
	if k == nest.Write {
		return Stores
	}
	return Loads
}

// An Engine simulates levels of caches.
type Engine interface {
	// Add simulates a reference. Operands of single references are their sorts.
	Add(op int, addr, size uint64, kind nest.Kind)
	// AddAll is Add of each in turn.
	AddAll(refs []Reference)
	// At tells the address of the instruction that the next references are of.
	At(pc uint64)
	// Descend simulates a fetch that missed in I1, from the second level on.
	Descend(op int, addr, size uint64)
	// Take returns the misses of single references at a level, by operand, since
	// they were last taken, until the next reference.
	Take(level int) []uint64
	// Track makes room for so many operands of single references, the sorts among them,
	// after all misses were taken. Whatever is run ends it.
	Track(operands int)
	// Run simulates so many passes over canonical nests, and returns their misses
	// by pass and nest: those of operand r at level i of n are at r*n+i.
	Run(nests []nest.Nest, passes int) [][][]uint64
	// RunProgram simulates a pass over a program, and returns its misses: those of
	// access r at level i of n are at r*n+i.
	RunProgram(p nest.Program) []uint64
	// Effort is about how many references Run would look up, and how many seconds
	// that takes.
	Effort(nests []nest.Nest, passes int) (lookUps, seconds float64)
	// Settled is the number of passes over the same nests, or a program, after which all that
	// follow are like the last of them; 0 if that is not known.
	Settled() int
	// Work is how many references were looked up.
	Work() uint64
	// Besides is what is counted at a level besides references and misses.
	Besides(level int) Besides
	// LooksUp reports whether RunProgram looks up each access of a program of these operands.
	LooksUp(operands []nest.Operand) bool
	// Progress has a function called, now and then, with the share of a program that is done, by an
	// engine that knows it. It comes before the first program.
	Progress(done func(share float64))
	// Reset makes the engine what it was when it was new.
	Reset()
}

// A Reference is a single one, as Add takes it.
type Reference struct {
	Addr     uint64
	Size, Op int32
	Kind     nest.Kind
}

// Besides is what an engine counts at a level besides references and misses. What
// it does not count is 0.
type Besides struct {
	Stores                         uint64 // references that came without a miss at the level before
	BytesIn, BytesOut, WriteBacks  uint64 // where dirty lines are tracked
	VictimHits                     uint64
	Prefetches, Useful, Useless    uint64
	Compulsory, Capacity, Conflict uint64
	Reuses                         []Reuse
	SetMisses                      []uint64
	BytesFilled, BytesUsed         uint64
}

// Repeat adds what was counted between before and after so many times more.
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

// numbers are all counts of the whole level.
func (b *Besides) numbers() []*uint64 {
	return []*uint64{&b.Stores, &b.BytesIn, &b.BytesOut, &b.WriteBacks, &b.VictimHits,
		&b.Prefetches, &b.Useful, &b.Useless,
		&b.Compulsory, &b.Capacity, &b.Conflict, &b.BytesFilled, &b.BytesUsed}
}

// in finds a reuse in a list by what it is of; one without counts if it is not there.
func (r Reuse) in(list []Reuse) Reuse {
	i := slices.IndexFunc(list, func(o Reuse) bool {
		return o.Nest == r.Nest && o.Operand == r.Operand && o.Since == r.Since && o.Loop == r.Loop
	})
	if i < 0 {
		return Reuse{}
	}
	return list[i]
}

// A Since says when the line of a reference was touched before.
type Since uint8

// The times of a line's last touch: never, by an operand before it in the same
// iteration, in an earlier iteration of a loop, in another nest of the pass, in a
// pass before.
const (
	Never Since = iota
	ThisIteration
	ThisLoop
	ThisPass
	EarlierPass
)

// A Reuse counts the references of one operand of a nest that reached a level and
// whose line was touched last at one time; see simcache.Reuse.
type Reuse struct {
	Nest, Operand                  int
	Tensor                         string
	Since                          Since
	Loop                           int // of ThisLoop
	Refs                           uint64
	Compulsory, Capacity, Conflict uint64
	Lines                          uint64
}

// References is the number of references of so many passes over nests.
func References(nests []nest.Nest, passes int) float64 {
	sum := 0.0
	for _, n := range nests {
		sum += float64(n.Iterations()) * float64(len(n.Operands))
	}
	return sum * float64(passes)
}

// RunEach runs one nest after the other.
func RunEach(nests []nest.Nest, passes int, one func(nest.Nest) []uint64) [][][]uint64 {
	misses := make([][][]uint64, passes)
	for p := range misses {
		for _, n := range nests {
			misses[p] = append(misses[p], one(n))
		}
	}
	return misses
}

// ByOperand orders misses by level and operand as engines return them: those of
// operand op at level l of n are at op*n+l.
func ByOperand(misses [][]uint64, operands int) []uint64 {
	all := make([]uint64, 0, operands*len(misses))
	for op := range operands {
		for _, level := range misses {
			all = append(all, level[op])
		}
	}
	return all
}
