package exact

import (
	"math"
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A budget bounds the accesses that are listed to answer one question. It is a part of the nest,
// since to look all of it up takes longer, but not less than the least.
const (
	crowdBudget, crowdPart, leastCrowd = 1 << 23, 32, 1 << 12
	massBudget, massPart, leastMass    = 1 << 28, 4, 1 << 18
)

// holds reports whether what any so many consecutive iterations touch is at most as many
// lines of any set as there are ways. Where fewer iterations touch more, that is told sooner.
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

// crowdIn is crowd, which is found once.
func (l *level) crowdIn(o *operand, iterations, enough int) int {
	asked := crowdOf{l, iterations, enough}
	crowd, known := o.crowds[asked]
	if !known {
		budget := min(crowdBudget, max(leastCrowd, o.alone.Iterations()/crowdPart))
		crowd = l.crowd(o.alone, uint64(iterations), enough, &budget)
		o.crowds[asked] = crowd
	}
	return crowd
}

// floods reports whether in any so many consecutive iterations stays of at least as many
// lines of every set begin as there are ways. Where fewer iterations do, that is told sooner.
func (l *level) floods(refs []operand, iterations int) bool {
	for some := 64 * l.Lines(); some < iterations; some *= 8 {
		if l.floodsIn(refs, some) {
			return true
		}
	}
	return l.floodsIn(refs, iterations)
}

// floodsIn asks first what takes no look at accesses.
func (l *level) floodsIn(refs []operand, iterations int) bool {
	missing := l.Ways
	sure := make([]int, len(refs))
	for r := range refs {
		sure[r], _ = l.stream(&refs[r], iterations)
		sure[r] = max(sure[r], l.sweep(&refs[r], iterations))
		missing -= sure[r]
	}
	for r := range refs {
		if missing > 0 {
			missing -= max(0, l.brings(&refs[r], iterations)-sure[r])
		}
	}
	return missing <= 0
}

// brings is mass, which is found once.
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

// stream is mass of an operand of one loop and a stride of at most a line, in passes or not, and
// reports whether it is one. It comes to one line after the other. In each its first stay begins,
// if that goes on for no pass.
//
// Say that the iterations come to w lines for the first time in their pass. If they lie in one
// pass, these follow one another. Else the last of the one pass and the first of the next do, and
// are w-1 at least: in a set, one less.
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

// mass is at most the least number of lines of one set, whichever, of which a stay of the
// level before begins in any so many consecutive iterations of an operand.
//
// Take a loop of which these have so many whole iterations in a row, no more than its trips.
// They lie in one run of the loop, or at the end of one and at the start of another; cut into
// eight equal parts, at least seven of these, or all, are each in one run, some in a row at
// the end and the others in a row at the start. What the operand touches in some in a row
// is decided by the place in a line that the loops up to this one bring it to, since a move
// by whole lines turns all sets alike. Of each line at most one access is counted (fresh): one
// that, as far as its place in the line tells, cannot come back to a line that was touched
// within as many iterations before it, nor so soon that a stay goes on; in the first iterations
// of a loop inside of this one, patterns that go on in it do not count (freshness).
func (l *level) mass(o *operand, iterations int) int {
	n, line := o.alone, 1<<l.Shift
	op := n.Operands[0]
	budget := min(massBudget, max(leastMass, n.Iterations()/massPart))
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
	for _, known := range l.known {
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
	l.known = append(l.known, knownMass{of, mass})
	return mass
}

// part is how many iterations a part of them has for mass, the loop that it is of, and what its
// strides and outer ones share. No more than a budget are looked at, from every place in a line.
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

// share is about which share of all iterations is looked at in a long innermost loop, where those
// are listed that are fresh (fill): in shorter ones, all.
func (o *operand) share(fresh freshness, line int) float64 {
	step, trips := stepOf(o.alone, line), o.alone.Trips[len(o.alone.Trips)-1]
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

// fill counts the lines of accesses that are fresh by set. A long innermost loop comes back to
// a place in a line again and again: then, of each place where it may begin, lists has the first
// of its iterations that are fresh, where the freshness's loop is in its first and elsewhere.
func (l *level) fill(counts []int32, place uint64, trips, strides []int, fresh freshness,
	lists [2]map[uint64][]int) {
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
					counts[l.setOf(a)]++
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
				counts[l.setOf(addr+uint64(k)*inner)]++
			}
		}
	}
}

