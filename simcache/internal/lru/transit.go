package lru

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// walk simulates a canonical nest. Runs of iterations that stay in their lines
// are counted in bulk where that is exact.
func (c *Chain) walk(n nest.Nest) {
	if len(n.Operands) == 0 || n.Iterations() == 0 || c.walkOnCores(n) {
		return
	}
	c.walkOne(n)
}

func (c *Chain) walkOne(n nest.Nest) {
	w := c.newTransit(n)
	outer := n.Trips[:max(len(n.Trips)-1, 0)]
	run := w.run
	if depth := w.flatten(); w.flat != nil {
		outer, run = n.Trips[:depth], w.packFlat
	}
	again := w.repeats()
	left, skip := 0, 0 // iterations of the loop around the innermost
	for l := range nest.Walk(outer) {
		if l >= 0 {
			w.step(l)
		}
		if again == nil {
			run()
			continue
		}
		if left--; l != len(outer)-1 {
			left = outer[len(outer)-1] - 1
		}
		if skip--; skip >= 0 {
			w.pack(again.moving, 0, 1, 1)
			continue
		}
		run()
		skip = again.times(w, left) - 1
	}
}

// A transit is a nest on its way through a chain: streams at the start of an
// innermost run.
type transit struct {
	c       *Chain
	nest    nest.Nest // canonical
	trips   uint64    // of the innermost loop
	streams []*stream
	// slow streams stay in their line of the first level for a few iterations,
	// fast ones do not.
	slow, fast []*stream
	// inLine: every stride is well shorter than a line, so that runs of
	// iterations stay in the lines that they are in; and after one iteration all
	// its lines are in the first level, however they fall into sets, since no
	// set can have to hold more of them than it has ways.
	inLine bool
	// packed: all references can be packed, and none crosses a line anywhere.
	packed bool
	// gap is after how many iterations a slow stream's line, that of a stay, is still
	// there if it was not touched since, even where all streams fall into one set.
	gap uint64
	// full, if not 0, is after how many iterations a fast stream misses wherever it comes
	// to another line, see fills.
	full uint64
	// lockstep, if not 0, is in how many iterations all streams come from the
	// start of a line to that of the next, all at once.
	lockstep uint64

	// flat, by stream: how far from its address its accesses in the innermost loops lie, see flatten
	flat [][]uint64

	// of runs of a program, which may lie at other addresses each: packed and lockstep
	// where addresses allow it
	mayPack bool
	mayStep uint64
}

type stream struct {
	op     int // number of its operand
	addr   uint64
	width  uint64
	stride uint64 // modulo 2^64: a negative one wraps
	kind   nest.Kind
	steps  []int // by loop around the innermost, see nest.Steps
}

func (c *Chain) newTransit(n nest.Nest) *transit {
	first := &c.levels[0]
	w := &transit{c: c, nest: n, trips: 1, inLine: 2*len(n.Operands) <= first.ways && !c.brute, packed: len(n.Operands) <= opCount}
	inner := len(n.Trips) - 1
	if inner >= 0 {
		w.trips = uint64(n.Trips[inner])
	}
	for i, op := range n.Operands {
		s := &stream{op: i, addr: op.Base, width: uint64(op.Width), kind: op.Kind}
		w.streams = append(w.streams, s)
		if inner >= 0 {
			s.stride = uint64(op.Strides[inner])
			s.steps = nest.Steps(n.Trips[:inner], op.Strides)
		}
		if 4*max(int(s.stride), -int(s.stride)) <= 1<<first.shift && !c.brute {
			w.slow = append(w.slow, s)
		} else {
			w.fast = append(w.fast, s)
			w.inLine = false
		}
		w.packed = w.packed && c.packs(op, n.Trips)
	}
	slow, fast := w.thin()
	w.gap = uint64(max(first.ways-slow, 0) / max(fast, 1))
	w.full = w.fills()
	if w.inLine && w.packed && inner >= 0 {
		w.lockstep = w.inStep()
	}
	return w
}

