package lru

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// thin leaves out streams that hit in every iteration and change nothing: such as lie in the line of the stream
// before, and, if the first level has room for all lines of an iteration in one set, all but the first and the
// last that lie in a line. It returns the number of lines of the slow streams and of the fast ones.
func (w *transit) thin() (slow, fast int) {
	if slow, fast = len(w.slow), len(w.fast); !w.packed || w.c.dirty != 0 || w.c.brute {
		return slow, fast
	}
	lines, line := map[string]int{}, make([]int, len(w.streams)) // by stream: the number of its line
	last := []int{}                                              // by line: its last stream
	for i, op := range w.nest.Operands {
		key := w.c.levels[0].line(op)
		if _, known := lines[key]; !known {
			lines[key] = len(last)
			last = append(last, i)
		}
		line[i] = lines[key]
		last[line[i]] = i
	}
	seen, before := make([]bool, len(last)), -1
	room, left := len(last) <= w.c.levels[0].ways, make([]bool, len(w.streams)) // out, by stream
	for i, l := range line {
		if left[i] = l == before || room && seen[l] && last[l] != i; !left[i] {
			seen[l], before = true, l
		}
	}
	isLeft := func(s *stream) bool { return left[s.op] }
	slow, fast = lineCount(w.slow, line), lineCount(w.fast, line)
	w.streams, w.slow, w.fast = slices.DeleteFunc(w.streams, isLeft), slices.DeleteFunc(w.slow, isLeft), slices.DeleteFunc(w.fast, isLeft)
	return slow, fast
}

// lineCount is how many lines streams are in.
func lineCount(streams []*stream, line []int) int {
	lines := map[int]bool{}
	for _, s := range streams {
		lines[line[s.op]] = true
	}
	return len(lines)
}

// line identifies the line that an operand is in, in every iteration: operands are always in one if they move
// alike, by multiples of a part of the line, and begin in the same part.
func (l *rows) line(op nest.Operand) string {
	together := 1 << l.shift
	for _, s := range op.Strides {
		together |= s
	}
	key := binary.AppendUvarint(nil, op.Base>>bits.TrailingZeros(uint(together)))
	for _, s := range op.Strides {
		key = binary.AppendVarint(key, int64(s))
	}
	return string(key)
}
