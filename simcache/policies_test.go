package simcache

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/policies"
)

// A slow model of a hierarchy, to be read rather than run: each set is slots
// with a policy of its own, and what a level does is told step by step, as in
// the documentation of package policies.
type slowLevel struct {
	Level
	slots    map[uint64][]slowLine // by set
	policies map[uint64]slowPolicy
	random   *uint64
	victims  []slowLine // the most recent last
	counts   LevelCounts
	misses   uint64
	missedIn int
	classes  bool
	asked    []uint64        // blocks that references asked for, the most recent last
	known    map[uint64]bool // blocks that references ever brought in
	learned  map[int]*slowStride
}

type slowLine struct {
	block              uint64
	full, dirty, ahead bool
	used               map[uint64]bool
}

type slowPolicy interface {
	hit(way int)
	fill(way int)
	choose() int
}

// slowOrder is LRU and FIFO: ways, the next to go first.
type slowOrder struct {
	order []int
	hits  bool
}

func (p *slowOrder) fill(way int) {
	p.order = append(slices.DeleteFunc(p.order, func(w int) bool { return w == way }), way)
}
func (p *slowOrder) hit(way int) {
	if p.hits {
		p.fill(way)
	}
}
func (p *slowOrder) choose() int { return p.order[0] }

type slowRandom struct {
	ways  int
	state *uint64
}

func (p *slowRandom) fill(int) {}
func (p *slowRandom) hit(int)  {}
func (p *slowRandom) choose() int {
	*p.state += 0x9E3779B97F4A7C15
	z := *p.state
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	z ^= z >> 31
	high, _ := bits.Mul64(z, uint64(p.ways))
	return int(high)
}

// slowTree is a node of tree-PLRU over the ways from on.
type slowTree struct {
	from, ways  int
	left, right *slowTree
	goRight     bool
}

func newSlowTree(from, ways int) *slowTree {
	t := &slowTree{from: from, ways: ways}
	if ways > 1 {
		t.left, t.right = newSlowTree(from, ways/2), newSlowTree(from+ways/2, ways/2)
	}
	return t
}
func (t *slowTree) hit(way int) {
	if t.ways == 1 {
		return
	}
	t.goRight = way < t.right.from
	if t.goRight {
		t.left.hit(way)
	} else {
		t.right.hit(way)
	}
}
func (t *slowTree) fill(way int) { t.hit(way) }
func (t *slowTree) choose() int {
	switch {
	case t.ways == 1:
		return t.from
	case t.goRight:
		return t.right.choose()
	}
	return t.left.choose()
}

// slowBits is bit-PLRU, a string of 0 and 1.
type slowBits struct{ bits []byte }

func (p *slowBits) hit(way int) {
	p.bits[way] = '1'
	if !slices.Contains(p.bits, '0') {
		for i := range p.bits {
			p.bits[i] = '0'
		}
		p.bits[way] = '1'
	}
}
func (p *slowBits) fill(way int) { p.hit(way) }
func (p *slowBits) choose() int  { return max(slices.Index(p.bits, '0'), 0) }

type slowRRIP struct{ ages []int }

func (p *slowRRIP) hit(way int)  { p.ages[way] = 0 }
func (p *slowRRIP) fill(way int) { p.ages[way] = 2 }
func (p *slowRRIP) choose() int {
	for by := 3 - slices.Max(p.ages); by > 0; by-- {
		for i := range p.ages {
			p.ages[i]++
		}
	}
	return slices.Index(p.ages, 3)
}

type slowStride struct {
	last, stride uint64
	state        string
}

func (l *slowLevel) set(block uint64) uint64 { return block % uint64(l.Sets()) }

func (l *slowLevel) policy(set uint64) slowPolicy {
	if p, ok := l.policies[set]; ok {
		return p
	}
	var p slowPolicy
	switch l.Policy {
	case "lru", "fifo":
		p = &slowOrder{hits: l.Policy == "lru"}
	case "random":
		p = &slowRandom{l.Ways, l.random}
	case "tree-plru":
		p = newSlowTree(0, l.Ways)
	case "bit-plru":
		p = &slowBits{slices.Repeat([]byte{'0'}, l.Ways)}
	case "srrip":
		p = &slowRRIP{make([]int, l.Ways)}
	}
	l.policies[set] = p
	return p
}

