package exact

import (
	"math/bits"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A state is a level on its way: for each set its lines in LRU order, the one
// touched last first. Lines are numbered from 1; 0 is an empty way.
//
// A state begins empty. Each set's heads are its first distinct lines, at most
// as many as it has ways, in the order of their first touches: the only touches
// whose outcome what was there before can change. Until as many were met, no line
// has left the set, and a line that is not there was not touched. After that, a
// line is in the set exactly if fewer than ways others were touched since, and
// what was there before is no more.
type state struct {
	sets, ways int
	mask       uint32 // sets - 1, where sets is a power of two
	power      bool   // it is
	low        uint32 // of a later level: the first's mask, if rows of a slice lie together, else 0
	up, down   uint   // how far the numbers of a set's slice, and of it there, are moved for that
	shift      uint
	turn       uint32   // the row of a line is that of its set, less turn
	first      uint32   // 1 + turn - sets: what a line's number is reduced by to find its row
	tags       []uint32 // by row, ways each
	heads      []uint32
	ops        []uint16 // of the heads: whose touch it was
	count      []uint16 // by row: of heads
	touched    []uint32 // the rows that have heads
	has        []uint64 // a bit for each of them
	open       int      // the rows that have fewer heads than ways
	packed     []uint64 // by row: how many heads are of each of the first 8 operands, a byte each
	missing    []uint8  // scratch: by row
	opLow      int
	misses     []uint64 // by operand, from opLow on: those that no past can change

	rowMisses []uint64            // by row and operand, where they are kept: misses
	log       *log                // of misses, where it is kept
	fewer     [][mostRests]uint32 // alike: how many more with one way less, two, and three

	// Of the summary that was applied last: its id, when, and the rows (a bit each)
	// that were changed since.
	owner   uint64
	ownedAt uint64
	changed []uint64
	before  []uint64 // the rows that were changed until then, since who asks cleared them
}

func newState(l engine.Level, opLow, opHigh int) *state {
	lines, words := l.Sets*l.Ways, (l.Sets+63)/64
	of32, of16 := make([]uint32, 2*lines), make([]uint16, lines+l.Sets)
	of64 := make([]uint64, 3*words+l.Sets+opHigh-opLow)
	s := &state{sets: l.Sets, ways: l.Ways, shift: l.Shift, opLow: opLow, open: l.Sets,
		mask: uint32(l.Sets - 1), power: bits.OnesCount(uint(l.Sets)) == 1,
		missing: make([]uint8, l.Sets), tags: cut(&of32, lines), heads: cut(&of32, lines),
		ops: cut(&of16, lines), count: cut(&of16, l.Sets), changed: cut(&of64, words),
		before: cut(&of64, words), has: cut(&of64, words), packed: cut(&of64, l.Sets), misses: of64}
	s.turnBy(0)
	return s
}

// bytes is about what a state takes.
func (s *state) bytes() int {
	return 10*len(s.tags) + 32*s.sets + 8*len(s.rowMisses) + 4*mostRests*len(s.fewer)
}

// cut takes the first n off a list: what is needed together is made together.
func cut[T any](list *[]T, n int) []T {
	first := (*list)[:n:n]
	*list = (*list)[n:]
	return first
}

// known makes a new state that of a level: what was there before is nothing, and
// known, so that no touch is a head.
func (s *state) known() *state {
	for set := range s.count {
		s.count[set] = uint16(s.ways)
	}
	s.open = 0
	return s
}

// reset empties a state.
func (s *state) reset() {
	for _, row := range s.touched {
		clear(s.tags[int(row)*s.ways:][:s.ways])
		s.count[row] = 0
		s.packed[row] = 0
	}
	s.open = s.sets
	s.touched = s.touched[:0]
	clear(s.has)
	clear(s.misses)
	clear(s.rowMisses)
	clear(s.fewer)
	clear(s.changed)
	clear(s.before)
	s.owner, s.turn = 0, 0
	s.turnBy(0)
}

// byRow keeps misses by row, too, if a unit's are, and those with fewer ways.
func (s *state) byRow(u *unit) {
	if s.rowMisses == nil && (u.alone || u.byRow) {
		s.rowMisses = make([]uint64, s.sets*len(s.misses))
	}
	if s.fewer == nil && u.alone {
		s.fewer = make([][mostRests]uint32, s.sets*len(s.misses))
	}
}

// fewerOf is how many more misses of an operand there were in a row with one way less, with two,
// and three.
func (s *state) fewerOf(row, op int) *[mostRests]uint32 {
	return &s.fewer[row*len(s.misses)+op-s.opLow]
}

// turnBy turns the sets, by less than there are.
func (s *state) turnBy(by int) {
	if s.turn += uint32(by); s.turn >= uint32(s.sets) {
		s.turn -= uint32(s.sets)
	}
	s.first = 1 + s.turn - uint32(s.sets)
}

// row is the row of a line.
func (s *state) row(line uint32) int {
	if s.power {
		return s.fold((line - s.first) & s.mask)
	}
	return int(uint32(uint64(line-s.first) % uint64(s.sets)))
}

// fold is the row of a set.
func (s *state) fold(set uint32) int { return int(set&s.low<<s.up | set>>s.down) }

// slice makes the rows of a slice lie together: what goes on of one row of a first
// level comes to them in turn.
func (s *state) slice(sets int) {
	if s.power {
		s.low = uint32(sets - 1)
		s.down = uint(bits.TrailingZeros(uint(sets)))
		s.up = uint(bits.TrailingZeros(uint(s.sets / sets)))
	}
}

// touch touches a line by an operand, and reports whether it was absent.
func (s *state) touch(line uint32, op int) (absent bool) {
	at := s.row(line)
	row := s.tags[at*s.ways:][:s.ways]
	if row[0] == line {
		return false
	}
	return s.bringTo(at, line, op)
}

// bringTo is touch for a line that is not the first of its row, which is known.
func (s *state) bringTo(at int, line uint32, op int) (absent bool) {
	row := s.tags[at*s.ways:][:s.ways]
	s.changed[at>>6] |= 1 << (at & 63)
	if s.fewer != nil {
		s.deepHit(at, line, op)
	}
	if len(row) == 8 {
		if front8((*[8]uint32)(row), line) {
			return false
		}
	} else if present(row, line) {
		return false
	}
	s.absent(at, line, op)
	return true
}

// front8 is present for a row of 8 whose first line it is not.
func front8(r *[8]uint32, line uint32) bool {
	for p := 1; p < 8; p++ {
		if r[p] == line {
			for ; p > 0; p-- {
				r[p] = r[p-1]
			}
			r[0] = line
			return true
		}
	}
	moved := *(*[7]uint32)(r[:7])
	*(*[7]uint32)(r[1:]) = moved
	r[0] = line
	return false
}

// mark takes so many rows from one on for changed.
func (s *state) mark(row, n int) {
	for end := row + n; row < end; {
		k := min(64-row&63, end-row)
		s.changed[row>>6] |= (1<<k - 1) << (row & 63)
		row += k
	}
}

// deepHit takes note of a line that is among the last in its row: with fewer ways, it
// would not be there.
func (s *state) deepHit(at int, line uint32, op int) {
	row := s.tags[at*s.ways:][:s.ways]
	for less := 1; less <= min(mostRests, s.ways-1); less++ {
		if row[s.ways-less] == line {
			s.fewerOf(at, op)[less-1]++
		}
	}
}

// meetRow notes that a row has heads.
func (s *state) meetRow(row int) {
	s.touched = append(s.touched, uint32(row))
	s.has[row>>6] |= 1 << (row & 63)
}

// turned writes to rows, a bit each, what is in others, so many rows on and around.
func (s *state) turned(rows, others []uint64, by int) {
	for i := range rows {
		rows[i] = bitsFrom(others, i<<6+by) | bitsFrom(others, i<<6+by-s.sets)
	}
	if last := s.sets & 63; last != 0 {
		rows[len(rows)-1] &= 1<<last - 1
	}
}

// bitsFrom are 64 bits from one on, which may be below the first.
func bitsFrom(words []uint64, at int) (w uint64) {
	i, shift := at>>6, at&63
	if i >= 0 && i < len(words) {
		w = words[i] >> shift
	}
	if shift > 0 && i+1 >= 0 && i+1 < len(words) {
		w |= words[i+1] << (64 - shift)
	}
	return w
}

// miss counts misses that no past can change.
func (s *state) miss(row, op int, n uint64) {
	s.misses[op-s.opLow] += n
	if s.rowMisses != nil {
		s.rowMisses[row*len(s.misses)+op-s.opLow] += n
	}
}

// absent takes note of a line that was not in its row.
func (s *state) absent(row int, line uint32, op int) {
	n := int(s.count[row])
	if n == s.ways {
		s.miss(row, op, 1)
		if s.log != nil {
			s.log.addOne(row, line, op)
		}
		return
	}
	if n == 0 {
		s.meetRow(row)
	}
	s.heads[row*s.ways+n], s.ops[row*s.ways+n] = line, uint16(op)
	s.count[row]++
	if n+1 == s.ways {
		s.open--
	}
	if k := op - s.opLow; k < 8 {
		s.packed[row] += 1 << (8 * k)
	}
}

// bring touches a line of a level, and reports whether it was absent, which it
// leaves to the one who asks to count.
func (s *state) bring(line uint32) (absent bool) {
	at := s.row(line)
	s.changed[at>>6] |= 1 << (at & 63)
	return !present(s.tags[at*s.ways:][:s.ways], line)
}

// present makes a line the first of a row, and reports whether it was there.
func present(row []uint32, line uint32) bool {
	before := line
	for p, l := range row {
		row[p] = before
		if l == line {
			return true
		}
		before = l
	}
	return false
}
