package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// sums adds runs up with every set and compares with the definition in the
// documentation of Sum, to the last bit.
func sums[T Number](t *testing.T, x []T, calls []Rows) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	if size == 2 {
		narrowSums(t, x, calls)
		return
	}
	lanes := make([]T, laneBytes/size)
	for _, r := range calls {
		for _, part := range [][2]int{{0, r.N / (line / size) * (line / size)}, {r.N / (line / size) * (line / size), r.N}} {
			for row := range r.Count {
				for i := part[0]; i < part[1]; i++ {
					lanes[(i-part[0])%len(lanes)] += x[r.At+row*r.Pitch+i]
				}
			}
		}
	}
	want := 0.0
	for _, v := range lanes { // sums of small int32 are exact in any case
		want += float64(v)
	}
	sumTo(t, x, calls, want)
}

// narrowSums is sums of elements of 16 bits, whose lanes are of float32.
func narrowSums[T Number](t *testing.T, x []T, calls []Rows) {
	t.Helper()
	lanes := make([]float32, 64)
	for _, r := range calls {
		whole := r.N / 32 * 32
		for _, part := range [][2]int{{0, whole}, {whole, r.N}} {
			for row := range r.Count {
				for i := part[0]; i < part[1]; i++ {
					switch v := any(x[r.At+row*r.Pitch+i]).(type) {
					case layouts.Half:
						lanes[(i-part[0])%64] += v.Float()
					case layouts.BFloat:
						lanes[(i-part[0])%64] += v.Float()
					}
				}
			}
		}
	}
	want := 0.0
	for _, v := range lanes {
		want += float64(v)
	}
	sumTo(t, x, calls, want)
}

// sumTo compares the sum of each set of instructions with what is wanted.
func sumTo[T Number](t *testing.T, x []T, calls []Rows, want float64) {
	t.Helper()
	for _, s := range Sets() {
		sum := NewSum[T](s)
		for _, r := range calls {
			sum.Add(x, r)
		}
		if got := sum.Total(); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s: %T of %+v is %v, want %v", s.Name(), x, calls, got, want)
		}
	}
}

// as reads bytes from wherever they begin as elements.
func as[T any](b []byte, start int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	aligned := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(size))
	start = aligned + start*size
	if start >= len(b) {
		return nil
	}
	b = b[start:]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
}

// rowsIn cuts n elements into rows, some further apart than they are long.
func rowsIn(n, length, gap int) Rows {
	length = min(length, n)
	pitch := length + gap
	if pitch == 0 {
		return Rows{}
	}
	return Rows{At: 0, N: length, Count: (n + gap) / pitch, Pitch: pitch}
}

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func FuzzSum(f *testing.F) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		f.Add(randomBytes(seed, r.IntN(9000)), byte(r.IntN(20)), uint16(r.IntN(3000)), byte(r.IntN(20)))
	}
	f.Fuzz(func(t *testing.T, b []byte, start byte, length uint16, gap byte) {
		sumsOf[int32](t, b, int(start), int(length), int(gap))
		sumsOf[float32](t, b, int(start), int(length), int(gap)) // all of them: NaN, infinities, denormals
		sumsOf[float64](t, b, int(start), int(length), int(gap))
		sumsOf[layouts.Half](t, b, int(start), int(length), int(gap))
		sumsOf[layouts.BFloat](t, b, int(start), int(length), int(gap))
	})
}

func sumsOf[T Number](t *testing.T, b []byte, start, length, gap int) {
	t.Helper()
	x := as[T](b, start)
	r := rowsIn(len(x), length, gap)
	sums(t, x, []Rows{r, {At: 0, N: r.N, Count: min(3, r.Count), Pitch: 0}})
	if r.Count > 0 { // backwards
		sums(t, x, []Rows{{r.At + (r.Count-1)*r.Pitch, r.N, r.Count, -r.Pitch}})
	}
}

// TestLongSums: what passes a flush is added up all the same.
func TestLongSums(t *testing.T) {
	x := make([]float32, 1<<16+8)
	for i := range x {
		x[i] = 56
	}
	for _, s := range Sets() {
		if s == portable {
			continue // that takes too long
		}
		sum := NewSum[float32](s)
		sum.Add(x, Rows{0, len(x), 300, 0})
		if got, want := sum.Total(), 56*300*float64(len(x)); got != want {
			t.Errorf("%s: %v, want %v", s.Name(), got, want)
		}
	}
	long := make([]int32, flush+1<<10+5)
	for i := range long {
		long[i] = 127
	}
	for _, s := range Sets() {
		sum := NewSum[int32](s)
		sum.Add(long, Rows{0, len(long), 1, 0})
		if got, want := sum.Total(), 127*float64(len(long)); got != want {
			t.Errorf("%s: %v, want %v", s.Name(), got, want)
		}
	}
}

// TestSumAsks: sums that ask for lines are the same as those that do not, to the last bit, and
// only those of as many bytes as the tuning says ask.
func TestSumAsks(t *testing.T) {
	b := randomBytes(3, 3*leastAsked)
	sumsAsk(t, as[int32](b, 0))
	sumsAsk(t, as[float32](b, 1))
	sumsAsk(t, as[float64](b, 0))
	sumsAsk(t, as[layouts.Half](b, 3))
	sumsAsk(t, as[layouts.BFloat](b, 0))
}

