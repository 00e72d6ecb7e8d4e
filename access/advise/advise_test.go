package advise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// model is a fixed machine, so that what is predicted is the same everywhere.
var model = cost.Model{Times: cost.Generic(cost.Unmeasured), Rules: &rules,
	Window: 8 * cost.LeastWindow, Caches: simcache.Config{
		Levels: []simcache.Level{
			{Name: "D1", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
			{Name: "L2", Geometry: simcache.Geometry{Size: 512 << 10, Ways: 8, Line: 64}},
			{Name: "LL", Geometry: simcache.Geometry{Size: 16 << 20, Ways: 16, Line: 64}}},
		TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4096}, {Entries: 2048, Ways: 8, Page: 4096}},
	}}

// rules are constants that stay as they are when others are fitted, since what is
// tested is what advice makes of predictions.
var rules = cost.Rules{Row: 1.8, SumRow: 1.8, Block: 5.8, Compiled: .13, Overlap: 3, InFlight: 12,
	Window: 50, Pending: 150}

func ask(t *testing.T, s access.Spec, passes int, kernels ...access.Kernel) *Advice {
	t.Helper()
	var left atomic.Int64 // of what is begun
	begin := func(_ string, parts int) func() {
		left.Add(int64(parts))
		return func() { left.Add(-1) }
	}
	a, err := Ask(context.Background(), Question{Spec: s, Passes: passes, Kernels: kernels,
		Model: model, Begin: begin})
	if err != nil {
		t.Fatal(err)
	}
	if n := left.Load(); n != 0 {
		t.Errorf("%d parts are told of that are not done", n)
	}
	return a
}

// wants reports words that are missing in the advice.
func wants(t *testing.T, a *Advice, words ...string) {
	t.Helper()
	text := strings.Join(append(a.Verdict(), a.Why()), "\n")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

// TestColumnWalk: PyTorch sums a transposed matrix in the order of its storage, so that
// contiguous() never pays; a loop of one's own does as well in order 1,0.
func TestColumnWalk(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{4096, 4096}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}, 10)
	d := a.Decide()
	if d.Use.Spec.Order.String() != "1,0" || d.CopyFirst.From != 0 ||
		d.CopyFirst.Against.Name() != "order 1,0" || a.Torch.From != 0 || a.Torch.Copy(1000) {
		t.Errorf("use %s, from %d, in PyTorch from %d", d.Use.Name(), d.CopyFirst.From,
			a.Torch.From)
	}
	wants(t, a, "do not call contiguous()", "x.t().sum()", "never pays", "order 1,0",
		"D1 and L2 at every element",
		"LL once in 16 elements", "the TLB at every element", "page walks")
}

// TestCopyFirst: PyTorch adds in the order of x.t(), which is the wrong one for y.
func TestCopyFirst(t *testing.T) {
	s := access.Spec{Op: access.Add, Shape: []int{4000, 4000}, With: []int{4000, 4000},
		DType: layouts.Float32, View: layouts.MustParseChain("t()")}
	a := ask(t, s, 10, access.Kernel("portable"))
	d := a.Decide()
	if d.Use.First == nil || d.Use.id() != a.Ranked[0].id() || d.CopyFirst.From != 1 ||
		a.Torch.From != 1 || !a.Torch.Copy(1) {
		t.Errorf("use %s, from %d, in PyTorch from %d", d.Use.Name(), d.CopyFirst.From,
			a.Torch.From)
	}
	wants(t, a, "call contiguous() first", "from the first pass on", "x.t() + y", "a copy by ",
		"then row order", "without a copy")
}

// TestCopyOnce: a copy is not copied first, but PyTorch's is, where it is made again and
// again.
func TestCopyOnce(t *testing.T) {
	s := access.Spec{Op: access.Copy, Shape: []int{2048, 2048}, DType: layouts.Float32,
		View: layouts.MustParseChain("x.t()")}
	a := ask(t, s, 3)
	if a.Decide().CopyFirst != nil || first(a.Ranked, func(c Candidate) bool {
		return c.First != nil
	}) != nil || a.Torch.From != 2 || a.Torch.Copy(1) || !a.Torch.Copy(3) {
		t.Errorf("copied first, in PyTorch from %d", a.Torch.From)
	}
	wants(t, a, "y.copy_(x.t())")
}

