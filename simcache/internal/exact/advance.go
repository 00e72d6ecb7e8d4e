package exact

// advanced advances n periods, and reports whether the accesses are apart at the end. If not, one
// shares a row with a loop-invariant access, and an iteration orders the two.
func (m *machine) advanced(in *inner, c *context, n int, far bool) (apart bool) {
	in.advance(c, n, far)
	in.catchUp(n << c.states[0].shift)
	m.did.touched += n * len(in.order)
	if apart = in.apart(); !apart {
		in.touchAll(c)
	}
	return apart
}

// periods returns for how many periods a line needs a touch only when it is new. All accesses of
// the iteration before were made apart.
//
//  1. In a period each moving access advances by one line.
//  2. No two moving accesses may share a set, in one step or in two consecutive ones. They keep
//     their distance, so it must exceed one line.
//  3. No moving access may reach the row of a loop-invariant one, except if far.
func (in *inner) periods(s *state, left int, apart, far bool) int {
	if !apart || !in.alike {
		return 0
	}
	n := (left - 1) / in.period
	for k, i := range in.order {
		n = min(n, (left-1-in.left[i])/in.period+1)
		for r, row := range in.rows {
			away := modulo(row-in.rows[i], s.sets)
			if in.refs[r].stride == 0 {
				if !far {
					n = min(n, away-1)
				}
			} else if r != i && (away < 2 || away > s.sets-2) {
				return 0
			}
		}
		for j := k; j > 0 && in.before(in.order[j], in.order[j-1]); j-- {
			in.order[j], in.order[j-1] = in.order[j-1], in.order[j]
		}
	}
	return n
}

func (in *inner) before(i, j int) bool {
	return in.left[i] < in.left[j] || in.left[i] == in.left[j] && i < j
}

// advance makes n periods, line by line.
func (in *inner) advance(c *context, n int, far bool) {
	s := c.states[0]
	if far {
		in.advanceFar(c, n)
		return
	}
	for range n {
		for _, i := range in.order {
			addr := in.at[i] + in.refs[i].stride*in.left[i] // the first address in its next line
			in.at[i] += 1 << s.shift
			row := in.rows[i] + 1
			if row == s.sets {
				row = 0
			}
			in.rows[i] = row
			line := uint32(addr>>s.shift) + 1
			if s.tags[row*s.ways] == line {
				continue
			}
			if op := in.refs[i].op; s.bringTo(row, line, op) {
				for _, t := range c.states[1:] {
					if !t.touch(uint32(addr>>t.shift)+1, op) {
						break
					}
				}
			}
		}
	}
}

// advanceFar is advance in one level, or slices, with vectors. The order among rows does not matter
// there, so each access advances by many lines at once. First goes the access with the longest way
// to the next one ahead, at most up to that one. The others follow, the nearest first.
func (in *inner) advanceFar(c *context, n int) {
	s := c.states[0]
	lead, far := 0, 0
	o := in.order
	for k := range o {
		for j := k; j > 0 && in.rows[o[j]] > in.rows[o[j-1]]; j-- {
			o[j], o[j-1] = o[j-1], o[j]
		}
	}
	for k, i := range o {
		ahead := in.rows[o[(k+len(o)-1)%len(o)]] - in.rows[i]
		if ahead <= 0 {
			ahead += s.sets
		}
		if ahead > far {
			lead, far = k, ahead
		}
	}
	for n > 0 {
		b := min(n, far)
		for k := range o {
			in.advanceOne(c, o[(lead+k)%len(o)], b)
		}
		n -= b
	}
	c.flush()
}

// advanceOne advances an access by n lines, at most the number of sets. A loop-invariant line in a
// row that it passes is touched in each iteration: before and after the access.
func (in *inner) advanceOne(c *context, i, n int) {
	s := c.states[0]
	row, line := in.rows[i]+1, uint32(in.at[i]>>s.shift)+2
	if row == s.sets {
		row = 0
	}
	if first := min(n, s.sets-row); first < n {
		c.advanceTo(row, line, first, in.refs[i].op)
		c.advanceTo(0, line+uint32(first), n-first, in.refs[i].op)
	} else {
		c.advanceTo(row, line, n, in.refs[i].op)
	}
	for r, at := range in.rows {
		if in.refs[r].stride == 0 {
			away := at - in.rows[i]
			if away <= 0 {
				away += s.sets
			}
			if away <= n {
				present(s.tags[at*s.ways:][:s.ways], uint32(in.at[r]>>s.shift)+1)
			}
		}
	}
	in.at[i] += n << s.shift
	in.rows[i] = (in.rows[i] + n) % s.sets
}

func (c *context) advanceTo(row int, line uint32, n, op int) {
	s := c.states[0]
	missing := s.missing[:n]
	sum := advanceRows(s.tags[row*s.ways:], line, missing)
	s.mark(row, n)
	switch {
	case sum == 0:
	case s.open == 0 && s.rowMisses == nil && s.log == nil:
		s.misses[op-s.opLow] += uint64(sum)
		if len(c.states) > 1 {
			c.sendAbsent(line, missing, op)
		}
	default:
		for k, absent := range missing {
			if absent != 0 {
				s.absent(row+k, line+uint32(k), op)
			}
		}
	}
}

func (in *inner) catchUp(by int) {
	for i := len(in.rows); i < len(in.refs); i++ {
		if in.refs[i].stride != 0 {
			in.at[i] += by
		}
	}
}
