package simcache

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Nest is a perfect nest of loops around a few accesses: the pattern that
// both executors of stridebench are told, this simulator and the native one of
// package access. For every index of the trips, in row-major order, each
// operand is accessed once, in the order of the list.
type Nest struct {
	Trips    []int // iterations of each loop, the outermost first
	Operands []Operand
}

// An Operand is one access of a Nest's body: Width bytes at
// Base + i0*Strides[0] + i1*Strides[1] + ...
type Operand struct {
	Tensor  string // name of the tensor touched, for reports
	Kind    Kind
	Base    uint64 // address of the access at index 0, 0, ...
	Width   int    // bytes
	Strides []int  // bytes from one iteration of each loop to the next, one per trip
}

// Iterations is the product of the trips: 1 without loops, 0 if any is 0.
func (n Nest) Iterations() int {
	product := 1
	for _, t := range n.Trips {
		product *= t
	}
	return product
}

// Check refuses a nest that cannot be walked: negative trips, a number of
// accesses that overflows, strides that are not one per trip, widths that are
// not positive, and addresses outside of 0 to 2^64-1.
func (n Nest) Check() error {
	accesses := uint64(max(len(n.Operands), 1))
	for l, t := range n.Trips {
		if t < 0 {
			return fmt.Errorf("loop %d has %d trips", l, t)
		}
		high, low := bits.Mul64(accesses, uint64(max(t, 1)))
		if high != 0 || low > math.MaxInt {
			return fmt.Errorf("trips %v make more accesses than an int can count", n.Trips)
		}
		accesses = low
	}
	for i, op := range n.Operands {
		if err := op.check(n.Trips); err != nil {
			return fmt.Errorf("operand %d (%s): %w", i, op.Tensor, err)
		}
	}
	return nil
}

func (op Operand) check(trips []int) error {
	if len(op.Strides) != len(trips) {
		return fmt.Errorf("%d strides for %d loops", len(op.Strides), len(trips))
	}
	if op.Width <= 0 {
		return fmt.Errorf("width %d is not positive", op.Width)
	}
	down, up := uint64(0), uint64(op.Width-1)
	for l, s := range op.Strides {
		end := &up
		size := uint64(s)
		if s < 0 {
			end, size = &down, -size
		}
		high, reach := bits.Mul64(size, uint64(max(trips[l]-1, 0)))
		sum, carry := bits.Add64(*end, reach, 0)
		if high != 0 || carry != 0 {
			return fmt.Errorf("stride %d over %d trips leaves the address space", s, trips[l])
		}
		*end = sum
	}
	if _, carry := bits.Add64(op.Base, up, 0); carry != 0 || down > op.Base {
		return fmt.Errorf("base %#x with strides %v leaves the address space", op.Base, op.Strides)
	}
	return nil
}

// Canonical returns the nest with the same accesses in the same order and as
// few loops as possible: loops of one trip are dropped, and an outer loop is
// fused with the next inner one where stride(outer) = trips(inner) *
// stride(inner) for every operand. An empty nest becomes one loop of 0 trips.
func (n Nest) Canonical() Nest {
	c := Nest{Operands: slices.Clone(n.Operands)}
	for i := range c.Operands {
		c.Operands[i].Strides = nil
	}
	if n.Iterations() == 0 {
		c.Trips = []int{0}
		for i := range c.Operands {
			c.Operands[i].Strides = []int{0}
		}
		return c
	}
	for l, trips := range n.Trips {
		if trips == 1 {
			continue
		}
		last := len(c.Trips) - 1
		fuse := last >= 0
		for i, op := range n.Operands {
			fuse = fuse && c.Operands[i].Strides[last] == trips*op.Strides[l]
		}
		if fuse {
			c.Trips[last] *= trips
		} else {
			c.Trips = append(c.Trips, trips)
			last++
		}
		for i, op := range n.Operands {
			c.Operands[i].Strides = append(c.Operands[i].Strides[:last], op.Strides[l])
		}
	}
	return c
}

// Run simulates every access of the nest, on whatever the caches hold from
// before, and returns the counts of each operand. It refuses a nest that does
// not pass Check or has an operand wider than a line.
//
// It decides by itself how many accesses to look up (see Exact simulation, and
// Work). A large nest that is the first on a new hierarchy may be counted
// without its final contents becoming known: then whatever is run next has it
// simulated again, which may take long.
func (h *Hierarchy) Run(n Nest) ([]Counts, error) {
	if err := h.refuse(n); err != nil {
		return nil, err
	}
	tallies := h.simulate(n.Canonical())
	counts := make([]Counts, len(n.Operands))
	for i, op := range n.Operands {
		h.tally(op.Kind).add(&tallies[i])
		counts[i] = tallies[i].counts(op.Kind)
	}
	return counts, nil
}

