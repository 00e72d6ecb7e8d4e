package kernel

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/stridebench/stridebench/layouts/nest"
)

const (
	// mostPanel bounds the bytes of a panel, so that it and its buffers stay in a
	// second-level cache, and its accesses few.
	mostPanel = 48 << 10
	// shortRow is how many bytes a row that is read has, where hardware foresees it.
	shortRow = 4 * line
	// mostBeside is how many times what tiles leave beside them is less than all, where
	// they do better than panels, sparedBeside of sets that spare these.
	mostBeside, sparedBeside = 32, 10
	// longRun is how many bytes are written side by side where it does not matter that
	// the lines at their ends are written in two parts.
	longRun = 64 * line
	// leastVector and mostVector are the bytes of the vectors that are written past the caches.
	leastVector, mostVector = 16, 32
	// ways is how many lines stay in one set of a cache of the first or second level.
	ways = 8
	// secondWay is how far apart what lies in one set of a second-level cache is: 512 KiB of
	// 8 ways, or 1 MiB of 16.
	secondWay = 64 << 10
)

// A small tile is what panels are transposed by: rows of so many bytes.
type smallTile struct{ rows, bytes int }

// smallTiles are those of AVX2, by the bytes of an element.
var smallTiles = map[int]smallTile{1: {32, 16}, 2: {16, 16}, 4: {8, 32}, 8: {4, 32}}

// order is that of the rows as they are read: the two that share a register, of
// elements of 1 byte, lie 16 apart.
func (t smallTile) order() []int {
	all := make([]int, t.rows)
	for i := range all {
		all[i] = i
		if t.rows == 32 {
			all[i] = i/16*8 + i/8%2*16 + i%8
		}
	}
	return all
}

// A panel says how a transposed copy goes through a buffer: rows that lie next to each
// other where they are written, of columns that do so where they are read. It is
// transposed to a buffer, of which each column is written at once. So the ends of both,
// which are no whole tiles, are done with the rest, and rows that are no whole lines become
// lines that are whole. Rows that would evict each other are collected in a buffer first.
type panel struct {
	elem          int
	tile          smallTile
	rows, columns []int // where each begins in what is read and written
	patches       []patch
	collected     lists // rows to the buffer, or none
	pitch         int   // of columns in the buffer
	transposed    int   // where these begin in it
	drained       lists // runs of columns to where they belong
	width         int   // bytes of each
	vector        int   // bytes by which these are written
	asks          []int // the lines that are read, one for each that is asked for of the next panel
	asksOfTile    int   // of these
}

// Lists are rows that are copied: where each is, and where it goes to.
type lists struct{ from, to []int }

// panels plans a transposed copy by panels, and tells whether it did: if lines, only
// where all that is written is whole lines.
func (p *Plan) panels(outer []Loop, to, from Loop, lines bool) bool {
	tile, ok := p.set.panels[p.size]
	if !ok || to.To != p.size || from.From != p.size || !p.panelled(outer, to, from, lines) {
		return false
	}
	c, found := p.choose(tile, append([]Loop{to, from}, outer...))
	if !found || lines && !c.streams() {
		return false
	}
	p.panelStep(tile, c, 0)
	if rest := from.N % c.trips[1]; rest > 0 {
		start := from.N - rest
		c.loops, c.trips = slices.Clone(c.loops), slices.Clone(c.trips)
		c.loops[1].N, c.trips[1] = rest, rest
		p.panelStep(tile, c, start)
	}
	return true
}

// panelled tells whether panels are better than tiles: of what is too long for the caches,
// if they write whole lines; where tiles leave much; or where they read short rows, which
// hardware does not foresee, and a loop goes on where these end, or write to pages that they
// left for others when what lies beside it comes, since they walk loops as these are nested
// in what is read.
func (p *Plan) panelled(outer []Loop, to, from Loop, lines bool) bool {
	goesOn := func(l Loop) bool { return l.From == from.N*from.From }
	late := func(l Loop) bool {
		return l.To == to.N*to.To && slices.ContainsFunc(outer, func(inner Loop) bool {
			return abs(inner.From) < abs(l.From)
		})
	}
	return p.beside(to, from) ||
		from.N*p.size < shortRow && slices.ContainsFunc(outer, goesOn) ||
		lines && (slices.ContainsFunc(outer, late) || p.long(to, from))
}

