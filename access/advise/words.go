package advise

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Verdict returns the answer in two sentences: whether to call contiguous() in PyTorch, and how to
// walk the view in one's own loop.
func (a *Advice) Verdict() []string {
	var text []string
	if a.Torch != nil {
		text = append(text, a.Torch.verdict(a.Question.Spec.Op, a.Question.Passes))
	}
	if !a.Question.Torch {
		text = append(text, a.own(a.Decide()))
	}
	return text
}

// Why says which misses occur where, which other ways are as good, and how the figures were found.
func (a *Advice) Why() string {
	d := a.Decide()
	all := []string{a.naive(), a.ties(d), a.pad(d), a.certainty(d)}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// Name returns a name that is unique among candidates.
func (c Candidate) Name() string {
	switch {
	case c.First == nil:
		return c.Walk.name()
	case c.Spec.Order == access.Torch:
		return "PyTorch's contiguous(), then as PyTorch walks it"
	}
	return "a copy by " + c.First.name() + ", then " + c.Walk.name()
}

// copies reports whether the walk's kernel chooses its own order.
func (w Walk) copies() bool { return w.Spec.Op == access.Copy || w.Spec.Op == access.Reorder }

func (w Walk) name() string {
	name := "row order"
	switch {
	case w.Spec.Order == access.Torch:
		return "as PyTorch walks it"
	case w.Spec.Kernel == access.Builtin:
		name = "Go's copy"
	case !w.plain() && w.copies():
		name = "kernel " + w.Spec.Kernel.String()
	case w.Spec.Order != access.Row:
		name = "order " + w.Spec.Order.String()
	}
	if !w.plain() && !w.copies() {
		name = "kernel " + w.Spec.Kernel.String() + " in " + name
	}
	if w.Spec.Tile != nil {
		name += ", tiles of " + layouts.FormatShape(w.Spec.Tile)
	}
	if w.Padded > 0 {
		name += fmt.Sprintf(", rows of x padded by %d", w.Padded)
	}
	return name
}

// Duration formats ns with three digits.
func Duration(ns float64) string {
	ns = rounded(ns)
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}} {
		if ns >= u.least {
			return number(ns/u.least) + u.name
		}
	}
	return number(ns) + " ns"
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (a *Advice) time(b Basis, c Candidate) string {
	return Duration(c.total(b,
		a.Question.Passes))
}

func (a *Advice) times(b Basis, slow, fast Candidate) string {
	n := a.Question.Passes
	r := ratio(slow.total(b, n), fast.total(b, n))
	if r < 10 {
		return fmt.Sprintf("%.2f times", r)
	}
	return number(rounded(r)) + " times"
}

func (a *Advice) own(d Decision) string {
	b, naive := d.Basis, a.Naive
	unit := "a pass"
	if n := a.Question.Passes; n > 1 {
		unit = explain.Say("for %d passes", n)
	}
	if d.Use.id() == naive.id() {
		text := explain.Say("In a loop of your own, row order is as good as any: %s %s",
			a.time(b, naive), unit)
		if d.CopyFirst != nil && d.CopyFirst.pays() {
			text += "; a copy first " + pays(d.CopyFirst.From)
		}
		return text + "."
	}
	text := explain.Say("In a loop of your own, use %s: %s %s, %s as fast as row order",
		d.Use.Name(), a.time(b, d.Use), unit, a.times(b, naive, d.Use))
	switch {
	case d.Use.First != nil && a.worth(b, naive, d.InPlace):
		text += explain.Say("; without a copy, %s: %s", d.InPlace.Name(), a.time(b, d.InPlace))
	case !d.Use.plain() && a.worth(b, naive, d.Plain):
		text += explain.Say("; in plain loops, %s: %s", d.Plain.Name(), a.time(b, d.Plain))
	}
	return text + "."
}

// pays reports whether passes over the copy are enough faster to be worth it for some number of
// passes.
func (c *CopyFirst) pays() bool {
	return c.From > 0 && ratio(c.Against.ns(c.Basis), c.After.ns(c.Basis)) >= c.Basis.clear()
}

func pays(passes int) string {
	switch passes {
	case 0:
		return "never pays"
	case 1:
		return "pays from the first pass on"
	}
	return explain.Say("pays from %d passes on", passes)
}

