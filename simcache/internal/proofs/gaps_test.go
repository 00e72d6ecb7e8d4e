package proofs

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// gappyOf draws levels and a nest that gaps may tell of: mostly of operands apart, aligned,
// on levels of one line size.
func gappyOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	if d.One(2) {
		return closeOf(d)
	}
	levels := d.Levels()
	for i := range levels {
		if d(8) > 0 {
			levels[i].Shift = levels[0].Shift
		}
		levels[i].Ways += d(4)
	}
	n := d.Nest(levels, 2000)
	for r := range n.Operands {
		if d(8) > 0 {
			n.Operands[r].Base += uint64(r) << 26
		}
		if d(4) > 0 {
			n.Operands[r].Base &^= 15
			n.Operands[r].Width = 1 + d(2)
			for m, s := range n.Operands[r].Strides {
				n.Operands[r].Strides[m] = s &^ 3
			}
		}
	}
	return levels, n
}

// closeOf draws levels of few sets, and operands that come back soon beside others that
// never do.
func closeOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	var levels []engine.Level
	ways := 1 + d(6)
	for range 1 + d(3) {
		levels = append(levels, engine.Level{Sets: 1 + d(2), Ways: ways, Shift: 4})
		ways += d(24)
	}
	var n nest.Nest
	for range 1 + d(4) {
		n.Trips = append(n.Trips, 2+d(7))
	}
	for r := range 1 + d(3) {
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(4)), Width: 4, Strides: make([]int, len(n.Trips))}
		inner := []int{4, 16, 32}[d(3)]
		for l := len(n.Trips) - 1; l >= 0; l-- {
			op.Strides[l] = []int{0, 4, 16, inner, inner, inner}[d(6)]
			inner = max(inner, op.Strides[l]*n.Trips[l])
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}

// TestGapsDifferential compares what is counted from gaps, by combs, by tiles and by sequels with brute force.
func TestGapsDifferential(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cases int
		draw  func(d enginetest.Draw) ([]engine.Level, nest.Nest)
	}{"gaps": {30000, gappyOf}, "combs": {20000, combOf}, "deep combs": {10000, deepOf}, "tiles": {18000, tilesOf}, "sequels": {18000, pagedOf}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(enginetest.Cases(c.cases)) {
				d := enginetest.Random(seed, 51)
				levels, n := c.draw(d)
				x := newProver(levels)
				x.untiled, x.doubtful = d.One(4), d.One(2)
				misses, first, ok := x.gaps(n.Canonical())
				if !ok {
					continue
				}
				want := reference.New(levels).Run(n.Operands, n.Accesses())
				for r := range n.Operands {
					if !first {
						want[r*len(levels)] = 0
					}
				}
				if !slices.Equal(misses, want) {
					t.Fatalf("seed %d, levels %+v, nest\n%v(the first level, too: %t) misses %v, want %v", seed, levels, n, first, misses, want)
				}
			}
		})
	}
}

// TestGapsBounds compares what gaps is put together from with a walk: the ranges of
// patterns, the length of stays, where they begin, and how many do.
func TestGapsBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(5000)) {
		d := enginetest.Random(seed, 52)
		levels, n := gappyOf(d)
		n.Operands = n.Operands[:1]
		x := newProver(levels[:1])
		list, ok := x.gapped(n.Canonical())
		if !ok {
			continue
		}
		o, l := &list[0], &x.levels[0]
		o.misses = 1 + d(12)
		line := 1 << l.Shift
		last, began := map[uint64]int{}, map[uint64]int{}
		var fresh [][]uint64              // by iteration, the block whose stay begins
		stay, far, now := 0, uint64(0), 0 // far: gaps above hits, or none
		hits := d(20)
		for _, addr := range n.Accesses() {
			block := addr >> l.Shift
			before, known := last[block]
			gap := now - before
			if known && !slices.ContainsFunc(o.patterns, func(p pattern) bool {
				return p.joins(int(addr%uint64(line)), line) && p.least <= gap && gap <= p.most
			}) {
				t.Fatalf("seed %d, %v: no pattern for a gap of %d", seed, n, gap)
			}
			fresh = append(fresh, nil)
			if !known || gap >= o.misses {
				began[block] = now
				fresh[now] = []uint64{block}
			}
			if !known || gap > hits {
				far++
			}
			stay = max(stay, now-began[block])
			last[block] = now
			now++
		}
		if got := o.stay(o.misses); got < stay {
			t.Fatalf("seed %d, %v: stays of gaps below %d last %d, want %d", seed, n, o.misses, got, stay)
		}
		unsure := slices.ContainsFunc(o.patterns, func(p pattern) bool { return p.least <= hits && hits < p.most })
		if got, ok := o.beginnings(hits, line); !unsure && (!ok || got != far) {
			t.Fatalf("seed %d, %v: %d gaps above %d (%t), want %d", seed, n, got, hits, ok, far)
		}
		window := 1 + d(len(fresh))
		mass := l.mass(o, window)
		least := leastStays(fresh, window, l.Sets)
		if mass > least {
			t.Fatalf("seed %d, %+v, %v: a mass of %d in %d iterations, where stays of gaps below %d begin of %d blocks of a set", seed, l.Level, n, mass, window, o.misses, least)
		}
		if l.floods(list, window) && least < l.Ways {
			t.Fatalf("seed %d, %+v, %v: floods in %d iterations, where stays of %d blocks of a set begin", seed, l.Level, n, window, least)
		}
	}
}

