package bill

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/operators"
)

// under is a node that another calls.
func under(node string, caller int) string {
	return strings.Replace(node, `"ctrl_deps":1`, fmt.Sprintf(`"ctrl_deps":%d`, caller), 1)
}

// function is a node of a function of torch.
func function(id int, name string) string {
	return strings.Replace(node(id, name, "[]", [3]string{"0", "0", "[]"}), `"attrs":[`, `"attrs":[{"name":"scope","type":"uint64","value":7},`, 1)
}

// TestGradientItself: a gradient that the backward pass makes row-major of what is not is in no program's hands; that of
// what the forward pass has row-major is.
func TestGradientItself(t *testing.T) {
	const images, last, nchw, mean = "[8,64,28,28]", "[50176,1,1792,64]", "[50176,784,28,1]", "[64,1,0,0]"
	for _, c := range []struct{ from, of, want string }{
		{"1", mean, byBackward},
		{"1", nchw, channelsLast},
		{"1 9", mean, byBackward},
		{"1 9", nchw, channelsLast},
	} {
		nodes := []string{function(2, "torch.Tensor.backward"), function(3, "torch.Tensor.add")}
		id, storage := 4, "1"
		add := func(node string, caller int) { nodes, id = append(nodes, under(node, caller)), id+1 }
		for range strings.Fields(c.from) {
			to := fmt.Sprint(20 + id)
			strides := nchw
			if storage == "1" {
				strides = c.of
			}
			add(node(id, "aten::div", images, [3]string{storage, "0", strides}, [3]string{to, "0", nchw}), 2)
			storage = to
		}
		add(node(id, "aten::threshold_backward", images, [3]string{storage, "0", nchw}, [3]string{"2", "0", last}, [3]string{"3", "0", last}), 2)
		add(node(id, "aten::add", images, [3]string{storage, "0", nchw}, [3]string{"2", "0", last}, [3]string{"4", "0", last}), 3)
		b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+strings.Join(nodes, ", ")+"]}")
		for op, want := range map[string]string{"aten::threshold_backward": c.want, "aten::add": channelsLast} {
			i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == op })
			if got := b.Operators[i]; got.Verdict != want || got.Backward != (op != "aten::add") {
				t.Errorf("%s of %s by %s: %s, want %s", op, c.of, c.from, got.Verdict, want)
			}
		}
	}
}

// TestGradientOfTrace: where a profile does not say where tensors lie, a row-major gradient is the backward pass's own if the
// forward pass reads no images that are row-major.
func TestGradientOfTrace(t *testing.T) {
	const images, last, nchw = "[8,64,28,28]", "[50176,1,1792,64]", "[50176,784,28,1]"
	for strides, want := range map[string]string{last: byBackward, nchw: channelsLast} {
		b := priceOf(t, trace(
			event{name: "aten::relu", dur: 5, shapes: images, strides: strides, types: float},
			event{name: "ReluBackward0", ts: 10, dur: 9},
			event{name: "aten::threshold_backward", ts: 11, dur: 5, shapes: images + "," + images, strides: nchw + "," + last, types: float + "," + float}))
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::threshold_backward" })
		if got := b.Operators[i]; got.Verdict != want || got.Layout == 0 {
			t.Errorf("after relu of %s: %s, want %s", strides, got.Verdict, want)
		}
	}
}

