// The kernels in NEON, written by hand. What they read and write is what package
// kernel's plans say, in that order: TestMachineCode runs the addresses.

#include "textflag.h"

// The assembler has no names for the vector additions of floats: m + n becomes d.
#define FADD_S4(m, n, d) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FADD_D2(m, n, d) WORD $(0x4E60D400 | (m)<<16 | (n)<<5 | (d))

// PAIR is a step of a transposition by halves: of vectors m and n, parts of a size
// that lie at even places go to c and those at odd places to d, in turns.
#define PAIR(T, m, n, c, d) \
	VTRN1 n.T, m.T, c.T \
	VTRN2 n.T, m.T, d.T

// Sums add rows of groups of 64 B to 512 B of lanes, each row from the first lane
// on. The lanes stay in memory: all registers together would hold just them.

// func addInt32NEON(lanes, x *byte, groups, rows, pitch int)
TEXT ·addInt32NEON(SB), NOSPLIT, $0-48
	MOVD lanes+0(FP), R0
	MOVD x+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD pitch+32(FP), R4
	CBZ  R2, done
	CBZ  R3, done

row:
	MOVD R1, R5
	MOVD R2, R6
	MOVD $0, R7

group:
	ADD  R7, R0, R8
	VLD1.P 64(R5), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	VADD V0.S4, V4.S4, V4.S4
	VADD V1.S4, V5.S4, V5.S4
	VADD V2.S4, V6.S4, V6.S4
	VADD V3.S4, V7.S4, V7.S4
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R8)
	ADD  $64, R7
	AND  $511, R7
	SUB  $1, R6
	CBNZ R6, group
	ADD  R4, R1
	SUB  $1, R3
	CBNZ R3, row

done:
	RET

// func addFloat32NEON(lanes, x *byte, groups, rows, pitch int)
TEXT ·addFloat32NEON(SB), NOSPLIT, $0-48
	MOVD lanes+0(FP), R0
	MOVD x+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD pitch+32(FP), R4
	CBZ  R2, done
	CBZ  R3, done

row:
	MOVD R1, R5
	MOVD R2, R6
	MOVD $0, R7

group:
	ADD  R7, R0, R8
	VLD1.P 64(R5), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	FADD_S4(0, 4, 4)
	FADD_S4(1, 5, 5)
	FADD_S4(2, 6, 6)
	FADD_S4(3, 7, 7)
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R8)
	ADD  $64, R7
	AND  $511, R7
	SUB  $1, R6
	CBNZ R6, group
	ADD  R4, R1
	SUB  $1, R3
	CBNZ R3, row

done:
	RET

// func addFloat64NEON(lanes, x *byte, groups, rows, pitch int)
TEXT ·addFloat64NEON(SB), NOSPLIT, $0-48
	MOVD lanes+0(FP), R0
	MOVD x+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD pitch+32(FP), R4
	CBZ  R2, done
	CBZ  R3, done

row:
	MOVD R1, R5
	MOVD R2, R6
	MOVD $0, R7

group:
	ADD  R7, R0, R8
	VLD1.P 64(R5), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	FADD_D2(0, 4, 4)
	FADD_D2(1, 5, 5)
	FADD_D2(2, 6, 6)
	FADD_D2(3, 7, 7)
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R8)
	ADD  $64, R7
	AND  $511, R7
	SUB  $1, R6
	CBNZ R6, group
	ADD  R4, R1
	SUB  $1, R3
	CBNZ R3, row

done:
	RET

// fillNEON writes each of the rows of groups of 64 B once.
//
// func fillNEON(dst *byte, value uint64, groups, rows, pitch int)
TEXT ·fillNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD value+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD pitch+32(FP), R4
	CBZ  R2, done
	CBZ  R3, done
	VDUP R1, V0.D2
	VDUP R1, V1.D2
	VDUP R1, V2.D2
	VDUP R1, V3.D2

row:
	MOVD R0, R5
	MOVD R2, R6