func sumsAsk[T Number](t *testing.T, x []T) {
	t.Helper()
	half := len(x) / 2 * int(unsafe.Sizeof(x[0]))
	for _, s := range Sets() {
		for _, c := range []struct {
			rows Rows
			from int
			asks bool
		}{
			{Rows{0, len(x) / 2, 1, 0}, half, true},
			{Rows{0, len(x) / 2, 1, 0}, half + 1, false},
			{Rows{0, len(x) / 2, 2, 0}, half + 1, false}, // the same ones again
			{Rows{5, 37, len(x) / 101, 101}, 1, false},   // what is ahead of it is not read
			{Rows{5, 90, len(x) / 101, 101}, 1, true},
			{Rows{5, 800, len(x) / 1010, 1010}, 1, true}, // most is
			{Rows{len(x) - 1000, 1000, len(x) / 1000, -1000}, 1, true},
			{Rows{len(x) - 50, 50, len(x) / 50, -50}, 1, false},
			{Rows{0, 1000, len(x) / 1000, 1000}, 1, true},
			{Rows{0, 1000, 2, 1000}, 1, false},
		} {
			undo := tune(s, Tuning{1, 1, 1, 1, 1, c.from, 150})
			asking := NewSum[T](s)
			asking.Add(x, c.rows)
			undo()
			plain := NewSum[T](s)
			plain.Add(x, c.rows)
			if c.asks && s.streams && asking.ahead != 150 || asking.ahead > 0 != (c.asks && s.streams) || plain.ahead > 0 {
				t.Errorf("%s: %T of %+v asks from %d B on: %d B ahead, by default %d", s.Name(), x, c.rows, c.from, asking.ahead, plain.ahead)
			}
			if got, want := asking.Total(), plain.Total(); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %T of %+v is %v, not asking %v", s.Name(), x, c.rows, got, want)
			}
		}
	}
}

func FuzzFill(f *testing.F) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		f.Add(uint16(r.IntN(9000)), byte(r.IntN(20)), uint16(r.IntN(3000)), byte(r.IntN(20)), r.Uint64())
	}
	f.Fuzz(func(t *testing.T, n uint16, start byte, length uint16, gap byte, value uint64) {
		fills(t, int(n), int(start), int(length), int(gap), uint8(value))
		fills(t, int(n), int(start), int(length), int(gap), uint16(value))
		fills(t, int(n), int(start), int(length), int(gap), uint32(value))
		fills(t, int(n), int(start), int(length), int(gap), value)
	})
}

func fills[T Element](t *testing.T, n, start, length, gap int, value T) {
	t.Helper()
	want := as[T](make([]byte, n), 0)
	start = min(start, len(want))
	r := rowsIn(len(want)-start, length, gap)
	r.At = start
	for row := range r.Count {
		for i := range r.N {
			want[r.At+row*r.Pitch+i] = value
		}
	}
	for _, s := range Sets() {
		got := as[T](make([]byte, n), 0)
		Fill(s, got, value, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: filling %+v of %T is wrong", s.Name(), r, value)
		}
	}
}

// loopsOf makes loops from a seed: a copy from a matrix of any rank, its dims
// permuted, some flipped, strided or broadcast, to a contiguous one.
func loopsOf(r *rand.Rand, size int) (loops []Loop, to, from int) {
	rank := r.IntN(5)
	large := 2
	stride := 1
	for range rank {
		n := 1 + r.IntN(9)
		if large > 0 && r.IntN(2) == 0 {
			large--
			n = 1 + r.IntN(70)
			if r.IntN(6) == 0 && rank < 4 {
				n += 400
			}
		}
		l := Loop{N: n, From: stride * size}
		switch r.IntN(12) {
		case 0:
			l.From = 0
		case 1:
			l.From *= -1
			stride *= n
		case 2:
			l.From *= 2
			stride *= 2 * n
		default:
			stride *= n
		}
		loops = append(loops, l)
	}
	r.Shuffle(rank, func(i, j int) { loops[i], loops[j] = loops[j], loops[i] })
	stride = 1
	for i := range loops {
		l := &loops[i]
		l.To = stride * size
		stride *= l.N
		if r.IntN(4) == 0 {
			stride += r.IntN(3) // padded rows
		}
		if l.From < 0 {
			from -= (l.N - 1) * l.From
		}
		if r.IntN(8) == 0 {
			to += (l.N - 1) * l.To
			l.To *= -1
		}
	}
	r.Shuffle(rank, func(i, j int) { loops[i], loops[j] = loops[j], loops[i] })
	return loops, to, from
}

// reach is the number of bytes from 0 that loops touch.
func reach(loops []Loop, start, size int, stride func(Loop) int) int {
	for _, l := range loops {
		start += max(0, (l.N-1)*stride(l))
	}
	return start + size
}

func FuzzPlan(f *testing.F) {
	for seed := range uint64(150) {
		f.Add(seed, byte(seed%5), byte(seed%13), byte(seed%7))
	}
	defer func(n, m int) { collide, longFrom = n, m }(collide, longFrom)
	f.Fuzz(func(t *testing.T, seed uint64, log, toStart, fromStart byte) {
		size := 1 << (log % 5)
		// Every other copy that can goes through buffers, and every fourth in
		// long blocks, or in the order of what is read.
		collide, longFrom = []int{1, math.MaxInt}[seed%2], []int{0, math.MaxInt}[seed/2%2]
		loops, to, from := loopsOf(rand.New(rand.NewPCG(seed, 5)), size)
		// Anywhere, with bytes behind that must stay as they are.
		to += int(toStart) * size
		from += int(fromStart) * size
		dst := bytes.Repeat([]byte{0xa5}, reach(loops, to, size, func(l Loop) int { return l.To })+80)
		src := randomBytes(seed, reach(loops, from, size, func(l Loop) int { return l.From }))
		want := slices.Clone(dst)
		naive(loops, want, src, to, from, size)
		for _, set := range All() {
			p := NewPlan(set, size, loops)
			p.Move(to, from)
			got := slices.Clone(dst)
			if set.Runs() {
				p.Run(got, src, make([]byte, p.Buffers), 2)
				if got2 := slices.Clone(dst); !bytes.Equal(got, want) || !bytes.Equal(streamed(p, got2, src), want) {
					t.Fatalf("%s: %d B, %+v: the copy is wrong", set.Name(), size, loops)
				}
			}
			got = slices.Clone(dst)
			touch(t, p, got, src)
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: %d B, %+v: the plan does not say what is copied", set.Name(), size, loops)
			}
		}
	})
}