// TestReturnedSo: what attention returns with its first two dims swapped is so with batch_first or not, and what is made of it,
// too; what a program swaps itself is in its hands.
func TestReturnedSo(t *testing.T) {
	const shape, rows, swapped, turned = "[512,196,64]", "[12544,64,1]", "[64,32768,1]", "[1,32768,512]"
	for _, c := range []struct{ function, strides, want string }{
		{"torch.nn.functional.multi_head_attention_forward", swapped, byMaker},
		{"torch.lstm", swapped, byMaker},
		{"torch.nn.functional.linear", swapped, "produce 512x196x64" + swapped + " contiguous"},
		{"torch.lstm", turned, "produce 512x196x64" + turned + " contiguous"},
	} {
		for _, dropped := range []bool{false, true} {
			nodes := []string{function(2, c.function), under(node(3, "aten::relu", shape, [3]string{"1", "0", c.strides}, [3]string{"2", "0", c.strides}), 2)}
			read := "2"
			if dropped {
				nodes, read = append(nodes, node(4, "aten::neg", shape, [3]string{"2", "0", c.strides}, [3]string{"3", "0", c.strides})), "3"
			}
			nodes = append(nodes, node(5, "aten::add", shape, [3]string{"4", "0", rows}, [3]string{read, "0", c.strides}, [3]string{"5", "0", rows}))
			b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+strings.Join(nodes, ", ")+"]}")
			i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::add" })
			if got := b.Operators[i]; got.Verdict != c.want || got.Layout == 0 {
				t.Errorf("%s of %s, dropped %t: %s, want %s, layout %v of %v", c.function, c.strides, dropped, got.Verdict, c.want, got.Layout, got.Ns)
			}
		}
	}
}

// TestOneUseInEachPass: where a profile does not say where tensors lie, an operator that both passes call with a layout is
// taken to read each tensor once.
func TestOneUseInEachPass(t *testing.T) {
	add := func(ts int) event {
		return event{name: "aten::add", ts: ts, dur: 5, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: float + "," + float}
	}
	b := priceOf(t, trace(add(0), event{name: "AddBackward0", ts: 10, dur: 9}, add(11)))
	for _, i := range b.Operators[:2] {
		if want := map[bool]string{false: rowMajor512, true: ofForward}[i.Backward]; i.Op != "aten::add" || i.Verdict != want {
			t.Errorf("%s, backward %t: %s, want %s", i.Op, i.Backward, i.Verdict, want)
		}
	}
}

// TestReducedAsItLies: a mean of channels_last images is no reason to leave the format; that of images in another order is one to.
func TestReducedAsItLies(t *testing.T) {
	for _, c := range []struct {
		strides []int
		want    string
	}{{[]int{50176, 1, 1792, 64}, channelsLast}, {[]int{64, 1, 14336, 512}, produce}} {
		op := operators.Operator{Op: "aten::mean", Class: operators.Reduction, Args: []string{"", "[2, 3]"}, Calls: 1,
			Inputs: []operators.Operand{in([]int{8, 64, 28, 28}, c.strides)}, Outputs: []operators.Operand{out([]int{8, 64}, []int{64, 1})}}
		if got, _ := verdict(&Item{Operator: op, Predicted: &Price{}, Ns: 3, Layout: 1}, use{}); got != c.want {
			t.Errorf("of strides %v: %s, want %s", c.strides, got, c.want)
		}
	}
}

// TestSoftmaxOfClasses: what cross_entropy copies is rows of classes once these are the last dim; of a copy inside of a softmax it is not
// known along which dim that goes.
func TestSoftmaxOfClasses(t *testing.T) {
	images, last, nchw := []int{8, 20, 64, 64}, []int{81920, 1, 1280, 20}, []int{81920, 4096, 64, 1}
	for _, c := range []struct {
		op     string
		chain  string
		args   []string
		source []int
		want   string
	}{
		{"aten::_log_softmax", "torch.nn.functional.cross_entropy", []string{"", "1", "False"}, last, classesLast},
		{"aten::_log_softmax", "aten::cross_entropy_loss > aten::log_softmax", []string{"", "1", "False"}, last, classesLast},
		{"aten::_log_softmax", "torch.Tensor.log_softmax", []string{"", "-3", "False"}, last, "use the last dim of movedim(1, -1), which is contiguous"},
		{"aten::_log_softmax", "torch.Tensor.log_softmax", []string{"", "2", "False"}, last, produce},
		{"aten::copy_", "aten::cross_entropy_loss > aten::log_softmax > aten::_log_softmax > aten::contiguous > aten::clone", nil, last, classesLast},
		{"aten::copy_", "aten::softmax > aten::_softmax > aten::contiguous > aten::clone", nil, last, "if the softmax is along dim 1: use the last dim of movedim(1, -1), which is contiguous"},
		{"aten::copy_", "aten::softmax > aten::_softmax > aten::contiguous > aten::clone", nil, []int{81920, 4096, 1, 64}, "if the softmax is along dim 2: use the last dim of movedim(2, -1), which is contiguous"},
		{"aten::copy_", "aten::softmax > aten::_softmax > aten::contiguous > aten::clone", nil, []int{163840, 8192, 128, 2}, produce},
		{"aten::copy_", "aten::reshape > aten::clone", nil, last, produce},
	} {
		op := operators.Operator{Op: c.op, Class: operators.Rows, Args: c.args, Inputs: []operators.Operand{in(images, c.source)}, Callers: []operators.Caller{{Chain: c.chain, Calls: 1}}}
		if c.op == "aten::copy_" {
			y := in(images, nchw)
			y.Role = operators.Output
			op.Class, op.Inputs = operators.Copy, []operators.Operand{y, op.Inputs[0]}
		}
		if i := itemOf(t, op); i.Verdict != c.want || i.Layout == 0 {
			t.Errorf("%s of %v in %s: %s, want %s, layout %v", c.op, c.source, c.chain, i.Verdict, c.want, i.Layout)
		}
	}
}

