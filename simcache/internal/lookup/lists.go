package lookup

import "math/bits"

// lists are the rows of an LRU cache with many ways. Each set is a ring in order of use, with its
// tags found by hash. So a lookup takes equally long for any number of ways. Sets share nothing, so
// that cores may divide them.
type lists struct {
	ways    int
	nodes   []node   // by set and way
	first   []uint32 // by set: the most recently used node, followed by the others in order
	buckets []uint32 // by set and hash of a tag: first node of the bucket, or nothing
	hashed  uint     // log2 of the buckets in a set
}

// A node is a way, numbered across all sets.
type node struct {
	tag           uint32 // 0 if empty; empty nodes are last in the set's order
	after, before uint32 // in the ring
	next          uint32 // next node in the bucket, or nothing
}

// nothing is larger than any node's number.
const nothing = ^uint32(0)

// fromWays is where lists pay. With 3 MiB of lines they took twice the time of rows at 96 ways, and
// half of it at 224.
const fromWays = 192

func newLists(sets, ways int) *lists {
	l := &lists{ways: ways, hashed: uint(bits.Len(uint(ways - 1)))}
	l.nodes = make([]node, sets*ways)
	l.first = make([]uint32, sets)
	l.buckets = make([]uint32, sets<<l.hashed)
	for set := range sets {
		l.empty(set)
	}
	return l
}

func (l *lists) empty(set int) {
	buckets := l.buckets[set<<l.hashed:][:1<<l.hashed]
	for i := range buckets {
		buckets[i] = nothing
	}
	from, to := set*l.ways, (set+1)*l.ways
	l.first[set] = uint32(from)
	for i := from; i < to; i++ {
		l.nodes[i] = node{after: uint32(i + 1), before: uint32(i - 1), next: nothing}
	}
	l.nodes[from].before, l.nodes[to-1].after = uint32(to-1), uint32(from)
}

func (l *lists) bucket(set int, tag uint32) *uint32 {
	const golden = 0x9e3779b9 // Knuth, The Art of Computer Programming, 6.4: multiplicative hashing
	return &l.buckets[set<<l.hashed|int((tag|1)*golden>>(32-l.hashed))]
}

// touch does what moveToFront does.
func (l *lists) touch(set int, tag uint32) (missed bool, gone uint32) {
	first := l.first[set]
	if n := &l.nodes[first]; n.tag|1 == tag|1 {
		n.tag |= tag & 1
		return false, 0
	}
	bucket := l.bucket(set, tag)
	for i := *bucket; i != nothing; {
		n := &l.nodes[i]
		if n.tag|1 == tag|1 {
			n.tag |= tag & 1
			l.advance(set, first, i)
			return false, 0
		}
		i = n.next
	}
	last := l.nodes[first].before
	n := &l.nodes[last]
	if gone = n.tag; gone != 0 {
		at := l.bucket(set, gone)
		for *at != last {
			at = &l.nodes[*at].next
		}
		*at = n.next
	}
	n.tag, n.next = tag, *bucket
	*bucket = last
	l.first[set] = last
	return true, gone
}

// advance moves a later node to the front of its set.
func (l *lists) advance(set int, first, i uint32) {
	l.first[set] = i
	f, n := &l.nodes[first], &l.nodes[i]
	last := f.before
	if last == i { // the last node: the ring only rotates
		return
	}
	l.nodes[n.before].after, l.nodes[n.after].before = n.after, n.before
	n.before, n.after = last, first
	l.nodes[last].after, f.before = i, i
}

func (l *lists) tags(set int) (all []uint64) {
	i := l.first[set]
	for range l.ways {
		all = append(all, uint64(l.nodes[i].tag))
		i = l.nodes[i].after
	}
	return all
}
