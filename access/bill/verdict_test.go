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
		{"torch.nn.functional.linear", swapped, produce},
		{"torch.lstm", turned, produce},
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
		if want := map[bool]string{false: produce, true: ofForward}[i.Backward]; i.Op != "aten::add" || i.Verdict != want {
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
