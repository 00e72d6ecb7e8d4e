package proofs

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A nestPlan is what a prover knows of a nest before it starts.
type nestPlan struct {
	nest.Nest // canonical
	loops     []loopPlan
	// fits: after one iteration all its blocks are in level 0, however they
	// fall into sets, since no set has to hold more of them than it has ways.
	fits bool
	// translated is the loop that translation is tried on, -1 for none.
	translated int
	cost       float64 // look-ups expected, and scans of the levels
	brute      float64 // look-ups with in-line runs alone
}

// A loopPlan is what a prover knows of one loop.
type loopPlan struct {
	trips int
	// granule of each operand: a power of two, at most the smallest line, that
	// divides its strides in all loops further in. While the first and the
	// last byte of its access stay in their granules, so do those of all
	// accesses of these loops, and each touches the blocks that it touched.
	granule []uint64
	stride  []int
	inside  uint64 // iterations of the nest in one of the loop
	// stays: runs of iterations may stay in their granules.
	stays bool
	// period is the number of iterations after which every operand has moved
	// by a multiple of the largest line, moved by how many bytes each has.
	period int
	moved  []int
	// Of the stretch that is on its way:
	before []uint64 // the misses when its last iteration began
	known  steadiness
}

// plan prepares a nest.
func (x *prover) plan(n nest.Nest) *nestPlan {
	p := &nestPlan{Nest: n, fits: 2*len(n.Operands) <= x.levels[0].Ways, translated: -1}
	inner := make([]int, len(n.Operands)) // gcd of the smallest line and the strides further in
	for r := range inner {
		inner[r] = 1 << x.minShift()
	}
	p.loops = make([]loopPlan, len(n.Trips))
	inside := uint64(1)
	for l := len(n.Trips) - 1; l >= 0; l-- {
		loop := loopPlan{trips: n.Trips[l], inside: inside, stays: true}
		inside *= uint64(n.Trips[l])
		step := 1 << x.maxShift() // gcd with the strides
		for r, op := range n.Operands {
			s := op.Strides[l]
			loop.stride = append(loop.stride, s)
			loop.granule = append(loop.granule, uint64(inner[r]))
			loop.stays = loop.stays && max(s, -s) < inner[r]
			inner[r] = nest.GCD(inner[r], s)
			step = nest.GCD(step, s)
		}
		loop.period = 1 << x.maxShift() / step
		for _, s := range loop.stride {
			loop.moved = append(loop.moved, s*loop.period)
		}
		loop.before = make([]uint64, len(n.Operands)*len(x.levels))
		p.loops[l] = loop
	}
	x.choose(p)
	return p
}

// loop simulates loop l, whole, from the operands' addresses, which it leaves
// where they were. Inside the last loop is one iteration's accesses.
func (x *prover) loop(l int) {
	if l == len(x.nest.loops) {
		x.body()
		return
	}
	trips := x.nest.loops[l].trips
	if l == x.nest.translated {
		x.translate(l)
	} else {
		x.span(l, trips)
	}
	x.step(l, -trips)
}

// step moves every operand by so many iterations of loop l.
func (x *prover) step(l, iterations int) {
	for r, s := range x.nest.loops[l].stride {
		x.addr[r] += uint64(iterations * s)
	}
}

// body looks up the accesses of one iteration.
func (x *prover) body() {
	levels := len(x.levels)
	for r := range x.addr {
		x.access(x.misses[r*levels:][:levels], x.addr[r], uint64(x.nest.Operands[r].Width))
	}
	x.visited += uint64(len(x.addr))
	x.now++
}

// span simulates the next n iterations of loop l and moves on past them.
func (x *prover) span(l, n int) {
	if !x.nest.loops[l].stays {
		x.each(l, n)
		return
	}
	for n > 0 && !x.over() {
		k := min(x.stay(l), n)
		x.stretch(l, k)
		x.step(l, k)
		n -= k
	}
}

// each simulates the next n iterations of loop l one by one.
func (x *prover) each(l, n int) {
	if l < len(x.nest.loops)-1 {
		for range n {
			if x.loop(l + 1); x.over() {
				return
			}
			x.step(l, 1)
		}
		return
	}
	x.visited += uint64(n) * uint64(len(x.addr))
	if len(x.addr) == 1 {
		addr, width, stride := x.addr[0], uint64(x.nest.Operands[0].Width), uint64(x.nest.loops[l].stride[0])
		for range n {
			x.access(x.misses, addr, width)
			addr += stride
			x.now++
		}
		x.addr[0] = addr
		return
	}
	levels := len(x.levels)
	strides := x.nest.loops[l].stride
	for range n {
		for r := range x.addr {
			x.access(x.misses[r*levels:][:levels], x.addr[r], uint64(x.nest.Operands[r].Width))
			x.addr[r] += uint64(strides[r])
		}
		x.now++
	}
}

