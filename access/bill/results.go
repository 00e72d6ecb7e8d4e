package bill

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
)

// resultsOf are the results of an operator that the profile does not have, as a Kineto trace has none, where its operands and
// arguments say what they are, of those that lowering does not make itself. They are contiguous: of a product, a pool and an
// upsampling that may be channels_last instead, in which as much is written.
func resultsOf(op operators.Operator) []operators.Operand {
	if len(op.Outputs) > 0 || slices.ContainsFunc(op.Inputs, func(o operators.Operand) bool { return o.Role != operators.Input || o.InList }) {
		return nil
	}
	r := results{op, walksOf(op).all}
	name, _, _ := strings.Cut(strings.TrimPrefix(op.Op, "aten::"), ".")
	for _, made := range []func(name string) []operators.Operand{r.ofMatrices, r.ofConvolution, r.ofGather, r.ofPool, r.ofUpsampling, r.ofPatches, r.ofPads, r.ofShuffle, r.ofRows, r.ofComparison} {
		if all := made(name); all != nil {
			if slices.ContainsFunc(all, func(o operators.Operand) bool { return !possible(o.Shape) }) {
				return nil
			}
			return all
		}
	}
	return nil
}

// possible reports whether a tensor may have a shape, of at most 2^48 elements.
func possible(shape []int) bool {
	const most = 1 << 48
	n := 1
	for _, size := range shape {
		if size < 0 || size > most/n {
			return false
		}
		n *= max(size, 1)
	}
	return true
}

// results are those of an operator in the making.
type results struct {
	op  operators.Operator
	all []tensor // its inputs
}

// fresh is a contiguous result of the dtype of the first input.
func (r results) fresh(shape []int) operators.Operand {
	return dense(tensor{operators.Operand{Shape: shape, DType: r.op.Inputs[0].DType}, inside}, operators.Output).Operand
}

// indices is a contiguous result that says where elements are.
func (r results) indices(shape []int) operators.Operand {
	result := r.fresh(shape)
	result.DType = "int64"
	return result
}

// have reports whether the operator has so many tensors, of at least these ranks: one more is where the result goes (out=).
func (r results) have(ranks ...int) bool {
	if len(r.all) != len(ranks) {
		return false
	}
	for i, rank := range ranks {
		if len(r.all[i].Shape) < rank {
			return false
		}
	}
	return true
}

// ofMatrices are those of products of matrices, of distances, and of attention.
func (r results) ofMatrices(name string) []operators.Operand {
	size := func(i, fromLast int) int { shape := r.all[i].Shape; return shape[len(shape)-1-fromLast] }
	batch := func(i int) []int { shape := r.all[i].Shape; return slices.Clone(shape[:len(shape)-2]) }
	switch {
	case slices.Contains([]string{"mm", "bmm"}, name) && r.have(2, 2):
		return []operators.Operand{r.fresh(append(batch(0), size(0, 1), size(1, 0)))}
	case slices.Contains([]string{"addmm", "_addmm_activation", "baddbmm"}, name) && r.have(0, 2, 2):
		return []operators.Operand{r.fresh(append(batch(1), size(1, 1), size(2, 0)))}
	case name == "mv" && r.have(2, 1):
		return []operators.Operand{r.fresh([]int{size(0, 1)})}
	case name == "addmv" && r.have(0, 2, 1):
		return []operators.Operand{r.fresh([]int{size(1, 1)})}
	case name == "_cdist_forward" && r.have(2, 2) && slices.Equal(batch(0), batch(1)):
		return []operators.Operand{r.fresh(append(batch(0), size(0, 1), size(1, 1)))}
	case strings.Contains(name, "attention") && !strings.Contains(name, "backward") && len(r.all) >= 3 && len(r.all[0].Shape) == 4 && len(r.all[2].Shape) == 4:
		return []operators.Operand{r.fresh(append(slices.Clone(r.all[0].Shape[:3]), size(2, 0)))}
	}
	return nil
}

// windowArgs are the numbers of the arguments by which a convolution says where its windows are; 0 if it has no such.
type windowArgs struct{ stride, padding, dilation int }

