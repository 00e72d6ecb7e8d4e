package advise

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

// anyMachines are models of several machines: tiny ones, which random views are
// large for, one that was measured, and real ones' caches.
func anyMachines(t *testing.T) map[string]cost.Model {
	level := func(name string, size, ways int) simcache.Level {
		return simcache.Level{Name: name, Geometry: simcache.Geometry{Size: size,
			Ways: ways, Line: 64}}
	}
	inf := math.Inf(1)
	all := map[string]cost.Model{
		"generic": model,
		"tiny": {Times: cost.Generic("a test"), Caches: simcache.Config{
			Levels: []simcache.Level{level("D1", 1<<10, 2), level("L2", 8<<10, 4),
				level("LL", 32<<10, 8)},
			TLB: []simcache.TLB{{Entries: 8, Ways: 8, Page: 4096}}}},
		"slow memory": {Times: cost.Times{Source: "a test's", Hit: 1,
			Levels: []cost.Level{{Name: "memory", Capacity: inf, Latency: 500, Line: 30,
				Stored: 20}},
			Walks: []float64{60}, Apart: []float64{60}},
			Caches: simcache.Config{Levels: []simcache.Level{level("D1", 2<<10, 2)},
				TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}}},
		"measured": {Times: cost.Times{Source: "a test's", Hit: 1.3,
			Levels: []cost.Level{{Name: "L2", Capacity: 2 << 20, Latency: 4.3, Line: 1.2,
				Stored: .4},
				{Name: "L3", Capacity: 105 << 20, Latency: 30, Line: 3.1, Stored: 2},
				{Name: "memory", Capacity: inf, Latency: 130, Line: 6.4, Stored: 3.9}},
			Walks: []float64{2.1, 21}, Apart: []float64{2.1, 21}},
			Caches: simcache.Config{Levels: []simcache.Level{level("L1", 4<<10, 4),
				level("L2", 16<<10, 8), level("L3", 64<<10, 16)},
				TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096},
					{Entries: 16, Ways: 4, Page: 4096}}}},
	}
	for _, name := range []string{"amd-zen3", "intel-skylake-server"} {
		m, err := machines.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = cost.Model{Times: cost.Generic("a test"), Caches: m.Config}
	}
	return all
}

