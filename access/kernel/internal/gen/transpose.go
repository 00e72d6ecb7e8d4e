package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const transposer = "func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead, size, " +
	"past int)"

// transpose makes a function that transposes n square tiles, a cache line wide. Each line is read
// whole, or in four quarters soon after each other, and written whole.
func transpose(l level) {
	function("transpose"+l.name, transposer, "transposes n tiles, which it reads and writes once: "+
		"64 B a row, as many rows as that has elements. It asks for lines that many tiles ahead.")
	var halves Mem
	if l.width == 32 {
		halves = AllocLocal(8 * 32)
	}
	each("size", []int{1, 2, 4, 8, 16}, func(size int) {
		stores(func(past bool) {
			t, n := transposed(past)
			t.halves = halves
			label("tile")
			l.tile(t, size)
			ADDQ(t.dstStep, t.dst)
			ADDQ(t.srcStep, t.src)
			DECQ(n)
			JNZ(ref("tile"))
			end()
		})
	})
}

// transposePairs makes a function for pairs of tiles. The second one is right of the first in the
// output, and below it in the input.
func transposePairs(l level) {
	function("transposePairs"+l.name, transposer, "transposes n pairs of tiles, which it reads "+
		"and writes once: 64 B a row, twice as many rows as that has elements. It asks for "+
		"lines that "+
		"many pairs ahead.")
	each("size", []int{8, 16}, func(size int) {
		stores(func(past bool) {
			t, n := transposed(past)
			down, half := GP64(), GP64() // bytes from the first tile to the second in the input
			MOVQ(U32(group/size), down)
			IMULQ(t.srcPitch, down)
			label("pair")
			MOVQ(U32(2), half)
			label("tile")
			l.tile(t, size)
			ADDQ(Imm(group), t.dst)
			ADDQ(down, t.src)
			DECQ(half)
			JNZ(ref("tile"))
			ADDQ(I32(-2*group), t.dst)
			SUBQ(down, t.src)
			SUBQ(down, t.src)
			ADDQ(t.dstStep, t.dst)
			ADDQ(t.srcStep, t.src)
			DECQ(n)
			JNZ(ref("pair"))
			end()
		})
	})
}

// tile transposes a tile of elements of size bytes.
func (l level) tile(t tileArgs, size int) {
	wide := l.width == 64
	switch {
	case size <= 2 && wide:
		t.narrowAVX512(size)
	case size <= 2:
		t.narrowAVX2(size)
	case wide:
		map[int]func(tileArgs){4: tile4AVX512, 8: tile8AVX512, 16: tile16AVX512}[size](t)
	default:
		map[int]func(tileArgs){4: tile4AVX2, 8: tile8AVX2, 16: tile16AVX2}[size](t)
	}
}

func transposed(past bool) (t tileArgs, n reg.Register) {
	t.past = past
	t.dst, t.src = Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n = Load(Param("n"), GP64())
	t.dstPitch, t.srcPitch = Load(Param("dstPitch"), GP64()), Load(Param("srcPitch"), GP64())
	t.dstStep, t.srcStep = Load(Param("dstStep"), GP64()), Load(Param("srcStep"), GP64())
	t.srcAhead = Load(Param("ahead"), GP64())
	if !past {
		t.dstAhead = GP64()
		MOVQ(t.srcAhead, t.dstAhead)
		IMULQ(t.dstStep, t.dstAhead)
	}
	IMULQ(t.srcStep, t.srcAhead)
	t.row = GP64()
	return t, n
}

type tileArgs struct {
	dst, src, dstPitch, srcPitch reg.Register
	dstStep, srcStep             reg.Register
	dstAhead, srcAhead           reg.Register  // bytes to the tile that is prefetched
	row                          reg.GPVirtual // scratch
	past                         bool          // stores bypass the caches
	halves                       Mem           // scratch for half a tile of narrow elements
}

// rows calls f with the address of each of n rows, in order.
func (t tileArgs) rows(base, pitch reg.Register, n int, f func(i int, row reg.Register)) {
	MOVQ(base, t.row)
	for i := range n {
		f(i, t.row)
		if i < n-1 {
			ADDQ(pitch, t.row)
		}
	}
}

// prefetch prefetches a line of a tile ahead: hardware does not if every row has its own page. It
// takes the last byte's line, because the adjacent tile may have touched the first byte's. It never
// faults.
func prefetch(row, ahead reg.Register) {
	PREFETCHT0(Mem{Base: row, Disp: group - 1, Index: ahead, Scale: 1})
}

