package kernel

import "slices"

const (
	// blockWidth is the bytes of a row of a block in the output.
	blockWidth = 4 * line

	// The lines of a row of a block in the input. Two short blocks of 4-byte elements fit a
	// first-level cache. Two long ones fill half of a second-level cache, because prefetchers favor
	// long rows.
	shortBlock, narrowBlock, longBlock = 4, 16, 32

	mostRuns = 1 << 10
)

// collide is the pitch whose multiples map a line of every row to one set of a first-level cache,
// which then thrashes.
var collide = 4096

// longFrom is the least bytes written for long blocks. Such a copy leaves the caches anyway.
var longFrom = 16 << 20

// A blockMover transposes a block from src to the buffer fill, and copies the block in the buffer
// drain to dst.
type blockMover = func(dst, drain, src, fill *byte, lines, dstPitch, srcPitch, bufferPitch, size,
	past int)

// blocks plans a transposed copy through buffers, and reports whether it did: only if the rows of
// the input or the output collide. Blocks are blockWidth bytes high in the input, and blockWidth
// bytes wide in the output. Runs of blocks follow the loop of the smallest strides, so that blocks
// on the same pages follow each other. Partial blocks come last.
func (p *Plan) blocks(outer []Loop, to, from Loop) bool {
	side, high := line/p.size, blockWidth/p.size
	if !slices.Contains(p.set.blocks, p.size) || to.To != p.size || from.From != p.size ||
		to.From%collide != 0 && from.To%collide != 0 {
		return false
	}
	lines := shortBlock
	if p.written() >= longFrom {
		lines = longBlock
		if p.size <= 2 {
			lines = narrowBlock
		}
	}
	lines = min(lines, from.N/side)
	rows, columns := to.N/high, from.N/side/max(lines, 1)
	if rows*columns == 0 {
		return false
	}
	loops := append(slices.Clone(outer), Loop{rows, blockWidth, high * to.From},
		Loop{columns, lines * side * from.To, lines * line})
	slices.SortStableFunc(loops, func(a, b Loop) int { return b.span() - a.span() })
	loops = append([]Loop{{N: 1}}, slices.DeleteFunc(loops, func(l Loop) bool {
		return l.N == 1
	})...)
	run := loops[len(loops)-1]
	if trips(loops)/run.N > mostRuns {
		return false
	}
	each(loops[:len(loops)-1], 0, 0, func(at, of int) { p.blockRun(run, lines, to, from, at, of) })

	rows *= high
	columns *= lines * side
	p.behind(columns*from.To, columns*from.From, func() {
		p.transposed(outer, Loop{rows, to.To, to.From}, Loop{from.N - columns, from.To, from.From})
	})
	p.behind(rows*to.To, rows*to.From, func() {
		p.transposed(outer, Loop{to.N - rows, to.To, to.From}, from)
	})
	return true
}

func (l Loop) span() int { return max(abs(l.To), abs(l.From)) }

func trips(loops []Loop) int {
	n := 1
	for _, l := range loops {
		n *= l.N
	}
	return n
}

func (p *Plan) behind(to, from int, plan func()) {
	n := len(p.Steps)
	plan()
	shift(p.Steps[n:], to, from)
}

// blockRun copies the blocks along one loop: it alternates between reading a block and writing the
// previous one. The run of its first step does all its steps. One function fills and drains, so the
// first call drains to scratch memory, and the last one fills a buffer.
func (p *Plan) blockRun(run Loop, lines int, to, from Loop, at, of int) {
	b := p.block(lines, to, from)
	p.Buffers = max(p.Buffers, 2*b.size+blockWidth)
	across := []Loop{{blockWidth / p.size / 8, 2 * lines * from.To, 8 * to.From},
		{lines, 2 * from.To, line}}
	add := func(s Step, turns []Loop, body []Access) {
		s.Loops = slices.Concat(turns, across)
		s.Body, s.in = body, len(s.Loops)
		p.Steps = append(p.Steps, s)
	}
	add(Step{To: at, From: of, run: func(s *Step, dst, src []byte, at, of int) {
		b.move(p.set.functions().block, dst, src, p.buffers, run, at, of, s.stores(&dst[at]))
	}, past: func(_ *Step, at uintptr) bool {
		return p.written() >= p.set.Tuning().Blocks &&
			(at|uintptr(from.To)|uintptr(run.To))%line == 0
	}}, nil, b.body(b.rows(), b.piece(0), b.drained(1), b.nowhere()))

	// Buffers are swapped from each block to the next.
	turns := run.N - 1
	if turns > 1 {
		add(Step{To: at, From: of + run.From, run: nothing},
			[]Loop{{turns / 2, 2 * run.To, 2 * run.From}, {2, run.To, run.From}},
			b.body(b.rows(), turning(b.piece(1), -b.size),
				turning(b.drained(0), b.size), b.lines()))
	}
	if turns%2 == 1 {
		add(Step{To: at + (turns-1)*run.To, From: of + turns*run.From, run: nothing}, nil,
			b.body(b.rows(), b.piece(1), b.drained(0), b.lines()))
	}
	add(Step{To: at + turns*run.To, From: of, run: nothing}, nil,
		b.body(b.again(turns%2), b.piece(run.N%2), b.drained(turns%2), b.lines()))
}

