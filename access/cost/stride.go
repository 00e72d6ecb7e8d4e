package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Stride is what the address of a line that an operand touches is to that of
// the one before: shares of its lines, which sum up to 1.
type Stride struct {
	Next float64 // beside it
	Near float64 // less than a page off; of long steps within a page in part, the rest is Far
	Far  float64 // in another page

	every float64 // iterations from one that is not beside to the next
	loop  int     // that makes the steps; -1 for none
	// jump is the bytes from one that is not beside to the next, 0 where none is known, and
	// around how many there are until the loop begins anew.
	jump   int
	around float64
	burst  float64 // lines that are touched before the same ones come again for a while, 0 where others follow
	rows   float64 // share of them in few rows of adjacent lines by turns, which prefetchers follow
	fresh  float64 // share of the lines that are touched which did not come again, of bursts
	step   int     // bytes from one element of a run of lines to the next
	run    float64 // lines that are adjacent until the next jump, 0 where none is known
	goesOn bool    // a loop outside goes on where the run, or the steps of the loop, ended
}

// mostRows is how many streams prefetchers follow at once, about: sums of runs of rows by turns begin to take
// longer from 16 rows on, of a Zen 4, and the streamer of Intel's second levels has 32, two a page.
const mostRows = 16

// samePage is what no prefetcher crosses, whatever the page size in force.
const samePage = 4096

func abs(stride int) int { return max(stride, -stride) }

// strideOf looks at the innermost loop that moves the operand, and, where that
// steps from line to line, at the loop that begins the next run of lines; rows are rowsOf the nest.
func strideOf(n nest.Nest, op nest.Operand, rows []int, line int) Stride {
	l, every := len(n.Trips)-1, 1.0
	for ; l >= 0 && op.Strides[l] == 0; l-- {
		every *= float64(n.Trips[l])
	}
	if l < 0 {
		return Stride{Next: 1, every: every, loop: l}
	}
	stride := abs(op.Strides[l])
	if stride > line {
		s := Stride{Near: 1, every: every, loop: l, jump: stride, around: float64(n.Trips[l])}
		if stride > probe.NearStep { // in between, by its logarithm: prefetchers follow long steps less far
			s.Near = max(0, math.Log(samePage/float64(stride))/math.Log(samePage/probe.NearStep))
			s.Far = 1 - s.Near
		}
		s.goesOn = l > 0 && abs(op.Strides[l-1]) == stride*n.Trips[l]
		s.bursts(n, op, line)
		if rows[l] > mostRows {
			s.rows = 0
		}
		return s
	}
	run, jump, around := op.Width+(n.Trips[l]-1)*stride, 0, 0.0
	for o := l - 1; o >= 0; o-- {
		s := abs(op.Strides[o])
		if s > run+line {
			jump, around = s, float64(n.Trips[o])
			break
		}
		run += (n.Trips[o] - 1) * s
	}
	reach := followed(n, op, rows, run, line)
	starts := min(1, float64(line)/float64(reach))
	t := Stride{Next: 1 - starts, Far: starts, every: every * float64(reach) / float64(stride), loop: -1, jump: jump, around: around, step: stride}
	switch {
	case jump == 0:
	case jump-run < 2*line: // prefetchers go on over the gap
		t.Near, t.Far = starts, 0
	default:
		t.run = max(1, float64(reach)/float64(line))
		t.goesOn = reach == run && slices.ContainsFunc(op.Strides[:l], func(s int) bool { return abs(abs(s)-run) <= line })
	}
	return t
}

// bursts sets how many lines the loop that steps touches in a burst, if the loop around it comes by the same, or most of
// them, again; at how many of its iterations others follow; and whether it goes on so for a page.
func (s *Stride) bursts(n nest.Nest, op nest.Operand, line int) {
	o := s.loop - 1
	if o < 0 {
		return
	}
	around := abs(op.Strides[o])
	if around < line {
		s.burst, s.fresh = s.around, max(float64(around)/float64(line), 1/float64(n.Trips[o]))
		reach := n.Trips[o] * around
		for o--; o >= 0 && abs(op.Strides[o]) < reach+2*line; o-- {
			reach += (n.Trips[o] - 1) * abs(op.Strides[o])
		}
		if s.rows = 1; reach < samePage {
			s.rows = max(0, 1-trained*float64(line)/float64(reach))
		}
	}
}

