// Package operators reads what a profiler wrote of a model's run into its
// distinct operators, with their tensors as values: a shape, strides, a dtype
// and a role each. It reads
//
//   - Kineto's chrome traces (torch.profiler with record_shapes=True),
//   - PyTorch's execution traces (ExecutionTraceObserver, and
//     scripts/capture/capture.py, which writes their form),
//   - oneDNN's verbose logs (ONEDNN_VERBOSE=1), of which every reorder.
//
// [Read] takes any number of such files, each gzipped or not, as a stream, and
// returns a [Profile]. What is known of operators is in table.txt (a [Row] each),
// such as what they do to memory (a [Class]). Each access to memory is counted
// once: as the innermost operator that touches it, with its callers named.
// What is not understood is counted as well, as [Unknown] or as [Skipped].
package operators

import (
	"fmt"
	"math"
	"slices"
	"time"

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

// A Tensor is a tensor as an operator saw it.
type Tensor struct {
	Shape []int `json:"shape"`
	// Strides are in elements. They are nil where the profile has a Format
	// instead.
	Strides []int `json:"strides,omitzero"`
	// DType is PyTorch's name, such as "float32". layouts.ParseDType may not know
	// it ("bfloat16"); "undefined" is that of which the profile says nothing.
	DType string `json:"dtype"`
	Role  Use    `json:"role"`
	// Format is oneDNN's tag of a memory layout, such as "ABcd16b16a".
	Format string `json:"format,omitempty"`
	// Argument is the number of the operator's argument, or result, that the
	// operand is or, if InList, is in.
	Argument int  `json:"-"`
	InList   bool `json:"in_list,omitzero"`
	// Nth is its place in that list, from 0 on, in which there may be what is no tensor:
	// x[:, i] is an index of the list None, i.
	Nth int `json:"nth,omitzero"`
}

// Layout returns the operand's layout at offset 0.
func (o Tensor) Layout() (layouts.Layout, error) {
	if o.Format != "" {
		return layouts.Layout{}, fmt.Errorf("format %s is not a list of strides", o.Format)
	}
	return layouts.New(o.Shape, o.Strides, 0)
}

// Bytes counts the bytes of the operand's elements, those that an expanded dim
// repeats once; 0 if the size of its dtype is not known.
func (o Tensor) Bytes() int64 {
	bytes := int64(itemSize(o.DType))
	for d, n := range o.Shape {
		if d >= len(o.Strides) || o.Strides[d] != 0 || n == 0 {
			bytes *= int64(n)
		}
	}
	return bytes
}

// ItemSize is the bytes of an element, 0 if the size of its dtype is not known.
func (o Tensor) ItemSize() int { return itemSize(o.DType) }

// moved is the bytes that an operator reads of the operand plus those that it
// writes.
func (o Tensor) moved() int64 {
	if o.Role == InPlace {
		return 2 * o.Bytes()
	}
	return o.Bytes()
}

// contiguous reports whether the operand's elements lie in row-major order,
// with no gaps.
func (o Tensor) contiguous() bool {
	l, err := o.Layout()
	return err == nil && l.IsContiguous()
}

// An Operator is all calls of one operator with the same dtypes, shapes and
// strides, of those that touch memory in the forward pass or in the backward one.
type Operator struct {
	Op    string `json:"op"` // as the profile names it: "aten::copy_"
	Class Class  `json:"class"`
	// Backward: what computes gradients called it, autograd's nodes or a function backward.
	Backward bool `json:"backward,omitzero"`
	// Inputs are the tensors among the arguments, in their order, those that are
	// written too; a list of tensors is its tensors.
	Inputs []Tensor `json:"inputs"`
	// Outputs are the results, where the profile has them (a Kineto trace has
	// not), without those that are one of the arguments.
	Outputs []Tensor `json:"outputs,omitempty"`
	// Args are the arguments as the profile spells them, "" for tensors, of the
	// operators for which they say what memory is touched (the dims of a sum).
	Args  []string `json:"args,omitempty"`
	Calls int      `json:"calls"`
	// Bytes are those of the operands that the profile has, over all calls: read
	// plus written. 0 of a Class that touches no memory.
	Bytes int64 `json:"bytes"`
	// Time is what the profile recorded for all calls, on the thread that called,
	// without the operators inside that are counted themselves.
	Time    time.Duration `json:"time_ns,omitzero"`
	Callers []Caller      `json:"callers,omitempty"`
}

// A Caller is a chain of operators by which an operator was called.
type Caller struct {
	Chain string `json:"chain"` // from the outermost, such as "aten::reshape > aten::clone"
	Calls int    `json:"calls"`
}

// Skipped counts calls that Operators does not have, or has as Unknown.
type Skipped struct {
	Op     string `json:"op"`
	Reason string `json:"reason"`
	Calls  int    `json:"calls"`
	Bytes  int64  `json:"bytes"` // as far as they could be read
}

// A Place is where an operand lies: in which storage, and how many elements
// from its start.
type Place struct {
	Storage uint64 `json:"storage"` // one of its own if the profile does not say
	Offset  int    `json:"offset"`
}

// A Call is one call of an operator that touches memory.
type Call struct {
	Operator int // index in Profile.Operators
	// Places are those of the operator's inputs, then of its outputs.
	Places []Place
}

// A Profile is what files of operators say.
type Profile struct {
	// Calls counts the operators' calls that the files have: those of Operators,
	// and those of Skipped that Operators has not.
	Calls     int        `json:"calls"`
	Operators []Operator `json:"operators"` // in the order of their first calls
	Skipped   []Skipped  `json:"skipped"`
	// Strided counts the tensors given as arguments, wrappers' too but lists not,
	// that are not contiguous; StridedDistinct how many differ in operator,
	// dtype, shape or strides.
	Strided         int `json:"strided_inputs"`
	StridedDistinct int `json:"strided_inputs_distinct"`
	// Tally counts the operands of all operators, over all calls.
	Tally Tally `json:"operands"`
	// OnDevice: some ran on a GPU.
	OnDevice bool `json:"on_device,omitzero"`
	// Step has the calls in their order, where the profile says where operands
	// lie: of a single execution trace.
	Step []Call `json:"-"`
	// Sources says of each file what it is, Warnings what of it could not be read
	// or is assumed, in a line each.
	Sources  []string `json:"sources"`
	Warnings []string `json:"warnings,omitempty"`
}

// A Tally counts operands, and their bytes: all, and those of these that are not contiguous. Of
// them, the transposed ones fill their memory, in another order of dims; the strided ones do not.
type Tally struct {
	All             int   `json:"all"`
	Bytes           int64 `json:"bytes"`
	Transposed      int   `json:"transposed"`
	TransposedBytes int64 `json:"transposed_bytes"`
	Strided         int   `json:"strided"`
	StridedBytes    int64 `json:"strided_bytes"`
}

// add counts an operand of so many calls.
func (t *Tally) add(o Tensor, calls int) {
	l, err := o.Layout()
	if err != nil {
		return
	}
	count := func(n *int, bytes *int64) {
		*n, *bytes = *n+calls, plus(*bytes, times(o.Bytes(), calls))
	}
	count(&t.All, &t.Bytes)
	if dense := l.IsDense(); dense && !l.IsContiguous() {
		count(&t.Transposed, &t.TransposedBytes)
	} else if !dense {
		count(&t.Strided, &t.StridedBytes)
	}
}

// plus is a + b of what is not negative, at most what an int64 holds.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times is n times a of what is not negative, at most what an int64 holds.
func times(a int64, n int) int64 {
	if a > 0 && int64(n) > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * int64(n)
}

// maxOperand is the most bytes that an operand may span: more than any machine
// has.
const maxOperand = 1 << 48

// newOperand checks what a profile says of a tensor. It refuses what is no
// tensor of PyTorch's.
func newOperand(shape, strides []int, dtype string) (Tensor, error) {
	o := Tensor{Shape: shape, Strides: strides, DType: dtype, Role: Input}
	if i := slices.IndexFunc(strides, func(n int) bool { return n < 0 }); i >= 0 {
		return o, fmt.Errorf("stride %d of dim %d is negative, which PyTorch does not have", strides[i], i)
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
	if most := maxOperand / max(itemSize(dtype), 1); span > most || numel > most {
		return o, fmt.Errorf("a tensor of shape %s and strides %v is larger than 256 TiB", layouts.FormatShape(shape), strides)
	}
	return o, nil
}