func (l *slowLevel) row(block uint64) []slowLine {
	set := l.set(block)
	if l.slots[set] == nil {
		l.slots[set] = make([]slowLine, l.Ways)
	}
	return l.slots[set]
}

func (l *slowLevel) in(block uint64) (int, bool) {
	i := slices.IndexFunc(l.row(block), func(s slowLine) bool { return s.full && s.block == block })
	return i, i >= 0
}

func (l *slowLevel) inVictims(block uint64) int {
	return slices.IndexFunc(l.victims, func(s slowLine) bool { return s.block == block })
}

// drop removes a block.
func (l *slowLevel) drop(block uint64) (slowLine, bool) {
	if way, ok := l.in(block); ok {
		out := l.row(block)[way]
		l.row(block)[way] = slowLine{}
		return out, true
	}
	if i := l.inVictims(block); i >= 0 {
		out := l.victims[i]
		l.victims = slices.Delete(l.victims, i, i+1)
		return out, true
	}
	return slowLine{}, false
}

// put fills a line in, and returns those that leave the level.
func (l *slowLevel) put(s slowLine) []slowLine {
	s.full = true
	if s.used == nil {
		s.used = map[uint64]bool{}
	}
	row, policy := l.row(s.block), l.policy(l.set(s.block))
	for way := range row {
		if !row[way].full {
			row[way] = s
			policy.fill(way)
			return nil
		}
	}
	way := policy.choose()
	out := row[way]
	row[way] = s
	policy.fill(way)
	if l.VictimLines == 0 {
		return []slowLine{out}
	}
	l.victims = append(l.victims, out)
	if len(l.victims) > l.VictimLines {
		out = l.victims[0]
		l.victims = l.victims[1:]
		return []slowLine{out}
	}
	return nil
}

type slow struct {
	levels []*slowLevel
	later  map[int]*slowEvent // by level, what its prefetcher is told of a reference
	serial int
	dirty  bool
}

func newSlow(c Config) *slow {
	s := &slow{dirty: c.WriteBacks}
	for i, l := range c.Levels {
		seed := l.Seed
		s.levels = append(s.levels, &slowLevel{Level: l, slots: map[uint64][]slowLine{},
			classes:  c.Observe != "",
			policies: map[uint64]slowPolicy{}, random: &seed,
			counts: LevelCounts{Name: c.name(i), SetMisses: make([]uint64, l.Sets())},
			known:  map[uint64]bool{}, learned: map[int]*slowStride{}})
	}
	return s
}

func (s *slow) tied(level int) bool {
	return level < len(s.levels) && s.levels[level].Level.tied()
}

func (s *slow) access(kind nest.Kind, addr, size uint64) {
	s.serial++
	s.refer(0, engine.Sort(kind), kind == nest.Write, false, addr, size)
	if kind == nest.Modify {
		s.refer(0, engine.Sort(kind), true, true, addr, size)
	}
	for level := range s.levels {
		if e := s.later[level]; e != nil {
			s.ahead(level, engine.Sort(kind), addr, e)
		}
	}
	s.later = nil
	for _, l := range s.levels {
		for a := addr; a < addr+size; a++ {
			block := a / uint64(l.Line)
			if way, ok := l.in(block); ok {
				l.row(block)[way].used[a] = true
			} else if i := l.inVictims(block); i >= 0 {
				l.victims[i].used[a] = true
			}
		}
	}
}

// why is the class of an absent block by all that references asked for before.
func (l *slowLevel) why(block uint64) string {
	if !l.known[block] {
		return "compulsory"
	}
	distinct := map[uint64]bool{}
	for _, b := range slices.Backward(l.asked) {
		if b == block {
			return "conflict"
		}
		if distinct[b] = true; len(distinct) == l.Sets()*l.Ways {
			return "capacity"
		}
	}
	panic("a block is known that no reference asked for")
}

