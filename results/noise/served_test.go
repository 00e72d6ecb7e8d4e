package noise_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/show"
)

// stated are caches of sizes in KiB, the last one's in MiB.
func stated(l1, l2, l3 int) []results.Cache {
	return []results.Cache{{Name: "L1d", Size: l1 << 10}, {Name: "L1i", Size: 64 << 20},
		{Name: "L2", Size: l2 << 10}, {Name: "L3", Size: l3 << 20}}
}

// ladder is the latency at sizes from 4 KiB to 96 MiB, each one and a half of a power of two and
// the power: up are sizes in KiB, each with the ns up to it.
func ladder(up ...float64) (rungs []noise.Rung) {
	for size := 4; size <= 64<<10; size *= 2 {
		for _, kib := range []int{size, size * 3 / 2} {
			for i := 0; i < len(up); i += 2 {
				if float64(kib) <= up[i] {
					rungs = append(rungs, noise.Rung{Size: kib << 10, Ns: up[i+1]})
					break
				}
			}
		}
	}
	return rungs
}

// TestServedBy: a last level that serves a tenth of what is stated is told, one that
// serves nearly all of it is not, and neither is one of which the ladder says nothing.
func TestServedBy(t *testing.T) {
	const all = 1 << 30
	xeon, mib := stated(48, 2048, 105), float64(1024)
	for name, test := range map[string]struct {
		ladder    []noise.Rung
		caches    []results.Cache
		simulated int // MiB
		want      string
	}{
		"a tenth": {ladder(48, 1.5, 2*mib, 5, 8*mib, 25, 12*mib, 60, all, 130), xeon, 105,
			"8 MiB to 12 MiB of 105 MiB"},
		"measured before": {ladder(48, 1.5, 2*mib, 5, 8*mib, 25, 12*mib, 60, all, 130),
			xeon, 9, ""},
		"all of it": {ladder(32, 1, 512, 4, 32*mib, 12, all, 100), stated(32, 512, 32), 32,
			""},
		"three quarters": {ladder(32, 1, 512, 4, 20*mib, 12, all, 100), stated(32, 512, 32), 32,
			""},
		"translations slow it": {ladder(32, 1, 512, 4, 6*mib, 12, 24*mib, 20, all, 90),
			stated(32, 512, 32), 32, ""},
		"larger than ladders": {ladder(48, 1.5, 2*mib, 5, all, 25), xeon, 105, ""},
		"a coarse ladder": {[]noise.Rung{{Size: 16 << 10, Ns: 1}, {Size: 128 << 10, Ns: 4},
			{Size: 1 << 20, Ns: 14}, {Size: 8 << 20, Ns: 130}}, stated(32, 512, 32), 32,
			"1 MiB to 8 MiB of 32 MiB"},
		"no ladder": {nil, xeon, 105, ""},
		"one cache": {ladder(32, 1, all, 100), stated(32, 512, 32)[:2], 32, ""},
	} {
		s, far := noise.ServedBy(test.ladder, test.caches,
			results.Cache{Name: "LL", Size: test.simulated << 20})
		got := ""
		if far {
			got = fmt.Sprintf("%s to %s of %s", show.Bytes(s.From), show.Bytes(s.To),
				show.Bytes(s.Cache.Size))
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if far && (!strings.HasPrefix(s.LastLevel(), "last-level: L3, stated to hold ") ||
			!strings.Contains(s.String(), "bench machine --measure")) {
			t.Errorf("%s: %s", name, s.LastLevel())
		}
	}
}

// TestLadder: rungs are of family Latency that have a size and a time.
func TestLadder(t *testing.T) {
	set, err := results.Parse("x",
		[]byte("BenchmarkLatency/size=4KiB 1 64 ns/op 1 ns/elem\nBenchmarkLatency/size=x 1 64 "+
			"ns/op 1 ns/elem\nBenchmarkLatency/size=8KiB/threads=2 1 64 ns/op 1 "+
			"ns/elem\nBenchmarkMountain/size=4KiB 1 64 ns/op 1 ns/elem\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows := set.Rows()
	if got := noise.Ladder(rows); len(got) != 1 || got[0].Size != 4<<10 || got[0].Ns < .999 ||
		got[0].Ns > 1.001 {
		t.Errorf("%+v", got)
	}
}

// TestDocumented: the table of what a run warns about has this warning.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/measuring.md")
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(noise.Served{}.LastLevel(), ":")
	if !strings.Contains(string(text), "\n| `"+kind+"` | ") {
		t.Errorf("docs/measuring.md has no row of %s", kind)
	}
}
