// Package advise is the program's own and promises nothing. It finds the best order, tiles and
// storage for walking a view on a machine. It predicts every choice (package access/cost), ranks
// the choices, and says in words what to use and why.
package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A Question is a tensor, a view of it, and the number of passes.
type Question struct {
	// Spec is the tensor, its view and the operation, without an order, tiles or a kernel.
	Spec    access.Spec
	Dims    []int           // of x.sum(dim) in PyTorch; nil for all
	Passes  int             // at least 1
	Kernels []access.Kernel // allowed besides plain loops
	Model   cost.Model

	// Torch limits the answer to PyTorch, compared with row order.
	Torch bool

	// Begin, if not nil, is called before each long step with its number of parts. It returns a
	// function to call after each part, from several goroutines.
	Begin func(what string, parts int) (done func())
}

func (q Question) begin(what string, parts int) (done func()) {
	if q.Begin == nil {
		return func() {}
	}
	return q.Begin(what, parts)
}

// A Walk is a way to make a pass.
type Walk struct {
	Spec       access.Spec
	Pattern    access.Pattern
	Padded     int // added elements between rows of x
	Prediction cost.Prediction
	Measured   float64 // measured ns per pass; 0 if not timed

	key string // equal for equal walks
}

func (w Walk) plain() bool { return w.Spec.Kernel == access.Scalar }

// A Candidate is a way to make all passes: walks of the view, or of a copy of it.
type Candidate struct {
	Walk        // of each pass
	First *Walk // makes the copy; nil to walk the view itself
}

func (c Candidate) id() string {
	if c.First == nil {
		return c.key
	}
	return c.First.key + "then" + c.key
}

// Advice is the answer. Its Decision says what to do.
type Advice struct {
	Question   Question
	Torch      *Torch      // nil for tensors in formats of oneDNN
	Naive      Candidate   // plain loops in row order, without padding
	Ranked     []Candidate // by predicted time of all passes
	Timed      []Candidate // by measured time of all passes; nil before Time
	Considered int         // walks and a copy first, with duplicates
	Different  int         // without duplicates

	asStored bool   // without padded rows of x
	fresh    []Walk // of the view, not yet predicted
	walks    []Walk // of the view, by predicted time
	// walks that make a copy, and walks over it, by predicted time; nil if none is offered
	copies, after []Walk
}

// Ask predicts and ranks every choice: the orders of the dims, tiles of the two dims that matter,
// and the kernels. Each is tried with and without padding x's rows by a cache line. Ask also
// predicts a copy first, and PyTorch. It uses all CPUs.
func Ask(ctx context.Context, q Question) (*Advice, error) {
	view, err := viewOf(q.Spec)
	if err != nil {
		return nil, err
	}
	if view.Numel() == 0 {
		at := &access.FieldError{Field: "view", Value: fmt.Sprintf("%q", q.Spec.View),
			Err: errors.New("the view has no element to walk")}
		if slices.Contains(q.Spec.Shape, 0) {
			at.Field, at.Value = "shape", layouts.FormatShape(q.Spec.Shape)
		}
		return nil, at
	}
	a := &Advice{Question: q}
	if a.Torch, err = q.torch(); err != nil {
		return nil, err
	}
	if err := a.predictAll(ctx, view); err != nil {
		return nil, err
	}
	naive, err := q.Spec.Pattern()
	if err != nil {
		return nil, err
	}
	key := loops(naive)
	for _, w := range a.walks {
		c := Candidate{Walk: w}
		a.Ranked = append(a.Ranked, c)
		if w.key == key {
			a.Naive = c
		}
	}
	if err := a.copyFirst(ctx); err != nil {
		return nil, err
	}
	a.sort(a.Ranked, Predicted)
	return a, nil
}

// predictAll finds the walks of the view. Plain loops come first, because a kernel with the same
// accesses is dropped.
func (a *Advice) predictAll(ctx context.Context, view layouts.Layout) error {
	s := a.Question.Spec
	if a.Question.Torch {
		if err := a.add([]Walk{{Spec: s}}); err != nil {
			return err
		}
		return a.predict(ctx)
	}
	all, err := orders(view)
	if err != nil {
		return &access.FieldError{Field: "view",
			Value: fmt.Sprintf("%q", s.View), Err: err}
	}
	if err := a.add(append(a.variants(s, all, [][]int{nil}), inMemory(s)...)); err != nil {
		return err
	}
	if len(all) > tiledOrders { // tile the best orders
		if err := a.predict(ctx); err != nil {
			return err
		}
	}
	if err := a.add(a.variants(s, a.promising(all), tiles(view, s.Op))); err != nil {
		return err
	}
	if err := a.add(a.kernels(s, all)); err != nil {
		return err
	}
	return a.predict(ctx)
}

// inMemory returns the walks of tensors in formats, in the storage order of one of them.
func inMemory(s access.Spec) (all []Walk) {
	for _, s.Order = range []access.Order{"from", "to"} {
		if _, err := s.Pattern(); err == nil {
			all = append(all, Walk{Spec: s})
		}
	}
	return all
}

func viewOf(s access.Spec) (layouts.Layout, error) {
	p, err := s.Pattern()
	if err != nil {
		return layouts.Layout{}, err
	}
	return p.View(), nil
}

