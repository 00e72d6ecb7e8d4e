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
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// TestName: kernels that copy go in an order of their own, others in that of the walk.
func TestName(t *testing.T) {
	portable := access.VectorKernels()[0]
	for want, w := range map[string]Walk{
		"row order":                         {},
		"order 1,0":                         {Spec: access.Spec{Order: orderOf([]int{1, 0})}},
		"order 1,0, tiles of 8x16":          {Spec: access.Spec{Op: access.Copy, Order: orderOf([]int{1, 0}), Tile: []int{8, 16}}},
		"row order, rows of x padded by 16": {Padded: 16},
		"Go's copy":                         {Spec: access.Spec{Op: access.Copy, Kernel: access.Builtin}},
		"kernel portable":                   {Spec: access.Spec{Op: access.Copy, Kernel: portable}},
		"kernel portable, tiles of 8":       {Spec: access.Spec{Op: access.Reorder, Kernel: portable, Order: access.Col, Tile: []int{8}}},
		"kernel portable in row order":      {Spec: access.Spec{Kernel: portable}},
		"kernel portable in order 1,0":      {Spec: access.Spec{Kernel: portable, Order: orderOf([]int{1, 0})}},
		"kernel portable in order 1,0, rows of x padded by 8": {Spec: access.Spec{Op: access.Fill, Kernel: portable, Order: orderOf([]int{1, 0})}, Padded: 8},
	} {
		if got := w.name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (Candidate{Walk{}, &w}).Name(); got != "contiguous() by "+want+", then row order" {
			t.Errorf("after a copy: %q", got)
		}
	}
}

