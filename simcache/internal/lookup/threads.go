package lookup

import (
	"iter"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Turn is the number of references in a thread's turn. What threads read at about the same time
// should be read so here: a turn of 64-byte vectors covers 64 KiB.
const Turn = 1 << 10

// Threads are chains of threads that walk nests in turns and share some caches; see
// simcache.NewThreads.
//
// Within a turn no other thread touches a cache, and at its end nothing waits. So each level sees
// all references in the order of the turns.
type Threads struct {
	chains []*Chain
	nests  [][]nest.Nest // canonical, by thread
	turn   int           // Turn
}

// NewThreads returns a chain for each thread of canonical nests. sharedBy is the number of
// consecutive threads that share each level's caches.
func NewThreads(levels []engine.Level, sharedBy []int, nests [][]nest.Nest) *Threads {
	t := &Threads{nests: nests, turn: Turn}
	last := lastByte(nests)
	for i := range nests {
		var all []rows
		for l, level := range levels {
			if i%sharedBy[l] > 0 {
				all = append(all, t.chains[i-1].levels[l])
			} else {
				all = append(all, newRows(level, false))
			}
		}
		c := chainOf(all, Options{})
		if last >= c.limit { // now: rows that widen later are no longer shared
			c.Widen()
		}
		t.chains = append(t.chains, c)
	}
	return t
}

// lastByte returns the last byte touched. For a nest without iterations it may be too high, which
// only widens rows needlessly.
func lastByte(threads [][]nest.Nest) (last uint64) {
	for _, nests := range threads {
		for _, n := range nests {
			for _, op := range n.Operands {
				_, end := op.Reach(n.Trips)
				last = max(last, end)
			}
		}
	}
	return last
}

// Pass simulates a pass of each thread and returns misses by thread, ordered as in Engine.Run.
func (t *Threads) Pass() [][][]uint64 {
	misses := make([][][]uint64, len(t.chains))
	turns := make([]func() (struct{}, bool), len(t.chains))
	for i, c := range t.chains {
		next, stop := iter.Pull(c.turns(t.nests[i], t.turn, &misses[i]))
		defer stop()
		turns[i] = next
	}
	for walking := len(turns); walking > 0; {
		for i, turn := range turns {
			if turn == nil {
				continue
			}
			if _, more := turn(); !more {
				turns[i] = nil
				walking--
			}
		}
	}
	return misses
}

// Work returns the number of references looked up.
func (t *Threads) Work() (sum uint64) {
	for _, c := range t.chains {
		sum += c.Work()
	}
	return sum
}

// turns walks nests, appends their misses, and yields after each turn of size references.
func (c *Chain) turns(nests []nest.Nest, size int, misses *[][]uint64) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		t := turn{c, size, size, yield}
		for _, n := range nests {
			c.Track(len(n.Operands))
			if !t.walk(nest.Sequence(n)) {
				return
			}
			c.Flush()
			*misses = append(*misses, engine.ByOperand(c.misses, len(n.Operands)))
		}
	}
}

type turn struct {
	c     *Chain
	size  int // references
	left  int // references left
	yield func(struct{}) bool
}

func (t *turn) walk(p nest.Program) bool {
	all := p.Operands()
	transits := make([]*transit, len(all))
	for run := range p.Runs() {
		w, operands := t.c.transit(transits, run, all), len(run.Addrs)
		for from := uint64(0); from < w.trips; {
			some := min(w.trips-from, uint64((t.left+operands-1)/operands))
			w.part(from, from+some)
			from += some
			if t.left -= int(some) * operands; t.left <= 0 && !t.end() {
				return false
			}
		}
	}
	return true
}

// end lets the other threads take their turns.
func (t *turn) end() bool {
	t.c.Flush()
	t.left = t.size
	return t.yield(struct{}{})
}