func (t tileArgs) storeLine(to Mem, vectors ...reg.VecPhysical) {
	for i, v := range vectors {
		store(t.past, v, to.Offset(i*group/len(vectors)))
	}
}

func (t tileArgs) store(row reg.Register, vectors ...reg.VecPhysical) {
	t.storeLine(Mem{Base: row}, vectors...)
	if !t.past {
		prefetch(row, t.dstAhead)
	}
}

// tile4AVX2 transposes 16x16 elements of 4 bytes, four columns at a time, which are four whole
// lines.
func tile4AVX2(t tileArgs) {
	row := t.quarters(16)
	for q := range 4 {
		for h := range 2 { // rows 8h to 8h+7; those from 8h+4 in the upper halves
			a, b := ymm[4*h:][:4], ymm[8:12]
			for i := range 8 {
				load(row(8*h+i, q), i, xmm[4*h:], a)
			}
			for i := range 2 {
				VUNPCKLPS(a[2*i+1], a[2*i], b[2*i])
				VUNPCKHPS(a[2*i+1], a[2*i], b[2*i+1])
			}
			for i := range 2 {
				VUNPCKLPD(b[2+i], b[i], a[2*i])
				VUNPCKHPD(b[2+i], b[i], a[2*i+1])
			}
		}
		t.columns(4*q, 4, func(i int) []reg.VecPhysical {
			return []reg.VecPhysical{ymm[i], ymm[4+i]}
		})
	}
}

// tile8AVX2 transposes 8x8 elements of 8 bytes, two columns at a time.
func tile8AVX2(t tileArgs) {
	row := t.quarters(8)
	for q := range 4 {
		for h := range 2 { // rows 4h to 4h+3; those from 4h+2 in the upper halves
			a, b := ymm[2*h:][:2], ymm[4+2*h:][:2]
			for i := range 4 {
				load(row(4*h+i, q), i, xmm[2*h:], a)
			}
			VUNPCKLPD(a[1], a[0], b[0])
			VUNPCKHPD(a[1], a[0], b[1])
		}
		t.columns(2*q, 2, func(i int) []reg.VecPhysical {
			return []reg.VecPhysical{ymm[4+i], ymm[6+i]}
		})
	}
}

// load reads a quarter of row i to the lower half of a register, or after the first len(a) rows to
// an upper half. So rows are read in order.
func load(row Mem, i int, lower, a []reg.VecPhysical) {
	if i < len(a) {
		VMOVUPS(row, lower[i])
	} else {
		VINSERTF128(Imm(1), row, a[i-len(a)], a[i-len(a)])
	}
}

// quarters prefetches the next tile, and returns the address of quarter q of row i.
func (t tileArgs) quarters(rows int) func(i, q int) Mem {
	t.rows(t.src, t.srcPitch, rows, func(_ int, row reg.Register) { prefetch(row, t.srcAhead) })
	pitch3 := GP64()
	LEAQ(Mem{Base: t.srcPitch, Index: t.srcPitch, Scale: 2}, pitch3)
	fourth := []reg.Register{t.src} // every fourth row
	for i := range rows/4 - 1 {
		next := GP64()
		LEAQ(Mem{Base: fourth[i], Index: t.srcPitch, Scale: 4}, next)
		fourth = append(fourth, next)
	}
	return func(i, q int) Mem {
		at := Mem{Base: fourth[i/4], Disp: group / 4 * q}
		switch i % 4 {
		case 1, 2:
			at.Index, at.Scale = t.srcPitch, uint8(i%4)
		case 3:
			at.Index, at.Scale = pitch3, 1
		}
		return at
	}
}

// columns writes n lines in order, starting at first.
func (t tileArgs) columns(first, n int, vectors func(i int) []reg.VecPhysical) {
	if first == 0 {
		MOVQ(t.dst, t.row)
	}
	for i := range n {
		t.store(t.row, vectors(i)...)
		ADDQ(t.dstPitch, t.row)
	}
}

// blockWidth is the bytes of an output row of a block. Rows a power of two apart are in one channel
// of the memory, where single lines wait for each other.
const blockWidth = 4 * group

