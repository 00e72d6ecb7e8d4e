package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An Order is the order in which the dims of a view are walked. The zero Order
// is Row. Orders can be compared with ==.
type Order struct {
	col   bool
	torch bool
	lies  lies
	// of a permutation, a byte each, the outermost first; below 0 they count from the end
	dims string
}

// The orders that hold for any rank.
var (
	Row = Order{}          // as the dims stand, the last one innermost
	Col = Order{col: true} // the first one innermost
	// Torch is the order in which PyTorch 1.13 walks the operands (layouts.Elementwise,
	// Into, Reduction, Copy): dims sorted by strides, those of what is written first,
	// and merged; a transposed matrix is copied by blocks. What an Add writes is laid
	// out as PyTorch does.
	Torch = Order{torch: true}
)

// The orders of tensors in formats (Spec.From), whose dims may be split.
var (
	AsFrom = Order{lies: likeX} // as x lies in memory
	AsTo   = Order{lies: likeY} // as y lies in memory
)

// lies says which operand's place in memory makes an order.
type lies uint8

const (
	likeX lies = iota + 1
	likeY
)

// Permutation is the order in which dims are walked as they are listed, the
// outermost first; below 0 they count from the end. It refuses dims that no
// tensor has (beyond 127).
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

// ParseOrder reads "row", "col", "torch", "from", "to" or a permutation such as "1,0";
// the empty text is Row. Whether a permutation has each dim once is for a view to say.
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

// orderElsewhere is what others call the orders: people, NumPy and BLAS.
var orderElsewhere = map[string]string{
	"rows": "row", "row-major": "row", "rowmajor": "row", "c": "row",
	"cols": "col", "column": "col", "columns": "col", "col-major": "col", "column-major": "col",
	"colmajor": "col", "f": "col",
}

// String is what ParseOrder reads: "row", "col", "torch", "from", "to" or "1,0".
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

// of returns the dims of a view of a rank, the outermost first. It refuses a
// permutation of others.
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
