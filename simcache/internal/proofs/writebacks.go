package proofs

import (
	"reflect"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lru"
)

// backed counts a nest on empty levels whose dirty lines are written back, and reports
// whether that could be done: the misses of operand r in level i at r*len(levels)+i, and by
// level the lines that are written back.
//
// A line is dirty in level 0 from a write or a modify on. When it leaves a level it is put
// back into the next, where it becomes the most recent, or takes a place, and is dirty. So a
// level sees the accesses that missed in the one before, and put-backs. Say, as for gaps, that
// operands share no block, that all levels have lines of one size, and that no access lies in
// two. Call operands dirty that write; none of them may hit behind level 0 (once).
//
// Say that E(i) is such that a block is put back into level i at most so many iterations after
// its last access. Then each operand's accesses that reach a level are those that reach it if it
// runs alone, without put-backs, if so they are at the level before and
//
//   - each hit of an operand that is not dirty stays one with what the others have in its
//     window (company.keeps): of a dirty one, what it touches within E(i) iterations before
//     its first and up to its last, since what is put back was touched at most so long before
//     (crowded). A miss stays one: its own blocks are never put back, and others only add to
//     its window.
//   - the misses of a dirty operand alone are its accesses without a gap (prover.gaps), and those
//     whose gap is M(i) or more, where any M(i)-E(i)-1 iterations of it begin stays of as many
//     blocks of every set as there are ways: its block was last touched, or put back, before
//     these (distant).
//
// In level 0 there are no put-backs, and independence tells.
//
// E(0) is 0. Say that in any F(i) iterations stays begin of as many blocks of every set as there
// are ways. A block that leaves level i was touched or put back there at most E(i) iterations
// after its last access, and left at most F(i) after that. So E(i+1) is E(i)+F(i) (delay).
//
// A line that leaves level 0 is dirty if its operand is. So level 0 writes back as many lines as
// dirty operands miss, less those that it holds in the end. Between two put-backs of a
// block into level i+1, after the first, lies an access of it that misses in level i: in level 0 as only
// such an access brings it back; in level i as it was put back into it in between, from which an access
// follows that misses in level i-1, thus in level i, thus after the first of the two, since
// up to it the block was there. That access missed in level i+1 too, so that the second put-back
// finds no dirty line of the block. So each put-back makes a line dirty that was not, and a
// level writes back as many lines as are put back into it, less those that are dirty in it in
// the end (dirtyAtEnd).
func (x *prover) backed(n nest.Nest) (misses, backs []uint64, ok bool) {
	b, ok := x.newBacking(n)
	if !ok || !b.delay() {
		return nil, nil, false
	}
	if trial := beginning(n); x.independenceCost([]nest.Nest{n}, 1) > trialFrom {
		if _, ok := b.alone(trial, trialBudget); !ok {
			return nil, nil, false
		}
	}
	misses, ok = b.alone(n, min(1<<24, n.Iterations()))
	if !ok || !b.once(misses) || !b.distant(misses) {
		return nil, nil, false
	}
	all := 0 // in so many iterations each level becomes full
	for _, flood := range b.floods {
		all += flood
	}
	dirty, ok := b.dirtyAtEnd(all - all/8) // as blocks often come sooner than that proves
	if !ok {
		dirty, ok = b.dirtyAtEnd(all)
	}
	if !ok {
		return nil, nil, false
	}
	left := uint64(0)
	for r := range n.Operands {
		if b.dirty[r] {
			left += misses[r*len(x.levels)]
		}
	}
	for _, stay := range dirty {
		left -= stay
		backs = append(backs, left)
	}
	return misses, backs, true
}

// A backing is a nest that prover.backed is asked of.
type backing struct {
	*prover
	n        nest.Nest
	operands []gapped
	dirty    []bool  // by operand
	least    [][]int // M by level and operand, math.MaxInt for no gap that there is
	delays   []int   // E by level
	floods   []int   // F by level
}

// newBacking prepares the operands.
func (x *prover) newBacking(n nest.Nest) (*backing, bool) {
	operands, ok := x.gapped(n)
	if !ok {
		return nil, false
	}
	b := &backing{prover: x, n: n, operands: operands}
	for _, op := range n.Operands {
		b.dirty = append(b.dirty, op.Kind != nest.Read)
	}
	return b, true
}

// delay finds E, F and M of each level, or reports that there is none.
func (b *backing) delay() bool {
	delay := 0
	for i := range b.levels {
		l := &b.levels[i]
		b.delays = append(b.delays, delay)
		flood, ok := l.flood(b.operands, b.n.Iterations()/mostOfNest)
		if !ok {
			return false
		}
		b.floods = append(b.floods, flood)
		least := make([]int, len(b.operands))
		for r := range b.operands {
			least[r] = never
			if b.dirty[r] {
				least[r] = l.distance(&b.operands[r], delay)
			}
		}
		for r := range b.operands {
			b.operands[r].misses = least[r]
		}
		b.least = append(b.least, least)
		delay += flood
	}
	return true
}

