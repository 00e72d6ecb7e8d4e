// Package bill is the program's own and promises nothing. It prices the memory layouts of a model.
// For every operator of a profile (package operators) it predicts how long its calls wait for
// memory in PyTorch's order, and how long with contiguous operands. It says in words what to do
// about the difference.
//
// [Of] makes a bill. [Bill.Write] prints it, 'bench import --json' prints it as JSON, and
// [Bill.Suite] makes a workload of the most expensive operators.
//
// Package cost predicts passes over the same operands again and again, so caches keep what fits. A
// product counts one pass over its operands, without its arithmetic.
package bill

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/simcache/explain"
)

// A Bill is the cost of a profile's operators.
type Bill struct {
	Subject
	Calls int   `json:"calls"` // including skipped ones
	Bytes int64 `json:"bytes"`
	// Ns is the predicted time of all calls. Layout is how much contiguous operands would save, and
	// Share the ratio of the two.
	Ns     float64 `json:"predicted_ns"`
	Layout float64 `json:"layout_ns"`
	Share  float64 `json:"layout_share"`
	// Operators are sorted by Layout, then by Ns, the largest first.
	Operators []Item              `json:"operators"`
	Skipped   []operators.Skipped `json:"skipped"`

	nowhere bool     // the profile has no places
	levels  []string // names of the caches
}

// An Item is a line of a bill: all calls of one Operator.
type Item struct {
	operators.Operator
	// Predicted and Contiguous are of one call, as it is and with contiguous operands. They are nil
	// if it touches no memory or has no price.
	Predicted  *Price `json:"predicted,omitempty"`
	Contiguous *Price `json:"contiguous,omitempty"`
	// Ns is the predicted time of all calls, and Layout the part that is due to the layout.
	Ns      float64 `json:"predicted_ns"`
	Layout  float64 `json:"layout_ns"`
	Verdict string  `json:"verdict"`
	// Computes is set if it is compute-bound: Ns is its memory time alone.
	Computes bool `json:"computes,omitzero"`
	// Unwritten is set if the result is unknown: Ns is the time of reading alone.
	Unwritten bool `json:"result_unknown,omitzero"`
	// Problem says why there is no price.
	Problem string `json:"problem,omitempty"`

	lowered      lowered
	given, twins []int // numbers of its patterns, and of those with contiguous operands
}

// A Price is the cost of a call.
type Price struct {
	Ns     float64 `json:"ns"`
	Misses []Miss  `json:"misses"` // by level, the nearest first, then the TLB
}

// A Miss is a call's misses of a level.
type Miss struct {
	Level string  `json:"level"`
	Count float64 `json:"count"`
}

// A Begin is called before each long step, with its number of parts. It returns a function to call
// after each part, from several goroutines. A nil Begin is not called.
type Begin func(what string, parts int) (done func())

func (b Begin) phase(what string, parts int, noun string) (done func()) {
	if b == nil {
		return func() {}
	}
	return b(what+" "+explain.Counted(parts, noun), parts)
}

// Of prices a profile by a cost model, on all CPUs.
func Of(ctx context.Context, p *operators.Profile, m cost.Model, begin Begin) (*Bill, error) {
	b := &Bill{Subject: subjectOf(p, m), Calls: p.Calls, nowhere: p.Step == nil,
		Operators: make([]Item, 0, len(p.Operators)),
		Skipped:   append([]operators.Skipped{}, p.Skipped...)}
	for _, l := range m.Caches.Levels {
		b.levels = append(b.levels, l.Name)
	}
	inside := callsOf(p.Operators)
	all := patterns{make([]access.Spec, 0, len(p.Operators)), map[string]int{}}
	for _, op := range p.Operators {
		item := Item{Operator: op, Computes: op.Computes()}
		var err error
		if item.lowered, err = lower(op, inside); err != nil {
			item.Problem = err.Error()
		}
		item.Unwritten = item.lowered.unsaid
		item.given, item.twins = all.add(item.lowered.specs), all.add(item.lowered.twins)
		b.Operators = append(b.Operators, item)
	}
	prices, err := all.price(ctx, m, begin)
	if err != nil {
		return nil, err
	}
	for i := range b.Operators {
		item := &b.Operators[i]
		item.price(prices)
		b.Ns += item.Ns
		b.Layout += item.Layout
		b.Bytes = operators.Plus(b.Bytes, item.Bytes)
	}
	if b.Ns > 0 {
		b.Share = b.Layout / b.Ns
	}
	uses := usesOf(p, func(n int) bool { return b.Operators[n].Layout > 0 })
	for i := range b.Operators {
		b.Operators[i].Verdict = verdict(&b.Operators[i], uses[i])
	}
	slices.SortStableFunc(b.Operators, func(x, y Item) int {
		return cmp.Or(cmp.Compare(y.Layout, x.Layout), cmp.Compare(y.Ns, x.Ns),
			cmp.Compare(y.Bytes, x.Bytes))
	})
	return b, nil
}

