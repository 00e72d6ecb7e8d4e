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

// A factory makes a tensor, from one of its rows of parameters.
type factory struct {
	viewOp // its name and parameters
	make   func(a arguments) (made, error)
	why    string // why its elements are unknown, "" where they are known
}

type made struct {
	layout   Layout
	dtype    DType
	elements func() (*Tensor, error) // nil where PyTorch does not define them
}

var factories = []factory{
	{viewOp: of("arange", numeric("end")), make: func(a arguments) (made, error) {
		return arange(value{kind: number}, a[0].value, value{kind: number, n: 1}, a[1])
	}},
	{
		viewOp: of("arange", numeric("start"), numeric("end"), optional(numeric("step"))),
		make: func(a arguments) (made, error) {
			step := value{kind: number, n: 1}
			if a.given(2) {
				step = a[2].value
			}
			return arange(a[0].value, a[1].value, step, a[3])
		},
	},
	{viewOp: of("zeros", spread("size", 1)), make: func(a arguments) (made, error) {
		return filled(a.list(0), value{kind: number}, a.dtype(1, Float32))
	}},
	{viewOp: of("ones", spread("size", 1)), make: func(a arguments) (made, error) {
		return filled(a.list(0), value{kind: number, n: 1}, a.dtype(1, Float32))
	}},
	{viewOp: of("full", list("size"), numeric("fill_value")),
		make: func(a arguments) (made, error) {
			return full(a.list(0), a[1].value, a[2])
		}},
	{viewOp: of("empty", spread("size", 1), formatParam), make: func(a arguments) (made, error) {
		return unknown(a.list(0), a.formatOr(1, RowMajor), a.dtype(2, Float32))
	}, why: "leaves its elements unwritten"},
	{viewOp: of("rand", spread("size", 1)), make: random, why: "draws its elements at random"},
	{viewOp: of("randn", spread("size", 1)), make: random, why: "draws its elements at random"},
	{viewOp: of("tensor", param{name: "data", kind: aNest}), make: func(a arguments) (made, error) {
		return tensorOf(a[0].value, a[1])
	}},
}

// of adds the parameters dtype and those that do not affect the layout.
func of(name string, params ...param) viewOp {
	dtype := dtypeParam
	dtype.optional, dtype.none, dtype.keyword = true, true, true
	params = append(params, dtype)
	ignored := []string{"device", "requires_grad", "pin_memory", "layout", "out", "names",
		"generator"}
	if name == "tensor" {
		ignored = ignored[:3]
	}
	for _, name := range ignored {
		params = append(params, param{name: name, kind: anything, optional: true, keyword: true})
	}
	return viewOp{name: name, params: params}
}

func numeric(name string) param { return param{name: name, kind: aNumber} }

func optional(p param) param {
	p.optional = true
	return p
}

type scalar struct {
	dtype DType // of a tensor of such numbers: Bool, Int64, Float32 or Complex64
	n     int64 // for Bool and Int64
	c     complex128
}

var namedNumbers = map[string]scalar{
	"True": {Bool, 1, 1}, "False": {Bool, 0, 0},
	"inf": {Float32, 0, complex(math.Inf(1), 0)}, "nan": {Float32, 0, complex(math.NaN(), 0)},
	"pi": {Float32, 0, math.Pi}, "e": {Float32, 0, math.E},
}

// scalarOf reads a number: 3, 1.5, -1e3, 2j, 1+2j, True, torch.inf.
func scalarOf(v value) (scalar, error) {
	if v.kind == number {
		return scalar{Int64, int64(v.n), complex(float64(v.n), 0)}, nil
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
			return scalar{Float32, 0, complex(f, 0)}, nil
		}
		if imaginary, is := strings.CutSuffix(strings.ToLower(text), "j"); is {
			if c, err := strconv.ParseComplex(imaginary+"i", 128); err == nil {
				return scalar{Complex64, 0, c}, nil
			}
		}
	}
	return scalar{}, v.fault("%s is not a number (want one such as 3, 0.5, 2j or True)", v)
}

func (v value) fault(format string, args ...any) error {
	return &placedError{fmt.Errorf(format, args...), v.at}
}

func scalars(values ...value) (all []scalar, widest DType, err error) {
	for _, v := range values {
		s, err := scalarOf(v)
		if err != nil {
			return nil, 0, err
		}
		all, widest = append(all, s), max(widest, s.dtype)
	}
	return all, widest, nil
}

func arange(start, end, step value, given argument) (made, error) {
	numbers, widest, err := scalars(start, end, step)
	if err != nil {
		return made{}, err
	}
	dtype := arguments{given}.dtype(0, max(widest, Int64))
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
	return made{l, dtype, func() (*Tensor, error) {
		if dtype.kind() == kindInteger {
			return steps(int(count), int64(from), int64(by), dtype)
		}
		return steps(int(count), from, by, dtype)
	}}, err
}

