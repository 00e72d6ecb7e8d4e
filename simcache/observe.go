package simcache

// A class is why a line is absent.
type class int

const (
	noClass class = iota - 1
	compulsory
	capacity
	conflict
)

// A shadow is a fully associative LRU cache, with the memory of all lines that
// ever came.
type shadow struct {
	size   int
	places map[uint64]int32 // node of a block; or left
	nodes  []node           // node 0 is the ring's start: next is the most recent
}

type node struct {
	block      uint64
	prev, next int32
}

// left is the place of a block that is not here any more.
const left = -1

func newShadow(lines int) *shadow {
	return &shadow{size: lines, places: map[uint64]int32{}, nodes: make([]node, 1, lines+1)}
}

// touch looks a block up and tells why it would be absent from a cache with
// sets: conflict, if it is here. It comes in if it may.
func (s *shadow) touch(block uint64, allocate bool) class {
	at, seen := s.places[block]
	if seen && at != left {
		s.unlink(at)
		s.link(at)
		return conflict
	}
	s.places[block] = left
	if allocate {
		at = s.room()
		s.nodes[at].block = block
		s.places[block] = at
		s.link(at)
	}
	if seen {
		return capacity
	}
	return compulsory
}

// room is a free node, of the least recent block if there is no other.
func (s *shadow) room() int32 {
	if len(s.nodes) <= s.size {
		s.nodes = append(s.nodes, node{})
		return int32(len(s.nodes) - 1)
	}
	last := s.nodes[0].prev
	s.unlink(last)
	s.places[s.nodes[last].block] = left
	return last
}

func (s *shadow) unlink(at int32) {
	n := s.nodes[at]
	s.nodes[n.prev].next, s.nodes[n.next].prev = n.next, n.prev
}

func (s *shadow) link(at int32) {
	first := s.nodes[0].next
	s.nodes[at].prev, s.nodes[at].next = 0, first
	s.nodes[first].prev, s.nodes[0].next = at, at
}