// TestDims: a sum over a dim is one of PyTorch's, and names that dim.
func TestDims(t *testing.T) {
	q := Question{Spec: access.Spec{Shape: []int{2048, 2048}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}, Passes: 1, Model: model, Dims: []int{-1}}
	along := map[int]float64{}
	for _, dim := range []int{-1, 0, 1} {
		q.Dims = []int{dim}
		a, err := Ask(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, a, fmt.Sprintf("x.t().sum(%d)", dim))
		along[dim] = a.Torch.View.ns(Predicted)
	}
	if along[-1] != along[1] || along[0] >= along[1] {
		t.Errorf("along the dims %v", along)
	}
	q.Dims = []int{7}
	if _, err := Ask(context.Background(), q); err == nil ||
		!strings.Contains(err.Error(), "dims [7]") {
		t.Errorf("dim 7: %v", err)
	}
}

// TestTorchAlone: where PyTorch alone is asked for, no other walk is predicted but row order.
func TestTorchAlone(t *testing.T) {
	a, err := Ask(context.Background(), Question{Spec: access.Spec{Shape: []int{300, 200},
		DType: layouts.Float32, View: layouts.MustParseChain("[:, ::2]")}, Passes: 1, Model: model,
		Torch: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Ranked) != 1 || len(a.Rows(8)) != 3 || len(a.Verdict()) != 1 ||
		a.Torch.Call != "x[:, ::2].sum()" {
		t.Errorf("%d ranked, %d rows, %s", len(a.Ranked), len(a.Rows(8)), a.Verdict())
	}
}

// TestSameWalk: what touches the same is one walk, that of plain loops; and what
// an addition broadcasts needs no copy, nor can a fill of one replace a fill.
func TestSameWalk(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{64, 64}, DType: layouts.Float32}, 1,
		access.Kernel("portable"))
	if first(a.Ranked, func(c Candidate) bool { return !c.plain() }) != nil {
		t.Error("the portable kernel sums in row order as plain loops do")
	}
	for _, c := range []struct {
		spec access.Spec
		want string
	}{
		{access.Spec{Op: access.Add, Shape: []int{1, 40}, With: []int{300, 40},
			DType: layouts.Float32}, "it returns the view itself"},
		{access.Spec{Op: access.Fill, Shape: []int{30, 40}, View: layouts.MustParseChain("t()"),
			DType: layouts.Float32}, "it would fill a copy"},
	} {
		a := ask(t, c.spec, 100, access.Kernel("portable"))
		if first(a.Ranked, func(c Candidate) bool {
			return c.First != nil
		}) != nil || a.Decide().CopyFirst != nil {
			t.Errorf("%v: a copy is ranked", c.spec)
		}
		wants(t, a, c.want)
	}
}

// TestPowerOfTwo: rows a power of two of bytes apart are to be padded.
func TestPowerOfTwo(t *testing.T) {
	s := access.Spec{Op: access.Copy, Shape: []int{1024, 1024}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}
	a := ask(t, s, 1)
	wants(t, a, "pad its rows from 4,096 to 4,160 B: row order")
	s.Pad = 16
	if text := ask(t, s, 1).Why(); strings.Contains(text, "padded") {
		t.Errorf("padded rows are to be padded:\n%s", text)
	}
}

