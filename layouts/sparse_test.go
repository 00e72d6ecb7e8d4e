package layouts_test

import (
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
			x = apply(x, "t().contiguous().t()")
		}
		s, err := x.Sparse(c.Format, c.Block...)
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
			arrays = append(arrays,
				array{a.Name, a.Tensor.DType().String(), a.Tensor.Layout().Shape(),
					a.Tensor.Layout().Strides()})
		}
		if diff := cmp.Diff(c.Arrays, arrays); diff != "" {
			t.Errorf("%v in %s by %v (-PyTorch +ours):\n%s", x, c.Format, c.Block, diff)
		}
	})

}

// TestSparseRefuses: errors say what would be right.
func TestSparseRefuses(t *testing.T) {
	wide := apply(must(layouts.Zeros(layouts.Int8, 1, 1)), "expand(1073741824,1073741824)")
	x, cube := must(layouts.Zeros(layouts.Int8, 4, 6)), must(layouts.Zeros(layouts.Int8, 2, 2, 2))
	for want, err := range map[string]error{
		"csr stores matrices, and the tensor has 3 dims": second(cube.Sparse("csr")),
		"csc has no blocks": second(x.Sparse("csc", 2, 2)),
		"coo has no blocks": second(x.Sparse("coo", 2, 2)),
		"bsr wants blocks of two positive sizes, such as 2x2, not ()":   second(x.Sparse("bsr")),
		"bsc wants blocks of two positive sizes, such as 2x2, not (2,)": second(x.Sparse("bsc", 2)),
		"not (2, 0)": second(x.Sparse("bsr", 2, 0)),
		"blocks of 3x2 do not divide a matrix of 4x6":    second(x.Sparse("bsc", 3, 2)),
		"a tensor of 1073741824x1073741824 is too large": second(wide.Sparse("coo")),
		"a tensor of 0x1099511627776": second(must(layouts.Zeros(layouts.Int8, 0,
			1<<40)).Sparse("csc")),
		"uninitialized":  second(must(layouts.Uninitialized(2, 2)).Sparse("coo")),
		"no such format": second(x.Sparse("dia")),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
