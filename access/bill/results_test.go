package bill

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
)

// described are the dtypes and shapes of operands.
func described(all []operators.Operand) (text []string) {
	for _, o := range all {
		text = append(text, fmt.Sprint(o.DType, o.Shape))
	}
	return text
}

// TestResultsRecorded: what an operator's results must be, by its operands and arguments alone, is what they were when
// PyTorch 1.13 ran it, and the bill is the same with them and without.
func TestResultsRecorded(t *testing.T) {
	files, _ := filepath.Glob("../operators/testdata/*.json.gz")
	more, _ := filepath.Glob("testdata/*.json.gz")
	found := map[string]bool{}
	for _, file := range append(files, more...) {
		p, err := operators.ReadFiles(context.Background(), nil, nil, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range p.Operators {
			unsaid := op
			unsaid.Outputs = nil
			got, want := described(resultsOf(unsaid)), described(op.Outputs)
			if len(want) == 0 || got == nil {
				continue
			}
			found[op.Op] = true
			if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%s: %s of %v %q: %v, want %v", filepath.Base(file), op.Op, described(op.Inputs), op.Args, got, want)
			}
			said, errSaid := lower(op, calls{})
			made, err := lower(unsaid, calls{})
			if errSaid != nil || err != nil {
				t.Errorf("%s: %v, %v", op.Op, errSaid, err)
			} else if a, b := bytesOf(t, said.specs), bytesOf(t, made.specs); len(got) == len(want) && a != b {
				t.Errorf("%s of %v: %d B with its results, %d without", op.Op, described(op.Inputs), a, b)
			}
		}
	}
	for _, op := range []string{"aten::mm", "aten::addmm", "aten::bmm", "aten::convolution", "aten::convolution_backward"} {
		if !found[op] {
			t.Errorf("no %s was recorded", op)
		}
	}
}

