package simcache

import (
	"reflect"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
)

// TestWriteBacksSettle compares passes over a copy, of which the first few are looked up, with
// looking up all of it: what is counted, also after another nest.
func TestWriteBacksSettle(t *testing.T) {
	t.Parallel()
	const rows, passes = 1024, 17
	copied := nest.Nest{Trips: []int{rows, rows}, Operands: []nest.Operand{
		{Kind: nest.Read, Base: 1 << 32, Width: 4, Strides: []int{4, 4 * rows}},
		{Kind: nest.Write, Base: 1<<32 + 4*rows*rows, Width: 4, Strides: []int{4 * rows, 4}},
	}}
	other := nest.Nest{Trips: []int{1 << 14}, Operands: []nest.Operand{
		{Kind: nest.Modify, Base: 1<<32 + 4*rows*(rows-4), Width: 4, Strides: []int{4}}}}
	run := func(brute bool) (levels [2][]LevelCounts, visited uint64) {
		c := Config{Levels: TwoLevels(Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			Geometry{Size: 256 << 10, Ways: 16, Line: 64}), WriteBacks: true, Brute: brute}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Run(passes, copied); err != nil {
			t.Fatal(err)
		}
		levels[0] = h.Levels()
		visited, _ = h.Work()
		if _, err := h.Run(1, other); err != nil {
			t.Fatal(err)
		}
		levels[1] = h.Levels()
		return levels, visited
	}
	got, visited := run(false)
	want, all := run(true)
	if visited > 5*(all/passes) { // two levels settle in five passes
		t.Errorf("%d of %d references were looked up", visited, all)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// TestBytesInWithoutI1: what I1 fetches is brought into LL, and not into D1, whichever engine
// counts.
func TestBytesInWithoutI1(t *testing.T) {
	for _, observe := range []string{"", "sets"} {
		h, err := NewHierarchy(Config{I1: Geometry{1024, 2, 64}, WriteBacks: true, Observe: observe,
			Levels: TwoLevels(Geometry{1024, 2, 64}, Geometry{8192, 4, 64})})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(3) {
			h.Fetch(0x400000+64*i, 4)
			h.Fetch(0x40003e+64*i, 4) // in two lines
			h.Access(nest.Read, 0x100000, 4)
		}
		if l := h.Levels(); l[0].BytesIn != 64 || l[1].BytesIn != 5*64 {
			t.Errorf("observed %q: %d bytes into D1 and %d into LL, want 64 and 320", observe,
				l[0].BytesIn, l[1].BytesIn)
		}
	}
}