// look is one lookup of a block. It returns whether it was there, and whether
// that is news for a prefetcher.
func (l *slowLevel) look(block uint64, store, quiet bool, class *string) (hit, news bool) {
	if !quiet && l.classes {
		if why := l.why(block); *class == "" {
			_, there := l.in(block)
			if !there && l.inVictims(block) < 0 {
				*class = why
			}
		}
		_, resident := l.shadow(block)
		if !store || !l.NoWriteAllocate && l.Inclusion != "exclusive" || resident {
			l.asked = append(l.asked, block)
			l.known[block] = true
		}
	}
	if way, ok := l.in(block); ok {
		l.policy(l.set(block)).hit(way)
	} else if l.inVictims(block) >= 0 {
		line, _ := l.drop(block)
		l.counts.VictimHits++
		if out := l.put(line); len(out) > 0 {
			panic("a swap with the victim cache left a line over")
		}
	} else {
		if !quiet {
			l.counts.SetMisses[l.set(block)]++
		}
		return false, !quiet
	}
	way, _ := l.in(block)
	line := &l.row(block)[way]
	if line.ahead && !quiet {
		line.ahead = false
		l.counts.Useful++
		return true, true
	}
	return true, false
}

// shadow reports whether a fully associative LRU cache would hold a block.
func (l *slowLevel) shadow(block uint64) (int, bool) {
	return 0, l.known[block] && l.why(block) == "conflict"
}

// count counts a miss, and tells whether it did: it does so once a reference.
func (s *slow) count(level, op int, quiet bool, class string) bool {
	l := s.levels[level]
	if quiet || l.missedIn == s.serial {
		return false
	}
	l.missedIn = s.serial
	l.misses++
	switch class {
	case "compulsory":
		l.counts.Compulsory++
	case "capacity":
		l.counts.Capacity++
	case "conflict":
		l.counts.Conflict++
	}
	return true
}

func (s *slow) refer(level, op int, store, quiet bool, addr, size uint64) {
	if level == len(s.levels) {
		return
	}
	l := s.levels[level]
	line := uint64(l.Line)
	missed, filled, pass, news := false, false, false, false
	newest := uint64(0)
	class := ""
	var later []slowLine
	for block := addr / line; block <= (addr+size-1)/line; block++ {
		hit, new := l.look(block, store, quiet, &class)
		if new {
			news, newest = true, block
		}
		if hit {
			if store && l.WriteThrough {
				pass = true
			} else if store {
				way, _ := l.in(block)
				l.row(block)[way].dirty = s.dirty
			}
			continue
		}
		missed = true
		if store && (l.NoWriteAllocate || l.Inclusion == "exclusive") {
			pass = true
			continue
		}
		filled = true
		l.counts.BytesIn += line
		pass = pass || store && l.WriteThrough
		dirty := store && !l.WriteThrough && s.dirty
		if s.tied(level + 1) {
			from, to := max(addr, block*line), min(addr+size, (block+1)*line)
			dirty = s.ask(level+1, op, quiet, from, to-from) || dirty
			for _, out := range l.put(slowLine{block: block, dirty: dirty}) {
				s.leave(level, out)
			}
		} else {
			later = append(later, l.put(slowLine{block: block, dirty: dirty})...)
		}
	}
	counted := missed && s.count(level, op, quiet, class)
	if !quiet {
		s.tell(level, news, newest)
	}
	if filled && !s.tied(level+1) {
		s.refer(level+1, op, false, quiet, addr, size)
	}
	for _, out := range later {
		s.leave(level, out)
	}
	if pass {
		l.counts.BytesOut += size
		if !quiet && level+1 < len(s.levels) && (filled || !counted) {
			s.levels[level+1].counts.Writes++
		}
		s.refer(level+1, op, store, quiet, addr, size)
	}
}

func (s *slow) ask(level, op int, quiet bool, addr, size uint64) bool {
	l := s.levels[level]
	if l.Inclusion == "inclusive" {
		s.refer(level, op, false, quiet, addr, size)
		return false
	}
	block, class := addr/uint64(l.Line), ""
	if hit, _ := l.look(block, false, quiet, &class); hit {
		out, _ := l.drop(block)
		l.account(out)
		return out.dirty
	}
	s.count(level, op, quiet, class)
	if s.tied(level + 1) {
		return s.ask(level+1, op, quiet, addr, size)
	}
	s.refer(level+1, op, false, quiet, addr, size)
	return false
}

