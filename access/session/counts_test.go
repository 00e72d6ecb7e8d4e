package session

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
)

// keptRun runs three comparisons whose counts a file keeps, the third the first one's
// accesses, and returns the file of results and its lines' D1 misses.
func keptRun(t *testing.T, file string, ahead int) (text, misses string) {
	t.Helper()
	sum := func(name string, n int, order access.Order) access.Comparison {
		return access.Comparison{{Name: name, Spec: access.Spec{Op: access.Sum, Shape: []int{n, n}, DType: layouts.Int32, Order: order}}}
	}
	col, err := access.ParseOrder("col")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Comparisons: []access.Comparison{sum("A", 64, access.Order{}), sum("B", 64, col), sum("C", 64, access.Order{})},
		Caches:     simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 1 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64})},
		CountsFile: file, Count: 1, SampleTime: time.Microsecond}
	s, err := p.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	s.ahead = ahead
	var out bytes.Buffer
	if _, err := s.Write(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if before, _, ok := strings.Cut(line, " D1-misses/op"); ok && strings.HasPrefix(line, "Benchmark") {
			misses += before[strings.LastIndex(before, " "):]
		}
	}
	return out.String(), misses
}

// TestKeptCounts: counts are those of a simulation, whether all are simulated at once or one
// before each comparison, and a file has them for the next run of the same program, and for no
// other.
func TestKeptCounts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "counts.json")
	const want = " 256 4096 256"
	for _, ahead := range []int{0, 1, mostAhead} {
		if text, got := keptRun(t, "", ahead); got != want || strings.Contains(text, "known from") {
			t.Errorf("misses%s, want%s, of\n%s", got, want, text)
		}
	}
	known := func(ahead int, part string) {
		t.Helper()
		text, got := keptRun(t, file, ahead)
		if got != want {
			t.Errorf("misses%s, want%s", got, want)
		}
		if has := strings.Contains(text, part+" of 3 benchmarks were known from earlier runs"); has != (part != "") {
			t.Errorf("want %q known of\n%s", part, text)
		}
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	known(mostAhead, "")
	known(mostAhead, "(3")
	known(1, "(3")
	change := func(of string, by func(k *keptCounts)) {
		t.Helper()
		text, err := os.ReadFile(file)
		var k keptCounts
		if err != nil || json.Unmarshal(text, &k) != nil || k.Program != thisProgram() || len(k.Counts) != 2 {
			t.Fatalf("%s: %v, %s", of, err, text)
		}
		if by(&k); k.Counts == nil {
			text = []byte("{")
		} else if text, err = json.Marshal(k); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("what the file says counts", func(k *keptCounts) {
		for key, c := range k.Counts {
			c.D1mr = 7
			k.Counts[key] = c
		}
	})
	if _, got := keptRun(t, file, mostAhead); got != " 7 7 7" {
		t.Errorf("misses%s of a file that says 7", got)
	}
	change("another program", func(k *keptCounts) { k.Program = "other" })
	known(mostAhead, "")
	change("a file that is cut off", func(k *keptCounts) { k.Counts = nil })
	known(mostAhead, "")
	known(mostAhead, "(3")
}

// TestCountsKeys: counts are kept by the caches, by who walks what, and by who shares the last level.
func TestCountsKeys(t *testing.T) {
	caches := func(size int) simcache.Config {
		return simcache.Config{Levels: simcache.TwoLevels(
			simcache.Geometry{Size: size, Ways: 2, Line: 64}, simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64})}
	}
	apart, tlb := caches(1<<10), caches(1<<10)
	apart.Levels[1].SharedBy = 1
	tlb.TLB = []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}
	keys := map[string]bool{}
	for _, c := range []simcache.Config{caches(1 << 10), caches(2 << 10), apart, tlb} {
		for _, threads := range []int{1, 2, 3} {
			p, err := access.Spec{Shape: []int{64, 64}, DType: layouts.Int32, Threads: threads, Grain: 1}.Pattern()
			if err != nil {
				t.Fatal(err)
			}
			keys[openTally("", c).key(p)] = true
		}
	}
	if len(keys) != 12 {
		t.Errorf("%d keys of one, two and three threads on four kinds of caches: %v", len(keys), keys)
	}
}

// TestUncounted: which misses are not counted, and why, is a remark before the samples.
func TestUncounted(t *testing.T) {
	col, err := access.ParseOrder("col")
	if err != nil {
		t.Fatal(err)
	}
	spec := access.Spec{Shape: []int{6400, 6400}, DType: layouts.Int8, Order: col, Threads: 2}
	few := spec
	few.Shape = []int{640, 640}
	p := Plan{Comparisons: []access.Comparison{{{Name: "Few", Spec: few}, {Name: "Many", Spec: spec}}}, Count: 1, SampleTime: time.Microsecond,
		Caches: simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 4 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: 128 << 10, Ways: 2, Line: 64})}}
	s, err := p.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	s.progress, s.tally = untold{}, openTally("", s.Caches)
	if err := s.simulate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = "no LL-misses/op: Many: its threads share LL, and 41 million references would be looked up (at most 20 are)"
	if got := s.uncounted(0); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	if one := (measured{pattern: s.patterns[0][1], counts: &s.counts[0][1]}); one.counts.D1Misses() != 6400*6400 {
		t.Errorf("%d misses of D1", one.counts.D1Misses())
	} else if slices.ContainsFunc(one.values(), func(v results.Value) bool { return v.Unit == "LL-misses/op" }) {
		t.Error("misses of LL that were not counted are written")
	}
}

// TestAhead: references that are looked up in turns count, so that the first sample comes soon.
func TestAhead(t *testing.T) {
	copies := access.Spec{Op: access.Copy, Shape: []int{400, 400}, DType: layouts.Int32, View: transposed(t), Threads: 2, Grain: 1}
	var all []access.Comparison
	for i := range 4 {
		copies.Shape = []int{400, 400 + i}
		all = append(all, access.Comparison{{Name: strconv.Itoa(i), Spec: copies}})
	}
	for _, c := range []struct{ ll, want int }{{64 << 10, 1}, {4 << 20, 2}} {
		p := Plan{Comparisons: all, Count: 1, SampleTime: time.Microsecond,
			Caches: simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 4 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: c.ll, Ways: 2, Line: 64})}}
		s, err := p.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		s.ahead, s.progress, s.tally = 320000, untold{}, openTally("", s.Caches)
		if err := s.simulate(t.Context()); err != nil || len(s.counts) != c.want {
			t.Errorf("a last level of %d B: %d comparisons are simulated at once, %v, want %d", c.ll, len(s.counts), err, c.want)
		}
	}
}

func transposed(t *testing.T) layouts.Chain {
	t.Helper()
	c, err := layouts.ParseChain("t()")
	if err != nil {
		t.Fatal(err)
	}
	return c
}
