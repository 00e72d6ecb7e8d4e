package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// A Loop is one loop around a copy: N trips, and the bytes from one to the next
// in what is written and in what is read.
type Loop struct{ N, To, From int }

// A Plan is a copy of any number of loops cut into steps, which run one after
// the other, in an order of the plan's own. Each element is written once and read once,
// or where a panel ends in no whole tile, twice (at the ends of both of its sides four
// times), or where rows are taken apart one after the other, once for each of these.
// Where what is written overlaps itself or what is read, the result is not defined.
type Plan struct {
	Steps   []Step
	Buffers int // bytes of memory that it wants beside what is read and written

	set   *Set
	size  int
	loops []Loop // merged

	buffers []byte // of the Run under way
}

// A Step is a nest of loops around a body, the outermost first, from the bytes
// To and From on. It is all that there is to know of what is touched, and in
// which order.
type Step struct {
	Loops    []Loop
	To, From int
	Body     []Access // in order

	run func(s *Step, dst, src []byte, to, from int) // the inner loops from there on
	in  int                                          // how many those are
	// rows tells that run goes by the two innermost Loops as they are, so that one of them may
	// stand for many runs.
	rows bool
	// past tells whether run writes past the caches from that address on; nil
	// where it never does.
	past func(s *Step, to uintptr) bool
	// small is the tile that a panel is transposed by, of a step of panels.
	small smallTile
	// picked is, of a step that reads the same for several rows, how many these are: the trips
	// of the loop around the innermost one.
	picked int
}

// An Access is one of a body's, of Width bytes. One of the copy itself, which has
// no Strides, is at Offset from where the loops are in what is written or read.
// One of the buffers is at their byte Offset at first, and as many bytes further
// on from one trip of each loop to the next.
type Access struct {
	Write         bool
	Offset, Width int
	Strides       []int
}

// Buffered tells whether the access is one of the plan's buffers.
func (a Access) Buffered() bool { return a.Strides != nil }

// NewPlan plans a copy of elements of size bytes (1, 2, 4, 8 or 16; it panics
// on others), as the loops say, in whatever order they are given.
//
// Loops are put in the order of what is written, and merged where they can be. If the elements that
// lie closest in what is written and in what is read do so along one loop, that is the innermost,
// in whole vectors where they lie side by side. If they do so along two, these are walked in tiles
// of a cache line by a line (by two lines of elements of 8 and 16 bytes, of what is too long for
// the caches), and elements that lie side by side in both are transposed in registers: a few rows
// of up to 8 bytes an element that are interleaved or taken apart, such as channels of images, run
// by run, of avx2-blocks what is too long for the caches a few lines of a row at a time, those of 4
// and 8 bytes (of avx2-blocks, 1 and 2 too) through buffers where tiles would evict themselves.
// Those of short rows, and those that leave much beside whole tiles (of avx2-blocks, anything), go
// by panels, and if these write whole lines, so do those that tiles would write to pages left long
// ago, and what is too long for the caches, of other sets than avx2-blocks only where rows collide
// of which there are no blocks, or are no whole lines. Short rows that follow on each other, of
// elements of 2 bytes and more, are read in the order of addresses by what is too long for the
// caches, in tiles. What vectors and tiles leave at the ends comes last.
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

// merge drops loops of one trip, sorts the others by what is written, and fuses
// those that are one loop in both.
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

// closest is the loop of the least stride that is not 0, or -1.
func closest(loops []Loop, stride func(Loop) int) int {
	best := -1
	for i, l := range loops {
		if s := abs(stride(l)); s > 0 && (best < 0 || s <= abs(stride(loops[best]))) {
			best = i
		}
	}
	return best
}

// without returns loops but for those of these indices.
func without(loops []Loop, indices ...int) []Loop {
	var rest []Loop
	for i, l := range loops {
		if !slices.Contains(indices, i) {
			rest = append(rest, l)
		}
	}
	return rest
}

// runs copies runs of so many bytes.
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