// anyQuestion draws a view, an operation and passes.
func anyQuestion(t *rapid.T, models map[string]cost.Model) Question {
	machine := rapid.SampledFrom([]string{"generic", "tiny", "slow memory", "measured", "amd-zen3",
		"intel-skylake-server"}).Draw(t, "machine")
	rank := rapid.SampledFrom([]int{2, 2, 2, 2, 3, 3, 1, 0}).Draw(t, "rank")
	sizes := [][]int{nil, {1, 17, 1000, 5000}, {1, 2, 16, 33, 64, 100, 128, 200},
		{1, 3, 8, 16, 20}}[rank]
	shape := make([]int, rank)
	for d := range shape {
		shape[d] = rapid.SampledFrom(sizes).Draw(t, "size")
	}
	s := access.Spec{Shape: shape, DType: rapid.SampledFrom([]layouts.DType{layouts.Float32,
		layouts.Float64, layouts.Int16}).Draw(t, "dtype"),
		Op: rapid.SampledFrom([]access.Op{access.Sum, access.Fill, access.Copy,
			access.Add}).Draw(t, "op")}
	views := []string{""}
	if rank > 0 {
		views = append(views, "slice(0,0,5000,2)", "flip(0)", "slice(-1,0,5000,3)",
			"unsqueeze(0).expand("+strings.Repeat("-1,", rank)+"-1)")
	}
	if rank > 1 {
		views = append(views, "transpose(0,-1)", "transpose(0,-1)", "transpose(0,-1).flip(0)",
			"transpose(0,-1).slice(0,0,5000,2)", "narrow(0,0,1).expand(50,"+strings.Repeat("-1,",
				rank-2)+"-1)", "select(0,0)")
	}
	if rank > 2 {
		views = append(views, "permute(1,2,0)", "permute(0,2,1)")
	}
	s.View = layouts.MustParseChain(rapid.SampledFrom(views).Draw(t, "view"))
	own := s
	own.Op = access.Sum
	view, err := viewOf(own)
	if err != nil || view.Numel() == 0 {
		s.View = layouts.Chain{}
		view, err = layouts.Contiguous(shape...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Op == access.Add {
		s.With = view.Shape()
		for d := range s.With {
			if rapid.Bool().Draw(t, "broadcast") {
				s.With[d] = 1
			}
		}
	}
	return Question{Spec: s, Passes: rapid.SampledFrom([]int{1, 2, 3, 10, 1000}).Draw(t, "passes"),
		Model: models[machine],
		Kernels: rapid.SampledFrom([][]access.Kernel{nil, []access.Kernel{"portable"},
			{access.Kernel("portable"), access.Builtin}}).Draw(t, "kernels")}
}

// holds reports what of a decision the candidates contradict that it was made of.
// It computes anew from the figures of the walks.
func holds(t *rapid.T, a *Advice, all []Candidate, d Decision) {
	b, n := d.Basis, float64(a.Question.Passes)
	total := func(c Candidate) float64 {
		each := map[Basis]func(Walk) float64{Predicted: func(
			w Walk) float64 {
			return w.Prediction.Ns
		}, Measured: func(w Walk) float64 {
			return w.Measured
		}}[b]
		sum := n * rounded(each(c.Walk))
		if c.First != nil {
			sum += rounded(each(*c.First))
		}
		return rounded(sum)
	}
	worth := func(slow, fast Candidate) bool { return ratio(total(slow), total(fast)) >= b.clear() }
	ids, names := map[string]bool{}, map[string]bool{}
	var naive, found *Candidate
	for i, c := range all {
		if i > 0 && total(c) < total(all[i-1]) || ids[c.id()] || names[c.Name()] {
			t.Errorf("number %d, %s, is out of order or twice", i, c.Name())
		}
		ids[c.id()], names[c.Name()] = true, true
		switch {
		case c.id() == a.Naive.id():
			naive = &all[i]
		case c.First != nil && found == nil:
			found = &all[i]
		}
		if c.Padded == 0 {
			if total(c) < total(d.Least) {
				t.Errorf("%s takes less than the least, %s", c.Name(), d.Least.Name())
			}
			if worth(d.Use, c) {
				t.Errorf("use %s, but %s is worth a change", d.Use.Name(), c.Name())
			}
			if c.First == nil && total(c) < total(d.InPlace) || c.First == nil && c.plain() &&
				total(c) < total(d.Plain) {
				t.Errorf("%s takes less than %s or %s", c.Name(), d.InPlace.Name(), d.Plain.Name())
			}
		} else if p := d.Padded; worth(d.Least, c) && (p == nil || total(*p) > total(c)) {
			t.Errorf("%s is worth padding or %v is not", c.Name(), p)
		}
	}
	if naive == nil || naive.Name() != "row order" || d.Use.Padded > 0 || !ids[d.Use.id()] ||
		d.InPlace.First != nil || !d.Plain.plain() {
		t.Fatalf("naive %v, use %s, in place %s, plain %s", naive, d.Use.Name(), d.InPlace.Name(),
			d.Plain.Name())
	}
	if d.Use.id() != naive.id() && !worth(*naive, d.Use) || d.Use.First != nil &&
		d.Use.id() != d.Least.id() {
		t.Errorf("use %s at %v, naive %v, least %v", d.Use.Name(), total(d.Use), total(*naive),
			total(d.Least))
	}
	if p := d.Padded; p != nil && !worth(d.Least, *p) && (!worth(*naive, *p) || worth(*p, d.Use)) {
		t.Errorf("%s is not worth it", p.Name())
	}
	if found != nil {
		c := d.CopyFirst
		if c == nil || c.Basis != b || c.Copy.key != found.First.key || c.After.key != found.key ||
			c.Against.id() != d.InPlace.id() {
			t.Fatalf("the copy is not %s", found.Name())
		}
		breaksEven(t, c.From, c.Copy.ns(b), c.Against.ns(b), c.After.ns(b))
		if from := float64(c.From); d.Use.First != nil && (from == 0 || n < from) {
			t.Errorf("use the copy for %v passes, where it pays from %v on", n, from)
		}
	}
}

// breaksEven reports a number of passes that is not the first for which copied + n*after < n*view,
// but for ties.
func breaksEven(t *rapid.T, n int, copied, view, after float64) {
	less := func(n int, tie float64) bool {
		passes := float64(n)
		return copied+passes*after < passes*view*(1+tie)
	}
	if n == 0 && less(math.MaxInt32, -1e-9) ||
		n > 0 && (!less(n, 1e-9) || n > 1 && less(n-1, -1e-9)) {
		t.Errorf("copy %v, view %v, after %v: not from %d passes on", copied, view, after, n)
	}
}

// TestDecision holds the decision against the figures that it is made of, as
// predicted and then as measured by a clock that knows nothing of prediction.
func TestDecision(t *testing.T) {
	models := anyMachines(t)
	rapid.Check(t, func(t *rapid.T) {
		a, err := Ask(context.Background(), anyQuestion(t, models))
		if err != nil {
			t.Fatal(err)
		}
		d := a.Decide()
		if d.Basis != Predicted || d.Predicted.id() != d.Use.id() {
			t.Errorf("basis %v, predicted %s, use %s", d.Basis, d.Predicted.Name(), d.Use.Name())
		}
		holds(t, a, a.Ranked, d)
		torchHolds(t, a)

		walks := a.toTime()
		for i := range walks {
			walks[i].Measured = math.Pow(10, rapid.Float64Range(0, 4).Draw(t, walks[i].name()))
		}
		a.setTimes(walks)
		timed := a.Decide()
		if timed.Basis != Measured || timed.Predicted.id() != d.Use.id() {
			t.Errorf("basis %v, predicted %s, before %s", timed.Basis, timed.Predicted.Name(),
				d.Use.Name())
		}
		holds(t, a, a.Timed, timed)
		rowsHold(t, a, timed)
	})
}

// torchHolds reports a verdict for PyTorch that its figures contradict.
func torchHolds(t *rapid.T, a *Advice) {
	p, n := a.Torch, float64(a.Question.Passes)
	text := a.Verdict()[0]
	if p.Copied == nil {
		if !strings.Contains(text, "do not call contiguous()") || p.Copy(1) || p.From != 0 {
			t.Errorf("nothing is copied: %s", text)
		}
		return
	}
	view, first, after := p.View.ns(Predicted), p.Copied.First.ns(Predicted), p.Copied.ns(Predicted)
	breaksEven(t, p.From, first, view, after)
	with, without := rounded(first+n*after), rounded(n*view)
	tie := with < without && without/with < Predicted.clear()
	for words, want := range map[string]bool{
		", call contiguous() first": with < without,
		"do not call contiguous()":  with >= without,
		"near tie":                  tie,
	} {
		if strings.Contains(text, words) != want {
			t.Errorf("%v with, %v without: %s", with, without, text)
		}
	}
}

// rowsHold reports rows that do not differ, are out of order or too many, and what is in
// the words and in no row.
func rowsHold(t *rapid.T, a *Advice, d Decision) {
	rows := a.Rows(8)
	names, ways := map[string]bool{}, map[way]bool{}
	if why := a.Why(); strings.Count(explain.Fold(why, 80), "\n") > 5 {
		t.Errorf("more than six lines: %s", why)
	}
	for i, c := range rows {
		if ways[c.way()] || i > 0 && c.shown(a.Question.Passes) < rows[i-1].shown(
			a.Question.Passes) {
			t.Errorf("row %d, %s, is out of order or there already", i, c.Name())
		}
		names[c.Name()], ways[c.way()] = true, true
	}
	for _, c := range []Candidate{d.Use, a.Naive, a.Torch.View} {
		if len(rows) > 8 || !names[c.Name()] {
			t.Errorf("%d rows, without %s: %v", len(rows), c.Name(), names)
		}
	}
	if c := a.Torch.Copied; c != nil && names[c.Name()] == (a.Question.Spec.Op == access.Copy) {
		t.Errorf("%s is a row of %v: %v", c.Name(), a.Question.Spec.Op, names[c.Name()])
	}
}

// TestMeasuredDecides: what is predicted to be the best is not used when another
// takes less by the clock.
func TestMeasuredDecides(t *testing.T) {
	a := ask(t, access.Spec{Op: access.Copy, Shape: []int{1200, 1200}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}, 1, access.Kernel("portable"))
	predicted := a.Decide().Use
	walks := a.toTime()
	for i := range walks {
		walks[i].Measured = 1e6
		if walks[i].name() == "kernel portable" {
			walks[i].Measured = 2e5
		}
	}
	a.setTimes(walks)
	if d := a.Decide(); d.Use.Name() != "kernel portable" || predicted.Name() == d.Use.Name() {
		t.Errorf("use %s, by prediction %s", d.Use.Name(), predicted.Name())
	}
	wants(t, a, "kernel portable", "200 µs", "5.00 times", "timed here")
}

// TestNotTimed: what was not timed decides by nothing more, and a copy that was not is
// still predicted.
func TestNotTimed(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{300, 300}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}, 1)
	naive := a.Naive.Walk
	naive.Measured = 1e5
	a.setTimes([]Walk{naive})
	if d := a.Decide(); d.Use.id() != a.Naive.id() || d.Basis != Measured ||
		d.CopyFirst.Basis != Predicted || len(a.Timed) != 1 {
		t.Errorf("use %s, %v, copy %v", d.Use.Name(), d.Basis, d.CopyFirst.Basis)
	}
}

