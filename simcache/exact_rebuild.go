package simcache

import "slices"

// rotation is by how many sets a level's blocks move in a period: the same for
// all operands, modulo the sets.
func (l *lruLevel) rotation(extents []extent) uint64 {
	sets := int64(l.sets)
	return uint64((extents[0].moved%sets + sets) % sets)
}

// turned is a set moved by so many rotations.
func (l *lruLevel) turned(set, rotation, times uint64) uint64 {
	if l.mask != 0 || l.sets == 1 {
		return (set + times*rotation) & l.mask
	}
	sets := uint64(l.sets)
	return (set + mulMod(times, rotation, sets)) % sets
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

// A rebuilding is on its way from the end of period M to the end of M+left.
type rebuilding struct {
	*lruLevel
	extents  []extent
	rotation uint64
	young    []int  // of each set, how many blocks were touched in M
	leaves   []bool // of each word: touched in M and, moved, not in M+1
	ahead    []int  // of each set, rotations to the next set, itself included, with a block that leaves; noneAhead
	now      uint64 // the epoch of blocks touched after M
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
func (l *lruLevel) rebuild(extents []extent, began, now uint64, left int) {
	b := &rebuilding{lruLevel: l, extents: extents, rotation: l.rotation(extents), now: now,
		young: make([]int, l.sets), leaves: make([]bool, l.lines()), ahead: make([]int, l.sets)}
	for s := range b.young {
		row := l.row(uint64(s))
		for b.young[s] < l.ways && row[b.young[s]]&epochMask >= began {
			b.young[s]++
		}
	}
	b.findLeaves()
	b.lookAhead()
	if l.spare == nil {
		l.spare = make([]uint64, len(l.words))
	}
	for s := range uint64(l.sets) {
		b.fill(l.spare[s*uint64(l.ways):][:l.ways], s, left)
	}
	l.words, l.spare = l.spare, l.words
}

// findLeaves finds the blocks of M that are not images of blocks of M. Where
// the set that they would be moved from holds A younger blocks, one that it no
// longer holds may be missing, but then these A fill the set before.
func (b *rebuilding) findLeaves() {
	for s, n := range b.young {
		if n == 0 {
			continue
		}
		s := uint64(s)
		from := b.turned(s, uint64(b.sets)-b.rotation, 1)
		row, others := b.row(s)[:n], b.row(from)[:b.young[from]]
		for at, w := range row {
			block := w>>epochBits - 1
			image := (block - uint64(movedBy(b.extents, block)) + 1) << epochBits
			b.leaves[s*uint64(b.ways)+uint64(at)] = !slices.ContainsFunc(others, func(o uint64) bool { return o-image <= epochMask })
		}
	}
}

// lookAhead finds, along each orbit of the rotation, the next set with a block
// that leaves: twice around, backwards, so that the end knows of the beginning.
func (b *rebuilding) lookAhead() {
	orbits := gcd(b.sets, int(b.rotation))
	back := uint64(b.sets) - b.rotation
	for s := range uint64(orbits) {
		ahead := noneAhead
		for range 2 * b.sets / orbits {
			ways := uint64(b.ways)
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
func (b *rebuilding) fill(row []uint64, set uint64, left int) {
	n := 0 // words in the row
	s := b.turned(set, b.mirrored(left), 1)
	for _, w := range b.row(s)[:b.young[s]] {
		n = b.add(row, n, w, left)
	}
	for left--; left > 0 && n < len(row); left-- {
		s = b.turned(s, b.rotation, 1)
		skip := b.ahead[s]
		if skip >= left {
			break
		}
		left -= skip
		s = b.turned(s, b.rotation, uint64(skip))
		for at, w := range b.row(s)[:b.young[s]] {
			if b.leaves[s*uint64(b.ways)+uint64(at)] {
				n = b.add(row, n, w, left)
			}
		}
	}
	for _, w := range b.row(set) {
		if w == 0 || n == len(row) {
			break
		}
		if !holds(row[:n], w) {
			row[n] = w
			n++
		}
	}
	clear(row[n:])
}

// mirrored is the rotation that undoes so many rotations.
func (b *rebuilding) mirrored(times int) uint64 {
	sets := uint64(b.sets)
	return (sets - mulMod(uint64(times), b.rotation, sets)) % sets
}

// add appends the block of a word, moved by so many periods, to the row of n
// words, if it has room for it and does not hold it.
func (b *rebuilding) add(row []uint64, n int, w uint64, periods int) int {
	block := w>>epochBits - 1
	block += uint64(movedBy(b.extents, block) * int64(periods))
	moved := (block+1)<<epochBits | b.now
	if n == len(row) || holds(row[:n], moved) {
		return n
	}
	row[n] = moved
	return n + 1
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
