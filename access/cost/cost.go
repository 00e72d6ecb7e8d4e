// Package cost is the program's own and promises nothing. It predicts how long a pass over a
// pattern takes. It prices the misses of each operand with the times of hits and misses that were
// measured on the machine.
//
// # The model
//
// The time of a nest is
//
//	(loop^overlap + (memory-bursts)^overlap)^(1/overlap) + bursts
//
// The CPU overlaps loop and memory, but not entirely. The closer the two times are, the more often
// one waits for the other.
//
// loop is the time of the instructions when all data is in the first level. It has a measured cost
// per iteration, which depends on the operation and on whether elements are adjacent. Each start of
// an inner loop and of a nest adds a cost.
//
// memory is the sum over all lines that an operand misses in one level and hits in the next. The
// time of a line depends on its distance from the line missed before:
//
//   - at most a line: the time of a line in a stream, because prefetchers run ahead;
//   - a constant stride of less than 4 KiB, a page that no prefetcher crosses: as measured;
//   - another page: the latency of the level, divided by the loads that the CPU has in flight or
//     that fit in its window;
//   - a stride that maps the inner loop's lines to a conflict set: as measured in one set of the
//     first level, divided by the number of sets.
//
// bursts is the part of memory that the loop does not hide. The inner loop misses these lines all
// at once, because the loop around it returns to them and they form more rows than prefetchers
// follow. Each burst begins with a latency.
//
// A written line adds the difference between a copy and two streams. It adds little if the kernel
// stores past the caches. A TLB miss costs the measured time of independent loads.
//
// A pattern of several threads takes the time of its largest part. Each thread has an equal share
// of the last level and of the bandwidth of all cores together.
//
// Sources: Manegold, Boncz and Kersten ("Generic Database Cost Models for Hierarchical Memory
// Systems", VLDB 2002) price sequential and random misses separately. The execution-cache-memory
// model (Treibig and Hager, 2009) weighs the loop against the transfers. Karkhanis and Smith ("A
// First-Order Superscalar Processor Model", ISCA 2004) limit overlapping misses by the window.
//
// [Times] holds what differs between machines, and is measured. [Rules] holds the rest, which
// scripts/fit fits to measured times. docs/advise.md lists these and the accuracy of predictions.
package cost

import (
	"cmp"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
)

// Times are the times of a machine.
type Times struct {
	Source string
	Hit    float64 // ns: latency of the first level
	Byte   float64 // ns per byte that vectors read in the first level

	// Busy is the slowdown of a core in the first level while all Cores are busy, by hyperthreads
	// or lower clocks.
	Busy  float64
	Cores int

	Levels []Level // caches from the second level on, then memory
	// Walks are the ns that a miss of each TLB level adds to a dependent load, the nearest level
	// first. Apart is the same for independent loads.
	Walks, Apart []float64

	// Ladder is the latency of a pointer chase by working set (see missing); nil if unknown.
	Ladder   []probe.Point
	Loops    []probe.Loop   // ns per element of each operation's loop
	Streamed []probe.Stream // ns per line of memory in loops over elements of 8 bytes
	Tiles    []probe.Tile   // ns per line of copies of a transposed matrix in memory, by tile
}

// Level is a level that serves the misses of the level before it.
type Level struct {
	Name     string
	Capacity float64 // bytes; infinite for memory
	Latency  float64 // ns of a dependent load
	Line     float64 // ns per line of a stream that is read
	Stored   float64 // ns that writing adds to a line of a stream
	Past     float64 // ns of a line stored past the caches, to memory

	// LineAll, StoredAll and PastAll are Line, Stored and Past while all cores stream together, in
	// ns between any two lines. They are 0 if the level is not shared.
	LineAll, StoredAll, PastAll float64

	// ns of independent loads, for a line a few lines from the one before
	Near float64

	// Crowded and CrowdedStore are ns per line of a conflict set of the first level (see
	// probe.Speed). They are 0 if not measured.
	Crowded, CrowdedStore float64
}

// Rough reports whether the times are generic. Errors found on measured machines do not apply then.
func (t Times) Rough() bool { return strings.HasPrefix(t.Source, "generic: ") }

// Unmeasured is the reason for generic times on a machine that can be measured.
const Unmeasured = "bench machine --measure has not measured this machine"