// naive copies as the loops are given.
func naive(loops []Loop, dst, src []byte, to, from, size int) {
	if len(loops) == 0 {
		copy(dst[to:][:size], src[from:])
		return
	}
	for range loops[0].N {
		naive(loops[1:], dst, src, to, from, size)
		to += loops[0].To
		from += loops[0].From
	}
}

// touch does what a plan's steps say: it reads each access of the source once,
// and writes each of the destination once, with what the loops put there. A
// read or a write too many or too few, or one of the wrong place, shows.
func touch(t *testing.T, p *Plan, dst, src []byte) {
	t.Helper()
	reads, writes, again, buffers := 0, 0, 0, make([]byte, p.Buffers)
	for _, s := range p.Steps {
		row, before := 0, writes // of a step of picked rows, which one
		at := make([]int, len(s.Body))
		steps := make([][]int, len(s.Body))
		memory := make([][]byte, len(s.Body))
		for i, a := range s.Body {
			steps[i] = nest.Steps(counts(s.Loops), stridesOf(s, a))
			switch {
			case a.Buffered():
				memory[i], at[i] = buffers, a.Offset
			case a.Write:
				memory[i], at[i] = dst, s.To+a.Offset
			default:
				memory[i], at[i] = src, s.From+a.Offset
			}
		}
		for l := range nest.Walk(counts(s.Loops)) {
			if rows := len(s.Loops) - 2; l == rows {
				row++
			} else if l >= 0 && l < rows {
				row = 0
			}
			// What rows are read of a tile is transposed, and written before others
			// are read. What is read of a buffer is written as it is.
			var tile []byte
			var order []int // where its rows are
			rows, first := 0, 0
			for i, a := range s.Body {
				if l >= 0 {
					at[i] += steps[i][l]
				}
				here := memory[i][at[i]:][:a.Width]
				if !a.Buffered() {
					*map[bool]*int{false: &reads, true: &writes}[a.Write] += a.Width
				}
				if !a.Write {
					if rows == 0 {
						tile, order = nil, nil
					}
					tile, order = append(tile, here...), append(order, a.Offset)
					rows++
					continue
				}
				if rows > 0 {
					if first = i; rows > 1 && rows == s.small.rows {
						tile = transposed(inRows(tile, s.small), p.size, rows)
					} else if !s.Body[i-1].Buffered() {
						tile, rows = inOrder(tile, order, p.size)
						tile = transposed(tile, p.size, rows)
					}
					rows = 0
				}
				from := inTile(s.Body[first:], i-first)
				if s.picked > 0 {
					from += row * len(tile) / s.picked
				}
				copy(here, tile[from:])
			}
		}
		again += (writes - before) * max(0, s.picked-1) // each picked row reads all
	}
	// Panels, which go through a buffer, read what is at an end twice, where it is no whole
	// tile: at the ends of both sides four times.
	most := p.written()
	if p.set.panels != nil && p.Buffers > 0 {
		most *= 4
	}
	if bytes := p.written(); reads < bytes+again || reads > most+again || writes != bytes {
		t.Fatalf("the plan reads %d B and writes %d of %d", reads, writes, bytes)
	}
}

// inRows are the rows of a small tile, in order.
func inRows(tile []byte, t smallTile) []byte {
	sorted := make([]byte, len(tile))
	for i, row := range t.order() {
		copy(sorted[row*t.bytes:], tile[i*t.bytes:][:t.bytes])
	}
	return sorted
}

// inOrder are the rows of a tile and how many these are. They are one after the other
// but where a row of lanes is taken apart, of which two go by turns: each of its rows
// has one element for each that a line has.
func inOrder(tile []byte, order []int, size int) ([]byte, int) {
	if slices.IsSorted(order) || slices.IsSortedFunc(order, func(a, b int) int { return b - a }) {
		return tile, len(order)
	}
	sorted := make([]byte, len(tile))
	for i, at := range order {
		copy(sorted[at:], tile[i*lane:][:lane])
	}
	return sorted, line / size
}

// inTile is where in a tile the i-th write of it is: one after the other or, where they
// are one piece of a buffer, as they lie in that.
func inTile(writes []Access, i int) int {
	before, all, end := 0, 0, 0
	for j, w := range writes {
		if !w.Write {
			break
		}
		if all += w.Width; j < i {
			before = all
		}
		end = max(end, w.Offset+w.Width-writes[0].Offset)
	}
	if writes[0].Buffered() && all == end {
		return writes[i].Offset - writes[0].Offset
	}
	return before
}

// stridesOf are those of an access of a step.
func stridesOf(s Step, a Access) []int {
	to, from := s.Strides()
	switch {
	case a.Buffered():
		return a.Strides
	case a.Write:
		return to
	}
	return from
}

// counts are the trips of loops.
func counts(loops []Loop) (trips []int) {
	for _, l := range loops {
		trips = append(trips, l.N)
	}
	return trips
}

