package noise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/results"
)

// A Rung is the latency of a load in a working set, of a pointer chase.
type Rung struct {
	Size int     // bytes
	Ns   float64 // of a load
}

// Served is how much the last level of the caches serves, as a ladder of latencies shows
// it, where that is far from what the CPU states.
type Served struct {
	Cache results.Cache // as the CPU states it
	// From is the largest working set that it mostly serves, and To the next larger one,
	// of which memory mostly does.
	From, To int
}

// What is far from what is stated, and how steep a ladder is where memory begins.
const (
	farFrom = 2   // times
	steep   = 2.5 // times the latency of the last level
)

// Ladder is the rungs of rows: those of family Latency, of one thread.
func Ladder(rows []results.Row) (ladder []Rung) {
	for _, r := range rows {
		alone := r.Key("threads") == "" || r.Key("threads") == "1"
		if ns := r.Stats["sec/elem"].Center * 1e9; r.Family() == "Latency" && alone &&
			r.Bytes("size") > 0 && ns > 0 {
			ladder = append(ladder, Rung{r.Bytes("size"), ns})
		}
	}
	return ladder
}

// ServedBy compares a ladder with the caches that the CPU states: memory serves half of
// what its last level is stated to hold, or less. It is no news, and far is false, where
// the last level that was simulated is not larger than that either, as one that was
// measured. Where the ladder has no rung between the level before and the last one's
// stated capacity, nothing is known.
func ServedBy(ladder []Rung, stated []results.Cache, simulated results.Cache) (s Served, far bool) {
	caches := slices.DeleteFunc(slices.Clone(stated), func(c results.Cache) bool {
		return c.Name == "L1i"
	})
	slices.SortStableFunc(caches, func(a, b results.Cache) int {
		return cmp.Compare(a.Size, b.Size)
	})
	if len(caches) < 2 {
		return s, false
	}
	last, before := caches[len(caches)-1], caches[len(caches)-2]
	rungs := slices.DeleteFunc(slices.Clone(ladder), func(r Rung) bool {
		return r.Size <= before.Size || !(r.Ns > 0)
	})
	if len(rungs) < 2 {
		return s, false
	}
	slices.SortFunc(rungs, func(a, b Rung) int { return cmp.Compare(a.Size, b.Size) })
	least := slices.MinFunc(rungs, func(a, b Rung) int { return cmp.Compare(a.Ns, b.Ns) }).Ns
	memory := rungs[len(rungs)-1].Ns
	if memory < steep*least {
		return s, false
	}
	edge := len(rungs) - 1
	for edge > 0 && rungs[edge-1].Ns > math.Sqrt(least*memory) {
		edge--
	}
	if edge == 0 { // memory serves all that the level before does not
		return s, false
	}
	s = Served{last, rungs[edge-1].Size, rungs[edge].Size}
	return s, farFrom*s.To <= last.Size && simulated.Size >= farFrom*s.To
}

// String says it with what to do about it.
func (s Served) String() string {
	return fmt.Sprintf("%s, stated to hold %s, serves working sets of up to about %s here, and "+
		"memory serves %s and more: bench machine --measure finds the size, and --caches "+
		"measured simulates it",
		results.Printable(s.Cache.Name), results.Bytes(s.Cache.Size), results.Bytes(s.From),
		results.Bytes(s.To))
}

// LastLevel is the warning of it, as Samples has them.
func (s Served) LastLevel() string { return "last-level: " + s.String() }
