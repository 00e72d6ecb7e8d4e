package proofs

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// rotation is by how many sets a level's blocks move in a period: the same for
// all operands, modulo the sets.
func (l *level) rotation(extents []extent) uint64 {
	sets := int64(l.Sets)
	return uint64((extents[0].moved%sets + sets) % sets)
}

// turned is a set moved by so many rotations.
func (l *level) turned(set, rotation, times uint64) uint64 {
	if l.odd == 0 {
		return (set + times*rotation) & l.mask
	}
	return (set + mulMod(times, rotation, l.odd)) % l.odd
}

// movedBy is by how much the operands move that touch a block.
func movedBy(extents []extent, block uint64) int64 {
	for _, e := range extents[1:] {
		if block >= e.first && block <= e.last {
			return e.moved
		}
	}
	return extents[0].moved
}

// oneMove drops the extents that would not change what movedBy says: all but
// the first if all operands move alike.
func oneMove(extents []extent) []extent {
	for _, e := range extents {
		if e.moved != extents[0].moved {
			return extents
		}
	}
	return extents[:1]
}

// A rebuilding is on its way from the end of period M to the end of M+left.
type rebuilding struct {
	*level
	extents    []extent
	rotation   uint64
	back       uint64 // the rotation that undoes left rotations
	left       int
	now        uint64 // the epoch of blocks touched after M
	iterations uint64 // in a period
	young      []int  // of each set, how many blocks were touched in M
	leaves     []bool // of each word: touched in M and, moved, not in M+1
	ahead      []int  // of each set, rotations to the next set, itself included, with a block that leaves; noneAhead
}

const noneAhead = 1 << 62

// rebuild makes of the contents after the steady period M, which began at
// epoch began, those after left more periods.
//
// A set then holds its first A distinct blocks in this order: those of M+left,
// that is, the blocks of M in the set that they are moved from, most recent
// first; then those of M+left-1, and so on to M+1; then the set's contents at
// the end of M. Of the blocks of M, the A most recent of a set suffice, and
// these are at its front. Of M+j for j < left only those are looked at that
// leave: the others were touched in M+j+1 too.
func (l *level) rebuild(extents []extent, began, now uint64, left int, iterations uint64) {
	b := &rebuilding{level: l, extents: oneMove(extents), rotation: l.rotation(extents), left: left, now: now, iterations: iterations,
		young: make([]int, l.Sets), leaves: make([]bool, l.Lines()), ahead: make([]int, l.Sets)}
	sets := uint64(l.Sets)
	b.back = (sets - l.turned(0, b.rotation, uint64(left))) % sets
	for s := range sets {
		row := l.row(s)
		for b.young[s] < l.Ways && row[b.young[s]]&epochMask >= began {
			b.young[s]++
		}
	}
	b.findLeaves()
	b.lookAhead()
	if l.spare == nil {
		l.spare = make([]uint64, len(l.words))
	}
	if l.when != nil && l.spareWhen == nil {
		l.spareWhen = make([]uint64, len(l.when))
	}
	for s := range sets {
		b.fill(s)
	}
	l.words, l.spare = l.spare, l.words
	l.when, l.spareWhen = l.spareWhen, l.when
}

// findLeaves finds the blocks of M that are not images of blocks of M. Where
// the set that they would be moved from holds A younger blocks, one that it no
// longer holds may be missing, but then these A fill the set before.
func (b *rebuilding) findLeaves() {
	sets, ways := uint64(b.Sets), uint64(b.Ways)
	for s := range sets {
		n := b.young[s]
		if n == 0 {
			continue
		}
		from := b.turned(s, sets-b.rotation, 1)
		others := b.row(from)[:b.young[from]]
		for at, w := range b.row(s)[:n] {
			image := w - uint64(movedBy(b.extents, w>>epochBits-1))<<epochBits
			b.leaves[s*ways+uint64(at)] = !holds(others, image)
		}
	}
}

// lookAhead finds, along each orbit of the rotation, the next set with a block
// that leaves: twice around, backwards, so that the end knows of the beginning.
func (b *rebuilding) lookAhead() {
	orbits := nest.GCD(b.Sets, int(b.rotation))
	back, ways := uint64(b.Sets)-b.rotation, uint64(b.Ways)
	for s := range uint64(orbits) {
		ahead := noneAhead
		for range 2 * b.Sets / orbits {
			if slices.Contains(b.leaves[s*ways:][:b.young[s]], true) {
				ahead = 0
			} else if ahead != noneAhead {
				ahead++
			}
			b.ahead[s] = ahead
			s = b.turned(s, back, 1)
		}
	}
}

// fill makes a set's new row.
func (b *rebuilding) fill(set uint64) {
	s := b.turned(set, b.back, 1)
	n := b.take(set, 0, s, b.left, false)
	for left := b.left - 1; left > 0 && n < b.Ways; left-- {
		s = b.turned(s, b.rotation, 1)
		skip := b.ahead[s]
		if skip >= left {
			break
		}
		left -= skip
		s = b.turned(s, b.rotation, uint64(skip))
		n = b.take(set, n, s, left, true)
	}
	row := b.spare[set*uint64(b.Ways):][:b.Ways]
	for at, w := range b.row(set) {
		if w == 0 || n == len(row) {
			break
		}
		if !holds(row[:n], w) {
			b.put(set, n, w, set, at, 0)
			n++
		}
	}
	clear(row[n:])
}

// take appends the blocks of M in set s, or only those that leave, moved by so
// many periods, to the n blocks that a set's new row has. It returns how many
// it has then.
func (b *rebuilding) take(set uint64, n int, s uint64, periods int, leavers bool) int {
	row := b.spare[set*uint64(b.Ways):][:b.Ways]
	leaves := b.leaves[s*uint64(b.Ways):]
	for at, w := range b.row(s)[:b.young[s]] {
		if n == len(row) {
			break
		}
		if leavers && !leaves[at] {
			continue
		}
		block := w>>epochBits + uint64(movedBy(b.extents, w>>epochBits-1)*int64(periods))
		moved := block<<epochBits | b.now
		if !holds(row[:n], moved) {
			b.put(set, n, moved, s, at, periods)
			n++
		}
	}
	return n
}

// put makes a word the n-th of a set's new row: what was at place at of set s,
// so many periods later.
func (b *rebuilding) put(set uint64, n int, word, s uint64, at, periods int) {
	ways := uint64(b.Ways)
	b.spare[set*ways+uint64(n)] = word
	if b.when != nil {
		b.spareWhen[set*ways+uint64(n)] = b.when[s*ways+uint64(at)] + uint64(periods)*b.iterations
	}
}

// holds reports whether one of the words has the block of w.
func holds(words []uint64, w uint64) bool {
	for _, o := range words {
		if (o^w)>>epochBits == 0 {
			return true
		}
	}
	return false
}
