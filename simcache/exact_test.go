package simcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A slowCache is brute force at its most obvious: each set of each level a
// list of blocks, the most recently used first.
type slowCache struct {
	specs []levelSpec
	sets  [][][]uint64
}

func newSlowCache(specs []levelSpec) *slowCache {
	c := &slowCache{specs: specs}
	for _, s := range specs {
		c.sets = append(c.sets, make([][]uint64, s.sets))
	}
	return c
}

func (c *slowCache) misses(level int, addr uint64, width int) bool {
	s := c.specs[level]
	missed := false
	for b := addr >> s.shift; b <= (addr+uint64(width)-1)>>s.shift; b++ {
		set := &c.sets[level][b%uint64(s.sets)]
		at := slices.Index(*set, b)
		if at < 0 {
			missed = true
			if len(*set) < s.ways {
				*set = append(*set, 0)
			}
			at = len(*set) - 1
		}
		copy((*set)[1:at+1], (*set)[:at])
		(*set)[0] = b
	}
	return missed
}

// run walks a nest by its definition and returns what prover.run does.
func (c *slowCache) run(n Nest) []uint64 {
	misses := make([]uint64, len(n.Operands)*len(c.specs))
	eachAccess(n, func(r int, addr uint64, width int) {
		for i := range c.specs {
			if !c.misses(i, addr, width) {
				break
			}
			misses[r*len(c.specs)+i]++
		}
	})
	return misses
}

