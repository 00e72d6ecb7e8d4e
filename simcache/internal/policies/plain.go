package policies

import "github.com/stridebench/stridebench/layouts/nest"

// isPlain reports whether levels do only what one and its callees do: all have lines of one
// size, so that a reference to one line asks every level for one; stores are kept where they
// come first; and nothing is observed, prefetched, or kept beside a level.
func (d *Engine) isPlain() bool {
	for _, l := range d.levels {
		passes, beside := l.WriteThrough || l.NoWriteAllocate, l.victims != nil ||
			l.prefetcher != nil
		if l.shift != d.levels[0].shift || passes || beside {
			return false
		}
	}
	return true
}

// one simulates a reference to one line in plain levels, as Add does in any.
func (d *Engine) one(op int, block uint64, kind nest.Kind) {
	d.look(0, op, block, kind == nest.Write && d.dirty, false)
	if kind == nest.Modify {
		d.look(0, op, block, d.dirty, true)
	}
}

// look asks a plain level for a line, which is made dirty there if it is stored to, as
// reference does.
func (d *Engine) look(level, op int, block uint64, dirty, quiet bool) {
	if level == len(d.levels) {
		return
	}
	l := d.levels[level]
	set := l.set(block)
	if way := l.way(set, block); way >= 0 {
		hit := l.touchAt(set, way)
		hit.dirty = hit.dirty || dirty
		return
	}
	if d.still = false; !quiet {
		d.misses[level][op]++
	}
	l.counts.BytesIn += 1 << l.shift
	fresh := moved{block: block, line: line{dirty: dirty}}
	if d.tied(level + 1) {
		fresh.dirty = d.askOne(level+1, op, block, quiet) || dirty
		d.fill(level, fresh)
		return
	}
	gone, left := d.bring(level, fresh)
	d.look(level+1, op, block, false, quiet)
	if left {
		d.leave(level, gone)
	}
}

// askOne is ask of plain levels.
func (d *Engine) askOne(level, op int, block uint64, quiet bool) (dirty bool) {
	l := d.levels[level]
	if l.Tie == Inclusive {
		d.look(level, op, block, false, quiet)
		return false
	}
	if l.touch(block) != nil { // which a policy may remember of the empty way
		out, _ := d.take(level, block)
		return out.dirty
	}
	if !quiet {
		d.misses[level][op]++
	}
	if d.tied(level + 1) {
		return d.askOne(level+1, op, block, quiet)
	}
	d.look(level+1, op, block, false, quiet)
	return false
}
