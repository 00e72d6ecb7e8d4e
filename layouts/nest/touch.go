package nest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// GCD is the greatest common divisor of the sizes of a and b, of which either
// may be zero or negative; that of 0 and 0 is 0.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// UpTo is 0, 1, ... n-1: the loops, dims or places of what has n, in their order.
func UpTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Reach is the first and the last byte that the operand touches in loops of
// these trips, all of them at least 1.
//
// Law: they are the least address and the greatest last byte of W.
func (op Operand) Reach(trips []int) (first, last uint64) {
	first, last = op.Base, op.Base+uint64(op.Width-1)
	for l, s := range op.Strides {
		if s < 0 {
			first += uint64(s * (trips[l] - 1))
		} else {
			last += uint64(s * (trips[l] - 1))
		}
	}
	return first, last
}

// Stay is the number of iterations, at least 1, in which an access of so many
// bytes at addr that moves by stride, modulo 2^64, stays in the lines that its
// first and its last byte are in. A line is a power of two. For a stride of 0 it
// is math.MaxUint64.
//
// Law: it is the largest k such that the first bytes of iterations 0 to k-1 are
// all in one line, and so are the last bytes.
//
// The line may be any granule: if it divides the strides of all loops further
// in, the accesses of these loops lie at one place in it, and for as long as
// this access stays in its granules each of them stays in its own.
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

// A Step is a loop that moves an access: so many trips of so many bytes, whose
// sign does not matter to what is asked of it.
type Step struct{ Bytes, Trips int }

// Span joins what the operand touches, in loops of these trips, into runs: from
// the shortest step on, steps that leave gaps of at most gap bytes between runs
// make one longer run of them. It returns the bytes of a run and the steps from
// run to run, the shortest first. Steps of 0 bytes and of one trip are left out.
//
// Law: with gap 0, the bytes touched are those of the runs, one at each index of
// the steps.
func (op Operand) Span(trips []int, gap int) (run int, steps []Step) {
	for l, s := range op.Strides {
		if s != 0 && trips[l] > 1 {
			steps = append(steps, Step{max(s, -s), trips[l]})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Bytes, b.Bytes) })
	run = op.Width
	for len(steps) > 0 && steps[0].Bytes <= run+gap {
		run += (steps[0].Trips - 1) * steps[0].Bytes
		steps = steps[1:]
	}
	return run, steps
}

// Lines is about how many lines, or pages, of so many bytes the operand touches
// in loops of these trips: the number of runs that leave lines untouched between
// them, times the lines that a run touches, on average over the places in a
// line where the steps from run to run let it start.
//
// Law: it is exact where runs start at all these places equally often and none
// comes to lie beside another, as those of a view of one tensor do not.
func (op Operand) Lines(trips []int, line int) float64 {
	run, steps := op.Span(trips, line-1)
	runs, grain := 1.0, line
	for _, s := range steps {
		runs *= float64(s.Trips)
		grain = GCD(grain, s.Bytes)
	}
	// Steps are multiples of the grain: a run touches what its grains touch.
	first, _ := op.Reach(trips)
	grains := (int(first%uint64(grain)) + run + grain - 1) / grain
	return runs * (1 + float64((grains-1)*grain)/float64(line))
}

// Blocks returns the numbers (address / line) of all lines of so many bytes that
// the nest touches, in ascending order, by walking it. It panics unless the line
// is positive.
func (n Nest) Blocks(line int) []uint64 {
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

// Sets is how many of so many sets, chosen by the number of the line modulo the
// sets, the operand's steps in loops of these trips can reach: all of them where
// a step is no multiple of the line.
func (op Operand) Sets(trips []int, line, sets int) int {
	step := sets
	for l, s := range op.Strides {
		if s == 0 || trips[l] == 1 {
			continue
		}
		if s%line != 0 {
			return sets
		}
		step = GCD(step, s/line)
	}
	return sets / step
}

// Alignments are the places within a line at which the operand's accesses can
// start, whatever the trips: all that its base and its strides come to.
func (op Operand) Alignments(line int) []uint64 {
	step := line
	for _, s := range op.Strides {
		step = GCD(step, s)
	}
	var list []uint64
	for a := op.Base % uint64(step); a < uint64(line); a += uint64(step) {
		list = append(list, a)
	}
	return list
}

// Crowd is at least the greatest number of lines of one set that the operand
// touches in loops of these trips, from any of the given places within a line:
// a move by whole lines turns all sets alike. The loops' runs of bytes are
// counted one by one, even those that meet. Where the budget does not allow to
// count from each place, runs that are longer by a line are counted once. If
// even that would touch more lines than the budget has, ok is false; else the
// budget is less by what it took.
//
// Law: it is no less than the most lines of one set of W, and equal to that
// where no two runs share a line and the operand starts at a given place.
func (op Operand) Crowd(trips []int, places []uint64, line, sets int, budget *int) (most int, ok bool) {
	run, steps := op.Span(trips, 0)
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

// blocksOf is how many lines crowds counts, from so many places, unless they are more than a budget.
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

// Fewest is at most the least number of lines of one set that the operand touches in loops of
// these trips, from its base on. It is 0 where that takes more runs of bytes than the budget has.
//
// Law: it is no more than the fewest lines of one set of W, and equal to that where no run lies
// inside of another's steps.
func (op Operand) Fewest(trips []int, line, sets, budget int) int {
	run, steps := op.Span(trips, line-1)
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

// crowds is how many lines of each set are in runs of so many bytes, the first of them at start,
// and how many are in every set besides. A line in which a run ends and the next begins counts once.
func crowds(start uint64, run int, steps []Step, line, sets int) (counts []int32, everywhere int) {
	trips, bytes := make([]int, len(steps)), make([]int, len(steps))
	for i, s := range steps {
		trips[len(steps)-1-i], bytes[len(steps)-1-i] = s.Trips, s.Bytes
	}
	by := Steps(trips, bytes)
	counts = make([]int32, sets)
	at, before := start, uint64(math.MaxUint64) // the last line of the run before
	for l := range Walk(trips) {
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
