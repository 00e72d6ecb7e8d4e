package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Shard is the Index-th, from 1, of Of shares of a run. The zero value is the whole run.
type Shard struct{ Index, Of int }

// String returns the shard as ParseShard reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

const maxShards = 1 << 20

// ParseShard reads "2/8", the second of eight, or "auto", an array task's shard by its environment.
// Slurm sets SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX and _STEP. Kubernetes' Indexed Jobs set
// JOB_COMPLETION_INDEX; their manifest must set JOB_COMPLETIONS.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	if text == "auto" {
		return arrayTask(getenv)
	}
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n || n > maxShards {
		return Shard{}, fmt.Errorf("%q: want i/n, from 1/n to n/n, such as 2/8, or auto", text)
	}
	return Shard{i, n}, nil
}

func arrayTask(getenv func(string) string) (Shard, error) {
	numbers := map[string]int{}
	for _, name := range []string{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
		"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
		"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"} {
		text := getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<30 {
			return Shard{}, fmt.Errorf("%s=%q: want a number", name, text)
		}
		numbers[name] = n
	}
	has := func(name string) bool { _, ok := numbers[name]; return ok }
	var s Shard
	switch {
	case has("SLURM_ARRAY_TASK_ID") && has("SLURM_ARRAY_TASK_COUNT") &&
		!has("SLURM_ARRAY_TASK_MIN"):
		// as in a container that gets only some
		return s, errors.New("SLURM_ARRAY_TASK_MIN is not set, without which no one knows " +
			"whether the array begins at 0 or 1: pass it on, too, or give i/n")
	case has("SLURM_ARRAY_TASK_ID") && has("SLURM_ARRAY_TASK_COUNT"):
		least, step := numbers["SLURM_ARRAY_TASK_MIN"], max(1, numbers["SLURM_ARRAY_TASK_STEP"])
		s = Shard{(numbers["SLURM_ARRAY_TASK_ID"]-least)/step + 1,
			numbers["SLURM_ARRAY_TASK_COUNT"]}
		if most := numbers["SLURM_ARRAY_TASK_MAX"]; has("SLURM_ARRAY_TASK_MAX") &&
			(most-least)/step+1 != s.Of {
			return s, fmt.Errorf("the Slurm array has %d tasks from %d to %d: shards want an "+
				"array without gaps, such as --array=1-%[1]d, or i/n", s.Of, least, most)
		}
	case has("JOB_COMPLETION_INDEX") && has("JOB_COMPLETIONS"):
		s = Shard{numbers["JOB_COMPLETION_INDEX"] + 1, numbers["JOB_COMPLETIONS"]}
	default:
		return s, errors.New("no array is known here: want SLURM_ARRAY_TASK_ID and " +
			"SLURM_ARRAY_TASK_COUNT, or JOB_COMPLETION_INDEX and JOB_COMPLETIONS, in the " +
			"environment, or i/n")
	}
	return ParseShard(s.String(), nil)
}

type part struct {
	shard  Shard
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
func (p Plan) Take(s Shard) (Plan, error) {
	if s == (Shard{}) {
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