// transposed puts what is read of so many rows, one after the other, in the
// order in which it is written.
func transposed(read []byte, size, rows int) []byte {
	columns := len(read) / size / rows
	out := make([]byte, len(read))
	for n := range len(read) / size {
		copy(out[(n%columns*rows+n/columns)*size:][:size], read[n*size:])
	}
	return out
}

// past has all sets write past the caches from so many bytes on, until it is
// undone.
func past(from int) (undo func()) {
	var all []func()
	for _, s := range All() {
		all = append(all, tune(s, Tuning{from, from, from, from, 1, Never, 1}))
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}

// streamed runs a plan with all that it can write past the caches.
func streamed(p *Plan, dst, src []byte) []byte {
	defer past(1)()
	p.Run(dst, src, make([]byte, p.Buffers), 1)
	return dst
}

// TestStreams: runs that are written past the caches arrive all the same.
func TestStreams(t *testing.T) {
	defer past(1)()
	src := randomBytes(3, 5000)
	for _, s := range Sets() {
		for start := range line {
			for _, n := range []int{1, 64, 640, 4097, 4900} {
				got, want := make([]byte, 5000), make([]byte, 5000)
				copy(want[start:], src[:n])
				p := NewPlan(s, 1, []Loop{{n, 1, 1}})
				p.Move(start, 0)
				p.Run(got, src, make([]byte, p.Buffers), 2)
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: a copy of %d B to byte %d is wrong", s.Name(), n, start)
				}
			}
		}
	}
}

// TestStreamedTiles: tiles of whole lines are, too.
func TestStreamedTiles(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		side := 10 * line / size
		src := randomBytes(4, side*side*size)
		loops := []Loop{{side, side * size, size}, {side, size, side * size}}
		mem := make([]byte, len(src)+line)
		start := int(-uintptr(unsafe.Pointer(&mem[0])) % line)
		want := make([]byte, len(src))
		naive(loops, want, src, 0, 0, size)
		for _, s := range Sets() {
			clear(mem)
			p := NewPlan(s, size, loops)
			dst := mem[start:][:len(src)]
			if s != portable && !p.Steps[0].aligned(uintptr(unsafe.Pointer(&dst[0])), side*size) {
				t.Errorf("%s: %d B: the tiles are not seen to be aligned", s.Name(), size)
			}
			if !bytes.Equal(streamed(p, dst, src), want) {
				t.Errorf("%s: %d B: the copy is wrong", s.Name(), size)
			}
		}
	}
}

// TestBlocks: copies whose rows collide go through buffers, are split as they
// should be, and arrive, past the caches or not.
func TestBlocks(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	defer past(Never)()
	for _, size := range []int{1, 2, 4, 8} {
		high, side := blockWidth/size, line/size
		for name, loops := range map[string][]Loop{
			"from":      {{13*side + 3, 3 * high * size, size}, {3 * high, size, 4096}},
			"to":        {{13*side + 3, 4096, size}, {3*high + 5, size, 14 * line}},
			"one block": {{side, 4096, size}, {high, size, 4096}},
			"long":      {{70*side + 5, 4096, size}, {2*high + 1, size, 71 * line}},
			"backwards": {{9 * side, -4096, size}, {4 * high, size, -4096}},
			"cube":      {{5 * side, 8 << 12, size}, {12, 4 * high * size, 5 * line}, {2 * high, size, 4 << 12}},
		} {
			low := func(stride func(Loop) int) (n int) {
				for _, l := range loops {
					n -= min(0, (l.N-1)*stride(l))
				}
				return n
			}
			to, from := low(func(l Loop) int { return l.To }), low(func(l Loop) int { return l.From })
			src := randomBytes(5, reach(loops, from, size, func(l Loop) int { return l.From }))
			mem := make([]byte, reach(loops, to, size, func(l Loop) int { return l.To })+2*line)
			dst := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:][:len(mem)-line]
			want := make([]byte, len(dst))
			naive(loops, want, src, to, from, size)
			for _, s := range All() {
				for _, longFrom = range []int{0, math.MaxInt} {
					p := NewPlan(s, size, loops)
					p.Move(to, from)
					panels := s.spares && p.Steps[0].small.rows > 0 // what leaves much, or is long where there are no blocks
					if in := p.Buffers > 0; in != slices.Contains(s.blocks, size) && !panels {
						t.Errorf("%s: %s of %d B: planned in blocks: %v", s.Name(), name, size, in)
					}
					clear(dst)
					if touch(t, p, dst, src); !bytes.Equal(dst, want) {
						t.Errorf("%s: %s of %d B: the plan does not say what is copied", s.Name(), name, size)
					}
					if !s.Runs() {
						continue
					}
					clear(dst)
					p.Run(dst, src, make([]byte, p.Buffers), 2)
					if !bytes.Equal(dst, want) {
						t.Errorf("%s: %s of %d B: the copy is wrong", s.Name(), name, size)
					}
					clear(dst)
					undo := past(1)
					if slices.Contains(s.blocks, size) && !p.PastCaches() {
						t.Errorf("%s: %s of %d B is not written past the caches", s.Name(), name, size)
					}
					undo()
					if !bytes.Equal(streamed(p, dst, src), want) {
						t.Errorf("%s: %s of %d B, past the caches: the copy is wrong", s.Name(), name, size)
					}
				}
			}
		}
	}
}