// TestChannels: NCHW to NHWC is for a vector kernel, if there is one, and the
// copy pays after few passes.
func TestChannels(t *testing.T) {
	s := access.Spec{Op: access.Copy, Shape: []int{2, 32, 7, 7}, DType: layouts.Float32,
		View: layouts.MustParseChain("permute(0,2,3,1)")}
	a := ask(t, s, 3, access.Kernel("portable"))
	if !slices.ContainsFunc(a.Ranked, func(c Candidate) bool {
		return c.Name() == "kernel portable"
	}) {
		t.Error("the kernel is not ranked")
	}
	// 24 orders, each whole and in tiles, and a kernel, with and without padding.
	if want := 2 * (24*(1+len(tiles(a.Naive.Pattern.View(), access.Copy))) +
		1); a.Considered != want || len(a.Ranked) >= a.Considered {
		t.Errorf("%d considered, want %d; %d differ", a.Considered, want, len(a.Ranked))
	}
}

// TestContiguousView: a contiguous view is walked in row order, and not copied.
func TestContiguousView(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{1000, 1000}, DType: layouts.Float64}, 5)
	wants(t, a, "row order", "it returns the view itself")
	if a.Decide().CopyFirst != nil || a.Naive.Spec.Order != access.Row {
		t.Errorf("%+v", a)
	}
}

// TestOrders: every order of the dims once, those of one element in their place;
// with many dims those that are one loop stay together.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		shape []int
		view  string
		want  int // 0 for an error
	}{
		{[]int{}, "", 1}, {[]int{7}, "", 1}, {[]int{2, 3}, "", 2}, {[]int{2, 3, 4, 5}, "", 24},
		{[]int{2, 1, 4, 5}, "", 6},
		{[]int{2, 3, 4, 5, 6}, "", 120}, {[]int{2, 3, 4, 5, 6, 7}, "", 1},
		{[]int{2, 3, 4, 5, 6, 7}, "permute(0,1,2,5,4,3)", 24},
		{[]int{2, 3, 4, 5, 6, 7}, "permute(5,4,3,2,1,0)", 0},
	} {
		view, err := (access.Spec{Shape: c.shape, DType: layouts.Float32,
			View: layouts.MustParseChain(c.view)}).Pattern()
		if err != nil {
			t.Fatal(err)
		}
		all, err := orders(view.View())
		if len(all) != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%v %s: %d orders, %v, want %d", c.shape, c.view, len(all), err, c.want)
		}
		seen := map[string]bool{}
		for _, o := range all {
			seen[orderOf(o).String()] = true
			if sorted := slices.Sorted(slices.Values(o)); !slices.Equal(sorted,
				nest.UpTo(len(c.shape))) {
				t.Errorf("%v is no order", o)
			}
		}
		if len(seen) != len(all) || c.want > 0 && !seen["row"] {
			t.Errorf("%v: %v", c.shape, seen)
		}
	}
}