group:
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R5)
	SUB  $1, R6
	CBNZ R6, group
	ADD  R4, R0
	SUB  $1, R3
	CBNZ R3, row

done:
	RET

// copyNEON reads and writes each of the rows of groups of 64 B once.
//
// func copyNEON(dst, src *byte, groups, rows, dstPitch, srcPitch int)
TEXT ·copyNEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD dstPitch+32(FP), R4
	MOVD srcPitch+40(FP), R5
	CBZ  R2, done
	CBZ  R3, done

row:
	MOVD R0, R6
	MOVD R1, R7
	MOVD R2, R8

group:
	VLD1.P 16(R7), [V0.B16]
	VST1.P [V0.B16], 16(R6)
	VLD1.P 16(R7), [V1.B16]
	VST1.P [V1.B16], 16(R6)
	VLD1.P 16(R7), [V2.B16]
	VST1.P [V2.B16], 16(R6)
	VLD1.P 16(R7), [V3.B16]
	VST1.P [V3.B16], 16(R6)
	SUB  $1, R8
	CBNZ R8, group
	ADD  R4, R0
	ADD  R5, R1
	SUB  $1, R3
	CBNZ R3, row

done:
	RET

// Transpositions read and write n tiles, each 64 B a row and as many rows as that
// has elements. A tile is four parts of 16 B a row, and a part four squares of as
// many rows as 16 B have elements, which are transposed in registers.

// func transpose1NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
TEXT ·transpose1NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dstPitch+24(FP), R3
	MOVD srcPitch+32(FP), R4
	MOVD dstStep+40(FP), R5
	MOVD srcStep+48(FP), R6
	LSL  $4, R3, R7 // from the columns of a part to those of the next
	CBZ  R2, done

tile:
	MOVD R0, R8
	MOVD R1, R9
	MOVD $4, R10

part:
	MOVD R8, R11
	MOVD R9, R12
	MOVD $4, R13

square:
	VLD1.P (R12)(R4), [V0.B16]
	VLD1.P (R12)(R4), [V1.B16]
	VLD1.P (R12)(R4), [V2.B16]
	VLD1.P (R12)(R4), [V3.B16]
	VLD1.P (R12)(R4), [V4.B16]
	VLD1.P (R12)(R4), [V5.B16]
	VLD1.P (R12)(R4), [V6.B16]
	VLD1.P (R12)(R4), [V7.B16]
	VLD1.P (R12)(R4), [V8.B16]
	VLD1.P (R12)(R4), [V9.B16]
	VLD1.P (R12)(R4), [V10.B16]
	VLD1.P (R12)(R4), [V11.B16]
	VLD1.P (R12)(R4), [V12.B16]
	VLD1.P (R12)(R4), [V13.B16]
	VLD1.P (R12)(R4), [V14.B16]
	VLD1.P (R12)(R4), [V15.B16]
	PAIR(B16, V0, V1, V16, V17)
	PAIR(B16, V2, V3, V18, V19)
	PAIR(B16, V4, V5, V20, V21)
	PAIR(B16, V6, V7, V22, V23)
	PAIR(B16, V8, V9, V24, V25)
	PAIR(B16, V10, V11, V26, V27)
	PAIR(B16, V12, V13, V28, V29)
	PAIR(B16, V14, V15, V30, V31)
	PAIR(H8, V16, V18, V0, V2)
	PAIR(H8, V17, V19, V1, V3)
	PAIR(H8, V20, V22, V4, V6)
	PAIR(H8, V21, V23, V5, V7)
	PAIR(H8, V24, V26, V8, V10)
	PAIR(H8, V25, V27, V9, V11)
	PAIR(H8, V28, V30, V12, V14)
	PAIR(H8, V29, V31, V13, V15)
	PAIR(S4, V0, V4, V16, V20)
	PAIR(S4, V1, V5, V17, V21)
	PAIR(S4, V2, V6, V18, V22)
	PAIR(S4, V3, V7, V19, V23)
	PAIR(S4, V8, V12, V24, V28)
	PAIR(S4, V9, V13, V25, V29)
	PAIR(S4, V10, V14, V26, V30)
	PAIR(S4, V11, V15, V27, V31)
	PAIR(D2, V16, V24, V0, V8)
	PAIR(D2, V17, V25, V1, V9)
	PAIR(D2, V18, V26, V2, V10)
	PAIR(D2, V19, V27, V3, V11)
	PAIR(D2, V20, V28, V4, V12)
	PAIR(D2, V21, V29, V5, V13)
	PAIR(D2, V22, V30, V6, V14)
	PAIR(D2, V23, V31, V7, V15)
	MOVD R11, R14
	VST1.P [V0.B16], (R14)(R3)
	VST1.P [V1.B16], (R14)(R3)
	VST1.P [V2.B16], (R14)(R3)
	VST1.P [V3.B16], (R14)(R3)
	VST1.P [V4.B16], (R14)(R3)
	VST1.P [V5.B16], (R14)(R3)
	VST1.P [V6.B16], (R14)(R3)
	VST1.P [V7.B16], (R14)(R3)
	VST1.P [V8.B16], (R14)(R3)
	VST1.P [V9.B16], (R14)(R3)
	VST1.P [V10.B16], (R14)(R3)
	VST1.P [V11.B16], (R14)(R3)
	VST1.P [V12.B16], (R14)(R3)
	VST1.P [V13.B16], (R14)(R3)
	VST1.P [V14.B16], (R14)(R3)
	VST1.P [V15.B16], (R14)(R3)
	ADD  $16, R11
	SUB  $1, R13
	CBNZ R13, square
	ADD  R7, R8
	ADD  $16, R9
	SUB  $1, R10
	CBNZ R10, part
	ADD  R5, R0
	ADD  R6, R1
	SUB  $1, R2
	CBNZ R2, tile

