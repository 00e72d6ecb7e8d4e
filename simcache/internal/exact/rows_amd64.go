package exact

import "github.com/klauspost/cpuid/v2"

//go:noescape
func meetAVX2(row, heads *uint32, n int) (missing uint64)

//go:noescape
func everyAVX2(s *state, at *int, refs *moving, n, left int, places uint32, out *uint64) int

//go:noescape
func frontAVX2(row *uint32, n int, line uint32) (place int)

//go:noescape
func moveAVX2(lines *uint32, n int, movers *mover, k int)

//go:noescape
func moveAVX512(lines *uint32, n int, movers *mover, k int)

//go:noescape
func applyAVX2(to, tags, heads *uint32, count *uint16, n int, missing *uint8)

//go:noescape
func advanceAVX2(rows *uint32, line uint32, n int, missing *uint8) (sum int)

//go:noescape
func bringAVX512(s *state, lines *uint32, ops *uint16, n int)

//go:noescape
func sendAVX512(to, e *state, rows, heads uint64, first, off, sets int)

//go:noescape
func sendAVX2(to, e *state, rows, heads uint64, first int)

//go:noescape
func bringAVX2(s *state, lines *uint32, ops *uint16, n int)

var (
	hasAVX2   = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2)
	hasAVX512 = cpuid.CPU.Supports(
		cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.BMI1, cpuid.BMI2)
)

// meet touches heads in a row, in order, and returns a bit for each absent one; see meetGo. If all
// are absent and fill the row, the row may stay unchanged.
func meet(row, heads []uint32) (missing uint64) {
	if hasAVX2 && len(row) == 8 && len(heads) > 0 {
		return meetAVX2(&row[0], &heads[0], len(heads))
	}
	return meetGo(row, heads)
}

// front is frontGo.
func front(row []uint32, line uint32) (place int) {
	if hasAVX2 && len(row) >= 12 && len(row)%4 == 0 {
		return frontAVX2(&row[0], len(row), line)
	}
	return frontGo(row, line)
}

func moveLines(lines []uint32, movers []mover) {
	if hasAVX2 && len(lines)%8 == 0 && len(movers) > 0 {
		if n := len(lines) &^ 15; hasAVX512 && n > 0 {
			moveAVX512(&lines[0], n, &movers[0], len(movers))
			lines = lines[n:]
		}
		if len(lines) > 0 {
			moveAVX2(&lines[0], len(lines), &movers[0], len(movers))
		}
		return
	}
	moveGo(lines, movers)
}

// vectors reports whether applyRows handles rows of this width.
func vectors(ways int) bool { return hasAVX2 && ways == 8 }

// applyRows lets a summary's heads meet rows of 8, and puts the summary's lines on top. Its first
// row meets row off, and so on, cyclically. missing gets a bit for each head that missed.
func applyRows(to []uint32, e *summary, off int, missing []uint8) {
	rows := e.sets - off
	applyAVX2(&to[8*off], &e.tags[0], &e.heads[0], &e.count[0], rows, &missing[0])
	if off > 0 {
		applyAVX2(&to[0], &e.tags[8*rows], &e.heads[8*rows], &e.count[rows], off, &missing[rows])
	}
}

// advanceRows touches line, line+1, ... in consecutive rows of 8. It writes which were absent, and
// returns their number.
func advanceRows(rows []uint32, line uint32, missing []uint8) (sum int) {
	return advanceAVX2(&rows[0], line, len(missing), &missing[0])
}

// mostFar is the most accesses that everyFar makes at once.
const mostFar = 512

// everyFar is every with vectors, for levels of one line size, and reports whether it could. It
// marks all rows as changed. Of the hits, only those that fewer ways would lose are noted.
func (in *inner) everyFar(c *context, left int) bool {
	s, refs := c.states[0], len(in.refs)
	if len(c.states) > 1 && !c.sliced || !vectors(s.ways) || !s.power || left < 16 ||
		refs > mostFar {
		return false
	}
	places := uint32(0xff)
	if s.fewer != nil {
		places >>= mostRests
	}
	if in.out == nil {
		in.out = make([]uint64, mostFar+1)
	}
	for left > 0 {
		k := min(left, mostFar/refs)
		left -= k
		for _, w := range in.out[:everyAVX2(s, &in.at[0], &in.refs[0], refs, k, places,
			&in.out[0])] {
			line, op := uint32(w), in.refs[w>>32&0xffff].op
			if place := w >> 48; place != 0 {
				s.fewerOf(s.row(line), op)[7-trailing(place)]++
				continue
			}
			s.absent(s.row(line), line, op)
			for _, t := range c.states[1:] {
				if !t.touch(line, op) {
					break
				}
			}
		}
	}
	s.mark(0, s.sets)
	return true
}

// bringLines touches lines of a level, and counts the absent ones by operand. It reports whether it
// could, with vectors.
func (s *state) bringLines(lines []uint32, ops []uint16) bool {
	if !hasAVX2 || s.ways != 16 || !s.power {
		return false
	}
	if hasAVX512 {
		bringAVX512(s, &lines[0], &ops[0], len(lines))
	} else {
		bringAVX2(s, &lines[0], &ops[0], len(lines))
	}
	return true
}

// sendRows touches the misses of a summary in the second level. rows has a bit for each of 64 rows,
// from first on, that sends its log. heads has a bit for each that sends all of its heads before.
// The rows are off further on in the level, cyclically. It reports whether it could, with vectors.
func (s *state) sendRows(e *state, rows, heads uint64, first, off int) bool {
	if !hasAVX2 || s.ways != 16 || !s.power {
		return false
	}
	if hasAVX512 {
		sendAVX512(s, e, rows, heads, first, off, e.sets)
	} else {
		sendAVX2(s, e, rows, heads, first)
	}
	return true
}