// transposeBlock makes a function that transposes a block, rows of blockWidth bytes, into the
// buffer fill. It also copies the buffer drain, the previous block, to the output. It alternates,
// because reads arrive late and writes leave late.
//
// It reads eight rows at a time, line by line, which prefetchers follow. In a buffer they are one
// piece, with each output row's elements adjacent, so that lines are written whole there too.
func transposeBlock() {
	function("transposeBlockAVX2", "func(dst, drain, src, fill *byte, lines, dstPitch, srcPitch, "+
		"bufferPitch, size, past int)", "reads rows of lines of 64 B once, and writes as many "+
		"rows of 256 B as those have elements, once.")
	each("size", []int{1, 2, 4, 8}, func(size int) {
		stores(func(past bool) { blockOf(size, past) })
	})
}

func blockOf(size int, past bool) {
	dst, drain := Load(Param("dst"), GP64()), Load(Param("drain"), GP64())
	src, fill := Load(Param("src"), GP64()), Load(Param("fill"), GP64())
	lines := Load(Param("lines"), GP64())
	dstPitch, srcPitch := Load(Param("dstPitch"), GP64()), Load(Param("srcPitch"), GP64())
	pitch, pitch3 := Load(Param("bufferPitch"), GP64()), GP64()
	LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, pitch3)
	pieces, left, from := GP64(), GP64(), GP64()
	t := tileArgs{row: GP64(), past: past}
	MOVQ(U32(blockWidth/size/8), pieces)
	label("piece")
	MOVQ(src, from)
	MOVQ(lines, left)
	to := GP64()
	MOVQ(fill, to)
	label("line")
	Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", 8*group))
	for side := range 2 {
		t.rows(from, srcPitch, 8, func(i int, row reg.Register) {
			VMOVUPS(Mem{Base: row, Disp: 32 * side}, ymm[i])
			if side == 0 {
				// The next eight rows, which hardware does not foresee. They go to the second
				// level, because colliding rows fill the first.
				PREFETCHT1(Mem{Base: row, Index: srcPitch, Scale: 8})
			}
		})
		free := transposeRows(size, Mem{Base: to, Disp: side * blockWidth})
		drained(t.row, drain, pitch, pitch3, size, free)
		for i := range len(free) / 2 {
			t.storeLine(Mem{Base: dst, Disp: group * i}, free[2*i:][:2]...)
		}
		ADDQ(dstPitch, dst)
		ADDQ(Imm(uint64(8*size)), drain)
	}
	ADDQ(Imm(group), from)
	ADDQ(U32(2*blockWidth), to)
	DECQ(left)
	JNZ(ref("line"))
	LEAQ(Mem{Base: src, Index: srcPitch, Scale: 8}, src)
	ADDQ(pitch, fill)
	DECQ(pieces)
	JNZ(ref("piece"))
	end()
}

// gather makes a function that transposes strips of small tiles. With each tile it prefetches some
// lines that are read next, at the offsets in asks, which hardware does not foresee. They go to the
// second level, because the tiles fill the first.
func gather() {
	function("gatherAVX2", "func(dst, src *byte, rows *int, strips, tiles, dstPitch int, asked "+
		"uintptr, asks *int, size int)", "transposes strips of tiles of 4 to 32 rows, which it "+
		"reads and writes once. It asks for some lines a tile.")
	each("size", []int{1, 2, 4, 8}, gatherOf)
}

