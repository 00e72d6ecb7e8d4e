package lookup

import "math/bits"

// lists are the rows of an LRU cache of many ways: each is a ring in the order of use, and what
// it holds is found by hash, so that a look-up takes no longer where there are more ways. All
// of a set's is its own, so that cores may share the sets out.
type lists struct {
	ways    int
	nodes   []node   // by set and way
	first   []uint32 // by set: the node used most recently, which the others follow in order
	buckets []uint32 // by set and hash of a tag: the first node of the bucket, or nothing
	hashed  uint     // log2 of the buckets of a set
}

// A node is a way. Nodes are numbered through all sets.
type node struct {
	tag           uint32 // 0 if it is empty, which the last ones of a set's order are
	after, before uint32 // in the ring
	next          uint32 // in the bucket, or nothing
}

// nothing is no node: there are fewer.
const nothing = ^uint32(0)

// fromWays is how many ways a cache has at least that is worth lists: of 96 ways, 3 MiB of
// lines, they took twice as long as rows, of 224 half as long.
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

// empty makes all ways of a set empty.
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

// bucket is that of a tag, dirty or not.
func (l *lists) bucket(set int, tag uint32) *uint32 {
	const golden = 0x9e3779b9 // Knuth, The Art of Computer Programming, 6.4: multiplicative hashing
	return &l.buckets[set<<l.hashed|int((tag|1)*golden>>(32-l.hashed))]
}

// touch is moveToFront.
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

// advance makes a node that is not the first the first of its set.
func (l *lists) advance(set int, first, i uint32) {
	l.first[set] = i
	f, n := &l.nodes[first], &l.nodes[i]
	last := f.before
	if last == i { // the ring is turned
		return
	}
	l.nodes[n.before].after, l.nodes[n.after].before = n.after, n.before
	n.before, n.after = last, first
	l.nodes[last].after, f.before = i, i
}

// tags are those of a set in the order of use, 0 for each way that is empty.
func (l *lists) tags(set int) (all []uint64) {
	i := l.first[set]
	for range l.ways {
		all = append(all, uint64(l.nodes[i].tag))
		i = l.nodes[i].after
	}
	return all
}
