package kernel

import (
	"cmp"
	"slices"
	"unsafe"
)

const (
	// mostPanel bounds the bytes of a panel, so that it and its buffer stay in the
	// nearest levels, and its accesses few.
	mostPanel = 16 << 10
	// runWanted is how many bytes a panel reads and writes side by side, where it can:
	// two lines, as then the next panel's are no more than are fetched at a time while
	// one is written, and its rows no more than hardware follows.
	runWanted = 2 * line
	// shortRow is how many bytes a row that is read has, where hardware foresees it.
	shortRow = 4 * line
	// mostBeside is how many times what tiles leave beside them is less than all, where
	// they do better than panels.
	mostBeside = 32
)

// A small tile is what panels are transposed by: rows of so many bytes.
type smallTile struct{ rows, bytes int }

// body is what transposing a tile of elements of size bytes touches: its rows, srcPitch
// bytes apart, and then its columns, dstPitch bytes apart where they are written.
func (t smallTile) body(size, srcPitch, dstPitch int) (all []Access) {
	for row := range t.rows {
		all = append(all, Access{Offset: row * srcPitch, Width: t.bytes})
	}
	for column := range t.bytes / size {
		all = append(all, Access{Write: true, Offset: column * dstPitch, Width: t.rows * size})
	}
	return all
}

// A panel says how a transposed copy goes through a buffer: all of the loop along
// which what is written lies closest, and all or a part of the one along which what
// is read does. So the ends of both, which are no whole tiles, are done with the
// rest, and rows that are no whole lines become lines that are whole. Where a side
// has little that lies side by side, loops that go on where it ends lengthen it.
type panel struct {
	elem     int
	tile     smallTile
	to, from Loop // of elements; from starts at its first element here
	down     Loop // goes on where to ends, in what is written; it may do so in what is read where from ends
	right    Loop // goes on where from ends, in what is read
	pitch    int  // of rows in the buffer
	rows     int  // that are written apart of each trip of right
	width    int  // bytes of each
	patches  []patch
}

// A patch is what one call transposes of a panel: small tiles, in strips one below
// the other, from these bytes of the panel on to those of the buffer.
type patch struct{ from, to, strips, tiles int }

// panels plans a transposed copy by panels, and tells whether it did: if lines, only
// where all that is written is whole lines.
func (p *Plan) panels(outer []Loop, to, from Loop, lines bool) bool {
	tile, ok := p.set.panels[p.size]
	columns := tile.bytes / max(1, p.size)
	if !ok || to.To != p.size || from.From != p.size || to.N < tile.rows || from.N < columns || !p.panelled(outer, to, from, lines) {
		return false
	}
	pieces := p.pieces(to, from, columns)
	to.N /= pieces.N
	n := p.share(to, from, columns)
	if n == 0 {
		return false
	}
	whole := from.N / n * n
	before, aligned := *p, true
	add := func(start, n, trips int) {
		b := &panel{elem: p.size, tile: tile, to: to, from: Loop{n, from.To, p.size}}
		loops := append(b.grow(outer, from.N), pieces, Loop{trips, n * from.To, n * p.size})
		s := p.panelStep(b, loops, start)
		aligned = aligned && s.aligned(uintptr(s.To), b.apart())
		p.Steps = append(p.Steps, s)
	}
	add(0, n, whole/n)
	if lines && !aligned {
		*p = before
		return false
	}
	if whole < from.N {
		add(whole, from.N-whole, 1)
	}
	return true
}

// panelled tells whether panels are better than tiles: where these leave much; read short
// rows, which hardware does not foresee, and a loop goes on where these end; or write what
// is no whole lines, or whose pages they left for others when what lies beside it comes,
// since they walk loops as these are nested in what is read.
func (p *Plan) panelled(outer []Loop, to, from Loop, lines bool) bool {
	side := line / p.size
	beside := to.N*from.N - to.N/side*side*(from.N/side*side)
	goesOn := func(l Loop) bool { return l.From == from.N*from.From }
	late := func(l Loop) bool {
		return l.To == to.N*to.To && slices.ContainsFunc(outer, func(inner Loop) bool { return abs(inner.From) < abs(l.From) })
	}
	return beside*mostBeside > to.N*from.N ||
		from.N*p.size < shortRow && slices.ContainsFunc(outer, goesOn) ||
		lines && (slices.ContainsFunc(outer, late) || from.To%line != 0 && p.written() >= longFrom)
}