func (l *slowLevel) account(out slowLine) {
	if out.ahead {
		l.counts.Useless++
	}
	l.counts.BytesFilled += uint64(l.Line)
	l.counts.BytesUsed += uint64(len(out.used))
}

func (s *slow) leave(level int, out slowLine) {
	l := s.levels[level]
	l.account(out)
	if l.Inclusion == "inclusive" {
		for _, above := range s.levels[:level] {
			if gone, ok := above.drop(out.block); ok {
				above.account(gone)
				if gone.dirty {
					above.counts.WriteBacks++
					above.counts.BytesOut += uint64(l.Line)
					out.dirty = true
				}
			}
		}
	}
	if out.dirty {
		l.counts.WriteBacks++
	}
	if level+1 < len(s.levels) && s.levels[level+1].Inclusion == "exclusive" {
		l.counts.BytesOut += uint64(l.Line)
		for _, next := range s.levels[level+1].put(slowLine{block: out.block, dirty: out.dirty}) {
			s.leave(level+1, next)
		}
	} else if out.dirty {
		l.counts.BytesOut += uint64(l.Line)
		s.back(level+1, out.block)
	}
}

func (s *slow) back(level int, block uint64) {
	if level == len(s.levels) {
		return
	}
	l := s.levels[level]
	stays := false
	if way, ok := l.in(block); ok {
		l.policy(l.set(block)).hit(way)
		stays = !l.WriteThrough
		l.row(block)[way].dirty = stays
	} else if i := l.inVictims(block); i >= 0 {
		stays = !l.WriteThrough
		l.victims[i].dirty = stays
		l.victims = append(slices.Delete(slices.Clone(l.victims), i, i+1), l.victims[i])
	} else if !l.NoWriteAllocate && !l.Level.tied() && !s.tied(level+1) {
		stays = !l.WriteThrough
		for _, out := range l.put(slowLine{block: block, dirty: stays}) {
			s.leave(level, out)
		}
	}
	if !stays {
		l.counts.WriteBacks++
		l.counts.BytesOut += uint64(l.Line)
		s.back(level+1, block)
	}
}

// A slowEvent is a reference as a level's prefetcher sees it.
type slowEvent struct {
	news   bool
	newest uint64 // the highest line of which there is news
}

// tell is once a reference, whatever a level is asked for it.
func (s *slow) tell(level int, news bool, newest uint64) {
	if s.later == nil {
		s.later = map[int]*slowEvent{}
	}
	if s.later[level] == nil {
		s.later[level] = &slowEvent{}
	}
	e := s.later[level]
	if news {
		e.news, e.newest = true, max(e.newest, newest)
	}
}

func (s *slow) ahead(level, op int, addr uint64, e *slowEvent) {
	l := s.levels[level]
	line := uint64(l.Line)
	for k := uint64(1); k <= uint64(max(l.Prefetch.Degree, 1)); k++ {
		var want uint64
		switch l.Prefetch.Kind {
		case "next-line":
			want = e.newest + k
			if !e.news || want*line/4096 != e.newest*line/4096 {
				continue
			}
		case "stride":
			t := l.learned[op]
			if k == 1 {
				t = l.learn(op, addr)
			}
			next := int(addr) + int(k)*int(t.stride)
			want = uint64(next) / line
			if t.state != "steady" || t.stride == 0 || next < 0 {
				continue
			}
		default:
			return
		}
		if _, ok := l.in(want); ok || l.inVictims(want) >= 0 {
			continue
		}
		dirty := false
		if s.tied(level + 1) {
			dirty = s.ask(level+1, op, true, want*line, line)
		} else {
			s.refer(level+1, op, false, true, want*line, line)
		}
		l.counts.Prefetches++
		l.counts.BytesIn += line
		for _, out := range l.put(slowLine{block: want, dirty: dirty, ahead: true}) {
			s.leave(level, out)
		}
	}
}

