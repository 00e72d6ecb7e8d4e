package cost

import (
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
)

// memory adds the cost of a nest's misses. It returns the ns of all misses, and of bursts, which
// the loop cannot hide.
func (m Model) memory(sum *Prediction, w Counted, p access.Pattern) (all, bursts float64) {
	rows := rowsOf(w.Nest, m.Caches.Levels[0].Line)
	visits := make([]visit, len(w.Nest.Operands))
	for r, op := range w.Nest.Operands {
		visits[r] = m.visit(p, w.Nest, op, rows)
	}
	pair, tiled := m.tiled(p, w.Nest, visits)
	for r, op := range w.Nest.Operands {
		if op.Tensor == access.Buffers {
			continue // body explains why
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

func here(misses []float64, i int) float64 {
	if i+1 < len(misses) {
		return max(misses[i]-misses[i+1], 0)
	}
	return max(misses[i], 0)
}

type visit struct {
	stride  Stride
	nest    nest.Nest
	op      nest.Operand
	vectors bool // its accesses are vectors
	asked   bool // the kernel prefetches lines
	past    bool // the kernel stores past the caches
	crowded bool // the lines share a conflict set of the first level
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

// leading returns about how many lines come in bursts. A level that evicts a line before its reuse
// misses it every time.
func (v visit) leading() float64 {
	if v.stride.burst == 0 || v.asked || v.stride.rows == 1 {
		return 0
	}
	lines := v.stride.fresh * float64(v.nest.Iterations()) / v.stride.every
	return (1 - v.stride.rows) * lines
}

func (v visit) written() bool { return v.op.Kind == nest.Write }

// line returns the ns of a line that level i misses and the next level hits.
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

// next returns the ns of a line adjacent to the one before, and the ns that writing adds. Loops
// over elements take the measured streams, and a copy half of one per line. If there are none, they
// take half of the vectors' copy: vectors read memory faster, but do not copy faster.
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

// apart returns the ns of a line that is not adjacent, in the same page and in another.
func (m Model) apart(v visit, i int) (near, far float64) {
	rules, from, s := m.rules(), m.serving(i), v.stride
	if v.asked {
		return from.Line, from.Line
	}
	window := rules.Window
	if v.written() { // a store waits for its line after it retired, so the CPU runs farther ahead
		window = rules.Pending
	}
	near, far = max(from.Line, from.Near), max(from.Line, from.Latency/rules.InFlight,
		from.Latency*s.every/window)
	if far = min(far, max(from.Latency, from.Line)); v.crowded {
		crowded := m.serving(0).Crowded // of one set; sets wait independently
		if v.written() {
			crowded = m.serving(0).CrowdedStore
		}
		far = max(far, m.lost(v)*crowded/m.beside(v))
	}
	return near, far
}

// mostAhead exceeds the iterations that any CPU looks ahead.
const mostAhead = 4096

// beside counts the conflict sets among the lines that the CPU has in flight at once.
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

// lost returns the share of lines in a conflict set that miss when they are reused. A policy that
// is not quite LRU keeps as many lines as the set has ways.
func (m Model) lost(v visit) float64 {
	if v.stride.burst == 0 || !m.has("lost") {
		return 1
	}
	first, l := m.Caches.Levels[0].Geometry, m.crowding(v.stride, v.nest, v.op)
	op := v.op
	op.Strides = op.Strides[l:]
	return 1 - room(op, v.nest.Trips[l:], first.Line, first.Sets(), first.Ways)/v.stride.burst
}
