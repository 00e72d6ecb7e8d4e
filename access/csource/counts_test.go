package csource_test

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/simcache"
)

func level(size, ways, line int) simcache.Level {
	return simcache.Level{Geometry: simcache.Geometry{Size: size, Ways: ways, Line: line},
		Modulo: true}
}

// hierarchies are caches that a kernel fills at MINI, and at SMALL.
var hierarchies = []simcache.Config{
	{Levels: []simcache.Level{level(32768, 8, 64)}},
	{Levels: []simcache.Level{level(1024, 2, 32)},
		TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}},
	{Levels: []simcache.Level{level(2048, 4, 64), level(16384, 16, 64)}},
	{Levels: []simcache.Level{level(32768, 8, 64), level(1<<20, 16, 64)}},
	{Levels: []simcache.Level{level(3*8*32, 8, 32), level(20*5*128, 5, 128), level(32768, 8, 64)}},
}

// TestPolyBenchCounts: the counts of each access, and of each level, are those of
// looking up every access.
func TestPolyBenchCounts(t *testing.T) {
	t.Parallel()
	for _, k := range kernels(t) {
		for _, size := range []string{k.mini, k.small} {
			if size == k.small && testing.Short() {
				continue
			}
			f := read(t, k.name, size)
			for i, c := range hierarchies {
				got, gotLevels := counted(t, f, c)
				c.Brute = true
				want, wantLevels := counted(t, f, c)
				if !slices.Equal(got, want) ||
					!slices.EqualFunc(gotLevels, wantLevels, func(a, b simcache.LevelCounts) bool {
						return a.Reads == b.Reads && a.Writes == b.Writes &&
							a.ReadMisses == b.ReadMisses && a.WriteMisses == b.WriteMisses
					}) {
					t.Errorf("%s, %s, hierarchy %d:\n%+v, want\n%+v", k.name, size, i, got, want)
				}
			}
		}
	}
}

// counted are the counts of a file's accesses and of all levels, the TLB's too.
func counted(t testing.TB, f *csource.File, c simcache.Config) ([]simcache.Counts,
	[]simcache.LevelCounts) {
	t.Helper()
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := h.RunProgram(1, f.Program)
	if err != nil {
		t.Fatal(err)
	}
	return counts, append(h.Levels(), h.TLBs()...)
}

// published are the misses at LARGE that testdata/polybench-large.csv has: those of
// "Warping Cache Simulation of Polyhedral Programs" (PLDI 2022), in 32 KiB of 8 ways,
// in LRU order. Nussinov's are of another program.
func published(t testing.TB) map[string]uint64 {
	t.Helper()
	file, err := os.Open("testdata/polybench-large.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	misses := map[string]uint64{}
	at := slices.Index(rows[0], "l1_misses_8way")
	for _, row := range rows[1:] {
		if n, err := strconv.ParseUint(row[at], 10, 64); err == nil && row[0] != "nussinov" {
			misses[row[0]] = n
		}
	}
	return misses
}

// BenchmarkPolyBench counts the kernels at LARGE, in one level as published, and in two.
func BenchmarkPolyBench(b *testing.B) {
	misses := published(b)
	for name, c := range map[string]simcache.Config{"one": hierarchies[0], "two": hierarchies[3]} {
		for _, k := range kernels(b) {
			b.Run("levels="+name+"/kernel="+k.name, func(b *testing.B) {
				for b.Loop() {
					sum := uint64(0)
					counts, _ := counted(b, read(b, k.name, k.large), c)
					for _, one := range counts {
						sum += one.D1Misses()
					}
					if want, known := misses[k.name]; known && sum != want {
						b.Fatalf("%d misses, want %d", sum, want)
					}
				}
			})
		}
	}
}
