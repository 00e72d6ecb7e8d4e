package kernel

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// permuted are the loops of a copy of a matrix of that shape, its dims in another order.
func permuted(size int, shape, dims []int) []Loop {
	strides, stride := make([]int, len(shape)), size
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = stride
		stride *= shape[d]
	}
	loops, stride := make([]Loop, len(shape)), size
	for i := len(dims) - 1; i >= 0; i-- {
		loops[i] = Loop{N: shape[dims[i]], To: stride, From: strides[dims[i]]}
		stride *= shape[dims[i]]
	}
	return loops
}

// TestPanels: avx2-blocks copies by panels where there are ends beside whole tiles or
// short rows, past the caches where all lines are whole, and it arrives.
func TestPanels(t *testing.T) {
	for _, c := range []struct {
		name         string
		size         int
		shape, dims  []int
		panels, past bool
		steps        int
	}{
		{"rows that go on in what is written", 4, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}, true, true, 1},
		{"half lines in long runs", 4, []int{3, 3, 72, 80}, []int{3, 1, 0, 2}, true, true, 1},
		{"half lines in short runs", 4, []int{3, 3, 3, 72, 80}, []int{4, 2, 0, 1, 3}, true, false, 1},
		{"rows of one panel after the other", 4, []int{100, 3, 140}, []int{1, 2, 0}, true, true, 1},
		{"what is left of from", 4, []int{132, 502}, []int{1, 0}, true, true, 2},
		{"little beside tiles", 4, []int{3, 130, 496}, []int{0, 2, 1}, false, false, 2},
		{"both go on along one loop", 4, []int{4, 36, 3, 8, 20}, []int{4, 2, 0, 3, 1}, true, true, 1},
		{"short rows", 4, []int{32, 4, 3, 8, 16}, []int{4, 3, 2, 1, 0}, true, true, 1},
		{"rows in pieces", 8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}, true, true, 1},
		{"short rows in pieces", 4, []int{3, 64, 4, 5, 16}, []int{4, 2, 0, 3, 1}, true, true, 1},
		{"bytes", 1, []int{5, 24, 8, 40}, []int{3, 0, 2, 1}, true, true, 1},
		{"quarters of lines in long runs", 1, []int{3, 130, 400}, []int{0, 2, 1}, true, true, 1},
		{"parts of quarters of lines in long runs", 1, []int{3, 129, 250}, []int{0, 2, 1}, true, false, 1},
		{"half words", 2, []int{6, 40, 24}, []int{0, 2, 1}, true, true, 1},
		{"double words", 8, []int{6, 12, 10}, []int{0, 2, 1}, true, true, 1},
		{"odd", 4, []int{9, 13, 11}, []int{2, 0, 1}, true, false, 1},
		{"whole tiles", 4, []int{3, 32, 80}, []int{0, 2, 1}, false, true, 2},
		{"too few rows", 4, []int{50, 7, 80}, []int{0, 2, 1}, false, false, 2},
		{"too few columns", 8, []int{50, 80, 3}, []int{0, 2, 1}, false, false, 2},
		{"longer than a panel", 4, []int{600, 30}, []int{1, 0}, true, true, 2},
		{"collected", 1, []int{64, 256, 4, 16}, []int{3, 2, 1, 0}, true, true, 1},
		{"collected in odd numbers of bytes", 1, []int{64, 256, 17}, []int{2, 1, 0}, true, true, 1},
		{"collected of 2 bytes", 2, []int{64, 128, 4, 16}, []int{3, 2, 1, 0}, true, true, 1},
	} {
		loops := permuted(c.size, c.shape, c.dims)
		n := reach(loops, 0, c.size, func(l Loop) int { return l.To })
		src := randomBytes(8, n)
		mem := make([]byte, n+line)
		dst := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:][:n]
		want := make([]byte, n)
		naive(loops, want, src, 0, 0, c.size)
		p := NewPlan(avx2blocks, c.size, loops)
		if got := p.Buffers > 0; got != c.panels || len(p.Steps) > c.steps {
			t.Errorf("%s: by panels: %t, in %d steps", c.name, got, len(p.Steps))
		}
		undo := past(1)
		if got := p.PastCaches(); got != c.past && c.panels {
			t.Errorf("%s: past the caches: %t", c.name, got)
		}
		other := NewPlan(avx2blocks, c.size, loops)
		undo()
		for i := range p.Steps {
			if a, b := p.Steps[i], other.Steps[i]; !reflect.DeepEqual(a.Body, b.Body) || !slices.Equal(a.Loops, b.Loops) {
				t.Errorf("%s: the plan depends on how the set is tuned", c.name)
			}
		}
		if touch(t, p, dst, src); !bytes.Equal(dst, want) {
			t.Errorf("%s: the plan does not say what is copied", c.name)
		}
		if !avx2blocks.Runs() {
			continue
		}
		clear(dst)
		p.Run(dst, src, make([]byte, p.Buffers), 2)
		if !bytes.Equal(dst, want) {
			t.Errorf("%s: the copy is wrong", c.name)
		}
		clear(dst)
		if !bytes.Equal(streamed(p, dst, src), want) {
			t.Errorf("%s: past the caches, the copy is wrong", c.name)
		}
	}
}

