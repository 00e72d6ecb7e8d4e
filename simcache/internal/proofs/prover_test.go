package proofs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// differ says how the contents of a prover differ from the specification's; "" if
// they do not.
func differ(want *reference.Caches, x *prover) string {
	for i := range x.levels {
		for s := range x.levels[i].Sets {
			if got, want := x.levels[i].blocks(nil, s), want.Contents(i, s); !slices.Equal(got, want) {
				return fmt.Sprintf("level %d, set %d: %v, want %v", i, s, got, want)
			}
		}
	}
	return ""
}

// sane checks what the rules rely on: that in a set empty ways come last and
// epochs never grow.
func sane(x *prover) string {
	for i := range x.levels {
		l := &x.levels[i]
		for s := range uint64(l.Sets) {
			row := l.row(s)
			for q := 1; q < len(row); q++ {
				if row[q] != 0 && (row[q-1] == 0 || row[q-1]&epochMask < row[q]&epochMask) {
					return fmt.Sprintf("level %d, set %d: epochs grow: %x", i, s, row)
				}
			}
		}
	}
	return ""
}

// A sequence is nests to run one after the other on one cache, each with translation
// tried on a loop, or on what the plan says for asPlanned.
type sequence struct {
	levels   []engine.Level
	maxEpoch uint64 // 0 for the prover's own
	nests    []nest.Nest
	loops    []int
}

const asPlanned = -1

// sequenceOf draws 1 to 3 nests, each of at most so many accesses.
func sequenceOf(d enginetest.Draw, most int) sequence {
	s := sequence{levels: d.Levels()}
	if d.One(8) {
		s.maxEpoch = uint64(2 + d(60)) // epochs run out
	}
	for range 1 + d(3) {
		s.nests = append(s.nests, d.Nest(s.levels, most))
		s.loops = append(s.loops, d(8)) // even where it does not pay
	}
	return s
}

// A trial is what came of sequences.
type trial struct {
	took          ruleCounts
	visited, refs uint64
	nests         int
}

// check compares the prover with brute force on a sequence: counts, contents,
// and what the rules rely on. It says what is wrong.
func (c *trial) check(s sequence) (wrong string) {
	x, want := newProver(s.levels), reference.New(s.levels)
	if s.maxEpoch > 0 {
		x.maxEpoch = s.maxEpoch
	}
	for i, n := range s.nests {
		p := x.plan(n.Canonical())
		if loop := s.loops[i]; loop >= 0 && loop < len(p.loops) && x.agree(&p.loops[loop]) {
			p.translated = loop
		}
		got, wanted := x.follow(p), want.Run(n.Operands, n.Accesses())
		if !slices.Equal(got, wanted) {
			return fmt.Sprintf("nest %d: misses %v, want %v; rules taken %+v", i, got, wanted, x.took)
		}
		if wrong := differ(want, x) + sane(x); wrong != "" {
			return fmt.Sprintf("nest %d: %s; rules taken %+v", i, wrong, x.took)
		}
		c.nests++
		c.refs += uint64(n.Iterations() * len(n.Operands))
	}
	c.visited += x.visited
	c.took.add(x.took)
	return ""
}

// TestExactDifferential compares the prover with brute force on random
// sequences of nests, and checks that every rule and every fallback was met
// often enough for that to mean something.
func TestExactDifferential(t *testing.T) {
	t.Parallel()
	var c trial
	for seed := range uint64(20000) {
		s := sequenceOf(enginetest.Random(seed, 11), 300+int(seed%8)*200)
		if wrong := c.check(s); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	}
	t.Logf("%d nests, %d of %d accesses visited, rules taken %+v", c.nests, c.visited, c.refs, c.took)
	for what, count := range map[string]int{
		"in-line runs": c.took.inline, "zero shift, no misses": c.took.free, "zero shift, early": c.took.early, "zero shift": c.took.zero,
		"translation": c.took.shifted, "translation, (a) fails": c.took.stale, "translation, (b) fails": c.took.alive, "translation, overlap": c.took.overlap,
		"epochs run out in translation": c.took.renumber,
	} {
		if count < 500 {
			t.Errorf("%s: met only %d times", what, count)
		}
	}
	if c.visited > c.refs*3/4 {
		t.Errorf("%d of %d accesses were visited", c.visited, c.refs)
	}
}

// TestExactUntil does so for columns of rows that are no whole lines: the end of a row is on the line where the next one
// begins, so that translation holds up to the last periods.
func TestExactUntil(t *testing.T) {
	t.Parallel()
	var c trial
	for seed := range uint64(7000) {
		d := enginetest.Random(seed, 18)
		s := sequence{levels: d.Levels()}
		if d.One(8) {
			s.maxEpoch = uint64(2 + d(60))
		}
		line := 1 << newProver(s.levels).maxShift()
		for range 1 + d(3) {
			trips := []int{line/4*(4+d(20)) + d(line), 1 + d(12)}
			row := 4 * (trips[0] + d(3))
			width := min(4, 1<<newProver(s.levels).minShift())
			n := nest.Nest{Trips: trips, Operands: []nest.Operand{operand(4*d(99), width, 4, row)}}
			if d.One(3) {
				n.Operands = append(n.Operands, operand(1<<20, width, 4, row))
			}
			s.nests, s.loops = append(s.nests, n), append(s.loops, 0)
		}
		if wrong := c.check(s); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	}
	t.Logf("%d nests, %d of %d accesses visited, rules taken %+v", c.nests, c.visited, c.refs, c.took)
	if c.took.until < 500 || c.took.shifted < 500 {
		t.Errorf("translation was met %d times, %d of them up to some period", c.took.shifted, c.took.until)
	}
}

