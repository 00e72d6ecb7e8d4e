// Package advise finds out in which order, tiles and storage a view is best
// walked on a machine: it predicts all that there is to choose from (package
// access/cost), ranks it, and says in words what to use and why.
package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// A Question is what is to be walked.
type Question struct {
	// Spec is the tensor, its view and the operation, in the naive way: without
	// an order, tiles or a kernel.
	Spec    access.Spec
	Passes  int      // that are made over it, at least 1
	Kernels []string // that may be used besides plain loops, such as avx2
	Model   cost.Model
}

// A Candidate is one way to walk it.
type Candidate struct {
	Spec       access.Spec
	Pattern    access.Pattern
	Padded     int // elements by which the rows of x lie further apart than in the question
	Prediction cost.Prediction
}

// Plain tells whether plain loops walk it.
func (c Candidate) Plain() bool { return c.Spec.Kernel == "" || c.Spec.Kernel == "scalar" }

// A Contiguous is what comes of making the view contiguous first.
type Contiguous struct {
	Copy  Candidate // that makes it: the quickest
	After Candidate // a pass over the copy
	// Passes from which on the copy pays, against the best way to walk the view
	// in the same kind of loops and against the naive one; 0 for never.
	Best, Naive int
}

// Advice is the answer.
type Advice struct {
	Question   Question
	Naive      Candidate
	Ranked     []Candidate // all, by predicted time; those that are the same loops once
	Considered int         // before those that are the same loops were left out
	Contiguous *Contiguous // nil where the view is contiguous
}

// Best is the first of the ranked that leaves the tensor as it is stored.
func (a *Advice) Best() Candidate { return a.find(func(c Candidate) bool { return c.Padded == 0 }) }

// BestPlain is the best of these in plain loops.
func (a *Advice) BestPlain() Candidate {
	return a.find(func(c Candidate) bool { return c.Padded == 0 && c.Plain() })
}

func (a *Advice) find(wanted func(Candidate) bool) Candidate {
	if i := slices.IndexFunc(a.Ranked, wanted); i >= 0 {
		return a.Ranked[i]
	}
	return a.Naive
}

// ErrNothing tells that the view has no element.
var ErrNothing = errors.New("the view has no element to walk")

// Ask predicts every order of the dims, tiles of the two dims that matter, each
// also with the rows of x padded by a cache line, and the kernels; it ranks them.
// It works on all CPUs.
func Ask(ctx context.Context, q Question) (*Advice, error) {
	view, err := viewOf(q.Spec)
	if err != nil {
		return nil, err
	}
	if view.Numel() == 0 {
		return nil, fmt.Errorf("view %q: %w", q.Spec.View, ErrNothing)
	}
	a := &Advice{Question: q}
	all, err := orders(view)
	if err != nil {
		return nil, fmt.Errorf("view %q: %w", q.Spec.View, err)
	}
	untiled := a.variants(q.Spec, all, [][]int{nil})
	if err := a.predict(ctx, append(a.kernels(q.Spec, all), untiled...)); err != nil {
		return nil, err
	}
	a.Naive = a.find(func(c Candidate) bool { return sameLoops(c, untiled[0]) })
	if err := a.predict(ctx, a.variants(q.Spec, a.promising(all), tiles(view, q.Spec.Op))); err != nil {
		return nil, err
	}
	return a, a.contiguous(ctx, view)
}

// viewOf is the view that is walked, of the common shape for Add.
func viewOf(s access.Spec) (layouts.Layout, error) {
	p, err := s.Pattern()
	if err != nil {
		return layouts.Layout{}, err
	}
	return p.View(), nil
}

// variants are the walks in these orders and tiles, as stored and padded.
func (a *Advice) variants(s access.Spec, orders, tiles [][]int) []Candidate {
	var all []Candidate
	for _, order := range orders {
		for _, tile := range tiles {
			s.Order, s.Tile = orderName(order), tile
			all = append(all, Candidate{Spec: s})
			if p, ok := padded(s); ok {
				all = append(all, Candidate{Spec: p, Padded: line / s.DType.Size()})
			}
		}
	}
	return all
}

// kernels are the walks by kernels, in whatever order these take.
func (a *Advice) kernels(s access.Spec, orders [][]int) []Candidate {
	var all []Candidate
	for _, k := range a.Question.Kernels {
		for _, order := range orders {
			s.Kernel, s.Order = k, orderName(order)
			if _, err := s.Pattern(); err == nil { // or it cannot walk it so
				all = append(all, Candidate{Spec: s})
			}
		}
	}
	return all
}

