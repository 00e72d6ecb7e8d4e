package bill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/workload"
)

// FuzzOf: whatever a file says, a bill of it has no price below zero, is JSON, and its
// workload is one.
func FuzzOf(f *testing.F) {
	f.Add([]byte(trace(event{name: "aten::add", dur: 5, shapes: "[64,64],[64,1]", strides: "[1,64],[0,3]", types: float + "," + float})))
	f.Add([]byte(trace(event{name: "aten::cat", dur: 5, shapes: "[[4,4],[0],[4,8]],[]", strides: "[[4,1],[1],[1,4]],[]", types: `"TensorList","Scalar"`, arguments: `"","-1"`})))
	f.Add([]byte(trace(event{name: "aten::sum", dur: 5, shapes: "[1048576,1048576],[]", strides: "[0,7],[]", types: float + `,"ScalarList"`, arguments: `"","[0]"`})))
	f.Add([]byte(trace(event{name: "aten::where", dur: 5, shapes: "[1048576,1,1],[1,1048576,1],[1,1,1048576]", strides: "[1,1,1],[1,1,1],[1,1,1]", types: `"bool",` + float + "," + float})))
	const long = `"long int"`
	f.Add([]byte(trace(event{name: "aten::gather", dur: 5, shapes: "[8,9],[],[4,9]", strides: "[9,1],[],[9,1]", types: float + `,"Scalar",` + long, arguments: `"","0",""`})))
	f.Add([]byte(trace(event{name: "aten::index_add_", dur: 5, shapes: "[90,9],[],[4],[4,9],[]", strides: "[9,1],[],[1],[1,4],[]", types: float + `,"Scalar",` + long + "," + float + `,"Scalar"`, arguments: `"","0","","","1"`})))
	f.Add([]byte(trace(event{name: "aten::take", dur: 5, shapes: "[8,9],[3037000500,3037000500]", strides: "[1,8],[0,0]", types: float + "," + long})))
	f.Add([]byte(trace(event{name: "aten::index", dur: 5, shapes: "[8,9,3],[[5,1],[4]]", strides: "[27,3,1],[[1,1],[1]]", types: float + `,"TensorList"`})))
	f.Add([]byte(trace(event{name: "aten::_embedding_bag", dur: 5, shapes: "[8,9],[40],[4]", strides: "[9,1],[1],[1]", types: float + "," + long + "," + long})))
	f.Add([]byte(trace(event{name: "aten::nll_loss_forward", dur: 5, shapes: "[8,9],[8],[]", strides: "[1,8],[1],[]", types: float + "," + long + `,"Scalar"`})))
	f.Add([]byte(trace(event{name: "aten::constant_pad_nd", dur: 5, shapes: "[8,9],[],[]", strides: "[9,1],[],[]", types: float + `,"ScalarList","Scalar"`, arguments: `"","[-2, 9223372036854775807]","0"`})))
	f.Add([]byte(trace(event{name: "aten::channel_shuffle", dur: 5, shapes: "[2,8,3,3],[]", strides: "[72,1,24,8],[]", types: float + `,"Scalar"`, arguments: `"","4"`})))
	f.Add([]byte(trace(event{name: "aten::native_batch_norm", dur: 5, shapes: "[2,8,3,3],[8],[8],[8],[8],[],[],[]", strides: "[72,9,1,3],[1],[1],[1],[1],[],[],[]", types: strings.Repeat(float+",", 5) + `"Scalar","Scalar","Scalar"`, arguments: `"","","","","","True","0.1","1e-05"`})))
	f.Add([]byte(`{"schema":"1.1.1-chakra.0.0.4","nodes":[` + node(2, "aten::copy_", "[70,80]", [3]string{"1", "0", "[80,1]"}, [3]string{"1", "7", "[1,70]"}, [3]string{"1", "0", "[80,1]"}) + "]}"))
	f.Add([]byte(trace(event{name: "aten::native_batch_norm", dur: 5, shapes: "[2,8,3,3],[8],[8],[8],[8],[],[],[]", strides: "[72,1,24,8],[1],[1],[1],[1],[],[],[]", types: strings.Repeat(float+",", 5) + `"Scalar","Scalar","Scalar"`, arguments: `"","","","","","True","0.1","1e-05"`})))
	f.Add([]byte(trace(event{name: "aten::cat", dur: 5, shapes: "[[2,8,3,3],[2,4,3,3]],[]", strides: "[[72,1,24,8],[36,1,12,4]],[]", types: `"TensorList","Scalar"`, arguments: `"","1"`})))
	for _, name := range []string{"aten::_foreach_mul_", "aten::_foreach_copy_"} {
		f.Add([]byte(trace(event{name: name, dur: 5, shapes: "[[64,64],[64]],[[64,64],[64]]", strides: "[[1,64],[1]],[[64,1],[1]]", types: `"TensorList","TensorList"`})))
	}
	f.Add([]byte(trace(event{name: "aten::_foreach_zero_", dur: 5, shapes: "[[64,64],[64]]", strides: "[[1,64],[1]]", types: `"TensorList"`})))
	x := [3]string{"1", "0", "[1,70]"} // twice, in place
	f.Add([]byte(`{"schema":"1.1.1-chakra.0.0.4","nodes":[` + strings.Replace(node(2, "aten::addcmul_", "[70,70]", [3]string{"2", "0", "[70,1]"}, x, x, [3]string{"2", "0", "[70,1]"}), "(Tensor self) -> Tensor", "(Tensor(a!) self, Tensor b, Tensor c) -> Tensor(a!)", 1) + "]}"))
	f.Add([]byte("onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_bf16::blocked:aBcd16b:f0,,,8x60x28x28,0.2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := operators.Read(operators.File{Name: "f", Reader: bytes.NewReader(text)})
		if err != nil {
			return
		}
		b, err := Of(context.Background(), p, typical(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, i := range b.Operators {
			calls += i.Calls
			if !(i.Layout >= 0 && i.Layout <= i.Ns) || i.Verdict == "" {
				t.Errorf("%s: layout %v of %v ns, %q", i.Op, i.Layout, i.Ns, i.Verdict)
			}
		}
		if _, err := json.Marshal(b); err != nil {
			t.Error(err)
		}
		if err := b.Write(io.Discard, 15, 0); err != nil {
			t.Error(err)
		}
		suite, err := b.Suite(Limits{Budget: time.Minute})
		if err == nil {
			_, err = workload.Parse("suite.yaml", suite)
		}
		if err != nil && !errors.Is(err, errNoSuite) {
			t.Errorf("%v\n%s", err, suite)
		}
	})
}
