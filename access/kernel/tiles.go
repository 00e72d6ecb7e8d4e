package kernel

import (
	"slices"
	"unsafe"
)

// A strip is the tiles that are walked one after the other before those beside them: more reach
// over more pages than a TLB holds, fewer prefetch too little.
const leastStrip, pagesOfStrip, page = 64, 1024, 4096

// transposed copies what lies side by side along one loop where it is written
// and along another where it is read.
func (p *Plan) transposed(outer []Loop, to, from Loop) {
	switch {
	case to.N*from.N == 0:
	case p.zipped(outer, to, from) || p.sequential(outer, to, from) ||
		p.panels(outer, to, from, true) || p.blocks(outer, to, from) ||
		p.panels(outer, to, from, false):
	default:
		p.tiles(outer, to, from)
	}
}

const (
	// sequentialBlock is how many bytes of rows are read before those behind them, of which a
	// second-level cache holds two.
	sequentialBlock = 128 << 10
	// leastAlong is how many tiles of it lie beside each other where they are written, at least, if
	// their rows are in few sets.
	leastAlong = 4
	// leastLines is how many lines are asked for at once, as long as it is no more than a tile has.
	leastLines = 16
)

// sequential plans a copy of short rows, each of which lies where the one before ends, by tiles
// that read these in the order of addresses, and tells whether it did. A block is as many rows as
// sequentialBlock bytes hold, in tiles walked along what is written, strip beside strip, while all
// lines of the next block are asked for, one after the other. (A Zen 4 copies 1.1 to 2.5 times as
// fast so as by tiles or panels, of 2 to 8 bytes; of 1 and 16 it is the same, and in the caches
// tiles walked along what is written take 0.6 to 0.8 of the time.)
func (p *Plan) sequential(outer []Loop, to, from Loop) bool {
	side := line / p.size
	parted := func(l Loop) bool { return l.To%line != 0 }
	if !p.follows(to, from) || p.beside(to, from) || parted(from) ||
		slices.ContainsFunc(outer, parted) {
		return false
	}
	loops := slices.Clone(outer)
	slices.SortStableFunc(loops, func(a, b Loop) int { return abs(b.From) - abs(a.From) })
	tiles := to.N / side
	for _, c := range parts(tiles, evenly(tiles, sequentialBlock/(side*to.From))) {
		p.blocksOfRows(loops, to, from, c)
	}
	p.edges(outer, to, from, side)
	return true
}

// A part of a row of tiles is so many trips over so many of them each, from one on.
type part struct{ start, trips, tiles int }

// parts are those of n tiles, so many a trip, and what is left of them.
func parts(n, tiles int) []part {
	all := []part{{0, n / tiles, tiles}, {n / tiles * tiles, 1, n % tiles}}
	return slices.DeleteFunc(all, func(c part) bool { return c.trips*c.tiles == 0 })
}

// evenly is the most of n that are done at once, up to so many, if that leaves nothing of n: what
// is left is done after all else.
func evenly(n, most int) int {
	for at := most; at >= max(most/4, min(most, leastAlong)); at-- {
		if n%at == 0 {
			return at
		}
	}
	return most
}

// follows tells whether rows are such as sequential reads: of a copy that leaves the caches, whole
// lines, one row behind the other but for an eighth of them, written to no more pages than a TLB
// holds, and of no pitch by which tiles evict themselves.
func (p *Plan) follows(to, from Loop) bool {
	_, inRegisters := p.set.tiles[p.size]
	side, row, most := line/p.size, from.N*p.size, sequentialBlock
	if from.To%fewSets == 0 {
		most /= leastAlong
	}
	return inRegisters && p.size > 1 && p.set.streams && p.written() >= longFrom &&
		to.To == p.size && from.From == p.size &&
		row%line == 0 && to.From >= row && to.From-row <= row/8 && side*to.From <= most &&
		from.N <= pagesOfStrip &&
		from.To%collide != 0 && to.From%collide != 0
}