// pieces is the loop over parts of the rows that are written, of which a panel has one:
// of whole lines, where rows lie apart and a panel could hold them; else it has one trip.
func (p *Plan) pieces(to, from Loop, columns int) Loop {
	run := to.N * p.size
	if from.To == run || columns*run > mostPanel {
		return Loop{N: 1}
	}
	for bytes := runWanted; bytes < run; bytes += line {
		if run%bytes == 0 {
			return Loop{run / bytes, bytes, bytes / p.size * to.From}
		}
	}
	return Loop{N: 1}
}

// share is how many elements of from a panel has: all, or a number that leaves none or
// enough for a tile, if possible a line where it is read, and whole lines where all is
// written, and so that none are left; the most of those that are as good. It is 0 for none.
func (p *Plan) share(to, from Loop, columns int) int {
	side := line / p.size
	run, lines := to.N*p.size, 1 // how many runs are whole lines
	for lines*run%line > 0 {
		lines *= 2
	}
	apart := from.To != run // then other loops make runs longer
	if apart {
		run *= lines
	}
	most := mostPanel / run
	if from.N <= most && (!apart || from.N*p.size <= 2*runWanted) {
		return from.N
	}
	best, found := 0, 0
	for n := columns; n <= min(most, 2*runWanted/p.size); n++ {
		rest := from.N % n
		if rest > 0 && rest < columns {
			continue
		}
		good := 1
		if n >= side {
			good += 8
		}
		if rest == 0 {
			good += 2
		}
		if !apart && n%lines == 0 {
			good += 4
		}
		if apart && n%side == 0 {
			good++
		}
		if good >= best {
			best, found = good, n
		}
	}
	return found
}

// grow lengthens the sides of a panel by outer loops, of which it returns what is
// left.
func (b *panel) grow(outer []Loop, all int) []Loop {
	left := slices.Clone(outer)
	b.down, b.right = Loop{N: 1}, Loop{N: 1}
	run := b.to.N * b.elem
	// take has a panel have n trips of a loop.
	take := func(goesOn func(Loop) bool, enough func(n int) bool) Loop {
		i := slices.IndexFunc(left, goesOn)
		if i < 0 {
			return Loop{N: 1}
		}
		l := left[i]
		n := 1
		for d := 1; d <= l.N && d*b.bytes() <= mostPanel; d++ {
			if n = d; l.N%d == 0 && enough(d) {
				break
			}
		}
		for l.N%n != 0 {
			n--
		}
		left[i] = Loop{l.N / n, n * l.To, n * l.From}
		l.N = n
		return l
	}
	if b.from.To != run {
		b.down = take(func(l Loop) bool { return l.To == run }, func(n int) bool { return n*run%line == 0 && n*run >= runWanted })
		run *= b.down.N
		b.rows, b.width, b.pitch = b.from.N, run, (run+line-1)/line*line+line
	} else {
		b.rows, b.width, b.pitch = 1, b.from.N*run, run
	}
	if b.from.N == all {
		read := b.from.N * b.elem
		b.right = take(func(l Loop) bool { return l.From == read }, func(n int) bool { return n*read >= runWanted })
	}
	return left
}

// bytes are those of a panel.
func (b *panel) bytes() int { return b.to.N * b.from.N * b.down.N * b.right.N * b.elem }

// bufferPart is what each trip of right has of the buffer.
func (b *panel) bufferPart() int { return (b.from.N*b.pitch + line - 1) / line * line }

