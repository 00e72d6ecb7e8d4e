package reuse_test

import (
	"fmt"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A 1024x1024 matrix of 4-byte elements is read by columns: a line is read
// again when the 1024 lines of a column have been, so that a fully associative
// cache gains nothing until it holds them all.
func Example() {
	columns := simcache.Nest{Trips: []int{1024, 1024}, Operands: []simcache.Operand{
		{Base: 0x10000000, Width: 4, Strides: []int{4, 4096}}}}
	stacks, err := reuse.New(64, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := stacks.Run(columns); err != nil {
		fmt.Println(err)
		return
	}
	curve := stacks.Curve()
	for _, lines := range []uint64{512, 1023, 1024} {
		fmt.Printf("%d lines: %d of %d references miss\n", lines, curve.Misses(lines), curve.Refs)
	}
	// Output:
	// 512 lines: 1048576 of 1048576 references miss
	// 1023 lines: 1048576 of 1048576 references miss
	// 1024 lines: 65536 of 1048576 references miss
}