func gatherOf(size int) {
	rows, bytes := map[int]int{1: 32, 2: 16, 4: 8, 8: 4}[size],
		map[bool]int{true: 16, false: 32}[size <= 2]
	t := tileArgs{dst: GP64(), src: GP64(), row: GP64()}
	dst, src, table := Load(Param("dst"), GP64()), Load(Param("src"), GP64()),
		Load(Param("rows"), GP64())
	strips, tiles, left := Load(Param("strips"), GP64()), Load(Param("tiles"), GP64()), GP64()
	t.dstPitch = Load(Param("dstPitch"), GP64())
	asked, asks := Load(Param("asked"), GP64()), Load(Param("asks"), GP64())
	var first Mem // half a tile, each vector within a line
	if size == 1 {
		aligned := GP64()
		LEAQ(AllocLocal(9*32).Offset(31), aligned)
		ANDQ(I32(-32), aligned)
		first = Mem{Base: aligned}
	}
	row := func(i int) Mem {
		MOVQ(Mem{Base: table, Disp: 8 * i}, t.row)
		return Mem{Base: t.src, Index: t.row, Scale: 1}
	}
	write := func(columns int, store func(i int, at Mem)) {
		t.rows(t.dst, t.dstPitch, columns, func(i int, row reg.Register) {
			store(i, Mem{Base: row})
		})
	}
	label("strip")
	MOVQ(src, t.src)
	MOVQ(dst, t.dst)
	MOVQ(tiles, left)
	label("tile")
	ask(asked, asks, asksOfTile(size))
	switch size {
	case 1: // rows i and 16+i in register i, then 8+i and 24+i
		pairs := twoRows(1, 0, 16, row)
		for i, v := range pairs {
			VMOVDQU(v, first.Offset(32*i))
		}
		pairs = twoRows(1, 8, 24, row)
		write(16, func(i int, at Mem) {
			if i%2 == 0 {
				VMOVDQU(first.Offset(32*(i/2)), ymm[0])
				VPUNPCKLQDQ(pairs[i/2], ymm[0], ymm[1])
			} else {
				VPUNPCKHQDQ(pairs[i/2], ymm[0], ymm[1])
			}
			VMOVDQU(ymm[1], at)
		})
	case 2:
		columns := twoRows(2, 0, 8, row)
		write(8, func(i int, at Mem) { VMOVDQU(columns[i], at) })
	case 4:
		for i := range 8 {
			VMOVUPS(row(i), ymm[i])
		}
		columns := transpose8x8(ymm[:8], ymm[8:])
		write(8, func(i int, at Mem) { VMOVUPS(columns[i], at) })
	case 8:
		for i := range 4 {
			VMOVUPS(row(i), ymm[i])
		}
		columns := transpose4x4(ymm[:4], ymm[8:12])
		write(4, func(i int, at Mem) { VMOVUPS(columns[i], at) })
	}
	LEAQ(Mem{Base: t.row, Index: t.dstPitch, Scale: 1}, t.dst) // after the last column
	ADDQ(Imm(uint64(bytes)), t.src)
	DECQ(left)
	JNZ(ref("tile"))
	ADDQ(U32(8*rows), table)
	ADDQ(Imm(uint64(rows*size)), dst)
	DECQ(strips)
	JNZ(ref("strip"))
	end()
}

// twoRows transposes 16 rows of 16 bytes: eight from low and eight from high. Each half of a result
// has one or two columns of eight rows.
func twoRows(size, low, high int, row func(i int) Mem) []reg.VecPhysical {
	for i := range 8 {
		VMOVDQU(row(low+i), xmm[i])
	}
	for i := range 8 {
		VINSERTI128(Imm(1), row(high+i), ymm[i], ymm[i])
	}
	return interleave(size, 3, ymm[:8], ymm[8:])[:8]
}

// asksOfTile is the lines that gather prefetches with each tile: half of its lines. The rest
// follows while the output is written.
func asksOfTile(size int) int { return map[int]int{1: 4, 2: 2, 4: 2, 8: 1}[size] }

func ask(asked, asks reg.Register, n int) {
	for i := range n {
		at := GP64()
		MOVQ(Mem{Base: asks, Disp: 8 * i}, at)
		PREFETCHT1(Mem{Base: asked, Index: at, Scale: 1})
	}
	ADDQ(Imm(uint64(8*n)), asks)
}

// drain makes a function that copies rows of whole lines between the offsets of two lists, and
// prefetches a line with each. Vectors have 16 or 32 bytes.
func drain() {
	function("drainAVX2", "func(dst *byte, to *int, src *byte, from *int, rows, groups int, asked "+
		"uintptr, asks *int, vector, past int)",
		"reads and writes each of the rows of groups of 64 B once. It asks for a line a group.")
	each("vector", []int{16, 32}, func(vector int) {
		line := map[int][]reg.VecPhysical{16: xmm[:4], 32: ymm[:2]}[vector]
		stores(func(past bool) { drainOf(line, past) })
	})
}

func drainOf(line []reg.VecPhysical, past bool) {
	r := loadRows()
	groups, asked, asks := Load(Param("groups"), GP64()), Load(Param("asked"), GP64()),
		Load(Param("asks"), GP64())
	left := GP64()
	label("row")
	r.next()
	MOVQ(groups, left)
	label("group")
	Comment("The measured loop: 64 B of each operand an iteration.")
	ask(asked, asks, 1)
	for i, v := range line {
		disp := group / len(line) * i
		VMOVUPS(Mem{Base: r.s, Disp: disp}, v)
		store(past, v, Mem{Base: r.d, Disp: disp})
	}
	ADDQ(Imm(group), r.s)
	ADDQ(Imm(group), r.d)
	DECQ(left)
	JNZ(ref("group"))
	DECQ(r.rows)
	JNZ(ref("row"))
	end()
}

