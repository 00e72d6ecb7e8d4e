package operators

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts"
)

// Results derives the results that a Kineto trace lacks from operands and arguments, by the row's
// rule. It returns nil if the rule does not apply, or if a size would be negative.
//
// A rule is a name in byRuleName, or has the dims of operands and results in letters: "ab,bc->ac"
// is a matrix product. There, * stands for all dims without a letter, ? for any operand, ... for
// any number of further ones, and = for an operand in TensorIterator's order. N and O are the
// numbers of the arguments n and o. A dtype follows a colon; without one, results have the first
// operand's. All but = are contiguous: channels_last ones have as many bytes. A reduction's rule is
// the dtype of its second result.
func (op Operator) Results() []Tensor {
	all := op.results()
	for _, o := range all {
		if slices.ContainsFunc(o.Shape, func(n int) bool { return n < 0 }) {
			return nil
		}
	}
	return all
}

func (op Operator) results() []Tensor {
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

// Fresh returns a contiguous result.
func Fresh(shape []int, dtype string) Tensor {
	o := Tensor{Shape: shape, Strides: make([]int, len(shape)), DType: dtype, Role: Output}
	step := 1
	for d, n := range slices.Backward(shape) {
		o.Strides[d] = step
		step *= max(n, 1)
	}
	return o
}

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
			given, known := op.Numbers(map[byte]Arg{'N': argNumber, 'O': argSize}[letters[k]])
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

// bind returns the sizes of the letters in a rule, and the dims that * stands for. It returns false
// if the rule does not apply, as with an operand too many, for out=.
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

// byRuleName has functions of the first operand's shape that return the result's, or nil if
// arguments are missing.
var byRuleName = map[string]func(op Operator, x []int) []int{
	"windows": Operator.windows, "transposed": Operator.windows,
	"resized": Operator.resized, "chosen": Operator.chosen,
	"pool2": func(op Operator, x []int) []int { return op.pool(x, 2) },
	"pool3": func(op Operator, x []int) []int { return op.pool(x, 3) },
}

// each returns an argument's numbers for a number of dims, where one number stands for all. It
// returns none for an argument that is missing, and nil for others.
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

// windowed returns how many windows of these sizes fit the last dims of x. A transposed convolution
// turns the formula.
func (op Operator) windowed(x, size []int, turned bool) (sizes []int) {
	dims := len(size)
	none := []int{1}
	if op.Row().Takes(argKernel) {
		none = size
	}
	stride, padding := op.each(argStride, dims, none...), op.each(Padding, dims, 0)
	dilation, extra := op.each(argDilation, dims, 1), op.each(argExtra, dims, 0)
	if stride == nil || padding == nil || dilation == nil || extra == nil ||
		slices.Contains(stride, 0) {
		return nil
	}
	for d, n := range x[len(x)-dims:] {
		span := n + 2*padding[d] - dilation[d]*(size[d]-1) - 1
		m := span/stride[d] + 1
		if op.True(argCeil) && span%stride[d] != 0 && m*stride[d] < n+padding[d] {
			m++ // pooling_output_shape in Pool.h
		}
		if turned {
			m = (n-1)*stride[d] - 2*padding[d] + dilation[d]*(size[d]-1) + extra[d] + 1
		} else if span < 0 {
			return nil
		}
		sizes = append(sizes, m)
	}
	return sizes
}

func (op Operator) windows(x []int) []int {
	if len(op.Inputs) < 2 || len(x) < 3 || len(op.Inputs[1].Shape) != len(x) || len(op.Args) == 0 {
		return nil
	}
	w := op.Inputs[1].Shape
	turned, channels := op.Row().Results == "transposed" || op.True(Whether), w[0]
	if turned {
		channels = min(w[1], maxOperand>>30) * append(op.each(argNumber, 1, 1), 1)[0] // per group
	}
	sizes := op.windowed(x, w[2:], turned)
	if sizes == nil {
		return nil
	}
	return append([]int{x[0], channels}, sizes...)
}

func (op Operator) pool(x []int, dims int) []int {
	if len(op.Inputs) != 1 || len(x) < dims+1 || len(op.Args) == 0 {
		return nil
	}
	sizes := op.each(argSize, dims)
	if size := op.each(argKernel, dims); size != nil {
		sizes = op.windowed(x, size, false)
	}
	if sizes == nil {
		return nil
	}
	return slices.Concat(x[:len(x)-dims], sizes)
}

// resized is for upsampling to a size, or by scales.
func (op Operator) resized(x []int) []int {
	sizes, _ := op.Numbers(argSize)
	text, _ := op.argument(argScale)
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

// gradients returns a convolution's gradients of input, weights and bias, those that are asked for.
func (op Operator) gradients() (all []Tensor) {
	g := op.Inputs[0]
	if len(op.Inputs) != 3 || len(g.Shape) < 2 {
		return nil
	}
	text, _ := op.argument(argAsks)
	asked := listed(text)
	for i, shape := range [][]int{op.Inputs[1].Shape, op.Inputs[2].Shape, g.Shape[1:2]} {
		if len(asked) != 3 || strings.EqualFold(asked[i], "true") || asked[i] == "1" {
			all = append(all, Fresh(shape, g.DType))
		}
	}
	return all
}

// chosen is for operators that take some elements along a dim: as many as the second operand has,
// or as a number says.
func (op Operator) chosen(x []int) []int {
	dim, ok := op.Along()
	n, _ := op.Numbers(argNumber)
	if len(op.Inputs) == 2 && len(op.Inputs[1].Shape) <= 1 {
		n = append(slices.Clone(op.Inputs[1].Shape), 1)[:1]
	}
	if !ok || len(n) != 1 {
		return nil
	}
	return slices.Concat(x[:dim], n, x[dim+1:])
}

// Along returns the one dim of the first operand, or of a stack of such, that an argument names.
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
