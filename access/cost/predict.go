package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Model is a machine's times and the caches that are simulated.
type Model struct {
	Times  Times
	Caches simcache.Config // of which sizes, ways and lines count, all LRU
	// Window is the number of accesses up to which a nest is simulated whole (see
	// Count), at least LeastWindow; 0 is DefaultWindow. A smaller one is faster, and
	// what it counts says less of large nests.
	Window int
	Rules  *Rules // what is alike on all machines; nil for those that scripts/fit found
	// Vectors says that loops are those of PyTorch, whatever the kernel of the pattern:
	// in vectors of 32 bytes where elements lie side by side, and what a C++ compiler
	// makes of them elsewhere.
	Vectors bool
	// Threads is how many threads are to share each pattern that is made to be priced,
	// such as those of a bill; 0 is one. Prices go by the parts of a pattern.
	Threads int

	// Of one thread of several, see among: how many have a portion of the last level each,
	// which is what Caches have, and the levels as they are.
	sharers int
	levels  []simcache.Level
}

// A Prediction is what a pass over a pattern takes.
type Prediction struct {
	Ns           float64
	Loop, Memory float64 // ns of each, were there no other
	Tensors      []Tensor
}

// A Tensor is what the accesses to one tensor cost.
type Tensor struct {
	Name   string
	Refs   float64
	Levels []float64 // misses of each level of the caches
	TLB    []float64 // and of the TLB
	Lines  []float64 // ns for the lines that each level missed and the next one had
	Walks  float64   // ns for the misses of the TLB
	Stride Stride    // of the larger part of its lines
}

// Ns is all that a tensor costs beyond the loop.
func (t Tensor) Ns() float64 {
	sum := t.Walks
	for _, ns := range t.Lines {
		sum += ns
	}
	return sum
}

// Missed is how often all tensors missed level i.
func (p Prediction) Missed(i int) float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		sum += t.Levels[i]
	}
	return sum
}

// Walked is how often all tensors missed the last level of the TLB.
func (p Prediction) Walked() float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		if last := len(t.TLB) - 1; last >= 0 {
			sum += t.TLB[last]
		}
	}
	return sum
}

// Predict simulates a pass over the pattern in the steady state and prices it.
func (m Model) Predict(p access.Pattern) (Prediction, error) {
	if p.Ring != nil && len(m.Caches.Levels) > 0 {
		return m.chase(p), nil
	}
	if p.Parts() != nil {
		return m.shared(p)
	}
	walks, err := m.Count(p)
	if err != nil {
		return Prediction{}, err
	}
	return m.Price(p, walks), nil
}

// Count counts what a pass over the pattern misses, for Price: its nests, walked one
// after the other, in the steady state, on caches of the model's sizes, ways and
// lines, all LRU.
//
// Nests of more accesses than a window are not walked whole. Of the outermost
// loop of which enough iterations fit in the window, some are walked to warm the
// caches and as many more are counted, in multiples of what it takes until every
// operand starts a line anew; they speak for all iterations. What the loops
// around it find again, and what the pass finds of the pass before, follows from
// footprints: lines are found again in a level if one round of the loop touches
// no more lines than the level has room for, as under LRU; less what a level was
// measured to serve of working sets that are a little too large.
//
// The last of three or more levels counts by footprint alone: its sets are
// chosen by a hash of the address on the CPUs that have one (Maurice et al.,
// "Reverse Engineering Intel Last-Level Cache Complex Addressing", RAID 2015), so
// that it has no sets that a stride could crowd.
func (m Model) Count(p access.Pattern) ([]Counted, error) {
	c := cachesOf(m.Caches)
	if m.Window > 0 {
		c.window = max(m.Window, LeastWindow)
	}
	walks, err := c.count(p.Nests)
	if err != nil {
		return nil, err
	}
	return m.served(walks), nil
}

// served are the misses of walks of which a level serves some, though LRU would not, where
// a pass misses each of its lines about once, since it goes over more than the level has; and of
// which it does not serve some, though LRU would, where a pass nearly fills it.
func (m Model) served(walks []Counted) []Counted {
	if m.Times.Ladder == nil {
		return walks
	}
	for i, l := range m.Caches.Levels {
		lines, room, missed := 0.0, 0.0, 0.0
		for _, w := range walks {
			lines += footprint(w.Nest, l.Line)
			room = max(room, m.roomiest(w.Nest, i))
			for _, r := range w.Misses {
				missed += r.Levels[i]
			}
		}
		share, known := m.measuredShare(i, lines/room*float64(l.Size))
		if !known {
			continue
		}
		for _, w := range walks {
			for k, r := range w.Misses {
				switch {
				case lines > room && missed <= onceEach*lines:
					r.Levels[i] *= share
				case lines <= room && i > 0: // of what comes again in the next pass
					op := w.Nest.Operands[k]
					r.Levels[i] = max(r.Levels[i], share*min(r.Levels[i-1], op.Lines(w.Nest.Trips, l.Line)))
				}
			}
		}
	}
	return walks
}