// thin leaves out streams that hit in every iteration and change nothing: such as lie in the line of the stream
// before, and, if the first level has room for all lines of an iteration in one set, all but the first and the
// last that lie in a line. It returns the number of lines of the slow streams and of the fast ones.
func (w *transit) thin() (slow, fast int) {
	if slow, fast = len(w.slow), len(w.fast); !w.packed || w.c.dirty != 0 || w.c.brute {
		return slow, fast
	}
	lines, line := map[string]int{}, make([]int, len(w.streams)) // by stream: the number of its line
	last := []int{}                                              // by line: its last stream
	for i, op := range w.nest.Operands {
		key := w.c.levels[0].line(op)
		if _, known := lines[key]; !known {
			lines[key] = len(last)
			last = append(last, i)
		}
		line[i] = lines[key]
		last[line[i]] = i
	}
	seen, before := make([]bool, len(last)), -1
	room, left := len(last) <= w.c.levels[0].ways, make([]bool, len(w.streams)) // out, by stream
	for i, l := range line {
		if left[i] = l == before || room && seen[l] && last[l] != i; !left[i] {
			seen[l], before = true, l
		}
	}
	isLeft := func(s *stream) bool { return left[s.op] }
	slow, fast = lineCount(w.slow, line), lineCount(w.fast, line)
	w.streams, w.slow, w.fast = slices.DeleteFunc(w.streams, isLeft), slices.DeleteFunc(w.slow, isLeft), slices.DeleteFunc(w.fast, isLeft)
	return slow, fast
}

// lineCount is how many lines streams are in.
func lineCount(streams []*stream, line []int) int {
	lines := map[int]bool{}
	for _, s := range streams {
		lines[line[s.op]] = true
	}
	return len(lines)
}

// line identifies the line that an operand is in, in every iteration: operands are always in one if they move
// alike, by multiples of a part of the line, and begin in the same part.
func (l *rows) line(op nest.Operand) string {
	together := 1 << l.shift
	for _, s := range op.Strides {
		together |= s
	}
	key := binary.AppendUvarint(nil, op.Base>>bits.TrailingZeros(uint(together)))
	for _, s := range op.Strides {
		key = binary.AppendVarint(key, int64(s))
	}
	return string(key)
}

// inStep is lockstep: streams of one stride that divides the line, at one place
// in it whenever the innermost loop starts.
func (w *transit) inStep() uint64 {
	line := 1 << w.c.levels[0].shift
	one := w.nest.Operands[0]
	stride := max(one.Strides[len(one.Strides)-1], -one.Strides[len(one.Strides)-1])
	if stride == 0 || line%stride != 0 {
		return 0
	}
	for _, op := range w.nest.Operands {
		for l, s := range op.Strides {
			if inner := l == len(op.Strides)-1; inner && s != one.Strides[l] || (s-one.Strides[l])%line != 0 {
				return 0
			}
		}
		if (op.Base-one.Base)%uint64(line) != 0 || op.Width != one.Width {
			return 0
		}
	}
	return uint64(line / stride)
}

// packs reports whether all accesses of an operand can be packed: they are
// aligned to their width, which divides the grain, and below the limit.
func (c *Chain) packs(op nest.Operand, trips []int) bool {
	together := op.Base | uint64(op.Width)
	last := op.Base + uint64(op.Width-1)
	for l, s := range op.Strides {
		together |= uint64(s)
		if s > 0 {
			last += uint64(s) * uint64(trips[l]-1)
		}
	}
	aligned := uint64(1) << bits.TrailingZeros64(together)
	return uint64(op.Width) <= aligned && op.Width <= 1<<c.grain && last < c.limit
}

// step moves every stream on as loop l goes to its next iteration.
func (w *transit) step(l int) {
	for _, s := range w.streams {
		s.addr += uint64(s.steps[l])
	}
}

