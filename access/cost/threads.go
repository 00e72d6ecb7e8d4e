package cost

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// shared predicts a pattern that several threads walk: a pass takes as long as its
// first part, of which none is larger, by a thread that has an equal share of the
// last level and, where all cores together have less than each alone times their
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
		l.Line, l.Stored = max(l.Line, n*l.LineAll), max(l.Stored, n*l.StoredAll)
	}
	if last := len(m.Caches.Levels) - 1; last > 0 {
		m.Caches.Levels = slices.Clone(m.Caches.Levels)
		m.Caches.Levels[last].Geometry = portion(m.Caches.Levels[last].Geometry, threads)
	}
	return m
}

// portion is one of so many equal parts of a cache, about: a power of two of sets, and
// the ways that make up for it.
func portion(g simcache.Geometry, parts int) simcache.Geometry {
	lines := max(g.Size/g.Line/parts, 2) // or it is no cache
	sets := 1 << (bits.Len(uint(min(max(g.Sets()/parts, 1), lines))) - 1)
	ways := max(lines/sets, 1)
	return simcache.Geometry{Size: sets * ways * g.Line, Ways: ways, Line: g.Line}
}
