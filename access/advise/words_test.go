package advise

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/simcache/explain"
)

// TestName: kernels that copy go in an order of their own, others in that of the walk.
func TestName(t *testing.T) {
	portable := access.Kernel("portable")
	for want, w := range map[string]Walk{
		"row order": {},
		"order 1,0": {Spec: access.Spec{Order: orderOf([]int{1, 0})}},
		"order 1,0, tiles of 8x16": {Spec: access.Spec{Op: access.Copy,
			Order: orderOf([]int{1, 0}), Tile: []int{8, 16}}},
		"row order, rows of x padded by 16": {Padded: 16},
		"Go's copy": {Spec: access.Spec{Op: access.Copy,
			Kernel: access.Builtin}},
		"kernel portable": {Spec: access.Spec{Op: access.Copy, Kernel: portable}},
		"kernel portable, tiles of 8": {Spec: access.Spec{Op: access.Reorder,
			Kernel: portable, Order: access.Col, Tile: []int{8}}},
		"kernel portable in row order": {Spec: access.Spec{Kernel: portable}},
		"kernel portable in order 1,0": {Spec: access.Spec{Kernel: portable,
			Order: orderOf([]int{1, 0})}},
		"kernel portable in order 1,0, rows of x padded by 8": {Spec: access.Spec{Op: access.Fill,
			Kernel: portable, Order: orderOf([]int{1, 0})}, Padded: 8},
	} {
		if got := w.name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (Candidate{Walk{}, &w}).Name(); got != "a copy by "+want+", then row order" {
			t.Errorf("after a copy: %q", got)
		}
	}
}

