package simcache

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/exact"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
	"github.com/stridebench/stridebench/simcache/internal/policies"
)

// Counts are events under Cachegrind's names.
type Counts struct {
	Ir   uint64 `json:",omitzero"` // instructions fetched
	I1mr uint64 `json:",omitzero"` // fetches that missed in I1
	ILmr uint64 `json:",omitzero"` // fetches that also missed in the last level
	Dr   uint64 // reads
	D1mr uint64 // reads that missed in D1
	DLmr uint64 // reads that also missed in the last level
	Dw   uint64 // writes
	D1mw uint64 // writes that missed in D1
	DLmw uint64 // writes that also missed in the last level
}

// Refs returns the number of data references.
func (c Counts) Refs() uint64 { return c.Dr + c.Dw }

// D1Misses returns the data references that missed in D1.
func (c Counts) D1Misses() uint64 { return c.D1mr + c.D1mw }

// LLMisses returns the data references that missed in the last level.
func (c Counts) LLMisses() uint64 { return c.DLmr + c.DLmw }

// Sub returns c minus b, event by event.
func (c Counts) Sub(b Counts) Counts { return c.plus(b, ^uint64(0)) } // -1

// Add returns the sum of c and b, event by event.
func (c Counts) Add(b Counts) Counts { return c.plus(b, 1) }

// plus adds n times b, modulo 2^64.
func (c Counts) plus(b Counts, n uint64) Counts {
	return Counts{c.Ir + n*b.Ir, c.I1mr + n*b.I1mr, c.ILmr + n*b.ILmr,
		c.Dr + n*b.Dr, c.D1mr + n*b.D1mr, c.DLmr + n*b.DLmr,
		c.Dw + n*b.Dw, c.D1mw + n*b.D1mw, c.DLmw + n*b.DLmw}
}

// String returns the counts by Cachegrind's names: "Dr=16 D1mr=3 DLmr=1 Dw=0 D1mw=0 DLmw=0". Counts
// of instructions come first, if any.
func (c Counts) String() string {
	data := fmt.Sprintf("Dr=%d D1mr=%d DLmr=%d Dw=%d D1mw=%d DLmw=%d", c.Dr, c.D1mr, c.DLmr, c.Dw,
		c.D1mw, c.DLmw)
	if c.Ir == 0 {
		return data
	}
	return fmt.Sprintf("Ir=%d I1mr=%d ILmr=%d %s", c.Ir, c.I1mr, c.ILmr, data)
}

// LevelCounts are the events at one level.
type LevelCounts struct {
	Name string `json:"name"`
	// References that reached the level, by kind.
	Fetches uint64 `json:"fetches,omitzero"`
	Reads   uint64 `json:"reads"`
	Writes  uint64 `json:"writes"`
	// References that missed.
	FetchMisses uint64 `json:"fetchMisses,omitzero"`
	ReadMisses  uint64 `json:"readMisses"`
	WriteMisses uint64 `json:"writeMisses"`
	// With Config.WriteBacks:
	BytesIn uint64 `json:"bytesIn,omitzero"` // bytes fetched from the next level, or memory
	// write-backs, stores passed through, lines moved down
	BytesOut   uint64 `json:"bytesOut,omitzero"`
	WriteBacks uint64 `json:"writeBacks,omitzero"` // dirty lines passed down

	// lookups that hit in the victim cache
	VictimHits uint64 `json:"victimHits,omitzero"`
	// Lines prefetched; used; evicted before use. The others are still there.
	Prefetches uint64 `json:"prefetches,omitzero"`
	Useful     uint64 `json:"useful,omitzero"`
	Useless    uint64 `json:"useless,omitzero"`
	// With "classes": misses by cause. A miss is compulsory if an infinite cache misses too: no
	// earlier reference fetched its line. (Without write-allocate, a store miss does not fetch.) It
	// is a capacity miss if a fully associative LRU cache of the level's size misses too. Other
	// misses are conflict misses.
	Compulsory uint64 `json:"compulsory,omitzero"`
	Capacity   uint64 `json:"capacity,omitzero"`
	Conflict   uint64 `json:"conflict,omitzero"`
	// With "classes": references of nests, by their lines' last touch.
	Reuses []Reuse `json:"reuses,omitempty"`
	// With "sets": lookups that missed, by set.
	SetMisses []uint64 `json:"setMisses,omitempty"`
	// With "bytes": bytes of the lines brought in, and how many of them references touched.
	BytesFilled uint64 `json:"bytesFilled,omitzero"`
	BytesUsed   uint64 `json:"bytesUsed,omitzero"`
}

