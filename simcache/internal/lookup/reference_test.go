package lookup

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestEqualsReference compares misses and contents with what a cache is, on
// random levels and sequences of nests and single accesses.
func TestEqualsReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 31)
		levels := d.Levels()
		got, want := New(levels, Options{Brute: d.One(2), Cores: 1 + d(3)}), reference.New(levels)
		got.share = 0
		for range 1 + d(3) {
			n := d.Nest(levels, 400+5000*(d(8)/7))
			if d.One(4) {
				n = d.Wide(n, levels)
			}
			if wanted := want.Run(n.Operands,
				n.Accesses()); !slices.Equal(got.One(n.Canonical()), wanted) {
				t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, n, wanted)
			}
			for range d(30) {
				addr, size := uint64(enginetest.At+d(1<<12)), uint64(1+d(30))
				got.Add(engine.Loads, addr, size, 0)
				want.Access(addr, size)
			}
			got.Flush()
			got.Take(0)
		}
		if wrong := enginetest.Contents(levels, got, want); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}

// TestWriteBacks: nests move what their accesses do one by one, with write-backs and without, on
// several cores, too.
func TestWriteBacks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 45)
		levels := d.Levels()
		o := Options{Cores: 1 + d(3), WriteBacks: d(3) > 0}
		got, single, want := New(levels, o), New(levels, o), reference.New(levels)
		got.share = 0
		for range 1 + d(2) {
			n := d.Nest(levels, 2000)
			misses := got.One(n.Canonical())
			wanted := want.Run(n.Operands, n.Accesses())
			if !o.WriteBacks && !slices.Equal(misses, wanted) {
				t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, n, wanted)
			}
			for r, addr := range n.Accesses() {
				op := n.Operands[r]
				single.Add(r, addr, uint64(op.Width), op.Kind)
			}
			got.Flush()
			single.Flush()
		}
		if wrong := unlike(levels, got, single, want); wrong != "" {
			t.Fatalf("seed %d, %+v: %s", seed, levels, wrong)
		}
	}
}

// unlike says where a chain moved other lines between its levels than one that was asked
// access by access, or holds others than the reference, which knows no write-backs; "" if
// nowhere.
func unlike(levels []engine.Level, got, single *Chain, want *reference.Caches) string {
	for i := range levels {
		got, want := got.Besides(i), single.Besides(i)
		if got.WriteBacks != want.WriteBacks || got.BytesIn != want.BytesIn {
			return fmt.Sprintf("at level %d %+v, one by one %+v", i, got, want)
		}
	}
	if got.dirty != 0 {
		return ""
	}
	return enginetest.Contents(levels, got, want)
}

// TestManyOperands: bodies of more operands than a batch holds, and of more than a packed
// reference tells apart, miss as caches do, on several cores, too.
func TestManyOperands(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(60)) {
		d := enginetest.Random(seed, 46)
		levels := d.Levels()
		got, want := New(levels, Options{Cores: 1 + d(3)}), reference.New(levels)
		got.share = 0
		n := nest.Nest{Trips: []int{1 + d(3), 1 + d(6)}}
		for range 1 + d([]int{2 * batch, opCount + 100}[d(2)]) {
			n.Operands = append(n.Operands, enginetest.Operand(4*d(1<<14), 4, 4*d(300),
				4*d(3)*d(20)))
		}
		if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got.One(n.Canonical()),
			wanted) {
			t.Fatalf("seed %d, %+v, %d operands in %v: other misses", seed, levels,
				len(n.Operands), n.Trips)
		}
	}
}

// TestProgramEqualsReference: so do programs, one after the other.
func TestProgramEqualsReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 44)
		levels := d.ProgramLevels()
		got, want := New(levels, Options{Brute: d.One(2)}), reference.New(levels)
		if d.One(8) {
			// some accesses must be looked up by themselves
			got.limit = uint64(enginetest.At + 3<<20 + d(1<<16))
		}
		for range 1 + d(2) {
			p := d.Program(levels)
			if n, err := p.Count(); err != nil || n > 20000 {
				continue
			}
			if wanted := want.Run(p.Operands(),
				p.Accesses()); !slices.Equal(got.RunProgram(p), wanted) {
				t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, p, wanted)
			}
		}
		if wrong := enginetest.Contents(levels, got, want); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}

// TestEmpty: the loops of a nest without iterations are not run.
func TestEmpty(t *testing.T) {
	n := nest.Nest{Trips: []int{1 << 40, 0, 2},
		Operands: []nest.Operand{enginetest.Operand(0, 4, 0, 0, 4)}}
	c := New([]engine.Level{{Sets: 4, Ways: 2, Shift: 6}}, Options{})
	if misses := c.One(n); misses[0] != 0 {
		t.Error(misses)
	}
}
