package simcache

// Where the contents of D1 and LL are.
type custody uint8

const (
	cold custody = iota // nowhere: nothing was looked up yet, and the levels are empty
	here                // in the levels
	held                // in the prover
	owed                // nowhere: they are those after the nests owed, run on empty levels
)

// exactFrom is the number of accesses, for each line of both levels, from which
// a nest is worth taking its contents to the prover.
const exactFrom = 0.5

// An exactRun is a Hierarchy's dealings with its prover.
type exactRun struct {
	brute     bool // asked to look up every access
	off       bool // never uses the prover
	state     custody
	prover    *prover
	from      int     // accesses that make a nest worth it
	apartFrom int     // accesses that make rule D worth it
	apartGain float64 // times less that it must promise to take
	owed      []Nest
	byApart   uint64 // references of them that rule D spared
	proved    uint64 // references counted without being looked up
}

func newExactRun(c Config) exactRun {
	lines := c.D1.Sets()*c.D1.Ways + c.LL.Sets()*c.LL.Ways
	return exactRun{
		brute:     c.Brute,
		off:       c.Brute || c.ZeroTags, // a block in every way of every set is no contents of an LRU cache
		from:      int(exactFrom * float64(lines)),
		apartFrom: apartFrom,
		apartGain: 4,
	}
}

// Work returns how many of the references counted were looked up one by one,
// and how many were proved to hit or miss like others.
func (h *Hierarchy) Work() (visited, proved uint64) {
	return h.fetches.refs + h.reads.refs + h.writes.refs - h.exact.proved, h.exact.proved
}

// prove counts the misses of a canonical nest by the prover, which has them by
// operand and level, and reports whether it did. If not, the contents are here.
func (h *Hierarchy) prove(n Nest) (misses []uint64, done bool) {
	if apart, ok := h.apart([]Nest{n}, 1); ok {
		return apart[0][0], true
	}
	e := &h.exact
	if accesses := n.accesses(); !e.off && (e.state == held || accesses >= e.from) && h.exactProver().fits(n) {
		if plan := e.prover.plan(n); (accesses < e.from || plan.pays()) && h.hand() {
			before := e.prover.visited
			misses = e.prover.follow(plan)
			e.proved += uint64(accesses) - (e.prover.visited - before)
			return misses, true
		}
	}
	h.fetchBack()
	return nil, false
}

// apart is prover.apart, for canonical nests, where it may pay. The contents
// are owed then.
func (h *Hierarchy) apart(nests []Nest, passes int) (misses [][][]uint64, done bool) {
	e := &h.exact
	accesses := 0
	for _, n := range nests {
		if n.accesses() == 0 {
			return nil, false
		}
		accesses += n.accesses() * passes
	}
	if e.off || e.state != cold || accesses < e.apartFrom || !h.apartPays(nests, passes) {
		return nil, false
	}
	x := e.prover
	before := x.visited
	misses, done = x.apart(nests, passes)
	if done {
		e.state, e.byApart = owed, uint64(accesses)-(x.visited-before)
		e.proved += e.byApart
		e.owed = nil
		for range passes {
			e.owed = append(e.owed, nests...)
		}
	}
	return misses, done
}

// apartPays reports whether rule D promises to be much quicker than all else.
func (h *Hierarchy) apartPays(nests []Nest, passes int) bool {
	x := h.exactProver()
	together := 0.0
	for _, n := range nests {
		if !x.fits(n) {
			return false
		}
		plan := x.plan(n)
		together += min(plan.cost, plan.brute) * float64(passes)
	}
	return x.apartCost(nests, passes)*h.exact.apartGain < together
}

func (n Nest) accesses() int { return n.Iterations() * len(n.Operands) }

// exactProver is the prover, made when it is first needed.
func (h *Hierarchy) exactProver() *prover {
	if h.exact.prover == nil {
		h.exact.prover = newProver([]levelSpec{h.d1.spec(), h.ll.spec()})
	}
	return h.exact.prover
}

// hand gives the contents to the prover, and reports whether it could take
// them.
func (h *Hierarchy) hand() bool {
	e := &h.exact
	if e.state == owed {
		h.pay()
	}
	e.prover.open()
	if e.state == here && !(h.d1.hand(&e.prover.levels[0]) && h.ll.hand(&e.prover.levels[1])) {
		return false
	}
	e.state = held
	return true
}

