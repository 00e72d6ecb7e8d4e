package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// A Stride is the distance between successive lines of an operand, as shares of its lines. The
// shares sum to 1.
type Stride struct {
	Next float64 // adjacent
	Near float64 // less than a page; a long step within a page counts partly as Far
	Far  float64 // another page

	every float64 // iterations between lines that are not adjacent
	loop  int     // the loop that steps; -1 for none
	// lines in a round before the same lines are reused; 0 if other lines follow
	burst float64
	fresh float64 // share of burst lines that are new in a round
	rows  float64 // share of burst lines in a few interleaved streams, which prefetchers follow
}

// mostRows is about how many streams prefetchers follow at once. On a Zen 4, sums of interleaved
// rows slow down from 16 rows on. The streamer of Intel's second levels follows 32, two per page.
const mostRows = 16

// samePage is the bytes that no prefetcher crosses, whatever the page size in force.
const samePage = 4096

func abs(stride int) int { return max(stride, -stride) }

// strideOf returns the stride of the innermost loop that moves the operand. rows is rowsOf(n).
func (m Model) strideOf(n nest.Nest, op nest.Operand, rows []int) Stride {
	line, l, every := m.Caches.Levels[0].Line, len(n.Trips)-1, 1.0
	for ; l >= 0 && op.Strides[l] == 0; l-- {
		every *= float64(n.Trips[l])
	}
	if l < 0 {
		return Stride{Next: 1, every: every, loop: l}
	}
	if stride := abs(op.Strides[l]); stride <= line {
		return m.runs(n, op, rows, l, every)
	}
	s := Stride{every: every, loop: l}
	s.Near = nearness(abs(op.Strides[l]))
	s.Far = 1 - s.Near
	if m.has("bursts") {
		s.bursts(n, op, line)
	}
	if rows[l] > mostRows || !m.has("rows") {
		s.rows = 0
	}
	return s
}

// nearness returns the share of steps that count as Near, by bytes. Prefetchers follow long steps
// less far.
func nearness(step int) float64 {
	if step <= probe.NearStep {
		return 1
	}
	return max(0, math.Log(samePage/float64(step))/math.Log(samePage/probe.NearStep))
}

// runs returns the stride of an operand that loop l moves along a run of adjacent lines.
func (m Model) runs(n nest.Nest, op nest.Operand, rows []int, l int, every float64) Stride {
	line, stride := m.Caches.Levels[0].Line, abs(op.Strides[l])
	run := op.Width + (n.Trips[l]-1)*stride
	for o := l - 1; o >= 0 && abs(op.Strides[o]) <= run; o-- {
		run += (n.Trips[o] - 1) * abs(op.Strides[o])
	}
	if m.has("rows") {
		run = followed(n, op, rows, run, line)
	}
	starts := min(1, float64(line)/float64(run))
	every *= float64(run) / float64(stride)
	return Stride{Next: 1 - starts, Far: starts, every: every, loop: -1}
}

// bursts sets the burst of the stepping loop, if the loop around it reuses most of its lines. It
// also sets the share of new lines, and the share in streams that stay within a page.
func (s *Stride) bursts(n nest.Nest, op nest.Operand, line int) {
	o := s.loop - 1
	if o < 0 {
		return
	}
	around := abs(op.Strides[o])
	if around >= line {
		return
	}
	s.burst = float64(n.Trips[s.loop])
	s.fresh = max(float64(around)/float64(line), 1/float64(n.Trips[o]))
	reach := n.Trips[o] * around
	for o--; o >= 0 && abs(op.Strides[o]) < reach+2*line; o-- {
		reach += (n.Trips[o] - 1) * abs(op.Strides[o])
	}
	if s.rows = 1; reach < samePage {
		s.rows = max(0, 1-trained*float64(line)/float64(reach))
	}
}

// trained is about how many lines train a prefetcher.
const trained = 4

// followed returns the bytes of a row of adjacent runs that prefetchers follow as one stream. All
// operands together must interleave few enough rows.
func followed(n nest.Nest, op nest.Operand, rows []int, run, line int) int {
	reach := run
	for l := len(n.Trips) - 1; l >= 0 && rows[l+1] <= mostRows; l-- {
		if s := abs(op.Strides[l]); s <= reach+line && s+op.Width > run {
			reach += (n.Trips[l] - 1) * s
		}
	}
	return reach
}

// adjacent returns the bytes of a piece that the operand touches in the loops from l on, without
// holes of a line.
func adjacent(n nest.Nest, op nest.Operand, l, line int) int {
	loops := make([]int, 0, len(n.Trips))
	for k := l; k < len(n.Trips); k++ {
		loops = append(loops, k)
	}
	step := func(k int) int { return abs(op.Strides[k]) }
	slices.SortFunc(loops, func(a, b int) int { return step(a) - step(b) })
	reach := op.Width
	for _, k := range loops {
		if step(k) > reach+line {
			break
		}
		reach += (n.Trips[k] - 1) * step(k)
	}
	return reach
}

// rowsOf counts all operands' rows of adjacent lines in the loops from each loop on, and in none.
func rowsOf(n nest.Nest, line int) []int {
	sums := make([]int, len(n.Trips)+1)
	for _, op := range n.Operands {
		for l := range sums {
			count, reach := 1, adjacent(n, op, l, line)
			for k := l; k < len(n.Trips); k++ {
				if s := abs(op.Strides[k]); s > reach {
					// steps within a page count as one row
					count *= min(n.Trips[k], (n.Trips[k]*s+samePage-1)/samePage)
				}
			}
			sums[l] += count
		}
	}
	return sums
}

// crowding returns the innermost loop, from the stepping loop outward, that touches more lines than
// their conflict sets hold, or -1. The stepping loop's own lines may fit and still be evicted
// before their reuse.
func (m Model) crowding(s Stride, n nest.Nest, op nest.Operand) int {
	level := m.Caches.Levels[0].Geometry
	for l := s.loop; l >= 0; l-- {
		trips := n.Trips[l:]
		of := op
		of.Strides = op.Strides[l:]
		room := room(of, trips, level.Line, level.Sets(), level.Ways)
		if room < float64(level.Sets()*level.Ways) && touched.Lines(of, trips, level.Line) > room {
			return l
		}
	}
	return -1
}