// move makes a function that copies rows of any bytes between the offsets of two lists: 32 at a
// time, then smaller powers of two.
func move() {
	function("moveAVX2", "func(dst *byte, to *int, src *byte, from *int, rows, bytes int)",
		"reads and writes each of the rows once.")
	r := loadRows()
	bytes, left, small := Load(Param("bytes"), GP64()), GP64(), GP64()
	CMPQ(bytes, Imm(16))
	JNZ(LabelRef("row"))
	Label("short") // rows of 16 bytes, the most frequent
	MOVQ(Mem{Base: r.from}, r.s)
	MOVQ(Mem{Base: r.to}, r.d)
	VMOVUPS(Mem{Base: r.src, Index: r.s, Scale: 1}, xmm[0])
	VMOVUPS(xmm[0], Mem{Base: r.dst, Index: r.d, Scale: 1})
	ADDQ(Imm(8), r.from)
	ADDQ(Imm(8), r.to)
	DECQ(r.rows)
	JNZ(LabelRef("short"))
	JMP(LabelRef("done"))
	Label("row")
	r.next()
	MOVQ(bytes, left)
	SHRQ(Imm(5), left)
	TESTQ(left, left)
	JZ(LabelRef("rest16"))
	Label("vector")
	VMOVUPS(Mem{Base: r.s}, ymm[0])
	VMOVUPS(ymm[0], Mem{Base: r.d})
	ADDQ(Imm(32), r.s)
	ADDQ(Imm(32), r.d)
	DECQ(left)
	JNZ(LabelRef("vector"))
	for width := 16; width > 0; width /= 2 {
		Label(fmt.Sprint("rest", width))
		next := fmt.Sprint("rest", width/2)
		TESTQ(U32(width), bytes)
		JZ(LabelRef(next))
		from, to := Mem{Base: r.s}, Mem{Base: r.d}
		switch width {
		case 16:
			VMOVUPS(from, xmm[0])
			VMOVUPS(xmm[0], to)
		case 8:
			VMOVQ(from, xmm[0])
			VMOVQ(xmm[0], to)
		case 4:
			VMOVD(from, xmm[0])
			VMOVD(xmm[0], to)
		case 2:
			MOVWQZX(from, small)
			MOVW(small.As16(), to)
		case 1:
			MOVBQZX(from, small)
			MOVB(small.As8(), to)
		}
		ADDQ(Imm(uint64(width)), r.s)
		ADDQ(Imm(uint64(width)), r.d)
		if width == 16 {
			TESTQ(U32(15), bytes)
			JZ(LabelRef("rest0"))
		}
	}
	Label("rest0")
	DECQ(r.rows)
	JNZ(LabelRef("row"))
	Label("done")
	end()
}

type rowLists struct{ dst, to, src, from, rows, s, d reg.GPVirtual }

func loadRows() rowLists {
	gp := func(name string) reg.GPVirtual { r := GP64(); Load(Param(name), r); return r }
	return rowLists{gp("dst"), gp("to"), gp("src"), gp("from"), gp("rows"), GP64(), GP64()}
}

func (r rowLists) next() {
	MOVQ(Mem{Base: r.from}, r.s)
	ADDQ(r.src, r.s)
	MOVQ(Mem{Base: r.to}, r.d)
	ADDQ(r.dst, r.d)
	ADDQ(Imm(8), r.from)
	ADDQ(Imm(8), r.to)
}

// transposeRows writes the transpose of half a line of eight rows, in the first registers, to
// blockWidth bytes.
func transposeRows(size int, to Mem) (free []reg.VecPhysical) {
	switch size {
	case 1, 2:
		for j, v := range transpose8xN(size, ymm[:8], ymm[8:]) {
			VMOVUPS(v, to.Offset(32*j))
		}
		return ymm[:8]
	case 4:
		for j, v := range transpose8x8(ymm[:8], ymm[8:]) {
			VMOVUPS(v, to.Offset(32*j))
		}
		return ymm[:8]
	}
	for half := range 2 {
		for j, v := range transpose4x4(ymm[4*half:][:4], ymm[8+4*half:][:4]) {
			VMOVUPS(v, to.Offset(64*j+32*half))
		}
	}
	return ymm[8:]
}

