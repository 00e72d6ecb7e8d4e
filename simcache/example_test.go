package simcache_test

import (
	"fmt"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A column of a 1024x1024 matrix of 4-byte elements lies in as many lines as it
// has elements, all of one set in 16: no first-level cache holds them.
func Example() {
	// 1. What is simulated.
	config := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64},
	)}

	// 2. Cold caches.
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Loops of accesses: column by column.
	_, err = h.Run(1, nest.Nest{
		Trips:    []int{1024, 1024},
		Operands: []nest.Operand{{Tensor: "a", Kind: nest.Read, Base: 1 << 32, Width: 4, Strides: []int{4, 4096}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// 4. What happened: Cachegrind's events, and what each level saw.
	c := h.Counts()
	fmt.Println("reads", c.Dr, "D1 misses", c.D1mr, "LL misses", c.DLmr)
	for _, l := range h.Levels() {
		fmt.Printf("%s: %.2f%% of %d references missed\n", l.Name, 100*float64(l.Misses())/float64(l.Refs()), l.Refs())
	}
	// Output:
	// reads 1048576 D1 misses 1048576 LL misses 65536
	// D1: 100.00% of 1048576 references missed
	// LL: 6.25% of 1048576 references missed
}

// A benchmark of one's own reports misses beside its time: it tells a hierarchy
// each access that the measured code makes.
func ExampleHierarchy_Access() {
	matrix := make([]float32, 256*1024)
	addr := func(i int) uint64 { return 1<<32 + 4*uint64(i) }
	result := testing.Benchmark(func(b *testing.B) {
		var sum float32
		for b.Loop() {
			for j := range 1024 {
				for i := range 256 {
					sum += matrix[i*1024+j]
				}
			}
		}
		h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(
			simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64},
		)})
		if err != nil {
			b.Fatal(err)
		}
		for j := range 1024 {
			for i := range 256 {
				h.Access(nest.Read, addr(i*1024+j), 4)
			}
		}
		b.ReportMetric(float64(h.Counts().D1Misses()), "D1-misses/op")
	})
	fmt.Println(result.Extra["D1-misses/op"], "misses of 262144 accesses")
	// Output: 262144 misses of 262144 accesses
}

// A program of loops: the lower triangle of a matrix, a row for each column.
func ExampleHierarchy_RunProgram() {
	const n = 1000
	i := nest.Variable(0)
	program := nest.Program{&nest.Loop{Name: "i", From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(n)}, Step: 1, Body: []nest.Node{
		&nest.Loop{Name: "j", From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{i}, Step: 1, Body: []nest.Node{
			nest.Operand{Tensor: "A", Base: 1 << 32, Width: 8, Strides: []int{8, 8 * n}},                         // reads A[j][i]
			nest.Operand{Tensor: "B", Base: 1<<32 + 8*n*n, Width: 8, Strides: []int{8 * n, 8}, Kind: nest.Write}, // writes B[i][j]
		}},
	}}}
	h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64})})
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := h.RunProgram(1, program)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(program)
	for op, of := range program.Operands() {
		fmt.Printf("%s: %d references, %d misses in D1, %d in LL\n", of.Tensor, counts[op].Refs(), counts[op].D1Misses(), counts[op].LLMisses())
	}
	// Output:
	// for i = 0 .. 1000
	//   for j = 0 .. i
	//     read A 8 B at 0x100000000 + 8*i + 8000*j
	//     write B 8 B at 0x1007a1200 + 8000*i + 8*j
	// A: 499500 references, 397975 misses in D1, 62875 in LL
	// B: 499500 references, 62875 misses in D1, 62875 in LL
}