// stay is the number of iterations of loop l from here on, at least 1, in
// which the first and the last byte of every operand's access stay in their
// granules.
func (x *prover) stay(l int) int {
	stay := uint64(math.MaxInt)
	loop := &x.nest.loops[l]
	for r, s := range loop.stride {
		stay = min(stay, nest.Stay(x.addr[r], uint64(x.nest.Operands[r].Width), uint64(s), loop.granule[r]))
	}
	return int(stay)
}

// stretch simulates k iterations of loop l that touch the same blocks in the
// same order, without moving on.
//
// In-line runs: in the innermost loop, where no set of level 0 can have to hold more
// blocks than it has ways (fits), all are there after the first iteration: the
// others hit and, touching them in the same order, leave the same recency.
//
// Zero shift: say that the accesses which reach a level are the same in every
// iteration from e on; for level 0, e is 1. From e+1 on, the block of each was
// last touched no earlier than in the iteration before. Its window is then the
// same in all of them, and so is whether it hits. Moreover, if in e and in e+1
// no hit met a block older than that iteration, then all hits had windows
// within one iteration, which are alike in e and e+1: e hits where e+1 does.
// So the accesses that reach the next level are the same from e+1 on, or from
// e on in the second case. Once this has reached the last level, or a level
// that misses nowhere, at iteration j, the rest repeat j.
//
// The levels' contents are then final too: from e on, a set holds the blocks
// that an iteration touches in the order of their last touches in it, and
// beneath them what it held before, as far as that fits.
func (x *prover) stretch(l, k int) {
	if k > 1 && l == len(x.nest.loops)-1 && x.nest.fits {
		x.inLine(k)
		return
	}
	if k <= 2 { // nothing could be skipped
		for range k {
			x.loop(l + 1)
		}
		return
	}
	loop := &x.nest.loops[l]
	loop.known.level, loop.known.from, loop.known.quiet = 0, 0, false
	for j := 1; j <= k; j++ {
		copy(loop.before, x.misses)
		x.push()
		x.loop(l + 1)
		x.pop()
		if x.over() {
			return
		}
		if j < k && x.repeats(loop, j, x.frames[x.depth].stale) {
			x.countZero(j, loop.known.quiet)
			x.repeat(loop.before, k-j)
			x.now += uint64(k-j) * loop.inside
			return
		}
	}
}

// inLine is in-line runs. Where reuses are timed, it looks up the second iteration
// too, whose reuses are those of all the others, and the last, so that times are
// those of the last touch.
func (x *prover) inLine(k int) {
	x.took.inline++
	x.body()
	k--
	if x.levels[0].when != nil {
		x.body()
		if k--; k > 0 {
			x.now += uint64(k - 1)
			x.levels[0].muted = true
			x.body()
			x.levels[0].muted = false
			k = 0
		}
	}
	x.now += uint64(k)
}

// steadiness is how far zero shift has come: the accesses that reach level are the
// same from iteration from+1 on.
type steadiness struct {
	level, from int
	quiet       bool   // it ended with a level that misses nowhere
	stale       []bool // of the iteration before
}

// repeats goes on with zero shift after iteration j, in which the hits of the
// stale levels met older blocks. It reports whether all further iterations
// repeat j.
func (x *prover) repeats(loop *loopPlan, j int, stale []bool) bool {
	s := &loop.known
	for s.level < len(stale) && j >= s.from+2 {
		if !x.missedIn(s.level, loop.before) {
			s.quiet = true
			return true
		}
		if s.stale[s.level] || stale[s.level] {
			s.from++
		}
		s.level++
	}
	s.stale = append(s.stale[:0], stale...)
	return s.level == len(stale)
}

// countZero counts a success of zero shift at iteration j.
func (x *prover) countZero(j int, quiet bool) {
	switch {
	case quiet:
		x.took.free++
	case j <= len(x.levels):
		x.took.early++
	default:
		x.took.zero++
	}
}

// missedIn reports whether level i has missed since the misses were before.
func (x *prover) missedIn(i int, before []uint64) bool {
	for at := i; at < len(before); at += len(x.levels) {
		if x.misses[at] != before[at] {
			return true
		}
	}
	return false
}

// repeat adds the misses since before so many times more.
func (x *prover) repeat(before []uint64, times int) {
	for at, b := range before {
		x.misses[at] += (x.misses[at] - b) * uint64(times)
	}
}
