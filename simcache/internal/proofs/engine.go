package proofs

import (
	"math"
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lru"
	"github.com/stridebench/stridebench/simcache/internal/summaries"
)

// residency is where the contents of an engine's levels are.
type residency uint8

const (
	nowhere residency = iota // nothing was looked up yet, and the levels are empty
	chained                  // in the chain
	held                     // in the prover
	owed                     // nowhere: they are those after the nests owed, run on empty levels
	bySums                   // in the summaries
	ended                    // in the chain, and those after the nest ran on empty levels
	left                     // in the prover, likewise
)

// handFrom is the number of accesses, for each line of all levels, from which a
// nest is worth taking the contents to the prover.
const handFrom = 0.5

// An Engine is a chain and a prover. It decides nest by nest which of them
// simulates it; the contents go from one to the other when they are needed.
type Engine struct {
	*lru.Chain
	levels          []engine.Level
	prover          *prover
	summaries       *summaries.Engine // of programs
	progress        func(share float64)
	contents        residency
	from            int     // accesses that make a nest worth it
	independentFrom int     // accesses that make independence worth it
	independentGain float64 // times less that it must promise to take
	gapsFrom        int     // look-ups that make gaps worth it
	quickFrom       int     // look-ups of independence from which gaps are tried before it
	passesFrom      int     // look-ups of all passes over a nest that make each on its own worth it
	sumsFrom        float64 // look-ups that make summaries worth it
	dearer          float64 // how much more a look-up costs the prover than the chain
	owed            []nest.Nest
	tried           *attempted  // by Effort, for the next Run
	cold            []coldRun   // by gaps, without misses where these do not tell
	dependent       []nest.Nest // of which independence does not tell
	ran             coldRun     // by look-ups, whose end the contents are while they are ended or left
	againFrom       float64     // misses of every level, for each of its lines, that make again worth it
	partFrom        int         // accesses that a part of an iteration has at least, where the end of a nest is looked up
	warmed          []warmRun   // by nest, the last
	rewarmed        int         // how often that told
	agains          int         // how often it told
	tails, heads    int         // how often the end of a nest told the contents, and the start the difference to empty levels
	end             nestEnd     // the last that was told
	ends            int         // how often it told again
	passed          int         // nests that were counted pass by pass
	// References that were looked up to count what is owed, and those that were
	// looked up in vain.
	forOwed, inVain uint64
}

// An attempted is what became of counting passes over nests as a whole.
type attempted struct {
	nests  []nest.Nest
	passes int
	misses [][][]uint64 // nil if that failed
	owed   []nest.Nest
}

// New makes an engine of levels, the nearest first, whose chain uses so many
// cores.
func New(levels []engine.Level, cores int) *Engine {
	lines := 0
	for _, l := range levels {
		lines += l.Lines()
	}
	return &Engine{Chain: lru.New(levels, lru.Options{Cores: cores}), levels: levels,
		from: int(handFrom * float64(lines)), independentFrom: independentFrom, independentGain: 2, gapsFrom: 1 << 22, quickFrom: 1 << 21, passesFrom: 1 << 22, sumsFrom: 1e8, dearer: 3, againFrom: mostOfHead, partFrom: 1 << 12}
}

// Reset makes the engine what New returned, in the memory that its chain has.
func (e *Engine) Reset() {
	e.Chain.Reset()
	*e = Engine{Chain: e.Chain, levels: e.levels, from: e.from, independentFrom: e.independentFrom, independentGain: e.independentGain,
		gapsFrom: e.gapsFrom, quickFrom: e.quickFrom, passesFrom: e.passesFrom, sumsFrom: e.sumsFrom, dearer: e.dearer, againFrom: e.againFrom, partFrom: e.partFrom}
}

// Eager makes the engine prove what it can, even where that does not pay: for
// tests.
func (e *Engine) Eager() {
	e.from, e.independentFrom, e.independentGain, e.gapsFrom, e.quickFrom, e.passesFrom, e.dearer = 0, 0, 0, 0, 0, 0, 2
	e.againFrom, e.partFrom = 0, 1
}