// panelStep is one panel after the other, from element start of from on.
func (p *Plan) panelStep(b *panel, loops []Loop, start int) Step {
	loops = slices.DeleteFunc(loops, func(l Loop) bool { return l.N == 1 })
	slices.SortStableFunc(loops, func(x, y Loop) int {
		return cmp.Or(min(abs(y.To), abs(y.From))-min(abs(x.To), abs(x.From)), abs(y.From)-abs(x.From))
	})
	loops = append([]Loop{{N: 1}}, loops...)
	b.cut()
	p.Buffers = max(p.Buffers, b.right.N*b.bufferPart())
	s := Step{Loops: loops, To: start * b.from.To, From: start * b.elem, Body: b.body(len(loops))}
	s.past = func(s *Step, at uintptr) bool {
		return p.written() >= p.set.Tuning().Blocks && s.aligned(at, b.apart())
	}
	s.in = 1
	s.run = func(s *Step, dst, src []byte, at, of int) {
		f, inner := p.set.functions(), s.Loops[len(s.Loops)-1]
		gather, move := f.gather[b.elem], f.copy
		if s.past(s, uintptr(unsafe.Pointer(&dst[at]))) {
			move = f.stream
		}
		for range inner.N {
			b.fill(gather, src, of, p.buffers, inner.From)
			b.drain(move, dst, at, p.buffers)
			at += inner.To
			of += inner.From
		}
	}
	return s
}

// apart has the bits of all distances within what a panel writes.
func (b *panel) apart() int {
	if b.rows == 1 {
		return b.width | b.right.To
	}
	return b.width | b.right.To | b.from.To
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

// cut makes the patches.
func (b *panel) cut() {
	for right := range b.right.N {
		for down := range b.down.N {
			from := right*b.right.From + down*b.down.From
			buffer := right*b.bufferPart() + down*b.to.N*b.elem
			for _, row := range covered(b.to.N, b.tile.rows) {
				for _, column := range covered(b.from.N, b.tile.bytes/b.elem) {
					b.patches = append(b.patches, patch{
						from + row[0]*b.to.From + column[0]*b.elem, buffer + column[0]*b.pitch + row[0]*b.elem, row[1], column[1],
					})
				}
			}
		}
	}
}

// fill transposes a panel to the buffer.
func (b *panel) fill(gather gatherer, src []byte, of int, buffer []byte, ahead int) {
	for _, p := range b.patches {
		gather(&buffer[p.to], &src[of+p.from], p.strips, p.tiles, b.pitch, b.to.From, ahead)
	}
}

// drain writes what is in the buffer: whole lines of all rows, and then what is left
// of them.
func (b *panel) drain(move func(dst, src *byte, groups, rows, dstPitch, srcPitch int), dst []byte, at int, buffer []byte) {
	whole := b.width / line * line
	for right := range b.right.N {
		to, from := at+right*b.right.To, right*b.bufferPart()
		if whole > 0 {
			move(&dst[to], &buffer[from], whole/line, b.rows, b.from.To, b.pitch)
		}
		if whole < b.width {
			copyElements(b.elem)(&Step{Loops: []Loop{{b.rows, b.from.To, b.pitch}, {(b.width - whole) / b.elem, b.elem, b.elem}}}, dst, buffer, to+whole, from+whole)
		}
	}
}

// body is what fill and drain touch, within so many loops.
func (b *panel) body(loops int) (all []Access) {
	still := make([]int, loops) // of a buffer, which is the same for all panels
	for _, p := range b.patches {
		for i := range p.strips * p.tiles {
			strip, tile := i/p.tiles, i%p.tiles
			for _, a := range b.tile.body(b.elem, b.to.From, b.pitch) {
				if a.Write {
					a.Offset, a.Strides = a.Offset+p.to+tile*b.tile.bytes/b.elem*b.pitch+strip*b.tile.rows*b.elem, still
				} else {
					a.Offset += p.from + tile*b.tile.bytes + strip*b.tile.rows*b.to.From
				}
				all = append(all, a)
			}
		}
	}
	for right := range b.right.N {
		for _, part := range [][3]int{{0, b.width / line * line, 32}, {b.width / line * line, b.width, b.elem}} {
			for row := range b.rows {
				for at := part[0]; at < part[1]; at += part[2] {
					all = append(all, Access{Offset: right*b.bufferPart() + row*b.pitch + at, Width: part[2], Strides: still},
						Access{Write: true, Offset: right*b.right.To + row*b.from.To + at, Width: part[2]})
				}
			}
		}
	}
	return all
}
