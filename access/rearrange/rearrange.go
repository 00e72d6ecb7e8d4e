// Package rearrange is the program's own and promises nothing. It tries other loop orders, tiles
// and array layouts of a C function. It counts each exactly in the caches of a model, and predicts
// its time.
package rearrange

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// A Tried is a change, or the unchanged program, with the counts of a pass over it.
type Tried struct {
	explain.Change
	Misses []uint64 // by level; of the first alone where the time limit left out the others
	Ns     float64  // predicted; at least, without misses of the levels that were left out
}

// An Answer holds the changes that Ask tried.
type Answer struct {
	Levels []string
	Refs   uint64
	Now    Tried
	Tried  []Tried // counted in all levels before others, each the fastest first
	Left   int     // changes that the time limit left out, in some level at least
	file   *csource.File
	text   []byte
	model  cost.Model
}

// Ask tries changes of a file within about the time limit, then tiles of the best order. It counts
// each in the first level, those with the smallest strides first. Then it counts in all levels what
// could still be faster, the fewest misses first.
func Ask(
	ctx context.Context, file *csource.File, text []byte, m cost.Model, limit time.Duration,
) (*Answer, error) {
	began := time.Now()
	config := m.Caches
	config.TLB, config.I1 = nil, simcache.Geometry{}
	a := &Answer{file: file, text: text, model: m, Levels: config.LevelNames()}
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		return nil, err
	}
	counts, err := h.RunProgram(1, file.Program)
	if err != nil {
		return nil, err
	}
	a.Now = *a.priced(explain.Change{Words: "as it is", Program: file.Program,
		Kept: "kept"}, h, counts)
	a.Refs = h.Counts().Refs()
	run := explain.RunOfProgram(h, config, file.Program, file.Source(), counts, 1)
	t := &tries{Answer: a, config: config, began: began, limit: limit}
	all := run.Rearrangements()
	slices.SortStableFunc(all, func(a, b explain.Change) int {
		return cmp.Compare(t.steps(a.Program), t.steps(b.Program))
	})
	t.try(ctx, all, limit*3/5) // the rest is for tiles
	var best explain.Change
	for _, tried := range a.Tried {
		if tried.Order != nil && tried.Kept == "kept" && tried.Ns < a.Now.Ns {
			best = tried.Change
			break
		}
	}
	t.try(ctx, run.Tiles(best), limit)
	return a, ctx.Err()
}

// sort puts the fastest first, after all that are counted in more levels. Among changes of about
// the same time, the least effort is first.
func (a *Answer) sort() {
	effort := func(t Tried) int {
		switch {
		case t.Order != nil:
			return 0
		case t.Chain != nil:
			return 1
		}
		return 2
	}
	rank := func(t Tried) float64 { return math.Round(30 * math.Log(t.Ns)) }
	slices.SortStableFunc(a.Tried, func(a, b Tried) int {
		return cmp.Or(len(b.Misses)-len(a.Misses), cmp.Compare(rank(a), rank(b)),
			effort(a)-effort(b), cmp.Compare(a.Ns, b.Ns))
	})
}

type tries struct {
	*Answer
	config simcache.Config
	began  time.Time
	limit  time.Duration
}

// try counts changes in the first level, and then in all levels those that may be faster than the
// unchanged program.
func (t *tries) try(ctx context.Context, all []explain.Change, until time.Duration) {
	counted := t.count(ctx, all, firstAlone(t.config), until)
	found := slices.DeleteFunc(counted, func(c *Tried) bool { return c == nil })
	slices.SortStableFunc(found, func(a, b *Tried) int { return cmp.Compare(a.Ns, b.Ns) })
	var faster []explain.Change
	for _, one := range found {
		if !t.whole(*one) && one.faster(t.Now) {
			faster = append(faster, one.Change)
		}
	}
	for i, whole := range t.count(ctx, faster, t.config, until) {
		if whole != nil {
			found[i] = whole
		}
	}
	for _, one := range found {
		t.Tried = append(t.Tried, *one)
	}
	t.sort()
}

