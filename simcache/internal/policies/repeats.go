package policies

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// What is walked is rows: accesses side by side, in each iteration of an innermost loop. Two rules leave
// references out that do what others did, so that all that is counted is as if they had been made. Both
// hold for any state of the levels before.
//
// In a line. In iterations of a row in which no access leaves the lines that it is in, all look up the
// same lines. If one of them filled nothing into the first level, nor does any after it: they find
// what they touch in the first level, and move nothing but the clock (see watch.stay).
//
// Passes. A pass is the rows of an iteration of the loop around them. Passes are alike if they look up
// the same lines in the same order, as when a loop moves every access within its line. Say that passes 1, 2, ... are alike, and all levels are LRU.
//
//   - What reaches a level is the same from some pass a on: for the first level a = 1. From pass a+1 on, a
//     line's last touch is at most one pass back, so that what came between is the same in every pass: the
//     level, and its shadow, hit and miss alike. So what reaches the next level is the same from a+1 on.
//   - A miss from pass a+1 on is of a line that was evicted since pass a: the lines of its set that were touched
//     since are as many as the ways, and all others are gone. So what leaves then are lines of the passes,
//     in the same places of each.
//   - What was used of a line that leaves is of the touches since it was filled, at most one pass
//     back. If it leaves in pass a+2 or later, all of these are in passes whose fills are alike. So they are from a+1 on
//     if each fill of pass a+1 has one of pass a in its place: of what leaves in pass a+1, the fill before was then there.
//     The two differ at most in the first touches of lines, so that one which has none makes a line filled more often than in pass a.
//   - A level that a pass p >= a fills nothing into had all that reached it, and has it in all that follow; what is behind it is asked for nothing.
//   - When the lines of a pass were touched before, by loop, is the same from pass 2 on.
//
// So from some pass on, all passes count what it did, and what was used of a line that was filled within
// a pass is the same, moved within the line, if what touches it moves alike. In lines that are not filled the parts join
// that all passes touch.

// fewest is how many iterations in a line, and how many references of a pass, are worth looking for what
// follows.
const (
	fewestInLine = 4
	fewestOfPass = 64
)

// A row is accesses side by side, in each of so many iterations.
type row struct {
	first, trips int // the number of the first access
	addrs        []uint64
	strides      []int
	shifts       []uint64 // how far from where they were in the pass before, if that is alike
	same         int      // loops that it is in the same iteration of as the row before
	again        bool     // the next one is another iteration of the same
}

// copyOf makes r a copy of another in its own memory.
func (r *row) copyOf(o *row) {
	addrs, strides, shifts := r.addrs, r.strides, r.shifts
	*r = *o
	r.addrs, r.strides, r.shifts = append(addrs[:0], o.addrs...), append(strides[:0], o.strides...), append(shifts[:0], o.shifts...)
}

// A pass is the rows of an iteration.
type pass struct {
	rows  []row
	start uint64 // serial of the last reference before it
	fills [][]filling
	known bool // all fills are
	alike bool // all its rows are like those of the pass before
	snap  bool // what was counted before it is kept
}

// A filling is of a line into a level.
type filling struct {
	place uint32 // in known
	shift uint64 // of the access that it was for
}

// mostFills and mostRows are of a pass what is kept.
const (
	mostFills = 1 << 16
	mostRows  = 32
)

// repeats is where a watch is among its passes.
type repeats struct {
	operands    []nest.Operand // of what runs
	depth       int            // the loop whose iterations are passes; -1 if that is not known
	before, now *pass
	streak      int  // so many passes up to before were alike
	vain        int  // passes that were not like the one before, since one was
	skipping    bool // what follows before, pass by pass, is left out
	skipped     int  // so many
	after       int  // so many that are alike
	held        []row
	shifts      []uint64 // of the row under way
	snap        snapshot
	slots       []int                                          // of a reference each, in an iteration of a row
	all, inLine bool                                           // whether passes, and iterations in a line, may be left out
	left        struct{ inLine, passes, behind, later uint64 } // references left out, and of the latter those behind passes that filled lines, and those behind the third pass or later, for tests
}