func (i *Item) price(prices []priced) {
	if i.given == nil {
		return
	}
	for _, n := range slices.Concat(i.given, i.twins) {
		if err := prices[n].err; err != nil {
			i.Problem = err.Error()
			return
		}
	}
	sum := func(numbers []int) *Price {
		total := &Price{}
		for _, m := range prices[i.given[0]].Misses {
			total.Misses = append(total.Misses, Miss{Level: m.Level})
		}
		for _, n := range numbers {
			total.Ns += prices[n].Ns
			for l, m := range prices[n].Misses {
				total.Misses[l].Count += m.Count
			}
		}
		return total
	}
	i.Predicted, i.Contiguous = sum(i.given), sum(i.twins)
	calls := float64(i.Calls)
	i.Ns = calls * i.Predicted.Ns
	i.Layout = calls * max(i.Predicted.Ns-i.Contiguous.Ns, 0)
	if i.Layout < noise*i.Ns {
		i.Layout = 0
	}
}

// noise is the share of a time within which predictions do not differ.
const noise = .02

type priced struct {
	Price
	err error
}

// patterns are the distinct patterns of a bill.
type patterns struct {
	specs []access.Spec
	index map[string]int
}

func (p *patterns) add(specs []access.Spec) []int {
	var numbers []int
	for _, s := range specs {
		key := s.Name()
		n, ok := p.index[key]
		if !ok {
			n = len(p.specs)
			p.index[key] = n
			p.specs = append(p.specs, s)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func (p *patterns) price(ctx context.Context, m cost.Model, begin Begin) ([]priced, error) {
	m.Window, m.Vectors = window(len(p.specs)), true
	found := make([]priced, len(p.specs))
	done := begin.phase("pricing", len(p.specs), "access pattern")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range p.specs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			found[i] = predict(m, s)
			done()
			return nil
		})
	}
	return found, group.Wait()
}

// window returns the Model.Window for a number of patterns, so that all take a second or two on two
// CPUs.
func window(patterns int) int {
	w := cost.DefaultWindow
	for w > cost.LeastWindow && w*patterns > 1<<26 {
		w /= 2
	}
	return w
}

func predict(m cost.Model, s access.Spec) priced {
	s.Threads = m.Threads
	p, err := s.Pattern()
	if err != nil {
		return priced{err: err}
	}
	if p.Elems == 0 {
		return priced{Price: price(m, cost.Prediction{})}
	}
	prediction, err := m.Predict(p)
	return priced{price(m, prediction), err}
}

func price(m cost.Model, p cost.Prediction) Price {
	one := Price{Ns: p.Ns}
	for i, l := range m.Caches.Levels {
		one.Misses = append(one.Misses, Miss{l.Name, math.Round(p.Missed(i))})
	}
	if len(m.Caches.TLB) > 0 {
		one.Misses = append(one.Misses, Miss{"TLB", math.Round(p.Walked())})
	}
	return one
}

// callsOf returns which operators call others that copy, reduce or fill.
func callsOf(all []operators.Operator) calls {
	inside := calls{}
	for _, op := range all {
		fills := op.Class == operators.Elementwise && op.Row().Is(0) == operators.Written
		if !fills && op.Class != operators.Copy && op.Class != operators.Reduction {
			continue
		}
		for _, c := range op.Callers {
			for name := range strings.SplitSeq(c.Chain, " > ") {
				inside[callee{name, op.Class}] = true
			}
		}
	}
	return inside
}

// Sentence says what the layout costs.
func (b *Bill) Sentence() string {
	if b.Ns == 0 {
		return "no operator in it could be priced"
	}
	of := "this step"
	if b.OnDevice {
		of = "these operators on that CPU"
	}
	if len(b.Sources) > 1 {
		of = fmt.Sprintf("%d profiles together", len(b.Sources))
	}
	return fmt.Sprintf("layout costs %s of the memory time of %s: %s of %s", percent(b.Share), of,
		advise.Duration(b.Layout), advise.Duration(b.Ns))
}

func percent(share float64) string {
	if share > 0 && share < .01 {
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}
