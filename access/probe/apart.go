package probe

import (
	"fmt"
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file has what loads take that do not wait for each other, which is what a CPU does
// with a strided walk: how many it has in flight differs from CPU to CPU, and of
// translations more than of lines.

// nearStep is how far apart lines are whose walk stays within a page for a while, in bytes.
const nearStep = 4 * line

// farStep is how far apart those are that each lie in another page of 4 KiB, in sets that go
// round.
const farStep = 4096 + line

// mostPages are walked over again and again by a far walk, few enough that most TLBs hold them
// on small pages: under a hypervisor that gives no others, huge pages are none.
const mostPages = 512

// scattered is how many pages lie between two that are walked, where each translation is on a
// cache line of page tables of its own: 8 bytes each.
const scattered = line / 8

// apart measures sums of one element a line, at each level behind the first, and of one a page
// beyond the reach of each level of the TLB, from which a sum over as many adjacent lines is
// subtracted: on pages side by side, and on scattered ones.
func (s *sampler) apart(m *Machine) error {
	speeds, sets := s.workingSets(m)
	var lines, pages []access.Spec
	for _, bytes := range sets[1:] {
		lines = append(lines, stepping(bytes, nearStep), stepping(bytes, farStep))
	}
	for i := range m.TLB {
		n := s.beyondReach(m, i)
		pages = append(pages, oneEach(n, line), oneEach(n, PageSize()+line), oneEach(n, scattered*PageSize()+line))
	}
	measure := func(specs []access.Spec, pages access.Pages) ([]float64, error) {
		if len(specs) == 0 {
			s.done += apartShare / 2
			s.progress(0)
			return nil, nil
		}
		return s.least(specs, 10, apartShare/2, pages, nil)
	}
	far, err := measure(lines, s.pages)
	if err != nil {
		return err
	}
	for i := range far {
		v := speeds[1+i/2]
		*[]*float64{&v.Near, &v.Far}[i%2] = far[i]
	}
	walks, err := measure(pages, access.PagesSmall)
	if err != nil || walks == nil {
		return err
	}
	before := [2]float64{}
	for i := range m.TLB {
		for k, v := range []*float64{&m.TLB[i].Apart, &m.TLB[i].Scattered} {
			longer := max(walks[3*i+1+k]-walks[3*i], before[k]) // it missed the nearer levels, too
			*v = longer - before[k]
			before[k] = longer
		}
	}
	return nil
}

// beyondReach is how many pages miss a level of the TLB and hit the next, or of the last four times
// its reach, as far as there is memory.
func (s *sampler) beyondReach(m *Machine, i int) int {
	n := 4 * m.TLB[i].Entries
	if i+1 < len(m.TLB) {
		n = int(math.Sqrt(float64(m.TLB[i].Entries) * float64(m.TLB[i+1].Entries)))
	}
	most := MaxSize / 2
	if s.MaxMemory > 0 {
		most = min(most, s.MaxMemory/2)
	}
	return min(n, most/(scattered*PageSize()+line))
}

// stepping sums an element of each line of so many bytes: of lines a step apart, of those beside
// them, and so on, some pages at a time.
func stepping(bytes, step int) access.Spec {
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	rows := max(min(bytes, mostPages*farStep)/step, 1)
	blocks := max(bytes/(rows*step), 1)
	spec.Shape = []int{blocks * rows * step / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,%d,%d),(%d,%d,%d))", blocks, step/line, rows, rows*step/size, line/size, step/size))
	return spec
}

// oneEach sums so many elements a step apart.
func oneEach(count, step int) access.Spec {
	spec := access.Spec{DType: layouts.Int64}
	size := spec.DType.Size()
	spec.Shape = []int{count * step / size}
	spec.View = layouts.MustParseChain(fmt.Sprintf("as_strided((%d,),(%d,))", count, step/size))
	return spec
}
