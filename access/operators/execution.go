package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// execution reads the nodes of an execution trace, schema 1.1.1-chakra.0.0.4
// (torch/csrc/profiler/standalone/execution_trace_observer.cpp). A node is
// written when its call returns, so after those that it called, with a number
// that it got before them; ctrl_deps is the number of the one that called it.
// Its inputs and outputs have "values", "shapes", "types" and "strides" with an
// element for each, lists for lists, and the value of a tensor is [tensor,
// storage, offset in elements, elements, bytes of one, device].
type execution struct {
	*trace
	*signatures
	fields, operands, attr *fieldReader
	key                    []byte
	nodes                  []node
	nowhere                uint64 // the last storage that is made up, from the greatest number on
	opaque                 int    // calls that touch memory and have tensors of which the trace says nothing
	firstOpaque            string // the operator of the first
}

// A node is one call, until it is known who called it.
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

// node reads one node.
func (e *execution) node(raw jsontext.Value) {
	fields, ok := e.fields.read(raw)
	if !ok {
		e.skip("(node)", "a node that is not an object")
		return
	}
	name := text(fields[1])
	if fields[2] == nil { // as schema 1.0.1 has it, of PyTorch 1.13
		fields[2] = fields[6]
	}
	id, err := strconv.ParseUint(string(fields[0]), 10, 64)
	parent, parentErr := strconv.ParseUint(string(fields[2]), 10, 64)
	switch {
	case name == "" || err != nil || parentErr != nil:
		e.skip(name, fmt.Sprintf("a node needs a name and the numbers id and ctrl_deps: it has id %s, ctrl_deps %s", orNone(fields[0]), orNone(fields[2])))
		return
	case strings.HasPrefix(name, "[pytorch|profiler|execution_"): // the process, its threads
		return
	case len(e.nodes) >= maxNodes:
		e.skip("(others)", fmt.Sprintf("more than %d calls", maxNodes))
		return
	}
	attrs := e.attributes(fields[5])
	n := node{id: id, parent: parent, call: call{record: attrs.record, took: attrs.took}}
	in, out := e.side(fields[3]), e.side(fields[4])
	e.noteOpaque(name, in, out)
	n.call.signature = e.signature(name, attrs, in, out)
	if sig := &e.all[n.call.signature]; sig.problem == "" {
		n.places = append(e.placesOf(in, len(sig.inputs)), e.placesOf(out, len(sig.outputs))...)
	}
	e.nodes = append(e.nodes, n)
}

// attributes are those of a node that matter.
type attributes struct {
	record uint64
	took   int64  // ns, as capture.py has it
	scope  string // at::RecordScope
}

func (e *execution) attributes(raw jsontext.Value) (a attributes) {
	for _, one := range elementsOf(raw) {
		pair, _ := e.attr.read(one)
		switch value := pair[1]; text(pair[0]) {
		case "rf_id":
			a.record, _ = strconv.ParseUint(string(value), 10, 64)
		case "duration_ns":
			a.took, _ = strconv.ParseInt(string(value), 10, 64)
			a.took = max(a.took, 0)
		case "scope":
			a.scope = string(value)
		}
	}
	return a
}

// noteOpaque counts a call that touches memory if some of its tensors have no strides: capture.py
// writes Opaque for what is sparse or mkldnn's, and no bytes of it are in the bill.
func (e *execution) noteOpaque(name string, in, out side) {
	if !strings.Contains(string(in.types)+string(out.types), "Opaque") || !lookUp(name).Class.Touches() {
		return
	}
	if e.opaque == 0 {
		e.firstOpaque = name
	}
	e.opaque++
}

// A side is the inputs or the outputs of a node.
type side struct{ shapes, strides, types, values jsontext.Value }

func (e *execution) side(raw jsontext.Value) side {
	f, ok := e.operands.read(raw)
	if !ok {
		return side{}
	}
	return side{f[0], f[1], f[2], f[3]}
}

// userScope is at::RecordScope::USER_SCOPE: a stretch that the program names.
const userScope = "7"

// signature finds what the call shares with others, by the text of its fields.
// The values are none of it, but of operators whose numbers matter.
func (e *execution) signature(name string, attrs attributes, in, out side) uint32 {
	known := lookUp(name)
	stretch := attrs.scope == userScope && !strings.Contains(name, "::")
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
	for _, field := range [][]byte{[]byte(attrs.scope), in.shapes, in.strides, in.types, out.shapes, out.strides, out.types} {
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
			sig.outputs = nil // which are these
		}
		for i := range sig.outputs {
			sig.outputs[i].Role = Output
		}
		return sig
	})
}

// tensors reads the operands of a side.
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

// A leaf is a tensor among the values of a side: its argument, and then its places in lists.
type leaf struct {
	dtype string
	path  []int
}

// leaves are the tensors of a side, by its types.
func leaves(s side) (all []leaf) {
	for i, name := range parse(s.types).list {
		all = append(all, leavesOf(name.text(), i)...)
	}
	return all
}

// leavesOf are the tensors of an argument by its type, as convertIValue writes it: "Tensor(float)",
// "Int", or lists of such, "GenericList[Tensor(float),None]".
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

// maxTypeDepth is how deep lists of lists are followed.
const maxTypeDepth = 16

// at is what is at a place in lists of lists.
func (v value) at(path []int) (value, bool) {
	for _, i := range path {
		if i >= len(v.list) {
			return value{}, false
		}
		v = v.list[i]
	}
	return v, true
}

// parenthesis returns what is in the parenthesis that s starts with, and what is
// after it.
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

// placesOf are where the tensors of a side lie, the first n in order.
func (e *execution) placesOf(s side, n int) []Place {
	all := make([]Place, n)
	values := parse(s.values)
	for i, l := range leaves(s)[:n] {
		e.nowhere--
		all[i].Storage = e.nowhere
		if v, _ := values.at(l.path); len(v.list) > 2 {
			storage, err := strconv.ParseUint(string(v.list[1].raw), 10, 64)
			offset, offsetErr := strconv.Atoi(string(v.list[2].raw))
			if err == nil && offsetErr == nil && storage > 0 && offset >= 0 && offset <= maxOperand {
				all[i] = Place{storage, offset}
			}
		}
	}
	return all
}

// numbers are the arguments as text, "" for tensors and lists of them.
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

// adopt puts the nodes into the order in which they were called, and finds each
// its caller.
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
		e.warnings = append(e.warnings, fmt.Sprintf("%s: tensors without strides, such as sparse ones, are not counted: %s, first %s",
			e.name, inCalls(e.opaque), e.firstOpaque))
	}
}
