package simcache

import (
	"fmt"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
)

// exactCases are nests of 4-byte elements, as they are commonly met.
func exactCases() map[string]nest.Nest {
	cases := map[string]nest.Nest{}
	const base = 1 << 32
	op := func(kind nest.Kind, place int, strides ...int) nest.Operand {
		return nest.Operand{Kind: kind, Base: base + uint64(place), Width: 4, Strides: strides}
	}
	for _, n := range []int{4000, 65536} {
		for _, passes := range []int{1, 10} {
			cases[fmt.Sprintf("row/n=%d/passes=%d", n, passes)] = nest.Nest{Trips: []int{passes, n,
				n}, Operands: []nest.Operand{op(nest.Read, 0, 0, 4*n, 4)}}
		}
	}
	for _, c := range []struct{ n, passes int }{{4000, 1}, {4000, 10}, {65536, 1}, {65536, 10},
		{4001, 10}, {65537, 1}} {
		cases[fmt.Sprintf("column/n=%d/passes=%d", c.n,
			c.passes)] = nest.Nest{Trips: []int{c.passes, c.n, c.n},
			Operands: []nest.Operand{op(nest.Read, 0, 0, 4, 4*c.n)}}
	}
	for _, c := range []struct{ n, passes int }{{1000, 1}, {4000, 1}, {4096, 1}, {65536, 1},
		{65536, 10}} {
		cases[fmt.Sprintf("transpose/n=%d/passes=%d", c.n,
			c.passes)] = nest.Nest{Trips: []int{c.passes, c.n, c.n},
			Operands: []nest.Operand{op(nest.Read, 0, 0, 4, 4*c.n),
				op(nest.Write, 4*c.n*c.n, 0, 4*c.n, 4)}}
	}
	for _, n := range []int{4000, 4096} {
		cases[fmt.Sprintf("tiled/n=%d/passes=1", n)] = nest.Nest{Trips: []int{n / 32,
			n / 32, 32, 32},
			Operands: []nest.Operand{op(nest.Read, 0, 128, 128*n, 4, 4*n),
				op(nest.Write, 4*n*n, 128*n, 128, 4*n, 4)}}
	}
	const images, pixels, channels = 32, 56 * 56, 64
	cases["nchw-nhwc/n=32/passes=1"] = nest.Nest{Trips: []int{images, pixels, channels},
		Operands: []nest.Operand{
			op(nest.Read, 0, 4*pixels*channels, 4, 4*pixels),
			op(nest.Write, 4*images*pixels*channels, 4*pixels*channels, 4*channels, 4)}}
	return cases
}

// BenchmarkExact simulates from cold caches, beside brute force where that
// takes no minutes; the making of the caches is included.
func BenchmarkExact(b *testing.B) {
	for name, n := range exactCases() {
		for _, brute := range []bool{false, true} {
			if brute && n.Iterations() > 2e8 {
				continue
			}
			b.Run(fmt.Sprintf("%s/brute=%t", name, brute), func(b *testing.B) {
				for b.Loop() {
					h, err := NewHierarchy(Config{Levels: TwoLevels(Geometry{32 << 10, 8, 64},
						Geometry{32 << 20, 16, 64}), Brute: brute})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := h.Run(1, n); err != nil {
						b.Fatal(err)
					}
					visited, _ := h.Work()
					b.ReportMetric(float64(visited), "visited/op")
				}
			})
		}
	}
}
