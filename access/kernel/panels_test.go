package kernel

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
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
		{"quarters of lines in long runs that end in three", 1, []int{3, 131, 416}, []int{0, 2, 1}, true, true, 1},
		{"half words", 2, []int{6, 40, 24}, []int{0, 2, 1}, true, true, 1},
		{"double words", 8, []int{6, 12, 10}, []int{0, 2, 1}, true, true, 1},
		{"odd", 4, []int{9, 13, 11}, []int{2, 0, 1}, true, false, 1},
		{"whole tiles", 4, []int{3, 32, 80}, []int{0, 2, 1}, false, true, 2},
		{"as many rows as a tile", 4, []int{50, 8, 80}, []int{0, 2, 1}, true, true, 1},
		{"as many columns as a tile", 4, []int{50, 80, 8}, []int{0, 2, 1}, true, true, 1},
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
		mem := make([]byte, n+2*line)
		mem = mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
		dst := mem[:n]
		want := make([]byte, n)
		naive(loops, want, src, 0, 0, c.size)
		p := NewPlan(avx2blocks, c.size, loops)
		if got := p.Buffers > 0; got != c.panels || len(p.Steps) > c.steps {
			t.Errorf("%s: by panels: %t, in %d steps", c.name, got, len(p.Steps))
		}
		for _, set := range []*Set{avx2, avx512} {
			same := func(a, b Step) bool { return reflect.DeepEqual(a.Body, b.Body) && slices.Equal(a.Loops, b.Loops) }
			if other := NewPlan(set, c.size, loops); other.Buffers > 0 && !slices.EqualFunc(other.Steps, p.Steps, same) {
				t.Errorf("%s: %s has other panels", c.name, set.Name())
			}
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
		if c.panels {
			told(t, c.name, p, dst, src)
			told(t, c.name+", 16 B from a line on", p, mem[leastVector:][:n], src)
		}
		for _, s := range []*Set{avx2blocks, avx2, avx512} {
			if !s.Runs() {
				continue
			}
			p := NewPlan(s, c.size, loops)
			clear(dst)
			p.Run(dst, src, make([]byte, p.Buffers), 2)
			if !bytes.Equal(dst, want) {
				t.Errorf("%s: the copy by %s is wrong", c.name, s.Name())
			}
			clear(dst)
			if !bytes.Equal(streamed(p, dst, src), want) {
				t.Errorf("%s: past the caches, the copy by %s is wrong", c.name, s.Name())
			}
		}
	}
}

