package simcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// A place is where a walk is: in which pass, which nest of it, and where in its
// loops.
type place struct {
	pass, nest int
	index      []int
}

// since is how a place comes after another, by the definition of Since.
func (p place) since(before *place) (engine.Since, int) {
	switch {
	case before == nil:
		return engine.Never, 0
	case before.pass != p.pass:
		return engine.EarlierPass, 0
	case before.nest != p.nest:
		return engine.ThisPass, 0
	}
	for l, i := range p.index {
		if i != before.index[l] {
			return engine.ThisLoop, l
		}
	}
	return engine.ThisIteration, 0
}

// TestReusesByDefinition walks random nests, some more than once, with a list of
// all touches by line, and holds the counts of two levels to what it finds.
func TestReusesByDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(400)) {
		r := rand.New(rand.NewPCG(seed, 12))
		c := Config{Observe: "classes", Levels: []Level{{Geometry: randomSmall(r),
			NoWriteAllocate: r.IntN(4) == 0}, {Geometry: randomSmall(r)}}}
		if r.IntN(3) == 0 {
			c.Levels[1].Line, c.Levels[1].Size = 64, 2*c.Levels[1].Size
		}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var nests []nest.Nest
		for range 1 + r.IntN(3) {
			nests = append(nests, randomLoops(r))
		}
		passes := 1 + r.IntN(3)
		if _, err := h.Run(passes, nests...); err != nil {
			t.Fatal(err)
		}
		want := definedReuses(c.Levels, nests, passes)
		for level, l := range h.Levels() {
			got := map[string]Reuse{}
			for _, r := range l.Reuses {
				meet("nests: misses since "+fmt.Sprint(r.Since), r.Misses())
				got[fmt.Sprint(r.Nest, r.Operand, r.Since, r.Loop)] = r
			}
			if fmt.Sprint(got) != fmt.Sprint(want[level]) {
				t.Fatalf("seed %d, level %d, %d passes over %+v:\n got %+v\nwant %+v", seed, level,
					passes, nests, got, want[level])
			}
		}
	}
}

// randomLoops is a nest of up to four loops around one to three operands, which
// may meet, stay, go back, and lie in two lines.
func randomLoops(r *rand.Rand) nest.Nest {
	var n nest.Nest
	for range r.IntN(5) {
		n.Trips = append(n.Trips, 1+r.IntN(7))
	}
	for range 1 + r.IntN(3) {
		op := nest.Operand{Tensor: "x", Kind: nest.Kind(r.IntN(3)),
			Base: 1<<16 + uint64(r.IntN(400)), Width: 1 + r.IntN(16)}
		for range n.Trips {
			op.Strides = append(op.Strides, []int{0, 4, -4, 8, 32, 64,
				r.IntN(300) - 150}[r.IntN(7)])
		}
		n.Operands = append(n.Operands, op)
	}
	return n
}

// A diary is all that was touched, as what Reuses are defined by.
type diary struct {
	caches []*defined
	counts []map[string]Reuse // by level
	last   map[uint64]*place  // by line of the first level
	lines  []uint64           // touched, in order
	after  map[uint64]int     // by line: how many of them up to its last touch's reference
}

// definedReuses counts, by level, what Reuses are defined as.
func definedReuses(levels []Level, nests []nest.Nest, passes int) []map[string]Reuse {
	d := &diary{last: map[uint64]*place{}, after: map[uint64]int{}}
	for _, l := range levels {
		d.caches = append(d.caches, &defined{Level: l, sets: map[uint64][]uint64{},
			ever: map[uint64]bool{}})
		d.counts = append(d.counts, map[string]Reuse{})
	}
	var different []string
	for pass := range passes {
		for k, n := range nests {
			n = n.Canonical()
			if !slices.Contains(different, fmt.Sprint(n)) {
				different = append(different, fmt.Sprint(n))
			}
			d.walk(n, slices.Index(different, fmt.Sprint(n)), place{pass: pass, nest: k})
		}
	}
	return d.counts
}

func (d *diary) walk(n nest.Nest, id int, here place) {
	for i := range n.Iterations() {
		index := make([]int, len(n.Trips))
		for l := len(index) - 1; l >= 0; l-- {
			index[l], i = i%n.Trips[l], i/n.Trips[l]
		}
		for op, operand := range n.Operands {
			addr := operand.Base
			for l, i := range index {
				addr += uint64(i * operand.Strides[l])
			}
			d.refer(id, op, operand, addr, &place{here.pass, here.nest, index})
		}
	}
}

// refer asks the levels for a reference.
func (d *diary) refer(id, op int, operand nest.Operand, addr uint64, here *place) {
	first, width, kind := d.caches[0], uint64(operand.Width), operand.Kind
	lost := first.misses(addr, width)
	since, loop := here.since(d.last[lost])
	earlier := len(d.lines)
	for b := addr / uint64(first.Line); b <= (addr+width-1)/uint64(first.Line); b++ {
		d.lines = append(d.lines, b)
	}
	for level, c := range d.caches {
		before := c.counts
		c.access(kind, addr, width)
		r := d.counts[level][fmt.Sprint(id, op, since, loop)]
		was := r.Misses()
		r.Nest, r.Operand, r.Tensor, r.Since, r.Loop = id, op, operand.Tensor, since, loop
		r.Refs++
		r.Compulsory += c.counts[0] - before[0]
		r.Capacity += c.counts[1] - before[1]
		r.Conflict += c.counts[2] - before[2]
		missed := c.counts != before
		if since != engine.Never && (r.Refs == 1 || was == 0 && missed) {
			between := map[uint64]bool{}
			for _, b := range d.lines[d.after[lost]:] {
				between[b] = true
			}
			r.Lines = uint64(len(between))
		}
		d.counts[level][fmt.Sprint(id, op, since, loop)] = r
		if !missed {
			break
		}
		if kind == nest.Write && !c.NoWriteAllocate {
			kind = nest.Read // the fetch
		}
	}
	for _, b := range d.lines[earlier:] {
		d.last[b], d.after[b] = here, len(d.lines)
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
