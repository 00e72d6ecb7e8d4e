package noise_test

import (
	"fmt"

	"github.com/stridebench/stridebench/results/noise"
)

// What makes the times of a run doubtful.
func Example() {
	// 1. Take the times of each benchmark in the order in which they were taken.
	still := noise.Series{Name: "Traverse/order=row",
		Times: []float64{100, 101, 99, 100, 102, 100, 101, 99, 100, 101, 100, 99}}
	twice := noise.Series{Name: "Traverse/order=col",
		Times: []float64{200, 301, 199, 300, 302, 200, 201, 299, 300, 201, 200, 299}}

	// 2. Ask for what is doubtful in all of them together: a quiet run has nothing.
	fmt.Println(len(noise.Samples([]noise.Series{still})), "warnings")
	for _, warning := range noise.Samples([]noise.Series{still, twice}) {
		fmt.Println(warning)
	}
	// Output:
	// 0 warnings
	// two-speeds: 1 of 2 benchmarks ran at one of two speeds, furthest apart Traverse/order=col (1.5 times as long): a median may be of either; compare interleaved (--ab), or take more samples (--count)
}
