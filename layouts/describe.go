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

// Facts returns the shape, strides and offset of a view and how it is contiguous, a line each.
// Bytes are for elements of dtype.
func (l Layout) Facts(dtype DType) string { return l.facts(dtype) }

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
		facts = append(facts, [2]string{"channels_last_3d", yesNo(l.IsChannelsLast3d())})
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

// WhyContiguous applies the contiguity rule dim by dim, a line each; see [Layout.Explain].
func (l Layout) WhyContiguous() string {
	if l.Numel() == 0 {
		return "A tensor without elements is contiguous, whatever its strides.\n"
	}
	var b strings.Builder
	b.WriteString("Contiguous means: from the last dim on, each stride is the product of the " +
		"sizes after it.\n")
	for _, r := range l.Explain() {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	return b.String()
}

// String says how the rule judges the dim.
func (r Reason) String() string {
	switch {
	case r.Skipped:
		return fmt.Sprintf("dim %d: size 1 is skipped, whatever its stride (%d)", r.Dim, r.Stride)
	case r.Holds:
		return fmt.Sprintf("dim %d: stride %d, as it should be", r.Dim, r.Stride)
	}
	return fmt.Sprintf("dim %d: stride %d, but %d would be contiguous: this dim breaks it", r.Dim,
		r.Stride, r.Want)
}

// SideBySide shows a storage next to a view of it, or above it if columns are too few (0 are
// enough). Rows of the storage have the length of the last dim of stored. Elements are their places
// in the storage. A view with negative strides, which PyTorch's tensors cannot have, is shown as
// the order of its walk.
func SideBySide(stored, view Layout, columns int) (string, error) {
	walk := ""
	if slices.ContainsFunc(view.strides, func(stride int) bool { return stride < 0 }) {
		walk = "Negative strides are an order of access: PyTorch's tensors have none, and its " +
			"flip copies.\n"
	}
	if stored.Numel() > shownElements || view.Numel() > shownElements {
		return fmt.Sprintf("%sStorage and view are printed for up to %d elements.\n", walk,
			shownElements), nil
	}
	if walk != "" {
		return walk + walkText(view), nil
	}
	storage, err := Arange(Int64, stored.Numel())
	if err != nil {
		return "", err
	}
	x, err := NewTensor(storage.Storage(), view)
	if err != nil {
		return "", err
	}
	return sideBySide(storageRows(storage, stored), x, columns), nil
}

func sideBySide(rows string, view *Tensor, columns int) string {
	const head = "storage, in order"
	left := strings.Split(rows, "\n")
	right := strings.Split(view.String(), "\n")
	longest := func(lines []string) int {
		return len(slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) }))
	}
	width := max(len(head), longest(left))
	if columns > 0 && width+4+longest(right) > columns {
		return fmt.Sprintf("%s\n%s\n\nview\n%s\n", head, rows, view)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s    view\n", width, head)
	for i := range max(len(left), len(right)) {
		var stored, viewed string
		if i < len(left) {
			stored = left[i]
		}
		if i < len(right) {
			viewed = right[i]
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s    %s", width, stored, viewed),
			" ") + "\n")
	}
	return b.String()
}

func walkText(l Layout) string {
	var places []string
	for at := range l.Offsets() {
		places = append(places, fmt.Sprint(at))
	}
	return "It visits the storage in this order:\n" + strings.Join(places, " ") + "\n"
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

// storageRows prints a storage in rows of at most 16 elements, which divide the stored last dim if
// possible.
func storageRows(storage *Tensor, stored Layout) string {
	row := 16
	if last := stored.Rank() - 1; last >= 0 && stored.Size(last) > 0 {
		row = rowOf(stored.Size(last), row)
	}
	text := strings.TrimPrefix(storage.String(), "tensor([")
	text, _, _ = strings.Cut(text, "]")
	cells := strings.Split(strings.Join(strings.Fields(text), ""), ",")
	width := 0
	for _, c := range cells {
		width = max(width, len(c))
	}
	var b strings.Builder
	for i, c := range cells {
		switch {
		case i > 0 && i%row == 0:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%*s", width, c)
	}
	return b.String()
}
