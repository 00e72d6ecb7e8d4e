package exact

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// anyIntervals draws levels and a nest whose reuse intervals may decide: mostly of operands apart,
// aligned, on levels of one line size.
func anyIntervals(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	if d.One(2) {
		return close(d)
	}
	levels := d.Levels()
	for i := range levels {
		if d(8) > 0 {
			levels[i].Shift = levels[0].Shift
		}
		levels[i].Ways += d(4)
	}
	n := d.Nest(levels, 2000)
	for r := range n.Operands {
		if d(8) > 0 {
			n.Operands[r].Base += uint64(r) << 26
		}
		if d(4) > 0 {
			n.Operands[r].Base &^= 15
			n.Operands[r].Width = 1 + d(2)
			for m, s := range n.Operands[r].Strides {
				n.Operands[r].Strides[m] = s &^ 3
			}
		}
	}
	return levels, n
}

// close draws levels of few sets, and operands that come back soon beside others that
// never do.
func close(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	var levels []engine.Level
	ways := 1 + d(6)
	for range 1 + d(3) {
		levels = append(levels, engine.Level{Sets: 1 + d(2), Ways: ways, Shift: 4})
		ways += d(24)
	}
	var n nest.Nest
	for range 1 + d(4) {
		n.Trips = append(n.Trips, 2+d(7))
	}
	for r := range 1 + d(3) {
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(4)), Width: 4}
		op.Strides = make([]int, len(n.Trips))
		inner := []int{4, 16, 32}[d(3)]
		for l := len(n.Trips) - 1; l >= 0; l-- {
			op.Strides[l] = []int{0, 4, 16, inner, inner, inner}[d(6)]
			inner = max(inner, op.Strides[l]*n.Trips[l])
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}

// powers draws matrices whose rows lie a power of two of lines apart, or nearly, and are read by
// columns, in tiles and in passes.
func powers(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	var levels []engine.Level
	sets := 1 << d(4)
	for range 1 + d(3) {
		levels = append(levels, engine.Level{Sets: sets, Ways: 1 + d(5), Shift: 4})
		sets <<= d(3)
		sets += d.Of(0, 0, 0, 1)
	}
	row := d.Of(16, 32, 64, 128, 256) + d.Of(0, 0, 0, 4, 16)
	n := nest.Nest{Trips: []int{1 + d(3), 1 + d(6), 1 + d(6), 1 + d(24)}}
	for r := range 1 + d(2) {
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(8)), Width: 4}
		op.Strides = drawStrides(d, 4, 0, 4, 16, row, row*n.Trips[3], row*n.Trips[2], -4, -row)
		if d.One(2) {
			op.Strides[3] = row
		}
		if d.One(2) {
			op.Strides[0] = 0
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}

// tensors draws tensors larger than the caches, permuted, padded or in tiles, so that a pass
// drives out what it brought.
func tensors(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	var levels []engine.Level
	sets := 1 + d(4)
	for range 1 + d(3) {
		levels = append(levels, engine.Level{Sets: sets, Ways: 1 + d(3), Shift: 4})
		sets *= 1 + d(2)
	}
	n := nest.Nest{Trips: []int{1 + d(8), 1 + d(12), 1 + d(12), 1 + d(4)}}
	for r := range 1 + d(2) {
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(8)), Width: 4,
			Strides: make([]int, len(n.Trips))}
		size := 4 * d.Of(1, 1, 1, 2, 4)
		order := nest.UpTo(len(n.Trips))
		for i := range order {
			k := i + d(len(order)-i)
			order[i], order[k] = order[k], order[i]
		}
		for _, l := range order {
			op.Strides[l] = size * d.Of(1, 1, 1, 1, 1, 0, -1)
			size = size*n.Trips[l] + 4*d.Of(0, 0, 0, 1, 4)
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}

// TestIntervals compares what reuse intervals decide with a walk: one pass, and one after many.
func TestIntervals(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(enginetest.Draw) ([]engine.Level, nest.Nest){
		"any": anyIntervals, "powers": powers, "tensors": tensors} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(enginetest.Cases(40000)) {
				levels, n := draw(enginetest.Random(seed, 51))
				n = n.Canonical()
				caches := reference.New(levels)
				want := caches.Run(n.Operands, n.Accesses())
				if refs, ok := operandsOf(levels, n); ok {
					misses, first, ok := reuseIntervals(levels, refs, 1)
					for at, m := range misses {
						if ok && m != want[at] && (first || at%len(levels) > 0) {
							t.Fatalf("seed %d, %+v,\n%v: %v misses, want %v", seed, levels, n,
								misses, want)
						}
					}
				}
				misses, passes := steady(levels, n)
				if passes > 1 {
					continue
				}
				first := want
				for range len(levels) {
					want = caches.Run(n.Operands, n.Accesses())
				}
				if passes == 1 {
					misses = first
				}
				if !slices.Equal(misses, want) {
					t.Fatalf("seed %d, %+v,\n%v: in the steady state %v misses, want %v",
						seed, levels, n, misses, want)
				}
			}
		})
	}
}

