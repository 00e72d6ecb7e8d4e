package operators

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// read reads a profile that is given as text.
func read(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := Read(File{"test.json", strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An arg is an argument of an event: its dims, strides, type and value as JSON.
type arg struct{ dims, strides, kind, value string }

func tensor(dims, strides string) arg { return arg{dims, strides, "float", ""} }

// event is an event of a Kineto trace, of one thread; times are in µs.
func event(name string, ts, dur float64, args ...arg) string {
	column := func(field func(arg) string) string {
		var all []string
		for _, a := range args {
			all = append(all, field(a))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":7,"tid":7,"ts":%v,"dur":%v,"args":{"External id":1,`+
		`"Concrete Inputs":%s,"Input type":%s,"Input Strides":%s,"Input Dims":%s,"Ev Idx":3}}`,
		name, ts, dur,
		column(func(a arg) string { return fmt.Sprintf("%q", a.value) }),
		column(func(a arg) string { return fmt.Sprintf("%q", a.kind) }),
		column(func(a arg) string { return a.strides }),
		column(func(a arg) string { return a.dims }))
}

// chrome is a trace of events.
func chrome(events ...string) string {
	return `{"schemaVersion":1,"deviceProperties":[{"id":0}],"traceEvents":[` +
		strings.Join(events, ",") + `],"traceName":"x"}`
}

// TestOnDevice: of a trace with kernels of a device it is said that the bill is of a CPU.
func TestOnDevice(t *testing.T) {
	kernel := `{"ph":"X","cat":"kernel","name":"elementwise","pid":0,"tid":7,"ts":3,"dur":1,"args":{}}`
	p := read(t, chrome(append(reshaped(), kernel)...))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0],
		"ran on a device and are priced as if on a CPU") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// reshaped are the events of a reshape that copies.
func reshaped() []string {
	x, shape := tensor("[2,3,4]", "[12,1,3]"), arg{"[]", "[]", "ScalarList", "[6, 4]"}
	return []string{
		event("aten::reshape", 10, 20.5, x, shape),
		event("aten::clone", 11, 15, x, arg{"[]", "[]", "Scalar", "0"}),
		event("aten::empty_like", 12, 1, x),
		event("aten::copy_", 14, 8.25, tensor("[2,3,4]", "[12,4,1]"), x,
			arg{"[]", "[]", "Scalar", "False"}),
		event("aten::_unsafe_view", 27, 1, tensor("[2,3,4]", "[12,4,1]"), shape),
	}
}

// TestKineto: a reshape that copies is one copy_, with its callers, and its
// operands as they were.
func TestKineto(t *testing.T) {
	p := read(t, chrome(reshaped()...))
	classes := map[string]Class{}
	for _, op := range p.Operators {
		classes[op.Op] = op.Class
	}
	if diff := cmp.Diff(map[string]Class{"aten::reshape": Wrapper, "aten::clone": Wrapper,
		"aten::empty_like": None,
		"aten::copy_":      Copy, "aten::_unsafe_view": View}, classes); diff != "" {
		t.Error(diff)
	}
	want := Operator{
		Op: "aten::copy_", Class: Copy, Calls: 1, Bytes: 192,
		Inputs: []Tensor{
			{Shape: []int{2, 3, 4}, Strides: []int{12, 4, 1}, DType: "float32", Role: Output},
			{Shape: []int{2, 3, 4}, Strides: []int{12, 1, 3}, DType: "float32", Role: Input,
				Argument: 1},
		},
		Callers: []Caller{{"aten::reshape > aten::clone", 1}},
	}
	at := slices.IndexFunc(p.Operators, func(op Operator) bool { return op.Class == Copy })
	if diff := cmp.Diff(want, p.Operators[at]); diff != "" {
		t.Error(diff)
	}
	tally := Tally{All: 2, Bytes: 192, Transposed: 1, TransposedBytes: 96}
	if p.Calls != 5 || p.Tally != tally ||
		len(p.Skipped)+len(p.Warnings) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestKinetoForms: the top level may be a list, the file gzipped, fields in
// another order and others among them, and events in any order.
func TestKinetoForms(t *testing.T) {
	events := reshaped()
	want := read(t, chrome(events...)).Operators
	other := `{"ph":"i","cat":"cpu_instant_event","name":"[memory]","args":{"Bytes":[[[1]]],"x":{"y":null}}}`
	for i, e := range events {
		// Decoded and encoded: sorted, "args" first, and spaced.
		var fields map[string]any
		if err := json.Unmarshal([]byte(e), &fields); err != nil {
			t.Fatal(err)
		}
		fields["unknown"] = map[string]any{"ts": []any{1, "2", nil}}
		spaced, err := json.MarshalIndent(fields, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		events[i] = string(spaced)
	}
	backwards := slices.Clone(events)
	slices.Reverse(backwards)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(chrome(events...)))
	_ = w.Close()
	for name, text := range map[string]string{
		"list":      "\n [" + strings.Join(append([]string{other}, events...), ",") + "]",
		"object":    chrome(append([]string{other}, events...)...),
		"backwards": chrome(backwards...),
		"gzip":      zipped.String(),
		"BOM":       "\xEF\xBB\xBF" + chrome(events...),
	} {
		got := read(t, text)
		if diff := cmp.Diff(want, got.Operators); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestKinetoInside: max of two tensors calls maximum, which is counted once; a loss is counted
// whatever it calls, and so is the mean inside; what comes after an operator's arguments is where
// its result goes.
func TestKinetoInside(t *testing.T) {
	x := tensor("[4,4]", "[4,1]")
	number, none := arg{"[]", "[]", "Scalar", "1"}, arg{"[]", "[]", "", ""}
	p := read(t, chrome(
		event("aten::max", 10, 5, x, x), event("aten::maximum", 11, 3, x, x),
		event("aten::max", 20, 5, x),
		event("aten::max", 25, 4, x, arg{"[]", "[]", "Scalar", "1"},
			arg{"[]", "[]", "Scalar", "False"}),
		event("aten::mse_loss", 30, 9, x, x, number), event("aten::mean", 31, 7, x, number),
		event("aten::sum", 32, 3, x), event("aten::div_", 36, 1, tensor("[]", "[]"), number),
		event("aten::nan_to_num", 40, 9, x, none, none, none),
		event("aten::nan_to_num", 41, 7, x, none, none, none, x),
		event("aten::add", 50, 1, x, x, number, x), event("aten::add", 52, 1, x, x, number),
		event("aten::pow", 54, 1, number, x), event("aten::pow", 56, 1, number, x, x),
		event("aten::where", 58, 1, x, x, x), event("aten::clamp", 60, 1, x, x, x),
		event("aten::add_", 62, 1, x, x, number)))
	var got []string
	for _, op := range p.Operators {
		var roles []string
		for _, o := range op.Inputs {
			roles = append(roles, string(o.Role))
		}
		got = append(got, fmt.Sprint(op.Op, " ", op.Class, " ", strings.Join(roles, ",")))
	}
	if diff := cmp.Diff([]string{
		"aten::max wrapper input,input", "aten::maximum elementwise input,input",
		"aten::max reduction input", "aten::max reduction input",
		"aten::mse_loss elementwise input,input", "aten::mean wrapper input",
		"aten::sum reduction input", "aten::div_ elementwise in-place",
		"aten::nan_to_num wrapper input", "aten::nan_to_num elementwise input,output",
		"aten::add elementwise input,input,output", "aten::add elementwise input,input",
		"aten::pow elementwise input", "aten::pow elementwise input,output",
		"aten::where elementwise input,input,input", "aten::clamp elementwise input,input,input",
		"aten::add_ elementwise in-place,input",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnread: where no call can be read, the error says why of one; what is behind the end of a
// file is warned of.
func TestUnread(t *testing.T) {
	x := tensor("[4,4]", "[4,1]")
	late := chrome(event("aten::add", 1, -5, x), event("aten::add", 2, -5, x))
	turned := chrome(event("aten::add", 1, 5, tensor("[4,4]", "[4,-1]")))
	const none = "some.json: none of its operators can be read, such as aten::add: "
	for text, want := range map[string]string{
		late: none + "its time cannot be read: ts 1, dur -5",
		turned: none +
			"argument 0: stride -1 of dim 1 is negative, which PyTorch does not have",
	} {
		if _, err := Read(File{"some.json", strings.NewReader(text)}); err == nil ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	whole := chrome(event("aten::add", 1, 5, x))
	p, err := Read(File{"some.json", strings.NewReader(whole + "\n")})
	if err != nil || len(p.Warnings) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, more := range []string{"}", "x", "{}"} {
		p, err := Read(File{"some.json", strings.NewReader(whole + more)})
		if want := fmt.Sprintf("some.json: all calls were read; what follows byte %d is ignored",
			len(whole)); err != nil || len(p.Warnings) != 1 || p.Warnings[0] != want {
			t.Errorf("%s: %+v, %v", more, p, err)
		}
	}
}

// TestKinetoArguments: numbers are no tensors, a tensor may have no dims, and
// lists of tensors are their tensors, of the dtype that the trace has most of.
func TestKinetoArguments(t *testing.T) {
	p := read(t, chrome(
		event("aten::mul", 1, 1, arg{"[4]", "[1]", "c10::BFloat16", ""},
			arg{"[]", "[]", "double", ""}, arg{"[]", "[]", "Scalar", "2"}),
		event("aten::cat", 3, 1, arg{"[[2,3],[2,3],[]]", "[[3,1],[1,2],[]]", "TensorList", ""},
			arg{"[]", "[]", "Scalar", "1"}),
		event("aten::stack", 5, 1, arg{"[]", "[]", "TensorList", ""},
			arg{"[]", "[]", "Scalar", "0"}),
		event("aten::add", 7, 1, arg{"[0,3]", "[3,1]", "float", ""}, arg{"[]", "[]", "", ""}),
	))
	var got []string
	for _, op := range p.Operators {
		got = append(got, fmt.Sprintf("%s %v %q %d", op.Op, op.Inputs, op.Args, op.Bytes))
	}
	want := []string{
		`aten::mul [{[4] [1] bfloat16 input  0 false 0} {[] [] float64 input  1 false 0}] [] 16`,
		`aten::cat [{[2 3] [3 1] bfloat16 input  0 true 0} {[2 3] [1 2] bfloat16 input  0 true 1} {[] [] bfloat16 input  0 true 2}] ["" "1"] 26`,
		`aten::stack [] ["" "0"] 0`,
		`aten::add [{[0 3] [3 1] float32 input  0 false 0}] [] 0`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "lists of tensors (1 call)") ||
		!strings.Contains(p.Warnings[0], "bfloat16") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// TestPasses: calls of the backward pass are an operator of their own, by whatever name autograd
// has there.
func TestPasses(t *testing.T) {
	x := tensor("[4,4]", "[1,4]")
	mul := func(ts float64) string { return event("aten::mul", ts, 1, x, x) }
	p := read(t, chrome(mul(0), event("aten::mine", 2, 2, x), mul(3),
		event("autograd::engine::evaluate_function: MulBackward0", 10, 9),
		event("MulBackward0", 11, 5), event("aten::multiply", 12, 3, x, x), mul(13),
		event("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 20, 9),
		event("torch::autograd::AccumulateGrad", 21, 5), mul(22),
		event("MulBackward0", 30, 5), mul(31), event("Optimizer.step#SGD.step", 40, 9), mul(41)))
	var got []string
	for _, op := range p.Operators {
		if op.Op == "aten::mul" {
			got = append(got, fmt.Sprintf("%d %t", op.Calls, op.Backward))
		}
	}
	if diff := cmp.Diff([]string{"3 false", "3 true"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestKinetoClasses: who is counted where operators call each other.
func TestKinetoClasses(t *testing.T) {
	x := tensor("[4,4]", "[1,4]")
	for _, test := range []struct {
		name   string
		events []string
		want   string
	}{
		{"a composite that did it itself", []string{event("aten::clone", 0, 9, x)},
			"aten::clone copy"},
		{"nothing to do", []string{event("aten::contiguous", 0, 9, x)}, "aten::contiguous none"},
		{"a reshape that is a view", []string{event("aten::reshape", 0, 9, x),
			event("aten::view", 1, 2, x)}, "aten::reshape view, aten::view view"},
		{"a product that copies an operand", []string{event("aten::linear", 0, 9, x, x),
			event("aten::addmm", 1, 7, x, x), event("aten::copy_", 2, 2, x, x)},
			"aten::linear wrapper, aten::addmm product, aten::copy_ copy"},
		{"elementwise by another", []string{event("aten::relu", 0, 9, x),
			event("aten::clamp_min", 1, 2, x)}, "aten::relu wrapper, aten::clamp_min elementwise"},
		{"by itself", []string{event("aten::upsample_nearest1d", 0, 9, x),
			event("aten::upsample_nearest1d", 1, 2, x)},
			"aten::upsample_nearest1d wrapper, aten::upsample_nearest1d gather"},
		{"an unknown one", []string{event("mine::mix", 0, 9, x)}, "mine::mix unknown"},
		{"an unknown one that calls", []string{event("mine::mix", 0, 9, x),
			event("aten::mm", 1, 2, x, x)}, "mine::mix wrapper, aten::mm product"},
		{"one that calls an unknown one", []string{event("aten::linear", 0, 9, x),
			event("mine::mix", 1, 2, x, x)}, "aten::linear wrapper, mine::mix unknown"},
		{"a fused kernel", []string{event("Torch-Compiled Region: 0/0", 0, 9),
			event("triton_poi_fused_add_0", 1, 2, x)},
			"Torch-Compiled Region: 0/0 wrapper, triton_poi_fused_add_0 unknown"},
		{"autograd", []string{event("autograd::engine::evaluate_function: MmBackward0", 0, 9),
			event("MmBackward0", 1, 7, x), event("aten::mm", 2, 2, x, x)},
			"autograd::engine::evaluate_function: MmBackward0 wrapper, MmBackward0 wrapper, " +
				"aten::mm product"},
		{"one after the other", []string{event("aten::clone", 0, 5, x),
			event("aten::copy_", 5, 5, x, x)}, "aten::clone copy, aten::copy_ copy"},
		{"at the same time", []string{event("aten::copy_", 0, 5, x, x),
			event("aten::clone", 0, 6, x)}, "aten::clone wrapper, aten::copy_ copy"},
		{"on another thread", []string{event("aten::clone", 0, 9, x),
			strings.Replace(event("aten::copy_", 1, 2, x, x), `"tid":7`, `"tid":8`, 1)},
			"aten::clone copy, aten::copy_ copy"},
	} {
		var got []string
		for _, op := range read(t, chrome(test.events...)).Operators {
			got = append(got, op.Op+" "+string(op.Class))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// TestKinetoTime: times since 1970 keep their decimals, which a double has not. The copy starts
// when the product ends, and is not in it.
func TestKinetoTime(t *testing.T) {
	x := tensor("[4,4]", "[1,4]")
	p := read(t, strings.NewReplacer(`"ts":1,`, `"ts":1735689600000001.125,`, `"ts":2,`,
		`"ts":1735689600000001.220,`).Replace(chrome(
		event("aten::addmm", 1, .095, x, x), event("aten::copy_", 2, 2.25, x, x))))
	if got := p.Operators[1].Callers; got != nil {
		t.Errorf("%v", got)
	}
}

// TestNamesPrintable: names have nothing that would move a terminal's cursor, or end a line of a
// table.
func TestNamesPrintable(t *testing.T) {
	for name, want := range map[string]string{`mine::\u001b[31mred\nline\u202e`: "mine::\ufffd[31mred\ufffdline\ufffd", "mine::\u202edro": "mine::\ufffddro", "mine::größe": "mine::größe"} {
		text := strings.Replace(chrome(event("mine::odd", 1, 1, tensor("[4]", "[1]"))),
			"mine::odd", name, 1)
		if got := read(t, text).Operators[0].Op; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestKinetoRoles: what is written.
func TestKinetoRoles(t *testing.T) {
	x := tensor("[4]", "[1]")
	list := arg{"[[2],[3]]", "[[1],[1]]", "TensorList", ""}
	for name, want := range map[string][]Use{
		"aten::add": {Input, Input}, "aten::add_": {InPlace, Input}, "aten::copy_": {Output, Input},
		"aten::zero_": {Output}, "aten::mm": {Input, Input},
		"aten::_foreach_add_":  {InPlace, InPlace, Input},
		"aten::_foreach_copy_": {Output, Output, Input},
	} {
		args := []arg{x, x}[:min(len(want), 2)]
		if len(want) == 3 {
			args[0] = list
		}
		var got []Use
		op := read(t, chrome(event(name, 0, 1, args...))).Operators[0]
		for _, o := range op.Inputs {
			got = append(got, o.Role)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestSkipped: what cannot be used is counted, with why.
func TestSkipped(t *testing.T) {
	good := event("aten::mm", 0, 1, tensor("[2,2]", "[2,1]"), tensor("[2,2]", "[2,1]"))
	for name, test := range map[string]struct{ event, op, reason string }{
		"negative stride": {event("aten::mul", 2, 1, tensor("[4]", "[-1]")), "aten::mul",
			"argument 0: stride -1 of dim 0 is negative"},
		"negative size": {event("aten::mul", 2, 1, tensor("[-4]", "[1]")), "aten::mul",
			"size -4 of dim 0 is negative"},
		"huge shape": {event("aten::mul", 2, 1, tensor("[1000000000000000000]", "[1]")),
			"aten::mul", "larger than 256 TiB"},
		"huge product": {event("aten::mul", 2, 1, tensor("[4000000000,4000000000]",
			"[4000000000,1]")), "aten::mul", "more elements than an int can count"},
		"expanded": {event("aten::mul", 2, 1, tensor("[4000000000,4000000000]", "[0,0]")),
			"aten::mul", "more elements than an int can count"},
		"strides overflow": {event("aten::mul", 2, 1, tensor("[4,4]", "[9000000000000000000,1]")),
			"aten::mul", "reaches beyond 64-bit offsets"},
		"span": {event("aten::mul", 2, 1, tensor("[2,4]", "[1000000000000000,1]")),
			"aten::mul", "larger than 256 TiB"},
		"beyond 64 bits": {event("aten::mul", 2, 1, tensor("[4]", "[99999999999999999999]")),
			"aten::mul", "must be 64-bit integers, not 99999999999999999999"},
		"a fraction": {event("aten::mul", 2, 1, tensor("[1.5]", "[1]")), "aten::mul",
			"must be 64-bit integers, not 1.5"},
		"fewer strides": {event("aten::mul", 2, 1, tensor("[4,4]", "[1]")),
			"aten::mul", "have 1"},
		"a text": {event("aten::mul", 2, 1, tensor("[4]", `"x"`)), "aten::mul",
			`its strides must be a list, not "x"`},
		"lists differ": {event("aten::cat", 2, 1, arg{"[[1],[2]]", "[[1]]", "TensorList", ""}),
			"aten::cat", "has 2 shapes and 1 strides"},
		"no strides": {strings.Replace(event("aten::mul", 2, 1, tensor("[4]", "[1]")),
			"Input Strides", "Input strides", 1), "aten::mul", "has a shape and no strides"},
		"no name": {strings.Replace(event("aten::mul", 2, 1), `"aten::mul"`, "null", 1),
			"(no name)", "an operator without a name"},
		"no time": {strings.Replace(event("aten::mul", 2, 1), `"ts":2`, `"ts":"soon"`, 1),
			"aten::mul", `its time cannot be read: ts "soon"`},
		"a huge time": {strings.Replace(event("aten::mul", 2, 1), `"ts":2`, `"ts":1e300`, 1),
			"aten::mul", `its time cannot be read`},
		"another phase": {strings.Replace(event("aten::mul", 2, 1), `"ph":"X"`, `"ph":"B"`, 1),
			"aten::mul", `an event of phase "B", not X`},
		"many threads": {strings.Replace(event("aten::mul", 2, 1), `"tid":7`,
			`"tid":"`+strings.Repeat("7", 300)+`"`, 1), "(others)", "on more than 16384 threads"},
		"no object": {"17", "(event)", "an event that is not an object"},
		"not in the table": {event("mine::mix", 2, 1, tensor("[4]", "[1]")), "mine::mix",
			notInTable},
		"fused": {event("triton_red_fused_0", 2, 1, tensor("[4]", "[1]")),
			"triton_red_fused_0", fused},
	} {
		p := read(t, chrome(good, test.event))
		if len(p.Skipped) != 1 {
			t.Errorf("%s: skipped %+v", name, p.Skipped)
			continue
		}
		if s := p.Skipped[0]; s.Op != test.op || s.Calls != 1 ||
			!strings.Contains(s.Reason, test.reason) {
			t.Errorf("%s: skipped %+v, want %s because %s", name, s, test.op, test.reason)
		}
		unread := test.reason != notInTable && test.reason != fused
		if unread != (len(p.Warnings) == 1) ||
			unread && !strings.Contains(p.Warnings[0],
				"1 of 2 calls could not be read, such as "+test.op+": ") {
			t.Errorf("%s: warnings %q", name, p.Warnings)
		}
		if p.Calls != 2 || p.Operators[0].Op != "aten::mm" || p.Operators[0].Bytes != 32 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestRefused: files of which nothing can be told, in one line each.
func TestRefused(t *testing.T) {
	noStrides := strings.ReplaceAll(chrome(reshaped()...), "Input Strides", "Something Else")
	noShapes := strings.ReplaceAll(noStrides, "Input Dims", "Nothing")
	// As PyTorch 1.13's own profiler writes it.
	legacy := `[{"name":"aten::conv2d","ph":"X","ts":191,"dur":1686,"tid":1,"pid":"CPU functions","args":{}}]`
	graph := `{"schema":"1.0.1","nodes":[{"name":"[pytorch|profiler|execution_graph|thread]","id":2,"parent":1,"inputs":[],"outputs":[]},` +
		`{"name":"aten::t","id":4,"parent":3,"inputs":[[5,6,0,4,4,"cpu"]],"input_shapes":[[2,2]],"input_types":["Tensor(float)"],"outputs":[]}]}`
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(chrome(reshaped()...)))
	_ = w.Close()
	defer func(was int64) { maxValue = was }(maxValue)
	maxValue = 1 << 20
	for name, test := range map[string]struct{ text, want string }{
		"empty":  {"", "it is empty"},
		"white":  {" \n\t", "it is empty"},
		"text":   {"hello, world\n", "it is not a profile: neither JSON"},
		"binary": {"\x7fELF\x00\x01\xff", "it is not a profile: neither JSON"},
		"another object": {`{"a":[1,2,{"b":3}]}`,
			"it is not a profile: a JSON object with neither traceEvents nor nodes"},
		"no events":          {`{"traceEvents":[]}`, "it has no operators"},
		"events of a number": {`{"traceEvents":17}`, "neither traceEvents nor nodes"},
		"no strides": {noStrides, "its operators have no strides; record it with PyTorch " +
			"2.4 or later"},
		"no shapes": {noShapes, "its operators have no shapes; record it with PyTorch " +
			"2.4 or later"},
		"1.13":         {legacy, "scripts/capture/capture.py"},
		"1.13's graph": {graph, `its schema "1.0.1" has no strides (1.1.1-chakra.0.0.4 and later have); record it with`},
		"no JSON":      {"{hello}", "it cannot be read: byte 1 is not JSON"},
		"cut in its head": {`{"traceEvents":[{"ph":`,
			"it cannot be read: it ends early, at byte"},
		"gzip of nothing": {"\x1f\x8b", "it cannot be read: it ends early"},
		"gzip cut":        {zipped.String()[:40], "it cannot be read: it ends early"},
		"a long value": {`[{"x":"` + strings.Repeat("y", int(maxValue)+1<<20),
			"one value of more than 1 MiB"},
		"deep": {`[` + strings.Repeat(`[`, 20000), "it cannot be read"},
	} {
		p, err := Read(File{"x.json", strings.NewReader(test.text)})
		if err == nil || !strings.HasPrefix(err.Error(), "x.json: ") ||
			!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, error %v, want %q", name, p, err, test.want)
		}
	}
}

// TestCut: of a file that ends too early, or is broken, the calls before that
// are there, with a warning.
func TestCut(t *testing.T) {
	text := chrome(reshaped()...)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(text[:len(text)-100]))
	_ = w.Flush()
	flushed := zipped.Len()
	_, _ = w.Write([]byte(text[len(text)-100:]))
	_ = w.Close()
	wrongSum := zipped.Bytes()
	wrongSum[len(wrongSum)-6] ^= 1
	for name, test := range map[string]struct {
		text  string
		calls int
		says  string
	}{
		"gzip ends": {zipped.String()[:flushed], 4, "cut short or broken ("},
		"gzip ends behind": {zipped.String()[:zipped.Len()-4], 5,
			"all calls were read, but the end of the file is damaged (it ends early)"},
		"gzip's checksum": {string(wrongSum), 5,
			"all calls were read, but the end of the file is damaged (gzip: invalid checksum)"},
		"gzip broken": {zipped.String()[:flushed] + strings.Repeat("\xff", 99), 4,
			"cut short or broken ("},
		"ends": {text[:len(text)-100], 4, "cut short or broken ("},
		"broken": {strings.Replace(text,
			`"Concrete Inputs":["","[6, 4]"],"Input type":["float","ScalarList"],"Input Strides":[[12,4,1],`, `"inf":inf,`, 1), 4, "cut short or broken ("},
	} {
		p := read(t, test.text)
		if p.Calls != test.calls || len(p.Warnings) != 1 ||
			!strings.Contains(p.Warnings[0], test.says) {
			t.Errorf("%s: %d calls, warnings %q", name, p.Calls, p.Warnings)
		}
	}
}

// A generator writes a trace of events of n operators, and keeps none.
type generator struct {
	n, next int
	rest    []byte
	atEnd   func()
}

func (g *generator) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		switch {
		case g.next == 0:
			g.rest = []byte(`{"traceEvents":[`)
		case g.next <= g.n:
			const times = 25
			x := tensor("[8,197,768]", fmt.Sprintf("[151296,%d,1]", 768+g.next%50))
			g.rest = []byte(event("aten::add", float64(g.next*times), times-1, x, x,
				arg{"[]", "[]", "Scalar", "1"}) + ",")
		case g.next == g.n+1:
			g.rest = []byte(`{"ph":"i"}]}`)
			g.atEnd()
		default:
			return 0, io.EOF
		}
		g.next++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// TestStreaming: what is kept of a call is less than 40 bytes, whatever the file
// has of it.
func TestStreaming(t *testing.T) {
	const n = 20_000 // 8 MB
	live := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := live()
	var kept int64
	p, err := Read(File{"generated", &generator{n: n, atEnd: func() { kept = live() - before }}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Calls != n || len(p.Operators) != 50 {
		t.Errorf("%d calls of %d operators", p.Calls, len(p.Operators))
	}
	if most := int64(40*n + 2<<20); kept > most {
		t.Errorf("%d bytes are kept of %d calls, more than %d", kept, n, most)
	}
}

// TestReadingEnds: a file is read no further than to where the context ends.
func TestReadingEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	text, err := io.ReadAll(&generator{n: 8_000, atEnd: func() {}})
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := 0
	_, err = ReadFiles(ctx, nil, func(bytes int) {
		if got += bytes; got > 1<<20 {
			cancel()
		}
	}, path)
	if !errors.Is(err, context.Canceled) || got > 2<<20 {
		t.Errorf("%d of %d B are read, %v", got, len(text), err)
	}
}

// A tree is a call and those that it makes.
type tree struct {
	op       string
	children []tree
}

func drawTree(t *rapid.T, depth int) tree {
	node := tree{op: rapid.SampledFrom([]string{"aten::add", "aten::relu", "aten::view",
		"aten::clone", "aten::copy_", "aten::linear", "aten::addmm",
		"aten::to", "mine::mix", "aten::sum", "aten::reshape"}).Draw(t, "op")}
	if depth > 0 {
		for range rapid.IntRange(0, 3).Draw(t, "children") {
			node.children = append(node.children, drawTree(t, depth-1))
		}
	}
	return node
}

// TestNesting: a Kineto trace, whose events are in any order, and an execution
// trace of the same calls tell the same.
func TestNesting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := drawTree(t, 4)
		x := tensor("[4,4]", "[1,4]")
		var events, nodes []string
		clock, id := 0, 1
		var walk func(c tree, parent int)
		walk = func(c tree, parent int) {
			id++
			self, start := id, clock
			clock++
			for _, child := range c.children {
				walk(child, self)
			}
			clock++
			events = append(events, event(c.op, float64(start), float64(clock-start), x))
			nodes = append(nodes, nodeOf(self, parent, c.op, "", x))
		}
		walk(root, 1)
		events = rapid.Permutation(events).Draw(t, "order")
		profiles := map[string]*Profile{}
		for name, text := range map[string]string{"kineto": chrome(events...),
			"execution": executed(nodes...)} {
			p, err := Read(File{name, strings.NewReader(text)})
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for i := range p.Operators {
				total += p.Operators[i].Calls
			}
			if total != p.Calls {
				t.Errorf("%s: %d calls of operators, %d in all", name, total, p.Calls)
			}
			p.Sources, p.Step = nil, nil
			profiles[name] = p
		}
		if diff := cmp.Diff(profiles["execution"], profiles["kineto"]); diff != "" {
			t.Errorf("execution (-) and kineto (+):\n%s", diff)
		}
	})
}

// BenchmarkRead reads a trace of 30,000 operators.
func BenchmarkRead(b *testing.B) {
	text, err := io.ReadAll(&generator{n: 30_000, atEnd: func() {}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(File{"generated", bytes.NewReader(text)}); err != nil {
			b.Fatal(err)
		}
	}
}

// open opens a file of testdata.
func open(t testing.TB, name string) File {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return File{name, f}
}

// TestLimits: of a file that has more calls than are looked at, or more kinds of
// them than are told apart, the rest is counted.
func TestLimits(t *testing.T) {
	defer func(calls, nodes int) { maxCalls, maxNodes = calls, nodes }(maxCalls, maxNodes)
	maxCalls, maxNodes = 3, 3
	x := tensor("[4]", "[1]")
	var events, nodes []string
	for i := range 10 {
		events = append(events, event("aten::mul", float64(2*i), 1, x))
		nodes = append(nodes, nodeOf(i+2, 1, "aten::mul", "", x))
	}
	for name, text := range map[string]string{"kineto": chrome(events...),
		"execution": executed(nodes...)} {
		p := read(t, text)
		if p.Calls != 10 || p.Operators[0].Calls != 3 || len(p.Skipped) != 1 ||
			p.Skipped[0].Calls != 7 || p.Skipped[0].Reason != "more than 3 calls" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestOtherFields: what is not asked for may be of any size, and a second list
// is not read.
func TestOtherFields(t *testing.T) {
	defer func(was int64) { maxValue = was }(maxValue)
	maxValue = 1 << 18
	large := `"other":[` + strings.Repeat(`{"a":[1,2,3]},`, 1<<15) + `0],`
	node := nodeOf(2, 1, "aten::mul", "", tensor("[4]", "[1]"))
	for name, text := range map[string]string{
		"large": `{` + large + strings.TrimPrefix(chrome(reshaped()...), "{"),
		"both":  strings.TrimSuffix(chrome(reshaped()...), "}") + `,"nodes":[` + node + `]}`,
		"twice": strings.TrimSuffix(chrome(reshaped()...), "}") + `,"traceEvents":[` +
			event("aten::mul", 0, 1) + `]}`,
		"both again": `{"nodes":17,` + strings.TrimPrefix(chrome(reshaped()...), "{"),
	} {
		if p := read(t, text); p.Calls != 5 || len(p.Operators) != 5 {
			t.Errorf("%s: %d calls of %d operators", name, p.Calls, len(p.Operators))
		}
	}
}
