package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestWithoutVectors is TestEqualsReference where the CPU has no AVX2, and where it has
// no AVX-512.
func TestWithoutVectors(t *testing.T) {
	had := hasAVX2
	defer func(had512 bool) { hasAVX2, hasAVX512 = had, had512 }(hasAVX512)
	hasAVX512 = false
	for seed := range uint64(enginetest.Cases(600)) {
		hasAVX2 = had && seed%2 == 0
		checkSeed(t, 1<<32+seed)
	}
}

// TestMoveLines: with AVX-512, with AVX2 and without, lines move alike.
func TestMoveLines(t *testing.T) {
	defer func(had, had512 bool) { hasAVX2, hasAVX512 = had, had512 }(hasAVX2, hasAVX512)
	had, had512 := hasAVX2, hasAVX512
	for seed := range uint64(500) {
		d := enginetest.Random(seed, 46)
		lines, movers := make([]uint32, 8*(1+d(8))), make([]mover, 1+d(4))
		for i := range lines {
			lines[i] = uint32(d(200))
		}
		for i := range movers { // some of them over the same lines: the first counts
			movers[i] = mover{uint32(d(150)), uint32(d(60)), uint32(d(100) - 50), 1}
		}
		want := slices.Clone(lines)
		moveGo(want, movers)
		for _, has512 := range []bool{false, true} {
			hasAVX2, hasAVX512 = had, had512 && has512
			got := slices.Clone(lines)
			if moveLines(got, movers, true); !slices.Equal(got, want) {
				t.Fatalf("%d, AVX-512 %v: %v by %v: %v, want %v", seed, hasAVX512, lines, movers, got, want)
			}
		}
	}
}

// TestSendRows: what goes on of many rows at once does to the second level what it does
// row by row.
func TestSendRows(t *testing.T) {
	if !hasAVX2 {
		t.Skip("no AVX2")
	}
	defer func(had bool) { hasAVX512 = had }(hasAVX512)
	had := hasAVX512
	for seed := range uint64(1000) {
		d := enginetest.Random(seed/2, 47)
		hasAVX512 = had && seed&1 == 0
		sets, ways, ops := 1<<d(8), 1+d(20), 1+d(12)
		first := engine.Level{Sets: sets, Ways: ways, Shift: 6}
		e := newSummary(newState(first, 0, ops))
		e.keepLog(1 << 20)
		e.log.reset(d(20), 0)
		for row := range sets {
			for range d(20) * d(5) {
				e.absent(row, uint32(1+row+sets*d(100)), d(ops))
			}
		}
		off := d(sets)
		for _, list := range [][]uint32{e.heads, e.log.lines} {
			for i := range list {
				list[i] += uint32(off)
			}
		}
		one := newState(engine.Level{Sets: sets << d(4), Ways: 16, Shift: 6}, 0, ops).known()
		one.slice(sets)
		other := newState(engine.Level{Sets: one.sets, Ways: 16, Shift: 6}, 0, ops).known()
		other.slice(sets)
		c := &context{states: []*state{newState(first, 0, ops).known(), one}}
		for range 3 {
			for i := 0; i < sets; i += 64 {
				rows, heads := uint64(d(1<<30))<<34^uint64(d(1<<30)), uint64(d(1<<30))<<34^uint64(d(1<<30))
				if sets-i < 64 {
					rows &= 1<<sets - 1
				}
				if !other.sendRows(e.state, rows, heads, i, off) {
					t.Fatal("vectors do not do 16 ways")
				}
				for ; rows != 0; rows &= rows - 1 {
					row := i + trailing(rows)
					if heads>>(row&63)&1 != 0 {
						c.beyond(row, e.heads[row*ways:][:e.count[row]], e.ops[row*ways:][:e.count[row]])
					}
					c.sendLog(e, row, 0)
				}
			}
		}
		if !slices.Equal(one.tags, other.tags) || !slices.Equal(one.misses, other.misses) {
			t.Fatalf("%d: %d sets of %d ways and %d: %v misses, want %v", seed, sets, ways, one.sets, other.misses, one.misses)
		}
	}
}

// TestBringColumn: with AVX-512, a column does to the second level what its lines do one by one.
func TestBringColumn(t *testing.T) {
	if !hasAVX512 {
		t.Skip("no AVX-512")
	}
	for seed := range uint64(300) {
		d := enginetest.Random(seed, 54)
		l := engine.Level{Sets: 4 << d(5), Ways: 16, Shift: uint(4 + d(3))}
		one, other := newState(l, 2, 5).known(), newState(l, 2, 5).known()
		if d.One(2) {
			one.slice(4)
			other.slice(4)
		}
		turn := d(l.Sets)
		one.turnBy(turn)
		other.turnBy(turn)
		for range 20 {
			addr, stride, n := 1<<20+d(1<<14), d(1<<9)-1<<8, 1+d(300)
			one.bringColumn(addr, stride, 3, n)
			for k := range n {
				other.touch(uint32((addr+stride*k)>>l.Shift)+1, 3)
			}
		}
		if !slices.Equal(one.tags, other.tags) || !slices.Equal(one.misses, other.misses) {
			t.Fatalf("%d: %+v: %v misses, want %v", seed, l, one.misses, other.misses)
		}
	}
}

// TestFeedWithoutVectors is TestFeed where the CPU has no AVX2, and where it has no AVX-512.
func TestFeedWithoutVectors(t *testing.T) {
	defer func(had, had512 bool) { hasAVX2, hasAVX512 = had, had512 }(hasAVX2, hasAVX512)
	had := hasAVX2
	hasAVX512 = false
	for _, hasAVX2 = range []bool{false, had} {
		feed(t, enginetest.Cases(200))
	}
}
