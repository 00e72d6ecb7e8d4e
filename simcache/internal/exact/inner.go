package exact

import "slices"

// An inner is a loop around accesses only.
type inner struct {
	refs    []moving
	each    float64  // approximate touches in an iteration
	plain   bool     // no access straddles lines
	columns bool     // an access moves by a line or more in each iteration (strided)
	all     []*node  // every access
	at      []int    // addresses
	left    []int    // iterations until the line changes
	lines   []uint64 // scratch: an iteration's lines, their rows in the high bits
	out     []uint64 // scratch: touches
	fresh   []bool   // the line changed just now
	alike   bool     // moving accesses share a positive stride that divides a line
	period  int      // then iterations per line
	order   []int    // scratch: moving accesses in the order in which they leave their lines
	rows    []int    // of the first accesses, at different addresses; none if too many
}

// A moving access moves by stride bytes in each iteration.
type moving struct {
	op     int
	base   affine
	stride int
}

// same reports whether two accesses of a loop always have the same address.
func (r moving) same(other moving) bool {
	return r.stride == other.stride && r.base.same(&other.base)
}

func (m *machine) inside(n *node) *inner {
	in := &inner{plain: true, all: n.body, each: float64(len(n.body))}
	for _, a := range n.body {
		base, _ := a.addr.split(func(slot int) bool { return slot == n.slot })
		in.refs = append(in.refs, moving{a.op, base, a.addr.coef(n.slot)})
		in.plain = in.plain && !a.straddles
	}
	if in.plain {
		in.refs = distinct(in.refs, m.levels[0].Ways)
		in.each = 0.01
		line := float64(int(1) << m.levels[0].Shift)
		for i, r := range in.refs {
			if in.repeats(i) == 0 {
				in.each += min(1, float64(max(r.stride, -r.stride))/line)
			}
		}
	}
	if in.scratch(m.levels[0].Ways, 1<<m.levels[0].Shift); in.columns {
		in.each = float64(len(in.refs))
	}
	return in
}

// distinct drops accesses to an address that the iteration accessed before. With at most as many
// distinct lines as ways they hit, and only affect the LRU order. Last accesses that are not in the
// order of the first ones stay.
func distinct(refs []moving, ways int) []moving {
	var first, last []moving
	for i, r := range refs {
		if !slices.ContainsFunc(refs[:i], r.same) {
			first = append(first, r)
		}
		if !slices.ContainsFunc(refs[i+1:], r.same) {
			last = append(last, r)
		}
	}
	if len(first) > ways {
		return refs
	}
	ordered := 0
	for i, r := range last {
		k := slices.IndexFunc(first[ordered:], r.same)
		if k < 0 {
			return append(first, last[i:]...)
		}
		ordered += k + 1
	}
	return first
}

func (in *inner) scratch(ways, line int) {
	in.rows, in.order, in.alike = nil, nil, false
	column := func(r moving) bool { return r.stride >= line || -r.stride >= line }
	in.columns = slices.ContainsFunc(in.refs, column)
	n := len(in.refs)
	in.at, in.left, in.fresh = make([]int, n), make([]int, n), make([]bool, n)
	n = 0
	for n < len(in.refs) && in.repeats(n) == 0 {
		n++
	}
	for i := n; i < len(in.refs); i++ {
		if in.repeats(i) == 0 {
			n = 0
		}
	}
	if n > min(ways, 6) {
		return
	}
	in.rows = make([]int, n)
	for i, r := range in.refs[:n] {
		if r.stride == 0 {
			continue
		}
		if len(in.order) == 0 {
			in.alike = r.stride > 0 && line%r.stride == 0
			in.period = line / max(r.stride, 1)
		}
		in.alike = in.alike && r.stride*in.period == line
		in.order = append(in.order, i)
	}
}

func (m *machine) sweep(n *node, c *context, y, end int) {
	in := n.inside
	if !in.plain {
		for ; y < end; y++ {
			m.slots[n.slot] = y
			for _, a := range in.all {
				m.access(a, c)
			}
		}
		return
	}
	m.slots[n.slot] = 0
	for i := range in.refs {
		r := &in.refs[i]
		in.at[i] = r.base.at(m.slots) + r.stride*y
	}
	if in.columns || end-y <= fewTrips { // few: finding the ones to skip costs more
		in.every(c, end-y)
		m.did.touched += len(in.refs) * (end - y)
		return
	}
	for i := range in.refs {
		in.left[i], in.fresh[i] = in.run(i, c.states[0].shift), true
	}
	m.runs(in, c, end-y)
}