// repeated are the streams of a nest whose innermost loop touches the same lines again and
// again: still ones do in one iteration of the loop around it as in the next, each in its
// order, and a moving one is in one line at a time. As long as the first level has room for all
// of these together, in one set, the still ones hit, and what of them is looked up changes
// nothing but the order among these lines. That is as if they had been looked up each time, when
// they are once more in the end: till then only a moving one's first access is.
type repeated struct {
	still, moving []*stream
	lines         int // that the still ones touch in the innermost loop, at most
	loop          int // the one around it
}

// repeats are the streams of this nest if they are such ones, else nil.
func (w *transit) repeats() *repeated {
	first, loop := &w.c.levels[0], len(w.nest.Trips)-2
	if loop < 0 || !w.packed || w.inLine || w.c.brute || w.flat != nil || w.trips < 2 {
		return nil
	}
	line := 1 << first.shift
	r := &repeated{loop: loop}
	for _, s := range w.streams {
		strides := w.nest.Operands[s.op].Strides
		span := max(strides[loop+1], -strides[loop+1])*int(w.trips-1) + int(s.width)
		switch {
		case 2*max(strides[loop], -strides[loop]) <= line:
			r.still = append(r.still, s)
			r.lines += min(int(w.trips), (span-1)/line+2)
		case span <= line:
			r.moving = append(r.moving, s)
		default:
			return nil
		}
	}
	if r.lines+3*len(r.moving) > first.ways {
		return nil
	}
	return r
}

// times is how many iterations of the loop around the innermost come after this one in which
// all goes on as in this one, of those that are left.
func (r *repeated) times(w *transit, left int) int {
	first := &w.c.levels[0]
	line := uint64(1) << first.shift
	n := uint64(left)
	if len(r.moving) > 0 {
		n = min(n, uint64((first.ways-r.lines)/len(r.moving)-1))
	}
	for _, s := range r.still {
		by := uint64(w.nest.Operands[s.op].Strides[r.loop])
		for i, addr := uint64(0), s.addr; i < w.trips && n > 1; i++ {
			n = min(n, nest.Stay(addr, s.width, by, line)-1)
			if addr += s.stride; s.stride%line == 0 {
				break
			}
		}
	}
	for _, s := range r.moving {
		by := uint64(w.nest.Operands[s.op].Strides[r.loop])
		for i, addr := uint64(0), s.addr; i <= n && n > 1; i++ {
			if nest.Stay(addr, s.width, s.stride, line) < w.trips {
				n = max(i, 1) - 1
			}
			if addr += by; by%line == 0 {
				break
			}
		}
	}
	return int(n)
}

// run simulates the innermost loop from the streams' addresses, which it
// leaves where they were.
//
// Iterations during which every stream stays in the lines that it is in touch
// the same lines in the same order. With inLine, the first of them leaves all
// of these in the first level, in that order, so that the others hit and
// change nothing: they need not be looked up.
func (w *transit) run() {
	switch {
	case w.lockstep > 0:
		w.iterate(0)
		from := w.stay(w.streams, 0)
		w.pack(w.streams, from, w.lockstep, (w.trips-from+w.lockstep-1)/w.lockstep)
	case w.inLine:
		for i := uint64(0); i < w.trips; i += w.stay(w.streams, i) {
			w.iterate(i)
		}
	case w.packed && !w.c.levels[0].modulo && (len(w.slow) > 0 || w.full > 0):
		w.mixed()
	case w.packed:
		w.pack(w.streams, 0, 1, w.trips)
	default:
		for i := range w.trips {
			w.iterate(i)
		}
	}
}

func (w *transit) iterate(i uint64) {
	for _, s := range w.streams {
		w.c.Add(s.op, s.addr+i*s.stride, s.width, s.kind)
	}
}

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

// stay is the number of iterations from i on, at least 1, in which the first
// and the last byte of each of the streams' accesses stay in their lines of the
// first level.
func (w *transit) stay(streams []*stream, i uint64) uint64 {
	stay := w.trips - i
	line := uint64(1) << w.c.levels[0].shift
	for _, s := range streams {
		stay = min(stay, nest.Stay(s.addr+i*s.stride, s.width, s.stride, line))
	}
	return stay
}

