package simcache

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestPassesAreMultiplied compares passes of which only the first few are walked with all of them
// walked, from warm caches, in all that is counted: plain levels, write-backs,
// what is observed, and a TLB.
func TestPassesAreMultiplied(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 41)
		c := Config{WriteBacks: d.One(2)}
		line := 32 << d(3)
		for range 1 + d(3) {
			if !c.WriteBacks && d.One(4) {
				line = 32 << d(3)
			}
			ways := 2 + d(4)
			c.Levels = append(c.Levels, Level{Geometry: Geometry{ways * line << d(5), ways, line}})
		}
		if d.One(2) {
			c.Observe = someOf(d(8))
		}
		if d.One(3) {
			c.TLB = []TLB{{Entries: 4, Ways: 2, Page: 4096}, {Entries: 8, Ways: 8, Page: 4096}}
		}
		some, all := newOf(t, c), newOf(t, c)
		var nests []nest.Nest
		for range 1 + d(3) {
			nests = append(nests, d.Nest(specsOf(some), 200))
		}
		for addr, kind := range before(d, nests) {
			some.Access(kind, addr, 4)
			all.Access(kind, addr, 4)
		}
		passes := 1 + d(12)
		if _, err := some.Run(passes, nests...); err != nil {
			t.Fatal(err)
		}
		for range passes {
			if _, err := all.run(1, 1, nests...); err != nil {
				t.Fatal(err)
			}
		}
		got, want := fmt.Sprintf("%+v %+v %+v", some.Counts(), some.Levels(), some.TLBs()),
			fmt.Sprintf("%+v %+v %+v", all.Counts(), all.Levels(), all.TLBs())
		if got != want {
			t.Fatalf("seed %d, %+v, nests %+v, %d passes:\n%s, want\n%s", seed, c, nests,
				passes, got, want)
		}
		if passes > some.settled() {
			meet(fmt.Sprintf("passes left out: write-backs %t, observed %t, TLB %t", c.WriteBacks,
				c.Observe != "", c.TLB != nil), 1)
		}
	}
}

// before draws accesses that leave what the nests touch as no pass of them does: some of
// it is there, and written that is only read, or used by other bytes.
func before(d enginetest.Draw, nests []nest.Nest) iter.Seq2[uint64, nest.Kind] {
	return func(yield func(uint64, nest.Kind) bool) {
		for range d(60) {
			n := nests[d(len(nests))]
			if n.Iterations()*len(n.Operands) > 0 {
				op := n.Operands[d(len(n.Operands))]
				addr := op.Base
				for l, trips := range n.Trips {
					addr += uint64(d(trips) * op.Strides[l])
				}
				if !yield((addr^uint64(d(32)))&^3, nest.Kind(d(3))) {
					return
				}
			}
		}
	}
}

func newOf(t *testing.T, c Config) *Hierarchy {
	t.Helper()
	h, err := NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestManyPasses counts as many passes as 63 bits count the references of, and
// refuses one more.
func TestManyPasses(t *testing.T) {
	nests := []nest.Nest{
		{Trips: []int{2}, Operands: []nest.Operand{enginetest.Operand(0, 4, 1<<20)}},
		{Trips: []int{1}, Operands: []nest.Operand{enginetest.Operand(1<<21, 4, 0)}},
	}
	for _, c := range []Config{{}, {WriteBacks: true}, {Observe: all}} {
		most := math.MaxInt / 3 // three lines of one set of D1
		if c.Observe != "" || c.WriteBacks {
			most = math.MaxInt / (4 * 64) / 3
		}
		c.Levels = []Level{{Geometry: Geometry{128, 2, 64}}, {Geometry: Geometry{512, 8, 64}}}
		counts, err := newOf(t, c).Run(most, nests...)
		if err != nil {
			t.Fatal(err)
		}
		if got := counts[0][0]; got.Dr != 2*uint64(most) || got.D1mr != got.Dr || got.DLmr != 2 {
			t.Errorf("%+v: %+v", c, got)
		}
		_, err = newOf(t, c).Run(most+1, nests...)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("passes %d: ", most+1)) ||
			!strings.Contains(err.Error(), fmt.Sprint(most)) {
			t.Errorf("%d passes: %v", most+1, err)
		}
	}
}