// TestManyBlocks: a plan of many small copies stays small.
func TestManyBlocks(t *testing.T) {
	loops := []Loop{{50, 1 << 30, 1 << 28}, {50, 1 << 24, 1 << 26}, {50, 1 << 16, 1 << 20}, {16, 1 << 10, 4}, {64, 4, 1 << 12}}
	for _, s := range All() {
		if p := NewPlan(s, 4, loops); len(p.Steps) > mostRuns {
			t.Errorf("%s: the plan has %d steps", s.Name(), len(p.Steps))
		}
	}
}

// TestPastCaches: large copies whose lines are whole are written past the caches,
// where the CPU gains by it, and no others.
func TestPastCaches(t *testing.T) {
	defer past(1 << 16)()
	run := func(n, pitch int) []Loop { return []Loop{{1, 0, 0}, {64, pitch, pitch}, {n, 4, 4}} }
	for _, s := range All() {
		for _, c := range []struct {
			loops []Loop
			want  bool
		}{
			{run(1<<14, 1<<16), true}, {run(1<<10, 1<<16), false}, {run(1<<14, 1<<16+4), false},
			{[]Loop{{256, 1024, 4}, {256, 4, 1024}}, true}, {[]Loop{{64, 256, 4}, {64, 4, 256}}, false}, {[]Loop{{256, 1028, 4}, {256, 4, 1024}}, false},
		} {
			if got := NewPlan(s, 4, c.loops).PastCaches(); got != (c.want && s.streams) {
				t.Errorf("%s: %v: %t", s.Name(), c.loops, got)
			}
		}
		if NewPlan(s, 4, []Loop{{0, 4, 4}}).PastCaches() {
			t.Errorf("%s: nothing goes past the caches", s.Name())
		}
	}
}

// TestOnwardTiles: tiles that are written one beside the other go past the caches as
// runs do, but narrow ones.
func TestOnwardTiles(t *testing.T) {
	const runs, tiles, narrow = 1 << 10, 1 << 20, 1 << 21
	defer tune(avx2, Tuning{runs, tiles, narrow, Never, 1, Never, 1})()
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, c := range []struct{ to, from, want int }{{62, 31, runs}, {31, 31, tiles}, {31, 62, tiles}, {32, 32, runs}} {
			c.to, c.from = c.to*line/size, c.from*line/size // of tiles
			if size <= 2 {
				c.want = narrow
			}
			p := NewPlan(avx2, size, []Loop{{c.from, c.to * size, size}, {c.to, size, c.from * size}})
			for at, want := range map[int]bool{c.want - size: false, c.want: true} {
				p.loops = []Loop{{N: at / size}} // which is what tells how much is written
				if got := p.PastCaches(); got != want {
					t.Errorf("%d B, %d by %d, %d B of all: past the caches: %t", size, c.to, c.from, at, got)
				}
			}
		}
	}
}

// TestSets: every set is there on every CPU, the tests' log says which of them
// are run, and those that are not say so.
func TestSets(t *testing.T) {
	t.Logf("this CPU runs %s, and plans %s", Names(Sets()), Names(All()))
	if got := Names(All()); got != "portable, avx2-blocks, avx2, avx512, neon" {
		t.Errorf("there are %s", got)
	}
	for _, s := range All() {
		if got, err := ByName(s.Name()); got != s || err != nil {
			t.Errorf("the set %s is not found by its name: %v", s.Name(), err)
		}
		if s.Runs() != slices.Contains(Sets(), s) {
			t.Errorf("%s: runs: %t", s.Name(), s.Runs())
		}
	}
	for size, own := range map[int]bool{0: false, 1: true, 2: true, 4: true, 8: true, 16: false} {
		if avx2blocks.Own(size) != own || !avx2.Own(size) {
			t.Errorf("%d B: avx2-blocks copies them in a way of its own: %t, and avx2: %t", size, avx2blocks.Own(size), avx2.Own(size))
		}
	}
	defer func(run *functions) { avx512.run = run }(avx512.run)
	avx512.run = nil
	for name, f := range map[string]func(){
		"sum":  func() { NewSum[int32](avx512) },
		"fill": func() { Fill(avx512, make([]int32, 9), 1, Rows{0, 9, 1, 0}) },
		"copy": func() { NewPlan(avx512, 4, []Loop{{1, 4, 4}}).Run(make([]byte, 4), make([]byte, 4), nil, 1) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "kernel: this CPU does not run avx512 (it runs portable") {
					t.Errorf("%s by a set that this CPU does not run: %s", name, got)
				}
			}()
			f()
		}()
	}
}

func TestPlanRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"no such size": func() { NewPlan(portable, 3, nil) },
		"too short":    func() { NewPlan(Best(), 4, []Loop{{100, 4, 4}}).Run(make([]byte, 399), make([]byte, 400), nil, 1) },
		"before it":    func() { NewPlan(Best(), 4, []Loop{{2, 4, -4}}).Run(make([]byte, 8), make([]byte, 8), nil, 1) },
		"buffers": func() {
			p := NewPlan(avx2, 4, []Loop{{64, 4096, 4}, {64, 4, 4096}})
			p.Run(make([]byte, 1<<18), make([]byte, 1<<18), make([]byte, p.Buffers-1), 1)
		},
		"rows": func() { NewSum[int32](Best()).Add(make([]int32, 9), Rows{0, 5, 2, 5}) },
		"fill": func() { Fill(Best(), make([]int32, 9), 1, Rows{-1, 2, 1, 0}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it did not panic", name)
				}
			}()
			f()
		}()
	}
	if _, err := ByName("mmx"); err == nil {
		t.Error("there is a set mmx")
	}
}

