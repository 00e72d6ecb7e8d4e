package explain

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

const origin = 1 << 32

// read and write are operands of 4 B elements.
func read(tensor string, strides ...int) nest.Operand {
	return nest.Operand{Tensor: tensor, Base: origin, Width: 4, Strides: strides}
}

func write(tensor string, strides ...int) nest.Operand {
	return nest.Operand{Tensor: tensor, Kind: nest.Write, Base: 2 * origin, Width: 4,
		Strides: strides}
}

func nestOf(trips []int, operands ...nest.Operand) nest.Nest {
	return nest.Nest{Trips: trips, Operands: operands}
}

// run simulates passes over a nest in D1 of 32 KiB and LL of 8 MiB, with all
// that can be observed.
func run(t *testing.T, n nest.Nest, passes int, change ...func(*simcache.Config)) Run {
	t.Helper()
	c := simcache.Config{
		Levels: simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}),
		TLB: []simcache.TLB{{Entries: 64, Ways: 4, Page: 4096},
			{Entries: 1536, Ways: 12, Page: 4096}},
		Observe: "classes,sets,bytes", WriteBacks: true}
	for _, f := range change {
		f(&c)
	}
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Config: c, Nests: []nest.Nest{n}, Passes: passes}
	for _, op := range n.Operands {
		r.Tensors = append(r.Tensors, Line{Function: op.Tensor})
	}
	for range passes {
		counts, err := h.Run(1, n)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range counts[0] {
			r.Tensors[i].Counts = r.Tensors[i].Counts.Add(c)
		}
	}
	r.Levels, r.TLB, r.Counts = h.Levels(), h.TLBs(), h.Counts()
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

// TestStraddles: a reference to two lines is one miss, so that what such ones touch is not known.
func TestStraddles(t *testing.T) {
	crossing := nest.Operand{Tensor: "x", Base: origin + 62, Width: 4, Strides: []int{128}}
	if text := strings.Join(run(t, nestOf([]int{256}, crossing), 1).Text(),
		"\n"); strings.Contains(text, "working set") {
		t.Error(text)
	}
	aligned := nest.Operand{Tensor: "x", Base: origin, Width: 4, Strides: []int{128}}
	has(t, run(t, nestOf([]int{256}, aligned), 1), "The working set, 16 KiB, fits in D1 (32 KiB)")
}

