package advise

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
)

var english = message.NewPrinter(language.English)

// say formats with commas in numbers.
func say(format string, args ...any) string { return english.Sprintf(format, args...) }

// clear is how much faster, as a factor, one walk must be predicted than another
// to be worth a change: what the model is off by for tiled copies, and some more.
const clear = 1.3

// Text is the advice in paragraphs: what to use, why the naive walk costs what it
// does and what is left of that, whether to make the view contiguous first, and
// how certain all this is.
func (a *Advice) Text() []string {
	var text []string
	for _, p := range []string{a.use(), a.pad(), a.why(), a.first(), a.certainty()} {
		if p != "" {
			text = append(text, p)
		}
	}
	return text
}

// Name says what a candidate is.
func (c Candidate) Name() string {
	name := "row order"
	switch {
	case c.Spec.Kernel == "builtin":
		return "Go's copy"
	case !c.Plain() && c.Spec.Op == access.Copy:
		return "kernel " + c.Spec.Kernel
	case c.Spec.Order != "" && c.Spec.Order != "row":
		name = "order " + c.Spec.Order
	}
	if !c.Plain() {
		name = "kernel " + c.Spec.Kernel + " in " + name
	}
	if c.Spec.Tile != nil {
		name += ", tiles of " + layouts.FormatShape(c.Spec.Tile)
	}
	if c.Padded > 0 {
		name += fmt.Sprintf(", rows of x padded by %d", c.Padded)
	}
	return name
}

// Duration writes ns with three digits.
func Duration(ns float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= .9995*u.least {
			return fmt.Sprintf("%.3g %s", ns/u.least, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}

// use says what to use.
func (a *Advice) use() string {
	best, plain := a.Best(), a.BestPlain()
	naive := Duration(a.Naive.Prediction.Ns)
	if a.Naive.Prediction.Ns < clear*best.Prediction.Ns {
		return say("Walk it as it comes, in row order: %s a pass. Nothing else is predicted to be faster by more than the model is off.", naive)
	}
	text := say("Use %s: %s a pass, %s as fast as the naive walk in row order (%s).", best.Name(), Duration(best.Prediction.Ns),
		times(a.Naive, best), naive)
	switch {
	case best.Plain():
	case a.Naive.Prediction.Ns < clear*plain.Prediction.Ns:
		text += " With plain loops, no order or tile is worth a change."
	default:
		text += say(" With plain loops, use %s: %s, %s as fast.", plain.Name(), Duration(plain.Prediction.Ns), times(a.Naive, plain))
	}
	return text
}

func times(slow, fast Candidate) string {
	return fmt.Sprintf("%.1f times", slow.Prediction.Ns/fast.Prediction.Ns)
}

// pad says what padding the rows of x gains, for the best of plain loops and for
// the naive walk, where it does.
func (a *Advice) pad() string {
	best := a.find(func(c Candidate) bool { return c.Padded > 0 && c.Plain() })
	naive := a.find(func(c Candidate) bool {
		return c.Padded > 0 && c.Plain() && c.Spec.Tile == nil && c.Spec.Order == a.Naive.Spec.Order
	})
	var gains []string
	if plain := a.BestPlain(); best.Padded > 0 && plain.Prediction.Ns >= clear*best.Prediction.Ns {
		gains = append(gains, say("%s takes %s, %s as fast as the best of plain loops without", best.Name(), Duration(best.Prediction.Ns), times(plain, best)))
	}
	if naive.Padded > 0 && a.Naive.Prediction.Ns >= clear*naive.Prediction.Ns && naive.Name() != best.Name() {
		gains = append(gains, say("the naive walk takes %s, %s as fast", Duration(naive.Prediction.Ns), times(a.Naive, naive)))
	}
	if gains == nil {
		return ""
	}
	row := a.Question.Spec.Shape[len(a.Question.Spec.Shape)-1] + a.Question.Spec.Pad
	size, more := a.Question.Spec.DType.Size(), best.Padded
	return say("If x is yours to store, pad its rows by %d elements, to %d B instead of %d B: then %s.", more, (row+more)*size, row*size, list(gains))
}

// why says what misses where, in the naive walk and in the best of plain loops.
func (a *Advice) why() string {
	plain := a.BestPlain()
	text := "In the naive walk, " + a.misses(a.Naive)
	if plain.Spec.Name() != a.Naive.Spec.Name() && a.Naive.Prediction.Ns >= clear*plain.Prediction.Ns {
		text += say(" With %s, %s", plain.Name(), a.misses(plain))
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
			parts = append(parts, a.tensor(t, p))
		}
	}
	return strings.Join(parts, " ")
}

// tensor says how often a tensor misses, how its lines lie, and where its time
// goes.
func (a *Advice) tensor(t cost.Tensor, p cost.Prediction) string {
	var missed []string
	for i, n := range t.Levels {
		if n >= 1 {
			missed = append(missed, say("%s on %s", level(a.Question.Model.Caches.Levels, i), share(n, t.Refs)))
		}
	}
	if last := len(t.TLB) - 1; last >= 0 && t.TLB[last] >= t.Refs/1000 {
		missed = append(missed, say("the TLB on %s", share(t.TLB[last], t.Refs)))
	}
	if missed == nil {
		missed = []string{"no cache"}
	}
	how := "in lines one beside the other"
	switch {
	case t.Stride.Far > .5:
		how = "each line in another page than the one before, where nothing is prefetched"
	case t.Stride.Near > .5:
		how = "each line some way from the one before, in the same page"
	}
	return say("%s takes %.0f%% of the time that misses take: of %d accesses it misses %s, %s; most of it goes for %s.",
		t.Name, 100*t.Ns()/p.Memory, int(t.Refs), list(missed), how, a.most(t))
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

func share(n, of float64) string { return fmt.Sprintf("%.3g%%", 100*n/of) }

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// first says whether to make the view contiguous first.
func (a *Advice) first() string {
	c := a.Contiguous
	if c == nil {
		return "The view is contiguous: there is nothing to copy first."
	}
	text := say("contiguous() first takes %s (%s), and a pass over the copy %s (%s).", Duration(c.Copy.Prediction.Ns), c.Copy.Name(),
		Duration(c.After.Prediction.Ns), c.After.Name())
	text += " Against the naive walk it " + from(c.Naive) + ", against " + a.Best().Name() + " it " + from(c.Best) + "."
	n := float64(a.Question.Passes)
	if n == 1 {
		return text
	}
	with, without := c.Copy.Prediction.Ns+n*c.After.Prediction.Ns, n*a.Best().Prediction.Ns
	verdict := "walk the view"
	if with < without {
		verdict = "call contiguous() first"
	}
	return text + say(" For %d passes, %s: %s with the copy, %s without, %s the naive way.", a.Question.Passes, verdict,
		Duration(with), Duration(without), Duration(n*a.Naive.Prediction.Ns))
}

func from(passes int) string {
	switch passes {
	case 0:
		return "never pays"
	case 1:
		return "pays from the first pass on"
	}
	return say("pays from %d passes on", passes)
}

// certainty says what the figures rest on.
func (a *Advice) certainty() string {
	return say("All this is predicted, by the cost model of docs/advise.md (%s). On a quiet machine it is off by a sixth in the median over the suite, by a quarter over tiled copies, and for one pattern in ten by half or more; what is predicted less than %.1f times as fast is taken for the same. --time measures the best.",
		a.Question.Model.Times.Source, clear)
}
