package advise

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// model is a fixed machine, so that what is predicted is the same everywhere.
var model = cost.Model{Times: cost.Generic(), Caches: cost.Caches{
	Levels: []simcache.Level{
		{Name: "D1", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Name: "L2", Geometry: simcache.Geometry{Size: 512 << 10, Ways: 8, Line: 64}},
		{Name: "LL", Geometry: simcache.Geometry{Size: 16 << 20, Ways: 16, Line: 64}}},
	TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4096}, {Entries: 2048, Ways: 8, Page: 4096}},
}}

func ask(t *testing.T, s access.Spec, passes int, kernels ...string) *Advice {
	t.Helper()
	a, err := Ask(context.Background(), Question{Spec: s, Passes: passes, Kernels: kernels, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wants reports words that are missing in the advice.
func wants(t *testing.T, a *Advice, words ...string) {
	t.Helper()
	text := strings.Join(a.Text(), "\n")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

// TestColumnWalk: a large matrix that is summed by columns is to be walked by
// rows, or copied first.
func TestColumnWalk(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{4096, 4096}, DType: layouts.Float32, View: "t()"}, 10)
	if a.Best().Spec.Order != "1,0" || a.Contiguous.Best != 0 || a.Contiguous.Naive < 1 || a.Contiguous.Naive > 3 {
		t.Errorf("best %s, %+v", a.Best().Name(), a.Contiguous)
	}
	wants(t, a, "Use order 1,0: ", "In the naive walk, x takes 100% of the time that misses take: of 16,777,216 accesses it misses D1 on 100%",
		"and the TLB on 100%, each line in another page", "against order 1,0 it never pays", "For 10 passes, walk the view: ")
	if c := a.Contiguous; c.Naive != breakEven(c.Copy, a.Naive, c.After) {
		t.Errorf("%+v", c)
	}
}

// TestPowerOfTwo: rows a power of two of bytes apart are to be padded.
func TestPowerOfTwo(t *testing.T) {
	s := access.Spec{Op: access.Copy, Shape: []int{1024, 1024}, DType: layouts.Float32, View: "t()"}
	a := ask(t, s, 1)
	wants(t, a, "If x is yours to store, pad its rows by 16 elements, to 4,160 B instead of 4,096 B: then ", "the naive walk takes ")
	s.Pad = 16
	if text := strings.Join(ask(t, s, 1).Text(), "\n"); strings.Contains(text, "is yours to store") {
		t.Errorf("padded rows are to be padded:\n%s", text)
	}
}

// TestChannels: NCHW to NHWC is for a vector kernel, if there is one, and the
// copy pays after few passes.
func TestChannels(t *testing.T) {
	s := access.Spec{Op: access.Copy, Shape: []int{4, 32, 14, 14}, DType: layouts.Float32, View: "permute(0,2,3,1)"}
	a := ask(t, s, 3, "portable")
	if c := a.Contiguous; c == nil || c.Naive == 0 || c.After.Prediction.Ns >= a.Best().Prediction.Ns {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(a.Ranked, func(c Candidate) bool { return c.Name() == "kernel portable" }) {
		t.Error("the kernel is not ranked")
	}
	// 24 orders, each whole and in tiles, with and without padding; and a kernel.
	if want := 24*2*(1+len(tiles(a.Naive.Pattern.View(), access.Copy))) + 1; a.Considered != want || len(a.Ranked) >= a.Considered {
		t.Errorf("%d considered, want %d; %d differ", a.Considered, want, len(a.Ranked))
	}
}

func TestContiguousView(t *testing.T) {
	a := ask(t, access.Spec{Shape: []int{1000, 1000}, DType: layouts.Float64}, 5)
	wants(t, a, "Walk it as it comes, in row order: ", "In the naive walk, ", "there is nothing to copy first")
	if a.Contiguous != nil || a.Naive.Spec.Order != "row" {
		t.Errorf("%+v", a)
	}
}

// TestRanked: by predicted time, each walk once; the naive one is among them, and
// nothing that is better by the same model stands behind.
func TestRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 3).Draw(t, "shape")
		dims := make([]int, len(shape))
		for d := range dims {
			dims[d] = d
		}
		view := "permute(" + strings.Trim(orderName(append(rapid.Permutation(dims).Draw(t, "view"), -1)), " ") + ")"
		view = strings.Replace(view, ",-1)", ")", 1)
		s := access.Spec{Op: rapid.SampledFrom([]access.Op{access.Sum, access.Fill, access.Copy}).Draw(t, "op"), Shape: shape, DType: layouts.Float32, View: view}
		a, err := Ask(context.Background(), Question{Spec: s, Passes: 1, Model: model})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, c := range a.Ranked {
			if i > 0 && c.Prediction.Ns < a.Ranked[i-1].Prediction.Ns || seen[loops(c)] {
				t.Errorf("number %d, %s, is out of order or twice", i, c.Name())
			}
			seen[loops(c)] = true
			if again, err := model.Predict(c.Pattern); err != nil || again.Ns != c.Prediction.Ns {
				t.Errorf("%s: %v ns, again %v", c.Name(), c.Prediction.Ns, again.Ns)
			}
		}
		plain, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if !seen[loops(Candidate{Spec: s, Pattern: plain})] || a.Best().Prediction.Ns > a.Naive.Prediction.Ns || len(a.Text()) < 4 {
			t.Errorf("naive %v ns, best %v ns: %q", a.Naive.Prediction.Ns, a.Best().Prediction.Ns, a.Text())
		}
	})
}