// TestWhole is one explanation from beginning to end.
func TestWhole(t *testing.T) {
	r := run(t, nestOf([]int{512, 512}, read("x", 4, 2048)), 1)
	r.Arrays, r.Align = []nest.Array{{Tensor: "x", Base: origin, Element: 4,
		Extents: []int{512, 512}}}, 4096
	r.Improve(1 << 40)
	got := r.Text()
	want := []string{
		"What would help: walk with the loop that steps x by 4 B innermost: D1 misses fall from " +
			"262,144 to 16,384, LL misses stay at 16,384 and DTLB misses fall from 131,072 to 256. " +
			"Or swap dims 0 and 1 of x: D1 misses fall from 262,144 to 16,384, LL misses stay at " +
			"16,384 and DTLB misses fall from 131,072 to 256. " +
			"Or walk in tiles of 16 x 16 elements: D1 misses fall from 262,144 to 16,384, LL " +
			"misses stay at 16,384 and DTLB misses fall from 131,072 to 8,192. (6 changes " +
			"counted, each alone.)",
		"x is read 262,144 times and misses 262,144 times in D1 (100.00%), 16,384 times in LL " +
			"(6.25%). " +
			"The inner loop steps 2,048 B, past the line of 64 B: each of its 512 accesses is to " +
			"another line. " +
			"It returns to a line in the next round of the inner loop, for the neighbour at 4 B, " +
			"after 512 lines (32 KiB). " +
			"D1 (512 lines) has evicted it, mostly for lack of ways in its sets: the lines of x " +
			"fall into 2 of its 64 sets, up to 256 to a set of 8 " +
			"(steps of 2,048 B reach one in 32 sets). LL (131,072 lines) still has it.",
		"The working set, 1 MiB, exceeds D1 (32 KiB) and fits in LL (8 MiB).",
		"DTLB (64 pages of 4 KiB, a reach of 256 KiB) misses 131,072 of 262,144 lookups (50.00%). " +
			"STLB (1,536 pages of 4 KiB, a reach of 6 MiB) misses 256 of 131,072 lookups (0.20%). " +
			"Each miss of STLB walks the page table: one walk for 1,024.0 references. " +
			"One round of the inner loop accesses 256 pages of 4 KiB; with pages of 2 MiB it " +
			"would be 1.",
		"The program reads and writes 1 MiB in all; memory supplies 1 MiB (1.00 times as much).",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPatterns: what is said of the patterns that users ask about.
func TestPatterns(t *testing.T) {
	t.Run("row", func(t *testing.T) {
		has(t, run(t, nestOf([]int{128, 512}, read("x", 2048, 4)), 1),
			"The inner loop steps 4 B, so that up to 16 accesses in a row share a line of 64 B. "+
				"It never returns to a line that it has left.",
			"no other layout or order. Lines are fetched into D1 once and used whole.")
	})
	t.Run("column", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 1000}, read("x", 4, 4032)), 1),
			"after 1,000 lines (62.5 KiB). D1 (512 lines) has evicted it, mostly for lack of "+
				"capacity. LL (131,072 lines) still has it.",
			"One round of the inner loop accesses 984 pages of 4 KiB; with pages of 2 MiB it "+
				"would be 2.")
	})
	t.Run("padded column", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 512}, read("x", 4, 2112)), 1),
			"D1 (512 lines) still has it.",
			"One round of the inner loop accesses 264 pages of 4 KiB")
	})
	t.Run("padded column of few pages", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 120}, read("x", 4, 2112)), 1),
			"D1 (512 lines) still has it.", "no other layout or order.")
	})
	t.Run("transposed copy", func(t *testing.T) {
		r := run(t, nestOf([]int{64, 1000}, read("x", 4, 4032), write("y", 4032, 4)), 1)
		has(t, r, "D1 (512 lines) has evicted it, mostly for lack of capacity.",
			"y is written 64,000 times and misses 4,032 times in D1 (6.30%)",
			"Up to 252 KiB is fetched only to be overwritten")
	})
	t.Run("tiled copy of a power of two", func(t *testing.T) {
		has(t, run(t, nestOf([]int{2, 16, 32, 32}, read("x", 128, 32*2048, 4, 2048),
			write("y", 32*2048, 128, 2048, 4)), 1),
			"D1 (512 lines) has evicted it, mostly for lack of ways in its sets: the lines of x "+
				"fall into 2 of its 64 sets, up to 17 to a set of 8 (steps of 2,048 B reach one "+
				"in 32 sets).")
	})
	t.Run("NCHW to NHWC", func(t *testing.T) {
		has(t, run(t, nestOf([]int{784, 64}, read("x", 4, 12544), write("y", 256, 4)), 1),
			"after 68 lines (4.25 KiB). D1 (512 lines) still has it.")
	})
	t.Run("broadcast add", func(t *testing.T) {
		has(t, run(t, nestOf([]int{20, 4000}, read("x", 16000, 4),
			nest.Operand{Tensor: "with", Base: 3 * origin, Width: 4, Strides: []int{0, 4}},
			write("y", 16000, 4)), 1),
			"in a later round of the inner loop, after 750 lines (46.88 KiB). D1 (512 lines) has "+
				"evicted it, mostly for lack of capacity.")
	})
	t.Run("passes", func(t *testing.T) {
		has(t, run(t, nestOf([]int{128, 512}, read("x", 2048, 4)), 2),
			"It returns to a line in the next pass, after 4,096 lines (256 KiB). D1 (512 lines) "+
				"has evicted it, mostly for lack of capacity.")
	})
	t.Run("backwards, on one element, and sparse", func(t *testing.T) {
		has(t, run(t, nestOf([]int{64, 512}, read("x", -4, -2048)), 1), "steps 2,048 B backwards")
		has(t, run(t, nestOf([]int{100, 100}, read("x", 4, 0)), 1),
			"The inner loop stays on one element for 100 iterations.")
		has(t, run(t, nestOf([]int{1000}, read("x", 128)), 1),
			"The walk uses 4.0 of the 64 B of a line, and fetches each line once.")
	})
	t.Run("nothing", func(t *testing.T) {
		has(t, run(t, nestOf([]int{0, 3}, read("x", 12, 4)), 1))
		has(t, run(t, nestOf(nil, read("x")), 1), "D1 (32 KiB")
	})
	t.Run("exclusive, with a victim cache", func(t *testing.T) {
		column := nestOf([]int{128, 128}, read("x", 4, 2048))
		has(t, run(t, column, 1, func(c *simcache.Config) { c.Levels[1].Inclusion = "exclusive" }),
			"D1 (512 lines) has evicted it, mostly for lack of ways in its sets: the lines of x "+
				"fall into 2 of its 64 sets")
		has(t, run(t, column, 1, func(c *simcache.Config) { c.Levels[0].VictimLines = 128 }),
			"D1 (512 lines) still has it.")
	})
}

// rows is an array of 4 B elements at an address.
func rows(tensor string, base uint64, extents ...int) nest.Array {
	return nest.Array{Tensor: tensor, Base: base, Element: 4, Extents: extents}
}

