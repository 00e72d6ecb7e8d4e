package blocked

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts"
)

// shownElements is the largest storage that a picture shows.
const shownElements = 400

// A Picture is a question about storage, as [layouts.Picture]: where the elements of a tensor in a
// format lie. Its errors are as those of that one.
type Picture struct {
	Format Tag
	Shape  []int
	DType  layouts.DType
}

func (p Picture) layout() (Layout, error) {
	l, err := p.Format.Layout(p.Shape...)
	if all := l.Nested(); err == nil && all.Numel() > math.MaxInt/p.DType.Size() {
		err = fmt.Errorf("%v of %s is more bytes than an int can count", all, p.DType)
	}
	if err != nil {
		return l, fmt.Errorf("format %s: %w", p.Format.Written(), err)
	}
	return l, nil
}

// Text says how the format splits and pads the dims, and draws a small storage.
func (p Picture) Text() (words, drawing string, err error) {
	l, err := p.layout()
	if err != nil {
		return "", "", err
	}
	elements, stored := l.rows.Numel(), l.Nested().Numel()
	var s strings.Builder
	fmt.Fprintf(&s, "format      %v\nshape       %s\nelements    %d\n", p.Format, tuple(p.Shape),
		elements)
	fmt.Fprintf(&s, "stored      %d elements, %d bytes of %v", stored, stored*p.DType.Size(),
		p.DType)
	if padding := stored - elements; padding > 0 {
		fmt.Fprintf(&s, "; %d of them (%.1f%%) are padding", padding,
			100*float64(padding)/float64(stored))
	}
	s.WriteString("\n\nDims, whole blocks first, with strides in elements:\n")
	padded := l.padded()
	for d, digits := range l.dims {
		fmt.Fprintf(&s, "  %c, dim %d: size %d", 'a'+d, d, p.Shape[d])
		if padded[d] != p.Shape[d] {
			fmt.Fprintf(&s, ", padded to %d", padded[d])
		}
		if sizes, strides := listed(digits); len(digits) > 1 {
			fmt.Fprintf(&s, " = %s, strides %s\n", sizes, strides)
		} else {
			fmt.Fprintf(&s, ", stride %s\n", strides)
		}
	}
	if stored > shownElements || stored == 0 {
		fmt.Fprintf(&s, "\nStorage is printed for up to %d elements.\n", shownElements)
		return s.String(), "", nil
	}
	return s.String(), "\n" + p.rows(l.numbers(".")), nil
}

// tuple writes sizes as PyTorch does, "(3, 4)" or "(3,)".
func tuple(shape []int) string {
	text := strings.ReplaceAll(layouts.FormatShape(shape), "x", ", ")
	if len(shape) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

// Drawing is what a picture of the storage shows.
func (p Picture) Drawing() (d layouts.Drawing, err error) {
	l, err := p.layout()
	if err != nil {
		return d, err
	}
	d = layouts.Drawing{What: fmt.Sprintf(" of a %s %v tensor", tuple(p.Shape), p.DType),
		Storage: l.Nested().Numel(), Padded: true,
		Views: []layouts.Drawn{{Name: p.Format.Written(), Placed: l}}}
	if d.Storage <= shownElements {
		d.Values = l.numbers("")
	}
	return d, nil
}

// numbers are the elements of the storage, in cells of one width. They are 0, 1, 2, ... in
// row-major order, so that each says its index, and padding where the storage has no element.
func (l Layout) numbers(padding string) []string {
	width := len(fmt.Sprint(max(l.rows.Numel()-1, 0)))
	cells := slices.Repeat([]string{fmt.Sprintf("%*s", width, padding)}, l.Nested().Numel())
	number := 0
	for at := range l.Offsets() {
		cells[at] = fmt.Sprintf("%*d", width, number)
		number++
	}
	return cells
}

// rows shows the cells of a storage in rows of the innermost blocks.
func (p Picture) rows(cells []string) string {
	const widest = 32
	row := 1
	for _, k := range slices.Backward(p.Format.blocks) {
		if row*k.size > widest {
			break
		}
		row *= k.size
	}
	if last := p.Format.order[len(p.Format.order)-1]; row == 1 {
		row = min(max(p.Shape[last], 1), widest)
	}
	text := "storage, in order: 0, 1, 2, ... are the elements in row-major order"
	if strings.Contains(cells[len(cells)-1], ".") {
		text += ", dots are padding"
	}
	padding := 0 // rows
	for cells := range slices.Chunk(cells, row) {
		line := strings.Join(cells, " ")
		if strings.Trim(line, " .") == "" {
			padding++
			continue
		}
		text += "\n" + paddingRows(padding) + line
		padding = 0
	}
	return text + "\n" + paddingRows(padding)
}

func paddingRows(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "(a row of padding)\n"
	}
	return fmt.Sprintf("(%d rows of padding)\n", n)
}
