package touched_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts/nest"
	. "github.com/stridebench/stridebench/layouts/nest/touched"
)

// An access is one of W.
type access struct {
	op   int
	addr uint64
}

// w is W(n) by its definition: the index counted by a number in mixed base.
func w(n nest.Nest) []access {
	var list []access
	for i := range n.Iterations() {
		index, rest := make([]int, len(n.Trips)), i
		for l := len(n.Trips) - 1; l >= 0; l-- {
			index[l], rest = rest%n.Trips[l], rest/n.Trips[l]
		}
		for r, op := range n.Operands {
			addr := op.Base
			for l, s := range op.Strides {
				addr += uint64(index[l] * s)
			}
			list = append(list, access{r, addr})
		}
	}
	return list
}

// sorted is the same accesses in an order that does not depend on theirs.
func sorted(list []access) []access {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b access) int {
		if a.op != b.op {
			return a.op - b.op
		}
		return int(int64(a.addr - b.addr))
	})
	return list
}

// someNest draws up to four loops around up to three operands.
func someNest(t *rapid.T) nest.Nest {
	n := nest.Nest{Trips: rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7}),
		0,
		4).Draw(t, "trips")}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3}).Draw(t, "operands") {
		op := nest.Operand{Kind: nest.Read, Width: rapid.IntRange(1, 70).Draw(t, "width"),
			Base: 1<<20 + uint64(rapid.IntRange(0, 200).Draw(t, "base"))}
		for l := range n.Trips {
			s := rapid.OneOf(rapid.IntRange(-70, 70),
				rapid.SampledFrom([]int{0, 4, 8, 64, 256, -64})).Draw(t, "stride")
			if l+1 < len(n.Trips) && rapid.IntRange(0, 2).Draw(t, "fusable") == 0 {
				s = 4 * n.Trips[l+1]
			}
			op.Strides = append(op.Strides, s)
		}
		n.Operands = append(n.Operands, op)
	}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	return n
}

func same(t *rapid.T, what string, got, want []access) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// TestTouched: lines and places in lines are those of the accesses one by one.
func TestTouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, line := someNest(t), rapid.SampledFrom([]int{1, 16, 64, 100}).Draw(t, "line")
		lines := map[uint64]bool{}
		for _, a := range w(n) {
			op := n.Operands[a.op]
			if places := Alignments(op, 64); !slices.Contains(places, a.addr%64) {
				t.Fatalf("an access at place %d of its line, have %v", a.addr%64, places)
			}
			for b := range uint64(op.Width) {
				lines[(a.addr+b)/uint64(line)] = true
			}
		}
		if got, want := Blocks(n, line), slices.Sorted(maps.Keys(lines)); !slices.Equal(got, want) {
			t.Fatalf("lines %v, want %v", got, want)
		}
	})
}

func TestStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr := 1<<20 + uint64(rapid.IntRange(0, 200).Draw(t, "addr"))
		width := uint64(rapid.IntRange(1, 100).Draw(t, "width"))
		stride := rapid.IntRange(-70, 70).Draw(t, "stride")
		line := uint64(1) << rapid.IntRange(0, 7).Draw(t, "line")
		got := Stay(addr, width, uint64(stride), line)
		if stride == 0 {
			if got != math.MaxUint64 {
				t.Fatalf("%d iterations of stride 0", got)
			}
			return
		}
		want, last := uint64(1), addr+width-1
		for {
			by := want * uint64(stride)
			if (addr+by)/line != addr/line || (last+by)/line != last/line {
				break
			}
			want++
		}
		if got != want {
			t.Fatalf("%d iterations, want %d", got, want)
		}
	})
}

// bytesOf are the bytes that an operand touches.
func bytesOf(n nest.Nest, r int) []uint64 { return Blocks(n.Only(r), 1) }

// TestSpan: the runs are the bytes touched, moved to where the first one is.
func TestSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		if n.Iterations() == 0 {
			return
		}
		for r, op := range n.Operands {
			run, steps := Span(op, n.Trips, 0)
			first, _ := op.Reach(n.Trips)
			spans := nest.Nest{Operands: []nest.Operand{{Width: run, Base: first}}}
			for _, s := range steps {
				spans.Trips = append(spans.Trips, s.Trips)
				spans.Operands[0].Strides = append(spans.Operands[0].Strides, s.Bytes)
			}
			if got, want := bytesOf(spans, 0), bytesOf(n, r); !slices.Equal(got, want) {
				t.Fatalf("runs of %d B at %v touch %v, want %v", run, steps, got, want)
			}
		}
	})
}

