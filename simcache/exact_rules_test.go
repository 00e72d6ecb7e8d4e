package simcache

import (
	"slices"
	"testing"
)

// TestReuses: for every hit of an operand alone, looked up or not, there is a
// reuse of at least its depth and its time. That is what rule D stands on.
func TestExactReuses(t *testing.T) {
	t.Parallel()
	skipped := 0
	for seed := range uint64(4000) {
		d := randomDraw(seed, 14)
		specs := d.levels()
		n := d.nest(specs, 400)
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
		skipped += lone.took.shifted
		for i, hits := range plainReuses(specs, n.repeated(passes)) {
			for hit := range hits {
				if !slices.ContainsFunc(lone.levels[i].reuses[:], func(r reuse) bool {
					return r.hit && r.depth >= hit.depth && r.time >= hit.time
				}) {
					t.Fatalf("seed %d, levels %+v, nest %+v, %d passes: no reuse covers %+v in level %d", seed, specs, n, passes, hit, i)
				}
			}
		}
	}
	if skipped < 1000 {
		t.Errorf("rule P was taken only %d times", skipped)
	}
}

// plainReuses is the depth and the time of every hit in each level.
func plainReuses(specs []levelSpec, n Nest) []map[reuse]bool {
	c := newSlowCache(specs)
	reuses := make([]map[reuse]bool, len(specs))
	last := make([]map[uint64]uint64, len(specs)) // touch of each block
	for i := range specs {
		reuses[i], last[i] = map[reuse]bool{}, map[uint64]uint64{}
	}
	now := uint64(0)
	eachAccess(n, func(_ int, addr uint64, width int) {
		for i, s := range specs {
			missed := false
			for b := addr >> s.shift; b <= (addr+uint64(width)-1)>>s.shift; b++ {
				if depth := slices.Index(c.sets[i][b%uint64(s.sets)], b); depth >= 0 {
					reuses[i][reuse{true, depth, now - last[i][b]}] = true
				}
				last[i][b] = now
				if c.misses(i, b<<s.shift, 1) {
					missed = true
				}
			}
			if !missed {
				break
			}
		}
		now++
	})
	return reuses
}

// TestCrowd compares crowd with the blocks of one set that the accesses of t
// consecutive iterations touch, wherever they start.
func TestExactCrowd(t *testing.T) {
	t.Parallel()
	doubled, whole := 0, 0
	for seed := range uint64(1500) {
		d := randomDraw(seed, 15)
		specs := d.levels()
		n := d.nest(specs, 120)
		n.Operands = n.Operands[:1]
		l := &newProver(specs[:1]).levels[0]
		var touched [][2]uint64 // first and last block of each iteration
		eachAccess(n, func(_ int, addr uint64, width int) {
			touched = append(touched, [2]uint64{addr >> l.shift, (addr + uint64(width) - 1) >> l.shift})
		})
		for _, span := range []int{1, 2, 3, 1 + d(len(touched)), 1 + d(len(touched))} {
			span = min(span, len(touched))
			c := n.Canonical()
			got, want := l.crowd(c, uint64(span), 1<<30), 0
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
			if got == want {
				whole++
			} else if got <= 2*want {
				doubled++
			}
		}
	}
	t.Logf("exact %d times, at most twice too much %d times", whole, doubled)
	if whole < 2000 {
		t.Errorf("crowd was exact only %d times", whole)
	}
}

// eachAccess walks a nest by its definition.
func eachAccess(n Nest, access func(operand int, addr uint64, width int)) {
	index := make([]int, len(n.Trips))
	for range n.Iterations() {
		for r, op := range n.Operands {
			addr := op.Base
			for l, i := range index {
				addr += uint64(i * op.Strides[l])
			}
			access(r, addr, op.Width)
		}
		for l := len(index) - 1; l >= 0; l-- {
			if index[l]++; index[l] < n.Trips[l] {
				break
			}
			index[l] = 0
		}
	}
}
