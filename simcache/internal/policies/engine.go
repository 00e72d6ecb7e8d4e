// Package policies simulates levels that depend on each other, or follow policies other than LRU:
// inclusion, write-through, victim caches, prefetchers. It looks up one reference after another.
// With plain settings it does what package reference does, which it extends.
//
// A reference passes a level in this order. Its line, or both lines, are looked up, the lower
// first. An absent line is requested from the next level, and filled into an empty way or over the
// policy's victim. The evicted line leaves for the next level (fetch before write-back, as in
// Dinero IV). A store that the level does not keep is passed on.
//
// An independent next level gets one request for the whole reference, after the fill, as in
// Cachegrind. A tied one, inclusive or exclusive, gets a request for each line, before the fill. At
// the end the prefetchers of the levels involved fetch, the nearest first.
package policies

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// An Engine is levels, the nearest first.
type Engine struct {
	levels []*cache
	misses [][]uint64    // by level and operand
	dirty  bool          // dirty lines are tracked
	looked uint64        // data references
	serial uint64        // number of the current reference
	pc     uint64        // address of the current instruction, if fetches are simulated
	addr   uint64        // of the current reference
	seen   []event       // by level, the next event for its prefetcher; nil without prefetchers
	watch  *lookup.Watch // observer, or nil
	brute  bool          // look up every reference of a walk
	// a repeated hit in the first level leaves it as the hit before did
	idle  bool
	still bool // the current reference has only hit there

	anew func() *Engine // makes a new engine
}

// A request asks a level for size bytes at addr.
type request struct {
	op         int
	addr, size uint64
	write      bool // brings a store's data
	quiet      bool // a prefetch, or the store of a modify: not a reference
}

func (r request) within(block uint64, shift uint) request {
	start := max(r.addr, block<<shift)
	end := min(r.addr+r.size-1, block<<shift|(1<<shift-1))
	r.addr, r.size, r.write = start, end-start+1, false
	return r
}

// New returns an engine. If dirty is set, it tracks dirty lines and counts moved bytes.
func New(levels []Level, dirty bool, o lookup.Observe) *Engine {
	d := &Engine{misses: make([][]uint64, len(levels)), dirty: dirty}
	d.anew = func() *Engine { return New(levels, dirty, o) }
	var shapes []engine.Level
	for _, l := range levels {
		shapes = append(shapes, l.Level)
		d.levels = append(d.levels, newCache(l))
		if l.Prefetch != nil {
			d.seen = make([]event, len(levels))
		}
	}
	if o != 0 {
		d.watch = lookup.NewWatch(shapes, o)
	}
	first := d.levels[0]
	d.idle = settles(first.policy) && !first.WriteThrough && first.prefetcher == nil
	d.track(engine.Sorts)
	return d
}

// Brute makes walks look up every reference.
func (d *Engine) Brute() { d.brute = true }

// Reset makes the engine new, but keeps Brute.
func (d *Engine) Reset() {
	brute := d.brute
	*d = *d.anew()
	d.brute = brute
}

// LooksUp returns true.
func (d *Engine) LooksUp([]nest.Operand) bool { return true }

// Progress does nothing.
func (d *Engine) Progress(func(share float64)) {}

// At implements engine.Engine.
func (d *Engine) At(pc uint64) { d.pc = pc }

func (d *Engine) track(operands int) {
	for i := range d.misses {
		d.misses[i] = make([]uint64, operands)
	}
}

// Take implements engine.Engine.
func (d *Engine) Take(level int) []uint64 {
	misses := slices.Clone(d.misses[level])
	clear(d.misses[level])
	return misses
}

// Track implements engine.Engine.
func (d *Engine) Track(operands int) { d.track(operands) }

// Run implements engine.Engine.
func (d *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	walked := 0
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if walked%len(nests) == 0 && d.watch != nil {
			d.watch.Pass()
		}
		walked++
		return d.counted(n, nest.Sequence(n))
	})
}

// RunProgram simulates a pass over a program, after Take.
func (d *Engine) RunProgram(p nest.Program) []uint64 {
	return d.counted(p, p)
}

