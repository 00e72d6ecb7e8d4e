package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A pattern is a way in which an operand comes back to a line: from one iteration to a
// later one, so many iterations of each loop that moves it, and so many bytes, further. Of
// the loops that do not move it, those around lead have the same index in both, lead itself
// a greater one, and those in it any. So two different iterations in which an operand touches
// one line differ by one of its patterns.
type pattern struct {
	moves []int // by loop; 0 for those that do not move the operand
	lead  int   // the outermost loop whose index is another
	shift int   // bytes
	// From the last iteration that an access can come from by the pattern it is least to
	// most iterations, and least to longest from any. Of an innermost loop that does not move it
	// only the first iteration counts for most: the others come back from the one before.
	least, most, longest int
}

// mostPatterns is how many patterns of an operand are listed, and patternsPart how many iterations
// it makes for each.
const mostPatterns, patternsPart = 1 << 16, 1 << 8

// A tracer lists the patterns of an operand.
type tracer struct {
	trips, strides []int
	inside         []int // iterations of one of each loop
	order          []int // the loops that move the operand, those of the largest strides first
	reach          []int // what the loops from one in this order on can move the operand by
	line           int
	moves          []int
	patterns       []pattern
	most           int // of these that are listed
}

// patternsOf lists all patterns of a nest of one operand, unless they are too many.
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

// list lists the patterns that move by so many bytes in the loops before the k-th of
// the order. It reports false where they become too many.
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

// add adds the patterns of the moves: one led by the outermost loop that moves on, if it
// does so forwards, and one for each loop around it that does not move the operand.
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

// ledBy is the pattern of the moves that a loop leads.
func (t *tracer) ledBy(lead, shift int) pattern {
	p := pattern{moves: slices.Clone(t.moves), lead: lead, shift: shift}
	for m, d := range p.moves {
		p.most += d * t.inside[m]
	}
	if t.strides[lead] == 0 {
		p.most += t.inside[lead]
		p.longest += (t.trips[lead] - 2) * t.inside[lead]
	}
	p.longest += p.most
	p.least = p.most
	for m := lead + 1; m < len(t.trips); m++ {
		if t.strides[m] == 0 {
			p.least -= (t.trips[m] - 1) * t.inside[m]
			p.longest += (t.trips[m] - 1) * t.inside[m]
		}
	}
	p.least = max(p.least, 1)
	if last := len(t.trips) - 1; lead < last && t.strides[last] == 0 {
		p.most -= t.trips[last] - 1
	}
	return p
}

// passes reports whether between any two iterations of the pattern lies another that touches the
// line, so that the pattern never leads to a last touch: one step of a loop after the first, or
// before the second, where that does not move the operand past the other. A step of the loop that
// leads is between them if that takes more than one. A step of one further in always is: after
// the first, unless that is in the loop's last iteration, and then before the second, unless that
// is in its first.
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

// apartFrom are the places in a line, from one up to another, to which none of the patterns leads:
// one that moves on by so many bytes leads to those from there on, and one that moves back by so
// many to those so far from the end and before.
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

// A freshness tells of each place in a line, of an access there in the first iteration of a loop
// and of one in any, whether no pattern with an interval of at most so many iterations can bring
// it back to its line.
type freshness struct {
	loop       int // counted from the one that its places were asked for
	first, any []bool
}

// freshness asks of the loop in whose first iterations most is fresh of those inside of one, but
// for the innermost.
func (o *operand) freshness(gap, line, behind int) freshness {
	of := freshness{any: o.fresh(gap, line, -1)}
	of.first = of.any
	most := 0.0
	for m := behind + 1; m < len(o.alone.Trips)-1; m++ {
		first, more := o.fresh(gap, line, m), 0
		for place, is := range first {
			if is && !of.any[place] {
				more++
			}
		}
		if share := float64(more) / float64(o.alone.Trips[m]); share > most {
			most = share
			of.loop, of.first = m-behind, first
		}
	}
	return of
}

// fresh is that of first iterations of a loop, into which no pattern leads that goes on in it; of
// any if the loop is -1.
func (o *operand) fresh(gap, line, loop int) []bool {
	var near []pattern
	for _, p := range o.patterns {
		if p.least <= gap && (loop < 0 || p.moves[loop] <= 0 && p.lead != loop) {
			near = append(near, p)
		}
	}
	fresh := make([]bool, line)
	from, to := apartFrom(near, line)
	for place := from; place < to; place++ {
		fresh[place] = true
	}
	return fresh
}

// beginnings is the number of accesses whose interval is above hits, or that have none. It
// reports false where that takes too long to count.
//
// These are the ones to which no pattern with an interval of at most hits leads. Whether one does
// is decided by the access's place in the line, and by whether the iteration that it would
// come from is one of the nest's: by where the index of each loop lies among a few bounds.
// Between these bounds the places alone count, and each loop moves them by its stride.
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

// countBudget is how many additions are spent on counting the beginnings of an operand, and
// countShare how many for each of its accesses: walking it would take no longer.
const (
	countBudget = 1 << 27
	countShare  = 64
)

// A counter counts the accesses of one operand that no pattern leads to.
type counter struct {
	trips, strides []int
	line           int
	step, first    int // places are first, first+step, ... below line
	budget         int
	from           int // index of the outermost loop from which on accesses are counted
}

// count is the number of them within loop m and further in, if so many accesses of the
// loops around are at each place, of which only these patterns may come.
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

// begin is the first index of loop m that is counted.
func (c *counter) begin(m int) int {
	if m == 0 {
		return c.from
	}
	return 0
}

// span is the indices of loop m from which the iteration before is one of the loop's.
func (c *counter) span(m int, p *pattern) (from, to int) {
	d := p.moves[m]
	if m == p.lead && c.strides[m] == 0 {
		d = 1
	}
	return max(0, d), c.trips[m] + min(0, d)
}

// moved is how many accesses are at each place after iterations from up to to of a loop.
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

// occurring asks of patterns of one operand whether some access comes back by them.
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

// by reports whether some access comes back by a pattern. Of one that needs its loops to be at
// certain places, such as from the end of a row to the start of the next, lines may begin there.
func (o *occurring) by(p *pattern) bool {
	// Of accesses that may come by the pattern, every step bytes from the first on.
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
	// The access that one comes from lies in its line too.
	from, to := max(0, p.shift), min(o.line, o.line+p.shift)
	return o.at.any(max(0, from-o.first+o.step-1)/o.step, (to-o.first+o.step-1)/o.step)
}

// places are a set of places in a line: a bit for each, and for the same ones again, up to 64. The
// number of words is a power of two.
type places []uint64

// set makes them the place of a number below n, a power of two.
func (p places) set(k, n int) {
	clear(p)
	for ; k < 64*len(p); k += n {
		p[k/64] |= 1 << (k % 64)
	}
}

// any reports whether one of the places from one up to another is in the set.
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

// spread adds all places that these come to in fewer than so many steps of a stride, around.
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
