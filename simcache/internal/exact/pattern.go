package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A pattern is a way in which an operand returns to a line: a difference between two iterations. It
// has an index difference for each loop that moves the operand, and a shift in bytes.
//
// Of the other loops, those around lead have the same index in both iterations. lead has a greater
// index in the second, and the loops inside it have any. So two different iterations in which an
// operand touches one line always differ by one of its patterns.
type pattern struct {
	moves []int // by loop; 0 for loops that do not move the operand
	lead  int   // the outermost loop whose index differs
	shift int   // bytes
	// Intervals, in iterations. Any iteration from which the pattern leads to an access lies least
	// to longest before it. If it leads to an access at all, the last touch of the line lies at
	// most "most" before (ledBy).
	least, most, longest int
}

// mostPatterns bounds the patterns of an operand. Its iterations, divided by patternsPart, do so,
// too.
const mostPatterns, patternsPart = 1 << 16, 1 << 8

// A tracer lists the patterns of an operand.
type tracer struct {
	trips, strides []int
	inside         []int // iterations of one of each loop
	order          []int // the loops that move the operand, by decreasing stride
	reach          []int // by position in order: the largest move by the loops from there on
	line           int
	moves          []int
	patterns       []pattern
	most           int // limit of patterns
}

// patternsOf lists all patterns of a nest of one operand. It fails if there are too many.
func patternsOf(n nest.Nest, line int) (all []pattern, ok bool) {
	t := &tracer{trips: n.Trips, strides: n.Operands[0].Strides, line: line,
		inside: make([]int, len(n.Trips)), moves: make([]int, len(n.Trips))}
	inside := 1
	for m := len(n.Trips) - 1; m >= 0; m-- {
		t.inside[m] = inside
		inside *= n.Trips[m]
		if t.strides[m] != 0 {
			t.order = append(t.order, m)
		}
	}
	size := func(m int) int { return max(t.strides[m], -t.strides[m]) }
	slices.SortFunc(t.order, func(a, b int) int { return size(b) - size(a) })
	t.reach = make([]int, len(t.order)+1)
	for k := len(t.order) - 1; k >= 0; k-- {
		t.reach[k] = t.reach[k+1] + size(t.order[k])*(n.Trips[t.order[k]]-1)
	}
	t.most = min(mostPatterns, inside/patternsPart)
	return t.patterns, t.list(0, 0) && len(t.patterns) <= t.most
}

// list lists the patterns whose first k loops in order move by shift bytes, unless there are too
// many.
func (t *tracer) list(k, shift int) bool {
	if k == len(t.order) {
		t.add(shift)
		return len(t.patterns) <= t.most
	}
	m := t.order[k]
	stride, room := t.strides[m], t.reach[k+1]+t.line-1
	// -room <= shift + stride*d <= room
	from, to := -room-shift, room-shift
	if stride < 0 {
		stride, from, to = -stride, -to, -from
	}
	most := t.trips[m] - 1
	first, last := max(-nest.FloorDiv(-from, stride), -most), min(nest.FloorDiv(to, stride), most)
	for d := first; d <= last; d++ {
		t.moves[m] = d
		if !t.list(k+1, shift+d*t.strides[m]) {
			return false
		}
	}
	t.moves[m] = 0
	return true
}

// add adds the patterns of the moves. The outermost loop with a move leads one, if that is
// forwards. Each loop around it that does not move the operand leads another.
func (t *tracer) add(shift int) {
	for m, d := range t.moves {
		switch {
		case t.strides[m] == 0:
			t.patterns = append(t.patterns, t.ledBy(m, shift))
		case d > 0:
			t.patterns = append(t.patterns, t.ledBy(m, shift))
			return
		case d < 0:
			return
		}
	}
}

// ledBy returns the pattern of the moves that a loop leads.
//
//  1. The loops inside lead that do not move the operand have any index in both iterations. least
//     has their last index in the first iteration and index 0 in the second.
//  2. If all have index 0 at an access, the pattern leads there from least before it, too.
//  3. Otherwise take the innermost one with another index. In its step before, the operand was at
//     the same address. The last such touch has all the loops inside it at their last index.
func (t *tracer) ledBy(lead, shift int) pattern {
	p := pattern{moves: slices.Clone(t.moves), lead: lead, shift: shift}
	for m, d := range p.moves {
		p.least += d * t.inside[m]
	}
	p.longest = p.least
	if t.strides[lead] == 0 {
		p.least += t.inside[lead]
		p.longest += (t.trips[lead] - 1) * t.inside[lead]
	}
	step := 0 // all iterations of the loops inside that do not move the operand, but for the first
	for m := len(t.trips) - 1; m > lead; m-- {
		if t.strides[m] == 0 {
			p.most = max(p.most, t.inside[m]-step)
			step += (t.trips[m] - 1) * t.inside[m]
		}
	}
	p.longest += step
	p.least -= step
	p.most = max(p.most, p.least)
	return p
}