// windows are those of the convolutions that have no others inside.
var windows = map[string]windowArgs{
	"convolution":                    {stride: 3, padding: 4, dilation: 5},
	"mkldnn_convolution":             {stride: 4, padding: 3, dilation: 5},
	"mkldnn::_convolution_pointwise": {stride: 4, padding: 3, dilation: 5},
	"miopen_convolution":             {stride: 4, padding: 3, dilation: 5},
	"miopen_depthwise_convolution":   {stride: 4, padding: 3, dilation: 5},
	"_nnpack_spatial_convolution":    {stride: 4, padding: 3},
	"cudnn_convolution":              {stride: 3, padding: 2, dilation: 4},
	"cudnn_convolution_relu":         {stride: 3, padding: 4, dilation: 5},
	"_slow_conv2d_forward":           {stride: 4, padding: 5},
	"slow_conv3d_forward":            {stride: 4, padding: 5},
	"_conv_depthwise2d":              {stride: 4, padding: 5, dilation: 6},
	"conv_depthwise3d":               {stride: 4, padding: 5, dilation: 6},
	"slow_conv_dilated2d":            {stride: 4, padding: 5, dilation: 6},
	"slow_conv_dilated3d":            {stride: 4, padding: 5, dilation: 6},
}

// numbers are those of an argument, one for each of so many dims: one number is that of all, and none is what is given besides.
func (r results) numbers(at, dims int, none ...int) ([]int, bool) {
	if at == 0 {
		return slices.Repeat(none, dims), true
	}
	n, known := r.op.Numbers(at)
	switch {
	case !known || at >= len(r.op.Args):
		return nil, false
	case len(n) == 0 && len(none) == 1:
		return slices.Repeat(none, dims), true
	case len(n) == 0 && len(none) == dims:
		return none, true
	case len(n) == 1:
		return slices.Repeat(n, dims), true
	}
	return n, len(n) == dims
}

// ofConvolution are those of a convolution, and of the way back, gradients of the input, the weights and the bias, as far as
// they are asked for.
func (r results) ofConvolution(name string) []operators.Operand {
	if name == "slow_conv_transpose2d" || name == "slow_conv_transpose3d" {
		return r.ofTransposed()
	}
	if masks := map[string]int{"convolution_backward": 10, "_slow_conv2d_backward": 6}; masks[name] > 0 && r.have(3, 3, 3) {
		var all []operators.Operand
		asked := []string{"true", "true", "true"}
		if at := masks[name]; at < len(r.op.Args) {
			asked = strings.FieldsFunc(r.op.Args[at], func(c rune) bool { return strings.ContainsRune("[], ", c) })
		}
		for i, shape := range [][]int{r.all[1].Shape, r.all[2].Shape, r.all[0].Shape[1:2]} {
			if i < len(asked) && (strings.EqualFold(asked[i], "true") || asked[i] == "1") {
				all = append(all, r.fresh(shape))
			}
		}
		return all
	}
	at, ok := windows[name]
	if turned := name == "convolution" && (len(r.op.Args) < 7 || !strings.EqualFold(r.op.Args[6], "false")); !ok || turned || !r.have(3, 3) && !r.have(3, 3, 1) {
		return nil
	}
	x, weights := r.all[0].Shape, r.all[1].Shape
	dims := len(x) - 2
	if len(weights) != len(x) {
		return nil
	}
	stride, known := r.numbers(at.stride, dims, 1)
	padding, known2 := r.numbers(at.padding, dims, 0)
	dilation, known3 := r.numbers(at.dilation, dims, 1)
	if !known || !known2 || !known3 {
		return nil
	}
	shape := []int{x[0], weights[0]}
	for d := range dims {
		n, ok := windowsOf(x[2+d], weights[2+d], stride[d], padding[d], dilation[d], false)
		if !ok {
			return nil
		}
		shape = append(shape, n)
	}
	return []operators.Operand{r.fresh(shape)}
}

// ofTransposed is that of a transposed convolution, of which the weights say how many channels it has.
func (r results) ofTransposed() []operators.Operand {
	if !r.have(3, 3) && !r.have(3, 3, 1) || len(r.all[0].Shape) != len(r.all[1].Shape) {
		return nil
	}
	x, weights := r.all[0].Shape, r.all[1].Shape
	dims := len(x) - 2
	var at [4][]int // stride, padding, output padding and dilation
	for i := range at {
		var known bool
		if at[i], known = r.numbers(4+i, dims); !known || slices.ContainsFunc(at[i], func(n int) bool { return n < 0 || n > 1<<20 }) {
			return nil
		}
	}
	shape := []int{x[0], weights[1]}
	for d := range dims {
		shape = append(shape, (x[2+d]-1)*at[0][d]-2*at[1][d]+at[3][d]*(weights[2+d]-1)+at[2][d]+1)
	}
	return []operators.Operand{r.fresh(shape)}
}

