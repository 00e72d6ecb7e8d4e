package policies

func (d *Engine) fill(level int, fresh moved) {
	if out, left := d.bring(level, fresh); left {
		d.leave(level, out)
	}
}

func (d *Engine) bring(level int, fresh moved) (gone moved, left bool) {
	l := d.levels[level]
	gone, left = l.fill(fresh)
	if left {
		d.left(level, &gone)
	}
	if d.watch != nil {
		d.watch.Fill(level, 0, fresh.block)
	}
	return gone, left
}

func (d *Engine) take(level int, block uint64) (out moved, there bool) {
	if out, there = d.levels[level].remove(block); there {
		d.left(level, &out)
	}
	return out, there
}

func (d *Engine) left(level int, out *moved) {
	if out.prefetched {
		d.levels[level].counts.Useless++
	}
	if out.prefetched = false; d.watch != nil {
		d.watch.Leave(level, out.block)
	}
}

func (d *Engine) leave(level int, out moved) {
	l := d.levels[level]
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

// invalidate drops a block from the levels before an inclusive one, and reports whether it was
// dirty there. It is then written back on its way down.
func (d *Engine) invalidate(level int, block uint64) (dirty bool) {
	for before, l := range d.levels[:level] {
		out, there := d.take(before, block)
		if !there {
			continue
		}
		if out.dirty {
			l.counts.WriteBacks++
			l.counts.BytesOut += 1 << l.shift
			dirty = true
		}
	}
	return dirty
}

// putBack writes a dirty line back to a level, or to memory. It touches the replacement order as a
// store hit does, but is neither a reference nor a miss. An absent line is filled without a fetch,
// since all its data come along. It is passed on without write-allocate, or if a fill would break a
// tie.
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
