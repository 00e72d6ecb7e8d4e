package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

const origin = 1 << 32

// read and write are operands of 4 B elements.
func read(tensor string, strides ...int) nest.Operand {
	return nest.Operand{Tensor: tensor, Base: origin, Width: 4, Strides: strides}
}

func write(tensor string, strides ...int) nest.Operand {
	return nest.Operand{Tensor: tensor, Kind: nest.Write, Base: 2 * origin, Width: 4, Strides: strides}
}

func nestOf(trips []int, operands ...nest.Operand) nest.Nest {
	return nest.Nest{Trips: trips, Operands: operands}
}

// run simulates passes over a nest in D1 of 32 KiB and LL of 8 MiB, with all
// that can be observed.
func run(t *testing.T, n nest.Nest, passes int, change ...func(*simcache.Config)) Run {
	t.Helper()
	c := simcache.Config{
		Levels:  simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}),
		TLB:     []simcache.TLB{{Entries: 64, Ways: 4, Page: 4096}, {Entries: 1536, Ways: 12, Page: 4096}},
		Observe: simcache.Classes | simcache.SetMisses | simcache.UsedBytes, WriteBacks: true}
	for _, f := range change {
		f(&c)
	}
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Config: c, Nests: []nest.Nest{n}, Passes: passes}
	for _, op := range n.Operands {
		r.Tensors = append(r.Tensors, simcache.Line{Function: op.Tensor})
	}
	for range passes {
		counts, err := h.Run(n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range counts {
			r.Tensors[i].Counts = r.Tensors[i].Counts.Add(counts[i])
		}
	}
	r.Levels, r.TLB = h.Levels(), h.TLBs()
	return r
}

// has checks sentences of an explanation, and no stray formatting.
func has(t *testing.T, r Run, wants ...string) {
	t.Helper()
	text := strings.Join(r.Text(), "\n")
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "%!") {
		t.Errorf("stray format in\n%s", text)
	}
}

// TestStraddles: a reference to two lines is one miss, so that of what such ones
// touch only the least is known, and at most twice that.
func TestStraddles(t *testing.T) {
	crossing := nest.Operand{Tensor: "x", Base: origin + 62, Width: 4, Strides: []int{128}}
	has(t, run(t, nestOf([]int{256}, crossing), 1), "All that is touched, at least 16 KiB, fits in its 32 KiB.")
	has(t, run(t, nestOf([]int{320}, crossing), 1), "All that is touched is at least 20 KiB, which may fit in its 32 KiB.")
	crossing.Strides[0] = 64
	has(t, run(t, nestOf([]int{1024}, crossing), 1), "All that is touched, at least 64 KiB, is at least 2.0 times its size.")
	aligned := nest.Operand{Tensor: "x", Base: origin, Width: 4, Strides: []int{128}}
	has(t, run(t, nestOf([]int{256}, aligned), 1), "All that is touched, 16 KiB, fits in its 32 KiB.")
}

