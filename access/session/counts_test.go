package session

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
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

// TestCountsOfOtherCaches: counts are kept by the caches, too.
func TestCountsOfOtherCaches(t *testing.T) {
	small := openTally("", simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 1 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64})})
	large := openTally("", simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 2 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64})})
	tlb := openTally("", simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 1 << 10, Ways: 2, Line: 64}, simcache.Geometry{Size: 8 << 10, Ways: 4, Line: 64}), TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}})
	if small.caches == large.caches || small.caches == tlb.caches || len(small.caches) != 16 {
		t.Errorf("%s, %s, %s", small.caches, large.caches, tlb.caches)
	}
}
