package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
)

// A Basis is the source of figures.
type Basis int

// The bases.
const (
	Predicted Basis = iota // the cost model
	Measured               // a clock, on this machine
)

// String returns "predicted" or "measured".
func (b Basis) String() string { return []string{"predicted", "measured"}[b] }

// clear is the least speedup that is worth a change. For predictions it is slightly above the
// model's error for tiled copies, for measured times the spread of medians of few samples.
func (b Basis) clear() float64 { return []float64{1.3, 1.1}[b] }

// Figures are rounded as printed before they are compared, so that no sentence contradicts them.

// rounded rounds ns to three digits, like Duration.
func rounded(ns float64) float64 {
	three, err := strconv.ParseFloat(strconv.FormatFloat(ns, 'e', 2, 64), 64)
	if err != nil {
		return ns // infinite
	}
	return three
}

func (w Walk) ns(b Basis) float64 {
	if b == Measured {
		return rounded(w.Measured)
	}
	return rounded(w.Prediction.Ns)
}

// total returns the ns of all passes and the copy. Its terms are rounded, and so is the sum.
func (c Candidate) total(b Basis, passes int) float64 {
	total := float64(passes) * c.ns(b)
	if c.First != nil {
		total += c.First.ns(b)
	}
	return rounded(total)
}

func (c Candidate) sum(passes int, of func(cost.Prediction) float64) float64 {
	total := float64(passes) * of(c.Prediction)
	if c.First != nil {
		total += of(c.First.Prediction)
	}
	return total
}

func ratio(slow, fast float64) float64 { return math.Round(100*slow/fast) / 100 }

func (c Candidate) timed() bool {
	return c.Measured > 0 &&
		(c.First == nil || c.First.Measured > 0)
}

// effort ranks what a candidate changes: 0 for the naive walk, 1 another walk, 2 a copy, 3 the
// storage of x.
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

// sort sorts candidates by the time of all passes, then by effort.
func (a *Advice) sort(all []Candidate, b Basis) {
	n := a.Question.Passes
	slices.SortStableFunc(all, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.total(b, n), y.total(b, n)),
			cmp.Compare(a.effort(x), a.effort(y)))
	})
}

// A Decision says what to do, and compares. All figures are of its basis: measured if anything was
// timed, or else predicted.
type Decision struct {
	Basis     Basis
	Use       Candidate // what to do, without padding
	Predicted Candidate // Use by prediction alone
	Least     Candidate // the fastest without padding; within the error of Use
	InPlace   Candidate // the fastest walk of the view itself
	Plain     Candidate // the fastest of these in plain loops
	// Padded has the rows of x padded. It is the fastest such candidate if that is worth it against
	// Least. Otherwise it is the padded naive walk, if that is worth it against the naive walk and
	// Use is not worth it against it. Otherwise it is nil.
	Padded    *Candidate
	CopyFirst *CopyFirst // nil if the view is contiguous, filled or copied
}

// A CopyFirst is a copy by one of the kernels, and passes over it.
type CopyFirst struct {
	Basis   Basis     // predicted unless all of it was timed
	Copy    Walk      // the fastest walk that makes it
	After   Walk      // the fastest pass over it
	Against Candidate // the fastest walk of the view itself
	From    int       // passes from which it is faster than Against; 0 for never
}

func (a *Advice) worth(b Basis, slow, fast Candidate) bool {
	n := a.Question.Passes
	return ratio(slow.total(b, n), fast.total(b, n)) >= b.clear()
}

// Decide decides by measured times if there are any, or else by predicted times.
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

// decide decides between sorted candidates. Each increase in effort must be worth it: another walk
// than the naive one, and then a copy.
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

func first(all []Candidate, wanted func(Candidate) bool) *Candidate {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return &all[i]
	}
	return nil
}

func (a *Advice) isPaddedNaive(c Candidate) bool {
	return c.Padded > 0 && c.plain() && c.Spec.Tile == nil && c.Spec.Order == a.Naive.Spec.Order
}

// breakEven returns the least number of passes for which a copy and passes over it are faster than
// passes over the view, or 0.
func breakEven(copied, view, after float64) int {
	n := math.Floor(copied/(view-after)*(1+1e-12)) + 1 // a tie in decimals is one here
	if view <= after || n >= math.MaxInt32 {
		return 0
	}
	return int(n)
}

// timedBest is how many of the view's best walks are timed.
const timedBest = 6

// toTime returns the walks to time: the best of the view, of plain loops, of each kernel, with
// padding, and with a copy first; and the naive one.
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

// setTimes sets the measured times of toTime's walks, which must include the naive walk. Walks
// without a time stop being candidates. It ranks the best copies by measured and by predicted time.
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

// Rows returns up to most candidates by time: those that the text names, then the best others. All
// differ in order, tiles, vectors, padding or a copy.
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

func (c Candidate) shown(passes int) float64 {
	if c.timed() {
		return c.total(Measured, passes)
	}
	return c.total(Predicted, passes)
}

// A way is a reader's choice. All sets of vector kernels are one choice.
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

// tie returns the best candidate with another order, other tiles or a copy, if it differs from Use
// by less than the error of the basis. It returns nil if there is none.
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
