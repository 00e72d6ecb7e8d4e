package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mostZipped is the most rows that are interleaved: each needs two registers, and two are
// temporary.
const mostZipped = 7

// A lane, 16 bytes, of each of n rows holds the elements of n interleaved lanes, whatever their
// size. Masks for shuffles within lanes select the bytes that a lane contributes to each other lane.

const zipper = "func(dst, src, masks *byte, groups, pitch, n, past int)"

// eachN makes the code for n rows, each for stores to the caches and past them.
func eachN(code func(n int, past bool)) {
	each("n", []int{2, 3, 4, 5, 6, mostZipped}, func(n int) {
		stores(func(past bool) { code(n, past) })
	})
}

func zipLoop(body func(dst, src, masks, pitch reg.Register), dstStep, srcStep int) {
	dst, src, masks := Load(Param("dst"), GP64()), Load(Param("src"), GP64()),
		Load(Param("masks"), GP64())
	groups, pitch := Load(Param("groups"), GP64()), Load(Param("pitch"), GP64())
	label("group")
	body(dst, src, masks, pitch)
	ADDQ(U32(dstStep), dst)
	ADDQ(U32(srcStep), src)
	DECQ(groups)
	JNZ(ref("group"))
	end()
}

// zip reads half a line of each row and writes n halves, twice a group.
func zip() {
	function("zipAVX2", zipper, "reads 64 B of each of n rows a group, and writes these n * 64 B "+
		"interleaved, once.")
	eachN(func(n int, past bool) {
		rows, made, free, t := ymm[:n], ymm[n:2*n], ymm[2*n], tileArgs{row: GP64()}
		zipLoop(func(dst, src, masks, pitch reg.Register) {
			for half := range 2 {
				t.rows(src, pitch, n, func(i int, row reg.Register) {
					VMOVDQU(Mem{Base: row, Disp: 32 * half}, rows[i])
				})
				for k, to := range made {
					shuffled(rows, to, free, Mem{Base: masks, Disp: 32 * n * k})
				}
				// Lane m of the output is half of a register; all lower halves come first.
				lane := func(m int) (v reg.VecPhysical, half int) { return made[m%n], m / n }
				for j, v := range rows {
					low, a := lane(2 * j)
					high, b := lane(2*j + 1)
					VPERM2I128(Imm(uint64(a|(2+b)<<4)), high, low, v)
					store(past, v, Mem{Base: dst, Disp: 32 * (n*half + j)})
				}
			}
		}, group*n, group)
	})
}

// unzip reads n lines, and writes each row's line whole, because partial lines past the caches
// leave slowly.
func unzip() {
	function("unzipAVX2", zipper, "reads n * 64 B a group, and writes 64 B of them to each of n "+
		"rows, once.")
	eachN(func(n int, past bool) {
		free, to, t := ymm[2*n], ymm[2*n+1], tileArgs{row: GP64()}
		zipLoop(func(dst, src, masks, pitch reg.Register) {
			lanes := lanesOf(src, n)
			t.rows(dst, pitch, n, func(i int, row reg.Register) {
				for half := range 2 {
					shuffled(lanes[half], to, free, Mem{Base: masks, Disp: 32 * n * i})
					store(past, to, Mem{Base: row, Disp: 32 * half})
				}
			})
		}, group, group*n)
	})
}

// lanesOf reads n lines: register k has lane k of both halves, for each half of the lines.
func lanesOf(src reg.Register, n int) [2][]reg.VecPhysical {
	lanes := [2][]reg.VecPhysical{ymm[:n], ymm[n : 2*n]}
	for half := range 2 {
		for k := range n {
			at := Mem{Base: src, Disp: 16 * (2*n*half + k)}
			VMOVDQU(at, xmm[n*half+k])
			VINSERTI128(Imm(1), at.Offset(16*n), lanes[half][k], lanes[half][k])
		}
	}
	return lanes
}

func pick() {
	function("pickAVX2", "func(dst, src, masks *byte, groups int, asked uintptr, n, past int)",
		"reads n * 64 B a group, and writes 64 B of them, those of one of n rows. It asks for lines "+
			"from asked on.")
	eachN(func(n int, past bool) {
		free, to := ymm[2*n], ymm[2*n+1]
		dst, src, masks := Load(Param("dst"), GP64()), Load(Param("src"), GP64()),
			Load(Param("masks"), GP64())
		groups, asked := Load(Param("groups"), GP64()), Load(Param("asked"), GP64())
		label("group")
		lanes := lanesOf(src, n)
		for half := range 2 {
			shuffled(lanes[half], to, free, Mem{Base: masks})
			store(past, to, Mem{Base: dst, Disp: 32 * half})
		}
		PREFETCHT1(Mem{Base: asked})
		ADDQ(Imm(group), dst)
		ADDQ(U32(group*n), src)
		ADDQ(Imm(group), asked)
		DECQ(groups)
		JNZ(ref("group"))
		end()
	})
}

func shuffled(of []reg.VecPhysical, to, free reg.VecPhysical, masks Mem) {
	for i, v := range of {
		if i == 0 {
			VPSHUFB(masks, v, to)
			continue
		}
		VPSHUFB(masks.Offset(32*i), v, free)
		VPOR(free, to, to)
	}
}
