package kernel

import (
	"slices"
	"unsafe"
)

// A strip is the tiles that are walked before the adjacent ones. Longer strips reach more pages
// than a TLB holds; shorter ones prefetch too little.
const leastStrip, pagesOfStrip, page = 64, 1024, 4096

// transposed copies elements that are adjacent along one loop in the output and another in the
// input.
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
	// sequentialBlock is the bytes of rows in a block. A second-level cache holds two blocks.
	sequentialBlock = 128 << 10
	// leastAlong is the least tiles of a block along the output, if its rows are in few sets.
	leastAlong = 4
	// leastLines is the lines to prefetch at once, unless a tile has more.
	leastLines = 16
)

// sequential plans a copy of rows that are short and follow each other, and reports whether it did.
// Its tiles read the rows in the order of addresses. A block of sequentialBlock bytes is walked
// along the output, strip after strip, while the lines of the next block are prefetched in order.
//
// On a Zen 4 this is 1.1 to 2.5 times as fast as tiles or panels for elements of 2 to 8 bytes. It
// is equally fast for 1 and 16. In the caches, tiles along the output take 0.6 to 0.8 of its time.
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

type part struct{ start, trips, tiles int }

func parts(n, tiles int) []part {
	all := []part{{0, n / tiles, tiles}, {n / tiles * tiles, 1, n % tiles}}
	return slices.DeleteFunc(all, func(c part) bool { return c.trips*c.tiles == 0 })
}

// evenly returns the largest suitable divisor of n up to most, or most: the rest is done after all
// else.
func evenly(n, most int) int {
	for at := most; at >= max(most/4, min(most, leastAlong)); at-- {
		if n%at == 0 {
			return at
		}
	}
	return most
}

// follows reports whether sequential pays off. The copy leaves the caches, in whole lines. Gaps
// between rows are at most an eighth of a row. The output has no more pages than a TLB holds, and
// tiles do not thrash.
func (p *Plan) follows(to, from Loop) bool {
	_, inRegisters := p.set.tiles[p.size]
	side, row, most := line/p.size, from.N*p.size, sequentialBlock
	if from.To%fewSets == 0 {
		most /= leastAlong
	}
	return inRegisters && p.size > 1 && p.set.amd64 && p.written() >= longFrom &&
		to.To == p.size && from.From == p.size &&
		row%line == 0 && to.From >= row && to.From-row <= row/8 && side*to.From <= most &&
		from.N <= pagesOfStrip &&
		from.To%collide != 0 && to.From%collide != 0
}

func (p *Plan) blocksOfRows(outer []Loop, to, from Loop, c part) {
	side := line / p.size
	along, across := Loop{c.tiles, side * to.To, side * to.From},
		Loop{from.N / side, side * from.To, side * from.From}
	s := p.tile(to, from, false, 1)
	s.Loops = slices.Concat(outer, []Loop{{c.trips, c.tiles * along.To, c.tiles * along.From},
		across, along})
	s.To, s.From, s.in = c.start*along.To, c.start*along.From, 2
	atOnce := min(c.tiles, max(1, leastLines/side))
	// of the next block, with each move
	lines := (atOnce*along.From + across.N*line - 1) / (across.N * line)
	s.run = func(s *Step, dst, src []byte, at, of int) {
		f := p.set.functions()
		past := s.stores(&dst[at])
		asked := uintptr(unsafe.Pointer(&src[of])) + uintptr(c.tiles*along.From) // only prefetched
		for range across.N {
			for i := 0; i < c.tiles; i += atOnce {
				f.ask(asked, lines)
				asked += uintptr(lines * line)
				f.transpose(&dst[at+i*along.To], &src[of+i*along.From], min(atOnce, c.tiles-i),
					from.To, to.From, along.To, along.From, 0, p.size, past)
			}
			at += across.To
			of += across.From
		}
	}
	p.Steps = append(p.Steps, s)
}

// tiles walks tiles of a line by a line. The inner loop has more tiles or, if they are equal, is
// the input's, because only reads wait (or see onward).
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

