package probe

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestReadLadder: it goes from half of what the last level serves to four times that, or to what it is stated to hold, as far as the largest working set goes; by all
// cores over so much on each last level, as far as all go beyond their caches. Where there is no memory behind a level, or one level alone,
// there is none.
func TestReadLadder(t *testing.T) {
	workers := make([]cpu.Logical, 8)
	for i := range workers {
		workers[i] = cpu.Logical{CPU: i, Core: i}
	}
	levels := []Level{{Capacity: 32 << 10}, {Capacity: 16 << 20, Stated: 32 << 20}}
	machine := func(levels []Level, memory float64, shared, largest int) (Machine, *sampler) {
		caches := slices.Clone(zen)
		caches[3].Shared = shared
		return Machine{Levels: levels, Memory: Speed{Latency: memory}}, &sampler{ctx: context.Background(), Options: Options{Caches: caches, Workers: workers, MaxSize: largest}}
	}
	const mib = 1 << 20
	for _, c := range []struct {
		name            string
		levels          []Level
		memory          float64
		shared, largest int
		one, all        []int // MiB
	}{
		{"four times", levels, 100, 8, 256 << 20, []int{8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}, []int{8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}},
		{"the largest working set", levels, 100, 8, 12 << 20, []int{8, 10, 12}, []int{8, 10, 12}},
		{"as large as is stated", []Level{levels[0], {Capacity: 8 << 20, Stated: 64 << 20}}, 100, 8, 256 << 20, []int{4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}, []int{4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}},
		{"two last levels", levels, 100, 4, 12 << 20, []int{8, 10, 12}, []int{16, 20, 24}},
		{"no memory", levels, 0, 8, 256 << 20, nil, nil},
		{"one level", levels[1:], 100, 8, 256 << 20, nil, nil},
	} {
		m, s := machine(c.levels, c.memory, c.shared, c.largest)
		one, all := s.readLadder(&m)
		for i := range one {
			if one[i] /= mib; m.ReadLadder[i].Size != one[i]*mib {
				t.Errorf("%s: point %d is of %d B", c.name, i, m.ReadLadder[i].Size)
			}
			all[i] /= mib
		}
		if !cmp.Equal(one, c.one) || !cmp.Equal(all, c.all) || len(m.ReadLadder) != len(c.one) {
			t.Errorf("%s: one core reads %v MiB and all %v, want %v and %v", c.name, one, all, c.one, c.all)
		}
	}
	// What is measured is the read of so many bytes, by one core and by all.
	m, s := machine(levels, 100, 8, 12<<20)
	s.ask = func(p access.Pattern) float64 {
		return float64(max(1, p.Spec.Threads)) * float64(p.Elems) / float64(1<<20/layouts.Int32.Size()) // ns an element: MiB, by all eight times as many
	}
	if err := s.bandwidth(&m); err != nil {
		t.Fatal(err)
	}
	for i, mib := range []float64{8, 10, 12} {
		want := Reading{int(mib) << 20, 4e9 / mib, 4e9 / (8 * mib)}
		if diff := cmp.Diff(want, m.ReadLadder[i]); diff != "" {
			t.Error(diff)
		}
	}
	// At another moment, when all take twice as long and one half, what was better counts.
	ask := s.ask
	s.ask = func(p access.Pattern) float64 {
		if p.Spec.Threads > 1 {
			return 2 * ask(p)
		}
		return ask(p) / 2
	}
	if err := s.bandwidth(&m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Reading{{8 << 20, 1e9, .0625e9}, {10 << 20, .8e9, .05e9}, {12 << 20, 8e9 / 12, .5e9 / 12}}, m.ReadLadder, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
	s.MaxMemory = 40 << 20 // of which all may take half
	m.ReadLadder = nil
	if _, all := s.readLadder(&m); all[0] != 8<<20 {
		t.Errorf("all read %v", all)
	}
	m, s = machine(levels, 100, 1, 12<<20) // eight last levels
	s.MaxMemory = 160 << 20
	if _, all := s.readLadder(&m); !slices.Equal(all, []int{64 << 20, 80 << 20, 0}) {
		t.Errorf("all read %v of 160 MiB, want 64 and 80 MiB and no more", all)
	}
}
