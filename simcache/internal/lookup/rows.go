package lookup

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A reference on its way through a chain of levels is packed into a word: its
// grain (the address in units of the chain's smallest line) from bit 14 on, the
// number of the operand that it belongs to in bits 2 to 13, and two flags.
const (
	// it makes the line dirty: at the first level or a write-back
	writes    = 1 << 0
	writeBack = 1 << 1                 // a dirty line from the level before, which is no miss
	opBit     = 2                      // bit of the operand's number
	opCount   = 1 << 12                // as many can be told apart; blocked copies have thousands
	grains    = 14                     // bit of the grain
	ops       = (opCount - 1) << opBit // bits of the operand's number
)

// rows are one LRU cache: for each set a row of tags, the most recently used
// first. A tag is twice the number of the block among those of its set, plus
// two, so that zero is an empty way; the lowest bit says dirty.
//
// Tags are 32 bits wide until a block comes whose tag is wider; then all become
// 64.
type rows struct {
	tags    []uint32 // nil once wide, and where there are lists
	wide    []uint64
	lists   *lists // what holds the tags of many ways, until they are wide
	ways    int
	pitch   int // bytes from row to row of tags
	sets    uint64
	mask    uint64 // sets - 1
	bits    uint   // log2(sets)
	modulo  bool   // the set count is not a power of two: mask and bits mean nothing
	shift   uint   // log2 of the line size
	down    uint   // what a packed reference is shifted by to be a block
	vectors bool   // filterAVX2 may be used
	far     bool   // for it: too large to lie in a first-level cache
	last    uint32 // for it, in a row of two vectors: the bit of the last way
	zero    bool   // all ways begin with block 0
}

const (
	lanes       = 8 // tags in a vector
	leastVector = 4 // ways of a row that is looked up by vectors, at least
)

// newRows makes a cache.
func newRows(g engine.Level, zeroTags bool) rows {
	l := rows{
		ways:   g.Ways,
		sets:   uint64(g.Sets),
		mask:   uint64(g.Sets - 1),
		bits:   uint(bits.TrailingZeros(uint(g.Sets))),
		modulo: g.Sets&(g.Sets-1) != 0,
		shift:  g.Shift,
	}
	row := g.Ways
	if hasAVX2 && !l.modulo && g.Ways >= leastVector {
		l.vectors = true
		row = (g.Ways + lanes - 1) &^ (lanes - 1)
		l.last = 1 << ((g.Ways - 1) % (2 * lanes))
	}
	l.pitch = 4 * row
	l.zero = zeroTags
	l.far = g.Sets*l.pitch > 16<<10
	l.reset()
	return l
}

// reset makes the tags what they begin with.
func (l *rows) reset() {
	l.wide = nil
	if l.ways >= fromWays && !l.zero {
		l.lists = newLists(int(l.sets), l.ways)
		return
	}
	if l.tags == nil {
		l.tags = make([]uint32, int(l.sets)*l.pitch/4)
	} else {
		clear(l.tags)
	}
	if l.zero {
		for way := range l.ways {
			l.tags[way] = 2 // block 0
		}
	}
}

// limit is the first block that 32-bit tags do not hold.
func (l *rows) limit() uint64 {
	high, low := bits.Mul64(math.MaxUint32/2, l.sets)
	if high != 0 {
		return math.MaxUint64
	}
	return low
}

// widen makes the tags 64 bits wide.
func (l *rows) widen() {
	if l.wide != nil {
		return
	}
	wide := make([]uint64, 0, int(l.sets)*l.ways)
	for set := range int(l.sets) {
		wide = append(wide, l.held(set)...)
	}
	l.wide = wide
	l.tags, l.lists = nil, nil
}

// row is a set of tags that are in rows.
func (l *rows) row(set int) []uint32 { return l.tags[set*l.pitch/4:][:l.ways] }

// held are the tags of a set, the most recently used first, 0 for each way that is empty.
func (l *rows) held(set int) (all []uint64) {
	switch {
	case l.wide != nil:
		return l.wide[set*l.ways:][:l.ways]
	case l.lists != nil:
		return l.lists.tags(set)
	}
	for _, tag := range l.row(set) {
		all = append(all, uint64(tag))
	}
	return all
}

