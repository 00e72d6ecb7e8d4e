package kernel

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

// TestPanelsDo runs plans of panels by functions that write down what they are given to touch, on
// any CPU: what the plan says, in that order, and each panel asks for the next one.
func TestPanelsDo(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	for _, c := range []struct {
		size  int
		loops []Loop
	}{
		{4, []Loop{{4, 96, 23040}, {3, 384, 7680}, {24, 4, 320}, {80, 1152, 4}}}, // rows that go on
		// with what is left of from
		{4, []Loop{{132, 4, 2008}, {502, 528, 4}}},
		// in vectors of 16 B
		{1, []Loop{{3, 52000, 52000}, {400, 130, 1}, {130, 1, 400}}},
		{1, []Loop{{64, 1, 4352}, {256, 64, 17}, {17, 16384, 1}}}, // collected
		{8, []Loop{{6, 960, 960}, {10, 96, 8}, {12, 8, 80}}},
	} {
		for _, longFrom = range []int{0, math.MaxInt} {
			for _, past := range []int{Never, 1} {
				panelsDo(t, c.size, c.loops, past)
			}
		}
	}
}

// panelsDo does so past the caches from so many bytes on.
func panelsDo(t *testing.T, size int, loops []Loop, from int) {
	t.Helper()
	defer past(from)()
	p := NewPlan(avx2blocks, size, loops)
	if p.Steps[0].small.rows == 0 {
		t.Fatalf("%v goes by no panels", loops)
	}
	var got []touched
	var asked []int // for what, panel by panel
	touch := func(write bool, at, width int) { got = append(got, touched{write, at, width}) }
	move := func(dst *byte, to *int, src *byte, from *int, rows, bytes, vector int) {
		for i, from := range unsafe.Slice(from, rows) {
			for _, u := range units(bytes, vector) {
				touch(false, at(src)+from+u[0], u[1])
				touch(true, at(dst)+unsafe.Slice(to, rows)[i]+u[0], u[1])
			}
		}
	}
	drain := func(dst *byte, to *int, src *byte, from *int, rows, groups int, ask uintptr, _ *int,
		vector, _ int) {
		move(dst, to, src, from, rows, groups*line, vector)
		asked = append(asked, int(ask))
	}
	tile := smallTiles[size]
	gather := func(dst, src *byte, rows *int, strips, tiles, pitch int, ask uintptr,
		_ *int, _ int) {
		for i := range strips * tiles {
			rows := unsafe.Slice(rows, strips*tile.rows)[i/tiles*tile.rows:]
			column := i % tiles * tile.bytes
			to := column/size*pitch + i/tiles*tile.rows*size
			for _, a := range tile.body(size, rows, column, nil, to, pitch, nil) {
				base := map[bool]*byte{false: src, true: dst}[a.Write]
				touch(a.Write, at(base)+a.Offset, a.Width)
			}
		}
		asked = append(asked, int(ask))
	}
	defer func(run *functions) { p.set.run = run }(p.set.run)
	p.set.run = &functions{
		gather: gather, drain: drain,
		move: func(dst *byte, to *int, src *byte, from *int, rows, bytes int) {
			move(dst, to, src, from, rows, bytes, 32)
		},
	}
	dst, src, buffers := written[:size*trips(loops)], read[:size*trips(loops)],
		make([]byte, p.Buffers)
	p.Run(dst, src, buffers, 1)
	sameTouched(t, "panels", got, said(at(&src[0]), at(&dst[0]), at(&buffers[0]), p.Steps...))
	var next []int
	for _, s := range p.Steps {
		own := []int{}
		each(s.Loops, s.To, s.From, func(_, of int) { own = append(own, at(&src[of])) })
		next = append(append(next, own[1:]...), own[len(own)-1])
	}
	if !slices.Equal(slices.Compact(asked), slices.Compact(next)) {
		t.Errorf("%v: panels do not ask for the next", loops)
	}
}