// TestPixels: a convolution that takes channels_last returns pixels that are contiguous once they are flattened; row-major images of
// these sizes have to come from a convolution for that.
func TestPixels(t *testing.T) {
	two := float + "," + float
	images := event{name: "aten::add_", ts: 1, dur: 5, shapes: "[4,768,14,14],[1,768,1,1]", strides: "[150528,196,14,1],[768,1,1,1]", types: two}
	by := func(caller string) event {
		return event{name: caller, dur: 9, shapes: "[]", strides: "[]", types: float}
	}
	const patches = "produce 4x196x768[150528,1,196] contiguous"
	for _, c := range []struct{ caller, patches, want string }{
		{"aten::conv2d", "[150528,1,196]", pixelsLast},
		{"aten::add", "[150528,1,196]", patches},
		{"aten::conv2d", "[151296,1,197]", "produce 4x196x768[151296,1,197] contiguous"},
	} {
		b := priceOf(t, trace(by(c.caller), images, event{name: "aten::cat", ts: 10, dur: 5, shapes: "[[4,1,768],[4,196,768]],[]", strides: "[[0,768,1]," + c.patches + "],[]", types: `"TensorList","Scalar"`, arguments: `"","1"`}))
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::cat" })
		if got := b.Operators[i]; got.Verdict != c.want || got.Layout == 0 {
			t.Errorf("%s beside images in %s: %s, want %s", c.patches, c.caller, got.Verdict, c.want)
		}
	}
	// So in an execution trace, which has the result of the convolution.
	if got := verdictOf(t, called{"torch.conv2d", "aten::convolution", "[8,64,32,32]", [][3]string{{"7", "0", "[65536,1024,32,1]"}, {"1", "0", "[65536,1024,32,1]"}}},
		called{"torch.Tensor.contiguous", "aten::clone", "[8,1024,64]", [][3]string{{"1", "0", "[65536,1,1024]"}, {"2", "0", "[65536,64,1]"}}}); got != pixelsLast {
		t.Error(got)
	}
}

// TestHeadsReturned: where a profile does not say where tensors lie, heads that a reshape merges are those of a product if one returns
// as many.
func TestHeadsReturned(t *testing.T) {
	for product, want := range map[string]string{"[96,128,128],[96,128,64]": ofProductFor, "[96,128,128],[96,128,32]": produce} {
		b := priceOf(t, trace(event{name: "aten::bmm", dur: 5, shapes: product, strides: "[16384,128,1],[8192,64,1]", types: float + "," + float},
			event{name: "aten::reshape", ts: 10, dur: 9, shapes: "[8,128,12,64]", strides: "[98304,64,8192,1]", types: float},
			event{name: "aten::clone", ts: 11, dur: 7, shapes: "[8,128,12,64]", strides: "[98304,64,8192,1]", types: float},
			event{name: "aten::copy_", ts: 12, dur: 5, shapes: "[8,128,12,64],[8,128,12,64]", strides: "[98304,768,64,1],[98304,64,8192,1]", types: float + "," + float}))
		i := slices.IndexFunc(b.Operators, func(i Item) bool { return i.Op == "aten::copy_" })
		if got := b.Operators[i]; got.Verdict != want || got.Layout == 0 {
			t.Errorf("beside a product of %s: %s, want %s", product, got.Verdict, want)
		}
	}
}

