package advise

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

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

// clear is how much faster, as a factor, one way must be than another to be
// worth a change: of predictions what the model is off by for tiled copies, and
// some more; of measured times what medians of few samples differ by.
func (b Basis) clear() float64 { return []float64{1.3, 1.1}[b] }

// Every figure that is compared is first rounded to what is printed of it, so
// that no word says what the figures beside it deny.

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

// total is what so many passes take in ns, with the copy before them, rounded;
// it is of the rounded figures.
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

// ratio is how many times as fast as slow fast is, rounded as it is printed.
func ratio(slow, fast float64) float64 { return math.Round(100*slow/fast) / 100 }

// timed tells whether all that the candidate does was.
func (c Candidate) timed() bool { return c.Measured > 0 && (c.First == nil || c.First.Measured > 0) }

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
		return cmp.Or(cmp.Compare(x.total(b, n), y.total(b, n)), cmp.Compare(a.effort(x), a.effort(y)))
	})
}

// A Decision is what to do, and what that is compared with. All figures are of
// its basis: measured if anything was timed, and else predicted.
type Decision struct {
	Basis     Basis
	Use       Candidate // what to do, x stored as it is
	Predicted Candidate // what that would be by prediction alone
	Least     Candidate // what takes the least time, x stored as it is; Use counts as the same
	InPlace   Candidate // the least of those that walk the view itself
	Plain     Candidate // the least of these in plain loops
	// With the rows of x padded: the least, where that is worth it against Least,
	// and the naive walk, where that is worth it against the naive walk without and
	// Use is not worth it against that; else nil. PaddedNaive is nil too if it is
	// PaddedLeast.
	PaddedLeast, PaddedNaive *Candidate
	Contiguous               *Contiguous // nil where the view is contiguous or filled
}

// A Contiguous is what comes of making the view contiguous first.
type Contiguous struct {
	Basis   Basis     // predicted where not all of it was timed
	Copy    Walk      // that makes it: the quickest
	After   Walk      // a pass over the copy: the quickest
	Against Candidate // the quickest that walks the view itself
	// Passes from which on the copy and passes over it take less than as many
	// passes of Against, and of the naive walk; 0 for never.
	From, FromNaive int
	// Counts tells whether passes over the copy are so much faster than those that
	// would be made without it that, if there are enough, the copy is worth it.
	Counts bool
}

// worth tells whether fast is so much faster than slow, for the passes asked
// for, that it is worth a change.
func (a *Advice) worth(b Basis, slow, fast Candidate) bool {
	n := a.Question.Passes
	return ratio(slow.total(b, n), fast.total(b, n)) >= b.clear()
}

// Decide decides by what was timed, if anything was, and else by prediction.
func (a *Advice) Decide() Decision {
	predicted := a.decide(a.Ranked, Predicted)
	if a.Timed == nil {
		return predicted
	}
	d := a.decide(a.Timed, Measured)
	d.Predicted = predicted.Use
	if c := first(a.Timed, func(c Candidate) bool { return c.id() == d.Predicted.id() }); c != nil {
		d.Predicted = *c // with what it was measured to take
	}
	if d.Contiguous == nil {
		d.Contiguous = predicted.Contiguous
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
	without := d.Use
	if a.worth(b, without, d.Least) {
		d.Use = d.Least
	}
	d.Predicted = d.Use
	if c := first(all, func(c Candidate) bool { return c.Padded > 0 }); c != nil && a.worth(b, d.Least, *c) {
		d.PaddedLeast = c
	}
	c := first(all, a.isPaddedNaive)
	if c != nil && a.worth(b, naive, *c) && !a.worth(b, *c, d.Use) && (d.PaddedLeast == nil || d.PaddedLeast.key != c.key) {
		d.PaddedNaive = c
	}
	if c := first(all, func(c Candidate) bool { return c.First != nil }); c != nil {
		d.Contiguous = &Contiguous{Basis: b, Copy: *c.First, After: c.Walk, Against: d.InPlace,
			From:      breakEven(c.First.ns(b), d.InPlace.ns(b), c.ns(b)),
			FromNaive: breakEven(c.First.ns(b), naive.ns(b), c.ns(b)),
			Counts:    d.Use.First != nil || ratio(without.ns(b), c.ns(b)) >= b.clear()}
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

// isPaddedNaive tells whether a candidate is the naive walk but for the padding.
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

// decimal is x as it is printed.
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
	for _, wanted := range []func(Candidate) bool{func(c Candidate) bool { return c.Padded > 0 }, a.isPaddedNaive} {
		if c := first(a.Ranked, wanted); c != nil {
			add(c.Walk)
		}
	}
	add(a.copies...)
	add(a.after...)
	return all
}

// setTimes takes walks of toTime, with what they were measured to take; the
// naive one must be among them. What was not timed is decided by no more. Of
// contiguous() it ranks what is best as measured, and what is by prediction.
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

// Rows are the best so many candidates, and those that the decision is about:
// of those that were timed, if any were.
func (a *Advice) Rows(top int) []Candidate {
	d, all := a.Decide(), a.Ranked
	if a.Timed != nil {
		all = a.Timed
	}
	about := map[string]bool{}
	for _, c := range []*Candidate{&a.Naive, &d.Use, &d.Predicted, &d.Least, &d.InPlace, &d.Plain, d.PaddedLeast, d.PaddedNaive} {
		if c != nil {
			about[c.id()] = true
		}
	}
	var rows []Candidate
	for i, c := range all {
		if i < top || about[c.id()] || c.First != nil {
			rows = append(rows, c)
		}
	}
	return rows
}
