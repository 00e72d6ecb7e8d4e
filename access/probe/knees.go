package probe

import (
	"cmp"
	"math"
	"slices"
)

// A plateau is a part of a ladder along which the latency stays: one level.
type plateau struct {
	from, to int     // its points, to excluded
	ns       float64 // median of them
	// the last point at which it serves three quarters of the loads; of the last plateau the last
	// point
	capacity int
}

// What a ladder's fit costs. See plateaus.
const (
	tolerance   = 0.2  // deviation in log latency that costs 1
	tooLong     = 1.0  // the most that a point above its plateau costs
	tooShort    = 3.0  // and one below it
	between     = 0.75 // a point of no plateau
	newPlateau  = 1.5
	leastPoints = 4   // of a plateau
	leastLast   = 3   // of the last one, which goes on where the ladder ends
	leastRise   = 1.8 // from one plateau to the next
)

// plateaus finds the levels of a ladder: at least one, if there is a point.
//
// The ladder is taken for plateaus that rise, with transitions between them in which every point is
// a mixture of two levels. Of all ways to cut it into these it takes the one of least cost, by
// dynamic programming (optimal partitioning: Jackson et al., "An algorithm for optimal partitioning
// of data on an interval", 2005). A point of a plateau costs its distance from the plateau's median
// in log latency, up to a bound, so that an outlier costs no more than being one (Fearnhead and
// Rigaill, "Changepoint detection in the presence of outliers", 2019); the bound is higher below
// the median, since what disturbs a measurement makes it longer, never shorter; a point of a
// transition costs a constant; and so does each plateau. The first begins at the first point, and
// the last ends at the last one.
//
// A level's capacity is the last point at which it, or one before it, still
// serves three quarters of the loads: up to which the latency is below its own
// plus a quarter of the step to the next level. Replacement that is not LRU, and
// strangers in a shared cache, make the step a slope; where lines are replaced at
// random, a quarter misses at 1.16 times the capacity. Of all points to cut at,
// it is the last one that leaves fewest on the wrong side, where a point that is
// too short counts for two that are too long.
func plateaus(ladder []Point) []plateau {
	logs := make([]float64, len(ladder))
	for i, p := range ladder {
		logs[i] = math.Log(p.Ns)
	}
	var found []plateau
	for best := cheapest(logs); best != nil; best = best.before {
		found = append(found, plateau{from: best.from, to: best.to, ns: math.Exp(best.level)})
	}
	slices.Reverse(found)
	for i := range found {
		found[i].capacity = len(ladder) - 1
		if i+1 < len(found) {
			found[i].capacity = capacity(ladder, found[i], found[i+1])
		}
	}
	return found
}

// A fit is the cheapest way to end a fit of a ladder in a plateau from one point
// to another.
type fit struct {
	from, to int
	level    float64 // median of the logs
	cost     float64
	before   *fit // the plateau before
}

// cheapest is the cheapest fit of all points, nil if there is none.
func cheapest(logs []float64) *fit {
	ending := make([][]*fit, len(logs)+1) // fits by their end, such as may be part of the best
	for to := 1; to <= len(logs); to++ {
		for from := range to {
			if points := to - from; from > 0 &&
				(points < leastLast || points < leastPoints && to < len(logs)) {
				break
			}
			ending[to] = withFit(ending[to], cheapestLast(logs, ending, from, to))
		}
	}
	if len(logs) == 0 {
		return nil
	}
	return slices.MinFunc(ending[len(logs)], func(a, b *fit) int {
		return cmp.Compare(a.cost, b.cost)
	})
}

// cheapestLast is the cheapest fit whose last plateau is of the points between from and to,
// by the fits that end before it.
func cheapestLast(logs []float64, ending [][]*fit, from, to int) *fit {
	level, cost := flat(logs[from:to])
	best := &fit{from: from, to: to, level: level, cost: math.Inf(1)}
	if from == 0 {
		best.cost = cost + newPlateau
	}
	for end := 1; end <= from; end++ {
		for _, f := range ending[end] {
			total := f.cost + float64(from-end)*between + cost + newPlateau
			if total < best.cost && level-f.level >= math.Log(leastRise) {
				best.cost, best.before = total, f
			}
		}
	}
	return best
}

// withFit adds a fit to those of the same end, unless there is one that costs no
// more and is no higher, which serves all that could follow as well.
func withFit(fits []*fit, f *fit) []*fit {
	worse := func(f, than *fit) bool { return f.cost >= than.cost && f.level >= than.level }
	if math.IsInf(f.cost, 1) || slices.ContainsFunc(fits, func(g *fit) bool {
		return worse(f, g)
	}) {
		return fits
	}
	return append(slices.DeleteFunc(fits, func(g *fit) bool { return worse(g, f) }), f)
}

// flat is the median of points and what they cost as one plateau.
func flat(logs []float64) (level, cost float64) {
	sorted := slices.Sorted(slices.Values(logs))
	level = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	for _, y := range logs {
		if y > level {
			cost += min((y-level)/tolerance, tooLong)
		} else {
			cost += min((level-y)/tolerance, tooShort)
		}
	}
	return level, cost
}

// capacity is the last point that a plateau serves, before the next one.
func capacity(ladder []Point, p, next plateau) int {
	return lastBelow(ladder[:next.from], p.to-1, p.ns+(next.ns-p.ns)/4)
}

// own is the last point that a plateau surely serves itself: up to which the
// latency is not that of a further level.
func own(ladder []Point, p plateau) int {
	return lastBelow(ladder[:p.capacity+1], p.from, leastRise*p.ns)
}

// lastBelow is the last point, from one that is, below a threshold: of all places
// to cut at the one that leaves the fewest on the wrong side.
func lastBelow(ladder []Point, from int, threshold float64) int {
	last, wrong, least := from, 0, 0 // points on the wrong side, more than with this cut
	for i := from + 1; i < len(ladder); i++ {
		if ladder[i].Ns < threshold {
			wrong -= 2 // what disturbs a measurement makes it longer, never shorter
		} else {
			wrong++
		}
		if wrong <= least {
			last, least = i, wrong
		}
	}
	return last
}
