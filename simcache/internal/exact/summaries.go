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
	Brute     bool // keep no summaries
	Threshold int  // touches from which on a summary is kept; 0 is the fastest one
	// Progress, if there is one, is told what share of the outermost loops' iterations is done, now
	// and then, from the goroutine that runs.
	Progress func(share float64)

	// Ample has levels that have room for all that is run not be looked up.
	Ample bool

	kept int // bytes that summaries may take, about; 0 is mostKept, which tests do not fill
}

// Regions are levels of LRU caches that programs are run on by summaries of their parts.
//
// A summary of a stretch of a program is what it does to a level that begins empty
// ([state]). It composes with what came before ([machine.apply]). The summary of one
// instance of a loop stands for every instance with the same stream of lines, up to moving
// each reference by whole lines ([unit.placeIn], [unit.moves]). A summary of fewer
// iterations is continued ([machine.extend]). Long loops are cut into chunks, whose
// summaries compose by doubling ([machine.chunks]). Iterations that touch the same lines
// are run a few times and multiplied ([machine.repeat]).
//
// Accesses that rest on a line leave the summary of an innermost loop, which then knows
// what fewer ways make of the others ([machine.alone]). So do accesses that rest in a nest
// of loops ([machine.aloneNested]). Accesses to small arrays leave the summary of a loop
// around others, and only their sets are run ([machine.pieces]). Whatever is not worth a
// summary is run, by runs within lines ([machine.runs]). Units whose summaries do not pay
// are given up ([machine.book]).
//
// Summaries are of the first level, and keep logs of what goes on to the later ones
// ([log]). Where levels are not [sliced], and around accesses that may straddle lines,
// only repeated iterations are multiplied, or all accesses are made.
type regions struct {
	levels  []engine.Level
	options options
	origin  int // address of the first byte of line 1
	states  []*state
	ample   *ample // nil if all levels are simulated
	did     did
}

// did is what was done how often.
type did struct {
	Touched     int // lines, about
	Applied     int // summaries
	Again       int // of them, to a state that has their lines on top
	Full        int // of them, with vectors
	Partly      int // of these, where the summary has fewer heads in some rows than ways
	ByRow       int // of them, to a state that keeps misses by row
	Recorded    int // entries
	Extended    int // entries, by more iterations
	Moved       int // entries, to where an instance is
	Refused     int // entries, since references that move apart may meet
	Instead     int // entries, after one of the same key was refused
	Interleaved int // references that move apart and never meet
	Chunked     int // loops
	Repeated    int // loops, over iterations that touch the same lines
	Early       int // of them, after the second, as nothing missed after the first level
	Alone       int // loops, by what moves in them
	Anew        int // of these, as the time before
	Rested      int // rows that what rests in a loop is in
	Nested      int // nests in which accesses rest
	Pieces      int // of loops, in which accesses to small arrays rest
	Alike       int // iterations of these in a row, with the misses of the one before
	Marched     int // stretches in which no two accesses share a set
	Stopped     int // of them, in a row in which a line rests
	Logged      int // misses, in logs
	Over        int // entries whose log grew too long
	GivenUp     int // times that units owed too much
	Emptied     int // tables, as all took too much memory
	Quiet       int // rows of which nothing went on to the later levels, as it is there
	Nothing     int // rows of which nothing goes on, as the log is empty
	Crowded     int // rows that have too many lines for that
	Whole       int // rows of which all goes on, together with others
	Rear        int // rows of which the log goes on, together with others
	Ample       int // programs, which some level has room for
}

// newRegions returns empty caches.
func newRegions(levels []engine.Level, o options) *regions {
	return &regions{levels: levels, options: o}
}

