package layouts

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strconv"
	"strings"
)

// This file has PyTorch's functions that make a tensor (aten/src/ATen/native/TensorFactories.cpp,
// torch/csrc/utils/tensor_new.cpp).

// A made is what a factory makes.
type made struct {
	layout   Layout
	dtype    DType
	elements func(i int) scalar // in row-major order, nil where PyTorch does not define them
	why      string             // why it does not
}

var factories = []viewOp{
	factory("arange(#end", func(end value, dtype argument) (made, error) {
		return arange(value{kind: number}, end, value{kind: number, n: 1}, dtype)
	}),
	factory("arange(#start, #end, #step=1", arange),
	factory("zeros(size...", func(shape []int, dtype argument) (made, error) {
		return filled(shape, scalar{}, dtype.dtypeOr(Float32))
	}),
	factory("ones(size...", func(shape []int, dtype argument) (made, error) {
		return filled(shape, whole(kindInteger, 1), dtype.dtypeOr(Float32))
	}),
	factory("full((size...), #fill_value", full),
	factory("empty(size..., *memory_format=None", empty),
	factory("rand(size...", random),
	factory("randn(size...", random),
	factory("tensor(#data", tensorOf),
}

// factory adds the parameters dtype and those that do not affect the layout.
func factory(signature string, does any) viewOp {
	more := ", *dtype=None, *device=, *requires_grad=, *pin_memory="
	if !strings.HasPrefix(signature, "tensor(") {
		more += ", *layout=, *out=, *names=, *generator="
	}
	return row(signature+more+")", does)
}

// dtypeOf is the dtype of a tensor of numbers of a kind.
var dtypeOf = [...]DType{kindNone: Float32, kindBool: Bool, kindInteger: Int64,
	kindFloating: Float32, kindComplex: Complex64}

var namedNumbers = map[string]scalar{
	"True": whole(kindBool, 1), "False": whole(kindBool, 0),
	"inf": {kindFloating, 0, complex(math.Inf(1), 0)},
	"nan": {kindFloating, 0, complex(math.NaN(), 0)},
	"pi":  {kindFloating, 0, math.Pi}, "e": {kindFloating, 0, math.E},
}

// scalarOf reads a number: 3, 1.5, -1e3, 2j, 1+2j, True, torch.inf.
func scalarOf(v value) (scalar, error) {
	if v.kind == number {
		return whole(kindInteger, int64(v.n)), nil
	}
	text := strings.ReplaceAll(v.text, "_", "")
	negative := strings.HasPrefix(text, "-")
	name := strings.TrimSpace(strings.TrimPrefix(text, "-"))
	for _, prefix := range []string{"torch.", "math.", "np."} {
		name = strings.TrimPrefix(name, prefix)
	}
	if s, ok := namedNumbers[name]; ok {
		if negative {
			s.n, s.c = -s.n, complex(-real(s.c), 0)
		}
		return s, nil
	}
	if v.kind == literal && strings.ContainsAny(text[:1], "+-.0123456789") {
		if f, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return scalar{kindFloating, 0, complex(f, 0)}, nil
		}
		if imaginary, is := strings.CutSuffix(strings.ToLower(text), "j"); is {
			if c, err := strconv.ParseComplex(imaginary+"i", 128); err == nil {
				return scalar{kindComplex, 0, c}, nil
			}
		}
	}
	return scalar{}, v.fault("%s is not a number (want one such as 3, 0.5, 2j or True)", v)
}

func (v value) fault(format string, args ...any) error {
	return &placedError{fmt.Errorf(format, args...), v.at}
}

func scalars(values ...value) (all []scalar, widest int, err error) {
	for _, v := range values {
		s, err := scalarOf(v)
		if err != nil {
			return nil, 0, err
		}
		all, widest = append(all, s), max(widest, s.kind)
	}
	return all, widest, nil
}

func arange(start, end, step value, given argument) (made, error) {
	numbers, widest, err := scalars(start, end, step)
	if err != nil {
		return made{}, err
	}
	dtype := given.dtypeOr(dtypeOf[max(widest, kindInteger)])
	from, to, by := real(numbers[0].c), real(numbers[1].c), real(numbers[2].c)
	if dtype == Int64 { // int64 is truncated before the count, other integers after it
		from, to, by = math.Trunc(from), math.Trunc(to), math.Trunc(by)
	}
	count := math.Ceil((to - from) / by)
	if dtype.kind() == kindInteger {
		from, by = math.Trunc(from), math.Trunc(by)
	}
	switch {
	case dtype.kind() == kindBool || dtype.kind() == kindComplex:
		return made{}, fmt.Errorf("PyTorch has none of %s: want integers or floats", dtype)
	case by == 0:
		return made{}, step.fault("step %s is 0 in %s: want another", step, dtype)
	case (to-from)*by < 0:
		return made{}, end.fault("step %s from %s leads away: want the other sign", step, start)
	case !(count < 1<<53):
		return made{}, end.fault("from %s to %s are more elements than can be counted", start, end)
	}
	l, err := Contiguous(int(count))
	return made{layout: l, dtype: dtype, elements: func(i int) scalar {
		if dtype.kind() == kindInteger {
			return whole(kindInteger, int64(from)+int64(by)*int64(i))
		}
		return scalar{kind: kindFloating, c: complex(from+by*float64(i), 0)}
	}}, err
}

