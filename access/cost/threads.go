package cost

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// shared predicts a pattern that several threads walk. A pass takes the time of its first part,
// which is the largest. A thread has an equal share of a shared last level, and of the bandwidth if
// all cores have less than their sum. The misses of all threads follow from the first part's misses
// per element. Data that several threads read counts once per thread. Starting and joining threads
// costs nothing.
func (m Model) shared(p access.Pattern) (Prediction, error) {
	first := p.Parts()[0]
	sum, err := m.among(len(p.Parts())).Predict(first)
	if err != nil {
		return Prediction{}, err
	}
	more := float64(p.Elems) / float64(first.Elems)
	for i := range sum.Tensors {
		t := &sum.Tensors[i]
		t.Refs *= more
		for _, misses := range [][]float64{t.Levels, t.TLB} {
			for l := range misses {
				misses[l] *= more
			}
		}
	}
	return sum, nil
}

func (m Model) among(threads int) Model {
	n := float64(threads)
	m.Times.Levels = slices.Clone(m.Times.Levels)
	for i := range m.Times.Levels {
		l := &m.Times.Levels[i]
		l.Line, l.Stored, l.Past = max(l.Line, n*l.LineAll), max(l.Stored, n*l.StoredAll),
			max(l.Past, n*l.PastAll)
	}
	m.Times.Streamed = slices.Clone(m.Times.Streamed)
	for i := range m.Times.Streamed {
		s := &m.Times.Streamed[i]
		s.Ns = max(s.Ns, n*s.All)
	}
	m.busy = m.Times.busy(threads)
	last := len(m.Caches.Levels) - 1
	if last == 0 {
		return m
	}
	if m.sharers = threads; m.Caches.Levels[last].SharedBy > 0 {
		m.sharers = min(threads, m.Caches.Levels[last].SharedBy)
	}
	m.levels, m.Caches.Levels = m.Caches.Levels, slices.Clone(m.Caches.Levels)
	m.Caches.Levels[last].Geometry = portion(m.Caches.Levels[last].Geometry, m.sharers)
	return m
}

func (t Times) busy(threads int) float64 {
	if t.Cores < 2 {
		return 1
	}
	return 1 + (t.Busy-1)*min(1, float64(threads-1)/float64(t.Cores-1))
}

func (m Model) hit() float64 { return m.Times.Hit * max(1, m.busy) }

// serving is Times.serving by the undivided levels.
func (m Model) serving(i int) Level {
	c := m.Caches
	if m.levels != nil {
		c.Levels = m.levels
	}
	return m.Times.serving(c, i)
}

// whole returns all threads' bytes in level i, given one's, since one thread measured the ladder.
func (m Model) whole(i int, bytes float64) float64 {
	if i == len(m.Caches.Levels)-1 {
		return bytes * float64(max(m.sharers, 1))
	}
	return bytes
}

// portion returns about 1/parts of a cache: a power of two of sets, and the ways to match the size.
func portion(g simcache.Geometry, parts int) simcache.Geometry {
	lines := max(g.Size/g.Line/parts, 2) // the least cache
	sets := 1 << (bits.Len(uint(min(max(g.Sets()/parts, 1), lines))) - 1)
	ways := max(lines/sets, 1)
	return simcache.Geometry{Size: sets * ways * g.Line, Ways: ways, Line: g.Line}
}
