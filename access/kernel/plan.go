package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// A Loop is one loop around a copy: N trips, and the bytes from one to the next in the output and
// in the input.
type Loop struct{ N, To, From int }

// A Plan is a copy by any number of loops, cut into steps. Each element is written once and read
// once, with one exception: a panel with partial tiles reads elements at its ends twice, or four
// times in its corners. The result is undefined if the output overlaps itself or the input.
type Plan struct {
	Steps   []Step
	Buffers int // bytes that Run needs for buffers

	set   *Set
	size  int
	loops []Loop // merged

	buffers []byte // of the current Run
}

// A Step is a nest of loops around a body, the outermost first, starting at the bytes To and From.
// It defines all accesses of the step and their order.
type Step struct {
	Loops    []Loop
	To, From int
	Body     []Access // in order

	run func(s *Step, dst, src []byte, to, from int) // the inner loops
	in  int                                          // number of these
	// rows means that run uses the two innermost Loops as they are, so that Run may replace one to
	// repeat a run.
	rows bool
	// past, unless nil, reports whether run writes past the caches from an address.
	past  func(s *Step, to uintptr) bool
	small smallTile
}

// An Access is Width bytes in a body. An access of the copy has no Strides, and is at Offset from
// the loops' position in the output or input. An access of the buffers starts at their byte Offset,
// and moves by a stride with each trip of a loop.
type Access struct {
	Write         bool
	Offset, Width int
	Strides       []int
}

// Buffered reports whether the access is to the plan's buffers.
func (a Access) Buffered() bool { return a.Strides != nil }

// NewPlan plans a copy of elements of size bytes by the loops, which may be in any order. It panics
// unless size is 1, 2, 4, 8 or 16.
//
// It sorts the loops by the output and merges them where possible. If one loop has the least
// strides in both the output and the input, that loop is the innermost. It goes by whole vectors if
// its elements are contiguous. If two different loops have the least strides, both are walked in
// tiles of a cache line by a line. Tiles are transposed in registers if elements are contiguous in
// both. The rest at the ends of vectors and tiles comes last.
//
// The sets of AVX2 and AVX-512 make exceptions. A copy is long if it is too long for the caches.
//
// A few rows, such as channels of images, are interleaved or separated in registers, for elements
// of up to 8 bytes.
//
// In avx2, elements of 4 and 8 bytes go through buffers if tiles would thrash. In avx2-blocks,
// elements of 1 and 2 bytes do so too.
//
// Short rows go by panels, and so do copies if tiles leave over a tenth (in avx2-blocks, 1/32). So
// do two more kinds, if panels write whole lines: copies that tiles would write to pages left long
// ago, and long copies. In sets other than avx2-blocks, rows of long copies must also collide
// without blocks for them, or not be whole lines.
//
// Long copies of short rows that follow each other are read in the order of addresses, in tiles.
// Their elements have 2 bytes or more. Other long copies of elements of 8 and 16 bytes go by tiles
// of two lines.
func NewPlan(set *Set, size int, loops []Loop) *Plan {
	if !slices.Contains([]int{1, 2, 4, 8, 16}, size) {
		panic(fmt.Sprintf("kernel: no elements have %d B", size))
	}
	p := &Plan{set: set, size: size}
	loops = merge(loops)
	p.loops = loops
	if slices.ContainsFunc(loops, func(l Loop) bool { return l.N == 0 }) {
		return p
	}
	to := closest(loops, func(l Loop) int { return l.To })
	from := closest(loops, func(l Loop) int { return l.From })
	switch {
	case to < 0 || from < 0 || to == from && loops[to] != Loop{loops[to].N, size, size}:
		p.elements(0, 0, loops)
	case to == from:
		p.runs(without(loops, to), loops[to].N*size)
	default:
		p.transposed(without(loops, to, from), loops[to], loops[from])
	}
	return p
}

