package exact

import (
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Later levels receive the miss stream of the first one.
//
//  1. Let all levels have one line size, and sets a multiple of the first level's. A slice is a row
//     of the first level, with those sets of later levels that hold the same lines. Slices are
//     independent, so only the order within a row matters.
//  2. A summary of the first level keeps a miss stream for each row, its log: the misses that no
//     past can change, in order. All heads of the row precede them.
//  3. To apply the summary to levels, let the heads meet the first level. The heads that miss, and
//     then the log, go to the later levels.
//  4. To apply it to a summary that is being made, let the heads meet that one. Heads that miss
//     without becoming heads there, and then the log, extend its log.
//  5. So no key depends on the contents of later levels, and logs move as lines do.
//
// Say that a summary is applied twice to a row, unchanged in between, and the same heads miss. Then
// later levels receive the same lines again. If no set there gets more of them than it has ways, it
// holds them all, in this order, and nothing need be sent (quiet). An empty log sends nothing,
// either.

// A log is the miss stream of each row.
type log struct {
	lines []uint32
	ops   []uint16 // of lines
	rows  []span
	room  int // initial room of a row, in items
	items int
	most  int  // limit of items
	over  bool // the limit was exceeded
}

// A span is the place of a row's items in a list: n items from at on, with room for more.
type span struct{ at, n, room int32 }

// grow moves a row to the end of its list, at index list, with more room, and returns its old span.
func (r *span) grow(more, room, list int) (from span) {
	from = *r
	r.room = (max(int32(room), r.n+int32(more), r.n+r.n/2) + 7) &^ 7
	r.at = int32(list)
	return from
}

// sliced reports whether the levels form slices.
func sliced(levels []engine.Level) bool {
	for _, l := range levels {
		if l.Shift != levels[0].Shift || l.Sets%levels[0].Sets != 0 {
			return false
		}
	}
	return true
}

// reset empties a log. room is the initial room of a row, all that of all rows, in items.
func (l *log) reset(room, all int) {
	clear(l.rows)
	if cap(l.lines) < all {
		l.lines, l.ops = make([]uint32, 0, all), make([]uint16, 0, all)
	}
	l.lines, l.ops, l.items, l.over, l.room = l.lines[:0], l.ops[:0], 0, false, room
}

func (l *log) add(row int, lines []uint32, ops []uint16) {
	if l.items += len(lines); l.items > l.most {
		l.over = true
		return
	}
	r := &l.rows[row]
	if int(r.n)+len(lines) > int(r.room) {
		l.grow(r, len(lines))
	}
	at := int(r.at + r.n)
	copy(l.lines[at:], lines)
	copy(l.ops[at:], ops)
	r.n += int32(len(lines))
}

func (l *log) addOne(row int, line uint32, op int) {
	if l.items++; l.items > l.most {
		l.over = true
		return
	}
	r := &l.rows[row]
	if r.n == r.room {
		l.grow(r, 1)
	}
	l.lines[r.at+r.n], l.ops[r.at+r.n] = line, uint16(op)
	r.n++
}

func (l *log) grow(r *span, more int) {
	from := r.grow(more, l.room, len(l.lines))
	end := len(l.lines) + int(r.room)
	l.lines, l.ops = slices.Grow(l.lines, int(r.room))[:end], slices.Grow(l.ops, int(r.room))[:end]
	copy(l.lines[r.at:], l.lines[from.at:from.at+from.n])
	copy(l.ops[r.at:], l.ops[from.at:from.at+from.n])
}

func (l *log) row(row int) (lines []uint32, ops []uint16) {
	r := l.rows[row]
	return l.lines[r.at : r.at+r.n], l.ops[r.at : r.at+r.n]
}

// beyond sends misses of a row to later levels, or to the log of a summary being made.
func (c *context) beyond(row int, lines []uint32, ops []uint16) {
	if log := c.states[0].log; log != nil {
		log.add(row, lines, ops)
	} else if len(lines) > 0 {
		c.bring(lines, ops)
	}
}

// sendAbsent queues the absent ones of consecutive lines.
func (c *context) sendAbsent(line uint32, absent []uint8, op int) {
	at := len(c.lines)
	c.lines = slices.Grow(c.lines, len(absent))[:at+len(absent)]
	for _, a := range absent {
		c.lines[at] = line
		at += int(a)
		line++
	}
	c.lines = c.lines[:at]
	for len(c.ops) < at {
		c.ops = append(c.ops, uint16(op))
	}
}

// flush sends the queue to later levels.
func (c *context) flush() {
	if len(c.lines) > 0 {
		c.bring(c.lines, c.ops)
		c.lines, c.ops = c.lines[:0], c.ops[:0]
	}
}

// bring touches lines in the second level, and those that miss in the later ones.
func (c *context) bring(lines []uint32, ops []uint16) {
	if len(c.states) == 2 && c.states[1].bringLines(lines, ops) {
		return
	}
	for i, line := range lines {
		for _, t := range c.states[1:] {
			if !t.bring(line) {
				break
			}
			t.misses[ops[i]]++
		}
	}
}

func (c *context) applyRow(e *summary, row, off int) {
	if e.log != nil && e.ways > 64 {
		c.applyWide(e, row, c.states[0].opposite(uint32(row), off))
		return
	}
	missing, known := c.states[0].applyRow(e, row, off)
	if e.log == nil {
		return
	}
	at, i, bit := c.states[0].opposite(uint32(row), off), row>>6, uint64(1)<<(row&63)
	e.knew[i] &^= bit
	e.quiet[i] &^= bit
	if known {
		e.sent[row] = missing
		e.knew[i] |= bit
		c.send(e, row, at, missing)
	} else {
		c.sendLog(e, row, at)
	}
}

// applyWide is applyRow for rows of more than 64 ways, and forgets which heads missed.
func (c *context) applyWide(e *summary, row, at int) {
	from, n := row*e.ways, int(e.count[row])
	c.bringIn(at, e.heads[from:from+n], e.ops[from:from+n])
	copy(c.states[0].tags[at*e.ways:][:n], e.tags[from:])
	c.sendLog(e, row, at)
}

// send sends a summary's row to later levels: the heads that missed, a bit each, and its log. It
// queues what may wait for other rows, as all logs may, because slices are independent.
func (c *context) send(e *summary, row, at int, missing uint64) {
	from, n := row*e.ways, int(e.count[row])
	i, bit := row>>6, uint64(1)<<(row&63)
	if missing != 1<<n-1 {
		for ; missing != 0; missing &= missing - 1 {
			if h := from + trailing(missing); c.logs != nil {
				c.lines, c.ops = append(c.lines, e.heads[h]), append(c.ops, e.ops[h])
			} else {
				c.beyond(at, e.heads[h:h+1], e.ops[h:h+1])
			}
		}
	} else if c.logs != nil {
		c.heads[i] |= bit
	} else {
		c.beyond(at, e.heads[from:from+n], e.ops[from:from+n])
	}
	if c.logs != nil {
		c.logs[i] |= bit
	} else {
		c.sendLog(e, row, at)
	}
}

// sendWaiting sends the queues: single heads first, then whole rows of heads, and logs.
func (m *machine) sendWaiting(c *context, e *summary, off int) {
	c.flush()
	for i, rows := range c.logs {
		if rows == 0 {
			continue
		}
		if len(c.states) > 2 || !c.states[1].sendRows(e.state, rows, c.heads[i], i<<6, off) {
			for ; rows != 0; rows &= rows - 1 {
				row := i<<6 + trailing(rows)
				if from, n := row*e.ways, int(e.count[row]); c.heads[i]>>(row&63)&1 != 0 {
					c.bring(e.heads[from:from+n], e.ops[from:from+n])
				}
				c.sendLog(e, row, 0)
			}
		}
		c.logs[i], c.heads[i] = 0, 0
	}
}

func (c *context) sendLog(e *summary, row, at int) {
	if lines, ops := e.log.row(row); len(lines) > 0 {
		c.beyond(at, lines, ops)
	}
}

// sendFull sends all rows to later levels. The first state's missing has the heads that missed.
func (m *machine) sendFull(c *context, e *summary, off int) {
	for row, missing := range c.states[0].missing[:len(e.sent)] {
		e.sent[row] = uint64(missing)
	}
	for i := range e.knew {
		e.knew[i], e.quiet[i] = ^m.skipped[i], 0
		rows := ^m.skipped[i]
		if left := e.sets - i<<6; left < 64 {
			rows &= 1<<left - 1
		}
		for ; rows != 0; rows &= rows - 1 {
			row := i<<6 + trailing(rows)
			c.send(e, row, c.states[0].opposite(uint32(row), off), e.sent[row])
		}
	}
}

// sendClean sends the unchanged ones of the i-th 64 rows of a summary applied again, those in
// clean.
func (m *machine) sendClean(c *context, e *summary, i int, clean uint64, off int) {
	for w := clean & e.knew[i] & e.roomy[i]; w != 0; w &= w - 1 {
		if row := i<<6 + trailing(w); e.sent[row] == e.again[row] {
			e.quiet[i] |= w & -w
		}
	}
	for w := clean &^ e.quiet[i]; w != 0; w &= w - 1 {
		row := i<<6 + trailing(w)
		m.sendAgain(c, e, row, c.states[0].opposite(uint32(row), off))
	}
}

// sendAgain sends a row of a summary applied again to an unchanged row.
func (m *machine) sendAgain(c *context, e *summary, row, at int) {
	i, bit := row>>6, uint64(1)<<(row&63)
	missing := e.again[row]
	if e.log.rows[row].n == 0 { // its lines are its heads, so none misses
		e.quiet[i] |= bit
		return
	}
	if e.knew[i]&bit != 0 && e.sent[row] == missing && m.roomy(e, row) {
		e.quiet[i] |= bit
		e.roomy[i] |= bit
		return
	}
	c.send(e, row, at, missing)
	e.sent[row] = missing
	e.knew[i] |= bit
}

// roomy reports whether, wherever the summary is, no set of the second level gets more lines of a
// row than it has ways.
func (m *machine) roomy(e *summary, row int) bool {
	n, ways := int(e.count[row])+int(e.log.rows[row].n), m.levels[1].Ways
	if n <= ways {
		return true
	}
	// More lines never reduce a set's share.
	if w := e.weights[row]; w.of == 0 || w.lines <= ways && w.lines+n-w.of > ways {
		from, heads := row*e.ways, int(e.count[row])
		lines, ops := e.log.row(row)
		most := m.weigh(e, e.heads[from:from+heads], e.ops[from:from+heads], lines, ops)
		e.weights[row] = weight{n, most}
	}
	return e.weights[row].lines <= ways
}

// A weight bounds the lines of a row that one set of the second level gets. "of" is the number of
// lines in the row when it was found.
type weight struct{ of, lines int }

// weigh finds a weight for two lists. An operand's lines move together. So the bound is the sum, by
// operand, of the most lines in a set.
func (m *machine) weigh(e *summary, lines []uint32, ops []uint16,
	lines2 []uint32, ops2 []uint16) (sum int) {
	if len(e.misses) > 64 {
		return len(lines) + len(lines2)
	}
	slice := m.levels[1].Sets / m.levels[0].Sets // sets of a slice
	if need := slice * len(e.misses); len(m.sets) < need {
		m.sets = make([]uint32, need)
	}
	m.spread(e, lines, ops, uint32(slice))
	m.spread(e, lines2, ops2, uint32(slice))
	for op := range e.misses {
		of := m.sets[op*slice:][:slice]
		sum += int(slices.Max(of))
		clear(of)
	}
	return sum
}

// spread counts lines by operand and by set of their slice.
func (m *machine) spread(e *summary, lines []uint32, ops []uint16, slice uint32) {
	if sets := uint32(e.sets); e.power && slice&(slice-1) == 0 {
		shift := trailing(uint64(sets))
		for i, line := range lines {
			m.sets[(uint32(ops[i])-uint32(e.opLow))*slice+(line-1)>>shift&(slice-1)]++
		}
	} else {
		for i, line := range lines {
			m.sets[(uint32(ops[i])-uint32(e.opLow))*slice+(line-1)/sets%slice]++
		}
	}
}

// bringIn touches lines of one row of the first level.
func (c *context) bringIn(row int, lines []uint32, ops []uint16) {
	s := c.states[0]
	if len(lines) > len(s.missing) {
		s.missing = make([]uint8, 2*len(lines))
	}
	missing := s.missing[:len(lines)]
	sum := bringRow(s.tags[row*s.ways:][:s.ways], lines, missing)
	for i := 0; sum > 0; i++ {
		if missing[i] == 0 {
			continue
		}
		sum--
		if s.absent(row, lines[i], int(ops[i])); len(c.states) > 1 {
			c.lines, c.ops = append(c.lines, lines[i]), append(c.ops, ops[i])
		}
	}
	c.flush()
}

// bringRow touches lines of a row. It writes 1 for each absent line, else 0, and returns the sum.
func bringRow(row, lines []uint32, missing []uint8) (sum int) {
	for i, line := range lines {
		if missing[i] = 0; !present(row, line) {
			missing[i] = 1
			sum++
		}
	}
	return sum
}
