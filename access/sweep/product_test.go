package sweep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// TestSweep: every combination once, the last list fastest, those of a dtype together.
func TestSweep(t *testing.T) {
	s := Product{Spec: access.Spec{Shape: []int{8, 8}, DType: layouts.Float32},
		DTypes: []layouts.DType{layouts.Int8, layouts.BFloat16}, Pads: []int{0, 4},
		Tiles: [][]int{nil, {4, 4}}, Orders: []access.Order{access.Col}}
	var got [][]string
	for _, c := range s.Comparisons() {
		var names []string
		for _, b := range c {
			names = append(names, b.Name)
		}
		got = append(got, names)
	}
	names := func(dtype string) []string {
		const head = "Traverse/op=sum/order=col/shape=8x8/dtype="
		return []string{head + dtype + "/kernel=scalar", head + dtype + "/tile=4/kernel=scalar",
			head + dtype + "/pad=4/kernel=scalar", head + dtype + "/pad=4/tile=4/kernel=scalar"}
	}
	if diff := cmp.Diff([][]string{names("int8"), names("bfloat16")}, got); diff != "" {
		t.Error(diff)
	}
	if alone := (Product{Spec: s.Spec}).Specs(); len(alone) != 1 ||
		alone[0].DType != layouts.Float32 {
		t.Errorf("nothing varied is %+v", alone)
	}
}

// TestSweepOfViews: what is walked as elements of another dtype is a comparison of its own, as
// Measure wants it.
func TestSweepOfViews(t *testing.T) {
	views := []layouts.Chain{layouts.MustParseChain("view(torch.int32)"),
		layouts.MustParseChain("t()"), layouts.MustParseChain("select(0,9)")}
	all := Product{Spec: access.Spec{Shape: []int{8, 8}, DType: layouts.Float32}, Pads: []int{0, 4},
		Views: views}.Comparisons()
	if len(all) != 2 || len(all[0]) != 2 || len(all[1]) != 4 {
		t.Fatalf("%v", all)
	}
	for _, c := range all {
		for _, b := range c {
			p, err := b.Spec.Pattern()
			if err != nil { // select(0,9)
				continue
			}
			if first, _ := c[0].Spec.Pattern(); p.Spec.DType != first.Spec.DType {
				t.Errorf("%s walks %v, %s %v", b.Name, p.Spec.DType, c[0].Name, first.Spec.DType)
			}
		}
	}
}

// TestPossible: what one of several kernels cannot do is left out where another one can, and of
// one kernel nothing is.
func TestPossible(t *testing.T) {
	portable := access.Kernel("portable")
	s := Product{Spec: access.Spec{Shape: []int{8, 8}, DType: layouts.Int32},
		DTypes: []layouts.DType{layouts.Int32, layouts.Int8}, Orders: []access.Order{access.Row,
			access.Col}, Kernels: []access.Kernel{access.Scalar, portable}}
	all, left, why := s.Possible()
	if len(all) != 2 || len(all[0]) != 3 || len(all[1]) != 2 || left != 3 || why == nil {
		t.Errorf("%v, left out %d: %v", all, left, why)
	}
	s.Kernels = s.Kernels[1:]
	if all, left, why := s.Possible(); len(all[0]) != 2 || left != 0 || why != nil {
		t.Errorf("of one kernel: %v, left out %d: %v", all, left, why)
	}
	// neither sums int8
	s.DTypes, s.Kernels = []layouts.DType{layouts.Int8}, []access.Kernel{portable, access.Builtin}
	if all, left, why := s.Possible(); len(all[0]) != 4 || left != 0 || why != nil {
		t.Errorf("of none that can: %v, left out %d: %v", all, left, why)
	}
}