// TestImprove: what is tried has the misses of the loops that it describes, and the best is said
// first; where nothing helps, that is said.
func TestImprove(t *testing.T) {
	copied := nestOf([]int{64, 1024}, read("x", 4, 4096), write("y", 4096, 4))
	tiles := nestOf([]int{2, 32, 32, 32}, read("x", 128, 32*4096, 4, 4096),
		write("y", 32*4096, 128, 4096, 4))
	for _, test := range []struct {
		of     nest.Nest
		arrays []nest.Array
		words  string
		as     nest.Nest // what this does
	}{
		{nestOf([]int{512, 128}, read("x", 4, 2048)), []nest.Array{rows("x", origin, 128, 512)},
			"walk with the loop that steps x by 4 B innermost",
			nestOf([]int{128, 512}, read("x", 2048, 4))},
		{nestOf([]int{512, 128}, read("x", 4, 2048)), []nest.Array{rows("x", origin, 128, 512)},
			"pad the rows of x by 16 elements",
			nestOf([]int{512, 128}, read("x", 4, 2112))},
		{nestOf([]int{512, 128}, read("x", 4, 2048)), []nest.Array{rows("x", origin, 128, 512)},
			"swap dims 0 and 1 of x",
			nestOf([]int{512, 128}, read("x", 512, 4))},
		{copied, []nest.Array{rows("x", origin, 1024, 1024), rows("y", 2*origin, 64, 1024)},
			"walk in tiles of 32 x 32 elements", tiles},
		{copied, []nest.Array{rows("x", origin, 1024, 1024), rows("y", 2*origin, 64, 1024)},
			"pad the rows of x by 16 elements",
			nestOf([]int{64, 1024}, read("x", 4, 4160), write("y", 4096, 4))},
	} {
		r := run(t, test.of, 2)
		r.Arrays, r.Align = test.arrays, 4096
		r.Improve(1 << 40)
		at := slices.IndexFunc(r.tried, func(c Change) bool {
			return strings.ReplaceAll(c.Words, ",", "") == test.words
		})
		if at < 0 || r.uncounted > 0 {
			t.Errorf("%s: among %d tried, and %d not counted", test.words, at, r.uncounted)
			continue
		}
		as := run(t, test.as, 2)
		if want := as.now(); r.tried[at].missed != want {
			t.Errorf("%s: %v misses, want %v", test.words, r.tried[at].missed, want)
		}
		best := slices.MinFunc(r.tried, func(a, b Change) int {
			return cmp.Compare(a.missed.rank(), b.missed.rank())
		})
		has(t, r, "What would help: "+best.Words+": ")
	}
	r := run(t, nestOf([]int{128, 512}, read("x", 2048, 4)), 1)
	r.Arrays, r.Align = []nest.Array{rows("x", origin, 128, 512)}, 4096
	r.Improve(1 << 40)
	has(t, r, "What would help: no other layout or order.", " changes counted, each alone.)")
	r.tried = nil
	r.Improve(0)
	has(t, r, Say("0 of %d changes counted, each alone: more would take long.)", r.uncounted))
}

// TestTrace: without loops the counts are explained all the same.
func TestTrace(t *testing.T) {
	r := run(t, nestOf([]int{64, 512}, write("y", 4, 2048)), 1)
	r.Nests = nil
	has(t, r, "Memory supplies 128 KiB and receives ",
		"Lines that are still dirty at the end are not counted.")
	if text := strings.Join(r.Text(), "\n"); strings.Contains(text, "inner loop") ||
		strings.Contains(text, "What would help") {
		t.Error(text)
	}
}

// TestMemory: what memory supplies is known without write-backs, and the same where
// they change nothing.
func TestMemory(t *testing.T) {
	copied := nestOf([]int{64, 512}, read("x", 2048, 4), write("y", 2048, 4))
	const given = "memory supplies 256 KiB"
	has(t, run(t, copied, 1), given+" and receives ",
		"Lines that are still dirty at the end are not counted.")
	plain := run(t, copied, 1, func(c *simcache.Config) { c.WriteBacks = false })
	has(t, plain, given+" (1.00 times as much).", "Write-backs are counted with --writebacks only.")
	updated := nestOf([]int{64, 512}, read("x", 2048, 4))
	updated.Operands[0].Kind = nest.Modify
	has(t, run(t, updated, 1), "and receives 0 B", "still dirty")
}

// TestLevelSize: a cache has the size that the tables say, where memory touched is rounded.
func TestLevelSize(t *testing.T) {
	r := run(t, nestOf([]int{64, 512}, read("x", 2048, 4)), 1, func(c *simcache.Config) {
		c.Levels[1].Geometry = simcache.Geometry{Size: 1280 << 10, Ways: 20, Line: 64}
	})
	has(t, r, "fits in LL (1.25 MiB).")
}