func (a *Advice) pad(d Decision) string {
	c := d.Padded
	if c == nil {
		return ""
	}
	row := a.Question.Spec.Shape[len(a.Question.Spec.Shape)-1] + a.Question.Spec.Pad
	size := a.Question.Spec.DType.Size()
	without := d.Least
	if a.isPaddedNaive(*c) {
		without = a.Naive
	}
	walk := c.Walk
	walk.Padded = 0
	return explain.Say("If x is yours to store, pad its rows from %d to %d B: %s takes %s, %s as "+
		"fast as without.",
		row*size, (row+c.Padded)*size, walk.name(), a.time(d.Basis, *c),
		a.times(d.Basis, without, *c))
}

func (a *Advice) naive() string {
	p := a.Naive.Prediction
	if p.Memory < p.Loop/4 {
		return "Row order is limited by the loop's instructions, not by misses."
	}
	worst := p.Tensors[0]
	for _, t := range p.Tensors {
		if t.Ns() > worst.Ns() {
			worst = t
		}
	}
	share := fmt.Sprintf("%.0f%%", 100*worst.Ns()/p.Memory)
	if share == "100%" {
		share = "all"
	}
	return fmt.Sprintf("In row order, %s of the miss time is due to %s, which misses %s; most of "+
		"it goes into %s.",
		share, worst.Name, a.missed(worst, float64(a.Naive.Pattern.Elems)), a.most(worst))
}

// missed says how often a tensor misses each level, per walked element. It merges levels with equal
// misses. Accesses of other walks may be wider than an element.
func (a *Advice) missed(t cost.Tensor, elems float64) string {
	type group struct {
		levels []string
		often  string
	}
	var groups []group
	add := func(level string, times float64) {
		how := often(times)
		if last := len(groups) - 1; last >= 0 && groups[last].often == how {
			groups[last].levels = append(groups[last].levels, level)
			return
		}
		groups = append(groups, group{[]string{level}, how})
	}
	for i, n := range t.Levels {
		if n >= 1 {
			add(level(a.Question.Model.Caches.Levels, i), n/elems)
		}
	}
	if last := len(t.TLB) - 1; last >= 0 && t.TLB[last] >= t.Refs/1000 {
		add("the TLB", t.TLB[last]/elems)
	}
	var said []string
	for _, g := range groups {
		said = append(said, explain.List(g.levels)+" "+g.often)
	}
	if said == nil {
		return "no cache"
	}
	return explain.List(said)
}

func (a *Advice) most(t cost.Tensor) string {
	most, ns := "page walks", t.Walks
	for i, l := range t.Lines {
		if l > ns {
			ns, most = l, "lines from memory"
			if i+1 < len(t.Lines) {
				most = "lines from " + level(a.Question.Model.Caches.Levels, i+1)
			}
		}
	}
	return most
}

func level(levels []simcache.Level, i int) string {
	if levels[i].Name != "" {
		return levels[i].Name
	}
	return fmt.Sprintf("L%d", i+1)
}

func often(times float64) string {
	switch {
	case times > 0.995 && times < 1.005:
		return "at every element"
	case times >= 1:
		return fmt.Sprintf("%.3g times per element", times)
	case times > 2./3: // nearer to every element than to every second one
		return "at nearly every element"
	}
	return explain.Say("once in %d elements", int(1/times+.5))
}

func (a *Advice) ties(d Decision) string {
	c := a.tie(d)
	if c == nil || a.Question.Torch {
		return ""
	}
	return fmt.Sprintf("In your own loop, %s is as fast, to within %.1fx.",
		c.Name(), d.Basis.clear())
}

// certainty says how reliable the figures are. It quotes errors only for one thread on a measured
// machine, where they were found.
func (a *Advice) certainty(d Decision) string {
	times := a.Question.Model.Times
	switch {
	case d.Basis == Measured:
		return fmt.Sprintf("%s timed here, interleaved; PyTorch's are predicted.",
			explain.Counted(len(a.Timed), "way"))
	case strings.HasSuffix(times.Source, cost.Unmeasured):
		return "Predictions are rough: run bench machine --measure, or add --time."
	case times.Rough():
		return fmt.Sprintf("Predictions are rough: %s.",
			strings.TrimPrefix(times.Source, cost.Generic("").Source))
	case a.Question.Spec.Threads > 1:
		return fmt.Sprintf("Predictions are by times %s.", times.Source)
	}
	fit := cost.Fitted()
	return fmt.Sprintf("Predictions are by times %s; on %d measured machines they were off by "+
		"%.0f%% in the median.",
		times.Source, len(fit.Machines), 100*fit.All.Median)
}
