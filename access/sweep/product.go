package sweep

import (
	"cmp"
	"errors"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// A Product is a spec with several values for some fields. An empty list keeps the spec's own
// value.
type Product struct {
	Spec    access.Spec
	DTypes  []layouts.DType
	Pads    []int
	Views   []layouts.Chain
	Tiles   [][]int // nil for no tiles
	Orders  []access.Order
	Kernels []access.Kernel
}

// Specs returns all combinations; the last list's values change fastest.
func (p Product) Specs() []access.Spec {
	specs := []access.Spec{p.Spec}
	specs = vary(specs, p.DTypes, func(s *access.Spec, v layouts.DType) { s.DType = v })
	specs = vary(specs, p.Pads, func(s *access.Spec, v int) { s.Pad = v })
	specs = vary(specs, p.Views, func(s *access.Spec, v layouts.Chain) { s.View = v })
	specs = vary(specs, p.Tiles, func(s *access.Spec, v []int) { s.Tile = v })
	specs = vary(specs, p.Orders, func(s *access.Spec, v access.Order) { s.Order = v })
	return vary(specs, p.Kernels, func(s *access.Spec, v access.Kernel) { s.Kernel = v })
}

func vary[T any](specs []access.Spec, values []T, set func(*access.Spec, T)) []access.Spec {
	if len(values) == 0 {
		return specs
	}
	var all []access.Spec
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
func (p Product) Comparisons() []access.Comparison {
	var all []access.Comparison
	index := map[[2]layouts.DType]int{}
	for _, spec := range p.Specs() {
		of := [2]layouts.DType{spec.DType, walked(spec)}
		i, ok := index[of]
		if !ok {
			i = len(all)
			index[of] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], access.Benchmark{Name: spec.Name(), Spec: spec})
	}
	return all
}

// walked returns the dtype of the elements that are walked, which of an invalid spec is the stored
// one.
func walked(s access.Spec) layouts.DType {
	if s.View.Empty() {
		return s.DType
	}
	p, err := s.Pattern()
	if err != nil {
		return s.DType
	}
	return p.Spec.DType
}

// Possible returns the Comparisons without the benchmarks that one of several kernels cannot walk.
// It also returns how many it left out, and the reason for the first one. A comparison that no
// kernel can walk stays, and Spec.Pattern reports the error later.
func (p Product) Possible() (all []access.Comparison, left int, why error) {
	all = p.Comparisons()
	if len(p.Kernels) < 2 {
		return all, 0, nil
	}
	for i, comparison := range all {
		var possible access.Comparison
		var first error
		for _, b := range comparison {
			_, err := b.Spec.Pattern()
			if of, ok := errors.AsType[*access.FieldError](err); ok && of.Field == "kernel" {
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
