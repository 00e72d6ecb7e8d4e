package simcache

import (
	"fmt"
	"math/bits"
)

// A Kind says what an access does.
type Kind uint8

// The kinds of access. A modify counts as one read, as in Cachegrind.
const (
	Read Kind = iota
	Write
	Modify
)

// String is "read", "write" or "modify".
func (k Kind) String() string { return [...]string{"read", "write", "modify"}[k] }

// Counts are the events of instruction and data references, under Cachegrind's
// names.
type Counts struct {
	Ir   uint64 `json:",omitzero"` // instructions fetched
	I1mr uint64 `json:",omitzero"` // fetches that missed in I1
	ILmr uint64 `json:",omitzero"` // fetches that missed in the last level too
	Dr   uint64 // reads
	D1mr uint64 // reads that missed in D1
	DLmr uint64 // reads that missed in the last level too
	Dw   uint64 // writes
	D1mw uint64 // writes that missed in D1
	DLmw uint64 // writes that missed in the last level too
}

// Refs is the number of data references, reads and writes.
func (c Counts) Refs() uint64 { return c.Dr + c.Dw }

// D1Misses is the number of data references that missed in D1.
func (c Counts) D1Misses() uint64 { return c.D1mr + c.D1mw }

// LLMisses is the number of data references that missed in the last level.
func (c Counts) LLMisses() uint64 { return c.DLmr + c.DLmw }

// Sub returns c less b, event by event: what happened since b was read.
func (c Counts) Sub(b Counts) Counts {
	return Counts{c.Ir - b.Ir, c.I1mr - b.I1mr, c.ILmr - b.ILmr,
		c.Dr - b.Dr, c.D1mr - b.D1mr, c.DLmr - b.DLmr, c.Dw - b.Dw, c.D1mw - b.D1mw, c.DLmw - b.DLmw}
}

// Add returns the sum of c and b, event by event.
func (c Counts) Add(b Counts) Counts {
	return Counts{c.Ir + b.Ir, c.I1mr + b.I1mr, c.ILmr + b.ILmr,
		c.Dr + b.Dr, c.D1mr + b.D1mr, c.DLmr + b.DLmr, c.Dw + b.Dw, c.D1mw + b.D1mw, c.DLmw + b.DLmw}
}

// A Config says what is simulated.
type Config struct {
	I1 Geometry // the zero Geometry for no instruction cache: then nothing may be fetched
	D1 Geometry
	LL Geometry // unified: it sees the misses of I1 and D1
	// ZeroTags is a quirk of Cachegrind, on for equality with it: it has no
	// valid bits and its tags start as 0, so that block 0 hits in a cold cache.
	ZeroTags bool
	// Brute looks up every access of every nest, where otherwise some are
	// proved to hit or miss like others.
	Brute bool
}

// A Hierarchy is first-level caches and a last level that start cold. It is
// not safe for concurrent use; use one per goroutine.
type Hierarchy struct {
	i1, d1, ll level
	fetches    tally
	reads      tally
	writes     tally
	exact      exactRun
}

// A tally counts the references of one kind and their misses.
type tally struct{ refs, first, ll uint64 }

func (t *tally) add(u *tally) {
	t.refs += u.refs
	t.first += u.first
	t.ll += u.ll
}

// counts is the tally of references of a kind.
func (t tally) counts(kind Kind) Counts {
	if kind == Write {
		return Counts{Dw: t.refs, D1mw: t.first, DLmw: t.ll}
	}
	return Counts{Dr: t.refs, D1mr: t.first, DLmr: t.ll}
}

// NewHierarchy returns an empty hierarchy. It refuses a geometry that does not
// pass Check.
func NewHierarchy(c Config) (*Hierarchy, error) {
	h := &Hierarchy{}
	for _, n := range []struct {
		name     string
		geometry Geometry
		level    *level
	}{{"I1", c.I1, &h.i1}, {"D1", c.D1, &h.d1}, {"LL", c.LL, &h.ll}} {
		if n.level == &h.i1 && c.I1 == (Geometry{}) {
			continue
		}
		if err := n.geometry.Check(); err != nil {
			return nil, fmt.Errorf("%s %s: %w", n.name, n.geometry, err)
		}
		*n.level = newLevel(n.geometry, c.ZeroTags)
	}
	h.exact = newExactRun(c)
	return h, nil
}

// Counts returns what has been counted so far.
func (h *Hierarchy) Counts() Counts {
	return Counts{h.fetches.refs, h.fetches.first, h.fetches.ll,
		h.reads.refs, h.reads.first, h.reads.ll, h.writes.refs, h.writes.first, h.writes.ll}
}

// Access simulates one access of size bytes at addr. The size is at least 1
// and at most the smaller of the line sizes.
func (h *Hierarchy) Access(kind Kind, addr uint64, size int) {
	if h.exact.state != here {
		h.fetchBack()
	}
	h.access(h.tally(kind), addr, uint64(size))
}

// Fetch simulates the fetch of one instruction of size bytes at addr; the
// hierarchy must have an I1. In Cachegrind an instruction's fetch comes before
// its data references.
func (h *Hierarchy) Fetch(addr uint64, size int) {
	if h.exact.state != here {
		h.fetchBack()
	}
	h.fetches.refs++
	if h.i1.missRef(addr, uint64(size)) {
		h.fetches.first++
		if h.ll.missRef(addr, uint64(size)) {
			h.fetches.ll++
		}
	}
}

func (h *Hierarchy) tally(kind Kind) *tally {
	if kind == Write {
		return &h.writes
	}
	return &h.reads
}

// access looks the reference up in D1 and, if it missed there, with the same
// address and size in LL. No inclusion is enforced: neither level ever learns
// what the other one evicts.
func (h *Hierarchy) access(t *tally, addr, size uint64) (missed bool) {
	t.refs++
	if !h.d1.missRef(addr, size) {
		return false
	}
	t.first++
	if h.ll.missRef(addr, size) {
		t.ll++
	}
	return true
}

// A level is one LRU cache. Each set is a row of tags, the most recently used
// first; a tag is the block number plus one, so that zero is an empty way.
type level struct {
	tags  []uint64
	ways  uint64
	mask  uint64 // sets - 1
	shift uint   // log2 of the line size
	line  uint64
}

func newLevel(g Geometry, zeroTags bool) level {
	tags := make([]uint64, g.Sets()*g.Ways)
	if zeroTags {
		for i := range tags {
			tags[i] = 1 // that of block 0
		}
	}
	return level{
		tags:  tags,
		ways:  uint64(g.Ways),
		mask:  uint64(g.Sets() - 1),
		shift: uint(bits.TrailingZeros(uint(g.Line))),
		line:  uint64(g.Line),
	}
}

// missRef looks up the line of a reference, or both lines, the lower one
// first, of a reference that crosses from one into the next; that counts as
// one miss at most (cg_sim.c, cachesim_ref_is_miss).
func (l *level) missRef(addr, size uint64) bool {
	first, last := addr>>l.shift, (addr+size-1)>>l.shift
	missed := l.miss(first)
	if last != first && l.miss(last) {
		missed = true
	}
	return missed
}

// miss looks up one block, makes it the most recently used of its set, and
// reports whether it was absent (cg_sim.c, cachesim_setref_is_miss).
func (l *level) miss(block uint64) bool {
	set := l.tags[(block&l.mask)*l.ways:][:l.ways]
	tag := block + 1
	moved := set[0]
	if moved == tag {
		return false
	}
	set[0] = tag
	for i := 1; i < len(set); i++ {
		moved, set[i] = set[i], moved
		if moved == tag {
			return false
		}
	}
	return true
}
