package probe

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// mostWays is how many lines of one set are tried, one more than the ways of any
// level that this finds.
const mostWays = 34

// manySets is how many sets of a level are tried at once that are one set of the
// level before, so that this one serves few of them.
const manySets = 2

// ways finds the ways of levels by conflict (Saavedra and Smith, "Measuring Cache and
// TLB Performance and Their Effect on Benchmark Runtimes", IEEE Transactions on
// Computers 44(10), 1995): of lines as far apart as a power of two that is no less than
// the level, all fall into one set, and a chase over more of them than it has ways goes
// to the next level. Beyond the first level they are lines of several sets, which all
// fall into one of the level before: that level's own conflict keeps it from serving
// them.
//
// That holds where the set follows from the part of an address that pages leave alone:
// on huge pages. Where a hypervisor takes these apart, lines of one set are on pages of
// one set of the TLB, too: what chases over other lines of the same pages wait longer for
// than over one is not the level's. On small pages it is tried in the first level alone, which many CPUs
// keep to that part, or translate for, and not where the TLB, whose sets those pages
// share too, would be found instead. Last levels, which scatter lines over slices by a
// hash, are larger than what is tried. A level that holds nothing that the one before
// holds is found to have more ways, by half of that one's.
func (s *sampler) ways(m *Machine) error {
	share := waysShare / float64(len(m.Levels))
	for i := range m.Levels {
		next := m.Memory.Latency
		if i+1 < len(m.Levels) {
			next = m.Levels[i+1].Latency
		}
		specs, beside := s.conflicts(m, i)
		if next == 0 || specs == nil {
			s.done += share
			s.progress(0)
			continue
		}
		ns, err := s.least(slices.Concat(specs, beside), 8, share, s.pages, nil)
		if err != nil {
			return err
		}
		ns, pages := ns[:len(specs)], ns[len(specs):]
		for k := range ns {
			ns[k] -= max(0, pages[k]-pages[0])
		}
		found := conflict(ns, m.Levels[i].Latency, next)
		if i == 0 || manySets*found > m.Levels[i-1].Ways {
			m.Levels[i].Ways = found
		}
	}
	return nil
}

// conflicts are chases over one line, two, and so on of the same set of level i, or of
// each of several, and as many of other sets on the same pages, which only wait for
// translations; nil where they would not be, or take more memory than a working set.
func (s *sampler) conflicts(m *Machine, i int) (specs, beside []access.Spec) {
	stride := powerOfTwo(max(m.Levels[i].Capacity, m.Levels[i].Stated))
	if mostWays*(stride+line) > s.MaxSize || !s.tellsSets(m, i) {
		return nil, nil
	}
	apart, sets := line, 1
	if i > 0 {
		before := m.Levels[i-1]
		if before.Ways == 0 {
			return nil, nil
		}
		apart, sets = powerOfTwo(max(before.Capacity, before.Stated)/before.Ways), manySets
	}
	chase := func(n, stride int) access.Spec {
		spec := access.ChaseSpec(n, stride)
		step := apart / spec.DType.Size()
		spec.View = layouts.MustParseChain(fmt.Sprintf("view(%d,%d).slice(1,0,%d,%d)", n, stride/spec.DType.Size(), sets*step, step))
		return spec
	}
	for n := 1; n <= mostWays; n++ {
		specs, beside = append(specs, chase(n, stride)), append(beside, chase(n, stride+line))
	}
	return specs, beside
}

// powerOfTwo is the least that is no less than n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// tellsSets tells whether lines a multiple of level i apart fall into one of its sets,
// and into no few of the TLB's.
func (s *sampler) tellsSets(m *Machine, i int) bool {
	if m.Pages != access.PagesSmall.String() {
		return true
	}
	if i > 0 {
		return false
	}
	t := simcache.TLB{Source: simcache.FromDefault}
	if len(s.TLB) > 0 {
		t = s.TLB[0]
	}
	return t.Source == simcache.FromDefault || t.Ways == t.Entries && t.Entries > mostWays
}

// conflict is the number of lines up to which chases over one line, two, and so on are
// served by a level that takes own ns, before one that takes next; 0 if all are. Where
// lines are replaced at random, one line too many misses at about 2/W of the times in W
// ways, so that less of the step to the next level tells than in a ladder.
func conflict(ns []float64, own, next float64) int {
	var points []Point
	for i, t := range ns {
		points = append(points, Point{i + 1, t})
	}
	last := lastBelow(points, 0, own+(next-own)/12)
	if last+1 == len(points) || median(points[last+1:]) < (own+next)/2 {
		return 0
	}
	return points[last].Size
}

// pageWays is how many times the stated ways of the TLB are tried.
const pageWays = 4

// translations measures of the last of several levels of the TLB up to how many pages that are a
// multiple of its sets apart it translates, which are its ways if the lowest bits of a page's number
// choose the set. CPUs that mix others in translate more: of what is strided, these are as good as more
// ways, and where no stride that is tried has its pages share a set, as of one set for all (Gras et al., "Translation Leak-aside Buffer", USENIX Security 2018, found such on all that they
// tried). So many pages are walked of each of some sets that the nearer level has not the room for all.
func (s *sampler) translations(m *Machine) error {
	i := len(m.TLB) - 1
	var specs, beside []access.Spec
	var stated simcache.TLB
	if i > 0 && i < len(s.TLB) {
		stated = s.TLB[i]
		stated.Entries = max(stated.Entries, m.TLB[i].Entries)
		specs, beside = s.strides(m.TLB[i-1].Entries, stated)
	}
	if len(specs) < 2 {
		s.done += translationsShare
		s.progress(0)
		return nil
	}
	ns, err := s.least(slices.Concat(specs, beside), 8, translationsShare, access.PagesSmall, nil)
	if err != nil {
		return err
	}
	for k := 1; k < len(specs) && ns[k] < ns[len(specs)+k]+m.TLB[i].Miss/3; k++ {
		m.TLB[i].Ways = stated.Ways << (k - 1)
	}
	if m.TLB[i].Ways == pageWays*stated.Ways {
		m.TLB[i].Ways = m.TLB[i].Entries
	}
	return nil
}

// strides are chases over half as many pages as a level of the TLB states ways, over as many, and so on,
// of each of some sets, so that there are more than the nearer level has entries; and beside each one over as many
// pages that follow one another, whose lines take as much room in the caches.
func (s *sampler) strides(nearer int, t simcache.TLB) (specs, beside []access.Spec) {
	// A multiple of the sets, which are a power of two, where the entries were found and the ways are another CPU's.
	apart := powerOfTwo(t.Entries/t.Ways)*PageSize() + line
	sets := 3*nearer/t.Ways + 1 // of at least half the ways, so that there are half as many again
	if t.Ways < 2 || sets*(PageSize()+line) > apart {
		return nil, nil
	}
	for n := t.Ways / 2; n <= pageWays*t.Ways && n*apart <= s.MaxSize; n = max(2*n, t.Ways) {
		spec := access.ChaseSpec(n, apart)
		size := spec.DType.Size()
		step := (PageSize() + line) / size
		spec.View = layouts.MustParseChain(fmt.Sprintf("view(%d,%d).slice(1,0,%d,%d)", n, apart/size, sets*step, step))
		specs, beside = append(specs, spec), append(beside, access.ChaseSpec(n*sets, PageSize()+line))
	}
	return specs, beside
}
