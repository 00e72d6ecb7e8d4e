package proofs

// A period of loop l is as many of its iterations as move every operand by a
// multiple of the largest line (loopPlan.period). So an access of one period
// touches the blocks of its image in the period before, moved.

// choose sets the loop that translation is tried on, by what it saves: a loop is
// worth it if the look-ups expected with P on it, each full scan of the levels
// counted as one per line, are well below those without.
func (x *prover) choose(p *nestPlan) {
	scans := 0.0
	for i := range x.levels {
		scans += float64(x.levels[i].Lines())
	}
	inside := make([]float64, len(p.loops)+1) // look-ups of one run of a loop, without P
	inside[len(p.loops)] = float64(len(p.Operands))
	for l := len(p.loops) - 1; l >= 0; l-- {
		inside[l] = inside[l+1] * x.visits(p, l)
	}
	p.cost, p.brute = inside[0], float64(p.Iterations()*len(p.Operands))
	if last := len(p.loops) - 1; last >= 0 && p.fits {
		p.brute *= x.visits(p, last) / float64(p.loops[last].trips)
	}
	least := inside[0] / 1.5
	outside := 1.0
	for l, loop := range p.loops {
		periods := loop.trips / loop.period
		tried := len(x.levels) + 1 // periods visited at the least
		if periods > tried+1 && x.agree(&loop) {
			part := float64((tried+1)*loop.period) / float64(loop.trips)
			if cost := outside * (inside[l]*part + scans); cost < least {
				least, p.cost, p.translated = cost, cost, l
			}
		}
		outside *= x.visits(p, l)
	}
}

// visits is the number of iterations of loop l that in-line runs and zero shift leave, about.
func (x *prover) visits(p *nestPlan, l int) float64 {
	loop := &p.loops[l]
	trips := float64(loop.trips)
	if !loop.stays {
		return trips
	}
	length := trips // of a stretch
	for r, s := range loop.stride {
		if s != 0 {
			length = min(length, float64(loop.granule[r])/float64(max(s, -s)))
		}
	}
	each := float64(len(x.levels) + 1)
	if l == len(p.loops)-1 && p.fits {
		each = 1
	}
	return trips / length * min(length, each)
}

// agree reports whether every operand moves by the same number of sets in
// every level, and at least one of them at all.
func (x *prover) agree(loop *loopPlan) bool {
	moves := false
	for _, m := range loop.moved {
		moves = moves || m != 0
		for i := range x.levels {
			l := &x.levels[i]
			if (m-loop.moved[0])>>l.Shift%l.Sets != 0 {
				return false
			}
		}
	}
	return moves
}

// An extent is the blocks that an operand touches in a loop and how far it
// moves in a period.
type extent struct {
	first, last uint64
	moved       int64
}

// extents returns the extent of each operand in loop l from here on, in blocks
// of 1<<shift bytes.
func (x *prover) extents(l int, shift uint) []extent {
	list := make([]extent, len(x.addr))
	for r, op := range x.nest.Operands {
		op.Base, op.Strides = x.addr[r], op.Strides[l:]
		first, last := op.Reach(x.nest.Trips[l:])
		list[r] = extent{first >> shift, last >> shift, int64(x.nest.loops[l].moved[r]) >> shift}
	}
	return list
}

// meet reports whether two of the extents that move apart share a block.
func meet(list []extent) bool {
	for i, a := range list {
		for _, b := range list[:i] {
			if a.moved != b.moved && a.first <= b.last && b.first <= a.last {
				return true
			}
		}
	}
	return false
}

// An attempt is translation on its way through one run of a loop.
type attempt struct {
	loop    int
	periods int        // whole ones in the run
	done    int        // of these, simulated
	until   int        // of these, those for which what was found steady is
	extents [][]extent // of each level, of each operand
	// level is the first that is not yet known to be steady. The accesses that
	// reach it are translated from one period to the next from the period on
	// that began at epoch base; the next one began at cut.
	level     int
	base, cut uint64
	// Of the last period recorded:
	began   uint64
	visited uint64   // look-ups
	before  []uint64 // the misses when it began
}