// merge drops loops of one trip, sorts the others by the output, and fuses loops that are one in
// both.
func merge(loops []Loop) []Loop {
	merged := slices.DeleteFunc(slices.Clone(loops), func(l Loop) bool { return l.N == 1 })
	slices.SortStableFunc(merged, func(a, b Loop) int {
		return cmp.Or(cmp.Compare(abs(b.To), abs(a.To)), cmp.Compare(abs(b.From), abs(a.From)))
	})
	for i := len(merged) - 1; i > 0; i-- {
		outer, inner := merged[i-1], merged[i]
		if outer.To == inner.N*inner.To && outer.From == inner.N*inner.From {
			merged[i-1] = Loop{outer.N * inner.N, inner.To, inner.From}
			merged = slices.Delete(merged, i, i+1)
		}
	}
	return merged
}

func abs(n int) int { return max(n, -n) }

// closest returns the loop of the least stride other than 0, or -1.
func closest(loops []Loop, stride func(Loop) int) int {
	best := -1
	for i, l := range loops {
		if s := abs(stride(l)); s > 0 && (best < 0 || s <= abs(stride(loops[best]))) {
			best = i
		}
	}
	return best
}

func without(loops []Loop, indices ...int) []Loop {
	var rest []Loop
	for i, l := range loops {
		if !slices.Contains(indices, i) {
			rest = append(rest, l)
		}
	}
	return rest
}

func (p *Plan) runs(outer []Loop, bytes int) {
	whole := bytes - bytes%line
	if p.set.width == 0 {
		whole = 0
	}
	if whole > 0 {
		rows := outer
		if len(rows) == 0 {
			rows = []Loop{{N: 1}}
		}
		width := p.set.width
		p.Steps = append(p.Steps, Step{
			Loops: append(slices.Clone(rows), Loop{whole / width, width, width}),
			Body:  element(width),
			run:   p.copyRows, in: 2, rows: true, past: p.rowsPast,
		})
	}
	if whole < bytes {
		p.elements(whole, whole, append(slices.Clone(outer),
			Loop{(bytes - whole) / p.size, p.size, p.size}))
	}
}

func (p *Plan) rowsPast(s *Step, to uintptr) bool {
	rows, run := s.Loops[len(s.Loops)-2], s.Loops[len(s.Loops)-1]
	return to%line == 0 && rows.To%line == 0 && run.N*run.To >= p.set.Tuning().Runs
}

// PastCaches reports whether the plan writes past the caches, except for the rest at the ends. It
// assumes an output slice that starts on a line.
func (p *Plan) PastCaches() bool {
	return len(p.Steps) > 0 && p.Steps[0].past != nil &&
		p.Steps[0].past(&p.Steps[0], uintptr(p.Steps[0].To))
}

// stores returns 1 if stores bypass the caches, else 0.
func (s *Step) stores(to *byte) int {
	if s.past(s, uintptr(unsafe.Pointer(to))) {
		return 1
	}
	return 0
}

func (p *Plan) copyRows(s *Step, dst, src []byte, to, from int) {
	rows, run := s.Loops[len(s.Loops)-2], s.Loops[len(s.Loops)-1]
	bytes := run.N * run.To
	p.set.functions().copy(&dst[to], &src[from], bytes/line, rows.N, rows.To, rows.From,
		s.stores(&dst[to]))
}

func (p *Plan) elements(to, from int, loops []Loop) {
	for len(loops) < 2 {
		loops = slices.Insert(slices.Clone(loops), 0, Loop{N: 1})
	}
	p.Steps = append(p.Steps, Step{Loops: loops, To: to, From: from, Body: element(p.size),
		run: copyElements(p.size), in: 2, rows: true})
}

func element(size int) []Access { return []Access{{Width: size}, {Write: true, Width: size}} }

func copyElements(size int) func(s *Step, dst, src []byte, to, from int) {
	switch size {
	case 1:
		return copyEach[uint8]
	case 2:
		return copyEach[uint16]
	case 4:
		return copyEach[uint32]
	case 8:
		return copyEach[uint64]
	}
	return copyEach[[2]uint64]
}

