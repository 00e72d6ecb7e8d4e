package explain_test

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Why a matrix read by columns misses.
func Example() {
	// 1. Say what is walked: 512x512 elements of 4 B, by columns.
	columns := nest.Nest{Trips: []int{512, 512}, Operands: []nest.Operand{
		{Tensor: "x", Base: 1 << 32, Width: 4, Strides: []int{4, 2048}}}}

	// 2. Simulate it, and observe what the words are to be about.
	config := simcache.Config{
		Levels: simcache.TwoLevels(
			simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}),
		Observe: "classes,sets,bytes",
	}
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := h.Run(1, columns)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Ask for the words: what would help, and paragraphs on each tensor and the caches.
	run := explain.Run{Config: config, Levels: h.Levels(), Nests: []nest.Nest{columns}, Passes: 1, Counts: h.Counts(),
		Tensors: []explain.Line{{Function: "x", Counts: counts[0][0]}}}
	run.Improve(1 << 40)
	for _, paragraph := range run.Text()[:2] {
		first, _, _ := strings.Cut(paragraph, ". ")
		fmt.Println(first + ".")
	}
	// Output:
	// What would help: walk with the loop that steps x by 4 B innermost: D1 misses fall from 262,144 to 16,384 and LL misses stay at 16,384.
	// x is read 262,144 times and misses 262,144 times in D1 (100.00%), 16,384 times in LL (6.25%).
}
