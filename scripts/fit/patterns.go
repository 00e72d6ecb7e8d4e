package main

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/layouts"
)

type timed struct {
	family, name string
	spec         access.Spec
	ns           float64
	machine      int // index in the data set
}

// operators are the operators of two models' profiles, as 'bench import --suite' wrote them.
//
//go:embed operators.yaml
var operators []byte

// patterns returns the patterns to time: the suite, random patterns, random additions, tiles of
// five views, permuted copies by vectors, and the operators of two models. They are the same on
// each run on a CPU.
func patterns(capacities []int) (all []timed, err error) {
	for _, comparison := range access.Suite(false, capacities...) {
		for _, b := range comparison {
			family, _, _ := strings.Cut(b.Name, "/")
			all = append(all, timed{family: family, name: b.Name, spec: b.Spec})
		}
	}
	random := rand.New(rand.NewPCG(7, 8))
	for i := range 160 {
		s := randomSpec(random)
		all = append(all, timed{family: "random",
			name: fmt.Sprintf("%03d/%s", i, s.Name()), spec: s})
	}
	all = append(all, broadcasts()...)
	all = append(all, tiles()...)
	all = append(all, permuted()...)
	w, err := workload.Parse("operators.yaml", operators)
	if err != nil {
		return nil, err
	}
	for _, comparison := range w.Comparisons {
		for _, b := range comparison {
			all = append(all, timed{family: "operators", name: b.Name, spec: b.Spec})
		}
	}
	return all, nil
}

// broadcasts returns random additions with broadcast dims. The suite has four, and three of them
// take the same time.
func broadcasts() (all []timed) {
	random := rand.New(rand.NewPCG(9, 10))
	for i := range 24 {
		s := randomSpec(random)
		p, err := s.Pattern()
		if err != nil {
			panic(err)
		}
		s.Op, s.Tile, s.With = access.Add, nil, p.View().Shape()
		for d := range s.With {
			if random.IntN(2) == 0 {
				s.With[d] = 1
			}
		}
		all = append(all, timed{family: "Broadcast",
			name: fmt.Sprintf("%03d/%s", i, s.Name()), spec: s})
	}
	return all
}

func tiles() (all []timed) {
	for _, v := range []struct {
		shape []int
		view  string
		dims  [2]int // the view's dims with the least strides
	}{
		{[]int{2000, 2000}, "t()", [2]int{0, 1}},
		{[]int{2048, 2048}, "t()", [2]int{0, 1}},
		{[]int{16, 64, 56, 56}, "permute(0,2,3,1)", [2]int{2, 3}},
		{[]int{16, 56, 56, 64}, "permute(0,3,1,2)", [2]int{1, 3}},
		{[]int{160, 160, 160}, "permute(2,1,0)", [2]int{0, 2}},
	} {
		base := access.Spec{Op: access.Copy, Shape: v.shape, DType: layouts.Float32,
			View: layouts.MustParseChain(v.view)}
		p, err := base.Pattern()
		if err != nil {
			panic(err)
		}
		for _, order := range []access.Order{access.Row, access.Col} {
			for _, sizes := range [][2]int{{0, 0}, {8, 8}, {8, 32}, {32, 8}, {16, 16}, {16, 64},
				{64, 16}, {32, 32}, {32, 128}, {128, 32}, {64, 64}} {
				s := base
				s.Order = order
				if sizes[0] > 0 {
					s.Tile = p.View().Shape()
					s.Tile[v.dims[0]], s.Tile[v.dims[1]] = sizes[0], sizes[1]
				}
				name := fmt.Sprintf("%s/order=%v/tile=%dx%d", v.view, order, sizes[0], sizes[1])
				all = append(all, timed{family: fmt.Sprintf("tiles %v %s", v.shape, v.view),
					name: name, spec: s})
			}
		}
	}
	return all
}

