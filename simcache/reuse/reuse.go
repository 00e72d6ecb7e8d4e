// Package reuse finds the misses of LRU caches of every capacity at once, in one
// pass over a sequence of accesses: the miss-ratio curve.
//
// The stack distance of a look-up of a line is the line's place in the LRU stack,
// counted from 1 at the top. It is the number of distinct lines touched since the
// line's last touch, including the line itself. LRU keeps the C topmost lines of
// the stack, so a cache of C lines misses exactly the look-ups with a distance
// above C. The histogram of distances therefore gives the misses of all
// capacities (R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger,
// "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2),
// 1970). With one stack per set, the same holds for each associativity of a cache
// with that many sets (the same paper; M. D. Hill and A. J. Smith, "Evaluating
// associativity in CPU caches", IEEE Transactions on Computers 38(12), 1989).
//
// No stack is searched. A bitmap over time has a bit set wherever a line was last
// touched, so a distance is the number of bits set since the line's last touch.
// The partial sums are those of B. T. Bennett and V. J. Kruskal ("LRU stack
// processing", IBM Journal of Research and Development 19(4), 1975). Times are
// renumbered when they run out, as by F. Olken ("Efficient methods for
// calculating the success function of fixed space replacement policies",
// LBL-12370, 1981). The bit vector is as by G. Almási, C. Caşcaval and D. A. Padua
// ("Calculating stack distances efficiently", Workshop on Memory System
// Performance, 2002).
package reuse

import (
	"fmt"
	"math/bits"

	"github.com/stridebench/stridebench/layouts/nest"
)

// maxSets bounds the set count: each set costs some hundred bytes. The last
// levels of real machines have well below a quarter of it.
const maxSets = 1 << 20

// Stacks are the LRU stacks of a cache, one a set, that start empty. They take
// some 20 B for each line of a dense working set, and ten times that for each
// of a sparse one, however long the sequence. They are not safe for concurrent
// use; use one per goroutine.
type Stacks struct {
	stacks []stack
	line   int
	shift  uint // log2 of the line size
	sets   uint64
	// mask and setBits replace the division by the set count where that is a
	// power of two.
	powerOfTwo bool
	mask       uint64
	setBits    uint
	streams    int // that every stack has a finger for
	queue      []touch
	queued     int
	counts     histogram
	most       int   // pages of lines that there is room for; 0 for any
	flushes    int   // since it was asked whether there is
	full       error // there is no more, and nothing is counted
}

// New returns empty stacks for lines of so many bytes, a power of two, and so
// many sets, 1 for fully associative caches. A line belongs to the set that
// its number modulo the set count tells.
func New(line, sets int) (*Stacks, error) {
	switch {
	case line <= 0 || line&(line-1) != 0:
		return nil, fmt.Errorf("line size %d is not a power of two", line)
	case sets < 1 || sets > maxSets:
		return nil, fmt.Errorf("set count %d is not in 1 to %d", sets, maxSets)
	}
	s := &Stacks{
		stacks:     make([]stack, sets),
		line:       line,
		shift:      uint(bits.TrailingZeros(uint(line))),
		sets:       uint64(sets),
		powerOfTwo: sets&(sets-1) == 0,
		mask:       uint64(sets - 1),
		setBits:    uint(bits.TrailingZeros(uint(sets))),
	}
	s.reserve(1)
	return s, nil
}

// Access counts one access of size bytes, at least 1, at addr. Reads
// and writes count alike, as in a cache that allocates on writes; a modify is
// one reference.
//
// An access that crosses lines looks up all of them, the lowest first, and is one
// reference, as in Cachegrind: it misses where any look-up does, so its distance is
// the largest. The second is found after the first line has moved to the top; within
// one set it is never below 2, since a cache of one line cannot hold both.
func (s *Stacks) Access(_ nest.Kind, addr uint64, size int) {
	s.push(addr, uint64(size), 0, 1)
}

// A touch is one look-up of a line by an access, which is one of a stream's.
type touch struct {
	// its line; once that is found, the place of its time; once measured, its distance
	value  uint64
	refs   uint64 // references that it ends; 0 for a reference's lines before the last
	stream int
}

// push queues the touches of refs equal references.
func (s *Stacks) push(addr, size uint64, stream int, refs uint64) {
	first, last := addr>>(s.shift&63), (addr+size-1)>>(s.shift&63)
	for ; first != last; first++ {
		s.add(touch{first, 0, stream})
	}
	s.add(touch{last, refs, stream})
}

// add queues a touch.
func (s *Stacks) add(t touch) {
	if s.queued == len(s.queue) {
		s.flush()
	}
	s.queue[s.queued] = t
	s.queued++
}

// checkedFlushes is after how many flushes it is asked whether there is room: a million touches
// take less than half a GiB.
const checkedFlushes = 1 << 12

// flush carries out the queued touches and counts them.
func (s *Stacks) flush() {
	touches := s.queue[:s.queued]
	if s.queued = 0; s.full != nil {
		return
	}
	if s.flushes++; s.most > 0 && s.flushes%checkedFlushes == 0 {
		s.checkRoom()
	}
	if len(s.stacks) == 1 {
		s.stacks[0].touch(touches)
	} else {
		for i := range touches {
			s.set(&touches[i]).touch(touches[i : i+1])
		}
	}
	for i := range touches {
		t := &touches[i]
		s.counts.add(t.value, t.refs)
	}
}

// set returns the set of a touch and leaves it the line's number there.
func (s *Stacks) set(t *touch) *stack {
	line := t.value
	if s.powerOfTwo {
		t.value = line >> (s.setBits & 63)
		return &s.stacks[line&s.mask]
	}
	t.value = line / s.sets
	return &s.stacks[line%s.sets]
}

// reserve gives every stack fingers for so many streams.
func (s *Stacks) reserve(streams int) {
	if streams <= s.streams {
		return
	}
	s.streams = streams
	s.flush()
	s.queue = make([]touch, max(256, 2*streams))
	all := make([]finger, streams*len(s.stacks))
	for i := range s.stacks {
		s.stacks[i].fingers, all = all[:streams:streams], all[streams:]
	}
}

// Curve returns what has been counted so far.
func (s *Stacks) Curve() Curve {
	s.flush()
	c := s.counts.curve()
	for i := range s.stacks {
		c.Lines += s.stacks[i].live
	}
	return c
}
