package simcache

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpread(t *testing.T) {
	got, ok := LevelCounts{SetMisses: []uint64{0, 6, 1, 1}}.Spread()
	want := Spread{Sets: 4, Missed: 3, Uneven: 3, Busiest: []busySet{{1, 6}}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	if got, ok := (LevelCounts{SetMisses: []uint64{2, 2}}).Spread(); !ok || got.Uneven != 1 || len(got.Busiest) != 0 {
		t.Errorf("even misses are %+v, %v", got, ok)
	}
	for _, none := range [][]uint64{nil, {0, 0}} {
		if _, ok := (LevelCounts{SetMisses: none}).Spread(); ok {
			t.Errorf("%v has a spread", none)
		}
	}
}

func TestEndsSummary(t *testing.T) {
	want := `D   refs:      3  (2 rd   + 1 wr)
D1  misses:    1  (1 rd   + 0 wr)
LLd misses:    0  (0 rd   + 0 wr)
D1  miss rate: 33.3% (50.0%     + 0.0%  )
LLd miss rate: 0.0% (0.0%     + 0.0%  )
`
	if diff := cmp.Diff(want, Counts{Dr: 2, D1mr: 1, Dw: 1}.EndsSummary()); diff != "" {
		t.Error(diff)
	}
}
