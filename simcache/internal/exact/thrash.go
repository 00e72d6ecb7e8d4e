package exact

import (
	"math"
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// A budget bounds the accesses listed to answer one question: a part of the nest's accesses,
// because looking up all takes longer, with a minimum. The part of a large nest is larger.
const (
	crowdBudget, leastCrowd         = 1 << 26, 1 << 12
	crowdPart, largePart, largeNest = 32, 2, 1 << 27
	massBudget, massPart, leastMass = 1 << 28, 4, 1 << 18
)

// holds reports whether any window of this length touches at most as many lines of each set as
// there are ways. It tries shorter windows first, which may already touch more.
func (l *level) holds(refs []operand, iterations int) bool {
	for some := 4 * l.Lines(); some < iterations; some *= 8 {
		if !l.holdsIn(refs, some) {
			return false
		}
	}
	return l.holdsIn(refs, iterations)
}

func (l *level) holdsIn(refs []operand, iterations int) bool {
	room := l.Ways
	for r := range refs {
		if room -= l.crowdIn(&refs[r], iterations, l.Ways); room < 0 {
			return false
		}
	}
	return true
}

// crowdIn is crowd, memoized.
func (l *level) crowdIn(o *operand, iterations, enough int) int {
	asked := crowdOf{l, iterations, enough}
	crowd, known := o.crowds[asked]
	if !known {
		all, part := o.alone.Iterations(), crowdPart
		if all >= largeNest {
			part = largePart
		}
		budget := min(crowdBudget, max(leastCrowd, all/part))
		crowd = l.crowd(o.alone, uint64(iterations), enough, &budget)
		o.crowds[asked] = crowd
	}
	return crowd
}

// thrashes reports whether thrashing is certain: in any window of consecutive iterations, stays
// begin for at least as many lines of every set as ways. It tries shorter windows first.
func (l *level) thrashes(refs []operand, iterations int) bool {
	for some := 64 * l.Lines(); some < iterations; some *= 8 {
		if l.thrashesIn(refs, some) {
			return true
		}
	}
	return l.thrashesIn(refs, iterations)
}

func (l *level) thrashesIn(refs []operand, iterations int) bool {
	missing := l.Ways
	for r := range refs {
		missing -= l.inPass(&refs[r], iterations)
	}
	for r := range refs {
		if missing > 0 {
			missing -= max(0, l.brings(&refs[r], iterations)-l.inPass(&refs[r], iterations))
		}
	}
	return missing <= 0
}

// brings is mass, memoized.
func (l *level) brings(o *operand, iterations int) int {
	if mass, ok := l.stream(o, iterations); ok {
		return mass
	}
	asked := massOf{l, iterations, o.misses}
	mass, known := o.masses[asked]
	if !known {
		mass = l.mass(o, iterations)
		o.masses[asked] = mass
	}
	return mass
}

// stream is mass of a unit-stride or short-strided operand: one loop with a stride of at most a
// line, perhaps repeated in passes. It reports whether the operand is one.
//
//  1. The operand touches one line after the other. The first stay in each line begins there, if no
//     stay lasts until the next pass.
//  2. Say that the iterations touch w lines for the first time in their pass.
//  3. Within one pass, these lines are consecutive.
//  4. Otherwise the last lines of one pass and the first lines of the next are consecutive. They
//     are at least w-1, hence one less in a set.
func (l *level) stream(o *operand, iterations int) (mass int, ok bool) {
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
	soon := func(p pattern) bool { return p.lead == 0 && p.least < o.misses }
	long := !slices.ContainsFunc(o.all, soon)
	return max(0, mass-1), n.Operands[0].Strides[0] == 0 && long
}

// mass returns a lower bound for any window of consecutive iterations of an operand: the lines of
// any one set in which a stay of the level before begins.
//
//  1. Choose a loop. The window contains some whole iterations of it in a row, at most its trips.
//  2. These lie in one run of the loop, or at the end of one run and the start of the next.
//  3. Cut them into eight equal parts. At least seven parts, or all, lie in one run each: some in a
//     row at the end, the others in a row at the start.
//  4. The place in a line at which parts begin decides their lines, up to a move by whole lines.
//     Such a move turns all sets equally. The loops up to the chosen one decide the place.
//  5. Count at most one access of each line, a fresh one. By its place in the line, no pattern
//     brings it back to a line touched in a window before, nor so soon that a stay lasts.
func (l *level) mass(o *operand, iterations int) int {
	n, line, base := o.alone, 1<<l.Shift, o.alone.Operands[0].Base
	budget := min(massBudget, max(leastMass, n.Iterations()/massPart))
	part, at, step := o.part(iterations, line, budget)
	if part == 0 {
		return 0
	}
	fresh := o.freshAfter(max(parts*part, o.misses-1), line)
	box, next := o.box(part, at)
	if share := o.share(fresh, line, box); share < 1 { // then more iterations fit the budget
		part, at, step = o.part(iterations, line, int(float64(budget)/share))
		box, next = o.box(part, at)
		fresh = o.freshAfter(max(parts*part, o.misses-1), line)
	}
	if fresh[0] >= fresh[1] {
		return 0
	}
	of := filling{box.Trips, box.Operands[0].Strides, int(base % uint64(step)), step, fresh}
	for _, known := range l.known {
		if reflect.DeepEqual(known.of, of) {
			return known.mass
		}
	}
	var least [parts + 1]int // by number of parts in a row
	for k := range least[1:] {
		least[k+1] = math.MaxInt
	}
	counts, lists := make([]int32, l.Sets), map[uint64][]int{}
	for place := base % uint64(step); place < uint64(line); place += uint64(step) {
		clear(counts)
		for k := range parts {
			l.fill(counts, place+uint64(k*next), of, lists)
			least[k+1] = min(least[k+1], int(slices.Min(counts)))
		}
	}
	mass := least[parts]
	for k := range parts {
		mass = min(mass, least[k]+least[parts-1-k])
	}
	l.known = append(l.known, knownMass{of, mass})
	return mass
}

// part returns the iterations in a part of mass, the chosen loop, and the common divisor of its and
// the outer strides. The places in a line share the budget.
func (o *operand) part(iterations, line, budget int) (part, at, step int) {
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

// box returns a part of the loops from one on, the longest innermost: their order does not matter.
// next is the way in bytes to the next part.
func (o *operand) box(part, at int) (n nest.Nest, next int) {
	n = o.alone.Inside(at)
	trips := part / n.Inside(1).Iterations()
	n, next = n.Range(0, 0, trips), trips*n.Operands[0].Strides[0]
	order := nest.UpTo(len(n.Trips))
	slices.SortFunc(order, func(a, b int) int { return n.Trips[a] - n.Trips[b] })
	return n.Permute(order...), next
}

// share estimates the share of the iterations of a box that fill looks at.
func (o *operand) share(of fresh, line int, box nest.Nest) float64 {
	places := max(of[1]-of[0], stepOf(o.alone, line))
	return min(1, float64(places)/float64(line)+ofRun/float64(box.Trips[len(box.Trips)-1]))
}

// ofRun is the cost of one run of an innermost loop, in iterations looked at.
const ofRun = 16

// A filling decides the mass in a level. Operands of tensors with one shape have the same.
type filling struct {
	trips, strides []int
	place, step    int
	fresh          fresh
}

type knownMass struct {
	of   filling
	mass int
}

const parts = 8

// fill counts the lines of fresh accesses by set. The innermost loop returns to each place in a
// line periodically. For each starting place, lists has the fresh iterations of one period.
func (l *level) fill(counts []int32, place uint64, of filling, lists map[uint64][]int) {
	last := len(of.trips) - 1
	steps := nest.Steps(of.trips[:last], of.strides[:last])
	trips, inner, line := of.trips[last], uint64(of.strides[last]), 1<<l.Shift
	within := uint64(line - 1)
	period := line / nest.GCD(line, of.strides[last])
	addr := place + 1<<62 // keeps addresses positive if strides are negative
	for loop := range nest.Walk(of.trips[:last]) {
		if loop >= 0 {
			addr += uint64(steps[loop])
		}
		list, found := lists[addr&within]
		if !found {
			for k := range min(period, trips) {
				if of.fresh.has(int((addr + uint64(k)*inner) & within)) {
					list = append(list, k)
				}
			}
			lists[addr&within] = list
		}
		for _, k := range list {
			at := addr + uint64(k)*inner
			for ; k < trips; k += period {
				counts[l.setOf(at)]++
				at += uint64(period) * inner
			}
		}
	}
}

// crowd returns an upper bound of a conflict set: the lines of one set that any t consecutive
// iterations of a nest of one operand touch. Above enough, or beyond the budget, it returns any
// number above enough.
//
//  1. Take the innermost loops that together make t iterations or more, or else all loops.
//  2. t iterations lie in one run of these loops, or in the end of one run and the start of the
//     next.
//  3. Say that one iteration of the outermost of these loops makes w iterations. Then t iterations
//     are part of at most (t-2)/w+2 consecutive iterations of it, in either run.
//  4. Two runs count twice what one run touches. But if all iterations of the second loop count,
//     two iterations of the outermost loop touch no more, and one run of it has all.
//  5. The loops up to the outermost of these decide where in a line the iterations begin.
func (l *level) crowd(n nest.Nest, t uint64, enough int, budget *int) int {
	inside := uint64(1)
	at := len(n.Trips)
	for at > 0 && inside < t {
		at--
		if inside*uint64(n.Trips[at]) >= t || at == 0 {
			break
		}
		inside *= uint64(n.Trips[at])
	}
	if at == 1 && t > 1 && (t-2)/inside+2 >= uint64(n.Trips[1]) {
		at, inside = 0, inside*uint64(n.Trips[1])
	}
	trips := append([]int(nil), n.Trips[at:]...)
	if len(trips) > 0 {
		trips[0] = int(min(uint64(trips[0]), (t-2)/inside+2))
	}
	op := n.Operands[0]
	begins := op // where the lowest address of a run may lie
	begins.Strides = op.Strides[:min(at+1, len(op.Strides))]
	op.Strides = op.Strides[at:]
	for m, s := range op.Strides {
		begins.Base += uint64(min(s, 0) * (trips[m] - 1))
	}
	places := touched.Alignments(begins, 1<<l.Shift)
	most, counted := touched.Crowd(op, trips, places, 1<<l.Shift, l.Sets, budget)
	if !counted {
		return enough + 1
	}
	if at > 0 && t > 1 {
		most *= 2
	}
	return most
}

func (l *level) setOf(addr uint64) uint64 {
	return uint64(modulo(int(addr>>l.Shift), l.Sets))
}

// stepOf returns the greatest common divisor of a line and all strides.
func stepOf(alone nest.Nest, line int) int {
	for _, s := range alone.Operands[0].Strides {
		line = nest.GCD(line, s)
	}
	return line
}

// drivesOut returns a lower bound of the lines that operand o itself brings to a line's set before
// a pattern brings it back to the line. In all levels before, o missed whenever it came to a line.
//
//  1. Take a loop m inside the pattern's leading loop. Both touches have the same index of m, and
//     the stride of m is a whole number of lines.
//  2. Between the touches lie accesses with one touch's index in all other loops: the first touch's
//     for each higher index of m, and the second touch's for each lower index.
//  3. Both touches are in one line. So each of these accesses lies as many lines from it as m moves
//     it.
//  4. Every q-th of them is in the line's set. q is the number of sets divided by its greatest
//     common divisor with the stride in lines.
func (l *level) drivesOut(o *operand, p *pattern) (most int) {
	strides := o.alone.Operands[0].Strides
	for m := p.lead + 1; m < len(strides); m++ {
		lines := strides[m] >> l.Shift
		if p.moves[m] == 0 && lines != 0 && lines<<l.Shift == strides[m] {
			most = max(most, o.alone.Trips[m]/(l.Sets/nest.GCD(l.Sets, lines))-1)
		}
	}
	return most
}

// inPass is mass of an operand whose outermost loop does not move it. Each iteration of that loop,
// a period, touches the same lines.
//
//  1. A window of consecutive iterations leaves out at most one stretch of a period.
//  2. It touches each line of the period except those in the stretch.
//  3. Such a line's first touch of a period is in the window. For the stretch does not touch the
//     line, so it lies before all the line's touches in a period, or after all of them.
//  4. This counts if first touches of a period come from the level before.
func (l *level) inPass(o *operand, iterations int) int {
	n := o.alone
	if len(n.Trips) == 0 || n.Operands[0].Strides[0] != 0 {
		return 0
	}
	left := n.Iterations()/n.Trips[0] - iterations
	soon := func(p pattern) bool { return p.lead == 0 && p.least < o.misses }
	if left > iterations || slices.ContainsFunc(o.patterns, soon) {
		return 0
	}
	fewest, known := o.fewest[l]
	if !known {
		of := n.Operands[0]
		of.Strides = of.Strides[1:]
		fewest = touched.Fewest(of, n.Trips[1:], 1<<l.Shift, l.Sets, passBudget)
		o.fewest[l] = fewest
	}
	if fewest == 0 || left <= 0 {
		return fewest
	}
	return max(0, fewest-l.crowdIn(o, left, fewest))
}

const passBudget = 1 << 20
