package bill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/operators"
)

// node is a call of an execution trace with tensors of one shape, each a storage, an
// offset and strides; the last one is the result.
func node(id int, op, shape string, tensors ...[3]string) string {
	side := func(all [][3]string) string {
		var values, shapes, types, strides []string
		for _, t := range all {
			values = append(values, fmt.Sprintf(`[1,%s,%s,1,4,"cpu"]`, t[0], t[1]))
			shapes, types, strides = append(shapes, shape), append(types, `"Tensor(float)"`), append(strides, t[2])
		}
		return fmt.Sprintf(`{"values":[%s],"shapes":[%s],"types":[%s],"strides":[%s]}`, strings.Join(values, ","), strings.Join(shapes, ","), strings.Join(types, ","), strings.Join(strides, ","))
	}
	last := len(tensors) - 1
	return fmt.Sprintf(`{"id":%d,"name":%q,"ctrl_deps":1,"inputs":%s,"outputs":%s,"attrs":[{"name":"op_schema","type":"string","value":"%s(Tensor self) -> Tensor"}]}`,
		id, op, side(tensors[:last]), side(tensors[last:]), op)
}

func stepOf(t *testing.T, nodes ...string) *Step {
	t.Helper()
	text := `{"schema": "1.1.1-chakra.0.0.4", "nodes": [` + strings.Join(nodes, ",\n") + "]}"
	p, err := operators.Read(operators.File{Name: "et.json", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := StepOf(context.Background(), p, typical(t), begun(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFusedInPlace: of two that change a tensor in place one fetches it all the same, and what changes what was just
// written has to leave it.
func TestFusedInPlace(t *testing.T) {
	const lines = 64 * 64 * 4 / 64 // of a tensor
	rows := "[64,1]"
	inPlace := func(id int, op string) string {
		x := [3]string{"1", "0", rows}
		return strings.Replace(node(id, op, "[64,64]", x, x), "(Tensor self) -> Tensor", "(Tensor(a!) self) -> Tensor(a!)", 1)
	}
	for name, nodes := range map[string][]string{
		"both in place":     {inPlace(2, "aten::relu_"), inPlace(3, "aten::neg_")},
		"written, in place": {node(2, "aten::relu", "[64,64]", [3]string{"2", "0", rows}, [3]string{"1", "0", rows}), inPlace(3, "aten::neg_")},
	} {
		s := stepOf(t, nodes...)
		if len(s.Calls) != 2 || s.Calls[0].Problem+s.Calls[1].Problem != "" {
			t.Fatalf("%s: %+v", name, s.Calls)
		}
		for _, f := range s.Fusions {
			if f.Saved[0].Count > s.Calls[1].Misses[0].Count || f.Saved[0].Count > lines {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestAgain: an operator that gets one tensor twice in every call reads it once, and a copy of it would be of one use.
func TestAgain(t *testing.T) {
	const rows, columns = "[512,1]", "[1,512]"
	read := func(nodes ...string) Item {
		p, err := operators.Read(operators.File{Name: "et.json", Reader: strings.NewReader(`{"schema": "1.1.1-chakra.0.0.4", "nodes": [` + strings.Join(nodes, ",\n") + "]}")})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Of(context.Background(), p, typical(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b.Operators[0]
	}
	inPlace := func(id int, other [3]string) string { // an addcmul_(x, other, b.t())
		x := [3]string{"1", "0", rows}
		return strings.Replace(node(id, "aten::addcmul_", "[512,512]", x, other, [3]string{"2", "0", columns}, x), "(Tensor self) -> Tensor", "(Tensor(a!) self, Tensor b, Tensor c) -> Tensor(a!)", 1)
	}
	twin, other, shifted := [3]string{"2", "0", columns}, [3]string{"3", "0", columns}, [3]string{"2", "512", columns}
	once, two := read(inPlace(2, twin)), read(inPlace(2, other))
	if got, want := once.Predicted.Misses[0].Count, two.Predicted.Misses[0].Count; got > .7*want || once.Verdict != rowMajor512 || once.Uses > 1 {
		t.Errorf("the same tensor twice: %v misses, two tensors %v; %q of %d uses", got, want, once.Verdict, once.Uses)
	}
	for name, nodes := range map[string][]string{
		"only in one call": {inPlace(2, twin), inPlace(3, other)},
		"from elsewhere":   {inPlace(2, shifted)},
	} {
		if got := read(nodes...).Predicted.Misses[0].Count; got != two.Predicted.Misses[0].Count {
			t.Errorf("%s: %v misses, want those of two tensors, %v", name, got, two.Predicted.Misses[0].Count)
		}
	}
	x, y := [3]string{"1", "0", rows}, [3]string{"2", "0", rows}
	added := strings.Replace(node(2, "aten::add_", "[512,512]", x, x, x), "(Tensor self) -> Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)", 1)
	if got := read(added).Predicted.Misses[0].Count; got != 512*512*4/64 {
		t.Errorf("x += x: %v misses, want its lines", got)
	}
	if got := read(node(2, "aten::mul", "[512,512]", x, x, y)).Predicted.Misses[0].Count; got != 2*512*512*4/64 {
		t.Errorf("x * x: %v misses, want its lines and those of the result", got)
	}
}

// TestStep: what a call finds in the caches is what the one before left there, and
// lies where the trace says.
func TestStep(t *testing.T) {
	const lines = 64 * 64 * 4 / 64 // of a tensor
	rows := "[64,1]"
	s := stepOf(t, node(2, "aten::relu", "[64,64]", [3]string{"1", "0", rows}, [3]string{"2", "0", rows}),
		node(3, "aten::exp", "[64,64]", [3]string{"2", "0", rows}, [3]string{"3", "0", rows}),
		node(4, "aten::exp", "[64,64]", [3]string{"2", "4096", rows}, [3]string{"3", "0", rows}))
	if len(s.Calls) != 3 || s.Memory != 4*64*64*4 {
		t.Fatalf("%d calls, %d B", len(s.Calls), s.Memory)
	}
	var missed []float64
	for _, c := range s.Calls {
		missed = append(missed, c.Misses[2].Count)
	}
	// The first reads and writes anew, the second writes anew, the third reads what
	// nobody has touched, and writes what the second wrote.
	if want := []float64{2 * lines, lines, lines}; !slices.Equal(missed, want) {
		t.Errorf("misses of the last level %v, want %v", missed, want)
	}
	if f := s.Calls[1].Found; len(f) != 1 || f[0].From != 1 || f[0].Fewer[2].Count != lines {
		t.Errorf("found %+v", f)
	}
	if f := s.Calls[2].Found; len(f) != 0 {
		t.Errorf("found %+v of what was not there", f)
	}
	// What the second reads is in the first level, and the third reads the storage too,
	// so that it has to be written.
	if len(s.Fusions) != 0 {
		t.Errorf("fusions %+v", s.Fusions)
	}
	s = stepOf(t, node(2, "aten::relu", "[64,64]", [3]string{"1", "0", rows}, [3]string{"2", "0", rows}),
		node(3, "aten::exp", "[64,64]", [3]string{"2", "0", rows}, [3]string{"3", "0", rows}))
	if len(s.Fusions) != 1 || s.Fusions[0].First != 1 || s.Fusions[0].Saved[2].Count != lines || s.Fusions[0].Ns <= 0 {
		t.Errorf("fusions %+v", s.Fusions)
	}
	var text strings.Builder
	if err := s.Write(&text, 2, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "256 from call 1") || !strings.Contains(text.String(), "Fusing call 1 (aten::relu) with call 2 (aten::exp)") {
		t.Errorf("%s", text.String())
	}
}

// TestStepExact: the counts of captured steps are those of looking up every access.
func TestStepExact(t *testing.T) {
	for _, name := range []string{"../operators/testdata/block.json.gz", "../operators/testdata/conv.json.gz"} {
		p, err := operators.ReadFiles(t.Context(), nil, nil, name)
		if err != nil {
			t.Fatal(err)
		}
		m := typical(t)
		fast, err := StepOf(context.Background(), p, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Caches.Brute = true
		slow, err := StepOf(context.Background(), p, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(fast.Calls), fmt.Sprint(slow.Calls); a != b {
			t.Errorf("%s: counts differ", name)
		}
		for _, c := range fast.Calls {
			if c.Problem != "" {
				t.Errorf("%s: call %d, %s: %s", name, c.Number, c.Op, c.Problem)
			}
		}
	}
}

// TestStepOfRows: a step has what is done for each row that is taken, as the bill has.
func TestStepOfRows(t *testing.T) {
	const numbers = 10000
	embedding := fmt.Sprintf(`{"id":2,"name":"aten::embedding","ctrl_deps":1,"inputs":{"values":[[1,1,0,200,4,"cpu"],[2,2,0,%[1]d,8,"cpu"]],"shapes":[[50,4],[%[1]d]],"types":["Tensor(float)","Tensor(long)"],"strides":[[4,1],[1]]},
		"outputs":{"values":[[3,3,0,1,4,"cpu"]],"shapes":[[%[1]d,4]],"types":["Tensor(float)"],"strides":[[4,1]]},"attrs":[]}`, numbers)
	s := stepOf(t, embedding)
	b := priceOf(t, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+embedding+"]}")
	if least := rowHits * numbers * typical(t).Times.Hit; len(s.Calls) != 1 || s.Ns < least || s.Ns < .8*b.Ns || s.Ns > 2*b.Ns {
		t.Errorf("%v ns in a step, want %v for the rows alone; in the bill %v", s.Ns, least, b.Ns)
	}
}

// TestNowhere: tensors of which the profile does not say where they lie lie apart.
func TestNowhere(t *testing.T) {
	rows := "[64,1]"
	one := [3]string{"0", "0", rows}
	s := stepOf(t, node(2, "aten::relu", "[64,64]", one, one), node(3, "aten::relu", "[64,64]", one, one))
	if s.Memory != 4*64*64*4 {
		t.Errorf("%d B, want four tensors", s.Memory)
	}
	if len(s.Calls) != 2 || len(s.Calls[1].Found) > 0 || s.Calls[1].Misses[2].Count != s.Calls[0].Misses[2].Count || len(s.Fusions) > 0 {
		t.Errorf("%+v, %+v", s.Calls, s.Fusions)
	}
}

// TestNoStep: a trace that does not say where tensors lie is refused.
func TestNoStep(t *testing.T) {
	p, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(trace(event{name: "aten::relu", dur: 5, shapes: "[4]", strides: "[1]", types: float}))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := StepOf(context.Background(), p, typical(t), nil); !errors.Is(err, errNoStep) {
		t.Error(err)
	}
}