// crowd is at least the number of lines of one set that any t consecutive
// iterations of a nest of one operand touch. If that is above enough, or would
// take more than is left of the budget to count, it is something above enough.
//
// Take the innermost loops that together make t iterations or more, or else all
// loops. t iterations lie in one run of these, or in the end of one run and the
// start of the next. If one iteration of the outermost of these loops makes w,
// they are part of at most (t-2)/w+2 consecutive iterations of it, or, of two
// runs, of so many in either. Where in a line these begin, the loops up to it tell.
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
	trips := append([]int(nil), n.Trips[at:]...)
	if len(trips) > 0 {
		trips[0] = int(min(uint64(trips[0]), (t-2)/inside+2))
	}
	op := n.Operands[0]
	begins := op // where the lowest address of an iteration's run may lie
	begins.Strides = op.Strides[:min(at+1, len(op.Strides))]
	op.Strides = op.Strides[at:]
	for m, s := range op.Strides {
		begins.Base += uint64(min(s, 0) * (trips[m] - 1))
	}
	places := begins.Alignments(1 << l.Shift)
	most, counted := op.Crowd(trips, places, 1<<l.Shift, l.Sets, budget)
	if !counted {
		return enough + 1
	}
	if at > 0 && t > 1 {
		most *= 2
	}
	return most
}

// setOf is the set of an address.
func (l *level) setOf(addr uint64) uint64 {
	block := addr >> l.Shift
	if l.Sets&(l.Sets-1) == 0 {
		return block & uint64(l.Sets-1)
	}
	return block % uint64(l.Sets)
}

// stepOf is what a line and all strides are multiples of.
func stepOf(alone nest.Nest, line int) int {
	for _, s := range alone.Operands[0].Strides {
		line = nest.GCD(line, s)
	}
	return line
}

// drivesOut is how many lines operand o brings at least to the set of a line before it comes back
// to that line by a pattern, where it missed in all levels before whenever it came to a line.
//
// Take a loop m further in than the one that leads the pattern, in which both touches have the same
// index, and whose stride is a whole number of lines. In the window lie accesses whose index in all
// other loops is one touch's: for each higher index of m the first one's, and for each lower one
// the second one's. Both touches are in one line, so that each of these lies as many lines from it
// as m moves it. Every q-th of them is in its set, q being the sets divided by what they share with
// the stride.
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

// drivenOut reports whether a line is gone when operand r comes back to it by a pattern: by what
// the operand itself brings to its set, and what the others bring to every set.
func (l *level) drivenOut(refs []operand, r int, p *pattern) bool {
	missing := l.Ways - l.drivesOut(&refs[r], p)
	for i := range refs {
		if i != r && missing > 0 {
			missing -= l.brings(&refs[i], p.least-1)
		}
	}
	return missing <= 0
}

// sweep is mass of an operand whose outermost loop does not move it: in each of that loop's
// iterations, a period, it touches the same lines.
//
// So many consecutive iterations leave out no more than one stretch of a period. They touch each
// line of the period but those of the stretch. Of these lines they have the first touch of a
// period, if first touches come from the level before: the stretch does not touch the line, so
// that it lies in a period before all the line's touches, or after all of them.
func (l *level) sweep(o *operand, iterations int) int {
	n := o.alone
	if len(n.Trips) == 0 || n.Operands[0].Strides[0] != 0 {
		return 0
	}
	left := n.Iterations()/n.Trips[0] - iterations
	soon := func(p pattern) bool { return p.lead == 0 && p.least < o.misses }
	if left > iterations || slices.ContainsFunc(o.patterns, soon) {
		return 0
	}
	fewest, known := o.sweeps[l]
	if !known {
		of := n.Operands[0]
		of.Strides = of.Strides[1:]
		fewest = of.Fewest(n.Trips[1:], 1<<l.Shift, l.Sets, sweepBudget)
		o.sweeps[l] = fewest
	}
	if fewest == 0 || left <= 0 {
		return fewest
	}
	return max(0, fewest-l.crowdIn(o, left, fewest))
}

// sweepBudget bounds the runs of bytes of a period that are listed.
const sweepBudget = 1 << 20
