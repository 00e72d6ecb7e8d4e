package lru

import "math/bits"

// mixed simulates an innermost loop some of whose streams may be slow. Of many iterations in which these stay in
// their lines, only as many are looked up, first and last, as fill the sets: in between all lines that a fast
// stream comes to are missed, since it was not there before, nor were others, and what it touched since has
// taken all ways; and what the sets hold in the end, they do after the last iterations whatever was in them.
func (w *transit) mixed() {
	for i := uint64(0); i < w.trips; {
		n := w.stay(w.slow, i)
		if full := w.full; full > 0 && n > 3*full && w.apart(i, n) {
			w.look(i, full)
			w.miss(i+full, n-2*full)
			w.look(i+n-full, full)
		} else {
			w.look(i, n)
		}
		i += n
	}
}

// look simulates n iterations from i on in which the slow streams stay in their lines. As long as no other line of
// the first level's set is touched, a slow stream's line stays the first of its set: only its first access does
// anything, and the others are not looked up.
func (w *transit) look(i, n uint64) {
	switch {
	case len(w.slow) > 0 && n > 1 && w.undisturbed(i, n):
		w.iterate(i)
		w.pack(w.fast, i+1, 1, n-1)
	case len(w.slow) > 0 && w.gap >= 16: // fewer take as long
		w.sparsely(i, n)
	default:
		w.pack(w.streams, i, 1, n)
	}
}

// sparsely simulates n iterations from i on in which the slow streams stay in their lines. As long as the first
// level has room for all that was touched since these were looked up, in one set, they hit, and what is looked up
// of them changes nothing but the order among lines that all stay there. That is as if they had been looked up
// each time when they are once more in the end.
func (w *transit) sparsely(i, n uint64) {
	for last := i + n - 1; ; {
		w.pack(w.streams, i, 1, 1)
		if i == last {
			return
		}
		whole := min(i+w.gap, last)
		w.pack(w.fast, i+1, 1, whole-i-1)
		i = whole
	}
}

// fewFast is how many fast streams there are at most that fill sets.
const fewFast = 8

// fills is in how many iterations each fast stream by itself has come to as many lines of each set that it comes
// to as that has ways, or 0 where that is not known or where what is touched again soon may be gone. Such a
// stream comes to lines at one distance, or to each.
func (w *transit) fills() (iterations uint64) {
	l, again := &w.c.levels[0], w.gap > 1
	if l.modulo || w.c.brute || w.c.dirty != 0 || len(w.fast) > fewFast || len(w.slow) > 0 && !again {
		return 0
	}
	for _, s := range w.fast {
		size, sets := min(s.stride, -s.stride), l.sets
		lines := size >> l.shift
		switch {
		case lines == 0 && !again, lines > 0 && sets > 1 && size&(1<<l.shift-1) != 0:
			return 0
		case lines > 0:
			sets >>= min(l.bits, uint(bits.TrailingZeros64(lines)))
		}
		need := uint64(l.ways) * sets
		if lines == 0 {
			need = (need<<l.shift + size - 1) / size
		}
		iterations = max(iterations, need)
	}
	return iterations
}

// apart reports whether, in n iterations from i on in which the slow streams stay in their lines, no other stream
// touches a line between the first and the last of a fast one.
func (w *transit) apart(i, n uint64) bool {
	shift := w.c.levels[0].shift
	ends := func(s *stream) (low, high uint64) {
		low, high = s.addr+i*s.stride, s.addr+(i+n-1)*s.stride
		return min(low, high) >> shift, max(low, high) >> shift
	}
	for _, fast := range w.fast {
		low, high := ends(fast)
		for _, s := range w.streams {
			if from, to := ends(s); s != fast && from <= high && low <= to {
				return false
			}
		}
	}
	return true
}

// miss hands the fast streams' accesses of n iterations from i on to the next level, as misses, but for those that
// lie in the line of the iteration before. The first level holds the lines of the last iteration then.
func (w *transit) miss(i, n uint64) {
	c, fast := w.c, uint64(len(w.fast))
	c.drain(0)
	for end := i + n; i < end; {
		if uint64(len(c.waiting[1]))+fast > batch {
			c.drain(1)
		}
		waiting := c.waiting[1]
		now := min((batch-uint64(len(waiting)))/fast, end-i)
		room := waiting[len(waiting):cap(waiting)][:now*fast]
		w.fill(room, w.fast, i, 1)
		c.waiting[1] = waiting[:len(waiting)+len(c.own(w.moved(room, i)))]
		i += now
	}
	for _, s := range w.fast {
		addr, first := s.addr+(i-1)*s.stride, &c.levels[0]
		if c.classes == 0 || c.isOwn(addr>>c.grain<<grains) != 0 {
			first.touch(addr>>first.shift, 0)
		}
	}
}

// moved keeps, of references of the fast streams from iteration i on, none of which writes, those that lie in
// another line than in the iteration before.
func (w *transit) moved(refs []uint64, i uint64) []uint64 {
	shift, stay := w.c.levels[0].shift, false
	for k, s := range w.fast {
		if min(s.stride, -s.stride)>>shift > 0 {
			continue
		}
		stay = true
		addr := s.addr + (i-1)*s.stride
		for at := k; at < len(refs); at += len(w.fast) {
			if addr += s.stride; (addr^(addr-s.stride))>>shift == 0 {
				refs[at] |= writes
			}
		}
	}
	if !stay {
		return refs
	}
	kept := uint64(0)
	for _, ref := range refs {
		refs[kept] = ref
		kept += ^ref & writes
	}
	return refs[:kept]
}

// undisturbed reports whether, in n iterations from i on in which the slow streams
// stay in their lines, no stream touches another line of a slow stream's set.
func (w *transit) undisturbed(i, n uint64) bool {
	l := &w.c.levels[0]
	for _, slow := range w.slow {
		block := (slow.addr + i*slow.stride) >> l.shift
		for _, s := range w.slow {
			if other := (s.addr + i*s.stride) >> l.shift; other != block && (other^block)&l.mask == 0 {
				return false
			}
		}
		for _, s := range w.fast {
			addr := s.addr + i*s.stride
			for range n {
				if (addr>>l.shift^block)&l.mask == 0 {
					return false
				}
				addr += s.stride
			}
		}
	}
	return true
}