// Residency names where the contents are, for tests: "nowhere", "chained", "held",
// "owed", "summed", "ended" or "left".
func (e *Engine) Residency() string {
	return [...]string{"nowhere", "chained", "held", "owed", "summed", "ended", "left"}[e.contents]
}

// Add simulates a reference of an operand.
func (e *Engine) Add(op int, addr, size uint64, kind nest.Kind) {
	if e.contents != chained {
		e.fetchBack()
	}
	e.Chain.Add(op, addr, size, kind)
}

// AddAll is Add of each reference in turn.
func (e *Engine) AddAll(refs []engine.Reference) {
	e.fetchBack()
	e.Chain.AddAll(refs)
}

// Descend simulates a fetch that missed in I1, at the second level.
func (e *Engine) Descend(op int, addr, size uint64) {
	e.fetchBack()
	e.Chain.Descend(op, addr, size)
}

// Work is how many references were looked up.
func (e *Engine) Work() uint64 {
	work := e.Chain.Work()
	if e.prover != nil {
		work += e.prover.visited - e.inVain
	}
	if e.summaries != nil {
		work += e.summaries.Work()
	}
	return work
}

// Contents are the blocks of a set of a level, the most recently used first,
// appended to list.
func (e *Engine) Contents(list []uint64, level, set int) []uint64 {
	e.fetchBack()
	return e.Chain.Contents(list, level, set)
}

// Run simulates passes over canonical nests.
func (e *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	if misses := e.whole(nests, passes); misses != nil {
		return misses
	}
	sums := e.sums(nests, passes)
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if len(nests)*passes > 1 {
			if misses := e.whole([]nest.Nest{n}, 1); misses != nil {
				return misses[0][0]
			}
		}
		if e.contents != nowhere && accessesOf(n) > e.gapsFrom {
			if misses, ok := e.warm(n); ok {
				return misses
			}
		}
		if misses, ok := e.again(n); ok {
			return misses
		}
		if sums {
			if misses, ok := e.summed(nest.Sequence(n)); ok {
				return misses
			}
		}
		fresh := e.contents == nowhere
		misses := e.one(n)
		if after := e.contents; fresh && (after == chained || after == held) && len(n.Trips) > 0 {
			e.contents, e.ran = map[residency]residency{chained: ended, held: left}[after], coldRun{n, slices.Clone(misses)}
		}
		return misses
	})
}

// again counts a nest on what it left itself, when it ran on empty levels, and reports
// whether it did.
//
// It looks up the first iterations of the outermost loop on the levels as they are and on
// empty ones. Once both hold the same, all further iterations do what they did when the
// nest ran first, and leave what they left.
func (e *Engine) again(n nest.Nest) ([]uint64, bool) {
	if e.contents != ended && e.contents != left || !reflect.DeepEqual(e.ran.nest, n) || !e.refills(e.ran.misses) {
		return nil, false
	}
	most := n.Trips[0] / mostOfHead
	if e.contents == left {
		if most = min(most, e.headOf(n)); most == 0 {
			return nil, false
		}
		e.fetchBack()
	}
	after := e.all()
	empty := lru.New(e.levels, lru.Options{})
	misses, so := slices.Clone(e.ran.misses), make([]uint64, len(e.ran.misses))
	done := 0
	for some := 1; done+some <= most; some = done {
		head := n.Range(0, done, done+some).Canonical()
		for at, m := range e.Chain.One(head) {
			so[at] += m
			misses[at] += m
		}
		for at, m := range empty.One(head) {
			misses[at] -= m
		}
		if done += some; e.holdsAs(empty) {
			e.agains++
			e.fill(after)
			e.contents = ended
			return misses, true
		}
	}
	e.contents = chained
	for at, m := range e.one(n.Range(0, done, n.Trips[0]).Canonical()) {
		so[at] += m
	}
	return so, true
}

// headOf is how many iterations of the outermost loop of a nest that the prover ran are looked up twice at most, to
// know the rest: no more than it would look up itself, which has to be worth taking the contents back.
func (e *Engine) headOf(n nest.Nest) int {
	cost := e.prover.plan(n).cost
	if cost*handFrom < float64(e.from) {
		return 0
	}
	return int(cost) / 2 / (accessesOf(n) / n.Trips[0])
}

