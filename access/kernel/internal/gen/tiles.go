package main

import (
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposes makes a function that transposes n square tiles, a cache line wide, or pairs of tiles.
// Each line is read whole, or in four quarters soon after each other, and written whole. The second
// tile of a pair is right of the first one in the output, and below it in the input.
func (l level) transposes(name, what string, pairs bool, sizes ...int) {
	function(name+l.name, "func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead, "+
		"size, past int)", "transposes n "+what+", which it reads and writes once: 64 B a row. "+
		"It asks for lines that many "+what+" ahead.")
	var halves Mem
	if sizes[0] == 1 && l.width == 32 {
		halves = AllocLocal(8 * 32)
	}
	each("size", sizes, func(size int) {
		stores(func(past bool) {
			t := tileArgs{dst: arg("dst"), src: arg("src"), dstPitch: arg("dstPitch"),
				srcPitch: arg("srcPitch"), srcAhead: arg("ahead"), past: past, halves: halves}
			n, dstStep, srcStep := arg("n"), arg("dstStep"), arg("srcStep")
			if !past {
				t.dstAhead = GP64()
				MOVQ(t.srcAhead, t.dstAhead)
				IMULQ(dstStep, t.dstAhead)
			}
			IMULQ(srcStep, t.srcAhead)
			t.row = GP64()
			down := GP64() // bytes from the first tile of a pair to the second in the input
			if pairs {
				MOVQ(U32(group/size), down)
				IMULQ(t.srcPitch, down)
				SUBQ(down, srcStep)
				SUBQ(Imm(group), dstStep)
			}
			loop("tile", n, func() {
				l.tile(t, size)
				if pairs {
					ADDQ(Imm(group), t.dst)
					ADDQ(down, t.src)
					l.tile(t, size)
				}
				ADDQ(dstStep, t.dst)
				ADDQ(srcStep, t.src)
			})
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
		t.tileAVX512(size)
	case size == 16:
		t.tile16AVX2()
	default:
		t.tileAVX2(size)
	}
}

type tileArgs struct {
	dst, src, dstPitch, srcPitch reg.Register
	dstAhead, srcAhead           reg.Register // bytes to the tile that is prefetched
	row                          reg.Register // scratch
	past                         bool         // stores bypass the caches
	halves                       Mem          // scratch for half a tile of narrow elements
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

func (t tileArgs) store(row reg.Register, vectors ...reg.VecPhysical) {
	for i, v := range vectors {
		store(t.past, v, at(row, i*group/len(vectors)))
	}
	if !t.past {
		prefetch(row, t.dstAhead)
	}
}

// tileAVX2 transposes elements of 4 or 8 bytes, a quarter of the columns at a time, which are whole
// lines.
func (t tileArgs) tileAVX2(size int) {
	n := 16 / size
	row := t.quarters(4 * n)
	for q := range 4 {
		var halves [2][]reg.VecPhysical
		for h := range 2 { // half of the rows, with the later ones in the upper halves
			a := ymm[n*h:][:n]
			for i := range 2 * n {
				if at := row(2*n*h+i, q); i < n {
					VMOVUPS(at, a[i].AsX())
				} else {
					VINSERTF128(Imm(1), at, a[i-n], a[i-n])
				}
			}
			halves[h], _ = squares(size, a, ymm[8+n*h:])
		}
		t.columns(n*q, n, func(i int) []reg.VecPhysical {
			return []reg.VecPhysical{halves[0][i], halves[1][i]}
		})
	}
}

// tile16AVX2 transposes 4x4 elements of 16 bytes, two columns at a time.
func (t tileArgs) tile16AVX2() {
	row := t.quarters(4)
	for half := range 2 {
		for i := range 4 {
			VMOVUPS(row(i, 2*half), ymm[i])
		}
		columns := slices.Concat(join(ymm[0], ymm[1], ymm[4:]), join(ymm[2], ymm[3], ymm[6:]))
		t.columns(2*half, 2, func(i int) []reg.VecPhysical {
			return []reg.VecPhysical{columns[i], columns[2+i]}
		})
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
		return rowOf(fourth[i/4], t.srcPitch, pitch3, i%4).Offset(group / 4 * q)
	}
}

// rowOf is the address of row i of four.
func rowOf(first, pitch, pitch3 reg.Register, i int) Mem {
	switch i {
	case 1, 2:
		return Mem{Base: first, Index: pitch, Scale: uint8(i)}
	case 3:
		return Mem{Base: first, Index: pitch3, Scale: 1}
	}
	return at(first, 0)
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

// tileAVX512 transposes elements of 4 bytes or more, a line in each register.
func (t tileArgs) tileAVX512(size int) {
	rows, n := group/size, 16/size
	t.rows(t.src, t.srcPitch, rows, func(i int, row reg.Register) {
		VMOVUPS(at(row, 0), zmm[i])
		prefetch(row, t.srcAhead)
	})
	a, free := squares(size, zmm[:rows], zmm[rows:][:rows])
	columns := make([]reg.VecPhysical, rows)
	for c := range n { // quarter q of a[n*i+c] has column n*q+c of rows n*i to n*i+n-1
		r := []reg.VecPhysical{a[c], a[n+c], a[2*n+c], a[3*n+c]}
		quarters(r, free[4*c:])
		for q, v := range r {
			columns[n*q+c] = v
		}
	}
	t.rows(t.dst, t.dstPitch, rows, func(i int, row reg.Register) { t.store(row, columns[i]) })
}

// quarters transposes four registers of four 16-byte quarters, in place.
func quarters(r, free []reg.VecPhysical) {
	pair := func(x, y, even, odd reg.VecPhysical) { // quarters 0 and 2 of both, and 1 and 3
		VSHUFF32X4(Imm(0x88), y, x, even)
		VSHUFF32X4(Imm(0xdd), y, x, odd)
	}
	pair(r[0], r[1], free[0], free[1])
	pair(r[2], r[3], free[2], free[3])
	pair(free[0], free[2], r[0], r[2])
	pair(free[1], free[3], r[1], r[3])
}

// interleave transposes squares in each 16-byte quarter of the registers. It takes as many
// registers as a quarter has elements of size bytes, 8 or less. A round moves the highest bit of a
// register's number to the lowest bit of the place in it. The highest bit of the place becomes the
// lowest of the number. The square is transposed when all bits of the number have moved. It uses a
// and b, and returns the one with the result, and the other.
func interleave(size, rounds int, a, b []reg.VecPhysical) (result, free []reg.VecPhysical) {
	low, high := VPUNPCKLBW, VPUNPCKHBW
	switch size {
	case 2:
		low, high = VPUNPCKLWD, VPUNPCKHWD
	case 4:
		low, high = VPUNPCKLDQ, VPUNPCKHDQ
	case 8:
		low, high = VPUNPCKLQDQ, VPUNPCKHQDQ
	}
	half := len(a) / 2
	for range rounds {
		for i := range half {
			low(a[half+i], a[i], b[2*i])
			high(a[half+i], a[i], b[2*i+1])
		}
		a, b = b, a
	}
	return a, b
}

// rounds are interleave's rounds for a quarter of elements of size bytes.
func rounds(size int) int { return bits.Len(uint(16/size)) - 1 }

// squares interleaves registers of a, as many as a quarter has elements, after others.
func squares(size int, a, b []reg.VecPhysical) (result, free []reg.VecPhysical) {
	n := 16 / size
	for i := 0; i < len(a); i += n {
		interleave(size, rounds(size), a[i:][:n], b[i:][:n])
	}
	if rounds(size)%2 == 0 {
		return a, b
	}
	return b, a
}

// join makes registers of the lower halves of two, and of their upper halves.
func join(x, y reg.VecPhysical, to []reg.VecPhysical) []reg.VecPhysical {
	VPERM2I128(Imm(0x20), y, x, to[0])
	VPERM2I128(Imm(0x31), y, x, to[1])
	return to[:2]
}

// narrowAVX512 transposes a line by a line of elements of 1 or 2 bytes. A quarter of all lines at a
// time becomes whole lines. Register i has rows i, n+i, 2n+i and 3n+i.
func (t tileArgs) narrowAVX512(size int) {
	n := 16 / size
	a, b := zmm[:n], zmm[16:][:n]
	t.parts(4, 4*n, func(src, to reg.Register) {
		t.rows(src, t.srcPitch, 4*n, func(i int, row reg.Register) {
			if at := at(row, 0); i < n {
				VMOVDQU(at, a[i].AsX())
			} else {
				VINSERTI32X4(Imm(uint64(i/n)), at, a[i%n], a[i%n])
			}
		})
		lines, _ := squares(size, a, b)
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
	below := GP64() // the second half of the rows
	MOVQ(t.srcPitch, below)
	SHLQ(Imm(uint64(bits.Len(uint(rows))-1)), below)
	t.parts(group/8/size, 2*rows, func(src, to reg.Register) {
		for h := range 2 {
			if h == 1 {
				ADDQ(below, src)
			}
			t.rows(src, t.srcPitch, rows, func(i int, row reg.Register) {
				place(size, i, at(row, 0), a, b[0])
			})
			columns, free := interleave(size, rounds(size), a, b)
			if h == 0 {
				for i, v := range columns {
					VMOVDQU(v, t.halves.Offset(32*i))
				}
				continue
			}
			t.rows(to, t.dstPitch, 8, func(i int, row reg.Register) {
				VMOVDQU(t.halves.Offset(32*i), free[0])
				t.store(row, free[0], columns[i])
			})
		}
		SUBQ(below, src)
		MOVQ(t.row, to)
	})
}

func place(size, i int, at Mem, a []reg.VecPhysical, free reg.VecPhysical) {
	switch {
	case size == 2 && i < 8:
		VMOVDQU(at, a[i].AsX())
	case size == 2:
		VINSERTI128(Imm(1), at, a[i-8], a[i-8])
	case i < 16 && i%2 == 0:
		VMOVQ(at, a[i/2].AsX())
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
	loop("part", left, func() {
		part(src, to)
		ADDQ(t.dstPitch, to)
		ADDQ(Imm(uint64(group/n)), src)
	})
}
