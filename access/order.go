package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An Order is the order in which the dims of a view are walked: one of the constants, a permutation
// such as "1,0", the outermost dim first, or "from" or "to": by the strides of x or y, which has a
// format (Spec.From, Spec.To). Negative dims count from the end.
type Order string

const (
	Row Order = ""    // the last dim innermost
	Col Order = "col" // the first dim innermost
	// Torch is the order in which PyTorch 1.13 walks the operands (layouts.Elementwise, Into,
	// Reduction, Copy). It sorts dims by strides, the output's first, and merges them, or copies a
	// transposed matrix by blocks. The output of an Add has PyTorch's strides.
	Torch  Order = "torch"
	asFrom Order = "from"
	asTo   Order = "to"
)

// parseOrder reads what String writes; the empty text is Row. It does not check that a permutation
// has each dim once.
func parseOrder(text string) (Order, error) {
	switch o := Order(text); o {
	case Row, Col, Torch, asFrom, asTo:
		return o, nil
	}
	if text == Row.String() {
		return Row, nil
	}
	var dims []int
	for part := range strings.SplitSeq(text, ",") {
		d, err := strconv.Atoi(part)
		if err != nil {
			return Row, fmt.Errorf("%q is not a dim (want row, col, torch, a permutation "+
				"such as 1,0, or with formats from or to)", part)
		}
		dims = append(dims, d)
	}
	return Order(listed(dims)), nil
}

// String returns "row" for Row, and others as they are.
func (o Order) String() string {
	if o == Row {
		return "row"
	}
	return string(o)
}

// of returns the dims of a view, the outermost first.
func (o Order) of(rank int) ([]int, error) {
	order := nest.UpTo(rank)
	switch o {
	case Row:
		return order, nil
	case Col:
		slices.Reverse(order)
		return order, nil
	case asFrom, asTo:
		return nil, errors.New("no tensor here has a format (from goes with one for x, to with " +
			"one for y)")
	}
	order = order[:0]
	wrong := fmt.Errorf("not each of the view's %d dims once", rank)
	for part := range strings.SplitSeq(string(o), ",") {
		d, err := strconv.Atoi(part)
		if d < 0 {
			d += rank
		}
		if err != nil || d < 0 || d >= rank || slices.Contains(order, d) {
			return nil, wrong
		}
		order = append(order, d)
	}
	if len(order) != rank {
		return nil, wrong
	}
	return order, nil
}
