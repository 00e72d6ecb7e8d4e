package advise

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// A Torch is what PyTorch 1.13 does with the question. It is predicted, also where
// other walks were timed: PyTorch's loops are not in this program.
type Torch struct {
	Call string    // what its user writes: "x.t().sum()"
	View Candidate // a pass over the view, as PyTorch walks it
	// Copied is contiguous(), as PyTorch makes it, and a pass over the copy. It is nil
	// where contiguous() returns the view itself, and for a fill.
	Copied *Candidate
	From   int // passes from which on Copied takes less than View; 0 for never
}

// torch predicts what PyTorch does, or returns nil for tensors in formats of oneDNN.
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
	if t.View.Walk, err = q.torchWalk(q.Spec, view, dtype); err != nil {
		return nil, err
	}
	if view.IsContiguous() || q.Spec.Op == access.Fill {
		return t, nil
	}
	dense, err := layouts.Contiguous(view.Shape()...)
	if err != nil {
		return nil, err
	}
	copied := own
	copied.Op = access.Copy
	first, err := q.torchWalk(copied, view, dtype)
	if err != nil {
		return nil, err
	}
	after := q.Spec
	after.Shape, after.View, after.Pad, after.DType = view.Shape(), layouts.Chain{}, 0, dtype
	t.Copied = &Candidate{First: &first}
	if t.Copied.Walk, err = q.torchWalk(after, dense, dtype); err != nil {
		return nil, err
	}
	t.From = breakEven(first.ns(Predicted), t.View.ns(Predicted), t.Copied.ns(Predicted))
	return t, nil
}

// torchWalk predicts an operation as PyTorch walks it. The layout and the dtype are
// those of the spec's view, which a sum over dims needs as an operand.
func (q Question) torchWalk(s access.Spec, view layouts.Layout, dtype layouts.DType) (w Walk, err error) {
	s.Order, s.Tile, s.Kernel = access.Torch, nil, access.Scalar
	if q.Dims != nil && s.Op == access.Sum {
		result, err := layouts.Reduction(view, false, q.Dims...)
		if err != nil {
			return w, &access.FieldError{Field: access.FieldDims, Value: fmt.Sprint(q.Dims), Err: err}
		}
		s = access.Spec{Order: access.Torch, Dims: q.Dims, Threads: s.Threads, Operands: []access.Operand{
			{Layout: view, DType: dtype}, {Layout: result.Output, DType: dtype, Role: access.Output}}}
	}
	w.Spec = s
	if w.Pattern, err = s.Pattern(); err != nil {
		return w, err
	}
	w.key = "torch " + loops(w.Pattern)
	m := q.Model
	m.Vectors = true
	w.Prediction, err = m.Predict(w.Pattern)
	return w, err
}

// call is the question as Python.
func (q Question) call() string {
	x := strings.TrimSpace(q.Spec.View.String())
	switch {
	case x == "":
		x = "x"
	case strings.HasPrefix(x, "["):
		x = "x" + x
	case !strings.HasPrefix(x, "x.") && !strings.HasPrefix(x, "x["):
		x = "x." + x
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

// gain is how many times as fast the passes are with contiguous() first.
func (t *Torch) gain(passes int) float64 {
	if t.Copied == nil {
		return 0
	}
	return t.View.total(Predicted, passes) / t.Copied.total(Predicted, passes)
}

// Copy reports whether contiguous() first takes less for so many passes.
func (t *Torch) Copy(passes int) bool { return t.gain(passes) > 1 }

// Ties reports whether it takes less, but by less than the model is off by.
func (t *Torch) Ties(passes int) bool {
	gain := t.gain(passes)
	return gain > 1 && gain < Predicted.clear()
}

// verdict answers whether to call contiguous().
func (t *Torch) verdict(op access.Op, passes int) string {
	view := Duration(t.View.ns(Predicted))
	if t.Copied == nil {
		why := "returns the view itself"
		if op == access.Fill {
			why = "would fill a copy"
		}
		return fmt.Sprintf("In PyTorch, do not call contiguous(): it %s, and %s takes %s a pass.", why, t.Call, view)
	}
	first, after := Duration(t.Copied.First.ns(Predicted)), Duration(t.Copied.ns(Predicted))
	if t.Copy(passes) {
		advice := "call contiguous() first"
		if t.Ties(passes) {
			advice = fmt.Sprintf("call contiguous() first, a near tie (%.2f times as fast)", t.gain(passes))
		}
		return fmt.Sprintf("In PyTorch, %s: it takes %s and %s; %s then takes %s a pass instead of %s.",
			advice, first, pays(t.From), t.Call, after, view)
	}
	return fmt.Sprintf("In PyTorch, do not call contiguous(): %s takes %s a pass; the copy takes %s and %s.", t.Call, view, first, pays(t.From))
}

// steps says how PyTorch's inner loop goes through each tensor.
func (t *Torch) steps() string {
	n := t.View.Pattern.Nests[0]
	inner := len(n.Trips) - 1
	if inner < 0 {
		return ""
	}
	var all []string
	for _, op := range n.Operands {
		if op.Tensor == access.Buffers {
			return fmt.Sprintf("PyTorch copies blocks of %dx%d elements through a buffer.", n.Trips[inner], n.Trips[inner])
		}
		name := op.Tensor
		if name == "in" { // the only operand that is read
			name = "x"
		}
		all = append(all, explain.Say("%d B in %s", op.Strides[inner], name))
	}
	return "PyTorch's inner loop steps " + explain.List(all) + "."
}
