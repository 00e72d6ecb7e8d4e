package layouts

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// shownElements is the largest size that SideBySide shows.
const shownElements = 400

// overlapsShown is the largest size for which Facts looks for overlap.
const overlapsShown = 1 << 20

// facts are the shape, strides and offset of a view and how it is contiguous, a line each. Bytes
// are for elements of dtype.
func (l Layout) facts(dtype DType, more ...[2]string) string {
	byteStrides := make([]*big.Int, l.Rank())
	for d := range byteStrides {
		byteStrides[d] = inBytes(l.Stride(d), dtype)
	}
	facts := [][2]string{
		{"shape", formatTuple(l.Shape())},
		{"strides", fmt.Sprintf("%s elements, %s bytes of %s", formatTuple(l.Strides()),
			formatTuple(byteStrides), dtype)},
		{"offset", fmt.Sprintf("%d elements, %v bytes", l.Offset(), inBytes(l.Offset(), dtype))},
		{"elements", strconv.Itoa(l.Numel())},
		{"contiguous", yesNo(l.IsContiguous())},
	}
	switch l.Rank() {
	case 4:
		facts = append(facts, [2]string{"channels_last", yesNo(l.IsChannelsLast())})
	case 5:
		facts = append(facts, [2]string{"channels_last_3d", yesNo(l.IsChannelsLast())})
	}
	if l.Numel() <= overlapsShown {
		facts = append(facts, [2]string{"overlap",
			map[bool]string{true: "yes: different indices share elements",
				false: "no"}[l.Overlaps()]})
	}
	return inColumns(append(facts, more...))
}

// inBytes is exact: strides of dims of size 1 and of empty layouts may be more bytes than an int
// can count.
func inBytes(elements int, dtype DType) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(elements)), big.NewInt(int64(dtype.Size())))
}

func inColumns(facts [][2]string) string {
	width := 0
	for _, f := range facts {
		width = max(width, len(f[0]))
	}
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "%-*s  %s\n", width, f[0], f[1])
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// whyContiguous applies the rule of IsContiguous to each dim, a line each, from the last to the
// first that breaks it.
func (l Layout) whyContiguous() string {
	if l.Numel() == 0 {
		return "A tensor without elements is contiguous, whatever its strides.\n"
	}
	var b strings.Builder
	b.WriteString("Contiguous means: from the last dim on, each stride is the product of the " +
		"sizes after it.\n")
	want := 1
	for d, size := range slices.Backward(l.shape) {
		stride := l.strides[d]
		switch {
		case size == 1:
			fmt.Fprintf(&b, "  dim %d: size 1 is skipped, whatever its stride (%d)\n", d, stride)
		case stride == want:
			fmt.Fprintf(&b, "  dim %d: stride %d, as it should be\n", d, stride)
		default:
			fmt.Fprintf(&b, "  dim %d: stride %d, but %d would be contiguous: this dim breaks it\n",
				d, stride, want)
			return b.String()
		}
		want *= size
	}
	return b.String()
}

// beside shows a view next to its storage, in order, or below it if columns are too few (0 are
// enough). The storage has rows of at most 16 elements, which divide the last dim of rows if
// possible.
func beside(view *Tensor, rows Layout, columns int) string {
	row := 16
	if last := rows.Rank() - 1; last >= 0 && rows.shape[last] > 0 {
		row = rowOf(rows.shape[last], row)
	}
	cells, _ := view.storage.all().cells()
	const head = "storage, in order"
	stored := inRows(cells, row)
	left, right := strings.Split(stored, "\n"), strings.Split(view.String(), "\n")
	width := max(len(head), longest(left))
	if columns > 0 && width+4+longest(right) > columns {
		return fmt.Sprintf("%s\n%s\n\nview\n%s\n", head, stored, view)
	}
	left, right = append([]string{head}, left...), append([]string{"view"}, right...)
	var b strings.Builder
	for i := range max(len(left), len(right)) {
		line := fmt.Sprintf("%-*s    %s", width, strings.Join(left[min(i, len(left)):min(i+1,
			len(left))], ""), strings.Join(right[min(i, len(right)):min(i+1, len(right))], ""))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func longest(texts []string) (length int) {
	for _, text := range texts {
		length = max(length, len(text))
	}
	return length
}

// inRows writes cells of one width, this many a row.
func inRows(cells []string, row int) string {
	var rows []string
	width := longest(cells)
	for part := range slices.Chunk(cells, row) {
		padded := make([]string, len(part))
		for i, c := range part {
			padded[i] = fmt.Sprintf("%*s", width, c)
		}
		rows = append(rows, strings.Join(padded, " "))
	}
	return strings.Join(rows, "\n")
}

// rowOf returns the longest row, up to most, that divides a dim's size, or most if that is shorter
// than half.
func rowOf(size, most int) int {
	for row := min(size, most); row >= most/2 || row == size; row-- {
		if size%row == 0 {
			return row
		}
	}
	return most
}
