package probe

import (
	"context"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
)

// TestStarts: what runs in pages of their own take longer than as much side by side, for each; as many as go past the caches,
// less where there is no memory for the pages. Nothing is measured where no memory lies behind the caches.
func TestStarts(t *testing.T) {
	var runs []int
	s := &sampler{ctx: context.Background(), Options: Options{MaxSize: 64 << 20}}
	s.ask = func(p access.Pattern) float64 {
		size := p.Spec.DType.Size()
		each := startLines * line / size
		n := p.Nests[0]
		source := n.Operands[slices.IndexFunc(n.Operands, func(op nest.Operand) bool { return op.Kind == nest.Read })]
		if len(n.Trips) == 1 {
			if n.Trips[0] != runs[len(runs)-1]*each {
				t.Errorf("%v elements side by side, and %d runs", n.Trips, runs[len(runs)-1])
			}
			return 1
		}
		if runs = append(runs, n.Trips[0]); n.Trips[1] != each || source.Strides[0] != startApart || source.Strides[1] != size {
			t.Errorf("%v, %v", n.Trips, source.Strides)
		}
		return 1 + float64(size-4)/float64(each) // in one size it takes less
	}
	m := Machine{Memory: Speed{Latency: 100}}
	if err := s.starts(&m); err != nil || !slices.Equal(m.Starts, []Point{{2, 0}, {4, 0}, {8, 4}}) || runs[0] != 64<<10 {
		t.Errorf("%v, %v of %v runs", err, m.Starts, runs)
	}
	for _, c := range []struct{ size, memory, want int }{{1 << 30, 0, 512 << 20 / startApart}, {64 << 20, 128 << 20, 64 << 20 / startApart}, {1 << 10, 1 << 10, 1}} {
		if s.MaxSize, s.MaxMemory = c.size, c.memory; s.startRuns() != c.want {
			t.Errorf("%d runs of %d B with %d B of memory, want %d", s.startRuns(), c.size, c.memory, c.want)
		}
	}
	m = Machine{}
	if err := s.starts(&m); err != nil || m.Starts != nil {
		t.Errorf("%v, %v", err, m.Starts)
	}
}
