package kernel

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// unfaulted calls f, and fails where that touches a guard.
func unfaulted(t *testing.T, what string, f func()) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: %v", what, r)
		}
	}()
	f()
}

// ends are the first and the last n bytes of memory, to whose ends nothing is
// between them and a guard.
func ends(mem []byte, n int) [2][]byte { return [2][]byte{mem[:n], mem[len(mem)-n:]} }

// TestGuards: whatever the edge, no kernel touches a byte beyond what it is
// given, before it or after it, and transposed copies of rows that lie apart
// leave what is between them as it is.
func TestGuards(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 11
	}
	for _, size := range []int{1, 2, 4, 8, 16} {
		for n := 1; n <= 130; n += step {
			for _, c := range [][2]int{{n, n}, {n, 67}, {129, n}} {
				rows, columns := Loop{c[0], size, (c[1] + 3) * size}, Loop{c[1], (c[0] + 1) * size, size}
				check := newTrial(size, []Loop{rows, columns}, 0, 0).check
				for _, s := range Sets() {
					check(t, s)
				}
			}
		}
	}
	for n := range 600 {
		for i, mem := range ends(read, n) {
			out := ends(written, n)[i]
			for _, s := range Sets() {
				unfaulted(t, fmt.Sprintf("%s: %d B", s.Name(), n), func() {
					NewPlan(s, 1, []Loop{{n, 1, 1}}).Run(out, mem, nil, 1)
					Fill(s, out, 7, Rows{0, n, 1, 0})
					x, y := as[int32](mem, 0), as[layouts.Half](mem, 0)
					total(s, x, Rows{0, len(x), 1, 0})
					total(s, y, Rows{0, len(y), 1, 0})
				})
			}
		}
	}
}

// TestAnywhere: wherever the first run or panel begins, copies past the caches arrive, and go
// there only by vectors that lie on multiples of their size.
func TestAnywhere(t *testing.T) {
	for _, loops := range [][]Loop{
		{{640, 1, 1}},
		{{3, 150 * 320, 150 * 320}, {320, 150, 1}, {150, 1, 320}}, // panels of 32 B
		{{3, 150 * 200, 150 * 200}, {200, 150, 1}, {150, 1, 200}}, // and of 16 B
	} {
		for start := range line {
			if testing.Short() && start%16 > 1 {
				continue
			}
			c := newTrial(1, loops, start, 0)
			for _, s := range Sets() {
				c.check(t, s)
			}
		}
	}
}

// zipLoops are those of a copy of three images of so many channels and pixels, whose
// rows lie pad bytes apart: zipped, each channel's row becomes a part of each pixel;
// otherwise the reverse.
func zipLoops(zipped bool, size, channels, pixels, pad int) []Loop {
	pitch := pixels*size + pad
	images := Loop{3, channels * pixels * size, channels * pitch}
	rows, columns := Loop{channels, size, pitch}, Loop{pixels, channels * size, size}
	if zipped {
		return []Loop{images, columns, rows}
	}
	for _, l := range []*Loop{&rows, &columns, &images} {
		l.To, l.From = l.From, l.To
	}
	return []Loop{images, rows, columns}
}

// TestZipped: rows of a few channels are interleaved and taken apart in registers, and arrive, with
// no byte touched beyond either end.
func TestZipped(t *testing.T) {
	check := func(zip bool, size, channels, pixels, pad int) {
		loops := zipLoops(zip, size, channels, pixels, pad)
		c := newTrial(size, loops, 0, 0)
		for _, s := range All() {
			if p := c.plan(s); s.amd64 && p.Steps[0].Body[0].Width <= size || p.Buffers > 0 {
				t.Errorf("%s: %v of %d B does not go in registers", s.Name(), loops, size)
			}
			c.check(t, s)
		}
	}
	for channels := 2; channels <= mostZipped; channels++ {
		for _, pad := range []int{0, line} {
			for _, size := range []int{1, 2, 4, 8} {
				for _, pixels := range []int{64 / size, 192/size + 1, 128/size + 64/size - 1} {
					check(false, size, channels, pixels, pad)
					check(true, size, channels, pixels, pad)
					check(pixels%2 == 0, size, channels, pixels, size)
				}
			}
		}
	}
}
