package probe

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// TestInstances: how many caches of a kind CPUs have together.
func TestInstances(t *testing.T) {
	smt := []cpu.Logical{{CPU: 7, Core: 3}, {CPU: 6, Core: 2}, {CPU: 5, Core: 1}, {CPU: 4, Core: 0},
		{CPU: 3, Core: 3}, {CPU: 2, Core: 2}, {CPU: 1, Core: 1}, {CPU: 0, Core: 0}}
	for _, c := range []struct {
		shared int
		cpus   []cpu.Logical
		want   int
	}{{2, smt, 4}, {4, smt, 2}, {8, smt, 1}, {16, smt, 1}, {0, smt, 4}, {1, smt[:4], 4},
		{2, smt[:4], 2}, {1, nil, 1}, {1, smt[:1], 1}} {
		if got := instances(cpu.Cache{Shared: c.shared}, c.cpus); len(c.cpus) > 0 && got != c.want {
			t.Errorf("%d CPUs have %d caches shared by %d, want %d", len(c.cpus), got,
				c.shared, c.want)
		}
	}
	s := sampler{Options: Options{Workers: smt,
		Caches: []cpu.Cache{{Level: 2, Type: "Unified",
			Geometry: simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64}, Shared: 2}}}}
	if got := s.number(Level{Stated: 1 << 20}); got != 4 {
		t.Errorf("four cores have %d second levels", got)
	}
	if got := s.behindAll(); got != 16<<20 {
		t.Errorf("far past four times 1 MiB is %d", got)
	}
	s.MaxSize, s.MaxMemory = 1<<20, 4<<20
	if got := s.behindAll(); got != 2<<20 {
		t.Errorf("past four times 1 MiB, with 4 MiB of memory, is %d", got)
	}
	for memory, want := range map[int]int{0: 2 << 20, 4 << 20: 2 << 20, 4<<20 - 1: 1 << 20} {
		if s.MaxMemory = memory; s.streamed() != want {
			t.Errorf("with %d B of memory %d are streamed, want %d", memory, s.streamed(), want)
		}
	}
	s.MaxSize, s.MaxMemory = 1<<20, 0
	instructions := cpu.Cache{Level: 1, Type: "Instruction",
		Geometry: simcache.Geometry{Size: 64 << 20}}
	if s.Caches = append(s.Caches, instructions); s.behindAll() != 16<<20 {
		t.Errorf("past four times 1 MiB, which are no instructions, is %d", s.behindAll())
	}
	s.Caches = append(s.Caches, cpu.Cache{Level: 3, Type: "Unified"})
	if got := s.number(Level{Stated: 0}); got != 1 {
		t.Errorf("of a level that nobody states there are %d", got)
	}
}

// TestOnAll: all cores together go past what their second levels hold, or the last level is not
// measured by them. Of 16 cores of 2 MiB each, that of 24 MiB once had the second level's
// bandwidth.
func TestOnAll(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		cores, second, last int
		want                []int
	}{
		{2, 2 * mib, 24 * mib, []int{4 * mib / 2, 12 * mib}},
		{4, 2 * mib, 24 * mib, []int{8 * mib / 2, 16 * mib}},
		{8, 2 * mib, 24 * mib, []int{16 * mib / 2, 24 * mib}},
		{8, 2 * mib, 22 * mib, []int{16 * mib / 2, 0}},
		{16, 2 * mib, 24 * mib, []int{32 * mib / 2, 0}},
		{16, mib, 32 * mib, []int{16 * mib / 2, 32 * mib}},
	} {
		var o Options
		for i := range c.cores {
			o.Workers = append(o.Workers, cpu.Logical{CPU: i, Core: i})
		}
		o.Caches = []cpu.Cache{
			{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 3 * mib, Ways: 16,
				Line: 64}, Shared: 1},
			{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 300 * mib, Ways: 20,
				Line: 64}, Shared: c.cores}}
		s := sampler{Options: o}
		if got := s.onAll([]Level{{Stated: 3 * mib, Capacity: strict.Size(c.second)},
			{Stated: 300 * mib, Capacity: strict.Size(c.last)}}); !slices.Equal(got, c.want) {
			t.Errorf("%d cores of %d B, that have %d B together, are measured on %v B, want %v",
				c.cores, c.second, c.last, got, c.want)
		}
	}
}

// TestSharers: only what is not so anyway is said of who shares a level.
func TestSharers(t *testing.T) {
	size := simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}
	smt := []cpu.Logical{{CPU: 7, Core: 3}, {CPU: 6, Core: 2}, {CPU: 5, Core: 1}, {CPU: 4, Core: 0},
		{CPU: 3, Core: 3}, {CPU: 2, Core: 2}, {CPU: 1, Core: 1}, {CPU: 0, Core: 0}}
	for _, c := range []struct {
		second, third  int // CPUs that share them
		workers        []cpu.Logical
		want2nd, want3 int
	}{{2, 8, smt, 0, 0}, {2, 4, smt, 0, 2}, {4, 8, smt, 2, 0}, {2, 2, smt, 0, 1},
		{2, 16, smt, 0, 0}, {2, 4, smt[:2], 0, 0}, {0, 0, smt, 0, 0}, {2, 8, nil, 0, 0}} {
		o := Options{Workers: c.workers, Caches: []cpu.Cache{{Level: 1, Type: "Data",
			Geometry: size, Shared: 2}, {Level: 1, Type: "Instruction", Geometry: size, Shared: 2},
			{Level: 2, Type: "Unified", Geometry: size, Shared: c.second},
			{Level: 3, Type: "Unified", Geometry: size, Shared: c.third}}}
		if first, second, third := sharers(o.Caches[0], o), sharers(o.Caches[2], o),
			sharers(o.Caches[3], o); first != 0 || second != c.want2nd || third != c.want3 {
			t.Errorf("levels of 2, %d and %d of %d CPUs are shared by %d, %d and %d cores, want "+
				"0, %d and %d", c.second, c.third, len(c.workers), first, second, third,
				c.want2nd, c.want3)
		}
	}
}

// TestDisturbed: a level of which each core has its own gives sixteen at least six times what one
// has, or one of them was busy.
func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		speed   Speed
		threads int
		want    bool
	}{
		// as measured on an Emerald Rapids, and a minute before:
		{Speed{Read: 222, ReadAll: 261}, 16, true},
		{Speed{Read: 247, ReadAll: 2603}, 16, false},
		{Speed{Read: 111, ReadAll: 819, Copy: 66, CopyAll: 85}, 16, true},
		{Speed{Read: 100, ReadAll: 400}, 8, false}, // two share a core
		{Speed{Read: 100, ReadAll: 319}, 8, true},
		{Speed{Read: 100}, 8, false},
		{Speed{Read: 100, ReadAll: 90}, 2, false},
	} {
		if got := c.speed.Disturbed(c.threads); got != c.want {
			t.Errorf("%+v by %d threads: %v, want %v", c.speed, c.threads, got, c.want)
		}
	}
}