// TestOrders: every order of the dims once, those of one element in their place;
// with many dims those that are one loop stay together.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		shape []int
		view  string
		want  int // 0 for an error
	}{
		{[]int{}, "", 1}, {[]int{7}, "", 1}, {[]int{2, 3}, "", 2}, {[]int{2, 3, 4, 5}, "", 24}, {[]int{2, 1, 4, 5}, "", 6},
		{[]int{2, 3, 4, 5, 6}, "", 120}, {[]int{2, 3, 4, 5, 6, 7}, "", 1}, {[]int{2, 3, 4, 5, 6, 7}, "permute(0,1,2,5,4,3)", 24},
		{[]int{2, 3, 4, 5, 6, 7}, "permute(5,4,3,2,1,0)", 0},
	} {
		view, err := (access.Spec{Shape: c.shape, DType: layouts.Float32, View: c.view}).Pattern()
		if err != nil {
			t.Fatal(err)
		}
		all, err := orders(view.View())
		if len(all) != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%v %s: %d orders, %v, want %d", c.shape, c.view, len(all), err, c.want)
		}
		seen := map[string]bool{}
		for _, o := range all {
			seen[orderName(o)] = true
			if sorted := slices.Sorted(slices.Values(o)); !slices.Equal(sorted, identity(len(c.shape))) {
				t.Errorf("%v is no order", o)
			}
		}
		if len(seen) != len(all) || c.want > 0 && !seen["row"] {
			t.Errorf("%v: %v", c.shape, seen)
		}
	}
}

func TestBreakEven(t *testing.T) {
	of := func(ns float64) Candidate { return Candidate{Prediction: cost.Prediction{Ns: ns}} }
	for _, c := range []struct {
		first, view, after float64
		want               int
	}{{10, 5, 4, 11}, {10, 14, 4, 2}, {9, 14, 4, 1}, {10, 4, 4, 0}, {10, 3, 4, 0}, {1e300, 2, 1, 0}} {
		if got := breakEven(of(c.first), of(c.view), of(c.after)); got != c.want {
			t.Errorf("%+v: from %d passes on, want %d", c, got, c.want)
		}
		if n := float64(c.want); n > 0 && !(c.first+n*c.after < n*c.view && c.first+(n-1)*c.after >= (n-1)*c.view) {
			t.Errorf("%+v: is not where it breaks even", c)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		spec access.Spec
		want string
	}{
		{access.Spec{Shape: []int{0, 3}, DType: layouts.Float32}, "no element to walk"},
		{access.Spec{Shape: []int{3, 3}, DType: layouts.Float32, View: "t("}, `view "t("`},
		{access.Spec{Shape: []int{2, 3, 4, 5, 6, 7}, DType: layouts.Float32, View: "permute(5,4,3,2,1,0)"}, "6 dims"},
	} {
		if _, err := Ask(context.Background(), Question{Spec: c.spec, Passes: 1, Model: model}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.spec, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := access.Spec{Op: access.Copy, Shape: []int{64, 64}, DType: layouts.Float32, View: "t()"}
	if _, err := Ask(ctx, Question{Spec: s, Passes: 1, Model: model}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 ns", 1.5: "1.5 ns", 999.9: "1 us", 123456: "123 us", 2e6: "2 ms", 3.21e9: "3.21 s", math.Pi * 1e3: "3.14 us"} {
		if got := Duration(ns); got != want {
			t.Errorf("%v is %q, want %q", ns, got, want)
		}
	}
}
