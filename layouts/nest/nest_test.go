package nest_test

import (
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
		n := someNest(t)
		for r, op := range n.Operands {
			var want []access
			first, last := uint64(math.MaxUint64), uint64(0)
			for _, a := range w(n) {
				if a.op != r {
					continue
				}
				want = append(want, access{0, a.addr})
				first, last = min(first, a.addr), max(last, a.addr+uint64(op.Width-1))
			}
			same(t, "W of one operand", w(n.Only(r)), want)
			if f, l := op.Reach(n.Trips); len(want) > 0 && (f != first || l != last) {
				t.Fatalf("operand %d reaches %#x to %#x, want %#x to %#x", r, f, l, first, last)
			}
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
		"access of x: 1 strides for 2 loops": {Trips: []int{1, 1},
			Operands: []Operand{op(0, 1, 1)}},
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
