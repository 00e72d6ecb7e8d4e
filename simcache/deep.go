package simcache

// deep simulates levels that a chain cannot: other policies than LRU,
// inclusion, write-through, victim caches, prefetchers, and what Observe asks.
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
type deep struct {
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

func newDeep(c Config) *deep {
	d := &deep{misses: make([][]uint64, len(c.Levels)), dirty: c.WriteBacks}
	for _, l := range c.Levels {
		d.levels = append(d.levels, newCache(l, c.Observe))
	}
	if c.Observe&Classes != 0 {
		d.reuses = newReuses(d.levels)
	}
	d.track(sorts)
	return d
}

func (d *deep) at(pc uint64) { d.pc = pc }

// track forgets the misses, and makes room for those of so many operands.
func (d *deep) track(operands int) {
	for i := range d.misses {
		d.misses[i] = make([]uint64, operands)
	}
}

func (d *deep) take(level int) (misses [sorts]uint64) {
	copy(misses[:], d.misses[level])
	clear(d.misses[level])
	return misses
}

func (d *deep) run(nests []Nest, passes int) [][][]uint64 {
	walked := 0
	return runEach(nests, passes, func(n Nest) []uint64 {
		if walked%len(nests) == 0 && d.reuses != nil {
			d.reuses.pass = d.serial
		}
		walked++
		return d.one(n)
	})
}

// one simulates a nest, after what single references counted has been taken.
func (d *deep) one(n Nest) []uint64 {
	d.track(max(len(n.Operands), sorts))
	if d.reuses != nil {
		d.reuses.begin(n, d.serial)
		defer func() { d.reuses.inside = false }()
	}
	n.each(func(op int, addr uint64) {
		d.add(op, addr, uint64(n.Operands[op].Width), n.Operands[op].Kind)
	})
	var misses []uint64
	for op := range n.Operands {
		for level := range d.levels {
			misses = append(misses, d.misses[level][op])
		}
	}
	d.track(sorts)
	return misses
}

func (d *deep) settled() int { return 0 }

func (d *deep) work() uint64 { return d.looked }

func (d *deep) more(level int, counts *LevelCounts) {
	d.levels[level].more(counts)
	if !d.dirty {
		counts.BytesIn, counts.BytesOut = 0, 0
	}
	if d.reuses != nil {
		counts.Reuses = d.reuses.list(level)
	}
}

// add simulates a reference; a modify is a read, and then a store that is no
// reference.
func (d *deep) add(op int, addr, size uint64, kind Kind) {
	d.serial++
	d.looked++
	d.reference(0, request{op: op, addr: addr, size: size, write: kind == Write})
	if kind == Modify {
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

func (d *deep) descend(op int, addr, size uint64) {
	d.serial++
	d.misses[0][op]++
	d.reference(1, request{op: op, addr: addr, size: size})
	d.prefetch()
}

// tied reports whether a level is inclusive or exclusive of the one before.
func (d *deep) tied(level int) bool {
	return level < len(d.levels) && d.levels[level].Inclusion != NonInclusive
}

// reference simulates a request at a level, or at memory, which has all.
func (d *deep) reference(level int, r request) {
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
			d.levels[level+1].stores++ // which no miss of this level accounts for
		}
		d.reference(level+1, r)
	}
}

// miss counts a reference that missed at a level, once.
func (d *deep) miss(level int, r request) {
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
func (d *deep) ask(level int, r request) (dirty bool) {
	l := d.levels[level]
	if l.Inclusion == Inclusive {
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
func (d *deep) fill(level int, fresh line) {
	var room [1]line
	for _, out := range d.levels[level].fill(fresh, room[:0]) {
		d.leave(level, out)
	}
}

// leave moves a line out of a level.
func (d *deep) leave(level int, out line) {
	l := d.levels[level]
	l.retire(&out)
	if l.Inclusion == Inclusive {
		out.dirty = d.invalidate(level, out.block) || out.dirty
	}
	exclusive := level+1 < len(d.levels) && d.levels[level+1].Inclusion == Exclusive
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
func (d *deep) invalidate(level int, block uint64) (dirty bool) {
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
func (d *deep) putBack(level int, block uint64) {
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
	case !l.NoWriteAllocate && l.Inclusion == NonInclusive && !d.tied(level+1):
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
func (d *deep) prefetch() {
	for _, at := range d.seen {
		for _, block := range d.levels[at.level].prefetcher.after(at.event) {
			d.fetch(at.level, block, at.event.op)
		}
	}
	d.seen = d.seen[:0]
}

// fetch brings a block to a level, if it is not there.
func (d *deep) fetch(level int, block uint64, op int) {
	l := d.levels[level]
	if l.find(block) != nil || l.besides(block) {
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