// A snapshot is what was counted before a pass.
type snapshot struct {
	misses []uint64 // by level, and operand of those
	levels [][6]uint64
	slots  []reuseSlot
}

// isIdle reports whether a repeated sequence of hits leaves a policy in the state in which the first
// repetition left it.
func isIdle(p Policy) bool {
	_, bits := p.(*bitPLRU) // where a touch may clear what one before has set
	return !bits
}

// leavesInLine reports whether iterations in a line may be left out.
func (w *watch) leavesInLine() bool { return !w.brute && isIdle(w.levels[0].policy) }

// leavesPasses reports whether passes may be left out.
func (w *watch) leavesPasses() bool {
	return !w.brute && !w.dirty && !slices.ContainsFunc(w.levels, func(l *watched) bool { return !isLRU(l.policy) })
}

// begin starts a walk of a nest or a program with these operands.
func (w *watch) begin(operands []nest.Operand) {
	z := &w.repeats
	z.operands, z.depth, z.streak, z.vain, z.skipping, z.held = operands, -1, 0, 0, false, z.held[:0]
	z.inLine, z.all = w.leavesInLine(), w.leavesPasses()
	if z.before == nil {
		z.before, z.now = &pass{fills: make([][]filling, len(w.levels))}, &pass{fills: make([][]filling, len(w.levels))}
	}
	z.now.reset(w.serial)
	if w.log = nil; z.all {
		w.log = z.now
	}
	if w.nearest = nil; w.reuses != nil {
		for op := range operands {
			w.nearest = append(w.nearest, w.reuses.slotsHere(0, op))
		}
	}
}

// finish ends the walk.
func (w *watch) finish() {
	if w.repeats.all {
		w.end()
	}
	w.log, w.nearest = nil, nil
}

// filled takes note that the access under way had a line filled into a level.
func (w *watch) filled(level int, place uint32) {
	p := w.log
	if !p.known {
		return
	}
	if len(p.fills[level]) == mostFills || w.at.quiet { // the latter is no miss
		p.known = false
		return
	}
	f := filling{place: place}
	if r := &p.rows[len(p.rows)-1]; len(r.shifts) > 0 {
		f.shift = r.shifts[w.at.op-r.first]
	}
	p.fills[level] = append(p.fills[level], f)
}

func (p *pass) reset(serial uint64) {
	p.rows, p.start, p.known, p.alike, p.snap = p.rows[:0], serial, true, true, false
	for level := range p.fills {
		p.fills[level] = p.fills[level][:0]
	}
}

// see is the next row of what is walked.
func (w *watch) see(r *row) {
	z := &w.repeats
	if w.tell != nil {
		w.far()
	}
	if !z.all {
		w.row(r)
		return
	}
	switch {
	case z.depth >= 0 && r.same > z.depth && !r.again, z.depth < 0 && !r.again: // in the same iteration
	case r.again && r.same >= z.depth: // in the next, of a loop further in perhaps
		if r.same > z.depth && z.skipping {
			w.resume()
		}
		z.depth = r.same
		w.nextPass()
	default: // behind the loop
		w.end()
	}
	if z.skipping {
		if len(z.held) < len(z.before.rows) && z.before.rows[len(z.held)].goesOn(r, z.skipped+1, w) {
			z.hold(r)
			return
		}
		w.resume()
	}
	z.note(w, r)
	w.row(r)
}

// far tells how far it is, now and then.
func (w *watch) far() {
	done := w.serial
	if z := &w.repeats; z.skipping {
		done += uint64(z.skipped) * (w.serial - z.before.start)
	}
	if done-w.told >= tellEvery {
		w.told = done
		w.tell(done)
	}
}

// hold keeps a row that may be left out.
func (z *repeats) hold(r *row) {
	if len(z.held) < cap(z.held) {
		z.held = z.held[:len(z.held)+1]
	} else {
		z.held = append(z.held, row{})
	}
	z.held[len(z.held)-1].copyOf(r)
}

