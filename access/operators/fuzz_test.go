package operators

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// checkRead reads what a fuzzer made up and holds the profile to what every
// profile is.
func checkRead(t *testing.T, text string) {
	p, err := Read(File{"fuzz", strings.NewReader(text)})
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %v", err)
		}
		return
	}
	calls := 0
	for _, op := range p.Operators {
		calls += op.Calls
		if op.Bytes < 0 || op.Time < 0 || op.Calls < 1 || !op.Class.Touches() && op.Bytes != 0 {
			t.Errorf("%+v", op)
		}
		for _, o := range op.Inputs {
			if _, err := o.Layout(); err != nil && o.Format == "" || o.Bytes() < 0 {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
	for _, s := range p.Skipped {
		if s.Bytes < 0 || s.Calls < 1 {
			t.Errorf("%+v", s)
		}
		if !strings.Contains(s.Reason, "not in the table") && !strings.Contains(s.Reason, "that a compiler fused") {
			calls += s.Calls
		}
	}
	if calls > p.Calls || p.Calls-calls > 0 && len(p.Skipped) < maxSkipped {
		t.Errorf("%d calls, of which %d are counted", p.Calls, calls)
	}
	for _, call := range p.Step {
		if op := p.Operators[call.Operator]; len(call.Places) != len(op.Inputs)+len(op.Outputs) {
			t.Errorf("%+v has %d places", op, len(call.Places))
		}
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
}

func FuzzKineto(f *testing.F) {
	f.Add(chrome(reshaped()...))
	f.Add("[" + strings.Join(reshaped(), ",") + "]")
	f.Add(chrome(event("aten::cat", 3, 1, arg{"[[2,3],[2,3],[]]", "[[3,1],[1,2],[]]", "TensorList", ""}, arg{"[]", "[]", "Scalar", "1"})))
	f.Add(chrome(event("aten::_foreach_mul_", 3, 1, arg{"[[2,3],[2]]", "[[1,2],[1]]", "TensorList", ""}, arg{"[]", "[]", "Scalar", "2"})))
	f.Add(chrome(event("aten::_foreach_copy_", 3, 1, arg{"[[2,3],[2]]", "[[1,2],[1]]", "TensorList", ""}, arg{"[[2,3],[2]]", "[[3,1],[1]]", "TensorList", ""})))
	f.Add(chrome(event("mine::mix", 3, 1, tensor("[9,0,3]", "[0,0,9]"))))
	f.Fuzz(func(t *testing.T, text string) { checkRead(t, text) })
}

func FuzzExecution(f *testing.F) {
	x := tensor("[4,4]", "[1,4]")
	f.Add(executed(nodeOf(3, 2, "aten::addmm", "", x, x), nodeOf(2, 1, "aten::linear", "", x, x)))
	f.Add(executed(nodeOf(3, 2, "aten::add", "aten::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", x, x, x)))
	f.Add(executed(nodeOf(3, 2, "aten::neg", "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", x, tensor("[0]", "[1]"))))
	f.Add(executed(nodeOf(3, 2, "aten::add_", "aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", x, x)))
	f.Add(strings.NewReplacer(`"Tensor(float)"`, `"GenericList[Tensor(float),None,Tuple[Int]]"`, `[4,4]`, `[[4],[],[[]]]`, `[1,4]`, `[[1],[],[[]]]`).
		Replace(executed(nodeOf(3, 2, "aten::cat", "", x))))
	f.Fuzz(func(t *testing.T, text string) { checkRead(t, text) })
}

func FuzzVerbose(f *testing.F) {
	f.Add("onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab:40x1:f0 dst:s8:p:blocked:BA4b16a4b::f9:s8m1:zpm1,,,30x20,0.0055\n")
	f.Add("dnnl_verbose,exec,cpu,reorder,jit:blk,undef,src_f32::blocked:abcd:f0 dst_bf16::blocked:aBcd8b:f0,,,2x16x4x4,0.5\n")
	f.Add("onednn_verbose,info,prim_template:operation,primitive,memory_descriptors,problem_desc,exec_time\nonednn_verbose,exec,reorder,src_u8::blocked:ab:f0 dst_u8::blocked:ba:f0,3x4,1")
	f.Fuzz(func(t *testing.T, text string) { checkRead(t, text) })
}

// FuzzDamaged reads a good file of which bytes were changed, or the end is lost.
func FuzzDamaged(f *testing.F) {
	block, err := io.ReadAll(open(f, "block.json.gz"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(100, byte(0), 2000)
	f.Add(3, byte(255), len(block))
	f.Fuzz(func(t *testing.T, at int, to byte, end int) {
		if at < 0 || end < 0 {
			return
		}
		damaged := append([]byte{}, block[:end%(len(block)+1)]...)
		if len(damaged) > 0 {
			damaged[at%len(damaged)] = to
		}
		checkRead(t, string(damaged))
	})
}
