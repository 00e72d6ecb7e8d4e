package nest_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// An access is one of W.
type access struct {
	op   int
	addr uint64
}

// w is W(n) by its definition: the index counted by a number in mixed base.
func w(n Nest) []access {
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

// accesses is what Accesses yields.
func accesses(n Nest) []access {
	var list []access
	for op, addr := range n.Accesses() {
		list = append(list, access{op, addr})
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
func someNest(t *rapid.T) Nest {
	n := Nest{Trips: rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7}), 0,
		4).Draw(t, "trips")}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3}).Draw(t, "operands") {
		op := Operand{Kind: Read, Width: rapid.IntRange(1, 70).Draw(t, "width"),
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

// someLoop draws a loop of the nest, and false if it has none.
func someLoop(t *rapid.T, n Nest) (int, bool) {
	if len(n.Trips) == 0 {
		return 0, false
	}
	return rapid.IntRange(0, len(n.Trips)-1).Draw(t, "loop"), true
}

// TestNest: what is said of a nest, and what is made of it as a whole, is so of its accesses one
// by one.
func TestNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := someNest(t), rapid.IntRange(0, 3).Draw(t, "passes")
		all := w(n)
		same(t, "W", accesses(n), all)
		for range n.Accesses() {
			break // which panics if it goes on
		}
		canonical := n.Canonical()
		same(t, "W of the canonical form", accesses(canonical), all)
		if d := cmp.Diff(canonical, canonical.Canonical()); d != "" {
			t.Fatalf("canonical twice (-once +twice):\n%s", d)
		}
		same(t, "W repeated", w(n.Repeat(k)), slices.Repeat(all, k))
	})
}

// TestOperands: what is said of an operand is so of its accesses one by one.
func TestOperands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, line := someNest(t), rapid.SampledFrom([]int{1, 16, 64, 100}).Draw(t, "line")
		lines := map[uint64]bool{}
		for r, op := range n.Operands {
			var want []access
			first, last := uint64(math.MaxUint64), uint64(0)
			for _, a := range w(n) {
				if a.op != r {
					continue
				}
				want = append(want, access{0, a.addr})
				first, last = min(first, a.addr), max(last, a.addr+uint64(op.Width-1))
				if places := op.Alignments(64); !slices.Contains(places, a.addr%64) {
					t.Fatalf("an access at place %d of its line, have %v", a.addr%64, places)
				}
				for b := range uint64(op.Width) {
					lines[(a.addr+b)/uint64(line)] = true
				}
			}
			same(t, "W of one operand", w(n.Only(r)), want)
			if f, l := op.Reach(n.Trips); len(want) > 0 && (f != first || l != last) {
				t.Fatalf("operand %d reaches %#x to %#x, want %#x to %#x", r, f, l, first, last)
			}
		}
		if got, want := n.Blocks(line), slices.Sorted(maps.Keys(lines)); !slices.Equal(got, want) {
			t.Fatalf("lines %v, want %v", got, want)
		}
	})
}

func TestRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		l, ok := someLoop(t, n)
		if !ok {
			return
		}
		cuts := rapid.SliceOfN(rapid.IntRange(0, n.Trips[l]), 3, 3).Draw(t, "cuts")
		slices.Sort(cuts)
		a, b, c := cuts[0], cuts[1], cuts[2]
		parts := append(w(n.Range(l, a, b)), w(n.Range(l, b, c))...)
		whole := w(n.Range(l, a, c))
		if l == 0 {
			same(t, "W of two ranges", parts, whole)
		}
		same(t, "accesses of two ranges", sorted(parts), sorted(whole))
		same(t, "W of the whole range", w(n.Range(l, 0, n.Trips[l])), w(n))
	})
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		l, ok := someLoop(t, n)
		if !ok {
			return
		}
		by := rapid.IntRange(1, 8).Draw(t, "by")
		whole, edge := n.Split(l, by)
		if len(whole.Trips) != len(n.Trips)+1 || edge.Trips[l] != n.Trips[l]%by {
			t.Fatalf("trips %v split into %v and %v", n.Trips, whole.Trips, edge.Trips)
		}
		parts := append(w(whole), w(edge)...)
		if l == 0 {
			same(t, "W of the parts", parts, w(n))
		}
		same(t, "accesses of the parts", sorted(parts), sorted(w(n)))
	})
}

func TestPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		loops := UpTo(len(n.Trips))
		a := rapid.Permutation(loops).Draw(t, "a")
		b := rapid.Permutation(loops).Draw(t, "b")
		same(t, "accesses permuted", sorted(w(n.Permute(a...))), sorted(w(n)))
		c := make([]int, len(loops))
		for l := range c {
			c[l] = a[b[l]]
		}
		if d := cmp.Diff(n.Permute(a...).Permute(b...), n.Permute(c...)); d != "" {
			t.Fatalf("permuted twice (-one by one +at once):\n%s", d)
		}
	})
}

func TestInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		l := rapid.IntRange(0, len(n.Trips)).Draw(t, "l")
		inside := n.Inside(l)
		var all []access
		moved := make([]int, len(n.Operands))
		for step := range Walk(n.Trips[:l]) {
			for r, op := range n.Operands {
				if step >= 0 {
					moved[r] += Steps(n.Trips[:l], op.Strides[:l])[step]
				}
			}
			for _, a := range w(inside) {
				all = append(all, access{a.op, a.addr + uint64(moved[a.op])})
			}
		}
		same(t, "W by what is inside", all, w(n))
	})
}

// TestPanics: what is no part of a nest is a fault of the caller.
func TestPanics(t *testing.T) {
	n := Nest{Trips: []int{3, 4}}
	for name, f := range map[string]func(){
		"range from below 0":   func() { n.Range(0, -1, 2) },
		"range beyond the end": func() { n.Range(1, 0, 5) },
		"parts of nothing":     func() { n.Split(0, 0) },
		"a loop twice":         func() { n.Permute(0, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
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
func bytesOf(n Nest, r int) []uint64 { return n.Only(r).Blocks(1) }

// TestSpan: the runs are the bytes touched, moved to where the first one is.
func TestSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		if n.Iterations() == 0 {
			return
		}
		for r, op := range n.Operands {
			run, steps := op.Span(n.Trips, 0)
			first, _ := op.Reach(n.Trips)
			spans := Nest{Operands: []Operand{{Width: run, Base: first}}}
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
		op := Operand{Base: base, Width: size, Strides: []int{pitch, size}}
		rows := 64 / GCD(64, pitch) * rapid.IntRange(1, 3).Draw(t, "rounds")
		order := rapid.Permutation([]int{0, 1}).Draw(t, "order")
		n := Nest{Trips: []int{rows, columns}, Operands: []Operand{op}}.Permute(order...)
		shared := 0 // lines that the end of a row and the start of the next both touch
		for i := range rows - 1 {
			if end := base + uint64(i*pitch+columns*size-1); end/64 == (base+uint64((i+1)*pitch))/64 {
				shared++
			}
		}
		if got, want := n.Operands[0].Lines(n.Trips, 64), float64(len(n.Blocks(64))+shared); got != want {
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
			for _, b := range n.Only(r).Blocks(64) {
				seen[b%uint64(sets)] = true
			}
			if got := op.Sets(n.Trips, 64, sets); len(seen) > got {
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
			for _, b := range n.Only(r).Blocks(64) {
				filled[b%uint64(sets)]++
				want = max(want, filled[b%uint64(sets)])
			}
			first, _ := op.Reach(n.Trips)
			budget := 1 << 20
			got, ok := op.Crowd(n.Trips, []uint64{first % 64}, 64, sets, &budget)
			if !ok || got < want || budget >= 1<<20 {
				t.Fatalf("at most %d lines (%v) of a set, %d of the budget left; %d are touched", got, ok,
					budget, want)
			}
			if run, steps := op.Span(n.Trips, 0); len(steps) == 0 && run > 0 {
				if got != want {
					t.Fatalf("%d lines of a set by one run of %d B, want %d", got, run, want)
				}
			}
			few := 0
			if _, ok := op.Crowd(n.Trips, []uint64{0}, 64, sets, &few); ok || few != 0 {
				t.Fatal("counted without a budget")
			}
		}
	})
}

// TestCrowdBudget: each run of each place costs what it touches, and what is beyond the budget is
// not begun.
func TestCrowdBudget(t *testing.T) {
	op, trips, places := Operand{Width: 4, Strides: []int{1 << 16, 1 << 12}}, []int{3, 5},
		[]uint64{0, 32}
	for budget, want := range map[int]int{29: 29, 30: 0, 100: 70} { // two places, 15 runs of a line
		left := budget
		if most, ok := op.Crowd(trips, places, 64, 64, &left); ok != (budget >= 30) || ok && most != 15 ||
			left != want {
			t.Errorf("of %d there is %d left: %d lines, %v", budget, left, most, ok)
		}
	}
}

func TestCheck(t *testing.T) {
	op := func(base uint64, width int, strides ...int) Operand {
		return Operand{Tensor: "x", Base: base, Width: width, Strides: strides}
	}
	for want, n := range map[string]Nest{
		"": {Trips: []int{2},
			Operands: []Operand{op(math.MaxInt-8, 4, 4), op(4, 4, -4)}},
		"loop 1 has -1 trips": {Trips: []int{2, -1}},
		"trips [4294967296 4294967296] make more accesses than an int can count": {Trips: []int{1 << 32, 1 << 32},
			Operands: []Operand{op(0, 1, 0, 0)}},
		"access of x: 1 strides for 2 loops":   {Trips: []int{1, 1}, Operands: []Operand{op(0, 1, 1)}},
		"access of x: width 0 is not positive": {Operands: []Operand{op(0, 0)}},
		"access of x at 0x7ffffffffffffffc with strides [4] leaves the address space": {Trips: []int{2},
			Operands: []Operand{op(math.MaxInt-3, 4, 4)}},
		"access of x at 0x3 with strides [-4] leaves the address space": {Trips: []int{2},
			Operands: []Operand{op(3, 4, -4)}},
		"access of x at 0x3 with strides [9223372036854775807] leaves the address space": {
			Trips: []int{4}, Operands: []Operand{op(3, 4, math.MaxInt)}},
	} {
		got := ""
		if err := n.Check(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