// roomiest is how many lines of level i there are for the operand that reaches most of its sets.
func (m Model) roomiest(n nest.Nest, i int) (most float64) {
	l := placed(m.Caches.Levels[i].Geometry, m.Caches.TLB)
	if i >= simulated(m.Caches.Levels) { // its sets follow from a hash
		return float64(l.Sets() * l.Ways)
	}
	for _, op := range n.Operands {
		most = max(most, room(op, n.Trips, l.Line, l.Sets(), l.Ways))
	}
	return most
}

// onceEach is how often a line is missed at most that is missed once, about.
const onceEach = 1.05

// chase is what a pointer chase takes: the latency of the first level that has
// all its lines, and of the translation, since no load begins before the one
// before it is done. A ring that is longer than a level misses it at every step,
// as under LRU.
func (m Model) chase(p access.Pattern) Prediction {
	var sum Prediction
	steps := float64(len(p.Ring))
	sum.Loop = steps * m.Times.Hit
	t := sum.tensor("x", m.Caches)
	t.Refs, t.Stride = steps, Stride{Far: 1, loop: -1}
	at, size := m.Times.Hit, p.Spec.DType.Size()
	counts := map[int]int{} // by size of a block
	touched := func(block int) int {
		if _, known := counts[block]; !known {
			counts[block] = distinct(p.Ring, size, block)
		}
		return counts[block]
	}
	for i, l := range m.Caches.Levels {
		if lines := touched(l.Line); lines > l.Size/l.Line {
			from := m.serving(i)
			t.Levels[i] = steps * m.missing(i, float64(lines*l.Line))
			t.Lines[i] = t.Levels[i] * max(from.Latency-at, 0)
			at = max(at, from.Latency)
		}
	}
	for i, l := range m.Caches.TLB {
		if touched(l.Page) > l.Entries {
			t.TLB[i] = steps
			t.Walks = steps * m.Times.Walks[min(i, len(m.Times.Walks)-1)]
		}
	}
	sum.Memory = t.Ns()
	sum.Ns = sum.Loop + sum.Memory
	return sum
}

// distinct is how many blocks elements of so many bytes at these places touch.
func distinct(places []uint32, size, block int) int {
	seen := make([]bool, int(slices.Max(places))*size/block+1)
	count := 0
	for _, at := range places {
		if b := int(at) * size / block; !seen[b] {
			seen[b] = true
			count++
		}
	}
	return count
}

// Price is what walks of the pattern's nests take that missed so often.
func (m Model) Price(p access.Pattern, walks []Counted) Prediction {
	var sum Prediction
	rules := m.rules()
	for _, w := range walks {
		loop, before := m.loop(p, w.Nest), sum.Memory
		m.memory(&sum, w, p)
		memory := sum.Memory - before
		sum.Loop += loop
		sum.Ns += max(loop, memory) + rules.Exposed*min(loop, memory)
	}
	return sum
}

// loop is what the instructions of a nest take. A sum adds up what it summed in parts behind each
// row, and walks its nests with less ado than others do, which call a function with each block.
func (m Model) loop(p access.Pattern, n nest.Nest) float64 {
	iterations := float64(n.Iterations())
	if iterations == 0 {
		return 0
	}
	rules, inner, blocks := m.rules(), len(n.Trips)-1, iterations
	starts := iterations
	if inner >= 0 {
		starts /= float64(n.Trips[inner])
	}
	if blocks = starts; inner >= 1 {
		blocks /= float64(n.Trips[inner-1])
	}
	row, walk := rules.Row, rules.Walk
	if p.Spec.Op == access.Sum {
		row, walk = rules.SumRow, rules.SumWalk
	}
	return m.Times.Hit * (iterations*m.body(p, n) + starts*row + blocks*rules.Block + walk)
}