// told runs a plan of panels by functions that write down what they are told to touch, on
// any CPU: what the plan says, in that order, past the caches only whole vectors, and each
// panel asks for the next one.
func told(t *testing.T, what string, p *Plan, dst, src []byte) {
	t.Helper()
	at := func(b *byte) int { return int(uintptr(unsafe.Pointer(b))) }
	var got, want []touched
	var asked, next []int // for what is asked, panel by panel
	drains, streams := false, false
	move := func(dst *byte, to *int, src *byte, from *int, rows, bytes, vector int) {
		for i, from := range unsafe.Slice(from, rows) {
			for _, u := range units(bytes, vector) {
				to := at(dst) + unsafe.Slice(to, rows)[i]
				got = append(got, touched{false, at(src) + from + u[0], u[1]}, touched{true, to + u[0], u[1]})
			}
		}
	}
	drain := func(vector int, stream bool) drainer {
		return func(dst *byte, to *int, src *byte, from *int, rows, groups int, ask uintptr, asks *int) {
			for _, to := range unsafe.Slice(to, rows) {
				if stream && (at(dst)+to)%vector > 0 {
					t.Fatalf("%s: %d B past the caches to address %#x", what, vector, at(dst)+to)
				}
			}
			move(dst, to, src, from, rows, groups*line, vector)
			asked = append(asked, int(ask))
			drains, streams = true, streams || stream
		}
	}
	tile := p.set.panels[p.size]
	gather := func(dst, src *byte, rows *int, strips, tiles, pitch int, ask uintptr, asks *int) {
		for i := range strips * tiles {
			rows := unsafe.Slice(rows, strips*tile.rows)[i/tiles*tile.rows:]
			column := i % tiles * tile.bytes
			for _, a := range tile.body(p.size, rows, column, nil, column/p.size*pitch+i/tiles*tile.rows*p.size, pitch, nil) {
				got = append(got, touched{a.Write, map[bool]int{false: at(src), true: at(dst)}[a.Write] + a.Offset, a.Width})
			}
		}
		asked = append(asked, int(ask))
	}
	defer func(run *functions, n int) { p.set.run, longFrom = run, n }(p.set.run, longFrom)
	p.set.run = &functions{
		gather: map[int]gatherer{p.size: gather}, drain: map[int]drainer{16: drain(16, false), 32: drain(32, false)},
		drainStream: map[int]drainer{16: drain(16, true), 32: drain(32, true)},
		move: func(dst *byte, to *int, src *byte, from *int, rows, bytes int) {
			move(dst, to, src, from, rows, bytes, 32)
		},
	}
	buffers := make([]byte, p.Buffers)
	goes := false
	for i := range p.Steps {
		s := &p.Steps[i]
		want = append(want, said(*s, at(&src[0]), at(&dst[0]), at(&buffers[0]))...)
		first, from := len(next), s.From
		each(s.Loops, s.To, s.From, func(_, of int) {
			if from = of; of != s.From || len(next) > first {
				next = append(next, at(&src[of]))
			}
		})
		next = append(next, at(&src[from]))
		undo := past(1)
		goes = goes || s.past(s, uintptr(at(&dst[s.To])))
		undo()
	}
	for _, c := range []struct{ past, long int }{{Never, math.MaxInt}, {Never, p.written()}, {1, math.MaxInt}} {
		undo := past(c.past)
		got, asked, drains, streams, longFrom = nil, nil, false, false, c.long
		p.Run(dst, src, buffers, 1)
		undo()
		same(t, what, got, want)
		if !slices.Equal(slices.Compact(asked), slices.Compact(slices.Clone(next))) {
			t.Errorf("%s: panels do not ask for the next", what)
		}
		got = nil
		if p.Run(dst, src, buffers, 3); len(got) != 3*len(want) {
			t.Errorf("%s: three runs touch bytes %d times, one %d times", what, len(got), len(want))
		}
		if streams != (goes && c.past == 1) || c.long == p.written() && !drains {
			t.Errorf("%s: %+v: past the caches: %t, asks while it writes: %t", what, c, streams, drains)
		}
	}
}

// TestNoPanels: elements that lie apart or turned round, in what is written or read, do not
// go by panels, and arrive.
func TestNoPanels(t *testing.T) {
	for name, c := range map[string]struct {
		loops    []Loop
		to, from int
	}{
		"apart where they are written":        {[]Loop{{50, 400, 4}, {40, 8, 200}}, 0, 0},
		"apart where they are read":           {[]Loop{{50, 160, 8}, {40, 4, 400}}, 0, 0},
		"turned round where they are written": {[]Loop{{50, 160, 4}, {40, -4, 200}}, 39 * 4, 0},
		"turned round where they are read":    {[]Loop{{50, 160, -4}, {40, 4, 200}}, 0, 49 * 4},
	} {
		src := randomBytes(6, reach(c.loops, c.from, 4, func(l Loop) int { return l.From }))
		dst := make([]byte, reach(c.loops, c.to, 4, func(l Loop) int { return l.To }))
		want := slices.Clone(dst)
		naive(c.loops, want, src, c.to, c.from, 4)
		p := NewPlan(avx2blocks, 4, c.loops)
		p.Move(c.to, c.from)
		if touch(t, p, dst, src); !bytes.Equal(dst, want) || p.Steps[0].small.rows > 0 {
			t.Errorf("%s: by panels: %t, or the plan does not say what is copied", name, p.Steps[0].small.rows > 0)
		}
	}
}