// TestStream compares the mass of an operand that goes through memory, in passes or not, with a walk.
func TestStream(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(5000)) {
		d := enginetest.Random(seed, 57)
		x := newProver([]engine.Level{{Sets: 1 + d(6), Ways: 1, Shift: 4}})
		stride := []int{1, 2, 3, 4, 6, 8, 12, 16, 20}[d(9)]
		if d.One(2) {
			stride = -stride
		}
		n := nest.Nest{Trips: []int{2 + d(80)}, Operands: []nest.Operand{{Base: enginetest.At + 1<<16 + uint64(d(16)), Width: 1, Strides: []int{stride}}}}
		if !d.One(3) {
			n = n.Repeat(2 + d(2))
			if d.One(8) {
				n.Operands[0].Strides[0] = 4 * d(200)
			}
		}
		list, ok := x.gapped(n.Canonical())
		if !ok {
			continue
		}
		o, l := &list[0], &x.levels[0]
		o.misses = 1 + d(n.Trips[len(n.Trips)-1]+4)
		window := 1 + d(n.Iterations())
		mass, ok := l.stream(o, window)
		if !ok {
			continue
		}
		last := map[uint64]int{}
		var fresh [][]uint64
		for _, addr := range n.Accesses() {
			now := len(fresh)
			fresh = append(fresh, nil)
			if before, known := last[addr>>4]; !known || now-before >= o.misses {
				fresh[now] = []uint64{addr >> 4}
			}
			last[addr>>4] = now
		}
		if least := leastStays(fresh, window, l.Sets); mass > least {
			t.Fatalf("seed %d, %+v, %v: a mass of %d in %d iterations, where stays of gaps below %d begin of %d blocks of a set",
				seed, l.Level, n, mass, window, o.misses, least)
		}
	}
}

// leastStays is the least number of different blocks of a set in any window of the iterations.
func leastStays(fresh [][]uint64, window, sets int) int {
	least := math.MaxInt
	for from := 0; from+window <= len(fresh); from++ {
		counts, seen := make([]int, sets), map[uint64]bool{}
		for _, blocks := range fresh[from : from+window] {
			for _, b := range blocks {
				if !seen[b] {
					seen[b] = true
					counts[b%uint64(sets)]++
				}
			}
		}
		least = min(least, slices.Min(counts))
	}
	return least
}

// TestHeadsAndTails compares sequences of nests, of which gaps counts some from empty levels or not, with
// brute force: counts, and the contents in the end.
func TestHeadsAndTails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(12000)) {
		d := enginetest.Random(seed, 53)
		levels, n := gappyOf(d)
		for i := range levels {
			levels[i].Ways = min(levels[i].Ways, 5)
		}
		nests := []nest.Nest{n, n}
		if len(n.Trips) == 0 || d.One(3) {
			nests[1] = d.Nest(levels, 200)
		} else if d.One(3) { // elsewhere
			nests[1].Operands = slices.Clone(n.Operands)
			for r := range n.Operands {
				nests[1].Operands[r].Base += 1<<12 + uint64(4*d(64))
			}
		}
		nests = append(nests, n)
		if d.One(2) {
			if d.One(2) { // on other contents, if only of the levels behind
				nests = append(nests, d.Nest(levels, 200))
			}
			nests = append(nests, nests[1], n)
		}
		e, want := New(levels, 1), reference.New(levels)
		e.Eager()
		for k, n := range nests {
			got := e.Run([]nest.Nest{n.Canonical()}, 1)[0][0]
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, levels %+v, nest %d:\n%vmisses %v, want %v", seed, levels, k, n, got, wanted)
			}
		}
		if wrong := enginetest.Contents(levels, e, want); wrong != "" {
			t.Fatalf("seed %d, levels %+v, %v: %s", seed, levels, n, wrong)
		}
	}
}

// TestAgain compares passes over one nest, which the chain looked up when the levels were empty,
// with brute force: counts of each, and the contents in the end.
func TestAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 59)
		levels := d.Levels()
		for i := range levels {
			levels[i].Ways = min(levels[i].Ways, 5)
		}
		n := d.Nest(levels, 400)
		e, want := New(levels, 1), reference.New(levels)
		e.againFrom = 0
		if d.One(2) {
			e.from, e.dearer = 0, 0 // the prover's
		}
		between := d.One(4)
		for pass := range 4 {
			if pass == 2 && between { // something else, after which the end is another
				other := d.Nest(levels, 20)
				e.Run([]nest.Nest{other.Canonical()}, 1)
				want.Run(other.Operands, other.Accesses())
			}
			got := e.Run([]nest.Nest{n.Canonical()}, 1)[0][0]
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, levels %+v, pass %d:\n%vmisses %v, want %v", seed, levels, pass, n, got, wanted)
			}
		}
		if wrong := enginetest.Contents(levels, e, want); wrong != "" {
			t.Fatalf("seed %d, levels %+v, %v: %s", seed, levels, n, wrong)
		}
	}
}
