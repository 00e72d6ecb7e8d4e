package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stridebench/stridebench/simcache/explain"
)

// execution reads the nodes of an execution trace, schema 1.1.1-chakra.0.0.4
// (torch/csrc/profiler/standalone/execution_trace_observer.cpp). A node is written when its call
// returns, after the calls inside, but numbered before them. Its ctrl_deps is its caller's number.
// Inputs and outputs have lists "values", "shapes", "types" and "strides", with lists inside for
// lists of tensors. A tensor's value is [tensor, storage, offset in elements, elements, bytes per
// element, device].
type execution struct {
	*trace
	*signatures
	fields, operands, attr *fieldReader
	key                    []byte
	nodes                  []node
	nowhere                uint64 // the last made-up storage, counted down from the greatest number
	// calls that touch memory and have tensors without strides
	opaque      int
	firstOpaque string // its operator, of the first
}

type node struct {
	id, parent uint64
	call       call
	places     []Place
}

func newExecution(t *trace, sigs *signatures) *execution {
	e := &execution{trace: t, signatures: sigs,
		fields:   newFieldReader("id", "name", "ctrl_deps", "inputs", "outputs", "attrs", "parent"),
		operands: newFieldReader("shapes", "strides", "types", "values"),
		attr:     newFieldReader("name", "value")}
	t.adopt = e.adopt
	return e
}

func (e *execution) node(raw jsontext.Value) {
	fields, ok := e.fields.read(raw)
	if !ok {
		e.skip("(node)", "a node that is not an object")
		return
	}
	name := text(fields[1])
	if fields[2] == nil { // schema 1.0.1, of PyTorch 1.13
		fields[2] = fields[6]
	}
	id, err := strconv.ParseUint(string(fields[0]), 10, 64)
	parent, parentErr := strconv.ParseUint(string(fields[2]), 10, 64)
	switch {
	case name == "" || err != nil || parentErr != nil:
		e.skip(name, fmt.Sprintf("a node needs a name and the numbers id and ctrl_deps: it has "+
			"id %s, ctrl_deps %s", orNone(fields[0]), orNone(fields[2])))
		return
	case strings.HasPrefix(name, "[pytorch|profiler|execution_"): // the process, its threads
		return
	case len(e.nodes) >= maxNodes:
		e.skip("(others)", fmt.Sprintf("more than %d calls", maxNodes))
		return
	}
	scope := e.scopeOf(fields[5])
	n := node{id: id, parent: parent}
	in, out := e.side(fields[3]), e.side(fields[4])
	e.noteOpaque(name, in, out)
	n.call.signature = e.signature(name, scope, in, out)
	if sig := &e.all[n.call.signature]; sig.problem == "" {
		n.places = append(e.placesOf(in, len(sig.inputs)), e.placesOf(out, len(sig.outputs))...)
	}
	e.nodes = append(e.nodes, n)
}

// scopeOf returns the at::RecordScope of a node.
func (e *execution) scopeOf(attributes jsontext.Value) string {
	for _, one := range elementsOf(attributes) {
		if pair, _ := e.attr.read(one); text(pair[0]) == "scope" {
			return string(pair[1])
		}
	}
	return ""
}

// noteOpaque counts a call with tensors that have no strides. capture.py writes Opaque for sparse
// and mkldnn tensors.
func (e *execution) noteOpaque(name string, in, out side) {
	if !strings.Contains(string(in.types)+string(out.types), "Opaque") ||
		!lookUp(name).Class.Touches() {
		return
	}
	if e.opaque == 0 {
		e.firstOpaque = name
	}
	e.opaque++
}

type side struct{ shapes, strides, types, values jsontext.Value }

func (e *execution) side(raw jsontext.Value) side {
	f, ok := e.operands.read(raw)
	if !ok {
		return side{}
	}
	return side{f[0], f[1], f[2], f[3]}
}

// userScope is at::RecordScope::USER_SCOPE, a stretch that the program names.
const userScope = "7"

// signature finds the signature by the text of the fields. Values count only for operators with
// numbers.
func (e *execution) signature(name, scope string, in, out side) uint32 {
	known := lookUp(name)
	stretch := scope == userScope && !strings.Contains(name, "::")
	if stretch {
		known = Row{Class: None}
	}
	if in.shapes != nil {
		e.hasShapes = true
	}
	var args []string
	if known.numbers() {
		args = in.numbers()
	}
	e.key = append(e.key[:0], name...)
	for _, field := range [][]byte{[]byte(scope), in.shapes, in.strides, in.types, out.shapes,
		out.strides, out.types} {
		e.key = append(append(e.key, 0), field...)
	}
	for _, arg := range args {
		e.key = append(append(e.key, 0), arg...)
	}
	return e.of(e.key, func() signature {
		sig := signature{op: name, Row: known, stretch: stretch, args: args}
		var err error
		if sig.inputs, err = e.tensors(in); err == nil {
			sig.outputs, err = e.tensors(out)
		}
		if err != nil {
			sig.inputs, sig.outputs, sig.problem = nil, nil, err.Error()
			return sig
		}
		sig.setRoles()
		if slices.ContainsFunc(sig.inputs, func(o Tensor) bool { return o.Role != Input }) {
			sig.outputs = nil // they are inputs
		}
		for i := range sig.outputs {
			sig.outputs[i].Role = Output
		}
		return sig
	})
}

