package kernel

import (
	"cmp"
	"slices"
	"unsafe"
)

const (
	// mostPanel bounds the bytes of a panel. It and its buffers then stay in a second-level cache.
	mostPanel = 48 << 10
	// shortRow is the bytes from which hardware prefetches a row.
	shortRow = 4 * line
	// Panels beat tiles that leave over 1/mostBeside of all elements, or 1/sparedBeside in sets
	// that prefer tiles.
	mostBeside, sparedBeside = 32, 10
	// longRun is the bytes of a run whose partial lines do not matter.
	longRun = 64 * line
	// leastVector and mostVector are the bytes of vectors written past the caches.
	leastVector, mostVector = 16, 32
	// ways is the assumed associativity of caches of the first and second level.
	ways = 8
	// secondWay is the bytes of a way of a second-level cache, of 512 KiB and 8 ways or 1 MiB and
	// 16 ways.
	secondWay = 64 << 10
)

// A small tile is rows of some bytes, in which panels are transposed.
type smallTile struct{ rows, bytes int }

// smallTiles are for AVX2, by the bytes of an element.
var smallTiles = map[int]smallTile{1: {32, 16}, 2: {16, 16}, 4: {8, 32}, 8: {4, 32}}

// order is the reading order of rows. Rows of 1-byte elements that share a register lie 16 apart.
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

// A panel describes a transposed copy through a buffer. Its rows are adjacent in the output and its
// columns in the input. It is transposed to the buffer, from which each column is written at once.
// So partial tiles at the ends need no separate step, and rows that are not whole lines become
// whole lines. Rows that would evict each other are first collected in a buffer.
type panel struct {
	elem          int
	tile          smallTile
	rows, columns []int // offsets in the input and output
	patches       []patch
	collected     lists // rows to the buffer
	pitch         int   // between columns in the buffer
	transposed    int   // offset of the columns in it
	drained       lists // runs of columns to the output
	width         int   // of a run
	vector        int   // bytes of a written vector
	asks          []int // lines to prefetch for the next panel
}

type lists struct{ from, to []int }

// panels plans a transposed copy by panels, and reports whether it did. With lines, all writes must
// be whole lines.
func (p *Plan) panels(outer []Loop, to, from Loop, lines bool) bool {
	tile, ok := smallTiles[p.size]
	if !ok || !p.set.amd64 || to.To != p.size || from.From != p.size ||
		!p.panelled(outer, to, from, lines) {
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

// panelled reports whether panels beat tiles. They do if tiles leave many elements. They do if
// tiles read short rows that another loop continues, since hardware does not prefetch across these.
// With whole lines, they also win for some long copies (see long), and if tiles return late to an
// output page. Tiles nest loops as the input does, so another loop can come between adjacent parts
// of the output.
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

func (p *Plan) beside(to, from Loop) bool {
	side, most := line/p.size, mostBeside
	if p.set.like == nil {
		most = sparedBeside
	}
	beside := to.N*from.N - to.N/side*side*(from.N/side*side)
	return beside*most > to.N*from.N
}

// long reports whether panels win because the output is too long for the caches. In sets that
// prefer tiles, these must also be unsuited: rows collide and have no blocks, or are not whole
// lines, which tiles do not write past the caches.
func (p *Plan) long(to, from Loop) bool {
	tiled := to.From%collide != 0 && from.To%collide != 0 || slices.Contains(p.set.blocks, p.size)
	return p.written() >= longFrom && (p.set.like != nil || !tiled || from.To%line != 0)
}

// A cut is the trips of each loop within a panel. Elements are adjacent along the first loop in the
// output, along the second in the input.
type cut struct {
	size  int
	loops []Loop
	trips []int
	down  []int // loops with several rows, the fastest first
	along []int // loops with several columns
}

// choose returns the best cut, if any. Each side is the loop of adjacent elements, or a part of it,
// or all of it and loops that continue it.
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
				continue // again only adds
			}
			if takes += c.again(); !found || takes < least {
				best, least, found = c, takes, true
			}
		}
	}
	return best, found
}