func steps[T int64 | float64](count int, first, by T, dtype DType) (*Tensor, error) {
	data := make([]T, count)
	for i := range data {
		data[i] = first + by*T(i)
	}
	t, err := FromSlice(data, count)
	if err != nil {
		return nil, err
	}
	return t.To(dtype)
}

func filled(shape []int, v value, dtype DType) (made, error) {
	l, err := Contiguous(shape...)
	if err != nil {
		return made{}, err
	}
	s, err := scalarOf(v)
	return made{l, dtype, func() (*Tensor, error) {
		one, err := tensorFrom([]scalar{s}, dtype, nil)
		if err == nil {
			one, err = one.Expand(shape...)
		}
		if err != nil {
			return nil, err
		}
		return one.copyOf(one.layout, l.strides)
	}}, err
}

// full has the number's dtype by default, and refuses a number that the dtype cannot hold.
func full(shape []int, v value, given argument) (made, error) {
	s, err := scalarOf(v)
	if err != nil {
		return made{}, err
	}
	dtype := arguments{given}.dtype(0, s.dtype)
	size := cmplx.Abs(s.c)
	most := largest(dtype)
	tooLarge := s.overflows(dtype) || most > 0 && size > most && !math.IsInf(size, 0)
	if tooLarge || imag(s.c) != 0 && dtype.kind() != kindComplex {
		return made{}, v.fault("%s cannot hold %s", dtype, v)
	}
	return filled(shape, v, dtype)
}

func unknown(shape []int, f MemoryFormat, dtype DType) (made, error) {
	l, err := Contiguous(shape...)
	if err == nil && f == Preserve {
		err = errors.New("preserve_format has nothing to preserve: want channels_last or none")
	}
	if err == nil {
		l.strides, err = l.stridesIn("a tensor", f)
	}
	return made{layout: l, dtype: dtype}, err
}

// random draws floating-point and complex numbers only.
func random(a arguments) (made, error) {
	dtype := a.dtype(1, Float32)
	if dtype.kind() < kindFloating {
		return made{}, fmt.Errorf("PyTorch draws none of %s: want a float or complex dtype", dtype)
	}
	return unknown(a.list(0), RowMajor, dtype)
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
	if len(all) == 0 {
		widest = Float32
	}
	dtype := arguments{given}.dtype(0, widest)
	for i, s := range all {
		if s.overflows(dtype) || s.dtype == Complex64 && dtype != Bool &&
			dtype.kind() != kindComplex {
			return made{}, flat[i].fault("%s cannot hold %s", dtype, flat[i])
		}
	}
	l, err := Contiguous(shape...)
	return made{l, dtype, func() (*Tensor, error) { return tensorFrom(all, dtype, shape) }}, err
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

// tensorFrom truncates numbers for integer dtypes.
func tensorFrom(all []scalar, dtype DType, shape []int) (t *Tensor, err error) {
	switch dtype.kind() {
	case kindComplex:
		data := make([]complex128, len(all))
		for i, s := range all {
			data[i] = s.c
		}
		t, err = FromSlice(data, shape...)
	case kindFloating:
		data := make([]float64, len(all))
		for i, s := range all {
			data[i] = real(s.c)
		}
		t, err = FromSlice(data, shape...)
	default:
		data := make([]int64, len(all))
		for i, s := range all {
			switch data[i] = s.n; {
			case dtype == Bool && s.c != 0:
				data[i] = 1
			case s.dtype >= Float32:
				data[i] = int64(real(s.c))
			}
		}
		t, err = FromSlice(data, shape...)
	}
	if err != nil {
		return nil, err
	}
	return t.To(dtype)
}

// overflows reports a number beyond an integer type. As in PyTorch, negative integers wrap in
// Uint8.
func (s scalar) overflows(d DType) bool {
	if d.kind() != kindInteger || d == Int64 && s.dtype <= Int64 {
		return false
	}
	v, most := real(s.c), math.Ldexp(1, 8*d.Size()-1)
	if d == Uint8 && s.dtype <= Int64 {
		return math.Abs(v) > 2*most-1
	} else if d == Uint8 {
		return !(v >= 0 && v <= 2*most-1)
	}
	return !(v >= -most && v <= most-1)
}

// largest returns the largest number of a floating-point type below Float64.
func largest(d DType) float64 {
	return map[DType]float64{Float16: 65504, BFloat16: 0x1.FEp127,
		Float32: math.MaxFloat32, Complex64: math.MaxFloat32}[d]
}
