package operators

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts"
)

// Results are those of an operator that the profile does not have, as a Kineto trace has none. The
// row needs a rule for them, and the rule the operands and arguments. It is named, or has the dims of
// operands and results in letters: "ab,bc->ac" is a product of matrices. There, * is all dims that
// have no letter, ? any operand, ... any more of these, and = an operand in TensorIterator's order. N
// and O are the numbers of the arguments n and o. Results have the dtype of the first operand, or one
// after a colon. All but = are contiguous: where they may be channels_last, as much is written. Of a
// reduction the rule is the dtype of its second result.
func (op Operator) Results() []Tensor {
	written := func(o Tensor) bool { return o.Role != Input || o.InList }
	if len(op.Outputs) > 0 || slices.ContainsFunc(op.Inputs, written) {
		return nil
	}
	row := op.Row()
	if operands, results, written := strings.Cut(row.Results, "->"); written {
		return op.inLetters(strings.Split(operands, ","), strings.Split(results, ","))
	}
	rule, second, more := strings.Cut(row.Results, ":")
	shapeOf := byRuleName[rule]
	switch {
	case len(op.Inputs) == 0:
		return nil
	case rule == "gradients":
		return op.gradients()
	case shapeOf == nil:
		return nil
	}
	x := op.Inputs[0]
	shape := shapeOf(op, x.Shape)
	if shape == nil {
		return nil
	}
	all := []Tensor{Fresh(shape, x.DType)}
	if more {
		all = append(all, Fresh(shape, second))
	}
	return all
}

// Fresh is a contiguous result.
func Fresh(shape []int, dtype string) Tensor {
	o := Tensor{Shape: shape, Strides: make([]int, len(shape)), DType: dtype, Role: Output}
	step := 1
	for d, n := range slices.Backward(shape) {
		o.Strides[d] = step
		step *= max(n, 1)
	}
	return o
}

// inLetters are results by a rule of letters.
func (op Operator) inLetters(operands, results []string) []Tensor {
	sizes, rest, ok := op.bind(operands)
	if !ok {
		return nil
	}
	var all []Tensor
	for _, result := range results {
		letters, dtype, said := strings.Cut(result, ":")
		if !said && len(op.Inputs) > 0 {
			dtype = op.Inputs[0].DType
		}
		if letters == "=" {
			l, err := op.iterated()
			if err != nil {
				return nil
			}
			y := Tensor{Shape: l.Shape(), Strides: l.Strides(), DType: dtype, Role: Output}
			all = append(all, y)
			continue
		}
		letters, more := strings.CutPrefix(letters, "*")
		shape := []int{}
		if more {
			shape = append(shape, rest...)
		}
		for k := range letters {
			given, known := op.Numbers(map[byte]Arg{'N': Number, 'O': Size}[letters[k]])
			if size, bound := sizes[letters[k]]; bound {
				given = []int{size}
			} else if !known || len(given) == 0 {
				return nil
			}
			shape = append(shape, given...)
		}
		all = append(all, Fresh(shape, dtype))
	}
	return all
}

// bind finds the sizes of the letters in a rule, and the rest that * stands for. It reports false
// of operands that the rule is not for: of one more, which is where the result goes.
func (op Operator) bind(patterns []string) (sizes map[byte]int, rest []int, ok bool) {
	sizes = map[byte]int{}
	switch last := len(patterns) - 1; {
	case patterns[last] == "...":
		patterns = patterns[:last]
	case patterns[last] != "=" && len(op.Inputs) > len(patterns):
		return nil, nil, false
	}
	for i, pattern := range patterns {
		if i >= len(op.Inputs) {
			return sizes, rest, pattern == ""
		}
		shape := op.Inputs[i].Shape
		letters, more := strings.CutPrefix(pattern, "*")
		lead := len(shape) - len(letters)
		switch {
		case pattern == "?" || pattern == "=":
			continue
		case lead < 0 || lead > 0 && !more,
			rest != nil && more && !slices.Equal(rest, shape[:lead]):
			return nil, nil, false
		case more:
			rest = append([]int{}, shape[:lead]...)
		}
		for k := range letters {
			sizes[letters[k]] = shape[lead+k]
		}
	}
	return sizes, rest, true
}

// iterated is a result as TensorIterator allocates it.
func (op Operator) iterated() (layouts.Layout, error) {
	var inputs []layouts.Layout
	for _, o := range op.Inputs {
		l, err := o.Layout()
		if err != nil {
			return l, err
		}
		inputs = append(inputs, l)
	}
	it, err := layouts.Elementwise(inputs...)
	return it.Output, err
}

// byRuleName are the shapes of the results of an operator whose first operand has a shape; nil
// where its arguments do not say them.
var byRuleName = map[string]func(op Operator, x []int) []int{
	"windows": Operator.windows, "transposed": Operator.windows,
	"resized": Operator.resized, "chosen": Operator.chosen,
	"pool2": func(op Operator, x []int) []int { return op.pool(x, 2) },
	"pool3": func(op Operator, x []int) []int { return op.pool(x, 3) },
}

