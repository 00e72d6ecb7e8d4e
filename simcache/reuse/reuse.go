// Package reuse finds the misses of LRU caches of every capacity in one pass over a sequence of
// accesses: the miss-ratio curve.
//
// The stack distance, or reuse distance, of a lookup is the line's place in the LRU stack, counted
// from 1 at the top. It is the number of distinct lines touched since the line's last touch,
// including the line. LRU keeps the C topmost lines of the stack, so a cache of C lines misses
// exactly the lookups with a distance above C. The histogram of distances therefore gives the
// misses of all capacities (R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger, "Evaluation
// techniques for storage hierarchies", IBM Systems Journal 9(2), 1970). With one stack per set, the
// same holds for each associativity of a cache with that many sets (the same paper; M. D. Hill and
// A. J. Smith, "Evaluating associativity in CPU caches", IEEE Transactions on Computers 38(12),
// 1989).
//
// No stack is searched. A bitmap over time has a bit for each line's last touch, so a distance is
// the number of bits set since then. The partial sums are those of B. T. Bennett and V. J. Kruskal
// ("LRU stack processing", IBM Journal of Research and Development 19(4), 1975). Times are
// renumbered when they run out (F. Olken, "Efficient methods for calculating the success function
// of fixed space replacement policies", LBL-12370, 1981). The bit vector follows G. Almási, C.
// Caşcaval and D. A. Padua ("Calculating stack distances efficiently", Workshop on Memory System
// Performance, 2002).
package reuse

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// maxSets limits memory: some hundred bytes for each set. Real last levels have well below a
// quarter of it.
const maxSets = 1 << 20

// mostMemory limits the memory in bytes, and pageBytes is what a page of lines takes, both
// approximately.
const (
	mostMemory = 4 << 30
	pageBytes  = 480
)

// stacks are the LRU stacks of a cache, one for each set.
type stacks struct {
	stacks  []stack
	line    int
	shift   uint // log2 of the line size
	streams int  // for which every stack has a finger
	queue   []touch
	queued  int
	counts  histogram
	most    int   // limit of pages of lines
	flushes int   // since the last check of the limit
	full    error // the limit is exceeded, and nothing is counted
}

// makeStacks returns empty stacks for lines of line bytes, a power of two.
func makeStacks(line, sets int) (*stacks, error) {
	switch {
	case line <= 0 || line&(line-1) != 0:
		return nil, fmt.Errorf("line size %d is not a power of two", line)
	case sets < 1 || sets > maxSets:
		return nil, fmt.Errorf("set count %d is not in 1 to %d", sets, maxSets)
	}
	s := &stacks{stacks: make([]stack, sets), line: line,
		shift: uint(bits.TrailingZeros(uint(line))), most: mostMemory / pageBytes}
	s.reserve(1)
	return s, nil
}

// passes counts passes over a program, or returns the error of simcache.Config.CheckPasses.
//
// After a pass its lines are on top of the stacks, in order of last touch. So every later pass
// counts like the second: two are walked.
func (s *stacks) passes(passes int, p nest.Program) error {
	if err := (simcache.Config{}).CheckPasses(passes, p); err != nil {
		return err
	}
	operands := p.Operands()
	s.reserve(max(1, len(operands)))
	for pass := range min(passes, 2) {
		times := uint64(1)
		if pass == 1 {
			times = uint64(passes - 1)
		}
		for run := range p.Runs() {
			if s.full != nil {
				return s.full
			}
			s.run(run, operands, times)
		}
	}
	return s.full
}

// run counts a run times times.
//
// Consecutive iterations that touch the same lines in the same order need not all be walked. The
// first brings these lines to the top, in an order that each later one restores. The second reaches
// no deeper. So all later ones have its distances and leave the same stacks.
func (s *stacks) run(r *nest.Run, operands []nest.Operand, times uint64) {
	iterate := func(i int, times uint64) {
		for k, addr := range r.Addrs {
			op := r.First + k
			s.push(addr+uint64(i*r.Strides[k]), uint64(operands[op].Width), op, times)
		}
	}
	stays := !slices.ContainsFunc(r.Strides, func(stride int) bool {
		return max(stride, -stride) >= s.line
	})
	for i := 0; i < r.Trips; i++ {
		iterate(i, times)
		if !stays {
			continue
		}
		stay := uint64(r.Trips - i)
		for k, addr := range r.Addrs {
			stay = min(stay, touched.Stay(addr+uint64(i*r.Strides[k]),
				uint64(operands[r.First+k].Width), uint64(r.Strides[k]), uint64(s.line)))
		}
		if stay > 1 {
			iterate(i+1, times*(stay-1))
			i += int(stay - 1)
		}
	}
}

// A touch is a lookup of a line.
type touch struct {
	// the line; once found, the place of its time; once measured, its distance
	value  uint64
	refs   uint64 // references that it ends; 0 for all but the last line of a reference
	stream int
}

func (s *stacks) push(addr, size uint64, stream int, refs uint64) {
	first, last := addr>>(s.shift&63), (addr+size-1)>>(s.shift&63)
	for ; first != last; first++ {
		s.add(touch{first, 0, stream})
	}
	s.add(touch{last, refs, stream})
}

func (s *stacks) add(t touch) {
	if s.queued == len(s.queue) {
		s.flush()
	}
	s.queue[s.queued] = t
	s.queued++
}

// checkedFlushes is the interval of checks: a million touches take less than half a GiB.
const checkedFlushes = 1 << 12

// flush performs the queued touches and counts them.
func (s *stacks) flush() {
	touches := s.queue[:s.queued]
	if s.queued = 0; s.full != nil {
		return
	}
	if s.flushes++; s.flushes%checkedFlushes == 0 {
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

// set returns a touch's set, and replaces its line by the line's number there.
func (s *stacks) set(t *touch) *stack {
	line, sets := t.value, uint64(len(s.stacks))
	t.value = line / sets
	return &s.stacks[line%sets]
}

func (s *stacks) reserve(streams int) {
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

func (s *stacks) checkRoom() {
	pages := 0
	for i := range s.stacks {
		pages += len(s.stacks[i].lines.Numbers) / lines.Page
	}
	if pages > s.most {
		s.full = fmt.Errorf("--curve keeps every line that is touched, which takes more than "+
			"%d GiB: want a smaller shape", mostMemory>>30)
	}
}
