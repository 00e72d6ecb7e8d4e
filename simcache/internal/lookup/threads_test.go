package lookup

import (
	"iter"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// A plainThread makes its accesses one by one.
type plainThread struct {
	caches *reference.Caches
	next   func() (plainAccess, bool)
	misses [][]uint64
}

// A plainAccess is one of a nest; last if it is of the last operand.
type plainAccess struct {
	nest, op int
	addr     uint64
	last     bool
}

// accessesOf are those of nests, one after the other.
func accessesOf(nests []nest.Nest) iter.Seq[plainAccess] {
	return func(yield func(plainAccess) bool) {
		for i, n := range nests {
			for op, addr := range n.Accesses() {
				if !yield(plainAccess{i, op, addr, op == len(n.Operands)-1}) {
					return
				}
			}
		}
	}
}

// plainPass is what Threads.Pass says that it is.
func plainPass(caches []*reference.Caches, levels int, threads [][]nest.Nest,
	turn int) [][][]uint64 {
	var all []*plainThread
	for i, nests := range threads {
		next, stop := iter.Pull(accessesOf(nests))
		defer stop()
		p := &plainThread{caches: caches[i], next: next}
		for _, n := range nests {
			p.misses = append(p.misses, make([]uint64, len(n.Operands)*levels))
		}
		all = append(all, p)
	}
	for more := true; more; {
		more = false
		for i, p := range all {
			for made := 1; ; made++ {
				a, any := p.next()
				if !any {
					break
				}
				more = true
				for level := range p.caches.Access(a.addr,
					uint64(threads[i][a.nest].Operands[a.op].Width)) {
					p.misses[a.nest][a.op*levels+level]++
				}
				if made >= turn && a.last {
					break
				}
			}
		}
	}
	var misses [][][]uint64
	for _, p := range all {
		misses = append(misses, p.misses)
	}
	return misses
}

// TestThreads compares the misses of threads that take turns, at each level, own or
// shared, with what caches are, on random levels and nests.
func TestThreads(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 57)
		levels := d.Levels()
		sharedBy := make([]int, len(levels))
		for l := range sharedBy {
			sharedBy[l] = 1 + d(4)
		}
		threads := make([][]nest.Nest, 1+d(4))
		var canonical [][]nest.Nest
		for i := range threads {
			var list []nest.Nest
			for range d(3) + 1 {
				n := d.Nest(levels, 400)
				if d.One(50) && len(n.Operands) > 0 {
					n.Operands[0].Base += 1 << 52
				}
				threads[i], list = append(threads[i], n), append(list, n.Canonical())
			}
			canonical = append(canonical, list)
		}
		got := NewThreads(levels, sharedBy, canonical)
		got.turn = 1 + d(200)
		var caches []*reference.Caches
		for i := range threads {
			c := reference.New(levels)
			for l, by := range sharedBy {
				if i%by > 0 {
					c.Share(l, caches[i-1])
				}
			}
			caches = append(caches, c)
		}
		for pass := range 1 + d(3) {
			want := plainPass(caches, len(levels), threads, got.turn)
			if have := got.Pass(); !slices.EqualFunc(have, want, func(a, b [][]uint64) bool {
				return slices.EqualFunc(a, b, slices.Equal)
			}) {
				t.Fatalf("seed %d, %+v shared by %v, turns of %d, pass %d, %v:\n%v, want\n%v", seed,
					levels, sharedBy, got.turn, pass, threads, have, want)
			}
		}
	}
}

// TestThreadsInOrder: what one thread has just brought into a level that they share,
// the next one finds, if turns are short; each on caches of its own finds nothing.
func TestThreadsInOrder(t *testing.T) {
	stream := nest.Nest{Trips: []int{4 * Turn},
		Operands: []nest.Operand{enginetest.Operand(0, 64, 64)}}
	levels := []engine.Level{{Sets: 1, Ways: 1, Shift: 6}, {Sets: 2 * Turn, Ways: 1, Shift: 6}}
	for _, c := range []struct {
		shared int
		want   uint64
	}{{1, 4 * Turn}, {2, 0}} {
		pass := NewThreads(levels, []int{1, c.shared}, [][]nest.Nest{{stream}, {stream}}).Pass()
		if first, second := pass[0][0], pass[1][0]; first[1] != 4*Turn || second[1] != c.want {
			t.Errorf("shared by %d: %v and %v misses, want %d of the last level by the second",
				c.shared, first, second, c.want)
		}
	}
}
