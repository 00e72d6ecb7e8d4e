package kernel

import (
	"slices"
	"unsafe"
)

const (
	// blockWidth is the bytes of a row of a block where it is written.
	blockWidth = 4 * line

	// A block is so many lines wide where it is read: short ones of which two
	// stay in a first-level cache, or, since prefetchers like long rows, as many
	// as leave two in half of a second-level cache.
	shortBlock, longBlock = 4, 32

	// mostRuns bounds the steps of a plan.
	mostRuns = 1 << 10
)

// collide is the pitch whose multiples put a line of every row into one set of
// a first-level cache, which has too few ways for a tile.
var collide = 4096

// longFrom is the number of bytes from which on blocks are long: a copy of as
// many leaves the caches in any case.
var longFrom = 16 << 20

// A blockMover transposes a block from src to the buffer fill, and copies the
// block in the buffer drain to dst. Pieces of buffers lie bufferPitch apart.
type blockMover = func(dst, drain, src, fill *byte, lines, dstPitch, srcPitch, bufferPitch int)

// blocks plans a transposed copy through buffers, and tells whether it did:
// where the rows that are read or those that are written collide, the lines of
// a tile evict each other. Blocks are blockWidth bytes high where they are read,
// and as wide where they are written. They are copied in runs along the loop by
// which they are closest, so that those that share pages follow each other;
// what whole blocks leave at the ends comes last.
func (p *Plan) blocks(outer []Loop, to, from Loop) bool {
	side, high := line/p.size, blockWidth/p.size
	if !slices.Contains(p.set.blocks, p.size) || to.To != p.size || from.From != p.size || to.From%collide != 0 && from.To%collide != 0 {
		return false
	}
	lines := shortBlock
	if p.written() >= longFrom {
		lines = longBlock
	}
	lines = min(lines, from.N/side)
	rows, columns := to.N/high, from.N/side/max(lines, 1)
	if rows*columns == 0 {
		return false
	}
	loops := append(slices.Clone(outer), Loop{rows, blockWidth, high * to.From}, Loop{columns, lines * side * from.To, lines * line})
	slices.SortStableFunc(loops, func(a, b Loop) int { return b.span() - a.span() })
	loops = append([]Loop{{N: 1}}, slices.DeleteFunc(loops, func(l Loop) bool { return l.N == 1 })...)
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
	p.behind(rows*to.To, rows*to.From, func() { p.transposed(outer, Loop{to.N - rows, to.To, to.From}, from) })
	return true
}

// span is the larger of a loop's strides.
func (l Loop) span() int { return max(abs(l.To), abs(l.From)) }

// trips is how often loops run what is in them.
func trips(loops []Loop) int {
	n := 1
	for _, l := range loops {
		n *= l.N
	}
	return n
}

// each calls f for every index of the loops.
func each(loops []Loop, to, from int, f func(to, from int)) {
	if len(loops) == 0 {
		f(to, from)
		return
	}
	for range loops[0].N {
		each(loops[1:], to, from, f)
		to += loops[0].To
		from += loops[0].From
	}
}

// behind shifts the steps that plan adds.
func (p *Plan) behind(to, from int, plan func()) {
	n := len(p.Steps)
	plan()
	shift(p.Steps[n:], to, from)
}

// blockRun copies blocks along one loop: it reads the first into a buffer, then
// each by turns with writing the one before, and writes the last. The first of
// these steps runs all of them.
func (p *Plan) blockRun(run Loop, lines int, to, from Loop, at, of int) {
	pieces, across := Loop{blockWidth / p.size / 8, 2 * lines * from.To, 8 * to.From}, Loop{lines, 2 * from.To, line}
	first := Step{Loops: []Loop{{pieces.N, 0, pieces.From}, {across.N, 0, across.From}}, To: at, From: of, in: 2}
	both := Step{Loops: []Loop{{run.N - 1, run.To, run.From}, pieces, across}, To: at, From: of + run.From, in: 3}
	last := Step{Loops: []Loop{{lines * line / p.size, from.To, 0}}, To: at + (run.N-1)*run.To, From: of, in: 1}
	for half := range 2 {
		for i := range 8 { // rows
			first.Body = append(first.Body, Access{false, i*to.From + half*line/2, line / 2})
		}
		both.Body = append(both.Body, first.Body[8*half:]...)
		for at := 0; at < blockWidth; at += line / 2 {
			both.Body = append(both.Body, Access{true, half*from.To + at, line / 2})
		}
	}
	last.Body = both.Body[8:16]
	first.past = func(_ *Step, at uintptr) bool {
		return p.written() >= streamFrom && (at|uintptr(from.To)|uintptr(run.To))%line == 0
	}
	first.run = func(s *Step, dst, src []byte, at, of int) {
		past := s.past(s, uintptr(unsafe.Pointer(&dst[at])))
		p.moveBlocks(dst, src, run, lines, from.To, to.From, at, of, past)
	}
	both.run, last.run = nothing, nothing
	p.Steps = append(p.Steps, first)
	if run.N > 1 {
		p.Steps = append(p.Steps, both)
	}
	p.Steps = append(p.Steps, last)
}

// nothing is left to do for a step that another runs.
func nothing(*Step, []byte, []byte, int, int) {}

// moveBlocks runs the steps of blockRun. What it has no block for, the first to
// drain and the last to fill, goes from buffer to buffer.
func (p *Plan) moveBlocks(dst, src []byte, run Loop, lines, dstPitch, srcPitch, at, of int, past bool) {
	pitch := lines*2*blockWidth + line // of pieces, so that these do not collide
	size := blockWidth / p.size / 8 * pitch
	if n := 2*size + blockWidth + line; len(p.buffers) < n {
		p.buffers = make([]byte, n)
	}
	buffers := p.buffers[-uintptr(unsafe.Pointer(unsafe.SliceData(p.buffers)))%line:]
	fill, drain, nowhere := &buffers[0], &buffers[size], &buffers[2*size]

	f := p.set.functions()
	move := f.block[p.size]
	move(nowhere, drain, &src[of], fill, lines, 0, srcPitch, pitch)
	if past {
		move = f.blockStream[p.size]
	}
	for range run.N - 1 {
		fill, drain = drain, fill
		of += run.From
		move(&dst[at], drain, &src[of], fill, lines, dstPitch, srcPitch, pitch)
		at += run.To
	}
	move(&dst[at], fill, fill, drain, lines, dstPitch, 0, pitch)
}