type side []struct{ loop, trips int }

// sides returns the sides that begin with loop first. Each further loop continues where the loops
// before it end.
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

// take adds a side, if it can. A loop in both sides would separate the columns.
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

func (c *cut) count(loops []int) int {
	n := 1
	for _, l := range loops {
		n *= c.trips[l]
	}
	return n
}

func (c *cut) bytes() int { return c.count(c.down) * c.count(c.along) * c.size }

// places returns the offsets of the loops' iterations, the first loop fastest.
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

// stretch is the contiguous bytes of a panel in the input: a row, and loops that continue it.
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

// width is the contiguous bytes in the output: a column, and loops that continue it.
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

func (c *cut) writeBits() int {
	return c.bits(c.width(), c.along, func(l Loop) int { return l.To })
}

func (c *cut) readBits() int {
	return c.bits(c.stretch(), c.down, func(l Loop) int { return l.From })
}

// bits has the bits of run and of all distances between runs.
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

// streams reports whether all writes are whole lines, if the first begins on a line.
func (c *cut) streams() bool { return wholeLines(c.writeBits(), c.width()) }

// wholeLines reports whether runs can be written past the caches.
func wholeLines(bits, run int) bool {
	return bits%line == 0 || run >= longRun && bits%leastVector == 0
}

// takes guesses the time of a byte, relative to a byte of a long run. It fits an EPYC of 2021 (Zen
// 3) and one of 2022 (Zen 4).
//
// At the ends of a run, lines are partial and prefetching starts again. Hardware also prefetches
// beyond a run, because two adjacent lines start a stream. Partial output lines are read first.
// Short runs whole pages apart are slow. Overlapping tiles are transposed whole. Each panel starts
// again, and so does the rest of a loop, far from where it was. Hardware repeats the prefetches of
// large panels, and caches lose lines. The time of again is not included.
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

// again is the additional time of rows that are read twice because they evict each other from the
// second level.
func (c *cut) again() float64 {
	if c.evicted() {
		return 80 / float64(c.stretch())
	}
	return 0
}

// evicted reports whether most of the panel lies in overfull sets of a second-level cache.
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

func (c *cut) pagesApart() bool {
	i := slices.IndexFunc(c.along, func(l int) bool { return abs(c.loops[l].To) >= c.width() })
	return i >= 0 && c.loops[c.along[i]].To%collide == 0
}

// panelStep adds panel after panel, from element start of the second loop. Each panel prefetches
// the input of the next.
func (p *Plan) panelStep(tile smallTile, c cut, start int) {
	loops := []Loop{{N: 1}}
	for i, l := range c.loops {
		if n := l.N / c.trips[i]; n > 1 {
			loops = append(loops, Loop{n, c.trips[i] * l.To, c.trips[i] * l.From})
		}
	}
	// In input order, to use what hardware prefetches beyond a row.
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
	s.in = len(loops)
	s.run = func(s *Step, dst, src []byte, at, of int) {
		f := p.set.functions()
		past := s.stores(&dst[at])
		asks := past == 1 || p.written() >= longFrom || b.vector == leastVector // else it is cached
		one := func(to, from, next int) {
			asked := uintptr(unsafe.Pointer(&src[next])) // only prefetched
			left := b.fill(f, &src[from], p.buffers, asked)
			if !asks {
				left = nil
			}
			b.drain(f, &dst[to], p.buffers, asked, left, past)
		}
		first, lastTo, lastFrom := true, 0, 0
		each(s.Loops, at, of, func(to, from int) {
			if !first {
				one(lastTo, lastFrom, from)
			}
			first, lastTo, lastFrom = false, to, from
		})
		one(lastTo, lastFrom, lastFrom)
	}
	p.Steps = append(p.Steps, s)
}

