package cost

import (
	"math"
	"sort"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A Pass is the share of its lines that the last level was measured to miss in passes over a little more, or less, than it serves, which came
// again as soon as streams can.
type Pass struct {
	Bytes float64 // of each of the last levels
	Paces []Pace  // the fastest first
}

// A Pace is what passes miss of which a line takes so long.
type Pace struct {
	Ns      float64 // from one line to the next, whichever core it goes to
	Missing float64 // a share
}

// passesOf are the passes of a measured machine's ladder of reads, by all cores and by one, and of its ladder of latencies at the same sizes.
func passesOf(m probe.Machine) (passes []Pass) {
	if m.Memory.Read == 0 {
		return nil
	}
	last := m.Levels[len(m.Levels)-1]
	if last.Read == 0 {
		return nil
	}
	streams := func(read, threads, bytes float64) float64 { return line/read*1e9 - streaming(m, bytes/threads)/threads }
	for _, r := range m.ReadLadder {
		p := Pass{Bytes: float64(r.Size)}
		if r.ReadAll > 0 && last.ReadAll > last.Read && m.Memory.ReadAll > 0 {
			here, memory := streams(r.ReadAll, float64(m.Threads), p.Bytes*lasts(m)), streams(m.Memory.ReadAll, float64(m.Threads), math.Inf(1))
			p.Paces = append(p.Paces, Pace{line / r.ReadAll * 1e9 * lasts(m), between(here, line/last.ReadAll*1e9, memory)})
		}
		p.Paces = append(p.Paces, Pace{line / r.Read * 1e9, between(streams(r.Read, 1, p.Bytes), line/last.Read*1e9, streams(m.Memory.Read, 1, math.Inf(1)))})
		if ns, known := at(m.Ladder, p.Bytes); known {
			p.Paces = append(p.Paces, Pace{ns, between(ns, last.Latency, m.Memory.Latency)})
		}
		passes = append(passes, p)
	}
	return passes
}

// lasts is how many last levels all cores have together.
func lasts(m probe.Machine) float64 {
	levels := m.Simulated.Levels
	if len(levels) == 0 || levels[len(levels)-1].SharedBy == 0 {
		return 1
	}
	return max(1, float64(m.Threads)/float64(levels[len(levels)-1].SharedBy))
}

// between is where a value lies from one that it has where nothing is missed to one where all is.
func between(v, none, all float64) float64 { return min(1, max(0, (v-none)/max(all-none, 1e-12))) }

// missing is the share that is missed at a pace: in between it grows with the pace's logarithm.
func (p Pass) missing(ns float64) float64 {
	k := sort.Search(len(p.Paces), func(k int) bool { return p.Paces[k].Ns >= ns })
	if k == 0 || k == len(p.Paces) {
		return p.Paces[min(k, len(p.Paces)-1)].Missing
	}
	below, above := p.Paces[k-1], p.Paces[k]
	return below.Missing + math.Log(ns/below.Ns)/math.Log(above.Ns/below.Ns)*(above.Missing-below.Missing)
}

// passing is the share of what goes round over so many bytes that the last level was measured to miss, at a pace.
func (t Times) passing(bytes, ns float64) (share float64, known bool) {
	k := sort.Search(len(t.Passes), func(k int) bool { return t.Passes[k].Bytes >= bytes })
	if k == 0 || k == len(t.Passes) {
		return 0, false
	}
	below, above := t.Passes[k-1], t.Passes[k]
	part := math.Log(bytes/below.Bytes) / math.Log(above.Bytes/below.Bytes)
	return below.missing(ns) + part*(above.missing(ns)-below.missing(ns)), true
}

// An again is a pass over a pattern that comes again and again.
type again struct {
	Model
	lines   float64 // that it touches
	written float64 // the share of them that it writes; not what goes past the caches
	pace    float64 // ns from one line that reaches the last level to the next, of all threads that share it
	asked   bool    // since the pace was set
}

// again is a pass that is as slow as can be.
func (m Model) again(p access.Pattern) *again {
	a := &again{Model: m, pace: math.Inf(1)}
	written := 0.0
	for _, n := range p.Nests {
		for _, op := range n.Operands {
			if op.Tensor == access.Buffers {
				continue
			}
			lines := op.Lines(n.Trips, line)
			if a.lines += lines; op.Kind != nest.Read && !p.PastCaches() {
				written += lines
			}
		}
	}
	a.lines = max(a.lines, 1)
	a.written = written / a.lines
	return a
}

// dirty and dirtySoon are by how much more of a shared last level a line that is written takes than one that is read, about: of that level the
// ladders, of latencies and of reads, show what it serves, and copies of as much find less there. On a Zen 4 a chase over 16 MiB was served by it, and
// copies by tiles of 15 MiB took as long as those of 150; those that stream find as much as sums do.
const dirty, dirtySoon = .5, 1.5

// missing is the share of what comes again after so many bytes that level i was measured to miss, at the pace of the pass.
func (a *again) missing(i int, bytes float64) (share float64, known bool) {
	if i >= simulated(a.Caches.Levels) && len(a.Times.Passes) > 0 {
		if share, known := a.Times.passing(a.whole(i, bytes)*(1+dirtySoon*a.written), a.pace); known {
			a.asked = true
			return share, true
		}
	}
	return a.measuredShare(i, bytes, 1+dirty*a.written)
}

// paced sets the pace to that of a pass that is predicted so, and tells whether it counts, and is another than before.
func (a *again) paced(p Prediction) bool {
	before, lines := a.pace, a.lines
	if i := len(a.Caches.Levels) - 2; i >= 0 {
		lines = max(lines, p.Missed(i)) // each time that one comes again
	}
	a.pace = p.Ns / lines / float64(max(a.sharers, 1))
	another := a.asked && math.Abs(a.pace/before-1) > enough
	a.asked = false
	return another
}

// A pass is counted anew until its pace is enough like the one before, mostRounds times at most.
const enough, mostRounds = .02, 4
