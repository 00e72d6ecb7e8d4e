package access

import (
	"cmp"
	"errors"

	"github.com/stridebench/stridebench/layouts"
)

// A Sweep is a spec of which some fields take several values; of a list that is
// empty the spec's own.
type Sweep struct {
	Spec    Spec
	DTypes  []layouts.DType
	Pads    []int
	Views   []layouts.Chain
	Tiles   [][]int // nil for none
	Orders  []Order
	Kernels []Kernel
}

// Specs are all combinations, the last list's values changing fastest.
func (s Sweep) Specs() []Spec {
	specs := []Spec{s.Spec}
	specs = vary(specs, s.DTypes, func(s *Spec, v layouts.DType) { s.DType = v })
	specs = vary(specs, s.Pads, func(s *Spec, v int) { s.Pad = v })
	specs = vary(specs, s.Views, func(s *Spec, v layouts.Chain) { s.View = v })
	specs = vary(specs, s.Tiles, func(s *Spec, v []int) { s.Tile = v })
	specs = vary(specs, s.Orders, func(s *Spec, v Order) { s.Order = v })
	return vary(specs, s.Kernels, func(s *Spec, v Kernel) { s.Kernel = v })
}

// vary has of each spec one with each of the values.
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

// Comparisons are the specs under their names. Those are compared whose elements are of
// one dtype, both as they are stored and as they are walked, which a view may change.
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

// walked is the dtype of the view, or of x where there is no such view, which is an error
// of Pattern.
func (s Spec) walked() layouts.DType {
	if _, x, err := s.stored(); err == nil {
		if _, dtype, err := x.ApplyTo(s.View, s.DType); err == nil {
			return dtype
		}
	}
	return s.DType
}

// Possible are the Comparisons without what one of several kernels cannot do, where another one of
// them can: of the same dtype, say in another order. It says how many benchmarks it left out and
// why the first one. A comparison of which no kernel can do any stays whole, and is an error of
// Spec.Pattern later.
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

// ParseTile reads sizes as layouts.ParseShape does, or "none" for no tiles, which is
// nil.
func ParseTile(text string) ([]int, error) {
	if text == "none" {
		return nil, nil
	}
	return layouts.ParseShape(text)
}
