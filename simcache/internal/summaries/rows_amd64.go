package summaries

import "github.com/klauspost/cpuid/v2"

//go:noescape
func meetAVX2(row, heads *uint32, n int) (missing uint64)

//go:noescape
func moveAVX2(lines *uint32, n int, movers *mover, k int)

//go:noescape
func applyAVX2(to, tags, heads *uint32, n int, missing *uint8)

//go:noescape
func marchAVX2(rows *uint32, line uint32, n int, missing *uint8) (sum int)

//go:noescape
func everyAVX2(tags *uint32, first, mask uint32, shift uint, at, strides *int, refs, left int, out *uint64) (n int)

var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2)

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
	if hasAVX2 && plain && len(lines)%8 == 0 && len(lines) > 0 && len(movers) > 0 {
		moveAVX2(&lines[0], len(lines), &movers[0], len(movers))
		return
	}
	moveGo(lines, movers)
}

// vectors reports whether applyRows does rows of so many ways.
func vectors(ways int) bool { return hasAVX2 && ways == 8 }

// applyRows makes heads meet rows of 8, the first heads that in row off, and so on
// around; writes which missed; and makes the rows tags.
func applyRows(to, tags, heads []uint32, off int, missing []uint8) {
	sets := len(to) / 8
	applyAVX2(&to[8*off], &tags[0], &heads[0], sets-off, &missing[0])
	if off > 0 {
		applyAVX2(&to[0], &tags[8*(sets-off)], &heads[8*(sets-off)], off, &missing[sets-off])
	}
}

// marchRows touches line, line+1, ... in one row of 8 after the other, writes which
// were absent, and returns how many.
func marchRows(rows []uint32, line uint32, missing []uint8) (sum int) {
	return marchAVX2(&rows[0], line, len(missing), &missing[0])
}

// everyRow makes so many iterations of accesses in rows of 8, and writes to out what
// was absent: lines, below the numbers of their accesses. It returns how many.
func everyRow(s *state, at, strides []int, left int, out []uint64) int {
	return everyAVX2(&s.tags[0], s.first, s.mask, s.shift, &at[0], &strides[0], len(at), left, &out[0])
}
