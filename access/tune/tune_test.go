package tune

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestFrom: stores go past the caches from the size on from which on that is faster
// over all sizes, by more than noise.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		past       []time.Duration
		want, ever int // the latter of two ways, of which the other is slower in the end
	}{
		{[]time.Duration{90, 50, 60}, 1, 1},
		{[]time.Duration{130, 50, 60}, 2, 2},
		{[]time.Duration{95, 180, 60}, 3, 3},
		{[]time.Duration{50, 110, 60}, 1, 3},
		{[]time.Duration{50, 50, 120}, 1, kernel.Never},
		{[]time.Duration{99, 98, 99}, kernel.Never, kernel.Never},
		{[]time.Duration{150, 160, 170}, kernel.Never, kernel.Never},
	} {
		sizes, plain := []int{1, 2, 3}, []time.Duration{100, 100, 100}
		if got := from(sizes, plain, c.past); got != c.want {
			t.Errorf("past %v: from %d on, want %d", c.past, got, c.want)
		}
		slower := []time.Duration{1, 1, c.past[2] + 1}
		if got, way := ever(sizes, [][]time.Duration{plain, slower, c.past}); got != c.ever ||
			way != 1 {
			t.Errorf("asking %v: from %d on in way %d, want %d in 1", c.past, got, way, c.ever)
		}
	}
	for want, times := range [][]time.Duration{{100, 98, 95, 101}, {100, 80, 200, 80},
		{100, 110, 80, 89}} {
		if got := nearest(times); got != want {
			t.Errorf("of %v the %d-th is chosen, want %d", times, got, want)
		}
	}
}

// TestDecided: sums ask as far ahead as was best, from the size on from which on that is better.
func TestDecided(t *testing.T) {
	s := kernel.Best()
	if !s.Streams() {
		return // nothing is decided
	}
	races := thresholds(s, sizes)
	for _, r := range races {
		r.best = slices.Repeat([]time.Duration{100}, len(r.ways))
		if r.plan == nil && r.size > 2*sizes[0] {
			r.best[2] = 80
		}
	}
	got := decided(kernel.Default(), s, races)
	if got.Reads != 2*sizes[1] || got.ReadsAhead != readsAheads[1] || got.Runs != kernel.Never {
		t.Errorf("decided %s", got)
	}
}

// TestThresholds: every threshold of every set that has a choice is raced at every size, also of
// blocks, which go by other copies in a set that takes panels for few.
func TestThresholds(t *testing.T) {
	for _, s := range kernel.All() {
		if !s.Streams() {
			continue
		}
		raced := map[*int]int{}
		var of kernel.Tuning
		for _, r := range thresholds(s, sizes) {
			raced[r.kind.of(&of)]++
		}
		for _, k := range kinds {
			if got := raced[k.of(&of)]; got != len(sizes) && s.Like() == s {
				t.Errorf("%s: a threshold is raced at %d sizes of %d", s.Name(), got, len(sizes))
			}
		}
	}
}

// TestPlans: what is raced is of the kind that its threshold is of, past the caches
// where that is tuned, and fits into the memory that there is.
func TestPlans(t *testing.T) {
	for _, s := range kernel.All() {
		if !s.Streams() {
			continue
		}
		before, sums := s.Tuning(), 0
		for _, r := range thresholds(s, sizes) {
			if r.plan == nil {
				sums++
				if len(r.ways) != 1+len(readsAheads) || r.ways[0].Reads != kernel.Never ||
					r.size%8 != 0 {
					t.Errorf("%s: a sum of %d B, as %s", s.Name(), r.size, r.ways)
				}
				for i, ahead := range readsAheads {
					if s.Tune(r.ways[1+i]); s.Tuning().Reads != 1 ||
						s.Tuning().ReadsAhead != ahead {
						t.Errorf("%s: a sum asks as in %s, want %d B ahead", s.Name(),
							s.Tuning(), ahead)
					}
					s.Tune(before)
				}
				continue
			}
			var moved int
			for _, step := range r.plan.Steps {
				n := 0
				for _, a := range step.Body {
					if a.Write && !a.Buffered() {
						n += a.Width
					}
				}
				for _, l := range step.Loops {
					n *= l.N
				}
				moved += n
			}
			if moved > r.size || moved < r.size*9/10 {
				t.Errorf("%s: %d B are written instead of %d", s.Name(), moved, r.size)
			}
			s.Tune(r.ways[0])
			plain := r.plan.PastCaches()
			only := r.ways[0]
			*r.kind.of(&only) = 1
			s.Tune(only)
			if past := r.plan.PastCaches(); plain || !past {
				t.Errorf("%s at %d B: past the caches: %t where it is not tuned so, %t where its "+
					"kind is", s.Name(), r.size, plain, past)
			}
			s.Tune(before)
		}
		if sums != len(sizes) {
			t.Errorf("%s: sums of %d sizes, want %d", s.Name(), sums, len(sizes))
		}
	}
}

