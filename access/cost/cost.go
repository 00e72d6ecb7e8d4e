// Package cost predicts how long a pass over a pattern takes, from how often its
// operands miss and from what a hit and a miss cost on the machine.
//
// # The model
//
// The time of a nest is
//
//	(loop^overlap + (memory-bursts)^overlap)^(1/overlap) + bursts
//
// because the CPU runs ahead of what it waits for, but not entirely: the more alike loop and memory
// are, the more often does one wait for the other.
//
// loop is what the instructions take when all data is in the first level: a cost
// per iteration, which depends on what the loop does and on whether its elements
// are adjacent, as it was measured, and a cost for each start of an inner loop and of a nest.
//
// memory is the sum over all lines that an operand misses in one level and that
// the next level serves. The time of a line depends on where its address is
// relative to the line missed before:
//
//   - next to it (a stride of at most a line): the time of a line in a stream
//     from that level, because the prefetchers run ahead of it;
//   - a constant stride away, less than a page of 4 KiB, which no prefetcher
//     crosses: as such lines were measured;
//   - in another page: the latency of the level divided by the number of loads that CPUs have in
//     flight at once, or that fit in their window;
//   - with a stride that crowds what the inner loop touches into few sets of the first level: as was
//     measured in one set, by the number of sets.
//
// bursts is the part of memory that the loop does not hide: lines that the inner loop misses all at
// once, since the loop around it comes by the same again, of more rows than prefetchers follow.
// Each burst begins with a latency.
//
// A line that is written costs in addition what is left of a copy after two
// streams are subtracted, and little if the kernel stores past the caches. A miss
// of the TLB costs what was measured of loads that do not wait for each other.
//
// A pattern that several threads walk takes as long as the largest of its parts, by a
// thread that has an equal share of the last level, and of the bandwidth that all
// cores have together.
//
// The structure is that of Manegold, Boncz and Kersten ("Generic Database Cost
// Models for Hierarchical Memory Systems", VLDB 2002), who price sequential and
// random misses separately, and of the execution-cache-memory model (Treibig and
// Hager, 2009), which weighs the loop against the transfers. That the window
// limits how many misses overlap is from Karkhanis and Smith ("A First-Order
// Superscalar Processor Model", ISCA 2004).
//
// What differs between machines is in [Times], and measured. The rest is in
// [Rules], which scripts/fit fits to measured times (docs/advise.md says to which,
// and how accurate predictions are).
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

// Times are the figures of a machine that a prediction is made of.
type Times struct {
	Source string  // where they are from
	Hit    float64 // ns: latency of the first level
	Byte   float64 // ns a byte that vectors read in the first level

	// Busy is how many times as long a core takes in the first level while all Cores do as much:
	// where what counts as a core is a half of one, or clocks slow down.
	Busy  float64
	Cores int

	Levels []Level // what serves misses, the nearest first: the second level, ..., memory
	// Walks are the ns that a load takes longer if it misses a level of the TLB, the nearest first,
	// and Apart the same of loads that wait for no other.
	Walks, Apart []float64

	// Ladder is the latency of a chase by the bytes that it goes over: how much of a working set
	// that is a little too large a level serves all the same. It is nil where that is not known.
	Ladder   []probe.Point
	Loops    []probe.Loop   // what an element takes of operations' loops
	Streamed []probe.Stream // what loops over elements of 8 bytes take of memory
	Tiles    []probe.Tile   // what copies of a transposed matrix in memory take by tiles
}

// Level is what serves the misses of the level before it.
type Level struct {
	Name     string
	Capacity float64 // bytes; infinite for memory
	Latency  float64 // ns of a load that depends on the one before
	Line     float64 // ns a line of a stream that is read
	Stored   float64 // ns that a line of a stream takes longer if it is written
	Past     float64 // ns of a line that is stored past the caches, of memory

	// LineAll, StoredAll and PastAll are Line, Stored and Past where all cores stream together:
	// how far apart lines are, whichever core they go to. They are 0 if nobody has to share.
	LineAll, StoredAll, PastAll float64

	// ns of a line that is some lines from the one before, of loads that wait for no other
	Near float64

	// Crowded and CrowdedStore are ns of a line that is read, or written, in a set of the first
	// level which does not hold what the inner loop touches of it; of the second level.
	// They are 0 where they were not measured.
	Crowded, CrowdedStore float64
}

