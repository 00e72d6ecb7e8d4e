package layouts

import "fmt"

// To returns t itself if it has the dtype, else a converted copy in t's memory format. Conversions
// are Go's, which agree with C's and PyTorch's where the value fits. A bool is whether a value is
// not zero. A complex number gives its real part, also to bool, as in PyTorch 1.13: 1j is False.
// Later versions look at both parts.
func (t *Tensor) To(dtype DType) (*Tensor, error) {
	if t.DType() == dtype {
		return t, nil
	}
	if err := t.readable(); err != nil {
		return nil, err
	}
	switch t.DType() {
	case Bool: // stored as 0 or 1, unless other bytes are seen as bools
		return through(t, Uint8, dtype, func(v uint8) uint8 { return min(v, 1) })
	case Uint8:
		return convertReal[uint8](t, dtype)
	case Int8:
		return convertReal[int8](t, dtype)
	case Int16:
		return convertReal[int16](t, dtype)
	case Int32:
		return convertReal[int32](t, dtype)
	case Int64:
		return convertReal[int64](t, dtype)
	case Float32:
		return convertReal[float32](t, dtype)
	case Float64:
		return convertReal[float64](t, dtype)
	case Float16:
		return through(t, Float32, dtype, Half.Float)
	case BFloat16:
		return through(t, Float32, dtype, BFloat.Float)
	}
	return convertComplex(t, dtype)
}

type realNumber interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

func convertReal[F realNumber](t *Tensor, dtype DType) (*Tensor, error) {
	switch dtype {
	case Bool:
		return mapped(t, dtype, func(v F) bool { return v != 0 })
	case Uint8:
		return mapped(t, dtype, func(v F) uint8 { return uint8(v) })
	case Int8:
		return mapped(t, dtype, func(v F) int8 { return int8(v) })
	case Int16:
		return mapped(t, dtype, func(v F) int16 { return int16(v) })
	case Int32:
		return mapped(t, dtype, func(v F) int32 { return int32(v) })
	case Int64:
		return mapped(t, dtype, func(v F) int64 { return int64(v) })
	case Float16:
		return mapped(t, dtype, func(v F) Half { return HalfOf(float32(v)) })
	case BFloat16:
		return mapped(t, dtype, func(v F) BFloat { return BFloatOf(float32(v)) })
	case Float32:
		return mapped(t, dtype, func(v F) float32 { return float32(v) })
	case Float64:
		return mapped(t, dtype, func(v F) float64 { return float64(v) })
	case Complex64:
		return mapped(t, dtype, func(v F) complex64 { return complex(float32(v), 0) })
	case Complex128:
		return mapped(t, dtype, func(v F) complex128 { return complex(float64(v), 0) })
	}
	return nil, fmt.Errorf("nothing converts to %s", dtype)
}

func convertComplex(t *Tensor, dtype DType) (*Tensor, error) {
	single := t.DType() == Complex64
	switch {
	case single && dtype == Complex128:
		return mapped(t, dtype, func(v complex64) complex128 { return complex128(v) })
	case dtype == Complex64:
		return mapped(t, dtype, func(v complex128) complex64 { return complex64(v) })
	case single:
		return through(t, Float32, dtype, func(v complex64) float32 {
			return float32(realPart(complex128(v)))
		})
	}
	return through(t, Float64, dtype, realPart)
}

func realPart(v complex128) float64 { return real(v) }

// through converts by way of a dtype that holds every value of F.
func through[F, M any](t *Tensor, middle, dtype DType, f func(F) M) (*Tensor, error) {
	m, err := mapped(t, middle, f)
	if err != nil {
		return nil, err
	}
	return m.To(dtype)
}

// mapped returns a tensor of dtype with f of each element.
func mapped[F, T any](t *Tensor, dtype DType, f func(F) T) (*Tensor, error) {
	layout := Layout{shape: t.layout.shape, strides: t.layout.preservedStrides()}
	c, err := zerosIn(dtype, layout)
	if err != nil {
		return nil, err
	}
	dst, src := words[T](c.storage), words[F](t.storage)
	for to, from := range offsets(layout, t.layout) {
		dst[to] = f(src[from])
	}
	return c, nil
}
