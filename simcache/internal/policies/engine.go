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
	"slices"

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
	addr   uint64     // of the reference under way
	seen   []event    // by level, what its prefetcher has to be told of the reference under way; nil without prefetchers
	reuses *reuses    // with Classes
	plain  bool       // see plain
	watch  *watch     // that does all, if levels are observed so
	brute  bool       // every reference of a walk is looked up
	// how far it is
	tell func(references uint64)
	told uint64
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
		if l.Prefetch != nil {
			d.seen = make([]event, len(levels))
		}
	}
	if o&Classes != 0 {
		d.reuses = newReuses(d.levels)
	}
	if o&UsedBytes != 0 {
		for _, l := range d.levels {
			l.near = make([]int32, levels[0].Lines())
		}
	}
	d.levels[0].recent = make([]recent, levels[0].Sets)
	d.plain = d.isPlain(o)
	if d.watch = d.newWatch(o); d.watch != nil && d.reuses != nil {
		d.reuses.last = &d.watch.known
	}
	d.track(engine.Sorts)
	return d
}

// Brute has every reference looked up.
func (d *Engine) Brute() { d.brute = true }

// Progress has a function told now and then of how many references all that was done so far is.
func (d *Engine) Progress(tell func(references uint64)) { d.tell = tell }

// tellEvery is after how many references it is told how far it is.
const tellEvery = 1 << 18

// Repeats reports whether walks leave references out that repeat others, so that Effort is the most that there are.
func (d *Engine) Repeats() bool {
	return d.watch != nil && (d.watch.leavesInLine() || d.watch.leavesPasses())
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
func (d *Engine) Take(level int) []uint64 {
	misses := slices.Clone(d.misses[level])
	clear(d.misses[level])
	return misses
}

// Track makes room for so many operands of single references.
func (d *Engine) Track(operands int) { d.track(operands) }

// Run simulates passes over canonical nests.
func (d *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	walked := 0
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if walked%len(nests) == 0 && d.reuses != nil {
			d.reuses.pass = d.serial
		}
		walked++
		return d.run(n)
	})
}

// run simulates a nest, after what single references counted has been taken.
func (d *Engine) run(n nest.Nest) []uint64 {
	d.track(max(len(n.Operands), engine.Sorts))
	if d.reuses != nil {
		d.reuses.begin(n, d.serial)
		defer func() { d.reuses.inside = false }()
	}
	d.walk(n)
	misses := engine.ByOperand(d.misses, len(n.Operands))
	d.track(engine.Sorts)
	return misses
}

// walk simulates the references of a nest, in order.
func (d *Engine) walk(n nest.Nest) {
	if n.Iterations() == 0 {
		return
	}
	inner, trips := max(len(n.Trips)-1, 0), 1
	if len(n.Trips) > 0 {
		trips = n.Trips[inner]
	}
	streams := make([]stream, len(n.Operands))
	for r, op := range n.Operands {
		streams[r] = stream{addr: op.Base, width: uint64(op.Width), kind: op.Kind, steps: nest.Steps(n.Trips[:inner], op.Strides)}
		if len(n.Trips) > 0 {
			streams[r].stride = uint64(op.Strides[inner])
		}
	}
	if d.watch != nil {
		d.watch.nest(n, inner, trips, streams)
		return
	}
	for loop := range nest.Walk(n.Trips[:inner]) {
		for r := range streams {
			if s := &streams[r]; loop >= 0 {
				s.addr += uint64(s.steps[loop])
			}
		}
		if d.reuses != nil {
			d.reuses.step(max(loop, 0), d.serial)
		}
		for i := range uint64(trips) {
			if d.reuses != nil && len(n.Trips) > 0 {
				d.reuses.began[inner] = d.serial
			}
			for r := range streams {
				s := &streams[r]
				d.Add(r, s.addr+i*s.stride, s.width, s.kind)
			}
		}
	}
}

// nest walks a nest.
func (w *watch) nest(n nest.Nest, inner, trips int, streams []stream) {
	w.begin(n.Operands)
	r := row{trips: trips, addrs: make([]uint64, len(streams)), strides: make([]int, len(streams))}
	for k, s := range streams {
		r.addrs[k], r.strides[k] = s.addr, int(s.stride)
	}
	for loop := range nest.Walk(n.Trips[:inner]) {
		if r.again = loop >= 0; r.again {
			r.same = loop
			for k := range streams {
				r.addrs[k] += uint64(streams[k].steps[loop])
			}
		}
		w.see(&r)
	}
	w.finish()
}

// A stream is an operand on its way through a nest.
type stream struct {
	addr, width, stride uint64 // at the start of the innermost loop
	kind                nest.Kind
	steps               []int // see nest.Steps
}