// differ says how the contents of the two differ; "" if they do not.
func (c *slowCache) differ(x *prover) string {
	for i := range x.levels {
		for s, want := range c.sets[i] {
			if got := x.levels[i].blocks(nil, s); !slices.Equal(got, want) {
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
		for s := range uint64(l.sets) {
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

// A draw returns a number from 0 to n-1, at random or from a fuzzer's bytes.
type draw func(n int) int

func randomDraw(seed, stream uint64) draw { return rand.New(rand.NewPCG(seed, stream)).IntN }

func bytesDraw(data []byte) draw {
	return func(n int) int {
		v := 0
		for size := n; size > 1 && len(data) > 0; size >>= 8 {
			v, data = v<<8|int(data[0]), data[1:]
		}
		return v % n
	}
}

// one is true once in n times.
func (d draw) one(n int) bool { return d(n) == n-1 }

// levels draws 1 to 3 levels, mostly two of one line size.
func (d draw) levels() []levelSpec {
	shift := uint(4 + d(3))
	count := 2
	if d.one(2) {
		count = 1 + d(3)
	}
	var specs []levelSpec
	sets := 1
	for range count {
		sets = max(1, sets*(1+d(3)))
		if d(3) > 0 {
			sets = 1 << d(6)
		}
		s := levelSpec{sets: sets, ways: 1 + d(8), shift: shift}
		if d.one(6) {
			s.shift = uint(4 + d(3))
		}
		specs = append(specs, s)
	}
	return specs
}

// nest draws 0 to 4 loops around 1 to 3 operands, of at most so many accesses.
// Operands may overlap, or lie apart, or touch; they may move alike.
func (d draw) nest(specs []levelSpec, most int) Nest {
	line := 1 << specs[0].shift
	for _, s := range specs {
		line = min(line, 1<<s.shift)
	}
	var n Nest
	for range d(5) {
		trips := 1 + d(6)
		if d.one(2) {
			trips += d(100)
		}
		n.Trips = append(n.Trips, trips)
	}
	width := min(1<<d(5), line)
	sets := specs[d(len(specs))].sets
	apart, alike := d.one(2), d.one(2)
	for k := range 1 + d(3) {
		op := Operand{Kind: Kind(d(3)), Base: 1<<30 + uint64(d(8*line)), Width: width}
		if apart {
			op.Base += uint64(k) << 24
		}
		if d.one(4) {
			op.Width = 1 + d(line)
		}
		op.Strides = make([]int, len(n.Trips))
		inner := width
		for l := len(n.Trips) - 1; l >= 0; l-- {
			choices := []int{0, width, -width, line, -line, 2 * line, 3 * line, sets * line, -sets * line, sets*line + width, sets*line + line,
				d(3 * line), -d(3 * line), inner, inner, -inner, inner + width, inner + line}
			op.Strides[l] = choices[d(len(choices))]
			if alike && k > 0 && d(8) > 0 {
				op.Strides[l] = n.Operands[0].Strides[l]
			}
			if inner = op.Strides[l] * n.Trips[l]; inner > 1<<18 || inner < -1<<18 {
				inner = width
			}
		}
		n.Operands = append(n.Operands, op)
	}
	for n.Iterations()*len(n.Operands) > most {
		l := d(len(n.Trips))
		if n.Trips[l] == 1 {
			l = slices.Index(n.Trips, slices.Max(n.Trips))
		}
		n.Trips[l] = (n.Trips[l] + 1) / 2
	}
	return n
}

// A sequence is nests to run one after the other on one cache, each with rule P
// tried on a loop, or on what the plan says for asPlanned.
type sequence struct {
	levels   []levelSpec
	maxEpoch uint64 // 0 for the prover's own
	nests    []Nest
	loops    []int
}

const asPlanned = -1

// sequence draws 1 to 3 nests, each of at most so many accesses.
func (d draw) sequence(most int) sequence {
	s := sequence{levels: d.levels()}
	if d.one(8) {
		s.maxEpoch = uint64(2 + d(60)) // epochs run out
	}
	for range 1 + d(3) {
		s.nests = append(s.nests, d.nest(s.levels, most))
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
	x, want := newProver(s.levels), newSlowCache(s.levels)
	if s.maxEpoch > 0 {
		x.maxEpoch = s.maxEpoch
	}
	for i, n := range s.nests {
		p := x.plan(n.Canonical())
		if loop := s.loops[i]; loop >= 0 && loop < len(p.loops) && x.agree(&p.loops[loop]) {
			p.translated = loop
		}
		got, wanted := x.follow(p), want.run(n)
		if !slices.Equal(got, wanted) {
			return fmt.Sprintf("nest %d: misses %v, want %v; rules taken %+v", i, got, wanted, x.took)
		}
		if wrong := want.differ(x) + sane(x); wrong != "" {
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
		s := randomDraw(seed, 11).sequence(300 + int(seed%8)*200)
		if wrong := c.check(s); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	}
	t.Logf("%d nests, %d of %d accesses visited, rules taken %+v", c.nests, c.visited, c.refs, c.took)
	for what, count := range map[string]int{
		"I": c.took.inline, "Z, no misses": c.took.free, "Z, early": c.took.early, "Z": c.took.zero,
		"P": c.took.shifted, "P, (a) fails": c.took.stale, "P, (b) fails": c.took.alive, "P, overlap": c.took.overlap,
		"epochs run out in P": c.took.renumber,
	} {
		if count < 500 {
			t.Errorf("%s: met only %d times", what, count)
		}
	}
	if c.visited > c.refs*3/4 {
		t.Errorf("%d of %d accesses were visited", c.visited, c.refs)
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
	c.overlap += o.overlap
	c.renumber += o.renumber
	c.apart += o.apart
	c.together += o.together
}

// A gathering is nests for rule D, and passes over them.
type gathering struct {
	levels []levelSpec
	nests  []Nest
	passes int
}

// gathering draws nests of operands that mostly share no block with others.
func (d draw) gathering(most int) gathering {
	c := gathering{levels: d.levels(), passes: 1 + max(0, d(5)-2)}
	for i := range c.levels {
		c.levels[i].ways += d(6)
	}
	first := d.nest(c.levels, most)
	if !d.one(4) {
		for r := range first.Operands {
			first.Operands[r].Base += uint64(r) << 26
		}
	}
	c.nests = []Nest{first}
	for d.one(3) { // like the edges of tiles
		n := Nest{Operands: slices.Clone(first.Operands)}
		for _, t := range first.Trips {
			n.Trips = append(n.Trips, 1+d(t))
		}
		move := uint64(d(1 << 12))
		for r := range n.Operands {
			n.Operands[r].Base += move * uint64(d(3))
		}
		c.nests = append(c.nests, n)
	}
	return c
}

// check compares rule D with brute force, and reports whether it held.
func (c gathering) check() (held bool, wrong string) {
	x, want := newProver(c.levels), newSlowCache(c.levels)
	misses, ok := x.apart(c.nests, c.passes)
	if !ok {
		return false, ""
	}
	for p := range misses {
		for k, n := range c.nests {
			if wanted := want.run(n); !slices.Equal(misses[p][k], wanted) {
				return true, fmt.Sprintf("pass %d, nest %d: misses %v, want %v", p, k, misses[p][k], wanted)
			}
		}
	}
	return true, ""
}

// TestExactApartDifferential does for rule D what TestExactDifferential does
// for the others.
func TestExactApartDifferential(t *testing.T) {
	t.Parallel()
	held, failed := map[bool]int{}, map[bool]int{} // of several nests, or one
	for seed := range uint64(12000) {
		c := randomDraw(seed, 12).gathering(300)
		ok, wrong := c.check()
		if wrong != "" {
			t.Fatalf("%+v: %s", c, wrong)
		}
		if ok {
			held[len(c.nests) > 1]++
		} else {
			failed[len(c.nests) > 1]++
		}
	}
	t.Logf("with several nests and with one, rule D held %v times and failed %v times", held, failed)
	for _, several := range []bool{false, true} {
		if held[several] < 500 || failed[several] < 500 {
			t.Errorf("with several nests (%t), rule D held %d times and failed %d times", several, held[several], failed[several])
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
			c := bytesDraw(data[1:]).gathering(3000)
			if _, wrong := c.check(); wrong != "" {
				t.Fatalf("%+v: %s", c, wrong)
			}
			return
		}
		s := bytesDraw(data).sequence(3000)
		if wrong := new(trial).check(s); wrong != "" {
			t.Fatalf("%+v: %s", s, wrong)
		}
	})
}
