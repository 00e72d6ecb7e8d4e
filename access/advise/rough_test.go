package advise

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// TestBest: what is left out since it is certain to lose changes nothing that is said.
func TestBest(t *testing.T) {
	t.Parallel()
	left := 0 // out
	for _, c := range []struct {
		shape []int
		view  string
		op    access.Op
	}{
		{[]int{4, 16, 14, 14}, "permute(0,2,3,1)", access.Copy},
		{[]int{4, 14, 14, 32}, "permute(3,1,0,2)", access.Copy},
		{[]int{64, 128}, "t()", access.Add},
	} {
		small := model // so that small tensors do not fit
		small.Window = cost.LeastWindow
		small.Caches = simcache.Config{Levels: []simcache.Level{
			{Name: "D1", Geometry: simcache.Geometry{Size: 1 << 10, Ways: 4, Line: 64}},
			{Name: "L2", Geometry: simcache.Geometry{Size: 4 << 10, Ways: 8, Line: 64}},
			{Name: "LL", Geometry: simcache.Geometry{Size: 16 << 10, Ways: 16, Line: 64}}},
			TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}, {Entries: 8, Ways: 4, Page: 4096}}}
		q := Question{Spec: access.Spec{Op: c.op, Shape: c.shape, DType: layouts.Float32, View: layouts.MustParseChain(c.view)},
			Passes: 2, Kernels: []access.Kernel{access.Builtin}, Model: small}
		all, err := Ask(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Best = 3
		some, err := Ask(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		left += len(all.Ranked) - len(some.Ranked)
		if got, want := said(some, q.Best), said(all, q.Best); got != want {
			t.Errorf("%s of %v: with what is certain to lose it says\n%s\nand without\n%s", c.op, c.shape, want, got)
		}
		if got, want := keys(some.toTime()), keys(all.toTime()); !slices.Equal(got, want) {
			t.Errorf("%s of %v: others are to be timed", c.op, c.shape)
		}
	}
	if left == 0 {
		t.Error("nothing is left out")
	}
}

// said is all that advice says, and the best of its ranking.
func said(a *Advice, best int) string {
	var text strings.Builder
	if err := a.Write(&text, a.Rows(best), 0); err != nil {
		return err.Error()
	}
	return text.String()
}

func keys(walks []Walk) (all []string) {
	for _, w := range walks {
		all = append(all, w.key)
	}
	return all
}

// TestNear: near are the best that are asked for, the best of each kernel, as stored and padded,
// and the naive walk.
func TestNear(t *testing.T) {
	t.Parallel()
	walk := func(ns float64, k access.Kernel, padded int, tile ...int) Walk {
		order := access.Row
		if tile == nil {
			order = access.Col
		}
		w := Walk{Spec: access.Spec{Kernel: k, Order: order, Tile: tile}, Padded: padded}
		w.Prediction.Ns = ns
		return w
	}
	naive, paddedNaive := walk(1e9, access.Scalar, 0), walk(1e9, access.Scalar, 16)
	naive.Spec.Order, paddedNaive.Spec.Order = access.Row, access.Row
	var walks []Walk
	for i := range 8 {
		walks = append(walks, walk(float64(10+i), access.Scalar, 0, 8, i+1))
	}
	walks = append(walks,
		walk(rough*16, access.Scalar, 0), walk(rough*16+1, access.Scalar, 0), walk(1e6, access.Scalar, 0, 8, 8), // near the seventh, or not
		walk(1e5, access.Builtin, 0), walk(rough*1e5, access.Builtin, 0), walk(rough*1e5+1, access.Builtin, 0),
		walk(1e4, access.Builtin, 16), walk(rough*1e4, access.Builtin, 16), walk(rough*1e4+1, access.Builtin, 16),
		walk(5, access.Scalar, 16), // is not among the best as stored
		naive, paddedNaive)
	near := Question{Best: 7}.near(walks)
	var far []int
	for i, w := range walks {
		if !near(w) {
			far = append(far, i)
		}
	}
	if want := []int{9, 10, 13, 16}; !slices.Equal(far, want) {
		t.Errorf("%v are far, want %v", far, want)
	}
}
