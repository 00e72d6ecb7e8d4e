package bill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	f.Add([]byte(`{"schema":"1.1.1-chakra.0.0.4","nodes":[` + node(2, "aten::copy_", "[70,80]", [3]string{"1", "0", "[80,1]"}, [3]string{"1", "7", "[1,70]"}, [3]string{"1", "0", "[80,1]"}) + "]}"))
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
		if err := b.Write(io.Discard, 15); err != nil {
			t.Error(err)
		}
		suite, err := b.Suite(Limits{Budget: time.Minute})
		if err == nil {
			_, err = workload.Parse("suite.yaml", suite)
		}
		if err != nil && !errors.Is(err, ErrNoSuite) {
			t.Errorf("%v\n%s", err, suite)
		}
	})
}