// mostOfHead is the part of a nest that is looked up twice at most, to know the rest.
const mostOfHead = 3

// refills reports whether a nest misses so often in every level that its first iterations
// probably fill it.
func (e *Engine) refills(misses []uint64) bool {
	for level, l := range e.levels {
		sum := uint64(0)
		for at := level; at < len(misses); at += len(e.levels) {
			sum += misses[at]
		}
		if float64(sum) < e.againFrom*float64(l.Lines()) {
			return false
		}
	}
	return true
}

// all are the contents of the chain by level and set.
func (e *Engine) all() (contents [][][]uint64) {
	for level, l := range e.levels {
		list := make([]uint64, 0, l.Lines())
		var sets [][]uint64
		for set := range l.Sets {
			from := len(list)
			list = e.Chain.Contents(list, level, set)
			sets = append(sets, list[from:])
		}
		contents = append(contents, sets)
	}
	return contents
}

// fill makes the chain hold these.
func (e *Engine) fill(contents [][][]uint64) {
	for level, sets := range contents {
		for set, blocks := range sets {
			e.Chain.Load(level, set, blocks)
		}
	}
}

// whole counts passes over nests by gaps or independence, on empty levels, where that
// may pay, and returns nil if it does not or cannot.
func (e *Engine) whole(nests []nest.Nest, passes int) [][][]uint64 {
	if tried := e.tried; tried != nil {
		e.tried = nil
		if e.contents == nowhere && tried.passes == passes && reflect.DeepEqual(tried.nests, nests) {
			if tried.misses != nil {
				e.contents, e.owed = owed, tried.owed
			}
			return tried.misses
		}
		if tried.misses != nil {
			e.inVain += e.forOwed
		}
	}
	if len(nests) == 0 || e.contents != nowhere {
		return nil
	}
	cost := e.costAlone(nests)
	promising := cost < float64(e.gapsFrom)
	if cost >= float64(e.quickFrom) {
		if misses := e.apart(nests, passes); misses != nil {
			return misses
		}
	}
	if len(nests) == 1 && passes == 1 {
		if misses := e.inPasses(nests[0]); misses != nil {
			return [][][]uint64{{misses}}
		}
	}
	if promising || !e.sums(nests, passes) { // else summaries take less than to look up each operand alone
		if misses, ok := e.Independent(nests, passes); ok {
			return misses
		}
	}
	if cost < float64(e.quickFrom) {
		return e.apart(nests, passes)
	}
	return nil
}

// costAlone is about how much independence would look up of the first of the nests: where that is little
// it is tried before gaps, and else behind them, as they look up nothing.
func (e *Engine) costAlone(nests []nest.Nest) float64 {
	if x := e.theProver(); x.fits(nests[0]) {
		return x.independenceCost(nests[:1], 1)
	}
	return math.Inf(1)
}

// apart counts one pass over one nest on empty levels by gaps, or returns nil. The contents are owed then.
func (e *Engine) apart(nests []nest.Nest, passes int) [][][]uint64 {
	if len(nests) != 1 || passes != 1 || e.contents != nowhere || accessesOf(nests[0]) <= e.gapsFrom {
		return nil
	}
	misses, ok := e.byGaps(nests[0])
	if !ok {
		return nil
	}
	e.contents, e.owed, e.forOwed = owed, nests, 0
	return [][][]uint64{{misses}}
}

// effortFrom is the number of look-ups from which on Effort tries to do without.
const effortFrom = 1e8

// mostSummed is the number of look-ups up to which summaries are trusted to do with few: how
// many they need is not known beforehand.
const mostSummed = 1e12

// Effort is about how many references Run looks up, and how many seconds that takes. Where it
// depends on a proof of all of them, that is tried.
func (e *Engine) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	lookUps = e.lookUps(nests, passes)
	if lookUps > effortFrom && e.contents == nowhere {
		tried := &attempted{nests: nests, passes: passes, misses: e.whole(nests, passes)}
		tried.owed, e.contents, e.owed = e.owed, nowhere, nil // nothing was run
		if e.tried = tried; tried.misses != nil || e.sums(nests, passes) && lookUps < mostSummed {
			return 0, 0
		}
	}
	return lookUps, lookUps / 5e7
}