// Refs returns the references that reached the level.
func (l LevelCounts) Refs() uint64 { return l.Fetches + l.Reads + l.Writes }

// Misses returns the references that missed.
func (l LevelCounts) Misses() uint64 { return l.FetchMisses + l.ReadMisses + l.WriteMisses }

// A Hierarchy is caches that start cold. It is not safe for concurrent use.
type Hierarchy struct {
	config  Config
	i1      *lookup.Chain // nil without I1
	data    engine.Engine
	tlb     engine.Engine // nil without TLB
	total   totals        // of the data levels
	pages   totals        // of the TLB
	extra   []extraPasses // counted, but not walked
	nests   []nest.Nest   // of NewThreads, of all threads
	sources               // of AccessAll
}

// extraPasses repeat the counts of the last walked pass.
type extraPasses struct {
	before, after []engine.Besides // counts before and after the last walked pass, by level
	times         uint64
}

type totals struct {
	refs   [engine.Sorts]uint64
	misses [engine.Sorts][]uint64
}

// NewHierarchy returns cold caches, or the error of c.Check.
func NewHierarchy(c Config) (*Hierarchy, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	h := &Hierarchy{config: c, data: c.engine()}
	if c.I1 != (Geometry{}) {
		// A separate level: a fetch that misses continues like a miss of D1.
		h.i1 = lookup.New([]engine.Level{c.I1.shape()}, lookup.Options{ZeroTags: c.ZeroTags})
	}
	if len(c.TLB) > 0 {
		h.tlb = c.pages().engine()
	}
	for sort := range engine.Sorts {
		h.total.misses[sort] = make([]uint64, len(c.Levels))
		h.pages.misses[sort] = make([]uint64, len(c.TLB))
	}
	return h, nil
}

// Reset makes the hierarchy cold and its counts 0. It keeps memory if it can.
func (h *Hierarchy) Reset() {
	h.data.Reset()
	if h.tlb != nil {
		h.tlb.Reset()
	}
	if h.i1 != nil {
		h.i1.Reset()
	}
	h.total.clear()
	h.pages.clear()
	h.extra, h.sources = nil, sources{}
}

func (t *totals) clear() {
	clear(t.refs[:])
	for _, misses := range t.misses {
		clear(misses)
	}
}

func (c Config) pages() Config {
	return Config{Levels: PageLevels(c.TLB), Brute: c.Brute, Cores: c.Cores}
}

func (c Config) engine() engine.Engine {
	observe, _ := c.observe() // Check has returned its error
	if !c.isLRU() {
		var levels []policies.Level
		for _, l := range c.Levels {
			levels = append(levels, l.policies())
		}
		e := policies.New(levels, c.WriteBacks, observe)
		if c.Brute {
			e.Brute()
		}
		return e
	}
	levels := c.shapes()
	if c.Brute || c.ZeroTags || c.WriteBacks || observe != 0 {
		// exact supports neither a block in every way nor dirty lines nor observation.
		return lookup.New(levels, lookup.Options{ZeroTags: c.ZeroTags, WriteBacks: c.WriteBacks,
			Brute: c.Brute, Cores: c.Cores, Observe: observe})
	}
	return exact.New(levels, c.Cores)
}

// Access simulates an access of size bytes, at least 1, at addr; a modify counts as one read. With
// lines under 4 B, addresses have at most 62 bits.
func (h *Hierarchy) Access(kind nest.Kind, addr uint64, size int) {
	sort := engine.Sort(kind)
	h.total.refs[sort]++
	h.data.Add(sort, addr, uint64(size), kind)
	if h.tlb != nil {
		h.tlb.Add(sort, addr, uint64(size), kind)
	}
}

