package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
)

// A Basis is what figures are from.
type Basis int

// The bases.
const (
	Predicted Basis = iota // the cost model
	Measured               // a clock, on this machine
)

// String is "predicted" or "measured".
func (b Basis) String() string { return []string{"predicted", "measured"}[b] }

// clear is the factor by which one way must be faster than another to be worth a
// change. For predictions it is somewhat more than the model's error for tiled copies,
// for measured times the spread of medians of few samples.
func (b Basis) clear() float64 { return []float64{1.3, 1.1}[b] }

// Every figure is rounded as printed before it is compared, so that no sentence
// contradicts the figures in it.

// rounded is ns as Duration writes it: to three digits.
func rounded(ns float64) float64 {
	three, err := strconv.ParseFloat(strconv.FormatFloat(ns, 'e', 2, 64), 64)
	if err != nil {
		return ns // infinite, which no figure is
	}
	return three
}

// ns is what a pass takes, rounded.
func (w Walk) ns(b Basis) float64 {
	if b == Measured {
		return rounded(w.Measured)
	}
	return rounded(w.Prediction.Ns)
}

// total is the ns of all passes and the copy before them, computed from rounded
// figures and rounded.
func (c Candidate) total(b Basis, passes int) float64 {
	total := float64(passes) * c.ns(b)
	if c.First != nil {
		total += c.First.ns(b)
	}
	return rounded(total)
}

// missed is how often all passes miss level i of the caches, with the copy before
// them.
func (c Candidate) missed(i, passes int) float64 {
	return c.sum(passes, func(p cost.Prediction) float64 { return p.Missed(i) })
}

// walked is how often all passes miss the last level of the TLB.
func (c Candidate) walked(passes int) float64 { return c.sum(passes, cost.Prediction.Walked) }

// sum is of all passes and the copy before them.
func (c Candidate) sum(passes int, of func(cost.Prediction) float64) float64 {
	total := float64(passes) * of(c.Prediction)
	if c.First != nil {
		total += of(c.First.Prediction)
	}
	return total
}

// ratio is how many times as fast fast is, rounded as printed.
func ratio(slow, fast float64) float64 { return math.Round(100*slow/fast) / 100 }

// timed reports whether the copy, if any, and the pass were timed.
func (c Candidate) timed() bool {
	return c.Measured > 0 &&
		(c.First == nil || c.First.Measured > 0)
}

// effort is what a candidate asks for beyond the naive walk: 1 another walk, 2 a
// copy, 3 that x is stored otherwise.
func (a *Advice) effort(c Candidate) int {
	switch {
	case c.Padded > 0:
		return 3
	case c.First != nil:
		return 2
	case c.key != a.Naive.key:
		return 1
	}
	return 0
}

// sort ranks candidates by the time of all passes; of those that are equal, the
// one of the least effort first.
func (a *Advice) sort(all []Candidate, b Basis) {
	n := a.Question.Passes
	slices.SortStableFunc(all, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.total(b, n), y.total(b, n)),
			cmp.Compare(a.effort(x), a.effort(y)))
	})
}

// A Decision is what to do, and what that is compared with. All figures are of
// its basis: measured if anything was timed, and else predicted.
type Decision struct {
	Basis     Basis
	Use       Candidate // what to do, without padding
	Predicted Candidate // what Use would be by prediction alone
	Least     Candidate // the fastest without padding; Use ties with it
	InPlace   Candidate // the least of those that walk the view itself
	Plain     Candidate // the least of these in plain loops
	// Padded has the rows of x padded. It is the least, where that is worth it against
	// Least, or else the naive walk, where that is worth it against the naive walk without
	// and Use is not worth it against that; nil where neither is.
	Padded    *Candidate
	CopyFirst *CopyFirst // nil where the view is contiguous, filled or copied
}

// A CopyFirst is a copy by one of our kernels, and passes over it.
type CopyFirst struct {
	Basis   Basis     // predicted where not all of it was timed
	Copy    Walk      // the quickest that makes it
	After   Walk      // the quickest pass over the copy
	Against Candidate // the quickest that walks the view itself
	From    int       // passes from which on the copy and they take less than Against; 0 for never
}