// blocksOfRows walks blocks of rows, of which each trip of the part is one.
func (p *Plan) blocksOfRows(outer []Loop, to, from Loop, c part) {
	side := line / p.size
	along, across := Loop{c.tiles, side * to.To, side * to.From},
		Loop{from.N / side, side * from.To, side * from.From}
	s := p.tile(to, from, false, 1)
	s.Loops = slices.Concat(outer, []Loop{{c.trips, c.tiles * along.To, c.tiles * along.From},
		across, along})
	s.To, s.From, s.in = c.start*along.To, c.start*along.From, 2
	atOnce := min(c.tiles, max(1, leastLines/side))
	// of the next block for as many tiles
	lines := (atOnce*along.From + across.N*line - 1) / (across.N * line)
	s.run = func(s *Step, dst, src []byte, at, of int) {
		f := p.set.functions()
		move := f.transpose[p.size]
		if s.past(s, uintptr(unsafe.Pointer(&dst[at]))) {
			move = f.transposeStream[p.size]
		}
		asked := uintptr(unsafe.Pointer(&src[of])) + uintptr(c.tiles*along.From) // by hardware only
		for range across.N {
			for i := 0; i < c.tiles; i += atOnce {
				f.ask(asked, lines)
				asked += uintptr(lines * line)
				move(&dst[at+i*along.To], &src[of+i*along.From], min(atOnce, c.tiles-i), from.To,
					to.From, along.To, along.From, 0)
			}
			at += across.To
			of += across.From
		}
	}
	p.Steps = append(p.Steps, s)
}

// tiles does so tile by tile, each a line by a line: as many elements of each
// loop as fit one. Of the two loops the one of more tiles is walked inside, that
// of what is read if they are equal since only reads wait (or see onward).
func (p *Plan) tiles(outer []Loop, to, from Loop) {
	side := line / p.size
	onward := from.N/side < to.N/side || p.onward(outer, to, from)
	paired := 0
	if p.pairs(to, from, onward) {
		paired = to.N / (2 * side) * 2 * side
		p.strips(outer, Loop{paired, to.To, to.From}, from, onward, 2)
	}
	p.behind(paired*to.To, paired*to.From, func() {
		p.strips(outer, Loop{to.N - paired, to.To, to.From}, from, onward, 1)
	})
	p.edges(outer, to, from, side)
}

// pairs tells whether two tiles beside one another where they are written are done together, of
// what is too long for the caches: 16 rows of elements of 8 bytes are read by turns then, and two
// lines side by side are written of each column. (A Zen 4 copies 1.0 to 1.5 times as fast so, of 16
// bytes too, and half as fast by 32 rows.)
func (p *Plan) pairs(to, from Loop, onward bool) bool {
	return !onward && slices.Contains(p.set.pairs, p.size) && p.written() >= longFrom &&
		to.To == p.size && from.From == p.size &&
		to.From%collide != 0 && from.To%collide != 0
}

// strips walks tiles, so many together beside one another where they are written, in strips,
// so that what is next is known for long; the loops around are put outside of these as they are
// nested in the memory that they run along.
func (p *Plan) strips(outer []Loop, to, from Loop, onward bool, together int) {
	side := line / p.size
	t := Loop{to.N / side / together, together * side * to.To, together * side * to.From}
	f := Loop{from.N / side, side * from.To, side * from.From}
	along, across, stride := t, f, func(l Loop) int { return abs(l.To) }
	if !onward {
		along, across, stride = f, t, func(l Loop) int { return abs(l.From) }
	}
	// of the rows that tiles go down
	pitch := map[bool]int{false: abs(from.To), true: abs(to.From)}[onward]
	strip := max(leastStrip, pagesOfStrip*page/(side*max(1, min(pitch, page))))
	loops := append(slices.Clone(outer), across)
	slices.SortStableFunc(loops, func(a, b Loop) int { return stride(b) - stride(a) })
	at := slices.Index(loops, across)
	if across.N == 0 {
		return
	}
	for _, c := range parts(along.N, strip) {
		s := p.tile(to, from, onward, together)
		strips := Loop{c.trips, c.tiles * along.To, c.tiles * along.From}
		s.Loops = slices.Concat(loops[:at], []Loop{strips}, loops[at:],
			[]Loop{{c.tiles, along.To, along.From}}, s.Loops)
		s.To, s.From = c.start*along.To, c.start*along.From
		p.Steps = append(p.Steps, s)
	}
}

// fewSets is the pitch whose multiples put rows into a quarter of the sets of a first-level
// cache, or fewer. longWalk is how many bytes have to be written one beside the other by walks
// along what is written, which read a line here and there.
const fewSets, longWalk = 256, 16 * line

// onward tells whether tiles are walked along what is written although they are not more
// there: where its rows lie in few sets, tile after tile down these would be stored to the
// same. (A Zen 5 takes 10 ns for each such line, past the caches too.) Of narrow elements,
// pieces of lines are written, so that it is no better where those that are read collide, nor
// is it where another loop would come between, within the rows that are written.
func (p *Plan) onward(outer []Loop, to, from Loop) bool {
	within := func(l Loop) bool { return abs(l.To) < abs(from.To) }
	return from.To%fewSets == 0 && to.N*p.size >= longWalk && !slices.ContainsFunc(outer, within) &&
		(p.size > 2 || to.From%collide != 0)
}