const fewTrips = 4

// every makes "left" iterations access by access: all of a strided loop, or a few.
func (in *inner) every(c *context, left int) {
	if in.everyFar(c, left) {
		return
	}
	s := c.states[0]
	for ; left > 0; left-- {
		for i := range in.refs {
			addr := in.at[i]
			in.at[i] = addr + in.refs[i].stride
			line := uint32(addr>>s.shift) + 1
			if s.tags[s.row(line)*s.ways] != line { // else nothing changes
				c.touch(addr, in.refs[i].op)
			}
		}
	}
}

// run returns for how many iterations an access stays in its line.
func (in *inner) run(i int, shift uint) int {
	if in.refs[i].stride == 0 {
		return 1 << 62
	}
	return stays(in.at[i], in.refs[i].stride, 1<<shift)
}

// runs makes "left" iterations.
//
//  1. While no access leaves its line, iterations after the first hit and change nothing, if no set
//     has more of these lines than ways. Otherwise all iterations are made.
//  2. When an access leaves its line, the others need no touch if no two accesses share a set, now
//     and in the run before. Each of their lines is still the first of its set.
func (m *machine) runs(in *inner, c *context, left int) {
	s := c.states[0]
	far := (len(c.states) == 1 || c.sliced) && vectors(s.ways) && s.fewer == nil
	apart := false
	for first := true; left > 0; first = false {
		was := apart
		apart = in.places(s)
		k := left
		for _, l := range in.left {
			k = min(k, l)
		}
		if apart && was && !first {
			for i := range in.rows {
				if in.fresh[i] {
					c.touch(in.at[i], in.refs[i].op)
					m.did.touched++
				}
			}
		} else {
			in.touchAll(c)
			m.did.touched += len(in.refs)
			if k > 1 && len(in.refs) > s.ways && in.crowded(s) {
				for ; k > 1; k-- {
					in.stayOn(1, s.shift)
					left--
					in.touchAll(c)
					m.did.touched += len(in.refs)
				}
			}
		}
		if n := in.periods(s, left, apart, far); n > 2 {
			apart = m.advanced(in, c, n, far)
			left -= n * in.period
			k = min(k, left)
		}
		in.stayOn(k, s.shift)
		left -= k
	}
}

// stayOn advances accesses by k iterations, in which none leaves its line except at the end.
func (in *inner) stayOn(k int, shift uint) {
	for i := range in.refs {
		in.at[i] += in.refs[i].stride * k
		in.fresh[i] = false
		if in.left[i] -= k; in.left[i] == 0 {
			in.left[i] = in.run(i, shift)
			in.fresh[i] = true
		}
	}
}

func (in *inner) touchAll(c *context) {
	for i := range in.refs {
		c.touch(in.at[i], in.refs[i].op)
	}
}

// places finds the rows of the accesses, and reports whether they all differ.
func (in *inner) places(s *state) bool {
	for i := range in.rows {
		if in.fresh[i] {
			in.rows[i] = s.row(uint32(in.at[i]>>s.shift) + 1)
		}
	}
	return in.apart()
}

func (in *inner) apart() bool {
	for i, row := range in.rows {
		for _, other := range in.rows[:i] {
			if row == other {
				return false
			}
		}
	}
	return len(in.rows) > 0
}

// crowded reports whether a set has more lines of an iteration than ways.
func (in *inner) crowded(s *state) bool {
	in.lines = in.lines[:0]
	for _, a := range in.at {
		line := uint32(a>>s.shift) + 1
		if l := uint64(s.row(line))<<32 | uint64(line); !slices.Contains(in.lines, l) {
			in.lines = append(in.lines, l)
		}
	}
	if len(in.lines) <= s.ways {
		return false
	}
	slices.Sort(in.lines)
	for i := s.ways; i < len(in.lines); i++ {
		if in.lines[i]>>32 == in.lines[i-s.ways]>>32 {
			return true
		}
	}
	return false
}
