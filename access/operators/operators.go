// Package operators is the program's own and promises nothing. It reads profiles of models into
// distinct operators, with their tensors as values: shape, strides, dtype and role. It reads
//
//   - Kineto's chrome traces (torch.profiler with record_shapes=True),
//   - PyTorch's execution traces (ExecutionTraceObserver, and scripts/capture/capture.py),
//   - the reorders in oneDNN's verbose logs (ONEDNN_VERBOSE=1).
//
// [Read] reads any number of such files, gzipped or not, as streams, and returns a [Profile].
// table.txt has a [Row] for each known operator. Each access to memory counts once, for the
// innermost operator that makes it. Calls that are not understood count as [Unknown] or [Skipped].
package operators

import (
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts"
)

// A Use is what an operator does to an operand.
type Use string

// The uses.
const (
	Input   Use = "input"    // read
	Output  Use = "output"   // written
	InPlace Use = "in-place" // read and written
)

// A Tensor is an operand of an operator.
type Tensor struct {
	Shape []int `json:"shape"`
	// Strides are in elements, or nil if there is a Format.
	Strides []int `json:"strides,omitzero"`
	// DType is PyTorch's name, such as "float32", or "undefined" if the profile has none.
	// layouts.ParseDType does not know all of them ("bfloat16").
	DType string `json:"dtype"`
	Role  Use    `json:"role"`
	// Format is oneDNN's tag of a blocked format, such as "ABcd16b16a".
	Format string `json:"format,omitempty"`
	// Argument is the number of the argument, or result, that is the operand or a list with it.
	Argument int  `json:"-"`
	InList   bool `json:"in_list,omitzero"`
	// Nth is its place in that list, from 0. The list of x[:, i] is None, i.
	Nth int `json:"nth,omitzero"`
}

// Layout returns the operand's layout, at offset 0.
func (o Tensor) Layout() (layouts.Layout, error) {
	if o.Format != "" {
		return layouts.Layout{}, fmt.Errorf("format %s is not a list of strides", o.Format)
	}
	return layouts.New(o.Shape, o.Strides, 0)
}

// Bytes returns the bytes of the distinct elements, or 0 if the dtype's size is unknown. An
// expanded dim counts once.
func (o Tensor) Bytes() int64 {
	bytes := int64(o.ItemSize())
	for d, n := range o.Shape {
		if d >= len(o.Strides) || o.Strides[d] != 0 || n == 0 {
			bytes *= int64(n)
		}
	}
	return bytes
}

// ItemSize returns the bytes of an element, or 0 if unknown.
func (o Tensor) ItemSize() int { return sizes[o.DType] }

func (o Tensor) moved() int64 {
	if o.Role == InPlace {
		return 2 * o.Bytes()
	}
	return o.Bytes()
}

// An Operator is all calls of an operator with the same dtypes, shapes and strides in one pass.
type Operator struct {
	Op    string `json:"op"` // as the profile names it: "aten::copy_"
	Class Class  `json:"class"`
	// Backward is set if autograd's nodes or a function backward called it.
	Backward bool `json:"backward,omitzero"`
	// Inputs are the tensors among the arguments, in order, written ones too. Lists are flattened.
	Inputs []Tensor `json:"inputs"`
	// Outputs are the results that are not arguments. A Kineto trace has none.
	Outputs []Tensor `json:"outputs,omitempty"`
	// Args are the arguments as text, "" for tensors. Only operators whose arguments decide which
	// memory is touched have them, such as the dims of a sum.
	Args  []string `json:"args,omitempty"`
	Calls int      `json:"calls"`
	// Bytes are read plus written by all calls, 0 for a Class that touches no memory.
	Bytes   int64    `json:"bytes"`
	Callers []Caller `json:"callers,omitempty"`
}

// A Caller is a chain of callers.
type Caller struct {
	Chain string `json:"chain"` // from the outermost, such as "aten::reshape > aten::clone"
	Calls int    `json:"calls"`
}

// Skipped counts calls without an Operator, or with an Unknown one.
type Skipped struct {
	Op     string `json:"op"`
	Reason string `json:"reason"`
	Calls  int    `json:"calls"`
	Bytes  int64  `json:"bytes"` // as far as they could be read
}

// A Place is a storage and an offset in elements.
type Place struct {
	Storage uint64 // one of its own if the profile does not say
	Offset  int
}

// A Call is one call of an operator that touches memory.
type Call struct {
	Operator int // index in Profile.Operators
	// Places has the inputs' places, then the outputs'.
	Places []Place
}

// A Profile is the operators of some files.
type Profile struct {
	// Calls counts all calls, including skipped ones.
	Calls     int
	Operators []Operator // in the order of their first calls
	Skipped   []Skipped
	// Tally counts the operands of all calls.
	Tally Tally
	// OnDevice is set if operators ran on a GPU.
	OnDevice bool
	// Step has the calls in order, if the profile is a single execution trace.
	Step []Call
	// Sources describe the files, and Warnings what could not be read or is assumed; a line each.
	Sources  []string
	Warnings []string
}

// A Tally counts operands and their bytes. Transposed operands fill their memory, but in another
// order of dims. Strided ones leave holes.
type Tally struct {
	All             int   `json:"all"`
	Bytes           int64 `json:"bytes"`
	Transposed      int   `json:"transposed"`
	TransposedBytes int64 `json:"transposed_bytes"`
	Strided         int   `json:"strided"`
	StridedBytes    int64 `json:"strided_bytes"`
}

func (t *Tally) add(o Tensor, calls int) {
	l, err := o.Layout()
	if err != nil {
		return
	}
	count := func(n *int, bytes *int64) {
		*n, *bytes = *n+calls, Plus(*bytes, times(o.Bytes(), calls))
	}
	count(&t.All, &t.Bytes)
	if dense := l.IsDense(); dense && !l.IsContiguous() {
		count(&t.Transposed, &t.TransposedBytes)
	} else if !dense {
		count(&t.Strided, &t.StridedBytes)
	}
}

// Plus returns a + b, both at least 0, and at most math.MaxInt64.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times returns n * a, both at least 0, and at most math.MaxInt64.
func times(a int64, n int) int64 {
	if a > 0 && int64(n) > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * int64(n)
}

// maxOperand is the most bytes that an operand spans, more than any machine has.
const maxOperand = 1 << 48

// newOperand returns an operand, or an error if PyTorch has no such tensor.
func newOperand(shape, strides []int, dtype string) (Tensor, error) {
	o := Tensor{Shape: shape, Strides: strides, DType: dtype, Role: Input}
	if i := slices.IndexFunc(strides, func(n int) bool { return n < 0 }); i >= 0 {
		return o, fmt.Errorf("stride %d of dim %d is negative, which PyTorch does not have",
			strides[i], i)
	}
	if _, err := layouts.New(shape, strides, 0); err != nil {
		return o, err
	}
	span := 1
	for d, n := range shape {
		if n == 0 {
			return o, nil
		}
		span += (n - 1) * strides[d] // layouts.New has checked that it fits
	}
	numel := 1
	for _, n := range shape {
		numel *= n
	}
	if most := maxOperand / max(o.ItemSize(), 1); span > most || numel > most {
		return o, fmt.Errorf("a tensor of shape %s and strides %v is larger than 256 TiB",
			layouts.FormatShape(shape), strides)
	}
	return o, nil
}
