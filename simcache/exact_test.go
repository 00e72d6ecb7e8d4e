package simcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A slowCache is brute force at its most obvious: each set of each level a
// list of blocks, the most recently used first.
type slowCache struct {
	specs []levelSpec
	sets  [][][]uint64
}

func newSlowCache(specs []levelSpec) *slowCache {
	c := &slowCache{specs: specs}
	for _, s := range specs {
		c.sets = append(c.sets, make([][]uint64, s.sets))
	}
	return c
}

func (c *slowCache) misses(level int, addr uint64, width int) bool {
	s := c.specs[level]
	missed := false
	for b := addr >> s.shift; b <= (addr+uint64(width)-1)>>s.shift; b++ {
		set := &c.sets[level][b%uint64(s.sets)]
		at := slices.Index(*set, b)
		if at < 0 {
			missed = true
			if len(*set) < s.ways {
				*set = append(*set, 0)
			}
			at = len(*set) - 1
		}
		copy((*set)[1:at+1], (*set)[:at])
		(*set)[0] = b
	}
	return missed
}

// run walks a nest by its definition and returns what prover.run does.
func (c *slowCache) run(n Nest) []uint64 {
	misses := make([]uint64, len(n.Operands)*len(c.specs))
	index := make([]int, len(n.Trips))
	for range n.Iterations() {
		for r, op := range n.Operands {
			addr := op.Base
			for l, i := range index {
				addr += uint64(i * op.Strides[l])
			}
			for level := range c.specs {
				if !c.misses(level, addr, op.Width) {
					break
				}
				misses[r*len(c.specs)+level]++
			}
		}
		for l := len(index) - 1; l >= 0; l-- {
			if index[l]++; index[l] < n.Trips[l] {
				break
			}
			index[l] = 0
		}
	}
	return misses
}

// differ says how the contents of the two differ; "" if they do not.
func (c *slowCache) differ(x *prover) string {
	for i := range x.levels {
		for s, want := range c.sets[i] {
			if got := x.levels[i].blocks(nil, s); !slices.Equal(got, want) {
				return fmt.Sprintf("level %d, set %d: %v, want %v", i, s, got, want)
			}
		}
	}
	return ""
}

// sane checks what the rules rely on: that in a set empty ways come last and
// epochs never grow.
func sane(x *prover) string {
	for i := range x.levels {
		l := &x.levels[i]
		for s := range uint64(l.sets) {
			row := l.row(s)
			for q := 1; q < len(row); q++ {
				if row[q] != 0 && (row[q-1] == 0 || row[q-1]&epochMask < row[q]&epochMask) {
					return fmt.Sprintf("level %d, set %d: epochs grow: %x", i, s, row)
				}
			}
		}
	}
	return ""
}

// drawLevels draws 1 to 3 levels, mostly two of one line size.
func drawLevels(r *rand.Rand) []levelSpec {
	shift := uint(4 + r.IntN(3))
	levels := 1 + r.IntN(3)
	if r.IntN(2) == 0 {
		levels = 2
	}
	var specs []levelSpec
	sets := 1
	for range levels {
		sets = max(1, sets*(1+r.IntN(3)))
		if r.IntN(3) > 0 {
			sets = 1 << r.IntN(6)
		}
		s := levelSpec{sets: sets, ways: 1 + r.IntN(8), shift: shift}
		if r.IntN(8) == 0 {
			s.shift = uint(4 + r.IntN(3))
		}
		specs = append(specs, s)
	}
	return specs
}

// drawNest draws 0 to 4 loops around 1 to 3 operands.
func drawNest(r *rand.Rand, specs []levelSpec, most int) Nest {
	line := 1 << specs[0].shift
	for _, s := range specs {
		line = min(line, 1<<s.shift)
	}
	var n Nest
	for range r.IntN(5) {
		trips := 1 + r.IntN(6)
		if r.IntN(2) == 0 {
			trips += r.IntN(100)
		}
		n.Trips = append(n.Trips, trips)
	}
	width := 1 << r.IntN(5)
	for width > line {
		width /= 2
	}
	sets := specs[r.IntN(len(specs))].sets
	far := r.IntN(2) == 0
	like := r.IntN(2) == 0
	for k := range 1 + r.IntN(3) {
		op := Operand{Kind: Kind(r.IntN(3)), Base: 1<<20 + uint64(r.IntN(8*line)), Width: width}
		if far {
			op.Base += uint64(k) << 24
		}
		if r.IntN(4) == 0 {
			op.Width = 1 + r.IntN(line)
		}
		op.Strides = make([]int, len(n.Trips))
		inner := width
		for l := len(n.Trips) - 1; l >= 0; l-- {
			choices := []int{0, width, -width, line, -line, 2 * line, 3 * line, sets * line, -sets * line, sets*line + width, sets*line + line,
				r.IntN(3 * line), -r.IntN(3 * line), inner, inner, -inner, inner + width, inner + line}
			op.Strides[l] = choices[r.IntN(len(choices))]
			if like && k > 0 && r.IntN(8) > 0 {
				op.Strides[l] = n.Operands[0].Strides[l]
			}
			inner = op.Strides[l] * n.Trips[l]
			if inner > 1<<18 || inner < -1<<18 {
				inner = width
			}
		}
		n.Operands = append(n.Operands, op)
	}
	for n.Iterations()*len(n.Operands) > most {
		l := r.IntN(len(n.Trips))
		n.Trips[l] = (n.Trips[l] + 1) / 2
	}
	for i := range n.Operands { // away from 0
		n.Operands[i].Base += 1 << 30
	}
	return n
}

func TestExactDifferential(t *testing.T) {
	t.Parallel()
	var took ruleCounts
	var visited, refs uint64
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 11))
		specs := drawLevels(r)
		x, want := newProver(specs), newSlowCache(specs)
		if r.IntN(8) == 0 {
			x.maxEpoch = 2 + r.Uint64N(60)
		}
		var nests []Nest
		for range 1 + r.IntN(3) {
			n := drawNest(r, specs, 4000)
			nests = append(nests, n)
			c := n.Canonical()
			got, wanted := x.run(c), want.run(n)
			refs += uint64(n.Iterations() * len(n.Operands))
			if !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, levels %+v, nests %+v: misses %v, want %v; rules %+v", seed, specs, nests, got, wanted, x.took)
			}
			if d := want.differ(x); d != "" {
				t.Fatalf("seed %d, levels %+v, nests %+v: %s; rules %+v", seed, specs, nests, d, x.took)
			}
			if d := sane(x); d != "" {
				t.Fatalf("seed %d, levels %+v, nests %+v: %s; rules %+v", seed, specs, nests, d, x.took)
			}
		}
		visited += x.visited
		took.add(x.took)
	}
	t.Logf("%d of %d accesses visited, rules %+v", visited, refs, took)
}
func (c *ruleCounts) add(o ruleCounts) {
	c.inline += o.inline
	c.free += o.free
	c.early += o.early
	c.zero += o.zero
	c.shifted += o.shifted
	c.alive += o.alive
	c.stale += o.stale
	c.overlap += o.overlap
	c.renumber += o.renumber
	c.apart += o.apart
	c.together += o.together
}
