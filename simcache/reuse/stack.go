package reuse

import (
	"math/bits"

	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// cold is the distance of a first touch.
const cold = ^uint64(0)

const (
	leastTimes = 1 << 12 // of a bitmap
	slack      = 8       // times for each line after a renumbering, so that it is rare
	nearWords  = 32      // a finger walks this far; beyond, the sums are faster
)

// A stack is the LRU stack of one set. Bit t of words is set if the line touched at time t has not
// been touched since. Time 0 means never. Future bits are set in advance; no sum below a past time
// counts them.
type stack struct {
	lines   lines.Map // time of each line's last touch, 0 if none
	words   []uint64
	groups  []uint32 // bits set in each 64 words
	supers  []uint32 // bits set in each 64 groups
	now     uint64   // the next time; at the bitmap's end all are renumbered
	live    uint64   // lines touched so far, which equals the past bits set
	top     uint64   // place in lines of the last touched line, of time now-1
	fingers []finger // one for each stream
	least   uint64   // times of the first bitmap, a power of two; 0 means leastTimes
}

// A finger keeps the last place that a stream reused. An affine stream finds its next place a few
// bits away.
type finger struct {
	word  uint64 // of the bitmap
	below uint64 // bits set in the words below it
	page  uint64 // page of the line last touched, as in lines.Map; 0 for none
	index int    // of that page
}

// touch moves lines to the top in order, and replaces them by their former places, from 1, or cold.
// It searches for all before it measures any, so that searches overlap.
func (s *stack) touch(touches []touch) {
	for i := range touches {
		t := &touches[i]
		f := &s.fingers[t.stream]
		if page := t.value/lines.Page + 1; page != f.page {
			f.page = page
			f.index = s.lines.From(f.index, page)
		}
		t.value = uint64(f.index)*lines.Page + t.value%lines.Page
	}
	for len(touches) > 0 {
		left := uint64(len(s.words))*64 - s.now
		if left == 0 {
			s.renumber()
			continue
		}
		n := min(uint64(len(touches)), left)
		s.measure(touches[:n])
		touches = touches[n:]
	}
}

// measure is touch for lines already found, at most the times left. Local copies avoid loads.
func (s *stack) measure(touches []touch) {
	words, groups, supers, fingers := s.words, s.groups, s.supers, s.fingers
	times, now, live, top := s.lines.Numbers, s.now, s.live, s.top
	for i := range touches {
		touched := &touches[i]
		below := top
		top = touched.value
		last := &times[top]
		t := *last
		switch t {
		case 0:
			*last = now
			now++
			live++
			touched.value = cold
			continue
		case now - 1: // on top, where it stays
			touched.value = 1
			continue
		case now - 2: // the second, which swaps with the top
			*last = now - 1
			times[below] = now - 2
			touched.value = 2
			continue
		}
		*last = now
		now++
		word, bit := t/64, uint64(1)<<(t%64)
		f := &fingers[touched.stream]
		if word != f.word {
			s.move(f, word)
		}
		bitmap := words[word]
		words[word] = bitmap &^ bit
		groups[word>>6]--
		supers[word>>12]--
		touched.value = live - f.below - uint64(bits.OnesCount64(bitmap&(bit-1)))
		for i := range fingers {
			if g := &fingers[i]; word < g.word {
				g.below--
			}
		}
	}
	s.now, s.live, s.top = now, live, top
}

func (s *stack) move(f *finger, word uint64) {
	if word-f.word+nearWords > 2*nearWords {
		f.word, f.below = word, s.below(word)
		return
	}
	for ; f.word < word; f.word++ {
		f.below += uint64(bits.OnesCount64(s.words[f.word]))
	}
	for f.word > word {
		f.word--
		f.below -= uint64(bits.OnesCount64(s.words[f.word]))
	}
}

func (s *stack) below(word uint64) (n uint64) {
	for _, c := range s.supers[:word>>12] {
		n += uint64(c)
	}
	for _, c := range s.groups[word>>12<<6 : word>>6] {
		n += uint64(c)
	}
	for _, w := range s.words[word>>6<<6 : word] {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}

// renumber gives the lines times 1, 2, ... in order of last touch, and room for slack times as
// many.
func (s *stack) renumber() {
	rank := make([]uint64, len(s.words)) // bits set below each word, plus one
	next := uint64(1)
	for i, w := range s.words {
		rank[i] = next
		next += uint64(bits.OnesCount64(w))
	}
	for i, t := range s.lines.Numbers {
		if t != 0 {
			s.lines.Numbers[i] = rank[t/64] + uint64(bits.OnesCount64(s.words[t/64]&(1<<(t%64)-1)))
		}
	}
	if s.least == 0 {
		s.least = leastTimes
	}
	times := max(s.least, uint64(len(s.words))*64, 1<<bits.Len64(slack*s.live))
	s.words = filled(times/64, ^uint64(0))
	s.groups = filled((times+1<<12-1)>>12, uint32(1<<12))
	s.supers = filled((times+1<<18-1)>>18, uint32(1<<18))
	s.words[0]-- // time 0
	s.groups[0]--
	s.supers[0]--
	s.now = s.live + 1
	for i := range s.fingers {
		s.fingers[i].word, s.fingers[i].below = 0, 0
	}
}

func filled[T any](n uint64, value T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = value
	}
	return all
}