// note takes note of a row that is simulated next.
func (z *repeats) note(w *watch, r *row) {
	p := z.now
	z.shifts = z.shifts[:0]
	if len(p.rows) == mostRows {
		p.known, p.alike = false, false
		return
	}
	number := len(p.rows)
	if p.alike = p.alike && z.streak > 0 && number < len(z.before.rows) && z.before.rows[number].isLike(r, &z.shifts, w); !p.alike {
		z.shifts = z.shifts[:0]
	}
	if number < cap(p.rows) {
		p.rows = p.rows[:number+1]
	} else {
		p.rows = append(p.rows, row{})
	}
	p.rows[number].copyOf(r)
	p.rows[number].shifts = append(p.rows[number].shifts[:0], z.shifts...)
	if number == 0 && p.alike && z.worth(r, w) {
		p.snap = true
		w.take()
	}
}

// isLike reports whether another row is of the same accesses, whose number and strides are the same then, and looks up the same
// lines in the same order, and lists how far they moved.
func (r *row) isLike(o *row, shifts *[]uint64, w *watch) bool {
	if o.first != r.first || o.trips != r.trips {
		return false
	}
	for k, addr := range o.addrs {
		shift := addr - r.addrs[k]
		if shift != 0 && !w.sameLine(r, k, addr) {
			return false
		}
		*shifts = append(*shifts, shift)
	}
	return true
}

// sameLine reports whether an access of a row that begins at another address is in the same lines all the
// way, in one each time.
func (w *watch) sameLine(r *row, k int, addr uint64) bool {
	line := uint64(1) << w.levels[0].shift
	width := uint64(w.repeats.operands[r.first+k].Width)
	at, shift := r.addrs[k]&(line-1), addr-r.addrs[k]
	for range min(uint64(r.trips), line) { // where it is in a line comes again by then
		if at+width > line || at+shift > line-width { // also if it is below 0
			return false
		}
		if at = (at + uint64(r.strides[k])) & (line - 1); at == r.addrs[k]&(line-1) {
			return true
		}
	}
	return true
}

// goesOn reports whether a row is this one, so many passes later.
func (r *row) goesOn(o *row, passes int, w *watch) bool {
	if o.first != r.first || o.trips != r.trips {
		return false
	}
	for k, addr := range o.addrs {
		if addr != r.addrs[k]+uint64(passes)*r.shifts[k] || r.shifts[k] != 0 && !w.sameLine(r, k, addr) {
			return false
		}
	}
	return true
}

// worth reports whether a pass that begins with a row like that of the one before is large enough, and may have others like it behind.
func (z *repeats) worth(r *row, w *watch) bool {
	if w.serial-z.before.start < fewestOfPass {
		return false
	}
	for k, addr := range r.addrs {
		if nest.Stay(addr, uint64(z.operands[r.first+k].Width), z.shifts[k], 1<<w.levels[0].shift) < 2 {
			return false
		}
	}
	return true
}

// nextPass goes on to the next pass.
func (w *watch) nextPass() {
	z := &w.repeats
	if z.skipping {
		if len(z.held) == len(z.before.rows) {
			z.skipped++
			z.held = z.held[:0]
			return
		}
		w.resume()
	}
	if p := z.now; p.alike && len(p.rows) == len(z.before.rows) { // which it is only if the one before is known
		z.streak++
		z.vain = 0
		z.skipping, z.skipped, z.after = w.steady(), 0, z.streak
	} else {
		z.streak = 1
		z.vain++
		if len(p.rows) == mostRows { // there may have been more
			z.streak = 0
		}
	}
	z.before, z.now = z.now, z.before
	z.now.reset(w.serial)
	w.log = z.now
	z.now.known = z.vain < 8 // else they are kept in vain
}