func (a *Advice) variants(s access.Spec, orders, tiles [][]int) []Walk {
	var all []Walk
	for _, order := range orders {
		for _, tile := range tiles {
			s.Order, s.Tile = orderOf(order), tile
			all = append(all, Walk{Spec: s})
			if p, ok := padded(s); ok && !a.asStored {
				all = append(all, Walk{Spec: p, Padded: line / s.DType.Size()})
			}
		}
	}
	return all
}

func (a *Advice) kernels(s access.Spec, orders [][]int) []Walk {
	var all []Walk
	for _, s.Kernel = range a.Question.Kernels {
		if !ownWalk(s) {
			continue
		}
		for _, w := range a.variants(s, orders, [][]int{nil}) {
			if _, err := w.Spec.Pattern(); err == nil { // else not in this order
				all = append(all, w)
			}
		}
	}
	return all
}

// ownWalk reports whether a kernel may walk the spec as no other does. Some sets of package kernel
// differ in some copies only.
func ownWalk(s access.Spec) bool {
	set, err := kernel.ByName(string(s.Kernel))
	return err != nil || set.Own(s.DType.Size()) &&
		(s.Op == access.Copy || s.Op == access.Reorder || set.Own(0))
}

func (a *Advice) promising(orders [][]int) [][]int {
	if len(orders) <= tiledOrders {
		return orders
	}
	var best [][]int
	for _, w := range a.walks {
		if i := slices.IndexFunc(orders, func(o []int) bool {
			return orderOf(o) == w.Spec.Order
		}); i >= 0 && w.Padded == 0 && len(best) < tiledOrders {
			best = append(best, orders[i])
		}
	}
	return best
}

func (a *Advice) add(all []Walk) error {
	a.Considered += len(all)
	known := map[string]bool{}
	for _, w := range slices.Concat(a.walks, a.fresh) {
		known[w.key] = true
	}
	for _, w := range all {
		var err error
		if w.Pattern, err = w.Spec.Pattern(); err != nil {
			return err
		}
		if w.key = loops(w.Pattern); !known[w.key] {
			known[w.key] = true
			a.fresh = append(a.fresh, w)
			a.Different++
		}
	}
	return nil
}

func (a *Advice) predict(ctx context.Context) error {
	fresh := a.fresh
	a.fresh = nil
	if err := a.Question.predict(ctx, fresh); err != nil {
		return err
	}
	a.walks = append(a.walks, fresh...)
	slices.SortStableFunc(a.walks, func(x, y Walk) int {
		return cmp.Compare(x.Prediction.Ns, y.Prediction.Ns)
	})
	return nil
}

// predict predicts walks on all CPUs.
func (q Question) predict(ctx context.Context, walks []Walk) error {
	done := q.begin(fmt.Sprintf("predicting %d walks", len(walks)), len(walks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i := range walks {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			walks[i].Prediction, err = q.Model.Predict(walks[i].Pattern)
			done()
			return err
		})
	}
	return group.Wait()
}

// loops identifies a walk by everything that a prediction uses: its accesses, their
// order, and whether they bypass the caches.
func loops(p access.Pattern) string {
	var key strings.Builder
	fmt.Fprint(&key, p.PastCaches())
	for _, n := range p.Nests {
		n = n.Canonical()
		fmt.Fprint(&key, n.Trips)
		for _, op := range n.Operands {
			fmt.Fprint(&key, op.Base, op.Width, op.Kind, op.Strides)
		}
	}
	return key.String()
}

// copyFirst prices a copy first, and ranks the best ways to make and to walk it. The copy is of the
// view, before an addition broadcasts it. Contiguous views and copies need none, and a fill of a
// copy would not fill x.
func (a *Advice) copyFirst(ctx context.Context) error {
	own := a.Question.Spec
	if own.From.Rank() > 0 { // formats have no views
		return nil
	}
	own.Op, own.With = access.Copy, nil
	copied, err := own.Pattern()
	if err != nil {
		return err
	}
	view := copied.View()
	if op := a.Question.Spec.Op; view.IsContiguous() || op == access.Fill || op == access.Copy ||
		a.Question.Torch {
		return nil
	}
	made := &Advice{Question: Question{Spec: own, Kernels: a.Question.Kernels,
		Model: a.Question.Model, Begin: a.Question.Begin}, asStored: true}
	if err := made.predictAll(ctx, view); err != nil {
		return err
	}
	after := &Advice{Question: a.Question, asStored: true}
	plain := a.Question.Spec
	plain.Shape, plain.View, plain.Pad, plain.Order = view.Shape(), layouts.Chain{}, 0, access.Row
	plain.DType = copied.Spec.DType
	walked, err := viewOf(plain)
	if err != nil {
		return err
	}
	row := [][]int{nest.UpTo(walked.Rank())}
	if err := after.add(append([]Walk{{Spec: plain}}, after.kernels(plain, row)...)); err != nil {
		return err
	}
	if err := after.predict(ctx); err != nil {
		return err
	}
	a.copies, a.after = made.bestOfEach(), after.walks
	a.Considered++
	a.Different++
	a.Ranked = append(a.Ranked, Candidate{a.after[0], &a.copies[0]})
	return nil
}

// bestOfEach returns the best walk of plain loops and the best by each kernel, without
// padding, by predicted time.
func (a *Advice) bestOfEach() []Walk {
	var best []Walk
	seen := map[access.Kernel]bool{}
	for _, w := range a.walks {
		kernel := w.Spec.Kernel
		if w.Padded == 0 && !seen[kernel] {
			seen[kernel] = true
			best = append(best, w)
		}
	}
	return best
}
