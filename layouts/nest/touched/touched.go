// Package touched is the program's own and promises nothing. It returns which bytes, lines and
// sets of lines the accesses of a nest touch, without reference to a cache's contents, and cuts a
// nest into parts that write apart.
package touched

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Stay returns how many iterations, at least 1, an access stays in the lines of its first and of
// its last byte. The access has width bytes at addr and moves by stride, modulo 2^64. line must be
// a power of two. For a stride of 0, Stay returns math.MaxUint64.
//
// Law: it is the largest k such that the first bytes of iterations 0 to k-1 are all in one line,
// and so are the last bytes.
//
// The line may be any granule. If the granule divides the strides of all loops further in, the
// accesses of these loops have one position in it. Each of them stays in its granules while this
// access stays in its own.
func Stay(addr, width, stride, line uint64) uint64 {
	if stride == 0 {
		return math.MaxUint64
	}
	mask := line - 1
	first := addr & mask
	last := (first + width - 1) & mask
	// The byte nearer to the end that the access moves to leaves first.
	room := mask - max(first, last)
	if int64(stride) < 0 {
		room, stride = min(first, last), -stride
	}
	if stride&(stride-1) == 0 {
		return room>>(bits.TrailingZeros64(stride)&63) + 1
	}
	return room/stride + 1
}

// A Step is a loop that moves an access by Bytes per iteration. The sign is irrelevant.
type Step struct{ Bytes, Trips int }

// Span merges what the operand touches, in loops of these trips, into runs. Beginning with the
// shortest, it merges steps that leave at most gap untouched bytes between runs. It returns the
// bytes of a run, and the remaining steps, the shortest first. Steps of 0 bytes or one trip are
// omitted.
//
// Law: with gap 0, the bytes touched are the bytes of the runs, one at each index of the steps.
func Span(op nest.Operand, trips []int, gap int) (run int, steps []Step) {
	steps = slices.DeleteFunc(sorted(op, trips), func(s Step) bool { return s.Trips == 1 })
	run = op.Width
	for len(steps) > 0 && steps[0].Bytes <= run+gap {
		run += (steps[0].Trips - 1) * steps[0].Bytes
		steps = steps[1:]
	}
	return run, steps
}