// Fetch simulates the fetch of an instruction by a hierarchy with an I1. In Cachegrind a fetch
// precedes the instruction's data references.
func (h *Hierarchy) Fetch(addr uint64, size int) {
	h.total.refs[engine.Fetches]++
	h.data.At(addr)
	if h.i1.Look(addr, uint64(size)) {
		h.data.Descend(engine.Fetches, addr, uint64(size))
	}
}

// OperandMisses are the misses of one operand of a nest.
type OperandMisses struct {
	Levels []uint64 // of each data level, the nearest first
	TLB    []uint64 // of each TLB level
}

// RunMisses is a pass of Run over a nest, with each operand's misses at every level.
func (h *Hierarchy) RunMisses(n nest.Nest) ([]OperandMisses, error) {
	data, pages, err := h.walk(1, 1, n)
	if err != nil {
		return nil, err
	}
	misses := make([]OperandMisses, len(n.Operands))
	for r := range misses {
		levels, tlb := len(h.config.Levels), len(h.config.TLB)
		misses[r].Levels = data[0][0][r*levels:][:levels]
		if h.tlb != nil {
			misses[r].TLB = pages[0][0][r*tlb:][:tlb]
		}
	}
	return misses, nil
}

// run returns counts by pass, nest and operand. The totals count the last pass last times.
func (h *Hierarchy) run(passes, last int, nests ...nest.Nest) ([][][]Counts, error) {
	misses, _, err := h.walk(passes, last, nests...)
	if err != nil {
		return nil, err
	}
	counts := make([][][]Counts, passes)
	for p := range counts {
		for k, n := range nests {
			counts[p] = append(counts[p], countsOf(n, misses[p][k], len(h.config.Levels)))
		}
	}
	return counts, nil
}

// walk returns misses in the order of engine.Run. The totals count the last pass last times.
func (h *Hierarchy) walk(passes, last int, nests ...nest.Nest) (data, pages [][][]uint64,
	err error) {
	var canonical []nest.Nest
	for _, n := range nests {
		if err := n.Check(); err != nil {
			return nil, nil, err
		}
		canonical = append(canonical, n.Canonical())
	}
	h.tally()
	h.tracked = 0
	if h.tlb != nil {
		pages = h.tlb.Run(canonical, passes)
		h.pages.add(nests, pages, last)
	}
	data = h.walkData(canonical, passes, last)
	h.total.add(nests, data, last)
	return data, pages, nil
}

// walkData is engine.Run of the data caches, whose other counts include the last pass last times.
func (h *Hierarchy) walkData(canonical []nest.Nest, passes, last int) [][][]uint64 {
	if last == 1 || h.config.lone() {
		return h.data.Run(canonical, passes)
	}
	data := h.data.Run(canonical, passes-1)
	extra := extraPasses{before: h.besides(), times: uint64(last - 1)}
	data = append(data, h.data.Run(canonical, 1)...)
	extra.after = h.besides()
	h.extra = append(h.extra, extra)
	return data
}

func (h *Hierarchy) besides() (all []engine.Besides) {
	for level := range h.config.Levels {
		all = append(all, h.data.Besides(level))
	}
	return all
}

func countsOf(n nest.Nest, misses []uint64, levels int) []Counts {
	counts := make([]Counts, len(n.Operands))
	for r, op := range n.Operands {
		counts[r] = countsOfOperand(op, uint64(n.Iterations()), misses[r*levels:][:levels])
	}
	return counts
}

func countsOfOperand(op nest.Operand, refs uint64, misses []uint64) Counts {
	first, last := misses[0], misses[len(misses)-1]
	if engine.Sort(op.Kind) == engine.Stores {
		return Counts{Dw: refs, D1mw: first, DLmw: last}
	}
	return Counts{Dr: refs, D1mr: first, DLmr: last}
}

func (t *totals) add(nests []nest.Nest, misses [][][]uint64, last int) {
	levels := len(t.misses[engine.Loads])
	for p := range misses {
		times := uint64(1)
		if p == len(misses)-1 {
			times = uint64(last)
		}
		for k, n := range nests {
			for r, op := range n.Operands {
				sort := engine.Sort(op.Kind)
				t.refs[sort] += times * uint64(n.Iterations())
				for level, m := range misses[p][k][r*levels:][:levels] {
					t.misses[sort][level] += times * m
				}
			}
		}
	}
}