// passes reports whether between any two iterations of the pattern lies another touch of the line,
// so the pattern never leads to a last touch.
//
//  1. The touch between is one step of a loop after the first iteration, or before the second. It
//     is in the line if the step does not move the operand past the other touch.
//  2. A step of the leading loop lies between the two if the pattern takes at least two.
//  3. A step of a loop inside lies after the first, unless the first is in that loop's last
//     iteration. Then a step lies before the second, unless the second is in the loop's first
//     iteration.
func (p *pattern) passes(n nest.Nest) bool {
	for m := p.lead; m < len(n.Trips); m++ {
		least := 2 - n.Trips[m]
		if m == p.lead {
			least = 2
		}
		s := n.Operands[0].Strides[m]
		if s != 0 && p.moves[m] >= least && min(0, p.shift) <= s && s <= max(0, p.shift) {
			return true
		}
	}
	return false
}

// apartFrom returns the places in a line, from..to, to which no pattern leads. A positive shift
// leads to the places from shift on, a negative one to those below line+shift.
func apartFrom(patterns []pattern, line int) (from, to int) {
	to = line
	for i := range patterns {
		if s := patterns[i].shift; s >= 0 {
			to = min(to, s)
		} else {
			from = max(from, line+s)
		}
	}
	return from, to
}

// fresh is the places in a line, from the first to before the second, at which an access is fresh:
// no pattern with a short interval brings it back to its line.
type fresh [2]int

func (f fresh) has(place int) bool { return f[0] <= place && place < f[1] }

// freshAfter returns the places to which no pattern with an interval of at most gap leads.
func (o *operand) freshAfter(gap, line int) fresh {
	var near []pattern
	for _, p := range o.patterns {
		if p.least <= gap {
			near = append(near, p)
		}
	}
	from, to := apartFrom(near, line)
	return fresh{from, to}
}

// beginnings returns the number of accesses with an interval above hits, or with none. It fails if
// the count takes too long.
//
//  1. These are the accesses to which no pattern with an interval of at most hits leads.
//  2. A pattern leads to an access if the place in the line allows it, and if the earlier iteration
//     is one of the nest's.
//  3. The latter depends on where the index of each loop lies among a few bounds.
//  4. Between two bounds only the places count, and each loop moves them by its stride.
func (o *operand) beginnings(hits, line, passes int) (count uint64, ok bool) {
	op, step := o.alone.Operands[0], stepOf(o.alone, line)
	c := &counter{trips: o.alone.Trips, strides: op.Strides,
		line: line, step: step, first: int(op.Base % uint64(step)),
		budget: min(countBudget, countShare*o.alone.Iterations())}
	places := make([]uint64, line/step)
	places[int(op.Base%uint64(line))/step] = 1
	var near []pattern
	for _, p := range o.patterns {
		if p.most <= hits {
			near = append(near, p)
		}
	}
	if passes > 1 {
		if o.alone.Trips[0]%passes != 0 || op.Strides[0] != 0 {
			return 0, false
		}
		c.from = o.alone.Trips[0] / passes * (passes - 1)
	}
	count = c.count(0, near, places)
	return count, c.budget >= 0
}

// countBudget bounds the additions for counting an operand's beginnings, and countShare those for
// each access. A walk takes no longer.
const (
	countBudget = 1 << 27
	countShare  = 64
)

// A counter counts the accesses of one operand to which no pattern leads.
type counter struct {
	trips, strides []int
	line           int
	step, first    int // places are first, first+step, ... below line
	budget         int
	from           int // first counted index of the outermost loop
}