func (d *Engine) counted(what any, p nest.Program) []uint64 {
	operands := len(p.Operands())
	d.track(max(operands, engine.Sorts))
	v := &lookup.Visit{Watch: d.watch, Add: func(op int, addr, size uint64, kind nest.Kind) bool {
		d.still = d.idle
		d.Add(op, addr, size, kind)
		return d.still
	}}
	if d.idle && !d.brute {
		v.Line = 1 << d.levels[0].shift
	}
	v.Walk(what, p)
	misses := engine.ByOperand(d.misses, operands)
	d.track(engine.Sorts)
	return misses
}

// Settled returns 0: dependent levels, and other policies than LRU, need not repeat.
func (d *Engine) Settled() int { return 0 }

// Effort returns Run's most lookups, and estimates the seconds.
func (d *Engine) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	lookUps = engine.References(nests, passes)
	if d.watch != nil {
		return lookUps, lookUps / 4e6
	}
	return lookUps, lookUps / 2e7
}

// Work implements engine.Engine.
func (d *Engine) Work() uint64 { return d.looked }

// Besides implements engine.Engine.
func (d *Engine) Besides(level int) engine.Besides {
	b := d.levels[level].counts
	if d.watch != nil {
		d.watch.Besides(level, &b)
	}
	if !d.dirty {
		b.BytesIn, b.BytesOut = 0, 0
	}
	return b
}

// Add simulates a reference. A modify is a read and an uncounted store.
func (d *Engine) Add(op int, addr, size uint64, kind nest.Kind) {
	d.looked++
	d.begin(addr)
	d.reference(0, request{op: op, addr: addr, size: size, write: kind == nest.Write})
	if kind == nest.Modify {
		d.reference(0, request{op: op, addr: addr, size: size, write: true, quiet: true})
	}
	d.prefetch()
	if d.watch != nil {
		d.watch.Done(op, addr, size)
	}
}

func (d *Engine) begin(addr uint64) {
	d.serial++
	d.addr = addr
	if d.watch != nil {
		d.watch.Begin()
	}
}

// AddAll implements engine.Engine.
func (d *Engine) AddAll(refs []engine.Reference) {
	for _, r := range refs {
		d.Add(int(r.Op), r.Addr, uint64(r.Size), r.Kind)
	}
}

// Descend implements engine.Engine.
func (d *Engine) Descend(op int, addr, size uint64) {
	d.begin(addr)
	d.misses[0][op]++
	d.reference(1, request{op: op, addr: addr, size: size})
	d.prefetch()
}

func (d *Engine) tied(level int) bool {
	return level < len(d.levels) && d.levels[level].Tie != Untied
}

func (d *Engine) reference(level int, r request) {
	if level == len(d.levels) {
		return
	}
	l := d.levels[level]
	l.news = false
	var waiting [2]moved
	gone := waiting[:0] // evicted; they leave once the next level has been asked
	missed, filled, passed := false, false, false
	for block := r.addr >> l.shift; block <= (r.addr+r.size-1)>>l.shift; block++ {
		if hit := d.lookup(level, block, r); hit != nil {
			passed = passed || r.write && l.WriteThrough
			hit.dirty = hit.dirty || r.write && !l.WriteThrough && d.dirty
			continue
		}
		missed = true
		if l.passes(r) {
			passed = true
			continue
		}
		fresh := moved{block: block, line: line{dirty: r.write && !l.WriteThrough && d.dirty}}
		passed = passed || r.write && l.WriteThrough
		filled = true
		l.counts.BytesIn += 1 << l.shift
		if !d.tied(level + 1) {
			if out, left := d.bring(level, fresh); left {
				gone = append(gone, out)
			}
			continue
		}
		fresh.dirty = d.ask(level+1, r.within(block, l.shift)) || fresh.dirty
		d.fill(level, fresh)
	}
	counted := missed && d.miss(level, r)
	if l.prefetcher != nil && !r.quiet {
		d.see(level, r)
	}
	if filled && !d.tied(level+1) {
		down := r
		down.write = false
		d.reference(level+1, down)
	}
	for _, out := range gone {
		d.leave(level, out)
	}
	if passed {
		l.counts.BytesOut += r.size
		if level+1 < len(d.levels) && !r.quiet && (filled || !counted) {
			d.levels[level+1].counts.Stores++ // no miss of this level accounts for it
		}
		d.reference(level+1, r)
	}
}

