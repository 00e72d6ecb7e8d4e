// Package proofs counts nests on LRU levels that know nothing of each other
// without looking up every access where it can prove what the others do. The
// counts, and the contents left behind, are those of looking up every one. What
// follows is the argument, in outline; each rule is a function, beside which
// stand its conditions and why they suffice.
//
// A level is an LRU cache of S sets of A ways; a block is an address divided by
// the level's line. Level 0 sees every access, level i+1 the accesses that
// missed in level i. LRU makes a set's contents a matter of recency alone: it
// holds the last A distinct blocks touched in it, the most recent first. So an
// access hits if and only if its block was touched before and fewer than A other
// blocks of its set have been touched since. The stretch of accesses from a
// block's last touch to the present one is the access's window; whether it hits
// depends on nothing but the window, and on nothing in it but which accesses
// share a block and which share a set. Every rule shows that two windows are
// alike in this.
//
// Each cached block carries the epoch of its last touch. The clock of epochs
// advances at boundaries that a rule asks about, so an epoch says on which side
// of each of them the last touch lies. Within a set, epochs do not grow from the
// most recent block to the least.
//
// First a nest is made as short as it can be (Nest.Canonical). Then:
//
//   - In-line runs and zero shift (prover.stretch): iterations that touch
//     the same blocks in the same order. After one iteration in level 0, and
//     after at most one more for each level, each does what the one before did.
//     No condition on what the levels held.
//   - Translation (prover.translate): periods of a loop whose blocks are those
//     of the period before, moved by as many sets for every operand, where
//     operands that move by different numbers of blocks share none. A level
//     repeats itself once its hits meet blocks of such periods only, and no
//     older block will be hit any more (level.dead). The contents after the
//     periods left out are put together from those of one (level.rebuild).
//   - Independence (prover.independentOperands): operands that share no block,
//     each simulated alone, if every hit stays one with so many blocks more in
//     its window as the others can bring there (level.crowd). It starts from
//     empty levels, and says nothing of the contents; should they be needed, the
//     nest is simulated again without it (Engine.pay).
//   - Gaps (prover.gaps): operands that share no block, whose strides tell how many
//     iterations go by between two touches of a block. If in every level all gaps are either
//     so short that a block cannot be gone by then, or so long that it must be, the misses
//     are numbers of gaps. Of the first level, which may be neither, windows of tiles are told
//     operand by operand (prover.tiled), or package summaries counts the misses alone. Of the second of two, what comes
//     to it is told tile by tile (prover.sequel). It too starts
//     from empty levels and says nothing of the contents.
//
// Where dirty lines are written back, prover.backed tells of operands apart, of which those
// that write never hit behind the first level; a Backs asks it.
//
// Elsewhere accesses are looked up. So they are where a nest is too short for a
// proof to pay, and where blocks are too large for a prover's words.
//
// The rules hold for any number of levels. What is proved of LRU holds of no
// other policy, and of sets that are the block modulo S of no other index. Lines
// may differ from level to level, being powers of two: equality is asked within
// the smallest line, translation by multiples of the largest.
package proofs

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A word of a set is a block plus one above the epoch of its last touch; zero
// is an empty way, older than any epoch.
const (
	epochBits = 22
	epochMask = 1<<epochBits - 1
	// maxBlock is the largest block that fits above an epoch.
	maxBlock = 1<<(64-epochBits) - 2
)

// A prover simulates nests on a chain of LRU levels, nearest first. It looks
// up no more accesses than its rules need.
type prover struct {
	levels []level
	clock  uint64 // the present epoch, at least 1
	// mark is that of the innermost frame, 0 without one: touches of blocks
	// whose epoch is before it are noted.
	mark   uint64
	frames []frame
	depth  int // frames in use

	maxEpoch   uint64 // after which all epochs are renumbered
	renumbered int    // how often they were

	nest     *nestPlan // on its way
	addr     []uint64  // of each operand's next access, modulo 2^64
	misses   []uint64  // of operand r in level i at r*len(levels)+i
	visited  uint64    // accesses looked up
	most     uint64    // of them, after which it gives up and what it counts is nothing; 0 for as many as there are
	now      uint64    // iterations simulated or skipped
	took     ruleCounts
	untiled  bool // the nearest level is not counted by tiles: for tests
	doubtful bool // sequels count windows of more than a tile: for tests
}

