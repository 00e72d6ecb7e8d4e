// Package policies simulates levels that know of each other, or follow other
// policies than LRU: inclusion, write-through, victim caches, prefetchers; and it
// observes more than misses. It looks up one reference after the other.
//
// It starts where package reference ends, and with none of all that does what
// that does.
//
// A reference passes a level in this order: its line, or both, is looked up,
// low first; what is absent is asked of the next level, and filled into an
// empty way or over the policy's victim; what had to go leaves for the next
// level (fetch before write-back, as in Dinero IV); a store that the level does
// not keep is passed on. A next level that knows nothing of this one is asked
// once, with the whole reference and after the fill, as in Cachegrind; one that
// is tied to it, inclusive or exclusive, is asked line by line and before. When
// all is done, the prefetchers of the levels that were asked fetch, the nearest
// first.
package policies

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// An Engine is levels, the nearest first.
type Engine struct {
	levels []*cache
	misses [][]uint64 // by level and operand
	dirty  bool       // dirty lines are tracked
	looked uint64     // references of data
	serial uint64     // number of the reference under way
	pc     uint64     // address of the instruction under way, if fetches are told
	seen   []sight    // what prefetchers have to be told of the reference under way
	reuses *reuses    // with Classes
}

// A sight is an event at a level.
type sight struct {
	level int
	event event
}

// A request asks a level for size bytes at addr.
type request struct {
	op         int
	addr, size uint64
	write      bool // a store's data come along
	quiet      bool // a prefetch, or the store of a modify: no reference
}

// within is the part of a request that lies in a block of a line size.
func (r request) within(block uint64, shift uint) request {
	start := max(r.addr, block<<shift)
	end := min(r.addr+r.size-1, block<<shift|(1<<shift-1))
	r.addr, r.size, r.write = start, end-start+1, false
	return r
}

// New makes an engine. Dirty lines are tracked, and what is moved is counted, if
// that is asked for.
func New(levels []Level, dirty bool, o Observe) *Engine {
	d := &Engine{misses: make([][]uint64, len(levels)), dirty: dirty}
	for _, l := range levels {
		d.levels = append(d.levels, newCache(l, o))
	}
	if o&Classes != 0 {
		d.reuses = newReuses(d.levels)
	}
	d.track(engine.Sorts)
	return d
}

// At tells the address of the instruction that the next references are of.
func (d *Engine) At(pc uint64) { d.pc = pc }

// track forgets the misses, and makes room for those of so many operands.
func (d *Engine) track(operands int) {
	for i := range d.misses {
		d.misses[i] = make([]uint64, operands)
	}
}

// Take returns the misses of single references at a level.
func (d *Engine) Take(level int) (misses [engine.Sorts]uint64) {
	copy(misses[:], d.misses[level])
	clear(d.misses[level])
	return misses
}

// Run simulates passes over canonical nests.
func (d *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	walked := 0
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if walked%len(nests) == 0 && d.reuses != nil {
			d.reuses.pass = d.serial
		}
		walked++
		return d.one(n)
	})
}

// one simulates a nest, after what single references counted has been taken.
func (d *Engine) one(n nest.Nest) []uint64 {
	d.track(max(len(n.Operands), engine.Sorts))
	if d.reuses != nil {
		d.reuses.begin(n, d.serial)
		defer func() { d.reuses.inside = false }()
	}
	for op, addr := range n.Accesses() {
		d.Add(op, addr, uint64(n.Operands[op].Width), n.Operands[op].Kind)
	}
	misses := engine.ByOperand(d.misses, len(n.Operands))
	d.track(engine.Sorts)
	return misses
}

// Settled is not known.
func (d *Engine) Settled() int { return 0 }

// Work is how many references were looked up.
func (d *Engine) Work() uint64 { return d.looked }

// Besides is what is counted at a level besides references and misses.
func (d *Engine) Besides(level int) engine.Besides {
	b := d.levels[level].besides()
	if !d.dirty {
		b.BytesIn, b.BytesOut = 0, 0
	}
	if d.reuses != nil {
		b.Reuses = d.reuses.list(level)
	}
	return b
}

// Add simulates a reference; a modify is a read, and then a store that is no
// reference.
func (d *Engine) Add(op int, addr, size uint64, kind nest.Kind) {
	d.serial++
	d.looked++
	d.reference(0, request{op: op, addr: addr, size: size, write: kind == nest.Write})
	if kind == nest.Modify {
		d.reference(0, request{op: op, addr: addr, size: size, write: true, quiet: true})
	}
	d.prefetch()
	for _, l := range d.levels {
		l.use(addr, size)
	}
	if d.reuses != nil {
		d.reuses.see(d, op, addr, size)
	}
}

// Descend simulates a fetch that missed in I1, from the second level on.
func (d *Engine) Descend(op int, addr, size uint64) {
	d.serial++
	d.misses[0][op]++
	d.reference(1, request{op: op, addr: addr, size: size})
	d.prefetch()
}

// tied reports whether a level is inclusive or exclusive of the one before.
func (d *Engine) tied(level int) bool {
	return level < len(d.levels) && d.levels[level].Tie != Untied
}