// fetchBack takes the contents back, before something is looked up here.
func (h *Hierarchy) fetchBack() {
	if h.exact.state == owed {
		h.pay()
	}
	if h.exact.state == held {
		h.d1.fetchBack(&h.exact.prover.levels[0])
		h.ll.fetchBack(&h.exact.prover.levels[1])
	}
	h.exact.state = here
}

// pay makes up for nests that rule D counted, whose contents are needed after
// all. Their accesses are looked up then, but for those that other rules skip.
func (h *Hierarchy) pay() {
	e := &h.exact
	nests := e.owed
	e.proved -= e.byApart
	e.state, e.owed = here, nil
	for _, n := range nests {
		h.simulate(n)
	}
}

// pays reports whether a plan promises to be quicker than brute force, whose
// look-ups cost about half as much.
func (p *nestPlan) pays() bool { return p.cost < p.brute/2 }

// spec is the shape of a level.
func (l *level) spec() levelSpec {
	return levelSpec{sets: int(l.mask) + 1, ways: int(l.ways), shift: l.shift}
}

// hand copies the contents to a prover's level, unless a block is too large for
// it.
func (l *level) hand(to *lruLevel) bool {
	var list []uint64
	for set := range to.sets {
		list = l.blocks(list[:0], set)
		if !to.load(set, list) {
			return false
		}
	}
	return true
}

// fetchBack copies the contents from a prover's level.
func (l *level) fetchBack(from *lruLevel) {
	var list []uint64
	for set := range from.sets {
		list = from.blocks(list[:0], set)
		l.load(set, list)
	}
}

// blocks appends the blocks of a set to list, the most recently used first.
func (l *level) blocks(list []uint64, set int) []uint64 {
	for _, tag := range l.tags[uint64(set)*l.ways:][:l.ways] {
		if tag == 0 {
			break
		}
		list = append(list, tag-1)
	}
	return list
}

// load fills a set with blocks, the most recently used first.
func (l *level) load(set int, blocks []uint64) {
	row := l.tags[uint64(set)*l.ways:][:l.ways]
	clear(row)
	for i, b := range blocks {
		row[i] = b + 1
	}
}

// repeated is the nest inside a loop of so many passes.
func (n Nest) repeated(passes int) Nest {
	r := Nest{Trips: append([]int{passes}, n.Trips...)}
	for _, op := range n.Operands {
		op.Strides = append([]int{0}, op.Strides...)
		r.Operands = append(r.Operands, op)
	}
	return r
}

// times is c so many times.
func (c Counts) times(n uint64) Counts {
	return Counts{c.Ir * n, c.I1mr * n, c.ILmr * n, c.Dr * n, c.D1mr * n, c.DLmr * n, c.Dw * n, c.D1mw * n, c.DLmw * n}
}

// again counts references so many times more, without looking them up, and
// returns what it adds.
func (h *Hierarchy) again(c Counts, times uint64) Counts {
	c = c.times(times)
	h.reads.add(&tally{c.Dr, c.D1mr, c.DLmr})
	h.writes.add(&tally{c.Dw, c.D1mw, c.DLmw})
	h.exact.proved += c.Refs()
	return c
}

// rounds runs passes over nests by rule D and returns the counts of each
// operand of each nest in each pass. It reports whether it could.
func (h *Hierarchy) rounds(passes int, nests []Nest) (counts [][][]Counts, ok bool) {
	var list []Nest
	for _, n := range nests {
		if h.refuse(n) != nil {
			return nil, false
		}
		list = append(list, n.Canonical())
	}
	misses, ok := h.apart(list, passes)
	for p := range misses {
		counts = append(counts, make([][]Counts, len(nests)))
		for k, n := range nests {
			for r, op := range n.Operands {
				t := tally{uint64(n.Iterations()), misses[p][k][2*r], misses[p][k][2*r+1]}
				h.tally(op.Kind).add(&t)
				counts[p][k] = append(counts[p][k], t.counts(op.Kind))
			}
		}
	}
	return counts, ok
}