// Generic returns the times of an unmeasured machine. They are rounded from a virtual machine on an
// AMD EPYC 7003 and are close to other servers'. The source quotes why, such as "FILE was not
// measured".
func Generic(why string) Times {
	return Times{
		Source: "generic: " + why,
		Hit:    1.25,
		Byte:   .005,
		Levels: []Level{
			{Name: "L2", Capacity: 512 << 10, Latency: 4, Line: .6, Near: .6, Crowded: 3,
				CrowdedStore: 3.2},
			// All cores together have eight times one core's bandwidth, and four times in memory.
			{Name: "L3", Capacity: 16 << 20, Latency: 16, Line: 1, Stored: .1,
				LineAll: .12, StoredAll: .01, Near: 1},
			{Name: "memory", Capacity: math.Inf(1), Latency: 120, Line: 2.6, Stored: .8, Past: .8,
				LineAll: .65, StoredAll: .2, PastAll: .2, Near: 7},
		},
		Walks: []float64{2, 40},
		Apart: []float64{.25, 4.5},
		Loops: []probe.Loop{
			{Op: "sum", DType: "int32", Run: .26, Step: .44},
			{Op: "sum", DType: "float32", Run: .41, Step: .69},
			{Op: "sum", DType: "float16", Run: 1.25, Step: 1.25},
			{Op: "sum", DType: "bfloat16", Run: .81, Step: .81},
			{Op: "fill", DType: "int32", Run: .34, Step: .45},
			{Op: "copy", DType: "int32", Run: .34, Step: .83},
			{Op: "add", DType: "int32", Run: .74, Step: .74},
			{Op: "add", DType: "float16", Run: 3, Step: 3},
			{Op: "add", DType: "bfloat16", Run: 2.4, Step: 2.4},
		},
	}
}

const line = 64

// Measured returns the times of a measured machine. Missing figures are generic, scaled to the
// measured ones.
func Measured(m probe.Machine) Times {
	t := Generic("")
	t.Source = "measured " + m.Date.Format("2006-01-02")
	if m.CPU != "" { // a file's CPU may differ from the one that runs
		t.Source += " on " + m.CPU
	}
	first, slower := m.Levels[0], m.Levels[0].Latency/t.Hit
	for i := range t.Loops {
		t.Loops[i].Run, t.Loops[i].Step = slower*t.Loops[i].Run, slower*t.Loops[i].Step
	}
	if len(m.Loops) > 0 {
		t.Loops = m.Loops
	}
	t.Hit, t.Ladder, t.Tiles, t.Streamed = first.Latency, m.Ladder, m.Tiles, m.Streamed
	if first.Read > 0 {
		t.Byte = float64(1 / first.Read)
		if first.ReadAll > 0 && !first.Disturbed(m.Threads) {
			t.Busy, t.Cores = max(1, float64(m.Threads)*float64(first.Read/first.ReadAll)),
				m.Threads
		}
	}
	known := t.Levels
	t.Levels = nil
	for i, l := range m.Levels[1:] {
		t.Levels = append(t.Levels, known[min(i, 1)].measured(l.Name, float64(l.Capacity),
			alone(l.Speed, m.Threads)))
	}
	memory := m.Memory
	if memory.Latency == 0 { // no working set exceeded the caches
		memory.Latency = known[2].Latency
	}
	t.Levels = append(t.Levels, known[2].measured("memory", math.Inf(1), alone(memory, m.Threads)))
	for i, r := range m.TLB[:min(len(m.TLB), len(t.Walks))] {
		t.Apart[i] = cmp.Or(r.Apart, r.Miss*t.Apart[i]/t.Walks[i])
		t.Walks[i] = r.Miss
	}
	return t
}

// alone returns the speed of a core that runs alone. All cores together are measured at another
// moment, so the speed is at least a core's share of theirs.
func alone(s probe.Speed, threads int) probe.Speed {
	if n := probe.Bandwidth(threads); n > 1 {
		s.Read, s.Copy = max(s.Read, s.ReadAll/n), max(s.Copy, s.CopyAll/n)
	}
	return s
}

