package probe

import (
	"fmt"
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures independent loads, as in a strided walk. CPUs differ in how many loads they
// keep in flight, and differ more in how many translations.

// NearStep is the bytes between lines in a walk that stays within a page for a while.
const NearStep = 4 * line

// nearBytes are walked repeatedly. Most TLBs hold their pages even if these are small, since some
// hypervisors provide no huge pages.
const nearBytes = 512 * 4160

// crowd is the ratio of a conflict set's lines to its ways. The set keeps none of them until their
// reuse. With only a few more lines than ways it would keep some.
const crowd = 8

// apart measures sums of one element per line at each level after the first, and sums and fills of
// a conflict set of the first level. For each TLB level it measures sums of one element per page
// beyond its reach, and subtracts a sum over as many adjacent lines.
func (s *sampler) apart(m *Machine) error {
	speeds, sets := s.workingSets(m)
	var lines, pages, stores []access.Spec
	for _, bytes := range sets[1:] {
		lines = append(lines, stepping(bytes))
	}
	if len(speeds) > 1 {
		step, ways := s.oneSet()
		sum := crowding(step, ways)
		fill := sum
		fill.Op = access.Fill
		lines, stores = append(lines, sum), append(stores, fill)
	}
	for i := range m.TLB {
		n := s.beyondReach(m, i)
		pages = append(pages, oneEach(n, line), oneEach(n, PageSize()+line))
	}
	measure := func(specs []access.Spec, share float64, pages access.Pages) ([]float64, error) {
		if len(specs) == 0 {
			return nil, nil
		}
		return s.least(specs, 10, share*apartShare, pages, nil)
	}
	near, err := measure(lines, .4, s.pages)
	if err != nil {
		return err
	}
	stored, err := measure(stores, .1, s.pages) // apart, as it writes what the sums read
	if err != nil {
		return err
	}
	for i := range sets[1:] {
		speeds[1+i].Near = near[i]
	}
	if len(speeds) > 1 {
		speeds[1].Crowded, speeds[1].CrowdedStore = near[len(near)-1], stored[0]
	}
	walks, err := measure(pages, .5, access.PagesSmall)
	if err != nil || walks == nil {
		return err
	}
	before := 0.0
	for i := range m.TLB {
		longer := max(walks[2*i+1]-walks[2*i], before) // it missed the nearer levels, too
		m.TLB[i].Apart, before = longer-before, longer
	}
	return nil
}

// oneSet returns the bytes between lines of one set of the first level, and its ways. Both are as
// the machine states, or else as on most machines.
func (s *sampler) oneSet() (step, ways int) {
	if data := stated(s.Caches); len(data) > 0 && data[0].Geometry.Ways > 0 {
		g := data[0].Geometry
		return g.Size / g.Ways, g.Ways
	}
	return 4096, 8
}

// beyondReach returns a number of pages that misses TLB level i and hits the next. For the last
// level it is four times the reach, if memory allows.
func (s *sampler) beyondReach(m *Machine, i int) int {
	n := 4 * m.TLB[i].Entries
	if i+1 < len(m.TLB) {
		n = int(math.Sqrt(float64(m.TLB[i].Entries) * float64(m.TLB[i+1].Entries)))
	}
	most := MaxSize / 2
	if s.MaxMemory > 0 {
		most = min(most, s.MaxMemory/2)
	}
	return min(n, most/(PageSize()+line))
}

// stepping sums an element per line: lines [NearStep] apart, then their neighbours, and so on, some
// pages at a time.
func stepping(bytes int) access.Spec {
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	rows := max(min(bytes, nearBytes)/NearStep, 1)
	blocks := max(bytes/(rows*NearStep), 1)
	spec.Shape = []int{blocks * rows * NearStep / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,%d,%d),(%d,%d,%d))",
		blocks, NearStep/line, rows, rows*NearStep/size, line/size, NearStep/size))
	return spec
}

// crowding sums an element per line of a conflict set, then of the neighbours of these lines, and
// so on.
func crowding(step, ways int) access.Spec {
	const rounds = 8
	lines := crowd * ways
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	spec.Shape = []int{(lines*step + rounds*line) / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,%d),(%d,%d))", rounds, lines,
		line/size, step/size))
	return spec
}

func oneEach(count, step int) access.Spec {
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	spec.Shape = []int{count * step / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,),(%d,))", count, step/size))
	return spec
}
