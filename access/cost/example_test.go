package cost_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// What a matrix costs by columns.
func Example() {
	// 1. A pattern to predict.
	p, err := access.Spec{Op: access.Sum, Shape: []int{4096, 4096}, DType: layouts.Float32, Order: access.Col}.Pattern()
	if err != nil {
		fmt.Println(err)
		return
	}
	// 2. A machine: times, measured (cost.Measured) or generic, and caches.
	m := cost.Model{Times: cost.Generic("an example"), Caches: simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64})}}
	// 3. The prediction says how long a pass takes, and which tensor makes it so.
	prediction, err := m.Predict(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := prediction.Tensors[0]
	fmt.Printf("%s misses D1 in %.0f%% of its accesses; memory takes longer than the loop: %v\n",
		x.Name, 100*x.Levels[0]/x.Refs, prediction.Memory > prediction.Loop)
	// Output:
	// x misses D1 in 100% of its accesses; memory takes longer than the loop: true
}
