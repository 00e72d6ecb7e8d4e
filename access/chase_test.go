package access

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// TestRing: the order is the same for good, since exact counts hang on it, and
// goes through every element of the view once.
func TestRing(t *testing.T) {
	p := pattern(t, ChaseSpec(8, 64))
	if want := []uint32{40, 8, 32, 0, 24, 16, 56, 48}; !slices.Equal(p.Ring, want) {
		t.Errorf("the ring of 8 lines is %v, want %v", p.Ring, want)
	}
	if p.Elems != 8 || p.Bytes != 64 || p.Memory != 512 || p.Nests != nil {
		t.Errorf("%+v", p)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Op: Chase, DType: layouts.Int64,
			Shape: rapid.SliceOfN(rapid.IntRange(1, 7), 2, 3).Draw(t, "shape"),
			View: layouts.MustParseChain(rapid.SampledFrom([]string{"", "transpose(0,1)", "flip(1)",
				"select(1,0)", "slice(0,0,9,2)", "unsqueeze(0)"}).Draw(t, "view"))}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		var want []uint32
		for at := range p.operands[0].view.Offsets() {
			want = append(want, uint32(at))
		}
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(p.Ring)); !slices.Equal(got, want) ||
			p.Elems != len(want) {
			t.Fatalf("the ring has %v, want %v", got, want)
		}
		r, _ := checked(t, p)
		if got := r.passes(3); got != 3 {
			t.Fatalf("of 3 passes %v end where they began", got)
		}
		from := rapid.IntRange(0, p.Elems-1).Draw(t, "from")
		if n := rapid.IntRange(0, 3*p.Elems).Draw(t, "links"); r.part(from, n) != 1 ||
			r.length != p.Elems || p.Elems > 1 && r.passes(1) != 1 {
			t.Fatalf("%d links do not lead to element %d", n, p.Ring[(from+n)%p.Elems])
		}
	})
}

// TestChaseSeesWrongRings: a check that cannot fail is none.
func TestChaseSeesWrongRings(t *testing.T) {
	for what, spoil := range map[string]func(r []uint32){
		"leaves one out": func(r []uint32) { r[3] = r[4] },
		"is elsewhere":   func(r []uint32) { r[3]++ },
		"is shorter":     func(r []uint32) { copy(r[8:], r[:8]) },
	} {
		p := pattern(t, ChaseSpec(16, 64))
		spoil(p.Ring)
		r, err := newRunner(p, newArena(p.Memory))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.check(); err == nil {
			t.Errorf("a ring that %s passes", what)
		}
	}
}

// TestSimulateChase: in the steady state a random ring under LRU hits always
// where it fits and misses always where it fills every set to more than its
// ways, and pages count as lines do.
func TestSimulateChase(t *testing.T) {
	caches := simcache.TwoLevels(simcache.Geometry{Size: 1 << 10, Ways: 2, Line: 64},
		simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64})
	tlb := []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}
	var patterns []Pattern
	for _, s := range []Spec{ChaseSpec(16, 64), ChaseSpec(32, 64), ChaseSpec(128, 64),
		ChaseSpec(256, 64), ChaseSpec(5, 4096+64),
		// Two lines in each of 8 sets, but for a third in the first.
		ChaseSpec(17, 64)} {
		patterns = append(patterns, pattern(t, s))
	}
	counts, err := Simulate(context.Background(), simcache.Config{Levels: caches, TLB: tlb},
		patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ refs, d1, ll, tlb uint64 }{
		{16, 0, 0, 0}, {32, 32, 0, 0}, {128, 128, 0, 0}, {256, 256, 256, 0}, {5, 0, 0, 5},
		{17, 3, 0, 0},
	} {
		if c := counts[i]; c.Refs() != want.refs || c.D1Misses() != want.d1 ||
			c.LLMisses() != want.ll || c.TLBMisses != want.tlb || c.Dw != 0 {
			t.Errorf("%s: %+v, want %+v", patterns[i].Spec.Name(), c, want)
		}
	}
}