// end leaves the loop whose iterations were passes.
func (w *watch) end() {
	z := &w.repeats
	if z.skipping {
		if len(z.held) == len(z.before.rows) {
			z.skipped++
			z.held = z.held[:0]
		}
		w.resume()
	}
	z.depth, z.streak = -1, 0
	z.now.reset(w.serial)
}

// resume counts the passes that were left out, and simulates what there is of another.
func (w *watch) resume() {
	z := &w.repeats
	if z.skipping = false; z.skipped > 0 {
		w.repeat(uint64(z.skipped))
	}
	z.streak = 0
	z.now.reset(w.serial)
	held := z.held
	z.held = nil
	for i := range held {
		z.note(w, &held[i])
		w.row(&held[i])
	}
	z.held = held[:0]
}

// steady reports whether all passes like the one that was just simulated do what it did.
func (w *watch) steady() bool {
	z := &w.repeats
	p, fills := z.now, false
	if !p.snap || !p.known {
		return false
	}
	for level, all := range p.fills {
		if len(all) == 0 {
			break
		}
		if fills = true; z.streak < level+2 || z.streak == level+2 && !within(all, z.before.fills[level]) {
			return false
		}
	}
	return !fills || !w.levels[0].bytes || z.uniform(w)
}

// within reports whether fills are among others, of the same lines in the same order.
func within(some, all []filling) bool {
	for _, f := range some {
		for len(all) > 0 && all[0].place != f.place {
			all = all[1:]
		}
		if len(all) == 0 {
			return false
		}
		all = all[1:]
	}
	return true
}

// uniform reports whether all that touches a line in the pass moves alike, by whole parts.
func (z *repeats) uniform(w *watch) bool {
	l := w.levels[0]
	type reach struct{ low, high, shift uint64 }
	var all []reach
	for i := range z.now.rows {
		r := &z.now.rows[i]
		for k, addr := range r.addrs {
			to := addr + uint64((r.trips-1)*r.strides[k])
			a := reach{min(addr, to) >> l.shift, (max(addr, to) + uint64(z.operands[r.first+k].Width) - 1) >> l.shift, r.shifts[k]}
			if a.shift&(1<<l.partShift-1) != 0 {
				return false
			}
			for _, b := range all {
				if a.shift != b.shift && a.low <= b.high && b.low <= a.high {
					return false
				}
			}
			all = append(all, a)
		}
	}
	return true
}

// numbers are all that a level counts of references that are not written back.
func (l *watched) numbers() [6]*uint64 {
	return [6]*uint64{&l.counts.BytesIn, &l.counts.Compulsory, &l.counts.Capacity, &l.counts.Conflict, &l.retired, &l.used}
}

// eachSlots yields the slots of the accesses that run.
func (w *watch) eachSlots(yield func([]reuseSlot)) {
	switch u := w.reuses; {
	case u == nil:
	case u.program != nil:
		for level := range w.levels {
			for i := range w.repeats.before.rows {
				r := &w.repeats.before.rows[i]
				for k := range r.addrs {
					yield(u.program.slots[level*len(u.program.operands)+r.first+k])
				}
			}
		}
	default:
		yield(u.slots[u.runs[len(u.runs)-1].nest])
	}
}

// take keeps what was counted so far. The rows of the pass that begins are those of the one before.
func (w *watch) take() {
	s := &w.repeats.snap
	s.misses, s.levels, s.slots = s.misses[:0], s.levels[:0], s.slots[:0]
	for level, l := range w.levels {
		s.misses = append(s.misses, w.misses[level]...)
		var all [6]uint64
		for i, n := range l.numbers() {
			all[i] = *n
		}
		s.levels = append(s.levels, all)
	}
	w.eachSlots(func(slots []reuseSlot) { s.slots = append(s.slots, slots...) })
}