// place is the set of a block and its clean tag.
func (l *rows) place(block uint64) (set int, tag uint64) {
	if l.modulo {
		return int(block % l.sets), (block/l.sets + 1) << 1
	}
	return int(block & l.mask), (block>>l.bits + 1) << 1
}

// touch looks up one block, makes it the most recently used of its set, dirty
// if it is written, and reports whether it was absent (Cachegrind's cg_sim.c,
// cachesim_setref_is_miss).
func (l *rows) touch(block, write uint64) (missed bool, v victim) {
	set, tag := l.place(block)
	var gone uint64
	var narrow uint32
	switch {
	case l.wide != nil:
		missed, gone = moveToFront(l.wide[set*l.ways:][:l.ways], tag|write)
	case l.lists != nil:
		missed, narrow = l.lists.touch(set, uint32(tag|write))
	default:
		missed, narrow = moveToFront(l.row(set), uint32(tag|write))
	}
	if gone |= uint64(narrow); gone != 0 {
		v = victim{l.block(gone, set), true, gone&1 != 0}
	}
	return missed, v
}

// A victim is a block that had to go, if one had.
type victim struct {
	block     uint64
	is, dirty bool
}

// moveToFront makes tag the first of a row, dirty if it was or is, and returns
// what fell out of the row's end.
func moveToFront[T uint32 | uint64](row []T, tag T) (missed bool, gone T) {
	moved := row[0]
	if moved|1 == tag|1 {
		row[0] |= tag & 1
		return false, 0
	}
	row[0] = tag
	for i := 1; i < len(row); i++ {
		moved, row[i] = row[i], moved
		if moved|1 == tag|1 {
			row[0] |= moved & 1
			return false, 0
		}
	}
	return true, moved
}

// filterGo looks refs up, in order, and writes to out what goes on to the next
// level: for a miss the reference, now a read, unless it is a write-back, which
// brings its line along; then the write-back of a dirty block that had to go.
// It returns how many; out has room for two for each of refs.
func (l *rows) filterGo(refs, out []uint64) int {
	n := 0
	for _, ref := range refs {
		set, tag := l.place(ref >> l.down)
		var missed bool
		var gone uint32
		if key := uint32(tag | ref&writes); l.lists != nil {
			missed, gone = l.lists.touch(set, key)
		} else {
			missed, gone = moveToFront(l.row(set), key)
		}
		if missed && ref&writeBack == 0 {
			out[n] = ref &^ writes
			n++
		}
		if gone&1 != 0 {
			out[n] = l.evicted(uint64(gone), set, ref)
			n++
		}
	}
	return n
}

// evicted is what goes on to the next level of a dirty tag that a reference drove out of a set.
func (l *rows) evicted(tag uint64, set int, ref uint64) uint64 {
	return l.block(tag, set)<<l.down | ref&ops | writeBack | writes
}

// block is that of a tag in a set.
func (l *rows) block(tag uint64, set int) uint64 { return (tag>>1-1)*l.sets + uint64(set) }

// blocks appends the blocks of a set to list, the most recently used first.
func (l *rows) blocks(list []uint64, set int) []uint64 {
	for _, tag := range l.held(set) {
		if tag == 0 {
			break
		}
		list = append(list, l.block(tag, set))
	}
	return list
}

// load fills a set with blocks, the most recently used first, unless a tag is
// too wide.
func (l *rows) load(set int, blocks []uint64) bool {
	if l.lists != nil {
		l.lists.empty(set)
		for _, block := range slices.Backward(blocks) {
			if block >= l.limit() {
				return false
			}
			_, tag := l.place(block)
			l.lists.touch(set, uint32(tag))
		}
		return true
	}
	for way := range l.ways {
		var tag uint64
		if way < len(blocks) {
			if _, tag = l.place(blocks[way]); l.wide == nil && blocks[way] >= l.limit() {
				return false
			}
		}
		if l.wide != nil {
			l.wide[set*l.ways+way] = tag
		} else {
			l.row(set)[way] = uint32(tag)
		}
	}
	return true
}
