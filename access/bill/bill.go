// Package bill prices the memory layouts of a model: of every operator that a
// profile has (package operators) it predicts how long its calls take to go
// through memory as PyTorch does, what the same would take if its operands were
// contiguous, and says in words what to do about the difference.
//
// [Of] makes the bill. [Bill.Write] prints it for people, as JSON it is what
// 'bench import --json' prints, and [Bill.Suite] is a workload file with which the
// worst can be timed.
//
// A prediction is that of package cost: of passes over the same operands again and
// again, so that what fits in a cache is found there. Of a product only the
// traffic of its operands is in the bill, once each, not its arithmetic.
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

// A Bill is what a profile's operators cost.
type Bill struct {
	Sources []string `json:"sources"`
	// Warnings are those of the profile, a line each.
	Warnings []string `json:"warnings,omitempty"`
	Model    string   `json:"cost_model"`
	Calls    int      `json:"calls"` // of all operators, skipped ones too
	Bytes    int64    `json:"bytes"`
	// Strided and StridedDistinct are those of the profile.
	Strided         int `json:"strided_inputs"`
	StridedDistinct int `json:"strided_inputs_distinct"`
	// Operands counts all of them, as the profile does. OnDevice: the profile is of a GPU, and
	// times are those of a CPU.
	Operands operators.Tally `json:"operands"`
	OnDevice bool            `json:"on_device,omitzero"`
	// Ns is the predicted time of all calls, Layout how much less it would be if
	// operands were contiguous, Share the latter's share of the former.
	Ns     float64 `json:"predicted_ns"`
	Layout float64 `json:"layout_ns"`
	Share  float64 `json:"layout_share"`
	// Operators are the worst first: by what their layouts cost, then by their time.
	Operators []Item              `json:"operators"`
	Skipped   []operators.Skipped `json:"skipped"`

	brief   string   // what is predicted for
	nowhere bool     // the profile does not say where tensors lie
	levels  []string // names of the caches
}

// An Item is a line of a bill: all calls of one operator with the same dtypes,
// shapes and strides.
type Item struct {
	operators.Operator
	// Predicted and Contiguous are of one call, as it is and with contiguous
	// operands. They are nil of what touches no memory, and of what nobody knows
	// how to price.
	Predicted  *Price `json:"predicted,omitempty"`
	Contiguous *Price `json:"contiguous,omitempty"`
	// Ns is the predicted time of all calls, Layout what the layout is of it.
	Ns     float64 `json:"predicted_ns"`
	Layout float64 `json:"layout_ns"`
	// Uses is how often a tensor is read in the layout that costs, where that is
	// known.
	Uses    int    `json:"uses,omitempty"`
	Verdict string `json:"verdict"`
	// Computes: what it computes, as exp or a variance, takes longer than its memory, which
	// alone is in the times.
	Computes bool `json:"computes,omitzero"`
	// Unwritten: the profile does not say what it returns, nor do its operands, and the times are of
	// what it reads alone.
	Unwritten bool `json:"result_unknown,omitzero"`
	// Problem is why there is no price, of what touches memory.
	Problem string `json:"problem,omitempty"`

	lowered      lowered
	given, twins []int // numbers of its patterns, as they are and with contiguous operands
}

// A Price is what a call takes.
type Price struct {
	Ns     float64 `json:"ns"`
	Misses []Miss  `json:"misses"` // by level, the nearest first, then the TLB's
}

// A Miss is how often a call misses a level.
type Miss struct {
	Level string  `json:"level"`
	Count float64 `json:"count"`
}

// Begin is told of each step that takes a while, of how many parts it is, and returns what is
// told when one is done, by several goroutines. nil tells nobody.
type Begin func(what string, parts int) (done func())

// phase tells of a step, named with the number of its parts.
func (b Begin) phase(what string, parts int, noun string) (done func()) {
	if b == nil {
		return func() {}
	}
	return b(what+" "+explain.Counted(parts, noun), parts)
}

// Of prices a profile by a cost model. It works on all CPUs.
func Of(ctx context.Context, p *operators.Profile, m cost.Model, begin Begin) (*Bill, error) {
	b := &Bill{Sources: p.Sources, Warnings: p.Warnings, Model: m.String(), brief: m.Brief(),
		Calls: p.Calls, Strided: p.Strided, StridedDistinct: p.StridedDistinct, Operands: p.Tally,
		OnDevice: p.OnDevice, nowhere: p.Step == nil, Operators: []Item{},
		Skipped: append([]operators.Skipped{}, p.Skipped...)}
	for _, l := range m.Caches.Levels {
		b.levels = append(b.levels, l.Name)
	}
	inside := callsOf(p.Operators)
	var all patterns
	for _, op := range p.Operators {
		item := Item{Operator: op, Computes: op.Computes()}
		if op.Class.Touches() {
			var err error
			if item.lowered, err = lower(op, inside); err != nil {
				item.Problem = err.Error()
			}
			item.Unwritten = item.lowered.unsaid
		}
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
		b.Bytes = plus(b.Bytes, item.Bytes)
	}
	if b.Ns > 0 {
		b.Share = b.Layout / b.Ns
	}
	b.judge(p)
	slices.SortStableFunc(b.Operators, func(x, y Item) int {
		return cmp.Or(cmp.Compare(y.Layout, x.Layout), cmp.Compare(y.Ns, x.Ns),
			cmp.Compare(y.Bytes, x.Bytes))
	})
	return b, nil
}

// judge says what to do about each operator.
func (b *Bill) judge(p *operators.Profile) {
	uses := usesOf(p, func(n int) bool { return b.Operators[n].Layout > 0 })
	for i := range b.Operators {
		item := &b.Operators[i]
		item.Verdict = verdict(item, uses[i])
	}
}

// plus is a + b of what is not negative, at most what an int64 holds.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// price puts the prices of its patterns together.
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

// noise is what share of a time a prediction does not tell apart.
const noise = .02

// A priced is the price of a pattern, or why it has none.
type priced struct {
	Price
	err error
}

// patterns are the distinct ones of a bill.
type patterns struct {
	specs []access.Spec
	index map[string]int
}

// add returns the numbers of patterns, new ones and those that are there.
func (p *patterns) add(specs []access.Spec) []int {
	if p.index == nil {
		p.index = map[string]int{}
	}
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

// price predicts each pattern.
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

// window is up to how many accesses a pattern is simulated whole where there are so
// many of them: all together take a second or two on two CPUs.
func window(patterns int) int {
	w := cost.DefaultWindow
	for w > cost.LeastWindow && w*patterns > 1<<26 {
		w /= 2
	}
	return w
}

// predict prices one pattern.
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

// price is a prediction by the names of the levels.
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

// callsOf looks at who called the operators of a profile that copy, reduce, or fill.
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

// Sentence says what layout costs.
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

// percent is a share as text.
func percent(share float64) string {
	if share > 0 && share < .01 {
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}
