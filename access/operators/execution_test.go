package operators

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nodeOf is a node of an execution trace, whose args are tensors of float in
// storages 100, 101, ...
func nodeOf(id, parent int, name, schema string, args ...arg) string {
	var values, shapes, types, strides []string
	for i, a := range args {
		values = append(values, fmt.Sprintf(`[%d,%d,%d,4,4,"cpu"]`, 50+i, 100+i, 8*i))
		shapes = append(shapes, a.dims)
		types = append(types, fmt.Sprintf(`"Tensor(%s)"`, a.kind))
		strides = append(strides, a.strides)
	}
	return fmt.Sprintf(`{"id":%d,"name":%q,"ctrl_deps":%d,`+
		`"inputs":{"values":[%s],"shapes":[%s],"types":[%s],"strides":[%s]},"outputs":{"values":[],"shapes":[],"types":[],"strides":[]},`+
		`"attrs":[{"name":"rf_id","type":"uint64","value":%d},{"name":"scope","type":"uint64","value":0},{"name":"op_schema","type":"string","value":%q}]}`,
		id, name, parent, strings.Join(values, ","), strings.Join(shapes, ","),
		strings.Join(types, ","), strings.Join(strides, ","), id+1000, schema)
}

// executed is an execution trace of nodes.
func executed(nodes ...string) string {
	return `{"schema":"1.1.1-chakra.0.0.4","pid":1,"time":"now","start_ts":1,"nodes":[` +
		strings.Join(nodes, ",") +
		`,{"id":1,"name":"[pytorch|profiler|execution_trace|process]","ctrl_deps":1}],"finish_ts":2}`
}

// describe is an operator in a line.
func describe(op Operator) string {
	var parts []string
	for _, o := range slices.Concat(op.Inputs, op.Outputs) {
		parts = append(parts, fmt.Sprintf("%s %v%v%s", o.Role, o.Shape, o.Strides, o.Format))
	}
	text := fmt.Sprintf("%dx %s %s: %s; %d B", op.Calls, op.Class, op.Op,
		strings.Join(parts, ", "), op.Bytes)
	for _, c := range op.Callers {
		text += fmt.Sprintf("; %dx %s", c.Calls, c.Chain)
	}
	return text
}

// TestCaptured: what capture.py wrote of two models with PyTorch 1.13
// (scripts/capture/models.py), those operators of it that move elements.
func TestCaptured(t *testing.T) {
	for name, want := range map[string][]string{
		"block.json.gz": {
			"2x copy aten::clone: input [2 4 48 16][9216 16 192 1], output [2 4 48 16][3072 768 " +
				"16 1]; 98304 B; 2x torch.Tensor.matmul",
			"1x copy aten::clone: input [2 4 16 48][9216 16 1 192], output [2 4 16 48][3072 768 " +
				"48 1]; 49152 B; 1x torch.Tensor.matmul",
			"1x copy aten::clone: input [2 48 4 16][3072 16 768 1], output [2 48 4 16][3072 64 " +
				"16 1]; 49152 B; 1x torch.Tensor.reshape",
		},
		"conv.json.gz": {
			"1x copy aten::clone: input [4 16 16 16][4096 1 256 16], output [4 16 16 16][4096 " +
				"256 16 1]; 131072 B; 1x torch.Tensor.contiguous",
			"1x copy aten::flip: input [4 32 8 8][2048 64 8 1], output [4 32 8 8][2048 64 8 1]; " +
				"65536 B; 1x torch.Tensor.flip",
			"1x copy aten::flip: input [4 32 8 8][2048 64 8 1], output [4 32 8 8][2048 64 8 1]; " +
				"65536 B; 1x torch.Tensor.backward",
			"1x copy aten::cat: input [4 32 8 8][2048 64 8 1], input [4 32 8 8][2048 64 8 1], " +
				"output [8 32 8 8][2048 64 8 1]; 131072 B; 1x torch.cat",
			"1x elementwise aten::div: input [8 32 8 8][32 1 0 0], output [8 32 8 8][2048 64 8 " +
				"1]; 66560 B; 1x torch.Tensor.backward",
			"1x elementwise aten::relu_: in-place [4 32 8 8][2048 64 8 1]; 65536 B; 1x " +
				"torch.nn.functional.relu_",
		},
	} {
		p, err := Read(open(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Skipped)+len(p.Warnings) > 0 {
			t.Errorf("%s: skipped %+v, warnings %q", name, p.Skipped, p.Warnings)
		}
		var got []string
		for _, op := range p.Operators {
			got = append(got, describe(op))
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: no operator\n%s\namong\n%s", name, line, strings.Join(got, "\n"))
			}
		}
		for _, call := range p.Step {
			op := p.Operators[call.Operator]
			if len(call.Places) != len(op.Inputs)+len(op.Outputs) {
				t.Errorf("%s: %s has %d places", name, describe(op), len(call.Places))
			}
			for _, place := range call.Places {
				if place.Storage == 0 {
					t.Errorf("%s: %s has an operand in no storage", name, describe(op))
				}
			}
		}
		total := 0
		for _, op := range p.Operators {
			if op.Class.Touches() {
				total += op.Calls
			}
		}
		if len(p.Step) != total {
			t.Errorf("%s: a step of %d calls, %d of operators that touch memory", name,
				len(p.Step), total)
		}
	}
}