// ruleCounts says how often each rule skipped something, and how often one
// that was tried fell back.
type ruleCounts struct {
	inline                 int // in-line runs
	free, early, zero      int // zero shift: after no miss, before all levels were steady, and after
	shifted, alive, stale  int // translation; its tests (b) and (a) that failed
	until                  int // of translation's test (b), those that held of most periods
	overlap                int // translation refused: operands that part share blocks
	renumber               int // translation begun again because epochs were renumbered
	independent, dependent int // independence; its test that failed
	settled                int // of independence, passes of an operand that were known from the one before
	combs, tiled, sequels  int // of gaps
	shares                 int // of combs, accesses asked together with those a period on and on
	counted                int // of sequels, windows
}

// level is one level of a prover.
type level struct {
	engine.Level
	words []uint64 // rows of ways, the most recently used first
	spare []uint64 // as long, for rebuild
	width uint64   // words in a row: ways
	mask  uint64   // sets-1 if that is a mask
	odd   uint64   // else the number of sets
	extra bool     // it times reuses or logs misses
	// Of gaps: what is known of operands.
	masses []knownMass
	// Of a level that times reuses (prover.independentOperands), else nil:
	when, spareWhen []uint64  // the iteration of each word's last touch, or one before it
	reuses          [65]reuse // by the bits of their T
	muted           bool      // reuses are not noted
	// Of the period being recorded, if one is:
	logging bool
	heads   []uint64 // blocks whose first touch in it missed and found fewer than A blocks of it in their set
	missed  []uint32 // the set of every miss
}

// A frame is a stretch of time, from its mark on, whose touches of older
// blocks are of interest.
type frame struct {
	mark   uint64
	record bool   // keep the heads
	base   uint64 // hits on blocks from before it make a level stale
	stale  []bool // of each level
}

// newProver returns a prover of empty levels.
func newProver(specs []engine.Level) *prover {
	x := &prover{clock: 1, maxEpoch: epochMask}
	for _, s := range specs {
		l := level{Level: s, width: uint64(s.Ways)}
		if s.Sets&(s.Sets-1) == 0 {
			l.mask = uint64(s.Sets - 1)
		} else {
			l.odd = uint64(s.Sets)
		}
		x.levels = append(x.levels, l)
	}
	return x
}

// open makes room for contents, which a prover that only plans does not need.
func (x *prover) open() {
	for i := range x.levels {
		if l := &x.levels[i]; l.words == nil {
			l.words = make([]uint64, l.Lines())
		}
	}
}

// close forgets contents.
func (x *prover) close() {
	for i := range x.levels {
		x.levels[i].words = nil
	}
}

// set is the set of a block.
func (l *level) set(block uint64) uint64 {
	if l.odd != 0 {
		return block % l.odd
	}
	return block & l.mask
}

// row is the words of a set.
func (l *level) row(set uint64) []uint64 {
	return l.words[set*l.width:][:l.width]
}

// blocks appends the blocks of a set to list, the most recently used first.
func (l *level) blocks(list []uint64, set int) []uint64 {
	for _, w := range l.row(uint64(set)) {
		if w == 0 {
			break
		}
		list = append(list, w>>epochBits-1)
	}
	return list
}

// load fills a set with blocks, the most recently used first. It reports
// whether it could: a block may be too large for a word.
func (l *level) load(set int, blocks []uint64) bool {
	row := l.row(uint64(set))
	clear(row)
	for i, b := range blocks {
		if b > maxBlock {
			return false
		}
		row[i] = (b + 1) << epochBits
	}
	return true
}

// access looks up one access, level by level until one has it.
func (x *prover) access(misses []uint64, addr, width uint64) {
	end := addr + width - 1
	for i := range x.levels {
		l := &x.levels[i]
		first, last := addr>>l.Shift, end>>l.Shift
		missed := x.touch(i, l, first)
		if last != first && x.touch(i, l, last) {
			missed = true
		}
		if !missed {
			return
		}
		misses[i]++
	}
}

// touch looks up one block in level i, makes it the most recently used of its
// set, and reports whether it was absent.
func (x *prover) touch(i int, l *level, block uint64) (missed bool) {
	set := l.set(block)
	row := l.row(set)
	key := (block + 1) << epochBits
	old := row[0] // in the end, the word that left its place: the block's own or the evicted
	row[0] = key | x.clock
	missed = old-key > epochMask
	at := 0 // where the word was
	if missed {
		for at = 1; at < len(row); at++ {
			old, row[at] = row[at], old
			if old-key <= epochMask {
				missed = false
				break
			}
		}
	}
	if old&epochMask < x.mark {
		x.note(i, block, old&epochMask, !missed)
	}
	if l.extra {
		l.also(set, min(at, len(row)-1), missed, x.now)
	}
	return missed
}

