package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An Order is the order in which the dims of a view are walked. The zero Order is Row. Orders can
// be compared with ==.
type Order struct {
	col   bool
	torch bool
	lies  lies
	// of a permutation, a byte each, the outermost first; negative ones count from the end
	dims string
}

// The orders for any rank.
var (
	Row = Order{}          // the last dim innermost
	Col = Order{col: true} // the first dim innermost
	// Torch is the order in which PyTorch 1.13 walks the operands (layouts.Elementwise, Into,
	// Reduction, Copy). It sorts dims by strides, the output's first, and merges them, or copies a
	// transposed matrix by blocks. The output of an Add has PyTorch's strides.
	Torch = Order{torch: true}
)

// The orders of tensors in formats (Spec.From), which may split dims.
var (
	AsFrom = Order{lies: likeX} // by the strides of x
	AsTo   = Order{lies: likeY} // by the strides of y
)

type lies uint8

const (
	likeX lies = iota + 1
	likeY
)

// Permutation returns the order of the listed dims, the outermost first. Negative dims count from
// the end. It returns an error for a dim outside -128 to 127.
func Permutation(dims ...int) (Order, error) {
	var b strings.Builder
	for _, d := range dims {
		if d != int(int8(d)) {
			return Order{}, fmt.Errorf("dim %d is beyond what a tensor has", d)
		}
		b.WriteByte(byte(int8(d)))
	}
	return Order{dims: b.String()}, nil
}

// ParseOrder reads "row", "col", "torch", "from", "to" or a permutation such as "1,0"; the empty
// text is Row. It does not check that a permutation has each dim once.
func ParseOrder(text string) (Order, error) {
	switch text {
	case "", "row":
		return Row, nil
	case "col":
		return Col, nil
	case "torch":
		return Torch, nil
	case "from":
		return AsFrom, nil
	case "to":
		return AsTo, nil
	}
	if name, ok := orderElsewhere[strings.ToLower(text)]; ok {
		return Order{}, fmt.Errorf("no such order: did you mean %s?", name)
	}
	var dims []int
	for part := range strings.SplitSeq(text, ",") {
		d, err := strconv.Atoi(part)
		if err != nil {
			return Order{}, fmt.Errorf("%q is not a dim (want row, col, torch, a permutation "+
				"such as 1,0, or with formats from or to)", part)
		}
		dims = append(dims, d)
	}
	return Permutation(dims...)
}

// orderElsewhere has the names of people, NumPy and BLAS.
var orderElsewhere = map[string]string{
	"rows": "row", "row-major": "row", "rowmajor": "row", "c": "row",
	"cols": "col", "column": "col", "columns": "col", "col-major": "col", "column-major": "col",
	"colmajor": "col", "f": "col",
}

// String returns what ParseOrder reads.
func (o Order) String() string {
	switch {
	case o.torch:
		return "torch"
	case o.lies == likeX:
		return "from"
	case o.lies == likeY:
		return "to"
	case o.col:
		return "col"
	case o.dims == "":
		return "row"
	}
	var parts []string
	for i := range len(o.dims) {
		parts = append(parts, strconv.Itoa(int(int8(o.dims[i]))))
	}
	return strings.Join(parts, ",")
}

// of returns the dims of a view, the outermost first.
func (o Order) of(rank int) ([]int, error) {
	if o.lies != 0 {
		return nil, errors.New("no tensor here has a format (from goes with one for x, to with " +
			"one for y)")
	}
	order := nest.UpTo(rank)
	if o.col {
		slices.Reverse(order)
	}
	if o.dims == "" {
		return order, nil
	}
	seen := make([]bool, rank)
	for i := range len(o.dims) {
		d := int(int8(o.dims[i]))
		if d < 0 {
			d += rank
		}
		if d < 0 || d >= rank || seen[d] || len(o.dims) != rank {
			return nil, fmt.Errorf("not each of the view's %d dims once", rank)
		}
		seen[d] = true
		order[i] = d
	}
	return order, nil
}
