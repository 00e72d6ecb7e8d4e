package operators_test

import (
	"fmt"
	"os"

	"github.com/stridebench/stridebench/access/operators"
)

// What a transformer block copies, as scripts/capture/capture.py recorded it.
func ExampleRead() {
	file, err := os.Open("testdata/block.json.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	profile, err := operators.Read(operators.File{Name: "block.json.gz", Reader: file})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range profile.Operators {
		if op.Class == operators.Copy {
			from := op.Inputs[0]
			fmt.Printf("%d x %s of %v with strides %v, by %s\n", op.Calls, op.Op, from.Shape,
				from.Strides, op.Callers[0].Chain)
		}
	}
	// Output:
	// 2 x aten::clone of [2 4 48 16] with strides [9216 16 192 1], by torch.Tensor.matmul
	// 1 x aten::clone of [2 4 16 48] with strides [9216 16 1 192], by torch.Tensor.matmul
	// 1 x aten::clone of [2 48 4 16] with strides [3072 16 768 1], by torch.Tensor.reshape
}
