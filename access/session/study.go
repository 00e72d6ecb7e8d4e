package session

import (
	"fmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A study is a pattern that is simulated but not timed, for results that the counts of a pass do
// not contain. Results are exact.
type study struct {
	name  string // prefix of its results; never changes
	spec  access.Spec
	count func(p access.Pattern, d1 simcache.Geometry) ([]studied, error)
}

// A studied is one result of a study.
type studied struct {
	key    string // last part of its name
	unit   string // of misses
	misses uint64 // per pass in the steady state
	refs   uint64 // 0 if misses are not a share of references
}

// Studies returns the names of the suite's studies, which are prefixes of their results' names. A
// study is a pattern that is simulated but not timed. They take so little time that the quick suite
// has them too.
//
// Sets counts the misses of each set of D1 when a few columns are summed by columns. Rows a power
// of two bytes apart have few conflict sets. MissRatio counts the misses of fully associative LRU
// caches by capacity, with D1's line size.
func Studies() (names []string) {
	for _, s := range studies() {
		names = append(names, s.name)
	}
	return names
}

// rowPad is a cache line of int32, as in access.Suite.
const rowPad = 16

func studies() (all []study) {
	const n, columns = 512, 16
	for _, pad := range []int{0, rowPad} {
		all = append(all, study{
			name: fmt.Sprintf("Sets/op=sum/order=col/shape=%dx%d/dtype=int32/pad=%d/columns=%d", n,
				n, pad, columns),
			spec: access.Spec{Op: access.Sum, Shape: []int{n, n + pad}, DType: layouts.Int32,
				View:  layouts.MustParseChain(fmt.Sprintf("narrow(1,0,%d)", columns)),
				Order: access.Col},
			count: setMisses,
		})
	}
	for _, walk := range []struct {
		order access.Order
		key   string
		tile  []int
	}{{access.Row, "", nil}, {access.Col, "", nil}, {access.Col, "/tile=32", []int{32, 32}}} {
		all = append(all, study{
			name: fmt.Sprintf("MissRatio/op=sum/order=%v/shape=1024x1024/dtype=int32%s",
				walk.order, walk.key),
			spec: access.Spec{Op: access.Sum, Shape: []int{1024, 1024}, DType: layouts.Int32,
				Order: walk.order, Tile: walk.tile},
			count: missRatios,
		})
	}
	return all
}

// records simulates the study for a first level of the given geometry.
func (s study) records(d1 simcache.Geometry) (records []Record, err error) {
	p, err := s.spec.Pattern()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	all, err := s.count(p, d1)
	for _, one := range all {
		var values []results.Value
		if one.refs > 0 {
			values = append(values, results.Value{Value: float64(one.refs), Unit: "D-refs/op"})
		}
		values = append(values, results.Value{Value: float64(one.misses), Unit: one.unit})
		records = append(records, Record{Passes: 1, Values: values,
			Name: fmt.Sprintf("%s/%s/kernel=%v", s.name, one.key, access.Scalar)})
	}
	return records, err
}

// maxSets bounds the results of sets. Each sums neighboring sets if D1 has more.
const maxSets = 64

func setMisses(p access.Pattern, d1 simcache.Geometry) ([]studied, error) {
	h, err := simcache.NewHierarchy(simcache.Config{Levels: []simcache.Level{{Name: "D1",
		Geometry: d1}}, Observe: "sets"})
	if err != nil {
		return nil, err
	}
	// The state of LRU caches depends on the last pass only, so the second pass is in the steady
	// state.
	var misses [2][]uint64
	for pass := range misses {
		for _, n := range p.Nests {
			if _, err := h.Run(1, n); err != nil {
				return nil, err
			}
		}
		misses[pass] = append(misses[pass], h.Levels()[0].SetMisses...)
	}
	sets := len(misses[0])
	each := (sets + maxSets - 1) / maxSets
	var all []studied
	for first := 0; first < sets; first += each {
		sum := uint64(0)
		for set := first; set < min(first+each, sets); set++ {
			sum += misses[1][set] - misses[0][set]
		}
		all = append(all, studied{fmt.Sprintf("set=%d", first), "D1-misses/op", sum, 0})
	}
	return all, nil
}

// missRatios counts the misses of LRU caches of 1 KiB to 8 MiB, in powers of two and the middles
// between them.
func missRatios(p access.Pattern, d1 simcache.Geometry) ([]studied, error) {
	meter, err := reuse.NewMeter(simcache.Config{Levels: simcache.TwoLevels(d1, d1)}, 1)
	if err != nil {
		return nil, err
	}
	var curves [2]*reuse.Table // after one pass and after two
	for pass := range curves {
		if err := meter.Passes(1, nest.Sequence(p.Nests...)); err != nil {
			return nil, err
		}
		curves[pass] = meter.Table()
	}
	var all []studied
	add := func(kib int) {
		lines := uint64(kib << 10 / d1.Line)
		all = append(all, studied{fmt.Sprintf("capacity=%v", strict.Size(kib<<10)), "misses/op",
			curves[1].Misses(lines) - curves[0].Misses(lines), curves[1].Refs - curves[0].Refs})
	}
	for kib := 1; kib <= 8<<10; kib *= 2 {
		add(kib)
		if kib > 1 && kib < 8<<10 {
			add(kib * 3 / 2)
		}
	}
	return all, nil
}
