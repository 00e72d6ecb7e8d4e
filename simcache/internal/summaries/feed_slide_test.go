package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestFeed compares misses and contents with what two levels are, and now and then three, for slides that
// are often in the same lines as the lap before, or longer; what rests, or is ahead or behind, moves on,
// meets a row, misses or does not; the second level has room for them, just so, or not.
func TestFeed(t *testing.T) {
	t.Parallel()
	programs := 4000 / min(enginetest.Share, 4)
	if testing.Short() {
		programs = min(programs, 400)
	}
	if did := feed(t, programs); did.Fed < 10*programs || did.Spared < programs {
		t.Errorf("not often enough: %+v", did)
	}
}

func feed(t *testing.T, programs int) (did did) {
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 53)
		l := engine.Level{Sets: []int{1, 1, 2, 4}[d(4)], Ways: []int{4, 5, 6, 8}[d(4)], Shift: 5}
		e := New(withSecond(d, l), Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, leaping(d, l.Sets*l.Ways))
		did.add(e.did)
	}
	t.Logf("%+v", did)
	return did
}

// withSecond draws a second level behind a first, of slices, and now and then a third.
func withSecond(d enginetest.Draw, l engine.Level) []engine.Level {
	times := []int{1, 3, 8, 16, 32, 64}[d(6)]
	second := engine.Level{Sets: l.Sets * times, Ways: []int{16, 16, 8, 4, 1, 5, 12, 64}[d(8)], Shift: l.Shift}
	levels := []engine.Level{l, second}
	if d.One(20) {
		levels = append(levels, engine.Level{Sets: second.Sets * 2, Ways: 4, Shift: l.Shift})
	}
	return levels
}
