package advise_test

import (
	"context"
	"fmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// How a transposed view is best summed.
func Example() {
	// 1. What is walked, in the naive way, and how often.
	q := advise.Question{
		Spec:   access.Spec{Op: access.Sum, Shape: []int{2000, 2000}, DType: layouts.Float32, View: layouts.MustParseChain("t()")},
		Passes: 1,
		// 2. The machine: its caches, and what hits and misses cost there.
		Model: cost.Model{Times: cost.Generic("an example"), Caches: simcache.Config{Levels: simcache.TwoLevels(
			simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64})}},
	}
	// 3. Every way is predicted and ranked.
	a, err := advise.Ask(context.Background(), q)
	if err != nil {
		fmt.Println(err)
		return
	}
	// 4. The decision is a value; Text says the same in words.
	d := a.Decide()
	fmt.Println("use", d.Use.Name(), "instead of", a.Naive.Name())
	// Output:
	// use order 1,0 instead of row order
}
