package bill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/workload"
)

// TestCaptured: a step of PyTorch 1.13, with what a product reads.
func TestCaptured(t *testing.T) {
	for _, name := range []string{"block", "conv"} {
		p, err := operators.ReadFiles(t.Context(), nil, nil, "../operators/testdata/"+name+".json.gz")
		if err != nil {
			t.Fatal(err)
		}
		b := priceOf(t, p)
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
		if name == "conv" { // has a clone between channels_last and contiguous
			find(t, b, func(i Item) bool { return i.Op == "aten::clone" && i.Verdict == channelsLast })
		}
		text, err := json.Marshal(b)
		if err != nil || bytes.Contains(text, []byte("null")) {
			t.Errorf("%s: %v, or null in it", name, err)
		}
	}
}

// TestReorder: oneDNN's reorders are priced by their blocks.
func TestReorder(t *testing.T) {
	line := "onednn_verbose,exec,cpu,reorder,jit:uni,undef," +
		"src_f32::blocked:abcd:f0 dst_f32::blocked:%s:f0,,,8x60x28x28,0.2\n"
	b := priceOf(t, profileOf(t, fmt.Sprintf(line+line, "aBcd16b", "odd")))
	const tensors = "float32 8x60x28x28[abcd] -> 8x60x28x28[aBcd16b]"
	if i := b.Operators[0]; i.Predicted == nil || i.Layout != i.Ns || i.Tensors() != tensors {
		t.Errorf("%+v, %s", i, i.Tensors())
	}
	if i := b.Operators[1]; i.Predicted != nil || !strings.Contains(i.Verdict, "format odd") {
		t.Errorf("%s", i.Verdict)
	}
}

// TestThreads: four threads share what is large, by as little as all cores' bandwidth allows, and
// what is done for each row; the small they leave to one, as PyTorch does.
func TestThreads(t *testing.T) {
	add := func(shape string) call {
		return made("aten::add", "float32 "+shape, "float32 "+shape, "float32 "+shape)
	}
	rows := func(n int) call {
		numbers, result := fmt.Sprintf("int64 %d", n), fmt.Sprintf("float32 %dx4", n)
		return made("aten::embedding", "float32 50x4", numbers, result)
	}
	for _, c := range []struct {
		call
		least, most float64 // how many times less they take
	}{
		{add("4096x4096"), 2, 4.01}, {add("100x300"), 1, 1},
		{rows(1 << 20), 3, 4.01}, {rows(1000), 1, 1},
	} {
		var ns [2]float64
		for i, threads := range []int{0, 4} {
			m := typical(t)
			m.Threads = threads
			b, err := Of(context.Background(), profileOf(t, traceOf(t, false, c.call)), m, nil)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(b.Model, "; 4 threads") != (threads == 4) {
				t.Errorf("the model of %d threads is %s", threads, b.Model)
			}
			ns[i] = b.Ns
		}
		if times := ns[0] / ns[1]; times < c.least || times > c.most {
			t.Errorf("%s of %v: four threads take %.2f times less", c.Op, c.Outputs[0].Shape, times)
		}
	}
}

// TestSuite: what is written is a workload, whose names do not depend on the order of the trace;
// takes of rows are in it.
func TestSuite(t *testing.T) {
	row := made("aten::addcmul", "float32 64", "float32 64[2]", "float32 64", "float32 64")
	half := made("aten::mul", "c10::BFloat16 512x512[1,512]", "c10::BFloat16 512x512[1,512]")
	half.Args = []string{"", "2"}
	sum := made("aten::sum", "float32 64x32x16[512,1,32]", "float32 32")
	sum.Args = []string{"", "[0,2]"}
	calls := []call{row, half, sum,
		made("aten::add", "float32 512x512", "float32 512x512[1,512]", "float32 512x512"),
		made("aten::copy_", "output c10::BFloat16 60x90", "c10::BFloat16 60x90[1,60]",
			"c10::BFloat16 60x90")}
	var names [][]string
	for range 2 {
		b := priceOf(t, profileOf(t, traceOf(t, true, calls...)))
		all := suiteOf(t, b)
		slices.Sort(all)
		names = append(names, all)
		slices.Reverse(calls)
		if _, err := b.Suite(Limits{Budget: time.Nanosecond}); !errors.Is(err, errNoSuite) {
			t.Error(err)
		}
	}
	if !slices.Equal(names[0], names[1]) || len(names[0]) != 8 {
		t.Errorf("%d names\n%s", len(names[0]), strings.Join(names[0], "\n"))
	}
	rows := made("aten::index_select", "float32 512x512[1,512]", "list:0 int64 512", "float32 512x512")
	third := made("aten::index_select", "float32 4x64x32x32[65536,1,2048,64]", "list:0 int64 32",
		"float32 4x64x32x32")
	rows.Args, third.Args = []string{"", "0"}, []string{"", "2"}
	p := &operators.Profile{}
	for _, c := range []call{rows, third} {
		op := c.operator()
		op.Class = operators.Gather
		p.Operators = append(p.Operators, op)
	}
	taken := suiteOf(t, priceOf(t, p))
	if len(taken) != 4 || !strings.Contains(strings.Join(taken, "\n"), "dims=0,1,2,3") {
		t.Errorf("%q", taken)
	}
}

// suiteOf are the names of the benchmarks that a bill's suite has.
func suiteOf(t *testing.T, b *Bill) (names []string) {
	t.Helper()
	text, err := b.Suite(Limits{Budget: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.Parse("suite.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, c := range w.Comparisons {
		for _, one := range c {
			names = append(names, one.Name)
		}
	}
	return names
}

// TestWrite: a table for people, with who calls most often, what could not be priced, and what
// only its inputs were of.
func TestWrite(t *testing.T) {
	unpriced := made("mine::odd", "float32 512x512[1,512]", "float32 512x512")
	add := made("aten::add", "float32 512x512", "float32 512x512[1,512]", "float32 512x512")
	unwritten := made("aten::nonzero", "bool 8x8", "int64 3x2")
	b := priceOf(t, profileOf(t, traceOf(t, true, add, unpriced, unwritten)))
	sum := int64(0)
	for _, item := range b.Operators {
		sum += item.Bytes
	}
	if b.Bytes != sum || sum != 3*512*512*4+64 {
		t.Errorf("%d operators, %d B, want %d", len(b.Operators), b.Bytes, sum)
	}
	b.Operators[0].Calls = 1200
	callers := []operators.Caller{{Chain: "a > b", Calls: 1000}, {Chain: "c", Calls: 200}}
	b.Operators[0].Callers = callers
	var text strings.Builder
	if err := b.Write(&text, 15, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"layout costs ", "aten::add",
		"    float32 512x512, 512x512[1,512]\n    produce 512x512[1,512]", "1 call (1,048,576 B): mine::odd.",
		"by inputs alone: 1 call", "its result is unknown", "a > b in 1,000 of these calls, and by 1 other"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	none := priceOf(t, profileOf(t, traceOf(t, true, made("aten::t", "float32 4x4", "float32 4x4"))))
	if s := none.Sentence(); !strings.Contains(s, "no operator") {
		t.Error(s)
	}
}