// beside tells whether tiles leave much beside them.
func (p *Plan) beside(to, from Loop) bool {
	side, most := line/p.size, mostBeside
	if p.set.spares {
		most = sparedBeside
	}
	beside := to.N*from.N - to.N/side*side*(from.N/side*side)
	return beside*most > to.N*from.N
}

// long tells whether panels are better as what is written is too long for the caches: of
// sets that spare panels only if rows collide of which there are no blocks, or are no whole
// lines, which tiles do not write past the caches.
func (p *Plan) long(to, from Loop) bool {
	tiled := to.From%collide != 0 && from.To%collide != 0 || slices.Contains(p.set.blocks, p.size)
	return p.written() >= longFrom && (!p.set.spares || !tiled || from.To%line != 0)
}

// A cut says what panels are: of loops, the one along which elements lie next to each
// other where they are written first and the one where they are read second, so many trips.
type cut struct {
	size  int
	loops []Loop
	trips []int
	down  []int // the loops of its rows that have more than one, the fastest first
	along []int // and of its columns
}

// choose finds the best cut, if there is any: each side is the loop along which it lies
// closest, or some of it, or all of it and the loops that go on where it ends.
func (p *Plan) choose(tile smallTile, loops []Loop) (best cut, found bool) {
	least := 0.0
	columns := sides(loops, 1, p.size, func(l Loop) int { return l.From })
	for _, down := range sides(loops, 0, p.size, func(l Loop) int { return l.To }) {
		for _, along := range columns {
			c := cut{size: p.size, loops: loops, trips: slices.Repeat([]int{1}, len(loops))}
			if !c.take(down, &c.down) || !c.take(along, &c.along) {
				continue
			}
			rest := loops[1].N % c.trips[1]
			if c.count(c.down) < tile.rows || c.count(c.along)*p.size < tile.bytes ||
				c.bytes() > mostPanel ||
				rest > 0 && (rest*p.size < tile.bytes || len(c.along) > 1) {
				continue
			}
			takes := c.takes(tile)
			if found && takes >= least {
				continue // whatever comes again
			}
			if takes += c.again(); !found || takes < least {
				best, least, found = c, takes, true
			}
		}
	}
	return best, found
}

// A side is so many trips of some loops, the fastest first.
type side []struct{ loop, trips int }

// sides are those that begin with the first loop: of stride size, and then as many as all
// before have.
func sides(loops []Loop, first, size int, stride func(Loop) int) (all []side) {
	var whole side
	for run, at := size, first; at >= 0; {
		n := loops[at].N
		for d := 1; d <= n; d++ {
			if n%d == 0 || first == 1 && at == first && d*size%line == 0 {
				all = append(all, append(slices.Clone(whole), struct{ loop, trips int }{at, d}))
			}
			if d*run > mostPanel {
				break
			}
		}
		whole = append(whole, struct{ loop, trips int }{at, n})
		if run *= n; run > mostPanel {
			break
		}
		at = slices.IndexFunc(loops, func(l Loop) bool { return l.N > 1 && stride(l) == run })
	}
	return all
}

// take has the panel have a side, and tells whether it can: columns of a loop of both would
// not lie next to each other.
func (c *cut) take(s side, loops *[]int) bool {
	for _, l := range s {
		if l.trips == 1 {
			continue
		}
		if l.loop == 1-s[0].loop || c.trips[l.loop] > 1 {
			return false
		}
		c.trips[l.loop] = l.trips
		*loops = append(*loops, l.loop)
	}
	return true
}