// TestMeasure: a calibration gives each set that has a choice a tuning, and leaves
// the sets as they were.
func TestMeasure(t *testing.T) {
	var before []kernel.Tuning
	for _, s := range kernel.Sets() {
		before = append(before, s.Tuning())
	}
	start := time.Now()
	found, err := Measure(context.Background(), kernel.Sets(), 4*sizes[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %v", time.Since(start), found)
	for i, s := range kernel.Sets() {
		if s.Tuning() != before[i] {
			t.Errorf("%s is left tuned to %s", s.Name(), s.Tuning())
		}
		tuned, ok := found[s.Name()]
		if ok != s.Streams() {
			t.Errorf("%s: tuned: %t", s.Name(), ok)
		}
		if err := tuned.Check(); ok && err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		if ok && (tuned.Runs != sizes[0] && tuned.Runs != kernel.Never ||
			tuned.Reads != 2*sizes[0] && tuned.Reads != kernel.Never ||
			!slices.Contains(aheads, tuned.Ahead)) {
			t.Errorf("%s: %s", s.Name(), tuned)
		}
	}
	if found, err := Measure(context.Background(), kernel.Sets(), 1); len(found) > 0 || err != nil {
		t.Errorf("without memory: %v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, kernel.All(), 0); kernel.Best().Streams() &&
		!errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestFile: what is written is read, whatever was found, and whatever the CPU is called.
func TestFile(t *testing.T) {
	for _, cpu := range []string{"? !", "- x", "null", `a "b" \ 'c': d # e`, "12", ""} {
		text, err := Calibration{CPU: cpu}.Format()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(text); err != nil || got.CPU != cpu {
			t.Errorf("%q is read as %q, %v", cpu, got.CPU, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		past := rapid.OneOf(rapid.Just(kernel.Never), rapid.IntRange(1, 1<<40))
		c := Calibration{CPU: rapid.StringMatching(`[ -~]{0,40}`).Draw(t, "cpu"),
			Date: time.Unix(1790000000, 0).UTC(), Sets: map[string]kernel.Tuning{}}
		for _, s := range kernel.All() {
			if rapid.Bool().Draw(t, s.Name()) {
				c.Sets[s.Name()] = kernel.Tuning{Runs: past.Draw(t, "runs"),
					Tiles: past.Draw(t, "tiles"), Narrow: past.Draw(t, "narrow"),
					Blocks: past.Draw(t, "blocks"), Ahead: rapid.IntRange(0, 64).Draw(t, "ahead"),
					Reads:      past.Draw(t, "reads"),
					ReadsAhead: rapid.IntRange(1, 128<<10).Draw(t, "reads ahead")}
			}
		}
		text, err := c.Format()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestFileRefuses: what no calibration wrote is refused.
func TestFileRefuses(t *testing.T) {
	text, err := Calibration{CPU: "A", Sets: map[string]kernel.Tuning{"avx2": kernel.Default()}}.Format()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(text); err != nil {
		t.Fatal(err)
	}
	for want, bad := range map[string][2]string{
		"of another version of the kernels (1, want 9)": {`"Version": 9`, `"Version": 1`},
		"avx2: ahead: 99 tiles (want 0 to 64)":          {`"Ahead": 2`, `"Ahead": 99`},
		"cannot unmarshal string":                       {`"Runs": 33554432`, `"Runs": "often"`},
		"invalid character":                             {"{", "["},
	} {
		_, err := Parse(bytes.Replace(text, []byte(bad[0]), []byte(bad[1]), 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s, of\n%s", bad[1], err, want, text)
		}
	}
}

// TestOf: a calibration is of a CPU with all its sets.
func TestOf(t *testing.T) {
	caches := cpu.Caches()
	this := Identity("Some  CPU", caches)
	if !strings.Contains(this, "Some CPU") || this != Identity("Some CPU", caches) ||
		this == Identity("Another", caches) {
		t.Errorf("this is %q", this)
	}
	if core := Identity("Some CPU", append(caches,
		cpu.Cache{Level: 9, Geometry: simcache.Geometry{Size: 48 << 10, Ways: 12,
			Line: 64}})); core == this {
		t.Errorf("another kind of core is %q, too", core)
	}
	c := Calibration{CPU: this, Sets: map[string]kernel.Tuning{}}
	for _, s := range kernel.Sets() {
		c.Sets[s.Name()] = kernel.Default()
	}
	if !c.Of(this) || c.Of(this+"x") {
		t.Errorf("of this CPU: %t, of another: %t", c.Of(this), c.Of(this+"x"))
	}
	if best := kernel.Best(); best.Streams() {
		before := best.Tuning()
		t.Cleanup(func() { best.Tune(before) })
		c.Sets[best.Name()] = kernel.Tuning{Runs: 1, Tiles: 2, Narrow: 3, Blocks: 4, Ahead: 5,
			Reads: 6, ReadsAhead: 7}
		c.Apply()
		if got := best.Tuning(); got != c.Sets[best.Name()] {
			t.Errorf("tuned to %s", got)
		}
		delete(c.Sets, best.Name())
		if c.Of(this) {
			t.Errorf("a calibration without %s is taken", best.Name())
		}
	}
}

// TestMemory: what is copied has no zeros, which some CPUs write faster.
func TestMemory(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 100_000} {
		if m := memory(n); len(m) != n || bytes.IndexByte(m, 0) >= 0 {
			t.Errorf("%d B: %d of them, a zero at %d", n, len(m), bytes.IndexByte(m, 0))
		}
	}
}

// TestRound: of each way the least time is kept, so that one that was disturbed counts for nothing.
func TestRound(t *testing.T) {
	s := kernel.Best()
	g := &ground{dst: memory(4096), src: memory(4096)}
	r := &race{set: s, plan: kernel.NewPlan(s, 4, []kernel.Loop{{N: 1024, To: 4, From: 4}}),
		ways: []kernel.Tuning{kernel.Default(), kernel.Default()},
		best: []time.Duration{time.Hour, -1}}
	if r.round(g); r.best[0] >= time.Hour || r.best[1] != -1 {
		t.Errorf("of an hour and what was faster than anything %v is kept", r.best)
	}
}
