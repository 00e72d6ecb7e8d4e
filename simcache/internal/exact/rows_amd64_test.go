package exact

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// withVectors calls a test without vectors, with AVX2, and with AVX-512, where the CPU has them.
func withVectors(t *testing.T, test func(t *testing.T)) {
	defer func(had, had512 bool) { hasAVX2, hasAVX512 = had, had512 }(hasAVX2, hasAVX512)
	had, had512 := hasAVX2, hasAVX512
	for name, has := range map[string][2]bool{
		"none": {}, "AVX2": {had, false}, "AVX-512": {had, had512},
	} {
		hasAVX2, hasAVX512 = has[0], has[1]
		t.Run(name, test)
	}
}

// TestVectors is TestPrograms with the vectors that a CPU may lack, of fewer programs.
func TestVectors(t *testing.T) {
	withVectors(t, func(t *testing.T) {
		for _, g := range generators {
			g.run(t, enginetest.Cases(max(80, g.cases/50)))
		}
	})
}

// TestMoveLines: with vectors lines move as without, whatever number of them there is, and of two
// movers of a line the first counts.
func TestMoveLines(t *testing.T) {
	withVectors(t, func(t *testing.T) {
		for seed := range uint64(2000) {
			d := enginetest.Random(seed, 61)
			lines, movers := make([]uint32, 8*(1+d(10))+d(2)*d(8)), make([]mover, 1+d(8))
			// high bits count, too
			first, wide := uint32(d.Of(d(1<<30), d(100))), 1+d(d.Of(1000, 200))
			for i := range lines {
				lines[i] = first + uint32(d(wide))
			}
			for i := range movers {
				low, by := first+uint32(d(wide)-d(50)), uint32(d(1<<20)-1<<19)
				movers[i] = mover{low, uint32(d(wide)), by}
			}
			if d.One(8) {
				movers[0] = mover{0, math.MaxUint32, 5} // all lines
			}
			want, got := slices.Clone(lines), slices.Clone(lines)
			moveGo(want, movers)
			if moveLines(got, movers); !slices.Equal(got, want) {
				t.Fatalf("%d: %v by %v: %v, want %v", seed, lines, movers, got, want)
			}
		}
	})
}

// TestEveryFar: strided loops leave the same states, counts and miss streams with vectors as
// without. The first level is a level or a summary, which may count by row or keep a miss stream.
func TestEveryFar(t *testing.T) {
	had := hasAVX2
	defer func() { hasAVX2 = had }()
	for seed := range uint64(enginetest.Cases(5000)) {
		d := enginetest.Random(seed, 67)
		levels := []engine.Level{{Shift: 6, Sets: d.Of(1, 4, 16, 64), Ways: 8}}
		if d.One(2) {
			levels = append(levels, engine.Level{Shift: 6, Sets: levels[0].Sets * d.Of(1, 4),
				Ways: d.Of(8, 16)})
		}
		var refs []moving
		var at []int
		for range 1 + d(8) {
			stride := d.Of(64, 128, 1<<12, 192, -64, 8, 0) + d.Of(0, 8)
			refs = append(refs, moving{op: 3 + d(3), stride: stride})
			at = append(at, 1<<30+8*d(1<<d(16)))
		}
		kind, trips := d(4), 1+d(700)
		run := func(vectors bool) (*inner, *context) {
			hasAVX2 = vectors && had
			c := &context{sliced: true}
			for _, l := range levels {
				c.states = append(c.states, newState(l, 3, 6).known())
			}
			s := newState(levels[0], 3, 6)
			switch kind {
			case 1:
				c.states = []*state{s}
			case 2:
				s.byRow(&unit{alone: true})
				c.states = []*state{s}
			case 3:
				s.log = &log{rows: make([]span, s.sets), most: 4000}
				c.states = []*state{s}
			}
			in := &inner{refs: refs, at: slices.Clone(at)}
			in.every(c, trips)
			in.every(c, 30)
			return in, c
		}
		in, c := run(true)
		in2, c2 := run(false)
		if !slices.Equal(in.at, in2.at) {
			t.Fatalf("%d: at %v, want %v", seed, in.at, in2.at)
		}
		for i, s := range c.states {
			want := c2.states[i]
			same := slices.Equal(s.tags, want.tags) && slices.Equal(s.misses, want.misses) &&
				slices.Equal(s.heads, want.heads) && slices.Equal(s.ops, want.ops) &&
				slices.Equal(s.count, want.count) && s.met == want.met && s.open == want.open &&
				slices.Equal(s.rowMisses, want.rowMisses) && slices.Equal(s.fewer, want.fewer)
			for row := range s.sets {
				if s.log != nil && !s.log.over {
					lines, ops := s.log.row(row)
					lines2, ops2 := want.log.row(row)
					same = same && slices.Equal(lines, lines2) && slices.Equal(ops, ops2)
				}
				unmarked := s.changed[row>>6]>>(row&63)&1 == 0
				same = same && !(unmarked && want.changed[row>>6]>>(row&63)&1 != 0)
			}
			if s.log != nil {
				same = same && s.log.over == want.log.over
			}
			if !same {
				t.Fatalf("%d: %v %v: level %d differs with vectors: %+v, want %+v",
					seed, levels, refs, i, s, want)
			}
		}
	}
}