func (l *slowLevel) learn(op int, addr uint64) *slowStride {
	t := l.learned[op]
	if t == nil {
		t = &slowStride{last: addr, state: "initial"}
		l.learned[op] = t
		return t
	}
	right := addr-t.last == t.stride
	next := map[string][2]string{ // right, wrong
		"initial":   {"steady", "transient"},
		"transient": {"steady", "erratic"},
		"steady":    {"steady", "initial"},
		"erratic":   {"transient", "erratic"},
	}[t.state]
	if right {
		t.state = next[0]
	} else {
		if t.state != "steady" {
			t.stride = addr - t.last
		}
		t.state = next[1]
	}
	t.last = addr
	return t
}

// result is a level's counts with what is still in it.
func (l *slowLevel) result() LevelCounts {
	c := l.counts
	for _, row := range l.slots {
		for _, s := range row {
			if s.full {
				c.BytesFilled += uint64(l.Line)
				c.BytesUsed += uint64(len(s.used))
			}
		}
	}
	for _, s := range l.victims {
		c.BytesFilled += uint64(l.Line)
		c.BytesUsed += uint64(len(s.used))
	}
	return c
}

// randomConfig draws one to three levels with all that they can be.
func randomConfig(r *rand.Rand) Config {
	pick := func(of int) int { return r.IntN(of) * r.IntN(2) } // 0 in half of the cases
	for {
		c := Config{Observe: all, WriteBacks: r.IntN(8) > 0}
		small := []int{32, 32, 1 << r.IntN(6)}[r.IntN(3)]
		for range 1 + r.IntN(3) {
			ways := 1 + r.IntN(8)
			l := Level{Policy: policyNames[r.IntN(len(policyNames))], Seed: r.Uint64(),
				Inclusion: inclusionNames[pick(3)], WriteThrough: r.IntN(4) == 0,
				NoWriteAllocate: r.IntN(4) == 0, VictimLines: pick(5),
				Prefetch: Prefetch{prefetchNames[pick(3)], r.IntN(4)}}
			if l.Policy == "tree-plru" {
				ways = 1 << r.IntN(4)
			}
			sets := 1 << r.IntN(4)
			if l.Modulo = r.IntN(4) == 0; l.Modulo {
				sets = 1 + r.IntN(11)
			}
			line := small
			if r.IntN(10) == 0 {
				line *= 2
			}
			l.Geometry = Geometry{Size: sets * ways * line, Ways: ways, Line: line}
			c.Levels = append(c.Levels, l)
		}
		if c.Check() == nil {
			return c
		}
	}
}

// plain leaves of a configuration what needs no more than lines of one size: policies,
// inclusion, write-backs; or now and then one thing more.
func plain(r *rand.Rand, c Config) Config {
	c.Observe = ""
	more := r.IntN(15) // the number of what stays
	for i := range c.Levels {
		l := &c.Levels[i]
		l.WriteThrough = l.WriteThrough && more == 0
		l.NoWriteAllocate = l.NoWriteAllocate && more == 1
		if more != 2 {
			l.VictimLines = 0
		}
		// which tells operands apart, as the model does not
		if more != 3 || l.Prefetch.Kind == "stride" {
			l.Prefetch = Prefetch{}
		}
		if more != 4 {
			l.Line, l.Size = 32, l.Sets()*l.Ways*32
		}
	}
	if len(c.Levels) > 1 && more > 10 { // of which a set remembers what was taken from it
		c.Levels[1].Inclusion, c.Levels[1].Policy = "exclusive", "bit-plru"
	}
	if first := &c.Levels[0]; c.plain() { // else another engine counts it
		first.Policy = "fifo"
	} else if r.IntN(3) == 0 { // more ways than ranks are kept of
		first.Policy, first.Ways, first.Size = policyNames[r.IntN(len(policyNames))], 32,
			first.Sets()*32*32
	}
	return c
}

// TestPlainEqualSlow is TestPoliciesEqualSlow of what is counted by lines alone, of nests and
// programs too.
func TestPlainEqualSlow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1000)) {
		r := rand.New(rand.NewPCG(seed, 6))
		c := plain(r, randomConfig(r))
		if c.plain() {
			continue
		}
		for _, l := range c.Levels {
			meet("levels "+cmp.Or(l.Policy, "lru"), 1)
			meet("levels "+cmp.Or(l.Inclusion, "non-inclusive"), 1)
		}
		compareWithSlow(t, seed, r, c)
	}
}

