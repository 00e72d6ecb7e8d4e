package lru

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
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got.One(n.Canonical()), wanted) {
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

// TestFewTrips: of loops of so few accesses that they are walked as one, the misses and write-backs are the same,
// on several cores, too.
func TestFewTrips(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(600)) {
		d := enginetest.Random(seed, 45)
		levels := d.Levels()
		o := Options{Cores: 1 + d(3), WriteBacks: d.One(2)}
		got, single, want := New(levels, o), New(levels, o), reference.New(levels)
		got.share = 0
		n := nest.Nest{Trips: []int{1 + d(40), 1 + d(40), 2 + d(3), 2 + d(12)}}
		for r := range 1 + d(3) {
			op := nest.Operand{Base: uint64(enginetest.At + r<<20), Width: 4, Kind: []nest.Kind{nest.Read, nest.Write}[d(2)]}
			for range n.Trips {
				op.Strides = append(op.Strides, 4*d(200))
			}
			n.Operands = append(n.Operands, op)
		}
		misses := got.One(n.Canonical())
		if wanted := want.Run(n.Operands, n.Accesses()); !o.WriteBacks && !slices.Equal(misses, wanted) {
			t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, n, wanted)
		}
		for r, addr := range n.Accesses() {
			single.Add(r, addr, 4, n.Operands[r].Kind)
		}
		single.Flush()
		for level := range levels {
			if got, want := got.Besides(level), single.Besides(level); got.WriteBacks != want.WriteBacks || got.BytesIn != want.BytesIn {
				t.Fatalf("seed %d, %+v, %v: at level %d %+v, one by one %+v", seed, levels, n, level, got, want)
			}
		}
	}
}

// TestRepeats: where the innermost loop touches the same lines again and again, some of which are looked up
// only the first and the last time, misses, contents and write-backs are the same, on several cores, too.
func TestRepeats(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 47)
		line := 64 << d(2)
		levels := []engine.Level{level(1<<d(3), 2+d(40), line)}
		if d.One(2) {
			levels = append(levels, level(2<<d(4), 2+d(20), line<<d(2)))
		}
		o := Options{Cores: 1 + d(3), WriteBacks: d.One(2)}
		got, single, want := New(levels, o), New(levels, o), reference.New(levels)
		got.share = 0
		for range 1 + d(2) {
			n := nest.Nest{Trips: []int{1 + d(3), 1 + d(60), 2 + d(20)}}
			for r := range 1 + d(3) {
				still, moving := []int{8 * d(4), line * d(40)}, []int{line * d(3) * d(9), 8 * d(2)}
				by := [][]int{still, still, moving}[d(3)]
				if d.One(6) {
					by[d(2)] = 8 * d(100)
				}
				for i := range by {
					by[i] *= 1 - 2*d(2)
				}
				n.Operands = append(n.Operands, nest.Operand{Base: uint64(enginetest.At + r*d(2)<<18 + 8*d(1<<12) + 1<<16), Width: 4 << d(2), Kind: []nest.Kind{nest.Read, nest.Write}[d(2)],
					Strides: []int{8 * d(1<<10), by[0], by[1]}})
			}
			misses := got.One(n.Canonical())
			if wanted := want.Run(n.Operands, n.Accesses()); !o.WriteBacks && !slices.Equal(misses, wanted) {
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

// TestFills: of long innermost loops, of which only as much is looked up as fills sets, and of slow streams only
// an access now and then, misses and contents are the same, on several cores and in programs, too.
func TestFills(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 48)
		line := 64 << d(2)
		levels := []engine.Level{level(1<<(d(4)*d(2)), 1+d(4+26*d(2))*(1+d(2)), line)}
		if d.One(2) {
			levels = append(levels, level(2<<d(4), 2+d(20), line<<d(2)))
		}
		got, want := New(levels, Options{Cores: 1 + d(3)}), reference.New(levels)
		got.share = 0
		for range 1 + d(2) {
			n := nest.Nest{Trips: []int{1 + d(4), 1 + d(600)}}
			for r := range 1 + d(3) {
				by := []int{line * (1 + d(6)), 8 * d(40), line/2 + 8*d(line/8), line/4 - 8*d(2), 8 * d(2)}[d(5)]
				by *= 1 - 2*d(2)
				again := by * max(n.Trips[1]-1-d(3), 0) // begins about where it ended
				n.Operands = append(n.Operands, nest.Operand{Base: uint64(enginetest.At + r*d(2)<<24 + line*d(100) + 8*d(4) + 1<<23), Width: 4 << d(2),
					Kind: []nest.Kind{nest.Read, nest.Write}[d(2)], Strides: []int{[]int{8 * d(1<<10), again}[d(2)], by}})
			}
			misses, wanted := got.One(n.Canonical()), want.Run(n.Operands, n.Accesses())
			if !slices.Equal(misses, wanted) {
				t.Fatalf("seed %d, %+v, %v: %v misses, want %v", seed, levels, n, misses, wanted)
			}
		}
		if wrong := enginetest.Contents(levels, got, want); wrong != "" {
			t.Fatalf("seed %d, %+v: %s", seed, levels, wrong)
		}
	}
}

