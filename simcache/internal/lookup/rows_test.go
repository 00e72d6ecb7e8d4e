package lookup

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// level is one of lines of so many bytes.
func level(sets, ways, line int) engine.Level {
	return engine.Level{Sets: sets, Ways: ways, Shift: uint(bits.TrailingZeros(uint(line)))}
}

// TestFilterTwins compares the assembly with filterGo, in what it hands on and
// in what the rows hold, for every number of ways and for references that are
// read, written and written back.
func TestFilterTwins(t *testing.T) {
	t.Parallel()
	if !hasAVX2 {
		t.Skip("this CPU has no AVX2: filterGo is all there is")
	}
	const line = 64
	for ways := leastVector; ways <= 40; ways++ {
		for seed := range uint64(enginetest.Cases(60)) {
			r := rand.New(rand.NewPCG(seed, uint64(ways)))
			sets := 1 << r.IntN(4)
			g := level(sets, ways, line)
			fast, plain := newRows(g, seed%7 == 0), newRows(g, seed%7 == 0)
			fast.far = seed%2 == 0
			down := uint(grains + r.IntN(3))
			fast.down, plain.down = down, down
			if !fast.vectors {
				t.Fatalf("%d ways: no vectors", ways)
			}
			flags := uint64(r.IntN(4)) // which of them are drawn at all
			for range 20 {
				refs := make([]uint64, 1+r.IntN(150))
				for i := range refs {
					block := uint64(r.IntN(sets * ways * 3 / 2))
					if r.IntN(3) == 0 && i > 0 {
						block = refs[i-1] >> down
					}
					if r.IntN(9) == 0 {
						block += (fast.limit() - 1000) / 1000 * 999
					}
					refs[i] = block<<down | uint64(r.IntN(1<<(down-grains)))<<grains | uint64(
						r.IntN(opCount))<<opBit | uint64(r.IntN(4))&flags
				}
				out, want := make([]uint64, 2*len(refs)), make([]uint64, 2*len(refs))
				out = out[:fast.filter(refs, out)]
				want = want[:plain.filterGo(refs, want)]
				if !slices.Equal(out, want) || !slices.Equal(fast.tags, plain.tags) {
					t.Fatalf("%d sets of %d ways, seed %d: %x goes on as\n%x, want\n%x", sets, ways,
						seed, refs, out, want)
				}
			}
		}
	}
}

// TestWide: tags that 32 bits cannot hold widen all of them, and nothing else
// changes.
func TestWide(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(300)) {
		r := rand.New(rand.NewPCG(seed, 3))
		levels := []engine.Level{level(2, 4, 32), level(4, 8, 64)}
		if seed%2 == 0 {
			levels[0] = level(2, 4, 64)
		}
		narrow, wide := New(levels, Options{WriteBacks: seed%2 == 0}),
			New(levels, Options{WriteBacks: seed%2 == 0})
		wide.makeWay(wide.limit)
		if wide.levels[0].wide == nil || wide.levels[0].tags != nil {
			t.Fatal("the limit did not widen the tags")
		}
		far := uint64(r.IntN(2)) * r.Uint64()
		for i := range 2000 {
			addr := uint64(r.IntN(8192))
			if i > 1000 {
				addr += far
			}
			op, size, kind := r.IntN(3), uint64(1+r.IntN(32)), nest.Kind(r.IntN(3))
			narrow.Add(op, addr, size, kind)
			wide.Add(op, addr, size, kind)
		}
		narrow.Flush()
		wide.Flush()
		for level := range levels {
			if !slices.Equal(narrow.misses[level], wide.misses[level]) ||
				narrow.writeBacks[level] != wide.writeBacks[level] ||
				narrow.fills[level] != wide.fills[level] {
				t.Fatalf("seed %d, level %d: %v and %v", seed, level, narrow.misses[level],
					wide.misses[level])
			}
		}
	}
}

// BenchmarkTwins is a chain on its pure-Go twin and, where there is one, on the
// assembly: the column of BenchmarkSimulate.
func BenchmarkTwins(b *testing.B) {
	n := nest.Nest{Trips: []int{400, 4000}, Operands: []nest.Operand{{Base: 1 << 28, Width: 4,
		Strides: []int{4, 16000}}}}
	for _, twin := range []string{"go", "avx2"} {
		b.Run("twin="+twin, func(b *testing.B) {
			if twin == "avx2" && !hasAVX2 {
				b.Skip("this CPU has no AVX2")
			}
			c := New([]engine.Level{level(64, 8, 64), level(32768, 16, 64)}, Options{})
			for i := range c.levels {
				c.levels[i].vectors = c.levels[i].vectors && twin == "avx2"
			}
			for b.Loop() {
				c.walk(nest.Sequence(n))
			}
			b.ReportMetric(float64(n.Iterations())*float64(b.N)/b.Elapsed().Seconds()/1e6,
				"Maccesses/s")
		})
	}
}