// one simulates a nest.
func (e *Engine) one(n nest.Nest) []uint64 {
	accesses := accessesOf(n)
	if (e.inProver() || accesses >= e.from) && accesses > 0 && e.theProver().fits(n) {
		if plan := e.prover.plan(n); (accesses < e.from || plan.cost*e.dearer < plan.brute) && e.hand() {
			return e.prover.follow(plan)
		}
	}
	e.fetchBack()
	return e.Chain.One(n)
}

// sums reports whether so much would be looked up of passes over nests that summaries promise to
// be quicker. Where they tell of the first level alone, and it has few sets, they make nothing
// small. What they keep of a run is as long as the run, for every place in a line where it may
// begin: of long ones they would take much memory.
func (e *Engine) sums(nests []nest.Nest, passes int) bool {
	if e.levels[0].Sets < fewestSummed && !summaries.Logs(e.levels) {
		return false
	}
	x := e.theProver()
	unfit := func(n nest.Nest) bool {
		return x.isWide(n) || len(n.Trips) > 0 && n.Trips[len(n.Trips)-1] > longestSummed
	}
	return !slices.ContainsFunc(nests, unfit) && e.lookUps(nests, passes) > e.sumsFrom
}

// fewestSummed is how many sets a first level has at least that is told of alone, and
// longestSummed how many iterations an innermost loop at most, that summaries are worth trying.
const (
	fewestSummed  = 8
	longestSummed = 1 << 12
)

// lookUps is about how many references other rules than gaps and independence would look up.
func (e *Engine) lookUps(nests []nest.Nest, passes int) (sum float64) {
	for _, n := range nests {
		refs := engine.References([]nest.Nest{n}, passes)
		if x := e.theProver(); refs > 0 && x.fits(n) {
			plan := x.plan(n)
			refs = min(plan.cost, plan.brute) * float64(passes)
		}
		sum += refs
	}
	return sum
}

// summed simulates a pass over a program by summaries, and reports whether it could: where
// the levels are empty or these know what they hold, and where they know enough numbers for it.
func (e *Engine) summed(p nest.Program) (misses []uint64, ok bool) {
	if e.contents != nowhere && e.contents != bySums {
		return nil, false
	}
	if e.summaries == nil {
		e.summaries = summaries.New(e.levels, summaries.Options{Progress: e.progress, Ample: true})
	}
	misses, err := e.summaries.Run(p)
	if err == nil {
		e.contents = bySums
	}
	return misses, err == nil
}

// RunProgram simulates a pass over a program, by summaries where they can.
func (e *Engine) RunProgram(p nest.Program) []uint64 {
	if misses, ok := e.summed(p); ok {
		return misses
	}
	e.fetchBack()
	return e.Chain.RunProgram(p)
}

// Progress has a function told, now and then, what share of the outermost loops' iterations of a
// program is done, by what runs it; before the first program is run.
func (e *Engine) Progress(tell func(share float64)) { e.progress = tell }

// Promise is about how many references the engine would look up of a nest, if its
// levels were empty.
func (e *Engine) Promise(n nest.Nest) float64 {
	n = n.Canonical()
	if accessesOf(n) == 0 || !e.theProver().fits(n) {
		return float64(accessesOf(n))
	}
	plan, alone := e.prover.plan(n), math.Inf(1)
	if nests := []nest.Nest{n}; disjoint(nests, e.prover.maxShift()) {
		alone = e.prover.independenceCost(nests, 1)
	}
	return min(plan.cost, plan.brute, alone)
}

func accessesOf(n nest.Nest) int { return n.Iterations() * len(n.Operands) }

// Independent counts passes over canonical nests by prover.independentOperands,
// where it may pay, and reports whether it did. The contents are owed then.
func (e *Engine) Independent(nests []nest.Nest, passes int) (misses [][][]uint64, done bool) {
	accesses := 0
	for _, n := range nests {
		if accessesOf(n) == 0 {
			return nil, false
		}
		accesses += accessesOf(n) * passes
	}
	if e.contents != nowhere || accesses < e.independentFrom || e.dependent != nil && reflect.DeepEqual(e.dependent, nests) {
		return nil, false
	}
	most, pays := e.independencePays(nests, passes)
	if !pays {
		return nil, false
	}
	before := e.prover.visited
	e.prover.most = most
	misses, done = e.prover.independentOperands(nests, passes)
	e.prover.most = 0
	if e.forOwed = e.prover.visited - before; done {
		e.contents = owed
		for range passes {
			e.owed = append(e.owed, nests...)
		}
	} else {
		e.dependent = nests
		e.inVain += e.forOwed
	}
	return misses, done
}

