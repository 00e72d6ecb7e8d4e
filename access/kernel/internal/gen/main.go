// Gen writes the assembly of package kernel; `make generate` runs it.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// group is the bytes of a cache line. Rows are whole groups.
const group = 64

// block is the bytes of one iteration of the unrolled loops.
const block = 512

type level struct {
	name   string
	width  int // bytes of a vector
	vector []reg.VecPhysical
}

var ymm, zmm = vectors(reg.S256, 16), vectors(reg.S512, 32)

var levels = []level{{"AVX2", 32, ymm}, {"AVX512", 64, zmm}}

// vectors returns the first n vector registers of a width.
func vectors(width reg.Spec, n int) []reg.VecPhysical {
	all := make([]reg.VecPhysical, n)
	for i := range all {
		all[i] = reg.Vector.Lookup(reg.Index(i), width).(reg.VecPhysical)
	}
	return all
}

func main() {
	ConstraintExpr("amd64")
	for _, l := range levels {
		l.add("Int32", func(m, v Op) { VPADDD(m, v, v) })
		l.add("Float32", func(m, v Op) { VADDPS(m, v, v) })
		l.add("Float64", func(m, v Op) { VADDPD(m, v, v) })
		l.addNarrow("Float16", func(v, wide Op) { VCVTPH2PS(v, wide) })
		l.addNarrow("BFloat16", func(v, wide Op) {
			VPMOVZXWD(v, wide)
			VPSLLD(Imm(16), wide, wide)
		})
		fill(l)
		copyRuns(l)
		l.transposes("transpose", "tiles", false, 1, 2, 4, 8, 16)
		l.transposes("transposePairs", "pairs of tiles", true, 8, 16)
	}
	transposeBlock()
	gather()
	move()
	drain()
	zip()
	unzip()
	askLines()
	fence()
	Generate()
}

// variant ends the labels of the code that a function has for some values of its arguments.
var variant string

func label(name string) { Label(name + variant) }

func ref(name string) Op { return LabelRef(name + variant) }

// arg loads an argument of the function.
func arg(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// at is the memory at an address, disp bytes on.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// loop repeats code while it counts down to 0, at least once.
func loop(name string, trips reg.Register, code func()) {
	label(name)
	code()
	DECQ(trips)
	JNZ(ref(name))
}

// each makes the code of a function for each value of an argument.
func each(argument string, values []int, code func(value int)) {
	outer := variant
	defer func() { variant = outer }()
	of := arg(argument)
	for _, v := range values[1:] {
		CMPQ(of, Imm(uint64(v)))
		JZ(LabelRef(fmt.Sprint(argument, v, outer)))
	}
	for _, v := range values {
		variant = fmt.Sprint(argument, v, outer)
		Label(variant)
		code(v)
	}
}

// stores makes the code of a function for stores to the caches, and for stores past them.
func stores(code func(past bool)) { each("past", []int{0, 1}, func(v int) { code(v == 1) }) }

// function begins a function. Each ends itself.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
	Pragma("noescape")
}

// A run is an operand of run kernels: rows that begin pitch bytes apart.
type run struct{ base, at, pitch reg.Register }

func loadRun(base, pitch string) run {
	r := run{arg(base), GP64(), arg(pitch)}
	MOVQ(r.base, r.at)
	return r
}

// runs makes the loops of run kernels: each row is cut into blocks, and its rest into groups.
// Function move moves the vector at an offset within a row.
//
// Rows of whole blocks at the same place are one row repeated. They are one loop that returns to
// the beginning without a branch: a misprediction at the end of every row takes the time of a
// kilobyte of a first-level cache.
func (l level) runs(move func(off int), operands ...run) {
	moveAll := func(off, n int) {
		for o := off; o < off+n; o += l.width {
			move(o)
		}
	}
	moveBlock := func() {
		Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", block))
		moveAll(0, block)
		for _, op := range operands {
			ADDQ(U32(block), op.at)
		}
	}
	rows, groups := arg("rows"), arg("groups")
	left := GP64()
	MOVQ(groups, left)
	ANDQ(Imm(block/group-1), left)
	for _, op := range operands {
		ORQ(op.pitch, left)
	}
	TESTQ(left, left)
	JNZ(ref("row"))
	MOVQ(groups, left)
	SHRQ(Imm(3), left) // blocks of a row
	IMULQ(rows, left)
	TESTQ(left, left)
	JZ(ref("done"))
	SHLQ(Imm(6), groups)
	ADDQ(operands[0].base, groups) // the end of the row
	loop("repeated", left, func() {
		moveBlock()
		CMPQ(groups, operands[0].at)
		for _, op := range operands {
			CMOVQEQ(op.base, op.at)
		}
	})
	JMP(ref("done"))
	loop("row", rows, func() {
		MOVQ(groups, left)
		SUBQ(Imm(block/group), left)
		JL(ref("rest"))
		label("whole")
		moveBlock()
		SUBQ(Imm(block/group), left)
		JGE(ref("whole"))
		label("rest")
		ADDQ(Imm(block/group), left)
		for g := range block/group - 1 {
			TESTQ(left, left)
			JZ(ref("next"))
			moveAll(g*group, group)
			DECQ(left)
		}
		label("next")
		for _, op := range operands {
			ADDQ(op.pitch, op.base)
			MOVQ(op.base, op.at)
		}
	})
	label("done")
}

