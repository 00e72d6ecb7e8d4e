package kernel

import (
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
)

const laneBytes = 512

// flush is the elements after which lanes are added to the total. A float32 lane is then exact for
// whole numbers up to 56.
const flush = 1 << 24

// A Sum adds elements up in a fixed order, which the vector kernels and the portable one share.
//
// It has 512 B of lanes, all 0 at first: 128 of int32 or float32, 64 of float64, and 64 of float32
// for 16-bit elements. Add adds element i of a run to lane i modulo their number, in the lanes'
// type, run after run. It adds the whole lines of 64 B of every run first, then the rest of every
// run, as runs of their own. After at most 2^24 elements, and by Total, the lanes are added to the
// total in order, and are 0 again. The total is a float64 for floats and an int64 for int32. Lanes
// of int32 wrap around.
//
// If the result is NaN, its bits are undefined.
type Sum[T Number] struct {
	lanes [laneBytes]byte
	added int
	exact int64
	float float64
	set   *Set
	add   adder // or nil
	// prefetch distance for the current rows in bytes, or 0
	ahead int
}

// Number is the types that a Sum adds up.
type Number interface {
	int32 | float32 | float64 | layouts.Half | layouts.BFloat
}

// NewSum returns a sum of nothing. It panics if this CPU does not run the set.
func NewSum[T Number](s *Set) *Sum[T] {
	f := s.functions()
	return &Sum[T]{set: s, add: of[T](f.add)}
}

func of[T Number](a adders) adder {
	switch any(*new(T)).(type) {
	case float32:
		return a.float32
	case float64:
		return a.float64
	case layouts.Half:
		return a.float16
	case layouts.BFloat:
		return a.bfloat16
	}
	return a.int32
}

// Add adds N*Count elements of x.
func (s *Sum[T]) Add(x []T, r Rows) {
	r.check(len(x))
	var zero T
	size := int(unsafe.Sizeof(zero))
	s.ahead = s.set.Tuning().asks(r.N*size, r.Count, r.Pitch*size)
	whole, rest := r.split(size)
	s.addRows(x, whole, s.addLines)
	s.addRows(x, rest, s.addElements)
}

func (s *Sum[T]) addRows(x []T, r Rows, add func(x []T, r Rows)) {
	if r.N > flush { // run by run
		for i := range r.Count {
			run := Rows{r.At + i*r.Pitch, r.N, 1, 0}
			for ; run.N > 0; run.At, run.N = run.At+flush, run.N-flush {
				s.addRows(x, Rows{run.At, min(run.N, flush), 1, 0}, add)
			}
		}
		return
	}
	for r.N > 0 && r.Count > 0 {
		if s.added+r.N > flush {
			s.flush()
		}
		part := r
		part.Count = min(r.Count, (flush-s.added)/r.N)
		add(x, part)
		s.added += part.N * part.Count
		r.At += part.Count * r.Pitch
		r.Count -= part.Count
	}
}

func (s *Sum[T]) addLines(x []T, r Rows) {
	if s.add == nil {
		s.addElements(x, r)
		return
	}
	size := int(unsafe.Sizeof(x[0]))
	at, lines, pitch := bytesAt(x, r.At), r.N*size/line, r.Pitch*size
	s.add(&s.lanes[0], at, lines, r.Count, pitch, s.ahead)
}

func (s *Sum[T]) addElements(x []T, r Rows) {
	switch x := any(x).(type) {
	case []layouts.Half:
		addWidened(s.wide(), x, r, layouts.Half.Float)
		return
	case []layouts.BFloat:
		addWidened(s.wide(), x, r, layouts.BFloat.Float)
		return
	}
	lanes := s.view()
	for range r.Count {
		run := x[r.At:][:r.N]
		for i, v := range run {
			lanes[i%len(lanes)] += v
		}
		r.At += r.Pitch
	}
}

func addWidened[T any](lanes []float32, x []T, r Rows, float func(T) float32) {
	for range r.Count {
		for i, v := range x[r.At:][:r.N] {
			lanes[i%len(lanes)] += float(v)
		}
		r.At += r.Pitch
	}
}

func (s *Sum[T]) wide() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&s.lanes)), laneBytes/2/4)
}

func (s *Sum[T]) view() []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&s.lanes)), laneBytes/int(unsafe.Sizeof(zero)))
}

func (s *Sum[T]) flush() {
	s.added = 0
	if unsafe.Sizeof(*new(T)) == 2 {
		for i, v := range s.wide() {
			s.float += float64(v)
			s.wide()[i] = 0
		}
		return
	}
	lanes := s.view()
	for i, v := range lanes {
		if n, ok := any(v).(int32); ok {
			s.exact += int64(n)
		} else {
			s.float += float64(v)
		}
		lanes[i] = 0
	}
}

// Total returns the sum so far. More can be added after it.
func (s *Sum[T]) Total() float64 {
	s.flush()
	return float64(s.exact) + s.float
}