func (l Level) measured(name string, capacity float64, s probe.Speed) Level {
	generic := l
	l.Name, l.Capacity, l.Latency = name, capacity, s.Latency
	perLine := func(b probe.Bandwidth) float64 { return line / float64(b) }
	if s.Read > 0 {
		l.Line = perLine(s.Read)
	}
	for _, v := range []*float64{&l.Stored, &l.Past, &l.LineAll, &l.StoredAll,
		&l.PastAll, &l.Near} {
		*v *= l.Line / generic.Line
	}
	if s.Near > 0 {
		l.Near = s.Near
	}
	l.Crowded, l.CrowdedStore = s.Crowded, s.CrowdedStore
	if s.Copy > 0 { // a copy past the caches does not show the time of plain stores
		l.Stored = max(l.Stored, 2*perLine(s.Copy)-2*l.Line)
		l.Past = max(0, 2*perLine(s.Copy)-l.Line)
	}
	if s.ReadAll > 0 {
		l.LineAll, l.StoredAll, l.PastAll = perLine(s.ReadAll), 0, 0
	}
	if s.CopyAll > 0 {
		l.StoredAll = max(0, 2*perLine(s.CopyAll)-2*l.LineAll)
		l.PastAll = max(0, 2*perLine(s.CopyAll)-l.LineAll)
	}
	return l
}

// serving returns the level that serves misses of simulated level i: memory after the last, else
// the level nearest in size.
func (t Times) serving(c simcache.Config, i int) Level {
	last := len(t.Levels) - 1
	if i == len(c.Levels)-1 || last == 0 {
		return t.Levels[last]
	}
	size := float64(c.Levels[i+1].Size)
	best := t.Levels[0]
	for _, l := range t.Levels[1:last] {
		if math.Abs(math.Log(l.Capacity/size)) < math.Abs(math.Log(best.Capacity/size)) {
			best = l
		}
	}
	return best
}

// missing returns the share of cyclic accesses over a working set that level i was measured to
// miss. LRU would miss all or none, but replacement is not quite LRU, and others use a shared
// level.
func (m Model) missing(i int, bytes float64) (share float64, known bool) {
	ladder, bytes := m.Times.Ladder, m.whole(i, bytes)
	ns, known := at(ladder, bytes)
	if !known || bytes > m.whole(i, mostOver*float64(m.Caches.Levels[i].Size)) {
		return 0, false
	}
	here := m.Times.Hit
	if i > 0 {
		here = m.serving(i - 1).Latency
	}
	return min(1, max(0, (ns-here)/max(m.serving(i).Latency-here, 1e-12))), true
}

// mostOver is the factor by which a working set may exceed a level and still partly hit.
const mostOver = 3

func at(ladder []probe.Point, size float64) (ns float64, known bool) {
	k := sort.Search(len(ladder), func(k int) bool { return float64(ladder[k].Size) >= size })
	if k == 0 || k == len(ladder) {
		return 0, false
	}
	below, above := ladder[k-1], ladder[k]
	part := math.Log(size/float64(below.Size)) / math.Log(float64(above.Size)/float64(below.Size))
	return below.Ns + part*(above.Ns-below.Ns), true
}

// Brief returns a line for people: the caches, the number of threads if several, and the source of
// the times.
func (m Model) Brief() string {
	var levels []string
	for _, l := range m.Caches.Levels {
		levels = append(levels, fmt.Sprintf("%s %s", l.Name, simcache.Bytes(l.Size)))
	}
	on := strings.Join(levels, ", ")
	if m.Threads > 1 {
		on += fmt.Sprintf(", by %d threads", m.Threads)
	}
	source, _, _ := strings.Cut(m.Times.Source, ";") // without the part about kernels
	return fmt.Sprintf("%s; times %s", on, source)
}

// String returns the priced machine and caches, for the head of a results file.
func (m Model) String() string {
	text := fmt.Sprintf("%s; hit %.3g ns", m.Times.Source, m.Times.Hit)
	for _, l := range m.Times.Levels {
		text += fmt.Sprintf(", %s %.3g ns or %.3g a line of a stream and %.3g more if written "+
			"and %.3g near",
			l.Name, l.Latency, l.Line, l.Stored, l.Near)
		if l.Crowded > 0 { // of the second level
			text += fmt.Sprintf(", crowded %.3g or %.3g if written", l.Crowded, l.CrowdedStore)
		}
		if m.Threads > 1 {
			text += fmt.Sprintf(" (%.3g and %.3g to all cores)", l.LineAll, l.StoredAll)
		}
	}
	for i, w := range m.Times.Walks {
		text += fmt.Sprintf(", TLB %d miss %.3g ns", i+1, w)
		text += fmt.Sprintf(" or %.3g far", m.Times.Apart[i])
	}
	text += "; levels"
	for _, l := range m.Caches.Levels {
		text += " " + l.Geometry.String()
	}
	if m.Threads > 1 {
		text += fmt.Sprintf("; %d threads", m.Threads)
	}
	return text
}