func nothing(*Step, []byte, []byte, int, int) {}

// A block describes how blocks go through two buffers. A buffer consists of pieces, each of eight
// rows, which do not collide.
type block struct {
	elem               int // bytes of an element
	linesRead          int // of a row
	dstPitch, srcPitch int
	pitch              int // between pieces
	size               int // of a buffer; two are adjacent
}

func (p *Plan) block(lines int, to, from Loop) block {
	pitch := lines*2*blockWidth + line
	return block{p.size, lines, from.To, to.From, pitch, blockWidth / p.size / 8 * pitch}
}

// half is the unit in which reads and writes alternate: half a line of eight rows. The functions
// below return its accesses, for the first line of the first piece.
const half = line / 2

// body is the accesses for a line of eight rows, one half after the other: read becomes piece, and
// drained becomes written.
func (b block) body(read, piece, drained, written func(side int) []Access) []Access {
	var body []Access
	for side := range 2 {
		for _, part := range []func(int) []Access{read, piece, drained, written} {
			body = append(body, part(side)...)
		}
	}
	return body
}

func eight(access func(i int) Access) []Access {
	all := make([]Access, 8)
	for i := range all {
		all[i] = access(i)
		all[i].Width = half
	}
	return all
}

func (b block) rows() func(side int) []Access {
	return func(side int) []Access {
		return eight(func(i int) Access { return Access{Offset: i*b.srcPitch + side*half} })
	}
}

// again reads a buffer, as rows at the same place.
func (b block) again(buffer int) func(side int) []Access {
	return func(side int) []Access {
		return eight(func(int) Access {
			return Access{Offset: buffer*b.size + side*half, Strides: []int{0, line}}
		})
	}
}

// piece writes columns of eight rows to a buffer; of 8-byte elements, four rows and then the other
// four.
func (b block) piece(buffer int) func(side int) []Access {
	return func(side int) []Access {
		return eight(func(i int) Access {
			at := i * half
			if b.elem == 8 {
				at = i%4*line + i/4*half
			}
			return Access{Write: true, Offset: buffer*b.size + side*blockWidth + at,
				Strides: []int{b.pitch, 2 * blockWidth}}
		})
	}
}

// drained reads a row of the block in a buffer, a part of each piece.
func (b block) drained(buffer int) func(side int) []Access {
	part := 8 * b.elem // of a piece
	width := min(part, half)
	return func(side int) (all []Access) {
		for at := 0; at < blockWidth; at += width {
			all = append(all, Access{
				Offset: buffer*b.size + side*part + at/part*b.pitch + at%part, Width: width,
				Strides: []int{b.linesRead * 2 * part, 2 * part},
			})
		}
		return all
	}
}

func (b block) lines() func(side int) []Access {
	return func(side int) []Access {
		return eight(func(i int) Access {
			return Access{Write: true, Offset: side*b.dstPitch + i*half}
		})
	}
}

// nowhere writes to scratch memory, if no block is drained.
func (b block) nowhere() func(side int) []Access {
	return func(int) []Access {
		return eight(func(i int) Access {
			return Access{Write: true, Offset: 2*b.size + i*half, Strides: []int{0, 0}}
		})
	}
}

// turning adds loops over pairs of blocks, and over the blocks of a pair, which use alternate
// buffers.
func turning(accesses func(side int) []Access, on int) func(side int) []Access {
	return func(side int) []Access {
		all := accesses(side)
		for i := range all {
			all[i].Strides = append([]int{0, on}, all[i].Strides...)
		}
		return all
	}
}

// move runs the steps of blockRun. The first call reads only.
func (b block) move(next blockMover, dst, src, buffers []byte, run Loop, at, of, past int) {
	fill, drain, nowhere := &buffers[0], &buffers[b.size], &buffers[2*b.size]
	next(nowhere, drain, &src[of], fill, b.linesRead, 0, b.srcPitch, b.pitch, b.elem, 0)
	for range run.N - 1 {
		fill, drain = drain, fill
		of += run.From
		next(&dst[at], drain, &src[of], fill, b.linesRead, b.dstPitch, b.srcPitch, b.pitch, b.elem,
			past)
		at += run.To
	}
	next(&dst[at], fill, fill, drain, b.linesRead, b.dstPitch, 0, b.pitch, b.elem, past)
}