// sums makes a function that adds a run's vectors to the lanes, which are in registers. It
// prefetches into the second level if ahead is not 0: the line ahead of every second line. Hardware
// fetches pairs of lines, and a repeated prefetch displaces another one. An EPYC of 2022 gave 29
// GB/s with every second line, 22 with each and 20 with none.
func (l level) sums(of, as string, lanesBytes int, add func(at Mem, vector int)) {
	function("add"+of+l.name, "func(lanes, x *byte, groups, rows, pitch, ahead int)",
		fmt.Sprintf("adds rows of groups of 64 B%s to %d B of lanes; it reads each group once, "+
			"and asks for every second one that many bytes ahead unless that is 0.", as,
			lanesBytes))
	code := func(asks bool) {
		var ahead reg.Register
		if asks {
			ahead = arg("ahead")
		}
		lanes, x := arg("lanes"), loadRun("x", "pitch")
		held := l.vector[:lanesBytes/l.width]
		for i, v := range held {
			VMOVUPS(at(lanes, i*l.width), v)
		}
		l.runs(func(off int) {
			if asks && off%(2*group) == 0 {
				PREFETCHT1(Mem{Base: x.at, Index: ahead, Scale: 1, Disp: off})
			}
			add(at(x.at, off), off/l.width)
		}, x)
		for i, v := range held {
			VMOVUPS(v, at(lanes, i*l.width))
		}
		end()
	}
	ahead := arg("ahead")
	TESTQ(ahead, ahead)
	JNZ(ref("asks"))
	code(false)
	label("asks")
	variant = "Asks"
	code(true)
	variant = ""
}

// add has 16 sums of AVX2 or 8 of AVX-512, so that additions do not wait for each other.
func (l level) add(of string, add func(m, v Op)) {
	l.sums(of, "", block, func(at Mem, i int) { add(at, l.vector[i]) })
}

// addNarrow adds 16-bit elements, widened to float32.
func (l level) addNarrow(of string, widen func(v, wide Op)) {
	sums := l.vector[:block/2/l.width]
	l.sums(of, ", as float32,", block/2, func(at Mem, k int) {
		free := l.vector[len(sums)+3*(k%2):]
		v, low, high := free[0], free[1], free[2]
		VMOVUPS(at, v)
		half := v.AsX()
		if l.width == 64 {
			half = v.AsY()
		}
		widen(half, low)
		if l.width == 64 {
			VEXTRACTF64X4(Imm(1), v, half)
		} else {
			VEXTRACTF128(Imm(1), v, half)
		}
		widen(half, high)
		for i, wide := range []Op{low, high} {
			sum := sums[(2*k+i)%len(sums)]
			VADDPS(wide, sum, sum)
		}
	})
}

func fill(l level) {
	function("fill"+l.name, "func(dst *byte, value uint64, groups, rows, pitch int)",
		"writes each of the rows of groups of 64 B once.")
	VPBROADCASTQ(NewParamAddr("value", 8), l.vector[0])
	dst := loadRun("dst", "pitch")
	l.runs(func(off int) { VMOVUPS(l.vector[0], at(dst.at, off)) }, dst)
	end()
}

// copyRuns copies vector by vector in ascending order.
func copyRuns(l level) {
	function("copy"+l.name, "func(dst, src *byte, groups, rows, dstPitch, srcPitch, past int)",
		"reads and writes each of the rows of groups of 64 B once.")
	stores(func(past bool) {
		dst, src := loadRun("dst", "dstPitch"), loadRun("src", "srcPitch")
		l.runs(func(off int) {
			v := l.vector[off/l.width]
			VMOVUPS(at(src.at, off), v)
			store(past, v, at(dst.at, off))
		}, dst, src)
		end()
	})
}

// store writes a vector, to the caches or past them.
func store(past bool, v, m Op) {
	if past {
		VMOVNTPS(v, m)
	} else {
		VMOVUPS(v, m)
	}
}

func end() {
	VZEROUPPER()
	RET()
}

// askLines makes the function that prefetches adjacent lines into the second level. It is separate
// because its loop is the same for all tiles, with a call for about sixteen lines.
func askLines() {
	TEXT("askLines", NOSPLIT, "func(asked uintptr, lines int)")
	Doc("askLines asks for adjacent lines. It never faults, whatever lies there.")
	asked := arg("asked")
	loop("line", arg("lines"), func() {
		PREFETCHT1(at(asked, 0))
		ADDQ(Imm(group), asked)
	})
	RET()
}

// fence makes the function that ends a copy past the caches, whose stores are not ordered with
// others. It waits until these stores have left, so after each part of a copy the next reads would
// wait too.
func fence() {
	TEXT("fence", NOSPLIT, "func()")
	Doc("fence waits until stores past the caches are seen by all.")
	SFENCE()
	RET()
}
