package kernel

import (
	"bytes"
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
		{"too few that go on", 4, []int{3, 3, 72, 80}, []int{3, 1, 0, 2}, true, false, 1},
		{"rows of one panel after the other", 4, []int{100, 3, 140}, []int{1, 2, 0}, true, true, 1},
		{"what is left of from", 4, []int{132, 502}, []int{1, 0}, true, true, 2},
		{"little beside tiles", 4, []int{3, 130, 496}, []int{0, 2, 1}, false, false, 2},
		{"both go on along one loop", 4, []int{4, 36, 3, 8, 20}, []int{4, 2, 0, 3, 1}, true, true, 1},
		{"short rows", 4, []int{32, 4, 3, 8, 16}, []int{4, 3, 2, 1, 0}, true, true, 1},
		{"rows in pieces", 8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}, true, true, 1},
		{"short rows in pieces", 4, []int{3, 64, 4, 5, 16}, []int{4, 2, 0, 3, 1}, true, true, 1},
		{"bytes", 1, []int{5, 24, 8, 40}, []int{3, 0, 2, 1}, true, true, 1},
		{"half words", 2, []int{6, 40, 24}, []int{0, 2, 1}, true, true, 1},
		{"double words", 8, []int{6, 12, 10}, []int{0, 2, 1}, true, true, 1},
		{"odd", 4, []int{9, 13, 11}, []int{2, 0, 1}, true, false, 1},
		{"whole tiles", 4, []int{3, 32, 80}, []int{0, 2, 1}, false, true, 2},
		{"too few rows", 4, []int{50, 7, 80}, []int{0, 2, 1}, false, false, 2},
		{"too few columns", 8, []int{50, 80, 3}, []int{0, 2, 1}, false, false, 2},
		{"long", 4, []int{600, 30}, []int{1, 0}, false, false, 4},
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

// TestPanelled: what tiles would write after its pages were left for others, or not in
// whole lines and too long for the caches, goes by panels if these write whole lines; and
// rows that lie apart in pieces.
func TestPanelled(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	for _, c := range []struct {
		name        string
		shape, dims []int
		long        bool
		buffers     int
	}{
		{"late", []int{4, 3, 72, 80}, []int{3, 1, 0, 2}, false, 16 * (192 + line)},
		{"parts of lines", []int{3, 130, 496}, []int{0, 2, 1}, false, 0},
		{"long", []int{3, 130, 496}, []int{0, 2, 1}, true, 8 * 130 * 8},
		{"long, whole lines", []int{3, 128, 496}, []int{0, 2, 1}, true, 0},
		{"rows longer than panels", []int{640, 3, 36}, []int{2, 1, 0}, false, 0},
		{"rows that do not lie apart", []int{3, 48, 20}, []int{0, 2, 1}, false, 20 * 48 * 8},
		{"long, and parts of lines in panels too", []int{3, 257, 504}, []int{0, 2, 1}, true, 0},
	} {
		longFrom = map[bool]int{false: math.MaxInt, true: 0}[c.long]
		if p := NewPlan(avx2blocks, 8, permuted(8, c.shape, c.dims)); p.Buffers != c.buffers {
			t.Errorf("%s: buffers of %d B, want %d", c.name, p.Buffers, c.buffers)
		}
	}
	inTime := []Loop{{80, 4 * 576, 8}, {4, 576, 72*640 + line}, {72, 8, 640}}
	if p := NewPlan(avx2blocks, 8, inTime); p.Buffers > 0 {
		t.Error("panels where tiles come back in time")
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
