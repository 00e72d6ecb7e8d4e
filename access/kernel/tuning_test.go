package kernel

import (
	"bytes"
	"strings"
	"testing"
)

// TestTuning: sets are tuned alike on every CPU unless something tunes them, and
// what a tuning chooses changes no access and no byte.
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
	src := randomBytes(9, 96*96*8)
	loops := []Loop{{96, 8, 96 * 8}, {96, 96 * 8, 8}}
	for _, s := range All() {
		var nests []Step
		var copies [][]byte
		for _, tuned := range []Tuning{Default(), {1, 1, 1, 1, 0, 1, 1}, {Never, 1 << 20, Never, 5, MaxAhead, Never, MaxReadsAhead}} {
			undo := tune(s, tuned)
			p := NewPlan(s, 8, loops)
			if nests == nil {
				nests = p.Steps
			}
			if len(p.Steps) != len(nests) {
				t.Errorf("%s tuned to %s: %d steps, by default %d", s.Name(), tuned, len(p.Steps), len(nests))
			}
			if s.Runs() {
				dst := make([]byte, len(src))
				p.Run(dst, src, make([]byte, p.Buffers), 1)
				copies = append(copies, dst)
			}
			undo()
		}
		for _, c := range copies {
			if !bytes.Equal(c, copies[0]) {
				t.Errorf("%s: what is copied changes with the tuning", s.Name())
			}
		}
	}
}

// tune tunes a set until it is undone.
func tune(s *Set, to Tuning) (undo func()) {
	before := s.tuning
	s.Tune(to)
	return func() { s.tuning = before }
}

func TestTuningRefuses(t *testing.T) {
	for want, bad := range map[string]Tuning{
		"narrow: past the caches from 0 bytes on (want at least 1)": {1, 1, 0, 1, 1, 1, 1},
		"ahead: 65 tiles (want 0 to 64)":                            {1, 1, 1, 1, 65, 1, 1},
		"ahead: -1 tiles (want 0 to 64)":                            {1, 1, 1, 1, -1, 1, 1},
		"reads: asked for ahead from 0 bytes on (want at least 1)":  {1, 1, 1, 1, 1, 0, 1},
		"reads: asked for 0 bytes ahead (want 1 to 131072)":         {1, 1, 1, 1, 1, 1, 0},
		"reads: asked for 131073 bytes ahead (want 1 to 131072)":    {1, 1, 1, 1, 1, 1, MaxReadsAhead + 1},
	} {
		if err := bad.Check(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", bad, err, want)
		}
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "kernel: ") {
					t.Errorf("%+v: Tune took it", bad)
				}
			}()
			portable.Tune(bad)
		}()
	}
	for asked, reads := range map[string]int{"": Never, "; reads: 32MiB, 5KiB ahead": 32 << 20} {
		want := "past caches: runs never tiles 3MiB narrow 100B blocks 1024MiB" + asked + "; ahead: 0"
		if got := (Tuning{Never, 3 << 20, 100, 1 << 30, 0, reads, 5 << 10}).String(); got != want {
			t.Errorf("a tuning is written as %s, want %s", got, want)
		}
	}
}