// TestPlaces: an operator reads where the one before wrote.
func TestPlaces(t *testing.T) {
	p, err := Read(open(t, "block.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[uint64]bool{}
	read := 0
	for _, call := range p.Step {
		op := p.Operators[call.Operator]
		for i, place := range call.Places {
			if i < len(op.Inputs) && written[place.Storage] {
				read++
			}
			if i >= len(op.Inputs) {
				written[place.Storage] = true
			}
		}
	}
	if read < len(p.Step) {
		t.Errorf("%d operands of %d calls were written before", read, len(p.Step))
	}
	// q, k and v are views of one storage, at their offsets.
	var offsets []int
	for _, call := range p.Step {
		if op := p.Operators[call.Operator]; op.Op == "aten::clone" &&
			op.Inputs[0].Strides[0] == 9216 {
			offsets = append(offsets, call.Places[0].Offset)
		}
	}
	if diff := cmp.Diff([]int{0, 64, 128}, offsets); diff != "" {
		t.Error(diff)
	}
}

// TestPlaceInList: x[:, i] and x[i] of one shape are two operators, by the place of i in the list
// of the index.
func TestPlaceInList(t *testing.T) {
	node := func(id int, list string) string {
		one, none := "[64]", "[]"
		shapes, steps := "["+one+"]", "[[1]]"
		if strings.Contains(list, "None") {
			shapes, steps = "["+none+","+one+"]", "[[],[1]]"
		}
		return fmt.Sprintf(`{"id": %d, "name": "aten::index", "ctrl_deps": 1, "inputs": {"values": [[1,1,0,4096,4,"cpu"], []], "shapes": [[64,64], %s], "types": ["Tensor(float)", "GenericList[%s]"], "strides": [[64,1], %s]},
			"outputs": {"values": [[2,2,0,4096,4,"cpu"]], "shapes": [[64,64]], "types": ["Tensor(float)"], "strides": [[64,1]]}, "attrs": []}`, id, shapes, list, steps)
	}
	p := read(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+node(2, "Tensor(long)")+","+node(3,
		"None,Tensor(long)")+","+node(4, "Tensor(long)")+"]}")
	calls := map[int]int64{}
	for _, op := range p.Operators {
		calls[op.Inputs[1].Nth] += int64(op.Calls)
	}
	if diff := cmp.Diff(map[int]int64{0: 2, 1: 1}, calls); diff != "" || len(p.Operators) != 2 {
		t.Errorf("%d operators: %s", len(p.Operators), diff)
	}
}

// TestOpaque: of a sparse tensor capture.py knows neither shape nor strides; a warning says so of
// calls that read it, not of views.
func TestOpaque(t *testing.T) {
	node := func(id int, name string) string {
		return fmt.Sprintf(`{"id": %d, "name": %q, "ctrl_deps": 1, "inputs": {"values": [[1,0,0,0,0,"cpu"]], "shapes": [[]], "types": ["Opaque"], "strides": [[]]},
			"outputs": {"values": [[2,2,0,4,4,"cpu"]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}, "attrs": []}`, id, name)
	}
	p := read(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+node(2, "aten::values")+","+node(3,
		"aten::_to_dense")+","+node(4, "aten::clone")+"]}")
	want := []string{"test.json: tensors without strides, such as sparse ones, are not counted: " +
		"2 calls, first aten::_to_dense"}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Error(diff)
	}
}

// TestFills: what makes a tensor as another is reads nothing of that.
func TestFills(t *testing.T) {
	node := func(id int, name string) string {
		return fmt.Sprintf(`{"id": %d, "name": %q, "ctrl_deps": 1, "inputs": {"values": [[1,1,0,64,4,"cpu"]], "shapes": [[64]], "types": ["Tensor(float)"], "strides": [[1]]},
			"outputs": {"values": [[2,2,0,4,4,"cpu"]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}, "attrs": []}`, id, name)
	}
	p := read(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+node(2,
		"aten::new_zeros")+","+node(3, "aten::rand_like")+","+node(4, "aten::neg")+"]}")
	got := map[string]int64{}
	for _, op := range p.Operators {
		got[op.Op] = op.Bytes
	}
	if diff := cmp.Diff(map[string]int64{"aten::new_zeros": 16, "aten::rand_like": 16,
		"aten::neg": 256 + 16}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSchema: what is written follows from the name and the table, as the schema has it.
func TestSchema(t *testing.T) {
	x := tensor("[4]", "[1]")
	for _, test := range []struct {
		op, schema string
		args       int
		want       []Use
	}{
		{"aten::add", "aten::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
			3, []Use{Input, Input, Output}},
		{"aten::add_", "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> " +
			"Tensor(a!)", 2, []Use{InPlace, Input}},
		{"aten::copy_", "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> " +
			"Tensor(a!)", 2, []Use{Output, Input}},
		{"aten::add", "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 2,
			[]Use{Input, Input}},
		{"aten::add_", "", 2, []Use{InPlace, Input}},
	} {
		op := read(t, executed(nodeOf(2, 1, test.op, test.schema,
			slices.Repeat([]arg{x}, test.args)...))).Operators[0]
		var got []Use
		for _, o := range op.Inputs {
			got = append(got, o.Role)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %q:\n%s", test.op, test.schema, diff)
		}
	}
}

// TestTypes: the types of an execution trace's values.
func TestTypes(t *testing.T) {
	for name, want := range map[string][]leaf{
		"Tensor(float)":                   {{"float32", []int{7}}},
		"Tensor(c10::complex<float>)":     {{"complex64", []int{7}}},
		"Tensor(nullptr (uninitialized))": nil,
		"Int":                             nil,
		"GenericList[]":                   nil,
		"GenericList[Int,Int]":            nil,
		"GenericList[Tensor(c10::BFloat16),None,Tensor(nullptr " +
			"(uninitialized)),GenericList[Tensor(long)],Tensor(int)]": {
			{"bfloat16", []int{7, 0}}, {"int64", []int{7, 3, 0}}, {"int32", []int{7, 4}}},
		"GenericList[": nil, "GenericList[,,": nil, "Tensor(": nil, ")": nil, "": nil,
		"]]Tensor(int)": {{"int32", []int{7}}},
	} {
		if diff := cmp.Diff(want, leavesOf(name, 7), cmp.AllowUnexported(leaf{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	leavesOf(strings.Repeat("GenericList[", 1e5), 0)
}

// TestBothKinds: an execution trace and a Kineto trace, which may be of one run, are refused in
// either order.
func TestBothKinds(t *testing.T) {
	x := tensor("[4,4]", "[1,4]")
	for _, kineto := range []int{0, 1} {
		files := []File{{"et", strings.NewReader(executed(nodeOf(2, 1, "aten::mul", "", x)))}}
		files = slices.Insert(files, kineto,
			File{"kineto", strings.NewReader(chrome(reshaped()...))})
		const want = "et and kineto may be of one run, whose calls would count twice"
		if _, err := Read(files...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	}
}

// TestSeveral: files that are not of one run are counted together.
func TestSeveral(t *testing.T) {
	text := chrome(reshaped()...)
	p, err := Read(File{"a", strings.NewReader(text)}, File{"b", strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if p.Calls != 10 || len(p.Operators) != 5 || p.Operators[0].Calls != 2 || len(p.Step) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestExecutionHostile: nodes that are none, and callers that are not there.
func TestExecutionHostile(t *testing.T) {
	x := tensor("[4]", "[1]")
	p := read(t, executed(
		// in a circle
		nodeOf(2, 3, "aten::clone", "", x), nodeOf(3, 2, "aten::copy_", "", x, x),
		nodeOf(3, 3, "aten::mul", "", x),
		nodeOf(9, 77, "aten::add", "", x),
		`{"id":-1,"name":"aten::add","ctrl_deps":1}`, `{"name":"aten::add"}`, `[]`,
		`{"id":4,"name":"aten::add","ctrl_deps":1,"inputs":[1,2]}`,
		strings.Replace(nodeOf(5, 1, "aten::add", "", x), `"strides":[[1]]`, `"strides":[[-1]]`, 1),
		strings.Replace(nodeOf(6, 1, "aten::add", "", x), `"shapes":[[4]]`, `"shapes":[]`, 1),
	))
	total := 0
	for _, op := range p.Operators {
		total += op.Calls
	}
	for _, s := range p.Skipped {
		total += s.Calls
	}
	if p.Calls != 10 || total != 10 || len(p.Skipped) != 5 {
		t.Errorf("%d calls, %d counted, skipped %+v", p.Calls, total, p.Skipped)
	}
	old := `{"schema":"1.0.1","nodes":[{"name":"aten::add","id":3,"parent":2,"ctrl_deps":2,"inputs":[[1,2,0,4,4,"cpu"]],"input_shapes":[[4]],"input_types":["Tensor(float)"]}]}`
	_, err := Read(File{"et", strings.NewReader(old)})
	if err == nil || !strings.Contains(err.Error(),
		`et: its schema "1.0.1" has no strides (1.1.1-chakra.0.0.4 and later have); record it`) {
		t.Errorf("error %v", err)
	}
}

// TestStretches: what a program names a stretch of it is no operator.
func TestStretches(t *testing.T) {
	x := tensor("[4]", "[1]")
	user := func(n string) string {
		return strings.Replace(n, `"scope","type":"uint64","value":0`,
			`"scope","type":"uint64","value":7`, 1)
	}
	text := executed(user(nodeOf(2, 1, "linear", "")), user(nodeOf(3, 2, "torch.Tensor.add", "")),
		nodeOf(4, 3, "aten::add", "", x, x),
		user(nodeOf(5, 1, "profiler::_record_function_enter_new", "")), `{"id":6}`)
	p := read(t, text)
	var got []string
	for _, op := range p.Operators {
		got = append(got, describe(op))
	}
	want := []string{"1x elementwise aten::add: input [4][1], input [4][1]; 32 B; 1x " +
		"torch.Tensor.add", "1x none profiler::_record_function_enter_new: ; 0 B"}
	if diff := cmp.Diff(want, got); diff != "" || p.Calls != 3 {
		t.Errorf("%d calls:\n%s", p.Calls, diff)
	}
	// Where it is cut, the file has as many calls as its bill, the one that is no node too.
	if p := read(t, text[:strings.Index(text, `,{"id":1,`)]); p.Calls != 3 ||
		!strings.Contains(p.Warnings[0], "cut short or broken (") {
		t.Errorf("cut: %d calls, %q", p.Calls, p.Warnings)
	}
}
