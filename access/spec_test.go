package access

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// specOf reads a spec: the operation, the shape, the dtype, and what else it has as key=value.
// Operands, which stand in place of a shape, have a role, a shape, strides unless they are
// contiguous, an offset and a dtype, such as in=4x3[1,4]+12:float64.
func specOf(text string) Spec {
	words := strings.Fields(text)
	s := Spec{Op: must(ParseOp(words[0])), DType: must(layouts.ParseDType(words[2]))}
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
			s.Operands = append(s.Operands, operandOf(must(ParseRole(key)), s.DType, value))
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
func operandOf(role Role, dtype layouts.DType, text string) Operand {
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
	return Operand{l, dtype, role, 0}
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

func order(text string) Order     { return must(ParseOrder(text)) }
func kernelOf(name string) Kernel { return must(ParseKernel(name)) }
func tag(text string) layouts.Tag { return must(layouts.ParseTag(text)) }

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

// TestSpecRefusals: what cannot be meant is an error of the field at fault, with its value.
func TestSpecRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"reorder 4x4 int32 to=aB4b":                                              "op reorder: it wants the format that x is in",
		"reorder 4x4 int32 from=ab":                                              "op reorder: it wants the format that it makes",
		"sum 4x4 int32 from=ab to=aB4b":                                          "to aB4b: makes no tensor",
		"copy 4x4 int32 from=aB4b":                                               "from aB4b: contiguous",
		"sum 4x4 int32 from=abc":                                                 "from abc: 3 dims",
		"reorder 4x4 int32 from=aB4b to=aB6b":                                    "to aB6b: blocks of 4 and of 6",
		"sum 4x4 int32 from=ba pad=1":                                            "pad 1: format",
		"sum 4x4 int32 from=ba view=t()":                                         `view "t()": no views`,
		"sum 4x4 int32 from=ba tile=2x2":                                         "tile 2x2: blocks",
		"sum 4x4 int32 from=ba width=16":                                         "width 16: format",
		"sum 4x4 int32 from=ba order=to":                                         `order "to": writes no tensor`,
		"sum 4x4 int32 from=ba order=torch":                                      `order "torch": format`,
		"sum 4x4 int32 order=from":                                               `order "from": no tensor here has a format`,
		"reorder 4x6 int32 from=ab to=aB4b kernel=avx2":                          "kernel avx2: padding",
		"sum 4x4 int32 view=narrow(1,0,9)":                                       `view "narrow(1,0,9)": length 9`,
		"sum 4x4 int32 order=1,1":                                                `order "1,1": 2`,
		"sum 4x4 int32 order=1":                                                  `order "1": not each of`,
		"sum 4x4 int32 order=0,5":                                                `order "0,5": not each of`,
		"sum 4x4 int32 tile=4":                                                   "tile 4: 1 sizes for the 2 dims",
		"sum 4x4 int32 tile=4x0":                                                 "tile 4x0: size 0 of dim 1",
		"sum 4x4 int32 width=6":                                                  "width 6: no multiple of the 4 B",
		"sum 4x4 int32 width=2":                                                  "width 2: no multiple of the 4 B",
		"sum 4x4 int32 width=-4":                                                 "width -4: ",
		"sum 4x5 int32 width=16":                                                 "width 16: 4 elements of dim 1, whose size 5",
		"sum 4x12 int32 width=16 view=slice(1,0,12,3)":                           "width 16: 4 elements of storage, no multiple",
		"sum 4x8 int32 width=16 tile=2x2":                                        "width 16: 4 elements of dim 1, whose tile",
		"copy 4x4 int32 width=16 view=t()":                                       "width 16: neighbours",
		"sum 4x4 int32 width=8 view=slice(1,3,4,1)":                              "width 8: tensor x at byte 60",
		"sum 2147483648x1073741824 int32":                                        "shape 2147483648x1073741824: more bytes than the address space",
		"sum 4294967296x4294967296 int32":                                        "shape 4294967296x4294967296: ",
		"sum 4611686018427387904 int32 view=view(torch.float32)[:10]":            "shape 4611686018427387904: of int32",
		"sum 1 int32 view=expand(4611686018427387904).unsqueeze(0).expand(2,-1)": "view : more elements than an int",
		"copy 1 int32 view=expand(4611686018427387904)":                          "shape 4611686018427387904: more bytes than the address space",
		"sum 4 int32 view=expand(5)":                                             "view : dim 0 has size 4",
		"sum 4x4 int32 kernel=portable width=8":                                  "kernel portable: a width",
		"copy 4x4 int32 kernel=portable order=col":                               "kernel portable: order",
		"sum 4x4 int32 kernel=portable order=col":                                "kernel portable: one after",
		"add 4x4 int32 with=1 kernel=portable":                                   "kernel portable: only scalar adds",
		"sum 4x4 int32 kernel=builtin":                                           "kernel builtin: sum",
		"copy 4x4 int32 kernel=builtin view=t()":                                 "kernel builtin: side by side",
		"add 4x3 float32 with=2x3":                                               "with 2x3: sizes 4 and 2 of dim -2",
		"sum 4 float32 threads=-1":                                               "threads -1: ",
		"sum 4 float32 grain=-1":                                                 "grain -1: ",
		"chase 8 int32":                                                          "dtype int32: int64",
		"chase 8 int64 order=col":                                                `order "col": random order`,
		"chase 8 int64 tile=2":                                                   "tile 2: random order",
		"chase 8 int64 width=16":                                                 "width 16: one element",
		"chase 8 int64 kernel=avx2":                                              "kernel avx2: only scalar",
		"chase 8589934592 int64":                                                 "shape 8589934592: 32 GiB",
		"chase 1 int64 view=expand(4)":                                           `view "expand(4)": once`,
		"copy - float32 input=2x3 output=2x3":                                    `order "row": torch`,
		"copy - float32 order=torch input=2x3":                                   "operands input 2x3 float32: an input and an output",
		"fill - float32 order=torch input=2x3":                                   "operands : written",
		"sum - float32 order=torch in-place=2x3":                                 "operands : an output or none",
		"add - float32 order=torch output=2x3":                                   "operands : read",
		"add - float32 order=torch input=2x3 input=5x5":                          "operands : sizes 2 and 5",
		"copy - float32 order=torch output=2x3 input=5x5":                        "operands : expand",
		"sum - float32 order=torch input=2x3 dims=2":                             "dims [2]: dim 2 is out of range",
		"add - float32 order=torch input=2x3 dims=1":                             "dims [1]: none",
		"add - float32 order=torch input=2x3 output=2x3 dims=2":                  "dims [2]: permute",
		"add - float32 order=torch input=2x3 output=2x3 dims=1,1":                "dims [1 1]: permute",
		"sum 4x4 float32 order=torch tile=2x2":                                   "tile 2x2: its own",
		"sum 4x4 float32 order=torch width=8":                                    "width 8: element by element",
		"copy 4x4 float32 order=torch kernel=builtin":                            "kernel builtin: scalar",
	} {
		_, err := specOf(text).Pattern()
		field, words, _ := strings.Cut(want, ": ")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, field) || !strings.Contains(got, words) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if fault, ok := errors.AsType[*FieldError](err); !ok || !strings.HasPrefix(err.Error(), string(fault.Field)+" "+fault.Value+": ") {
			t.Errorf("%s: %v names no field", text, err)
		}
	}
}
