package cost

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// little has three levels of 64, 128 and 256 lines, of which the last one's sets are hashed, and a TLB of 8 entries and of 16 in four sets.
func little() Model {
	level := func(lines int) simcache.Level {
		return simcache.Level{Geometry: simcache.Geometry{Size: lines * line, Ways: 8, Line: line}}
	}
	m := Model{Caches: simcache.Config{Levels: []simcache.Level{level(64), level(128), level(256)}}}
	m.Times.Ladder = []probe.Point{{Size: 4096, Ns: 1}}
	return m
}

// strided reads by loops of these trips and strides.
func strided(trips []int, strides ...int) nest.Nest {
	return nest.Nest{Trips: trips, Operands: []nest.Operand{{Width: 4, Strides: strides}}}
}

// TestServedShare: of half of what is measured to be missed, lines are taken off that a pass misses once each, since it is too large, and added that LRU
// would not miss, of those that come to the level in the next pass; what misses a line several times, or is not asked for, stays.
func TestServedShare(t *testing.T) {
	half := func(int, float64) (float64, bool) { return .5, true }
	two := strided([]int{150}, line)
	two.Operands = append(two.Operands, nest.Operand{Base: 1 << 20, Width: 4, Strides: []int{line}})
	for _, c := range []struct {
		what   string
		n      nest.Nest
		levels int
		missed [][]float64
		want   [][]float64
	}{
		{"fits exactly", strided([]int{64}, line), 3, [][]float64{{64, 0, 0}}, [][]float64{{64, 32, 16}}},
		{"fits", strided([]int{50}, line), 3, [][]float64{{0, 0, 0}}, [][]float64{{0, 0, 0}}},
		{"too large for the first", strided([]int{100}, line), 3, [][]float64{{100, 0, 0}}, [][]float64{{50, 25, 12.5}}},
		{"missed there already", strided([]int{100}, line), 3, [][]float64{{100, 100, 0}}, [][]float64{{50, 100, 50}}},
		{"twice in a pass", strided([]int{2, 100}, 0, line), 3, [][]float64{{200, 0, 0}}, [][]float64{{200, 50, 25}}},
		{"too large for all", strided([]int{300}, line), 3, [][]float64{{300, 300, 300}}, [][]float64{{150, 150, 150}}},
		{"one of two misses often", two, 3, [][]float64{{600, 600, 600}, {150, 10, 10}}, [][]float64{{600, 600, 600}, {150, 10, 10}}},
		{"not of the last", strided([]int{300}, line), 2, [][]float64{{300, 300, 300}}, [][]float64{{150, 150, 300}}},
	} {
		walk := Counted{Nest: c.n}
		for _, levels := range c.missed {
			walk.Misses = append(walk.Misses, Misses{Levels: slices.Clone(levels)})
		}
		for r, got := range little().served([]Counted{walk}, c.levels, half)[0].Misses {
			if !slices.Equal(got.Levels, c.want[r]) {
				t.Errorf("%s: operand %d misses %v, want %v", c.what, r, got.Levels, c.want[r])
			}
		}
	}
	m := little()
	m.served([]Counted{{Nest: two}}, 3, func(i int, bytes float64) (float64, bool) {
		if want := 300 * line; bytes != float64(want) {
			t.Errorf("level %d is asked for %v B, want %v", i, bytes, want)
		}
		return 0, false
	})
}

// TestRoomiest: lines that share a set have the room of its ways, but in a level whose sets follow from a hash.
func TestRoomiest(t *testing.T) {
	crowded := strided([]int{64}, 256*line/8)
	beside := crowded
	beside.Operands = append(slices.Clone(crowded.Operands), nest.Operand{Width: 4, Strides: []int{2 * line}})
	m := little()
	for _, c := range []struct {
		n      nest.Nest
		i      int
		crowds bool
		want   float64
	}{{crowded, 0, false, 8}, {crowded, 1, false, 8}, {crowded, 2, false, 256}, {crowded, 2, true, 8}, {beside, 0, false, 32}, {beside, 1, false, 64}, {beside, 2, true, 128}} {
		m.Times.Crowds = c.crowds
		if got := m.roomiest(c.n, c.i); got != c.want {
			t.Errorf("level %d has room for %v lines of steps of %v, want %v", c.i, got, c.n.Operands[0].Strides, c.want)
		}
	}
}

// TestNearlyFull: rounds over more than half as many pages as the TLB has entries, up to exactly as many, miss the share that was measured of what
// comes to that level; those over more, up to twice as many, that share of what LRU misses; neither where pages crowd in sets, nor
// where no walk was measured.
func TestNearlyFull(t *testing.T) {
	m := little()
	m.Caches.TLB = []simcache.TLB{{Entries: 8, Ways: 8, Page: 4096}, {Entries: 16, Ways: 4, Page: 4096}}
	m.Times.Pages = []probe.Point{{Size: 4, Ns: 1}, {Size: 8, Ns: 1}, {Size: 16, Ns: 3}, {Size: 32, Ns: 21}, {Size: 64, Ns: 41}}
	for _, c := range []struct {
		pages, step         int
		walks               []float64 // ns
		nearer, missed, now float64   // of ten rounds
	}{
		{8, 4096, []float64{1, 40}, 80, 0, 0},
		{16, 4096, []float64{1, 40}, 160, 0, 2. / 40 * 160},
		{16, 4096, []float64{1, 40}, 160, 16, 16},
		{16, 4096, []float64{1, 40}, 1000, 0, 2. / 40 * 160},
		{16, 4096, []float64{1, 40}, 40, 0, 2. / 40 * 40},
		{32, 4096, []float64{1, 40}, 320, 320, .5 * 320},
		{32, 4096, []float64{1, 40}, 320, 100, .5 * 100}, // of which some stayed
		{33, 4096, []float64{1, 40}, 330, 330, 330},
		{40, 4096, []float64{1, 40}, 400, 400, 400},
		{12, 8192, []float64{1, 40}, 120, 0, 0}, // in two of the four sets
		{24, 8192, []float64{1, 40}, 240, 240, 240},
		{16, 4096, []float64{1}, 160, 0, 0},
		{32, 4096, []float64{1, 4}, 320, 320, 320}, // no more than all
	} {
		m.Times.Walks = c.walks
		walk := Counted{Nest: strided([]int{10, c.pages}, 64, c.step), Misses: []Misses{{TLB: []float64{c.nearer, c.missed}}}}
		m.translated([]Counted{walk})
		if got := walk.Misses[0].TLB; math.Abs(got[1]-c.now) > 1e-9 || got[0] != c.nearer {
			t.Errorf("ten rounds over %d pages, %d B apart, of which a walk takes %v ns, miss %v, want %v", c.pages, c.step, c.walks, got, c.now)
		}
	}
	m.Caches.TLB, m.Times.Walks = m.Caches.TLB[1:], m.Times.Walks[:1] // a single level, to which all comes
	walk := Counted{Nest: strided([]int{10, 12}, 64, 4096), Misses: []Misses{{TLB: []float64{7}}}}
	if m.translated([]Counted{walk}); walk.Misses[0].TLB[0] != 7 {
		t.Errorf("a TLB of one level misses %v, want 7", walk.Misses[0].TLB[0])
	}
}
