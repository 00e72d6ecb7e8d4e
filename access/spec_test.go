package access

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// specOf reads a spec: the operation, the shape, the dtype, and what else it has as key=value.
// Operands, which stand in place of a shape, have a role, a shape, strides unless they are
// contiguous, an offset and a dtype, such as in=4x3[1,4]+12:float64.
func specOf(text string) Spec {
	words := strings.Fields(text)
	s := Spec{Op: must(parseOp(words[0])), DType: must(layouts.ParseDType(words[2]))}
	if words[1] != "-" {
		s.Shape = numbers(words[1], "x")
	}
	for _, word := range words[3:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "view":
			s.View = layouts.MustParseChain(value)
		case "order":
			s.Order = order(value)
		case "kernel":
			s.Kernel = kernelOf(value)
		case "from":
			s.From = tag(value)
		case "to":
			s.To = tag(value)
		case "with":
			s.With = numbers(value, "x")
		case "tile":
			s.Tile = numbers(value, "x")
		case "dims":
			s.Dims = numbers(value, ",")
		case "input", "output", "in-place":
			s.Operands = append(s.Operands, operandOf(map[string]nest.Kind{"output": nest.Write,
				"in-place": nest.Modify}[key], s.DType, value))
		default:
			*map[string]*int{
				"width": &s.Width, "pad": &s.Pad, "threads": &s.Threads, "grain": &s.Grain,
			}[key] = must(strconv.Atoi(value))
		}
	}
	if s.Operands != nil {
		s.DType = Spec{}.DType
	}
	return s
}

// operandOf reads an operand, of this dtype unless it has another one.
func operandOf(kind nest.Kind, dtype layouts.DType, text string) Value {
	text, name, other := strings.Cut(text, ":")
	if other {
		dtype = must(layouts.ParseDType(name))
	}
	text, at, _ := strings.Cut(text, "+")
	sizes, strides, apart := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	shape := numbers(sizes, "x")
	l := must(layouts.Contiguous(shape...))
	if apart {
		offset, _ := strconv.Atoi(at)
		l = must(layouts.New(shape, numbers(strides, ","), offset))
	}
	return Value{l, dtype, kind, 0}
}

func numbers(text, separator string) (all []int) {
	for _, word := range strings.Split(text, separator) {
		all = append(all, must(strconv.Atoi(word)))
	}
	return all
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func order(text string) Order     { return must(parseOrder(text)) }
func kernelOf(name string) Kernel { return must(parseKernel(name)) }
func tag(text string) blocked.Tag { return must(blocked.Parse(text)) }

func pattern(t testing.TB, s Spec) Pattern {
	t.Helper()
	p, err := s.Pattern()
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return p
}

// checked runs one pass of a pattern and compares what it did with the reference. It returns the
// sum of a pass.
func checked(t interface{ Fatalf(string, ...any) }, p Pattern) (runner, float64) {
	r, err := newRunner(p, newArena(p.Memory))
	sum := 0.0
	if err == nil {
		sum, err = r.check()
	}
	if err != nil {
		t.Fatalf("%s: %v", p.Spec.Name(), err)
	}
	return r, sum
}

// table are the lines of a file but for its comments: what is left and right of =>.
func table(t *testing.T, file string) iter.Seq2[string, string] {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(string(text)) {
			left, right, _ := strings.Cut(line, "=>")
			if line[0] != '#' && !yield(strings.TrimSpace(left), strings.TrimSpace(right)) {
				return
			}
		}
	}
}

// TestSpecRefusals: what cannot be meant is an error of the field at fault, with its value.
func TestSpecRefusals(t *testing.T) {
	for text, want := range table(t, "testdata/refusals.txt") {
		_, err := specOf(text).Pattern()
		field, words, _ := strings.Cut(want, ": ")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, field) || !strings.Contains(got, words) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		fault, ok := errors.AsType[*FieldError](err)
		if !ok || !strings.HasPrefix(err.Error(),
			fmt.Sprintf("%v %v: ", fault.Field, fault.Value)) {
			t.Errorf("%s: %v names no field", text, err)
		}
	}
}

// TestViewsOfOtherDTypes: a view of other elements walks the same bytes.
func TestViewsOfOtherDTypes(t *testing.T) {
	for view, want := range map[string]string{
		"x.real":                     "float32: 15 elements, 60 B of 120",
		"x.imag.T":                   "float32: 15 elements, 60 B of 120",
		"x.view(torch.uint8)[:,::2]": "uint8: 60 elements, 60 B of 120",
		"view(torch.int32).view(torch.complex64).t()": "complex64: 15 elements, 120 B of 120",
	} {
		for _, op := range []string{"sum", "fill", "copy"} {
			p := pattern(t, specOf(op+" 3x5 complex64 view="+view))
			checked(t, p)
			got := fmt.Sprintf("%v: %d elements, %d B of %d", p.Spec.DType, p.Elems,
				p.Bytes, p.Memory)
			if op == "sum" && got != want {
				t.Errorf("%s: %s, want %s", view, got, want)
			}
		}
	}
}