// translate simulates loop l, whole, by translation.
//
// Periods are simulated one after the other. Say that all operands move by the
// same number of sets from one to the next, in every level, and operands that
// move by different numbers of blocks share no block, of the largest line, in
// all the run. Then moving the blocks of a period by what their operands move
// is one-to-one, and keeps sharing a set. Say that the accesses that reach a
// level are thus translated from period k on (k is 0 for level 0). The level
// is steady from period m >= k+1 on, which means that the images of hits are
// hits and the images of misses are misses from m on, if
//
//	(a) every hit of m met a block touched in k or since, and
//	(b) no block in the level at the end of m whose last touch was before k+1
//	    will be hit in a later period.
//
// For take an access of period p+1 > m and its image in p. If the later one
// hits, its block was last touched in k+1 or since, by (b). The image of its
// window, being in k or since, is the window of the earlier one, so that hits.
// If the earlier one hits, its block was last touched in k or since, by (a) if
// p is m and by (b) if p is later. Its window, moved, is the window of the
// later one, so that hits.
//
// The next level's k is then m. Once all levels are steady, in period M, the
// misses of each period left are those of M, and the contents follow (rebuild).
//
// Where (b) is so of most periods that are left, but not of all, as where the end of a row
// is on the line where the next one began, all this is so up to there, and then begins anew.
func (x *prover) translate(l int) {
	loop := &x.nest.loops[l]
	a := attempt{loop: l, periods: loop.trips / loop.period}
	if meet(x.extents(l, x.maxShift())) {
		x.took.overlap++
		a.periods = 0
	}
	for i := range x.levels {
		a.extents = append(a.extents, x.extents(l, x.levels[i].Shift))
	}
	known := -1 // how often epochs had been renumbered when it last began
	gap := 0
	for a.done+2 < a.periods && !x.over() {
		if known != x.renumbered || a.done >= a.until {
			known = x.renumbered
			x.begin(&a)
			continue
		}
		x.record(&a)
		switch {
		case known != x.renumbered:
			x.took.renumber++
			a.level = 0
		case x.steady(&a):
			gap = 0
			if a.level++; a.level == len(x.levels) {
				x.skip(&a)
				continue
			}
			a.base, a.cut = a.began, x.clock
		default:
			gap = x.pause(&a, gap)
		}
	}
	x.span(l, loop.trips-a.done*loop.period)
}

// begin simulates period 0 of an attempt.
func (x *prover) begin(a *attempt) {
	a.level, a.until = 0, a.periods
	a.base = x.tick()
	x.span(a.loop, x.nest.loops[a.loop].period)
	a.done++
	a.cut = x.tick()
}

// record simulates a period and keeps what tells whether it is steady.
func (x *prover) record(a *attempt) {
	loop := &x.nest.loops[a.loop]
	for i := range x.levels {
		l := &x.levels[i]
		l.logging, l.extra, l.heads, l.missed = true, true, l.heads[:0], l.missed[:0]
	}
	a.before = append(a.before[:0], x.misses...)
	before := x.visited
	x.push()
	f := &x.frames[x.depth-1]
	f.base, f.record = a.base, true
	a.began = f.mark
	x.span(a.loop, loop.period)
	x.pop()
	a.visited = x.visited - before
	a.done++
	for i := range x.levels {
		l := &x.levels[i]
		l.logging, l.extra = false, l.when != nil
	}
	x.tick()
}

// steady reports whether the attempt's level is steady from the period just
// recorded on: (a) and (b) of translation.
func (x *prover) steady(a *attempt) bool {
	if x.frames[x.depth].stale[a.level] {
		x.took.stale++
		return false
	}
	left := a.until - a.done
	least := left*3/4 + 1
	dead := x.levels[a.level].dead(a.extents[a.level], a.cut, left, least)
	if left == 0 || dead < min(left, least) {
		x.took.alive++
		return false
	}
	if dead < left {
		x.took.until++
		a.until = a.done + dead
	}
	return true
}

// pause simulates periods without recording them after a test that failed, at
// least as many look-ups as a test takes, and more each time.
func (x *prover) pause(a *attempt, gap int) int {
	gap = max(2*gap, 1, x.levels[a.level].Lines()/4/int(a.visited+1))
	n := min(gap, a.until-a.done)
	x.span(a.loop, n*x.nest.loops[a.loop].period)
	a.done += n
	return gap
}

// skip accounts for the periods left that repeat the one just recorded.
func (x *prover) skip(a *attempt) {
	left := a.until - a.done
	loop := &x.nest.loops[a.loop]
	x.took.shifted++
	x.repeat(a.before, left)
	for i := range x.levels {
		x.levels[i].rebuild(a.extents[i], a.began, x.clock, left, uint64(loop.period)*loop.inside)
	}
	x.now += uint64(left*loop.period) * loop.inside
	x.step(a.loop, left*loop.period)
	a.done = a.until
}