// Rough reports whether the times are generic, so that errors that were found on
// measured machines say nothing of them.
func (t Times) Rough() bool { return strings.HasPrefix(t.Source, "generic: ") }

// Unmeasured is why a machine has generic times that can have its own.
const Unmeasured = "bench machine --measure has not measured this machine"

// Generic are the times of a machine that was not measured: those of a virtual
// machine on an AMD EPYC 7003, rounded, which are not far from other servers'.
// Why they are taken is the caller's to say, who knows what was looked for:
// "FILE was not measured". It becomes part of their source.
func Generic(why string) Times {
	return Times{
		Source: "generic: " + why,
		Hit:    1.25,
		Byte:   .005,
		Levels: []Level{
			{Name: "L2", Capacity: 512 << 10, Latency: 4, Line: .6, Near: .6, Crowded: 3,
				CrowdedStore: 3.2},
			// All cores have as much as eight alone, and of memory as four.
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

// line is the bytes of a line that bandwidths are converted with.
const line = 64

// Measured are the times of a machine that was. What it does not tell is
// generic, in proportion to what it does.
func Measured(m probe.Machine) Times {
	t := Generic("")
	t.Source = "measured " + m.Date.Format("2006-01-02")
	if m.CPU != "" { // which a file may be of that is not the one that runs
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
	if memory.Latency == 0 { // no working set went past the caches
		memory.Latency = known[2].Latency
	}
	t.Levels = append(t.Levels, known[2].measured("memory", math.Inf(1), alone(memory, m.Threads)))
	for i, r := range m.TLB[:min(len(m.TLB), len(t.Walks))] {
		t.Apart[i] = cmp.Or(r.Apart, r.Miss*t.Apart[i]/t.Walks[i])
		t.Walks[i] = r.Miss
	}
	return t
}

// alone is the speed of a core that nobody disturbs: not below its share of what all cores were
// measured to have together, at another moment.
func alone(s probe.Speed, threads int) probe.Speed {
	if n := probe.Bandwidth(threads); n > 1 {
		s.Read, s.Copy = max(s.Read, s.ReadAll/n), max(s.Copy, s.CopyAll/n)
	}
	return s
}

// measured is a generic level with what was measured of one.
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
	if s.Copy > 0 { // one that stores past the caches tells nothing of stores that do not
		l.Stored = max(l.Stored, 2*perLine(s.Copy)-2*l.Line)
		l.Past = max(l.Past/leastPast, 2*perLine(s.Copy)-l.Line)
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

// leastPast is by how much less than the generic share of a read line a line stored past the
// caches may seem to take, of a copy that was measured at another moment than the sum.
const leastPast = 4

// serving is what serves the misses of level i of so many that are simulated:
// memory after the last, else the level that is nearest in size.
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

// missing is the share of what goes round over so many bytes that level i was measured to miss,
// where LRU would miss all or nothing: replacement is not quite LRU, and others use a shared level
// now more, now less.
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

// mostOver is by how much a working set may be too large for a level and still be served in part.
const mostOver = 3

// at is the time of a ladder at a size between two of its points.
func at(ladder []probe.Point, size float64) (ns float64, known bool) {
	k := sort.Search(len(ladder), func(k int) bool { return float64(ladder[k].Size) >= size })
	if k == 0 || k == len(ladder) {
		return 0, false
	}
	below, above := ladder[k-1], ladder[k]
	part := math.Log(size/float64(below.Size)) / math.Log(float64(above.Size)/float64(below.Size))
	return below.Ns + part*(above.Ns-below.Ns), true
}

// Brief says in a line for people what is predicted: for which caches, by how many threads if
// several, with times from where.
func (m Model) Brief() string {
	var levels []string
	for _, l := range m.Caches.Levels {
		levels = append(levels, fmt.Sprintf("%s %s", l.Name, simcache.Bytes(l.Size)))
	}
	on := strings.Join(levels, ", ")
	if m.Threads > 1 {
		on += fmt.Sprintf(", by %d threads", m.Threads)
	}
	source, _, _ := strings.Cut(m.Times.Source, ";") // of kernels it says nothing
	return fmt.Sprintf("%s; times %s", on, source)
}

// String states what is priced, for the head of a results file.
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
