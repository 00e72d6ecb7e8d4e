package simcache

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// drawThreads draws levels, of which any but the first may be shared, and what threads walk.
func drawThreads(t *testing.T, d enginetest.Draw) (c Config, threads [][]nest.Nest) {
	t.Helper()
	for i := range 1 + d(3) {
		ways := 1 + d(4)
		l := Level{Geometry: Geometry{ways * 64 << (1 + d(6)), ways, 64}}
		if i > 0 {
			l.SharedBy = d(4)
		}
		c.Levels = append(c.Levels, l)
	}
	threads = make([][]nest.Nest, 1+d(4))
	for i := range threads {
		for range 1 + d(2) {
			threads[i] = append(threads[i], d.Nest(specsOf(newOf(t, c)), 50<<d(6)))
		}
	}
	return c, threads
}

// newThreads makes caches of threads.
func newThreads(t *testing.T, c Config, threads [][]nest.Nest) *Hierarchy {
	t.Helper()
	s, err := NewThreads(c, threads)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestThreadsPasses: passes that are not walked are as if they were, in all that is told; the
// steady pass is what one more of many passes adds; and a level that holds all that is
// touched misses nothing in it.
func TestThreadsPasses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(800)) {
		d := enginetest.Random(seed, 73)
		c, threads := drawThreads(t, d)
		passes := 1 + d(9)
		if passes > len(c.Levels)+1 {
			meet("threads: passes are skipped", 1)
		}
		some, all := newThreads(t, c, threads), newThreads(t, c, threads)
		counts, err := some.Run(passes)
		if err != nil {
			t.Fatal(err)
		}
		var walked, last Counts
		for range passes + len(c.Levels) + 3 {
			before := all.Counts()
			if _, err := all.Run(1); err != nil {
				t.Fatal(err)
			}
			if last = all.Counts().Sub(before); passes > 0 {
				if passes--; passes == 0 {
					walked = all.Counts()
					if got, want := fmt.Sprintf("%+v", some.Levels()),
						fmt.Sprintf("%+v", all.Levels()); got != want || some.Counts() != walked {
						t.Fatalf("seed %d, %+v, %v: %v, want %v", seed, c, threads, got, want)
					}
				}
			}
		}
		if sum := total(counts); sum != walked {
			t.Fatalf("seed %d: %+v in all, %+v by nest", seed, walked, sum)
		}
		steady, err := SteadyPass(c, threads...)
		if err != nil || steady != last {
			t.Fatalf("seed %d, %+v, %v: %+v steady, %v, want %+v", seed, c, threads,
				steady, err, last)
		}
		if c.Holds(slices.Concat(threads...)...) {
			if meet("threads: a level holds all", 1); len(c.Levels) > 1 && steady.LLMisses() > 0 {
				t.Fatalf("seed %d, %+v, %v: %d misses of what holds all", seed, c, threads,
					steady.LLMisses())
			}
		}
	}
}

// TestThreadsAlone: one thread counts what a hierarchy counts, and so do several of which
// none shares a level, all together.
func TestThreadsAlone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(300)) {
		d := enginetest.Random(seed, 74)
		c, threads := drawThreads(t, d)
		if d.One(2) {
			threads = threads[:1]
		} else {
			for i := range c.Levels {
				c.Levels[i].SharedBy = 1
			}
		}
		if c.Shares(len(threads)) {
			t.Errorf("seed %d: %d threads share a level of %+v", seed, len(threads), c)
		}
		var want, steady Counts
		for _, nests := range threads {
			h := newOf(t, c)
			if _, err := h.Run(3, nests...); err != nil {
				t.Fatal(err)
			}
			one, err := SteadyPass(c, nests)
			if err != nil {
				t.Fatal(err)
			}
			want, steady = want.Add(h.Counts()), steady.Add(one)
		}
		s := newThreads(t, c, threads)
		if _, err := s.Run(3); err != nil || s.Counts() != want {
			t.Fatalf("seed %d, %+v, %v: %+v, %v, want %+v", seed, c, threads, s.Counts(), err, want)
		}
		if got, err := SteadyPass(c, threads...); err != nil || got != steady {
			t.Fatalf("seed %d: a steady pass has %+v, %v, want %+v", seed, got, err, steady)
		}
	}
}

