package terminal_test

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

// What two orders of one matrix have in common stands above them.
func Example() {
	file := "Unit D1-misses/op assume=exact\n"
	for range 6 {
		file += "BenchmarkTraverse/op=sum/order=row/shape=64x64 1 4096 ns/op 1 ns/elem 4096 D-refs/op 256 D1-misses/op\n" +
			"BenchmarkTraverse/op=sum/order=col/shape=64x64 1 10240 ns/op 2.5 ns/elem 4096 D-refs/op 4096 D1-misses/op\n"
	}
	set, err := results.Parse("run.txt", []byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := set.Rows()
	for _, row := range terminal.Of([]terminal.Group{rows}).Rows {
		fmt.Println(strings.Join(row, ", "))
	}
	// Output:
	// , ns/elem, ±, ratio, D1/elem
	// Traverse sum 64x64
	//   row, 1, 0%, 1, 0.0625
	//   col, 2.5, 0%, 2.5, 1
}
