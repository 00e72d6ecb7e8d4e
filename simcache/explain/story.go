package explain

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A story follows the lines of one operand of the largest nest. Each miss of the tensor in the
// first level belongs to exactly one part of one story.
type story struct {
	path
	counted bool       // with simcache.Classes
	first   uint64     // misses at the first touch of a line
	returns []comeback // reuses of lines, those that lose most first
	// The tensor's misses in the pattern's other nests, at a first touch and later. The story of
	// its first operand holds them.
	elsewhere, again uint64
	loses            []bool // by level, whether any reuse of the tensor misses there
}

// A comeback is the operand's references whose reuse interval spans the same loop, or pass.
type comeback struct {
	since simcache.Since
	loop  int    // of simcache.ThisLoop
	lines uint64 // reuse distance of one of the references, in lines; 0 if not known
	fates []fate // by level, up to the first that loses nothing
}

// A fate counts what a level did with the lines of a comeback.
type fate struct {
	level    int
	came     uint64 // references that reached it
	never    uint64 // misses of lines that no reference had brought in
	capacity uint64 // misses that a fully associative LRU cache of its size has, too
	conflict uint64 // misses that such a cache has not
}

func (f fate) lost() uint64 { return f.never + f.capacity + f.conflict }

func (r Run) stories() []story {
	if len(r.Nests) == 0 {
		return nil
	}
	largest := slices.MaxFunc(r.Nests, func(a, b nest.Nest) int {
		return a.Iterations() - b.Iterations()
	})
	n := largest.Canonical()
	if n.Iterations() <= 1 {
		return nil
	}
	var stories []story
	for op := range n.Operands {
		stories = append(stories, r.story(path{n, op}))
	}
	return stories
}

// number returns the index among the different canonical nests, as in simcache.Reuse.
func (r Run) number(n nest.Nest) int {
	var different []nest.Nest
	for _, m := range r.Nests {
		m = m.Canonical()
		if reflect.DeepEqual(m, n) {
			break
		}
		if !slices.ContainsFunc(different, func(d nest.Nest) bool {
			return reflect.DeepEqual(d, m)
		}) {
			different = append(different, m)
		}
	}
	return len(different)
}

func (r Run) story(w path) story {
	s := story{path: w, counted: r.Config.Observe&simcache.Classes != 0}
	number, tensor := r.number(w.Nest), w.operand().Tensor
	one := slices.IndexFunc(w.Operands, func(op nest.Operand) bool { return op.Tensor == tensor })
	for level, l := range r.Levels {
		loses := false
		for _, u := range l.Reuses {
			loses = loses || u.Tensor == tensor && u.Since != simcache.Never && u.Misses() > 0
			mine := u.Nest == number && u.Operand == w.op
			switch {
			case level > 0:
			case mine && u.Since == simcache.Never:
				s.first += u.Misses()
			case mine:
				s.returns = append(s.returns, r.comeback(u))
			case u.Nest != number && u.Tensor == tensor && w.op == one && u.Since == simcache.Never:
				s.elsewhere += u.Misses()
			case u.Nest != number && u.Tensor == tensor && w.op == one:
				s.again += u.Misses()
			}
		}
		s.loses = append(s.loses, loses)
	}
	slices.SortStableFunc(s.returns, func(a, b comeback) int {
		return cmp.Or(cmp.Compare(b.fates[0].lost(), a.fates[0].lost()),
			cmp.Compare(b.fates[0].came, a.fates[0].came))
	})
	return s
}

// comeback follows references down to the level that has all their lines.
func (r Run) comeback(first simcache.Reuse) comeback {
	c := comeback{since: first.Since, loop: first.Loop, lines: first.Lines}
	for level, l := range r.Levels {
		for _, u := range l.Reuses {
			if u.Nest == first.Nest && u.Operand == first.Operand && u.Since == first.Since &&
				u.Loop == first.Loop {
				c.fates = append(c.fates, fate{level, u.Refs, u.Compulsory, u.Capacity, u.Conflict})
			}
		}
		if len(c.fates) <= level || c.fates[level].lost() == 0 {
			break
		}
	}
	return c
}

// leaves reports whether the operand touched other lines of its own before the reuse, or may have.
func (s story) leaves(c comeback) bool {
	return c.since != simcache.ThisIteration &&
		!(c.since == simcache.ThisLoop && c.loop == s.inner())
}

// told returns the comebacks to report: all that lost a line in the first level. Else it is the
// most frequent reuse of a line that the operand had left.
func (s story) told() []comeback {
	losing := slices.IndexFunc(s.returns, func(c comeback) bool { return c.fates[0].lost() == 0 })
	if losing != 0 {
		if losing < 0 {
			losing = len(s.returns)
		}
		return s.returns[:losing]
	}
	if left := slices.IndexFunc(s.returns, s.leaves); left >= 0 {
		return s.returns[left : left+1]
	}
	return nil
}

func (s story) misses() uint64 {
	misses := s.first
	for _, c := range s.returns {
		misses += c.fates[0].lost()
	}
	return misses
}

// inside returns the loops from a line's last touch to its reuse, or more.
func (s story) inside(c comeback) path {
	if c.since == simcache.ThisLoop {
		return s.within(c.loop)
	}
	return s.path
}