// drained reads a row of a block, 8 elements from each piece, to the registers of to.
func drained(row, drain, pitch, pitch3 reg.Register, size int, to []reg.VecPhysical) {
	piece := func(i int) Mem { // in order
		base := drain
		if i >= 4 {
			if base = row; i%4 == 0 {
				from := map[bool]reg.Register{false: row, true: drain}[i == 4]
				LEAQ(Mem{Base: from, Index: pitch, Scale: 4}, row)
			}
		}
		switch i % 4 {
		case 1, 2:
			return Mem{Base: base, Index: pitch, Scale: uint8(i % 4)}
		case 3:
			return Mem{Base: base, Index: pitch3, Scale: 1}
		}
		return Mem{Base: base}
	}
	for i, v := range to {
		n := slices.Index(ymm, v)
		switch size {
		case 1:
			other := xmm[(n+8)%16]
			VMOVQ(piece(4*i), xmm[n])
			VMOVHPS(piece(4*i+1), xmm[n], xmm[n])
			VMOVQ(piece(4*i+2), other)
			VMOVHPS(piece(4*i+3), other, other)
			VINSERTI128(Imm(1), other, v, v)
		case 2:
			VMOVDQU(piece(2*i), xmm[n])
			VINSERTI128(Imm(1), piece(2*i+1), v, v)
		case 4:
			VMOVUPS(piece(i), v)
		case 8:
			VMOVUPS(piece(i/2).Offset(i%2*32), v)
		}
	}
}

// transpose8xN transposes the eight rows of 1- or 2-byte elements in a. A 16-byte lane of the
// result has one or two columns.
func transpose8xN(size int, a, b []reg.VecPhysical) []reg.VecPhysical {
	lanes := interleave(size, 3, a, b)
	for i := range 4 {
		VPERM2I128(Imm(0x20), lanes[2*i+1], lanes[2*i], a[i])
		VPERM2I128(Imm(0x31), lanes[2*i+1], lanes[2*i], a[4+i])
	}
	return a
}

func transpose8x8(a, b []reg.VecPhysical) []reg.VecPhysical {
	for i := range 4 { // pairs of rows
		VUNPCKLPS(a[2*i+1], a[2*i], b[2*i])
		VUNPCKHPS(a[2*i+1], a[2*i], b[2*i+1])
	}
	for i := range 2 { // fours of rows: columns 0 to 3 of each half
		VUNPCKLPD(b[4*i+2], b[4*i], a[4*i])
		VUNPCKHPD(b[4*i+2], b[4*i], a[4*i+1])
		VUNPCKLPD(b[4*i+3], b[4*i+1], a[4*i+2])
		VUNPCKHPD(b[4*i+3], b[4*i+1], a[4*i+3])
	}
	for i := range 4 {
		VPERM2F128(Imm(0x20), a[4+i], a[i], b[i])
		VPERM2F128(Imm(0x31), a[4+i], a[i], b[4+i])
	}
	return b[:8]
}

func transpose4x4(a, b []reg.VecPhysical) []reg.VecPhysical {
	for i := range 2 {
		VUNPCKLPD(a[2*i+1], a[2*i], b[2*i])
		VUNPCKHPD(a[2*i+1], a[2*i], b[2*i+1])
	}
	for i := range 2 {
		VPERM2F128(Imm(0x20), b[2+i], b[i], a[i])
		VPERM2F128(Imm(0x31), b[2+i], b[i], a[2+i])
	}
	return a[:4]
}