// TestPadded: the naive walk with its rows padded is told of if that is worth it, no better walk
// makes it idle, and it is not what is told of already.
func TestPadded(t *testing.T) {
	of := func(key string, ns float64, kernel access.Kernel, padded int) Walk {
		return Walk{key: key, Spec: access.Spec{Kernel: kernel}, Padded: padded,
			Prediction: cost.Prediction{Ns: ns}}
	}
	for _, c := range []struct {
		naive, kernel, padded, paddedKernel float64
		want                                string
	}{
		{100, 100, 50, 60, "padded"},
		{100, 100, 70, 50, "padded kernel"},
		{100, 100, 80, 50, "padded kernel"},
		{100, 30, 50, 30, ""},
		{100, 55, 50, 50, "padded"},
		{100, 100, 100, 50, "padded kernel"},
	} {
		a := &Advice{Question: Question{Passes: 1},
			Naive: Candidate{Walk: of("naive", c.naive, access.Scalar, 0)}}
		a.Ranked = []Candidate{a.Naive, {Walk: of("kernel", c.kernel, access.Builtin, 0)},
			{Walk: of("padded", c.padded, access.Scalar, 16)},
			{Walk: of("padded kernel", c.paddedKernel, access.Builtin, 16)}}
		a.sort(a.Ranked, Predicted)
		got := ""
		if d := a.Decide(); d.Padded != nil {
			got = d.Padded.key
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
