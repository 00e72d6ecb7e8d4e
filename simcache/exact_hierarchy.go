package simcache

// Where the contents of D1 and LL are.
type custody uint8

const (
	cold custody = iota // nowhere: nothing was looked up yet, and the levels are empty
	here                // in the levels
	held                // in the prover
	owed                // nowhere: they are those after the nest owed, run on empty levels
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
	from      int // accesses that make a nest worth it
	apartFrom int // accesses that make rule D worth it
	owed      Nest
	byApart   uint64 // references of it that rule D spared
	proved    uint64 // references counted without being looked up
}

func newExactRun(c Config) exactRun {
	lines := c.D1.Sets()*c.D1.Ways + c.LL.Sets()*c.LL.Ways
	return exactRun{
		brute:     c.Brute,
		off:       c.Brute || c.ZeroTags, // a block in every way of every set is no contents of an LRU cache
		from:      int(exactFrom * float64(lines)),
		apartFrom: apartFrom,
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
	e := &h.exact
	accesses := n.Iterations() * len(n.Operands)
	if e.off || accesses < e.from && e.state != held || !h.exactProver().fits(n) {
		h.fetchBack()
		return nil, false
	}
	x := e.prover
	plan := x.plan(n)
	if e.state == cold && plan.translated < 0 && x.worthApart(n, e.apartFrom) {
		before := x.visited
		if misses, ok := x.apart(n, 0); ok {
			e.state, e.owed, e.byApart = owed, n, uint64(accesses)-(x.visited-before)
			e.proved += e.byApart
			return misses, true
		}
	}
	if accesses >= e.from && !plan.pays() || !h.hand() {
		h.fetchBack()
		return nil, false
	}
	before := x.visited
	misses = x.run(n)
	e.proved += uint64(accesses) - (x.visited - before)
	return misses, true
}

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

// pay makes up for a nest that rule D counted, whose contents are needed after
// all. Its accesses are looked up then that no other rule skips.
func (h *Hierarchy) pay() {
	e := &h.exact
	n, x := e.owed, e.prover
	accesses := uint64(n.Iterations() * len(n.Operands))
	e.proved -= e.byApart
	if plan := x.plan(n); !plan.pays() {
		e.state = here
		h.newWalk(n).all()
		return
	}
	before := x.visited
	x.run(n)
	e.proved += accesses - (x.visited - before)
	e.state = held
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

// again counts references so many times more, without looking them up.
func (h *Hierarchy) again(c Counts, times uint64) {
	c = c.times(times)
	h.reads.add(&tally{c.Dr, c.D1mr, c.DLmr})
	h.writes.add(&tally{c.Dw, c.D1mw, c.DLmw})
	h.exact.proved += c.Refs()
}

// steadyApart is what Steady returns, by rule D, which leaves the hierarchy as
// it is. It reports whether it could.
func (h *Hierarchy) steadyApart(n Nest) (c Counts, ok bool) {
	e := &h.exact
	three := n.repeated(3)
	if e.off || e.state != cold || n.Iterations() == 0 || h.refuse(three) != nil || !h.exactProver().fits(n) {
		return c, false
	}
	x := e.prover
	if n = n.Canonical(); x.plan(n).translated >= 0 || !x.worthApart(three.Canonical(), e.apartFrom) {
		return c, false
	}
	misses, ok := x.apart(n, 2)
	if !ok {
		return c, false
	}
	for r, op := range n.Operands {
		c = c.Add(tally{uint64(n.Iterations()), misses[2*r], misses[2*r+1]}.counts(op.Kind))
	}
	return c, true
}
