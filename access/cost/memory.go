package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
)

// memory adds what the misses of a nest take, and returns all of it, how much comes in bursts that the loop
// cannot hide, and the share that streams.
func (m Model) memory(sum *Prediction, w Counted, p access.Pattern) (all, bursts, streams float64) {
	rows := rowsOf(w.Nest, m.Caches.Levels[0].Line)
	ahead := m.rules().Window * m.hit() * m.body(p, w.Nest)
	visits := make([]visit, len(w.Nest.Operands))
	for r, op := range w.Nest.Operands {
		visits[r] = m.visit(p, w.Nest, op, rows)
	}
	pair, tiled := m.tiled(p, w.Nest, visits)
	for r, op := range w.Nest.Operands {
		if op.Tensor == access.Buffers {
			continue // see body
		}
		v := visits[r]
		t := sum.tensor(op.Tensor, m.Caches)
		if refs := float64(w.Nest.Iterations()); refs > t.Refs {
			t.Stride = v.stride
		}
		t.Refs += float64(w.Nest.Iterations())
		lines, walks := 0.0, 0.0
		for i, missed := range w.Misses[r].Levels {
			t.Levels[i] += missed
			each, beside, served := m.line(v, i), m.besideLine(v, i), here(w.Misses[r].Levels, i)
			lead, alone := v.stride.lead(each, m.serving(i).Latency, ahead)
			leading := min(served, v.leading())
			if tiled && i >= simulated(m.Caches.Levels)-1 {
				each, beside, leading = m.tiledLine(pair, i), 0, 0
			}
			begin, _ := m.begins(v, i)
			begin *= served * v.stride.Far
			ns := served*each + leading*lead + begin
			t.Lines[i] += ns
			streams += served * min(beside, each)
			lines += ns
			bursts += leading*alone + begin
		}
		for i, missed := range w.Misses[r].TLB {
			t.TLB[i] += missed
			walks += here(w.Misses[r].TLB, i) * m.walk(v.stride, i)
		}
		both := together(lines, walks, m.rules().Walked) // of one address is walked for while lines of others are on their way
		t.Walks += both - lines
		all += both
	}
	sum.Memory += all
	return all, min(bursts, all), min(1, streams/max(all, 1e-9))
}

// here is how many of the misses of level i the next one has, of those of all levels.
func here(misses []float64, i int) float64 {
	if i+1 < len(misses) {
		return max(misses[i]-misses[i+1], 0)
	}
	return max(misses[i], 0)
}

// translations is how many pages a line of the page tables translates.
const translations = 64 / 8

// walk is the ns of one miss of level i of the TLB.
func (m Model) walk(s Stride, i int) float64 {
	rules, t := m.rules(), m.Times
	alone := t.Walks[min(i, len(t.Walks)-1)]
	if i >= len(t.Apart) || t.Apart[i] == 0 {
		return alone / max(1, rules.Walks/s.slower(rules, rules.Window))
	}
	page := float64(m.Caches.TLB[i].Page)
	scattered := min(1, max(0, float64(s.jump)/page-1)/(translations-1))
	// A round touches so many lines, of the tensor, of the page tables, and under a hypervisor of
	// its tables. What of these does not stay in the second level was measured as scattered.
	second := m.Caches.Levels[min(1, len(m.Caches.Levels)-1)]
	lines := s.around * (1 + 2*min(1, float64(s.jump)/page/translations))
	scattered *= min(1, lines*float64(second.Line)/float64(second.Size))
	ns := t.Apart[i] + scattered*max(0, t.Scattered[i]-t.Apart[i])
	return min(max(alone, ns), ns*s.slower(rules, rules.Window))
}

// A visit is how an operand of a nest goes from line to line.
type visit struct {
	stride  Stride
	nest    nest.Nest
	op      nest.Operand
	vectors bool // its accesses are of vectors
	asked   bool // and of a kernel that asks for lines ahead
	past    bool // what it writes is stored past the caches
	crowded bool // its lines crowd sets of the first level, and what that takes was measured
}

func (m Model) visit(p access.Pattern, n nest.Nest, op nest.Operand, rows []int) visit {
	s := strideOf(n, op, rows, m.Caches.Levels[0].Line)
	if m.inVectors(n) {
		s.every *= float64(op.Width) / vectorBytes
	}
	asked := op.Width > p.Spec.DType.Size()
	return visit{s, n, op, asked || m.inVectors(n), asked, p.PastCaches(), m.serving(0).Crowded > 0 && m.crowds(s, n, op, 0)}
}