// Settled is known of LRU levels that do nothing of their own: what they hit and what
// they write back settles as in a lru.Chain, and so do the shadows, which are LRU
// too and see the same references. What a line was used for is counted when it leaves, and so
// settles with what leaves: one pass after the hits.
func (d *Engine) Settled() int {
	for _, l := range d.levels {
		if !isLRU(l.policy) || l.Tie != Untied || l.WriteThrough || l.NoWriteAllocate || l.victims != nil || l.prefetcher != nil {
			return 0
		}
	}
	if d.dirty {
		return 2*len(d.levels) + 1
	}
	return len(d.levels) + 2
}

// Effort is about how many references Run looks up, which is all unless it Repeats, and how many seconds that takes.
func (d *Engine) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	lookUps = engine.References(nests, passes)
	if d.levels[0].observe != 0 {
		if d.watch != nil {
			return lookUps, lookUps / 7e6
		}
		return lookUps, lookUps / 4e6
	}
	return lookUps, lookUps / 2e7
}

// Work is how many references were looked up.
func (d *Engine) Work() uint64 { return d.looked }

// Besides is what is counted at a level besides references and misses.
func (d *Engine) Besides(level int) engine.Besides {
	b := d.levels[level].besides()
	if d.watch != nil {
		b = d.watch.besides(level)
	}
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
	d.looked++
	if d.watch != nil {
		d.watch.add(op, addr, size, kind)
		return
	}
	if first := d.levels[0]; d.plain && addr>>first.shift == (addr+size-1)>>first.shift {
		d.one(op, addr>>first.shift, kind)
		return
	}
	d.serial++
	d.addr = addr
	d.reference(0, request{op: op, addr: addr, size: size, write: kind == nest.Write})
	if kind == nest.Modify {
		d.reference(0, request{op: op, addr: addr, size: size, write: true, quiet: true})
	}
	d.prefetch()
	d.use(addr, size)
	if d.reuses != nil {
		d.reuses.see(d, op, addr, size)
	}
}

// AddAll is Add of each reference in turn.
func (d *Engine) AddAll(refs []engine.Reference) {
	for _, r := range refs {
		d.Add(int(r.Op), r.Addr, uint64(r.Size), r.Kind)
	}
}

// Descend simulates a fetch that missed in I1, from the second level on.
func (d *Engine) Descend(op int, addr, size uint64) {
	if d.watch != nil {
		d.watch.descend(op, addr, size)
		return
	}
	d.serial++
	d.addr = addr
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
	var waiting [2]moved
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
		fresh := moved{block: block, line: line{dirty: r.write && !l.WriteThrough && d.dirty}}
		passed = passed || r.write && l.WriteThrough
		filled = true
		l.counts.BytesIn += 1 << l.shift
		if !d.tied(level + 1) {
			if out, left := l.fill(fresh); left {
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
			d.levels[level+1].counts.Stores++ // which no miss of this level accounts for
		}
		d.reference(level+1, r)
	}
}

// miss counts a reference that missed at a level, once, and tells whether it did.
func (d *Engine) miss(level int, r request) (counted bool) {
	l := d.levels[level]
	if r.quiet || l.missedAt == d.serial {
		return false
	}
	l.missedAt = d.serial
	d.misses[level][r.op]++
	l.classify()
	return true
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
func (d *Engine) fill(level int, fresh moved) {
	if out, left := d.levels[level].fill(fresh); left {
		d.leave(level, out)
	}
}

// leave moves a line out of a level.
func (d *Engine) leave(level int, out moved) {
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
		d.fill(level, moved{block: block, line: line{dirty: !l.WriteThrough}})
		if !l.WriteThrough {
			return
		}
	}
	l.counts.WriteBacks++
	l.counts.BytesOut += 1 << l.shift
	d.putBack(level+1, block)
}

// see notes what the prefetcher of a level is to be told of a request. That is once a
// reference, also where the level is asked line by line, or for a line and with the
// store that the level before passes on: an address that came twice would be a stride of 0.
func (d *Engine) see(level int, r request) {
	l, e := d.levels[level], &d.seen[level]
	if !e.seen {
		*e = event{pc: d.pc, op: r.op, addr: d.addr, seen: true}
	}
	if l.news {
		e.news, e.newest = true, max(e.newest, l.newest)
	}
}

// prefetch fetches what the prefetchers want after a reference, the nearest first.
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

// fetch brings a block to a level, if it is not there.
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

// Ties reports where a level does not hold what its tie to those before it says,
// for tests.
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
						return fmt.Errorf("block %d is in level %d and in the one before", block, level)
					}
				}
			}
		}
	}
	return nil
}
