package proofs

import (
	"math"
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// gapBudget is how many accesses are listed at most to tell how many blocks fall into a
// set, for each question.
const gapBudget = 1 << 23

// massBudget is the same where it is told how many there are at least: massShare for each
// iteration of the nest, since looking all up takes longer, but not fewer than leastMass.
const (
	massBudget = 1 << 28
	massShare  = 2
	leastMass  = 1 << 22
)

// never is a gap that does not occur.
const never = math.MaxInt

// A gapped is one operand of a nest, in prover.gaps.
type gapped struct {
	alone    nest.Nest // the operand's, canonical: as many iterations, in fewer loops
	all      []pattern // between any two touches of a block
	patterns []pattern // of these, those that may lead to its last touch
	// Of the level before: the least gap from which on all miss there, and how many
	// iterations a stay lasts at most. Before the first level they are 1 and 0: all come.
	misses, lasting int
	hits            int             // gaps up to it hit there, or before, and do not come
	once            bool            // a block comes to the level once
	crowds          map[crowdOf]int // that are known
	masses          map[massOf]int  // likewise
}

// A crowdOf is what level.crowd is asked of an operand.
type crowdOf struct {
	level      *level
	iterations int
}

// A massOf is what level.mass is asked of an operand, which the level before tells what misses.
type massOf struct {
	crowdOf
	misses int
}

// gaps counts the misses of a nest on empty levels from the gaps between the touches
// of a block, and reports whether that could be done. The misses of operand r in level i
// are at r*len(levels)+i. If first is false, those in the first level are not known and
// left 0.
//
// Say that operands share no block, that all levels have lines of one size, and that no
// access lies in two. The gap of an access is the number of iterations since its operand
// last touched the same block, if it ever did. Which gaps occur, and where, follows from
// the strides alone (pattern).
//
// Level 0. Say that what all operands touch in any h consecutive iterations is, together,
// at most as many blocks of any set as there are ways (holds). An access whose gap is at
// most h hits: in its window, with its own block, are the accesses of h iterations of each
// operand. Say that any m-1 consecutive iterations touch at least as many blocks of every
// set as there are ways (floods). An access whose gap is m or more misses: so many
// iterations lie between, and none of them touches its own block. If no gap is above h and
// below m, the misses are the accesses with gaps of m or more, and those that have none,
// since the levels were empty.
//
// Level i+1. Say that gaps of m or more make misses in level i and in all before it. Call
// touches of a block in a row, each less than m after the one before it, a stay. The first
// touch of a stay misses in level i, so it reaches level i+1. Let no stay last longer than
// s iterations. If an access of gap g reaches level i+1, its block was there at most g+s
// iterations before: at the first touch of the stay that the touch before it belongs to,
// or later. So it hits if g+s is at most this level's h. Its window in this level has at
// least the blocks of which a stay begins in the g-1 iterations between. So it misses if
// these are at least as many as the ways in every set; and if g is at least m, it does
// come. With bounds for this level like those of level 0, its own m no less than that of
// level i, its misses are the accesses with large gaps and those with none, all of which
// reach it.
//
// The levels behind the first ask of the first no more than m, so that it may have gaps of
// all sizes, and be counted otherwise (prover.tiled). Of the last nothing is asked, so that it may, too
// (level.comb, prover.sequel).
func (x *prover) gaps(n nest.Nest) (misses []uint64, first, ok bool) {
	operands, ok := x.gapped(n)
	if !ok {
		return nil, false, false
	}
	misses = make([]uint64, len(n.Operands)*len(x.levels))
	var left, nearest, behind []unknown // of the first level; of it, all; of the last
	for i := range x.levels {
		l := &x.levels[i]
		bounds, once := make([][2]int, len(operands)), make([]bool, len(operands))
		for r := range operands {
			if i > 0 && i == len(x.levels)-1 {
				if count, ok := l.comb(operands, r, &x.took); ok {
					misses[r*len(x.levels)+i] = count
					x.took.combs++
					continue
				}
			}
			hits, large, ok := l.bounds(operands, r)
			switch {
			case ok:
				if misses[r*len(x.levels)+i], ok = operands[r].beginnings(hits, 1<<l.Shift); !ok {
					return nil, false, false
				}
			case i == 0:
				large = l.surely(operands, r)
				left = append(left, unknown{r, hits, large})
			case i == 1 && i == len(x.levels)-1 && !x.untiled:
				if _, ok := x.levels[0].newTiling(n, operands, nearest...); !ok { // before much is asked
					return nil, false, false
				}
				large = l.surely(operands, r)
				behind = append(behind, unknown{r, hits, large})
			default:
				return nil, false, false
			}
			if i == 0 {
				nearest = append(nearest, unknown{r, hits, large})
			}
			bounds[r], once[r] = [2]int{hits, large}, ok && large == never
		}
		for r := range operands {
			operands[r].misses, operands[r].once, operands[r].hits = bounds[r][1], once[r], bounds[r][0]
			operands[r].lasting = operands[r].stay(bounds[r][1])
		}
	}
	known, ok := x.last(n, operands, nearest, behind, misses)
	if !ok {
		return nil, false, false
	}
	if first = x.tiled(n, operands, known, left, misses); !first {
		for r := range operands {
			misses[r*len(x.levels)] = 0
		}
	}
	return misses, first, first || len(x.levels) > 1
}

// last counts the misses of the last level that gaps leave open (behind), if any do, by a
// tiling of the first, which it returns.
func (x *prover) last(n nest.Nest, operands []gapped, nearest, behind []unknown, misses []uint64) (known *tiling, ok bool) {
	if len(behind) == 0 {
		return nil, true
	}
	known, ok = x.levels[0].newTiling(n, operands, slices.Concat(nearest, behind)...)
	return known, ok && x.sequel(operands, known, nearest, behind, misses)
}

// gapped prepares the operands, if the rule may be asked of the nest.
func (x *prover) gapped(n nest.Nest) (list []gapped, ok bool) {
	if x.minShift() != x.maxShift() || n.Iterations() == 0 || len(n.Operands) > 1 && !disjoint([]nest.Nest{n}, x.maxShift()) {
		return nil, false
	}
	line := 1 << x.minShift()
	for r, op := range n.Operands {
		step := nest.GCD(line, int(op.Base%uint64(line)))
		for _, s := range op.Strides {
			step = nest.GCD(step, s)
		}
		if step%op.Width != 0 { // it may lie in two lines
			return nil, false
		}
		alone := n.Only(r).Canonical()
		all, ok := patternsOf(alone, line)
		if !ok {
			return nil, false
		}
		patterns := slices.DeleteFunc(slices.Clone(all), func(p pattern) bool { return p.passes(alone) })
		list = append(list, gapped{alone: alone, all: all, patterns: patterns, misses: 1, crowds: map[crowdOf]int{}, masses: map[massOf]int{}})
	}
	return list, true
}

// bounds are two bounds for operand r in a level: gaps up to the one hit, and gaps from
// the other on miss. It reports whether that is all gaps.
func (l *level) bounds(operands []gapped, r int) (hits, misses int, ok bool) {
	o := &operands[r]
	var sizes []int
	for _, p := range o.patterns {
		sizes = append(sizes, p.most)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	// the least that is too large
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.holds(operands, size+o.lasting) {
			return -1
		}
		return 1
	})
	if at > 0 {
		hits = sizes[at-1]
	}
	hits = max(hits, o.hits)
	misses = never
	for _, p := range o.patterns {
		if p.most > hits {
			misses = min(misses, p.least)
		}
	}
	return hits, misses, misses == never || misses >= o.misses && l.floods(operands, misses-1)
}