// flood is about the least number of iterations, up to a limit, in any of which stays begin of
// as many blocks of every set as there are ways.
func (l *level) flood(operands []gapped, limit int) (iterations int, ok bool) {
	most := l.Lines()
	for ; !l.floodsIn(operands, most); most *= 2 {
		if most > limit {
			return 0, false
		}
	}
	for step := most / 4; step >= most/8 && step > 0; step /= 2 {
		if l.floodsIn(operands, most-step) {
			most -= step
		}
	}
	return most, true
}

// distance is M of an operand in a level where blocks are put back so many iterations after their
// last accesses at most.
func (l *level) distance(o *gapped, delay int) int {
	var sizes []int
	for _, p := range o.patterns {
		sizes = append(sizes, p.least)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.floods([]gapped{*o}, size-delay-1) {
			return 1
		}
		return -1
	})
	if at == len(sizes) {
		return never
	}
	return sizes[at]
}

// alone runs each operand of a nest alone, and reports whether all hits stay ones in company.
func (b *backing) alone(n nest.Nest, budget int) (misses []uint64, ok bool) {
	var lones []*prover
	for r := range n.Operands {
		lone := b.lone()
		misses = append(misses, lone.run(n.Only(r).Canonical())...)
		b.visited += lone.visited
		lones = append(lones, lone)
	}
	for r, lone := range lones {
		for i := range lone.levels {
			for _, reuse := range lone.levels[i].reuses {
				if reuse.hit && !b.keeps(i, r, reuse, &budget) {
					return nil, false
				}
			}
		}
	}
	return misses, true
}

// keeps reports whether hits of operand r in level i stay hits in company.
func (b *backing) keeps(i, r int, reuse reuse, budget *int) bool {
	l := &b.levels[i]
	room := l.Ways - 1 - reuse.depth
	for other := range b.operands {
		if other == r {
			continue
		}
		within := reuse.time
		if i > 0 && b.dirty[other] {
			within += uint64(b.delays[i]) + 1
		}
		if room -= l.crowd(b.operands[other].alone, within, room, budget); room < 0 {
			return false
		}
	}
	return true
}

// once reports whether what dirty operands miss in level 0 they miss everywhere.
func (b *backing) once(misses []uint64) bool {
	for r, dirty := range b.dirty {
		for i := range b.levels {
			if dirty && misses[r*len(b.levels)+i] != misses[r*len(b.levels)] {
				return false
			}
		}
	}
	return true
}

// distant reports whether in each level behind the first all misses of dirty operands are
// accesses with gaps of at least M, or with none: these miss, and there are as many.
func (b *backing) distant(misses []uint64) bool {
	line := 1 << b.minShift()
	for r, o := range b.operands {
		for i := 1; b.dirty[r] && i < len(b.levels); i++ {
			least := b.least[i][r]
			if slices.ContainsFunc(o.patterns, func(p pattern) bool { return p.least < least && p.most >= least }) {
				return false // gaps of a pattern lie on both sides
			}
			if count, ok := o.beginnings(least-1, line); !ok || count != misses[r*len(b.levels)+i] {
				return false
			}
		}
	}
	return true
}

// mostAtEnd is how many accesses are looked up at most to know what levels hold in the end, and
// stepsAtEnd in about how many steps.
const (
	mostAtEnd  = 1 << 26
	stepsAtEnd = 64
)

// dirtyAtEnd is how many lines of each level are dirty in the end, as the last iterations tell,
// about so many, that are looked up on an empty chain, and reports whether these are enough.
//
// As in Engine.tail a level is emptied when the one before it is full, and so holds what it
// does. From then on it sees what it does in the whole nest, and when it is full it holds what
// it does. Its lines were touched since it was emptied: of a dirty operand, by an access, which
// misses in all levels, so that the line came with it, clean, as it does in the whole nest; or
// by being put back, which makes it dirty.
func (b *backing) dirtyAtEnd(iterations int) (dirty []uint64, ok bool) {
	n := b.n
	lead, inside := 0, n.Iterations()
	step, steps := 0, 0 // iterations of the lead; the outermost loop that is cut fine enough
	for ; lead < len(n.Trips); lead++ {
		inside /= n.Trips[lead]
		step = max(1, iterations/inside/stepsAtEnd)
		steps = iterations/inside/step + len(b.levels) + 1 // a level may become full just after it is asked
		if steps*step <= n.Trips[lead] && steps*step*inside*len(n.Operands) <= mostAtEnd {
			break
		}
	}
	if lead == len(n.Trips) {
		return nil, false
	}
	for m := range lead {
		n = n.Range(m, n.Trips[m]-1, n.Trips[m])
	}
	var specs []engine.Level
	for i := range b.levels {
		specs = append(specs, b.levels[i].Level)
	}
	end := &Engine{Chain: lru.New(specs, lru.Options{WriteBacks: true}), levels: specs}
	known := 0
	for y := n.Trips[lead] - steps*step; y < n.Trips[lead]; y += step {
		end.Chain.One(n.Range(lead, y, y+step).Canonical())
		for known < len(specs) && end.full(known) {
			known++
			end.empty(known)
		}
	}
	b.visited += end.Chain.Work()
	for i := range specs {
		dirty = append(dirty, end.Chain.Dirty(i))
	}
	return dirty, known == len(specs)
}

