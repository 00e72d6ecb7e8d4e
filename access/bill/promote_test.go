package bill

import (
	"testing"

	"github.com/stridebench/stridebench/access/operators"
)

// TestConverted: what is of another dtype than an operator computes in is converted beforehand, whole, unless the profile has the
// copy; then what was converted is read.
func TestConverted(t *testing.T) {
	shape, first, last := []int{1000, 1000}, []int{1000, 1}, []int{1, 1000}
	of := func(dtype string, o operators.Operand) operators.Operand { o.DType = dtype; return o }
	x, y := in(shape, first), out(shape, first)
	whole, in64 := out([]int{}, []int{}), of("int64", out([]int{}, []int{}))
	place := func(o operators.Operand) operators.Operand { o.Role = operators.InPlace; return o }
	list := func(o ...operators.Operand) []operators.Operand { return o }
	const million = 1000 * 1000
	for _, c := range []struct {
		name            string
		class           operators.Class
		args            []string
		inputs, outputs []operators.Operand
		converted       int // B, read and written
		bytes           int // without, and without a result as PyTorch allocates it
	}{
		{"sum", operators.Reduction, []string{"", ""}, list(x), list(whole), 0, 4*million + 4},
		{"sum", operators.Reduction, []string{"", ""}, list(of("int32", x)), list(in64), 12 * million, 8*million + 8},
		{"sum", operators.Reduction, []string{"", ""}, list(of("int32", x)), nil, 12 * million, 8*million + 8},
		{"sum", operators.Reduction, []string{"", "3"}, list(of("int32", x)), list(of("int32", whole)), 0, 4*million + 4},
		{"sum", operators.Reduction, []string{"", "[0]", "False"}, list(of("bool", in(shape, last))), list(of("int64", out([]int{1000}, []int{1}))), 9 * million, 8*million + 8000},
		{"sum", operators.Reduction, []string{"", ""}, list(of("int32", in(shape, []int{2000, 2}))), list(in64), 12 * million, 8*million + 8},
		{"mean", operators.Reduction, []string{"", "6"}, list(x), list(of("float64", whole)), 12 * million, 8*million + 8},
		{"amax", operators.Reduction, []string{"", "[]"}, list(of("int32", x)), list(of("int32", whole)), 0, 4*million + 4},
		{"add", operators.Elementwise, nil, list(of("float16", x), x), list(y), 6 * million, 8 * million},
		{"add", operators.Elementwise, nil, list(of("int32", x), of("int64", in([]int{}, []int{}))), list(of("int32", y)), 0, 4*million + 8},
		{"mul_", operators.Elementwise, nil, list(place(x), of("bool", x)), nil, 5 * million, 12 * million},
		{"gt", operators.Elementwise, nil, list(of("int32", x), x), list(of("bool", y)), 8 * million, 9 * million},
		{"sqrt", operators.Elementwise, nil, list(of("int64", x)), list(y), 12 * million, 4 * million},
		{"where", operators.Elementwise, nil, list(of("bool", x), x, x), list(y), 0, 13 * million},
		{"cumsum", operators.Rows, []string{"", "1"}, list(of("int32", x)), list(of("int64", y)), 12 * million, 8 * million},
	} {
		op := operators.Operator{Op: "aten::" + c.name, Class: c.class, Args: c.args, Inputs: c.inputs, Outputs: c.outputs}
		for _, copied := range []bool{false, true} {
			l, err := lower(op, calls{copies: map[string]bool{op.Op: copied}})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			want := c.bytes
			if !copied {
				want += c.converted
			}
			if bytes := bytesOf(t, l.specs); bytes != want || len(l.twins) != len(l.specs) {
				t.Errorf("%s of %s, its copy in the profile %t: %d B, want %d", c.name, c.inputs[0].DType, copied, bytes, want)
			}
		}
	}
}