func newPanel(size int, tile smallTile, c *cut) *panel {
	b := &panel{
		elem: size, tile: tile, width: c.width(), vector: mostVector,
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

// oddLines is a pitch of an odd number of lines, which does not collide.
func oddLines(bytes int) int {
	if bytes <= line/2 {
		return line / 2
	}
	return ((bytes+line-1)/line | 1) * line
}

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

// ask lists the lines to prefetch: all lines of each stretch, by their last byte, since the first
// byte's line was prefetched with what precedes it. They are spread evenly over a panel, because
// the CPU drops prefetches that outpace the memory.
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
		calls += t.strips * t.tiles * b.tile.asks()
	}
	calls += len(b.rows) * len(b.columns) * b.elem / line
	for i := range calls {
		b.asks = append(b.asks, lines[i*len(lines)/calls])
	}
	b.asks = append(b.asks, 0) // an end to point to
}

// asks is the lines to prefetch with each tile: half of its lines.
func (t smallTile) asks() int { return t.rows * t.bytes / line / 2 }

type patch struct{ row, column, strips, tiles int }

// patch makes patches of whole tiles, and of tiles that overlap these at the ends.
func (b *panel) patch() {
	across := b.tile.bytes / b.elem
	for _, row := range covered(len(b.rows), b.tile.rows) {
		for _, column := range covered(len(b.columns), across) {
			b.patches = append(b.patches, patch{row[0], column[0], row[1], column[1]})
		}
	}
}

// covered returns start and count of the whole tiles among n elements, and of one at the end if
// these leave any.
func covered(n, tile int) [][2]int {
	all := [][2]int{{0, n / tile}}
	if n%tile > 0 {
		all = append(all, [2]int{n - tile, 1})
	}
	return all
}

// fill transposes a panel to the buffer, and returns the remaining prefetches.
func (b *panel) fill(f *functions, src *byte, buffers []byte, asked uintptr) []int {
	if len(b.collected.from) > 0 {
		f.move(&buffers[0], &b.collected.to[0], src, &b.collected.from[0], len(b.rows),
			len(b.columns)*b.elem)
		src = &buffers[0]
	}
	asks := b.asks
	for _, p := range b.patches {
		to := b.transposed + p.column*b.pitch + p.row*b.elem
		from := (*byte)(unsafe.Add(unsafe.Pointer(src), p.column*b.elem))
		f.gather(&buffers[to], from, &b.rows[p.row], p.strips, p.tiles, b.pitch, asked, &asks[0],
			b.elem)
		asks = asks[p.strips*p.tiles*b.tile.asks():]
	}
	return asks
}

// drain writes the buffer: whole lines of all runs, with prefetches if there are some, then the
// rest.
func (b *panel) drain(f *functions, dst *byte, buffers []byte, asked uintptr, asks []int,
	past int) {
	from, whole := &buffers[b.transposed], b.width/line*line
	if whole > 0 && asks != nil {
		f.drain(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), whole/line,
			asked, &asks[0], b.vector, past)
	} else if whole > 0 {
		f.move(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), whole)
	}
	if whole < b.width {
		dst = (*byte)(unsafe.Add(unsafe.Pointer(dst), whole))
		from = (*byte)(unsafe.Add(unsafe.Pointer(from), whole))
		f.move(dst, &b.drained.to[0], from, &b.drained.from[0], len(b.drained.to), b.width-whole)
	}
}

func (b *panel) body(loops int) (all []Access) {
	still := make([]int, loops) // buffers do not move
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

// body is the accesses of transposing a tile: its rows at offset from, then its columns in the
// buffer. Argument strides is for the rows, still for the buffer.
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

// units cuts bytes into offsets and sizes: vectors, then smaller powers of two.
func units(bytes, vector int) (all [][2]int) {
	at := 0
	for width := vector; width > 0; width /= 2 {
		for ; bytes-at >= width; at += width {
			all = append(all, [2]int{at, width})
		}
	}
	return all
}