// TestFewAccesses: what is said of a panel stays short, as it is all kept.
func TestFewAccesses(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		for n := 8; n < 1000; n += 3 {
			p := NewPlan(avx2blocks, size, permuted(size, []int{4, n, 5, 24, 40}, []int{4, 2, 0, 3, 1}))
			for _, s := range p.Steps {
				if len(s.Body) > mostPanel/2 {
					t.Errorf("%d B, %d rows: %d accesses", size, n, len(s.Body))
				}
			}
		}
	}
}

// TestPaddedPanels: rows that do not begin on lines are not written past the caches.
func TestPaddedPanels(t *testing.T) {
	defer past(1)()
	for name, loops := range map[string][]Loop{
		"from":  permuted(4, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}),
		"right": permuted(4, []int{32, 4, 3, 4, 16}, []int{4, 3, 2, 1, 0}),
	} {
		if !NewPlan(avx2blocks, 4, loops).PastCaches() {
			t.Errorf("%s: not past the caches", name)
		}
		loops[0].To += line
		if name == "from" {
			loops[0].To += 4
		} else {
			loops[1].To += 4
		}
		if NewPlan(avx2blocks, 4, loops).PastCaches() {
			t.Errorf("%s: past the caches, though padded", name)
		}
	}
}

// TestPanelled: what tiles would write after its pages were left for others, or what is too
// long for the caches, goes by panels if these write whole lines.
func TestPanelled(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	inTime := []Loop{{80, 4 * 576, 8}, {4, 576, 72*640 + line}, {72, 8, 640}}
	for _, c := range []struct {
		name   string
		size   int
		loops  []Loop
		long   bool
		panels bool
	}{
		{"late", 8, permuted(8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}), false, true},
		{"in time", 8, inTime, false, false},
		{"in time, long", 8, inTime, true, true},
		{"parts of lines", 8, permuted(8, []int{3, 130, 496}, []int{0, 2, 1}), false, false},
		{"long", 8, permuted(8, []int{3, 130, 496}, []int{0, 2, 1}), true, true},
		{"whole lines", 8, permuted(8, []int{3, 128, 496}, []int{0, 2, 1}), false, false},
		{"long, whole lines", 8, permuted(8, []int{3, 128, 496}, []int{0, 2, 1}), true, true},
		{"long, in short runs", 8, permuted(8, []int{3, 48, 72, 80}, []int{0, 3, 2, 1}), true, true},
		{"bytes", 1, permuted(1, []int{128, 320}, []int{1, 0}), false, false},
		{"long, of bytes", 1, permuted(1, []int{128, 320}, []int{1, 0}), true, true},
		{"long, and parts of lines in panels too", 8, permuted(8, []int{3, 257, 503}, []int{2, 0, 1}), true, false},
	} {
		longFrom = map[bool]int{false: math.MaxInt, true: 0}[c.long]
		if p := NewPlan(avx2blocks, c.size, c.loops); (p.Steps[0].small.rows > 0) != c.panels {
			t.Errorf("%s: by panels: %t", c.name, !c.panels)
		}
	}
}