// TestPoliciesEqualSlow compares all counts of random hierarchies with the slow
// model, on random traces with runs, reuse and straddles.
func TestPoliciesEqualSlow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(max(100, enginetest.Cases(500))) { // fewer miss faults
		r := rand.New(rand.NewPCG(seed, 4))
		compareWithSlow(t, seed, r, randomConfig(r))
	}
}

// FuzzPoliciesEqualSlow is more of it.
func FuzzPoliciesEqualSlow(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 4))
		compareWithSlow(t, seed, r, randomConfig(r))
	})
}

func compareWithSlow(t *testing.T, seed uint64, r *rand.Rand, c Config) {
	t.Helper()
	h, err := NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	model := newSlow(c)
	span := 64 << r.IntN(8)
	addr, stride := uint64(r.IntN(span)), uint64(0)
	for range 500 {
		switch r.IntN(6) {
		case 0:
			stride = uint64(r.IntN(100))
		case 1:
			addr = uint64(r.IntN(span))
		}
		addr = (addr + stride) % uint64(span)
		kind, size := nest.Kind(r.IntN(3)), 1+r.IntN(32)
		h.Access(kind, addr, size)
		model.access(kind, addr, uint64(size))
	}
	if c.Observe == "" {
		runWithSlow(t, r, h, model, span)
	}
	for i, got := range h.Levels() {
		want, stores := model.levels[i].result(), h.data.Besides(i).Stores
		if got.Misses() != model.levels[i].misses {
			t.Fatalf("seed %d, %s: %d misses, want %d\n%s", seed, got.Name, got.Misses(),
				model.levels[i].misses, describe(c))
		}
		if want.Writes != stores {
			t.Fatalf("seed %d, %s: %d stores passed on to it, want %d", seed, got.Name, stores,
				want.Writes)
		}
		want.Reads, want.Writes, want.ReadMisses, want.WriteMisses = got.Reads, got.Writes,
			got.ReadMisses, got.WriteMisses
		if !c.WriteBacks {
			want.BytesIn, want.BytesOut = 0, 0
		}
		if c.Observe == "" {
			want.SetMisses, want.Compulsory, want.Capacity, want.Conflict, want.BytesFilled,
				want.BytesUsed = nil, 0, 0, 0, 0, 0
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d, %s:\n got %+v\nwant %+v\n%s", seed, got.Name, got, want, describe(c))
		}
		for what, n := range map[string]uint64{"back": got.WriteBacks, "victim": got.VictimHits,
			"useful": got.Useful, "useless": got.Useless,
			"compulsory": got.Compulsory, "capacity": got.Capacity, "conflict": got.Conflict,
			"passed": stores} {
			meet("policies: "+what, n)
		}
	}
	if e, is := h.data.(*policies.Engine); is && e.Ties() != nil {
		t.Fatalf("seed %d: %v", seed, e.Ties())
	}
}

// runWithSlow runs a nest and a program, and makes their references in the model.
func runWithSlow(t *testing.T, r *rand.Rand, h *Hierarchy, model *slow, span int) {
	n := nest.Nest{Trips: []int{1 + r.IntN(3), 1 + r.IntN(4), 1 + r.IntN(16)}}
	for range 1 + r.IntN(3) {
		strides := []int{[]int{0, 32, 4 * r.IntN(span)}[r.IntN(3)], 4 * r.IntN(100), 4 * r.IntN(20)}
		n.Operands = append(n.Operands, nest.Operand{Kind: nest.Kind(r.IntN(3)),
			Base: uint64(r.IntN(span)), Width: 1 + r.IntN(8), Strides: strides})
	}
	for op, addr := range n.Accesses() {
		model.access(n.Operands[op].Kind, addr, uint64(n.Operands[op].Width))
	}
	if _, err := h.Run(1, n); err != nil {
		t.Fatal(err)
	}
	p := nest.Sequence(n, n)
	operands := p.Operands()
	for op, addr := range p.Accesses() {
		model.access(operands[op].Kind, addr, uint64(operands[op].Width))
	}
	if _, err := h.RunProgram(1, p); err != nil {
		t.Fatal(err)
	}
}

