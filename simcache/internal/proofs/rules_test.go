package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestExactReuses: for every hit of an operand alone, looked up or not, there
// is a reuse of at least its depth and its time, which is what independence stands
// on; and no block's time is after its last touch.
func TestExactReuses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4000)) {
		d := enginetest.Random(seed, 14)
		specs := d.Levels()
		n := d.Nest(specs, 400)
		n.Operands = n.Operands[:1]
		lone := newProver(specs).lone()
		for range 1 + d(2) {
			p := lone.plan(n.Canonical())
			if loop := d(4); loop < len(p.loops) && lone.agree(&p.loops[loop]) {
				p.translated = loop
			}
			lone.follow(p)
		}
		passes := int(lone.now) / n.Iterations()
		reuses, last := plainReuses(specs, n.Repeat(passes))
		for i, hits := range reuses {
			l := &lone.levels[i]
			for at, w := range l.words {
				if w != 0 && l.when[at] > last[i][w>>epochBits-1] {
					t.Fatalf("seed %d, levels %+v, nest %+v, %d passes: a time in level %d is %d, after the last touch at %d",
						seed, specs, n, passes, i, l.when[at], last[i][w>>epochBits-1])
				}
			}
			for hit := range hits {
				if !slices.ContainsFunc(lone.levels[i].reuses[:], func(r reuse) bool {
					return r.hit && r.depth >= hit.depth && r.time >= hit.time
				}) {
					t.Fatalf("seed %d, levels %+v, nest %+v, %d passes: no reuse covers %+v in level %d", seed, specs, n, passes, hit, i)
				}
			}
		}
	}
}

// plainReuses is the depth and the time of every hit in each level, and the
// last touch of every block.
func plainReuses(specs []engine.Level, n nest.Nest) (reuses []map[reuse]bool, last []map[uint64]uint64) {
	caches := make([]*reference.Caches, len(specs)) // each a level
	reuses = make([]map[reuse]bool, len(specs))
	last = make([]map[uint64]uint64, len(specs))
	for i := range specs {
		caches[i] = reference.New(specs[i : i+1])
		reuses[i], last[i] = map[reuse]bool{}, map[uint64]uint64{}
	}
	now := uint64(0)
	for op, addr := range n.Accesses() {
		width := n.Operands[op].Width
		for i, s := range specs {
			missed := false
			for b := addr >> s.Shift; b <= (addr+uint64(width)-1)>>s.Shift; b++ {
				if depth := slices.Index(caches[i].Contents(0, int(b%uint64(s.Sets))), b); depth >= 0 {
					reuses[i][reuse{true, depth, now - last[i][b]}] = true
				}
				last[i][b] = now
				if caches[i].Access(b<<s.Shift, 1) > 0 {
					missed = true
				}
			}
			if !missed {
				break
			}
		}
		now++
	}
	return reuses, last
}

// TestExactCrowd compares crowd with the blocks of one set that the accesses of t
// consecutive iterations touch, wherever they start.
func TestExactCrowd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1500)) {
		d := enginetest.Random(seed, 15)
		specs := d.Levels()
		n := d.Nest(specs, 120)
		n.Operands = n.Operands[:1]
		l := &newProver(specs[:1]).levels[0]
		var touched [][2]uint64 // first and last block of each iteration
		for op, addr := range n.Accesses() {
			width := n.Operands[op].Width
			touched = append(touched, [2]uint64{addr >> l.Shift, (addr + uint64(width) - 1) >> l.Shift})
		}
		for _, span := range []int{1, 2, 3, 1 + d(len(touched)), 1 + d(len(touched))} {
			span = min(span, len(touched))
			c := n.Canonical()
			budget := 1 << 30
			got, want := l.crowd(c, uint64(span), 1<<30, &budget), 0
			for start := 0; start+span <= len(touched); start++ {
				sets := map[uint64]map[uint64]bool{}
				for _, blocks := range touched[start : start+span] {
					for _, b := range blocks {
						if sets[l.set(b)] == nil {
							sets[l.set(b)] = map[uint64]bool{}
						}
						sets[l.set(b)][b] = true
						want = max(want, len(sets[l.set(b)]))
					}
				}
			}
			if got < want {
				t.Fatalf("seed %d, level %+v, nest %+v: %d iterations touch %d blocks of a set, crowd says %d", seed, specs[0], n, span, want, got)
			}
		}
	}
}

