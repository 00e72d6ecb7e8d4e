package simcache

import (
	"fmt"
	"testing"
)

// exactCases are nests of 4-byte elements, as they are commonly met.
func exactCases() map[string]Nest {
	cases := map[string]Nest{}
	const base = 1 << 32
	op := func(kind Kind, place int, strides ...int) Operand {
		return Operand{Kind: kind, Base: base + uint64(place), Width: 4, Strides: strides}
	}
	for _, n := range []int{4000, 65536} {
		for _, passes := range []int{1, 10} {
			cases[fmt.Sprintf("row/n=%d/passes=%d", n, passes)] = Nest{Trips: []int{passes, n, n}, Operands: []Operand{op(Read, 0, 0, 4*n, 4)}}
		}
	}
	for _, c := range []struct{ n, passes int }{{4000, 1}, {4000, 10}, {65536, 1}, {65536, 10}, {4001, 10}, {65537, 1}} {
		cases[fmt.Sprintf("column/n=%d/passes=%d", c.n, c.passes)] = Nest{Trips: []int{c.passes, c.n, c.n}, Operands: []Operand{op(Read, 0, 0, 4, 4*c.n)}}
	}
	for _, c := range []struct{ n, passes int }{{1000, 1}, {4000, 1}, {4096, 1}, {65536, 1}, {65536, 10}} {
		cases[fmt.Sprintf("transpose/n=%d/passes=%d", c.n, c.passes)] = Nest{Trips: []int{c.passes, c.n, c.n},
			Operands: []Operand{op(Read, 0, 0, 4, 4*c.n), op(Write, 4*c.n*c.n, 0, 4*c.n, 4)}}
	}
	for _, n := range []int{4000, 4096} {
		cases[fmt.Sprintf("tiled/n=%d/passes=1", n)] = Nest{Trips: []int{n / 32, n / 32, 32, 32},
			Operands: []Operand{op(Read, 0, 128, 128*n, 4, 4*n), op(Write, 4*n*n, 128*n, 128, 4*n, 4)}}
	}
	const images, pixels, channels = 32, 56 * 56, 64
	cases["nchw-nhwc/n=32/passes=1"] = Nest{Trips: []int{images, pixels, channels}, Operands: []Operand{
		op(Read, 0, 4*pixels*channels, 4, 4*pixels), op(Write, 4*images*pixels*channels, 4*pixels*channels, 4*channels, 4)}}
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
					h, err := NewHierarchy(Config{D1: Geometry{32 << 10, 8, 64}, LL: Geometry{32 << 20, 16, 64}, Brute: brute})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := h.Run(n); err != nil {
						b.Fatal(err)
					}
					visited, _ := h.Work()
					b.ReportMetric(float64(visited), "visited/op")
				}
			})
		}
	}
}

// BenchmarkExactOverhead runs random nests of up to a million accesses, of which
// few repeat themselves, on one pair of caches after the other: what deciding
// costs where little can be proved.
func BenchmarkExactOverhead(b *testing.B) {
	specs := []levelSpec{{64, 8, 6}, {32768, 16, 6}}
	var nests []Nest
	for seed := range uint64(60) {
		d := randomDraw(seed, 99)
		n := d.nest(specs, 1<<30)
		for l := range n.Trips {
			n.Trips[l] *= 1 + d(12)
		}
		for n.Iterations()*len(n.Operands) > 1<<20 {
			l := d(len(n.Trips))
			n.Trips[l] = (n.Trips[l] + 1) / 2
		}
		nests = append(nests, n)
	}
	for _, off := range []bool{false, true} {
		b.Run(fmt.Sprintf("brute=%t", off), func(b *testing.B) {
			for b.Loop() {
				for _, n := range nests {
					h, err := NewHierarchy(Config{D1: Geometry{32 << 10, 8, 64}, LL: Geometry{32 << 20, 16, 64}})
					if err != nil {
						b.Fatal(err)
					}
					h.exact.off = off // but for runs in line
					if _, err := h.Run(n); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
