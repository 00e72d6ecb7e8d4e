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
		for _, a := range []adder{{l, "add", false}, {l, "addAsk", true}} {
			a.add("Int32", func(m, v Op) { VPADDD(m, v, v) })
			a.add("Float32", func(m, v Op) { VADDPS(m, v, v) })
			a.add("Float64", func(m, v Op) { VADDPD(m, v, v) })
			a.addNarrow("Float16", func(v, wide reg.VecPhysical) { VCVTPH2PS(v, wide) })
			a.addNarrow("BFloat16", func(v, wide reg.VecPhysical) {
				VPMOVZXWD(v, wide)
				VPSLLD(Imm(16), wide, wide)
			})
		}
		fill(l)
		copyRuns(l, "copy", func(v, m Op) { VMOVUPS(v, m) })
		copyRuns(l, "stream", func(v, m Op) { VMOVNTPS(v, m) })
	}
	for _, stream := range []bool{false, true} {
		name := map[bool]string{false: "transpose", true: "transposeStream"}[stream]
		for _, size := range []int{1, 2} {
			transpose(fmt.Sprint(name, size, "AVX2"), stream, func(t tileArgs) {
				t.narrowAVX2(size)
			})
			transpose(fmt.Sprint(name, size, "AVX512"), stream, func(t tileArgs) {
				t.narrowAVX512(size)
			})
		}
		transpose(name+"4AVX2", stream, tile4AVX2)
		transpose(name+"8AVX2", stream, tile8AVX2)
		transpose(name+"4AVX512", stream, tile4AVX512)
		transpose(name+"8AVX512", stream, tile8AVX512)
		transpose(name+"16AVX2", stream, tile16AVX2)
		transpose(name+"16AVX512", stream, tile16AVX512)
		pairs := map[bool]string{false: "transposePairs", true: "transposePairsStream"}[stream]
		transposePairs(pairs+"8AVX2", 8, stream, tile8AVX2)
		transposePairs(pairs+"8AVX512", 8, stream, tile8AVX512)
		transposePairs(pairs+"16AVX2", 16, stream, tile16AVX2)
		transposePairs(pairs+"16AVX512", 16, stream, tile16AVX512)
		for _, size := range []int{1, 2, 4, 8} {
			transposeBlock(fmt.Sprint(name, "Block", size, "AVX2"), size, stream)
		}
	}
	for _, size := range []int{1, 2, 4, 8} {
		gather(fmt.Sprint("gather", size, "AVX2"), size)
	}
	move()
	for _, of := range []struct {
		name    string
		vectors []reg.VecPhysical
	}{{"", ymm[:2]}, {"16", xmm[:4]}} {
		drain("drain"+of.name+"AVX2", of.vectors, func(v, m Op) { VMOVUPS(v, m) })
		drain("drainStream"+of.name+"AVX2", of.vectors, func(v, m Op) { VMOVNTPS(v, m) })
	}
	for n := 2; n <= mostZipped; n++ {
		zips(n)
	}
	askLines()
	fence()
	Generate()
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
	JNZ(LabelRef("row"))
	MOVQ(groups, left)
	SHRQ(Imm(3), left) // blocks of a row
	IMULQ(rows, left)
	TESTQ(left, left)
	JZ(LabelRef("done"))
	SHLQ(Imm(6), groups)
	ADDQ(o[0].base, groups) // the end of the row
	Label("repeated")
	Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", block))
	move(0, block)
	advance(U32(block))
	CMPQ(groups, o[0].at)
	for _, op := range o {
		CMOVQEQ(op.base, op.at)
	}
	DECQ(left)
	JNZ(LabelRef("repeated"))
	JMP(LabelRef("done"))
	Label("row")
	MOVQ(groups, left)
	SUBQ(Imm(block/group), left)
	JL(LabelRef("rest"))
	Label("whole")
	Comment(fmt.Sprintf("The measured loop: %d B of each operand an iteration.", block))
	move(0, block)
	advance(U32(block))
	SUBQ(Imm(block/group), left)
	JGE(LabelRef("whole"))
	Label("rest")
	ADDQ(Imm(block/group), left)
	for g := range block/group - 1 {
		TESTQ(left, left)
		JZ(LabelRef("next"))
		move(g*group, group)
		DECQ(left)
	}
	Label("next")
	nextRow()
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("done")
}

type rowOperand struct{ base, at, pitch reg.Register }

// An adder makes sums, which prefetch into the second level if asks.
type adder struct {
	level
	name string
	asks bool
}

func (a adder) begin(of, as string, lanes int) {
	ahead, asks := "", ""
	if a.asks {
		ahead, asks = ", ahead", ", and asks for every second one so many bytes ahead"
	}
	TEXT(a.name+of+a.level.name, NOSPLIT, "func(lanes, x *byte, groups, rows, pitch"+ahead+" int)")
	Doc(fmt.Sprintf("%s adds rows of groups of 64 B%s to %d B of lanes; it reads each group once%s.", a.name+of+a.level.name, as, lanes, asks))
	Pragma("noescape")
}