// TestExactRules says which rule proves what, by what is left to look up.
func TestExactRules(t *testing.T) {
	t.Parallel()
	real := []engine.Level{{Sets: 64, Ways: 8, Shift: 6}, {Sets: 32768, Ways: 16, Shift: 6}}
	square := func(n, passes, outer, inner int) nest.Nest {
		return nest.Nest{Trips: []int{passes, n, n}, Operands: []nest.Operand{operand(0, 4, 0, outer, inner)}}
	}
	for name, c := range map[string]struct {
		levels  []engine.Level
		nest    nest.Nest
		misses  []uint64
		visited uint64
	}{
		"in-line runs": {[]engine.Level{{Sets: 2, Ways: 2, Shift: 6}}, nest.Nest{Trips: []int{64}, Operands: []nest.Operand{operand(0, 4, 4)}},
			[]uint64{4}, 4},
		"zero shift after an iteration without misses": {[]engine.Level{{Sets: 4, Ways: 1, Shift: 6}, {Sets: 4, Ways: 2, Shift: 6}}, nest.Nest{Trips: []int{16, 4}, Operands: []nest.Operand{operand(0, 4, 4, 64)}},
			[]uint64{4, 4}, 8},
		"zero shift early: no hits": {[]engine.Level{{Sets: 1, Ways: 1, Shift: 6}, {Sets: 1, Ways: 3, Shift: 6}}, nest.Nest{Trips: []int{16, 4}, Operands: []nest.Operand{operand(0, 4, 4, 64)}},
			[]uint64{64, 64}, 8},
		"zero shift": {[]engine.Level{{Sets: 2, Ways: 1, Shift: 6}, {Sets: 1, Ways: 1, Shift: 6}}, nest.Nest{Trips: []int{16, 3}, Operands: []nest.Operand{operand(0, 4, 4, 64)}},
			[]uint64{33, 33}, 9},
		"translation: rows":       {real, square(65536, 1, 4*65536, 4), []uint64{1 << 28, 1 << 28}, 3},
		"translation: columns":    {real, square(65536, 1, 4, 4*65536), []uint64{1 << 32, 1 << 32}, 6 << 16},
		"translation: odd column": {real, square(4001, 1, 4, 4*4001), []uint64{4001 * 4001, 1004251}, 49 * 4001},
	} {
		t.Run(name, func(t *testing.T) {
			x := newProver(c.levels)
			if got := x.run(c.nest.Canonical()); !slices.Equal(got, c.misses) {
				t.Errorf("misses %d, want %d", got, c.misses)
			}
			if x.visited != c.visited {
				t.Errorf("%d accesses visited, want %d", x.visited, c.visited)
			}
		})
	}
}

// TestExactNext compares headPath.next with a search.
func TestExactNext(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(600)) {
		d := enginetest.Random(seed, 16)
		moved := int64(1 + d(9))
		if d.One(2) {
			moved = -moved
		}
		var heads []uint64
		for range 1 + d(12) {
			heads = append(heads, uint64(1000+d(60)))
		}
		path := newPaths(heads, []extent{{0, maxBlock, moved}})[0]
		for block := uint64(940); block < 1120; block++ {
			want := 0
			for p := 1; p < 200 && want == 0; p++ {
				if slices.Contains(heads, block-uint64(int64(p)*moved)) {
					want = p
				}
			}
			if got := path.next(block); got != want {
				t.Fatalf("heads %d moved by %d come to %d after %d, want %d", heads, moved, block, got, want)
			}
		}
	}
}

// TestExactDrains compares drains.sum with a sum.
func TestExactDrains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1000)) {
		d := enginetest.Random(seed, 17)
		l := &newProver([]engine.Level{{Sets: 1 + d(24), Ways: 2, Shift: 6}}).levels[0]
		counts := make([]int, l.Sets)
		for range d(60) {
			set := d(l.Sets)
			counts[set]++
			l.missed = append(l.missed, uint32(set))
		}
		rotation := d(l.Sets)
		drained := l.newDrains(uint64(rotation))
		for range 40 {
			set, periods := d(l.Sets), d(100)
			want := 0
			for p := 1; p <= periods; p++ {
				want += counts[((set-p*rotation)%l.Sets+l.Sets)%l.Sets]
			}
			if got := drained.sum(uint64(set), periods); got != want {
				t.Fatalf("misses %v, rotation %d: set %d has %d in %d periods, want %d", counts, rotation, set, got, periods, want)
			}
		}
	}
}

// TestExactCrowdGivesUp: what would take too long to count is too much.
func TestExactCrowdGivesUp(t *testing.T) {
	l := &newProver([]engine.Level{{Sets: 64, Ways: 8, Shift: 6}}).levels[0]
	n := nest.Nest{Trips: []int{3000, 3000}, Operands: []nest.Operand{operand(0, 4, 1000, 1<<22)}}
	budget := 8_000_000
	if got := l.crowd(n, 9_000_000, 7, &budget); got <= 7 {
		t.Errorf("a crowd of 9,000,000 spans is %d", got)
	}
}