func filled(shape []int, s scalar, dtype DType) (made, error) {
	l, err := Contiguous(shape...)
	return made{layout: l, dtype: dtype, elements: func(int) scalar { return s.in(dtype) }}, err
}

// in is a number as PyTorch reads it from Python for a dtype: by way of a float64, and 2j as True.
func (s scalar) in(dtype DType) scalar {
	switch {
	case dtype == Bool && s.c != 0:
		return whole(kindBool, 1)
	case dtype.kind() >= kindFloating:
		s.kind = kindFloating
	}
	return s
}

func (m made) tensor() (*Tensor, error) {
	t, err := zerosIn(m.dtype, m.layout)
	if err != nil || m.elements == nil {
		return t, err
	}
	for i := range m.layout.Numel() {
		m.dtype.row().put(t.storage, i, m.elements(i))
	}
	return t, nil
}

// full has the number's dtype by default, and refuses a number that the dtype cannot hold.
func full(shape []int, v value, given argument) (made, error) {
	s, err := scalarOf(v)
	if err != nil {
		return made{}, err
	}
	dtype := given.dtypeOr(dtypeOf[s.kind])
	size := cmplx.Abs(s.c)
	most := dtype.row().most
	tooLarge := s.overflows(dtype) || most > 0 && size > most && !math.IsInf(size, 0)
	if tooLarge || imag(s.c) != 0 && dtype.kind() != kindComplex {
		return made{}, v.fault("%s cannot hold %s", dtype, v)
	}
	return filled(shape, s, dtype)
}

func empty(shape []int, format, dtype argument) (made, error) {
	f := format.format
	if format.absent {
		f = rowMajor
	}
	l, err := Contiguous(shape...)
	if err == nil && f == preserve {
		err = errors.New("preserve_format has nothing to preserve: want channels_last or none")
	}
	if err == nil {
		l.strides, err = l.stridesIn("a tensor", f)
	}
	return made{layout: l, dtype: dtype.dtypeOr(Float32), why: "leaves its elements unwritten"}, err
}

// random draws floating-point and complex numbers only.
func random(shape []int, given argument) (made, error) {
	dtype := given.dtypeOr(Float32)
	if dtype.kind() < kindFloating {
		return made{}, fmt.Errorf("PyTorch draws none of %s: want a float or complex dtype", dtype)
	}
	l, err := Contiguous(shape...)
	return made{layout: l, dtype: dtype, why: "draws its elements at random"}, err
}

func tensorOf(data value, given argument) (made, error) {
	var shape []int
	for v := data; v.kind == sequence; v = v.items[0] {
		if shape = append(shape, len(v.items)); len(v.items) == 0 {
			break
		}
	}
	var flat []value
	var err error
	if !slices.Contains(shape, 0) { // else PyTorch looks at no element
		if flat, err = flatten(data, shape, 0); err != nil {
			return made{}, err
		}
	}
	all, widest, err := scalars(flat...)
	if err != nil {
		return made{}, err
	}
	dtype := given.dtypeOr(dtypeOf[widest])
	for i, s := range all {
		if s.overflows(dtype) || s.kind == kindComplex && dtype != Bool &&
			dtype.kind() != kindComplex {
			return made{}, flat[i].fault("%s cannot hold %s", dtype, flat[i])
		}
	}
	l, err := Contiguous(shape...)
	return made{layout: l, dtype: dtype,
		elements: func(i int) scalar { return all[i].in(dtype) }}, err
}

func flatten(v value, shape []int, dim int) (flat []value, err error) {
	switch {
	case dim == len(shape) && v.kind != sequence:
		return []value{v}, nil
	case dim == len(shape):
		return nil, v.fault("a list, where the lists before have a number: want lists of one shape")
	case v.kind != sequence:
		return nil, v.fault("%s, where the lists before have a list: want a list of %d",
			v, shape[dim])
	case len(v.items) != shape[dim]:
		return nil, v.fault("a list of %d, the first one is of %d: want the same",
			len(v.items), shape[dim])
	}
	for _, item := range v.items {
		inner, err := flatten(item, shape, dim+1)
		if err != nil {
			return nil, err
		}
		flat = append(flat, inner...)
	}
	return flat, nil
}

// overflows reports a number beyond an integer type. As in PyTorch, negative integers wrap in
// unsigned types.
func (s scalar) overflows(d DType) bool {
	if d.kind() != kindInteger || d == Int64 && s.kind <= kindInteger {
		return false
	}
	v, most := real(s.c), math.Ldexp(1, 8*d.Size()-1)
	if d.row().unsigned && s.kind <= kindInteger {
		return math.Abs(v) > 2*most-1
	} else if d.row().unsigned {
		return !(v >= 0 && v <= 2*most-1)
	}
	return !(v >= -most && v <= most-1)
}