func (a adder) ahead() reg.Register {
	if !a.asks {
		return nil
	}
	return Load(Param("ahead"), GP64())
}

// ask prefetches the line ahead of every second line. Hardware fetches pairs of lines, and a
// repeated prefetch displaces another one. An EPYC of 2022 gave 29 GB/s with every second line, 22
// with each and 20 with none.
func (a adder) ask(at, ahead reg.Register, offset int) {
	if a.asks && offset%(2*group) == 0 {
		PREFETCHT1(Mem{Base: at, Index: ahead, Scale: 1, Disp: offset})
	}
}

// add adds a run's vectors to the lanes. It has 16 sums of AVX2 or 8 of AVX-512, so that additions
// do not wait for each other.
func (a adder) add(of string, add func(m, v Op)) {
	l := a.level
	a.begin(of, "", block)
	lanes, x := Load(Param("lanes"), GP64()), Load(Param("x"), GP64())
	pitch, ahead := Load(Param("pitch"), GP64()), a.ahead()
	at := GP64()
	sums := block / l.width
	for i := range sums {
		VMOVUPS(Mem{Base: lanes, Disp: i * l.width}, l.vector(i))
	}
	MOVQ(x, at)
	rowLoop(func(off, n int) {
		for o := off; o < off+n; o += l.width {
			a.ask(at, ahead, o)
			add(Mem{Base: at, Disp: o}, l.vector(o/l.width))
		}
	}, func(bytes Op) { ADDQ(bytes, at) }, func() {
		ADDQ(pitch, x)
		MOVQ(x, at)
	}, []rowOperand{{x, at, pitch}})
	for i := range sums {
		VMOVUPS(l.vector(i), Mem{Base: lanes, Disp: i * l.width})
	}
	end()
}

// addNarrow adds a run's vectors of 16-bit elements, widened to float32.
func (a adder) addNarrow(of string, widen func(v, wide reg.VecPhysical)) {
	l := a.level
	a.begin(of, ", as float32,", block/2)
	lanes, x := Load(Param("lanes"), GP64()), Load(Param("x"), GP64())
	pitch, ahead := Load(Param("pitch"), GP64()), a.ahead()
	at := GP64()
	sums := block / 2 / l.width
	for i := range sums {
		VMOVUPS(Mem{Base: lanes, Disp: i * l.width}, l.vector(i))
	}
	MOVQ(x, at)
	rowLoop(func(off, n int) {
		for o := off; o < off+n; o += l.width {
			a.ask(at, ahead, o)
			k := o / l.width // number of the vector
			v, low, high := l.vector(sums+3*(k%2)), l.vector(sums+3*(k%2)+1),
				l.vector(sums+3*(k%2)+2)
			VMOVUPS(Mem{Base: at, Disp: o}, v)
			half := l.half(v)
			widen(half, low)
			l.upper(v, half)
			widen(half, high)
			VADDPS(low, l.vector(2*k%sums), l.vector(2*k%sums))
			VADDPS(high, l.vector((2*k+1)%sums), l.vector((2*k+1)%sums))
		}
	}, func(bytes Op) { ADDQ(bytes, at) }, func() {
		ADDQ(pitch, x)
		MOVQ(x, at)
	}, []rowOperand{{x, at, pitch}})
	for i := range sums {
		VMOVUPS(l.vector(i), Mem{Base: lanes, Disp: i * l.width})
	}
	end()
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
	TEXT("fill"+l.name, NOSPLIT, "func(dst *byte, value uint64, groups, rows, pitch int)")
	Doc("fill" + l.name + " writes each of the rows of groups of 64 B once.")
	Pragma("noescape")
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
func copyRuns(l level, name string, store func(v, m Op)) {
	TEXT(name+l.name, NOSPLIT, "func(dst, src *byte, groups, rows, dstPitch, srcPitch int)")
	Doc("copy" + l.name + " reads and writes each of the rows of groups of 64 B once.")
	Pragma("noescape")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dstPitch, srcPitch := Load(Param("dstPitch"), GP64()), Load(Param("srcPitch"), GP64())
	to, from := GP64(), GP64()
	MOVQ(dst, to)
	MOVQ(src, from)
	rowLoop(func(off, n int) {
		for o := off; o < off+n; o += l.width {
			v := l.vector(o / l.width)
			VMOVUPS(Mem{Base: from, Disp: o}, v)
			store(v, Mem{Base: to, Disp: o})
		}
	}, func(bytes Op) { ADDQ(bytes, to); ADDQ(bytes, from) }, func() {
		ADDQ(dstPitch, dst)
		ADDQ(srcPitch, src)
		MOVQ(dst, to)
		MOVQ(src, from)
	}, []rowOperand{{dst, to, dstPitch}, {src, from, srcPitch}})
	end()
}

func end() {
	VZEROUPPER()
	RET()
}

// askLines makes the function that prefetches adjacent lines into the second level. It is separate
// because its loop is the same for all tiles, with a call for about sixteen lines.
func askLines() {
	TEXT("askLines", NOSPLIT, "func(asked uintptr, lines int)")
	Doc("askLines asks for so many lines, one behind the other. It never faults, whatever " +
		"lies there.")
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
