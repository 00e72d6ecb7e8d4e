package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
	dst, src, fill := arg("dst"), arg("src"), arg("fill")
	dstPitch, srcPitch := arg("dstPitch"), arg("srcPitch")
	d := drained{arg("drain"), arg("bufferPitch"), GP64(), GP64()}
	LEAQ(Mem{Base: d.pitch, Index: d.pitch, Scale: 2}, d.pitch3)
	pieces, left, from, to := GP64(), GP64(), GP64(), GP64()
	t := tileArgs{row: d.row}
	MOVQ(U32(blockWidth/size/8), pieces)
	loop("piece", pieces, func() {
		MOVQ(src, from)
		Load(Param("lines"), left)
		MOVQ(fill, to)
		loop("line", left, func() {
			Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", 8*group))
			for side := range 2 {
				t.rows(from, srcPitch, 8, func(i int, row reg.Register) {
					VMOVUPS(at(row, 32*side), ymm[i])
					if side == 0 {
						// The next eight rows, which hardware does not foresee. They go to the
						// second level, because colliding rows fill the first.
						PREFETCHT1(Mem{Base: row, Index: srcPitch, Scale: 8})
					}
				})
				transposeRows(size, at(to, side*blockWidth))
				for i, v := range d.read(size) {
					store(past, v, at(dst, 32*i))
				}
				ADDQ(dstPitch, dst)
				ADDQ(Imm(uint64(8*size)), d.base)
			}
			ADDQ(Imm(group), from)
			ADDQ(U32(2*blockWidth), to)
		})
		LEAQ(Mem{Base: src, Index: srcPitch, Scale: 8}, src)
		ADDQ(d.pitch, fill)
	})
	end()
}

// transposeRows writes the transpose of half a line of eight rows, in the first registers, to
// blockWidth bytes.
func transposeRows(size int, to Mem) {
	if size == 8 {
		for half := range 2 {
			for j, v := range square(8, ymm[4*half:][:4], ymm[8+4*half:]) {
				VMOVUPS(v, to.Offset(64*j+32*half))
			}
		}
		return
	}
	var columns []reg.VecPhysical
	if size == 4 {
		columns = square(4, ymm[:8], ymm[8:])
	} else { // a half of a register has one or two columns
		halves, free := interleave(size, 3, ymm[:8], ymm[8:])
		for i := 0; i < 8; i += 2 {
			join(halves[i], halves[i+1], []reg.VecPhysical{free[i/2], free[4+i/2]})
		}
		columns = free
	}
	for j, v := range columns {
		VMOVUPS(v, to.Offset(32*j))
	}
}

// square transposes 32 bytes of as many rows of elements of 4 or 8 bytes.
func square(size int, a, b []reg.VecPhysical) []reg.VecPhysical {
	halves, columns := squares(size, a, b[:len(a)])
	n := len(a) / 2
	for i := range n {
		join(halves[i], halves[n+i], []reg.VecPhysical{columns[i], columns[n+i]})
	}
	return columns
}

// drained is the buffer from which a block is written.
type drained struct{ base, pitch, pitch3, row reg.Register }

