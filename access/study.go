package access

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A Study is a pattern that is simulated but not timed, for results that the counts of a pass do
// not contain. Results are exact.
type Study struct {
	Name  string // prefix of its results; never changes
	Spec  Spec
	count func(name string, p Pattern, d1 simcache.Geometry) ([]Studied, error)
}

// A Studied is one result of a study.
type Studied struct {
	Name   string
	Unit   string // of Misses
	Misses uint64 // per pass in the steady state
	Refs   uint64 // 0 if misses are not a share of references
}

// Studies returns the studies of the suite. They take so little time that the quick suite has them
// too.
//
// Sets counts the misses of each set of D1 when a few columns are summed by columns. Rows a power
// of two bytes apart have few conflict sets. MissRatio counts the misses of fully associative LRU
// caches by capacity, with D1's line size.
func Studies() []Study {
	const n, columns = 512, 16
	var all []Study
	for _, pad := range []int{0, rowPad} {
		all = append(all, Study{
			Name: fmt.Sprintf("Sets/op=sum/order=col/shape=%dx%d/dtype=int32/pad=%d/columns=%d", n,
				n, pad, columns),
			Spec: Spec{Op: Sum, Shape: []int{n, n + pad}, DType: layouts.Int32,
				View: layouts.MustParseChain(fmt.Sprintf("narrow(1,0,%d)", columns)), Order: Col},
			count: setMisses,
		})
	}
	for _, walk := range []struct {
		order Order
		key   string
		tile  []int
	}{{Row, "", nil}, {Col, "", nil}, {Col, "/tile=32", []int{32, 32}}} {
		all = append(all, Study{
			Name: fmt.Sprintf("MissRatio/op=sum/order=%v/shape=1024x1024/dtype=int32%s",
				walk.order, walk.key),
			Spec: Spec{Op: Sum, Shape: []int{1024, 1024}, DType: layouts.Int32, Order: walk.order,
				Tile: walk.tile},
			count: missRatios,
		})
	}
	return all
}

// Run simulates the study for a first level of the given geometry.
func (s Study) Run(d1 simcache.Geometry) ([]Studied, error) {
	p, err := s.Spec.Pattern()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return s.count(s.Name, p, d1)
}

func result(name, key string, value any, unit string, misses, refs uint64) Studied {
	return Studied{Name: fmt.Sprintf("%s/%s=%v/kernel=%v", name, key, value, Scalar), Unit: unit,
		Misses: misses, Refs: refs}
}

// maxSets bounds the results of sets. Each sums neighboring sets if D1 has more.
const maxSets = 64

func setMisses(name string, p Pattern, d1 simcache.Geometry) ([]Studied, error) {
	h, err := simcache.NewHierarchy(simcache.Config{Levels: []simcache.Level{{Name: "D1",
		Geometry: d1}}, Observe: simcache.SetMisses})
	if err != nil {
		return nil, err
	}
	// The state of LRU caches depends on the last pass only, so the second pass is in the steady
	// state.
	var misses [2][]uint64
	for pass := range misses {
		for _, n := range p.Nests {
			if _, err := h.Run(n); err != nil {
				return nil, err
			}
		}
		misses[pass] = append(misses[pass], h.Levels()[0].SetMisses...)
	}
	sets := len(misses[0])
	each := (sets + maxSets - 1) / maxSets
	var all []Studied
	for first := 0; first < sets; first += each {
		sum := uint64(0)
		for set := first; set < min(first+each, sets); set++ {
			sum += misses[1][set] - misses[0][set]
		}
		all = append(all, result(name, "set", first, "D1-misses/op", sum, 0))
	}
	return all, nil
}

// missRatios counts the misses of LRU caches of 1 KiB to 8 MiB, in powers of two and the middles
// between them.
func missRatios(name string, p Pattern, d1 simcache.Geometry) ([]Studied, error) {
	stacks, err := reuse.New(d1.Line, 1)
	if err != nil {
		return nil, err
	}
	var curves [2]reuse.Curve // after one pass and after two
	for pass := range curves {
		for _, n := range p.Nests {
			if err := stacks.Run(n); err != nil {
				return nil, err
			}
		}
		curves[pass] = stacks.Curve()
	}
	var all []Studied
	add := func(kib int) {
		lines := uint64(kib << 10 / d1.Line)
		all = append(all, result(name, "capacity", sizeName(kib<<10), "misses/op",
			curves[1].Misses(lines)-curves[0].Misses(lines), curves[1].Refs-curves[0].Refs))
	}
	for kib := 1; kib <= 8<<10; kib *= 2 {
		add(kib)
		if kib > 1 && kib < 8<<10 {
			add(kib * 3 / 2)
		}
	}
	return all, nil
}