// rowsPast is Step.past of rows of vectors.
func (p *Plan) rowsPast(s *Step, to uintptr) bool {
	rows, run := s.Loops[len(s.Loops)-2], s.Loops[len(s.Loops)-1]
	return to%line == 0 && rows.To%line == 0 && run.N*run.To >= p.set.Tuning().Runs
}

// PastCaches tells whether the plan writes past the caches what is not left at
// the ends, where the slice that it writes to starts on a line.
func (p *Plan) PastCaches() bool {
	return len(p.Steps) > 0 && p.Steps[0].past != nil &&
		p.Steps[0].past(&p.Steps[0], uintptr(p.Steps[0].To))
}

// copyRows copies rows of vectors.
func (p *Plan) copyRows(s *Step, dst, src []byte, to, from int) {
	rows, run := s.Loops[len(s.Loops)-2], s.Loops[len(s.Loops)-1]
	bytes := run.N * run.To
	f := p.set.functions()
	move := f.copy
	if s.past(s, uintptr(unsafe.Pointer(&dst[to]))) {
		move = f.stream
	}
	move(&dst[to], &src[from], bytes/line, rows.N, rows.To, rows.From)
}

// elements copies element by element.
func (p *Plan) elements(to, from int, loops []Loop) {
	for len(loops) < 2 {
		loops = slices.Insert(slices.Clone(loops), 0, Loop{N: 1})
	}
	p.Steps = append(p.Steps, Step{Loops: loops, To: to, From: from, Body: element(p.size),
		run: copyElements(p.size), in: 2, rows: true})
}

// element is the body that copies size bytes.
func element(size int) []Access { return []Access{{Width: size}, {Write: true, Width: size}} }

// copyElements is the kernel for two loops around an element.
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

// copyEach reads and writes size(T) bytes an iteration.
func copyEach[T any](s *Step, dst, src []byte, to, from int) {
	outer, inner := &s.Loops[len(s.Loops)-2], &s.Loops[len(s.Loops)-1]
	d, r := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	fromStep, toStep := inner.From, inner.To
	for row := outer.N; row > 0; row-- {
		for i := inner.N; i > 0; i-- { // which touches nothing else: all else is in registers
			*(*T)(unsafe.Add(d, to)) = *(*T)(unsafe.Add(r, from))
			from += fromStep
			to += toStep
		}
		from += outer.From - inner.N*fromStep
		to += outer.To - inner.N*toStep
	}
}

// Move shifts the plan by so many bytes of what is written and of what is read.
func (p *Plan) Move(to, from int) { shift(p.Steps, to, from) }

func shift(steps []Step, to, from int) {
	for i := range steps {
		steps[i].To += to
		steps[i].From += from
	}
}

// Run copies from src to dst, so many times, through buffers: at least as many
// bytes as Buffers, which had best start on a line. It panics, before anything is
// written, if the plan leaves any of them, or if this CPU does not run its set.
func (p *Plan) Run(dst, src, buffers []byte, times int) {
	if fence := p.set.functions().fence; fence != nil {
		defer fence()
	}
	for i := range p.Steps {
		p.Steps[i].check(len(dst), len(src), len(buffers))
	}
	p.buffers = buffers
	defer func() { p.buffers = nil }()
	if times > 0 && p.oneRun() { // in the assembly, where a call would cost as much as a run
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

// oneRun tells whether the plan is one run of vectors or elements.
func (p *Plan) oneRun() bool {
	return len(p.Steps) == 1 && p.Steps[0].rows && len(p.Steps[0].Loops) == 2 &&
		p.Steps[0].Loops[0].N == 1
}

// walk runs the inner loops for every index of the loops.
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

// check panics if the step leaves slices of so many bytes.
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

// Strides are the bytes from one trip of each loop to the next in what is written
// and in what is read. Accesses of the buffers have their own.
func (s *Step) Strides() (to, from []int) {
	to, from = make([]int, len(s.Loops)), make([]int, len(s.Loops))
	for i, l := range s.Loops {
		to[i], from[i] = l.To, l.From
	}
	return to, from
}