// TestPanelsPastCaches: panels go past the caches from as many bytes on as blocks do, in
// vectors of 16 B only where wider ones would not begin on multiples of theirs.
func TestPanelsPastCaches(t *testing.T) {
	for _, c := range []struct {
		shape  []int
		past   bool
		vector int
	}{
		{[]int{3, 128, 400}, true, 32}, {[]int{3, 160, 400}, true, 32}, {[]int{3, 130, 400}, true, 16},
		{[]int{3, 132, 400}, true, 32}, {[]int{3, 129, 250}, false, 32},
	} {
		loops := permuted(1, c.shape, []int{0, 2, 1})
		n := trips(loops)
		for from, want := range map[int]bool{n: c.past, n + 1: false} {
			undo := tune(avx2blocks, Tuning{1, 1, 1, from, 1, Never, 1})
			p := NewPlan(avx2blocks, 1, loops)
			i := slices.IndexFunc(p.Steps[0].Body, func(a Access) bool { return a.Write && !a.Buffered() })
			if got, vector := p.PastCaches(), p.Steps[0].Body[i].Width; got != want || vector != c.vector {
				t.Errorf("%v, %d B of %d: past the caches: %t, in vectors of %d B", c.shape, from, n, got, vector)
			}
			undo()
		}
	}
	defer past(1)()
	long, short := NewPlan(avx2blocks, 1, permuted(1, []int{3, 160, 400}, []int{0, 2, 1})), NewPlan(avx2blocks, 8, permuted(8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}))
	for _, c := range []struct {
		plan *Plan
		at   uintptr
		want bool
	}{{long, line, true}, {long, line + 32, true}, {long, line + 16, false}, {short, line, true}, {short, line + 32, false}} {
		if got := c.plan.Steps[0].past(&c.plan.Steps[0], c.at); got != c.want {
			t.Errorf("runs of elements of %d B from address %d on: past the caches: %t", c.plan.size, c.at, got)
		}
	}
}

// TestOddLines: rows of a buffer are an odd number of lines apart, or half of one.
func TestOddLines(t *testing.T) {
	for bytes, want := range map[int]int{1: 32, 32: 32, 33: 64, 64: 64, 65: 192, 128: 192, 192: 192, 193: 320} {
		if got := oddLines(bytes); got != want {
			t.Errorf("rows of %d B lie %d B apart", bytes, got)
		}
	}
}