// BenchmarkRuns reports how fast sums and copies of runs are, as a ratio to the
// builtin copy of the same bytes, interleaved; bests of the run.
func BenchmarkRuns(b *testing.B) {
	for _, set := range Sets()[1:] {
		for _, size := range []int{16 << 10, 512 << 10, 1536 << 10, 64 << 20} {
			mem := randomBytes(1, size)
			x := as[int32](mem, 0)
			half := size / 2
			times := max(1, 4<<20/size)
			plan := NewPlan(set, 1, []Loop{{half, 1, 1}})
			sum := NewSum[int32](set)
			b.Run(fmt.Sprintf("kernel=%s/size=%dKiB", set.Name(), size>>10), func(b *testing.B) {
				best := fastest(b,
					func() {
						for range times {
							copy(mem[half:], mem[:half])
						}
					},
					func() { plan.Run(mem[half:], mem[:half], nil, times) },
					func() { sum.Add(x, Rows{0, len(x), times, 0}) },
				)
				b.ReportMetric(float64(best[0])/float64(best[1]), "x-copy")
				b.ReportMetric(float64(best[0])/float64(best[2]), "x-read")
				b.ReportMetric(float64(times*size)/best[1].Seconds()/1e9, "GB/s-copy")
				b.ReportMetric(float64(times*size)/best[2].Seconds()/1e9, "GB/s-read")
			})
		}
	}
}

// BenchmarkPermuted reports permuted copies of float32 as shares of our own
// plain copy of the same bytes, and of one by ordinary stores where ours are
// none, interleaved; bests of the run.
func BenchmarkPermuted(b *testing.B) {
	for _, c := range []struct {
		name  string
		loops []Loop
	}{
		{"transpose-1024x1024", []Loop{{1024, 4096, 4}, {1024, 4, 4096}}},
		{"transpose-4000x4000", []Loop{{4000, 16000, 4}, {4000, 4, 16000}}},
		{"transpose-4096x4096", []Loop{{4096, 16384, 4}, {4096, 4, 16384}}},
		{"256x256x256-by-2,1,0", []Loop{{256, 4 << 16, 4}, {256, 4 << 8, 4 << 8}, {256, 4, 4 << 16}}},
		{"nchw-nhwc", []Loop{{32, 4 * 64 * 3136, 4 * 64 * 3136}, {3136, 4 * 64, 4}, {64, 4, 4 * 3136}}},
		{"nhwc-nchw", []Loop{{32, 4 * 64 * 3136, 4 * 64 * 3136}, {64, 4 * 3136, 4}, {3136, 4, 4 * 64}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := reach(c.loops, 0, 4, func(l Loop) int { return l.To })
			dst, src := randomBytes(1, size), randomBytes(2, size)
			plain := NewPlan(Best(), 4, []Loop{{size / 4, 4, 4}})
			runs := []func(){func() { plain.Run(dst, src, nil, 1) }, func() {
				defer past(Never)()
				plain.Run(dst, src, nil, 1)
			}}
			for _, s := range Sets() {
				plan := NewPlan(s, 4, c.loops)
				buffers := make([]byte, plan.Buffers)
				runs = append(runs, func() { plan.Run(dst, src, buffers, 1) })
			}
			best := fastest(b, runs...)
			b.ReportMetric(float64(2*size)/best[0].Seconds()/1e9, "GB/s-plain")
			for i, s := range Sets() {
				b.ReportMetric(float64(best[0])/float64(best[i+2]), s.Name()+"-x-plain")
				b.ReportMetric(float64(best[1])/float64(best[i+2]), s.Name()+"-x-ordinary")
			}
		})
	}
}

// BenchmarkSizes reports permuted copies of elements of any size as how many
// times as fast they are as the plain loop over the view, interleaved: medians
// of the run.
func BenchmarkSizes(b *testing.B) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, c := range []struct {
			name  string
			loops []Loop
		}{
			{"transpose-256x256", []Loop{{256, size, 256 * size}, {256, 256 * size, size}}},
			{"transpose-4000x4000", []Loop{{4000, 4000 * size, size}, {4000, size, 4000 * size}}},
			{"transpose-4096x4096", []Loop{{4096, 4096 * size, size}, {4096, size, 4096 * size}}},
			{"nchw-nhwc", []Loop{{8, 64 * 3136 * size, 64 * 3136 * size}, {3136, 64 * size, size}, {64, size, 3136 * size}}},
			{"nhwc-nchw", []Loop{{8, 64 * 3136 * size, 64 * 3136 * size}, {64, 3136 * size, size}, {3136, size, 64 * size}}},
		} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, c.name), func(b *testing.B) {
				n := reach(c.loops, 0, size, func(l Loop) int { return l.To })
				dst, src := randomBytes(1, n), randomBytes(2, n)
				view := &Plan{set: portable, size: size}
				view.elements(0, 0, c.loops)
				runs := []func(){func() { view.Run(dst, src, nil, 1) }}
				for _, s := range Sets() {
					plan := NewPlan(s, size, c.loops)
					buffers := make([]byte, plan.Buffers)
					runs = append(runs, func() { plan.Run(dst, src, buffers, 1) })
				}
				all := timed(b, runs...)
				plain := median(all[0])
				b.ReportMetric(plain.Seconds()*1e3, "ms-plain")
				for i, s := range Sets() {
					b.ReportMetric(float64(plain)/float64(median(all[i+1])), s.Name()+"-x-plain")
				}
			})
		}
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// fastest runs all in turn, at least seven times, and returns the best of each.
func fastest(b *testing.B, runs ...func()) []time.Duration {
	var best []time.Duration
	for _, times := range timed(b, runs...) {
		best = append(best, slices.Min(times))
	}
	return best
}