// TestWhole is one explanation from beginning to end.
func TestWhole(t *testing.T) {
	got := run(t, nestOf([]int{512, 512}, read("x", 4, 2048)), 1).Text()
	want := []string{
		"x is read 262,144 times and misses 262,144 times in D1 (100.00%), 16,384 times in LL (6.25%). " +
			"The inner loop steps 2,048 B, past the line of 64 B: each of its 512 accesses is to another line. " +
			"It comes back to a line for the neighbour 4 B on, in the next round of the inner loop, after 512 lines (32 KiB). " +
			"D1 has 512 lines, enough for that, but x's fall into 2 of its 64 sets, up to 256 to a set of 8 " +
			"(steps of 2,048 B reach every 32nd set): it has lost it. LL (131,072 lines) still has it.",
		"D1 (32 KiB: 64 sets of 8 lines of 64 B) misses 262,144 of the 262,144 references that reach it (100.00%). " +
			"Of these, 16,384 are compulsory (the first touch of a line) and 245,760 are conflicts (512 lines would do, were they not bound to sets). " +
			"All that is touched, 1 MiB, is 32.0 times its size. " +
			"While a line is in it, 4.0 of its 64 B are used on average: of 16 MiB fetched, the program touches 1 MiB.",
		"LL (8 MiB: 8,192 sets of 16 lines of 64 B) misses 16,384 of the 262,144 references that reach it (6.25%). " +
			"All are compulsory, the first touch of a line. All that is touched, 1 MiB, fits in its 8 MiB.",
		"DTLB (64 pages of 4 KiB, a reach of 256 KiB) misses 131,072 of 262,144 lookups (50.00%). " +
			"STLB (1,536 pages of 4 KiB, a reach of 6 MiB) misses 256 of 131,072 lookups (0.20%). " +
			"Each miss of STLB walks the page table: one walk for 1,024.0 references. " +
			"One round of the inner loop touches 256 pages of 4 KiB; with pages of 2 MiB it would be 1.",
		"The program touches 1 MiB in all its references; memory gives 1 MiB (1.00 times as much).",
		"What would help: Walk x with the loop that steps 4 B innermost (another order, or another layout of x): " +
			"then 16 accesses in a row share a line, and about 16,384 miss in D1. " +
			"Or, if the order is to stay, pad x by 16 elements of 4 B after every 2,048 B: " +
			"steps of 2,112 B spread over 64 sets instead of 2, and D1 keeps the lines until they are used up.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPatterns: what is said of the patterns that users ask about.
func TestPatterns(t *testing.T) {
	t.Run("row", func(t *testing.T) {
		has(t, run(t, nestOf([]int{128, 512}, read("x", 2048, 4)), 1),
			"The inner loop steps 4 B, so that 16 accesses in a row share a line of 64 B. It never comes back to a line that it has left.",
			"All are compulsory", "Every byte of the lines it fetched was used.",
			"nothing in layout or order. Lines are fetched into D1 once and used whole; 4,096 misses are what so many bytes cost.")
	})
	t.Run("column", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 1000}, read("x", 4, 4032)), 1),
			"after 1,000 lines (62.5 KiB). D1 (512 lines) has lost it by then. LL (131,072 lines) still has it.",
			"60,000 are for want of capacity", "4.0 of its 64 B are used",
			"One round of the inner loop touches 984 pages of 4 KiB; with pages of 2 MiB it would be 2.")
	})
	t.Run("padded column", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 512}, read("x", 4, 2112)), 1), "D1 (512 lines) still has it.",
			"Walk x with the loop that steps 4 B innermost (another order): D1 misses no fewer lines, but one round of the inner loop touches 264 pages now, and DTLB has 64. Larger pages help, too.")
	})
	t.Run("padded column of few pages", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 120}, read("x", 4, 2112)), 1), "D1 (512 lines) still has it.", "nothing in layout or order.")
	})
	t.Run("transposed copy", func(t *testing.T) {
		r := run(t, nestOf([]int{64, 1000}, read("x", 4, 4032), write("y", 4032, 4)), 1)
		has(t, r, "of all tensors. D1 (512 lines) has lost it by then.", "y is written 64,000 times and misses 4,032 times in D1 (6.30%)",
			"up to 252 KiB is fetched only to be overwritten", "The tensors want different loops innermost. Walk in tiles, such as 64 x 64 elements",
			"about 4,000 of its accesses miss.")
	})
	t.Run("tiled copy of a power of two", func(t *testing.T) {
		has(t, run(t, nestOf([]int{2, 16, 32, 32}, read("x", 128, 32*2048, 4, 2048), write("y", 32*2048, 128, 2048, 4)), 1),
			"x's fall into 2 of its 64 sets, up to 17 to a set of 8 (steps of 2,048 B reach every 32nd set): it has lost it.",
			"What would help: Pad x by 16 elements of 4 B after every 2,048 B: steps of 2,112 B spread over 32 sets instead of 2")
	})
	t.Run("NCHW to NHWC", func(t *testing.T) {
		has(t, run(t, nestOf([]int{784, 64}, read("x", 4, 12544), write("y", 256, 4)), 1),
			"after 68 lines (4.2 KiB) of all tensors. D1 (512 lines) still has it.")
	})
	t.Run("broadcast add", func(t *testing.T) {
		has(t, run(t, nestOf([]int{20, 4000}, read("x", 16000, 4), nest.Operand{Tensor: "with", Base: 3 * origin, Width: 4, Strides: []int{0, 4}}, write("y", 16000, 4)), 1),
			"when the inner loop starts over, as it does 20 times, after 750 lines (46.9 KiB) of all tensors. D1 (512 lines) has lost it by then.",
			"Walk in blocks of up to 2,000 steps of the inner loop (a tile of that width): D1 still has the lines of with when the block starts over, and about 250 of its accesses miss.")
	})
	t.Run("passes", func(t *testing.T) {
		has(t, run(t, nestOf([]int{128, 512}, read("x", 2048, 4)), 2), "It comes back to a line in the next pass, after 4,096 lines (256 KiB). D1 (512 lines) has lost it by then.")
	})
	t.Run("backwards, on one element, and sparse", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 512}, read("x", -4, -2048)), 1), "steps 2,048 B backwards", "after every 2,048 B: steps of 2,112 B spread")
		has(t, run(t, nestOf([]int{100, 100}, read("x", 4, 0)), 1), "The inner loop stays on one element for 100 iterations.")
		has(t, run(t, nestOf([]int{1000}, read("x", 128)), 1), "the walk touches 4.0 of the 64 B of a line, and each line once.",
			"The misses fall on 32 of the 64 sets (set 0 first), the busiest taking 2.0 times the mean.")
	})
	t.Run("nothing", func(t *testing.T) {
		has(t, run(t, nestOf([]int{0, 3}, read("x", 12, 4)), 1), "D1: nothing gets this far.")
		has(t, run(t, nestOf(nil, read("x")), 1), "D1 (32 KiB")
	})
	t.Run("exclusive, prefetched, with a victim cache", func(t *testing.T) {
		column := nestOf([]int{128, 128}, read("x", 4, 2048))
		has(t, run(t, column, 1, func(c *simcache.Config) { c.Levels[1].Inclusion = simcache.Exclusive }),
			"memory gives 64 KiB (1.00 times as much).", "D1 has 512 lines, enough for that")
		has(t, run(t, column, 1, func(c *simcache.Config) { c.Levels[0].VictimLines = 128 }),
			"Its victim cache saved ", "D1 (512 lines) still has it.")
		has(t, run(t, column, 1, func(c *simcache.Config) { c.Levels[0].Prefetch.Kind = simcache.NextLine }), "It prefetched ")
	})
}