// lead is what a line of a burst takes beyond each ns, since it begins with a latency that no line before it hides; and how
// much of what it takes the loop does not hide, whose instructions the CPU looks ahead at for so many ns.
func (s Stride) lead(each, latency, ahead float64) (lead, alone float64) {
	if s.burst == 0 {
		return 0, 0
	}
	lead = max(0, latency-each) / s.burst
	return lead, max(0, each+lead-ahead/s.burst)
}

// followed is the bytes after which a row of runs of so many ends, if prefetchers follow it: if the next run of the
// row begins where this one ended, and so few rows of all operands take turns that prefetchers follow all.
func followed(n nest.Nest, op nest.Operand, rows []int, run, line int) int {
	reach := run
	for l := len(n.Trips) - 1; l >= 0 && rows[l+1] <= mostRows; l-- {
		if s := abs(op.Strides[l]); s <= reach+line && s+op.Width > run {
			reach += (n.Trips[l] - 1) * s
		}
	}
	return reach
}

// adjacent is the bytes that lie side by side, with gaps of less than a line, of what the operand touches in the
// loops from l on.
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

// rowsOf are how many rows of adjacent lines all operands have in the loops from each one on, and in none.
func rowsOf(n nest.Nest, line int) []int {
	sums := make([]int, len(n.Trips)+1)
	for _, op := range n.Operands {
		for l := range sums {
			count, reach := 1, adjacent(n, op, l, line)
			for k := l; k < len(n.Trips); k++ {
				if s := abs(op.Strides[k]); s > reach {
					count *= min(n.Trips[k], (n.Trips[k]*s+samePage-1)/samePage) // steps within a page are one
				}
			}
			sums[l] += count
		}
	}
	return sums
}

// trained is from how many lines on prefetchers see a stream in a run, and overshot how many
// they bring beyond its end, about: on EPYCs rows walked in steps of 256 B by eights take twice
// as long a line as long ones, by sixteens half as much again.
const trained, overshot = 3, 8

// resumes tells whether a run begins with lines that prefetchers brought when they went on
// beyond the end of another, and which are in a cache still: rows that lie whole pages
// apart share its sets, which do not hold what comes meanwhile.
func (s Stride) resumes() bool {
	return s.goesOn && s.run >= trained && s.run <= overshot && s.jump%samePage != 0
}

// wasted is by how much more lines come than are touched, since prefetchers go on with
// the steps of a short loop beyond its end, within a page.
func (s Stride) wasted() float64 {
	if s.loop < 0 || s.Near < 1 || s.goesOn {
		return 1
	}
	return 1 + overshot/s.around
}

// slower is by how much fewer jumps are in flight because instructions between
// them fill a window of so many iterations.
func (s Stride) slower(rules *Rules, window float64) float64 {
	return max(1, s.every*rules.InFlight/2/window)
}

// crowds is that of level i, if it is one whose sets are simulated.
func (m Model) crowds(s Stride, n nest.Nest, op nest.Operand, i int) bool {
	return i < simulated(m.Caches.Levels) && s.crowds(n, op, placed(m.Caches.Levels[i].Geometry, m.Caches.TLB))
}

// crowds tells whether one round of the loop that steps, or of one around it, falls into sets of the
// level that do not hold it.
func (s Stride) crowds(n nest.Nest, op nest.Operand, level simcache.Geometry) bool {
	return s.crowding(n, op, level) >= 0
}

// crowding is the innermost loop of which a round does, of the one that steps and those around it; -1 if none does. Of the
// one that steps a few lines may fit, and still come again only when others took their place.
func (s Stride) crowding(n nest.Nest, op nest.Operand, level simcache.Geometry) int {
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

// reached is how many sets of the level a round falls into that does not fit.
func (s Stride) reached(n nest.Nest, op nest.Operand, level simcache.Geometry) float64 {
	l := s.crowding(n, op, level)
	op.Strides = op.Strides[l:]
	return float64(op.Sets(n.Trips[l:], level.Line, level.Sets()))
}