// surely is the least gap of operand r from which on all miss in the first level.
func (l *level) surely(operands []gapped, r int) int {
	var sizes []int
	for _, p := range operands[r].patterns {
		sizes = append(sizes, p.least)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.floods(operands, size-1) {
			return 1
		}
		return -1
	})
	if at == len(sizes) {
		return never
	}
	return sizes[at]
}

// holds reports whether what any so many consecutive iterations touch is at most as many
// blocks of any set as there are ways. Where fewer iterations touch more, that is told sooner.
func (l *level) holds(operands []gapped, iterations int) bool {
	for some := 4 * l.Lines(); some < iterations; some *= 8 {
		if !l.holdsIn(operands, some) {
			return false
		}
	}
	return l.holdsIn(operands, iterations)
}

func (l *level) holdsIn(operands []gapped, iterations int) bool {
	room := l.Ways
	for r := range operands {
		budget := gapBudget
		asked := crowdOf{l, iterations}
		crowd, known := operands[r].crowds[asked]
		if !known {
			crowd = l.crowd(operands[r].alone, uint64(iterations), l.Ways, &budget)
			operands[r].crowds[asked] = crowd
		}
		if room -= crowd; room < 0 {
			return false
		}
	}
	return true
}

// floods reports whether in any so many consecutive iterations stays of at least as many
// blocks of every set begin as there are ways. Where fewer iterations do, that is told sooner.
func (l *level) floods(operands []gapped, iterations int) bool {
	for some := 64 * l.Lines(); some < iterations; some *= 8 {
		if l.floodsIn(operands, some) {
			return true
		}
	}
	return l.floodsIn(operands, iterations)
}

