package access

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// TestHalfAdds: sums of any two halves are those of float32, rounded, in whatever
// steps, on the short path of normal numbers and beside it.
func TestHalfAdds(t *testing.T) {
	const n = 1 << 16
	r := rand.New(rand.NewPCG(7, 16))
	mem := make([]layouts.Half, 4*n)
	for round := range 40 {
		for i := range mem {
			mem[i] = layouts.Half(r.Uint32())
			if round%2 == 1 { // as large as each other
				mem[i] = mem[i]&0x83FF | layouts.Half(r.IntN(4)+round/2)<<10
			}
		}
		b := &block{rows: 2, n: n / 2, at: [3]int{0, n, 3 * n}, row: [3]int{n / 2, n, n / 2},
			run: [3]int{1, 2, 1}}
		for i := range b.next {
			b.next[i] = b.row[i] - b.n*b.run[i]
		}
		addHalf(mem, b)
		for i := range n {
			a, c := mem[i], mem[n+2*i]
			want := layouts.HalfOf(a.Float() + c.Float())
			if got := mem[3*n+i]; got != want {
				t.Fatalf("%#04x + %#04x (%v + %v) is %#04x, want %#04x", a, c, a.Float(),
					c.Float(), got, want)
			}
		}
	}
	if v := layouts.HalfOf(float32(math.NaN())); v&0x7C00 != 0x7C00 || v&0x3FF == 0 {
		t.Errorf("NaN is %#04x", v)
	}
}