func TestBreakEven(t *testing.T) {
	for _, c := range []struct {
		first, view, after float64
		want               int
	}{{10, 5, 4, 11}, {10, 14, 4, 2}, {9, 14, 4, 1}, {10, 4, 4, 0}, {10, 3, 4, 0}, {1e300, 2, 1, 0},
		{.3, .2, .1, 4}, {6280, 3750, 79.9, 2}} {
		if got := breakEven(c.first, c.view, c.after); got != c.want {
			t.Errorf("%+v: from %d passes on, want %d", c, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		spec access.Spec
		want string
	}{
		{access.Spec{Shape: []int{0, 3}, DType: layouts.Float32},
			"shape 0x3: the view has no element to walk"},
		{access.Spec{Shape: []int{2, 3, 4, 5, 6, 7}, DType: layouts.Float32,
			View: layouts.MustParseChain("permute(5,4,3,2,1,0)")}, "6 dims"},
	} {
		if _, err := Ask(context.Background(), Question{Spec: c.spec, Passes: 1,
			Model: model}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.spec, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := access.Spec{Op: access.Copy, Shape: []int{64, 64}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}
	if _, err := Ask(ctx, Question{Spec: s, Passes: 1, Model: model}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 ns", 1.5: "1.5 ns", 999.9: "1 µs",
		123456: "123 µs", 2e6: "2 ms", 3.21e9: "3.21 s", math.Pi * 1e3: "3.14 µs",
		1.234e12: "1230 s"} {
		if got := Duration(ns); got != want {
			t.Errorf("%v is %q, want %q", ns, got, want)
		}
	}
}

// TestTiles: tiles are along the dim in which x lies closest in memory, and that in which a fresh
// tensor does. Sizes are smaller than the dim, or one is whole. There are none where that is one
// dim, or for one operand.
func TestTiles(t *testing.T) {
	for _, c := range []struct {
		shape []int
		view  string
		op    access.Op
		want  [][]int
	}{
		{[]int{16, 20}, "t()", access.Copy, [][]int{{8, 8}, {8, 16}, {16, 8}, {16, 16}, {20, 8}}},
		{[]int{16, 20}, "t()", access.Add, [][]int{{8, 8}, {8, 16}, {16, 8}, {16, 16}, {20, 8}}},
		{[]int{16, 20}, "t()", access.Sum, nil},
		{[]int{16, 20}, "", access.Copy, nil},
		{[]int{16, 20}, "t().flip(0)", access.Copy,
			[][]int{{8, 8}, {8, 16}, {16, 8}, {16, 16}, {20, 8}}},
		{[]int{2, 9}, "t()", access.Copy, [][]int{{8, 2}}},
		{[]int{16, 1, 9}, "permute(2,1,0)", access.Copy, [][]int{{8, 1, 8}, {8, 1, 16}, {9, 1, 8}}},
		{[]int{16, 9, 1}, "permute(1,0,2)", access.Copy, [][]int{{8, 8, 1}, {8, 16, 1}, {9, 8, 1}}},
		{[]int{1, 9}, "expand(16,9).t()", access.Copy, [][]int{{8, 8}, {8, 16}, {9, 8}}},
		{[]int{1}, "expand(9)", access.Copy, nil},
	} {
		p, err := (access.Spec{Shape: c.shape, DType: layouts.Float32,
			View: layouts.MustParseChain(c.view)}).Pattern()
		if err != nil {
			t.Fatal(err)
		}
		got := tiles(p.View(), c.op)
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%v of %v %s: %v, want %v", c.op, c.shape, c.view, got, c.want)
		}
	}
}

// TestPromising: of more orders than are tiled only the best are, as they are stored.
func TestPromising(t *testing.T) {
	all, err := orders(ask(t, access.Spec{Shape: []int{2, 2, 2, 2, 2}, DType: layouts.Float32},
		1).Naive.Pattern.View())
	if err != nil {
		t.Fatal(err)
	}
	a := &Advice{}
	if got := a.promising(all[:tiledOrders]); len(got) != tiledOrders {
		t.Errorf("%d of %d orders are tiled", len(got), tiledOrders)
	}
	// the last ones are the best, of each first the one with the rows of x padded
	for i := range all {
		w := Walk{Spec: access.Spec{Order: orderOf(all[len(all)-1-i])}}
		padded := w
		padded.Padded = 16
		a.walks = append(a.walks, padded, w)
	}
	// which is none of them
	a.walks = slices.Insert(a.walks, 1, Walk{Spec: access.Spec{Order: "from"}})
	got := a.promising(all)
	for i, order := range got {
		if !slices.Equal(order, all[len(all)-1-i]) {
			t.Errorf("%v is tiled as number %d", order, i)
		}
	}
	if len(got) != tiledOrders {
		t.Errorf("%d are tiled, want %d", len(got), tiledOrders)
	}
	// Five dims, of which the last of 9 is tiled: 120 orders, and 24 in tiles, as stored and
	// padded.
	five := ask(t, access.Spec{Op: access.Copy, Shape: []int{2, 2, 2, 3, 9}, DType: layouts.Float32,
		View: layouts.MustParseChain("permute(4,3,2,1,0)")}, 1)
	if want := 2 * (120 + 24); five.Considered != want {
		t.Errorf("%d are considered, want %d", five.Considered, want)
	}
}
