package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

type part struct {
	shard  node.Shard
	suite  string // of the whole plan
	places []int  // in the whole plan, from 1: of comparisons, then studies
}

// suite identifies what runs, and how, by 12 hex digits. Shards of one suite are one run.
func (p Plan) suite() string {
	if p.part.suite != "" {
		return p.part.suite
	}
	h := sha256.New()
	fmt.Fprintln(h, p.Count, p.Long, p.LongCount, p.SampleTime, p.Pages, p.TimesOnly)
	for _, c := range p.Comparisons {
		for _, b := range c {
			fmt.Fprintln(h, b.Name)
		}
		fmt.Fprintln(h)
	}
	for _, s := range p.Studies {
		fmt.Fprintln(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Take returns a shard's share of a plan: whole comparisons, since their samples are interleaved,
// and whole studies. Every shard computes the same shares, since it predicts for the same reference
// machine. Shares have similar predicted times: the longest item first, each goes to the shortest
// share so far (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied
// Mathematics 17, 1969).
func (p Plan) Take(s node.Shard) (Plan, error) {
	if s == (node.Shard{}) {
		return p, nil
	}
	if s.Index < 1 || s.Index > s.Of {
		return p, fault("shard", s.String(),
			errors.New("want the first number from 1 to the second, such as 2/8"))
	}
	times, err := p.times()
	if err != nil {
		return p, err
	}
	if s.Of > len(times) {
		want := fmt.Errorf("there are %d comparisons and studies, which are not split: want at "+
			"most %[1]d shards", len(times))
		if len(times) == 1 {
			want = errors.New("there is 1 comparison or study, which is not split: want 1 shard")
		}
		return p, fault("shard", s.String(), want)
	}
	shares := divide(times, s.Of)
	whole := p
	p.part = part{shard: s, suite: whole.suite()}
	p.Comparisons, p.Studies = nil, nil
	for i, share := range shares {
		if share != s.Index-1 {
			continue
		}
		p.part.places = append(p.part.places, i+1)
		if k := i - len(whole.Comparisons); k >= 0 {
			p.Studies = append(p.Studies, whole.Studies[k])
		} else {
			p.Comparisons = append(p.Comparisons, whole.Comparisons[i])
		}
	}
	return p, nil
}

func divide(times []float64, n int) []int {
	order := nest.UpTo(len(times))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[b], times[a]) })
	sums, share := make([]float64, n), make([]int, len(times))
	for _, i := range order {
		least := 0
		for k, sum := range sums {
			if sum < sums[least] {
				least = k
			}
		}
		share[i] = least
		sums[least] += times[i]
	}
	return share
}

var reference = cost.Model{Times: cost.Generic("shares of a run are the same on every machine"),
	Caches: simcache.Config{
		Levels: simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64})}}

// A benchmark's passes besides its samples (memory is written, warmed up and checked), and a
// study's time in ns.
const (
	otherPasses = 8
	studyNs     = 2e8
)

// times returns the predicted ns of comparisons, then studies.
func (p Plan) times() (times []float64, err error) {
	for _, c := range p.Comparisons {
		sum := 0.0
		for _, b := range c {
			pattern, err := b.Spec.Pattern()
			if err != nil {
				return nil, &BenchmarkError{b.Name, true, err}
			}
			prediction, err := reference.Predict(pattern)
			if err != nil {
				return nil, &BenchmarkError{b.Name, true, err}
			}
			sum += float64(p.samplesOf(prediction.Ns))*max(prediction.Ns, float64(p.SampleTime)) +
				otherPasses*prediction.Ns
		}
		times = append(times, sum)
	}
	if p.TimesOnly {
		return times, nil
	}
	for range p.Studies {
		times = append(times, studyNs)
	}
	return times, nil
}

func (p Plan) remarks(i int) []string {
	if p.part.places == nil {
		return nil
	}
	return []string{fmt.Sprintf("part: %d", p.part.places[i])}
}