// floodsIn asks first of those of which it is told without a look at their accesses.
func (l *level) floodsIn(operands []gapped, iterations int) bool {
	missing := l.Ways
	var others []*gapped
	for r := range operands {
		if mass, ok := l.stream(&operands[r], iterations); ok {
			missing -= mass
		} else {
			others = append(others, &operands[r])
		}
	}
	for _, o := range others {
		if missing > 0 {
			asked := massOf{crowdOf{l, iterations}, o.misses}
			mass, known := o.masses[asked]
			if !known {
				mass = l.mass(o, iterations)
				o.masses[asked] = mass
			}
			missing -= mass
		}
	}
	return missing <= 0
}

// stream is mass of an operand of one loop and a stride of at most a line, in passes or not, and reports
// whether it is one. It comes to one block after the other, so that in each, its first stay begins, if
// that goes on for no pass.
//
// Say that so many iterations come to w blocks for the first time in their pass. If they lie in one pass, these follow one
// another. Else the last of the one pass and the first of the next follow one another each, and are w-1
// at least: in a set, one less.
func (l *level) stream(o *gapped, iterations int) (mass int, ok bool) {
	n, line := o.alone, 1<<l.Shift
	last := len(n.Trips) - 1
	if last < 0 || last > 1 {
		return 0, false
	}
	size := max(n.Operands[0].Strides[last], -n.Operands[0].Strides[last])
	if size == 0 || size > line {
		return 0, false
	}
	mass = min(iterations, n.Trips[last]) * size / line / l.Sets
	if last == 0 {
		return mass, true
	}
	long := !slices.ContainsFunc(o.all, func(p pattern) bool { return p.lead == 0 && p.least < o.misses })
	return max(0, mass-1), n.Operands[0].Strides[0] == 0 && long
}

// mass is at most the least number of blocks of one set, whichever, of which a stay of the
// level before begins in any so many consecutive iterations of an operand.
//
// Take a loop of which these have so many whole iterations in a row, no more than its trips.
// They lie in one run of the loop, or at the end of one and at the start of another; cut into
// eight equal parts, at least seven of these, or all, are each in one run, some in a row at
// the end and the others in a row at the start. What the operand touches in some in a row
// is decided by the place in a line that the loops up to this one bring it to, since a move
// by whole lines turns all sets alike. Of each block at most one access is counted (fresh): one
// that, as far as its place in the line tells, cannot come back to a block that was touched
// within as many iterations before it, nor so soon that a stay goes on; in the first iterations
// of a loop inside of this one, patterns that go on in it do not count (freshness).
func (l *level) mass(o *gapped, iterations int) int {
	n, line := o.alone, 1<<l.Shift
	op := n.Operands[0]
	budget := min(massBudget, max(leastMass, massShare*n.Iterations()))
	part, at, step := o.part(iterations, line, budget)
	if part == 0 {
		return 0
	}
	fresh := o.freshness(max(parts*part, o.misses-1), line, at)
	if share := o.share(fresh, line); share < 1 { // then more fit into the budget
		part, at, step = o.part(iterations, line, int(float64(budget)/share))
		fresh = o.freshness(max(parts*part, o.misses-1), line, at)
	}
	if !slices.Contains(fresh.first, true) && !slices.Contains(fresh.any, true) {
		return 0
	}
	trips := slices.Clone(n.Trips[at:])
	trips[0] = part / nest.Nest{Trips: n.Trips[at+1:]}.Iterations()
	of := filling{trips, op.Strides[at:], int(op.Base % uint64(step)), step, fresh}
	for _, known := range l.masses {
		if reflect.DeepEqual(known.of, of) {
			return known.mass
		}
	}
	var least [parts + 1]int // in so many parts in a row
	for k := range least[1:] {
		least[k+1] = math.MaxInt
	}
	counts, lists := make([]int32, l.Sets), [2]map[uint64][]int{{}, {}}
	for place := op.Base % uint64(step); place < uint64(line); place += uint64(step) {
		clear(counts)
		for k := range parts {
			l.fill(counts, place+uint64(k*trips[0]*op.Strides[at]), trips, op.Strides[at:], fresh, lists)
			least[k+1] = min(least[k+1], int(slices.Min(counts)))
		}
	}
	mass := least[parts]
	for k := range parts {
		mass = min(mass, least[k]+least[parts-1-k])
	}
	l.masses = append(l.masses, knownMass{of, mass})
	return mass
}