// windowsOf is how many windows of so many elements there are of n (pooling_output_shape in Pool.h). It reports false of
// numbers that no profile has.
func windowsOf(n, size, stride, padding, dilation int, ceil bool) (int, bool) {
	const most = 1 << 30
	for _, m := range []int{n, size, stride, padding, dilation} {
		if m < 0 || m > most {
			return 0, false
		}
	}
	if stride == 0 {
		return 0, false
	}
	all := n + 2*padding - dilation*(size-1) - 1
	if ceil {
		all += stride - 1
	}
	if all < 0 {
		return 0, false
	}
	m := all/stride + 1
	if ceil && (m-1)*stride >= n+padding {
		m--
	}
	return m, true
}

// ofGather are those of what takes rows.
func (r results) ofGather(name string) []operators.Operand {
	switch {
	case name == "index_select" && len(r.all) == 2 && len(r.all[1].Shape) <= 1:
		x, w := r.all[0].Shape, walksOf(r.op)
		dim, known := w.dim(len(x))
		if !known {
			return nil
		}
		shape := slices.Clone(x)
		shape[dim] = product(r.all[1].Shape)
		return []operators.Operand{r.fresh(shape)}
	case name == "embedding" && len(r.all) == 2 && len(r.all[0].Shape) == 2:
		return []operators.Operand{r.fresh(slices.Concat(r.all[1].Shape, r.all[0].Shape[1:]))}
	case slices.Contains(takesBags, name) && len(r.all) >= 3 && len(r.all[0].Shape) == 2 && len(r.all[2].Shape) == 1:
		bags := r.all[2].Shape[0]
		if at := 7; at < len(r.op.Args) && strings.EqualFold(r.op.Args[at], "true") { // the last offset is where all end
			bags--
		}
		return []operators.Operand{r.fresh([]int{bags, r.all[0].Shape[1]})}
	case name == "bucketize" && len(r.all) == 2:
		return []operators.Operand{r.indices(r.all[0].Shape)}
	case name == "searchsorted" && len(r.all) == 2:
		return []operators.Operand{r.indices(r.all[1].Shape)}
	case name == "grid_sampler_2d" && r.have(4, 4):
		x, grid := r.all[0].Shape, r.all[1].Shape
		return []operators.Operand{r.fresh([]int{x[0], x[1], grid[1], grid[2]})}
	}
	return nil
}

// ofPool are those of a pool, and of the way back, which is a gradient of what it was of.
func (r results) ofPool(name string) []operators.Operand {
	if !strings.Contains(name, "_pool") {
		return nil
	}
	if strings.HasSuffix(name, "_backward") {
		if len(r.all) < 2 || len(r.all) > 3 || len(r.all[1].Shape) < 3 {
			return nil
		}
		return []operators.Operand{r.fresh(r.all[1].Shape)}
	}
	dims := 2
	if strings.Contains(name, "pool3d") {
		dims = 3
	}
	if len(r.all) != 1 || len(r.all[0].Shape) < dims+1 {
		return nil
	}
	x := r.all[0].Shape
	shape := slices.Clone(x[:len(x)-dims])
	made := func(sizes []int) []operators.Operand {
		if shape = append(shape, sizes...); strings.Contains(name, "max") {
			return []operators.Operand{r.fresh(shape), r.indices(shape)}
		}
		return []operators.Operand{r.fresh(shape)}
	}
	if strings.Contains(name, "adaptive") {
		sizes, known := r.numbers(1, dims)
		if !known {
			return nil
		}
		return made(sizes)
	}
	size, known := r.numbers(1, dims)
	if !known {
		return nil
	}
	stride, known := r.numbers(2, dims, size...)
	padding, known2 := r.numbers(3, dims, 0)
	dilation, known3, ceil := []int(nil), true, 4
	if strings.Contains(name, "max") {
		dilation, known3 = r.numbers(4, dims, 1)
		ceil = 5
	} else {
		dilation = slices.Repeat([]int{1}, dims)
	}
	if !known || !known2 || !known3 || ceil >= len(r.op.Args) {
		return nil
	}
	var sizes []int
	for d := range dims {
		n, ok := windowsOf(x[len(x)-dims+d], size[d], stride[d], padding[d], dilation[d], strings.EqualFold(r.op.Args[ceil], "true"))
		if !ok {
			return nil
		}
		sizes = append(sizes, n)
	}
	return made(sizes)
}