// edges copies what the tiles leave at the ends of the two loops: of the rows that are
// read so many at a time as tiles have, whose last lines then stay in a cache for all of
// what is left of them.
func (p *Plan) edges(outer []Loop, to, from Loop, side int) {
	edge := func(l Loop) (start int, rest Loop) {
		start = l.N / side * side
		return start, Loop{l.N - start, l.To, l.From}
	}
	if start, rest := edge(from); rest.N > 0 {
		at, few := edge(to)
		if at > 0 {
			tiles, tile := Loop{at / side, side * to.To, side * to.From}, Loop{side, to.To, to.From}
			p.elements(start*from.To, start*from.From,
				append(slices.Clone(outer), tiles, rest, tile))
		}
		if few.N > 0 {
			p.elements(start*from.To+at*to.To, start*from.From+at*to.From,
				append(slices.Clone(outer), rest, few))
		}
	}
	if start, rest := edge(to); rest.N > 0 && from.N >= side {
		from.N -= from.N % side
		p.elements(start*to.To, start*to.From, append(slices.Clone(outer), from, rest))
	}
}

// tile is what is done at each tile: transposing it in registers, where there are vectors for it,
// or copying it element by element. Onward tells whether the next tile lies beside it in what is
// written, and together how many are done as one, of what is transposed in registers.
func (p *Plan) tile(to, from Loop, onward bool, together int) Step {
	side := line / p.size
	read, inRegisters := p.set.tiles[p.size]
	if !inRegisters || to.To != p.size || from.From != p.size {
		return Step{
			Loops: []Loop{{side, from.To, from.From}, {side, to.To, to.From}},
			Body:  element(p.size), run: copyElements(p.size), in: 2,
		}
	}
	past := func(s *Step, at uintptr) bool {
		return p.written() >= p.tilesFrom(onward) && s.aligned(at, from.To)
	}
	var body []Access
	for i := range together {
		body = p.tileBody(body, read, i*side, to.From, from.To)
	}
	return Step{Body: body, in: 1, past: past, run: func(s *Step, dst, src []byte, at, of int) {
		tiles, f := s.Loops[len(s.Loops)-1], p.set.functions()
		move, stream := f.transpose, f.transposeStream
		if together > 1 {
			move, stream = f.pairs, f.pairsStream
		}
		if s.past(s, uintptr(unsafe.Pointer(&dst[at]))) {
			move = stream
		}
		move[p.size](&dst[at], &src[of], tiles.N, from.To, to.From, tiles.To, tiles.From,
			p.set.Tuning().Ahead)
	}}
}

// tileBody adds what transposing a tile in registers touches: part after part of
// the rows that are read, from one on, srcPitch bytes apart, become lines that are written,
// dstPitch bytes apart, whole or in pieces of as many elements as rows are read.
func (p *Plan) tileBody(body []Access, read tile, from, srcPitch, dstPitch int) []Access {
	side, piece := line/p.size, read.high*p.size
	for part := 0; part < line; part += read.part {
		for row := from; row < from+side; row += read.high {
			for i := range read.high {
				body = append(body, Access{Offset: (row+i)*srcPitch + part, Width: read.part})
			}
			for j := range read.part / p.size {
				for at := 0; at < piece; at += p.set.width {
					body = append(body, Access{Write: true, Offset: (part/p.size+j)*dstPitch +
						row*p.size + at, Width: p.set.width})
				}
			}
		}
	}
	return body
}

// tilesFrom is the number of bytes from which on tiles are written past the caches:
// as runs are, if they are written onward in so few rows that hardware foresees them.
func (p *Plan) tilesFrom(onward bool) int {
	switch t := p.set.Tuning(); {
	case p.size <= 2:
		return t.Narrow
	case onward:
		return t.Runs
	default:
		return t.Tiles
	}
}

// written is the number of bytes that the plan writes.
func (p *Plan) written() int { return p.size * trips(p.loops) }

// aligned tells whether the step writes whole lines only, from that address on,
// where the rows of a tile lie pitch bytes apart.
func (s *Step) aligned(to uintptr, pitch int) bool {
	off := to | uintptr(pitch)
	for _, l := range s.Loops {
		off |= uintptr(l.To)
	}
	return off%line == 0
}