// backsFrom is the number of look-ups from which a Backs tries to do without.
const backsFrom = 1 << 25

// A Backs is levels whose dirty lines are written back. The first nest may be counted by
// prover.backed; everything else is looked up.
type Backs struct {
	*lru.Chain
	levels []engine.Level
	prover *prover
	begun  bool // something was run
	from   float64
	tried  *backRun // of the last nest that was asked about
	owed   *backRun // counted, but the chain knows nothing of it
	inVain uint64   // look-ups to count what was then looked up
}

// A backRun is a nest, and what it counts on empty levels.
type backRun struct {
	nest          nest.Nest
	misses, backs []uint64
	ok            bool
}

// NewBacks makes empty levels, the nearest first, whose chain uses so many cores.
func NewBacks(levels []engine.Level, cores int) *Backs {
	return &Backs{Chain: lru.New(levels, lru.Options{WriteBacks: true, Cores: cores}), levels: levels, prover: newProver(levels), from: backsFrom}
}

// Reset makes the engine what NewBacks returned, in the memory that its chain has.
func (b *Backs) Reset() {
	b.Chain.Reset()
	*b = Backs{Chain: b.Chain, levels: b.levels, prover: newProver(b.levels), from: b.from}
}

// Proves reports whether Run would count a canonical nest without looking up all of it.
func (b *Backs) Proves(n nest.Nest) bool {
	if b.begun {
		return false
	}
	if b.tried == nil || !reflect.DeepEqual(b.tried.nest, n) {
		b.tried = &backRun{nest: n}
		if lookUps, _ := b.Chain.Effort([]nest.Nest{n}, 1); lookUps > b.from && b.prover.fits(n) &&
			2*b.prover.independenceCost([]nest.Nest{n}, 1) < lookUps {
			b.tried.misses, b.tried.backs, b.tried.ok = b.prover.backed(n)
		}
	}
	return b.tried.ok
}

// Run simulates passes over canonical nests.
func (b *Backs) Run(nests []nest.Nest, passes int) [][][]uint64 {
	if len(nests) == 1 && passes == 1 && b.Proves(nests[0]) {
		b.begun, b.owed = true, b.tried
		return [][][]uint64{{slices.Clone(b.owed.misses)}}
	}
	b.pay()
	return b.Chain.Run(nests, passes)
}

// pay looks up what was counted without.
func (b *Backs) pay() {
	if !b.begun {
		b.inVain = b.prover.visited
	}
	if b.begun = true; b.owed != nil {
		n := b.owed.nest
		b.owed, b.inVain = nil, b.prover.visited
		b.Chain.Run([]nest.Nest{n}, 1)
	}
}

// RunProgram simulates a pass over a program.
func (b *Backs) RunProgram(p nest.Program) []uint64 {
	b.pay()
	return b.Chain.RunProgram(p)
}

// Add simulates a reference of an operand.
func (b *Backs) Add(op int, addr, size uint64, kind nest.Kind) {
	if !b.begun || b.owed != nil {
		b.pay()
	}
	b.Chain.Add(op, addr, size, kind)
}

// Descend simulates a fetch that missed in I1, at the second level.
func (b *Backs) Descend(op int, addr, size uint64) {
	b.pay()
	b.Chain.Descend(op, addr, size)
}

// Effort is about how many references Run looks up, and how many seconds that takes.
func (b *Backs) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	if len(nests) == 1 && passes == 1 && b.Proves(nests[0]) {
		return 0, 0
	}
	return b.Chain.Effort(nests, passes)
}

// Work is how many references were looked up.
func (b *Backs) Work() uint64 { return b.Chain.Work() + b.prover.visited - b.inVain }

// Besides is what write-backs move.
func (b *Backs) Besides(level int) engine.Besides {
	if b.owed == nil {
		return b.Chain.Besides(level)
	}
	line := uint64(1) << b.levels[level].Shift
	in := uint64(0)
	for r := level; r < len(b.owed.misses); r += len(b.levels) {
		in += b.owed.misses[r]
	}
	return engine.Besides{BytesIn: in * line, BytesOut: b.owed.backs[level] * line, WriteBacks: b.owed.backs[level]}
}