// leading is how many lines come in bursts at most, about: what a level loses before it comes again, it misses all the time.
func (v visit) leading() float64 {
	if v.stride.burst == 0 || v.asked || v.followed() == 1 {
		return 0
	}
	return (1 - v.followed()) * 2 * v.stride.fresh * float64(v.nest.Iterations()) / v.stride.every
}

// followed is the share of its lines that prefetchers bring as they follow rows.
func (v visit) followed() float64 {
	if v.crowded {
		return 0
	}
	return v.stride.rows
}

// written tells whether the lines are.
func (v visit) written() bool { return v.op.Kind == nest.Write }

// line is the ns of one line that level i misses and the next one has.
func (m Model) line(v visit, i int) float64 {
	memory := i == len(m.Caches.Levels)-1
	if v.written() && v.past && memory {
		return m.serving(i).Past * m.rules().Past
	}
	next, stored := m.next(v, i)
	near, far := m.apart(v, i)
	if _, known := m.begins(v, i); known {
		far = next
	}
	near, far = near+v.followed()*(next-near), far+v.followed()*(next-far)
	if j := float64(v.stride.jump) / line; v.stride.Near == 1 && j < 2 {
		near = min(near, next*j)
	}
	ns := m.besideLine(v, i) + v.stride.Near*max(near, next) + v.stride.Far*max(far, next)
	if r := m.Times.run(v.stride.run); memory && !v.vectors && r > 0 { // which was measured of loops over elements
		if ns = max(ns, r); !v.written() && v.stride.resumes() {
			ns = max(next, r)
		}
	}
	if v.written() && !(v.crowded && i == 0) {
		ns += stored
	}
	return ns
}

// next is the ns of a line beside the one before it, and by how much longer it takes if it is written.
func (m Model) next(v visit, i int) (next, stored float64) {
	from := m.serving(i)
	if i < len(m.Caches.Levels)-1 || v.vectors {
		return from.Line, from.Stored
	}
	// The sum and the copy that were measured are of vectors, which read memory faster than
	// loops over elements do, but do not copy faster: these take a half of the copy for each line.
	next = from.Line + from.Stored/2
	if writes(v.nest) {
		next = m.streams(v.nest, next)
	}
	return next, 0
}

// besideLine is how much of the ns of a line is of those that are beside the one before them.
func (m Model) besideLine(v visit, i int) float64 {
	next, _ := m.next(v, i)
	return v.stride.Next * max(next, m.streamed(v, i, next))
}

// streams is the ns of a line of memory beside the one before it, of a loop over elements that writes some: as was measured of
// fills, and of copies a half for each line; or of one that is known to take so many where that was not measured.
func (m Model) streams(n nest.Nest, ns float64) float64 {
	op, lines := access.Copy, 2.0
	if reads(n) == 0 {
		op, lines = access.Fill, 1
	}
	if s, known := m.Times.stream(op); known {
		return s / lines
	}
	return ns
}

// stream is the ns of a line of a loop that streams.
func (t Times) stream(op access.Op) (ns float64, known bool) {
	i := slices.IndexFunc(t.Streamed, func(s probe.Stream) bool { return s.Op == op })
	if i < 0 {
		return 0, false
	}
	return t.Streamed[i].Ns, true
}

// streamed is the ns of a line of memory beside the one before it that a loop over elements sums, where that was measured, by
// one that takes so much of vectors; else 0. It grows with the logarithm of the elements in a line: of an Emerald Rapids it is
// 4.6, 6.4, 7.7, 8.7 and 10.7 ns of 1, 2, 4, 8 and 16.
func (m Model) streamed(v visit, i int, next float64) float64 {
	ns, known := m.Times.stream(access.Sum)
	if i < len(m.Caches.Levels)-1 || v.vectors || !known || v.stride.step == 0 || writes(v.nest) {
		return 0
	}
	doublings := math.Log2(min(line/float64(v.stride.step), 16)) // of more the loop takes longer
	return next + doublings/math.Log2(line/8)*(ns-next)
}

// resumed is the share of what a run takes to begin that is left where it soon goes on where another ended, beyond which prefetchers
// went: on a Zen 4 0.3 to 0.7 in sixty-four rows by turns, of 16 and 32 lines and elements of 2 to 8 bytes.
const resumed = .5