// firstAlone returns the first level of a hierarchy, or all levels if they are inclusive: then the
// first loses lines that others evict.
func firstAlone(config simcache.Config) simcache.Config {
	inclusive := func(l simcache.Level) bool { return l.Inclusion == "inclusive" }
	if !slices.ContainsFunc(config.Levels, inclusive) {
		config.Levels = config.Levels[:1]
	}
	return config
}

// count counts changes in some levels on all CPUs. It starts none after the time until. Those that
// it leaves out are nil.
func (t *tries) count(
	ctx context.Context, all []explain.Change, in simcache.Config, until time.Duration,
) []*Tried {
	found := make([]*Tried, len(all))
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for time.Since(t.began) < until && ctx.Err() == nil {
				at := int(next.Add(1)) - 1
				if at >= len(all) {
					return
				}
				found[at] = t.one(ctx, all[at], in)
			}
		})
	}
	group.Wait()
	for _, one := range found {
		if one == nil {
			t.Left++
		}
	}
	return found
}

// one counts a change, or returns nil when the time left would not suffice.
func (t *tries) one(ctx context.Context, c explain.Change, in simcache.Config) (found *Tried) {
	began := time.Now()
	h, err := simcache.NewHierarchy(in)
	if err != nil {
		return nil
	}
	h.Progress(func(share float64) {
		spent, left := time.Since(began), t.limit-time.Since(t.began)
		late := spent > t.limit/10 && spent.Seconds()*(1-share) > 4*share*left.Seconds()
		if left <= 0 || late || ctx.Err() != nil {
			runtime.Goexit()
		}
	})
	var alone sync.WaitGroup
	alone.Go(func() { // the goroutine exits if it takes too long
		if counts, err := h.RunProgram(1, c.Program); err == nil {
			found = t.priced(c, h, counts)
		}
	})
	alone.Wait()
	return found
}

func (a *Answer) priced(c explain.Change, h *simcache.Hierarchy, counts []simcache.Counts) *Tried {
	tried := &Tried{Change: c}
	for _, l := range h.Levels() {
		tried.Misses = append(tried.Misses, l.Misses())
	}
	operands, around := c.Program.Operands(), c.Program.Around()
	w := cost.Walk{Refs: float64(h.Counts().Refs())}
	for i, n := range counts {
		missed := float64(n.D1Misses())
		w.Missed += missed
		switch step := innermost(operands[i], around[i]); {
		case step >= pageBytes:
			w.Far += missed
		case step > a.model.Caches.First().Line:
			w.Near += missed
		}
	}
	w.Levels = make([]float64, len(a.Levels))
	for i, n := range tried.Misses {
		w.Levels[i] = float64(n)
	}
	tried.Ns = a.model.Walked(w)
	return tried
}

// pageBytes is the smallest stride whose next access is always in another page.
const pageBytes = 4096

// short is the most iterations of a loop that innermost skips. Its stride says little about lines.
const short = 8

// innermost returns the bytes that an access moves in its innermost loop that is not short.
func innermost(op nest.Operand, around []*nest.Loop) int {
	d := len(around) - 1
	for d > 0 && trips(around[d]) <= short {
		d--
	}
	if d < 0 || d >= len(op.Strides) {
		return 0
	}
	step := op.Strides[d] * around[d].Step
	return max(step, -step)
}

func trips(l *nest.Loop) int {
	for _, bound := range slices.Concat(l.From, l.To) {
		if slices.ContainsFunc(bound.Coef, func(c int) bool { return c != 0 }) {
			return math.MaxInt
		}
	}
	_, n := l.Bounds(nil)
	return n
}

// steps estimates the lines that a program fetches if each access keeps only its last line.
func (t *tries) steps(p nest.Program) (lines float64) {
	counts, err := p.Counts()
	if err != nil {
		return 0
	}
	around := p.Around()
	line := t.config.First().Line
	for i, op := range p.Operands() {
		lines += float64(counts[i]) * float64(min(innermost(op, around[i]), line)) / float64(line)
	}
	return lines
}
