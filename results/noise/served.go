package noise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A Rung is the latency of a pointer chase in a working set.
type Rung struct {
	Size int     // bytes
	Ns   float64 // of one load
}

// A Served is how much the last cache level really serves, if far from what the CPU states.
type Served struct {
	Cache results.Cache // as the CPU states it
	// From is the largest working set that the cache mostly serves, To the next larger one, which
	// memory serves.
	From, To int
}

// How far from the stated size, and how steep where memory begins.
const (
	farFrom = 2   // times
	steep   = 2.5 // times the latency of the last level
)

// Ladder returns the rungs of rows: family Latency, one thread.
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

// ServedBy compares a ladder with the caches that the CPU states. far means that memory serves half
// of the last level's stated size, or less. It is false if the simulated last level is not larger
// either, such as a measured one. It is also false without a rung between the level before and the
// stated size.
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

// String returns the finding in words, with advice.
func (s Served) String() string {
	return fmt.Sprintf("%s, stated to hold %s, serves working sets of up to about %s here, and "+
		"memory serves %s and more: bench machine --measure finds the size, and --caches "+
		"measured simulates it",
		show.Printable(s.Cache.Name), show.Bytes(s.Cache.Size), show.Bytes(s.From),
		show.Bytes(s.To))
}

// LastLevel returns a warning as Samples does.
func (s Served) LastLevel() string { return "last-level: " + s.String() }