done:
	RET

// func transpose2NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
TEXT ·transpose2NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dstPitch+24(FP), R3
	MOVD srcPitch+32(FP), R4
	MOVD dstStep+40(FP), R5
	MOVD srcStep+48(FP), R6
	LSL  $3, R3, R7 // from the columns of a part to those of the next
	CBZ  R2, done

tile:
	MOVD R0, R8
	MOVD R1, R9
	MOVD $4, R10

part:
	MOVD R8, R11
	MOVD R9, R12
	MOVD $4, R13

square:
	VLD1.P (R12)(R4), [V0.B16]
	VLD1.P (R12)(R4), [V1.B16]
	VLD1.P (R12)(R4), [V2.B16]
	VLD1.P (R12)(R4), [V3.B16]
	VLD1.P (R12)(R4), [V4.B16]
	VLD1.P (R12)(R4), [V5.B16]
	VLD1.P (R12)(R4), [V6.B16]
	VLD1.P (R12)(R4), [V7.B16]
	PAIR(H8, V0, V1, V16, V17)
	PAIR(H8, V2, V3, V18, V19)
	PAIR(H8, V4, V5, V20, V21)
	PAIR(H8, V6, V7, V22, V23)
	PAIR(S4, V16, V18, V0, V2)
	PAIR(S4, V17, V19, V1, V3)
	PAIR(S4, V20, V22, V4, V6)
	PAIR(S4, V21, V23, V5, V7)
	PAIR(D2, V0, V4, V16, V20)
	PAIR(D2, V1, V5, V17, V21)
	PAIR(D2, V2, V6, V18, V22)
	PAIR(D2, V3, V7, V19, V23)
	MOVD R11, R14
	VST1.P [V16.B16], (R14)(R3)
	VST1.P [V17.B16], (R14)(R3)
	VST1.P [V18.B16], (R14)(R3)
	VST1.P [V19.B16], (R14)(R3)
	VST1.P [V20.B16], (R14)(R3)
	VST1.P [V21.B16], (R14)(R3)
	VST1.P [V22.B16], (R14)(R3)
	VST1.P [V23.B16], (R14)(R3)
	ADD  $16, R11
	SUB  $1, R13
	CBNZ R13, square
	ADD  R7, R8
	ADD  $16, R9
	SUB  $1, R10
	CBNZ R10, part
	ADD  R5, R0
	ADD  R6, R1
	SUB  $1, R2
	CBNZ R2, tile

