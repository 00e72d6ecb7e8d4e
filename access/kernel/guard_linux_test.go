package kernel

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stridebench/stridebench/layouts"
)

// guarded is memory of n bytes between two pages that nothing may touch.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, n+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[n+page:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[page:][:n]
}

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
// given, before it or behind it, and transposed copies of rows that lie apart
// leave what is between them as it is.
func TestGuards(t *testing.T) {
	t.Logf("this CPU runs %s", Names(Sets()))
	to, from := guarded(t, 200<<10*8), guarded(t, 200<<10*8)
	step := 1
	if testing.Short() {
		step = 7
	}
	for _, size := range []int{1, 2, 4, 8, 16} {
		for n := 0; n <= 130; n += step {
			for _, c := range [][2]int{{n, n}, {n, 67}, {129, n}} {
				transposedAt(t, to, from, size, c[0], c[1])
			}
		}
	}
	for n := range 600 {
		for i, mem := range ends(from, n) {
			out := ends(to, n)[i]
			for _, s := range Sets() {
				unfaulted(t, fmt.Sprintf("%s: %d B", s.Name(), n), func() {
					NewPlan(s, 1, []Loop{{n, 1, 1}}).Run(out, mem, nil, 1)
					Fill(s, out, 7, Rows{0, n, 1, 0})
					x := as[int32](mem, 0)
					NewSum[int32](s).Add(x, Rows{0, len(x), 1, 0})
					y := as[layouts.Half](mem, 0)
					NewSum[layouts.Half](s).Add(y, Rows{0, len(y), 1, 0})
				})
			}
		}
	}
}

// transposedAt copies a rows x columns matrix transposed by every set that this
// CPU runs, at both ends of the memory, past the caches too.
func transposedAt(t *testing.T, to, from []byte, size, rows, columns int) {
	t.Helper()
	if rows*columns == 0 {
		return
	}
	srcPitch, dstPitch := (columns+3)*size, (rows+1)*size
	loops := []Loop{{rows, size, srcPitch}, {columns, dstPitch, size}}
	srcs := ends(from, reach(loops, 0, size, func(l Loop) int { return l.From }))
	dsts := ends(to, reach(loops, 0, size, func(l Loop) int { return l.To }))
	want := bytes.Repeat([]byte{0xa5}, len(dsts[0]))
	naive(loops, want, pattern, 0, 0, size)
	for i, src := range srcs {
		copy(src, pattern)
		for _, s := range Sets() {
			what := fmt.Sprintf("%s: %dx%d of %d B", s.Name(), rows, columns, size)
			unfaulted(t, what, func() {
				for _, run := range []func(){
					func() {
						p := NewPlan(s, size, loops)
						p.Run(dsts[i], src, make([]byte, p.Buffers), 1)
					},
					func() { streamed(NewPlan(s, size, loops), dsts[i], src) },
				} {
					copy(dsts[i], unwritten)
					if run(); !bytes.Equal(dsts[i], want) {
						t.Fatalf("%s: the copy is wrong", what)
					}
				}
			})
		}
	}
}

// TestZipped: rows of a few channels are interleaved and taken apart in registers,
// past the caches where all lines are whole, and arrive, with no byte touched beyond
// either end; of avx2-blocks, rows of what is too long for the caches one after the other.
func TestZipped(t *testing.T) {
	to, from := guarded(t, 80<<10), guarded(t, 80<<10)
	defer func(n int) { longFrom = n }(longFrom)
	longFrom = 0
	for channels := 2; channels <= mostZipped; channels++ {
		for _, pad := range []int{0, line} {
			for _, pixels := range []int{31 * line, 32 * line, (picked/channels+1)*line + 8} {
				zippedAt(t, to, from, 1, zipLoops(false, 1, channels, pixels, pad))
				zippedAt(t, to, from, 8, zipLoops(false, 8, channels, pixels/8, pad))
				for _, s := range All() {
					want := map[bool]int{true: channels}[s == avx2blocks && pixels >= leastPicked*line]
					if got := NewPlan(s, 1, zipLoops(false, 1, channels, pixels, pad)).Steps[0].picked; got != want {
						t.Errorf("%s: of %d channels of %d pixels %d are picked one after the other, want %d", s.Name(), channels, pixels, got, want)
					}
				}
			}
		}
	}
	longFrom = math.MaxInt
	for _, size := range []int{1, 2, 4, 8} {
		for channels := 2; channels <= mostZipped; channels++ {
			for _, pixels := range []int{64 / size, 192/size + 1, 128/size + 64/size - 1} {
				for _, pad := range []int{0, size, line} {
					for _, zip := range []bool{false, true} {
						zippedAt(t, to, from, size, zipLoops(zip, size, channels, pixels, pad))
					}
				}
			}
		}
	}
}

// zippedAt copies by every set, at both ends of the memory.
func zippedAt(t *testing.T, to, from []byte, size int, loops []Loop) {
	t.Helper()
	dsts := ends(to, reach(loops, 0, size, func(l Loop) int { return l.To }))
	srcs := ends(from, reach(loops, 0, size, func(l Loop) int { return l.From }))
	want := bytes.Repeat([]byte{0xa5}, len(dsts[0]))
	naive(loops, want, pattern, 0, 0, size)
	for _, s := range All() {
		what := fmt.Sprintf("%s: %v of %d B", s.Name(), loops, size)
		p := NewPlan(s, size, loops)
		if in := p.Steps[0].Body[0].Width > size; in != s.zips || p.Buffers > 0 {
			t.Errorf("%s: in registers: %t", what, in)
		}
		said := slices.Clone(unwritten[:len(want)])
		if touch(t, p, said, pattern); !bytes.Equal(said, want) {
			t.Errorf("%s: the plan does not say what is copied", what)
		}
		for i, src := range srcs {
			copy(src, pattern)
			for _, run := range []func(){func() { p.Run(dsts[i], src, nil, 2) }, func() { streamed(p, dsts[i], src) }} {
				if !s.Runs() {
					continue
				}
				copy(dsts[i], unwritten)
				if unfaulted(t, what, run); !bytes.Equal(dsts[i], want) {
					t.Fatalf("%s: the copy is wrong", what)
				}
			}
		}
	}
}

var pattern, unwritten = randomBytes(9, 200<<10*8), bytes.Repeat([]byte{0xa5}, 200<<10*8)