// ofUpsampling are those of what makes larger images, whose size or the scales of it an argument says, and of the way back.
func (r results) ofUpsampling(name string) []operators.Operand {
	if !strings.Contains(name, "upsample_") || len(r.all) != 1 || len(r.all[0].Shape) < 3 {
		return nil
	}
	x := r.all[0].Shape
	if strings.HasSuffix(name, "_backward") {
		shape, known := r.op.Numbers(2)
		if !known || len(shape) != len(x) {
			return nil
		}
		return []operators.Operand{r.fresh(shape)}
	}
	if sizes, known := r.op.Numbers(1); known && len(sizes) == len(x)-2 {
		return []operators.Operand{r.fresh(slices.Concat(x[:2], sizes))}
	}
	if len(r.op.Args) == 0 {
		return nil
	}
	scales := strings.FieldsFunc(r.op.Args[len(r.op.Args)-1], func(c rune) bool { return strings.ContainsRune("[], ", c) })
	if len(scales) != len(x)-2 {
		return nil
	}
	shape := slices.Clone(x[:2])
	for d, text := range scales {
		by, err := strconv.ParseFloat(text, 64)
		if err != nil || !(by > 0 && by < 1<<20) {
			return nil
		}
		shape = append(shape, int(float64(x[2+d])*by))
	}
	return []operators.Operand{r.fresh(shape)}
}

// ofPatches are those of what makes columns of the windows of an image (unfold), and of the way back (Im2Col.cpp, Col2Im.cpp).
func (r results) ofPatches(name string) []operators.Operand {
	at := map[string]int{"im2col": 1, "col2im": 2}[name]
	if at == 0 || len(r.all) != 1 || len(r.all[0].Shape) < 2 {
		return nil
	}
	x := r.all[0].Shape
	size, known := r.numbers(at, 2)
	if !known || size[0] < 1 || size[1] < 1 || size[0] > 1<<15 || size[1] > 1<<15 {
		return nil
	}
	if name == "col2im" {
		to, known := r.numbers(1, 2)
		if !known {
			return nil
		}
		channels := len(x) - 2
		shape := slices.Clone(x[:channels])
		return []operators.Operand{r.fresh(append(shape, x[channels]/(size[0]*size[1]), to[0], to[1]))}
	}
	dilation, known := r.numbers(2, 2, 1)
	padding, known2 := r.numbers(3, 2, 0)
	stride, known3 := r.numbers(4, 2, 1)
	if !known || !known2 || !known3 || len(x) < 3 {
		return nil
	}
	windows := 1
	for d := range 2 {
		n, ok := windowsOf(x[len(x)-2+d], size[d], stride[d], padding[d], dilation[d], false)
		if !ok {
			return nil
		}
		windows *= n
	}
	shape := slices.Clone(x[:len(x)-3])
	return []operators.Operand{r.fresh(append(shape, x[len(x)-3]*size[0]*size[1], windows))}
}

// ofPads are those of pads by reflection or replication, and of the way back.
func (r results) ofPads(name string) []operators.Operand {
	base, back := strings.CutSuffix(name, "_backward")
	dims := map[string]int{"reflection_pad1d": 1, "reflection_pad2d": 2, "reflection_pad3d": 3, "replication_pad1d": 1, "replication_pad2d": 2, "replication_pad3d": 3}[base]
	if dims == 0 {
		return nil
	}
	if back {
		if len(r.all) != 2 {
			return nil
		}
		return []operators.Operand{r.fresh(r.all[1].Shape)}
	}
	by, known := r.op.Numbers(1)
	if len(r.all) != 1 || !known || len(by) != 2*dims || len(r.all[0].Shape) < dims {
		return nil
	}
	shape := slices.Clone(r.all[0].Shape)
	for d := range dims {
		shape[len(shape)-1-d] += by[2*d] + by[2*d+1]
	}
	return []operators.Operand{r.fresh(shape)}
}

