package layouts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PyTorch prints an excerpt beyond maxPrinted elements: edge indices at both ends of each dim.
const (
	maxPrinted = 1000
	edge       = 3
)

// lineWidth is PyTorch's default.
const lineWidth = 80

// String prints the tensor as PyTorch does with its default options (torch/_tensor_str.py), beyond
// 1000 elements as an excerpt.
func (t *Tensor) String() string {
	if err := t.readable(); err != nil {
		return fmt.Sprintf("tensor(<%v>, %s)", err, t.layout)
	}
	const prefix = "tensor("
	var suffixes []string
	body := "[]"
	switch numel := t.layout.Numel(); {
	case numel == 0:
		if t.layout.Rank() != 1 {
			suffixes = append(suffixes, "size="+formatTuple(t.layout.shape))
		}
		if t.DType() != Float32 {
			suffixes = append(suffixes, "dtype=torch."+t.DType().String())
		}
	default:
		body = t.format(len(prefix))
		if d := t.DType(); !d.isDefault() {
			suffixes = append(suffixes, "dtype=torch."+d.String())
		}
	}
	return addSuffixes(prefix+body, suffixes, len(prefix), false)
}

// isDefault reports whether PyTorch leaves out the dtype, which the elements show.
func (d DType) isDefault() bool { return d == Float32 || d == Int64 || d == Bool || d == Complex64 }

// addSuffixes closes the parenthesis after suffixes, on a line of their own if newline.
func addSuffixes(text string, suffixes []string, indent int, newline bool) string {
	last := len(text) - strings.LastIndex(text, "\n") + 1
	for i, s := range suffixes {
		if newline && i == 0 || last+len(s)+2 > lineWidth {
			text += ",\n" + strings.Repeat(" ", indent) + s
			last = indent + len(s)
		} else {
			text += ", " + s
			last += len(s) + 2
		}
	}
	return text + ")"
}

func (t *Tensor) format(indent int) string {
	cells, width := t.excerpt().cells()
	next := 0
	var write func(dim, indent int) string
	write = func(dim, indent int) string {
		if dim == t.layout.Rank() {
			next++
			return cells[next-1]
		}
		innermost := dim == t.layout.Rank()-1
		shown, all := t.shown(dim)
		var entries []string
		for k := range shown {
			switch {
			case k == edge && !all && innermost:
				entries = append(entries, " ...")
			case k == edge && !all:
				entries = append(entries, "...")
			}
			entries = append(entries, write(dim+1, indent+1))
		}
		if !innermost {
			return "[" + strings.Join(entries,
				","+strings.Repeat("\n", t.layout.Rank()-1-dim)+strings.Repeat(" ", indent+1)) + "]"
		}
		perLine := max((lineWidth-indent)/(width+2), 1)
		var lines []string
		for len(entries) > 0 {
			n := min(perLine, len(entries))
			lines = append(lines, strings.Join(entries[:n], ", "))
			entries = entries[n:]
		}
		return "[" + strings.Join(lines, ",\n"+strings.Repeat(" ", indent+1)) + "]"
	}
	return write(0, indent)
}

func (t *Tensor) shown(dim int) (indices []int, all bool) {
	n := t.layout.shape[dim]
	all = t.layout.Numel() <= maxPrinted || n <= 2*edge
	for i := range n {
		if !all && i == edge {
			return append(indices, n-3, n-2, n-1), false
		}
		indices = append(indices, i)
	}
	return indices, all
}

func (t *Tensor) excerpt() *Tensor {
	places, shape := []int{t.layout.offset}, t.layout.Shape()
	for d := range shape {
		shown, _ := t.shown(d)
		shape[d] = len(shown)
		var next []int
		for _, at := range places {
			for _, i := range shown {
				next = append(next, at+i*t.layout.strides[d])
			}
		}
		places = next
	}
	return t.picked(places, shape...)
}

func (t *Tensor) cells() (cells []string, width int) {
	var re, im []float64
	for _, n := range t.scalars() {
		switch n.kind {
		case kindBool:
			cells = append(cells, []string{"False", "True"}[n.n])
		case kindInteger:
			cells = append(cells, strconv.FormatInt(n.n, 10))
		default:
			re, im = append(re, real(n.c)), append(im, imag(n.c))
		}
	}
	switch t.DType().kind() {
	case kindBool, kindInteger:
		return pad(cells)
	case kindFloating:
		return floatCells(re)
	}
	cells, width = floatCells(re)
	parts, more := floatCells(im)
	for i := range cells {
		part := strings.TrimLeft(parts[i], " ") + "j"
		if part[0] != '-' && part[0] != '+' {
			part = "+" + part
		}
		cells[i] += part
	}
	return cells, width + more + 1
}

// must is for conversions of a readable tensor.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func pad(cells []string) ([]string, int) {
	width := 1
	for _, c := range cells {
		width = max(width, len(c))
	}
	for i, c := range cells {
		cells[i] = strings.Repeat(" ", width-len(c)) + c
	}
	return cells, width
}

// floatCells chooses a notation as _Formatter of torch/_tensor_str.py does.
func floatCells(values []float64) ([]string, int) {
	least, most, whole, finite := math.Inf(1), 0.0, true, false
	for _, v := range values {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		finite = true
		least, most = min(least, math.Abs(v)), max(most, math.Abs(v))
		whole = whole && v == math.Ceil(v)
	}
	form, digits, point := byte('f'), 4, ""
	switch {
	case finite && (most/least > 1000 || most > 1e8 || !whole && least < 1e-4):
		form = 'e'
	case whole:
		digits, point = 0, "."
	}
	width := 1
	cells := make([]string, len(values))
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			cells[i] = "nan"
		case math.IsInf(v, 0):
			cells[i] = strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'f', 0, 64), "+"))
		default:
			cells[i] = strconv.FormatFloat(v, form, digits, 64) + point
			if v != 0 { // only these decide the width
				width = max(width, len(cells[i]))
			}
		}
	}
	for i, c := range cells {
		cells[i] = strings.Repeat(" ", max(width-len(c), 0)) + c
	}
	return cells, width
}