// TestResults: the results that a Kineto trace does not have, by the arguments as it spells them.
func TestResults(t *testing.T) {
	x := func(shape ...int) operators.Operand {
		return dense(tensor{in(shape, nil), inside}, operators.Input).Operand
	}
	long := func(shape ...int) operators.Operand { o := x(shape...); o.DType = "int64"; return o }
	typed := func(dtype string, o operators.Operand) operators.Operand { o.DType = dtype; return o }
	all := func(o ...operators.Operand) []operators.Operand { return o }
	images, square := x(8, 64, 56, 56), x(3, 3)
	for _, c := range []struct {
		op     string
		inputs []operators.Operand
		args   []string
		want   string
	}{
		{"mm", all(x(5, 7), x(7, 9)), nil, "[float32[5 9]]"},
		{"mm", all(x(5, 7), x(7, 9), x(5, 9)), nil, "[]"}, // out=
		{"addmm", all(x(9), x(5, 7), x(7, 9)), nil, "[float32[5 9]]"},
		{"baddbmm", all(x(1), x(2, 5, 7), x(2, 7, 9)), nil, "[float32[2 5 9]]"},
		{"mv", all(x(5, 7), x(7)), nil, "[float32[5]]"},
		{"addmv", all(x(5), x(5, 7), x(7)), nil, "[float32[5]]"},
		{"_scaled_dot_product_flash_attention_for_cpu", all(x(2, 8, 100, 64), x(2, 8, 200, 64), x(2, 8, 200, 32)), nil, "[float32[2 8 100 32]]"},
		{"_cdist_forward", all(x(2, 5, 3), x(2, 9, 3)), []string{"", "", "2.", ""}, "[float32[2 5 9]]"},
		{"mkldnn_convolution", all(images, x(32, 64, 3, 3), x(32)), []string{"", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"}, "[float32[8 32 28 28]]"},
		{"mkldnn_convolution", all(images, x(32, 64, 3, 3)), []string{"", "", "", "[0]", "[1]", "[2]", "1"}, "[float32[8 32 52 52]]"},
		{"mkldnn_convolution", all(images, x(32, 64, 3, 3)), nil, "[]"}, // of which nothing is said
		{"cudnn_convolution", all(images, x(32, 64, 7, 7)), []string{"", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"}, "[float32[8 32 28 28]]"},
		{"_slow_conv2d_forward", all(images, x(32, 64, 1, 1), x(32)), []string{"", "", "[1, 1]", "", "[2, 2]", "[0, 0]"}, "[float32[8 32 28 28]]"},
		{"slow_conv_dilated2d", all(images, x(32, 64, 3, 3)), []string{"", "", "[3, 3]", "", "[1, 1]", "[2, 2]", "[2, 2]"}, "[float32[8 32 56 56]]"},
		{"convolution_backward", all(x(8, 32, 56, 56), images, x(32, 64, 1, 1)), []string{"", "", "", "[32]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, True]"}, "[float32[8 64 56 56] float32[32 64 1 1] float32[32]]"},
		{"convolution_backward", all(x(8, 32, 56, 56), images, x(32, 64, 1, 1)), []string{"", "", "", "[32]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"}, "[float32[32 64 1 1]]"},
		{"_slow_conv2d_backward", all(x(8, 32, 56, 56), images, x(32, 64, 1, 1)), []string{"", "", "", "[1, 1]", "[1, 1]", "[0, 0]", "[True, True, False]"}, "[float32[8 64 56 56] float32[32 64 1 1]]"},
		{"slow_conv_transpose2d", all(x(2, 64, 24, 24), x(64, 32, 2, 2), x(32)), []string{"", "", "[2, 2]", "", "[2, 2]", "[0, 0]", "[1, 1]", "[1, 1]"}, "[float32[2 32 49 49]]"},
		{"index_select", all(x(1000, 64), long(7)), []string{"", "0", ""}, "[float32[7 64]]"},
		{"index_select", all(x(1000, 64), long(7)), []string{"", "-1", ""}, "[float32[1000 7]]"},
		{"embedding", all(x(1000, 64), long(2, 7)), nil, "[float32[2 7 64]]"},
		{"_embedding_bag", all(x(1000, 64), long(70), long(9)), []string{"", "", "", "False", "1", "False", "", "False", "-1"}, "[float32[9 64]]"},
		{"_embedding_bag", all(x(1000, 64), long(70), long(9)), []string{"", "", "", "False", "1", "False", "", "True", "-1"}, "[float32[8 64]]"},
		{"bucketize", all(x(100, 4), x(50)), nil, "[int64[100 4]]"},
		{"searchsorted", all(x(50), x(100, 4)), nil, "[int64[100 4]]"},
		{"grid_sampler_2d", all(images, x(8, 10, 11, 2)), nil, "[float32[8 64 10 11]]"},
		{"max_pool2d_with_indices", all(images), []string{"", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"}, "[float32[8 64 28 28] int64[8 64 28 28]]"},
		{"max_pool2d_with_indices", all(images), []string{"", "[3, 3]", "[]", "[0, 0]", "[1, 1]", "True"}, "[float32[8 64 19 19] int64[8 64 19 19]]"},
		{"max_pool2d_with_indices", all(images), []string{"", "[3, 3]", "[]", "[0, 0]", "[1, 1]", "False"}, "[float32[8 64 18 18] int64[8 64 18 18]]"},
		{"avg_pool2d", all(images), []string{"", "[2, 2]", "[2, 2]", "[0, 0]", "False", "True", ""}, "[float32[8 64 28 28]]"},
		{"_adaptive_avg_pool2d", all(images), []string{"", "[7, 7]"}, "[float32[8 64 7 7]]"},
		{"avg_pool2d_backward", all(x(8, 64, 28, 28), images), []string{"", "", "[2, 2]"}, "[float32[8 64 56 56]]"},
		{"upsample_nearest2d", all(images), []string{"", "[112, 100]", "", ""}, "[float32[8 64 112 100]]"},
		{"upsample_nearest2d", all(images), []string{"", "", "[2., 1.5]"}, "[float32[8 64 112 84]]"},
		{"upsample_bilinear2d", all(images), []string{"", "[112, 112]", "False", "2.", "2."}, "[float32[8 64 112 112]]"},
		{"upsample_bilinear2d_backward", all(x(8, 64, 112, 112)), []string{"", "[112, 112]", "[8, 64, 56, 56]", "False", "2.", "2."}, "[float32[8 64 56 56]]"},
		{"upsample_nearest2d", all(images), []string{"", "", "[1e300, 2.]"}, "[]"}, // which nothing has
		{"im2col", all(x(1, 4, 8, 8)), []string{"", "[3, 3]", "[1, 1]", "[0, 0]", "[1, 1]"}, "[float32[1 36 36]]"},
		{"col2im", all(x(1, 36, 36)), []string{"", "[8, 8]", "[3, 3]", "[1, 1]", "[0, 0]", "[1, 1]"}, "[float32[1 4 8 8]]"},
		{"reflection_pad2d", all(images), []string{"", "[1, 2, 3, 4]"}, "[float32[8 64 63 59]]"},
		{"replication_pad1d_backward", all(x(8, 64, 60), x(8, 64, 56)), []string{"", "", "[2, 2]"}, "[float32[8 64 56]]"},
		{"pixel_shuffle", all(images), []string{"", "2"}, "[float32[8 16 112 112]]"},
		{"pixel_unshuffle", all(images), []string{"", "2"}, "[float32[8 256 28 28]]"},
		{"native_channel_shuffle", all(images), []string{"", "4"}, "[float32[8 64 56 56]]"},
		{"sort", all(square), []string{"", "1", "False"}, "[float32[3 3] int64[3 3]]"},
		{"topk", all(x(100, 400)), []string{"", "5", "-1", "True", "True"}, "[float32[100 5] int64[100 5]]"},
		{"_fft_r2c", all(x(4, 128)), []string{"", "[1]", "0", "True"}, "[complex64[4 65]]"},
		{"_fft_c2r", all(typed("complex64", x(4, 65))), []string{"", "[1]", "2", "128"}, "[float32[4 128]]"},
		{"_fft_c2c", all(typed("complex64", x(4, 65))), []string{"", "[0, 1]", "0", "True"}, "[complex64[4 65]]"},
		{"native_dropout", all(square), []string{"", "0.5", "True"}, "[float32[3 3] bool[3 3]]"},
		{"eq", all(x(3, 1), x(1, 4)), nil, "[bool[3 4]]"},
		{"eq", all(x(3, 4), x(3, 4), typed("bool", x(3, 4))), nil, "[]"}, // out=
		{"isnan", all(square), nil, "[bool[3 3]]"},
		{"add", all(square, square), nil, "[]"}, // which lowering makes
		{"scalar_tensor", nil, nil, "[float32[]]"},
	} {
		op := operators.Operator{Op: "aten::" + c.op, Class: operators.Rows, Inputs: c.inputs, Args: c.args}
		if got := fmt.Sprint(described(resultsOf(op))); got != c.want {
			t.Errorf("%s of %v %q: %s, want %s", c.op, described(c.inputs), c.args, got, c.want)
		}
	}
	// What is not zero is counted first, and then each found.
	found := operators.Operand{Shape: []int{100, 2}, Strides: []int{2, 1}, DType: "int64", Role: operators.Output}
	if l, err := lower(operators.Operator{Op: "aten::nonzero", Class: operators.Rows, Inputs: all(x(512, 512)), Outputs: all(found)}, calls{}); err != nil || bytesOf(t, l.specs) != 2*4*512*512+1600 {
		t.Errorf("nonzero: %+v, %v", l.specs, err)
	}
	// A comparison writes as it reads, a byte an element.
	turned := in([]int{512, 512}, []int{1, 512})
	l, err := lower(operators.Operator{Op: "aten::gt", Class: operators.Elementwise, Inputs: all(turned, turned)}, calls{})
	if err != nil || bytesOf(t, l.specs) != 9*512*512 || !slices.Equal(l.specs[0].Operands[2].Layout.Strides(), turned.Strides) {
		t.Errorf("gt: %+v, %v", l.specs, err)
	}
}

// TestInsideCounted: what an operator copies or fills inside is counted once, also where it is in the profile itself.
func TestInsideCounted(t *testing.T) {
	x := in([]int{4096, 1000}, []int{1000, 1})
	index := rows([]int{100}, []int{1})
	index.InList = false
	source := in([]int{100, 1000}, []int{1000, 1})
	for _, c := range []struct {
		op     operators.Operator
		inside calls
		first  access.Op
	}{
		{operators.Operator{Op: "aten::index_add", Class: operators.Gather, Args: []string{"", "0", "", "", "1"}, Inputs: []operators.Operand{x, index, source}}, calls{copies: map[string]bool{"aten::index_add": true}}, access.Copy},
		{operators.Operator{Op: "aten::nll_loss_backward", Class: operators.Gather, Inputs: []operators.Operand{in([]int{}, []int{}), x, rows([]int{4096}, []int{1})}}, calls{fills: map[string]bool{"aten::nll_loss_backward": true}}, access.Fill},
	} {
		alone, err := lower(c.op, calls{})
		within, err2 := lower(c.op, c.inside)
		if err != nil || err2 != nil || alone.specs[0].Op != c.first || len(within.specs) != len(alone.specs)-1 {
			t.Errorf("%s: %d patterns alone, %d with what is inside in the profile; %v, %v", c.op.Op, len(alone.specs), len(within.specs), err, err2)
		}
	}
	zero := operators.Operator{Op: "aten::zero_", Class: operators.Elementwise, Callers: []operators.Caller{{Chain: "aten::nll_loss_backward", Calls: 1}}}
	if !callsOf([]operators.Operator{zero}).fills["aten::nll_loss_backward"] {
		t.Error("who fills is not known")
	}
}

// TestUnnamed: of what takes elements by a list that the profile does not have, as Kineto traces have none that may have no
// tensor in it, it is said that this is not known.
func TestUnnamed(t *testing.T) {
	x := in([]int{50000, 768}, []int{768, 1})
	for _, op := range []operators.Operator{
		{Op: "aten::index", Class: operators.Gather, Inputs: []operators.Operand{x}},
		{Op: "aten::_index_put_impl_", Class: operators.Gather, Inputs: []operators.Operand{x, in([]int{}, []int{})}},
	} {
		op.Calls = 1
		b, err := Of(context.Background(), &operators.Profile{Operators: []operators.Operator{op}, Calls: 1}, typical(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i := b.Operators[0]; i.Predicted != nil || i.Verdict != "not priced: "+errUnnamed.Error() {
			t.Errorf("%s: %+v, %s", op.Op, i.Predicted, i.Verdict)
		}
	}
}

// TestUnwritten: of an operator whose result nobody knows it is said that this is not in the price.
func TestUnwritten(t *testing.T) {
	x := in([]int{512, 512}, []int{512, 1})
	mask := x
	mask.DType = "bool"
	for _, c := range []struct {
		op   operators.Operator
		want bool
	}{
		{operators.Operator{Op: "aten::masked_select", Class: operators.Gather, Inputs: []operators.Operand{x, mask}}, true},
		{operators.Operator{Op: "aten::masked_select", Class: operators.Gather, Inputs: []operators.Operand{x, mask}, Outputs: []operators.Operand{out([]int{9}, []int{1})}}, false},
		{operators.Operator{Op: "aten::nonzero", Class: operators.Rows, Inputs: []operators.Operand{mask}}, true},
		{operators.Operator{Op: "aten::mm", Class: operators.Product, Inputs: []operators.Operand{x, x}}, false},
		{operators.Operator{Op: "aten::linalg_qr", Class: operators.Product, Inputs: []operators.Operand{x}}, true},
		{operators.Operator{Op: "aten::dot", Class: operators.Product, Inputs: []operators.Operand{in([]int{9}, []int{1}), in([]int{9}, []int{1})}}, false},
		{operators.Operator{Op: "aten::add", Class: operators.Elementwise, Inputs: []operators.Operand{x, x}}, false},
	} {
		c.op.Calls = 3
		b, err := Of(context.Background(), &operators.Profile{Operators: []operators.Operator{c.op}, Calls: 3}, typical(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := b.Write(&text, 5, 0); err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(text.String(), "its result is unknown") && strings.Contains(text.String(), "Priced by inputs alone: 3 calls.")
		if i := b.Operators[0]; i.Unwritten != c.want || said != c.want {
			t.Errorf("%s: %t, want %t; %s", c.op.Op, i.Unwritten, c.want, &text)
		}
	}
}

// TestResultsHostile: whatever a file has for shapes and arguments, what a result would be is possible, or not said.
func TestResultsHostile(t *testing.T) {
	names := strings.Fields(`mm bmm addmm mv _cdist_forward _flash_attention_forward convolution mkldnn_convolution cudnn_convolution convolution_backward
		slow_conv_transpose2d index_select embedding _embedding_bag grid_sampler_2d max_pool2d_with_indices avg_pool3d _adaptive_avg_pool2d avg_pool2d_backward
		upsample_nearest2d upsample_trilinear3d upsample_linear1d_backward im2col col2im reflection_pad2d pixel_shuffle pixel_unshuffle native_channel_shuffle
		sort topk _fft_r2c _fft_c2r nonzero eq embedding_dense_backward index_add index_put scatter gather`)
	rapid.Check(t, func(r *rapid.T) {
		sizes := rapid.SampledFrom([]int{0, 1, 2, 3, 7, 64, 1 << 20, 1 << 40})
		numbers := rapid.SampledFrom([]string{"0", "1", "2", "-1", "3", "4611686018427387904", "-9223372036854775808", "1e400", "x", ""})
		op := operators.Operator{Op: "aten::" + rapid.SampledFrom(names).Draw(r, "name"), Calls: 1,
			Class: rapid.SampledFrom([]operators.Class{operators.Product, operators.Gather, operators.Rows, operators.Copy, operators.Elementwise}).Draw(r, "class")}
		for range rapid.IntRange(0, 4).Draw(r, "inputs") {
			shape := rapid.SliceOfN(sizes, 0, 5).Draw(r, "shape")
			if !possible(shape) {
				continue
			}
			o := dense(tensor{in(shape, nil), inside}, operators.Input).Operand
			o.DType = rapid.SampledFrom([]string{"float32", "int64", "bool", "complex64"}).Draw(r, "dtype")
			op.Inputs = append(op.Inputs, o)
		}
		for range rapid.IntRange(0, 11).Draw(r, "args") {
			text := numbers.Draw(r, "number")
			if list := rapid.SliceOfN(numbers, 0, 4).Draw(r, "list"); len(list) > 0 {
				text = "[" + strings.Join(list, ", ") + "]"
			}
			op.Args = append(op.Args, text)
		}
		for _, o := range resultsOf(op) {
			if !possible(o.Shape) || len(o.Strides) != len(o.Shape) {
				r.Fatalf("%s: %v of strides %v", op.Op, o.Shape, o.Strides)
			}
		}
		_, _ = lower(op, calls{})
	})
}