// TestLines: exact for the walks of views of one tensor, over as many rows as
// it takes until one starts at the place in a line where the first did.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "size")
		columns := rapid.IntRange(1, 100).Draw(t, "columns")
		pitch := (columns + rapid.IntRange(64/size, 200).Draw(t, "pad")) * size
		base := 1<<20 + uint64(rapid.IntRange(0, 100).Draw(t, "base")*size)
		op := nest.Operand{Base: base, Width: size, Strides: []int{pitch, size}}
		rows := 64 / nest.GCD(64, pitch) * rapid.IntRange(1, 3).Draw(t, "rounds")
		order := rapid.Permutation([]int{0, 1}).Draw(t, "order")
		n := nest.Nest{Trips: []int{rows, columns}, Operands: []nest.Operand{op}}.Permute(order...)
		shared := 0 // lines that the end of a row and the start of the next both touch
		for i := range rows - 1 {
			if end := base + uint64(i*pitch+columns*size-1); end/64 == (base+uint64((i+1)*pitch))/64 {
				shared++
			}
		}
		if got, want := Lines(n.Operands[0], n.Trips, 64),
			float64(len(Blocks(n, 64))+shared); got != want {
			t.Fatalf("%v lines, want %v", got, want)
		}
	})
}

func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		sets := rapid.SampledFrom([]int{1, 3, 4, 16}).Draw(t, "sets")
		if n.Iterations() == 0 {
			return
		}
		for r, op := range n.Operands {
			if op.Width > 16 || op.Base%64 > 48 {
				continue // which touches two lines at once
			}
			seen := map[uint64]bool{}
			for _, b := range Blocks(n.Only(r), 64) {
				seen[b%uint64(sets)] = true
			}
			if got := Sets(op, n.Trips, 64, sets); len(seen) > got {
				t.Fatalf("%d sets touched, %d said to be within reach", len(seen), got)
			}
		}
	})
}

func TestCrowd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		sets := rapid.SampledFrom([]int{1, 3, 4, 16}).Draw(t, "sets")
		if n.Iterations() == 0 {
			return
		}
		for r, op := range n.Operands {
			filled, want := map[uint64]int{}, 0
			for _, b := range Blocks(n.Only(r), 64) {
				filled[b%uint64(sets)]++
				want = max(want, filled[b%uint64(sets)])
			}
			first, _ := op.Reach(n.Trips)
			budget := 1 << 20
			got, ok := Crowd(op, n.Trips, []uint64{first % 64}, 64, sets, &budget)
			if !ok || got < want || budget >= 1<<20 {
				t.Fatalf("at most %d lines (%v) of a set, %d of the budget left; %d are touched",
					got, ok,
					budget, want)
			}
			if run, steps := Span(op, n.Trips, 0); len(steps) == 0 && run > 0 {
				if got != want {
					t.Fatalf("%d lines of a set by one run of %d B, want %d", got, run, want)
				}
			}
			few := 0
			if _, ok := Crowd(op, n.Trips, []uint64{0}, 64, sets, &few); ok || few != 0 {
				t.Fatal("counted without a budget")
			}
		}
	})
}

// TestCrowdBudget: each run of each place costs what it touches, and what is beyond the budget is
// not begun.
func TestCrowdBudget(t *testing.T) {
	op, trips, places := nest.Operand{Width: 4, Strides: []int{1 << 16, 1 << 12}}, []int{3, 5},
		[]uint64{0, 32}
	for budget, want := range map[int]int{29: 29, 30: 0, 100: 70} { // two places, 15 runs of a line
		left := budget
		if most, ok := Crowd(op, trips, places, 64, 64, &left); ok != (budget >= 30) || ok &&
			most != 15 ||
			left != want {
			t.Errorf("of %d there is %d left: %d lines, %v", budget, left, most, ok)
		}
	}
}