func (c *ruleCounts) add(o ruleCounts) {
	c.inline += o.inline
	c.free += o.free
	c.early += o.early
	c.zero += o.zero
	c.shifted += o.shifted
	c.alive += o.alive
	c.stale += o.stale
	c.until += o.until
	c.overlap += o.overlap
	c.renumber += o.renumber
	c.independent += o.independent
	c.dependent += o.dependent
	c.settled += o.settled
	c.combs += o.combs
}

// A gathering is nests for independence, and passes over them.
type gathering struct {
	levels []engine.Level
	nests  []nest.Nest
	passes int
	most   uint64 // look-ups; 0 for as many as there are
}

// gatheringOf draws nests of operands that mostly share no block with others.
func gatheringOf(d enginetest.Draw, most int) gathering {
	c := gathering{levels: d.Levels(), passes: 1 + max(0, d(9)-3)}
	for i := range c.levels {
		c.levels[i].Ways += d(6)
	}
	first := d.Nest(c.levels, most)
	if !d.One(4) {
		for r := range first.Operands {
			first.Operands[r].Base += uint64(r) << 26
		}
	}
	c.nests = []nest.Nest{first}
	for d.One(3) { // like the edges of tiles
		n := nest.Nest{Operands: slices.Clone(first.Operands)}
		for _, t := range first.Trips {
			n.Trips = append(n.Trips, 1+d(t))
		}
		move := uint64(d(1 << 12))
		for r := range n.Operands {
			n.Operands[r].Base += move * uint64(d(3))
		}
		c.nests = append(c.nests, n)
	}
	if d.One(4) {
		c.most = uint64(1 + d(most))
	}
	return c
}

// check compares independence with brute force, and reports whether it held, and in how many passes operands were known to
// do what they did in the pass before.
func (c gathering) check() (held bool, settled int, wrong string) {
	x, want := newProver(c.levels), reference.New(c.levels)
	x.most = c.most
	misses, ok := x.independentOperands(c.nests, c.passes)
	if ok && x.over() {
		return false, 0, fmt.Sprintf("%d look-ups, of %d that it may take", x.visited, c.most)
	}
	if !ok {
		return false, 0, ""
	}
	for p := range misses {
		for k, n := range c.nests {
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(misses[p][k], wanted) {
				return true, 0, fmt.Sprintf("pass %d, nest %d: misses %v, want %v", p, k, misses[p][k], wanted)
			}
		}
	}
	return true, x.took.settled, ""
}

// TestExactIndependentDifferential does for independence what TestExactDifferential does
// for the others.
func TestExactIndependentDifferential(t *testing.T) {
	t.Parallel()
	held, failed := map[bool]int{}, map[bool]int{} // of several nests, or one
	within, over := 0, 0                           // of those that may look up so many
	settled := map[int]int{}                       // by levels
	for seed := range uint64(12000) {
		c := gatheringOf(enginetest.Random(seed, 12), 300)
		ok, passes, wrong := c.check()
		if wrong != "" {
			t.Fatalf("%+v: %s", c, wrong)
		}
		settled[len(c.levels)] += passes
		if c.most > 0 && ok {
			within++
		} else if c.most > 0 {
			over++
		}
		if ok {
			held[len(c.nests) > 1]++
		} else {
			failed[len(c.nests) > 1]++
		}
	}
	t.Logf("with several nests and with one, independence held %v times and failed %v times; passes of operands that were known, by levels: %v", held, failed, settled)
	for levels, least := range map[int]int{1: 200, 2: 200, 3: 20} {
		if settled[levels] < least {
			t.Errorf("of %d levels, passes of operands were known %d times", levels, settled[levels])
		}
	}
	if within < 100 || over < 100 {
		t.Errorf("with look-ups bounded, it held %d times and did not %d times", within, over)
	}
	for _, several := range []bool{false, true} {
		if held[several] < 500 || failed[several] < 500 {
			t.Errorf("with several nests (%t), independence held %d times and failed %d times", several, held[several], failed[several])
		}
	}
}

// TestIndependenceBound: operands behind the one that looks up the last that may be, look up nothing.
func TestIndependenceBound(t *testing.T) {
	n := nest.Nest{}
	for r := range 5 {
		n.Operands = append(n.Operands, nest.Operand{Base: uint64(r) << 20, Width: 4})
	}
	for most := range uint64(7) {
		x := newProver([]engine.Level{{Sets: 4, Ways: 8, Shift: 6}})
		x.most = most
		_, ok := x.independentOperands([]nest.Nest{n}, 1)
		if ok != (most == 0 || most >= 5) || most > 0 && x.visited > most {
			t.Errorf("it took %d look-ups, of %d that it may take: %t", x.visited, most, ok)
		}
	}
}

// FuzzExact looks for levels and nests on which a rule is wrong.
func FuzzExact(f *testing.F) {
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 13))
		data := make([]byte, 40+r.IntN(160))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] < 64 {
			c := gatheringOf(enginetest.FromBytes(data[1:]), 3000)
			if _, _, wrong := c.check(); wrong != "" {
				t.Fatalf("%+v: %s", c, wrong)
			}
			return
		}
		s := sequenceOf(enginetest.FromBytes(data), 3000)
		if wrong := new(trial).check(s); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	})
}
