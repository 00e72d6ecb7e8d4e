package reuse_test

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A 1024x1024 matrix of 4-byte elements is read by columns: a line is read
// again when the 1024 lines of a column have been, so that a fully associative
// cache gains nothing until it holds them all.
func Example() {
	columns := nest.Nest{Trips: []int{1024, 1024}, Operands: []nest.Operand{
		{Base: 0x10000000, Width: 4, Strides: []int{4, 4096}}}}
	caches := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32768, Ways: 8, Line: 64},
		simcache.Geometry{Size: 8388608, Ways: 16, Line: 64})}
	meter, err := reuse.NewMeter(caches, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := meter.Passes(1, nest.Sequence(columns)); err != nil {
		fmt.Println(err)
		return
	}
	curve := meter.Table()
	for _, lines := range []uint64{512, 1023, 1024} {
		fmt.Printf("%d lines: %d of %d references miss\n", lines, curve.Misses(lines), curve.Refs)
	}
	// Output:
	// 512 lines: 1048576 of 1048576 references miss
	// 1023 lines: 1048576 of 1048576 references miss
	// 1024 lines: 65536 of 1048576 references miss
}

// How much cache a walk of one's own needs: each of 4096 lines is touched, and
// one of 16 lines after each.
func ExampleMeter_Access() {
	// 1. Lines of 64 B, all of them in one set: fully associative caches.
	d1 := simcache.Geometry{Size: 1024, Ways: 16, Line: 64}
	meter, err := reuse.NewMeter(simcache.Config{Levels: simcache.TwoLevels(d1, d1)}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. Touch what is touched, once: all capacities are counted at the same time.
	for i := range uint64(4096) {
		_ = meter.Access(0x10000000+64*i, 4) // an error would be of memory
		_ = meter.Access(0x20000000+64*(i%16), 4)
	}

	// 3. Ask the curve where it falls, and what a cache of so many lines misses.
	curve := meter.Table()
	fmt.Printf("%d lines, %d of %d references are first touches\n", curve.Lines, curve.Cold, curve.Refs)
	for _, p := range curve.Points {
		fmt.Printf("capacity %d: %d misses\n", p.Capacity, p.Misses)
	}
	// Output:
	// 4112 lines, 4112 of 8192 references are first touches
	// capacity 1: 8192 misses
	// capacity 16: 8192 misses
	// capacity 32: 4112 misses
}
