package advise

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Text is the decision in paragraphs: what to do, what padding would gain, why
// the naive walk costs what it does and what is left of that, what comes of making
// the view contiguous first, and how certain all this is.
func (a *Advice) Text() []string {
	d := a.Decide()
	var text []string
	for _, p := range []string{a.use(d), a.pad(d), a.why(d), a.first(d), a.certainty(d)} {
		if p != "" {
			text = append(text, p)
		}
	}
	return text
}

// Name says what a candidate is. Every candidate has another.
func (c Candidate) Name() string {
	if c.First != nil {
		return "contiguous() by " + c.First.name() + ", then " + c.Walk.name()
	}
	return c.Walk.name()
}

// copies tells of a walk whose kernel has an order of its own.
func (w Walk) copies() bool { return w.Spec.Op == access.Copy || w.Spec.Op == access.Reorder }

// name says what a walk is.
func (w Walk) name() string {
	name := "row order"
	switch {
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

// Duration writes ns with three digits.
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

// number writes a figure that is rounded already.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// unit is what the time of all passes is for.
func (a *Advice) unit() string {
	if a.Question.Passes == 1 {
		return "a pass"
	}
	return explain.Say("for %d passes", a.Question.Passes)
}

// total is what all passes take, as they were measured and as predicted.
func (a *Advice) total(b Basis, c Candidate) string {
	n := a.Question.Passes
	if b == Measured {
		return explain.Say("%s (predicted %s)", Duration(c.total(Measured, n)), Duration(c.total(Predicted, n)))
	}
	return Duration(c.total(b, n))
}

func (a *Advice) times(b Basis, slow, fast Candidate) string {
	n := a.Question.Passes
	r := ratio(slow.total(b, n), fast.total(b, n))
	if r < 10 {
		return fmt.Sprintf("%.2f times", r)
	}
	return number(rounded(r)) + " times"
}

// use says what to use.
func (a *Advice) use(d Decision) string {
	b, naive := d.Basis, a.Naive
	text := ""
	if d.Use.id() == naive.id() {
		text = explain.Say("Walk it as it comes, in row order: %s %s %s.", b, a.total(b, naive), a.unit())
	} else {
		text = explain.Say("Use %s: %s %s %s, %s as fast as row order, the walk as it comes, at %s.", d.Use.Name(), b, a.total(b, d.Use), a.unit(),
			a.times(b, naive, d.Use), a.total(b, naive))
	}
	switch {
	case d.Least.id() != d.Use.id():
		text += explain.Say(" The least is %s for %s, %s: %s as fast, which counts as the same.", b, d.Least.Name(), a.total(b, d.Least), a.times(b, d.Use, d.Least))
	case b == Measured:
		text += " Nothing else that was timed took less, x stored as it is."
	default:
		text += " Nothing else is predicted to take less, x stored as it is."
	}
	return text + a.otherwise(d) + a.disagreement(d)
}

// otherwise says what to use without a copy, and with plain loops, where it is
// advised to use others.
func (a *Advice) otherwise(d Decision) string {
	text := ""
	if d.Use.First != nil {
		if !a.worth(d.Basis, a.Naive, d.InPlace) {
			return " Without a copy, nothing is worth a change."
		}
		text += a.instead("Without a copy", d.Basis, d.InPlace)
	}
	switch {
	case d.InPlace.plain() || d.Use.id() == a.Naive.id():
	case a.worth(d.Basis, a.Naive, d.Plain):
		text += a.instead("With plain loops over the view", d.Basis, d.Plain)
	default:
		text += " With plain loops over the view, no order or tile is worth a change."
	}
	return text
}

func (a *Advice) instead(how string, b Basis, c Candidate) string {
	return explain.Say(" %s, use %s: %s, %s as fast as row order.", how, c.Name(), a.total(b, c), a.times(b, a.Naive, c))
}

// disagreement says what prediction alone would have decided, where something
// was timed.
func (a *Advice) disagreement(d Decision) string {
	switch {
	case d.Basis == Predicted:
		return ""
	case d.Predicted.id() == d.Use.id():
		return " Prediction alone comes to the same."
	}
	n := a.Question.Passes
	text := explain.Say(" Prediction alone would say %s, at %s against %s for this", d.Predicted.Name(),
		Duration(d.Predicted.total(Predicted, n)), Duration(d.Use.total(Predicted, n)))
	switch {
	case !d.Predicted.timed():
		return text + "; that was not timed."
	case !a.worth(Measured, d.Predicted, d.Use) && !a.worth(Measured, d.Use, d.Predicted):
		return text + explain.Say("; measured at %s, that counts as the same.", Duration(d.Predicted.total(Measured, n)))
	}
	return text + explain.Say("; it was measured at %s, and what was measured decides.", Duration(d.Predicted.total(Measured, n)))
}

// pad says what padding the rows of x gains, where it does.
func (a *Advice) pad(d Decision) string {
	b := d.Basis
	var gains []string
	padded := 0
	if c := d.PaddedLeast; c != nil {
		padded = c.Padded
		gains = append(gains, explain.Say("%s takes %s, %s as fast as the least without", c.Name(), a.total(b, *c), a.times(b, d.Least, *c)))
	}
	if c := d.PaddedNaive; c != nil {
		padded = c.Padded
		gains = append(gains, explain.Say("%s takes %s, %s as fast as without", c.Name(), a.total(b, *c), a.times(b, a.Naive, *c)))
	}
	if gains == nil {
		return ""
	}
	row := a.Question.Spec.Shape[len(a.Question.Spec.Shape)-1] + a.Question.Spec.Pad
	size := a.Question.Spec.DType.Size()
	return explain.Say("If x is yours to store, pad its rows by %d elements, to %d B instead of %d B: then %s.", padded, (row+padded)*size, row*size, explain.List(gains))
}

// why says what misses where, in the naive walk and in the best of plain loops.
func (a *Advice) why(d Decision) string {
	naive, plain := a.misses(a.Naive), a.misses(d.Plain)
	text := "By prediction, in row order " + naive
	if plain != naive && d.Use.id() != a.Naive.id() && a.worth(d.Basis, a.Naive, d.Plain) {
		text += explain.Say(" With %s, %s", d.Plain.Name(), plain)
	}
	return text
}

// misses tells of each tensor that costs something beside the loop.
func (a *Advice) misses(c Candidate) string {
	p := c.Prediction
	if p.Memory < p.Loop/4 {
		return "misses are not what costs: the instructions of the loop are."
	}
	var parts []string
	for _, t := range p.Tensors {
		if t.Ns() >= p.Memory/10 {
			parts = append(parts, a.tensor(t, p, float64(c.Pattern.Elems)))
		}
	}
	return strings.Join(parts, " ")
}

// tensor says how often a tensor misses, how its lines lie, and where its time
// goes. How often goes by the elements that are walked: accesses of other walks are wider.
func (a *Advice) tensor(t cost.Tensor, p cost.Prediction, elems float64) string {
	var missed []string
	for i, n := range t.Levels {
		if n >= 1 {
			missed = append(missed, explain.Say("%s %s", level(a.Question.Model.Caches.Levels, i), often(n/elems)))
		}
	}
	if last := len(t.TLB) - 1; last >= 0 && t.TLB[last] >= t.Refs/1000 {
		missed = append(missed, explain.Say("the TLB %s", often(t.TLB[last]/elems)))
	}
	if missed == nil {
		missed = []string{"no cache at all"}
	}
	how := "in lines one beside the other"
	switch {
	case t.Stride.Far > .5:
		how = "each line in another page than the one before, where nothing is prefetched"
	case t.Stride.Near > .5:
		how = "each line some way from the one before, in the same page"
	}
	return explain.Say("%s takes %.0f%% of the time that misses take: it misses %s, %s; most of it goes for %s.",
		t.Name, 100*t.Ns()/p.Memory, explain.List(missed), how, a.most(t))
}

// most is what a tensor's time goes for.
func (a *Advice) most(t cost.Tensor) string {
	most, ns := "translations that the TLB misses", t.Walks
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

// level names the levels of the caches that are simulated.
func level(levels []simcache.Level, i int) string {
	if levels[i].Name != "" {
		return levels[i].Name
	}
	return fmt.Sprintf("L%d", i+1)
}

// often says a number of times an element.
func often(times float64) string {
	switch {
	case times > 0.995 && times < 1.005:
		return "at every element"
	case times >= 1:
		return fmt.Sprintf("%.3g times an element", times)
	case times > 2./3: // nearer to every one than to every second
		return "at nearly every element"
	}
	return explain.Say("once in %d elements", int(1/times+.5))
}

// first says whether to make the view contiguous first, in figures that add
// up as they are printed.
func (a *Advice) first(d Decision) string {
	c := d.Contiguous
	switch {
	case c == nil && a.Question.Spec.Op == access.Fill:
		return "contiguous() is no way to fill: it would fill a copy, and leave x as it is."
	case c == nil && a.Question.Spec.From.Rank() > 0:
		return ""
	case c == nil:
		return "The view is contiguous: there is nothing to copy first."
	}
	b, n := c.Basis, a.Question.Passes
	over := Candidate{c.After, &c.Copy}
	text := explain.Say("contiguous() takes %s (%s), a pass over the copy %s (%s), and a pass over the view %s (%s), all %s. So the copy %s%s",
		Duration(c.Copy.ns(b)), c.Copy.name(), Duration(c.After.ns(b)), c.After.name(), Duration(c.Against.ns(b)), c.Against.Name(), b, pays(c.From), c.ever())
	if c.FromNaive != c.From {
		text += explain.Say("; against row order at %s a pass, it %s", Duration(a.Naive.ns(b)), pays(c.FromNaive))
	}
	with, without := over.total(b, n), c.Against.total(b, n)
	text += explain.Say(". %s with the copy %s, %s without", a.forPasses(), Duration(with), Duration(without))
	if with < without && !a.worth(b, c.Against, over) && d.Use.First == nil {
		text += ", which counts as the same"
	}
	return text + "."
}

// forPasses begins a sentence about all passes.
func (a *Advice) forPasses() string {
	if a.Question.Passes == 1 {
		return "One pass takes"
	}
	return explain.Say("%d passes take", a.Question.Passes)
}

// ever says so where the copy pays, but passes over it are too little faster.
func (c *Contiguous) ever() string {
	if c.From > 0 && !c.Counts {
		return ", but never by so much that it counts"
	}
	return ""
}

// pays says from how many passes on.
func pays(passes int) string {
	switch passes {
	case 0:
		return "never pays"
	case 1:
		return "pays from the first pass on"
	}
	return explain.Say("pays from %d passes on", passes)
}

// certainty says what the figures rest on.
func (a *Advice) certainty(d Decision) string {
	source := a.Question.Model.Times.Source
	if d.Basis == Measured {
		return explain.Say("Timed on this machine, samples by turns: %d of %d ways. What was measured decides; what was measured less than %.1f times as fast counts as the same. Predictions are by the cost model of docs/advise.md (%s).",
			len(a.Timed), a.Different, Measured.clear(), source)
	}
	fit := cost.Fitted()
	text := explain.Say("All this is predicted, by the cost model of docs/advise.md (%s). Over the %d patterns to which it was held it is off by %.0f%% in the median, and for one in ten by more than %.0f%%; what is predicted less than %.1f times as fast counts as the same. --time measures the best, and decides by that.",
		source, fit.All.Patterns, 100*fit.All.Median, 100*fit.All.Tenth, Predicted.clear())
	if a.Question.Spec.Threads > 1 {
		text += " These errors are those of one thread; docs/advise.md has those of two."
	}
	return text
}
