package bill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/simcache"
)

// typical is a machine of three levels.
func typical(t testing.TB) cost.Model {
	t.Helper()
	m := cost.Model{Times: cost.Generic("a test")}
	for i, text := range []string{"32768,8,64", "524288,8,64", "16777216,16,64"} {
		g, err := simcache.ParseGeometry(text)
		if err != nil {
			t.Fatal(err)
		}
		m.Caches.Levels = append(m.Caches.Levels, simcache.Level{Name: fmt.Sprintf("L%d", i+1), Geometry: g})
	}
	return m
}

// An event is one of a Kineto trace.
type event struct {
	name             string
	ts, dur          int
	shapes, strides  string // without the outer brackets
	types, arguments string
}

// trace is a Kineto trace of events.
func trace(events ...event) string {
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"ts":%d,"dur":%d,"args":{"Input Dims":[%s],"Input Strides":[%s],"Input type":[%s],"Concrete Inputs":[%s]}}`,
			e.name, e.ts, e.dur, e.shapes, e.strides, e.types, e.arguments))
	}
	return "[" + strings.Join(all, ",\n") + "]"
}

func priceOf(t testing.TB, text string) *Bill {
	t.Helper()
	p, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Of(context.Background(), p, typical(t), begun(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// begun is told what begins, and fails a test that ends before all parts of it are done.
func begun(t testing.TB) func(what string, parts int) func() {
	var left atomic.Int64
	t.Cleanup(func() {
		if n := left.Load(); n != 0 && !t.Failed() {
			t.Errorf("%d parts are told of that are not done", n)
		}
	})
	return func(_ string, parts int) func() {
		left.Add(int64(parts))
		return func() { left.Add(-1) }
	}
}

const float = `"float"`

// rowMajor512 is the verdict on a transposed matrix beside others.
const rowMajor512 = "produce 512x512[1,512] contiguous"

// TestVerdicts: what is said of each kind of operator, and whether its layout costs.
func TestVerdicts(t *testing.T) {
	two := float + "," + float
	for _, tt := range []struct {
		name    string
		event   event
		verdict string
		costs   bool
	}{
		{"a view", event{name: "aten::t", shapes: "[64,64]", strides: "[64,1]", types: float}, freeView, false},
		{"contiguous operands", event{name: "aten::add", shapes: "[512,512],[512,512]", strides: "[512,1],[512,1]", types: two}, nothing, false},
		{"operands in one order", event{name: "aten::add", shapes: "[512,512],[512,512]", strides: "[1,512],[1,512]", types: two}, nothing, false},
		{"operands in two", event{name: "aten::add", shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: two}, rowMajor512, true},
		{"a transposed weight", event{name: "aten::mm", shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: two}, takesAsItIs, false},
		{"rows with gaps", event{name: "aten::relu", shapes: "[2048,8]", strides: "[10,1]", types: float}, produce, true},
		{"channels_last and not", event{name: "aten::add", shapes: "[8,64,28,28],[8,64,28,28]", strides: "[50176,1,1792,64],[50176,784,28,1]", types: two}, channelsLast, true},
		{"a softmax of a transposed matrix", event{name: "aten::_softmax", shapes: "[512,512],[],[]", strides: "[1,512],[],[]", types: float + `,"Scalar","Scalar"`, arguments: `"","-1","False"`}, produce, true},
		{"a sum of columns", event{name: "aten::sum", shapes: "[512,512],[]", strides: "[512,1],[]", types: float + `,"ScalarList"`, arguments: `"","[0]"`}, nothing, false},
		{"a fill", event{name: "aten::fill_", shapes: "[512,512],[]", strides: "[1,512],[]", types: float + `,"Scalar"`}, nothing, false},
		{"what nobody knows", event{name: "mine::odd", shapes: "[512,512]", strides: "[1,512]", types: float}, "unknown operator: its calls and bytes are counted, its time is not", false},
		{"an unknown dtype", event{name: "aten::relu", shapes: "[512,512]", strides: "[1,512]", types: `"c10::odd"`}, "not priced: the size of dtype c10::odd is unknown", false},
		{"a scalar", event{name: "aten::add_", shapes: "[],[]", strides: "[],[]", types: `"long int","Scalar"`}, nothing, false},
		{"nothing", event{name: "aten::relu", shapes: "[0,4]", strides: "[4,1]", types: float}, nothing, false},
		{"no operand", event{name: "aten::normal_"}, "not priced: the profile has none of its tensors", false},
		{"an expanded operand", event{name: "aten::mul", shapes: "[64,512,512],[64,512,512]", strides: "[262144,512,1],[512,1,0]", types: two}, nothing, false},
		{"a list", event{name: "aten::cat", shapes: "[[512,512],[512,512]],[]", strides: "[[512,1],[1,512]],[]", types: `"TensorList","Scalar"`}, rowMajor512, true},
		{"two that are strided", event{name: "aten::add", shapes: "[64,64,64],[64,64,64]", strides: "[4096,1,64],[1,4096,64]", types: two}, produceAlike, true},
		{"one across rows with gaps", event{name: "aten::add", shapes: "[196,128,768],[1,128,768]", strides: "[768,151296,1],[98304,1,128]", types: two}, "produce 1x128x768[98304,1,128] contiguous", true},
		{"one beside what is expanded", event{name: "aten::addcmul", shapes: "[512,512],[512,512],[512,512]", strides: "[512,1],[1,512],[1,0]", types: two + "," + float}, rowMajor512, true},
		{"a softmax along the second dim", event{name: "aten::_log_softmax", shapes: "[8,512,64],[],[]", strides: "[32768,1,512],[],[]", types: float + `,"Scalar","Scalar"`, arguments: `"","1","False"`}, "use the last dim of movedim(1, -1), which is contiguous", true},
		{"a softmax along the third dim", event{name: "aten::_log_softmax", shapes: "[8,512,64],[],[]", strides: "[32768,1,512],[],[]", types: float + `,"Scalar","Scalar"`, arguments: `"","-1","False"`}, produce, true},
	} {
		tt.event.dur = 5
		b := priceOf(t, trace(tt.event, event{name: "aten::relu", ts: 10, dur: 1, shapes: "[7]", strides: "[1]", types: float}))
		i := b.Operators[slices.IndexFunc(b.Operators, func(i Item) bool {
			return i.Op == tt.event.name && fmt.Sprint(i.Inputs) != "[{[7] [1] float32 input  0 false 0}]"
		})]
		if i.Verdict != tt.verdict || i.Layout > 0 != tt.costs {
			t.Errorf("%s: %q, layout %v of %v ns", tt.name, i.Verdict, i.Layout, i.Ns)
		}
		if i.Layout > i.Ns || math.IsNaN(i.Ns) || math.IsInf(i.Ns, 0) {
			t.Errorf("%s: layout %v of %v ns", tt.name, i.Layout, i.Ns)
		}
	}
}

// TestOnceBefore: several uses of one layout, by a profile that does not say which
// tensors are one.
func TestOnceBefore(t *testing.T) {
	use := func(op string, ts int) event {
		return event{name: op, ts: ts, dur: 5, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: float + "," + float}
	}
	b := priceOf(t, trace(use("aten::add", 0), use("aten::mul", 10), use("aten::sub", 20)))
	if v := b.Operators[0].Verdict; v != "call contiguous() once: 3 uses of this layout follow" || b.Operators[0].Uses != 3 {
		t.Error(v)
	}
}

// TestNotOnce: a copy that costs more than it saves is not advised.
func TestNotOnce(t *testing.T) {
	use := func(op string, ts int) event { // the columns of a matrix that is much larger than they are
		return event{name: op, ts: ts, dur: 5, shapes: "[4096,60]", strides: "[66,1]", types: float}
	}
	b := priceOf(t, trace(use("aten::relu", 0), use("aten::exp", 10)))
	if i := b.Operators[0]; i.Layout == 0 || i.Verdict != produce || i.Uses != 0 {
		t.Errorf("%q after %d uses, layout %v of %v", i.Verdict, i.Uses, i.Layout, i.Ns)
	}
}

// TestForLayout: a copy that contiguous() makes costs all of its time, one that
// converts does not.
func TestForLayout(t *testing.T) {
	inside := func(types string) string {
		return trace(
			event{name: "aten::contiguous", ts: 0, dur: 100, shapes: "[512,512]", strides: "[1,512]", types: float},
			event{name: "aten::clone", ts: 1, dur: 90, shapes: "[512,512]", strides: "[1,512]", types: float},
			event{name: "aten::copy_", ts: 2, dur: 80, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: types})
	}
	if i := priceOf(t, inside(float+","+float)).Operators[0]; i.Layout != i.Ns || i.Ns == 0 || i.Contiguous.Ns != 0 {
		t.Errorf("layout %v of %v", i.Layout, i.Ns)
	}
	if i := priceOf(t, inside(`"double",`+float)).Operators[0]; i.Layout >= i.Ns || i.Layout == 0 {
		t.Errorf("layout %v of %v", i.Layout, i.Ns)
	}
}

// TestCaptured: a step of PyTorch 1.13, with what a product reads.
func TestCaptured(t *testing.T) {
	for _, name := range []string{"block", "conv"} {
		file, err := os.Open("../operators/testdata/" + name + ".json.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p, err := operators.Read(operators.File{Name: name, Reader: file})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Of(context.Background(), p, typical(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for n, i := range b.Operators {
			calls += i.Calls
			if i.Problem != "" {
				t.Errorf("%s: %s: %s", name, i.Op, i.Problem)
			}
			if n > 0 && i.Layout > b.Operators[n-1].Layout {
				t.Errorf("%s: operator %d is not in order", name, n)
			}
		}
		if calls != p.Calls || b.Share <= 0 || b.Share >= 1 {
			t.Errorf("%s: %d calls of %d, share %v", name, calls, p.Calls, b.Share)
		}
		if name == "conv" && !slices.ContainsFunc(b.Operators, func(i Item) bool { return i.Op == "aten::clone" && i.Verdict == channelsLast }) {
			t.Errorf("conv: no clone between channels_last and contiguous")
		}
		text, err := json.Marshal(b)
		if err != nil || bytes.Contains(text, []byte("null")) {
			t.Errorf("%s: %v, or null in it", name, err)
		}
	}
}

// TestReorder: oneDNN's reorders are priced by their blocks.
func TestReorder(t *testing.T) {
	b := priceOf(t, "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32::blocked:aBcd16b:f0,,,8x60x28x28,0.2\n"+
		"onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32::blocked:odd:f0,,,8x60x28x28,0.2\n")
	if i := b.Operators[0]; i.Predicted == nil || i.Layout != i.Ns || i.Tensors() != "float32 8x60x28x28[abcd] -> 8x60x28x28[aBcd16b]" {
		t.Errorf("%+v, %s", i, i.Tensors())
	}
	if i := b.Operators[1]; i.Predicted != nil || !strings.HasPrefix(i.Verdict, "not priced: format odd: ") {
		t.Errorf("%s", i.Verdict)
	}
}

// TestRowsByThreads: threads share what is done for each row, as far as they share the rows.
func TestRowsByThreads(t *testing.T) {
	take := func(rows, threads int) float64 {
		m := typical(t)
		m.Threads = threads
		op := event{name: "aten::embedding", dur: 5, shapes: fmt.Sprintf("[50,4],[%d]", rows), strides: "[4,1],[1]", types: float + `,"long int"`}
		p, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(trace(op))})
		if err != nil {
			t.Fatal(err)
		}
		p.Operators[0].Outputs = []operators.Operand{out([]int{rows, 4}, []int{4, 1})}
		b, err := Of(context.Background(), p, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b.Operators[0].Ns
	}
	if r := take(1<<20, 0) / take(1<<20, 4); r < 3 || r > 4.01 {
		t.Errorf("of many rows four threads take %.2f times less", r)
	}
	if one, four := take(1000, 0), take(1000, 4); one != four {
		t.Errorf("1000 rows take %v ns, of four threads %v", one, four)
	}
}

// TestThreads: four threads share what is large, by as little as all cores' bandwidth
// allows, and leave the small to one, as PyTorch does.
func TestThreads(t *testing.T) {
	p, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(trace(
		event{name: "aten::add", dur: 5, shapes: "[4096,4096],[4096,4096]", strides: "[4096,1],[1,4096]", types: float + "," + float},
		event{name: "aten::add", ts: 10, dur: 5, shapes: "[100,300],[100,300]", strides: "[300,1],[300,1]", types: float + "," + float}))})
	if err != nil {
		t.Fatal(err)
	}
	var ns [2][]float64
	for i, threads := range []int{0, 4} {
		m := typical(t)
		m.Threads = threads
		b, err := Of(context.Background(), p, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(b.Model, "; 4 threads") != (threads == 4) {
			t.Errorf("the model of %d threads is %s", threads, b.Model)
		}
		for _, item := range b.Operators { // the worst first: the large one
			ns[i] = append(ns[i], item.Ns)
		}
	}
	if r := ns[0][0] / ns[1][0]; r < 2 || r > 4.01 {
		t.Errorf("four threads take %.2f times less", r)
	}
	if ns[0][1] != ns[1][1] {
		t.Errorf("30000 elements take %v ns by one thread, %v by four", ns[0][1], ns[1][1])
	}
}

// TestSuite: what is written is a workload, of which the names do not depend on
// the order of the trace.
func TestSuite(t *testing.T) {
	events := []event{
		{name: "aten::add", dur: 5, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: float + "," + float},
		{name: "aten::sum", dur: 5, shapes: "[64,32,16],[]", strides: "[512,1,32],[]", types: float + `,"ScalarList"`, arguments: `"","[0,2]"`},
		{name: "aten::mul", dur: 5, shapes: "[512,512],[]", strides: "[1,512],[]", types: `"c10::BFloat16","Scalar"`},
		{name: "aten::copy_", dur: 5, shapes: "[60,90],[60,90]", strides: "[90,1],[1,60]", types: `"c10::BFloat16","c10::BFloat16"`},
		{name: "aten::addcmul", dur: 5, shapes: "[64],[64],[64]", strides: "[1],[2],[1]", types: float + "," + float + "," + float},
	}
	var names [][]string
	for range 2 {
		for i := range events {
			events[i].ts = 10 * i
		}
		b := priceOf(t, trace(events...))
		text, err := b.Suite(Limits{Budget: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		w, err := workload.Parse("suite.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var all []string
		for _, c := range w.Comparisons {
			for _, one := range c {
				all = append(all, one.Name)
			}
		}
		slices.Sort(all)
		names = append(names, all)
		slices.Reverse(events)
		if !strings.Contains(string(text), "# Not here: 1 operator (") {
			t.Errorf("%s", text)
		}
	}
	if !slices.Equal(names[0], names[1]) || len(names[0]) != 8 {
		t.Errorf("%d names\n%s", len(names[0]), strings.Join(names[0], "\n"))
	}
	if _, err := priceOf(t, trace(events...)).Suite(Limits{Budget: time.Nanosecond}); !errors.Is(err, errNoSuite) {
		t.Error(err)
	}
}

// TestMany: thousands of distinct operators take seconds, not minutes, which is to
// say that each is simulated in a smaller part.
func TestMany(t *testing.T) {
	var events []event
	for n := range 3000 {
		events = append(events, event{name: "aten::copy_", ts: 10 * n, dur: 5, shapes: fmt.Sprintf("[%d,%d],[%[1]d,%d]", 500+n, 300, 300), strides: fmt.Sprintf("[300,1],[1,%d]", 600+n), types: float + "," + float})
	}
	b := priceOf(t, trace(events...))
	if len(b.Operators) != 3000 || b.Operators[0].Layout == 0 {
		t.Errorf("%d operators, %+v", len(b.Operators), b.Operators[0])
	}
}

// TestCallers: of several callers the one that calls most often is named, with how many more there are.
func TestCallers(t *testing.T) {
	for _, c := range []struct {
		callers []operators.Caller
		want    string
	}{
		{nil, ""},
		{[]operators.Caller{{Chain: "a > b", Calls: 1200}}, "; called by a > b"},
		{[]operators.Caller{{Chain: "a", Calls: 1100}}, "; called by a in 1,100 of these calls"},
		{[]operators.Caller{{Chain: "a", Calls: 1000}, {Chain: "b", Calls: 200}}, "; called by a in 1,000 of these calls, and by 1 other"},
		{[]operators.Caller{{Chain: "a", Calls: 600}, {Chain: "b", Calls: 300}, {Chain: "c", Calls: 300}}, "; called by a in 600 of these calls, and by 2 others"},
	} {
		i := Item{Operator: operators.Operator{Calls: 1200, Callers: c.callers}}
		if got := i.from(); got != c.want {
			t.Errorf("%v: %q, want %q", c.callers, got, c.want)
		}
	}
}

// TestWrite: a table for people.
func TestWrite(t *testing.T) {
	b := priceOf(t, trace(event{name: "aten::add", dur: 5, shapes: "[512,512],[512,512]", strides: "[512,1],[1,512]", types: float + "," + float},
		event{name: "mine::odd", ts: 10, dur: 5, shapes: "[512,512]", strides: "[1,512]", types: float}))
	sum := int64(0)
	for _, item := range b.Operators {
		sum += item.Bytes
	}
	if b.Bytes != sum || sum != 3*512*512*4 {
		t.Errorf("%d operators, %d B, want %d", len(b.Operators), b.Bytes, sum)
	}
	var text strings.Builder
	if err := b.Write(&text, 15, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"layout costs ", "aten::add", "    float32 512x512, 512x512[1,512]\n    produce 512x512[1,512] contiguous\n",
		"Not priced: 1 call (1,048,576 B): mine::odd."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	none := priceOf(t, trace(event{name: "aten::t", dur: 5, shapes: "[4,4]", strides: "[4,1]", types: float}))
	if s := none.Sentence(); s != "no operator in it could be priced" {
		t.Error(s)
	}
}
