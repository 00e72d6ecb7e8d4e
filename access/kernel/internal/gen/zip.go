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
// size. Masks for shuffles within lanes select the bytes that a lane contributes to each other
// lane.
type zipArgs struct {
	dst, src, masks, pitch reg.Register
	n                      int
	past                   bool
}

// zipper makes a function that reads rows and writes them interleaved, or the reverse if apart.
// Function code moves a line of each row.
func zipper(name, doc string, apart bool, code func(z zipArgs, t tileArgs)) {
	function(name, "func(dst, src, masks *byte, groups, pitch, n, past int)", doc)
	each("n", []int{2, 3, 4, 5, 6, mostZipped}, func(n int) {
		stores(func(past bool) {
			z := zipArgs{arg("dst"), arg("src"), arg("masks"), arg("pitch"), n, past}
			t := tileArgs{row: GP64()}
			dstStep, srcStep := group*n, group
			if apart {
				dstStep, srcStep = srcStep, dstStep
			}
			loop("group", arg("groups"), func() {
				code(z, t)
				ADDQ(U32(dstStep), z.dst)
				ADDQ(U32(srcStep), z.src)
			})
			end()
		})
	})
}

// zip reads half a line of each row and writes n halves, twice a group.
func zip() {
	zipper("zipAVX2", "reads 64 B of each of n rows a group, and writes these n * 64 B "+
		"interleaved, once.", false, func(z zipArgs, t tileArgs) {
		rows, made, free := ymm[:z.n], ymm[z.n:2*z.n], ymm[2*z.n]
		for half := range 2 {
			t.rows(z.src, z.pitch, z.n, func(i int, row reg.Register) {
				VMOVDQU(at(row, 32*half), rows[i])
			})
			for k, to := range made {
				z.shuffled(k, rows, to, free)
			}
			// Lane m of the output is half of a register; all lower halves come first.
			lane := func(m int) (v reg.VecPhysical, half int) { return made[m%z.n], m / z.n }
			for j, v := range rows {
				low, a := lane(2 * j)
				high, b := lane(2*j + 1)
				VPERM2I128(Imm(uint64(a|(2+b)<<4)), high, low, v)
				store(z.past, v, at(z.dst, 32*(z.n*half+j)))
			}
		}
	})
}

// unzip reads n lines: register k has lane k of both halves, for each half of the lines. It writes
// each row's line whole, because partial lines past the caches leave slowly.
func unzip() {
	zipper("unzipAVX2", "reads n * 64 B a group, and writes 64 B of them to each of n rows, once.",
		true, func(z zipArgs, t tileArgs) {
			lanes, free, to := ymm[:2*z.n], ymm[2*z.n], ymm[2*z.n+1]
			for k, v := range lanes {
				from := at(z.src, 16*(k/z.n*2*z.n+k%z.n))
				VMOVDQU(from, v.AsX())
				VINSERTI128(Imm(1), from.Offset(16*z.n), v, v)
			}
			t.rows(z.dst, z.pitch, z.n, func(i int, row reg.Register) {
				for half := range 2 {
					z.shuffled(i, lanes[half*z.n:][:z.n], to, free)
					store(z.past, to, at(row, 32*half))
				}
			})
		})
}

// shuffled makes lane number made from lanes.
func (z zipArgs) shuffled(made int, lanes []reg.VecPhysical, to, free reg.VecPhysical) {
	for i, v := range lanes {
		masks := at(z.masks, 32*(z.n*made+i))
		if i == 0 {
			VPSHUFB(masks, v, to)
			continue
		}
		VPSHUFB(masks, v, free)
		VPOR(free, to, to)
	}
}
