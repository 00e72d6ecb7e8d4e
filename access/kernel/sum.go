package kernel

import (
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
)

// laneBytes is the sum of a kernel that is under way.
const laneBytes = 512

// flush is the number of elements after which lanes are added up, so that 56 or
// less in each is exact in a lane of float32.
const flush = 1 << 24

// A Sum adds elements up in a fixed order, which the vector kernels and the
// portable one share:
//
// There are 512 B of lanes, 128 of int32 or float32 or 64 of float64, and of elements of 16 bits 64
// of float32, all 0 at first. Add adds element i of a run to lane i modulo their number, in the
// type of the lanes, run after run: first the whole lines of 64 B of every run, then what is left
// of every run, as runs of their own. After at most 2^24 elements, and by Total, the lanes are
// added to the total in order, in float64 for floats and int64 for int32, and are 0 again. Lanes of
// int32 wrap around.
//
// Where it is NaN, which NaN it is is not defined.
type Sum[T Number] struct {
	lanes [laneBytes]byte
	added int
	exact int64
	float float64
	set   *Set
	add   adder // nil where there is none
	ask   asker
	// bytes ahead that lines are asked for of the rows that are added, 0 where they are not
	ahead int
}

// Number is what can be added up.
type Number interface {
	int32 | float32 | float64 | layouts.Half | layouts.BFloat
}

// NewSum returns a sum of nothing. It panics where this CPU does not run the set.
func NewSum[T Number](s *Set) *Sum[T] {
	f := s.functions()
	return &Sum[T]{set: s, add: of[T](f.add), ask: of[T](f.addAsk)}
}

// of is the function for a type.
func of[T Number, F any](a adders[F]) F {
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

// Add reads N*Count elements.
func (s *Sum[T]) Add(x []T, r Rows) {
	r.check(len(x))
	var zero T
	size := int(unsafe.Sizeof(zero))
	s.ahead = s.set.Tuning().asks(r.N*size, r.Count, r.Pitch*size)
	whole, rest := r.split(size)
	s.addRows(x, whole, s.addLines)
	s.addRows(x, rest, s.addElements)
}

// addRows hands rows to add in parts that fit in between two flushes.
func (s *Sum[T]) addRows(x []T, r Rows, add func(x []T, r Rows)) {
	if r.N > flush { // in parts, run by run
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

// addLines adds rows of whole lines.
func (s *Sum[T]) addLines(x []T, r Rows) {
	if s.add == nil {
		s.addElements(x, r)
		return
	}
	size := int(unsafe.Sizeof(x[0]))
	at, lines, pitch := bytesAt(x, r.At), r.N*size/line, r.Pitch*size
	if s.ahead > 0 {
		s.ask(&s.lanes[0], at, lines, r.Count, pitch, s.ahead)
		return
	}
	s.add(&s.lanes[0], at, lines, r.Count, pitch)
}

// addElements adds the same in plain Go.
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

// addWidened adds elements of 16 bits.
func addWidened[T any](lanes []float32, x []T, r Rows, float func(T) float32) {
	for range r.Count {
		for i, v := range x[r.At:][:r.N] {
			lanes[i%len(lanes)] += float(v)
		}
		r.At += r.Pitch
	}
}

// wide are the lanes of elements of 16 bits.
func (s *Sum[T]) wide() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&s.lanes)), laneBytes/2/4)
}

func (s *Sum[T]) view() []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&s.lanes)), laneBytes/int(unsafe.Sizeof(zero)))
}

// flush adds the lanes to the total.
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

// Total is the sum of what was added, after which the Sum goes on.
func (s *Sum[T]) Total() float64 {
	s.flush()
	return float64(s.exact) + s.float
}
