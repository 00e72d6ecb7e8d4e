package history

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A split is a place in a series from which on its values are others.
type split struct {
	At         int     // index of the first value after the change
	Confidence float64 // 1 - p of the permutation test
}

// minSegment is the least number of values between two changes: fewer say
// little of a distribution.
const minSegment = 3

// permutations are tried to find out how often chance does as well. The least p
// is one in permutations+1.
const permutations = 499

// divide finds the changes of a series' distribution by E-divisive (Matteson
// and James, "A Nonparametric Approach for Multiple Change Point Analysis of
// Multivariate Data", Journal of the American Statistical Association 109,
// 2014, https://arxiv.org/abs/1306.4933), with exponent 1 and, as MongoDB's and
// Otava's use of it, with the right part of a split reaching to the end of its
// segment. Changes are found one at a time, the clearest first, as long as
// the permutation test, values shuffled within their segments, gives at most
// alpha. The shuffles are seeded: the same series gives the same changes.
func divide(series []float64, alpha float64) []split {
	random := rand.New(rand.NewPCG(1, uint64(len(series))))
	segments := []segment{newSegment(series, 0)}
	var found []split
	for {
		k := clearest(segments)
		at, q := segments[k].at, segments[k].q
		if at == 0 {
			break
		}
		p := significance(segments, q, alpha, random)
		if p > alpha {
			break
		}
		s := segments[k]
		segments = slices.Replace(segments, k, k+1, newSegment(s.values[:at], s.start),
			newSegment(s.values[at:], s.start+at))
		found = append(found, split{s.start + at, 1 - p})
	}
	slices.SortFunc(found, func(a, b split) int { return cmp.Compare(a.At, b.At) })
	return found
}

// clearest is the segment with the largest statistic.
func clearest(segments []segment) int {
	best := 0
	for i, s := range segments {
		if s.q > segments[best].q {
			best = i
		}
	}
	return best
}

// significance is the p-value of the statistic q: how often the segments,
// shuffled, have one as large. It stops where p is beyond alpha for sure.
func significance(segments []segment, q, alpha float64, random *rand.Rand) float64 {
	shuffled := make([]segment, len(segments))
	for i, s := range segments {
		shuffled[i] = s
		shuffled[i].ranks, shuffled[i].values = slices.Clone(s.ranks), slices.Clone(s.values)
	}
	extreme := 1
	for range permutations {
		for i := range shuffled {
			s := &shuffled[i]
			random.Shuffle(len(s.values), func(a, b int) {
				s.values[a], s.values[b] = s.values[b], s.values[a]
				s.ranks[a], s.ranks[b] = s.ranks[b], s.ranks[a]
			})
			if _, chance := s.split(); chance >= q {
				extreme++
				break
			}
		}
		if float64(extreme) > alpha*(permutations+1) {
			return 1
		}
	}
	return float64(extreme) / (permutations + 1)
}

// A segment is a part of a series with its best split.
type segment struct {
	start  int // in the series
	values []float64
	ranks  []int // of the values, from 1
	sums   *prefix
	at     int     // of the best split, 0 if there is none
	q      float64 // its statistic
}

func newSegment(values []float64, start int) segment {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	s := segment{start: start, values: values, ranks: make([]int, len(values)),
		sums: newPrefix(len(values))}
	for rank, i := range order {
		s.ranks[i] = rank + 1
	}
	s.at, s.q = s.split()
	return s
}

// split finds the split with the largest statistic Q (formula 6 of the paper).
func (s segment) split() (at int, q float64) {
	n := len(s.values)
	if n < 2*minSegment {
		return 0, 0
	}
	left, right := s.within(), make([]float64, n+1)
	s.sums.clear()
	for i := n - 1; i >= 0; i-- {
		right[i] = right[i+1] + s.sums.add(s.values[i], s.ranks[i])
	}
	for i := minSegment; i <= n-minSegment; i++ {
		between := right[0] - left[i] - right[i]
		if v := statistic(i, n-i, left[i], right[i], between); v > q {
			at, q = i, v
		}
	}
	return at, q
}

// within are the sums of the distances among the first i values, for each i.
func (s segment) within() []float64 {
	sums := make([]float64, len(s.values)+1)
	s.sums.clear()
	for i, v := range s.values {
		sums[i+1] = sums[i] + s.sums.add(v, s.ranks[i])
	}
	return sums
}

// statistic is the scaled energy distance of n and m values, from the sums of
// the distances within and between them.
func statistic(n, m int, left, right, between float64) float64 {
	a, b := float64(n), float64(m)
	energy := 2*between/(a*b) - left/(a*(a-1)/2) - right/(b*(b-1)/2)
	return a * b / (a + b) * energy
}

// A prefix knows how many of the values added so far have at most a rank, and
// their sum: a Fenwick tree.
type prefix struct {
	count, sum []float64
	n, total   float64 // of all
}

func newPrefix(n int) *prefix {
	return &prefix{count: make([]float64, n+1), sum: make([]float64, n+1)}
}

func (p *prefix) clear() {
	clear(p.count)
	clear(p.sum)
	p.n, p.total = 0, 0
}

// add adds a value and returns the sum of its distances from those before it.
func (p *prefix) add(value float64, rank int) float64 {
	count, sum := 0.0, 0.0
	for i := rank; i > 0; i &= i - 1 {
		count += p.count[i]
		sum += p.sum[i]
	}
	for i := rank; i < len(p.count); i += i & -i {
		p.count[i]++
		p.sum[i] += value
	}
	distance := value*count - sum + (p.total - sum) - value*(p.n-count)
	p.n++
	p.total += value
	return math.Max(distance, 0)
}