// promising are the orders that are worth tiles: the best without.
func (a *Advice) promising(orders [][]int) [][]int {
	if len(orders) <= tiledOrders {
		return orders
	}
	var best [][]int
	for _, c := range a.Ranked {
		if i := slices.IndexFunc(orders, func(o []int) bool { return orderName(o) == c.Spec.Order }); i >= 0 && c.Plain() && c.Padded == 0 && len(best) < tiledOrders {
			best = append(best, orders[i])
		}
	}
	return best
}

// predict adds candidates to the ranked, but for those that are the loops of one
// that is there.
func (a *Advice) predict(ctx context.Context, all []Candidate) error {
	a.Considered += len(all)
	known := map[string]bool{}
	for _, c := range a.Ranked {
		known[loops(c)] = true
	}
	var fresh []Candidate
	for _, c := range all {
		var err error
		if c.Pattern, err = c.Spec.Pattern(); err != nil {
			return err
		}
		if key := loops(c); !known[key] {
			known[key] = true
			fresh = append(fresh, c)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i := range fresh {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			fresh[i].Prediction, err = a.Question.Model.Predict(fresh[i].Pattern)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	a.Ranked = append(a.Ranked, fresh...)
	slices.SortStableFunc(a.Ranked, func(x, y Candidate) int { return cmp.Compare(x.Prediction.Ns, y.Prediction.Ns) })
	return nil
}

// loops identify what a candidate walks, and by which kernel.
func loops(c Candidate) string {
	p := c.Pattern
	key := fmt.Sprint(c.Plain())
	for _, n := range p.Nests {
		n = n.Canonical()
		key += fmt.Sprint(n.Trips)
		for _, op := range n.Operands {
			key += fmt.Sprint(op.Base, op.Width, op.Kind, op.Strides)
		}
	}
	return key
}

// sameLoops tells whether two candidates are the same loops.
func sameLoops(c, d Candidate) bool {
	if d.Pattern.Nests == nil {
		var err error
		if d.Pattern, err = d.Spec.Pattern(); err != nil {
			return false
		}
	}
	return loops(c) == loops(d)
}

// contiguous prices a copy first.
func (a *Advice) contiguous(ctx context.Context, view layouts.Layout) error {
	if view.IsContiguous() {
		return nil
	}
	copies := Question{Spec: a.Question.Spec, Kernels: a.Question.Kernels, Model: a.Question.Model}
	copies.Spec.Op, copies.Spec.With = access.Copy, nil
	made := a
	if a.Question.Spec.Op != access.Copy {
		made = &Advice{Question: copies}
		dims, err := orders(view)
		if err != nil {
			return err
		}
		every := append(made.kernels(copies.Spec, dims[:1]), made.variants(copies.Spec, dims, append([][]int{nil}, tiles(view, access.Copy)...))...)
		if err := made.predict(ctx, every); err != nil {
			return err
		}
	}
	after := &Advice{Question: a.Question}
	plain := a.Question.Spec
	plain.Shape, plain.View, plain.Pad = view.Shape(), "", 0
	row := [][]int{identity(view.Rank())}
	if err := after.predict(ctx, append(after.kernels(plain, row), Candidate{Spec: plain})); err != nil {
		return err
	}
	c := &Contiguous{Copy: made.Best(), After: after.Best()}
	c.Best = breakEven(c.Copy, a.Best(), c.After)
	c.Naive = breakEven(c.Copy, a.Naive, after.BestPlain())
	a.Contiguous = c
	return nil
}

func identity(rank int) []int {
	dims := make([]int, rank)
	for d := range dims {
		dims[d] = d
	}
	return dims
}

// breakEven is the least number of passes for which a copy and passes over it
// take less than passes over the view; 0 for none.
func breakEven(first, view, after Candidate) int {
	gain := view.Prediction.Ns - after.Prediction.Ns
	if gain <= 0 {
		return 0
	}
	n := math.Floor(first.Prediction.Ns/gain) + 1
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// level names the levels of the caches that are simulated.
func level(levels []simcache.Level, i int) string {
	if levels[i].Name != "" {
		return levels[i].Name
	}
	return fmt.Sprintf("L%d", i+1)
}
