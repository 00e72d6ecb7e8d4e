package layouts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts"
)

// TestTorchSparse: what PyTorch's to_sparse_* store of a tensor, as it prints
// it, and the arrays' dtypes, shapes and strides.
func TestTorchSparse(t *testing.T) {
	type array struct {
		Name, DType    string
		Shape, Strides []int
	}
	type sparseCase struct {
		printCase
		Transposed bool
		Format     string
		Block      []int
		Error      string
		Arrays     []array
	}
	eachCase(t, "torch/sparse.jsonl.gz", func(c sparseCase) {
		x := recorded(c.DType, c.Values, c.Shape)
		if c.Transposed {
			x = must(must(must(x.T()).Contiguous()).T())
		}
		s, err := x.Sparse(must(layouts.ParseSparseFormat(c.Format)), c.Block...)
		if err != nil || c.Error != "" {
			if (err == nil) != (c.Error == "") {
				t.Errorf("%v in %s by %v: %v, PyTorch says %q", x, c.Format, c.Block, err, c.Error)
			}
			return
		}
		if s.String() != c.Text {
			t.Errorf("%v in %s by %v is\n%v\nPyTorch's\n%s", x, c.Format, c.Block, s, c.Text)
		}
		var arrays []array
		for _, a := range s.Arrays {
			arrays = append(arrays, array{a.Name, a.Tensor.DType().String(), a.Tensor.Layout().Shape(), a.Tensor.Layout().Strides()})
		}
		if diff := cmp.Diff(c.Arrays, arrays); diff != "" {
			t.Errorf("%v in %s by %v (-PyTorch +ours):\n%s", x, c.Format, c.Block, diff)
		}
	})

}

// TestSparseIsTheTensor: each format of a matrix has its elements, read as the
// arrays' meanings say.
func TestSparseIsTheTensor(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 5))
	for range 300 {
		block := []int{1 + random.IntN(3), 1 + random.IntN(3)}
		shape := []int{block[0] * random.IntN(4), block[1] * random.IntN(4)}
		data := make([]int32, shape[0]*shape[1])
		for i := range data {
			if random.IntN(3) == 0 {
				data[i] = int32(random.IntN(9) - 4)
			}
		}
		x := must(layouts.FromSlice(data, shape...))
		for _, f := range []layouts.SparseFormat{layouts.COO, layouts.CSR, layouts.CSC, layouts.BSR, layouts.BSC} {
			by := block
			if f < layouts.BSR {
				by = nil
			}
			s := must(x.Sparse(f, by...))
			if got := dense(s, block); !slices.Equal(got, data) {
				t.Fatalf("%v in %v by %v is %v, which is %v", x, f, by, s, got)
			}
		}
	}
}

// dense reads a sparse matrix back.
func dense(s *layouts.Sparse, block []int) []int32 {
	all := make([]int32, s.Shape[0]*s.Shape[1])
	values := must(layouts.Values[int32](s.Arrays[len(s.Arrays)-1].Tensor))
	index := must(layouts.Values[int64](s.Arrays[0].Tensor))
	if s.Format == layouts.COO {
		for i, v := range values {
			all[int(index[i])*s.Shape[1]+int(index[len(values)+i])] = v
		}
		return all
	}
	if s.Format == layouts.CSR || s.Format == layouts.CSC {
		block = []int{1, 1}
	}
	plain, size := must(layouts.Values[int64](s.Arrays[1].Tensor)), block[0]*block[1]
	for major := range len(index) - 1 {
		for k := index[major]; k < index[major+1]; k++ {
			row, column := major, int(plain[k])
			if strings.HasPrefix(s.Arrays[0].Name, "ccol") {
				row, column = column, row
			}
			for i := range size {
				all[(row*block[0]+i/block[1])*s.Shape[1]+column*block[1]+i%block[1]] = values[int(k)*size+i]
			}
		}
	}
	return all
}

// TestSparseRefuses: errors say what would be right.
func TestSparseRefuses(t *testing.T) {
	wide := must(must(layouts.Zeros(layouts.Int8, 1, 1)).Expand(1<<30, 1<<30))
	x, cube := must(layouts.Zeros(layouts.Int8, 4, 6)), must(layouts.Zeros(layouts.Int8, 2, 2, 2))
	for _, c := range []struct {
		x      *layouts.Tensor
		format layouts.SparseFormat
		block  []int
		want   string
	}{
		{cube, layouts.CSR, nil, "csr stores matrices, and the tensor has 3 dims"},
		{x, layouts.CSC, []int{2, 2}, "csc has no blocks"},
		{x, layouts.COO, []int{2, 2}, "coo has no blocks"},
		{x, layouts.BSR, nil, "bsr wants the rows and columns of its blocks (--block, such as 2x2)"},
		{x, layouts.BSC, []int{2}, "block 2 is not a number of rows and of columns"},
		{x, layouts.BSR, []int{2, 0}, "block 2x0"},
		{x, layouts.BSC, []int{3, 2}, "blocks of 3x2 do not divide a matrix of 4x6"},
		{wide, layouts.COO, nil, "a tensor of 1073741824x1073741824 is too large: at most 67108864 elements or rows"},
		{must(layouts.Zeros(layouts.Int8, 0, 1<<40)), layouts.CSC, nil, "a tensor of 0x1099511627776"},
		{must(layouts.Uninitialized(2, 2)), layouts.COO, nil, "uninitialized"},
	} {
		if _, err := c.x.Sparse(c.format, c.block...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v by %v: %v, want %q", c.format, c.block, err, c.want)
		}
	}
	if _, err := layouts.ParseSparseFormat("dia"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", "dia")) {
		t.Error(err)
	}
}
