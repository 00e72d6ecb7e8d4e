package advise

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/explain"
)

// A Torch is what PyTorch 1.13 does with the question. It is always predicted, because PyTorch's
// loops are not part of this program.
type Torch struct {
	Call string    // the user's code, such as "x.t().sum()"
	View Candidate // passes over the view
	// Copied is contiguous() and passes over the copy. It is nil for a fill, or if contiguous()
	// returns the view itself.
	Copied *Candidate
	From   int // passes from which Copied is faster than View; 0 for never

	flipped bool // the view is a copy that PyTorch's flip makes
}

// torch predicts PyTorch's walks. It returns nil for tensors in oneDNN's formats.
func (q Question) torch() (*Torch, error) {
	own := q.Spec
	if own.From.Rank() > 0 || own.Op == access.Reorder {
		return nil, nil
	}
	own.Op, own.With, own.Order, own.Tile = access.Sum, nil, access.Row, nil
	x, err := own.Pattern()
	if err != nil {
		return nil, err
	}
	view, dtype := x.View(), x.Spec.DType
	t := &Torch{Call: q.call()}
	if view, t.flipped, err = unflipped(view); err != nil {
		return nil, err
	}
	if t.View.Walk, err = q.torchWalk(q.Spec.Op, view, dtype); err != nil {
		return nil, err
	}
	if view.IsContiguous() || q.Spec.Op == access.Fill {
		return t, nil
	}
	dense, err := layouts.Contiguous(view.Shape()...)
	if err != nil {
		return nil, err
	}
	first, err := q.torchWalk(access.Copy, view, dtype)
	if err != nil {
		return nil, err
	}
	t.Copied = &Candidate{First: &first}
	if t.Copied.Walk, err = q.torchWalk(q.Spec.Op, dense, dtype); err != nil {
		return nil, err
	}
	t.From = breakEven(first.ns(Predicted), t.View.ns(Predicted), t.Copied.ns(Predicted))
	return t, nil
}

// unflipped returns the layout of the copy that PyTorch's flip makes: the same order without
// negative strides.
func unflipped(view layouts.Layout) (layouts.Layout, bool, error) {
	strides, flipped := view.Strides(), false
	for d, s := range strides {
		strides[d], flipped = abs(s), flipped || s < 0
	}
	if !flipped {
		return view, false, nil
	}
	positive, err := layouts.New(view.Shape(), strides, 0)
	if err != nil {
		return view, true, err
	}
	copied, err := positive.Preserved()
	return copied, true, err
}

func (q Question) torchWalk(op access.Op, x layouts.Layout, dtype layouts.DType) (w Walk,
	err error) {
	w.Spec = access.Spec{Op: op, Order: access.Torch, Threads: q.Spec.Threads}
	add := func(l layouts.Layout, role nest.Kind) {
		w.Spec.Operands = append(w.Spec.Operands,
			access.Value{Layout: l, DType: dtype, Kind: role})
	}
	if op != access.Fill {
		add(x, nest.Read)
	}
	switch op {
	case access.Fill:
		add(x, nest.Write)
	case access.Copy:
		dense, err := layouts.Contiguous(x.Shape()...)
		if err != nil {
			return w, err
		}
		add(dense, nest.Write)
	case access.Add:
		y, err := layouts.Contiguous(q.Spec.With...)
		if err != nil {
			return w, err
		}
		add(y, nest.Read)
	case access.Sum:
		if q.Dims == nil {
			break
		}
		sum, err := layouts.Reduction(x, false, q.Dims...)
		if err != nil {
			return w, &access.FieldError{Field: "dims",
				Value: fmt.Sprint(q.Dims), Err: err}
		}
		w.Spec.Dims = q.Dims
		add(sum.Output, nest.Write)
	}
	if w.Pattern, err = w.Spec.Pattern(); err != nil {
		return w, err
	}
	w.key = "torch " + loops(w.Pattern)
	m := q.Model
	m.Vectors = true
	w.Prediction, err = m.Predict(w.Pattern)
	return w, err
}

