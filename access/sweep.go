package access

import (
	"cmp"
	"errors"

	"github.com/stridebench/stridebench/layouts"
)

// A Sweep is a spec with several values for some fields. An empty list keeps the spec's own value.
type Sweep struct {
	Spec    Spec
	DTypes  []layouts.DType
	Pads    []int
	Views   []layouts.Chain
	Tiles   [][]int // nil for no tiles
	Orders  []Order
	Kernels []Kernel
}

// Specs returns all combinations; the last list's values change fastest.
func (s Sweep) Specs() []Spec {
	specs := []Spec{s.Spec}
	specs = vary(specs, s.DTypes, func(s *Spec, v layouts.DType) { s.DType = v })
	specs = vary(specs, s.Pads, func(s *Spec, v int) { s.Pad = v })
	specs = vary(specs, s.Views, func(s *Spec, v layouts.Chain) { s.View = v })
	specs = vary(specs, s.Tiles, func(s *Spec, v []int) { s.Tile = v })
	specs = vary(specs, s.Orders, func(s *Spec, v Order) { s.Order = v })
	return vary(specs, s.Kernels, func(s *Spec, v Kernel) { s.Kernel = v })
}

func vary[T any](specs []Spec, values []T, set func(*Spec, T)) []Spec {
	if len(values) == 0 {
		return specs
	}
	var all []Spec
	for _, s := range specs {
		for _, v := range values {
			set(&s, v)
			all = append(all, s)
		}
	}
	return all
}

// Comparisons returns the named specs. A comparison has one dtype, both as stored and as walked,
// since a view may change it.
func (s Sweep) Comparisons() []Comparison {
	var all []Comparison
	index := map[[2]layouts.DType]int{}
	for _, spec := range s.Specs() {
		of := [2]layouts.DType{spec.DType, spec.walked()}
		i, ok := index[of]
		if !ok {
			i = len(all)
			index[of] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], Benchmark{Name: spec.Name(), Spec: spec})
	}
	return all
}

func (s Spec) walked() layouts.DType {
	if _, x, err := s.stored(); err == nil {
		if _, dtype, err := x.ApplyTo(s.View, s.DType); err == nil {
			return dtype
		}
	}
	return s.DType
}

// Possible returns the Comparisons without the benchmarks that one of several kernels cannot walk.
// It also returns how many it left out, and the reason for the first one. A comparison that no
// kernel can walk stays, and Spec.Pattern reports the error later.
func (s Sweep) Possible() (all []Comparison, left int, why error) {
	all = s.Comparisons()
	if len(s.Kernels) < 2 {
		return all, 0, nil
	}
	for i, comparison := range all {
		var possible Comparison
		var first error
		for _, b := range comparison {
			_, err := b.Spec.Pattern()
			if of, ok := errors.AsType[*FieldError](err); ok && of.Field == FieldKernel {
				first = cmp.Or(first, err)
				continue
			}
			possible = append(possible, b)
		}
		if n := len(comparison) - len(possible); n > 0 && len(possible) > 0 {
			all[i], left, why = possible, left+n, cmp.Or(why, first)
		}
	}
	return all, left, why
}

// ParseTile reads sizes as layouts.ParseShape does, or "none", which is nil.
func ParseTile(text string) ([]int, error) {
	if text == "none" {
		return nil, nil
	}
	return layouts.ParseShape(text)
}