// refuse is what Run refuses.
func (h *Hierarchy) refuse(n Nest) error {
	if err := n.Check(); err != nil {
		return err
	}
	for i, op := range n.Operands {
		if line := min(h.d1.line, h.ll.line); uint64(op.Width) > line {
			return fmt.Errorf("operand %d (%s): width %d exceeds the line of %d B", i, op.Tensor, op.Width, line)
		}
	}
	return nil
}

// simulate runs a canonical nest and returns the tally of each operand.
func (h *Hierarchy) simulate(n Nest) []tally {
	tallies := make([]tally, len(n.Operands))
	iterations := uint64(n.Iterations())
	if len(n.Operands) == 0 || iterations == 0 {
		return tallies
	}
	if misses, ok := h.prove(n); ok {
		for i := range tallies {
			tallies[i] = tally{iterations, misses[2*i], misses[2*i+1]}
		}
		return tallies
	}
	w := h.newWalk(n)
	w.all()
	for i := range tallies {
		tallies[i] = w.streams[i].tally
	}
	return tallies
}

// A walk is a Nest on its way through a Hierarchy: streams at the start of an
// innermost run.
type walk struct {
	h       *Hierarchy
	nest    Nest   // canonical
	trips   uint64 // of the innermost loop
	streams []stream
	// inLine: every stride is shorter than a line, so that runs of iterations
	// may stay in the lines that they are in.
	inLine bool
	// fits: after one iteration all its lines are in D1, however they fall
	// into sets, since no set can have to hold more of them than it has ways.
	fits bool
}

type stream struct {
	tally  tally
	addr   uint64
	width  uint64
	stride uint64 // modulo 2^64: a negative one wraps
}

func (h *Hierarchy) newWalk(n Nest) *walk {
	w := &walk{h: h, nest: n, trips: 1, inLine: !h.exact.brute, fits: 2*len(n.Operands) <= int(h.d1.ways)}
	inner := len(n.Trips) - 1
	if inner >= 0 {
		w.trips = uint64(n.Trips[inner])
	}
	for _, op := range n.Operands {
		s := stream{addr: op.Base, width: uint64(op.Width)}
		if inner >= 0 {
			s.stride = uint64(op.Strides[inner])
			w.inLine = w.inLine && max(op.Strides[inner], -op.Strides[inner]) < int(h.d1.line)
		}
		w.streams = append(w.streams, s)
	}
	return w
}

// all walks the outer loops and runs the innermost for each of their indices.
func (w *walk) all() {
	outer := w.nest.Trips[:max(len(w.nest.Trips)-1, 0)]
	index := make([]int, len(outer))
	for {
		w.run()
		l := len(outer) - 1
		for ; l >= 0; l-- {
			if index[l]++; index[l] < outer[l] {
				w.step(l, 1)
				break
			}
			w.step(l, 1-outer[l])
			index[l] = 0
		}
		if l < 0 {
			return
		}
	}
}

// step moves every stream by so many iterations of loop l.
func (w *walk) step(l, iterations int) {
	for i := range w.streams {
		w.streams[i].addr += uint64(iterations * w.nest.Operands[i].Strides[l])
	}
}

// run simulates the innermost loop from the streams' addresses, which it
// leaves where they were.
//
// Iterations during which every stream stays in the lines that it is in touch
// the same lines in the same order. Once one of them has not missed in D1, the
// next cannot miss either and leaves the caches as they are, so the rest of
// such a stretch is counted without being looked up. The same holds at once
// after the first of them if no set can overflow (fits); otherwise one stream
// may evict another's line in every iteration, and each is looked up.
func (w *walk) run() {
	if !w.inLine {
		w.runEach()
		return
	}
	for i := uint64(0); i < w.trips; {
		stay := min(w.stay(i), w.trips-i)
		for stay > 0 {
			missed := w.iterate(i)
			i++
			stay--
			if !missed || w.fits {
				break
			}
		}
		for k := range w.streams {
			w.streams[k].tally.refs += stay
		}
		w.h.exact.proved += stay * uint64(len(w.streams))
		i += stay
	}
}