// count is how many trips those loops have together.
func (c *cut) count(loops []int) int {
	n := 1
	for _, l := range loops {
		n *= c.trips[l]
	}
	return n
}

// bytes are those of a panel.
func (c *cut) bytes() int { return c.count(c.down) * c.count(c.along) * c.size }

// places are where the loops get to in what is read or written, the first loop fastest.
func (c *cut) places(loops []int, stride func(Loop) int) []int {
	all := []int{0}
	for _, l := range loops {
		before := len(all)
		for trip := 1; trip < c.trips[l]; trip++ {
			for _, at := range all[:before] {
				all = append(all, at+trip*stride(c.loops[l]))
			}
		}
	}
	return all
}

// stretch is how many bytes lie side by side of a panel where it is read: its rows, and
// the loops that go on where these end.
func (c *cut) stretch() int {
	run := c.count(c.along) * c.size
	for range c.down {
		i := slices.IndexFunc(c.down, func(l int) bool { return c.loops[l].From == run })
		if i < 0 {
			break
		}
		run *= c.trips[c.down[i]]
	}
	return run
}

// width is how many bytes are written side by side: a column, or all of some loops of
// columns, each of which goes on where what is in it ends.
func (c *cut) width() int {
	run := c.count(c.down) * c.size
	for _, l := range c.along {
		if c.loops[l].To != run {
			break
		}
		run *= c.trips[l]
	}
	return run
}

// writeBits has those of the width and of all distances between runs that are written.
func (c *cut) writeBits() int {
	return c.bits(c.width(), c.along, func(l Loop) int { return l.To })
}

// readBits has those of the stretch and of all distances between those that are read.
func (c *cut) readBits() int {
	return c.bits(c.stretch(), c.down, func(l Loop) int { return l.From })
}

// bits has those of a run and of all distances between runs: by those of the loops of a
// panel that do not lengthen it, and by all that are outside.
func (c *cut) bits(run int, within []int, stride func(Loop) int) int {
	bits := run
	for i, l := range c.loops {
		by := stride(l)
		if slices.Contains(within, i) && (by < 0 || by >= run) {
			bits |= by
		}
		if c.trips[i] < l.N {
			bits |= c.trips[i] * by
		}
	}
	return bits
}

// streams tells whether what is written is whole lines, where the first one begins on one.
func (c *cut) streams() bool { return wholeLines(c.writeBits(), c.width()) }

// wholeLines tells whether runs of so many bytes can be written past the caches.
func wholeLines(bits, run int) bool {
	return bits%line == 0 || run >= longRun && bits%leastVector == 0
}

// takes is how long a byte takes, a guess in units of one that is read or written in long
// runs, for an EPYC of 2021 (Zen 3) and one of 2022 (Zen 4) alike: at the ends of a run are
// parts of lines, and what is asked for begins anew, where hardware, which takes two lines side
// by side for the beginning of more, has asked for what lies beyond it, too; what is not
// written in whole lines is read first, and short runs whole pages apart are slow; of tiles
// that overlap all is done; each panel begins anew, and so does what is left of a loop, far
// from where it was; and what is asked for of large panels, hardware asks for once more, and
// caches lose. What comes again is not among it.
func (c *cut) takes(tile smallTile) float64 {
	read, write, bytes := float64(c.stretch()), float64(c.width()), float64(c.bytes())
	reads, writes := 1+60/read, 1+60/write
	switch {
	case c.readBits()%line != 0:
		reads = 1 + 80/read
	case read == line:
		reads = 1 + 28/read
	}
	if c.pagesApart() {
		writes = 1 + 120/write
	}
	if !c.streams() {
		writes *= 3
	}
	if c.loops[1].N%c.trips[1] > 0 {
		writes += .5
	}
	up := func(n, tile int) float64 { return float64((n + tile - 1) / tile * tile) }
	tiles := up(c.count(c.down), tile.rows) * up(c.count(c.along)*c.size, tile.bytes) / bytes
	return reads + writes + .7*tiles + 500/bytes + .5*max(0, bytes/(16<<10)-1.1)
}