// begins is the ns that a run of lines that is read takes longer for its first ones, which no prefetcher brings and no loop
// hides, by the bytes of its elements: as was measured of memory, of a nearer level in proportion to its latency. It is not
// known where runs are shorter than what prefetchers see a stream in, or so short that all of one that soon goes on was brought.
func (m Model) begins(v visit, i int) (ns float64, known bool) {
	s := v.stride
	second := m.Caches.Levels[min(1, len(m.Caches.Levels)-1)]
	soon := s.goesOn && s.around*(s.run+overshot)*float64(second.Line) <= float64(second.Size) // while what was brought is there
	if len(m.Times.Starts) == 0 || s.Far == 0 || s.loop >= 0 || s.run <= trained || soon && s.run <= overshot || v.vectors || v.written() || v.crowded {
		return 0, false
	}
	ns = within(m.Times.Starts, float64(s.step)) * m.serving(i).Latency / m.Times.Levels[len(m.Times.Levels)-1].Latency
	if soon {
		ns *= resumed
	}
	return ns, true
}

// run is the ns of each line of memory in runs of so many lines, 0 if that was not measured or they are none.
func (t Times) run(lines float64) float64 {
	if len(t.Runs) == 0 || lines == 0 {
		return 0
	}
	i := slices.IndexFunc(t.Runs, func(r probe.Run) bool { return float64(r.Lines) >= lines })
	above := t.Runs[max(i, 0)]
	switch {
	case i < 0: // longer than all
		last := t.Runs[len(t.Runs)-1]
		return last.Ns / float64(last.Lines)
	case i == 0:
		return above.Ns / float64(above.Lines)
	}
	below := t.Runs[i-1]
	part := (lines - float64(below.Lines)) / float64(above.Lines-below.Lines)
	return (below.Ns + part*(above.Ns-below.Ns)) / lines
}

// apart is the ns of a line that is not beside the one before it, in the same page and in another.
func (m Model) apart(v visit, i int) (near, far float64) {
	rules, from, s := m.rules(), m.serving(i), v.stride
	near = from.Line
	if i == len(m.Caches.Levels)-1 {
		near *= rules.Pairs
	}
	inFlight := rules.InFlight
	if from.Far > 0 {
		near, inFlight = max(from.Line, from.Near), max(1, from.Latency/from.Far)
	}
	near *= s.wasted()
	if v.asked {
		asked := from.Line * rules.Asked
		return min(near, asked), asked
	}
	if s.loop < 0 { // no prefetcher foresees where the next run begins
		inFlight = min(inFlight, rules.InFlight)
	}
	if !(v.crowded && i == 0) && m.crowds(s, v.nest, v.op, i) {
		inFlight = min(inFlight, rules.Crowded)
	}
	load, store := from.Line, from.Line
	if v.crowded {
		second, sets, lost := m.serving(0), m.beside(v), m.lost(v)
		load = max(load, lost*byTurns(second.Crowded, second.Beside, sets))
		store = max(store, lost*byTurns(second.CrowdedStore, second.BesideStore, sets))
	}
	if !v.written() {
		loads := inFlight / s.slower(rules, rules.Window)
		if s.run > 0 && s.run < trained && writes(v.nest) { // those behind stores wait for a place in their queue
			loads = min(loads, rules.Queue/s.every)
		}
		return near, max(load, from.Latency/max(1, loads))
	}
	// A store waits for its line after it retired, so that the CPU is farther ahead; but it retires
	// behind the loads before it, and stores leave in order.
	far = max(from.Line, from.Latency/max(1, inFlight/s.slower(rules, rules.Pending)))
	if reads(v.nest) > 0 {
		near, far = near*rules.Stores, far*rules.Stores
	}
	return near, max(far, store)
}

// byTurns is the ns of a crowded line of so many sets by turns, if it takes so many of one and of [probe.Beside] sets: that
// of one by their number if each set waits for itself alone, which is what is taken where the second was not measured. On
// an Emerald Rapids loads of sixteen sets take what those of one do.
func byTurns(one, beside, sets float64) float64 {
	if beside == 0 {
		return one / sets
	}
	return one / math.Pow(sets, min(1, max(0, math.Log(one/beside)/math.Log(probe.Beside))))
}

// mostAhead is more iterations than any CPU looks ahead.
const mostAhead = 4096

// beside is in how many sets lines are in flight beside one another that crowd them: those of as many iterations as the CPU looks ahead.
func (m Model) beside(v visit) float64 {
	first, ahead := placed(m.Caches.Levels[0].Geometry, m.Caches.TLB), min(m.rules().Window, mostAhead)
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

// lost is the share of crowded lines that are missed where the same ones come again: a policy that is not quite LRU keeps as
// many as a set has room for.
func (m Model) lost(v visit) float64 {
	if v.stride.burst == 0 {
		return 1
	}
	first := placed(m.Caches.Levels[0].Geometry, m.Caches.TLB)
	return 1 - v.stride.reached(v.nest, v.op, first)*float64(first.Ways)/v.stride.burst
}