// timed runs all in turn, at least seven times, and returns the times of each.
func timed(b *testing.B, runs ...func()) [][]time.Duration {
	times := make([][]time.Duration, len(runs))
	for range max(b.N, 7) {
		for i, run := range runs {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	return times
}

// TestOnward: tiles are walked along what is read where the two loops are equal, and along
// what is written where rows of that lie in few sets; of narrow elements not where those
// that are read collide, too.
func TestOnward(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	longFrom = math.MaxInt
	for _, c := range []struct {
		size, n, to, from int // elements, and bytes from row to row
		onward            bool
	}{
		{4, 1000, 4000, 4000, false}, {4, 1000, 4096, 4000, true}, {4, 1000, 4000, 4096, false}, {4, 1024, 4096, 4096, true},
		{4, 960, 3840, 3840, true}, {4, 992, 3968, 3968, false}, {8, 512, 4096, 4096, true},
		{2, 2048, 4096, 4096, false}, {2, 1536, 3072, 3072, true}, {1, 4096, 4096, 4096, false}, {1, 4096, 4096, 4160, true},
	} {
		p := NewPlan(avx512, c.size, []Loop{{c.n, c.to, c.size}, {c.n, c.size, c.from}})
		loops := p.Steps[0].Loops
		inner := loops[len(loops)-1]
		if onward := inner.To == line; onward != c.onward || !onward && inner.From != line {
			t.Errorf("%+v is walked by %+v", c, inner)
		}
	}
	// A loop within the rows that are written, and few tiles of these.
	for _, loops := range [][]Loop{permuted(4, []int{64, 64, 64}, []int{2, 1, 0}), {{256, 2304, 4}, {64, 4, 1024}}} {
		p := NewPlan(avx512, 4, loops)
		within := p.Steps[0].Loops
		if inner := within[len(within)-1]; inner.From != line {
			t.Errorf("%v is walked by %+v", loops, inner)
		}
	}
}

// TestEdges: what tiles leave of rows that are read is copied for as many rows at a time as a
// tile has, each of whose lines is then asked for once.
func TestEdges(t *testing.T) {
	p := NewPlan(neon, 1, []Loop{{100, 1000, 1}, {1000, 1, 100}})
	var edges [][]Loop
	for _, s := range p.Steps {
		if len(s.Body) == 2 {
			edges = append(edges, s.Loops)
		}
	}
	want := [][]Loop{
		{{15, 64, 6400}, {36, 1000, 1}, {64, 1, 100}}, // beside the tiles
		{{36, 1000, 1}, {40, 1, 100}},                 // in the corner
		{{64, 1000, 1}, {40, 1, 100}},                 // below
	}
	if !reflect.DeepEqual(edges, want) {
		t.Errorf("%v, want %v", edges, want)
	}
}

// TestPairs: of what is too long for the caches, tiles of 8 and 16 bytes an element that are walked along what is read go by pairs, which are
// beside one another where they are written, and what is left of an odd number alone; not where rows follow on each other, nor where they collide or are walked along
// what is written. The plan says what is touched, in order, and the copy is right.
func TestPairs(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	for _, c := range []struct {
		name           string
		size           int
		rows, columns  int // tiles: that are read below one another, and beside
		pad            int // bytes between the rows that are read
		long           bool
		pairs, singles int // of those that are read below one another
	}{
		{"even", 8, 6, 70, 640, true, 3, 0}, {"odd", 8, 7, 70, 640, true, 3, 1}, {"two", 8, 2, 9, 128, true, 1, 0}, {"one", 8, 1, 9, 128, true, 0, 1},
		{"of 16 B", 16, 9, 70, 640, true, 4, 1}, {"of 4 B", 4, 6, 70, 640, true, 0, 6},
		{"short", 8, 6, 70, 640, false, 0, 6}, {"along what is written", 8, 9, 8, 0, true, 0, 0},
		{"colliding", 16, 6, 60, 256, true, 0, 6},
	} {
		side := line / c.size
		to, from := c.rows*side*c.size, c.columns*line+c.pad
		loops := []Loop{{c.columns * side, to, c.size}, {c.rows * side, c.size, from}}
		longFrom = map[bool]int{true: 0, false: math.MaxInt}[c.long]
		src, mem := randomBytes(7, c.rows*side*from), make([]byte, c.rows*c.columns*side*line+line)
		dst := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:][:len(mem)-line]
		want := make([]byte, len(dst))
		naive(loops, want, src, 0, 0, c.size)
		for _, s := range []*Set{avx2, avx512, neon} {
			p := NewPlan(s, c.size, loops)
			pairs, singles := 0, 0
			for _, step := range p.Steps {
				across, along := step.Loops[len(step.Loops)-2], step.Loops[len(step.Loops)-1]
				switch {
				case along.From != line: // along what is written
				case across.To == 2*line:
					pairs = across.N
				case across.To == line:
					singles = across.N
				}
			}
			wantPairs, wantSingles := c.pairs, c.singles
			if s == neon { // which has none
				wantPairs, wantSingles = 0, 2*c.pairs+c.singles
			}
			if pairs != wantPairs || singles != wantSingles {
				t.Errorf("%s: %s: %d pairs and %d alone, want %d and %d", s.Name(), c.name, pairs, singles, wantPairs, wantSingles)
			}
			if touch(t, p, dst, src); !bytes.Equal(dst, want) {
				t.Errorf("%s: %s: the plan does not say what is copied", s.Name(), c.name)
			}
			if !s.Runs() {
				continue
			}
			clear(dst)
			if p.Run(dst, src, make([]byte, p.Buffers), 1); !bytes.Equal(dst, want) {
				t.Errorf("%s: %s: the copy is wrong", s.Name(), c.name)
			}
			clear(dst)
			if !bytes.Equal(streamed(p, dst, src), want) {
				t.Errorf("%s: %s: the copy past the caches is wrong", s.Name(), c.name)
			}
		}
	}
}

// TestSequential: long copies of short rows that follow on each other read them in the order of addresses, block after block,
// and ask for the lines of the next block in that order, each once; others do not. The plan says what is
// touched, in order, and the copy is right.
func TestSequential(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	for _, c := range []struct {
		name                  string
		size                  int
		images, pixels, inRow int
		between               int // bytes, of the rows that are read
		long, want            bool
	}{
		{"of 8 B", 8, 2, 264, 64, 0, true, true}, {"of 4 B", 4, 2, 528, 48, 0, true, true}, {"of 2 B", 2, 2, 1056, 32, 0, true, true}, {"of 16 B", 16, 2, 132, 16, 0, true, true},
		{"of 1 B", 1, 2, 2112, 64, 0, true, false}, {"in the caches", 8, 2, 264, 64, 0, false, false},
		{"a few pixels behind the tiles", 8, 1, 520, 40, 0, true, true}, {"in few sets", 8, 2, 288, 64, 0, true, true},
		{"longer", 8, 1, 272, 1016, 0, true, true}, {"too long", 8, 1, 264, 1032, 0, true, false},
		{"in few sets, longer", 8, 1, 288, 504, 0, true, true}, {"in few sets, too long", 8, 1, 288, 520, 0, true, false},
		{"an eighth between", 8, 1, 264, 64, 64, true, true}, {"more between", 8, 1, 264, 64, 72, true, false},
		{"parts of lines that are written", 8, 1, 260, 64, 0, true, false}, {"parts of lines that are read", 8, 1, 264, 60, 0, true, false},
		{"colliding where they are written", 8, 1, 1024, 64, 0, true, false}, {"colliding where they are read", 8, 1, 264, 512, 0, true, false},
		{"fewer than a line has", 8, 1, 264, 4, 0, true, false}, {"fewer pixels than a tile has", 8, 40, 4, 8, 0, true, false},
	} {
		pitch := c.inRow*c.size + c.between
		loops := []Loop{{c.images, c.inRow * c.pixels * c.size, c.pixels * pitch}, {c.inRow, c.pixels * c.size, c.size}, {c.pixels, c.size, pitch}}
		src, mem := randomBytes(8, c.images*c.pixels*pitch), make([]byte, c.images*c.pixels*c.inRow*c.size+line)
		dst := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:][:len(mem)-line]
		want := make([]byte, len(dst))
		naive(loops, want, src, 0, 0, c.size)
		longFrom = map[bool]int{true: 0, false: math.MaxInt}[c.long]
		for _, s := range All() {
			p := NewPlan(s, c.size, loops)
			if got := p.Buffers == 0 && p.Steps[0].in == 2 && p.Steps[0].picked == 0 && len(p.Steps[0].Body) > 2; got != (c.want && s.streams) {
				t.Errorf("%s: %s: in the order of what is read: %t", s.Name(), c.name, got)
			}
			if touch(t, p, dst, src); !bytes.Equal(dst, want) {
				t.Errorf("%s: %s: the plan does not say what is copied", s.Name(), c.name)
			}
			if !s.Runs() {
				continue
			}
			clear(dst)
			asked := asksOf(s, func() { p.Run(dst, src, make([]byte, p.Buffers), 1) })
			if !bytes.Equal(dst, want) {
				t.Errorf("%s: %s: the copy is wrong", s.Name(), c.name)
			}
			clear(dst)
			if !bytes.Equal(streamed(p, dst, src), want) {
				t.Errorf("%s: %s: the copy past the caches is wrong", s.Name(), c.name)
			}
			if c.want && s.streams {
				sequentialAsks(t, c.name, asked, uintptr(unsafe.Pointer(&src[0])), len(src))
			}
		}
	}
}