// again is how much longer it takes where rows come twice that evict each other from the
// second level.
func (c *cut) again() float64 {
	if c.evicted() {
		return 80 / float64(c.stretch())
	}
	return 0
}

// evicted tells whether most of the panel lies in sets of a second-level cache that do not
// hold all of theirs.
func (c *cut) evicted() bool {
	var sets [secondWay / line]int // bytes in each
	row := c.count(c.along) * c.size
	for _, at := range c.places(c.down, func(l Loop) int { return l.From }) {
		for i := 0; i < row; i += line {
			sets[(at+i)/line&(len(sets)-1)] += min(line, row-i)
		}
	}
	held := 0
	for _, n := range sets {
		if n < ways*line {
			held += n
		}
	}
	return 2*held < c.bytes()
}

// pagesApart tells whether runs that are written one after the other lie whole pages apart.
func (c *cut) pagesApart() bool {
	i := slices.IndexFunc(c.along, func(l int) bool { return abs(c.loops[l].To) >= c.width() })
	return i >= 0 && c.loops[c.along[i]].To%collide == 0
}

// panelStep is one panel after the other, from element start of the second loop on; each
// asks for what the next one reads.
func (p *Plan) panelStep(tile smallTile, c cut, start int) {
	loops := []Loop{{N: 1}}
	for i, l := range c.loops {
		if n := l.N / c.trips[i]; n > 1 {
			loops = append(loops, Loop{n, c.trips[i] * l.To, c.trips[i] * l.From})
		}
	}
	// Along what is read, so that what hardware asks for beyond a row is of use.
	slices.SortStableFunc(loops[1:], func(x, y Loop) int {
		return cmp.Or(abs(y.From)-abs(x.From), abs(y.To)-abs(x.To))
	})
	b := newPanel(p.size, tile, &c)
	bits := c.writeBits()
	p.Buffers = max(p.Buffers, b.transposed+len(b.columns)*b.pitch)
	s := Step{Loops: loops, To: start * c.loops[1].To, From: start * c.loops[1].From,
		Body: b.body(len(loops)), small: tile}
	s.past = func(s *Step, at uintptr) bool {
		at %= line
		return p.written() >= p.set.Tuning().Blocks && int(at)%b.vector == 0 &&
			wholeLines(int(at)|bits, b.width)
	}
	to, from := s.Strides()
	trips := make([]int, len(loops))
	for i, l := range loops {
		trips[i] = l.N
	}
	toSteps, fromSteps := nest.Steps(trips, to), nest.Steps(trips, from)
	s.in = len(loops)
	s.run = func(s *Step, dst, src []byte, at, of int) {
		f := p.set.functions()
		var drain drainer // nil where what is read next is in a cache
		if s.past(s, uintptr(unsafe.Pointer(&dst[at]))) {
			drain = f.drainStream[b.vector]
		} else if p.written() >= longFrom || b.vector == leastVector {
			drain = f.drain[b.vector]
		}
		one := func(to, from, next int) {
			asked := uintptr(unsafe.Pointer(&src[next])) // by hardware only
			asks := b.fill(f, &src[from], p.buffers, asked)
			b.drain(f, drain, &dst[to], p.buffers, asked, asks)
		}
		for l := range nest.Walk(trips) {
			if l >= 0 {
				to, from := at, of
				at, of = at+toSteps[l], of+fromSteps[l]
				one(to, from, of)
			}
		}
		one(at, of, of)
	}
	p.Steps = append(p.Steps, s)
}