// ofShuffle are those of a shuffle of pixels, and of channels, which are channels_last if the images are.
func (r results) ofShuffle(name string) []operators.Operand {
	if !strings.HasSuffix(name, "_shuffle") && name != "pixel_unshuffle" || len(r.all) != 1 || len(r.all[0].Shape) < 3 {
		return nil
	}
	x := r.all[0]
	by, known := r.op.Numbers(1)
	if !known || len(by) != 1 || by[0] < 1 || by[0] > 1<<15 {
		return nil
	}
	shape, d := slices.Clone(x.Shape), len(x.Shape)-3
	switch n := by[0]; name {
	case "pixel_shuffle":
		shape[d], shape[d+1], shape[d+2] = shape[d]/(n*n), shape[d+1]*n, shape[d+2]*n
	case "pixel_unshuffle":
		shape[d], shape[d+1], shape[d+2] = shape[d]*n*n, shape[d+1]/n, shape[d+2]/n
	}
	y := r.fresh(shape)
	if isChannelsLast(x) && !contiguous(x.Operand) {
		y.Strides = []int{shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]}
	}
	return []operators.Operand{y}
}

// ofRows are those of what goes along dims and returns more than one result, or one of another shape or dtype.
func (r results) ofRows(name string) []operators.Operand {
	if name == "scalar_tensor" && len(r.all) == 0 { // of which the profile does not say the dtype, and which is one element
		return []operators.Operand{{Shape: []int{}, Strides: []int{}, DType: "float32", Role: operators.Output}}
	}
	if len(r.all) != 1 {
		return nil
	}
	x := r.all[0]
	switch name {
	case "sort", "cummax", "cummin", "native_dropout":
		dtype := "int64"
		if name == "native_dropout" {
			dtype = "bool"
		}
		first := r.fresh(x.Shape)
		if l, err := x.Layout(); err == nil && l.IsDense() && name != "cummax" && name != "cummin" {
			first.Strides = x.Strides
		}
		other := first
		other.DType = dtype
		return []operators.Operand{first, other}
	case "topk":
		k, known := r.op.Numbers(1)
		dims, alsoKnown := r.op.Dims()
		if !known || !alsoKnown || len(k) != 1 || len(dims) != 1 || dims[0] >= len(x.Shape) {
			return nil
		}
		shape := slices.Clone(x.Shape)
		shape[dims[0]] = k[0]
		return []operators.Operand{r.fresh(shape), r.indices(shape)}
	case "_fft_r2c", "_fft_c2r", "_fft_c2c":
		return r.ofFFT(name)
	}
	return nil
}

// ofFFT are those of a Fourier transform. One of real numbers is complex and of half as many, along the last dim that it goes
// along, and back.
func (r results) ofFFT(name string) []operators.Operand {
	x := r.all[0]
	y := r.fresh(slices.Clone(x.Shape))
	dims, known := r.op.Numbers(1)
	if !known || len(dims) == 0 {
		return nil
	}
	last := dims[len(dims)-1]
	if last < 0 {
		last += len(x.Shape)
	}
	if last < 0 || last >= len(x.Shape) {
		return nil
	}
	real, complex := map[string]string{"complex64": "float32", "complex128": "float64"}, map[string]string{"float32": "complex64", "float64": "complex128"}
	switch name {
	case "_fft_r2c":
		if y.DType = complex[x.DType]; y.DType == "" {
			return nil
		}
		if len(r.op.Args) > 3 && (strings.EqualFold(r.op.Args[3], "true") || r.op.Args[3] == "1") {
			y.Shape[last] = x.Shape[last]/2 + 1
		}
	case "_fft_c2r":
		n, known := r.op.Numbers(3)
		if y.DType = real[x.DType]; y.DType == "" || !known || len(n) != 1 {
			return nil
		}
		y.Shape[last] = n[0]
	}
	dtype := y.DType
	y = r.fresh(y.Shape)
	y.DType = dtype
	return []operators.Operand{y}
}

// comparing are the elementwise operators that return bool, by how many tensors they may have.
var comparing = map[string]int{"eq": 2, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2, "logical_and": 2, "logical_or": 2, "logical_xor": 2,
	"logical_not": 1, "isnan": 1, "isinf": 1, "isposinf": 1, "isneginf": 1, "signbit": 1, "isfinite": 1, "isreal": 1}

// ofComparison is that of a comparison, as TensorIterator allocates it.
func (r results) ofComparison(name string) []operators.Operand {
	if n := comparing[name]; n == 0 || len(r.all) == 0 || len(r.all) > n {
		return nil
	}
	var inputs []layouts.Layout
	for _, o := range r.all {
		l, err := o.Layout()
		if err != nil {
			return nil
		}
		inputs = append(inputs, l)
	}
	it, err := layouts.Elementwise(inputs...)
	if err != nil {
		return nil
	}
	return []operators.Operand{{Shape: it.Output.Shape(), Strides: it.Output.Strides(), DType: "bool", Role: operators.Output}}
}
