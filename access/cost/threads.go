package cost

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// shared predicts a pattern that several threads walk: a pass takes as long as its
// first part, of which none is larger, by a thread that has an equal share of the
// last level, if they share it, and, where all cores together have less than each alone times their
// number, of the bandwidth. Misses are those of all threads, as many an element as
// that part has. What threads read that others read too counts once for each; starting
// and joining threads counts nothing.
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

// among is the model of one of so many threads.
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

// busy is how many times as long a core takes while so many are: in proportion to how many others
// are.
func (t Times) busy(threads int) float64 {
	if t.Cores < 2 {
		return 1
	}
	return 1 + (t.Busy-1)*min(1, float64(threads-1)/float64(t.Cores-1))
}

// hit is what a hit of the first level takes, in ns, while other cores are as busy.
func (m Model) hit() float64 { return m.Times.Hit * max(1, m.busy) }

// Hits is the ns of so many hits of the first level that wait for each other, shared by so many
// threads.
func (m Model) Hits(n float64, threads int) float64 {
	if threads > 1 {
		m = m.among(threads)
	}
	return n / float64(max(threads, 1)) * m.hit()
}

// Accesses is the ns of so many accesses, to what stays in the first level, of loops that a C++
// compiler made, shared by so many threads.
func (m Model) Accesses(n float64, threads int) float64 {
	return m.Hits(n*m.rules().Compiled,
		threads)
}

// serving is what serves the misses of level i: a portion of the last level does as all of it.
func (m Model) serving(i int) Level {
	c := m.Caches
	if m.levels != nil {
		c.Levels = m.levels
	}
	return m.Times.serving(c, i)
}

// whole is what all threads have of level i together, where one of them has so many bytes of
// it: that is what the ladder, which was measured by one thread, tells of.
func (m Model) whole(i int, bytes float64) float64 {
	if i == len(m.Caches.Levels)-1 {
		return bytes * float64(max(m.sharers, 1))
	}
	return bytes
}

// portion is one of so many equal parts of a cache, about: a power of two of sets, and
// the ways that make up for it.
func portion(g simcache.Geometry, parts int) simcache.Geometry {
	lines := max(g.Size/g.Line/parts, 2) // or it is no cache
	sets := 1 << (bits.Len(uint(min(max(g.Sets()/parts, 1), lines))) - 1)
	ways := max(lines/sets, 1)
	return simcache.Geometry{Size: sets * ways * g.Line, Ways: ways, Line: g.Line}
}
