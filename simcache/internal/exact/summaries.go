package exact

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Options say how regions are run.
type options struct {
	Brute     bool // make no summaries
	Threshold int  // touches from which on a summary pays; 0 is the fastest value
	// Progress, if set, receives the finished share of the outermost loops' iterations now and
	// then. The goroutine of the run calls it.
	Progress func(share float64)

	// Fitting skips look-ups in levels in which all working sets fit.
	Fitting bool

	kept int // approximate bytes for summaries; 0 is mostKept. Tests set it.
}

// Regions are levels of LRU caches that run programs by summaries of their regions.
//
// A summary of a region is its effect on a level that begins empty ([state]). It composes with the
// past ([machine.apply]). By warping, it serves every instance of a loop with the same sequence of
// lines, up to a move of each reference by whole lines ([unit.placeIn], [unit.moves]). More
// iterations extend it ([machine.extend]). Strip-mining cuts long loops into chunks whose summaries
// compose by doubling ([machine.chunks]). Iterations that touch the same lines are run a few times
// and multiplied ([machine.repeat]).
//
// Loop-invariant references leave the summary of an innermost loop, which then knows the effect of
// fewer ways on the others ([machine.alone]).
// Accesses to small arrays leave the summary of a loop around others, and only their sets are run
// ([machine.pieces]). Everything else runs by runs within lines ([machine.runs]). Units whose
// summaries do not pay are given up ([machine.book]).
//
// Summaries are of the first level, and keep the miss stream for later ones ([log]). If levels are
// not [sliced], or accesses may straddle lines, only repeated iterations are multiplied, or all
// accesses are made.
type regions struct {
	levels  []engine.Level
	options options
	origin  int // address of the first byte of line 1
	states  []*state
	fitting *fitting // nil if all levels are simulated
	did     did
}

// A did counts work, about.
type did struct{ touched, applied int } // lines, and summaries

func newRegions(levels []engine.Level, o options) *regions {
	return &regions{levels: levels, options: o}
}

var errMany = errors.New("more ways or accesses than 16 bits count")

// Run runs a program and returns its misses, those of operand r at level i of n at r*n+i. Before it
// runs anything, it refuses accesses wider than a line, programs with more lines than 32 bits
// number, and levels with more ways or texts with more accesses than 16 bits count, unless all
// lines fit.
func (e *regions) Run(p nest.Program) ([]uint64, error) {
	if engine.Wide(e.levels, p.Operands()) {
		return nil, errors.New("accesses wider than a line")
	}
	if misses, done, err := e.runFitting(p); done || err != nil {
		return misses, err
	}
	if err := e.refill(); err != nil {
		return nil, err
	}
	m, err := e.machine(p)
	if err != nil {
		return nil, err
	}
	return m.count(), nil
}

// Work returns the approximate number of lines looked up.
func (e *regions) Work() uint64 {
	work := uint64(e.did.touched)
	if e.fitting != nil && e.fitting.near != nil {
		work += e.fitting.near.Work()
	}
	return work
}

// Contents returns the lines in a set of a level, the last touched first.
func (e *regions) Contents(level, set int) []uint64 {
	if err := e.refill(); err != nil {
		panic(err) // toChain handles it
	}
	if e.states == nil {
		return nil
	}
	s := e.states[level]
	first := e.origin >> s.shift
	at := s.fold(uint32((set - first%s.sets + s.sets) % s.sets))
	var lines []uint64
	for _, tag := range s.tags[at*s.ways:][:s.ways] {
		if tag != 0 {
			lines = append(lines, uint64(first+int(tag)-1))
		}
	}
	return lines
}

// A machine runs one program.
type machine struct {
	levels           []engine.Level
	ops              int
	minLine, maxLine int
	maxShift         uint
	span             int // bytes after which lines are in the same sets of the first level
	keeps            bool
	deep             bool // there are later levels: summaries keep miss streams
	threshold        float64
	slots            []int // by slot: numbers
	least, most      []int // by slot: zeros, and the greatest numbers in an instance
	program          []*node
	states           []*state
	clock, ids       uint64
	lines            []uint32 // scratch
	linesOps         []uint16 // scratch
	listed           []listed // scratch: nodes of a run in one row
	sets             []uint32 // scratch: lines, by operand and set of a slice of the second level
	kept             []uint32 // scratch: rows
	missed           []int    // scratch: operands that miss in a summary
	skipped          []uint64 // a bit for each row of a summary that is not applied
	turned           []uint64 // scratch: a bit for each row of a summary
	saved            []uint64
	movers           []mover
	tabled           []*unit // those with a table
	held, mostKept   int     // approximate bytes of their entries, and the limit
	booked           int     // work charged to units
	owed, mayOwe     int     // by units; see book
	did              *did
}