// worth reports whether fast is faster than slow by enough to be worth a change.
func (a *Advice) worth(b Basis, slow, fast Candidate) bool {
	n := a.Question.Passes
	return ratio(slow.total(b, n), fast.total(b, n)) >= b.clear()
}

// Decide decides by measured times if there are any, and else by prediction.
func (a *Advice) Decide() Decision {
	predicted := a.decide(a.Ranked, Predicted)
	if a.Timed == nil {
		return predicted
	}
	d := a.decide(a.Timed, Measured)
	d.Predicted = predicted.Use
	if c := first(a.Timed, func(c Candidate) bool { return c.id() == d.Predicted.id() }); c != nil {
		d.Predicted = *c // with its measured time
	}
	if d.CopyFirst == nil {
		d.CopyFirst = predicted.CopyFirst
	}
	return d
}

// decide decides between candidates, which are sorted. Each step up in effort
// must be worth it: from the naive walk to another, and from these to a copy.
func (a *Advice) decide(all []Candidate, b Basis) Decision {
	least := func(wanted func(c Candidate) bool) Candidate { return *first(all, wanted) }
	d := Decision{Basis: b,
		Least:   least(func(c Candidate) bool { return c.Padded == 0 }),
		InPlace: least(func(c Candidate) bool { return a.effort(c) <= 1 }),
		Plain:   least(func(c Candidate) bool { return a.effort(c) <= 1 && c.plain() }),
		Use:     least(func(c Candidate) bool { return a.effort(c) == 0 }),
	}
	naive := d.Use
	if a.worth(b, naive, d.InPlace) {
		d.Use = d.InPlace
	}
	if a.worth(b, d.Use, d.Least) {
		d.Use = d.Least
	}
	d.Predicted = d.Use
	padded := first(all, func(c Candidate) bool { return c.Padded > 0 })
	again := first(all, a.isPaddedNaive)
	switch {
	case padded != nil && a.worth(b, d.Least, *padded):
		d.Padded = padded
	case again != nil && a.worth(b, naive, *again) && !a.worth(b, *again, d.Use):
		d.Padded = again
	}
	if c := first(all, func(c Candidate) bool { return c.First != nil }); c != nil {
		d.CopyFirst = &CopyFirst{Basis: b, Copy: *c.First, After: c.Walk, Against: d.InPlace,
			From: breakEven(c.First.ns(b), d.InPlace.ns(b), c.ns(b))}
	}
	return d
}

// first is the first that is wanted, or nil.
func first(all []Candidate, wanted func(Candidate) bool) *Candidate {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return &all[i]
	}
	return nil
}

// isPaddedNaive reports whether a candidate is the naive walk with padding.
func (a *Advice) isPaddedNaive(c Candidate) bool {
	return c.Padded > 0 && c.plain() && c.Spec.Tile == nil && c.Spec.Order == a.Naive.Spec.Order
}

// breakEven is the least number of passes for which a copy and passes over it
// take less than passes over the view; 0 for none. It is exact in the decimals
// that figures are printed in.
func breakEven(copied, view, after float64) int {
	gain := new(big.Rat).Sub(decimal(view), decimal(after))
	if gain.Sign() <= 0 {
		return 0
	}
	n := new(big.Rat).Quo(decimal(copied), gain)
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() || whole.Int64() >= math.MaxInt32 {
		return 0
	}
	return int(whole.Int64()) + 1
}

// decimal is x, exactly as printed.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		return new(big.Rat) // infinite, which no figure is
	}
	return r
}

// timedBest is how many of the best walks of the view are worth timing.
const timedBest = 6

// toTime are the walks that are worth timing, each once: the best of the view, of
// plain loops and of each kernel, the naive one, the best padded ones, and those
// that contiguous() may make its copy by, and over the copy.
func (a *Advice) toTime() []Walk {
	var all []Walk
	seen := map[string]bool{}
	add := func(walks ...Walk) {
		for _, w := range walks {
			if !seen[w.key] {
				seen[w.key] = true
				all = append(all, w)
			}
		}
	}
	best := 0
	for _, w := range a.walks {
		if w.Padded == 0 && best < timedBest {
			best++
			add(w)
		}
	}
	add(a.bestOfEach()...)
	add(a.Naive.Walk)
	for _, wanted := range []func(Candidate) bool{func(c Candidate) bool {
		return c.Padded > 0
	}, a.isPaddedNaive} {
		if c := first(a.Ranked, wanted); c != nil {
			add(c.Walk)
		}
	}
	add(a.copies...)
	add(a.after...)
	return all
}