// read reads a row of a block, 8 elements from each piece.
func (d drained) read(size int) []reg.VecPhysical {
	piece := func(i int) Mem { // in order
		if i >= 4 && i%4 == 0 {
			LEAQ(Mem{Base: map[bool]reg.Register{true: d.base, false: d.row}[i == 4],
				Index: d.pitch, Scale: 4}, d.row)
		}
		if i < 4 {
			return rowOf(d.base, d.pitch, d.pitch3, i)
		}
		return rowOf(d.row, d.pitch, d.pitch3, i%4)
	}
	for i, v := range ymm[:8] {
		switch size {
		case 1:
			low, high := v.AsX(), ymm[8+i].AsX()
			VMOVQ(piece(4*i), low)
			VMOVHPS(piece(4*i+1), low, low)
			VMOVQ(piece(4*i+2), high)
			VMOVHPS(piece(4*i+3), high, high)
			VINSERTI128(Imm(1), high, v, v)
		case 2:
			VMOVDQU(piece(2*i), v.AsX())
			VINSERTI128(Imm(1), piece(2*i+1), v, v)
		case 4:
			VMOVUPS(piece(i), v)
		case 8:
			VMOVUPS(piece(i/2).Offset(i%2*32), v)
		}
	}
	return ymm[:8]
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
	rows, columns := 32/size, 32/size
	if size <= 2 {
		columns /= 2
	}
	t := tileArgs{dst: GP64(), src: GP64(), row: GP64(), dstPitch: arg("dstPitch")}
	dst, src, table := arg("dst"), arg("src"), arg("rows")
	tiles, left := arg("tiles"), GP64()
	asked, asks := arg("asked"), arg("asks")
	var first Mem // half a tile, each vector within a line
	if size == 1 {
		aligned := GP64()
		LEAQ(AllocLocal(9*32).Offset(31), aligned)
		ANDQ(I32(-32), aligned)
		first = at(aligned, 0)
	}
	row := func(i int) Mem {
		MOVQ(at(table, 8*i), t.row)
		return Mem{Base: t.src, Index: t.row, Scale: 1}
	}
	loop("strip", arg("strips"), func() {
		MOVQ(src, t.src)
		MOVQ(dst, t.dst)
		MOVQ(tiles, left)
		loop("tile", left, func() {
			// Half of a tile's lines. The rest follows while the output is written.
			ask(asked, asks, rows*columns*size/group/2)
			column := smallTile(size, row, first)
			t.rows(t.dst, t.dstPitch, columns, func(i int, to reg.Register) {
				VMOVDQU(column(i), at(to, 0))
			})
			LEAQ(Mem{Base: t.row, Index: t.dstPitch, Scale: 1}, t.dst) // after the last column
			ADDQ(Imm(uint64(columns*size)), t.src)
		})
		ADDQ(U32(8*rows), table)
		ADDQ(Imm(uint64(rows*size)), dst)
	})
	end()
}

// smallTile transposes a small tile, and returns what brings a column to a register.
func smallTile(size int, row func(i int) Mem, first Mem) (column func(i int) reg.VecPhysical) {
	var columns []reg.VecPhysical
	switch size {
	case 1: // rows i and 16+i in register i, then 8+i and 24+i
		for i, v := range twoRows(1, 0, 16, row) {
			VMOVDQU(v, first.Offset(32*i))
		}
		pairs := twoRows(1, 8, 24, row)
		return func(i int) reg.VecPhysical {
			if i%2 == 0 {
				VMOVDQU(first.Offset(32*(i/2)), ymm[0])
				VPUNPCKLQDQ(pairs[i/2], ymm[0], ymm[1])
			} else {
				VPUNPCKHQDQ(pairs[i/2], ymm[0], ymm[1])
			}
			return ymm[1]
		}
	case 2:
		columns = twoRows(2, 0, 8, row)
	default:
		rows := ymm[:32/size]
		for i, v := range rows {
			VMOVUPS(row(i), v)
		}
		columns = square(size, rows, ymm[8:])
	}
	return func(i int) reg.VecPhysical { return columns[i] }
}

// twoRows transposes 16 rows of 16 bytes: eight from low and eight from high. Each half of a result
// has one or two columns of eight rows.
func twoRows(size, low, high int, row func(i int) Mem) []reg.VecPhysical {
	for i, v := range ymm[:8] {
		VMOVDQU(row(low+i), v.AsX())
	}
	for i, v := range ymm[:8] {
		VINSERTI128(Imm(1), row(high+i), v, v)
	}
	columns, _ := interleave(size, 3, ymm[:8], ymm[8:])
	return columns
}

func ask(asked, asks reg.Register, n int) {
	for i := range n {
		line := GP64()
		MOVQ(at(asks, 8*i), line)
		PREFETCHT1(Mem{Base: asked, Index: line, Scale: 1})
	}
	ADDQ(Imm(uint64(8*n)), asks)
}

