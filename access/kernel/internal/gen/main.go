// Gen writes the assembly of package kernel; `make generate` runs it.
package main

import (
	"fmt"
	"slices"

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
	vector func(i int) reg.VecPhysical
}

var levels = []level{
	{"AVX2", 32, func(i int) reg.VecPhysical { return ymm[i] }},
	{"AVX512", 64, func(i int) reg.VecPhysical { return zmm[i] }},
}

var ymm = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
	reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}

var xmm = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
	reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15}

var zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
	reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}

func main() {
	ConstraintExpr("amd64")
	for _, l := range levels {
		l.add("Int32", func(m, v Op) { VPADDD(m, v, v) })
		l.add("Float32", func(m, v Op) { VADDPS(m, v, v) })
		l.add("Float64", func(m, v Op) { VADDPD(m, v, v) })
		l.addNarrow("Float16", func(v, wide reg.VecPhysical) { VCVTPH2PS(v, wide) })
		l.addNarrow("BFloat16", func(v, wide reg.VecPhysical) {
			VPMOVZXWD(v, wide)
			VPSLLD(Imm(16), wide, wide)
		})
		fill(l)
		copyRuns(l)
		transpose(l)
		transposePairs(l)
	}
	transposeBlock()
	gather()
	move()
	drain()
	zip()
	unzip()
	pick()
	askLines()
	fence()
	Generate()
}

// variant ends the labels of the code that a function has for some values of its arguments.
var variant string

func label(name string) { Label(name + variant) }

func ref(name string) Op { return LabelRef(name + variant) }

// each makes the code of a function for each value of an argument.
func each(argument string, values []int, code func(value int)) {
	outer := variant
	defer func() { variant = outer }()
	of := Load(Param(argument), GP64())
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

// rowLoop makes the loops of run kernels: each row is cut into blocks, and its rest into groups.
// Function move moves n bytes from offset off, advance steps within a row, and nextRow goes to the
// next row.
//
// Rows of whole blocks at the same place are one row repeated. They are one loop that returns to
// the beginning without a branch: a misprediction at the end of every row takes the time of a
// kilobyte of a first-level cache.
func rowLoop(move func(off, n int), advance func(bytes Op), nextRow func(), o []rowOperand) {
	rows, groups := Load(Param("rows"), GP64()), Load(Param("groups"), GP64())
	left := GP64()
	MOVQ(groups, left)
	ANDQ(Imm(block/group-1), left)
	for _, op := range o {
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
	ADDQ(o[0].base, groups) // the end of the row
	label("repeated")
	Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", block))
	move(0, block)
	advance(U32(block))
	CMPQ(groups, o[0].at)
	for _, op := range o {
		CMOVQEQ(op.base, op.at)
	}
	DECQ(left)
	JNZ(ref("repeated"))
	JMP(ref("done"))
	label("row")
	MOVQ(groups, left)
	SUBQ(Imm(block/group), left)
	JL(ref("rest"))
	label("whole")
	Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", block))
	move(0, block)
	advance(U32(block))
	SUBQ(Imm(block/group), left)
	JGE(ref("whole"))
	label("rest")
	ADDQ(Imm(block/group), left)
	for g := range block/group - 1 {
		TESTQ(left, left)
		JZ(ref("next"))
		move(g*group, group)
		DECQ(left)
	}
	label("next")
	nextRow()
	DECQ(rows)
	JNZ(ref("row"))
	label("done")
}

type rowOperand struct{ base, at, pitch reg.Register }

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
			ahead = Load(Param("ahead"), GP64())
		}
		lanes, x := Load(Param("lanes"), GP64()), Load(Param("x"), GP64())
		pitch, at := Load(Param("pitch"), GP64()), GP64()
		for i := range lanesBytes / l.width {
			VMOVUPS(Mem{Base: lanes, Disp: i * l.width}, l.vector(i))
		}
		MOVQ(x, at)
		rowLoop(func(off, n int) {
			for o := off; o < off+n; o += l.width {
				if asks && o%(2*group) == 0 {
					PREFETCHT1(Mem{Base: at, Index: ahead, Scale: 1, Disp: o})
				}
				add(Mem{Base: at, Disp: o}, o/l.width)
			}
		}, func(bytes Op) { ADDQ(bytes, at) }, func() {
			ADDQ(pitch, x)
			MOVQ(x, at)
		}, []rowOperand{{x, at, pitch}})
		for i := range lanesBytes / l.width {
			VMOVUPS(l.vector(i), Mem{Base: lanes, Disp: i * l.width})
		}
		end()
	}
	ahead := Load(Param("ahead"), GP64())
	TESTQ(ahead, ahead)
	JNZ(LabelRef("asks"))
	code(false)
	Label("asks")
	variant = "Asks"
	code(true)
	variant = ""
}