// A step of calls of functions of torch: each is the function, the operator, and its tensors.
type called struct {
	function, op, shape string
	tensors             [][3]string
}

// verdictOf is that on the last call of a step.
func verdictOf(t *testing.T, calls ...called) string {
	t.Helper()
	var nodes []string
	for n, c := range calls {
		nodes = append(nodes, function(2+2*n, c.function), under(node(3+2*n, c.op, c.shape, c.tensors...), 2+2*n))
	}
	b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+strings.Join(nodes, ", ")+"]}")
	last := calls[len(calls)-1]
	i := slices.IndexFunc(b.Operators, func(i Item) bool {
		return i.Op == last.op && slices.ContainsFunc(i.Callers, func(c operators.Caller) bool { return c.Chain == last.function })
	})
	if b.Operators[i].Layout == 0 {
		t.Errorf("%s: its layout costs nothing", last.op)
	}
	return b.Operators[i].Verdict
}

// TestMadeByOthers: what is said of copies that a matrix product or a recurrent net makes of what it is given, or of what one of
// these returns, and of gradients behind them.
func TestMadeByOthers(t *testing.T) {
	const lstm, attention, backward = "torch.lstm", "torch.nn.functional.multi_head_attention_forward", "torch.Tensor.backward"
	const batches, batched, swapped = "[64,64,512]", "[32768,512,1]", "[512,32768,1]"
	const heads, headed, apart, merged = "[4,8,64,512]", "[262144,32768,512,1]", "[786432,64,1,1536]", "[262144,32768,1,64]"
	const sequences, channels, channelsInner = "[64,512,64]", "[32768,64,1]", "[512,1,32768]"
	const rows, columns, gates = "[512,512]", "[512,1]", "[1,512]"
	writes := func(function, op, shape, strides string) called {
		return called{function, op, shape, [][3]string{{"8", "0", strides}, {"1", "0", strides}}}
	}
	reads := func(function, op, shape, strides, to string) called {
		return called{function, op, shape, [][3]string{{"1", "0", strides}, {"2", "0", to}}}
	}
	beside := func(function, op, shape, strides, to string) called {
		return called{function, op, shape, [][3]string{{"1", "0", strides}, {"9", "0", to}, {"2", "0", to}}}
	}
	for name, c := range map[string]struct {
		calls []called
		want  string
	}{
		"heads that matmul copies":    {[]called{reads("torch.Tensor.matmul", "aten::clone", heads, apart, headed)}, byMatmul},
		"heads that reshape copies":   {[]called{reads("torch.Tensor.reshape", "aten::clone", heads, apart, headed)}, produce},
		"heads that are one batch":    {[]called{reads("torch.Tensor.matmul", "aten::clone", heads, merged, headed)}, produce},
		"batches for a recurrent net": {[]called{reads(lstm, "aten::clone", batches, swapped, batched)}, givenTurned},
		"batches for attention":       {[]called{reads(attention, "aten::clone", batches, swapped, batched)}, givenTurned},
		"batches of the net itself":   {[]called{writes(lstm, "aten::tanh", batches, batched), reads(lstm, "aten::clone", batches, swapped, batched)}, byCaller},
		"batches for linear":          {[]called{reads("torch.nn.functional.linear", "aten::clone", batches, swapped, batched)}, produce},
		"linear behind a net":         {[]called{writes(lstm, "aten::tanh", batches, batched), reads("torch.nn.functional.linear", "aten::clone", batches, swapped, batched)}, byMaker},
		"contiguous behind a net":     {[]called{writes(lstm, "aten::tanh", batches, batched), reads("torch.Tensor.contiguous", "aten::clone", batches, swapped, batched)}, produce},
		"a convolution behind a net":  {[]called{writes(lstm, "aten::tanh", batches, batched), reads("torch.conv1d", "aten::convolution", sequences, channelsInner, channels)}, byMaker},
		"convolutions behind a net": {[]called{writes(lstm, "aten::tanh", batches, batched), reads("torch.conv1d", "aten::convolution", sequences, channelsInner, channels),
			reads("torch.conv1d", "aten::convolution", sequences, channelsInner, channels)}, onceBefore(2)},
		"a convolution":                     {[]called{reads("torch.conv1d", "aten::convolution", sequences, channelsInner, channels)}, produce},
		"reshape behind a product":          {[]called{writes("torch.bmm", "aten::bmm", batches, batched), reads("torch.Tensor.reshape", "aten::clone", batches, swapped, batched)}, ofProductFor},
		"contiguous behind a product":       {[]called{writes("torch.bmm", "aten::bmm", batches, batched), reads("torch.Tensor.contiguous", "aten::clone", batches, swapped, batched)}, ofProduct},
		"a gradient behind a net":           {[]called{writes(lstm, "aten::tanh", rows, columns), beside(backward, "aten::sigmoid_backward", rows, gates, columns)}, ofMaker},
		"a gradient":                        {[]called{beside(backward, "aten::sigmoid_backward", rows, gates, columns)}, ofForward},
		"a gradient of a model with a net":  {[]called{{lstm, "aten::tanh", rows, [][3]string{{"8", "0", columns}, {"7", "0", columns}}}, beside(backward, "aten::sigmoid_backward", rows, gates, columns)}, ofEither},
		"a gradient of a sum":               {[]called{reads(backward, "aten::native_layer_norm_backward", rows, "[0,0]", columns)}, ofSum},
		"a gradient of a sum and something": {[]called{{backward, "aten::addcmul", rows, [][3]string{{"1", "0", gates}, {"3", "0", "[0,0]"}, {"9", "0", columns}, {"2", "0", columns}}}}, ofForward},
	} {
		if got := verdictOf(t, c.calls...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestCopyOfNet: where a profile does not say where tensors lie, it does not say of a copy in a recurrent net either who made what it
// copies.
func TestCopyOfNet(t *testing.T) {
	for chain, want := range map[string]string{"aten::lstm > aten::contiguous > aten::clone": byCallerOr, "aten::linear > aten::reshape > aten::clone": produce} {
		y := in([]int{512, 512}, []int{512, 1})
		y.Role = operators.Output
		op := operators.Operator{Op: "aten::copy_", Class: operators.Copy, Inputs: []operators.Operand{y, in([]int{512, 512}, []int{1, 512})},
			Callers: []operators.Caller{{Chain: chain, Calls: 1}}}
		if i := itemOf(t, op); i.Verdict != want || i.Layout == 0 {
			t.Errorf("in %s: %s, want %s", chain, i.Verdict, want)
		}
	}
}

// TestGradientOfNet: where a profile does not say where tensors lie, it is said of all gradients of a model with a recurrent net that this
// may have chosen their order.
func TestGradientOfNet(t *testing.T) {
	for net, want := range map[string]string{"aten::lstm": ofEither, "aten::mv": ofForward} {
		two := float + "," + float
		b := priceOf(t, trace(event{name: net, dur: 9, shapes: "[512,512]", strides: "[512,1]", types: float}, event{name: "aten::tanh", ts: 1, dur: 5, shapes: "[512,512]", strides: "[512,1]", types: float},
			event{name: "AddBackward0", ts: 10, dur: 9}, event{name: "aten::add", ts: 11, dur: 5, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: two}))
		if got := b.Operators[0]; got.Op != "aten::add" || got.Verdict != want {
			t.Errorf("beside %s: %s of %s, want %s", net, got.Verdict, got.Op, want)
		}
	}
}