// newPanel makes the lists of a panel.
func newPanel(size int, tile smallTile, c *cut) *panel {
	b := &panel{
		elem: size, tile: tile, width: c.width(), vector: mostVector, asksOfTile: asksOfTile(size),
		rows:    c.places(c.down, func(l Loop) int { return l.From }),
		columns: c.places(c.along, func(l Loop) int { return l.To }),
	}
	if c.streams() && c.writeBits()%b.vector > 0 {
		b.vector = leastVector
	}
	b.patch()
	b.ask()
	if pitch := oddLines(len(b.columns) * size); b.collides() {
		for i, at := range b.rows {
			b.collected.add(at, i*pitch)
			b.rows[i] = i * pitch
		}
		b.collected.sort(b.collected.from)
		b.transposed = len(b.rows) * pitch
	}
	run := len(b.rows) * size
	if b.pitch = run; b.width == run {
		b.pitch = oddLines(run)
	}
	for i := 0; i < len(b.columns); i += b.width / run {
		b.drained.add(i*b.pitch, b.columns[i])
	}
	b.drained.sort(b.drained.to)
	return b
}

func (l *lists) add(from, to int) { l.from, l.to = append(l.from, from), append(l.to, to) }

// sort puts the rows in the order of one of the lists.
func (l *lists) sort(by []int) {
	order := make([]int, len(by))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return by[i] - by[j] })
	sorted := lists{}
	for _, i := range order {
		sorted.add(l.from[i], l.to[i])
	}
	*l = sorted
}

// oddLines is the pitch of rows of so many bytes of a buffer: whole lines, an odd number
// of which does not collide.
func oddLines(bytes int) int {
	if bytes <= line/2 {
		return line / 2
	}
	return ((bytes+line-1)/line | 1) * line
}

// collides tells whether the rows of a tile evict each other from a first-level cache.
func (b *panel) collides() bool {
	sets := map[int]int{}
	for _, at := range b.rows[:b.tile.rows] {
		sets[(at%collide+collide)%collide/line]++
	}
	for _, lines := range sets {
		if lines > ways {
			return true
		}
	}
	return false
}

// ask makes the list of lines that are asked for: those of each stretch that is read, by
// their last byte, as the first was asked for with what lies before. There is one to ask
// for whenever something asks, so that they come as fast as memory can: what is asked for
// faster is dropped.
func (b *panel) ask() {
	at := slices.Sorted(slices.Values(b.rows))
	var lines []int
	for i := 0; i < len(at); {
		from, end := at[i], at[i]
		for ; i < len(at) && at[i] == end; i++ {
			end += len(b.columns) * b.elem
		}
		for ; from < end; from += line {
			lines = append(lines, min(from+line, end)-1)
		}
	}
	calls := 0
	for _, t := range b.patches {
		calls += t.strips * t.tiles * b.asksOfTile
	}
	calls += len(b.rows) * len(b.columns) * b.elem / line
	for i := range calls {
		b.asks = append(b.asks, lines[i*len(lines)/calls])
	}
	b.asks = append(b.asks, 0) // none is behind the list
}

// asksOfTile is how many lines a gatherer asks for with each tile.
func asksOfTile(size int) int { return map[int]int{1: 4, 2: 2, 4: 2, 8: 1}[size] }

// A patch is what one call transposes of a panel: tiles from a row and a column on.
type patch struct{ row, column, strips, tiles int }

// patch makes the patches: of whole tiles, and of those that end where the rows or columns do.
func (b *panel) patch() {
	across := b.tile.bytes / b.elem
	for _, row := range covered(len(b.rows), b.tile.rows) {
		for _, column := range covered(len(b.columns), across) {
			b.patches = append(b.patches, patch{row[0], column[0], row[1], column[1]})
		}
	}
}

// covered are the whole tiles of so many elements among n, and one that ends where these
// do if they leave any: where each begins, and how many.
func covered(n, tile int) [][2]int {
	all := [][2]int{{0, n / tile}}
	if n%tile > 0 {
		all = append(all, [2]int{n - tile, 1})
	}
	return all
}