func (e *execution) tensors(s side) ([]Tensor, error) {
	shapes, strides := parse(s.shapes), parse(s.strides)
	var all []Tensor
	for _, l := range leaves(s) {
		e.hasTensors = true
		argument := l.path[0]
		shape, known := shapes.at(l.path)
		steps, also := strides.at(l.path)
		if !known || !also {
			return nil, fmt.Errorf("argument %d has a type, and no shape or no strides", argument)
		}
		e.hasStrides = true
		o, err := operandOf(shape, steps, l.dtype, argument, len(l.path) > 1)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", argument, err)
		}
		if o.InList {
			o.Nth = l.path[1]
		}
		all = append(all, o)
	}
	return all, nil
}

// A leaf is a tensor of a side. Its path is its argument, and then its places in lists.
type leaf struct {
	dtype string
	path  []int
}

func leaves(s side) (all []leaf) {
	for i, name := range parse(s.types).list {
		all = append(all, leavesOf(name.text(), i)...)
	}
	return all
}

// leavesOf returns the tensors of an argument by its type, as convertIValue writes it:
// "Tensor(float)", "Int", or a list of these, "GenericList[Tensor(float),None]".
func leavesOf(name string, argument int) (all []leaf) {
	path := []int{argument}
	for len(path) < maxTypeDepth {
		at := strings.IndexAny(name, "([,]")
		if at < 0 {
			return all
		}
		kind, rest, last := name[:at], name[at+1:], len(path)-1
		switch name[at] {
		case '(': // Tensor(c10::complex<float>), Tensor(nullptr (uninitialized))
			var inner string
			inner, rest = parenthesis(name[at:])
			if dtype := dtypeOf(inner); kind == "Tensor" && dtype != undefined {
				all = append(all, leaf{dtype, slices.Clone(path)})
			}
		case '[':
			path = append(path, 0)
		case ',':
			path[last]++
		case ']':
			path = path[:max(last, 1)]
		}
		name = rest
	}
	return all
}

// maxTypeDepth is the most lists within lists.
const maxTypeDepth = 16

func (v value) at(path []int) (value, bool) {
	for _, i := range path {
		if i >= len(v.list) {
			return value{}, false
		}
		v = v.list[i]
	}
	return v, true
}

func parenthesis(s string) (inner, rest string) {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:]
			}
		}
	}
	return s[1:], ""
}

func (e *execution) placesOf(s side, n int) []Place {
	all := make([]Place, n)
	values := parse(s.values)
	for i, l := range leaves(s)[:n] {
		e.nowhere--
		all[i].Storage = e.nowhere
		if v, _ := values.at(l.path); len(v.list) > 2 {
			storage, err := strconv.ParseUint(string(v.list[1].raw), 10, 64)
			offset, offsetErr := strconv.Atoi(string(v.list[2].raw))
			if err == nil && offsetErr == nil && storage > 0 && offset >= 0 &&
				offset <= maxOperand {
				all[i] = Place{storage, offset}
			}
		}
	}
	return all
}

func (s side) numbers() []string {
	values := elementsOf(s.values)
	args := make([]string, len(values))
	for i, v := range values {
		args[i] = string(v)
		if v.Kind() == '"' {
			args[i] = text(v)
		}
	}
	for _, l := range leaves(s) {
		if at := l.path[0]; at < len(args) {
			args[at] = ""
		}
	}
	return args
}

// adopt sorts the nodes by their calls and finds their callers.
func (e *execution) adopt() {
	slices.SortStableFunc(e.nodes, func(a, b node) int { return cmp.Compare(a.id, b.id) })
	index := make(map[uint64]int32, len(e.nodes))
	e.places = make([][]Place, 0, len(e.nodes))
	for i, n := range e.nodes {
		n.call.link = -1
		if at, ok := index[n.parent]; ok && n.parent < n.id {
			n.call.link = at
		}
		index[n.id] = int32(i)
		e.calls.add(n.call)
		e.places = append(e.places, n.places)
	}
	e.nodes = nil
	if e.opaque > 0 {
		e.warn("tensors without strides, such as sparse ones, are not counted: %s, first %s",
			explain.Counted(e.opaque, "call"), e.firstOpaque)
	}
}
