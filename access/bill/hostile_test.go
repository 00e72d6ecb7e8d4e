package bill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/layouts/nest"
)

// hostile are operators of every kind of lowering.
var hostile = strings.Fields(`_adaptive_avg_pool2d _cdist_forward _embedding_bag _fft_c2r _fft_r2c
	_flash_attention_forward _foreach_add _foreach_copy_ _foreach_mul_ _foreach_zero_
	_softmax add addcmul_ addmm amax aminmax argmin avg_pool2d_backward avg_pool3d bmm cat
	channel_shuffle clone col2im constant_pad_nd convolution convolution_backward copy_
	cudnn_convolution cumsum diag diag_embed embedding embedding_dense_backward eq fill_
	flip gather grid_sampler_2d im2col index index_add index_add_ index_put index_put_
	index_select masked_fill masked_select max max_pool2d_with_indices mean
	mkldnn_convolution mm mse_loss mul_ mv native_batch_norm native_channel_shuffle
	native_layer_norm new_zeros nll_loss_backward nll_loss_forward nonzero odd pixel_shuffle
	pixel_unshuffle put_ reflection_pad1d reflection_pad2d relu repeat
	replication_pad2d_backward roll rot90 scatter scatter_add select_scatter
	slow_conv_transpose2d sort stack std sum take threshold_backward topk trace tril
	upsample_linear1d_backward upsample_nearest2d upsample_trilinear3d where zeros_like`)

// drawCall draws a call whose operands and arguments need not fit it.
func drawCall(r *rapid.T) call {
	numbers := strings.Fields("0 1 2 -1 3 7 -9 x 1e400 4611686018427387904")
	number := rapid.SampledFrom(append(numbers, ""))
	size := rapid.SampledFrom([]int{0, 1, 2, 2, 3, 4, 4, 8, 8, 60, 64, 64, 1000})
	huge := rapid.SampledFrom([]int{0, 1, 2, 60, 1 << 20, 1 << 30, 1 << 40})
	known := strings.Repeat("float32 int64 bool c10::BFloat16 ", 8)
	dtype := rapid.SampledFrom(strings.Fields(known + "c10::odd"))
	c := call{Op: "aten::" + rapid.SampledFrom(hostile).Draw(r, "op")}
	shape := []int{}
	tensorOf := func(nth int) placed {
		switch rapid.IntRange(0, 12).Draw(r, "shape") {
		case 0:
			shape = append([]int{}, rapid.SliceOfN(huge, 0, 5).Draw(r, "large")...)
		case 1, 2, 3, 4, 5, 6:
			shape = append([]int{}, rapid.SliceOfN(size, 0, 4).Draw(r, "small")...)
		} // else it is that of the tensor before
		o := placed{Tensor: operators.Tensor{Shape: shape, Role: operators.Input}}
		o.Strides = make([]int, len(shape))
		o.DType = dtype.Draw(r, "dtype")
		o.storage, o.InList, o.Nth = rapid.IntRange(0, 3).Draw(r, "storage"), nth > 0, max(nth-1, 0)
		step := 1
		for _, d := range rapid.Permutation(nest.UpTo(len(shape))).Draw(r, "order") {
			if o.Strides[d] = step; rapid.IntRange(0, 6).Draw(r, "apart") == 0 {
				o.Strides[d] = huge.Draw(r, "stride")
			}
			if step < 1<<40 {
				step *= max(shape[d], 1)
			}
		}
		return o
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 2, 2, 3, 3, 4}).Draw(r, "inputs") {
		if rapid.IntRange(0, 3).Draw(r, "list") == 0 {
			c.Inputs = append(c.Inputs, tensorOf(1), tensorOf(2))
			continue
		}
		c.Inputs = append(c.Inputs, tensorOf(0))
	}
	for range rapid.IntRange(0, 2).Draw(r, "outputs") {
		c.Outputs = append(c.Outputs, tensorOf(0))
	}
	for range rapid.IntRange(0, 8).Draw(r, "args") {
		text := number.Draw(r, "number")
		if list := rapid.SliceOfN(number, 0, 4).Draw(r, "numbers"); len(list) > 0 {
			text = "[" + strings.Join(list, ", ") + "]"
		}
		c.Args = append(c.Args, text)
	}
	return c
}

// TestHostile: operators with operands of any sizes and strides are priced or not, and no one
// takes long.
func TestHostile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var calls []call
		for range 10 {
			calls = append(calls, drawCall(r))
		}
		checkBill(t, []byte(traceOf(t, rapid.Bool().Draw(r, "kineto"), calls...)))
	})
}

// FuzzOf: whatever a file says, a bill of it has no price below zero, is JSON, and its
// workload is one.
func FuzzOf(f *testing.F) { f.Fuzz(checkBill) }

// checkBill holds a bill to what every bill is.
func checkBill(t *testing.T, text []byte) {
	p, err := operators.Read(operators.File{Name: "f", Reader: bytes.NewReader(text)})
	if err != nil {
		return
	}
	for _, op := range p.Operators {
		checkLowered(t, op)
	}
	b, err := Of(context.Background(), p, typical(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range b.Operators {
		if !(i.Layout >= 0 && i.Layout <= i.Ns) || i.Verdict == "" {
			t.Errorf("%s: layout %v of %v ns, %q\n%s", i.Op, i.Layout, i.Ns, i.Verdict, text)
		}
	}
	if _, err := json.Marshal(b); err != nil {
		t.Error(err)
	}
	if err := b.Write(io.Discard, 15, 0); err != nil {
		t.Error(err)
	}
	suite, err := b.Suite(Limits{Budget: time.Minute, Memory: 1 << 30})
	if err == nil {
		_, err = workload.Parse("suite.yaml", suite)
	}
	if err != nil && !errors.Is(err, errNoSuite) {
		t.Errorf("%v\n%s", err, suite)
	}
}

// checkLowered: results are possible, and what an operator accesses is known with contiguous
// operands, too.
func checkLowered(t *testing.T, op operators.Operator) {
	for _, o := range op.Results() {
		if slices.ContainsFunc(o.Shape, func(n int) bool { return n < 0 }) || len(o.Strides) != len(o.Shape) {
			t.Errorf("%s returns %v of strides %v", op.Op, o.Shape, o.Strides)
		}
	}
	l, err := lower(op, calls{})
	if !op.Class.Touches() || err != nil {
		return
	}
	if len(l.specs) < len(l.twins) || len(l.from) != len(l.specs) {
		t.Errorf("%+v: %d patterns, %d twins, tensors of %d", op, len(l.specs), len(l.twins), len(l.from))
	}
}
