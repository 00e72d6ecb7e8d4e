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

// lines are those of a tensor of 64x64 float32.
const lines = 64 * 64 * 4 / 64

func stepOf(t *testing.T, calls ...call) *Step {
	t.Helper()
	p := profileOf(t, traceOf(t, false, calls...))
	s, err := StepOf(context.Background(), p, typical(t), begun(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Calls {
		if c.Problem != "" {
			t.Errorf("call %d, %s: %s", c.Number, c.Op, c.Problem)
		}
	}
	return s
}

// TestFusedInPlace: of two that change a tensor in place one fetches it all the same, and what
// changes what was just written has to leave it.
func TestFusedInPlace(t *testing.T) {
	negate := made("aten::neg_", "in-place float32 64x64@1", "float32 64x64@1")
	for _, first := range []call{
		made("aten::relu_", "in-place float32 64x64@1", "float32 64x64@1"),
		made("aten::relu", "float32 64x64@2", "float32 64x64@1"),
	} {
		s := stepOf(t, first, negate)
		for _, f := range s.Fusions {
			if f.Saved[0].Count > s.Calls[1].Misses[0].Count || f.Saved[0].Count > lines {
				t.Errorf("%s: %+v", first.Op, f)
			}
		}
	}
}

// TestStep: what a call finds in the caches is what the one before left there, and
// lies where the trace says.
func TestStep(t *testing.T) {
	relu := made("aten::relu", "float32 64x64@1", "float32 64x64@2")
	exp := made("aten::exp", "float32 64x64@2", "float32 64x64@3")
	s := stepOf(t, relu, exp, made("aten::exp", "float32 64x64@2+4096", "float32 64x64@3"))
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
	s = stepOf(t, relu, exp)
	if f := s.Fusions; len(f) != 1 || f[0].First != 1 || f[0].Saved[2].Count != lines || f[0].Ns <= 0 {
		t.Errorf("fusions %+v", f)
	}
	var text strings.Builder
	if err := s.Write(&text, 2, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"256 from call 1", "call 1 (aten::relu) with call 2 (aten::exp)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// TestStepExact: the counts of captured steps are those of looking up every access.
func TestStepExact(t *testing.T) {
	for _, name := range []string{"block", "conv"} {
		p, err := operators.ReadFiles(t.Context(), nil, nil, "../operators/testdata/"+name+".json.gz")
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

// TestNowhere: tensors of which the profile does not say where they lie lie apart; a trace that
// says it of none is no step.
func TestNowhere(t *testing.T) {
	relu := made("aten::relu", "float32 64x64", "float32 64x64")
	s := stepOf(t, relu, relu)
	if s.Memory != 4*64*64*4 {
		t.Errorf("%d B, want four tensors", s.Memory)
	}
	first, second := s.Calls[0], s.Calls[1]
	if len(second.Found)+len(s.Fusions) > 0 || second.Misses[2].Count != first.Misses[2].Count {
		t.Errorf("%+v, %+v", s.Calls, s.Fusions)
	}
	kineto := profileOf(t, traceOf(t, true, relu))
	if _, err := StepOf(context.Background(), kineto, typical(t), nil); !errors.Is(err, errNoStep) {
		t.Error(err)
	}
}
