package layouts_test

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts"
)

// What a view is, why it is not contiguous, and where its elements lie.
func ExamplePicture() {
	view, err := layouts.ParseChain("transpose(0,1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	words, drawing, err := layouts.Picture{Shape: []int{3, 4}, DType: layouts.Float32,
		Views: []layouts.Chain{view}}.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(words, drawing)
	// Output:
	// shape       (4, 3)
	// strides     (1, 4) elements, (4, 16) bytes of float32
	// offset      0 elements, 0 bytes
	// elements    12
	// contiguous  no
	// overlap     no
	//
	// Contiguous means: from the last dim on, each stride is the product of the sizes after it.
	//   dim 1: stride 4, but 1 would be contiguous: this dim breaks it
	//
	// storage, in order    view
	//  0  1  2  3          tensor([[ 0,  4,  8],
	//  4  5  6  7                  [ 1,  5,  9],
	//  8  9 10 11                  [ 2,  6, 10],
	//                              [ 3,  7, 11]])
}
