package cost

import (
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
)

// memory adds what the misses of a nest take, and returns all of it, and how much comes in bursts
// that the loop cannot hide.
func (m Model) memory(sum *Prediction, w Counted, p access.Pattern) (all, bursts float64) {
	rows := rowsOf(w.Nest, m.Caches.Levels[0].Line)
	visits := make([]visit, len(w.Nest.Operands))
	for r, op := range w.Nest.Operands {
		visits[r] = m.visit(p, w.Nest, op, rows)
	}
	pair, tiled := m.tiled(p, w.Nest, visits)
	for r, op := range w.Nest.Operands {
		if op.Tensor == access.Buffers {
			continue // see body
		}
		v, t := visits[r], sum.tensor(op.Tensor, m.Caches)
		if refs := float64(w.Nest.Iterations()); refs > t.Refs {
			t.Stride = v.stride
		}
		t.Refs += float64(w.Nest.Iterations())
		for i, missed := range w.Misses[r].Levels {
			t.Levels[i] += missed
			each, served := m.line(v, i), here(w.Misses[r].Levels, i)
			leading := min(served, v.leading())
			if tiled && i == len(m.Caches.Levels)-1 {
				each, leading = pair/2, 0
			}
			lead := max(0, m.serving(i).Latency-each) / max(v.stride.burst, 1)
			ns := served*each + leading*lead
			t.Lines[i] += ns
			all += ns
			bursts += leading * lead
		}
		for i, missed := range w.Misses[r].TLB {
			t.TLB[i] += missed
			ns := here(w.Misses[r].TLB, i) * m.Times.Apart[min(i, len(m.Times.Apart)-1)]
			t.Walks += ns
			all += ns
		}
	}
	sum.Memory += all
	return all, min(bursts, all)
}

// here is how many of the misses of level i the next one has, of those of all levels.
func here(misses []float64, i int) float64 {
	if i+1 < len(misses) {
		return max(misses[i]-misses[i+1], 0)
	}
	return max(misses[i], 0)
}

// A visit is how an operand of a nest goes from line to line.
type visit struct {
	stride  Stride
	nest    nest.Nest
	op      nest.Operand
	vectors bool // its accesses are of vectors
	asked   bool // and of a kernel that asks for lines ahead
	past    bool // what it writes is stored past the caches
	crowded bool // its lines crowd sets of the first level
}

func (m Model) visit(p access.Pattern, n nest.Nest, op nest.Operand, rows []int) visit {
	s := m.strideOf(n, op, rows)
	if m.inVectors(n) {
		s.every *= float64(op.Width) / vectorBytes
	}
	asked := op.Width > p.Spec.DType.Size()
	crowded := m.serving(0).Crowded > 0 && m.crowding(s, n, op) >= 0
	if crowded {
		s.rows = 0
	}
	return visit{s, n, op, asked || m.inVectors(n), asked, p.PastCaches(), crowded}
}

// leading is how many lines come in bursts at most, about: what a level loses before it comes
// again, it misses all the time.
func (v visit) leading() float64 {
	if v.stride.burst == 0 || v.asked || v.stride.rows == 1 {
		return 0
	}
	lines := v.stride.fresh * float64(v.nest.Iterations()) / v.stride.every
	return (1 - v.stride.rows) * lines
}

// written tells whether the lines are.
func (v visit) written() bool { return v.op.Kind == nest.Write }

// line is the ns of one line that level i misses and the next one has.
func (m Model) line(v visit, i int) float64 {
	if v.written() && v.past && i == len(m.Caches.Levels)-1 {
		return m.serving(i).Past
	}
	next, stored := m.next(v, i)
	near, far := m.apart(v, i)
	near, far = near+v.stride.rows*(next-near), far+v.stride.rows*(next-far)
	ns := v.stride.Next*next + v.stride.Near*max(near, next) + v.stride.Far*max(far, next)
	if v.written() {
		ns += stored
	}
	return ns
}

// next is the ns of a line beside the one before it, and by how much longer it takes if it is
// written. The sum and the copy that were measured are of vectors, which read memory faster than
// loops over elements do, but do not copy faster: these take what was measured of them, of copies a
// half for each line, or else a half of the copy by vectors.
func (m Model) next(v visit, i int) (next, stored float64) {
	from := m.serving(i)
	if i < len(m.Caches.Levels)-1 || v.vectors {
		return from.Line, from.Stored
	}
	op, lines := access.Copy, 2.0
	switch {
	case reads(v.nest) == len(v.nest.Operands):
		op, lines = access.Sum, 1
	case reads(v.nest) == 0:
		op, lines = access.Fill, 1
	}
	if !m.has("loops-stream") {
		return from.Line, from.Stored
	}
	for _, s := range m.Times.Streamed {
		if s.Op == op.String() {
			return s.Ns / lines, 0
		}
	}
	return from.Line + from.Stored/2, 0
}

// apart is the ns of a line that is not beside the one before it, in the same page and in another.
func (m Model) apart(v visit, i int) (near, far float64) {
	rules, from, s := m.rules(), m.serving(i), v.stride
	if v.asked {
		return from.Line, from.Line
	}
	window := rules.Window
	if v.written() { // it waits for its line after it retired, so that the CPU is farther ahead
		window = rules.Pending
	}
	near, far = max(from.Line, from.Near), max(from.Line, from.Latency/rules.InFlight,
		from.Latency*s.every/window)
	if far = min(far, max(from.Latency, from.Line)); v.crowded {
		crowded := m.serving(0).Crowded // of one set; of several each waits for itself alone
		if v.written() {
			crowded = m.serving(0).CrowdedStore
		}
		far = max(far, m.lost(v)*crowded/m.beside(v))
	}
	return near, far
}

// mostAhead is more iterations than any CPU looks ahead.
const mostAhead = 4096

// beside is in how many sets lines are in flight beside one another that crowd them: those of as
// many iterations as the CPU looks ahead.
func (m Model) beside(v visit) float64 {
	if !m.has("sets-beside") {
		return 1
	}
	first, ahead := m.Caches.Levels[0].Geometry, min(m.rules().Window, mostAhead)
	for l := len(v.nest.Trips) - 1; l > v.stride.loop; l-- {
		ahead /= float64(v.nest.Trips[l])
	}
	places, taken, count := make([]int, 1, 64), make([]bool, first.Sets()), 0.0
	for l := v.stride.loop; l >= 0 && float64(len(places)) < ahead; l-- {
		rounds := min(float64(v.nest.Trips[l]), math.Ceil(ahead/float64(len(places))))
		for i := range len(places) * (int(rounds) - 1) {
			places = append(places, places[i]+v.op.Strides[l])
		}
	}
	for _, at := range places {
		if set := (at/first.Line%first.Sets() + first.Sets()) % first.Sets(); !taken[set] {
			taken[set] = true
			count++
		}
	}
	return count
}

// lost is the share of crowded lines that are missed where the same ones come again: a policy that
// is not quite LRU keeps as many as a set has room for.
func (m Model) lost(v visit) float64 {
	if v.stride.burst == 0 || !m.has("lost") {
		return 1
	}
	first, l := m.Caches.Levels[0].Geometry, m.crowding(v.stride, v.nest, v.op)
	op := v.op
	op.Strides = op.Strides[l:]
	return 1 - room(op, v.nest.Trips[l:], first.Line, first.Sets(), first.Ways)/v.stride.burst
}
