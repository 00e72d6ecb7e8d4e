package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/simcache"
)

// TestSummary compares with lines that Cachegrind 3.19 printed for data without
// instruction misses to speak of.
func TestSummary(t *testing.T) {
	got := Summary(simcache.Counts{Dr: 4097, D1mr: 257, DLmr: 256, Dw: 4097, D1mw: 257,
		DLmw: 257}, false)
	for _, want := range []string{
		"D   refs:      8,194  (4,097 rd   + 4,097 wr)\n",
		"D1  misses:      514  (  257 rd   +   257 wr)\n",
		"LLd misses:      513  (  256 rd   +   257 wr)\n",
		"D1  miss rate:   6.3% (  6.3%     +   6.3%  )\n",
		"LLd miss rate:   6.3% (  6.2%     +   6.3%  )\n",
		"LL refs:         514  (  257 rd   +   257 wr)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	// 3 of 16 are 18.75%, which Cachegrind truncates; without writes, 0 of 1.
	if got := Summary(simcache.Counts{Dr: 16, D1mr: 3, DLmr: 3}, false); !strings.Contains(got,
		"D1  miss rate: 18.7% (18.7%     + 0.0%  )\n") {
		t.Errorf("18.75%% is printed as\n%s", got)
	}
}

// TestSumLines: places are apart by function, file and number, those that miss most first.
func TestSumLines(t *testing.T) {
	reads := func(refs, misses uint64) simcache.Counts {
		return simcache.Counts{Dr: refs, D1mr: misses}
	}
	got := SumLines([]Line{
		{"a.c", 1, "f", reads(5, 0)}, {"a.c", 2, "f", reads(9, 1)}, {"a.c", 1, "g", reads(7, 0)},
		{"a.c", 1, "f", reads(1, 2)}, {"b.c", 1, "f", reads(8, 0)},
	})
	want := []Line{{"a.c", 1, "f", reads(6, 2)}, {"a.c", 2, "f", reads(9, 1)},
		{"b.c", 1, "f", reads(8, 0)}, {"a.c", 1, "g", reads(7, 0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpread(t *testing.T) {
	got, ok := spreadOf(simcache.LevelCounts{SetMisses: []uint64{0, 6, 1, 1}})
	want := spread{Sets: 4, Missed: 3, Uneven: 3, Busiest: []busySet{{1, 6}}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	even := simcache.LevelCounts{SetMisses: []uint64{2, 2}}
	if got, ok := spreadOf(even); !ok || got.Uneven != 1 || len(got.Busiest) != 0 {
		t.Errorf("even misses are %+v, %v", got, ok)
	}
	for _, none := range [][]uint64{nil, {0, 0}} {
		if _, ok := spreadOf(simcache.LevelCounts{SetMisses: none}); ok {
			t.Errorf("%v has a spread", none)
		}
	}
}