func (e *regions) machine(p nest.Program) (*machine, error) {
	m := &machine{
		levels: e.levels, minLine: math.MaxInt, did: &e.did, keeps: !e.options.Brute,
		threshold: 500, mostKept: cmp.Or(e.options.kept, mostKept),
	}
	if e.options.Threshold > 0 {
		m.threshold = float64(e.options.Threshold)
	}
	for _, l := range e.levels {
		if l.Ways > math.MaxUint16 {
			return nil, errMany
		}
		m.minLine, m.maxLine = min(m.minLine, 1<<l.Shift), max(m.maxLine, 1<<l.Shift)
		m.maxShift = max(m.maxShift, l.Shift)
	}
	m.span = e.levels[0].Sets << e.levels[0].Shift
	m.deep = len(e.levels) > 1 && sliced(e.levels)
	b := &builder{line: m.minLine, from: math.MaxInt}
	m.program = b.nodes(p)
	if m.ops = b.ops; m.ops > math.MaxUint16 {
		return nil, errMany
	}
	if err := e.place(m, b); err != nil {
		return nil, err
	}
	for _, s := range e.states {
		s.misses = make([]uint64, m.ops)
	}
	e.prepare(m, b)
	return m, nil
}

// prepare chooses how to run the parts of a machine's program, which is placed.
func (e *regions) prepare(m *machine, b *builder) {
	slots := make([]int, 3*len(b.low))
	m.slots, m.least = cut(&slots, len(b.low)), cut(&slots, len(b.low))
	m.most = slots
	for i, n := range m.program {
		if e.options.Progress != nil && n.kind == loop {
			n.progress = func(share float64) {
				e.options.Progress((float64(i) + share) / float64(len(m.program)))
			}
		}
		for _, c := range m.units(n) {
			if c.inner {
				c.inside = m.inside(c)
				c.solo = m.solo(c)
			}
			if c.kind == block {
				varies := n.kind == loop && slices.Contains(n.body, c) && c.changesWith(n.slot)
				c.light = varies || c.isLight()
			}
			if !m.deep {
				c.tiny = m.tiny(c, b)
			}
		}
	}
	m.states = e.states[:len(m.levels)]
	words := (m.levels[0].Sets + 63) / 64
	m.skipped, m.turned = make([]uint64, words), make([]uint64, words)
	m.mayOwe = max(leastOwed, int(min(m.sum(m.program), math.MaxInt/2))/owedOf)
}

// place makes accesses count from an origin below all their lines and those in the levels.
// Internally a line's set is its number from the origin, modulo the sets: the level's sets, turned.
func (e *regions) place(m *machine, b *builder) error {
	from, to := b.from, b.to
	for level := range e.states {
		for set := range e.levels[level].Sets {
			for _, line := range e.Contents(level, set) {
				first := int(line) << e.levels[level].Shift
				from, to = min(from, first), max(to, first)
			}
		}
	}
	if from > to { // there are none
		from = 0
	}
	from = from &^ (m.maxLine - 1)
	if to-from < 0 || (to-from)/m.minLine >= math.MaxUint32-1 {
		return fmt.Errorf("addresses from %#x to %#x: more lines of %d B than summaries number",
			from, to, m.minLine)
	}
	e.rebase(from)
	b.move(from)
	return nil
}

func (b *builder) move(origin int) {
	for _, a := range b.accesses {
		a.addr.c -= origin
	}
}

// rebase moves the levels' contents to another origin.
func (e *regions) rebase(origin int) {
	var moved []*state
	for level, l := range e.levels {
		s := newState(l, 0, 0).known()
		if level > 0 && sliced(e.levels) {
			s.slice(e.levels[0].Sets)
		}
		for set := range l.Sets {
			at := s.fold(uint32((set - (origin>>l.Shift)%l.Sets + l.Sets) % l.Sets))
			for way, line := range e.Contents(level, set) {
				s.tags[at*l.Ways+way] = uint32(int(line)-(origin>>l.Shift)) + 1
			}
		}
		moved = append(moved, s)
	}
	e.states, e.origin = moved, origin
}

func (m *machine) context() *context {
	words := len(m.skipped)
	return &context{
		states: m.states, sliced: m.deep, logs: make([]uint64, words), heads: make([]uint64, words),
	}
}

func (m *machine) count() []uint64 {
	m.run(m.program, m.context())
	misses := make([]uint64, m.ops*len(m.levels))
	for i, s := range m.states {
		for op, n := range s.misses {
			misses[op*len(m.levels)+i] = n
		}
	}
	return misses
}
