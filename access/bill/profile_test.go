package bill

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/simcache"
)

// A placed operand is that of a call, in a line: "float32 64x48[1,64]@2+512" is input, in storage
// 2, from its element 512 on. A role may stand before it, or "list:1", the second tensor of a
// list, or "argument:2", its number. What has no strides is row-major.
type placed struct {
	operators.Tensor
	storage, offset int
}

func (o *placed) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	last := len(words) - 1
	o.DType, o.Role = words[last-1], operators.Input
	for _, word := range words[:last-1] {
		if place, listed := strings.CutPrefix(word, "list:"); listed {
			o.InList, o.Nth = true, numbers(place, ",")[0]
			continue
		}
		if at, given := strings.CutPrefix(word, "argument:"); given {
			o.Argument = number(at)
			continue
		}
		o.Role = operators.Use(word)
	}
	tensorText, place, _ := strings.Cut(words[last], "@")
	storage, offset, _ := strings.Cut(place, "+")
	o.storage, o.offset = number(storage), number(offset)
	shape, strides, given := strings.Cut(strings.TrimSuffix(tensorText, "]"), "[")
	o.Shape = numbers(strings.TrimPrefix(shape, "scalar"), "x")
	if o.Strides = numbers(strides, ","); !given {
		o.Strides = fresh(o.Shape, o.DType).Strides
	}
	return nil
}

// number is that of a text, 0 of none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func numbers(text, by string) []int {
	all := []int{}
	for part := range strings.SplitSeq(text, by) {
		if part != "" {
			all = append(all, number(part))
		}
	}
	return all
}

// A call is one of an operator, as the cases in testdata have it.
type call struct {
	Op              string
	Class           operators.Class
	Args            []string
	Inputs, Outputs []placed
	Callers         []string // chains, where the call stands alone
	Within          int      // the number of the call of a profile that it is made by, from 1 on
	Backward        bool
}

// made is a call with a result, which is the last of its operands.
func made(op string, operands ...string) call {
	c := call{Op: op, Inputs: make([]placed, len(operands))}
	for i, text := range operands {
		_ = c.Inputs[i].UnmarshalText([]byte(text))
	}
	last := len(operands) - 1
	c.Inputs, c.Outputs = c.Inputs[:last], c.Inputs[last:]
	return c
}

// arguments are the numbers of the arguments that the inputs are, by the operator's row.
func (c call) arguments() (all []int) {
	row := operators.Operator{Op: c.Op}.Row()
	next := 0
	for i, o := range c.Inputs {
		if i > 0 && o.InList && c.Inputs[i-1].InList && (o.Nth > 0 || row.Is(all[i-1]) == operators.Index) {
			all = append(all, all[i-1])
			continue
		}
		next = max(next, o.Argument)
		for row.Is(next) != 0 && !row.Is(next).Tensor() {
			next++
		}
		all = append(all, next)
		next++
	}
	return all
}

// operator is the call as package operators has it.
func (c call) operator() operators.Operator {
	op := operators.Operator{Op: c.Op, Class: c.Class, Args: c.Args, Calls: 1, Backward: c.Backward}
	for i, at := range c.arguments() {
		o := c.Inputs[i].Tensor
		o.Argument = at
		op.Inputs = append(op.Inputs, o)
	}
	for i, o := range c.Outputs {
		o.Role, o.Argument = operators.Output, i
		op.Outputs = append(op.Outputs, o.Tensor)
	}
	for _, chain := range c.Callers {
		op.Callers = append(op.Callers, operators.Caller{Chain: chain, Calls: 1})
	}
	return op
}

// dtypes are the names of dtypes in traces, where they are others.
var dtypes = map[string]string{"float32": "float", "float64": "double", "int64": "long int"}

func typeOf(o placed) string { return cmp.Or(dtypes[o.DType], o.DType) }

// object is one of JSON.
type object map[string]any

