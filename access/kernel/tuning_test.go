package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// TestTuning: sets are tuned alike on every CPU unless something tunes them. TestPlans shows that
// a tuning changes no plan and no byte.
func TestTuning(t *testing.T) {
	for _, s := range All() {
		want := "past caches: runs 32MiB tiles 32MiB narrow 32MiB blocks 32MiB; ahead: 2"
		if !s.Streams() {
			want = "past caches: runs never tiles never narrow never blocks never; ahead: 2"
		}
		if got := s.Tuning().String(); got != want {
			t.Errorf("%s is tuned to %s, want %s", s.Name(), got, want)
		}
		if s.Streams() == (s == portable || s == neon) {
			t.Errorf("%s streams: %t", s.Name(), s.Streams())
		}
	}
	for asked, reads := range map[string]int{"": Never, "; reads: 32MiB, 5KiB ahead": 32 << 20} {
		want := "past caches: runs never tiles 3MiB narrow 100B blocks 1024MiB" + asked +
			"; ahead: 0"
		if got := (Tuning{Never, 3 << 20, 100, 1 << 30, 0, reads, 5 << 10}).String(); got != want {
			t.Errorf("a tuning is written as %s, want %s", got, want)
		}
	}
}

func TestTuningRefuses(t *testing.T) {
	for want, bad := range map[string]Tuning{
		"narrow: from 0 bytes, at least 1": {1, 1, 0, 1, 1, 1, 1},
		"ahead: 65 tiles, 0 to 64":         {1, 1, 1, 1, 65, 1, 1},
		"ahead: -1 tiles, 0 to 64":         {1, 1, 1, 1, -1, 1, 1},
		"reads: from 0 bytes, at least 1":  {1, 1, 1, 1, 1, 0, 1},
		"reads: 0 bytes, 1 to 131072":      {1, 1, 1, 1, 1, 1, 0},
		"reads: 131073 bytes, 1 to 131072": {1, 1, 1, 1, 1, 1, maxReadsAhead + 1},
	} {
		err := bad.Check()
		for word := range strings.SplitSeq(want, ", ") {
			field, value, named := strings.Cut(word, ": ")
			if text := fmt.Sprint(err); !strings.Contains(text, field) || named &&
				!strings.Contains(text, value) {
				t.Errorf("%+v: %v, want %s", bad, err, want)
			}
		}
	}
}