// asksOf are the lines that are asked for, one next to the other, while f runs: where the first is, and how many.
func asksOf(s *Set, f func()) (all [][2]int) {
	defer func(run *functions) { s.run = run }(s.run)
	run := *s.run
	run.ask = func(asked uintptr, lines int) { all = append(all, [2]int{int(asked), lines}) }
	s.run = &run
	f()
	return all
}

// sequentialAsks fails unless lines are asked for as they lie one behind the other, every one but those of the first block (at most), and
// next to none twice.
func sequentialAsks(t *testing.T, name string, asked [][2]int, from uintptr, bytes int) {
	t.Helper()
	end, lines := 0, 0
	seen := map[int]bool{}
	for _, a := range asked {
		if end > 0 && a[0] > end+line || a[0] < end-sequentialBlock/8 {
			t.Errorf("%s: %d lines are asked for from byte %d on, after those to byte %d", name, a[1], a[0]-int(from), end-int(from))
			return
		}
		end = a[0] + a[1]*line
		for i := range a[1] {
			seen[a[0]/line+i] = true
		}
		lines += a[1]
	}
	first := asked[0][0] - int(from)
	for at := asked[0][0]; at < int(from)+bytes; at += line {
		if !seen[at/line] {
			t.Errorf("%s: the line at byte %d is not asked for", name, at-int(from))
			return
		}
	}
	if first < sequentialBlock/8 || first > sequentialBlock+line || lines > len(seen)*9/8 {
		t.Errorf("%s: asked from byte %d on, %d times for %d lines", name, first, lines, len(seen))
	}
}
