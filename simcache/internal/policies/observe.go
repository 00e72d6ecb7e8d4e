package policies

import "github.com/stridebench/stridebench/simcache/internal/lines"

// A class is why a line is absent.
type class int

const (
	noClass class = iota - 1
	compulsory
	capacity
	conflict
)

// A shadow is a fully associative LRU cache, with the memory of all lines that
// it ever held: those that a cache without end holds.
type shadow struct {
	size   int
	places lines.Map      // of a block: 0 unless it was ever here, left, or its node
	along  []lines.Finger // by operand
	nodes  []node         // nodes 0 and 1 are the ends of the list, the most recent after 0
}

type node struct {
	place      int // of its block, in places
	prev, next uint32
}

// left is the place of a block that is not here any more.
const left = 1

func newShadow(lines int) *shadow {
	return &shadow{size: lines, nodes: append(make([]node, 0, lines+2), node{next: 1}, node{prev: 0})}
}

// touch looks a block up and tells why it would be absent from a cache with
// sets: conflict, if it is here. It comes in if it may; a block that may not
// was not here for having been asked for.
func (s *shadow) touch(op int, block uint64, allocate bool) class {
	place := s.places.Along(fingerOf(&s.along, op), block)
	at := uint32(s.places.Numbers[place])
	if at > left {
		s.unlink(at)
		s.link(at)
		return conflict
	}
	if allocate {
		fresh := s.room()
		s.places.Numbers[place] = uint64(fresh)
		s.nodes[fresh].place = place
		s.link(fresh)
	}
	if at == left {
		return capacity
	}
	return compulsory
}

// fingerOf is that of an operand.
func fingerOf(all *[]lines.Finger, op int) *lines.Finger {
	for op >= len(*all) {
		*all = append(*all, lines.Finger{})
	}
	return &(*all)[op]
}

// room is a free node, of the least recent block if there is no other.
func (s *shadow) room() uint32 {
	if len(s.nodes) < s.size+2 {
		s.nodes = append(s.nodes, node{})
		return uint32(len(s.nodes) - 1)
	}
	last := s.nodes[1].prev
	s.unlink(last)
	s.places.Numbers[s.nodes[last].place] = left
	return last
}

func (s *shadow) unlink(at uint32) {
	n := s.nodes[at]
	s.nodes[n.prev].next, s.nodes[n.next].prev = n.next, n.prev
}

// link makes a node the most recent.
func (s *shadow) link(at uint32) {
	first := s.nodes[0].next
	s.nodes[at].prev, s.nodes[at].next = 0, first
	s.nodes[first].prev, s.nodes[0].next = at, at
}
