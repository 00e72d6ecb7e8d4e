package cost

import (
	"fmt"
	"math"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
)

// small is a ladder of pages: a TLB of 64 and of 2048, whose misses take 2 and 6 ns, the more the more pages there are.
var small = []probe.Point{{Size: 8, Ns: 1}, {Size: 64, Ns: 1}, {Size: 128, Ns: 3}, {Size: 2048, Ns: 3}, {Size: 4096, Ns: 9}, {Size: 8192, Ns: 13}}

// TestTranslating: of lines in random order a level of the TLB misses those in pages that it has no entry for.
func TestTranslating(t *testing.T) {
	for pages, want := range map[float64]float64{1: 0, 64: 0, 128: 1, 2048: 2 - 2./32, 4096: 2 - 2./64 + 3, 16384: 2 - 2./256 + 10 - 10./8} {
		if got := translating(small, []int{64, 2048}, pages); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v ns of %v pages, want %v", got, pages, want)
		}
	}
	for pages, want := range map[float64]float64{1: 1, 8: 1, 96: 1 + 2*math.Log2(1.5), 8192: 13, 1 << 20: 13} {
		if got := within(small, pages); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v ns at %v pages, want %v", got, pages, want)
		}
	}
	if got := within(small[2:3], 1000); got != 3 {
		t.Errorf("%v ns beyond a ladder of one point, want 3", got)
	}
	if got := translating(small, nil, 1000); got != 0 {
		t.Errorf("%v ns without a TLB", got)
	}
	if got := translating(nil, []int{64}, 1000); got != 0 {
		t.Errorf("%v ns that nobody measured", got)
	}
}

// takenApart is a machine whose huge pages, with which it was measured, take as many translations as small ones.
func takenApart() (m probe.Machine, alone map[int]float64) {
	m = probe.Machine{
		Levels: []probe.Level{
			{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1}},
			{Name: "L2", Capacity: 1 << 20, Speed: probe.Speed{Latency: 4}},
			{Name: "L3", Capacity: 16 << 20, Speed: probe.Speed{Latency: 15}}},
		Memory: probe.Speed{Latency: 100}, TLB: []probe.Reach{{Entries: 64, Miss: 2}, {Entries: 2048, Miss: 6, Apart: 3.2}},
		PageLadder: small, HugeLadder: small,
	}
	m.Simulated.TLB = []simcache.TLB{{Entries: 64, Ways: 64, Page: probe.PageSize()}, {Entries: 2048, Ways: 16, Page: probe.PageSize()}}
	alone, levels := map[int]float64{}, append([]probe.Level{}, m.Levels...)
	for _, l := range append(levels, probe.Level{Capacity: 256 << 20, Speed: m.Memory}) {
		if l.Capacity <= 16<<20 {
			m.Simulated.Levels = append(m.Simulated.Levels, simcache.Level{Geometry: simcache.Geometry{Size: l.Capacity, Ways: 16, Line: 64}})
		}
		from := 4 << 10
		if n := len(m.Ladder); n > 0 {
			from = 2 * m.Ladder[n-1].Size
		}
		for size := from; size <= l.Capacity; size *= 2 {
			alone[size] = l.Latency
			m.Ladder = append(m.Ladder, probe.Point{Size: size, Ns: l.Latency + translating(small, []int{64, 2048}, float64(size/probe.PageSize()))})
		}
	}
	for i := range m.Levels { // as found: of one of the points
		for _, p := range m.Ladder {
			if p.Size == m.Levels[i].Capacity/2 {
				m.Levels[i].Latency = p.Ns
			}
		}
	}
	m.Memory.Latency = m.Ladder[len(m.Ladder)-1].Ns
	return m, alone
}