func (q Question) call() string {
	x := strings.TrimSpace(q.Spec.View.String())
	switch {
	case x == "":
		x = "x"
	case strings.HasPrefix(x, "["):
		x = "x" + x
	default:
		first := named().FindStringSubmatch(x)
		if first == nil || slices.Contains([]string{"T", "mT", "H", "mH", "data", "real",
			"imag"}, first[1]) {
			x = "x." + x
		}
	}
	switch q.Spec.Op {
	case access.Add:
		return x + " + y"
	case access.Copy:
		return "y.copy_(" + x + ")"
	case access.Fill:
		return x + ".fill_(0)"
	}
	dims := strings.ReplaceAll(strings.Trim(fmt.Sprint(q.Dims), "[]"), " ", ", ")
	if len(q.Dims) > 1 {
		dims = "(" + dims + ")"
	}
	return x + ".sum(" + dims + ")"
}

func (t *Torch) gain(passes int) float64 {
	if t.Copied == nil {
		return 0
	}
	return t.View.total(Predicted, passes) / t.Copied.total(Predicted, passes)
}

// named matches a chain that begins with its tensor's name or a property.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\w+)\s*(?:[.\[]|$)`)
})

// Copy reports whether contiguous() first is faster for this number of passes.
func (t *Torch) Copy(passes int) bool { return t.gain(passes) > 1 }

// Ties reports whether it is faster by less than the model's error.
func (t *Torch) Ties(passes int) bool {
	gain := t.gain(passes)
	return gain > 1 && gain < Predicted.clear()
}

func (t *Torch) verdict(op access.Op, passes int) string {
	view := Duration(t.View.ns(Predicted))
	if t.Copied == nil {
		why := "returns the view itself"
		switch {
		case op == access.Fill:
			why = "would fill a copy"
		case t.flipped:
			why = "returns the copy that flip makes"
		}
		return fmt.Sprintf("In PyTorch, do not call contiguous(): it %s, and %s takes %s a pass.",
			why, t.Call, view)
	}
	first, after := Duration(t.Copied.First.ns(Predicted)), Duration(t.Copied.ns(Predicted))
	if t.Copy(passes) {
		advice := "call contiguous() first"
		if t.Ties(passes) {
			advice = fmt.Sprintf("call contiguous() first, a near tie (%.2f times as fast)",
				t.gain(passes))
		}
		return fmt.Sprintf("In PyTorch, %s: it takes %s and %s; %s then takes %s a pass "+
			"instead of %s.",
			advice, first, pays(t.From), t.Call, after, view)
	}
	when := ""
	if t.From > 0 {
		when = explain.Say(" for %d passes", passes)
		if passes == 1 {
			when = " for 1 pass"
		}
	}
	return fmt.Sprintf("In PyTorch, do not call contiguous()%s: %s takes %s a pass; the copy "+
		"takes %s and %s.", when, t.Call, view, first, pays(t.From))
}

func (t *Torch) steps() string {
	n := t.View.Pattern.Nests[0]
	inner := len(n.Trips) - 1
	if inner < 0 {
		return ""
	}
	names := map[string]string{"in": "x", "in2": "y", "out": "z"}
	switch t.View.Spec.Op {
	case access.Copy:
		names["out"] = "y"
	case access.Fill:
		names["out"] = "x"
	}
	var all []string
	for _, op := range n.Operands {
		if op.Tensor == access.Buffers {
			return fmt.Sprintf("PyTorch copies blocks of %dx%d elements through a buffer.",
				n.Trips[inner], n.Trips[inner])
		}
		all = append(all, explain.Say("%d B in %s", op.Strides[inner], names[op.Tensor]))
	}
	return "PyTorch's inner loop steps " + explain.List(all) + "."
}
