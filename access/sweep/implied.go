package sweep

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// Let two LRU caches have the same lines, and let the larger have no fewer ways and no fewer sets,
// each a part of one of the smaller's. Then the larger always holds all that the smaller holds: set
// refinement and inclusion (Hill and Smith, "Evaluating Associativity in CPU Caches", IEEE
// Transactions on Computers 38(12), 1989). Three exact rules follow for the counts of one pattern:
//
//   - If two such first levels have equal misses, they miss in the same accesses, and their last
//     levels see the same miss stream.
//   - Of last levels with the same miss stream, the larger one misses no more often. So a level
//     between two with equal misses has the same misses.
//   - The first level misses at most in every access, the last level at most where the first does.

// inside reports whether a never holds more than b. Numbers of sets are powers of two.
func inside(a, b simcache.Geometry) bool {
	return a.Line == b.Line && a.Sets() <= b.Sets() && a.Ways <= b.Ways
}

type bounds struct{ least, most uint64 }

// learn narrows b by another cache's misses in the same miss stream.
func (b *bounds) learn(this, other simcache.Geometry, misses uint64) {
	if inside(this, other) {
		b.least = max(b.least, misses)
	}
	if inside(other, this) {
		b.most = min(b.most, misses)
	}
}

// implied returns a point's count if finished points of the same pattern imply it.
func (s *Space) implied(point int, done map[int]count) (c count, ok bool) {
	n := len(s.hierarchies)
	this, from := s.hierarchies[point%n].config, s.twin(point)/n*n
	if c, ok = s.impliedFirst(this, from, done); !ok {
		return c, false
	}
	b := bounds{0, c.d1}
	for k, h := range s.hierarchies {
		other, there := done[from+k]
		if !there || !alike(this, h.config, c, other) {
			continue
		}
		b.learn(this.Last().Geometry, h.config.Last().Geometry, other.ll)
	}
	c.ll = b.most
	return c, b.least == b.most
}

// impliedFirst returns the references and the first level's misses.
func (s *Space) impliedFirst(this simcache.Config, from int,
	done map[int]count) (c count, ok bool) {
	b := bounds{0, ^uint64(0)}
	for k, h := range s.hierarchies {
		other, there := done[from+k]
		if !there {
			continue
		}
		c.refs = other.refs
		b.most = min(b.most, c.refs)
		b.learn(this.First().Geometry, h.config.First().Geometry, other.d1)
	}
	c.d1 = b.most
	return c, b.least == b.most
}

// alike reports whether two first levels with these counts have the same miss stream.
func alike(a, b simcache.Config, ofA, ofB count) bool {
	one, other := a.First().Geometry, b.First().Geometry
	return ofA.d1 == ofB.d1 && (inside(one, other) || inside(other, one))
}

// order returns the order in which hierarchies imply most others: the smallest and largest first
// level, then the middle ones, each with its last levels in the same way.
func order(all []hierarchy) []int {
	first := func(i int) simcache.Geometry { return all[i].config.First().Geometry }
	last := func(i int) simcache.Geometry { return all[i].config.Last().Geometry }
	by := func(a, b simcache.Geometry) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Size, b.Size),
			cmp.Compare(a.Ways, b.Ways))
	}
	list := nest.UpTo(len(all))
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Or(by(first(a), first(b)), by(last(a), last(b)))
	})
	var groups [][]int // with the same first level
	for _, i := range list {
		if n := len(groups); n > 0 && first(groups[n-1][0]) == first(i) {
			groups[n-1] = append(groups[n-1], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	var whole []int
	for _, g := range halving(groups) {
		whole = append(whole, halving(g)...)
	}
	return whole
}

// halving returns a list's ends first, then the middle, then the middles of the halves.
func halving[T any](list []T) []T {
	if len(list) < 3 {
		return list
	}
	found := []T{list[0], list[len(list)-1]}
	for spans := [][2]int{{0, len(list) - 1}}; len(spans) > 0; spans = spans[1:] {
		from, to := spans[0][0], spans[0][1]
		if middle := (from + to) / 2; middle > from {
			found = append(found, list[middle])
			spans = append(spans, [2]int{from, middle}, [2]int{middle, to})
		}
	}
	return found
}

func (s *Space) sort(points []int) {
	n := len(s.hierarchies)
	rank := make([]int, n)
	for at, h := range s.order {
		rank[h] = at
	}
	slices.SortFunc(points, func(a, b int) int {
		return cmp.Or(cmp.Compare(a/n, b/n), cmp.Compare(rank[a%n], rank[b%n]))
	})
}