// TestMissed: levels that a tensor misses alike are named together, if it misses them at
// least once, and the TLB if that is one access in a thousand; most of the time is in
// the greatest part.
func TestMissed(t *testing.T) {
	a := &Advice{Question: Question{Model: model}}
	for want, tensor := range map[string]cost.Tensor{
		"D1 and L2 at every element and LL once in 4 elements; lines from L2": {Levels: []float64{1000, 1000, 250}, Lines: []float64{60, 10, 5}},
		"D1 2 times per element and the TLB once in 1,000 elements; lines from memory": {
			Refs: 1000, Levels: []float64{2000, 0, 0}, TLB: []float64{5, 1},
			Lines: []float64{0, 0, 75}},
		"D1 once in 1,000 elements; lines from LL": {Refs: 2000, Levels: []float64{1, .9, 0},
			TLB: []float64{5, 1}, Lines: []float64{5, 35, 30}, Walks: 5},
		"no cache; page walks": {Refs: 1000, Levels: []float64{.5, 0, 0},
			TLB: []float64{0, .5}, Lines: []float64{25, 25, 0}, Walks: 25},
	} {
		if got := a.missed(tensor, 1000) + "; " + a.most(tensor); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	// The tensor that costs most is named, unless the loop takes more than four times as much.
	p := cost.Prediction{Memory: 100, Loop: 400, Tensors: []cost.Tensor{{Name: "small", Walks: 9.9},
		{Name: "large", Walks: 90.1}}}
	a.Naive = Candidate{Walk: Walk{Prediction: p, Pattern: access.Pattern{Elems: 1000}}}
	if got := a.naive(); !strings.Contains(got, "90%") || !strings.Contains(got, "large,") {
		t.Errorf("%s", got)
	}
	a.Naive.Prediction.Loop = 401
	if got := a.naive(); !strings.Contains(got, "instructions") {
		t.Errorf("%s", got)
	}
}

// TestReorder: formats are walked in the order in which either lies in memory, too, and are not
// made contiguous.
func TestReorder(t *testing.T) {
	from, err := blocked.Parse("ab")
	if err != nil {
		t.Fatal(err)
	}
	to, err := blocked.Parse("Ba8b")
	if err != nil {
		t.Fatal(err)
	}
	a := ask(t, access.Spec{Op: access.Reorder, Shape: []int{300, 40}, DType: layouts.Float32,
		From: from, To: to}, 5)
	if d := a.Decide(); d.CopyFirst != nil || a.Torch != nil ||
		!slices.ContainsFunc(a.Ranked, func(c Candidate) bool {
			return c.Spec.Order == "to"
		}) {
		t.Errorf("%d ranked, contiguous() %v", len(a.Ranked), d.CopyFirst)
	}
	if text := a.Verdict(); len(text) != 1 || strings.Contains(text[0], "contiguous") {
		t.Errorf("of formats it says\n%s", text)
	}
}

// decided is a question of three walks and a copy: predicted to take 100, 80, and with the rows of
// x padded 50 ns, and 10 ns after one of 1000, in a pass of 5.
func decided(t *testing.T) *Advice {
	t.Helper()
	walk := func(ns float64, key string, s access.Spec) Walk {
		s.DType, s.Shape = layouts.Float32, []int{4, 8}
		return Walk{Spec: s, key: key, Pattern: access.Pattern{Elems: 32},
			Prediction: cost.Prediction{Ns: ns, Loop: ns / 2, Memory: ns / 2,
				Tensors: []cost.Tensor{{Name: "x", Walks: ns / 2, Levels: []float64{3, 2, 1},
					TLB: []float64{7, ns}}}}}
	}
	padded := walk(50, "padded", access.Spec{})
	padded.Padded = 16
	a := &Advice{Question: Question{Spec: access.Spec{Shape: []int{4, 8}, DType: layouts.Float32},
		Passes: 5, Model: model}, Considered: 9, Different: 4,
		walks: []Walk{padded, walk(80, "order", access.Spec{Order: orderOf([]int{1, 0})}),
			walk(100, "naive", access.Spec{})},
		copies: []Walk{walk(1000, "copy", access.Spec{Op: access.Copy})},
		after:  []Walk{walk(10, "after", access.Spec{})}}
	for _, w := range a.walks {
		a.Ranked = append(a.Ranked, Candidate{Walk: w})
	}
	a.Naive = a.Ranked[2]
	a.Ranked = append(a.Ranked, Candidate{a.after[0], &a.copies[0]})
	a.sort(a.Ranked, Predicted)
	return a
}

// TestTable: times and misses are of all passes and of the copy before them; what was timed has
// both times.
func TestTable(t *testing.T) {
	a := decided(t)
	want := explain.Table{
		{"walk", "predicted", "speedup", "D1 misses", "L2 misses", "LL misses", "TLB walks"},
		{"row order, rows of x padded by 16", "250 ns", "2x", "15", "10", "5", "250"},
		{"order 1,0", "400 ns", "1.25x", "15", "10", "5", "400"},
		{"row order", "500 ns", "1x", "15", "10", "5", "500"},
		{"a copy by row order, then row order", "1.05 µs", "0.48x", "18", "12", "6", "1,050"},
	}
	if diff := cmp.Diff(want, a.table(a.Rows(9))); diff != "" {
		t.Error(diff)
	}
	walks := a.toTime()
	for i := range walks {
		walks[i].Measured = map[string]float64{"order": 30, "naive": 40}[walks[i].key]
	}
	a.setTimes(walks)
	a.Torch = &Torch{View: Candidate{Walk: a.Naive.Walk}}
	a.Torch.View.Spec.Order, a.Torch.View.Measured = access.Torch, 0
	want = explain.Table{
		{"walk", "predicted", "speedup", "measured", "speedup", "D1 misses", "L2 misses",
			"LL misses", "TLB walks"},
		{"order 1,0", "400 ns", "1.25x", "150 ns", "1.33x", "15", "10", "5", "400"},
		{"row order", "500 ns", "1x", "200 ns", "1x", "15", "10", "5", "500"},
		{"as PyTorch walks it", "500 ns", "1x", "", "", "15", "10", "5", "500"},
	}
	if diff := cmp.Diff(want, a.table(a.Rows(9))); diff != "" {
		t.Error(diff)
	}
}

// TestCertainty: an error is quoted for what it was measured on, which is one thread of a
// machine that was measured; the best two tie where the model cannot separate them.
func TestCertainty(t *testing.T) {
	measured := model
	measured.Times.Source = "measured 2026-11-28"
	for _, c := range []struct {
		m       cost.Model
		threads int
		quoted  bool
	}{{model, 1, false}, {measured, 1, true}, {measured, 0, true}, {measured, 2, false}} {
		a := decided(t)
		a.Question.Model, a.Question.Spec.Threads = c.m, c.threads
		why := a.Why()
		if strings.Contains(why, "median") != c.quoted ||
			strings.Contains(why, "rough") != c.m.Times.Rough() {
			t.Errorf("%s by %d threads: %s", c.m.Times.Source, c.threads, why)
		}
	}
	a := decided(t)
	if got := a.ties(a.Decide()); !strings.Contains(got, "order 1,0 is as fast") ||
		!strings.Contains(got, "1.3x") {
		t.Error(got)
	}
	a.Ranked[1].Prediction.Ns = 70
	if got := a.ties(a.Decide()); got != "" {
		t.Error(got)
	}
}

// TestTimedCopies: of the ways to make a copy the best as measured and the best as predicted are
// ranked where they were timed.
func TestTimedCopies(t *testing.T) {
	a := decided(t)
	for _, key := range []string{"second", "third"} {
		w := a.copies[0]
		w.key = key
		a.copies = append(a.copies, w)
	}
	walks := a.toTime()
	for i := range walks {
		walks[i].Measured = map[string]float64{"naive": 40, "copy": 50, "second": 20, "third": 90,
			"after": 10}[walks[i].key]
	}
	a.setTimes(walks)
	var made []string
	for _, c := range a.Timed {
		if c.First != nil {
			made = append(made, c.First.key)
		}
	}
	if !slices.Equal(made, []string{"second", "copy"}) {
		t.Errorf("copies by %v are ranked, want the second and that of prediction", made)
	}
}

// TestCall: a question is written as its user writes it.
func TestCall(t *testing.T) {
	for view, want := range map[string]string{"": "x", "t()": "x.t()", "x.t()": "x.t()", "x": "x",
		"[:, ::2]": "x[:, ::2]", "my[0].T": "my[0].T",
		"T": "x.T", "mT[0]": "x.mT[0]", "weights.t()": "weights.t()",
		"select(0,0).T": "x.select(0,0).T"} {
		q := Question{Spec: access.Spec{View: layouts.MustParseChain(view)}, Dims: []int{0, 1}}
		if got := q.call(); got != want+".sum((0, 1))" {
			t.Errorf("%s: %s", view, got)
		}
	}
}

// TestFlip: PyTorch copies in flip, so that contiguous() returns the copy of a flipped
// tensor, and copies that of a transposed one.
func TestFlip(t *testing.T) {
	for view, want := range map[string]string{"flip(0)": "the copy that flip makes",
		"t().flip(0)": "the copy takes "} {
		a := ask(t, access.Spec{Shape: []int{300, 200}, DType: layouts.Float32,
			View: layouts.MustParseChain(view)}, 1)
		if got := a.Verdict()[0]; !strings.Contains(got, "do not call contiguous()") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %s", view, got)
		}
	}
}

