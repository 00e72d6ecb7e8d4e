package access

import (
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// An elementNest is a canonical Nest in units of elements.
type elementNest struct {
	outer []int   // trips, without the two innermost loops
	steps [][]int // by operand, of the outer loops (nest.Steps)
	block         // the first one
}

// A block is the two innermost loops of a nest. Loops read it at the start of a row, so that the
// innermost body uses only registers and touches only the tensors. Bodies faster than the jump back
// are unrolled at least four times, because the speed of such loops depends on the alignment of
// their code.
type block struct {
	rows, n  int    // trips
	at       [3]int // element, by operand
	row, run [3]int // strides
	next     [3]int // from the end of a row to the next row
}

// inElements converts a nest to elements of size bytes. If wide, vectors become iterations of the
// innermost loop.
func inElements(n nest.Nest, size int, wide bool) (elementNest, error) {
	n = n.Canonical()
	if wide {
		n = elementwise(n, size)
	}
	for len(n.Trips) < 2 { // a block has two loops
		n.Trips = slices.Insert(n.Trips, 0, 1)
		for i := range n.Operands {
			n.Operands[i].Strides = slices.Insert(n.Operands[i].Strides, 0, 0)
		}
	}
	last := len(n.Trips) - 2
	e := elementNest{outer: n.Trips[:last], block: block{rows: n.Trips[last], n: n.Trips[last+1]}}
	for i, op := range n.Operands {
		if op.Width != size {
			return elementNest{}, fmt.Errorf(
				"accesses of %d B have no native kernel (want one element, %d B)", op.Width, size)
		}
		for l := range op.Strides {
			op.Strides[l] /= size
		}
		e.steps = append(e.steps, nest.Steps(e.outer, op.Strides))
		e.at[i] = int(op.Base-Origin) / size
		e.row[i], e.run[i] = op.Strides[last], op.Strides[last+1]
		e.next[i] = e.row[i] - e.n*e.run[i]
	}
	return e, nil
}

// elementwise turns vector accesses into a loop over their elements.
func elementwise(n nest.Nest, size int) nest.Nest {
	width := n.Operands[0].Width
	if width == size || slices.ContainsFunc(n.Operands, func(op nest.Operand) bool {
		return op.Width != width
	}) {
		return n
	}
	n.Trips = append(n.Trips, width/size)
	for i := range n.Operands {
		op := &n.Operands[i]
		op.Width, op.Strides = size, append(op.Strides, size)
	}
	return n.Canonical()
}

// each calls do for the block of every index of the outer loops.
func (n *elementNest) each(do func(b *block)) {
	if len(n.outer) == 0 { // nothing to copy
		do(&n.block)
		return
	}
	b := n.block
	for l := range nest.Walk(n.outer) {
		if l >= 0 {
			for i, steps := range n.steps {
				b.at[i] += steps[l]
			}
		}
		do(&b)
	}
}

// realNumber is the constraint of Go's own real numbers that are elements.
type realNumber interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

func sumBlock[T realNumber, A int64 | float64](mem []T, b *block) (sum A) {
	at := b.at[0]
	for range b.rows {
		if b.run[0] == 1 {
			sum += sumRun[T, A](mem[at : at+b.n])
		} else {
			sum += sumStrided[T, A](mem, at, b.run[0], b.n)
		}
		at += b.row[0]
	}
	return sum
}

// sumRun reads a run in ascending order. Four sums keep loads from waiting for additions.
func sumRun[T realNumber, A int64 | float64](run []T) A {
	var a, b, c, d A
	for ; len(run) >= 8; run = run[8:] {
		a += A(run[0])
		b += A(run[1])
		c += A(run[2])
		d += A(run[3])
		a += A(run[4])
		b += A(run[5])
		c += A(run[6])
		d += A(run[7])
	}
	for _, v := range run {
		a += A(v)
	}
	return a + b + c + d
}

func sumStrided[T realNumber, A int64 | float64](mem []T, at, step, n int) A {
	var a, b, c, d A
	for ; n >= 4; n -= 4 {
		a += A(mem[at])
		b += A(mem[at+step])
		c += A(mem[at+2*step])
		d += A(mem[at+3*step])
		at += 4 * step
	}
	for ; n > 0; n-- {
		a += A(mem[at])
		at += step
	}
	return a + b + c + d
}

func fillBlock[T any](mem []T, b *block, value T) {
	at, step := b.at[0], b.run[0]
	if step == 1 {
		for r := b.rows; r > 0; r-- {
			run := mem[at:][:b.n]
			i := 0
			for ; i < len(run)-3; i += 4 {
				run[i] = value
				run[i+1] = value
				run[i+2] = value
				run[i+3] = value
			}
			for ; i < len(run); i++ {
				run[i] = value
			}
			at += b.row[0]
		}
		return
	}
	for r := b.rows; r > 0; r-- {
		i := b.n
		for ; i >= 4; i -= 4 {
			mem[at] = value
			mem[at+step] = value
			mem[at+2*step] = value
			mem[at+3*step] = value
			at += 4 * step
		}
		for ; i > 0; i-- {
			mem[at] = value
			at += step
		}
		at += b.next[0]
	}
}

func copyBlock[T any](mem []T, b *block) {
	if b.run[0] == 1 && b.run[1] == 1 {
		copyRuns(mem, b)
		return
	}
	from, to := b.at[0], b.at[1]
	fromStep, toStep := b.run[0], b.run[1]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			mem[to] = mem[from]
			from += fromStep
			to += toStep
		}
		from += b.next[0]
		to += b.next[1]
	}
}

