package bill

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/layouts/nest"
)

// in and out are operands of float32.
func in(shape, strides []int) operators.Operand {
	return operators.Operand{Shape: shape, Strides: strides, DType: "float32", Role: operators.Input}
}

func out(shape, strides []int) operators.Operand {
	o := in(shape, strides)
	o.Role = operators.Output
	return o
}

// rows are numbers of rows.
func rows(shape, strides []int) operators.Operand {
	o := in(shape, strides)
	o.DType, o.InList = "int64", true
	return o
}

// itemOf is one call in the bill of a typical machine.
func itemOf(t *testing.T, op operators.Operator) Item {
	t.Helper()
	op.Calls = 1
	b, err := Of(context.Background(), &operators.Profile{Operators: []operators.Operator{op}, Calls: 1}, typical(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := b.Operators[0]; i.Problem == "" {
		return i
	}
	t.Fatalf("%s: %s", op.Op, b.Operators[0].Problem)
	return Item{}
}

// TestOrderKept: what PyTorch 1.13 takes in channels_last as it takes it contiguous costs nothing for
// its layout, and what copies it inside, or lies in another order, does.
func TestOrderKept(t *testing.T) {
	shape, padded, channels := []int{8, 64, 28, 28}, []int{8, 64, 30, 30}, []int{64}
	first, last, other := []int{50176, 784, 28, 1}, []int{50176, 1, 1792, 64}, []int{1, 8, 14336, 512}
	norm := func(op string, strides []int) operators.Operator {
		to := strides
		if !slices.Equal(to, last) {
			to = first
		}
		return operators.Operator{Op: op, Class: operators.Rows, Args: []string{"", "", "", "", "", "True"}, Inputs: []operators.Operand{in(shape, strides), in(channels, []int{1})}, Outputs: []operators.Operand{out(shape, to)}}
	}
	pad := func(strides, to []int) operators.Operator {
		return operators.Operator{Op: "aten::constant_pad_nd", Class: operators.Copy, Inputs: []operators.Operand{in(shape, strides)}, Outputs: []operators.Operand{out(padded, to)}}
	}
	cat := func(a, b []int) operators.Operator {
		return operators.Operator{Op: "aten::cat", Class: operators.Copy, Args: []string{"", "1"}, Inputs: []operators.Operand{in(shape, a), in(shape, b)}, Outputs: []operators.Operand{out([]int{8, 128, 28, 28}, []int{100352, 784, 28, 1})}}
	}
	for _, c := range []struct {
		name  string
		op    operators.Operator
		costs bool
	}{
		{"batch_norm", norm("aten::native_batch_norm", first), false},
		{"batch_norm of channels_last", norm("aten::native_batch_norm", last), false},
		{"batch_norm of another order", norm("aten::native_batch_norm", other), true},
		{"group_norm of channels_last", norm("aten::native_group_norm", last), false},
		{"softmax of channels_last", norm("aten::_softmax", last), true},
		{"pad", pad(first, []int{57600, 900, 30, 1}), false},
		{"pad of channels_last", pad(last, []int{57600, 1, 1920, 64}), false},
		{"pad of another order", pad(other, []int{57600, 900, 30, 1}), true},
		{"cat", cat(first, first), false},
		{"cat of channels_last to contiguous", cat(first, last), true},
	} {
		if i := itemOf(t, c.op); i.Layout > 0 != c.costs {
			t.Errorf("%s: layout %v of %v ns", c.name, i.Layout, i.Ns)
		}
	}
	// What is copied into the middle is filled, too: an element is written twice, and read once.
	whole := itemOf(t, pad(first, []int{57600, 900, 30, 1}))
	copied := itemOf(t, operators.Operator{Op: "aten::copy_", Class: operators.Copy, Inputs: []operators.Operand{out(shape, first), in(shape, first)}})
	if whole.Ns < 1.2*copied.Ns {
		t.Errorf("a pad takes %v ns, a copy of what is padded %v", whole.Ns, copied.Ns)
	}
}

// TestBatchNorm: in training it reads its input three times, and else once, where that lies; a copy it makes of none.
func TestBatchNorm(t *testing.T) {
	shape, first, last, apart := []int{8, 64, 28, 28}, []int{50176, 784, 28, 1}, []int{50176, 1, 1792, 64}, []int{100352, 1568, 56, 2}
	const all = 4 * 8 * 64 * 28 * 28
	for _, c := range []struct {
		training string
		from, to []int
		bytes    int
		costs    bool
	}{
		{"False", first, first, 2 * all, false},
		{"True", first, first, 4*all + 2*4*64, false},
		{"True", last, last, 4*all + 2*4*64, false},
		{"True", apart, first, 4*all + 2*4*64 + 4*4*64, true},
		{"False", apart, first, 2*all + 4*4*64, true},
	} {
		op := operators.Operator{Op: "aten::native_batch_norm", Class: operators.Rows, Args: []string{"", "", "", "", "", c.training}, Inputs: []operators.Operand{in(shape, c.from)}, Outputs: []operators.Operand{out(shape, c.to)}}
		l, err := lower(op, calls{})
		if bytes := bytesOf(t, l.specs); err != nil || bytes != c.bytes {
			t.Errorf("training %s of %v: %d B, want %d (%v)", c.training, c.from, bytes, c.bytes, err)
		}
		op.Outputs = nil
		unsaid, err := lower(op, calls{})
		if bytes := bytesOf(t, unsaid.specs); err != nil || bytes != c.bytes {
			t.Errorf("training %s of %v, of which the profile has no result: %d B, want %d (%v)", c.training, c.from, bytes, c.bytes, err)
		}
		if i := itemOf(t, op); i.Layout > 0 != c.costs {
			t.Errorf("training %s of %v: layout %v of %v ns", c.training, c.from, i.Layout, i.Ns)
		}
	}
}

// TestFewChannels: training a batch_norm of few channels in channels_last goes through memory as often as one of many.
func TestFewChannels(t *testing.T) {
	norm := func(channels, rows int) Item {
		shape, last := []int{8, channels, rows, 64}, []int{channels * rows * 64, 1, channels * 64, channels}
		return itemOf(t, operators.Operator{Op: "aten::native_batch_norm", Class: operators.Rows, Args: []string{"", "", "", "", "", "True"},
			Inputs: []operators.Operand{in(shape, last)}, Outputs: []operators.Operand{out(shape, last)}})
	}
	if few, many := norm(16, 64).Predicted.Misses[0].Count, norm(64, 16).Predicted.Misses[0].Count; few > 1.01*many {
		t.Errorf("16 channels miss %v times, 64 channels of as many elements %v", few, many)
	}
}

// TestParts: what a stack, a pixel_shuffle, the way back and a repeat copy, in the order of the result, and that
// contiguous operands have no layout to pay for.
func TestParts(t *testing.T) {
	call := func(op string, args []string, from, to operators.Operand, more ...operators.Operand) operators.Operator {
		return operators.Operator{Op: op, Class: operators.Copy, Args: args, Inputs: append([]operators.Operand{from}, more...), Outputs: []operators.Operand{to}}
	}
	few, many := in([]int{4, 64, 56, 56}, []int{200704, 3136, 56, 1}), out([]int{4, 16, 112, 112}, []int{200704, 12544, 112, 1})
	last, unlike := in(few.Shape, []int{200704, 1, 3584, 64}), out([]int{4, 64, 56, 56}, []int{1, 12544, 224, 4})
	back := few
	back.Role = operators.Output
	for _, c := range []struct {
		name  string
		op    operators.Operator
		specs int
		bytes int // read and written, of 4 x 200704 elements of 4 B
		costs bool
	}{
		{"stack", call("aten::stack", []string{"", "0"}, few, out([]int{2, 4, 64, 56, 56}, []int{802816, 200704, 3136, 56, 1}), few), 2, 4, false},
		{"stack of the last dim", call("aten::stack", []string{"", "-1"}, few, out([]int{4, 64, 56, 56, 2}, []int{401408, 6272, 112, 2, 1}), few), 2, 4, false},
		{"stack of channels_last in its order", call("aten::stack", []string{"", "0"}, last, out([]int{2, 4, 64, 56, 56}, []int{802816, 200704, 1, 3584, 64}), last), 2, 4, false},
		{"stack of channels_last", call("aten::stack", []string{"", "0"}, last, out([]int{2, 4, 64, 56, 56}, []int{802816, 200704, 3136, 56, 1}), last), 2, 4, true},
		{"pixel_shuffle", call("aten::pixel_shuffle", []string{"", "2"}, few, many), 1, 2, false},
		{"pixel_shuffle of another order", call("aten::pixel_shuffle", []string{"", "2"}, in(few.Shape, unlike.Strides), many), 1, 2, true},
		{"pixel_unshuffle", call("aten::pixel_unshuffle", []string{"", "2"}, in(many.Shape, many.Strides), back), 1, 2, false},
		{"repeat", call("aten::repeat", []string{"", "[2, 1, 1, 3]"}, few, out([]int{8, 64, 56, 168}, []int{602112, 9408, 168, 1})), 1, 12, false},
		{"repeat to more dims", call("aten::repeat", []string{"", "[2, 1, 1, 1, 1]"}, few, out([]int{2, 4, 64, 56, 56}, []int{802816, 200704, 3136, 56, 1})), 1, 4, false},
	} {
		l, err := lower(c.op, calls{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		bytes := 0
		for _, s := range l.specs {
			p, err := s.Pattern()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			bytes += 2 * p.Elems * 4
		}
		if want := c.bytes * 802816 * 4; len(l.specs) != c.specs || len(l.twins) != c.specs || bytes != want {
			t.Errorf("%s: %d patterns, %d twins, %d B, want %d and %d B", c.name, len(l.specs), len(l.twins), bytes, c.specs, want)
		}
		if i := itemOf(t, c.op); i.Layout > 0 != c.costs {
			t.Errorf("%s: layout %v of %v ns", c.name, i.Layout, i.Ns)
		}
	}
	pad := func(sizes string, strides []int, h, v int, to []int) operators.Operator {
		return call("aten::constant_pad_nd", []string{"", sizes}, in(few.Shape, strides), out([]int{4, 64, h, v}, to))
	}
	nhwc := func(h, v int) []int { return []int{64 * h * v, 1, 64 * v, 64} }
	nchw := func(h, v int) []int { return []int{64 * h * v, h * v, v, 1} }
	for _, c := range []struct {
		name  string
		op    operators.Operator
		bytes int // read and written
		costs bool
	}{
		{"a crop", pad("[-8, -8, -8, -8]", few.Strides, 40, 40, nchw(40, 40)), 2 * 1024 * 40 * 40, false},
		{"a crop of channels_last", pad("[-8, -8, -8, -8]", last.Strides, 40, 40, nhwc(40, 40)), 2 * 1024 * 40 * 40, false},
		{"a crop on one side", pad("[-16, 0]", few.Strides, 56, 40, nchw(56, 40)), 2 * 1024 * 56 * 40, false},
		{"a crop to another order", pad("[-8, -8, -8, -8]", last.Strides, 40, 40, nchw(40, 40)), 2 * 1024 * 40 * 40, true},
		{"a shift", pad("[-8, 8]", few.Strides, 56, 56, nchw(56, 56)), 1024 * (56*56 + 2*56*48), false},
		{"a pad on one side", pad("[0, 8]", last.Strides, 56, 64, nhwc(56, 64)), 1024 * (56*64 + 2*56*56), false},
		{"a pad of other sizes", pad("[0, 8]", few.Strides, 56, 56, nchw(56, 56)), 2 * 1024 * 56 * 56, false},
		{"channel_shuffle", call("aten::channel_shuffle", []string{"", "4"}, few, out(few.Shape, few.Strides)), 2 * 1024 * 56 * 56, false},
		{"channel_shuffle of channels_last", call("aten::channel_shuffle", []string{"", "4"}, last, out(few.Shape, last.Strides)), 2 * 1024 * 56 * 56, false},
		{"channel_shuffle of another order", call("aten::native_channel_shuffle", []string{"", "4"}, in(few.Shape, unlike.Strides), out(few.Shape, few.Strides)), 4 * 1024 * 56 * 56, true},
		{"diag_embed", call("aten::diag_embed", nil, in([]int{8, 512}, []int{512, 1}), out([]int{8, 512, 512}, []int{262144, 512, 1})), 4 * 8 * 512 * (512 + 2), false},
		{"diag_embed above the diagonal, of other dims", call("aten::diag_embed", []string{"", "2", "0", "-1"}, in([]int{8, 512}, []int{512, 1}), out([]int{514, 8, 514}, []int{514, 264196, 1})), 4 * 8 * (514*514 + 2*512), false},
		{"channel_shuffle of groups that do not fit", call("aten::channel_shuffle", []string{"", "5"}, few, out(few.Shape, few.Strides)), 2 * 1024 * 56 * 56, false},
	} {
		l, err := lower(c.op, calls{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if bytes := bytesOf(t, l.specs); bytes != c.bytes {
			t.Errorf("%s: %d B, want %d", c.name, bytes, c.bytes)
		}
		if i := itemOf(t, c.op); i.Layout > 0 != c.costs {
			t.Errorf("%s: layout %v of %v ns", c.name, i.Layout, i.Ns)
		}
	}
	// Only copy_ goes by blocks over a transposed matrix.
	square, transposed := []int{512, 512}, in([]int{512, 512}, []int{1, 512})
	for op, want := range map[string]access.Op{"aten::copy_": access.Copy, "aten::clone": access.Copy, "aten::roll": access.Add} {
		if l, err := lower(call(op, nil, transposed, out(square, []int{512, 1})), calls{}); err != nil || len(l.specs) != 1 || l.specs[0].Op != want {
			t.Errorf("%s: %+v, %v", op, l.specs, err)
		}
	}
	for _, op := range []operators.Operator{ // with no result, or no dim
		call("aten::cat", nil, transposed, out([]int{1024, 512}, []int{512, 1}), transposed),
		{Op: "aten::stack", Class: operators.Copy, Inputs: []operators.Operand{transposed, transposed}},
		{Op: "aten::roll", Class: operators.Copy, Inputs: []operators.Operand{transposed}},
	} {
		if l, err := lower(op, calls{}); err != nil || len(l.specs) != len(op.Inputs) || l.specs[0].Op != access.Add {
			t.Errorf("%s: %+v, %v", op.Op, l.specs, err)
		}
	}
	if l, err := lower(call("aten::cat", []string{"", "0"}, in([]int{0}, []int{1}), out([]int{1024, 512}, []int{512, 1}), transposed, transposed), calls{}); err != nil || len(l.specs) != 2 {
		t.Errorf("cat of nothing and two: %+v, %v", l.specs, err)
	}
	wide := in([]int{1, 512, 512}, []int{262144, 512, 1})
	if l, err := lower(call("aten::constant_pad_nd", nil, wide, out([]int{8, 512, 512}, wide.Strides)), calls{}); err != nil || len(l.specs) != 2 || l.specs[0].Op != access.Fill {
		t.Errorf("a pad of a batch of one: %+v, %v", l.specs, err)
	}
	if l, err := lower(call("aten::cat", []string{"", "0"}, transposed, out([]int{1024, 512}, []int{512, 1}), transposed), calls{}); err != nil || len(l.specs) != 2 || l.specs[0].Op != access.Add {
		t.Errorf("cat: %+v, %v", l.specs, err)
	}
	// What does not fit is a copy of what is read.
	for _, op := range []operators.Operator{
		call("aten::stack", []string{"", "0"}, few, out([]int{2, 4, 64, 56}, []int{14336, 3584, 56, 1}), few),
		call("aten::pixel_shuffle", []string{"", "2"}, few, out([]int{4, 16, 112, 56}, []int{100352, 6272, 56, 1})),
		call("aten::repeat", nil, few, out([]int{7, 64, 56, 56}, []int{200704, 3136, 56, 1})),
		call("aten::constant_pad_nd", nil, few, out([]int{4, 64, 56, 55}, []int{197120, 3080, 55, 1})),
	} {
		if l, err := lower(op, calls{}); err != nil || len(l.specs) != len(op.Inputs) || len(l.twins) != len(l.specs) {
			t.Errorf("%s: %+v, %v", op.Op, l, err)
		}
	}
}

// TestGather: rows that are taken by their numbers are read where they are, and no others.
func TestGather(t *testing.T) {
	index := func(op string, strides []int, n int, args ...string) operators.Operator {
		return operators.Operator{Op: op, Class: operators.Gather, Args: args, Inputs: []operators.Operand{in([]int{2048, 2048}, strides), rows([]int{n}, []int{1})},
			Outputs: []operators.Operand{out([]int{n, 2048}, []int{2048, 1})}}
	}
	byRows, byColumns := []int{2048, 1}, []int{1, 2048}
	for _, op := range []string{"aten::index", "aten::_unsafe_index", "aten::index_select", "aten::embedding"} {
		contiguous, transposed := itemOf(t, index(op, byRows, 2048)), itemOf(t, index(op, byColumns, 2048))
		if contiguous.Layout != 0 || transposed.Layout < .7*transposed.Ns || transposed.Ns < 5*contiguous.Ns {
			t.Errorf("%s: contiguous layout %v of %v ns, transposed %v of %v", op, contiguous.Layout, contiguous.Ns, transposed.Layout, transposed.Ns)
		}
		if few := itemOf(t, index(op, byRows, 128)); few.Ns > contiguous.Ns/8 {
			t.Errorf("%s of 128 rows takes %v ns, of 2048 %v", op, few.Ns, contiguous.Ns)
		}
	}
	// Columns of a transposed matrix, by the dim that is named, are its rows.
	columns := index("aten::index_select", byColumns, 2048, "", "-1", "")
	columns.Outputs[0].Shape = []int{2048, 2048}
	copied := itemOf(t, operators.Operator{Op: "aten::clone", Class: operators.Copy, Inputs: []operators.Operand{in([]int{2048, 2048}, byColumns)}, Outputs: []operators.Operand{out([]int{2048, 2048}, byRows)}})
	if i := itemOf(t, columns); i.Layout < .99*copied.Ns || i.Layout > 1.01*copied.Ns {
		t.Errorf("columns of a transposed matrix in row-major order: layout %v of %v ns, a copy takes %v", i.Layout, i.Ns, copied.Ns)
	}
	// Along dims behind the second index_select goes through all others for each number, x[..., index] does not.
	images := func(op string, dim string, strides []int) Item {
		return itemOf(t, operators.Operator{Op: op, Class: operators.Gather, Args: []string{"", dim, ""},
			Inputs: []operators.Operand{in([]int{8, 32, 64, 128}, strides), rows([]int{128}, []int{1})}, Outputs: []operators.Operand{out([]int{8, 32, 64, 128}, []int{262144, 8192, 128, 1})}})
	}
	nchw, nhwc := []int{262144, 8192, 128, 1}, []int{262144, 1, 4096, 32}
	const elements = 8 * 32 * 64 * 128
	for _, dim := range []string{"3", "-1"} {
		whole, by := images("aten::index_select", dim, nchw), images("aten::index", "", nchw)
		misses, less := whole.Predicted.Misses[0].Count, by.Predicted.Misses[0].Count
		if misses < 1.9*elements || whole.Layout != 0 || whole.Ns < by.Ns || less > 1.01*elements/8 || by.Layout != 0 {
			t.Errorf("the last dim %s: %v L1 misses of %d elements, layout %v of %v ns, by x[..., index] %v, %v ns", dim, misses, elements, whole.Layout, whole.Ns, less, by.Ns)
		}
		if of := images("aten::index_select", dim, nhwc); of.Predicted.Misses[0].Count > 1.1*whole.Predicted.Misses[0].Count || of.Layout > .3*of.Ns { // which has as many lines for each number
			t.Errorf("the last dim %s of channels_last: %v, layout %v of %v ns, of row-major %v", dim, of.Predicted.Misses, of.Layout, of.Ns, whole.Predicted.Misses)
		}
	}
	// So does index_add, and index_copy does not.
	put := func(op string) Item {
		x := in([]int{8, 32, 64, 128}, nchw)
		x.Role = operators.InPlace
		return itemOf(t, operators.Operator{Op: op, Class: operators.Gather, Args: []string{"", "3", "", ""}, Inputs: []operators.Operand{x, rows([]int{128}, []int{1}), in([]int{8, 32, 64, 128}, nchw)}})
	}
	if adds, copies := put("aten::index_add_"), put("aten::index_copy_"); adds.Predicted.Misses[0].Count < 1.9*elements || adds.Layout != 0 || adds.Ns < copies.Ns || copies.Predicted.Misses[0].Count > 1.01*elements/8 {
		t.Errorf("index_add of the last dim: %v L1 misses of %d elements, layout %v of %v ns, index_copy %v, %v", adds.Predicted.Misses[0].Count, elements, adds.Layout, adds.Ns, copies.Predicted.Misses, copies.Ns)
	}
	// A gather goes in the order of its result.
	gather := func(strides []int) Item {
		return itemOf(t, operators.Operator{Op: "aten::gather", Class: operators.Gather, Args: []string{"", "0", "", "False"},
			Inputs: []operators.Operand{in([]int{8, 32, 64, 128}, strides), rows([]int{8, 32, 64, 128}, nchw)}, Outputs: []operators.Operand{out([]int{8, 32, 64, 128}, nchw)}})
	}
	if x, y := gather(nchw), gather(nhwc); x.Layout != 0 || y.Layout == 0 || y.Predicted.Misses[0].Count < elements || y.Predicted.Misses[1].Count < 1.5*x.Predicted.Misses[1].Count {
		t.Errorf("a gather of row-major images: layout %v of %v ns, of channels_last %v of %v", x.Layout, x.Ns, y.Layout, y.Ns)
	}
	// More numbers than there are rows are rounds over these.
	for _, n := range []int{2049, 4096, 5000} {
		contiguous, transposed := itemOf(t, index("aten::embedding", byRows, n)), itemOf(t, index("aten::embedding", byColumns, n))
		if contiguous.Layout != 0 || transposed.Layout < .7*transposed.Ns || transposed.Ns < 5*contiguous.Ns {
			t.Errorf("%d rows: contiguous layout %v of %v ns, transposed %v of %v", n, contiguous.Layout, contiguous.Ns, transposed.Layout, transposed.Ns)
		}
		l, err := lower(index("aten::embedding", byColumns, n), calls{})
		if err != nil || len(l.specs) != 2 {
			t.Fatalf("%d rows: %+v, %v", n, l.specs, err)
		}
		if read := l.specs[0].Operands[0].Layout.Numel(); read > n*2048 || read < (n-2)*2048 {
			t.Errorf("%d rows: %d elements are read", n, read)
		}
	}
	// Several lists of numbers, what names no rows, and more of them than there are into what is not dense go over all as it lies.
	many := index("aten::embedding", byRows, 4096)
	many.Inputs[1].Shape, many.Inputs[1].Strides = []int{64, 64}, []int{64, 1}
	many.Outputs[0].Shape, many.Outputs[0].Strides = []int{64, 64, 2048}, []int{2048, 64 * 2048, 1}
	several := index("aten::index", byRows, 2048)
	several.Inputs = append(several.Inputs, several.Inputs[1])
	for _, op := range []operators.Operator{many, several, index("aten::gather", byColumns, 2048)} {
		if i := itemOf(t, op); i.Layout != 0 || i.Ns <= 0 || math.IsInf(i.Ns, 0) {
			t.Errorf("%s: layout %v of %v ns", op.Op, i.Layout, i.Ns)
		}
	}
}

// TestResultsAsTheyLie: a result that lies otherwise than TensorIterator would have it is walked as it lies, of the
// same dtype too: prelu and tril return what is contiguous.
func TestResultsAsTheyLie(t *testing.T) {
	shape, first, last := []int{1500, 1500}, []int{1500, 1}, []int{1, 1500}
	for _, c := range []struct {
		from, to []int
		costs    bool
	}{{first, first, false}, {last, last, false}, {last, first, true}, {first, last, true}} {
		op := operators.Operator{Op: "aten::tril", Class: operators.Elementwise, Inputs: []operators.Operand{in(shape, c.from)}, Outputs: []operators.Operand{out(shape, c.to)}}
		if i := itemOf(t, op); i.Layout > 0 != c.costs {
			t.Errorf("%v to %v: layout %v of %v ns", c.from, c.to, i.Layout, i.Ns)
		}
	}
}

// TestLosses: a loss reads both of its operands together, as an addition does, and then reduces what it computed, unless
// the profile has that, or the loss returns what it computed.
func TestLosses(t *testing.T) {
	shape, first, last := []int{1500, 1500}, []int{1500, 1}, []int{1, 1500}
	loss := func(a []int, result operators.Operand) operators.Operator {
		return operators.Operator{Op: "aten::mse_loss", Class: operators.Elementwise, Inputs: []operators.Operand{in(shape, a), in(shape, first)}, Outputs: []operators.Operand{result}}
	}
	for _, c := range []struct {
		name   string
		op     operators.Operator
		inside calls
		want   []access.Op
	}{
		{"the mean", loss(last, out([]int{}, []int{})), calls{}, []access.Op{access.Add, access.Fill, access.Sum}},
		{"the mean, which is in the profile", loss(last, out([]int{}, []int{})), calls{reductions: map[string]bool{"aten::mse_loss": true}}, []access.Op{access.Add, access.Fill}},
		{"each", loss(last, out(shape, first)), calls{}, []access.Op{access.Add}},
	} {
		l, err := lower(c.op, c.inside)
		if err != nil {
			t.Fatal(err)
		}
		var got []access.Op
		for _, s := range l.specs {
			got = append(got, s.Op)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	unlike, alike := itemOf(t, loss(last, out([]int{}, []int{}))), itemOf(t, loss(first, out([]int{}, []int{})))
	if alike.Layout != 0 || unlike.Layout < .5*unlike.Ns {
		t.Errorf("layout %v of %v ns, of operands that lie alike %v of %v", unlike.Layout, unlike.Ns, alike.Layout, alike.Ns)
	}
}

// TestWhole: max, min, argmax and argmin of all elements go over a contiguous copy of what is not, unless the profile has it;
// reductions of a dim write where the greatest are, too.
func TestWhole(t *testing.T) {
	shape := []int{1500, 1500}
	whole := func(name string, strides []int, args ...string) operators.Operator {
		return operators.Operator{Op: name, Class: operators.Reduction, Args: args, Inputs: []operators.Operand{in(shape, strides)}, Outputs: []operators.Operand{out([]int{}, []int{})}}
	}
	for _, name := range []string{"aten::max", "aten::min", "aten::argmax", "aten::argmin"} {
		contiguous, transposed := itemOf(t, whole(name, []int{1500, 1}, "")), itemOf(t, whole(name, []int{1, 1500}, ""))
		if contiguous.Layout != 0 || transposed.Layout < .5*transposed.Ns {
			t.Errorf("%s: layout %v of %v ns, of what is contiguous %v of %v", name, transposed.Layout, transposed.Ns, contiguous.Layout, contiguous.Ns)
		}
		if l, err := lower(whole(name, []int{1, 1500}, ""), calls{copies: map[string]bool{name: true}}); err != nil || len(l.specs) != 1 {
			t.Errorf("%s with its copy in the profile: %+v, %v", name, l.specs, err)
		}
	}
	if i := itemOf(t, whole("aten::sum", []int{1, 1500}, "")); i.Layout != 0 {
		t.Errorf("a sum of all: layout %v", i.Layout)
	}
	where := out([]int{1500}, []int{1})
	where.DType = "int64"
	dim := operators.Operator{Op: "aten::max", Class: operators.Reduction, Args: []string{"", "1", "False"}, Inputs: []operators.Operand{in(shape, []int{1500, 1})},
		Outputs: []operators.Operand{out([]int{1500}, []int{1}), where}}
	recorded, err := lower(dim, calls{})
	dim.Outputs = nil
	if unsaid, other := lower(dim, calls{}); err != nil || other != nil || len(recorded.specs) != 2 || len(unsaid.specs) != 2 || unsaid.specs[1].Operands[0].DType.Size() != 8 {
		t.Errorf("max of a dim: %+v, %+v; %v, %v", recorded.specs, unsaid.specs, err, other)
	}
}

// TestStridedAsTheyAre: scans, and what returns less of each row, go through strides without a copy; products of vectors
// read more lines of what lies apart; a convolution copies what is in neither format; what makes a tensor like
// another does not read that; lists are walked element by element; a quarter's turn copies in the order of its input.
func TestStridedAsTheyAre(t *testing.T) {
	shape, first, last := []int{1500, 1500}, []int{1500, 1}, []int{1, 1500}
	images, nchw, nhwc, apart := []int{8, 64, 56, 56}, []int{200704, 3136, 56, 1}, []int{200704, 1, 3584, 64}, []int{401408, 6272, 112, 2}
	listed := func(strides []int, argument int) operators.Operand {
		o := in(shape, strides)
		o.InList, o.Argument = true, argument
		return o
	}
	op := func(name string, class operators.Class, args []string, outputs []operators.Operand, inputs ...operators.Operand) operators.Operator {
		return operators.Operator{Op: name, Class: class, Args: args, Inputs: inputs, Outputs: outputs}
	}
	written := func(strides []int, role operators.Role) operators.Operand {
		o := listed(strides, 0)
		o.Role = role
		return o
	}
	list := func(o ...operators.Operand) []operators.Operand { return o }
	for _, c := range []struct {
		name  string
		op    operators.Operator
		costs bool
		specs int
	}{
		{"cumsum", op("aten::cumsum", operators.Rows, []string{"", "0"}, list(out(shape, last)), in(shape, last)), false, 1},
		{"topk", op("aten::topk", operators.Rows, []string{"", "5", "0"}, list(out([]int{5, 1500}, []int{1500, 1})), in(shape, last)), false, 2},
		{"sort", op("aten::sort", operators.Rows, []string{"", "0"}, list(out(shape, last)), in(shape, last)), false, 1},
		{"sort of channels_last", op("aten::sort", operators.Rows, []string{"", "1"}, list(out(images, nhwc), out(images, nhwc)), in(images, nhwc)), false, 2},
		{"sort of every second", op("aten::sort", operators.Rows, []string{"", "1"}, list(out(images, nchw)), in(images, apart)), true, 1},
		{"mv", op("aten::mv", operators.Product, nil, list(out([]int{1500}, []int{1})), in(shape, first), in([]int{1500}, []int{1})), false, 3},
		{"mv of every second", op("aten::mv", operators.Product, nil, list(out([]int{1500}, []int{1})), in(shape, []int{3000, 2}), in([]int{1500}, []int{1})), true, 3},
		{"mm of every second", op("aten::mm", operators.Product, nil, list(out(shape, first)), in(shape, []int{3000, 2}), in(shape, first)), false, 3},
		{"convolution", op("aten::convolution", operators.Product, nil, list(out(images, nchw)), in(images, nchw)), false, 2},
		{"convolution of channels_last", op("aten::convolution", operators.Product, nil, list(out(images, nhwc)), in(images, nhwc)), false, 2},
		{"convolution of every second", op("aten::convolution", operators.Product, nil, list(out(images, nchw)), in(images, apart)), true, 3},
		{"zeros_like", op("aten::zeros_like", operators.Elementwise, nil, list(out(shape, last)), in(shape, last)), false, 1},
		{"new_zeros", op("aten::new_zeros", operators.Elementwise, nil, list(out([]int{10}, []int{1})), in(shape, first)), false, 1},
		{"_foreach_add alike", op("aten::_foreach_add", operators.Elementwise, nil, nil, listed(first, 0), listed(last, 0), listed(first, 1), listed(last, 1)), false, 2},
		{"_foreach_add unlike", op("aten::_foreach_add", operators.Elementwise, nil, nil, listed(first, 0), listed(last, 0), listed(first, 1), listed(first, 1)), true, 2},
		{"_foreach_mul_ by a number", op("aten::_foreach_mul_", operators.Elementwise, nil, nil, written(first, operators.InPlace), written(first, operators.InPlace)), false, 2},
		{"_foreach_zero_", op("aten::_foreach_zero_", operators.Elementwise, nil, nil, written(first, operators.Output), written(first, operators.Output)), false, 2},
		{"_foreach_copy_", op("aten::_foreach_copy_", operators.Elementwise, nil, nil, written(first, operators.Output), listed(first, 1)), false, 1},
		{"rot90", op("aten::rot90", operators.Copy, []string{"", "1", "[0, 1]"}, list(out(shape, last)), in(shape, first)), false, 1},
		{"select_scatter", op("aten::select_scatter", operators.Copy, nil, list(out(shape, last)), in(shape, last), in([]int{1500}, []int{1})), false, 2},
		{"aminmax", op("aten::aminmax", operators.Reduction, []string{"", ""}, list(out([]int{}, []int{}), out([]int{}, []int{})), in(shape, last)), true, 3},
	} {
		l, err := lower(c.op, calls{})
		if err != nil || len(l.specs) != c.specs {
			t.Errorf("%s: %d walks, want %d (%v)", c.name, len(l.specs), c.specs, err)
			continue
		}
		if i := itemOf(t, c.op); i.Layout > .05*i.Ns != c.costs {
			t.Errorf("%s: layout %v of %v ns", c.name, i.Layout, i.Ns)
		}
	}
}

// TestTurnNowhere: a rot90 by dims that a tensor does not have is a copy like others.
func TestTurnNowhere(t *testing.T) {
	for _, dims := range []string{"[0, 1]", "[0, 2]", "[-3, 0]", "[1]", "x"} {
		for rank := range 3 {
			shape, strides := []int{4, 4}[:rank], []int{4, 1}[2-rank:]
			op := operators.Operator{Op: "aten::rot90", Class: operators.Copy, Args: []string{"", "1", dims}, Inputs: []operators.Operand{in(shape, strides)}, Outputs: []operators.Operand{out(shape, strides)}}
			if l, err := lower(op, calls{}); err != nil || len(l.specs) != 1 {
				t.Errorf("%s of %d dims: %+v, %v", dims, rank, l.specs, err)
			}
		}
	}
}

// TestHostileParts: whatever shapes, strides and arguments a call has, it is lowered, or refused, to patterns that
// have twins.
func TestHostileParts(t *testing.T) {
	names := map[string]operators.Class{"aten::cat": operators.Copy, "aten::stack": operators.Copy, "aten::constant_pad_nd": operators.Copy, "aten::pixel_shuffle": operators.Copy,
		"aten::pixel_unshuffle": operators.Copy, "aten::repeat": operators.Copy, "aten::channel_shuffle": operators.Copy, "aten::roll": operators.Copy, "aten::copy_": operators.Copy,
		"aten::index": operators.Gather, "aten::index_select": operators.Gather, "aten::embedding": operators.Gather, "aten::native_batch_norm": operators.Rows,
		"aten::rot90": operators.Copy, "aten::select_scatter": operators.Copy, "aten::cumsum": operators.Rows, "aten::topk": operators.Rows, "aten::mv": operators.Product, "aten::convolution": operators.Product,
		"aten::zeros_like": operators.Elementwise, "aten::new_zeros": operators.Elementwise, "aten::_foreach_add": operators.Elementwise, "aten::mse_loss": operators.Elementwise, "aten::tril": operators.Elementwise,
		"aten::nll_loss_forward": operators.Gather, "aten::nll_loss_backward": operators.Gather, "aten::reflection_pad1d": operators.Gather, "aten::replication_pad2d_backward": operators.Gather, "aten::_embedding_bag": operators.Gather,
		"aten::index_add_": operators.Gather, "aten::index_put_": operators.Gather, "aten::gather": operators.Gather, "aten::scatter_add": operators.Gather, "aten::take": operators.Gather, "aten::put_": operators.Gather, "aten::diag": operators.Gather, "aten::trace": operators.Gather,
		"aten::diag_embed": operators.Copy, "aten::flip": operators.Copy, "aten::max": operators.Reduction, "aten::argmin": operators.Reduction, "aten::aminmax": operators.Reduction}
	ops := slices.Sorted(maps.Keys(names))
	rapid.Check(t, func(r *rapid.T) {
		tensorOf := func(label string) operators.Operand {
			shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 4, 8, 1 << 20, 1 << 40}), 0, 5).Draw(r, label)
			o := in(shape, make([]int, len(shape)))
			step := 1
			for _, d := range rapid.Permutation(nest.UpTo(len(shape))).Draw(r, label+" order") {
				if o.Strides[d] = step; rapid.IntRange(0, 4).Draw(r, label+" expanded") == 0 {
					o.Strides[d] = 0
				}
				if step < 1<<40 {
					step *= max(shape[d], 1)
				}
			}
			return o
		}
		op := operators.Operator{Op: rapid.SampledFrom(ops).Draw(r, "op"), Calls: 1}
		op.Class = names[op.Op]
		op.Args = rapid.SliceOfN(rapid.SampledFrom([]string{"", "0", "1", "-1", "7", "-9", "[2, 1]", "[0, 1]", "[-1, 0]", "[3, -2, 1, 0]", "x"}), 0, 3).Draw(r, "args")
		lists := rapid.Bool().Draw(r, "lists")
		for i := range rapid.IntRange(0, 4).Draw(r, "inputs") {
			o := tensorOf("input")
			if o.Argument = i; lists {
				o.InList, o.Argument = true, i/2
			}
			op.Inputs = append(op.Inputs, o)
		}
		for range rapid.IntRange(0, 2).Draw(r, "outputs") {
			o := tensorOf("output")
			o.Role = operators.Output
			op.Outputs = append(op.Outputs, o)
		}
		l, err := lower(op, calls{})
		if err != nil {
			return
		}
		if len(l.twins)+l.inner(op) != len(l.specs) || len(l.from) != len(l.specs) {
			r.Fatalf("%+v: %d patterns, %d twins, tensors of %d", op, len(l.specs), len(l.twins), len(l.from))
		}
	})
}

// inner is how many patterns are copies inside, which contiguous operands would spare.
func (l lowered) inner(op operators.Operator) int {
	if op.Class == operators.Rows || op.Class == operators.Product || op.Class == operators.Reduction || op.Class == operators.Gather || op.Class == operators.Copy {
		return len(l.specs) - len(l.twins)
	}
	return 0
}

// TestKeepCopy: a copy for the layout of what others read as it lies, too, is the one to keep, and not
// told to be made beforehand.
func TestKeepCopy(t *testing.T) {
	two := float + "," + float
	events := []event{
		{name: "aten::contiguous", dur: 8, shapes: "[2048,2048]", strides: "[1,2048]", types: float},
		{name: "aten::copy_", ts: 1, dur: 5, shapes: "[2048,2048],[2048,2048]", strides: "[2048,1],[1,2048]", types: two}}
	for n, want := range []string{produce, "reuse this copy for the other use of its source", "reuse this copy for the 2 other uses of its source"} {
		b := priceOf(t, trace(events...))
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::copy_" })
		if got := b.Operators[i].Verdict; got != want {
			t.Errorf("beside %d others: %s, want %s", n, got, want)
		}
		events = append(events, event{name: []string{"aten::add", "aten::mul", ""}[n], ts: 10 + 10*n, dur: 5, shapes: "[2048,2048],[2048,2048]", strides: "[1,2048],[2048,1]", types: two})
	}
}

// TestCopiedTwice: a tensor that is copied twice for its layout is copied once too often.
func TestCopiedTwice(t *testing.T) {
	clone := func(id int, to string) string {
		return node(id, "aten::clone", "[2048,2048]", [3]string{"1", "0", "[1,2048]"}, [3]string{to, "0", "[2048,1]"})
	}
	b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+clone(2, "2")+", "+clone(3, "3")+"]}")
	if v := b.Operators[0].Verdict; v != "call contiguous() once: 2 uses of this layout follow" {
		t.Error(v)
	}
}

// TestWrittenInPlace: contiguous() before what is written in place would lose what is written, and is no use of it.
func TestWrittenInPlace(t *testing.T) {
	turned := [3]string{"1", "0", "[1,2048]"}
	clone := func(id int, to string) string {
		return node(id, "aten::clone", "[2048,2048]", turned, [3]string{to, "0", "[2048,1]"})
	}
	add := strings.Replace(node(4, "aten::add_", "[2048,2048]", turned, [3]string{"9", "0", "[2048,1]"}, turned), "(Tensor self) -> Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)", 1)
	b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+clone(2, "2")+", "+clone(3, "3")+", "+add+"]}")
	got := map[string]string{}
	for _, i := range b.Operators {
		got[i.Op] = i.Verdict
	}
	if diff := cmp.Diff(map[string]string{"aten::clone": "call contiguous() once: 2 uses of this layout follow", "aten::add_": "produce 2048x2048[1,2048] contiguous"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestChannelsLastKept: a cat of channels in channels_last costs a little for its layout, which is no reason to leave it.
func TestChannelsLastKept(t *testing.T) {
	part := in([]int{8, 32, 28, 28}, []int{25088, 1, 896, 32})
	part.InList = true
	i := itemOf(t, operators.Operator{Op: "aten::cat", Class: operators.Copy, Args: []string{"", "1"},
		Inputs: slices.Repeat([]operators.Operand{part}, 12), Outputs: []operators.Operand{out([]int{8, 384, 28, 28}, []int{301056, 1, 10752, 384})}})
	if i.Layout == 0 || i.Verdict != channelsLast {
		t.Errorf("%s, layout %v of %v ns", i.Verdict, i.Layout, i.Ns)
	}
	op := i.Operator
	op.Outputs = nil // as a Kineto trace has it
	if unsaid := itemOf(t, op); unsaid.Ns != i.Ns || unsaid.Layout != i.Layout || unsaid.Verdict != channelsLast {
		t.Errorf("without its result: %s, layout %v of %v ns, want %s, %v of %v", unsaid.Verdict, unsaid.Layout, unsaid.Ns, channelsLast, i.Layout, i.Ns)
	}
}

// TestMaskedFill: out of place, a copy in row-major order is filled in place, of whatever the mask broadcasts to.
func TestMaskedFill(t *testing.T) {
	scores, first, last := []int{8, 512, 512}, []int{262144, 512, 1}, []int{262144, 1, 512}
	mask := operators.Operand{Shape: []int{512, 512}, Strides: []int{512, 1}, DType: "bool", Role: operators.Input}
	masked := func(strides []int, to ...operators.Operand) operators.Operator {
		return operators.Operator{Op: "aten::masked_fill", Class: operators.Elementwise, Inputs: []operators.Operand{in(scores, strides), mask}, Outputs: to}
	}
	for _, op := range []operators.Operator{masked(first, out(scores, first)), masked(first), masked(last, out(scores, first))} {
		l, err := lower(op, calls{})
		if err != nil || len(l.specs) != 2 {
			t.Fatalf("%+v, %v", l, err)
		}
		if bytes := bytesOf(t, l.specs); bytes != 4*4*8*512*512+512*512 {
			t.Errorf("%d B", bytes)
		}
		if l.specs[0].Op != access.Copy || l.specs[1].Operands[0].Role != access.InPlace {
			t.Errorf("%+v", l.specs)
		}
	}
	alone, err := lower(masked(first), calls{copies: map[string]bool{"aten::masked_fill": true}})
	if err != nil || len(alone.specs) != 1 {
		t.Errorf("with its copy in the profile: %+v, %v", alone, err)
	}
}

// TestChannelsLastLeft: nothing keeps channels_last through what returns what is row-major whatever it gets; a copy that a
// program asks for can be left out.
func TestChannelsLastLeft(t *testing.T) {
	images, last, rows := []int{8, 64, 28, 28}, []int{50176, 1, 1792, 64}, []int{50176, 784, 28, 1}
	for _, c := range []struct {
		op, chain string
		class     operators.Class
		to        []int
		want      string
	}{
		{"aten::_softmax", "torch.nn.functional.softmax", operators.Rows, rows, produce},
		{"aten::native_layer_norm", "aten::layer_norm", operators.Rows, rows, produce},
		{"aten::cumsum", "", operators.Rows, rows, produce},
		{"aten::tril", "", operators.Elementwise, rows, produce},
		{"aten::masked_fill", "", operators.Elementwise, rows, produce},
		{"aten::repeat", "", operators.Copy, rows, produce},
		{"aten::clone", "torch.nn.functional.instance_norm", operators.Copy, rows, produce},
		{"aten::copy_", "aten::instance_norm > aten::contiguous > aten::clone", operators.Copy, rows, produce},
		{"aten::clone", "torch.Tensor.flatten", operators.Copy, rows, produce},
		{"aten::clone", "", operators.Copy, rows, channelsLast},
		{"aten::clone", "torch.Tensor.contiguous", operators.Copy, rows, channelsLast},
		{"aten::copy_", "aten::contiguous > aten::clone", operators.Copy, rows, channelsLast},
		{"aten::_to_copy", "torch.Tensor.to", operators.Copy, last, channelsLast},
		{"aten::clone", "torch.nn.functional.conv2d", operators.Copy, last, channelsLast},
		{"aten::copy_", "aten::_convolution > aten::contiguous > aten::clone", operators.Copy, last, channelsLast},
	} {
		from := last
		if slices.Equal(c.to, last) {
			from = rows
		}
		op := operators.Operator{Op: c.op, Class: c.class, Inputs: []operators.Operand{in(images, from)}, Outputs: []operators.Operand{out(images, c.to)}}
		if c.op == "aten::copy_" { // as PyTorch has it
			op.Inputs, op.Outputs = []operators.Operand{out(images, c.to), in(images, from)}, nil
		}
		if c.chain != "" {
			op.Callers = []operators.Caller{{Chain: c.chain, Calls: 1}}
		}
		if i := itemOf(t, op); i.Layout == 0 || i.Verdict != c.want {
			t.Errorf("%s by %q: %s, layout %v of %v ns", c.op, c.chain, i.Verdict, i.Layout, i.Ns)
		}
	}
}

// TestInHands: advice names what a program can change: not the mask of a dropout, windows that overlap, nor the order
// of a gradient.
func TestInHands(t *testing.T) {
	images, last, nchw := []int{8, 64, 28, 28}, []int{50176, 1, 1792, 64}, []int{50176, 784, 28, 1}
	matrix, byRows, byColumns := []int{512, 512}, []int{512, 1}, []int{1, 512}
	mul := func(shape, x, mask []int) operators.Operator {
		return operators.Operator{Op: "aten::mul", Class: operators.Elementwise, Inputs: []operators.Operand{in(shape, x), in(shape, mask)}, Outputs: []operators.Operand{out(shape, x)}}
	}
	windows := func(step int) operators.Operator { // of 16 rows
		shape := []int{32, 512, 16}
		return operators.Operator{Op: "aten::clone", Class: operators.Copy, Inputs: []operators.Operand{in(shape, []int{step * 512, 1, 512})}, Outputs: []operators.Operand{out(shape, []int{8192, 16, 1})}}
	}
	meanOf := func(windows, step int) operators.Operator { // of 16 columns
		return operators.Operator{Op: "aten::mean", Class: operators.Reduction, Inputs: []operators.Operand{in([]int{512, windows, 16}, []int{512, step, 1})},
			Outputs: []operators.Operand{out([]int{512, windows}, []int{windows, 1})}}
	}
	for _, c := range []struct {
		name   string
		op     operators.Operator
		chains []string
		want   string
	}{
		{"dropout of channels_last", mul(images, last, nchw), []string{"torch.nn.functional.dropout"}, maskOfRows},
		{"dropout, in a Kineto trace", mul(images, last, nchw), []string{"aten::dropout"}, maskOfRows},
		{"dropout of a transposed matrix", mul(matrix, byColumns, byRows), []string{"torch.nn.functional.dropout"}, likeMask},
		{"dropout and others", mul(matrix, byColumns, byRows), []string{"torch.nn.functional.dropout", "torch.Tensor.mul"}, rowMajor512},
		{"no dropout", mul(images, last, nchw), []string{"torch.Tensor.mul"}, channelsLast},
		{"backward", mul(matrix, byColumns, byRows), []string{"torch.Tensor.backward"}, ofForward},
		{"backward of two formats", mul(images, last, nchw), []string{"torch.Tensor.backward"}, byBackward},
		{"windows that overlap", windows(8), []string{"torch.Tensor.contiguous"}, overlaps},
		{"windows that do not", windows(16), []string{"torch.Tensor.contiguous"}, produce},
		{"a mean of windows that overlap", meanOf(125, 4), []string{"torch.Tensor.mean"}, overlapped},
		{"a mean of windows that do not", meanOf(25, 20), []string{"torch.Tensor.mean"}, produce},
		{"windows that overlap by another tensor", mul([]int{32, 512, 16}, []int{4096, 1, 512}, []int{8192, 16, 1}), []string{"torch.Tensor.mul"}, overlapped},
	} {
		for _, chain := range c.chains {
			c.op.Callers = append(c.op.Callers, operators.Caller{Chain: chain, Calls: 1})
		}
		c.op.Backward = c.chains[0] == "torch.Tensor.backward"
		if i := itemOf(t, c.op); i.Layout == 0 || i.Verdict != c.want {
			t.Errorf("%s: %s, layout %v of %v ns", c.name, i.Verdict, i.Layout, i.Ns)
		}
	}
}

// TestMadeWithin: what a function of torch makes and reads itself is in no program's hands; what it is given is.
func TestMadeWithin(t *testing.T) {
	for _, c := range []struct{ function, given, want string }{
		{"torch.lstm", "2", byCaller},
		{"torch.lstm", "9", rowMajor512},
		{"torch.lstm", "9 2", rowMajor512},
		{"torch.Tensor.mine", "2", rowMajor512},
	} {
		called := func(node string) string { return strings.Replace(node, `"ctrl_deps":1`, `"ctrl_deps":2`, 1) }
		var adds []string
		for n, storage := range strings.Fields(c.given) {
			adds = append(adds, called(node(4+n, "aten::add", "[512,512]", [3]string{"1", "0", "[512,1]"}, [3]string{storage, "0", "[1,512]"}, [3]string{"3", "0", "[512,1]"})))
		}
		b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+
			strings.Replace(node(2, c.function, "[]", [3]string{"0", "0", "[]"}), `"attrs":[`, `"attrs":[{"name":"scope","type":"uint64","value":7},`, 1)+", "+
			called(node(3, "aten::relu", "[512,512]", [3]string{"1", "0", "[512,1]"}, [3]string{"2", "0", "[512,1]"}))+", "+
			strings.Join(adds, ", ")+"]}")
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::add" })
		if got := b.Operators[i]; got.Verdict != c.want || len(got.Callers) != 1 {
			t.Errorf("%s given storage %s: %s, want %s, called by %v", c.function, c.given, got.Verdict, c.want, got.Callers)
		}
	}
}

// TestTakenByProduct: a copy that a product reads is not needed where the matrix that it reads is a view of what is copied, and
// is where it is not, as of a sequence whose first two dims are swapped.
func TestTakenByProduct(t *testing.T) {
	for _, c := range []struct{ shape, strides, dense, read, by, want string }{
		{"[512,512]", "[1,512]", "[512,1]", "[512,512]", "[512,1]", takesAsItIs},
		{"[512,512]", "[1,512]", "[512,1]", "[512,512]", "[1,512]", takesAsItIs},
		{"[196,8,128]", "[2048,256,1]", "[1024,128,1]", "[1568,128]", "[128,1]", takesAsItIs},
		{"[196,8,128]", "[128,25088,1]", "[1024,128,1]", "[1568,128]", "[128,1]", produce},
		{"[196,64,16]", "[16,3136,1]", "[1024,16,1]", "[196,64,16]", "[1024,16,1]", takesAsItIs},
		{"[196,64,16]", "[16,3136,1]", "[1024,16,1]", "[1568,128]", "[128,1]", produce},
		{"[512,512]", "[1,512]", "[512,1]", "[256,512]", "[512,1]", produce},
	} {
		b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+
			node(2, "aten::clone", c.shape, [3]string{"1", "0", c.strides}, [3]string{"2", "0", c.dense})+", "+
			node(3, "aten::mm", c.read, [3]string{"2", "0", c.by}, [3]string{"3", "0", c.by})+"]}")
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::clone" })
		if got := b.Operators[i].Verdict; got != c.want {
			t.Errorf("%s%s read as %s%s: %s, want %s", c.shape, c.strides, c.read, c.by, got, c.want)
		}
	}
}

// TestGatherInSuite: what takes rows of a transposed matrix can be timed, and what index_select takes along the third dim.
func TestGatherInSuite(t *testing.T) {
	third := operators.Operator{Op: "aten::index_select", Class: operators.Gather, Calls: 1, Args: []string{"", "2"},
		Inputs: []operators.Operand{in([]int{4, 64, 32, 32}, []int{65536, 1, 2048, 64}), rows([]int{32}, []int{1})}, Outputs: []operators.Operand{out([]int{4, 64, 32, 32}, []int{65536, 1024, 32, 1})}}
	op := operators.Operator{Op: "aten::index_select", Class: operators.Gather, Calls: 1, Args: []string{"", "0"},
		Inputs: []operators.Operand{in([]int{512, 512}, []int{1, 512}), rows([]int{512}, []int{1})}, Outputs: []operators.Operand{out([]int{512, 512}, []int{512, 1})}}
	b, err := Of(context.Background(), &operators.Profile{Operators: []operators.Operator{op, third}, Calls: 2}, typical(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.Suite(Limits{Budget: 1 << 40})
	if err != nil || strings.Count(string(text), "name: aten.index_select") != 2 || !strings.Contains(string(text), "    dims: [2") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := workload.Parse("suite.yaml", text); err != nil {
		t.Error(err)
	}
}
