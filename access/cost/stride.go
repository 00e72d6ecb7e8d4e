package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A Stride is what the address of a line that an operand touches is to that of
// the one before: shares of its lines, which sum up to 1.
type Stride struct {
	Next float64 // beside it
	Near float64 // less than a page off; of long steps within a page in part, the rest is Far
	Far  float64 // in another page

	every float64 // iterations from one that is not beside to the next
	loop  int     // that makes the steps; -1 for none
	// lines that are touched before the same ones come again for a while, 0 where others follow
	burst float64
	fresh float64 // share of the lines that are touched which did not come again, of bursts
	rows  float64 // share of them in few rows of adjacent lines by turns, which prefetchers follow
}

// mostRows is how many streams prefetchers follow at once, about: sums of runs of rows by turns
// begin to take longer from 16 rows on, of a Zen 4, and the streamer of Intel's second levels has
// 32, two a page.
const mostRows = 16

// samePage is what no prefetcher crosses, whatever the page size in force.
const samePage = 4096

func abs(stride int) int { return max(stride, -stride) }

// strideOf looks at the innermost loop that moves the operand, and, where that
// steps from line to line, at the loop that begins the next run of lines; rows are rowsOf the nest.
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

// nearness is the share of steps that are as near ones, of so many bytes: prefetchers follow long
// steps less far.
func nearness(step int) float64 {
	if step <= probe.NearStep {
		return 1
	}
	return max(0, math.Log(samePage/float64(step))/math.Log(samePage/probe.NearStep))
}

// runs is the stride of an operand that loop l moves from element to element of a run of lines.
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

// bursts sets how many lines the loop that steps touches in a burst, if the loop around it comes by
// the same, or most of them, again; at how many of its iterations others follow; and whether it
// goes on so for a page.
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

// trained is from how many lines on prefetchers see a stream in a run, about.
const trained = 3

// followed is the bytes after which a row of runs of so many ends, if prefetchers follow it: if the
// next run of the row begins where this one ended, and so few rows of all operands take turns that
// prefetchers follow all.
func followed(n nest.Nest, op nest.Operand, rows []int, run, line int) int {
	reach := run
	for l := len(n.Trips) - 1; l >= 0 && rows[l+1] <= mostRows; l-- {
		if s := abs(op.Strides[l]); s <= reach+line && s+op.Width > run {
			reach += (n.Trips[l] - 1) * s
		}
	}
	return reach
}

// adjacent is the bytes that lie side by side, with gaps of less than a line, of what the operand
// touches in the loops from l on.
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

// rowsOf are how many rows of adjacent lines all operands have in the loops from each one on, and
// in none.
func rowsOf(n nest.Nest, line int) []int {
	sums := make([]int, len(n.Trips)+1)
	for _, op := range n.Operands {
		for l := range sums {
			count, reach := 1, adjacent(n, op, l, line)
			for k := l; k < len(n.Trips); k++ {
				if s := abs(op.Strides[k]); s > reach {
					// steps within a page are one
					count *= min(n.Trips[k], (n.Trips[k]*s+samePage-1)/samePage)
				}
			}
			sums[l] += count
		}
	}
	return sums
}

// crowding is the innermost loop of which a round falls into sets of the first level that do not
// hold it, of the loop that steps and those around it; -1 if none does. Of the one that steps a few
// lines may fit, and still come again only when others took their place.
func (m Model) crowding(s Stride, n nest.Nest, op nest.Operand) int {
	level := m.Caches.Levels[0].Geometry
	for l := s.loop; l >= 0; l-- {
		trips := n.Trips[l:]
		of := op
		of.Strides = op.Strides[l:]
		room := room(of, trips, level.Line, level.Sets(), level.Ways)
		if room < float64(level.Sets()*level.Ways) && of.Lines(trips, level.Line) > room {
			return l
		}
	}
	return -1
}