// pairs reports whether two adjacent tiles of the output are done together, in long copies. Then 16
// rows of 8-byte elements are read alternately, and two adjacent lines of each column are written.
// On a Zen 4 this is 1.0 to 1.5 times as fast, also for 16 bytes, but half as fast with 32 rows.
func (p *Plan) pairs(to, from Loop, onward bool) bool {
	return !onward && p.set.amd64 && p.size >= 8 && p.written() >= longFrom &&
		to.To == p.size && from.From == p.size &&
		to.From%collide != 0 && from.To%collide != 0
}

// strips walks tiles in strips, so that prefetching foresees them for long. It does together tiles
// at once. The outer loops are nested in the order of the memory along which strips run.
func (p *Plan) strips(outer []Loop, to, from Loop, onward bool, together int) {
	side := line / p.size
	t := Loop{to.N / side / together, together * side * to.To, together * side * to.From}
	f := Loop{from.N / side, side * from.To, side * from.From}
	along, across, stride := t, f, func(l Loop) int { return abs(l.To) }
	if !onward {
		along, across, stride = f, t, func(l Loop) int { return abs(l.From) }
	}
	// between rows down which tiles go
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

// fewSets is the pitch whose multiples map rows to a quarter or less of a first-level cache's sets.
// longWalk is the least contiguous output bytes of walks along the output, which read scattered
// lines.
const fewSets, longWalk = 256, 16 * line

// onward reports whether tiles are walked along the output although it has no more of them. It does
// so if the output's rows lie in few sets, where tiles down the rows would conflict: a Zen 5 takes
// 10 ns for each such line, also past the caches. Tiles of narrow elements write pieces of lines,
// so this gains nothing if the input's rows collide. Nor does it gain if another loop comes
// between, within the output's rows.
func (p *Plan) onward(outer []Loop, to, from Loop) bool {
	within := func(l Loop) bool { return abs(l.To) < abs(from.To) }
	return from.To%fewSets == 0 && to.N*p.size >= longWalk && !slices.ContainsFunc(outer, within) &&
		(p.size > 2 || to.From%collide != 0)
}

// edges copies what tiles leave at the ends of the two loops. It reads only the rows of a tile at a
// time, whose last lines then stay in a cache.
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

// tile returns the step for a tile, transposed in registers or copied element by element. Onward
// means that the next tile is adjacent in the output.
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
		move := f.transpose
		if together > 1 {
			move = f.pairs
		}
		move(&dst[at], &src[of], tiles.N, from.To, to.From, tiles.To, tiles.From,
			p.set.Tuning().Ahead, p.size, s.stores(&dst[at]))
	}}
}

// tileBody adds the accesses of transposing a tile in registers, from input row from. Part after
// part of the rows, of read bytes, becomes output lines, whole or in pieces.
func (p *Plan) tileBody(body []Access, read, from, srcPitch, dstPitch int) []Access {
	side, high := line/p.size, p.set.piece/p.size
	for part := 0; part < line; part += read {
		for row := from; row < from+side; row += high {
			for i := range high {
				body = append(body, Access{Offset: (row+i)*srcPitch + part, Width: read})
			}
			for j := range read / p.size {
				for at := 0; at < p.set.piece; at += p.set.width {
					body = append(body, Access{Write: true, Offset: (part/p.size+j)*dstPitch +
						row*p.size + at, Width: p.set.width})
				}
			}
		}
	}
	return body
}

// tilesFrom is the least bytes of a copy whose tiles bypass the caches. If onward, tiles write so
// few rows that hardware foresees them, as runs.
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

func (p *Plan) written() int { return p.size * trips(p.loops) }

// aligned reports whether the step writes only whole lines, from an address and with a pitch of
// rows.
func (s *Step) aligned(to uintptr, pitch int) bool {
	off := to | uintptr(pitch)
	for _, l := range s.Loops {
		off |= uintptr(l.To)
	}
	return off%line == 0
}