// TestEngine compares nests, programs and single references that run one after the other, by
// whichever way, and what the levels hold in the end.
func TestEngine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(20000)) {
		d := enginetest.Random(seed, 52)
		levels := d.ProgramLevels()
		e, want := New(levels, 1), reference.New(levels)
		e.summedFrom, e.intervalsFrom = d.Of(0, 500), d.Of(0, 0, 1<<20)
		for range 1 + d(4) {
			switch d(4) {
			case 0:
				addr, size := uint64(enginetest.At+d(512)), 1+d(8)
				e.Add(0, addr, uint64(size), nest.Read)
				e.Flush()
				want.Access(addr, uint64(size))
			case 1:
				p := d.Program(levels)
				if n, err := p.Count(); err != nil || n > 20_000 {
					continue
				}
				wanted := want.Run(p.Operands(), p.Accesses())
				if got := e.RunProgram(p); !slices.Equal(got, wanted) {
					t.Fatalf("seed %d, %+v,\n%v: %v, want %v", seed, levels, p, got, wanted)
				}
			default:
				n := d.Nest(levels, 1000).Canonical()
				if d.One(2) {
					_, n = anyIntervals(d)
					n = n.Canonical()
				}
				passes := 1 + d(3)/2
				for _, got := range e.Run([]nest.Nest{n}, passes) {
					if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got[0], wanted) {
						t.Fatalf("seed %d, %+v,\n%v: %v, want %v", seed, levels, n, got[0], wanted)
					}
				}
			}
		}
		if wrong := enginetest.Contents(levels, e, want); wrong != "" {
			t.Fatalf("seed %d, %+v: %s", seed, levels, wrong)
		}
	}
}

// tiles draws matrices or a broadcast walked in tiles. Those at an edge are nests of their own.
func tiles(d enginetest.Draw) (levels []engine.Level, nests []nest.Nest) {
	sets := 1 << d(3)
	for range 1 + d(3) {
		levels = append(levels, engine.Level{Sets: sets, Ways: 1 + d(5), Shift: 4})
		sets = sets*(1+d(2)) + d.Of(0, 0, 0, 1)
	}
	size, pitch := []int{16 + d(90), 16 + d(90)}, 4*(106+d.Of(0, 1, 3, 22))
	n := nest.Nest{Trips: size}
	for r := range 1 + d(3) {
		n.Operands = append(n.Operands, nest.Operand{Base: enginetest.At + uint64(r)<<26, Width: 4,
			Strides: [][]int{{pitch, 4}, {4, pitch}, {0, 4}, {4, 0}}[d(4)]})
	}
	tile, whole := []int{1 + d(12), 1 + d(12)}, []int{0, 0}
	for m, t := range tile {
		whole[m] = size[m] / t * t
	}
	for k := range 4 {
		part := n
		for m := range size {
			from, to := 0, whole[m]
			if k>>m&1 == 1 {
				from, to = to, size[m]
			}
			part = part.Range(m, from, to)
		}
		if part.Iterations() > 0 {
			part, _ = part.Split(1, min(tile[1], part.Trips[1]))
			part, _ = part.Split(0, min(tile[0], part.Trips[0]))
			nests = append(nests, part.Permute(0, 2, 1, 3).Canonical())
		}
	}
	return levels, nests
}

// TestTiles compares nests one after the other with a walk, and what the levels hold in the end. In
// the last two seeds it matters that levels are emptied: the second one, and all after a first try.
func TestTiles(t *testing.T) {
	t.Parallel()
	for _, seed := range append(nest.UpTo(enginetest.Cases(4000)), 13711, 51238) {
		d := enginetest.Random(uint64(seed), 55)
		levels, nests := tiles(d)
		e, want := New(levels, 1), reference.New(levels)
		e.Eager()
		for _, pass := range e.Run(nests, 1+d(5)/4) {
			for i, got := range pass {
				n := nests[i]
				if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got, wanted) {
					t.Fatalf("seed %d, %+v,\n%v: nest %d has %v misses, want %v",
						seed, levels, nests, i, got, wanted)
				}
			}
		}
		if wrong := enginetest.Contents(levels, e, want); wrong != "" {
			t.Fatalf("seed %d, %+v,\n%v: %s", seed, levels, nests, wrong)
		}
	}
}

// TestBroadcast: a column is read for each row of a tile, and its last line again in the next tile.
// Reuse intervals decide.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	levels := []engine.Level{{Sets: 4, Ways: 12, Shift: 4}}
	n := nest.Nest{Trips: []int{20, 30, 5, 10}, Operands: []nest.Operand{
		{Base: enginetest.At, Width: 4, Strides: []int{20, 4000, 4, 400}},
		{Base: enginetest.At + 1<<26, Width: 4, Strides: []int{0, 40, 0, 4}}}}
	refs, _ := operandsOf(levels, n)
	got, first, ok := reuseIntervals(levels, refs, 1)
	want := reference.New(levels).Run(n.Operands, n.Accesses())
	if !ok || !first || !slices.Equal(got, want) {
		t.Errorf("%v misses, %v, %v, want %v", got, first, ok, want)
	}
}

// TestCrowd: no iterations in a row touch more lines of one set than crowd says.
func TestCrowd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 52)
		levels, n := tensors(d)
		l, alone := level{Level: levels[0]}, n.Only(0).Canonical()
		window := 1 + d(alone.Iterations())
		if d.One(2) && len(alone.Trips) > 0 { // a whole number of the outermost loop's iterations
			window = alone.Iterations() / alone.Trips[0] * (1 + d(2))
		}
		var blocks []uint64
		for _, addr := range alone.Accesses() {
			blocks = append(blocks, addr>>l.Shift)
		}
		most := 0
		for from := 0; from+window <= len(blocks); from += 1 + d(9) {
			lines := slices.Clone(blocks[from:][:window])
			slices.Sort(lines)
			sets := map[uint64]int{}
			for _, b := range slices.Compact(lines) {
				sets[b%uint64(l.Sets)]++
				most = max(most, sets[b%uint64(l.Sets)])
			}
		}
		budget := 1 << 20
		if got := l.crowd(alone, uint64(window), 1<<20, &budget); got < most {
			t.Fatalf("seed %d, %v: %d iterations in a row touch %d lines of a set, more than %d",
				seed, alone, window, most, got)
		}
	}
}
