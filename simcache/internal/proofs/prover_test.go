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
// tried on a loop, or on what the plan says for -1.
type sequence struct {
	levels   []engine.Level
	maxEpoch uint64 // 0 for the prover's own
	nests    []nest.Nest
	loops    []int
}

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

// check compares the prover with brute force on a sequence: counts, contents,
// and what the rules rely on. It says what is wrong.
func (s sequence) check() (wrong string) {
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
	}
	return ""
}

// TestExactDifferential compares the prover with brute force on random sequences of nests. Some
// are columns of rows that are no whole lines: the end of a row is on the line where the next
// one begins, so that translation holds up to the last periods.
func TestExactDifferential(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(20000)) {
		s := sequenceOf(enginetest.Random(seed, 11), 300+int(seed%8)*200)
		if wrong := s.check(); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	}
	for seed := range uint64(enginetest.Cases(7000)) {
		d := enginetest.Random(seed, 18)
		s := sequenceOf(d, 300)
		x := newProver(s.levels)
		line, width := 1<<x.maxShift(), min(4, 1<<x.minShift())
		for i := range s.nests {
			n := nest.Nest{Trips: []int{line/4*(4+d(20)) + d(line), 1 + d(12)}}
			row := 4 * (n.Trips[0] + d(3))
			n.Operands = []nest.Operand{operand(4*d(99), width, 4, row), operand(1<<20, width, 4, row)}[:1+d(3)/2]
			s.nests[i], s.loops[i] = n, 0
		}
		if wrong := s.check(); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	}
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

// check compares independence with brute force, where it holds.
func (c gathering) check() (wrong string) {
	x, want := newProver(c.levels), reference.New(c.levels)
	x.most = c.most
	misses, ok := x.independentOperands(c.nests, c.passes)
	if ok && x.over() {
		return fmt.Sprintf("%d look-ups, of %d that it may take", x.visited, c.most)
	}
	for p := range misses {
		for k, n := range c.nests {
			if wanted := want.Run(n.Operands, n.Accesses()); ok && !slices.Equal(misses[p][k], wanted) {
				return fmt.Sprintf("pass %d, nest %d: misses %v, want %v", p, k, misses[p][k], wanted)
			}
		}
	}
	return ""
}

// TestExactIndependentDifferential does for independence what TestExactDifferential does
// for the others.
func TestExactIndependentDifferential(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(12000)) {
		c := gatheringOf(enginetest.Random(seed, 12), 300)
		if wrong := c.check(); wrong != "" {
			t.Fatalf("%+v: %s", c, wrong)
		}
	}
}

// TestIndependenceBound: operands behind the one that looks up the last that may be, look up
// nothing.
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
			if wrong := c.check(); wrong != "" {
				t.Fatalf("%+v: %s", c, wrong)
			}
			return
		}
		s := sequenceOf(enginetest.FromBytes(data), 3000)
		if wrong := s.check(); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	})
}