// A coldRun is a nest and its misses on empty levels.
type coldRun struct {
	nest   nest.Nest
	misses []uint64
}

// byGaps counts a nest on empty levels by prover.gaps, where all else would look up much, and
// reports whether it did.
func (e *Engine) byGaps(n nest.Nest) ([]uint64, bool) {
	for _, c := range e.cold {
		if reflect.DeepEqual(c.nest, n) {
			return slices.Clone(c.misses), c.misses != nil
		}
	}
	x := e.theProver()
	if x.isWide(n) {
		return nil, false
	}
	if x.fits(n) {
		plan := x.plan(n)
		if min(plan.cost, plan.brute/e.dearer) < float64(e.gapsFrom) {
			return nil, false
		}
	}
	misses, first, ok := x.gaps(n)
	if !ok {
		e.cold = append(e.cold, coldRun{nest: n})
		return nil, false
	}
	if !first {
		for r, m := range e.nearest(n) {
			misses[r*len(e.levels)] = m
		}
	}
	e.cold = append(e.cold, coldRun{n, misses})
	return slices.Clone(misses), true
}

// warm counts a nest on levels that are not empty by what it counts on empty ones, and reports
// whether it did. The contents are owed then. Where the levels hold what they did when a nest was last
// counted so, the misses are known.
func (e *Engine) warm(n nest.Nest) ([]uint64, bool) {
	if len(n.Trips) == 0 || n.Trips[0] < mostOfNest {
		return nil, false
	}
	cold, ok := e.byGaps(n)
	if !ok {
		return nil, false
	}
	e.fetchBack()
	at := slices.IndexFunc(e.warmed, func(w warmRun) bool { return reflect.DeepEqual(w.nest, n) })
	if at >= 0 && e.holds(e.warmed[at].contents) {
		e.rewarmed++
		e.empty(0)
		e.contents, e.owed, e.forOwed = owed, []nest.Nest{n}, 0
		return slices.Clone(e.warmed[at].misses), true
	}
	contents := e.all()
	misses, ok := e.warmBy(n, cold)
	if ok {
		if at < 0 {
			at = len(e.warmed)
			e.warmed = append(e.warmed, warmRun{})
		}
		e.warmed[at] = warmRun{coldRun{n, slices.Clone(misses)}, contents}
	}
	return misses, true
}

// A warmRun is a nest, its misses, and what levels held before it.
type warmRun struct {
	coldRun
	contents [][][]uint64
}

// warmBy counts a nest whose misses on empty levels these are, and reports whether only its start was
// looked up.
//
// It simulates the iterations of the outermost loop on the levels as they are and on empty
// ones, until both hold the same. From there on both do the same.
func (e *Engine) warmBy(n nest.Nest, misses []uint64) ([]uint64, bool) {
	empty := lru.New(e.levels, lru.Options{})
	so := make([]uint64, len(misses))
	y, before := 0, e.Chain.Work()
	for y < n.Trips[0]/mostOfNest {
		one := n.Range(0, y, y+1).Canonical()
		for at, m := range e.Chain.One(one) {
			so[at] += m
			misses[at] += m
		}
		for at, m := range empty.One(one) {
			misses[at] -= m
		}
		if y++; e.holdsAs(empty) {
			e.heads++
			e.empty(0)
			e.contents, e.owed, e.forOwed = owed, []nest.Nest{n}, e.Chain.Work()-before
			return misses, true
		}
	}
	for at, m := range e.Chain.One(n.Range(0, y, n.Trips[0]).Canonical()) {
		so[at] += m
	}
	return so, false
}

// mostOfNest is the part of a nest that is looked up at most, to know the rest.
const mostOfNest = 4