// reference simulates a request at a level, or at memory, which has all.
func (d *Engine) reference(level int, r request) {
	if level == len(d.levels) {
		return
	}
	l := d.levels[level]
	l.begin(r, d.serial)
	var waiting [2]line
	gone := waiting[:0] // on its way out, once the next level has been asked
	missed, filled, passed := false, false, false
	for block := r.addr >> l.shift; block <= (r.addr+r.size-1)>>l.shift; block++ {
		if hit := l.lookup(block, r); hit != nil {
			passed = passed || r.write && l.WriteThrough
			hit.dirty = hit.dirty || r.write && !l.WriteThrough && d.dirty
			continue
		}
		missed = true
		if l.passes(r) {
			passed = true
			continue
		}
		fresh := line{block: block, dirty: r.write && !l.WriteThrough && d.dirty}
		passed = passed || r.write && l.WriteThrough
		filled = true
		l.counts.BytesIn += 1 << l.shift
		if !d.tied(level + 1) {
			gone = l.fill(fresh, gone)
			continue
		}
		fresh.dirty = d.ask(level+1, r.within(block, l.shift)) || fresh.dirty
		d.fill(level, fresh)
	}
	if missed {
		d.miss(level, r)
	}
	if l.prefetcher != nil && !r.quiet {
		d.seen = append(d.seen, sight{level, event{pc: d.pc, op: r.op, addr: r.addr, block: r.addr >> l.shift, news: l.news}})
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
		if level+1 < len(d.levels) && !r.quiet && (filled || !missed) {
			d.levels[level+1].counts.Stores++ // which no miss of this level accounts for
		}
		d.reference(level+1, r)
	}
}

// miss counts a reference that missed at a level, once.
func (d *Engine) miss(level int, r request) {
	l := d.levels[level]
	if r.quiet || l.missedAt == d.serial {
		return
	}
	l.missedAt = d.serial
	d.misses[level][r.op]++
	l.classify()
}

// ask takes a line for the level before from a level that is tied to it, and
// reports whether it is dirty.
func (d *Engine) ask(level int, r request) (dirty bool) {
	l := d.levels[level]
	if l.Tie == Inclusive {
		d.reference(level, r)
		return false
	}
	l.begin(r, d.serial)
	block := r.addr >> l.shift
	if hit := l.lookup(block, r); hit != nil {
		out, _ := l.remove(block)
		l.retire(&out)
		return out.dirty
	}
	d.miss(level, r)
	if d.tied(level + 1) {
		return d.ask(level+1, r)
	}
	d.reference(level+1, r)
	return false
}

// fill puts a line into a level, and moves out what had to go for it.
func (d *Engine) fill(level int, fresh line) {
	var room [1]line
	for _, out := range d.levels[level].fill(fresh, room[:0]) {
		d.leave(level, out)
	}
}

// leave moves a line out of a level.
func (d *Engine) leave(level int, out line) {
	l := d.levels[level]
	l.retire(&out)
	if l.Tie == Inclusive {
		out.dirty = d.invalidate(level, out.block) || out.dirty
	}
	exclusive := level+1 < len(d.levels) && d.levels[level+1].Tie == Exclusive
	if out.dirty {
		l.counts.WriteBacks++
	}
	if out.dirty || exclusive {
		l.counts.BytesOut += 1 << l.shift
	}
	switch {
	case exclusive:
		d.fill(level+1, out)
	case out.dirty:
		d.putBack(level+1, out.block)
	}
}

// invalidate drops a block from the levels before an inclusive one, and reports
// whether it was dirty there. It is then written back on its way down.
func (d *Engine) invalidate(level int, block uint64) (dirty bool) {
	for _, l := range d.levels[:level] {
		out, ok := l.remove(block)
		if !ok {
			continue
		}
		l.retire(&out)
		if out.dirty {
			l.counts.WriteBacks++
			l.counts.BytesOut += 1 << l.shift
			dirty = true
		}
	}
	return dirty
}

// putBack writes a dirty line back to a level, or to memory. It touches the
// replacement order as a store's hit does. It is no reference of the level, and
// no miss: where the line is absent it is filled without a fetch, since all of
// it comes along, or, without write-allocate and where that would break the
// tie to another level, passed on.
func (d *Engine) putBack(level int, block uint64) {
	if level == len(d.levels) {
		return
	}
	l := d.levels[level]
	here := l.hold(block)
	switch {
	case here != nil:
		if here.dirty = !l.WriteThrough; here.dirty {
			return
		}
	case !l.NoWriteAllocate && l.Tie == Untied && !d.tied(level+1):
		d.fill(level, line{block: block, dirty: !l.WriteThrough})
		if !l.WriteThrough {
			return
		}
	}
	l.counts.WriteBacks++
	l.counts.BytesOut += 1 << l.shift
	d.putBack(level+1, block)
}

// prefetch fetches what the prefetchers want after a reference.
func (d *Engine) prefetch() {
	for _, at := range d.seen {
		for _, block := range d.levels[at.level].prefetcher.after(at.event) {
			d.fetch(at.level, block, at.event.op)
		}
	}
	d.seen = d.seen[:0]
}

// fetch brings a block to a level, if it is not there.
func (d *Engine) fetch(level int, block uint64, op int) {
	l := d.levels[level]
	if l.find(block) != nil || l.inVictims(block) {
		return
	}
	fresh := line{block: block, prefetched: true}
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

// Ties reports where a level does not hold what its tie to those before it says,
// for tests.
func (d *Engine) Ties() error {
	for level, l := range d.levels {
		for _, before := range d.levels[:level] {
			for at := before; at != nil; at = at.victims {
				for i, line := range at.lines {
					if at.tags[i] == 0 {
						continue
					}
					here := l.find(line.block) != nil || l.inVictims(line.block)
					if l.Tie == Inclusive && !here {
						return fmt.Errorf("level %d lacks block %d of a level before", level, line.block)
					}
					if l.Tie == Exclusive && before == d.levels[level-1] && here {
						return fmt.Errorf("block %d is in level %d and in the one before", line.block, level)
					}
				}
			}
		}
	}
	return nil
}