// lookup touches a block, nil if absent. A block in the victim cache changes places with the line
// evicted for it.
func (d *Engine) lookup(level int, block uint64, r request) *line {
	l := d.levels[level]
	hit := l.touch(block)
	if hit == nil {
		d.still = false
		hit = l.fromVictims(block)
	}
	if r.quiet {
		return hit
	}
	if d.watch != nil {
		d.watch.Look(level, r.op, block, hit == nil, !l.passes(r))
	}
	switch {
	case hit == nil:
		l.news, l.newest = true, block
	case hit.prefetched:
		hit.prefetched = false
		l.news, l.newest = true, block
		l.counts.Useful++
	}
	return hit
}

// miss counts a reference's first miss at a level.
func (d *Engine) miss(level int, r request) (counted bool) {
	l := d.levels[level]
	if r.quiet || l.missedAt == d.serial {
		return false
	}
	l.missedAt = d.serial
	d.misses[level][r.op]++
	return true
}

// ask takes a line from a tied level, and reports whether it is dirty.
func (d *Engine) ask(level int, r request) (dirty bool) {
	l := d.levels[level]
	if l.Tie == Inclusive {
		d.reference(level, r)
		return false
	}
	l.news = false
	block := r.addr >> l.shift
	if hit := d.lookup(level, block, r); hit != nil {
		out, _ := d.take(level, block)
		return out.dirty
	}
	d.miss(level, r)
	if d.tied(level + 1) {
		return d.ask(level+1, r)
	}
	d.reference(level+1, r)
	return false
}

// see notes one event for each reference. A level may be asked line by line, or again for the store
// that follows; an address that came twice would look like a stride of 0.
func (d *Engine) see(level int, r request) {
	l, e := d.levels[level], &d.seen[level]
	if !e.seen {
		*e = event{pc: d.pc, op: r.op, addr: d.addr, seen: true}
	}
	if l.news {
		e.news, e.newest = true, max(e.newest, l.newest)
	}
}

func (d *Engine) prefetch() {
	for level, e := range d.seen {
		if !e.seen {
			continue
		}
		d.seen[level].seen = false
		for _, block := range d.levels[level].prefetcher.after(e) {
			d.fetch(level, block, e.op)
		}
	}
}

func (d *Engine) fetch(level int, block uint64, op int) {
	l := d.levels[level]
	if l.place(block) >= 0 || l.inVictims(block) {
		return
	}
	fresh := moved{block: block, line: line{prefetched: true}}
	whole := request{op: op, addr: block << l.shift, size: 1 << l.shift, quiet: true}
	if d.tied(level + 1) {
		fresh.dirty = d.ask(level+1, whole)
	} else {
		d.reference(level+1, whole)
	}
	l.counts.Prefetches++
	l.counts.BytesIn += 1 << l.shift
	d.fill(level, fresh)
}

// Ties returns an error if a level violates its tie to the levels before, for tests.
func (d *Engine) Ties() error {
	for level, l := range d.levels {
		for _, before := range d.levels[:level] {
			for at := before; at != nil; at = at.victims {
				for _, tag := range at.tags {
					if tag == 0 {
						continue
					}
					block := tag - 1
					here := l.place(block) >= 0 || l.inVictims(block)
					if l.Tie == Inclusive && !here {
						return fmt.Errorf("level %d lacks block %d of a level before", level, block)
					}
					if l.Tie == Exclusive && before == d.levels[level-1] && here {
						return fmt.Errorf("block %d is in level %d and in the one before",
							block, level)
					}
				}
			}
		}
	}
	return nil
}