func (h *Hierarchy) tally() {
	h.sources.addRefs(&h.total)
	h.total.take(h.data, &h.sources)
	if h.tlb != nil {
		h.pages.take(h.tlb, nil)
	}
}

func (t *totals) take(e engine.Engine, s *sources) {
	for level := range t.misses[engine.Loads] {
		for op, n := range e.Take(level) {
			switch {
			case op < engine.Sorts:
				t.misses[op][level] += n
			case n > 0:
				one := &s.list[op-engine.Sorts]
				one.misses[level] += n
				t.misses[one.sort][level] += n
			}
		}
	}
}

// Counts returns the counts so far, of first and last level.
func (h *Hierarchy) Counts() Counts {
	h.tally()
	return h.total.counts()
}

func (t *totals) counts() Counts {
	last := len(t.misses[engine.Loads]) - 1
	return Counts{t.refs[engine.Fetches], t.misses[engine.Fetches][0],
		t.misses[engine.Fetches][last],
		t.refs[engine.Loads], t.misses[engine.Loads][0], t.misses[engine.Loads][last],
		t.refs[engine.Stores], t.misses[engine.Stores][0], t.misses[engine.Stores][last]}
}

// Levels returns the counts so far at each data level, the nearest first.
func (h *Hierarchy) Levels() []LevelCounts {
	h.tally()
	levels := h.total.levels(h.config.name)
	levels[0].Fetches, levels[0].FetchMisses = 0, 0 // these belong to I1
	for i, besides := range h.besides() {
		for _, e := range h.extra {
			besides.Repeat(e.before[i], e.after[i], e.times)
		}
		levels[i].add(besides)
	}
	return levels
}

// Work returns how many counted data references were looked up, and how many were proved to hit or
// miss like others. A TLB counts each reference again.
func (h *Hierarchy) Work() (visited, proved uint64) {
	h.tally() // looks up what waits
	refs := h.total.refs[engine.Loads] + h.total.refs[engine.Stores]
	for _, e := range []engine.Engine{h.data, h.tlb} {
		if e != nil {
			looked := e.Work()
			visited, proved = visited+looked, proved+refs-min(refs, looked)
		}
	}
	return visited, proved
}

// TLBs returns the counts so far at each level of the TLB. A miss of the last is a page walk.
func (h *Hierarchy) TLBs() []LevelCounts {
	h.tally()
	h.pages.refs[engine.Loads], h.pages.refs[engine.Stores] = h.total.refs[engine.Loads],
		h.total.refs[engine.Stores]
	return h.pages.levels(func(i int) string { return h.config.TLB[i].name(i) })
}

func (t *totals) levels(name func(i int) string) []LevelCounts {
	levels := make([]LevelCounts, len(t.misses[engine.Loads]))
	refs := t.refs
	for i := range levels {
		l := &levels[i]
		l.Name = name(i)
		l.Reads, l.Writes, l.Fetches = refs[engine.Loads], refs[engine.Stores], refs[engine.Fetches]
		for sort := range engine.Sorts {
			refs[sort] = t.misses[sort][i]
		}
		l.ReadMisses, l.WriteMisses, l.FetchMisses = refs[engine.Loads], refs[engine.Stores],
			refs[engine.Fetches]
	}
	return levels
}

func (l *LevelCounts) add(b engine.Besides) {
	l.Writes += b.Stores
	l.BytesIn, l.BytesOut, l.WriteBacks = b.BytesIn, b.BytesOut, b.WriteBacks
	l.VictimHits = b.VictimHits
	l.Prefetches, l.Useful, l.Useless = b.Prefetches, b.Useful, b.Useless
	l.Compulsory, l.Capacity, l.Conflict = b.Compulsory, b.Capacity, b.Conflict
	l.SetMisses = b.SetMisses
	l.Reuses = b.Reuses
	l.BytesFilled, l.BytesUsed = b.BytesFilled, b.BytesUsed
}
