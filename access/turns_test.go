package access

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// TestSimulateThreads: of patterns that threads share, a pass in the steady state counts what
// one more pass of simcache.NewThreads does, which is what `bench sim --threads` prints; where no
// level is shared, what the parts count alone.
func TestSimulateThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 4))
	inTurns, held := 0, 0
	for range 60 {
		s := Spec{Op: Copy, Shape: []int{8 + random.IntN(200), 8 + random.IntN(200)},
			DType: layouts.Float32, Threads: 2 + random.IntN(3), Grain: 1}
		if random.IntN(2) == 0 {
			s.Op = Sum
		}
		if random.IntN(2) == 0 {
			s.View, _ = layouts.ParseChain("t()")
		}
		p := pattern(t, s)
		caches := simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 1 << 10,
			Ways: 2, Line: 64},
			simcache.Geometry{Size: 8 << 10 << random.IntN(6), Ways: 4, Line: 64}),
			TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}}
		caches.Levels[1].SharedBy = random.IntN(4)
		got, err := Simulate(context.Background(), caches, []Pattern{p}, nil)
		if err != nil {
			t.Fatal(err)
		}
		threads, err := simcache.NewThreads(caches, p.threads())
		if err != nil {
			t.Fatal(err)
		}
		var before, last simcache.Counts
		for range 5 {
			before = threads.Counts()
			if _, err := threads.Run(1); err != nil {
				t.Fatal(err)
			}
			last = threads.Counts().Sub(before)
		}
		if got[0].Counts != last || got[0].Uncounted != "" {
			t.Errorf("%s on %+v: %+v, want %+v", s.Name(), caches.Levels, got[0], last)
		}
		switch lookUps, err := p.inTurns(caches); {
		case err != nil:
			t.Error(err)
		case lookUps > 0:
			inTurns++
		case caches.Shares(s.Threads):
			held++
		}
	}
	if inTurns < 10 || held < 10 {
		t.Errorf("%d in turns, of %d the last level holds all", inTurns, held)
	}
}

// TestUncounted: what would take too long, and levels that are not shared, leave the misses
// of the last level out, and no others.
func TestUncounted(t *testing.T) {
	caches := simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8,
		Line: 64}, simcache.Geometry{Size: 512 << 10, Ways: 16, Line: 64})}
	col, err := parseOrder("col")
	if err != nil {
		t.Fatal(err)
	}
	large := pattern(t, Spec{Shape: []int{7000, 7000}, DType: layouts.Int32, Order: col,
		Threads: 2})
	got, err := Simulate(context.Background(), caches, []Pattern{large}, nil)
	if err != nil || got[0].Uncounted == "" || got[0].D1Misses() != 49e6 || got[0].LLMisses() != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := large.inTurns(caches); err == nil ||
		err.Error() != "49 million references would be looked up (at most 20 are)" {
		t.Error(err)
	}
	if rows, err := pattern(t, specOf("sum 7000x7000 int32 threads=2")).inTurns(
		caches); err != nil || rows < 49e6/16 || rows > 4e6 {
		t.Errorf("%v by rows, %v", rows, err)
	}
	small := pattern(t, specOf("sum 700x700 int32 threads=2"))
	caches.Levels = slices.Clone(caches.Levels)
	caches.Levels[1].Policy = "fifo"
	// a line is in two parts
	if got, err = Simulate(context.Background(), caches, []Pattern{small}, nil); err != nil ||
		got[0].Uncounted == "" || got[0].D1Misses() != 30626 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := small.inTurns(caches); err == nil ||
		!strings.HasPrefix(err.Error(), "threads share levels that are LRU") {
		t.Error(err)
	}
	caches.Levels[1].SharedBy = 1
	if got, err = Simulate(context.Background(), caches, []Pattern{small}, nil); err != nil ||
		got[0].Uncounted != "" || got[0].LLMisses() != 30626 {
		t.Errorf("each on FIFO of its own: %+v, %v", got, err)
	}
}