// TestSharedBy: who shares what if nothing is said, and what cannot be shared.
func TestSharedBy(t *testing.T) {
	g := Geometry{1 << 10, 2, 64}
	c := Config{Levels: []Level{{Geometry: g}, {Geometry: g}, {Geometry: g}}}
	if c.sharedBy(0) != 1 || c.sharedBy(1) != 1 || c.sharedBy(2) < 1<<30 || !c.Shares(2) ||
		c.Shares(1) || c.Shares(0) {
		t.Error("the last of three levels alone is not everybody's")
	}
	if one := (Config{Levels: c.Levels[:1]}); one.Shares(2) {
		t.Error("the first level is shared")
	}
	c.Levels[2].SharedBy = 1
	if c.Shares(2) {
		t.Error("a last level of one core is shared")
	}
	if c.Levels[1].SharedBy = 2; !c.Shares(2) {
		t.Error("a level of two cores is not shared")
	}
	for _, bad := range []struct {
		change func(c *Config)
		want   string
	}{
		{func(c *Config) {
			c.Levels[0].SharedBy = 2
		}, "D1 1024,2,64: shared by 2 cores: each core has a first level of its own"},
		{func(c *Config) { c.Levels[1].SharedBy = -1 }, "L2 1024,2,64: shared by -1 cores"},
		{func(c *Config) { c.WriteBacks = true }, "threads share levels that are LRU"},
		{func(c *Config) { c.ZeroTags = true }, "threads share levels that are LRU"},
		{func(c *Config) { c.Observe = "classes" }, "threads share levels that are LRU"},
		{func(c *Config) { c.Levels[1].Policy = "fifo" }, "threads share levels that are LRU"},
	} {
		c := Config{Levels: slices.Clone(c.Levels)}
		bad.change(&c)
		if _, err := NewThreads(c, nil); err == nil || !strings.HasPrefix(err.Error(), bad.want) {
			t.Errorf("%v, want %s", err, bad.want)
		}
	}
	none := nest.Nest{Operands: []nest.Operand{{Width: 0}}}
	if _, err := NewThreads(c, [][]nest.Nest{{none}}); err == nil {
		t.Error("an operand of no width is taken")
	}
	s := newThreads(t, c, [][]nest.Nest{{{Trips: []int{1 << 40},
		Operands: []nest.Operand{{Width: 1, Strides: []int{0}}}}}})
	if _, err := s.Run(1 << 40); err == nil {
		t.Error("2^80 references are counted")
	}
}

// TestHolds: a range of bytes is held if its lines fill no set twice over, wherever it begins.
func TestHolds(t *testing.T) {
	c := Config{Levels: TwoLevels(Geometry{128, 1, 64}, Geometry{1 << 10, 2, 64})}
	for _, at := range []struct {
		base, bytes int
		want        bool
	}{{0, 1 << 10, true}, {0, 1<<10 + 1, false}, {63, 1<<10 - 63, true}, {63, 1<<10 - 62, false},
		{64, 1 << 10, true}} {
		n := nest.Nest{Trips: []int{at.bytes},
			Operands: []nest.Operand{{Base: uint64(1<<20 + at.base), Width: 1, Strides: []int{1}}}}
		if got := c.Holds(n); got != at.want {
			t.Errorf("%d bytes from %d on are held: %t", at.bytes, at.base, got)
		}
	}
	if nothing := (nest.Nest{Trips: []int{0},
		Operands: []nest.Operand{{Base: 1 << 20, Width: 1, Strides: []int{1}}}}); !c.Holds() ||
		!c.Holds(nothing) {
		t.Error("nothing is not held")
	}
	if c.Levels[1].Policy = "fifo"; c.Holds() {
		t.Error("FIFO is taken for LRU")
	}
}