done:
	RET

// func transpose4NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
TEXT ·transpose4NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dstPitch+24(FP), R3
	MOVD srcPitch+32(FP), R4
	MOVD dstStep+40(FP), R5
	MOVD srcStep+48(FP), R6
	LSL  $2, R3, R7 // from the columns of a part to those of the next
	CBZ  R2, done

tile:
	MOVD R0, R8
	MOVD R1, R9
	MOVD $4, R10

part:
	MOVD R8, R11
	MOVD R9, R12
	MOVD $4, R13

square:
	VLD1.P (R12)(R4), [V0.B16]
	VLD1.P (R12)(R4), [V1.B16]
	VLD1.P (R12)(R4), [V2.B16]
	VLD1.P (R12)(R4), [V3.B16]
	PAIR(S4, V0, V1, V16, V17)
	PAIR(S4, V2, V3, V18, V19)
	PAIR(D2, V16, V18, V0, V2)
	PAIR(D2, V17, V19, V1, V3)
	MOVD R11, R14
	VST1.P [V0.B16], (R14)(R3)
	VST1.P [V1.B16], (R14)(R3)
	VST1.P [V2.B16], (R14)(R3)
	VST1.P [V3.B16], (R14)(R3)
	ADD  $16, R11
	SUB  $1, R13
	CBNZ R13, square
	ADD  R7, R8
	ADD  $16, R9
	SUB  $1, R10
	CBNZ R10, part
	ADD  R5, R0
	ADD  R6, R1
	SUB  $1, R2
	CBNZ R2, tile

done:
	RET

// func transpose8NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
TEXT ·transpose8NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dstPitch+24(FP), R3
	MOVD srcPitch+32(FP), R4
	MOVD dstStep+40(FP), R5
	MOVD srcStep+48(FP), R6
	LSL  $1, R3, R7 // from the columns of a part to those of the next
	CBZ  R2, done

tile:
	MOVD R0, R8
	MOVD R1, R9
	MOVD $4, R10

part:
	MOVD R8, R11
	MOVD R9, R12
	MOVD $4, R13

square:
	VLD1.P (R12)(R4), [V0.B16]
	VLD1.P (R12)(R4), [V1.B16]
	PAIR(D2, V0, V1, V16, V17)
	MOVD R11, R14
	VST1.P [V16.B16], (R14)(R3)
	VST1.P [V17.B16], (R14)(R3)
	ADD  $16, R11
	SUB  $1, R13
	CBNZ R13, square
	ADD  R7, R8
	ADD  $16, R9
	SUB  $1, R10
	CBNZ R10, part
	ADD  R5, R0
	ADD  R6, R1
	SUB  $1, R2
	CBNZ R2, tile

done:
	RET

// func transpose16NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
TEXT ·transpose16NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dstPitch+24(FP), R3
	MOVD srcPitch+32(FP), R4
	MOVD dstStep+40(FP), R5
	MOVD srcStep+48(FP), R6
	CBZ  R2, done

tile:
	MOVD R0, R8
	MOVD R1, R9
	MOVD $4, R10

part:
	MOVD R8, R11
	MOVD R9, R12
	MOVD $4, R13

element:
	VLD1.P (R12)(R4), [V0.B16]
	VST1.P [V0.B16], 16(R11)
	SUB  $1, R13
	CBNZ R13, element
	ADD  R3, R8
	ADD  $16, R9
	SUB  $1, R10
	CBNZ R10, part
	ADD  R5, R0
	ADD  R6, R1
	SUB  $1, R2
	CBNZ R2, tile

done:
	RET
