package probe

import (
	"cmp"
	"math"
	"slices"
)

// A plateau is a part of a ladder with constant latency: one level.
type plateau struct {
	from, to int     // points from:to
	ns       float64 // median
	// the last point at which it serves three quarters of the loads; the last point of the ladder
	// for the last plateau
	capacity int
}

// The costs of a ladder's fit. See plateaus.
const (
	tolerance   = 0.2  // deviation in log latency that costs 1
	tooLong     = 1.0  // most cost of a point above its plateau
	tooShort    = 3.0  // most cost of a point below it
	between     = 0.75 // cost of a point in no plateau
	newPlateau  = 1.5
	leastPoints = 4   // points of a plateau
	leastLast   = 3   // points of the last plateau, which continues past the ladder
	leastRise   = 1.8 // from one plateau to the next
)

// plateaus returns the levels of a ladder. It returns at least one if there is a point.
//
// It fits rising plateaus with transitions between them, in which points mix two levels. It finds
// the fit of least cost by dynamic programming (optimal partitioning: Jackson et al., "An algorithm
// for optimal partitioning of data on an interval", 2005). A point of a plateau costs its distance
// from the median in log latency. A bound limits the cost of an outlier (Fearnhead and Rigaill,
// "Changepoint detection in the presence of outliers", 2019). The bound is higher below the median,
// because disturbances lengthen times and never shorten them. A point of a transition costs a
// constant, and so does each plateau. The first plateau begins at the first point, and the last one
// ends at the last point.
//
// A level's capacity is the last point at which it and the levels before it serve three quarters of
// the loads. The latency there is below its own plus a quarter of the step to the next level. The
// step is a slope if replacement is not LRU or if others use a shared cache. Under random
// replacement, a quarter of the loads misses at 1.16 times the capacity. The cut is the last one
// that leaves fewest points on the wrong side. A point that is too short counts as two that are too
// long.
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

// A fit is the cheapest fit of a ladder that ends in a plateau of these points.
type fit struct {
	from, to int
	level    float64 // median of the logs
	cost     float64
	before   *fit // the plateau before
}

func cheapest(logs []float64) *fit {
	ending := make([][]*fit, len(logs)+1) // by end, those that may be part of the best fit
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

// withFit adds a fit to the fits of the same end, unless another has at most its cost and level.
// The other one can precede whatever could follow f.
func withFit(fits []*fit, f *fit) []*fit {
	worse := func(f, than *fit) bool { return f.cost >= than.cost && f.level >= than.level }
	if math.IsInf(f.cost, 1) || slices.ContainsFunc(fits, func(g *fit) bool {
		return worse(f, g)
	}) {
		return fits
	}
	return append(slices.DeleteFunc(fits, func(g *fit) bool { return worse(g, f) }), f)
}

func flat(logs []float64) (level, cost float64) {
	level = middle(logs)
	for _, y := range logs {
		if y > level {
			cost += min((y-level)/tolerance, tooLong)
		} else {
			cost += min((level-y)/tolerance, tooShort)
		}
	}
	return level, cost
}

// capacity returns the last point that a plateau serves before the next one.
func capacity(ladder []Point, p, next plateau) int {
	return lastBelow(ladder[:next.from], p.to-1, p.ns+(next.ns-p.ns)/4)
}

// own returns the last point that a plateau serves alone, before another level's latency appears.
func own(ladder []Point, p plateau) int {
	return lastBelow(ladder[:p.capacity+1], p.from, leastRise*p.ns)
}

// lastBelow returns the last point below a threshold, starting at a point that is below. It chooses
// the cut with the fewest points on the wrong side.
func lastBelow(ladder []Point, from int, threshold float64) int {
	last, wrong, least := from, 0, 0 // points on the wrong side, relative to this cut
	for i := from + 1; i < len(ladder); i++ {
		if ladder[i].Ns < threshold {
			wrong -= 2 // disturbances lengthen times and never shorten them
		} else {
			wrong++
		}
		if wrong <= least {
			last, least = i, wrong
		}
	}
	return last
}