// body is an iteration.
func (m Model) body(p access.Pattern, n nest.Nest) float64 {
	rules, inner, beside, vectors, accesses, bytes := m.rules(), len(n.Trips)-1, true, false, 0.0, 0.0
	for _, op := range n.Operands {
		if op.Tensor == access.Buffers {
			continue // its accesses are in the price of those that they serve
		}
		accesses++
		bytes += float64(op.Width)
		beside = beside && (inner < 0 || op.Strides[inner] == op.Width)
		vectors = vectors || op.Width > p.Spec.DType.Size()
	}
	switch {
	case m.inVectors(n):
		return float64(moving(n)) * rules.Vector * m.Times.Byte / m.Times.Hit
	case m.Vectors:
		return accesses * rules.Compiled
	case vectors && accesses > 2:
		return accesses * rules.Tile
	case vectors:
		return bytes * rules.Vector * m.Times.Byte / m.Times.Hit
	}
	run, step := rules.Add, rules.Add
	op := p.Spec.Op
	if op == access.Add && reads(n) == 1 { // nothing is added to it
		op = access.Copy
	}
	switch op {
	case access.Add:
		switch p.Spec.DType {
		case layouts.Float16:
			return rules.HalfAdd
		case layouts.BFloat16:
			return rules.BFloatAdd
		}
	case access.Sum:
		switch p.Spec.DType {
		case layouts.Float16:
			return rules.HalfSum
		case layouts.BFloat16:
			return rules.BFloatSum
		}
		if run, step = rules.SumRun, rules.SumStep; p.Spec.DType == layouts.Float32 {
			run, step = run*rules.FloatSum, step*rules.FloatSum
		}
	case access.Fill:
		run, step = rules.FillRun, rules.FillStep
	case access.Copy, access.Reorder:
		if run, step = rules.CopyRun, rules.CopyStep; accesses == 1 { // padding
			run, step = rules.FillRun, rules.FillStep
		}
	}
	if beside {
		return run
	}
	return step
}

// reads is how many operands a nest reads.
func reads(n nest.Nest) (count int) {
	for _, op := range n.Operands {
		if op.Kind != nest.Write {
			count++
		}
	}
	return count
}

// vectorBytes are those of a vector of AVX2.
const vectorBytes = 32

// inVectors tells whether PyTorch goes along the innermost loop in vectors: every
// operand lies side by side there, or stays.
func (m Model) inVectors(n nest.Nest) bool {
	inner := len(n.Trips) - 1
	return m.Vectors && inner >= 0 && !slices.ContainsFunc(n.Operands, func(op nest.Operand) bool {
		return op.Strides[inner] != op.Width && op.Strides[inner] != 0
	})
}

// moving is the bytes of the operands that the innermost loop moves.
func moving(n nest.Nest) (bytes int) {
	for _, op := range n.Operands {
		if op.Strides[len(n.Trips)-1] != 0 {
			bytes += op.Width
		}
	}
	return bytes
}

// memory adds what the misses of a nest take.
func (m Model) memory(sum *Prediction, w Counted, p access.Pattern) {
	var loads, stores float64 // ns of those that are crowded
	for r, op := range w.Nest.Operands {
		if op.Tensor == access.Buffers {
			continue // see body
		}
		s := strideOf(w.Nest, op, m.Caches.Levels[0].Line)
		if m.inVectors(w.Nest) {
			s.every *= float64(op.Width) / vectorBytes
		}
		asked := op.Width > p.Spec.DType.Size()
		v := visit{s, w.Nest, op, asked || m.inVectors(w.Nest), asked, p.PastCaches(), m.serving(0).Crowded > 0 && m.crowds(s, w.Nest, op, 0)}
		t := sum.tensor(op.Tensor, m.Caches)
		if refs := float64(w.Nest.Iterations()); refs > t.Refs {
			t.Stride = s
		}
		t.Refs += float64(w.Nest.Iterations())
		for i, missed := range w.Misses[r].Levels {
			served := missed
			if i+1 < len(m.Caches.Levels) {
				served -= w.Misses[r].Levels[i+1]
			}
			ns := max(served, 0) * m.line(v, i)
			t.Levels[i] += missed
			t.Lines[i] += ns
			sum.Memory += ns
			switch {
			case v.crowded && v.written():
				stores += ns
			case v.crowded:
				loads += ns
			}
		}
		for i, missed := range w.Misses[r].TLB {
			walked := missed
			if i+1 < len(m.Caches.TLB) {
				walked -= w.Misses[r].TLB[i+1]
			}
			ns := max(walked, 0) * m.walk(s, i)
			t.TLB[i] += missed
			t.Walks += ns
			sum.Memory += ns
		}
	}
	sum.Memory -= min(loads, stores) // each waits for others of its own only
}