// TestThin: where some streams lie in the lines of others, in an iteration, misses and contents are the same, on
// several cores and where lines become dirty, too.
func TestThin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 49)
		line := 64 << d(2)
		levels := []engine.Level{level(1<<(d(4)*d(2)), 1+d(4+30*d(2)), line), level(2<<d(4), 2+d(20), line<<d(2))}
		o := Options{Cores: 1 + d(3), WriteBacks: d.One(4)}
		got, single, want := New(levels, o), New(levels, o), reference.New(levels)
		got.share = 0
		for range 1 + d(2) {
			n := nest.Nest{Trips: []int{1 + d(4), 1 + d(60)}}
			by := [][]int{{line * d(9), line * d(9)}, {line / 2 * d(9), line * d(9)}, {8 * d(40), 8 * d(9)}}
			for range 1 + d(24) {
				k := d(3)
				n.Operands = append(n.Operands, nest.Operand{Base: uint64(enginetest.At + k*d(2)<<20 + line*d(5) + 8*d(line/8)), Width: 8,
					Kind: []nest.Kind{nest.Read, nest.Write}[d(2)], Strides: by[k]})
			}
			misses := got.One(n.Canonical())
			if wanted := want.Run(n.Operands, n.Accesses()); !o.WriteBacks && !slices.Equal(misses, wanted) {
				t.Fatalf("seed %d, %+v, %v: %v misses, want %v", seed, levels, n, misses, wanted)
			}
			for r, addr := range n.Accesses() {
				single.Add(r%engine.Sorts, addr, 8, n.Operands[r].Kind)
			}
			got.Flush()
			single.Flush()
		}
		if wrong := unlike(levels, got, single, want); wrong != "" {
			t.Fatalf("seed %d, %+v: %s", seed, levels, wrong)
		}
	}
}

// unlike says where a chain moved other lines between its levels than one that was asked access by access, or holds
// others than the reference, which knows no write-backs; "" if nowhere.
func unlike(levels []engine.Level, got, single *Chain, want *reference.Caches) string {
	for i := range levels {
		if got, want := got.Besides(i), single.Besides(i); got.WriteBacks != want.WriteBacks || got.BytesIn != want.BytesIn {
			return fmt.Sprintf("at level %d %+v, one by one %+v", i, got, want)
		}
	}
	if got.dirty != 0 {
		return ""
	}
	return enginetest.Contents(levels, got, want)
}

// TestManyOperands: bodies of more operands than a batch holds, and of more than a packed reference tells apart,
// miss as caches do, on several cores, too.
func TestManyOperands(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(60)) {
		d := enginetest.Random(seed, 46)
		levels := d.Levels()
		got, want := New(levels, Options{Cores: 1 + d(3)}), reference.New(levels)
		got.share = 0
		n := nest.Nest{Trips: []int{1 + d(3), 1 + d(6)}}
		for range 1 + d([]int{2 * batch, opCount + 100}[d(2)]) {
			n.Operands = append(n.Operands, enginetest.Operand(4*d(1<<14), 4, 4*d(300), 4*d(3)*d(20)))
		}
		if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got.One(n.Canonical()), wanted) {
			t.Fatalf("seed %d, %+v, %d operands in %v: other misses", seed, levels, len(n.Operands), n.Trips)
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
			got.limit = uint64(enginetest.At + 3<<20 + d(1<<16)) // some accesses must be looked up by themselves
		}
		for range 1 + d(2) {
			p := d.Program(levels)
			if n, err := p.Count(); err != nil || n > 20000 {
				continue
			}
			if wanted := want.Run(p.Operands(), p.Accesses()); !slices.Equal(got.RunProgram(p), wanted) {
				t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, p, wanted)
			}
		}
		if wrong := enginetest.Contents(levels, got, want); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}