// each is the numbers of an argument, one for each of so many dims: one number is that of all, and
// none is what is given besides, as is an argument that the row does not have. It is nil of others.
func (op Operator) each(letter Arg, dims int, none ...int) []int {
	n, known := op.Numbers(letter)
	if len(n) == 0 {
		n = none
	}
	if len(n) == 1 {
		n = slices.Repeat(n, dims)
	}
	large := func(n int) bool { return n < 0 || n > 1<<30 }
	if !known && op.Row().Takes(letter) || len(n) != dims || slices.ContainsFunc(n, large) {
		return nil
	}
	return n
}

// windowed are the sizes of what windows of some sizes make of the last dims of x.
func (op Operator) windowed(x, size []int, turned bool) (sizes []int) {
	dims := len(size)
	none := []int{1}
	if op.Row().Takes(Kernel) {
		none = size
	}
	stride, padding := op.each(Stride, dims, none...), op.each(Padding, dims, 0)
	dilation, extra := op.each(Dilation, dims, 1), op.each(Extra, dims, 0)
	if stride == nil || padding == nil || dilation == nil || extra == nil || slices.Contains(stride, 0) {
		return nil
	}
	for d, n := range x[len(x)-dims:] {
		if turned {
			sizes = append(sizes, (n-1)*stride[d]-2*padding[d]+dilation[d]*(size[d]-1)+extra[d]+1)
			continue
		}
		span := n + 2*padding[d] - dilation[d]*(size[d]-1) - 1
		m := span/stride[d] + 1
		if op.True(Ceil) && span%stride[d] != 0 && m*stride[d] < n+padding[d] {
			m++ // pooling_output_shape in Pool.h
		}
		if span < 0 {
			return nil
		}
		sizes = append(sizes, m)
	}
	return sizes
}

// windows is that of a convolution, whose second operand is the weights.
func (op Operator) windows(x []int) []int {
	if len(op.Inputs) < 2 || len(x) < 3 || len(op.Inputs[1].Shape) != len(x) || len(op.Args) == 0 {
		return nil
	}
	w := op.Inputs[1].Shape
	turned, channels := op.Row().Results == "transposed" || op.True(Whether), w[0]
	if turned {
		channels = min(w[1], maxOperand>>30) * append(op.each(Number, 1, 1), 1)[0] // of each group
	}
	sizes := op.windowed(x, w[2:], turned)
	if sizes == nil {
		return nil
	}
	return append([]int{x[0], channels}, sizes...)
}

// pool is that of a pool over the last dims.
func (op Operator) pool(x []int, dims int) []int {
	if len(op.Inputs) != 1 || len(x) < dims+1 || len(op.Args) == 0 {
		return nil
	}
	sizes := op.each(Size, dims)
	if size := op.each(Kernel, dims); size != nil {
		sizes = op.windowed(x, size, false)
	}
	if sizes == nil {
		return nil
	}
	return slices.Concat(x[:len(x)-dims], sizes)
}

// resized is that of what makes larger images, whose size or the scales of it an argument says.
func (op Operator) resized(x []int) []int {
	sizes, _ := op.Numbers(Size)
	text, _ := op.argument(Scale)
	scales := listed(text)
	switch {
	case len(op.Inputs) != 1 || len(x) < 3:
		return nil
	case len(sizes) == len(x): // of a gradient
		return sizes
	case len(sizes) == len(x)-2:
		return slices.Concat(x[:2], sizes)
	case len(scales) != len(x)-2:
		return nil
	}
	sizes = slices.Clone(x[:2])
	for d, scale := range scales {
		by, err := strconv.ParseFloat(scale, 64)
		if err != nil || !(by > 0 && by < 1<<20) {
			return nil
		}
		sizes = append(sizes, int(float64(x[2+d])*by))
	}
	return sizes
}

// gradients are those of a convolution's input, weights and bias, as far as they are asked for.
func (op Operator) gradients() (all []Tensor) {
	g := op.Inputs[0]
	if len(op.Inputs) != 3 || len(g.Shape) < 2 {
		return nil
	}
	text, _ := op.argument(Asks)
	asked := listed(text)
	for i, shape := range [][]int{op.Inputs[1].Shape, op.Inputs[2].Shape, g.Shape[1:2]} {
		if len(asked) != 3 || strings.EqualFold(asked[i], "true") || asked[i] == "1" {
			all = append(all, Fresh(shape, g.DType))
		}
	}
	return all
}

// chosen is that of what takes as many elements along a dim as there are numbers, or as a number
// says.
func (op Operator) chosen(x []int) []int {
	dim, ok := op.Along()
	n, _ := op.Numbers(Number)
	if len(op.Inputs) == 2 && len(op.Inputs[1].Shape) <= 1 {
		n = append(slices.Clone(op.Inputs[1].Shape), 1)[:1]
	}
	if !ok || len(n) != 1 {
		return nil
	}
	return slices.Concat(x[:dim], n, x[dim+1:])
}

// Along is the one dim of the first operand that an argument names, or of a stack of such.
func (op Operator) Along() (dim int, ok bool) {
	numbers, _ := op.Numbers(Dim)
	if len(numbers) != 1 || len(op.Inputs) == 0 {
		return 0, false
	}
	rank := len(op.Inputs[0].Shape)
	if op.Row().Walk == WalkStacked {
		rank++
	}
	return axis(numbers[0], rank)
}