// tensor is the part of a prediction that is about a tensor.
func (p *Prediction) tensor(name string, c simcache.Config) *Tensor {
	for i := range p.Tensors {
		if p.Tensors[i].Name == name {
			return &p.Tensors[i]
		}
	}
	p.Tensors = append(p.Tensors, Tensor{Name: name, Levels: make([]float64, len(c.Levels)),
		TLB: make([]float64, len(c.TLB)), Lines: make([]float64, len(c.Levels))})
	return &p.Tensors[len(p.Tensors)-1]
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

// written tells whether the lines are.
func (v visit) written() bool { return v.op.Kind == nest.Write }

// line is the ns of one line that level i misses and the next one has.
func (m Model) line(v visit, i int) float64 {
	rules, from, memory := m.rules(), m.serving(i), i == len(m.Caches.Levels)-1
	if v.written() && v.past && memory {
		return from.Past * rules.Past
	}
	next, stored := from.Line, from.Stored
	if memory && !v.vectors {
		// The sum and the copy that were measured are of vectors, which read memory faster than
		// loops over elements do, but do not copy faster: these take a half of the copy for each line.
		next, stored = from.Line+from.Stored/2, 0
	}
	near, far := m.apart(v, i)
	ns := v.stride.Next*next + v.stride.Near*max(near, next) + v.stride.Far*max(far, next)
	if v.written() {
		ns += stored
	}
	return ns
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
	if v.asked {
		return near, from.Line * rules.Asked
	}
	if s.loop < 0 { // no prefetcher foresees where the next run begins
		inFlight = min(inFlight, rules.InFlight)
	}
	if !(v.crowded && i == 0) && m.crowds(s, v.nest, v.op, i) {
		inFlight = min(inFlight, rules.Crowded)
	}
	least, leastStored := from.Line, from.Line
	if v.crowded {
		least, leastStored = max(least, m.serving(0).Crowded), max(leastStored, m.serving(0).CrowdedStore)
	}
	if !v.written() {
		return near, max(least, from.Latency/max(1, inFlight/s.slower(rules, rules.Window)))
	}
	// A store waits for its line after it retired, so that the CPU is farther ahead; but it retires
	// behind the loads before it, and stores leave in order.
	far = max(from.Line, from.Latency/max(1, inFlight/s.slower(rules, rules.Pending)))
	if reads(v.nest) > 0 {
		near, far = near*rules.Stores, far*rules.Stores
	}
	return near, max(far, leastStored)
}

// Lines is the ns of lines of a stream that each level missed so often.
func (m Model) Lines(misses []float64) (ns float64) {
	for i, missed := range misses {
		if i+1 < len(misses) {
			missed -= misses[i+1]
		}
		ns += max(missed, 0) * m.serving(i).Line
	}
	return ns
}

// A Stride is what the address of a line that an operand touches is to that of
// the one before: shares of its lines, which sum up to 1.
type Stride struct {
	Next float64 // beside it
	Near float64 // less than a page off
	Far  float64 // in another page

	every float64 // iterations from one that is not beside to the next
	loop  int     // that makes the steps; -1 for none
	// jump is the bytes from one that is not beside to the next, 0 where none is known, and
	// around how many there are until the loop begins anew.
	jump   int
	around float64
}

// samePage is what no prefetcher crosses, whatever the page size in force.
const samePage = 4096

// strideOf looks at the innermost loop that moves the operand, and, where that
// steps from line to line, at the loop that begins the next run of lines.
func strideOf(n nest.Nest, op nest.Operand, line int) Stride {
	l, every := len(n.Trips)-1, 1.0
	for ; l >= 0 && op.Strides[l] == 0; l-- {
		every *= float64(n.Trips[l])
	}
	if l < 0 {
		return Stride{Next: 1, every: every, loop: l}
	}
	stride := max(op.Strides[l], -op.Strides[l])
	switch {
	case stride >= samePage:
		return Stride{Far: 1, every: every, loop: l, jump: stride, around: float64(n.Trips[l])}
	case stride > line:
		return Stride{Near: 1, every: every, loop: l, jump: stride, around: float64(n.Trips[l])}
	}
	run, jump, around := op.Width+(n.Trips[l]-1)*stride, 0, 0.0
	for o := l - 1; o >= 0; o-- {
		s := max(op.Strides[o], -op.Strides[o])
		if s > run+line {
			jump, around = s, float64(n.Trips[o])
			break
		}
		if s > 0 {
			run += (n.Trips[o] - 1) * s
		}
	}
	starts := min(1, float64(line)/float64(run))
	return Stride{Next: 1 - starts, Far: starts, every: every * max(float64(run), float64(line)) / float64(stride), loop: -1, jump: jump, around: around}
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

// crowds tells whether one round of the loop that steps falls into sets of the
// level that do not hold it.
func (s Stride) crowds(n nest.Nest, op nest.Operand, level simcache.Geometry) bool {
	if s.loop < 0 {
		return false
	}
	trips := n.Trips[s.loop:]
	op.Strides = op.Strides[s.loop:]
	room := room(op, trips, level.Line, level.Sets(), level.Ways)
	return room < float64(level.Sets()*level.Ways) && op.Lines(trips, level.Line) > room
}

// Error is how far a prediction is off a measured time, as a share of it.
func Error(predicted, measured float64) float64 { return math.Abs(predicted-measured) / measured }