// TestAsks: a panel asks for every line of the next one in order, for no other, and has as many
// to ask for as are asked for.
func TestAsks(t *testing.T) {
	for _, c := range []struct{ size, last int }{{1, 48}, {2, 48}, {4, 48}, {8, 48},
		{4, 50}, {8, 50}} {
		p := &Plan{set: avx2blocks, size: c.size}
		tile := smallTiles[c.size]
		loops := []Loop{ // the innermost of what is written, and of what is read, first
			{36, 1, 28 * 24 * c.last}, {c.last, 36 * 24 * 160 * 28, 1}, {24, 36, c.last},
			{160, 36 * 24, 36 * 28 * 24 * c.last}, {28, 36 * 24 * 160, 24 * c.last},
		}
		for i := range loops {
			loops[i].To, loops[i].From = loops[i].To*c.size, loops[i].From*c.size
		}
		cut, _ := p.choose(tile, loops)
		b := newPanel(c.size, tile, &cut)
		read, asked := map[int]bool{}, map[int]bool{}
		for _, row := range cut.places(cut.down, func(l Loop) int { return l.From }) {
			for at := range len(b.columns) * c.size {
				read[(row+at)/line] = true
			}
		}
		for _, at := range b.asks {
			if asked[at/line] = true; !read[at/line] {
				t.Errorf("%d B: line %d is asked for", c.size, at/line)
			}
		}
		asks := len(b.drained.to) * (b.width / line) // and those of the gatherer
		for _, p := range b.patches {
			asks += p.strips * p.tiles * b.tile.asks()
		}
		last := len(b.asks) - 1
		if !slices.IsSorted(b.asks[:last]) || last < asks || 10*len(asked) < 9*len(read) {
			t.Errorf("%d B: %d lines are asked for by a list of %d, %d of %d",
				c.size, asks, last, len(asked), len(read))
		}
	}
}

// TestAsksInOrder: long copies of short rows that follow on each other ask for all lines of the
// blocks after the first one, next to none of them twice.
func TestAsksInOrder(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	longFrom = 0
	for _, s := range Sets() {
		for _, of := range [][3]int{{8, 264, 64}, {4, 528, 48}, {2, 1056, 32}, {16, 132, 16}} {
			size, pixels, row := of[0], of[1], of[2]*of[0]
			loops := []Loop{{2, row * pixels, row * pixels}, {of[2], pixels * size, size},
				{pixels, size, row}}
			was, asked, all := s.run, map[uintptr]bool{}, 0
			run := *was
			run.ask = func(at uintptr, lines int) {
				for i := range lines {
					asked[at/line+uintptr(i)] = true
				}
				all += lines
			}
			s.run = &run
			c := newTrial(size, loops, 0, 0)
			copy(read, c.src)
			c.plan(s).Run(written, read, nil, 1)
			s.run = was
			begun := !s.amd64
			for i := 0; i < len(c.src) && s.amd64; i += line {
				is := asked[uintptr(at(&read[i]))/line]
				if begun = begun || is; begun && !is || !begun && i > sequentialBlock {
					t.Fatalf("%s: %d B: the line at byte %d is not asked for", s.Name(), size, i)
				}
			}
			if all > len(asked)*9/8 {
				t.Errorf("%s: %d B: asked %d times for %d lines", s.Name(), size, all, len(asked))
			}
		}
	}
}

// TestEvicted: rows are evicted where most of them share sets with more than these hold.
func TestEvicted(t *testing.T) {
	for _, c := range []struct {
		rows, apart, row int
		evicted          bool
	}{
		{7, 64 << 10, 64, false}, {8, 64 << 10, 64, true}, {8, -64 << 10, 64, true},
		{12, 64 << 10, 32, false},
		{29, 16 << 10, 64, false}, {30, 16 << 10, 64, true},
	} {
		loops := []Loop{{c.rows, 1, c.apart}, {c.row, c.rows, 1}}
		panel := cut{1, loops, []int{c.rows, c.row}, []int{0}, []int{1}}
		if got := panel.evicted(); got != c.evicted {
			t.Errorf("%d rows of %d B, %d apart: evicted: %t", c.rows, c.row, c.apart, got)
		}
	}
}

// TestOddLines: rows of a buffer are an odd number of lines apart, or half of one.
func TestOddLines(t *testing.T) {
	for bytes, want := range map[int]int{1: 32, 32: 32, 33: 64, 64: 64, 65: 192, 128: 192,
		192: 192, 193: 320} {
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
		{line, line, true}, {5 * line, 5 * line, true}, {48, 48, false},
		{line + 16, longRun - 16, false},
		{line + 16, longRun, true}, {line + 32, longRun + 32, true}, {line + 8, longRun, false},
		{line + 1, 2 * longRun, false},
	} {
		if got := wholeLines(c.bits, c.run); got != c.want {
			t.Errorf("runs of %d B, %b: past the caches: %t", c.run, c.bits, got)
		}
	}
}