// TestTensor: what a tensor misses is said of each level that it misses at least once, and of the TLB if it is one access in a thousand; what most
// of its time goes for is the greatest part.
func TestTensor(t *testing.T) {
	a := &Advice{Question: Question{Model: model}}
	for want, tensor := range map[string]cost.Tensor{
		"x takes 75% of the time that misses take: it misses D1 at every element, L2 once in 2 elements and LL once in 4 elements, in lines one beside the other; most of it goes for lines from L2.": {
			Levels: []float64{1000, 500, 250}, Lines: []float64{60, 10, 5}},
		"x takes 75% of the time that misses take: it misses D1 2 times an element and the TLB once in 1,000 elements, each line in another page than the one before, where nothing is prefetched; most of it goes for lines from memory.": {
			Refs: 1000, Levels: []float64{2000, 0, 0}, TLB: []float64{5, 1}, Lines: []float64{0, 0, 75}, Stride: cost.Stride{Far: .6, Near: .4}},
		"x takes 75% of the time that misses take: it misses D1 once in 1,000 elements, each line some way from the one before, in the same page; most of it goes for lines from LL.": {
			Refs: 2000, Levels: []float64{1, .9, 0}, TLB: []float64{5, 1}, Lines: []float64{5, 35, 30}, Walks: 5, Stride: cost.Stride{Far: .5, Near: .51}},
		"x takes 75% of the time that misses take: it misses no cache at all, in lines one beside the other; most of it goes for translations that the TLB misses.": {
			Refs: 1000, Levels: []float64{.5, 0, 0}, TLB: []float64{0, .5}, Lines: []float64{25, 25, 0}, Walks: 25, Stride: cost.Stride{Near: .5}},
	} {
		tensor.Name = "x"
		if got := a.tensor(tensor, cost.Prediction{Memory: 100}, 1000); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	// Of tensors that cost less than a tenth nothing is said, nor of any beside a loop of more than four times as much.
	small, large := cost.Tensor{Name: "small", Walks: 9.9}, cost.Tensor{Name: "large", Walks: 10}
	p := cost.Prediction{Memory: 100, Loop: 400, Tensors: []cost.Tensor{small, large}}
	c := Candidate{Walk: Walk{Prediction: p, Pattern: access.Pattern{Elems: 1000}}}
	if got := a.misses(c); !strings.HasPrefix(got, "large takes 10%") || strings.Contains(got, "small") {
		t.Errorf("%s", got)
	}
	c.Prediction.Loop = 401
	if got := a.misses(c); got != "misses are not what costs: the instructions of the loop are." {
		t.Errorf("%s", got)
	}
}

// TestTitle: what is walked, how often, and by whom.
func TestTitle(t *testing.T) {
	tag := func(name string) layouts.Tag {
		tag, err := layouts.ParseTag(name)
		if err != nil {
			t.Fatal(err)
		}
		return tag
	}
	matrix := access.Spec{Shape: []int{4, 6}, DType: layouts.Float32, View: layouts.MustParseChain("t()")}
	shared := matrix
	shared.Threads = 2
	blocks := access.Spec{Op: access.Reorder, Shape: []int{4, 8}, DType: layouts.Float32, From: tag("ab"), To: tag("ba")}
	for _, c := range []struct {
		spec   access.Spec
		passes int
		want   string
	}{
		{matrix, 1, "sum of shape 6x4, strides (1, 6), offset 0, 1 pass; "},
		{matrix, 1000, "sum of shape 6x4, strides (1, 6), offset 0, 1,000 passes; "},
		{shared, 1, "sum of shape 6x4, strides (1, 6), offset 0, 1 pass by 2 threads; "},
		{blocks, 2, "reorder of shape 4x8 in ab to ba, 2 passes; "},
	} {
		a := ask(t, c.spec, c.passes)
		if got := a.title(); got != c.want+fmt.Sprintf("%d different of %d tried", a.Different, a.Considered) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestReorder: formats are walked in the order in which either lies in memory, too, and are not made contiguous.
func TestReorder(t *testing.T) {
	from, err := layouts.ParseTag("ab")
	if err != nil {
		t.Fatal(err)
	}
	to, err := layouts.ParseTag("Ba8b")
	if err != nil {
		t.Fatal(err)
	}
	a := ask(t, access.Spec{Op: access.Reorder, Shape: []int{300, 40}, DType: layouts.Float32, From: from, To: to}, 5)
	if d := a.Decide(); d.Contiguous != nil || !slices.ContainsFunc(a.Ranked, func(c Candidate) bool { return c.Spec.Order == access.AsTo }) {
		t.Errorf("%d ranked, contiguous() %v", len(a.Ranked), d.Contiguous)
	}
	if text := strings.Join(a.Text(), "\n"); strings.Contains(text, "contiguous") {
		t.Errorf("of formats it says\n%s", text)
	}
}

// decided is a question of three walks and a copy: predicted to take 100, 80, and with the rows of x padded 50 ns, and 10 ns after one of 1000, in a
// pass of 5.
func decided(t *testing.T) *Advice {
	t.Helper()
	walk := func(ns float64, key string, s access.Spec) Walk {
		s.DType, s.Shape = layouts.Float32, []int{4, 8}
		return Walk{Spec: s, key: key, Pattern: access.Pattern{Elems: 32},
			Prediction: cost.Prediction{Ns: ns, Loop: ns / 2, Memory: ns / 2, Tensors: []cost.Tensor{{Name: "x", Walks: ns / 2, Levels: []float64{3, 2, 1}, TLB: []float64{7, ns}}}}}
	}
	padded := walk(50, "padded", access.Spec{})
	padded.Padded = 16
	a := &Advice{Question: Question{Spec: access.Spec{Shape: []int{4, 8}, DType: layouts.Float32}, Passes: 5, Model: model}, Considered: 9, Different: 4,
		walks:  []Walk{padded, walk(80, "order", access.Spec{Order: orderOf([]int{1, 0})}), walk(100, "naive", access.Spec{})},
		copies: []Walk{walk(1000, "copy", access.Spec{Op: access.Copy})}, after: []Walk{walk(10, "after", access.Spec{})}}
	for _, w := range a.walks {
		a.Ranked = append(a.Ranked, Candidate{Walk: w})
	}
	a.Naive = a.Ranked[2]
	a.Ranked = append(a.Ranked, Candidate{a.after[0], &a.copies[0]})
	a.sort(a.Ranked, Predicted)
	return a
}

// TestTable: times and misses are of all passes and of the copy before them; what was timed has both times.
func TestTable(t *testing.T) {
	a := decided(t)
	want := explain.Table{
		{"walk", "predicted", "against row order", "D1 misses", "L2 misses", "LL misses", "TLB walks"},
		{"row order, rows of x padded by 16", "250 ns", "0.500", "15", "10", "5", "250"},
		{"order 1,0", "400 ns", "0.800", "15", "10", "5", "400"},
		{"row order", "500 ns", "1.000", "15", "10", "5", "500"},
		{"contiguous() by row order, then row order", "1.05 µs", "2.100", "18", "12", "6", "1,050"},
	}
	if diff := cmp.Diff(want, a.table(a.Rows(9))); diff != "" {
		t.Error(diff)
	}
	walks := a.toTime()
	for i := range walks {
		walks[i].Measured = map[string]float64{"order": 30, "naive": 40}[walks[i].key]
	}
	a.setTimes(walks)
	want = explain.Table{
		{"walk", "predicted", "against row order", "measured", "against row order", "D1 misses", "L2 misses", "LL misses", "TLB walks"},
		{"order 1,0", "400 ns", "0.800", "150 ns", "0.750", "15", "10", "5", "400"},
		{"row order", "500 ns", "1.000", "200 ns", "1.000", "15", "10", "5", "500"},
	}
	if diff := cmp.Diff(want, a.table(a.Rows(9))); diff != "" {
		t.Error(diff)
	}
	wants(t, a, "Timed on this machine, samples by turns: 2 of 4 ways. What was measured decides; what was measured less than 1.1 times as fast counts as the same.")
}

// TestDisagreement: what prediction alone would do, but was not timed, is said to be so.
func TestDisagreement(t *testing.T) {
	a := decided(t)
	a.walks[1].Prediction.Ns = 60
	a.Ranked[1].Prediction.Ns = 60
	naive := a.Naive.Walk
	naive.Measured = 40
	a.setTimes([]Walk{naive})
	wants(t, a, "Walk it as it comes, in row order: measured 200 ns (predicted 500 ns) for 5 passes.", " Prediction alone would say order 1,0, at 300 ns against 500 ns for this; that was not timed.")
}

// TestCertainty: what prediction is off by is that to which it was held, which was of one thread; what is too little faster counts as the same.
func TestCertainty(t *testing.T) {
	const threads = " These errors are those of one thread; docs/advise.md has those of two."
	for n, want := range map[int]bool{0: false, 1: false, 2: true} {
		a := decided(t)
		a.Question.Spec.Threads = n
		fit := cost.Fitted().All
		wants(t, a, fmt.Sprintf(" patterns to which it was held it is off by %.0f%% in the median, and for one in ten by more than %.0f%%; what is predicted less than 1.3 times as fast",
			100*fit.Median, 100*fit.Tenth), " The least is predicted for order 1,0, 400 ns: 1.25 times as fast, which counts as the same.")
		if got := strings.Contains(strings.Join(a.Text(), "\n"), threads); got != want {
			t.Errorf("by %d threads: it says that errors are those of one: %v", n, got)
		}
	}
}

// TestTimedCopies: of the ways to make a copy the best as measured and the best as predicted are ranked where they were timed.
func TestTimedCopies(t *testing.T) {
	a := decided(t)
	for _, key := range []string{"second", "third"} {
		w := a.copies[0]
		w.key = key
		a.copies = append(a.copies, w)
	}
	walks := a.toTime()
	for i := range walks {
		walks[i].Measured = map[string]float64{"naive": 40, "copy": 50, "second": 20, "third": 90, "after": 10}[walks[i].key]
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

// TestRows: those that the decision is about are rows however few are asked for, and others as far as they are asked for.
func TestRows(t *testing.T) {
	a := decided(t)
	other := a.Ranked[1]
	other.key, other.Prediction.Ns = "other", 90
	a.Ranked = slices.Insert(a.Ranked, 2, other)
	for top, want := range map[int]string{0: "padded order naive after", 2: "padded order naive after", 3: "padded order other naive after", 9: "padded order other naive after"} {
		var keys []string
		for _, c := range a.Rows(top) {
			keys = append(keys, c.key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("the best %d: %s, want %s", top, got, want)
		}
	}
}

// TestToTime: of the walks of the view the best six are timed, the naive one and the best padded ones, each once.
func TestToTime(t *testing.T) {
	a := decided(t)
	for i := range 8 {
		w := a.walks[1]
		w.key, w.Prediction.Ns = fmt.Sprint(i), 81+float64(i)
		a.walks = slices.Insert(a.walks, 2+i, w)
	}
	a.copies = append(a.copies, a.copies[0])
	if got, want := strings.Join(keys(a.toTime()), " "), "order 0 1 2 3 4 naive padded copy after"; got != want {
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
	j := a.JSON(a.Rows(2))
	if j.Passes != 5 || j.Considered != 9 || j.Different != 4 || len(j.Ranked) != 4 || !slices.Equal(j.Text, a.Text()) || j.Model != a.Question.Model.String() {
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
	check(`{"name":"contiguous() by row order, then row order","predictedTotalNs":1050,"copy":{"walk":"row order","order":"row","kernel":"scalar","predictedNs":1000,"loopNs":500,"memoryNs":500,"tensors":null},"walk":"row order","order":"row","kernel":"scalar","predictedNs":10,"loopNs":5,"memoryNs":5,"tensors":null}`, copied)
	if c := j.Contiguous; c == nil || c.Basis != "predicted" || c.Copy.Predicted != 1000 || c.After.Predicted != 10 || c.Against != "order 1,0" || c.Best != 15 || c.Naive != 12 {
		t.Errorf("%+v", c)
	}
}

// TestSame: what takes less, but by too little to count, is said to count as the same.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		copied float64 // by a copy of 1000 ns, five passes over which take 10 ns each, against 80 of the view
		words  string
	}{{1000, "5 passes take with the copy 1.05 µs, 400 ns without."}, {345, "with the copy 395 ns, 400 ns without, which counts as the same."}, {200, "with the copy 250 ns, 400 ns without."}} {
		a := decided(t)
		a.copies[0].Prediction.Ns = c.copied
		wants(t, a, c.words)
	}
}

// TestTime: all that is worth timing is timed, if there is the memory, whatever operations it is of.
func TestTime(t *testing.T) {
	s := access.Spec{Shape: []int{40, 60}, DType: layouts.Float32, View: layouts.MustParseChain("t()")}
	a := ask(t, s, 2, access.VectorKernels()[0])
	if err := a.Time(context.Background(), access.Options{Count: 1, MinTime: 1}); err != nil {
		t.Fatal(err)
	}
	if d := a.Decide(); d.Basis != Measured || d.Contiguous == nil || d.Contiguous.Basis != Measured || d.Contiguous.Copy.Measured <= 0 || d.Contiguous.After.Measured <= 0 {
		t.Errorf("%+v", d)
	}
	timed := map[string]bool{}
	for _, c := range a.Timed {
		if timed[c.key] = true; !c.timed() {
			t.Errorf("%s was not timed", c.Name())
		}
	}
	for _, w := range a.toTime() {
		if w.Spec.Op == access.Sum && w.Padded == 0 && !timed[w.key] && !slices.ContainsFunc(a.after, func(of Walk) bool { return of.key == w.key }) {
			t.Errorf("%s was not timed", w.name())
		}
	}
	naive := a.Naive.Pattern.Memory
	if err := a.Time(context.Background(), access.Options{Count: 1, MinTime: 1, MaxMemory: naive}); err != nil {
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