// drain makes a function that copies rows of whole lines between the offsets of two lists, and
// prefetches a line with each. Vectors have 16 or 32 bytes.
func drain() {
	function("drainAVX2", "func(dst *byte, to *int, src *byte, from *int, rows, groups int, asked "+
		"uintptr, asks *int, vector, past int)",
		"reads and writes each of the rows of groups of 64 B once. It asks for a line a group.")
	each("vector", []int{16, 32}, func(width int) {
		stores(func(past bool) {
			r := loadRows()
			groups, asked, asks, left := arg("groups"), arg("asked"), arg("asks"), GP64()
			loop("row", arg("rows"), func() {
				r.next()
				MOVQ(groups, left)
				loop("group", left, func() {
					Comment("The measured loop: 64 B of each operand an iteration.")
					ask(asked, asks, 1)
					for i := range group / width {
						var v reg.Register = ymm[i]
						if width == 16 {
							v = ymm[i].AsX()
						}
						VMOVUPS(at(r.s, width*i), v)
						store(past, v, at(r.d, width*i))
					}
					ADDQ(Imm(group), r.s)
					ADDQ(Imm(group), r.d)
				})
			})
			end()
		})
	})
}

// move makes a function that copies rows of any bytes between the offsets of two lists: 32 at a
// time, then smaller powers of two.
func move() {
	function("moveAVX2", "func(dst *byte, to *int, src *byte, from *int, rows, bytes int)",
		"reads and writes each of the rows once.")
	r := loadRows()
	bytes, rows, left := arg("bytes"), arg("rows"), GP64()
	CMPQ(bytes, Imm(16))
	JNZ(ref("row"))
	loop("short", rows, func() { // rows of 16 bytes, the most frequent
		MOVQ(at(r.from, 0), r.s)
		MOVQ(at(r.to, 0), r.d)
		VMOVUPS(Mem{Base: r.src, Index: r.s, Scale: 1}, reg.X0)
		VMOVUPS(reg.X0, Mem{Base: r.dst, Index: r.d, Scale: 1})
		ADDQ(Imm(8), r.from)
		ADDQ(Imm(8), r.to)
	})
	JMP(ref("done"))
	loop("row", rows, func() {
		r.next()
		MOVQ(bytes, left)
		SHRQ(Imm(5), left)
		TESTQ(left, left)
		JZ(ref("rest16"))
		loop("vector", left, func() { r.move(32) })
		for width := 16; width > 0; width /= 2 {
			label(fmt.Sprint("rest", width))
			TESTQ(U32(width), bytes)
			JZ(ref(fmt.Sprint("rest", width/2)))
			r.move(width)
			if width == 16 {
				TESTQ(U32(15), bytes)
				JZ(ref("rest0"))
			}
		}
		label("rest0")
	})
	label("done")
	end()
}

// rowLists are two lists of offsets, and the addresses of the current row.
type rowLists struct{ dst, to, src, from, s, d reg.GPVirtual }

func loadRows() rowLists {
	return rowLists{arg("dst"), arg("to"), arg("src"), arg("from"), GP64(), GP64()}
}

func (r rowLists) next() {
	MOVQ(at(r.from, 0), r.s)
	ADDQ(r.src, r.s)
	MOVQ(at(r.to, 0), r.d)
	ADDQ(r.dst, r.d)
	ADDQ(Imm(8), r.from)
	ADDQ(Imm(8), r.to)
}

// move moves bytes of a row, a power of two up to 32.
func (r rowLists) move(width int) {
	from, to, small := at(r.s, 0), at(r.d, 0), GP64()
	switch width {
	case 32:
		VMOVUPS(from, reg.Y0)
		VMOVUPS(reg.Y0, to)
	case 16:
		VMOVUPS(from, reg.X0)
		VMOVUPS(reg.X0, to)
	case 8:
		VMOVQ(from, reg.X0)
		VMOVQ(reg.X0, to)
	case 4:
		VMOVD(from, reg.X0)
		VMOVD(reg.X0, to)
	case 2:
		MOVWQZX(from, small)
		MOVW(small.As16(), to)
	case 1:
		MOVBQZX(from, small)
		MOVB(small.As8(), to)
	}
	ADDQ(Imm(uint64(width)), r.s)
	ADDQ(Imm(uint64(width)), r.d)
}