// repeat does what the last pass simulated did so many times more.
func (w *watch) repeat(times uint64) {
	z := &w.repeats
	p, s := z.before, &z.snap
	for level, l := range w.levels {
		misses := w.misses[level]
		for op, was := range s.misses[level*len(misses):][:len(misses)] {
			misses[op] += times * (misses[op] - was)
		}
		for i, n := range l.numbers() {
			*n += times * (*n - s.levels[level][i])
		}
		if l.counts.SetMisses != nil {
			for _, f := range p.fills[level] {
				l.counts.SetMisses[l.set(w.known.Line(int(f.place)))] += times
			}
		}
	}
	was := s.slots
	w.eachSlots(func(slots []reuseSlot) { // each once: what comes again in an iteration is in a loop further in
		for i := range slots {
			slot := &slots[i]
			slot.refs += times * (slot.refs - was[i].refs)
			for c := range slot.classes {
				slot.classes[c] += times * (slot.classes[c] - was[i].classes[c])
			}
		}
		was = was[len(slots):]
	})
	refs := w.serial - p.start
	z.left.passes += times * refs
	if len(p.fills[0]) > 0 {
		z.left.behind += times * refs
	}
	if z.after > 2 {
		z.left.later += times * refs
	}
	w.moveOn(p, times, times*refs)
	w.serial += times * refs
}

// moved marks a line that the pass filled, until its parts have been moved.
const movedAside = -1

// moveOn has the lines of a pass touched in the last of so many more, and so many references later.
func (w *watch) moveOn(p *pass, times, later uint64) {
	bytes, levels := w.levels[0].bytes, len(w.levels)
	if bytes {
		for level, fills := range p.fills {
			for _, f := range fills {
				if h := &w.copies[int(f.place)*levels+level]; h.way > 0 {
					h.way *= movedAside
				}
			}
		}
	}
	serial := p.start + later
	for i := range p.rows {
		r := &p.rows[i]
		for k := range r.addrs {
			w.touchAgain(r, k, serial+uint64(k)+1, times)
		}
		serial += uint64(r.trips * len(r.addrs))
	}
	if !bytes {
		return
	}
	for level, fills := range p.fills {
		for _, f := range fills {
			h := &w.copies[int(f.place)*levels+level]
			if h.way >= 0 { // it left again, or is done
				continue
			}
			h.way *= movedAside
			if by := int64(times*f.shift) >> w.levels[0].partShift; by >= 0 {
				h.parts <<= uint(by)
			} else {
				h.parts >>= uint(-by)
			}
		}
	}
}

// joined are the parts of a block that accesses touch at an address and so many steps from it, the first step
// included and the address itself not, all of which touch the block.
func (c *cache) joined(block, addr, width uint64, step, times int) (all uint64) {
	if far := max(step, -step); far <= int(width) { // without gaps
		return c.partsOf(block, min(addr+uint64(step), addr+uint64(times*step)), uint64((times-1)*far)+width)
	}
	for range times {
		addr += uint64(step)
		all |= c.partsOf(block, addr, width)
	}
	return all
}

// touchAgain has the lines of an access of a row touched, the first at a serial, and marks the parts of those
// that the pass did not fill that so many more passes touch.
func (w *watch) touchAgain(r *row, k int, serial, times uint64) {
	l, n, levels := w.levels[0], uint64(len(r.addrs)), len(w.levels)
	width, stride, shift := uint64(w.repeats.operands[r.first+k].Width), uint64(r.strides[k]), r.shifts[k]
	finger := &w.along[r.first+k].finger
	mark := l.bytes && shift != 0      // else they are marked
	parts, of := uint64(0), ^uint64(0) // and where in a line they are of
	for i, addr := uint64(0), r.addrs[k]; i < uint64(r.trips); {
		stay := uint64(1)
		if !mark {
			stay = min(nest.Stay(addr, width, stride, 1<<l.shift), uint64(r.trips)-i)
		}
		if at := addr & (1<<l.shift - 1); mark && at != of {
			parts = l.joined(addr>>l.shift, addr, width, int(shift), int(times)) // in one line, see sameLine
			of = at
		}
		last := serial + (i+stay-1)*n
		for line := addr >> l.shift; line <= (addr+width-1)>>l.shift; line++ {
			place := w.known.Along(finger, line)
			if w.known.Numbers[place] < last {
				w.known.Numbers[place] = last
			}
			if mark {
				for level := range levels {
					if h := &w.copies[place*levels+level]; h.way > 0 {
						h.parts |= parts
					}
				}
			}
		}
		i += stay
		addr += stay * stride
	}
}