// sorted returns the operand's steps, the shortest first.
func sorted(op nest.Operand, trips []int) (steps []Step) {
	for l, s := range op.Strides {
		if s != 0 {
			steps = append(steps, Step{max(s, -s), trips[l]})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return steps
}

// Lines returns about how many lines or pages, of line bytes, the operand touches in loops of these
// trips. It multiplies the number of runs that leave lines untouched between them by the lines per
// run. The latter is an average over the places in a line at which a run can start.
//
// Law: it is exact if runs start at all these places equally often and no two of them are adjacent,
// as in a view of one tensor.
func Lines(op nest.Operand, trips []int, line int) float64 {
	run, steps := Span(op, trips, line-1)
	runs, grain := 1.0, line
	for _, s := range steps {
		runs *= float64(s.Trips)
		grain = nest.GCD(grain, s.Bytes)
	}
	// Steps are multiples of the grain, so a run touches the lines that its grains touch.
	first, _ := op.Reach(trips)
	grains := (int(first%uint64(grain)) + run + grain - 1) / grain
	return runs * (1 + float64((grains-1)*grain)/float64(line))
}

// Blocks walks the nest and returns the numbers (address / line) of all lines that it touches,
// ascending. It panics unless line is positive.
func Blocks(n nest.Nest, line int) []uint64 {
	var blocks []uint64
	limit := 1 << 10
	for op, addr := range n.Accesses() {
		last := (addr + uint64(n.Operands[op].Width-1)) / uint64(line)
		for b := addr / uint64(line); ; b++ {
			blocks = append(blocks, b)
			if b == last {
				break
			}
		}
		if len(blocks) > limit {
			blocks = compact(blocks)
			limit = max(limit, 2*len(blocks))
		}
	}
	return compact(blocks)
}

func compact(blocks []uint64) []uint64 {
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// Sets returns how many of the cache's sets the operand's steps can reach in loops of these trips.
// The set is the line's number modulo sets. Sets returns sets if a step is not a multiple of the
// line.
func Sets(op nest.Operand, trips []int, line, sets int) int {
	step := sets
	for l, s := range op.Strides {
		if s == 0 || trips[l] == 1 {
			continue
		}
		if s%line != 0 {
			return sets
		}
		step = nest.GCD(step, s/line)
	}
	return sets / step
}

// Alignments returns the positions within a line at which the operand's accesses can start, for any
// trips.
func Alignments(op nest.Operand, line int) []uint64 {
	step := line
	for _, s := range op.Strides {
		step = nest.GCD(step, s)
	}
	var list []uint64
	for a := op.Base % uint64(step); a < uint64(line); a += uint64(step) {
		list = append(list, a)
	}
	return list
}

// Crowd returns a bound on the size of the operand's conflict set: at least the most lines of one
// set that it touches in loops of these trips, from any of the places within a line. Moving by
// whole lines only rotates the sets. Crowd counts runs one by one, even if they meet. If the budget
// is too small to count from each place, Crowd counts from one place, with runs a line longer. If
// the budget is still too small, ok is false. Otherwise Crowd subtracts the counted lines from it.
//
// Law: it is at least the most lines of one set of W, with equality if no two runs share a line and
// the operand starts at a given place.
func Crowd(op nest.Operand, trips []int, places []uint64, line, sets int,
	budget *int) (most int, ok bool) {
	run, steps := Span(op, trips, 0)
	blocks, ok := blocksOf(len(places), run, steps, line, sets, *budget)
	if !ok {
		places, run = []uint64{0}, run+line-1
		if blocks, ok = blocksOf(1, run, steps, line, sets, *budget); !ok {
			return 0, false
		}
	}
	*budget -= blocks
	for _, at := range places {
		counts, everywhere := crowds(at, run, steps, line, sets)
		most = max(most, everywhere+int(slices.Max(counts)))
	}
	return most, true
}

// blocksOf returns how many lines crowds counts from this many places. ok is false if they exceed
// the budget.
func blocksOf(places, run int, steps []Step, line, sets, budget int) (blocks int, ok bool) {
	blocks = places * (1 + min(run/line, sets))
	for _, s := range steps {
		if s.Trips > budget/blocks {
			return 0, false
		}
		blocks *= s.Trips
	}
	return blocks, blocks <= budget
}

// Fewest returns at most the fewest lines of one set that the operand touches in loops of these
// trips, from its base. It returns 0 if there are more runs than the budget or if runs interleave.
//
// Law: it is at most the fewest lines of one set of W, with equality if no run lies within
// another's steps.
func Fewest(op nest.Operand, trips []int, line, sets, budget int) int {
	run, steps := Span(op, trips, line-1)
	reach := run
	for _, s := range steps {
		if budget /= s.Trips; budget == 0 || s.Bytes < reach {
			return 0
		}
		reach += (s.Trips - 1) * s.Bytes
	}
	first, _ := op.Reach(trips)
	counts, everywhere := crowds(first, run, steps, line, sets)
	return everywhere + int(slices.Min(counts))
}

// crowds returns the lines of each set in runs of run bytes, the first at start. everywhere is
// further lines that every set has. A line shared by two successive runs counts once.
func crowds(start uint64, run int, steps []Step, line, sets int) (counts []int32, everywhere int) {
	trips, bytes := make([]int, len(steps)), make([]int, len(steps))
	for i, s := range steps {
		trips[len(steps)-1-i], bytes[len(steps)-1-i] = s.Trips, s.Bytes
	}
	by := nest.Steps(trips, bytes)
	counts = make([]int32, sets)
	at, before := start, uint64(math.MaxUint64) // the last line of the run before
	for l := range nest.Walk(trips) {
		if l >= 0 {
			at += uint64(by[l])
		}
		first, last := at/uint64(line), (at+uint64(run)-1)/uint64(line)
		if first == before {
			first++
		}
		before = last
		blocks := int(last + 1 - first)
		if blocks >= sets {
			everywhere += blocks / sets
			blocks %= sets
		}
		set := int(first & uint64(sets-1))
		if sets&(sets-1) != 0 {
			set = int(first % uint64(sets))
		}
		for range blocks {
			if counts[set]++; set+1 < sets {
				set++
			} else {
				set = 0
			}
		}
	}
	return counts, everywhere
}