// TestAdvice: what is advised does what is said.
func TestAdvice(t *testing.T) {
	misses := func(n nest.Nest, tensor int) uint64 { return run(t, n, 1).Tensors[tensor].Counts.D1Misses() }
	for _, test := range []struct {
		name      string
		n         nest.Nest
		tensor    int
		said, all uint64
	}{
		{"order", nestOf([]int{128, 512}, read("x", 2048, 4)), 0, 4096, 4096},
		{"padding", nestOf([]int{64, 512}, read("x", 4, 2112)), 0, 2048, 2048},
		{"tiles", nestOf([]int{2, 15, 64, 64}, read("x", 256, 64*4000, 4, 4000), write("y", 64*4000, 256, 4000, 4)), 0, 7680, 8700}, // a tile's rows begin anywhere in a line
		{"padding under tiles", nestOf([]int{2, 16, 32, 32}, read("x", 128, 32*2112, 4, 2112), write("y", 32*2048, 128, 2048, 4)), 0, 2048, 2200},
		{"blocks", nestOf([]int{2, 20, 2000}, read("x", 8000, 16000, 4), nest.Operand{Tensor: "with", Base: 3 * origin, Width: 4, Strides: []int{8000, 0, 4}}, write("y", 8000, 16000, 4)), 1, 250, 252},
	} {
		if got := misses(test.n, test.tensor); got > test.all {
			t.Errorf("%s: %d misses, about %d were said", test.name, got, test.said)
		}
	}
}

// TestTrace: without loops the counts are explained all the same.
func TestTrace(t *testing.T) {
	r := run(t, nestOf([]int{64, 512}, write("y", 4, 2048)), 1)
	r.Nests = nil
	has(t, r, "D1 (32 KiB", "Memory gives 128 KiB and takes back ", "What is still dirty in the caches at the end is not counted.")
	if text := strings.Join(r.Text(), "\n"); strings.Contains(text, "inner loop") || strings.Contains(text, "What would help") {
		t.Error(text)
	}
}

// TestMemory: what memory gives is known without write-backs, and the same where
// they change nothing.
func TestMemory(t *testing.T) {
	copied := nestOf([]int{64, 512}, read("x", 2048, 4), write("y", 2048, 4))
	const given = "memory gives 256 KiB"
	has(t, run(t, copied, 1), given+" and takes back ", "What is still dirty in the caches at the end is not counted.")
	plain := run(t, copied, 1, func(c *simcache.Config) { c.WriteBacks = false })
	has(t, plain, given+" (1.00 times as much).", "What it takes back is counted with --writebacks alone.")
	updated := nestOf([]int{64, 512}, read("x", 2048, 4))
	updated.Operands[0].Kind = nest.Modify
	has(t, run(t, updated, 1), "and takes back 0 B", "What is still dirty")
}

// TestLevelSize: a cache has the size that the tables say, where memory touched is rounded.
func TestLevelSize(t *testing.T) {
	r := run(t, nestOf([]int{64, 512}, read("x", 2048, 4)), 1, func(c *simcache.Config) {
		c.Levels[1].Geometry = simcache.Geometry{Size: 1280 << 10, Ways: 20, Line: 64}
	})
	has(t, r, "LL (1.25 MiB: 1,024 sets", "fits in its 1.25 MiB.")
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 64: "64 B", 1536: "1.5 KiB", 1 << 20: "1 MiB", 3 << 40: "3 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
