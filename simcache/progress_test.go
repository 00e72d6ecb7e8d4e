package simcache_test

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// TestProgress: what counts a program says how far it is, up to the end, and counts the same.
func TestProgress(t *testing.T) {
	i := nest.Variable(0)
	p := nest.Program{&nest.Loop{Name: "i", From: []nest.Affine{nest.Constant(0)},
		To: []nest.Affine{nest.Constant(300)}, Step: 1, Body: []nest.Node{
			&nest.Loop{Name: "j", From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{i}, Step: 1,
				Body: []nest.Node{
					nest.Operand{Tensor: "a", Base: 1 << 20, Width: 8, Strides: []int{8, 4096}},
					nest.Operand{Tensor: "b", Kind: nest.Write, Base: 1 << 30, Width: 8,
						Strides: []int{0, 8}},
				}},
		}}}
	config := simcache.Config{Levels: simcache.TwoLevels(geometry(t, "1024,2,64"),
		geometry(t, "8192,4,64"))}
	want, err := counted(t, config, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	last, told := 0.0, 0
	got, err := counted(t, config, p, func(share float64) {
		if share < last || share > 1 {
			t.Errorf("%v after %v", share, last)
		}
		last, told = share, told+1
	})
	if err != nil || last != 1 || told < 10 || !slices.Equal(got, want) {
		t.Errorf("%v, told %d times, at last %v; %v, want %v", err, told, last, got, want)
	}
}

func counted(t *testing.T, c simcache.Config, p nest.Program,
	tell func(float64)) ([]simcache.Counts, error) {
	t.Helper()
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		return nil, err
	}
	if tell != nil {
		h.Progress(tell)
	}
	return h.RunProgram(1, p)
}
