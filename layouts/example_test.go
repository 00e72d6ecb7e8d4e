package layouts_test

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts"
)

// An order of access is a layout: a matrix walked by columns, and in tiles.
func Example_orderOfAccess() {
	// 1. A layout says where the elements of a tensor lie.
	matrix, err := layouts.Contiguous(4, 6)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. A chain of PyTorch's view operations makes another of it.
	columns, err := matrix.Apply(layouts.MustParseChain("transpose(0,1)"))
	if err != nil {
		fmt.Println(err)
		return
	}
	tiles, err := matrix.Apply(layouts.MustParseChain("view(2,2,2,3).permute(0,2,1,3)"))
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Walked from the first index to the last, it says in which order the
	// elements of the matrix are touched.
	show := func(l layouts.Layout) {
		var first []int
		for offset := range l.Offsets() {
			if first = append(first, offset); len(first) == 8 {
				break
			}
		}
		fmt.Println(l, first)
	}
	show(matrix)
	show(columns)
	show(tiles)
	// Output:
	// shape 4x6, strides (6, 1), offset 0 [0 1 2 3 4 5 6 7]
	// shape 6x4, strides (1, 6), offset 0 [0 6 12 18 1 7 13 19]
	// shape 2x2x2x3, strides (12, 3, 6, 1), offset 0 [0 1 2 6 7 8 3 4]
}

// The first operand rules the order of a sum, the destination that of a copy.
func ExampleElementwise() {
	x, _ := layouts.Contiguous(3, 4)
	y, _ := layouts.Contiguous(4, 3)
	y, _ = y.Transpose(0, 1)
	sum, _ := layouts.Elementwise(y, x)
	fmt.Println(sum.Output)
	for _, l := range sum.Walk {
		fmt.Println("  walks", l)
	}
	copied, _ := layouts.Copy(x, y, layouts.Float32, layouts.Float32)
	fmt.Println("copied", copied.Walk[1])
	// Output:
	// shape 3x4, strides (1, 3), offset 0
	//   walks shape 4x3, strides (3, 1), offset 0
	//   walks shape 4x3, strides (3, 1), offset 0
	//   walks shape 4x3, strides (1, 4), offset 0
	// copied shape 3x4, strides (1, 3), offset 0
}

// Three arrays are a matrix with compressed rows.
func ExampleTensor_Sparse() {
	x, _ := layouts.FromSlice([]float32{1, 0, 0, 2, 0, 0, 3, 0}, 2, 4)
	s, _ := x.Sparse("csr")
	fmt.Println(s)
	for _, a := range s.Arrays {
		fmt.Println(a.Name+":", a.Meaning)
	}
	// Output:
	// tensor(crow_indices=tensor([0, 2, 3]),
	//        col_indices=tensor([0, 3, 2]),
	//        values=tensor([1., 2., 3.]), size=(2, 4), nnz=3,
	//        layout=torch.sparse_csr)
	// crow_indices: row i has the values from entry i to the one before entry i+1
	// col_indices: the column of each value
	// values: each value that is not zero, row by row
}