// fill transposes a panel to the buffer, and returns what is left to ask for.
func (b *panel) fill(f *functions, src *byte, buffers []byte, asked uintptr) []int {
	if len(b.collected.from) > 0 {
		f.move(&buffers[0], &b.collected.to[0], src, &b.collected.from[0], len(b.rows),
			len(b.columns)*b.elem)
		src = &buffers[0]
	}
	gather, asks := f.gather[b.elem], b.asks
	for _, p := range b.patches {
		to := b.transposed + p.column*b.pitch + p.row*b.elem
		from := (*byte)(unsafe.Add(unsafe.Pointer(src), p.column*b.elem))
		gather(&buffers[to], from, &b.rows[p.row], p.strips, p.tiles, b.pitch, asked, &asks[0])
		asks = asks[p.strips*p.tiles*b.asksOfTile:]
	}
	return asks
}

// drain writes what is in the buffer: whole lines of all runs, by a drainer if it is to ask
// for what is read next, and then what is left of them.
func (b *panel) drain(f *functions, drain drainer, dst *byte, buffers []byte, asked uintptr,
	asks []int) {
	from, whole := &buffers[b.transposed], b.width/line*line
	if whole > 0 && drain != nil {
		drain(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), whole/line,
			asked, &asks[0])
	} else if whole > 0 {
		f.move(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), whole)
	}
	if whole < b.width {
		dst = (*byte)(unsafe.Add(unsafe.Pointer(dst), whole))
		from = (*byte)(unsafe.Add(unsafe.Pointer(from), whole))
		f.move(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), b.width-whole)
	}
}

// body is what fill and drain touch, within so many loops.
func (b *panel) body(loops int) (all []Access) {
	still := make([]int, loops) // of a buffer, which is the same for all panels
	for i, from := range b.collected.from {
		for _, u := range units(len(b.columns)*b.elem, mostVector) {
			all = append(all, Access{Offset: from + u[0], Width: u[1]},
				Access{Write: true, Offset: b.collected.to[i] + u[0], Width: u[1], Strides: still})
		}
	}
	var strides []int // of the rows
	if b.transposed > 0 {
		strides = still
	}
	for _, p := range b.patches {
		for i := range p.strips * p.tiles {
			row, column := p.row+i/p.tiles*b.tile.rows, p.column+i%p.tiles*b.tile.bytes/b.elem
			to := b.transposed + column*b.pitch + row*b.elem
			all = append(all, b.tile.body(b.elem, b.rows[row:], column*b.elem, strides, to,
				b.pitch, still)...)
		}
	}
	whole := b.width / line * line
	for _, part := range []struct {
		at    int
		units [][2]int
	}{{0, units(whole, b.vector)}, {whole, units(b.width-whole, mostVector)}} {
		for i, to := range b.drained.to {
			for _, u := range part.units {
				at := part.at + u[0]
				all = append(all, Access{Offset: b.transposed + b.drained.from[i] + at, Width: u[1],
					Strides: still},
					Access{Write: true, Offset: to + at, Width: u[1]})
			}
		}
	}
	return all
}

// body is what transposing a tile of elements of size bytes touches: its rows, from so
// many bytes of each on, and then its columns, pitch bytes apart in the buffer. Strides are
// those of the rows, if these lie in a buffer too, and of the buffer.
func (t smallTile) body(size int, rows []int, from int, strides []int, to, pitch int,
	still []int) (all []Access) {
	for _, row := range t.order() {
		all = append(all, Access{Offset: rows[row] + from, Width: t.bytes, Strides: strides})
	}
	for column := range t.bytes / size {
		all = append(all, Access{Write: true, Offset: to + column*pitch, Width: t.rows * size,
			Strides: still})
	}
	return all
}

// units are the pieces in which so many bytes are moved, and where each begins: a vector of
// so many each and, of what is left, powers of two.
func units(bytes, vector int) (all [][2]int) {
	at := 0
	for width := vector; width > 0; width /= 2 {
		for ; bytes-at >= width; at += width {
			all = append(all, [2]int{at, width})
		}
	}
	return all
}
