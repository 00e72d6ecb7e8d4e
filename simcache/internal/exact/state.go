package exact

import (
	"math/bits"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A state is a level during a run: for each set its lines in LRU order, the last touched first.
// Lines are numbered from 1; 0 is an empty way.
//
//  1. A state begins empty. Each set's heads are its first distinct lines, up to its ways, in the
//     order of their first touches.
//  2. Until a set has met that many lines, none was evicted. An absent line was not touched before.
//  3. After that, a line is present exactly if fewer than ways other lines were touched since. No
//     line from before the run is left.
//  4. So the past can change the outcome of the heads' first touches only.
type state struct {
	sets, ways int
	mask       uint32 // sets - 1, if sets is a power of two
	power      bool   // sets is a power of two
	low        uint32 // of a later level: the first's mask, if a slice's rows are adjacent, else 0
	up, down   uint   // shifts of a set's slice, and of its number in the slice; see fold
	shift      uint
	turn       uint32   // a line's row is its set minus turn
	first      uint32   // 1 + turn - sets; a line minus first, modulo sets, is its row
	tags       []uint32 // by row, ways each
	heads      []uint32
	ops        []uint16 // of the heads: the operands that touched them
	count      []uint16 // by row: number of heads
	touched    []uint32 // the rows with heads
	has        []uint64 // a bit for each row with heads
	open       int      // number of rows with fewer heads than ways
	met        int      // number of heads
	missing    []uint8  // scratch: by row
	opLow      int
	misses     []uint64 // by operand, from opLow on: misses that no past can change

	rowMisses []uint64            // by row and operand: misses; nil if not kept
	log       *log                // the miss stream; nil if not kept
	fewer     [][mostRests]uint32 // like rowMisses: additional misses with 1, 2 and 3 fewer ways

	// Of the last applied summary: its id, the time, and a bit for each row changed since.
	owner   uint64
	ownedAt uint64
	changed []uint64
	before  []uint64 // rows changed before that, since a reader cleared it
}

func newState(l engine.Level, opLow, opHigh int) *state {
	lines, words := l.Sets*l.Ways, (l.Sets+63)/64
	of32, of16 := make([]uint32, 2*lines), make([]uint16, lines+l.Sets)
	of64 := make([]uint64, 3*words+opHigh-opLow)
	s := &state{sets: l.Sets, ways: l.Ways, shift: l.Shift, opLow: opLow, open: l.Sets,
		mask: uint32(l.Sets - 1), power: bits.OnesCount(uint(l.Sets)) == 1,
		missing: make([]uint8, l.Sets), tags: cut(&of32, lines), heads: cut(&of32, lines),
		ops: cut(&of16, lines), count: cut(&of16, l.Sets), changed: cut(&of64, words),
		before: cut(&of64, words), has: cut(&of64, words)}
	s.misses = of64
	s.turnBy(0)
	return s
}

func (s *state) bytes() int {
	return 10*len(s.tags) + 32*s.sets + 8*len(s.rowMisses) + 4*mostRests*len(s.fewer)
}

// cut takes the first n elements off a list. Slices used together share one allocation.
func cut[T any](list *[]T, n int) []T {
	first := (*list)[:n:n]
	*list = (*list)[n:]
	return first
}

// known turns a new state into a level: its past is empty and known, so no touch is a head.
func (s *state) known() *state {
	for set := range s.count {
		s.count[set] = uint16(s.ways)
	}
	s.open = 0
	return s
}

func (s *state) reset() {
	for _, row := range s.touched {
		clear(s.tags[int(row)*s.ways:][:s.ways])
		s.count[row] = 0
	}
	s.open, s.met = s.sets, 0
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

// byRow makes a state count misses by row, and those with fewer ways, if the unit needs them.
func (s *state) byRow(u *unit) {
	if s.rowMisses == nil && (u.alone || u.byRow) {
		s.rowMisses = make([]uint64, s.sets*len(s.misses))
	}
	if s.fewer == nil && u.alone {
		s.fewer = make([][mostRests]uint32, s.sets*len(s.misses))
	}
}

// fewerOf returns the additional misses of an operand in a row with 1, 2 and 3 fewer ways.
func (s *state) fewerOf(row, op int) *[mostRests]uint32 {
	return &s.fewer[row*len(s.misses)+op-s.opLow]
}

func (s *state) turnBy(by int) {
	if s.turn += uint32(by); s.turn >= uint32(s.sets) {
		s.turn -= uint32(s.sets)
	}
	s.first = 1 + s.turn - uint32(s.sets)
}

func (s *state) row(line uint32) int {
	if s.power {
		return s.fold((line - s.first) & s.mask)
	}
	return int(uint32(uint64(line-s.first) % uint64(s.sets)))
}

func (s *state) fold(set uint32) int { return int(set&s.low<<s.up | set>>s.down) }

// slice makes the rows of a slice adjacent. They receive the misses of one row of the first level
// one after another.
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

// bringTo is touch for a line that is not the first of its row "at".
func (s *state) bringTo(at int, line uint32, op int) (absent bool) {
	row := s.tags[at*s.ways:][:s.ways]
	s.changed[at>>6] |= 1 << (at & 63)
	place := front(row, line)
	if place == s.ways {
		s.absent(at, line, op)
		return true
	}
	if less := s.ways - place; s.fewer != nil && less <= mostRests {
		s.fewerOf(at, op)[less-1]++ // with fewer ways, it would be absent
	}
	return false
}

func (s *state) mark(row, n int) {
	for end := row + n; row < end; {
		k := min(64-row&63, end-row)
		s.changed[row>>6] |= (1<<k - 1) << (row & 63)
		row += k
	}
}

func (s *state) meetRow(row int) {
	s.touched = append(s.touched, uint32(row))
	s.has[row>>6] |= 1 << (row & 63)
}

// turned copies the bits of others to rows, cyclically, from row by on.
func (s *state) turned(rows, others []uint64, by int) {
	for i := range rows {
		rows[i] = bitsFrom(others, i<<6+by) | bitsFrom(others, i<<6+by-s.sets)
	}
	if last := s.sets & 63; last != 0 {
		rows[len(rows)-1] &= 1<<last - 1
	}
}

// bitsFrom returns 64 bits from bit "at" on, which may be negative.
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

func (s *state) miss(row, op int, n uint64) {
	s.misses[op-s.opLow] += n
	if s.rowMisses != nil {
		s.rowMisses[row*len(s.misses)+op-s.opLow] += n
	}
}

// absent notes a line that was absent from its row.
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
	s.met++
	if n+1 == s.ways {
		s.open--
	}
}

// bring touches a line of a level, and reports whether it was absent. The caller counts the miss.
func (s *state) bring(line uint32) (absent bool) {
	at := s.row(line)
	s.changed[at>>6] |= 1 << (at & 63)
	return !present(s.tags[at*s.ways:][:s.ways], line)
}

// present makes a line the first of a row, and reports whether it was there.
func present(row []uint32, line uint32) bool { return front(row, line) < len(row) }

// frontGo makes a line the first of a row. It returns the line's place before, or the row's length.
func frontGo(row []uint32, line uint32) (place int) {
	before := line
	for p, l := range row {
		row[p] = before
		if l == line {
			return p
		}
		before = l
	}
	return len(row)
}
