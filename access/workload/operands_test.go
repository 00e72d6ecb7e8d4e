package workload

import (
	"strings"
	"testing"
)

// TestOperands: an entry of operands is one spec in PyTorch's order, and its twin.
func TestOperands(t *testing.T) {
	w, err := Parse("w.yaml", []byte(`
benchmarks:
  - name: aten.copy_
    op: copy
    operands:
      - {role: output, shape: 8x4}
      - {role: input, shape: 8x4, strides: [1, 8], offset: 3, dtype: float32}
    twin: contiguous
  - op: sum
    dims: [0]
    operands:
      - {shape: 8x4, dtype: float64}
    twin: contiguous
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range w.Comparisons {
		for _, b := range c {
			got = append(got, b.Name)
		}
	}
	want := `Operands/name=aten.copy_/op=copy/out=8x4/in=8x4[1,8]/order=torch/dtype=float32/kernel=scalar
Operands/name=aten.copy_/op=copy/out=8x4/in=8x4/order=torch/dtype=float32/kernel=scalar
Operands/op=sum/dims=0/in=8x4/order=torch/dtype=float64/kernel=scalar`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestOperandsRefused: errors say where, and what would be right.
func TestOperandsRefused(t *testing.T) {
	for entry, want := range map[string]string{
		"op: copy, kernel: scalar, operands: [{shape: 4}]":                                 "w.yaml:1:15: | name, op, dims and twin",
		"op: sum, operands: []":                                                            "w.yaml:1:34: | no operands | list",
		"op: copy, operands: [{role: output, shape: 4x4, strides: [1, 1]}, {shape: 4x4}]":  "output | share memory",
		"op: add, operands: [{role: in-place, shape: 4x4, strides: [1, 1]}, {shape: 4x4}]": "output | share memory",
		"operands: [{shape: 4}]":                                                           "one op",
		"op: sum, operands: [{role: input}]":                                               "w.yaml:1:36: | shape",
		"op: sum, operands: [{shape: 4, role: other}]":                                     "role | input, output, in-place",
		"op: sum, operands: [{shape: 4x4, strides: [4]}]":                                  "strides",
		"op: sum, operands: [{shape: 4x4, strides: [4, x]}]":                               `stride "x"`,
		"op: sum, operands: [{shape: 4x4, offset: -1}]":                                    "offset -1",
		"op: sum, operands: [{shape: 4x4}], twin: other":                                   `twin "other" | contiguous`,
		"op: sum, operands: [{shape: 4x4}], dims: [a]":                                     `dims "a"`,
		"op: sum, operands: [{shape: 4x4}], dims: [3]":                                     "w.yaml:1:57: | dims [3] | dim 3",
		"op: sum, operands: [{shape: 4x4}], dims: [0, -2]":                                 "w.yaml:1:57: | dims [0 -2] | dim 0 | twice",
		"op: copy, operands: [{shape: 4x4}]":                                               "copy | an input and an output",
		"op: copy, operands: [{role: output, shape: 4}, {shape: 4, dtype: int8}]":          "converts",
		"op: sum, tensor: x, twin: contiguous":                                             "dims and twin | operands",
	} {
		_, err := Parse("w.yaml", []byte("benchmarks: [{"+entry+"}]\n"))
		checkError(t, entry, err, "w.yaml:1: | "+want)
	}
}