// holdsAs reports whether the chain holds what another does.
func (e *Engine) holdsAs(other *lru.Chain) bool {
	var a, b []uint64
	for level := len(e.levels) - 1; level >= 0; level-- {
		for set := range e.levels[level].Sets {
			a, b = e.Chain.Contents(a[:0], level, set), other.Contents(b[:0], level, set)
			if !slices.Equal(a, b) {
				return false
			}
		}
	}
	return true
}

// holds reports whether the chain holds these, by level and set.
func (e *Engine) holds(contents [][][]uint64) bool {
	var list []uint64
	for level := len(e.levels) - 1; level >= 0; level-- {
		for set, blocks := range contents[level] {
			if list = e.Chain.Contents(list[:0], level, set); !slices.Equal(list, blocks) {
				return false
			}
		}
	}
	return true
}

// empty empties the chain's levels from one on.
func (e *Engine) empty(from int) {
	for level := from; level < len(e.levels); level++ {
		for set := range e.levels[level].Sets {
			e.Chain.Load(level, set, nil)
		}
	}
}

// nearest counts the misses of a nest's operands on the nearest level alone, empty.
func (e *Engine) nearest(n nest.Nest) []uint64 {
	if misses, err := summaries.New(e.levels[:1], summaries.Options{}).Run(nest.Sequence(n)); err == nil {
		return misses
	}
	return New(e.levels[:1], 1).one(n)
}

// independencePays reports whether independence promises to be much quicker than
// all else, and after how many look-ups it has broken that promise: how soon periods repeat is
// not known beforehand.
func (e *Engine) independencePays(nests []nest.Nest, passes int) (most uint64, pays bool) {
	x := e.theProver()
	together := 0.0
	for _, n := range nests {
		if !x.fits(n) {
			return 0, false
		}
		plan := x.plan(n)
		together += min(plan.cost, plan.brute/e.dearer) * float64(passes)
	}
	if e.independentGain == 0 {
		return 0, true
	}
	cost := x.independenceCost(nests, passes)
	return uint64(min(brokenBy*cost, together/e.independentGain)) + 1, cost*e.independentGain < together
}

// brokenBy is how many times what was promised breaks the promise.
const brokenBy = 2

// theProver is the prover, made when it is first needed.
func (e *Engine) theProver() *prover {
	if e.prover == nil {
		e.prover = newProver(e.levels)
	}
	return e.prover
}

// hand gives the contents to the prover, and reports whether it could take
// them: a block may be too large for it.
func (e *Engine) hand() bool {
	switch e.contents {
	case owed:
		e.pay()
	case bySums, ended:
		e.fetchBack()
	}
	e.prover.open()
	if e.contents == chained {
		e.Flush()
		var list []uint64
		for level, l := range e.levels {
			for set := range l.Sets {
				list = e.Chain.Contents(list[:0], level, set)
				if !e.prover.levels[level].load(set, list) {
					return false
				}
			}
		}
	}
	e.contents = held
	return true
}

// inProver reports whether the contents are there.
func (e *Engine) inProver() bool { return e.contents == held || e.contents == left }

// fetchBack takes the contents back, before something is looked up in the
// chain.
func (e *Engine) fetchBack() {
	if e.contents == owed {
		e.pay()
	}
	if e.inProver() || e.contents == bySums {
		for level := range e.levels {
			if !e.load(level) {
				e.Widen()
				e.load(level)
			}
		}
	}
	e.contents = chained
}

// load copies the contents of a level of the prover, or of the summaries, to the
// chain, unless a block is too large for it as it is.
func (e *Engine) load(level int) bool {
	var list []uint64
	for set := range e.levels[level].Sets {
		if e.contents == bySums {
			list = e.summaries.Contents(level, set)
		} else {
			list = e.prover.levels[level].blocks(list[:0], set)
		}
		if !e.Load(level, set, list) {
			return false
		}
	}
	return true
}

// pay makes up for nests that independence or gaps counted, whose contents are needed after all:
// the end of the last is looked up, or where that does not tell, all that other rules do not skip.
func (e *Engine) pay() {
	nests := e.owed
	e.contents, e.owed = chained, nil
	if e.tail(nests[len(nests)-1]) {
		return
	}
	e.inVain += e.forOwed
	for _, n := range nests {
		e.one(n)
	}
}
