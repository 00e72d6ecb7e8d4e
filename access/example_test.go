package access_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// What a transposed copy touches, how often it misses, and how long it takes.
func Example() {
	// 1. The spec says what is touched, in PyTorch's words.
	view, err := layouts.ParseChain("transpose(0,1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := access.Spec{Op: access.Copy, Shape: []int{256, 256}, DType: layouts.Float32, View: view}

	// 2. The pattern is loops over addresses.
	pattern, err := spec.Pattern()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range pattern.Nests[0].Operands {
		fmt.Printf("%v tensor %s: %d B an access, %v B a step of each loop\n", op.Kind, op.Tensor, op.Width, op.Strides)
	}

	// 3. The simulator walks these loops.
	caches := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64})}
	counts, err := access.Simulate(context.Background(), caches, []access.Pattern{pattern}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(counts[0].D1Misses(), "D1 misses of", counts[0].Refs(), "references in a pass")

	// 4. The clock is read around the same loops.
	for sample, err := range access.Measure(context.Background(), []access.Pattern{pattern}, access.Options{Count: 3, MinTime: 100 * time.Microsecond}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("timed:", sample.PerPass > 0)
	}
	// Output:
	// read tensor x: 4 B an access, [4 1024] B a step of each loop
	// write tensor y: 4 B an access, [1024 4] B a step of each loop
	// 69632 D1 misses of 131072 references in a pass
	// timed: true
	// timed: true
	// timed: true
}
