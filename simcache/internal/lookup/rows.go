package lookup

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A reference on its way through a chain is packed into a word: from bit 14 its grain, the address
// in units of the chain's smallest line; in bits 2 to 13 its operand; and two flags.
const (
	// makes the line dirty: at the first level, or for a write-back
	writes    = 1 << 0
	writeBack = 1 << 1                 // a dirty line from the level before, not a miss
	opBit     = 2                      // bit of the operand's number
	opCount   = 1 << 12                // limit of operands; blocked copies have thousands
	grains    = 14                     // bit of the grain
	ops       = (opCount - 1) << opBit // bits of the operand's number
)

// rows are one LRU cache: for each set a row of tags, the most recently used first. A tag is twice
// the block's number within its set, plus two: zero is empty, and the lowest bit means dirty.
//
// Tags have 32 bits until a block needs more; then all become 64.
type rows struct {
	tags    []uint32 // nil once wide, and with lists
	wide    []uint64
	lists   *lists // the tags of many ways, until they are wide
	ways    int
	pitch   int // bytes between rows of tags
	sets    uint64
	mask    uint64 // sets - 1
	bits    uint   // log2(sets)
	modulo  bool   // the set count is not a power of two: mask and bits are unused
	shift   uint   // log2 of the line size
	down    uint   // right shift from a packed reference to a block
	vectors bool   // use filterAVX2
	far     bool   // for filterAVX2: too large for a first-level cache
	last    uint32 // for filterAVX2, in a row of two vectors: bit of the last way
	zero    bool   // all ways start with block 0
}

const (
	lanes       = 8 // tags in a vector
	leastVector = 4 // least ways of a row that is looked up by vectors
)

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

// reset restores the initial tags.
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

func (l *rows) limit() uint64 {
	high, low := bits.Mul64(math.MaxUint32/2, l.sets)
	if high != 0 {
		return math.MaxUint64
	}
	return low
}

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

func (l *rows) row(set int) []uint32 { return l.tags[set*l.pitch/4:][:l.ways] }

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

func (l *rows) place(block uint64) (set int, tag uint64) {
	if l.modulo {
		return int(block % l.sets), (block/l.sets + 1) << 1
	}
	return int(block & l.mask), (block>>l.bits + 1) << 1
}

// touch moves a block to the front of its set, dirty if written, and reports whether it was absent
// (Cachegrind's cg_sim.c, cachesim_setref_is_miss).
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

type victim struct {
	block     uint64
	is, dirty bool
}

// moveToFront moves tag to the front of a row and returns the tag that fell out.
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

// filterGo looks refs up in order and writes to out what goes to the next level, at most two for
// each. A miss passes on as a read; a write-back that misses does not, since it brings its line
// along. Then follows the write-back of an evicted dirty block.
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

func (l *rows) evicted(tag uint64, set int, ref uint64) uint64 {
	return l.block(tag, set)<<l.down | ref&ops | writeBack | writes
}

func (l *rows) block(tag uint64, set int) uint64 { return (tag>>1-1)*l.sets + uint64(set) }

func (l *rows) blocks(list []uint64, set int) []uint64 {
	for _, tag := range l.held(set) {
		if tag == 0 {
			break
		}
		list = append(list, l.block(tag, set))
	}
	return list
}

// load returns false if a tag is too wide.
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
