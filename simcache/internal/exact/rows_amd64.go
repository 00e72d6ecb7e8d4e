package exact

import "github.com/klauspost/cpuid/v2"

//go:noescape
func meetAVX2(row, heads *uint32, n int) (missing uint64)

//go:noescape
func moveAVX2(lines *uint32, n int, movers *mover, k int)

//go:noescape
func moveAVX512(lines *uint32, n int, movers *mover, k int)

//go:noescape
func applyAVX2(to, tags, heads *uint32, count *uint16, n int, missing *uint8, found int)

//go:noescape
func marchAVX2(rows *uint32, line uint32, n int, missing *uint8) (sum int)

//go:noescape
func everyAVX2(tags *uint32, first, mask uint32, shift uint, at, strides *int,
	refs, left int, places uint32, out *uint64) (n int)

//go:noescape
func rowAVX2(row, lines *uint32, n int, missing *uint8) (sum int)

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

// meet touches heads in a row, in order, and returns a bit for each that was not
// there; see meetGo. The row may stay as it is if none was and there are as
// many as it has ways.
func meet(row, heads []uint32) (missing uint64) {
	if hasAVX2 && len(row) == 8 && len(heads) > 0 {
		return meetAVX2(&row[0], &heads[0], len(heads))
	}
	return meetGo(row, heads)
}

// moveLines moves lines; see moveGo.
func moveLines(lines []uint32, movers []mover, plain bool) {
	if hasAVX2 && plain && len(lines)%8 == 0 && len(movers) > 0 {
		if n := len(lines) &^ 15; hasAVX512 && n > 0 {
			moveAVX512(&lines[0], n, &movers[0], len(movers))
			lines = lines[n:]
		}
		if len(lines) > 0 {
			moveAVX2(&lines[0], len(lines), &movers[0], len(movers))
		}
		return
	}
	moveGo(stepLines(lines, movers), movers)
}

// vectors reports whether applyRows does rows of so many ways.
func vectors(ways int) bool { return hasAVX2 && ways == 8 }

// applyRows makes the heads of a summary meet rows of 8, the first that in row off, and
// so on around, and puts the summary's lines on top. It writes which missed, a bit each, and
// as many bytes after these 0 for each row of whose heads surely none was there.
func applyRows(to []uint32, e *summary, off int, missing []uint8) {
	rows := e.sets - off
	applyAVX2(&to[8*off], &e.tags[0], &e.heads[0], &e.count[0], rows, &missing[0], len(missing))
	if off > 0 {
		applyAVX2(&to[0], &e.tags[8*rows], &e.heads[8*rows], &e.count[rows], off,
			&missing[rows], len(missing))
	}
}

// marchRows touches line, line+1, ... in one row of 8 after the other, writes which
// were absent, and returns how many.
func marchRows(rows []uint32, line uint32, missing []uint8) (sum int) {
	return marchAVX2(&rows[0], line, len(missing), &missing[0])
}

// everyRow makes so many iterations of accesses in rows of 8, and writes to out what
// was in none of some places, a bit each: lines, below the numbers of their accesses,
// below a bit for the place, none if absent. It returns how many.
func everyRow(s *state, at, strides []int, left int, places uint32, out []uint64) int {
	return everyAVX2(&s.tags[0], s.first, s.mask, s.shift, &at[0], &strides[0],
		len(at), left, places, &out[0])
}

// bringLines touches lines of a level, and counts by operand those that were absent;
// it reports whether it could, with vectors.
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

// sendRows touches in the second level what is beyond those of 64 rows of a summary from
// one on that have a bit, so many rows on and around: all heads, where they have one,
// too, then the log. It reports whether it could, with vectors.
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

// bringRow touches lines of a row; see bringRowGo.
func bringRow(row, lines []uint32, missing []uint8) (sum int) {
	if vectors(len(row)) && len(lines) > 0 {
		return rowAVX2(&row[0], &lines[0], len(lines), &missing[0])
	}
	return bringRowGo(row, lines, missing)
}