// tile4AVX512 transposes 16x16 elements of 4 bytes, a line in each register.
func tile4AVX512(t tileArgs) {
	a, b := zmm[:16], zmm[16:]
	t.rows(t.src, t.srcPitch, 16, func(i int, row reg.Register) {
		VMOVUPS(Mem{Base: row}, a[i])
		prefetch(row, t.srcAhead)
	})
	for i := range 8 {
		VUNPCKLPS(a[2*i+1], a[2*i], b[2*i])
		VUNPCKHPS(a[2*i+1], a[2*i], b[2*i+1])
	}
	for i := range 4 { // quarter q of a[4i+c] has column 4q+c of rows 4i to 4i+3
		VUNPCKLPD(b[4*i+2], b[4*i], a[4*i])
		VUNPCKHPD(b[4*i+2], b[4*i], a[4*i+1])
		VUNPCKLPD(b[4*i+3], b[4*i+1], a[4*i+2])
		VUNPCKHPD(b[4*i+3], b[4*i+1], a[4*i+3])
	}
	out := make([]reg.VecPhysical, 16)
	for c := range 4 {
		quarters([4]reg.VecPhysical{a[c], a[4+c], a[8+c], a[12+c]}, b[4*c:][:4])
		for q := range 4 {
			out[4*q+c] = [...]reg.VecPhysical{a[c], a[4+c], a[8+c], a[12+c]}[q]
		}
	}
	t.rows(t.dst, t.dstPitch, 16, func(i int, row reg.Register) {
		t.store(row, out[i])
	})
}

func tile8AVX512(t tileArgs) {
	a, b := zmm[:8], zmm[8:16]
	t.rows(t.src, t.srcPitch, 8, func(i int, row reg.Register) {
		VMOVUPS(Mem{Base: row}, a[i])
		prefetch(row, t.srcAhead)
	})
	for i := range 4 { // quarter q of b[2i+c] has column 2q+c of rows 2i and 2i+1
		VUNPCKLPD(a[2*i+1], a[2*i], b[2*i])
		VUNPCKHPD(a[2*i+1], a[2*i], b[2*i+1])
	}
	out := make([]reg.VecPhysical, 8)
	for c := range 2 {
		r := [4]reg.VecPhysical{b[c], b[2+c], b[4+c], b[6+c]}
		quarters(r, a[4*c:][:4])
		for q := range 4 {
			out[2*q+c] = r[q]
		}
	}
	t.rows(t.dst, t.dstPitch, 8, func(i int, row reg.Register) {
		t.store(row, out[i])
	})
}

func tile16AVX512(t tileArgs) {
	a := [4]reg.VecPhysical(zmm[:4])
	t.rows(t.src, t.srcPitch, 4, func(i int, row reg.Register) {
		VMOVUPS(Mem{Base: row}, a[i])
		prefetch(row, t.srcAhead)
	})
	quarters(a, zmm[4:8])
	t.rows(t.dst, t.dstPitch, 4, func(i int, row reg.Register) { t.store(row, a[i]) })
}

// tile16AVX2 transposes 4x4 elements of 16 bytes, two columns at a time.
func tile16AVX2(t tileArgs) {
	row := t.quarters(4)
	for half := range 2 {
		a, b := ymm[:4], ymm[4:8]
		for i := range 4 {
			VMOVUPS(row(i, 2*half), a[i])
		}
		for i := range 2 { // two halves of a line
			VPERM2F128(Imm(0x20), a[2*i+1], a[2*i], b[i])
			VPERM2F128(Imm(0x31), a[2*i+1], a[2*i], b[2+i])
		}
		t.columns(2*half, 2, func(i int) []reg.VecPhysical { return b[2*i:][:2] })
	}
}

// quarters transposes four registers of four 16-byte quarters, in place.
func quarters(r [4]reg.VecPhysical, free []reg.VecPhysical) {
	VSHUFF32X4(Imm(0x88), r[1], r[0], free[0]) // quarters 0, 2 of r0 and of r1
	VSHUFF32X4(Imm(0xdd), r[1], r[0], free[1]) // quarters 1, 3
	VSHUFF32X4(Imm(0x88), r[3], r[2], free[2])
	VSHUFF32X4(Imm(0xdd), r[3], r[2], free[3])
	VSHUFF32X4(Imm(0x88), free[2], free[0], r[0])
	VSHUFF32X4(Imm(0x88), free[3], free[1], r[1])
	VSHUFF32X4(Imm(0xdd), free[2], free[0], r[2])
	VSHUFF32X4(Imm(0xdd), free[3], free[1], r[3])
}

// interleave transposes squares in each 16-byte quarter of the registers. It takes as many
// registers as a quarter has elements of size bytes, 1 or 2. A round moves the highest bit of a
// register's number to the lowest bit of the place in it. The highest bit of the place becomes the
// lowest of the number. The square is transposed when all bits of the number have moved. It uses a
// and b, and returns the one with the result.
func interleave(size, rounds int, a, b []reg.VecPhysical) []reg.VecPhysical {
	low, high := VPUNPCKLBW, VPUNPCKHBW
	if size == 2 {
		low, high = VPUNPCKLWD, VPUNPCKHWD
	}
	half := len(a) / 2
	for range rounds {
		for i := range half {
			low(a[half+i], a[i], b[2*i])
			high(a[half+i], a[i], b[2*i+1])
		}
		a, b = b, a
	}
	return a
}