// permuted returns copies of permuted tensors by all vector kernels of this CPU. Some fit in the
// caches and some do not.
func permuted() (all []timed) {
	for _, v := range []struct {
		long, short []int
		view        string
	}{
		{[]int{8192, 1024}, []int{256, 160}, "t()"}, {[]int{4000, 4000}, []int{400, 320}, "t()"},
		{[]int{256, 256, 256}, []int{48, 48, 48}, "permute(2,1,0)"},
		{[]int{64, 64, 56, 56}, []int{2, 64, 28, 28}, "permute(0,2,3,1)"},
		{[]int{64, 56, 56, 64}, []int{2, 28, 28, 64}, "permute(0,3,1,2)"},
		{[]int{64, 3, 224, 224}, []int{4, 3, 112, 112}, "permute(0,2,3,1)"},
		{[]int{64, 224, 224, 3}, []int{4, 112, 112, 3}, "permute(0,3,1,2)"},
		{[]int{200, 300, 280}, []int{40, 50, 56}, "permute(1,2,0)"},
		{[]int{128, 130, 1000}, []int{8, 130, 100}, "permute(0,2,1)"},
		{[]int{64, 48, 72, 80}, []int{4, 24, 36, 40}, "permute(0,3,2,1)"},
		{[]int{64, 48, 72, 80}, []int{16, 24, 18, 20}, "permute(3,1,0,2)"},
		{[]int{48, 32, 32, 16, 16}, []int{12, 16, 8, 8, 16}, "permute(4,2,0,3,1)"},
	} {
		// int16 also has to exceed the size for stores past the caches
		twice := append([]int{2 * v.long[0]}, v.long[1:]...)
		for _, c := range []struct {
			shape []int
			dtype layouts.DType
		}{
			{twice, layouts.Int16}, {v.long, layouts.Float32}, {v.long, layouts.Float64},
			{v.short, layouts.Int16}, {v.short, layouts.Float32}, {v.short, layouts.Float64},
		} {
			for _, set := range kernel.Sets()[1:] {
				s := access.Spec{Op: access.Copy, Shape: c.shape, DType: c.dtype,
					View: layouts.MustParseChain(v.view), Kernel: access.Kernel(set.Name())}
				if operands(s) <= mostOperands {
					all = append(all, timed{family: "permuted", name: s.Name(), spec: s})
				}
			}
		}
	}
	return all
}

// mostOperands bounds the operands of a pattern's nests. Large panels have thousands, and take
// longer to price than all other patterns.
const mostOperands = 600

func operands(s access.Spec) (n int) {
	p, err := s.Pattern()
	if err != nil {
		panic(err)
	}
	for _, of := range p.Nests {
		n += len(of.Operands)
	}
	return n
}

// randomSpec returns a sum, fill or copy of at most four dims and 2^24 elements, in some order,
// sliced or tiled.
func randomSpec(r *rand.Rand) access.Spec {
	for {
		shape, left := make([]int, 1+r.IntN(4)), 1<<(10+r.IntN(15))
		for d := range shape {
			shape[d] = left
			if d < len(shape)-1 {
				shape[d] = min(1+r.IntN(64), left)
				if r.IntN(3) == 0 {
					shape[d] = min(1<<r.IntN(9), left)
				}
				left /= shape[d]
			}
		}
		r.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
		dims := r.Perm(len(shape))
		s := access.Spec{Op: access.Op(r.IntN(3)), Shape: shape,
			DType: []layouts.DType{layouts.Float32, layouts.Int32, layouts.Float64}[r.IntN(3)]}
		view := "permute(" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(dims), "[]")),
			",") + ")"
		if d := r.IntN(len(shape)); r.IntN(3) == 0 {
			view += fmt.Sprintf(".slice(%d,0,%d,%d)", d, shape[dims[d]], 2+r.IntN(6))
		}
		s.View = layouts.MustParseChain(view)
		switch r.IntN(4) {
		case 0:
			s.Order = access.Col
		case 1:
			s.Tile = make([]int, len(shape))
			for d := range s.Tile {
				s.Tile[d] = 4 << r.IntN(6)
			}
		}
		if p, err := s.Pattern(); err == nil && p.Elems >= 1000 {
			return s
		}
	}
}