// pack lets so many iterations, from, from+every, ..., of some streams of the
// innermost loop wait for the first level.
func (w *transit) pack(streams []*stream, from, every, iterations uint64) {
	c, n := w.c, uint64(len(streams))
	if n == 1 && c.classes != 0 {
		w.packOwn(streams[0], from, every, iterations)
		return
	}
	if n > batch {
		for range iterations {
			for some := range slices.Chunk(streams, batch) {
				w.pack(some, from, every, 1)
			}
			from += every
		}
		return
	}
	for n > 0 && iterations > 0 {
		waiting := c.waiting[0]
		if uint64(len(waiting))+n > batch {
			c.drain(0)
			waiting = c.waiting[0]
		}
		now := min((batch-uint64(len(waiting)))/n, iterations)
		room := waiting[len(waiting):cap(waiting)][:now*n]
		w.fill(room, streams, from, every)
		c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
		from += now * every
		iterations -= now
	}
}

// fill packs iterations from, from+every, ... of streams, as many as there is room for.
func (w *transit) fill(room []uint64, streams []*stream, from, every uint64) {
	c := w.c
	for k, s := range streams {
		addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
		for at := k; at < len(room); at += len(streams) {
			room[at] = addr>>c.grain<<grains | rest
			addr += every * s.stride
		}
	}
}

// Of an innermost loop of fewer than fewTrips, to begin takes longer than to look its accesses up. It is walked with loops
// around it, of as many accesses together as mostFlat.
const (
	fewTrips = 12
	mostFlat = 128
)

// flatten prepares packFlat, and returns how many loops are around it: all but the innermost, if it is not
// worth it. Then the streams step with these.
func (w *transit) flatten() (depth int) {
	trips := w.nest.Trips
	depth = len(trips) - 1
	if !w.packed || w.inLine || depth < 1 || trips[depth] >= fewTrips {
		return depth
	}
	iterations := trips[depth]
	for depth > 0 && iterations*trips[depth-1]*len(w.streams) <= mostFlat {
		depth--
		iterations *= trips[depth]
	}
	if depth == len(trips)-1 {
		return depth
	}
	for _, s := range w.streams {
		op := w.nest.Operands[s.op]
		inside := nest.Nest{Trips: trips[depth:], Operands: []nest.Operand{{Strides: op.Strides[depth:]}}}
		var flat []uint64
		for _, addr := range inside.Accesses() {
			flat = append(flat, addr)
		}
		w.flat = append(w.flat, flat)
		s.steps = nest.Steps(trips[:depth], op.Strides)
	}
	return depth
}

// packFlat lets all accesses of the innermost loops wait for the first level.
func (w *transit) packFlat() {
	c, n := w.c, len(w.streams)
	size := n * len(w.flat[0])
	if len(c.waiting[0])+size > batch {
		c.drain(0)
	}
	waiting := c.waiting[0]
	room := waiting[len(waiting):cap(waiting)][:size]
	for k, s := range w.streams {
		rest := uint64(s.op)<<opBit | dirties(s.kind)&c.dirty
		at := k
		for _, far := range w.flat[k] {
			room[at] = (s.addr+far)>>c.grain<<grains | rest
			at += n
		}
	}
	c.waiting[0] = waiting[:len(waiting)+len(c.own(room))]
}

// packOwn is pack for one stream, of which only the chain's class waits.
func (w *transit) packOwn(s *stream, from, every, iterations uint64) {
	c := w.c
	addr, rest := s.addr+from*s.stride, uint64(s.op)<<opBit|dirties(s.kind)&c.dirty
	for iterations > 0 {
		if len(c.waiting[0]) >= batch {
			c.drain(0)
		}
		waiting := c.waiting[0]
		room := waiting[len(waiting):cap(waiting)][:batch]
		now, kept := min(uint64(len(room)), iterations), uint64(0)
		for range now {
			ref := addr>>c.grain<<grains | rest
			room[kept] = ref
			kept += c.isOwn(ref)
			addr += every * s.stride
		}
		c.waiting[0] = waiting[:len(waiting)+int(kept)]
		iterations -= now
	}
}