// runEach looks up every access of the innermost loop.
func (w *walk) runEach() {
	if len(w.streams) == 1 {
		s := &w.streams[0]
		addr := s.addr
		for range w.trips {
			w.h.access(&s.tally, addr, s.width)
			addr += s.stride
		}
		return
	}
	for i := range w.trips {
		w.iterate(i)
	}
}

// iterate simulates iteration i and reports whether any access missed in D1.
func (w *walk) iterate(i uint64) (missed bool) {
	for k := range w.streams {
		s := &w.streams[k]
		if w.h.access(&s.tally, s.addr+i*s.stride, s.width) {
			missed = true
		}
	}
	return missed
}

// stay is the number of iterations from i on, at least 1, in which the first
// and the last byte of every stream's access stay in their lines of D1.
func (w *walk) stay(i uint64) uint64 {
	stay := uint64(math.MaxUint64)
	mask := w.h.d1.line - 1
	for k := range w.streams {
		s := &w.streams[k]
		if s.stride == 0 {
			continue
		}
		first := (s.addr + i*s.stride) & mask
		last := (first + s.width - 1) & mask
		// The byte nearer to the end that the stream moves to leaves first.
		room, stride := mask-max(first, last), s.stride
		if int64(s.stride) < 0 {
			room, stride = min(first, last), -s.stride
		}
		stay = min(stay, room/stride+1)
	}
	return stay
}

// Passes simulates so many passes over nests, walked one after the other, and
// returns the counts of each operand of each nest, all passes together.
//
// From the third pass on, all are alike (see Steady); of several nests, no
// further ones are walked.
func (h *Hierarchy) Passes(passes int, nests ...Nest) ([][]Counts, error) {
	if len(nests) == 1 {
		counts, err := h.Run(nests[0].repeated(passes))
		return [][]Counts{counts}, err
	}
	walked := passes
	if !h.exact.brute {
		walked = min(passes, 3)
	}
	counts, err := h.walkPasses(walked, nests)
	if err != nil {
		return nil, err
	}
	sums := make([][]Counts, len(nests))
	for k, n := range nests {
		sums[k] = make([]Counts, len(n.Operands))
		for r := range n.Operands {
			for p := range counts {
				sums[k][r] = sums[k][r].Add(counts[p][k][r])
			}
			if passes > walked {
				sums[k][r] = sums[k][r].Add(h.again(counts[walked-1][k][r], uint64(passes-walked)))
			}
		}
	}
	return sums, nil
}

// walkPasses runs passes over nests and returns the counts of each operand of
// each nest in each pass.
func (h *Hierarchy) walkPasses(passes int, nests []Nest) ([][][]Counts, error) {
	counts, ok := h.rounds(passes, nests)
	if ok {
		return counts, nil
	}
	for range passes {
		var pass [][]Counts
		for _, n := range nests {
			c, err := h.Run(n)
			if err != nil {
				return nil, err
			}
			pass = append(pass, c)
		}
		counts = append(counts, pass)
	}
	return counts, nil
}

// Steady returns the counts of one pass over nests, walked one after the
// other, in the steady state that repeated passes reach; the hierarchy must be
// new.
//
// An access that hits in the first pass hits in all: what was touched since
// the line's last touch is then the same. An access of a later pass has its
// line's last touch at most one pass back, so D1 repeats itself from the
// second pass on. LL therefore sees a repeating stream from the second pass on
// and repeats itself from the third; if the first pass missed in D1 exactly as
// often as the second, then in the same places, LL's stream repeats from the
// first pass on, and the second pass is steady already.
func (h *Hierarchy) Steady(nests ...Nest) (Counts, error) {
	if counts, ok := h.rounds(3, nests); ok {
		return total(counts[2]), nil
	}
	pass := func() (Counts, error) {
		before := h.Counts()
		for _, n := range nests {
			if _, err := h.Run(n); err != nil {
				return Counts{}, err
			}
		}
		return h.Counts().Sub(before), nil
	}
	first, err := pass()
	if err != nil {
		return Counts{}, err
	}
	second, err := pass()
	if err != nil || first.D1Misses() == second.D1Misses() || second.D1Misses() == 0 {
		return second, err
	}
	return pass()
}

// total is the sum of the counts of all operands of all nests.
func total(counts [][]Counts) (sum Counts) {
	for _, operands := range counts {
		for _, c := range operands {
			sum = sum.Add(c)
		}
	}
	return sum
}
