package access

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts"
)

// TestSweep: every combination once, the last list fastest, those of a dtype together.
func TestSweep(t *testing.T) {
	s := Sweep{Spec: specOf("sum 8x8 float32"), DTypes: []layouts.DType{layouts.Int8, layouts.BFloat16}, Pads: []int{0, 4}, Tiles: [][]int{nil, {4, 4}}, Orders: []Order{Col}}
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
		return []string{head + dtype + "/kernel=scalar", head + dtype + "/tile=4/kernel=scalar", head + dtype + "/pad=4/kernel=scalar", head + dtype + "/pad=4/tile=4/kernel=scalar"}
	}
	if diff := cmp.Diff([][]string{names("int8"), names("bfloat16")}, got); diff != "" {
		t.Error(diff)
	}
	if alone := (Sweep{Spec: s.Spec}).Specs(); len(alone) != 1 || alone[0].DType != layouts.Float32 {
		t.Errorf("nothing varied is %+v", alone)
	}
	if tile, err := ParseTile("none"); tile != nil || err != nil {
		t.Errorf("none is %v, %v", tile, err)
	}
	if tile, err := ParseTile("4x8"); !slices.Equal(tile, []int{4, 8}) || err != nil {
		t.Errorf("4x8 is %v, %v", tile, err)
	}
}

// TestSweepOfViews: what is walked as elements of another dtype is a comparison of its own, as
// Measure wants it.
func TestSweepOfViews(t *testing.T) {
	views := []layouts.Chain{layouts.MustParseChain("view(torch.int32)"), layouts.MustParseChain("t()"), layouts.MustParseChain("select(0,9)")}
	all := Sweep{Spec: specOf("sum 8x8 float32"), Pads: []int{0, 4}, Views: views}.Comparisons()
	if len(all) != 2 || len(all[0]) != 2 || len(all[1]) != 4 {
		t.Fatalf("%v", all)
	}
	if err := checkTogether([]Pattern{pattern(t, all[0][0].Spec), pattern(t, all[0][1].Spec)}, 0); err != nil {
		t.Error(err)
	}
}

// TestPossible: what one of several kernels cannot do is left out where another one can, and of
// one kernel nothing is.
func TestPossible(t *testing.T) {
	portable := VectorKernels()[0]
	s := Sweep{Spec: specOf("sum 8x8 int32"), DTypes: []layouts.DType{layouts.Int32, layouts.Int8}, Orders: []Order{Row, Col}, Kernels: []Kernel{Scalar, portable}}
	all, left, why := s.Possible()
	if len(all) != 2 || len(all[0]) != 3 || len(all[1]) != 2 || left != 3 || why == nil {
		t.Errorf("%v, left out %d: %v", all, left, why)
	}
	s.Kernels = s.Kernels[1:]
	if all, left, why := s.Possible(); len(all[0]) != 2 || left != 0 || why != nil {
		t.Errorf("of one kernel: %v, left out %d: %v", all, left, why)
	}
	s.DTypes, s.Kernels = []layouts.DType{layouts.Int8}, []Kernel{portable, Builtin} // neither sums int8
	if all, left, why := s.Possible(); len(all[0]) != 4 || left != 0 || why != nil {
		t.Errorf("of none that can: %v, left out %d: %v", all, left, why)
	}
}

// TestViewsOfOtherDTypes: a view of other elements walks the same bytes.
func TestViewsOfOtherDTypes(t *testing.T) {
	for view, want := range map[string]string{
		"x.real":                     "float32: 15 elements, 60 B of 120",
		"x.imag.T":                   "float32: 15 elements, 60 B of 120",
		"x.view(torch.uint8)[:,::2]": "uint8: 60 elements, 60 B of 120",
		"view(torch.int32).view(torch.complex64).t()": "complex64: 15 elements, 120 B of 120",
	} {
		for _, op := range []string{"sum", "fill", "copy"} {
			p := pattern(t, specOf(op+" 3x5 complex64 view="+view))
			checked(t, p)
			got := fmt.Sprintf("%v: %d elements, %d B of %d", p.Spec.DType, p.Elems, p.Bytes, p.Memory)
			if op == "sum" && got != want {
				t.Errorf("%s: %s, want %s", view, got, want)
			}
		}
	}
}