func describe(c Config) string {
	text := ""
	for _, l := range c.Levels {
		text += fmt.Sprintf("%v %v modulo=%v %v through=%v around=%v victims=%d prefetch=%v\n",
			l.Geometry, l.Policy, l.Modulo, l.Inclusion, l.WriteThrough, l.NoWriteAllocate,
			l.VictimLines, l.Prefetch)
	}
	return text
}

// TestPoliciesEqualChain: the two engines agree on what both can simulate.
func TestPoliciesEqualChain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(400)) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := Config{WriteBacks: seed%2 == 0}
		for range 1 + r.IntN(3) {
			ways, sets, line := 1+r.IntN(20), 1<<r.IntN(5), 64
			modulo := r.IntN(3) == 0
			if modulo {
				sets = 2 + r.IntN(20)
			}
			if !c.WriteBacks {
				line = 32 << r.IntN(3)
			}
			c.Levels = append(c.Levels, Level{Geometry: Geometry{Size: max(sets*ways, 2) * line,
				Ways: ways, Line: line}, Modulo: modulo})
		}
		if c.Check() != nil {
			continue
		}
		chain, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Observe = "sets"
		observed, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			n := nest.Nest{Trips: []int{1 + r.IntN(9), 1 + r.IntN(40)}}
			for range 1 + r.IntN(3) {
				n.Operands = append(n.Operands, nest.Operand{Kind: nest.Kind(r.IntN(3)),
					Base: 1<<20 + uint64(r.IntN(1000)), Width: 1 + r.IntN(32),
					Strides: []int{r.IntN(900) - 200, r.IntN(300) - 100}})
			}
			a, errA := chain.Run(1, n)
			b, errB := observed.Run(1, n)
			if errA != nil || errB != nil || !slices.Equal(a[0], b[0]) {
				t.Fatalf("seed %d: %v and %v, %v and %v\n%s%+v", seed, a, b, errA, errB,
					describe(c), n)
			}
			for i, got := range chain.Levels() {
				want := observed.Levels()[i]
				lookups := uint64(0)
				for _, n := range want.SetMisses {
					lookups += n
				}
				if lookups < want.Misses() {
					t.Fatalf("seed %d: %d misses in all sets, %d in all", seed, lookups,
						want.Misses())
				}
				want.SetMisses = nil
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d, %s:\n%+v and\n%+v\n%s", seed, got.Name, got, want,
						describe(c))
				}
			}
		}
	}
}

// Behind a write-through level the fetch and the store of one reference are one address for a
// stride prefetcher, and of an inclusive level the prefetcher comes after that of the level before.
func TestPrefetchOnceAReference(t *testing.T) {
	small, large := Geometry{Size: 1024, Ways: 2, Line: 64}, Geometry{Size: 4096, Ways: 4, Line: 64}
	stride, next := Prefetch{Kind: "stride", Degree: 2}, Prefetch{Kind: "next-line", Degree: 1}
	for _, c := range []struct {
		levels       []Level
		stride       uint64
		first, below uint64 // prefetches of the levels
	}{
		{[]Level{{Geometry: small, WriteThrough: true}, {Geometry: large, Prefetch: stride}},
			4096, 0, 99},
		{[]Level{{Geometry: small, Prefetch: next},
			{Geometry: large, Inclusion: "inclusive", Prefetch: next}}, 4096, 100, 0},
	} {
		h, err := NewHierarchy(Config{Levels: c.levels})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(100) {
			h.Access(nest.Write, 1<<32+i*c.stride, 4)
		}
		if l := h.Levels(); l[0].Prefetches != c.first || l[1].Prefetches != c.below {
			t.Errorf("%v: %d and %d prefetches, want %d and %d", c.levels, l[0].Prefetches,
				l[1].Prefetches, c.first, c.below)
		}
	}
}