// TestCachesAlone: what translations took of latencies that were measured where huge pages are taken apart is not taken for the caches', so
// that it is not counted twice; where it was not measured, latencies are as they are.
func TestCachesAlone(t *testing.T) {
	m, alone := takenApart()
	times := Measured(m)
	for _, p := range times.Ladder {
		if math.Abs(p.Ns-alone[p.Size]) > 1e-9 {
			t.Errorf("%v ns of %v, want %v", p.Ns, simcache.Bytes(p.Size), alone[p.Size])
		}
	}
	got := []float64{times.Hit, times.Levels[0].Latency, times.Levels[1].Latency, times.Levels[2].Latency}
	for i, want := range []float64{1, 4, 15, 100} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("level %d takes %v ns, want %v", i, got[i], want)
		}
	}
	for _, p := range m.Ladder { // which were measured so, and are predicted so
		chase, err := access.ChaseSpec(p.Size/64, 64).Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if p.Size > 32<<20 {
			break // that is enough, and takes long
		}
		predicted, err := Model{Times: times, Caches: m.Simulated}.Predict(chase)
		if ns := predicted.Ns / float64(len(chase.Ring)); err != nil || math.Abs(ns/p.Ns-1) > .01 {
			t.Errorf("a chase over %v is predicted with %v ns a load, of which its own measurement says %v (%v)", simcache.Bytes(p.Size), ns, p.Ns, err)
		}
	}
	unknown := m
	if unknown.Memory = (probe.Speed{}); cachesAlone(unknown).Memory != unknown.Memory {
		t.Errorf("memory that was not measured takes %v", cachesAlone(unknown).Memory)
	}
	m.HugeLadder = []probe.Point{{Size: 8, Ns: 1}, {Size: 128, Ns: 1e6}} // of another moment, or no machine's
	for i, p := range Measured(m).Ladder {
		if from := m.Ladder[i]; p.Ns < from.Ns*leastAlone || p.Ns > from.Ns {
			t.Errorf("%v ns of %v, measured with %v", p.Ns, simcache.Bytes(p.Size), from.Ns)
		}
	}
	m.HugeLadder = []probe.Point{{Size: 8, Ns: 1}, {Size: 8192, Ns: 1}}
	whole := Measured(m)
	m.HugeLadder = nil
	if unknown := Measured(m); fmt.Sprint(whole.Ladder, whole.Levels) != fmt.Sprint(m.Ladder, unknown.Levels) || fmt.Sprint(unknown.Ladder) != fmt.Sprint(m.Ladder) {
		t.Errorf("where huge pages are whole:\n%v\nwhere it is not known:\n%v", whole, unknown)
	}
}

// TestReached: a latency is that of the nearest point of those that the level serves, and the level before does not.
func TestReached(t *testing.T) {
	ladder := []probe.Point{{Size: 1 << 10, Ns: 1}, {Size: 2 << 10, Ns: 1.2}, {Size: 4 << 10, Ns: 5}, {Size: 8 << 10, Ns: 1.1}, {Size: 16 << 10, Ns: 1.1}}
	for _, c := range []struct {
		above, most int
		ns, want    float64
	}{{0, 1 << 20, 1, 1 << 10}, {1 << 10, 4 << 10, 1, 2 << 10}, {1 << 10, 8 << 10, 1, 8 << 10}, {2 << 10, 1 << 20, 1, 8 << 10}, {2 << 10, 4 << 10, 1, 4 << 10}, {16 << 10, 1 << 20, 1, 0}, {0, 512, 1, 0}} {
		if got := reached(ladder, c.above, c.most, c.ns); got != c.want {
			t.Errorf("%v ns between %d and %d B are those of %v B, want %v", c.ns, c.above, c.most, got, c.want)
		}
	}
}

// TestStreaming: of a stream that goes round over more than the TLB translates, a translation of each page is not taken for misses of
// the last level.
func TestStreaming(t *testing.T) {
	m, _ := takenApart()
	page := float64(probe.PageSize())
	for pages, want := range map[float64]float64{1024: 0, 2048: 0, 4096: 3.2, 1 << 20: 3.2, 2048 * math.Sqrt2: 1.6} {
		if got := streaming(m, pages*page) * page / line; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v ns of a page of %v, want %v", got, pages, want)
		}
	}
	for _, tlb := range [][]probe.Reach{nil, m.TLB[1:]} { // none, and one level
		want := 0.0
		if tlb != nil {
			want = 3.2
		}
		if got := streaming(probe.Machine{TLB: tlb, PageLadder: small, HugeLadder: small}, 4096*page) * page / line; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v ns of a page by a TLB of %d levels, want %v", got, len(tlb), want)
		}
	}
	const perNs = line * 1e9
	m.Levels[2].Read, m.Memory.Read = perNs, perNs/5
	m.ReadLadder = []probe.Reading{{Size: 8 << 20, Read: perNs}, {Size: 32 << 20, Read: perNs / (1 + 3.2*line/page)}}
	for _, p := range Measured(m).Passes {
		if got := p.Paces[0].Missing; got > 1e-9 {
			t.Errorf("%v of %v B are missed, where only translations are", got, p.Bytes)
		}
	}
	// Of two cores each with a last level of its own, each goes over as much, and they wait for translations at the same time.
	m.Threads, m.Simulated.Levels[2].SharedBy = 2, 1
	m.Levels[2].ReadAll, m.Memory.ReadAll = 2*perNs, perNs
	waits := 3.2 * line / page / 2
	m.ReadLadder = []probe.Reading{{Size: 8 << 20, Read: perNs, ReadAll: perNs / .6}, {Size: 16 << 20, Read: perNs, ReadAll: perNs / (.5 + waits)}}
	for i, want := range []float64{.1 / (.5 - waits), 0} {
		if got := Measured(m).Passes[i].Paces[0].Missing; math.Abs(got-want) > 1e-9 {
			t.Errorf("of %v each %v are missed by two cores, want %v", simcache.Bytes(m.ReadLadder[i].Size), got, want)
		}
	}
	m.HugeLadder = nil
	if got := streaming(m, math.Inf(1)); got != 0 {
		t.Errorf("%v ns, which were not measured", got)
	}
}