// TestCollected: rows that evict each other from a first-level cache go through a buffer
// first, and only these.
func TestCollected(t *testing.T) {
	for _, c := range []struct {
		size, columns int
		collected     bool
	}{{1, 4096, true}, {1, 4160, false}, {2, 2048, true}, {2, 2080, false}, {4, 1024, false}, {8, 512, false}} {
		p := &Plan{set: avx2blocks, size: c.size}
		tile := p.set.panels[c.size]
		loops := permuted(c.size, []int{2048, c.columns}, []int{1, 0})
		cut, found := p.choose(tile, []Loop{loops[1], loops[0]})
		b := newPanel(c.size, tile, &cut)
		if got := len(b.collected.from) > 0; !found || got != c.collected {
			t.Errorf("%d B, %d columns: collected: %t", c.size, c.columns, got)
		}
	}
}

// TestCuts: which part of its loops a panel has depends on what the caches keep of its rows
// until they are transposed, and on how far apart it writes.
func TestCuts(t *testing.T) {
	for _, c := range []struct {
		name                string
		size                int
		shape, dims         []int
		rows, bytes         int
		evicted, pagesApart bool
	}{
		{"single lines, which are kept", 2, []int{16000, 4000}, []int{1, 0}, 320, 64, false, false},
		{"rows that evict each other", 1, []int{16384, 4096}, []int{1, 0}, 128, 256, true, true},
		{"rows in each 16th set", 2, []int{32768, 1024}, []int{1, 0}, 128, 64, false, true},
		{"rows in one set", 1, []int{1024, 256, 256}, []int{2, 1, 0}, 128, 256, true, true},
		{"few rows in one set", 8, []int{256, 256, 256}, []int{2, 1, 0}, 32, 512, true, true},
		{"runs side by side", 8, []int{64, 64, 3136}, []int{0, 2, 1}, 64, 256, false, false},
	} {
		p := &Plan{set: avx2blocks, size: c.size}
		loops := permuted(c.size, c.shape, c.dims)
		to, from := closest(loops, func(l Loop) int { return l.To }), closest(loops, func(l Loop) int { return l.From })
		for range 2 {
			cut, _ := p.choose(p.set.panels[c.size], append([]Loop{loops[to], loops[from]}, without(loops, to, from)...))
			rows, bytes := cut.count(cut.down), cut.count(cut.along)*c.size
			if rows != c.rows || bytes != c.bytes || cut.evicted() != c.evicted || cut.pagesApart() != c.pagesApart {
				t.Errorf("%s: %d rows of %d B, evicted %t, pages apart %t", c.name, rows, bytes, cut.evicted(), cut.pagesApart())
			}
			for i := range loops { // all the same in an order that runs down
				if i != to && i != from {
					loops[i].To, loops[i].From = -loops[i].To, -loops[i].From
				}
			}
		}
	}
}

// TestAsks: a panel asks for every line of the next one, and for no other.
func TestAsks(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		p := &Plan{set: avx2blocks, size: size}
		tile := p.set.panels[size]
		loops := permuted(size, []int{160, 36, 28, 24, 48}, []int{4, 2, 0, 3, 1})
		to, from := closest(loops, func(l Loop) int { return l.To }), closest(loops, func(l Loop) int { return l.From })
		cut, _ := p.choose(tile, append([]Loop{loops[to], loops[from]}, without(loops, to, from)...))
		b := newPanel(size, tile, &cut)
		read, asked := map[int]bool{}, map[int]bool{}
		for _, row := range cut.places(cut.down, func(l Loop) int { return l.From }) {
			for at := range len(b.columns) * size {
				read[(row+at)/line] = true
			}
		}
		for _, at := range b.asks {
			asked[at/line] = true
		}
		for at := range asked {
			if !read[at] {
				t.Errorf("%d B: line %d is asked for", size, at)
			}
		}
		if 10*len(asked) < 9*len(read) {
			t.Errorf("%d B: %d of %d lines are asked for", size, len(asked), len(read))
		}
	}
}

