package kernel_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/kernel"
)

// A 2x3 matrix of 4 B elements, copied transposed.
func Example() {
	// 1. Take a set of kernels that this CPU runs.
	set := kernel.Sets()[0]
	// 2. Plan the copy: trips, and bytes from one to the next in what is written
	// and in what is read.
	plan := kernel.NewPlan(set, 4, []kernel.Loop{{N: 2, To: 4, From: 12}, {N: 3, To: 8, From: 4}})
	// 3. The plan says what is touched, in order.
	for _, step := range plan.Steps {
		fmt.Println(step.Loops, len(step.Body), "accesses")
	}
	// 4. Run it, in buffers of the size that it wants.
	src := []byte("a...b...c...d...e...f...")
	dst := make([]byte, len(src))
	plan.Run(dst, src, make([]byte, plan.Buffers), 1)
	fmt.Printf("%s\n", dst)
	// Output:
	// [{3 8 4} {2 4 12}] 2 accesses
	// a...d...b...e...c...f...
}
