package exact

// marched marches, and reports whether the accesses are apart where it stops. If not,
// one is where another rests, and an iteration puts the two in order.
func (m *machine) marched(in *inner, c *context, n int, far bool) (apart bool) {
	in.march(c, n, far)
	in.catchUp(n << c.states[0].shift)
	m.did.Marched++
	m.did.Touched += n * len(in.order)
	if apart = in.apart(); !apart {
		in.touchAll(c)
		m.did.Stopped++
	}
	return apart
}

// periods is for how many periods from an iteration on, whose accesses have all been
// made apart, no two accesses that move share a set, neither in one step nor in two
// that follow each other, so that a line is touched only where it is new. In a
// period each access that moves goes on by one line. Two of them keep their
// distance, which must be more than one line; of one that rests, none may reach
// the row, but far ones.
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

// before reports whether an access leaves its line before another does.
func (in *inner) before(i, j int) bool {
	return in.left[i] < in.left[j] || in.left[i] == in.left[j] && i < j
}

// march makes so many periods, line by line.
func (in *inner) march(c *context, n int, far bool) {
	s := c.states[0]
	if far {
		in.marchFar(c, n)
		return
	}
	for range n {
		for _, i := range in.order {
			addr := in.at[i] + in.refs[i].stride*in.left[i] // the first in its next line
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

// marchFar is march in one level, or slices, with vectors: one access after the other goes as
// far as it may. Which of two rows comes first makes no difference in one level, and in
// slices. The one that goes first is that with the longest way to the next one ahead, up to
// where that one is; then come those after it, from the nearest on.
func (in *inner) marchFar(c *context, n int) {
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
			in.marchOne(c, o[(lead+k)%len(o)], b)
		}
		n -= b
	}
	c.flush()
}

// marchOne moves an access on by so many lines, at most as many as there are sets. A
// line that rests in a row that it comes through is touched in each iteration, and so
// before it and after.
func (in *inner) marchOne(c *context, i, n int) {
	s := c.states[0]
	row, line := in.rows[i]+1, uint32(in.at[i]>>s.shift)+2
	if row == s.sets {
		row = 0
	}
	if first := min(n, s.sets-row); first < n {
		c.marchTo(row, line, first, in.refs[i].op)
		c.marchTo(0, line+uint32(first), n-first, in.refs[i].op)
	} else {
		c.marchTo(row, line, n, in.refs[i].op)
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

// marchTo touches so many lines from one on in so many rows from one on.
func (c *context) marchTo(row int, line uint32, n, op int) {
	s := c.states[0]
	missing := s.missing[:n]
	sum := marchRows(s.tags[row*s.ways:], line, missing)
	s.mark(row, n)
	switch {
	case sum == 0:
	case s.open == 0 && s.rowMisses == nil:
		s.misses[op-s.opLow] += uint64(sum)
		if s.log != nil {
			s.log.addAbsent(row, line, missing, op, sum)
		} else if len(c.states) > 1 {
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

// catchUp moves accesses at addresses of others, which march does not.
func (in *inner) catchUp(by int) {
	for i := len(in.rows); i < len(in.refs); i++ {
		if in.refs[i].stride != 0 {
			in.at[i] += by
		}
	}
}