// Run runs a program, and returns its misses: those of operand r at level i of n
// are at r*n+i. It refuses, before anything is run, a program whose lines 32 bits do
// not number, levels whose ways 16 bits do not count, and accesses wider than a line.
func (e *regions) Run(p nest.Program) ([]uint64, error) {
	if engine.Wide(e.levels, p.Operands()) {
		return nil, errors.New("accesses wider than a line")
	}
	if misses, done, err := e.runAmple(p); done || err != nil {
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

// Work is about how many lines were looked up.
func (e *regions) Work() uint64 {
	work := uint64(e.did.Touched)
	if e.ample != nil && e.ample.near != nil {
		work += e.ample.near.Work()
	}
	return work
}

// Contents are the lines in a set of a level, the one touched last first.
func (e *regions) Contents(level, set int) []uint64 {
	if e.refill() != nil || e.states == nil {
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
	deep             bool // there are levels after the first: summaries keep logs
	threshold        float64
	slots, most      []int // by slot: numbers, and the highest of them in an instance
	program          []*node
	states           []*state
	clock, ids       uint64
	lines            []uint32 // scratch
	linesOps         []uint16 // scratch
	listed           []listed // scratch: what runs in a row
	sets             []uint32 // scratch: lines, by operand and set of a slice of the second level
	kept             []uint32 // scratch: rows
	missed           []int    // scratch: operands of a summary that miss in it
	missing          []uint8  // scratch: by row of a summary, a bit for each head that missed
	found            []uint8  // scratch, after it: 0 where surely no head was there
	skipped          []uint64 // a bit for each row of a summary that is not applied
	turned           []uint64 // scratch: a bit for each row of a summary
	saved            []uint64
	movers           []mover
	tabled           []*unit // that have a table
	held, mostKept   int     // bytes that their entries take, and may take, about
	booked           int     // of what was done, in the accounts of units
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
			return nil, fmt.Errorf("sets of %d ways: summaries know up to %d",
				l.Ways, math.MaxUint16)
		}
		m.minLine, m.maxLine = min(m.minLine, 1<<l.Shift), max(m.maxLine, 1<<l.Shift)
		m.maxShift = max(m.maxShift, l.Shift)
	}
	m.span = e.levels[0].Sets << e.levels[0].Shift
	m.deep = len(e.levels) > 1 && sliced(e.levels)
	b := &builder{line: m.minLine, from: math.MaxInt}
	m.program = b.nodes(p)
	if m.ops = b.ops; m.ops > math.MaxUint16 {
		return nil, fmt.Errorf("%d accesses in the text: summaries know up to %d",
			m.ops, math.MaxUint16)
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

// prepare finds what a machine's program may be run by, which is placed.
func (e *regions) prepare(m *machine, b *builder) {
	m.program = m.sparse(m.program)
	m.slots, m.most = make([]int, len(b.low)), make([]int, len(b.low))
	for i, n := range m.program {
		if e.options.Progress != nil && n.kind == loop {
			n.progress = func(share float64) {
				e.options.Progress((float64(i) + share) / float64(len(m.program)))
			}
		}
		for _, c := range m.units(n) {
			if c.unit != nil && !c.inner {
				c.unit.few = m.fewKeys(c.unit, b.high)
			}
			if c.inner {
				c.inside = m.inside(c)
				c.solo = m.solo(c)
			} else {
				c.nested = m.nested(c, b.high)
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

// place makes the accesses count from an origin, below all that they and the levels
// hold. Internally the set of a line is its number from the origin on modulo the
// sets: the sets of a level, turned.
func (e *regions) place(m *machine, b *builder) error {
	from, to := b.from, b.to
	if len(b.accesses) == 0 {
		from, to = 0, 0
	}
	for level := range e.states {
		for set := range e.levels[level].Sets {
			for _, line := range e.Contents(level, set) {
				first := int(line) << e.levels[level].Shift
				from, to = min(from, first), max(to, first)
			}
		}
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

// move makes the accesses count from an origin.
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

// context is that of all levels.
func (m *machine) context() *context {
	words := len(m.skipped)
	return &context{
		states: m.states, sliced: m.deep, logs: make([]uint64, words), heads: make([]uint64, words),
	}
}

// count runs the program and returns its misses.
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