func copyRuns[T any](mem []T, b *block) {
	from, to := b.at[0], b.at[1]
	for r := b.rows; r > 0; r-- {
		src := mem[from:][:b.n]
		dst := mem[to:][:len(src)]
		i := 0
		for ; i < len(src)-3; i += 4 {
			dst[i] = src[i]
			dst[i+1] = src[i+1]
			dst[i+2] = src[i+2]
			dst[i+3] = src[i+3]
		}
		for ; i < len(src); i++ {
			dst[i] = src[i]
		}
		from += b.row[0]
		to += b.row[1]
	}
}

func addBlock[T realNumber](mem []T, b *block) {
	x, w, to := b.at[0], b.at[1], b.at[2]
	xStep, wStep, toStep := b.run[0], b.run[1], b.run[2]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			mem[to] = mem[x] + mem[w]
			x += xStep
			w += wStep
			to += toStep
		}
		x += b.next[0]
		w += b.next[1]
		to += b.next[2]
	}
}

func sumHalf(mem []layouts.Half, b *block) (sum float64) {
	at, step := b.at[0], b.run[0]
	for r := b.rows; r > 0; r-- {
		var x, y float64
		i := b.n
		for ; i >= 2; i -= 2 {
			x += float64(mem[at].Float())
			y += float64(mem[at+step].Float())
			at += 2 * step
		}
		if i > 0 {
			x += float64(mem[at].Float())
			at += step
		}
		sum += x + y
		at += b.next[0]
	}
	return sum
}

func sumBFloat(mem []layouts.BFloat, b *block) (sum float64) {
	at, step := b.at[0], b.run[0]
	for r := b.rows; r > 0; r-- {
		var x, y float64
		i := b.n
		for ; i >= 2; i -= 2 {
			x += float64(mem[at].Float())
			y += float64(mem[at+step].Float())
			at += 2 * step
		}
		if i > 0 {
			x += float64(mem[at].Float())
			at += step
		}
		sum += x + y
		at += b.next[0]
	}
	return sum
}

// addHalf adds as addBlock does. It adds operands and sums that are not normal numbers itself.
func addHalf(mem []layouts.Half, b *block) {
	x, w, to := b.at[0], b.at[1], b.at[2]
	xStep, wStep, toStep := b.run[0], b.run[1], b.run[2]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			left, sum := addNormal(mem, x, w, to, xStep, wStep, toStep, i)
			done := i - left
			i, x, w, to = left, x+done*xStep, w+done*wStep, to+done*toStep
			if left == 0 {
				break
			}
			mem[to] = layouts.HalfOf(sum)
			x, w, to = x+xStep, w+wStep, to+toStep
		}
		x += b.next[0]
		w += b.next[1]
		to += b.next[2]
	}
}

// addNormal stops before an operand or sum that is not a normal number. It returns the number of
// elements left of n, and the sum that it did not write. Without inlining, it has all registers.
//
//go:noinline
func addNormal(mem []layouts.Half, x, w, to, xStep, wStep, toStep, n int) (left int, sum float32) {
	for ; n > 0; n-- {
		a, c := uint32(mem[x]), uint32(mem[w])
		if a&0x7C00-0x400 >= 0x7800 || c&0x7C00-0x400 >= 0x7800 {
			return n, layouts.Half(a).Float() + layouts.Half(c).Float()
		}
		a, c = a<<16&(1<<31)|(a&0x7FFF<<13+(127-15)<<23), c<<16&(1<<31)|(c&0x7FFF<<13+(127-15)<<23)
		a = math.Float32bits(math.Float32frombits(a) + math.Float32frombits(c))
		c = a & 0x7FFFFFFF
		if c-(127-14)<<23 >= (15+14)<<23 {
			return n, math.Float32frombits(a)
		}
		mem[to] = layouts.Half(a>>16&0x8000 | (c-(127-15)<<23+0xFFF+c>>13&1)>>13)
		x, w, to = x+xStep, w+wStep, to+toStep
	}
	return 0, 0
}

func addBFloat(mem []layouts.BFloat, b *block) {
	x, w, to := b.at[0], b.at[1], b.at[2]
	xStep, wStep, toStep := b.run[0], b.run[1], b.run[2]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			mem[to] = layouts.BFloatOf(mem[x].Float() + mem[w].Float())
			x += xStep
			w += wStep
			to += toStep
		}
		x += b.next[0]
		w += b.next[1]
		to += b.next[2]
	}
}

func sumParts[F float32 | float64](mem [][2]F, b *block) float64 {
	var re, im F
	at, step := b.at[0], b.run[0]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			x := &mem[at]
			re += x[0]
			im += x[1]
			at += step
		}
		at += b.next[0]
	}
	return float64(re) + float64(im)
}

func addComplex[F float32 | float64](mem [][2]F, b *block) {
	x, w, to := b.at[0], b.at[1], b.at[2]
	xStep, wStep, toStep := b.run[0], b.run[1], b.run[2]
	for r := b.rows; r > 0; r-- {
		for i := b.n; i > 0; i-- {
			a, c, y := &mem[x], &mem[w], &mem[to]
			y[0] = a[0] + c[0]
			y[1] = a[1] + c[1]
			x += xStep
			w += wStep
			to += toStep
		}
		x += b.next[0]
		w += b.next[1]
		to += b.next[2]
	}
}