// part is how many iterations a part of them has for mass, the loop that it is of, and what its strides and outer ones share. No
// more than a budget are looked at, from every place in a line.
func (o *gapped) part(iterations, line, budget int) (part, at, step int) {
	step = line
	inside, g := o.alone.Iterations(), line
	for m, trips := range o.alone.Trips {
		inside /= trips
		g = nest.GCD(g, o.alone.Operands[0].Strides[m])
		whole := min((iterations+1)/inside-1, trips, budget/inside/(line/g))
		if whole/parts*inside > part {
			part, at, step = whole/parts*inside, m, g
		}
	}
	return part, at, step
}

// share is about which share of all iterations is looked at in a long innermost loop, where those
// are listed that are fresh (fill): in shorter ones, all.
func (o *gapped) share(fresh freshness, line int) float64 {
	step, trips := o.step(line), o.alone.Trips[len(o.alone.Trips)-1]
	if 2*line/step > trips {
		return 1
	}
	first, any := 0, 0
	for place := int(o.alone.Operands[0].Base) & (step - 1); place < line; place += step {
		if fresh.first[place] {
			first++
		}
		if fresh.any[place] {
			any++
		}
	}
	return min(1, float64(max(first, any, 1)*step)/float64(line)+ofRun/float64(trips))
}

// ofRun is what a run of an innermost loop takes, in iterations that are looked at.
const ofRun = 16

// A filling is what decides a mass in a level: operands of one tensor's shape have the same.
type filling struct {
	trips, strides []int
	place, step    int
	fresh          freshness
}

// A knownMass is the mass of a filling.
type knownMass struct {
	of   filling
	mass int
}

// parts is how many parts the iterations of a mass are cut into.
const parts = 8

// fill counts the blocks of accesses that are fresh by set. A long innermost loop comes back to
// a place in a line again and again: then, of each place where it may begin, lists has the first
// of its iterations that are fresh, where the freshness's loop is in its first and elsewhere.
func (l *level) fill(counts []int32, place uint64, trips, strides []int, fresh freshness, lists [2]map[uint64][]int) {
	last := len(trips) - 1
	steps := nest.Steps(trips[:last], strides[:last])
	inner, within := uint64(strides[last]), uint64(len(fresh.any)-1)
	period := len(fresh.any) / nest.GCD(len(fresh.any), strides[last])
	addr := place + 1<<62 // for strides downwards
	is, known := fresh.first, lists[0]
	for loop := range nest.Walk(trips[:last]) {
		if loop >= 0 {
			addr += uint64(steps[loop])
		}
		if loop < fresh.loop {
			is, known = fresh.first, lists[0]
		} else if loop == fresh.loop {
			is, known = fresh.any, lists[1]
		}
		if 2*period > trips[last] {
			a := addr
			for range trips[last] {
				if is[a&within] {
					counts[l.set(a>>l.Shift)]++
				}
				a += inner
			}
			continue
		}
		list, found := known[addr&within]
		if !found {
			for k := range period {
				if is[(addr+uint64(k)*inner)&within] {
					list = append(list, k)
				}
			}
			known[addr&within] = list
		}
		for _, k := range list {
			for ; k < trips[last]; k += period {
				counts[l.set((addr+uint64(k)*inner)>>l.Shift)]++
			}
		}
	}
}

// stay is at least the number of iterations between two touches of a block that have only
// gaps of less than misses between them.
//
// Say that these gaps are at most g. The times between any two touches of a block lie in
// the ranges of the patterns. If no range begins in the g iterations after one that a stay
// can reach, it gets no further.
func (o *gapped) stay(misses int) int {
	g := 0
	for _, p := range o.patterns {
		if p.least < misses {
			g = max(g, p.most)
		}
	}
	if g == 0 {
		return 0
	}
	ranges := slices.Clone(o.all)
	slices.SortFunc(ranges, func(a, b pattern) int { return a.least - b.least })
	reach := 0
	for _, p := range ranges {
		if p.least > reach+g {
			break
		}
		reach = max(reach, p.longest)
	}
	return reach
}