// also does what only some levels need after a look-up of the block that was at
// place at of its set, or at none.
func (l *level) also(set uint64, at int, missed bool, now uint64) {
	if l.when != nil {
		l.time(set, at, !missed, now)
	}
	if missed && l.logging {
		l.logMiss(set)
	}
}

// note tells the frames of a touch of a block in level i whose own last touch,
// or if it missed the last touch of the block that it evicted, was at an epoch
// before the mark of the innermost. A hit before a frame's base makes the level
// stale. If a miss evicts a block from before a frame's mark, its set was not
// yet full of blocks touched in the frame, and its block cannot have been
// touched in the frame, or it would be there: it is a head of the frame.
func (x *prover) note(i int, block, epoch uint64, hit bool) {
	for f := x.depth - 1; f >= 0; f-- {
		frame := &x.frames[f]
		if epoch >= frame.mark {
			return // outer frames began earlier
		}
		if hit && epoch < frame.base {
			frame.stale[i] = true
		}
		if !hit && frame.record {
			x.levels[i].heads = append(x.levels[i].heads, block)
		}
	}
}

// logMiss keeps the set of a miss. To forget some is safe: see dead.
func (l *level) logMiss(set uint64) {
	if len(l.missed) < 2*l.Lines() {
		l.missed = append(l.missed, uint32(set))
	}
}

// tick begins a new epoch and returns it. When there are no more, all blocks
// become equally old and every frame is told that it knows nothing.
func (x *prover) tick() uint64 {
	x.clock++
	if x.clock > x.maxEpoch {
		x.renumbered++
		x.clock = 1
		for i := range x.levels {
			for j := range x.levels[i].words {
				x.levels[i].words[j] &^= epochMask
			}
		}
		for f := range x.frames[:x.depth] {
			frame := &x.frames[f]
			frame.mark, frame.base = 0, 0
			for i := range frame.stale {
				frame.stale[i] = true
			}
		}
		x.mark = 0
	}
	return x.clock
}

// push begins a frame at a new epoch; it is frames[depth-1].
func (x *prover) push() {
	if x.depth == len(x.frames) {
		x.frames = append(x.frames, frame{stale: make([]bool, len(x.levels))})
	}
	mark := x.tick()
	f := &x.frames[x.depth]
	x.depth++
	f.mark, f.base, f.record = mark, mark, false
	clear(f.stale)
	x.mark = mark
}

// pop ends the innermost frame.
func (x *prover) pop() {
	x.depth--
	x.mark = 0
	if x.depth > 0 {
		x.mark = x.frames[x.depth-1].mark
	}
}

// run simulates a canonical nest and returns the misses of operand r in level
// i at r*len(levels)+i. Whether it can, fits says; operands are no wider than
// the smallest line.
func (x *prover) run(n nest.Nest) []uint64 { return x.follow(x.plan(n)) }

// follow is run by a plan.
func (x *prover) follow(p *nestPlan) []uint64 {
	x.open()
	x.nest = p
	x.misses = make([]uint64, len(p.Operands)*len(x.levels))
	x.addr = nil
	for _, op := range p.Operands {
		x.addr = append(x.addr, op.Base)
	}
	if p.Iterations() > 0 {
		x.loop(0)
	}
	return x.misses
}

// over reports whether it gives up.
func (x *prover) over() bool { return x.most > 0 && x.visited > x.most }

// fits reports whether the blocks of a nest fit into words, and its operands into lines.
func (x *prover) fits(n nest.Nest) bool {
	if x.isWide(n) {
		return false
	}
	for _, op := range n.Operands {
		_, last := op.Reach(n.Trips)
		if last>>x.minShift() > maxBlock {
			return false
		}
	}
	return true
}

// isWide is engine.Wide.
func (x *prover) isWide(n nest.Nest) bool {
	return slices.ContainsFunc(n.Operands, func(op nest.Operand) bool { return op.Width > 1<<x.minShift() })
}

func (x *prover) minShift() uint {
	return slices.MinFunc(x.levels, func(a, b level) int { return int(a.Shift) - int(b.Shift) }).Shift
}

func (x *prover) maxShift() uint {
	return slices.MaxFunc(x.levels, func(a, b level) int { return int(a.Shift) - int(b.Shift) }).Shift
}

// mulMod is a*b modulo m.
func mulMod(a, b, m uint64) uint64 {
	high, low := bits.Mul64(a%m, b%m)
	_, rest := bits.Div64(high, low, m)
	return rest
}
