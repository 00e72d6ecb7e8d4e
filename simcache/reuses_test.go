package simcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A place is where a walk is: in which pass, which nest of it, and where in its
// loops.
type place struct {
	pass, nest int
	index      []int
}

// since is how a place comes after another, by the definition of Since.
func (p place) since(before *place) (Since, int) {
	switch {
	case before == nil:
		return Never, 0
	case before.pass != p.pass:
		return EarlierPass, 0
	case before.nest != p.nest:
		return ThisPass, 0
	}
	for l, i := range p.index {
		if i != before.index[l] {
			return ThisLoop, l
		}
	}
	return ThisIteration, 0
}

// TestReusesByDefinition walks random nests, some more than once, with a list of
// all touches by line, and holds the counts of two levels to what it finds.
func TestReusesByDefinition(t *testing.T) {
	t.Parallel()
	seen := map[Since]uint64{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 12))
		c := Config{Observe: Classes, Levels: []Level{{Geometry: randomSmall(r), NoWriteAllocate: r.IntN(4) == 0}, {Geometry: randomSmall(r)}}}
		if r.IntN(3) == 0 {
			c.Levels[1].Line, c.Levels[1].Size = 64, 2*c.Levels[1].Size
		}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var nests []Nest
		for range 1 + r.IntN(3) {
			nests = append(nests, randomLoops(r))
		}
		passes := 1 + r.IntN(3)
		if _, err := h.Passes(passes, nests...); err != nil {
			t.Fatal(err)
		}
		want := definedReuses(c.Levels, nests, passes)
		for level, l := range h.Levels() {
			got := map[string]Reuse{}
			for _, r := range l.Reuses {
				seen[r.Since] += r.Misses()
				if level > 0 && r.Lines > 0 {
					t.Fatalf("seed %d: %+v tells of lines of the first level", seed, r)
				}
				got[fmt.Sprint(r.Nest, r.Operand, r.Since, r.Loop)] = r
			}
			if fmt.Sprint(got) != fmt.Sprint(want[level]) {
				t.Fatalf("seed %d, level %d, %d passes over %+v:\n got %+v\nwant %+v", seed, level, passes, nests, got, want[level])
			}
		}
	}
	for _, s := range []Since{Never, ThisIteration, ThisLoop, ThisPass, EarlierPass} {
		if seen[s] == 0 {
			t.Errorf("nothing missed whose last touch was: %v", s)
		}
	}
}

// randomLoops is a nest of up to four loops around one to three operands, which
// may meet, stay, go back, and lie in two lines.
func randomLoops(r *rand.Rand) Nest {
	var n Nest
	for range r.IntN(5) {
		n.Trips = append(n.Trips, 1+r.IntN(7))
	}
	for range 1 + r.IntN(3) {
		op := Operand{Tensor: "x", Kind: Kind(r.IntN(3)), Base: 1<<16 + uint64(r.IntN(400)), Width: 1 + r.IntN(16)}
		for range n.Trips {
			op.Strides = append(op.Strides, []int{0, 4, -4, 8, 32, 64, r.IntN(300) - 150}[r.IntN(7)])
		}
		n.Operands = append(n.Operands, op)
	}
	return n
}

// definedReuses counts, by level, what Reuses are defined as.
func definedReuses(levels []Level, nests []Nest, passes int) []map[string]Reuse {
	var caches []*defined
	var counted []map[string]Reuse
	last := make([]map[uint64]*place, len(levels)) // by level and line
	for i, l := range levels {
		caches = append(caches, &defined{Level: l, sets: map[uint64][]uint64{}, ever: map[uint64]bool{}})
		counted, last[i] = append(counted, map[string]Reuse{}), map[uint64]*place{}
	}
	var asked []uint64 // lines of the first level, in order
	at := map[uint64]int{}
	var different []string
	for pass := range passes {
		for k, n := range nests {
			n = n.Canonical()
			id := slices.Index(different, fmt.Sprint(n))
			if id < 0 {
				id = len(different)
				different = append(different, fmt.Sprint(n))
			}
			index := make([]int, len(n.Trips))
			for i := range n.Iterations() {
				for l := len(index) - 1; l >= 0; l-- {
					index[l] = i % n.Trips[l]
					i /= n.Trips[l]
				}
				here := &place{pass, k, slices.Clone(index)}
				for op, operand := range n.Operands {
					addr := operand.Base
					for l, i := range index {
						addr += uint64(i * operand.Strides[l])
					}
					refer(caches, operand, addr, func(level int, block uint64, class int) {
						since, loop := here.since(last[level][block])
						key := fmt.Sprint(id, op, since, loop)
						r := counted[level][key]
						missed := r.Misses()
						r.Nest, r.Operand, r.Tensor, r.Since, r.Loop = id, op, operand.Tensor, since, loop
						r.Refs++
						if class >= 0 {
							*[]*uint64{&r.Compulsory, &r.Capacity, &r.Conflict}[class]++
						}
						if level == 0 && since != Never && (r.Refs == 1 || missed == 0 && class >= 0) {
							between := map[uint64]bool{}
							for _, b := range asked[at[block]:] {
								between[b] = true
							}
							for b := addr / uint64(levels[0].Line); b <= (addr+uint64(operand.Width)-1)/uint64(levels[0].Line); b++ {
								between[b] = true
							}
							r.Lines = uint64(len(between))
						}
						counted[level][key] = r
					})
					for level, l := range levels {
						for b := addr / uint64(l.Line); b <= (addr+uint64(operand.Width)-1)/uint64(l.Line); b++ {
							last[level][b] = here
							if level == 0 {
								asked = append(asked, b)
							}
						}
					}
					for b := addr / uint64(levels[0].Line); b <= (addr+uint64(operand.Width)-1)/uint64(levels[0].Line); b++ {
						at[b] = len(asked) // what comes after the whole reference
					}
				}
			}
		}
	}
	return counted
}

// refer asks the levels for a reference, and tells at each which line counts, and
// the class if it missed.
func refer(caches []*defined, op Operand, addr uint64, count func(level int, block uint64, class int)) {
	kind := op.Kind
	for level, c := range caches {
		absent, classes, classed := c.misses(addr, uint64(op.Width)), c.counts, -1
		c.access(kind, addr, uint64(op.Width))
		for i := range classes {
			if c.counts[i] != classes[i] {
				classed = i
			}
		}
		count(level, absent, classed)
		switch {
		case classed < 0:
			return
		case kind == Write && !c.NoWriteAllocate:
			kind = Read // the fetch
		}
	}
}

// misses is the first line of a reference that is absent, else its first.
func (d *defined) misses(addr, size uint64) uint64 {
	set := map[uint64][]uint64{}
	for block := addr / uint64(d.Line); block <= (addr+size-1)/uint64(d.Line); block++ {
		in := block % uint64(d.Sets())
		if set[in] == nil {
			set[in] = slices.Clone(d.sets[in])
		}
		var here bool
		if set[in], here = see(set[in], d.Ways, block, true); !here {
			return block
		}
	}
	return addr / uint64(d.Line)
}