// add has 16 sums of AVX2 or 8 of AVX-512, so that additions do not wait for each other.
func (l level) add(of string, add func(m, v Op)) {
	l.sums(of, "", block, func(at Mem, i int) { add(at, l.vector(i)) })
}

// addNarrow adds 16-bit elements, widened to float32.
func (l level) addNarrow(of string, widen func(v, wide reg.VecPhysical)) {
	sums := block / 2 / l.width
	l.sums(of, ", as float32,", block/2, func(at Mem, k int) {
		v, low, high := l.vector(sums+3*(k%2)), l.vector(sums+3*(k%2)+1), l.vector(sums+3*(k%2)+2)
		VMOVUPS(at, v)
		half := l.half(v)
		widen(half, low)
		l.upper(v, half)
		widen(half, high)
		VADDPS(low, l.vector(2*k%sums), l.vector(2*k%sums))
		VADDPS(high, l.vector((2*k+1)%sums), l.vector((2*k+1)%sums))
	})
}

func (l level) half(v reg.VecPhysical) reg.VecPhysical {
	all, halves := ymm, xmm
	if l.width == 64 {
		all, halves = zmm[:16], ymm
	}
	return halves[slices.Index(all, v)]
}

func (l level) upper(v, half reg.VecPhysical) {
	if l.width == 64 {
		VEXTRACTF64X4(Imm(1), v, half)
		return
	}
	VEXTRACTF128(Imm(1), v, half)
}

func fill(l level) {
	function("fill"+l.name, "func(dst *byte, value uint64, groups, rows, pitch int)",
		"writes each of the rows of groups of 64 B once.")
	dst := Load(Param("dst"), GP64())
	VPBROADCASTQ(NewParamAddr("value", 8), l.vector(0))
	pitch := Load(Param("pitch"), GP64())
	at := GP64()
	MOVQ(dst, at)
	rowLoop(func(off, n int) {
		for o := off; o < off+n; o += l.width {
			VMOVUPS(l.vector(0), Mem{Base: at, Disp: o})
		}
	}, func(bytes Op) { ADDQ(bytes, at) }, func() {
		ADDQ(pitch, dst)
		MOVQ(dst, at)
	}, []rowOperand{{dst, at, pitch}})
	end()
}

// copyRuns copies vector by vector in ascending order.
func copyRuns(l level) {
	function("copy"+l.name, "func(dst, src *byte, groups, rows, dstPitch, srcPitch, past int)",
		"reads and writes each of the rows of groups of 64 B once.")
	stores(func(past bool) {
		dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
		dstPitch, srcPitch := Load(Param("dstPitch"), GP64()), Load(Param("srcPitch"), GP64())
		to, from := GP64(), GP64()
		MOVQ(dst, to)
		MOVQ(src, from)
		rowLoop(func(off, n int) {
			for o := off; o < off+n; o += l.width {
				v := l.vector(o / l.width)
				VMOVUPS(Mem{Base: from, Disp: o}, v)
				store(past, v, Mem{Base: to, Disp: o})
			}
		}, func(bytes Op) { ADDQ(bytes, to); ADDQ(bytes, from) }, func() {
			ADDQ(dstPitch, dst)
			ADDQ(srcPitch, src)
			MOVQ(dst, to)
			MOVQ(src, from)
		}, []rowOperand{{dst, to, dstPitch}, {src, from, srcPitch}})
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
	asked, lines := Load(Param("asked"), GP64()), Load(Param("lines"), GP64())
	Label("line")
	PREFETCHT1(Mem{Base: asked})
	ADDQ(Imm(group), asked)
	DECQ(lines)
	JNZ(LabelRef("line"))
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