// A store through a write-through level that misses asks an exclusive level behind it twice, for
// the line and to keep the store. It is one miss there, but the last level is asked twice too.
func TestStoreBehindAFetchThatMissed(t *testing.T) {
	small, large := Geometry{Size: 1024, Ways: 2, Line: 64}, Geometry{Size: 4096, Ways: 4, Line: 64}
	h, err := NewHierarchy(Config{Levels: []Level{{Geometry: small, WriteThrough: true},
		{Geometry: large, Inclusion: "exclusive"}, {Geometry: large}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		h.Access(nest.Write, 1<<32+4*i, 4)
	}
	for i, want := range []uint64{3, 4, 4} {
		if l := h.Levels()[i]; l.Writes != want {
			t.Errorf("%s: %d references, want %d", l.Name, l.Writes, want)
		}
	}
}

// Each reference crosses into a line that the prefetcher has brought, but for the first of a page.
func TestNextLineOfCrossingReferences(t *testing.T) {
	l := Level{Geometry: Geometry{Size: 4096, Ways: 4, Line: 64},
		Prefetch: Prefetch{Kind: "next-line", Degree: 1}}
	h, err := NewHierarchy(Config{Levels: []Level{l}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(64) {
		h.Access(nest.Read, 1<<32+60+64*i, 8)
	}
	if got := h.Levels()[0]; got.ReadMisses != 2 || got.Prefetches != 63 { // lines 2 to 63, and 65
		t.Errorf("%d misses and %d prefetches, want 2 and 63", got.ReadMisses, got.Prefetches)
	}
}

// TestPrefetchesBehindALevel: next-line goes on from the higher line of a reference, in whatever
// order its lines come; stride goes by the operand's address, also where only a later line of it is
// asked for.
func TestPrefetchesBehindALevel(t *testing.T) {
	next := func(degree int) Prefetch { return Prefetch{"next-line", degree} }
	first := Geometry{4096, 8, 64}
	strided := []nest.Operand{{Base: 0x10045f, Width: 1}, {Base: 0x10049f, Width: 1},
		{Base: 0x1004df, Width: 1}, {Base: 0x10067f, Width: 4}, {Base: 0x1006bf, Width: 4}}
	crossing := []nest.Operand{{Base: 0x100000, Width: 4}, {Base: 0x100040, Width: 4},
		{Base: 0x1000bc, Width: 8, Kind: nest.Write}}
	for name, c := range map[string]struct {
		levels []Level
		refs   []nest.Operand
		want   uint64 // prefetches of LL
	}{
		"inclusive": {[]Level{{Geometry: first, WriteThrough: true, Prefetch: next(1)},
			{Geometry: Geometry{8192, 8, 64}, Inclusion: "inclusive", Prefetch: next(2)}},
			crossing, 2},
		// The fetch leaves the higher line alone in LL, where the passed store misses the lower
		// one.
		"non-inclusive": {[]Level{{Geometry: first, WriteThrough: true},
			{Geometry: Geometry{64, 1, 64}, NoWriteAllocate: true, Prefetch: next(1)}},
			crossing[2:], 1},
		"stride, inclusive": {[]Level{{Geometry: first}, {Geometry: Geometry{16384, 8, 64},
			Inclusion: "inclusive", Prefetch: Prefetch{"stride", 2}}}, strided, 3},
		"stride, non-inclusive": {[]Level{{Geometry: first},
			{Geometry: Geometry{16384, 8, 64}, Prefetch: Prefetch{"stride", 2}}}, strided, 3},
	} {
		h, err := NewHierarchy(Config{Levels: c.levels})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.refs {
			h.Access(r.Kind, r.Base, r.Width)
		}
		if got := h.Levels()[1].Prefetches; got != c.want {
			t.Errorf("%s: %d prefetches, want %d", name, got, c.want)
		}
	}
}

// TestStoresPastAnExclusiveLevel: it keeps no store that misses, so that each is compulsory again.
func TestStoresPastAnExclusiveLevel(t *testing.T) {
	h, err := NewHierarchy(Config{Observe: "classes",
		Levels: []Level{{Geometry: Geometry{1024, 2, 64}, NoWriteAllocate: true},
			{Geometry: Geometry{4096, 4, 64}, Inclusion: "exclusive"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []nest.Kind{nest.Write, nest.Write, nest.Read} {
		h.Access(kind, 1<<20, 4)
	}
	if l := h.Levels()[1]; l.Compulsory != 3 || l.Misses() != 3 {
		t.Errorf("%d compulsory misses of %d, want 3 of 3", l.Compulsory, l.Misses())
	}
}
