package simcache

// Where the contents of a proving engine's levels are.
type custody uint8

const (
	cold custody = iota // nowhere: nothing was looked up yet, and the levels are empty
	here                // in the chain
	held                // in the prover
	owed                // nowhere: they are those after the nests owed, run on empty levels
)

// handFrom is the number of accesses, for each line of all levels, from which a
// nest is worth taking the contents to the prover.
const handFrom = 0.5

// proving is a chain and a prover. It decides nest by nest which of them
// simulates it; the contents go from one to the other when they are needed.
type proving struct {
	*chain
	prover    *prover
	state     custody
	from      int     // accesses that make a nest worth it
	apartFrom int     // accesses that make rule D worth it
	apartGain float64 // times less that it must promise to take
	dearer    float64 // how much more a look-up costs the prover than the chain
	owed      []Nest
	// References that rule D looked up for what is owed, and those that it looked
	// up in vain.
	byApart, inVain uint64
}

func newProving(c *chain) *proving {
	lines := 0
	for i := range c.levels {
		lines += int(c.levels[i].sets) * c.levels[i].ways
	}
	return &proving{chain: c, from: int(handFrom * float64(lines)), apartFrom: apartFrom, apartGain: 2, dearer: 3}
}

func (e *proving) add(op int, addr, size uint64, kind Kind) {
	if e.state != here {
		e.fetchBack()
	}
	e.chain.add(op, addr, size, kind)
}

func (e *proving) descend(op int, addr, size uint64) {
	e.fetchBack()
	e.chain.descend(op, addr, size)
}

func (e *proving) work() uint64 {
	if e.prover == nil {
		return e.chain.work()
	}
	return e.chain.work() + e.prover.visited - e.inVain
}

func (e *proving) run(nests []Nest, passes int) [][][]uint64 {
	if misses, ok := e.apart(nests, passes); ok {
		return misses
	}
	return runEach(nests, passes, e.one)
}

// one simulates a nest.
func (e *proving) one(n Nest) []uint64 {
	if misses, ok := e.apart([]Nest{n}, 1); ok {
		return misses[0][0]
	}
	accesses := n.accesses()
	if (e.state == held || accesses >= e.from) && accesses > 0 && e.theProver().fits(n) {
		if plan := e.prover.plan(n); (accesses < e.from || plan.cost*e.dearer < plan.brute) && e.hand() {
			return e.prover.follow(plan)
		}
	}
	e.fetchBack()
	return e.chain.one(n)
}

// apart is prover.apart, where it may pay, and reports whether it counted. The
// contents are owed then.
func (e *proving) apart(nests []Nest, passes int) (misses [][][]uint64, done bool) {
	accesses := 0
	for _, n := range nests {
		if n.accesses() == 0 {
			return nil, false
		}
		accesses += n.accesses() * passes
	}
	if e.state != cold || accesses < e.apartFrom || !e.apartPays(nests, passes) {
		return nil, false
	}
	before := e.prover.visited
	misses, done = e.prover.apart(nests, passes)
	if e.byApart = e.prover.visited - before; done {
		e.state = owed
		for range passes {
			e.owed = append(e.owed, nests...)
		}
	} else {
		e.inVain += e.byApart
	}
	return misses, done
}

// apartPays reports whether rule D promises to be much quicker than all else.
func (e *proving) apartPays(nests []Nest, passes int) bool {
	x := e.theProver()
	together := 0.0
	for _, n := range nests {
		if !x.fits(n) {
			return false
		}
		plan := x.plan(n)
		together += min(plan.cost, plan.brute/e.dearer) * float64(passes)
	}
	return x.apartCost(nests, passes)*e.apartGain < together
}

func (n Nest) accesses() int { return n.Iterations() * len(n.Operands) }

// theProver is the prover, made when it is first needed.
func (e *proving) theProver() *prover {
	if e.prover == nil {
		var specs []levelSpec
		for i := range e.levels {
			l := &e.levels[i]
			specs = append(specs, levelSpec{int(l.sets), l.ways, l.shift})
		}
		e.prover = newProver(specs)
	}
	return e.prover
}

// hand gives the contents to the prover, and reports whether it could take
// them.
func (e *proving) hand() bool {
	if e.state == owed {
		e.pay()
	}
	e.prover.open()
	if e.state == here {
		e.chain.flush()
		for i := range e.levels {
			if !e.levels[i].hand(&e.prover.levels[i]) {
				return false
			}
		}
	}
	e.state = held
	return true
}

// fetchBack takes the contents back, before something is looked up in the
// chain.
func (e *proving) fetchBack() {
	if e.state == owed {
		e.pay()
	}
	if e.state == held {
		for i := range e.levels {
			if !e.levels[i].fetchBack(&e.prover.levels[i]) {
				e.chain.widen()
				e.levels[i].fetchBack(&e.prover.levels[i])
			}
		}
	}
	e.state = here
}

// pay makes up for nests that rule D counted, whose contents are needed after
// all. Their accesses are looked up then, but for those that other rules skip.
func (e *proving) pay() {
	nests := e.owed
	e.state, e.owed = here, nil
	e.inVain += e.byApart
	for _, n := range nests {
		e.one(n)
	}
}

// hand copies the contents of a level to a prover's, unless a block is too large
// for it.
func (l *rows) hand(to *lruLevel) bool {
	var list []uint64
	for set := range int(l.sets) {
		list = l.blocks(list[:0], set)
		if !to.load(set, list) {
			return false
		}
	}
	return true
}

// fetchBack copies the contents of a prover's level, unless a block's tag is too
// wide.
func (l *rows) fetchBack(from *lruLevel) bool {
	var list []uint64
	for set := range int(l.sets) {
		list = from.blocks(list[:0], set)
		if !l.load(set, list) {
			return false
		}
	}
	return true
}

// blocks appends the blocks of a set to list, the most recently used first.
func (l *rows) blocks(list []uint64, set int) []uint64 {
	for way := range l.ways {
		var tag uint64
		if l.wide != nil {
			tag = l.wide[set*l.ways+way]
		} else {
			tag = uint64(l.row(set)[way])
		}
		if tag == 0 {
			break
		}
		list = append(list, (tag>>1-1)*l.sets+uint64(set))
	}
	return list
}

// load fills a set with blocks, the most recently used first, unless a tag is
// too wide.
func (l *rows) load(set int, blocks []uint64) bool {
	for way := range l.ways {
		var tag uint64
		if way < len(blocks) {
			if _, tag = l.place(blocks[way]); l.wide == nil && blocks[way] >= l.limit() {
				return false
			}
		}
		if l.wide != nil {
			l.wide[set*l.ways+way] = tag
		} else {
			l.row(set)[way] = uint32(tag)
		}
	}
	return true
}