// setTimes takes walks of toTime with their measured times. The naive walk must be among
// them. Walks without a time are no longer candidates. Of the copies it ranks the best
// by measured and the best by predicted time.
func (a *Advice) setTimes(timed []Walk) {
	measured := map[string]float64{}
	for _, w := range timed {
		measured[w.key] = w.Measured
	}
	with := func(walks []Walk) []Walk {
		var known []Walk
		for _, w := range walks {
			if w.Measured = measured[w.key]; w.Measured > 0 {
				known = append(known, w)
			}
		}
		return known
	}
	a.Timed = nil
	for _, w := range with(a.walks) {
		a.Timed = append(a.Timed, Candidate{Walk: w})
	}
	var copied []Candidate
	for _, first := range with(a.copies) {
		for _, after := range with(a.after) {
			copied = append(copied, Candidate{after, &first})
		}
	}
	a.sort(copied, Measured)
	predicted := first(a.Ranked, func(c Candidate) bool { return c.First != nil })
	for i, c := range copied {
		if i == 0 || c.id() == predicted.id() {
			a.Timed = append(a.Timed, c)
		}
	}
	a.sort(a.Timed, Measured)
	a.Naive.Measured = measured[a.Naive.key]
}

// Rows returns up to most candidates, sorted by time: those that the text names, and then
// the best others. All differ in their order, their tiles, vectors, padding or a copy.
func (a *Advice) Rows(most int) []Candidate {
	d, all := a.Decide(), a.Ranked
	if a.Timed != nil {
		all = a.Timed
	}
	wanted := []*Candidate{&d.Use, &a.Naive, &d.InPlace, &d.Plain, d.Padded, a.tie(d),
		first(all, func(c Candidate) bool { return c.First != nil })}
	if t := a.Torch; t != nil {
		wanted = slices.Insert(wanted, 1, &t.View)
		if a.Question.Spec.Op != access.Copy {
			wanted = slices.Insert(wanted, 2, t.Copied)
		}
	}
	for _, c := range all {
		if c.Padded == 0 {
			wanted = append(wanted, &c)
		}
	}
	var rows []Candidate
	for _, c := range wanted {
		if c == nil || len(rows) == most || slices.ContainsFunc(rows, func(r Candidate) bool {
			return r.way() == c.way()
		}) {
			continue
		}
		rows = append(rows, *c)
	}
	n := a.Question.Passes
	slices.SortStableFunc(rows, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.shown(n), y.shown(n)), cmp.Compare(a.effort(x), a.effort(y)))
	})
	return rows
}

// shown is the time by which rows are sorted: as measured, where that is known.
func (c Candidate) shown(passes int) float64 {
	if c.timed() {
		return c.total(Measured, passes)
	}
	return c.total(Predicted, passes)
}

// A way is what a reader can choose of a candidate. Sets of vector kernels are one
// choice.
type way struct {
	order, tile           string
	vectors, copied, ours bool
	padded                int
}

func (c Candidate) way() way {
	w := way{order: c.Spec.Order.String(), tile: fmt.Sprint(c.Spec.Tile), vectors: !c.plain(),
		copied: c.First != nil, padded: c.Padded}
	if w.vectors && c.copies() {
		w.order = ""
	}
	w.ours = c.Spec.Order != access.Torch
	return w
}

// tie is the best candidate with another order, other tiles or a copy, if its time is
// within the error of the model, or of the clock; nil for none.
func (a *Advice) tie(d Decision) *Candidate {
	all := a.Ranked
	if a.Timed != nil {
		all = a.Timed
	}
	use := d.Use.way()
	c := first(all, func(c Candidate) bool {
		w := c.way()
		w.vectors = use.vectors
		return c.Padded == 0 && w != use
	})
	if c == nil || a.worth(d.Basis, d.Use, *c) || a.worth(d.Basis, *c, d.Use) {
		return nil
	}
	return c
}
