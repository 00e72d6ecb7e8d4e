package workload_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/workload"
)

// Benchmarks of one's own tensors.
func Example() {
	// 1. A file says what the tensors are, and what is done to them.
	const text = `
tensors:
  images: {shape: 8x3x32x32, dtype: float32}
benchmarks:
  - {tensor: images, op: [sum, copy], view: "permute(0,2,3,1)"}
`
	// 2. Errors begin with file, line and column.
	w, err := workload.Parse("my.yaml", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	// 3. Names are stable, and what is compared is together.
	for _, c := range w.Comparisons {
		for _, b := range c {
			fmt.Println(b.Name)
		}
	}
	// Output:
	// Traverse/op=sum/order=row/shape=8x3x32x32/dtype=float32/view=permute(0,2,3,1)/kernel=scalar
	// Copy/layout=view/shape=8x3x32x32/dtype=float32/view=permute(0,2,3,1)/kernel=scalar
}