func copyEach[T any](s *Step, dst, src []byte, to, from int) {
	outer, inner := &s.Loops[len(s.Loops)-2], &s.Loops[len(s.Loops)-1]
	d, r := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	fromStep, toStep := inner.From, inner.To
	for row := outer.N; row > 0; row-- {
		for i := inner.N; i > 0; i-- { // all but the elements is in registers
			*(*T)(unsafe.Add(d, to)) = *(*T)(unsafe.Add(r, from))
			from += fromStep
			to += toStep
		}
		from += outer.From - inner.N*fromStep
		to += outer.To - inner.N*toStep
	}
}

// Move shifts the plan by to bytes of the output and from bytes of the input.
func (p *Plan) Move(to, from int) { shift(p.Steps, to, from) }

func shift(steps []Step, to, from int) {
	for i := range steps {
		steps[i].To += to
		steps[i].From += from
	}
}

// Run copies from src to dst, times times. It needs Buffers bytes of buffers, which should start on
// a line. It panics before it writes if the plan leaves any slice, or if this CPU does not run its
// set.
func (p *Plan) Run(dst, src, buffers []byte, times int) {
	if fence := p.set.functions().fence; fence != nil {
		defer fence()
	}
	for i := range p.Steps {
		p.Steps[i].check(len(dst), len(src), len(buffers))
	}
	p.buffers = buffers
	defer func() { p.buffers = nil }()
	if times > 0 && p.oneRun() { // repeated in assembly: a call takes the time of a run
		s := p.Steps[0]
		s.Loops = []Loop{{N: times}, s.Loops[1]}
		s.run(&s, dst, src, s.To, s.From)
		return
	}
	for range times {
		for i := range p.Steps {
			s := &p.Steps[i]
			s.walk(s.Loops[:len(s.Loops)-s.in], dst, src, s.To, s.From)
		}
	}
}

func (p *Plan) oneRun() bool {
	return len(p.Steps) == 1 && p.Steps[0].rows && len(p.Steps[0].Loops) == 2 &&
		p.Steps[0].Loops[0].N == 1
}

func (s *Step) walk(loops []Loop, dst, src []byte, to, from int) {
	if len(loops) == 0 {
		s.run(s, dst, src, to, from)
		return
	}
	for range loops[0].N {
		s.walk(loops[1:], dst, src, to, from)
		to += loops[0].To
		from += loops[0].From
	}
}

// each calls f with the place of each iteration of the loops, from a first place.
func each(loops []Loop, to, from int, f func(to, from int)) {
	if len(loops) == 0 {
		f(to, from)
		return
	}
	for range loops[0].N {
		each(loops[1:], to, from, f)
		to += loops[0].To
		from += loops[0].From
	}
}

func (s *Step) check(dst, src, buffers int) {
	to, from := s.Strides()
	for _, a := range s.Body {
		low, size, strides := s.From+a.Offset, src, from
		switch {
		case a.Buffered():
			low, size, strides = a.Offset, buffers, a.Strides
		case a.Write:
			low, size, strides = s.To+a.Offset, dst, to
		}
		high := low + a.Width
		for i, l := range s.Loops {
			reach := (l.N - 1) * strides[i]
			low += min(0, reach)
			high += max(0, reach)
		}
		if low < 0 || high > size {
			panic(fmt.Sprintf("kernel: a copy of bytes %d to %d leaves a slice of %d", low,
				high, size))
		}
	}
}

// Strides returns the bytes between trips of each loop in the output and in the input. Accesses of
// buffers have their own.
func (s *Step) Strides() (to, from []int) {
	to, from = make([]int, len(s.Loops)), make([]int, len(s.Loops))
	for i, l := range s.Loops {
		to[i], from[i] = l.To, l.From
	}
	return to, from
}