// TestUnaligned: wherever the first run begins, panels arrive, and go past the caches only where
// the vectors by which they do lie on multiples of their size.
func TestUnaligned(t *testing.T) {
	if !avx2blocks.Runs() {
		t.Skip("this CPU runs no panels")
	}
	defer past(1)()
	for _, columns := range []int{320, 200} { // of 32 B and of 16 B
		loops := permuted(1, []int{3, 150, columns}, []int{0, 2, 1})
		p := NewPlan(avx2blocks, 1, loops)
		n := 3 * 150 * columns
		mem, src, want := make([]byte, n+2*line), randomBytes(9, n), make([]byte, n)
		naive(loops, want, src, 0, 0, 1)
		aligned := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
		for off := range line {
			clear(mem)
			dst := aligned[off:][:n]
			p.Run(dst, src, make([]byte, p.Buffers), 1)
			if !bytes.Equal(dst, want) {
				t.Errorf("%d columns, %d bytes behind a line: the copy is wrong", columns, off)
			}
		}
	}
}

// TestDrainers: runs are written by the vectors that the plan says, past the caches or not.
func TestDrainers(t *testing.T) {
	if !avx2blocks.Runs() {
		t.Skip("this CPU runs no panels")
	}
	defer func(n int, run *functions) { longFrom, avx2blocks.run = n, run }(longFrom, avx2blocks.run)
	used := map[string]int{}
	counted := *avx2blocks.run
	counting := func(name string, of map[int]drainer) map[int]drainer {
		all := map[int]drainer{}
		for width, drain := range of {
			all[width] = func(dst *byte, to *int, src *byte, from *int, rows, groups int, asked uintptr, asks *int) {
				used[fmt.Sprint(name, " ", width)]++
				drain(dst, to, src, from, rows, groups, asked, asks)
			}
		}
		return all
	}
	counted.drain, counted.drainStream = counting("plain", counted.drain), counting("past", counted.drainStream)
	avx2blocks.run = &counted
	mem := make([]byte, 1<<20)
	aligned := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
	for _, c := range []struct {
		shape      []int
		past, long int
		want       string // "" for none: rows are moved
	}{
		{[]int{3, 150, 320}, 1, math.MaxInt, "past 32"},
		{[]int{3, 150, 320}, math.MaxInt, 0, "plain 32"},
		{[]int{3, 150, 320}, math.MaxInt, math.MaxInt, ""},
		{[]int{3, 150, 200}, 1, math.MaxInt, "past 16"},
		{[]int{3, 150, 200}, math.MaxInt, 0, "plain 16"},
		{[]int{3, 150, 200}, math.MaxInt, math.MaxInt, "plain 16"},
	} {
		clear(used)
		longFrom = c.long
		undo := past(c.past)
		p := NewPlan(avx2blocks, 1, permuted(1, c.shape, []int{0, 2, 1}))
		p.Run(aligned[:1<<18], mem[1<<19:], make([]byte, p.Buffers), 1)
		undo()
		if n := used[c.want]; len(used) > 1 || (n > 0) != (c.want != "") {
			t.Errorf("%v, past the caches from %d on, long from %d on: %v, want %q", c.shape, c.past, c.long, used, c.want)
		}
	}
}

// TestFences: a copy ends with one fence, after which all see what went past the caches.
func TestFences(t *testing.T) {
	mem := make([]byte, 1<<16)
	for _, s := range Sets() {
		if !s.streams {
			continue
		}
		fences, was := 0, s.run
		counted := *s.run
		counted.fence = func() { fences++; was.fence() }
		s.run = &counted
		p := NewPlan(s, 8, permuted(8, []int{4, 3, 12, 16}, []int{3, 1, 0, 2}))
		p.Run(mem, mem[1<<15:], make([]byte, p.Buffers), 3)
		if s.run = was; fences != 1 {
			t.Errorf("%s: %d fences", s.name, fences)
		}
	}
}
