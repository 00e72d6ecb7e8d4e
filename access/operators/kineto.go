package operators

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// kineto reads the events of a chrome trace (torch/csrc/profiler/collection.cpp
// and the output of libkineto): an operator's arguments are in lists of one
// element for each, "Input Dims", "Input Strides" (elements), "Input type" and
// "Concrete Inputs". A list of tensors has lists there.
type kineto struct {
	*trace
	*signatures
	fields, args *fieldReader
	key          []byte
}

func newKineto(t *trace, sigs *signatures) *kineto {
	return &kineto{trace: t, signatures: sigs,
		fields: newFieldReader("ph", "cat", "name", "pid", "tid", "ts", "dur", "args"),
		args:   newFieldReader("Input Dims", "Input Strides", "Input type", "Concrete Inputs", "Record function id")}
}

// event reads one event, of which those of operators count.
func (k *kineto) event(raw jsontext.Value) {
	if bytes.Contains(raw, []byte(`"kernel"`)) {
		k.onDevice = true
	}
	event, ok := k.fields.read(raw)
	if !ok {
		k.skip("(event)", "an event that is not an object")
		return
	}
	ph, cat, name := event[0], text(event[1]), text(event[2])
	switch {
	case cat == "cpu_op" || cat == "Operator":
	case cat == "" && strings.Contains(name, "::") && string(ph) == `"X"`: // PyTorch's legacy profiler
	default:
		return
	}
	start, startOK := nanoseconds(event[5])
	took, tookOK := nanoseconds(event[6])
	switch {
	case name == "":
		k.skip("(no name)", "an operator without a name")
		return
	case ph != nil && string(ph) != `"X"`:
		k.skip(name, "an event of phase "+orNone(ph)+", not X, has no duration")
		return
	case !startOK || event[6] != nil && !tookOK || took < 0:
		k.skip(name, fmt.Sprintf("its time cannot be read: ts %s, dur %s", orNone(event[5]), orNone(event[6])))
		return
	case k.calls.Len() >= maxCalls:
		k.skip("(others)", fmt.Sprintf("more than %d calls", maxCalls))
		return
	}
	k.key = append(append(append(k.key[:0], event[3]...), '/'), event[4]...)
	thread, ok := k.thread(k.key)
	if !ok {
		k.skip("(others)", fmt.Sprintf("on more than %d threads", maxThreads))
		return
	}
	c := call{start: start, took: took, link: thread}
	args, _ := k.args.read(event[7])
	c.record, _ = strconv.ParseUint(string(args[4]), 10, 64)
	c.signature = k.signature(name, args)
	k.calls.add(c)
}

// orNone is a value as it stands in the file.
func orNone(v jsontext.Value) string {
	if v == nil {
		return "(none)"
	}
	return string(v[:min(len(v), 40)])
}

// signature finds what the call shares with others, by the text of its fields.
func (k *kineto) signature(name string, args []jsontext.Value) uint32 {
	known := lookUp(name)
	dims, strides, types, concrete := args[0], args[1], args[2], args[3]
	if dims != nil {
		k.hasShapes = true
	}
	if !known.numbers() {
		concrete = nil
	}
	k.key = append(k.key[:0], name...)
	for _, field := range [][]byte{dims, strides, types, concrete} {
		k.key = append(append(k.key, 0), field...)
	}
	return k.of(k.key, func() signature {
		sig := signature{op: name, Row: known}
		if err := k.operands(&sig, dims, strides, types); err != nil {
			sig.problem = err.Error()
			sig.inputs = nil
		}
		for _, arg := range parse(concrete).list {
			sig.args = append(sig.args, arg.text())
		}
		return sig
	})
}

// operands reads the tensors among the arguments of a call.
func (k *kineto) operands(sig *signature, dims, strides, types jsontext.Value) error {
	shapeOf, typeOf, strideOf := parse(dims).list, parse(types).list, parse(strides).list
	for i, shape := range shapeOf {
		var name string
		if i < len(typeOf) {
			name = typeOf[i].text()
		}
		isList := name == "TensorList" || len(shape.list) > 0 && shape.list[0].isList
		if !isList && !isTensor(name, shape) {
			continue
		}
		k.hasTensors = true
		if i >= len(strideOf) {
			return fmt.Errorf("argument %d has a shape and no strides", i)
		}
		k.hasStrides = true
		shapes, steps, dtype := []value{shape}, strideOf[i:i+1], dtypeOf(name)
		if isList {
			shapes, steps, dtype = shape.list, strideOf[i].list, undefined
		}
		if len(shapes) != len(steps) {
			return fmt.Errorf("argument %d has %d shapes and %d strides", i, len(shapes), len(steps))
		}
		for j, one := range shapes {
			o, err := operandOf(one, steps[j], dtype, i, isList)
			if err != nil {
				return fmt.Errorf("argument %d: %w", i, err)
			}
			o.Nth = j
			sig.inputs = append(sig.inputs, o)
		}
	}
	sig.setRoles()
	return nil
}

// isTensor reports whether an argument with a type of that name is a tensor: of
// numbers, lists of them and what else there is, shapes are empty.
func isTensor(name string, shape value) bool {
	if name == "nullptr (uninitialized)" {
		return false
	}
	_, isType := spellings[name]
	return len(shape.list) > 0 || isType || strings.HasPrefix(name, "c10::")
}

// operandOf reads a tensor's shape and strides.
func operandOf(shape, strides value, dtype string, argument int, inList bool) (Tensor, error) {
	sizes, err := shape.ints()
	if err != nil {
		return Tensor{}, fmt.Errorf("its shape %w", err)
	}
	steps, err := strides.ints()
	if err != nil {
		return Tensor{}, fmt.Errorf("its strides %w", err)
	}
	o, err := newOperand(sizes, steps, dtype)
	o.Argument, o.InList = argument, inList
	return o, err
}

// setRoles says which operands are written: a name ends in _, or the table has all arguments but
// the last, where the result goes.
func (s *signature) setRoles() {
	last := len(strings.TrimRight(s.Row.args, ".")) // what is after all tensors is out=
	for i := range s.inputs {
		o := &s.inputs[i]
		switch {
		case s.Is(o.Argument) == Written:
			o.Role = Output
		case inPlace(s.op) && o.Argument == 0:
			o.Role = InPlace
		case s.Row.args != "" && o.Argument >= last && !o.InList:
			o.Role = Output
		}
	}
	if s.Has(Pairs) {
		s.Row = Operator{Op: s.op, Inputs: s.inputs}.Row()
	}
}

// nanoseconds reads a number of microseconds with at most three decimals that
// count. A double has not the digits of a time since 1970.
func nanoseconds(v jsontext.Value) (int64, bool) {
	whole, fraction, _ := strings.Cut(strings.Trim(string(v), `"`), ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || us > math.MaxInt64/2000 || us < math.MinInt64/2000 || strings.ContainsAny(fraction, "eE") {
		f, err := strconv.ParseFloat(string(v), 64)
		ok := err == nil && math.Abs(f) < math.MaxInt64/2000
		if !ok {
			f = 0
		}
		return int64(f * 1000), ok
	}
	ns, err := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if us < 0 || strings.HasPrefix(whole, "-") {
		ns = -ns
	}
	return us*1000 + ns, err == nil
}
