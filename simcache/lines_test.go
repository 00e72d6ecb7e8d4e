package simcache

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestSmallLines compares everything that counts misses with what a cache is, on levels
// of textbooks: lines from 1 B on, single sets and single ways, and accesses that span
// several lines.
func TestSmallLines(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1500)) {
		d := enginetest.Random(seed, 58)
		c := Config{Levels: smallLevels(d)}
		shapes := c.shapes()
		n := d.Nest(shapes, 600)
		if d.One(2) {
			n = d.Wide(n, shapes)
		}
		if engine.Wide(shapes, n.Operands) {
			meet("nests with accesses wider than a line", 1)
		}
		const passes = 5 // from the fourth on all are alike
		caches := reference.New(shapes)
		var first, last []uint64
		sum := make([]Counts, len(n.Operands))
		for pass := range passes {
			last = caches.Run(n.Operands, n.Accesses())
			if pass == 0 {
				first = last
			}
			for r, more := range countsOf(n, last, len(shapes)) {
				sum[r] = sum[r].Add(more)
			}
		}
		if steady, err := SteadyPass(c, []nest.Nest{n}); err != nil ||
			steady != total([][]Counts{countsOf(n, last, len(shapes))}) {
			t.Fatalf("seed %d, %v, %v: a steady pass is %v (%v), want %v", seed, c.Levels, n,
				steady, err, last)
		}
		threads, err := NewThreads(c, [][]nest.Nest{{n}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := threads.Run(passes); err != nil || !slices.Equal(got[0], sum) {
			t.Fatalf("seed %d, %v, %v: a thread counts %v (%v), want %v", seed, c.Levels, n,
				got, err, sum)
		}
		if c.WriteBacks = true; c.Check() == nil {
			backs(t, c, n)
		}
		for _, how := range []Config{{}, {Brute: true}, {Cores: 3}, {Observe: all},
			{Observe: "sets"}} {
			how.Levels = c.Levels
			check := func(what string, count func(*Hierarchy) ([]Counts, error), want []Counts) {
				h, err := NewHierarchy(how)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := count(h); err != nil || !slices.Equal(got, want) {
					t.Fatalf("seed %d, %+v, %v: %s counts %v (%v), want %v", seed, how, n, what,
						got, err, want)
				}
			}
			once := countsOf(n, first, len(shapes))
			for passes, want := range map[int][]Counts{1: once, passes: sum} {
				check("Run", func(h *Hierarchy) ([]Counts, error) {
					counts, err := h.Run(passes, n)
					return counts[0], err
				}, want)
			}
			check("RunProgram", func(h *Hierarchy) ([]Counts, error) {
				return h.RunProgram(1, nest.Sequence(n, n))
			},
				append(slices.Clone(once), countsOf(n, runAfter(shapes, n), len(shapes))...))
		}
	}
}

// backs compares what two engines move of a nest, of which one looks up a batch at a time.
func backs(t *testing.T, c Config, n nest.Nest) {
	t.Helper()
	var levels [2][]LevelCounts
	for i := range levels {
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Run(1, n); err != nil {
			t.Fatal(err)
		}
		levels[i] = h.Levels()
		c.Observe = "sets"
	}
	for i, l := range levels[0] {
		other := levels[1][i]
		if other.SetMisses = nil; !reflect.DeepEqual(l, other) {
			t.Fatalf("%+v, %v: level %d counts %+v, observed %+v", c, n, i, l, other)
		}
	}
}

// runAfter are the misses of a nest that has just run.
func runAfter(shapes []engine.Level, n nest.Nest) []uint64 {
	caches := reference.New(shapes)
	caches.Run(n.Operands, n.Accesses())
	return caches.Run(n.Operands, n.Accesses())
}

// smallLevels draws one to three levels with lines of 1 to 16 B.
func smallLevels(d enginetest.Draw) (levels []Level) {
	line := 1 << d(5)
	for range 1 + d(3) {
		if d.One(4) {
			line = 1 << d(5)
		}
		g := Geometry{Ways: 1 + d(4)*d(3), Line: line}
		g.Size = g.Ways * g.Line << (d(2) * d(6))
		levels = append(levels, Level{Geometry: g})
	}
	return levels
}