// count returns their number within loop m and further in. places has the accesses of the loops
// around by place, and near the patterns that may still lead to them.
func (c *counter) count(m int, near []pattern, places []uint64) (sum uint64) {
	if m == len(c.trips) || len(near) == 0 {
		from, to := apartFrom(near, c.line)
		for i, n := range places {
			if place := c.first + i*c.step; from <= place && place < to {
				sum += n
			}
		}
		for ; m < len(c.trips); m++ {
			sum *= uint64(c.trips[m] - c.begin(m))
		}
		return sum
	}
	cuts := []int{c.begin(m), c.trips[m]}
	for _, p := range near {
		from, to := c.span(m, &p)
		cuts = append(cuts, max(from, cuts[0]), max(to, cuts[0]))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for k, to := range cuts[1:] {
		from := cuts[k]
		var inside []pattern
		for _, p := range near {
			if low, high := c.span(m, &p); low <= from && to <= high {
				inside = append(inside, p)
			}
		}
		if c.budget -= len(near); c.budget < 0 {
			return 0
		}
		sum += c.count(m+1, inside, c.moved(places, c.strides[m], from, to))
	}
	return sum
}

func (c *counter) begin(m int) int {
	if m == 0 {
		return c.from
	}
	return 0
}

// span returns the indices of loop m whose predecessor by the pattern is an index of the loop, too.
func (c *counter) span(m int, p *pattern) (from, to int) {
	d := p.moves[m]
	if m == p.lead && c.strides[m] == 0 {
		d = 1
	}
	return max(0, d), c.trips[m] + min(0, d)
}

// moved returns the number of accesses at each place after iterations from..to of a loop.
func (c *counter) moved(places []uint64, stride, from, to int) []uint64 {
	n := len(places)
	by := (stride/c.step%n + n) % n
	period := n / nest.GCD(n, by)
	moved := make([]uint64, n)
	whole, rest := (to-from)/period, (to-from)%period
	at := by * (from % period) % n
	for j := range min(period, to-from) {
		times := uint64(whole)
		if j < rest {
			times++
		}
		for i, count := range places {
			k := i + at
			if k >= n {
				k -= n
			}
			moved[k] += count * times
		}
		if at += by; at >= n {
			at -= n
		}
	}
	c.budget -= n * min(period, to-from)
	return moved
}

// An occurring decides whether some access returns by a pattern of one operand.
type occurring struct {
	*counter
	base    int
	at, old places
}

func newOccurring(alone nest.Nest, line int) *occurring {
	op, step := alone.Operands[0], stepOf(alone, line)
	words := max(1, line/step/64)
	return &occurring{
		counter: &counter{trips: alone.Trips, strides: op.Strides,
			line: line, step: step, first: int(op.Base) & (step - 1)},
		base: int(op.Base) & (line - 1), at: make(places, words), old: make(places, words)}
}

// by reports whether some access returns by a pattern. A pattern may need its loops at certain
// indices, such as from the end of a row to the start of the next, where lines may begin.
func (o *occurring) by(p *pattern) bool {
	// at has the places of accesses that may return by the pattern, every step bytes from the
	// first.
	at := o.base
	for m, stride := range o.strides {
		from, _ := o.span(m, p)
		at += from * stride
	}
	o.at.set(at&(o.line-1)/o.step, o.line/o.step)
	for m, stride := range o.strides {
		from, to := o.span(m, p)
		o.at.spread(stride/o.step, to-from, o.old)
	}
	// The access that one returns from lies in the same line.
	from, to := max(0, p.shift), min(o.line, o.line+p.shift)
	return o.at.any(max(0, from-o.first+o.step-1)/o.step, (to-o.first+o.step-1)/o.step)
}

// places is a set of places in a line, a bit each. Fewer than 64 places repeat up to bit 63. The
// number of words is a power of two.
type places []uint64

// set makes p the place k of n, a power of two.
func (p places) set(k, n int) {
	clear(p)
	for ; k < 64*len(p); k += n {
		p[k/64] |= 1 << (k % 64)
	}
}

// any reports whether the set has one of the places from..to.
func (p places) any(from, to int) bool {
	for ; from < to; from++ {
		if p[from/64]>>(from%64) == 0 {
			from |= 63
		} else if p[from/64]>>(from%64)&1 == 1 {
			return true
		}
	}
	return false
}

// spread adds all places that these reach in fewer than steps strides, modulo the line.
func (p places) spread(stride, steps int, old places) {
	steps = min(steps, 64*len(p))
	for done, more := 1, 0; done < steps; done += more {
		more = min(done, steps-done)
		by, last := stride*more, len(p)-1
		copy(old, p)
		for i, w := range old {
			p[(i+by>>6)&last] |= w<<(by&63) | old[(i-1)&last]>>(64-by&63)
		}
	}
}