// TestRows: what the words are about comes before others, however few rows are asked for.
func TestRows(t *testing.T) {
	a := decided(t)
	other := a.Ranked[1]
	other.key, other.Prediction.Ns, other.Spec.Tile = "other", 95, []int{2, 2}
	a.Ranked = slices.Insert(a.Ranked, 2, other)
	for most, want := range map[int]string{1: "naive", 3: "padded order naive",
		4: "padded order naive after", 9: "padded order other naive after"} {
		var keys []string
		for _, c := range a.Rows(most) {
			keys = append(keys, c.key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("at most %d: %s, want %s", most, got, want)
		}
	}
	if vectors := kernel.Sets(); len(vectors) > 1 { // sets of vectors are one choice
		a, b := a.Ranked[0], a.Ranked[0]
		a.Spec.Kernel, b.Spec.Kernel = "portable", access.Kernel(vectors[1].Name())
		if a.way() != b.way() {
			t.Errorf("%s and %s are two ways", a.Name(), b.Name())
		}
	}
}

// TestToTime: of the walks of the view the best six are timed, the naive one and the best padded
// ones, each once.
func TestToTime(t *testing.T) {
	a := decided(t)
	for i := range 8 {
		w := a.walks[1]
		w.key, w.Prediction.Ns = fmt.Sprint(i), 81+float64(i)
		a.walks = slices.Insert(a.walks, 2+i, w)
	}
	a.copies = append(a.copies, a.copies[0])
	if got, want := strings.Join(keys(a.toTime()), " "),
		"order 0 1 2 3 4 naive padded copy after"; got != want {
		t.Errorf("%s are timed, want %s", got, want)
	}
}

// TestJSON: it has the figures and the names of the words and of the rows.
func TestJSON(t *testing.T) {
	a := decided(t)
	check := func(want string, of any) {
		t.Helper()
		text, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
	j := a.JSON(a.Rows(4))
	if j.Passes != 5 || j.Considered != 9 || j.Different != 4 || len(j.Ranked) != 4 ||
		!slices.Equal(j.Text, append(a.Verdict(), a.Why())) ||
		j.Model != a.Question.Model.String() {
		t.Errorf("%+v", j)
	}
	check(`{"basis":"predicted","use":"row order","totalNs":500,"naiveTotalNs":500,"timesAsFast":1,"least":"order 1,0","predictedUse":"row order","inPlace":"order 1,0","plain":"order 1,0","padded":"row order, rows of x padded by 16","clear":1.3}`, j.Decision)
	for _, c := range j.Ranked {
		for i := range c.Tensors {
			c.Tensors[i] = cost.Tensor{}
		}
	}
	naive, copied := j.Ranked[2], j.Ranked[3]
	naive.Tensors, copied.Tensors, copied.Copy.Tensors = nil, nil, nil
	check(`{"name":"row order","predictedTotalNs":500,"walk":"row order","order":"row","kernel":"scalar","predictedNs":100,"loopNs":50,"memoryNs":50,"tensors":null}`, naive)
	check(`{"name":"a copy by row order, then row order","predictedTotalNs":1050,"copy":{"walk":"row order","order":"row","kernel":"scalar","predictedNs":1000,"loopNs":500,"memoryNs":500,"tensors":null},"walk":"row order","order":"row","kernel":"scalar","predictedNs":10,"loopNs":5,"memoryNs":5,"tensors":null}`, copied)
	if c := j.CopyFirst; c == nil || c.Basis != "predicted" || c.Copy.Predicted != 1000 ||
		c.After.Predicted != 10 || c.Against != "order 1,0" || c.PaysFrom != 15 {
		t.Errorf("%+v", c)
	}
}

// TestTime: all that is worth timing is timed, if there is the memory, whatever operations it is
// of.
func TestTime(t *testing.T) {
	s := access.Spec{Shape: []int{40, 60}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}
	a := ask(t, s, 2, access.Kernel("portable"))
	if err := a.Time(context.Background(), access.Options{Count: 1, MinTime: 1}); err != nil {
		t.Fatal(err)
	}
	if d := a.Decide(); d.Basis != Measured || d.CopyFirst == nil ||
		d.CopyFirst.Basis != Measured || d.CopyFirst.Copy.Measured <= 0 ||
		d.CopyFirst.After.Measured <= 0 {
		t.Errorf("%+v", d)
	}
	timed := map[string]bool{}
	for _, c := range a.Timed {
		if timed[c.key] = true; !c.timed() {
			t.Errorf("%s was not timed", c.Name())
		}
	}
	for _, w := range a.toTime() {
		if w.Spec.Op == access.Sum && w.Padded == 0 && !timed[w.key] &&
			!slices.ContainsFunc(a.after, func(of Walk) bool {
				return of.key == w.key
			}) {
			t.Errorf("%s was not timed", w.name())
		}
	}
	naive := a.Naive.Pattern.Memory
	if err := a.Time(context.Background(), access.Options{Count: 1, MinTime: 1,
		MaxMemory: naive}); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Timed {
		if c.Pattern.Memory > naive || c.First != nil && c.First.Pattern.Memory > naive {
			t.Errorf("%s was timed, for which there is no memory", c.Name())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if cancel(); a.Time(ctx, access.Options{Count: 1, MinTime: 1}) == nil {
		t.Error("it was timed, though it was cancelled")
	}
}

func keys(walks []Walk) (all []string) {
	for _, w := range walks {
		all = append(all, w.key)
	}
	return all
}