// node is the call in an execution trace, as number id, made by another number.
func (c call) node(id, caller int) object {
	side := func(all []placed) object {
		values, shapes, types, strides := []any{}, [][]int{}, []string{}, [][]int{}
		for _, o := range all {
			values = append(values, []any{1, o.storage, o.offset, 1, 4, "cpu"})
			shapes, strides = append(shapes, o.Shape), append(strides, o.Strides)
			types = append(types, fmt.Sprintf("Tensor(%s)", typeOf(o)))
		}
		return object{"values": values, "shapes": shapes, "types": types, "strides": strides}
	}
	var parameters []string
	for i, o := range c.Inputs {
		changed := map[bool]string{true: "(a!)"}[o.Role == operators.InPlace]
		parameters = append(parameters, fmt.Sprintf("Tensor%s x%d", changed, i))
	}
	list := strings.Join(parameters, ", ")
	schema := fmt.Sprintf("%s(%s) -> Tensor", c.Op, list)
	if strings.Contains(list, "(a!)") {
		schema += "(a!)"
	}
	attributes := []object{{"name": "op_schema", "type": "string", "value": schema}}
	if strings.HasPrefix(c.Op, "torch.") { // is a function
		attributes = append(attributes, object{"name": "scope", "type": "uint64", "value": 7})
	}
	return object{"id": id, "name": c.Op, "ctrl_deps": caller, "attrs": attributes,
		"inputs": side(c.Inputs), "outputs": side(c.Outputs)}
}

// event is the call in a Kineto trace, which has no results; those of its arguments that are no
// tensors are in Args.
func (c call) event(start, took int) object {
	dims, strides, types, values := []any{}, []any{}, []string{}, []string{}
	add := func(shape, steps any, kind, value string) {
		dims, strides = append(dims, shape), append(strides, steps)
		types, values = append(types, kind), append(values, value)
	}
	none := []int{}
	for inputs, args := c.Inputs, c.Args; len(inputs)+len(args) > 0; {
		value := ""
		if len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case value != "" || len(inputs) == 0:
			add(none, none, "Scalar", value)
		case inputs[0].InList:
			var shapes, steps [][]int
			for len(inputs) > 0 && inputs[0].InList && (len(shapes) == 0 || inputs[0].Nth > 0) {
				shapes, steps = append(shapes, inputs[0].Shape), append(steps, inputs[0].Strides)
				inputs = inputs[1:]
			}
			add(shapes, steps, "TensorList", "")
		default:
			add(inputs[0].Shape, inputs[0].Strides, typeOf(inputs[0]), "")
			inputs = inputs[1:]
		}
	}
	return object{"ph": "X", "cat": "cpu_op", "name": c.Op, "ts": start, "dur": took, "args": object{
		"Input Dims": dims, "Input Strides": strides, "Input type": types, "Concrete Inputs": values}}
}

// traceOf is an execution trace of calls, or a Kineto trace, which does not say where tensors lie.
func traceOf(t testing.TB, kineto bool, calls ...call) string {
	t.Helper()
	var all []object
	for i, c := range calls {
		caller, last := 1, i // of those that it makes
		if c.Within > 0 {
			caller = 1 + c.Within
		}
		for last+1 < len(calls) && calls[last+1].Within > i {
			last++
		}
		if kineto {
			all = append(all, c.event(2*i, 2*(last-i)+1))
		} else {
			all = append(all, c.node(i+2, caller))
		}
	}
	var whole any = all
	if !kineto {
		whole = object{"schema": "1.1.1-chakra.0.0.4", "nodes": all}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// load reads cases of testdata.
func load(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// typical is a machine of three levels.
func typical(t testing.TB) cost.Model {
	t.Helper()
	m := cost.Model{Times: cost.Generic("a test")}
	for i, text := range []string{"32768,8,64", "524288,8,64", "16777216,16,64"} {
		g, err := simcache.ParseGeometry(text)
		if err != nil {
			t.Fatal(err)
		}
		level := simcache.Level{Name: fmt.Sprintf("L%d", i+1), Geometry: g}
		m.Caches.Levels = append(m.Caches.Levels, level)
	}
	return m
}

func profileOf(t testing.TB, text string) *operators.Profile {
	t.Helper()
	p, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func priceOf(t testing.TB, p *operators.Profile) *Bill {
	t.Helper()
	b, err := Of(context.Background(), p, typical(t), begun(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// find is the item of an operator.
func find(t testing.TB, b *Bill, is func(Item) bool) Item {
	t.Helper()
	i := slices.IndexFunc(b.Operators, is)
	if i < 0 {
		t.Fatalf("none of %d operators", len(b.Operators))
	}
	return b.Operators[i]
}

// begun is told what begins, and fails a test that ends before all parts of it are done.
func begun(t testing.TB) func(what string, parts int) func() {
	var left atomic.Int64
	t.Cleanup(func() {
		if n := left.Load(); n != 0 && !t.Failed() {
			t.Errorf("%d parts are begun and not done", n)
		}
	})
	return func(_ string, parts int) func() {
		left.Add(int64(parts))
		return func() { left.Add(-1) }
	}
}