// row simulates a row.
func (w *watch) row(r *row) {
	z := &w.repeats
	if w.reuses != nil {
		w.reuses.enter(r, w.serial)
	}
	var began *uint64 // the serial before the iteration
	if r.trips > 1 && w.reuses != nil {
		began = w.reuses.innermost()
	}
	inLine := z.inLine && r.trips >= fewestInLine
	for _, s := range r.strides {
		inLine = inLine && s < 1<<w.levels[0].shift/(fewestInLine-1) && -s < 1<<w.levels[0].shift/(fewestInLine-1)
	}
	for i := 0; i < r.trips; {
		if w.tell != nil {
			w.far()
		}
		stay := r.trips - i
		if inLine {
			stay = w.stays(r, i, stay)
		} else if w.tell != nil {
			stay = min(stay, tellEvery)
		}
		from, to := i, i+stay
		for ; i < to; i++ {
			if i > 0 && began != nil {
				*began = w.serial
			}
			if inLine && i == from+1 && stay >= fewestInLine {
				if w.tried(r, i) {
					w.stay(r, i, to-i-1)
					i = to
					break
				}
				continue
			}
			w.iteration(r, i)
		}
	}
}

// stays is how many of the next iterations of a row no access leaves its lines in.
func (w *watch) stays(r *row, i, most int) int {
	stay := uint64(most)
	for k, addr := range r.addrs {
		stride := uint64(r.strides[k])
		stay = min(stay, nest.Stay(addr+uint64(i)*stride, uint64(w.repeats.operands[r.first+k].Width), stride, 1<<w.levels[0].shift))
	}
	return int(stay)
}

// iteration simulates an iteration of a row.
func (w *watch) iteration(r *row, i int) {
	w.looked += uint64(len(r.addrs))
	for k, addr := range r.addrs {
		op := &w.repeats.operands[r.first+k]
		w.add(r.first+k, addr+uint64(i*r.strides[k]), uint64(op.Width), op.Kind)
	}
}

// tried is iteration, and reports whether the first level was filled with nothing.
func (w *watch) tried(r *row, i int) bool {
	z, l := &w.repeats, w.levels[0]
	filled := l.counts.BytesIn
	z.slots = z.slots[:0]
	w.looked += uint64(len(r.addrs))
	for k, addr := range r.addrs {
		op := &z.operands[r.first+k]
		w.add(r.first+k, addr+uint64(i*r.strides[k]), uint64(op.Width), op.Kind)
		if w.reuses != nil {
			z.slots = append(z.slots, w.reuses.noted)
		}
	}
	return l.counts.BytesIn == filled
}

// stay does what so many iterations of a row do that follow one that filled nothing, in its lines: their touches change no order
// but that of the clock, and mark the parts that they come to.
func (w *watch) stay(r *row, i, times int) {
	l, n := w.levels[0], len(r.addrs)
	last := w.serial + uint64((times-1)*n)
	for k := range r.addrs {
		op, stride := r.first+k, r.strides[k]
		if w.reuses != nil {
			w.nearest[op][w.repeats.slots[k]].refs += uint64(times)
		}
		addr, width := r.addrs[k]+uint64(i*stride), uint64(w.repeats.operands[op].Width) // of the iteration before
		g := w.glance(op, addr, width)
		for i, place := range g.places {
			w.known.Numbers[place] = last + uint64(k) + 1
			if stride != 0 && l.bytes {
				w.use(place, l.joined(g.first+uint64(i), addr, width, stride, times))
			}
		}
	}
	w.serial += uint64(times * n)
	w.repeats.left.inLine += uint64(times * n)
}