// rounds are interleave's rounds for a quarter, by bytes of an element.
var rounds = map[int]int{1: 4, 2: 3}

// narrowAVX512 transposes a line by a line of elements of 1 or 2 bytes. A quarter of all lines at a
// time becomes whole lines. Register i has rows i, n+i, 2n+i and 3n+i.
func (t tileArgs) narrowAVX512(size int) {
	n := 16 / size
	a, b := zmm[:n], zmm[16:][:n]
	t.parts(4, 4*n, func(src reg.Register, to reg.Register) {
		t.rows(src, t.srcPitch, 4*n, func(i int, row reg.Register) {
			if at := (Mem{Base: row}); i < n {
				VMOVDQU(at, xmm[i])
			} else {
				VINSERTI32X4(Imm(uint64(i/n)), at, a[i%n], a[i%n])
			}
		})
		lines := interleave(size, rounds[size], a, b)
		t.rows(to, t.dstPitch, n, func(i int, row reg.Register) { t.store(row, lines[i]) })
		MOVQ(t.row, to)
	})
}

// narrowAVX2 transposes eight columns of half of the rows at a time. The first halves of lines wait
// on the stack, because partial lines past the caches leave slowly. Register i has rows i and 8+i
// of 2-byte elements, or rows 2i, 2i+1, 16+2i and 16+2i+1 of 1-byte elements.
func (t tileArgs) narrowAVX2(size int) {
	a, b := ymm[:8], ymm[8:]
	rows := 32 / size
	first := t.halves
	below := GP64() // the second half of the rows
	MOVQ(t.srcPitch, below)
	SHLQ(Imm(uint64(map[int]int{1: 5, 2: 4}[size])), below)
	t.parts(group/8/size, 2*rows, func(src, to reg.Register) {
		for h := range 2 {
			if h == 1 {
				ADDQ(below, src)
			}
			t.rows(src, t.srcPitch, rows, func(i int, row reg.Register) {
				place(size, i, Mem{Base: row}, a, b[0])
			})
			columns := interleave(size, rounds[size], a, b)
			if h == 0 {
				for i, v := range columns[:8] {
					VMOVDQU(v, first.Offset(32*i))
				}
				continue
			}
			free := ymm[0]
			for slices.Contains(columns[:8], free) {
				free = ymm[slices.Index(ymm, free)+1]
			}
			t.rows(to, t.dstPitch, 8, func(i int, row reg.Register) {
				VMOVDQU(first.Offset(32*i), free)
				t.store(row, free, columns[i])
			})
		}
		SUBQ(below, src)
		MOVQ(t.row, to)
	})
}

func place(size, i int, at Mem, a []reg.VecPhysical, free reg.VecPhysical) {
	switch {
	case size == 2 && i < 8:
		VMOVDQU(at, xmm[i])
	case size == 2:
		VINSERTI128(Imm(1), at, a[i-8], a[i-8])
	case i < 16 && i%2 == 0:
		VMOVQ(at, xmm[i/2])
	default: // broadcasts and blends do not wait for shuffles
		v := a[i%16/2]
		VPBROADCASTQ(at, free)
		VPBLENDD(Imm(uint64(3<<(i/16*4+i%2*2))), free, v, v)
	}
}

// parts loops over n parts of a tile's lines. Function part gets the addresses of its first input
// row and output line. It keeps the former, and leaves its last line's address in the latter.
func (t tileArgs) parts(n, rows int, part func(src, to reg.Register)) {
	t.rows(t.src, t.srcPitch, rows, func(_ int, row reg.Register) { prefetch(row, t.srcAhead) })
	src, to, left := GP64(), GP64(), GP64()
	MOVQ(t.src, src)
	MOVQ(t.dst, to)
	MOVQ(U32(n), left)
	label("part")
	part(src, to)
	ADDQ(t.dstPitch, to)
	ADDQ(Imm(uint64(group/n)), src)
	DECQ(left)
	JNZ(ref("part"))
}