// TestWholeLines: whole lines go past the caches, and of long runs whole vectors.
func TestWholeLines(t *testing.T) {
	for _, c := range []struct {
		bits, run int
		want      bool
	}{
		{line, line, true}, {5 * line, 5 * line, true}, {48, 48, false}, {line + 16, longRun - 16, false},
		{line + 16, longRun, true}, {line + 32, longRun + 32, true}, {line + 8, longRun, false}, {line + 1, 2 * longRun, false},
	} {
		if got := wholeLines(c.bits, c.run); got != c.want || longRun != 4096 {
			t.Errorf("runs of %d B, %b: past the caches: %t", c.run, c.bits, got)
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
		"from":               permuted(4, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}),
		"right":              permuted(4, []int{32, 4, 3, 4, 16}, []int{4, 3, 2, 1, 0}),
		"from, turned round": permuted(4, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}),
	} {
		if name == "from, turned round" {
			loops[0].To *= -1
		}
		if !NewPlan(avx2blocks, 4, loops).PastCaches() {
			t.Errorf("%s: not past the caches", name)
		}
		loops[0].To += line
		if name == "from, turned round" {
			loops[0].To -= 2*line + 4
		} else if name == "from" {
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
// long for the caches, goes by panels if these write whole lines. Of avx2 and avx512 the latter does only
// where rows collide, of which avx2 has blocks of 4 and 8 bytes, or are no whole lines, and what leaves
// something beside tiles only if that is much.
func TestPanelled(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	late := permuted(8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2})
	late[2].From *= -1
	// Rows with others between them, or they would be read in order.
	inTime := []Loop{{80, 4 * 576, 8}, {4, 576, 72*960 + line}, {72, 8, 960}}
	apart := []Loop{{3, 128 * 496 * 8, 128 * 640 * 8}, {496, 128 * 8, 8}, {128, 8, 640 * 8}}
	for _, c := range []struct {
		name   string
		size   int
		loops  []Loop
		long   bool
		panels bool
		spared bool // by avx2 and avx512
	}{
		{"late", 8, permuted(8, []int{4, 3, 72, 80}, []int{3, 1, 0, 2}), false, true, false},
		{"late, turned round", 8, late, false, true, false},
		{"late, beside nothing", 8, permuted(8, []int{4, 3, 64, 80}, []int{1, 0, 3, 2}), false, false, false},
		{"much beside tiles", 4, permuted(4, []int{90, 500}, []int{1, 0}), false, true, false},
		{"less beside tiles", 4, permuted(4, []int{200, 300}, []int{1, 0}), false, true, true},
		{"short rows that go on", 4, permuted(4, []int{32, 4, 48}, []int{2, 1, 0}), false, true, false},
		{"rows that go on, no longer short", 4, permuted(4, []int{32, 4, 64}, []int{2, 1, 0}), false, false, false},
		{"short rows that end", 4, permuted(4, []int{4, 32, 48}, []int{0, 2, 1}), false, false, false},
		{"in time", 8, inTime, false, false, false},
		{"in time, long", 8, inTime, true, true, true},
		{"parts of lines", 8, permuted(8, []int{3, 130, 496}, []int{0, 2, 1}), false, false, false},
		{"long", 8, permuted(8, []int{3, 130, 496}, []int{0, 2, 1}), true, true, false},
		{"whole lines", 8, permuted(8, []int{3, 128, 496}, []int{0, 2, 1}), false, false, false},
		{"long, whole lines", 8, apart, true, true, true},
		{"long, whole lines one behind the other", 8, permuted(8, []int{3, 128, 496}, []int{0, 2, 1}), true, false, false},
		{"long, and rows that are read collide", 4, permuted(4, []int{64, 1024}, []int{1, 0}), true, true, false},
		{"long, of half words, and rows that are read collide", 2, permuted(2, []int{128, 2048}, []int{1, 0}), true, true, false},
		{"long, and rows that are written collide", 4, permuted(4, []int{1024, 64}, []int{1, 0}), true, true, false},
		{"long, in short runs", 8, permuted(8, []int{3, 48, 72, 80}, []int{0, 3, 2, 1}), true, true, true},
		{"bytes", 1, permuted(1, []int{128, 320}, []int{1, 0}), false, false, false},
		{"long, of bytes", 1, permuted(1, []int{128, 320}, []int{1, 0}), true, true, true},
		{"long, and parts of lines in panels too", 8, permuted(8, []int{3, 257, 503}, []int{2, 0, 1}), true, false, false},
	} {
		longFrom = c.size * trips(c.loops)
		if !c.long {
			longFrom++
		}
		s := NewPlan(avx2blocks, c.size, c.loops).Steps[0]
		if (s.small.rows > 0) != c.panels {
			t.Errorf("%s: by panels: %t", c.name, !c.panels)
		}
		for _, set := range []*Set{avx2, avx512} {
			blocks := strings.HasSuffix(c.name, "collide") && slices.Contains(set.blocks, c.size)
			if got := NewPlan(set, c.size, c.loops).Steps[0].small.rows > 0; got != (c.panels && !c.spared && !blocks) {
				t.Errorf("%s: by panels of %s: %t", c.name, set.Name(), got)
			}
		}
		along := func(x, y Loop) int { return abs(y.From) - abs(x.From) }
		if c.panels && !slices.IsSortedFunc(s.Loops[1:], along) {
			t.Errorf("%s: panels do not go along what is read: %v", c.name, s.Loops)
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
		{"rows of parts of lines", 1, []int{4000, 4000}, []int{1, 0}, 250, 125, false, false},
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

// TestEvicted: rows are evicted where most of them share sets with more than these hold, and
// runs lie pages apart in either direction.
func TestEvicted(t *testing.T) {
	for _, c := range []struct {
		rows, apart, row int
		evicted          bool
	}{
		{7, 64 << 10, 64, false}, {8, 64 << 10, 64, true}, {8, -64 << 10, 64, true}, {12, 64 << 10, 32, false},
		{29, 16 << 10, 64, false}, {30, 16 << 10, 64, true},
	} {
		panel := cut{size: 1, loops: []Loop{{c.rows, 1, c.apart}, {c.row, c.rows, 1}}, trips: []int{c.rows, c.row}, down: []int{0}, along: []int{1}}
		if got := panel.evicted(); got != c.evicted {
			t.Errorf("%d rows of %d B, %d apart: evicted: %t", c.rows, c.row, c.apart, got)
		}
	}
	for _, c := range []struct {
		rows, apart int
		pages       bool
	}{{64, 4096, true}, {64, -4096, true}, {64, 4160, false}, {4096, 4096, false}, {4096, -4096, true}} {
		panel := cut{size: 1, loops: []Loop{{c.rows, 1, 100}, {8, c.apart, 1}}, trips: []int{c.rows, 8}, down: []int{0}, along: []int{1}}
		if got := panel.pagesApart(); got != c.pages {
			t.Errorf("runs of %d B, %d apart: whole pages apart: %t", c.rows, c.apart, got)
		}
	}
}

// TestAsks: a panel asks for every line of the next one, and for no other.
func TestAsks(t *testing.T) {
	for _, c := range []struct{ size, last int }{{1, 48}, {2, 48}, {4, 48}, {8, 48}, {4, 50}, {8, 50}} {
		size := c.size
		p := &Plan{set: avx2blocks, size: size}
		tile := p.set.panels[size]
		loops := permuted(size, []int{160, 36, 28, 24, c.last}, []int{4, 2, 0, 3, 1})
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
		asks := len(b.drained.to) * (b.width / line) // and those of the gatherer
		for _, p := range b.patches {
			asks += p.strips * p.tiles * b.asksOfTile
		}
		if !slices.IsSorted(b.asks[:len(b.asks)-1]) {
			t.Errorf("%d B: lines are not asked for in order", size)
		}
		if len(b.asks) <= asks {
			t.Errorf("%d B: %d lines are asked for, and the list has %d", size, asks, len(b.asks)-1)
		}
		if 10*len(asked) < 9*len(read) {
			t.Errorf("%d B: %d of %d lines are asked for", size, len(asked), len(read))
		}
	}
}

// TestUnaligned: wherever the first run begins, copies that go by panels in one of the sets arrive,
// and go past the caches only where the vectors by which they do lie on multiples of their size.
func TestUnaligned(t *testing.T) {
	defer past(1)()
	for _, columns := range []int{320, 200} { // of 32 B and of 16 B
		loops := permuted(1, []int{3, 150, columns}, []int{0, 2, 1})
		n := 3 * 150 * columns
		mem, src, want := make([]byte, n+2*line), randomBytes(9, n), make([]byte, n)
		naive(loops, want, src, 0, 0, 1)
		aligned := mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
		for _, s := range Sets() {
			p := NewPlan(s, 1, loops)
			for off := range line {
				clear(mem)
				dst := aligned[off:][:n]
				p.Run(dst, src, make([]byte, p.Buffers), 1)
				if !bytes.Equal(dst, want) {
					t.Errorf("%s, %d columns, %d bytes behind a line: the copy is wrong", s.name, columns, off)
				}
			}
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
