#include "go_asm.h"
#include "textflag.h"

// Lane j of turns[p] is the source of lane j of a row when the line in lane p moves to the front.
// Lanes 0 to p-1 move up by one, and those after p stay.
DATA ·turns+0(SB)/8, $0x0000000100000000
DATA ·turns+8(SB)/8, $0x0000000300000002
DATA ·turns+16(SB)/8, $0x0000000500000004
DATA ·turns+24(SB)/8, $0x0000000700000006
DATA ·turns+32(SB)/8, $0x0000000000000001
DATA ·turns+40(SB)/8, $0x0000000300000002
DATA ·turns+48(SB)/8, $0x0000000500000004
DATA ·turns+56(SB)/8, $0x0000000700000006
DATA ·turns+64(SB)/8, $0x0000000000000002
DATA ·turns+72(SB)/8, $0x0000000300000001
DATA ·turns+80(SB)/8, $0x0000000500000004
DATA ·turns+88(SB)/8, $0x0000000700000006
DATA ·turns+96(SB)/8, $0x0000000000000003
DATA ·turns+104(SB)/8, $0x0000000200000001
DATA ·turns+112(SB)/8, $0x0000000500000004
DATA ·turns+120(SB)/8, $0x0000000700000006
DATA ·turns+128(SB)/8, $0x0000000000000004
DATA ·turns+136(SB)/8, $0x0000000200000001
DATA ·turns+144(SB)/8, $0x0000000500000003
DATA ·turns+152(SB)/8, $0x0000000700000006
DATA ·turns+160(SB)/8, $0x0000000000000005
DATA ·turns+168(SB)/8, $0x0000000200000001
DATA ·turns+176(SB)/8, $0x0000000400000003
DATA ·turns+184(SB)/8, $0x0000000700000006
DATA ·turns+192(SB)/8, $0x0000000000000006
DATA ·turns+200(SB)/8, $0x0000000200000001
DATA ·turns+208(SB)/8, $0x0000000400000003
DATA ·turns+216(SB)/8, $0x0000000700000005
DATA ·turns+224(SB)/8, $0x0000000000000007
DATA ·turns+232(SB)/8, $0x0000000200000001
DATA ·turns+240(SB)/8, $0x0000000400000003
DATA ·turns+248(SB)/8, $0x0000000600000005
GLOBL ·turns(SB), RODATA|NOPTR, $256

// func frontAVX2(row *uint32, n int, line uint32) (place int)
//
// frontAVX2 is frontGo for rows of a multiple of 4, by fours.
//
//	DI row  CX lines left  AX place  X1 line in all lanes  X0 four lines  X2 those before
TEXT ·frontAVX2(SB), NOSPLIT, $0-32
	MOVQ row+0(FP), DI
	MOVQ n+8(FP), CX
	MOVL line+16(FP), AX
	VMOVD AX, X1
	VPBROADCASTD X1, X1
	VMOVDQA X1, X2
	XORL AX, AX

four:
	VMOVDQU (DI)(AX*4), X0
	VPALIGNR $12, X2, X0, X3
	VPCMPEQD X0, X1, X4
	VMOVMSKPS X4, DX
	TESTL DX, DX
	JNE  found
	VMOVDQU X3, (DI)(AX*4)
	VMOVDQA X0, X2
	ADDQ $4, AX
	CMPQ AX, CX
	JB   four
	MOVQ AX, place+24(FP)
	RET

found:
	TZCNTL DX, DX
	LEAQ (AX)(DX*1), CX
	MOVQ CX, place+24(FP)
	NEGQ DX
	LEAQ ·upTo+60(SB), R10
	VMOVDQU (R10)(DX*4), X4
	VPBLENDVB X4, X3, X0, X0
	VMOVDQU X0, (DI)(AX*4)
	RET

// func meetAVX2(row, heads *uint32, n int) (missing uint64)
//
// meetAVX2 is meetGo for rows of 8.
//
//	SI heads  CX number of heads  DI row  DX head  AX missing  R9 turns
//	Y0 row  Y1 head in all lanes
TEXT ·meetAVX2(SB), NOSPLIT, $0-32
	MOVQ row+0(FP), DI
	MOVQ heads+8(FP), SI
	MOVQ n+16(FP), CX
	VMOVDQU (DI), Y0
	XORL AX, AX
	XORL DX, DX
	LEAQ ·turns(SB), R9

	// Mostly, all heads are absent. Lines past the heads may be present, which does no harm.
	VPBROADCASTD (SI), Y1
	VPCMPEQD Y0, Y1, Y2
	VPBROADCASTD 4(SI), Y3
	VPCMPEQD Y0, Y3, Y4
	VPOR Y2, Y4, Y2
	VPBROADCASTD 8(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 12(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 16(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 20(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 24(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 28(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPTEST Y2, Y2
	JNE  each
	CMPQ CX, $8
	JNE  each
	MOVQ $0xff, missing+24(FP)
	VZEROUPPER
	RET

each:
	CMPQ DX, CX
	JAE  done
	VPBROADCASTD (SI)(DX*4), Y1
	VPCMPEQD Y0, Y1, Y2
	VMOVMSKPS Y2, R8
	CMPL R8, $1
	SBBQ R10, R10
	ANDQ $1, R10
	SHLXQ DX, R10, R10
	ORQ  R10, AX
	ORL  $0x80, R8
	TZCNTL R8, R8
	SHLL $5, R8
	VMOVDQU (R9)(R8*1), Y3
	VPERMD Y0, Y3, Y0
	VPBLENDD $1, Y1, Y0, Y0
	INCQ DX
	JMP  each

done:
	VMOVDQU Y0, (DI)
	MOVQ AX, missing+24(FP)
	VZEROUPPER
	RET

// func moveAVX2(lines *uint32, n int, movers *mover, k int)
//
// moveAVX2 is moveGo for 8 lines at a time.
TEXT ·moveAVX2(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ movers+16(FP), SI
	MOVQ k+24(FP), BX
	SHRQ $3, CX
	CMPQ BX, $2
	JA   more

	// Up to two movers stay in registers.
	VPBROADCASTD (SI), Y8
	VPBROADCASTD 4(SI), Y9
	VPBROADCASTD 8(SI), Y10
	VPXOR Y13, Y13, Y13
	CMPQ BX, $2
	JNE  two
	VPBROADCASTD 12(SI), Y11
	VPBROADCASTD 16(SI), Y12
	VPBROADCASTD 20(SI), Y13

two:
	VMOVDQU (DI), Y0
	VPSUBD Y8, Y0, Y1
	VPMINUD Y1, Y9, Y2
	VPCMPEQD Y1, Y2, Y2
	VPSUBD Y11, Y0, Y3
	VPMINUD Y3, Y12, Y4
	VPCMPEQD Y3, Y4, Y4
	VPANDN Y4, Y2, Y4
	VPAND Y2, Y10, Y2
	VPAND Y4, Y13, Y4
	VPADDD Y2, Y0, Y0
	VPADDD Y4, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	DECQ CX
	JNE  two
	JMP  moved

more:
	IMUL3Q $12, BX, BX

vector:
	TESTQ CX, CX
	JEQ  moved
	VMOVDQU (DI), Y0
	VMOVDQA Y0, Y5
	VPXOR Y4, Y4, Y4
	XORL DX, DX

mover:
	CMPQ DX, BX
	JAE  store
	VPBROADCASTD (SI)(DX*1), Y1
	VPBROADCASTD 4(SI)(DX*1), Y2
	VPBROADCASTD 8(SI)(DX*1), Y3
	VPSUBD Y1, Y0, Y1
	VPMINUD Y1, Y2, Y2
	VPCMPEQD Y1, Y2, Y2
	VPANDN Y2, Y4, Y2
	VPOR Y2, Y4, Y4
	VPAND Y2, Y3, Y3
	VPADDD Y3, Y5, Y5
	ADDQ $12, DX
	JMP  mover

store:
	VMOVDQU Y5, (DI)
	ADDQ $32, DI
	DECQ CX
	JMP  vector

moved:
	VZEROUPPER
	RET

// func moveAVX512(lines *uint32, n int, movers *mover, k int)
//
// moveAVX512 is moveAVX2 for 16 lines at a time. K1 has the lines that no mover moved.
TEXT ·moveAVX512(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ movers+16(FP), SI
	MOVQ k+24(FP), BX
	IMUL3Q $12, BX, BX
	ADDQ SI, BX
	SHRQ $4, CX

vector:
	VMOVDQU32 (DI), Z0
	VMOVDQA32 Z0, Z2
	KXNORW K1, K1, K1
	MOVQ SI, DX

mover:
	VPSUBD.BCST (DX), Z0, Z1
	VPCMPUD.BCST $2, 4(DX), Z1, K1, K2
	KANDNW K1, K2, K1
	VPADDD.BCST 8(DX), Z0, K2, Z2
	ADDQ $12, DX
	CMPQ DX, BX
	JB   mover
	VMOVDQU32 Z2, (DI)
	ADDQ $64, DI
	DECQ CX
	JNE  vector
	VZEROUPPER
	RET

// later is 8 zeros, then the lane numbers. Read from lane 8-c on, lane c and later ones are the
// sources of lines that follow c new lines.
DATA ·later+32(SB)/8, $0x0000000100000000
DATA ·later+40(SB)/8, $0x0000000300000002
DATA ·later+48(SB)/8, $0x0000000500000004
DATA ·later+56(SB)/8, $0x0000000700000006
GLOBL ·later(SB), RODATA|NOPTR, $64

// func applyAVX2(to, tags, heads *uint32, count *uint16, n int, missing *uint8)
//
// In a row with as many heads as ways, only the missed heads must be found. Say that head h touches
// the line at p in the row. The line then follows the heads before h, except those that were before
// p themselves.
//
//	DI row  BX its lines afterwards  SI heads  R13 head counts  CX rows left  R11 missing
//	AX missed heads  DX head  R12 heads of the row  R15 upTo, from the last way on
//	R14 lanes of the heads before
TEXT ·applyAVX2(SB), NOSPLIT, $0-48
	MOVQ to+0(FP), DI
	MOVQ tags+8(FP), BX
	MOVQ heads+16(FP), SI
	MOVQ count+24(FP), R13
	MOVQ n+32(FP), CX
	MOVQ missing+40(FP), R11
	LEAQ ·turns(SB), R9
	LEAQ ·upTo+64(SB), R15

row:
	TESTQ CX, CX
	JEQ  end
	VMOVDQU (DI), Y0
	MOVWLZX (R13), R12

	// Mostly, all heads are absent. Lines past the heads may be present, which does no harm.
	VPBROADCASTD (SI), Y1
	VPCMPEQD Y0, Y1, Y2
	VPBROADCASTD 4(SI), Y3
	VPCMPEQD Y0, Y3, Y4
	VPOR Y2, Y4, Y2
	VPBROADCASTD 8(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 12(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 16(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 20(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 24(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	VPBROADCASTD 28(SI), Y1
	VPCMPEQD Y0, Y1, Y3
	VPOR Y2, Y3, Y2
	XORL AX, AX
	XORL DX, DX
	VPTEST Y2, Y2
	JNE  there
	SUBL $1, AX
	SHLXL R12, AX, AX
	NOTL AX
	CMPL R12, $8
	JEQ  all
	LEAQ ·later+32(SB), R10
	SHLQ $2, R12
	SUBQ R12, R10
	VMOVDQU (R10), Y1
	VPERMD Y0, Y1, Y0
	NEGQ R12
	VMOVDQU (R15)(R12*1), Y3
	VMOVDQU (BX), Y1
	VPBLENDVB Y3, Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	JMP  next

all:
	VMOVDQU (BX), Y0
	VMOVDQU Y0, (DI)

next:
	MOVB AX, (R11)
	ADDQ $32, DI
	ADDQ $32, BX
	ADDQ $32, SI
	ADDQ $2, R13
	INCQ R11
	DECQ CX
	JMP  row

there:
	XORL R14, R14
	CMPL R12, $8
	JNE  whether

head:
	VPBROADCASTD (SI)(DX*4), Y1
	VPCMPEQD Y0, Y1, Y2
	VMOVMSKPS Y2, R8
	MOVL R8, R10
	ORL  $0x100, R8
	TZCNTL R8, R12
	DECL R8
	ANDL R14, R8
	POPCNTL R8, R8
	ORL  R10, R14
	ADDL DX, R12
	SUBL R8, R12
	MOVL $7, R10
	SUBL R12, R10
	SHRL $31, R10
	SHLXL DX, R10, R10
	ORL  R10, AX
	INCQ DX
	CMPQ DX, $8
	JB   head
	JMP  all

one:
	VPBROADCASTD (SI)(DX*4), Y1
	VPCMPEQD Y0, Y1, Y2
	VMOVMSKPS Y2, R8
	CMPL R8, $1
	SBBQ R10, R10
	ANDQ $1, R10
	SHLXQ DX, R10, R10
	ORQ  R10, AX
	ORL  $0x80, R8
	TZCNTL R8, R8
	SHLL $5, R8
	VMOVDQU (R9)(R8*1), Y3
	VPERMD Y0, Y3, Y0
	VPBLENDD $1, Y1, Y0, Y0
	INCQ DX

whether:
	CMPQ DX, R12
	JB   one
	NEGQ R12
	VMOVDQU (R15)(R12*4), Y3
	VMOVDQU (BX), Y1
	VPBLENDVB Y3, Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	JMP  next

end:
	VZEROUPPER
	RET

// func advanceAVX2(rows *uint32, line uint32, n int, missing *uint8) (sum int)
//
// advanceAVX2 touches line, line+1, ... in consecutive rows of 8. It writes 1 for each absent line,
// else 0, and returns the sum.
//
//	DI row  DX line  CX rows left  R11 missing  AX sum
TEXT ·advanceAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), DI
	MOVL line+8(FP), DX
	MOVQ n+16(FP), CX
	MOVQ missing+24(FP), R11
	XORL AX, AX
	LEAQ ·turns(SB), R9

next:
	TESTQ CX, CX
	JEQ  end
	VMOVD DX, X1
	VPBROADCASTD X1, Y1
	VMOVDQU (DI), Y0
	VPCMPEQD Y0, Y1, Y2
	VMOVMSKPS Y2, R8
	CMPL R8, $1
	SBBQ R10, R10
	ANDQ $1, R10
	MOVB R10, (R11)
	ADDQ R10, AX
	ORL  $0x80, R8
	TZCNTL R8, R8
	SHLL $5, R8
	VMOVDQU (R9)(R8*1), Y3
	VPERMD Y0, Y3, Y0
	VPBLENDD $1, Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	INCL DX
	INCQ R11
	DECQ CX
	JMP  next

end:
	MOVQ AX, sum+32(FP)
	VZEROUPPER
	RET

// func everyAVX2(s *state, at *int, refs *moving, n, left int, places uint32, out *uint64) int
//
// everyAVX2 makes "left" iterations of n accesses in one level, for rows of 8. It writes to out the
// touches of lines that were at none of the places of their row, a bit each, and returns their
// number. A touch is the line, the access number from bit 32 on, and a bit for the place from bit
// 48 on, none if absent.
//
//	DI tags  R12 first  R13 mask  BX shift  SI at  R10 a reference  R11 out
//	DX access  AX its line  R8 the row
TEXT ·everyAVX2(SB), NOSPLIT, $0-64
	MOVQ s+0(FP), R8
	MOVQ state_tags(R8), DI
	MOVL state_first(R8), R12
	MOVL state_mask(R8), R13
	MOVQ state_shift(R8), BX
	MOVQ at+8(FP), SI
	MOVQ out+48(FP), R11
	LEAQ ·turns(SB), R9

iteration:
	XORL DX, DX
	MOVQ refs+16(FP), R10

access:
	MOVQ (SI)(DX*8), AX
	MOVQ moving_stride(R10), R8
	ADDQ AX, R8
	MOVQ R8, (SI)(DX*8)
	SHRXQ BX, AX, AX
	INCL AX
	MOVL AX, R8
	SUBL R12, R8
	ANDL R13, R8
	SHLQ $5, R8
	ADDQ DI, R8
	CMPL AX, (R8)
	JEQ  touched
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	VMOVDQU (R8), Y0
	VPCMPEQD Y0, Y1, Y2
	VMOVMSKPS Y2, CX
	MOVQ CX, R15
	SHLQ $16, R15
	ORQ  DX, R15
	SHLQ $32, R15
	ORQ  AX, R15
	MOVQ R15, (R11)
	MOVL CX, R15
	ANDL places+40(FP), R15
	CMPL R15, $1
	SBBQ R15, R15
	ANDQ $8, R15
	ADDQ R15, R11
	ORL  $0x80, CX
	TZCNTL CX, CX
	SHLL $5, CX
	VMOVDQU (R9)(CX*1), Y3
	VPERMD Y0, Y3, Y0
	VPBLENDD $1, Y1, Y0, Y0
	VMOVDQU Y0, (R8)

touched:
	ADDQ $moving__size, R10
	INCQ DX
	CMPQ DX, n+24(FP)
	JB   access
	DECQ left+32(FP)
	JNE  iteration
	SUBQ out+48(FP), R11
	SHRQ $3, R11
	MOVQ R11, ret+56(FP)
	VZEROUPPER
	RET

// BRING_ARGS begins bringAVX512, bringAVX2 and sendAVX2. BRING_ROW begins each of their lines; see
// state.row.
//
//	DI tags  R12 first  R13 mask  AX low  R15 up  R14 down  R11 misses
//	SI lines  BX ops  CX lines left  R8 row
#define BRING_ARGS \
	MOVQ state_tags(R8), DI; \
	MOVL state_first(R8), R12; \
	MOVL state_mask(R8), R13; \
	MOVL state_low(R8), AX; \
	MOVQ state_up(R8), R15; \
	ADDQ $6, R15; \
	MOVQ state_down(R8), R14; \
	MOVQ state_misses(R8), R11

#define BRING_ROW \
	MOVL (SI), R8; \
	SUBL R12, R8; \
	ANDL R13, R8; \
	MOVL R8, R9; \
	ANDL AX, R9; \
	SHLXQ R15, R9, R9; \
	SHRXQ R14, R8, R8; \
	SHLQ $6, R8; \
	ADDQ R9, R8

// BRING_COUNT counts a miss of the line's operand if DX is 0.
#define BRING_COUNT \
	MOVWLZX (BX), R9; \
	CMPL DX, $1; \
	SBBQ R10, R10; \
	SUBQ R10, (R11)(R9*8); \
	ADDQ $4, SI; \
	ADDQ $2, BX

// func bringAVX512(s *state, lines *uint32, ops *uint16, n int)
//
// bringAVX512 touches lines in rows of 16, and counts the absent ones by operand.
//
//	DX the line's lane, then the lanes up to it, or all lanes if it is absent
TEXT ·bringAVX512(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), R8
	MOVQ lines+8(FP), SI
	MOVQ ops+16(FP), BX
	MOVQ n+24(FP), CX
	BRING_ARGS

line:
	BRING_ROW
	VPBROADCASTD (SI), Z1
	VMOVDQU32 (DI)(R8*1), Z0
	VPCMPEQD Z0, Z1, K1
	KMOVW K1, DX
	BRING_COUNT
	LEAL -1(DX), R10
	XORL R10, DX
	KMOVW DX, K2
	VALIGND $15, Z1, Z0, Z2
	VPBLENDMD Z2, Z0, K2, Z0
	VMOVDQU32 Z0, (DI)(R8*1)
	DECQ CX
	JNE  line
	VZEROUPPER
	RET

// func sendAVX512(to, e *state, rows, heads uint64, first, off, sets int)
//
// sendAVX512 sends the misses of a summary to the slices of a level of 16 ways. rows has a bit for
// each of 64 rows that sends its log. heads has a bit for each that sends all of its heads before.
// Neither level is turned, so a slice has the place of the first level's row.
//
//	R12 e  R13 rows left  DI slice  R11 misses  R9 1 if it is the log's turn
//	SI lines  BX ops  R15 lines left  CX lines left in a block of up to 32, negated
//	AX end of the block's row offsets in the slice, in bytes
//	R10 a bit for each absent line of the block, the last line's the lowest
//	Z8 mask of a line's row in the slice, in bytes  X9 shift of that row
//	Z10 ones  Z11 the numbers of 32 lanes
TEXT ·sendAVX512(SB), NOSPLIT, $488-56
	MOVQ to+0(FP), R8
	MOVQ e+8(FP), R12
	MOVQ rows+16(FP), R13
	MOVL state_mask(R8), AX
	MOVL state_low(R8), DX
	NOTL DX
	ANDL DX, AX
	MOVQ state_down(R8), R14
	SHLQ $6, AX
	SHRXQ R14, AX, AX
	MOVQ state_misses(R8), R11
	VPBROADCASTD AX, Z8
	VMOVQ R14, X9
	VPTERNLOGD $0xff, Z10, Z10, Z10
	VMOVDQU32 ·lanes(SB), Z11

row:
	TESTQ R13, R13
	JEQ  end

	// Prefetch the next row's misses while this row's are sent.
	BLSRQ R13, DX
	JEQ  last
	TZCNTQ DX, DX
	ADDQ first+32(FP), DX
	IMUL3Q $span__size, DX, R8
	MOVQ state_log(R12), R9
	ADDQ log_rows(R9), R8
	MOVLQSX span_at(R8), R8
	MOVQ log_lines(R9), R10
	PREFETCHT0 (R10)(R8*4)
	PREFETCHT0 64(R10)(R8*4)
	MOVQ log_ops(R9), R10
	PREFETCHT0 (R10)(R8*2)
	IMULQ state_ways(R12), DX
	MOVQ state_heads(R12), R10
	PREFETCHT0 (R10)(DX*4)
	MOVQ state_ops(R12), R10
	PREFETCHT0 (R10)(DX*2)

last:
	TZCNTQ R13, R8
	ADDQ first+32(FP), R8
	MOVQ R8, DX
	ADDQ off+40(FP), DX
	CMPQ DX, sets+48(FP)
	JB   slice
	SUBQ sets+48(FP), DX

slice:
	MOVQ to+0(FP), DI
	MOVQ state_up(DI), CX
	ADDQ $6, CX
	SHLXQ CX, DX, DX
	MOVQ state_tags(DI), DI
	ADDQ DX, DI
	MOVQ state_count(R12), DX
	MOVWLZX (DX)(R8*2), R15
	TZCNTQ R13, CX
	MOVQ heads+24(FP), DX
	BTQ  CX, DX
	SBBQ DX, DX
	ANDQ DX, R15
	IMULQ state_ways(R12), R8
	MOVQ state_heads(R12), SI
	LEAQ (SI)(R8*4), SI
	MOVQ state_ops(R12), BX
	LEAQ (BX)(R8*2), BX
	XORL R9, R9

	// Mostly, there are heads and a log, which fit in a block. They are joined first.
	TESTQ R15, R15
	JEQ  block
	TZCNTQ R13, R8
	ADDQ first+32(FP), R8
	IMUL3Q $span__size, R8, R8
	MOVQ state_log(R12), DX
	ADDQ log_rows(DX), R8
	MOVLQSX span_n(R8), CX
	TESTQ CX, CX
	JEQ  block
	LEAQ (R15)(CX*1), R10
	CMPQ R10, $32
	JHI  block
	CMPQ R15, $16
	JHI  block
	MOVLQSX span_at(R8), R8
	MOVQ log_lines(DX), R9
	LEAQ (R9)(R8*4), R9
	MOVQ log_ops(DX), R14
	LEAQ (R14)(R8*2), R14
	MOVQ $-1, DX
	BZHIQ R15, DX, R8
	KMOVD R8, K5
	BZHIQ CX, DX, R8
	KMOVD R8, K3
	KSHIFTRD $16, K3, K4
	VMOVDQU32.Z (SI), K5, Z1
	VMOVDQU32.Z (R9), K3, Z2
	VMOVDQU32.Z 64(R9), K4, Z3
	VMOVDQU16.Z (BX), K5, Z4
	VMOVDQU16.Z (R14), K3, Z5
	LEAQ lines-392(SP), SI
	LEAQ ops-488(SP), BX
	LEAQ at-200(SP), AX
	VMOVDQU32 Z1, (SI)
	VMOVDQU32 Z2, (SI)(R15*4)
	VMOVDQU32 Z3, 64(SI)(R15*4)
	VMOVDQU32 Z4, (BX)
	VMOVDQU32 Z5, (BX)(R15*2)
	VPADDD Z1, Z10, Z1
	VPADDD Z2, Z10, Z2
	VPADDD Z3, Z10, Z3
	VPSRLD X9, Z1, Z1
	VPSRLD X9, Z2, Z2
	VPSRLD X9, Z3, Z3
	VPSLLD $6, Z1, Z1
	VPSLLD $6, Z2, Z2
	VPSLLD $6, Z3, Z3
	VPANDD Z8, Z1, Z1
	VPANDD Z8, Z2, Z2
	VPANDD Z8, Z3, Z3
	VMOVDQU32 Z1, (AX)
	VMOVDQU32 Z2, (AX)(R15*4)
	VMOVDQU32 Z3, 64(AX)(R15*4)
	MOVQ R10, CX
	MOVQ CX, n-8(SP)
	BZHIQ CX, DX, DX
	KMOVD DX, K3
	XORL R15, R15
	MOVL $1, R9
	JMP  lines

block:
	TESTQ R15, R15
	JEQ  sent
	MOVQ $32, CX
	CMPQ R15, CX
	CMOVQLT R15, CX
	SUBQ CX, R15
	MOVQ CX, n-8(SP)
	MOVQ $-1, DX
	BZHIQ CX, DX, DX
	KMOVD DX, K3
	KSHIFTRD $16, K3, K4
	VPADDD.Z (SI), Z10, K3, Z1
	VPADDD.Z 64(SI), Z10, K4, Z2
	VPSRLD X9, Z1, Z1
	VPSRLD X9, Z2, Z2
	VPSLLD $6, Z1, Z1
	VPSLLD $6, Z2, Z2
	VPANDD Z8, Z1, Z1
	VPANDD Z8, Z2, Z2
	LEAQ at-200(SP), AX
	VMOVDQU32 Z1, (AX)
	VMOVDQU32 Z2, 64(AX)

lines:
	LEAQ (AX)(CX*4), AX
	LEAQ (SI)(CX*4), SI
	NEGQ CX
	XORL R10, R10

	// DX has the lanes up to the line's, or all lanes if it is absent. They move up by one. If the
	// line is absent, the carry is 1.
line:
	MOVL (AX)(CX*4), R8
	VPBROADCASTD (SI)(CX*4), Z1
	VMOVDQU32 (DI)(R8*1), Z0
	VPCMPEQD Z0, Z1, K1
	KMOVW K1, DX
	BLSMSKL DX, DX
	KMOVW DX, K2
	ADCQ R10, R10
	VALIGND $15, Z1, Z0, K2, Z0
	VMOVDQU32 Z0, (DI)(R8*1)
	INCQ CX
	JNE  line

	MOVQ n-8(SP), CX
	TESTQ R10, R10
	JEQ  counted
	DECQ CX
	VPBROADCASTW CX, Z4
	VPSUBW Z11, Z4, Z4
	VMOVDQU16.Z (BX), K3, Z3
	VPERMW Z3, Z4, Z3 // the last line's first

op:
	TZCNTQ R10, DX
	NEGQ DX
	ADDQ CX, DX
	MOVWLZX (BX)(DX*2), R8
	VPBROADCASTW R8, Z4
	VPCMPEQW Z4, Z3, K4
	KMOVD K4, DX
	ANDQ R10, DX
	XORQ DX, R10
	POPCNTQ DX, DX
	ADDQ DX, (R11)(R8*8)
	TESTQ R10, R10
	JNE  op
	INCQ CX

counted:
	LEAQ (BX)(CX*2), BX
	JMP  block

sent:
	TESTL R9, R9
	JNE  done
	INCL R9
	TZCNTQ R13, R8
	ADDQ first+32(FP), R8
	IMUL3Q $span__size, R8, R8
	MOVQ state_log(R12), DX
	ADDQ log_rows(DX), R8
	MOVLQSX span_n(R8), R15
	MOVLQSX span_at(R8), R8
	MOVQ log_lines(DX), SI
	LEAQ (SI)(R8*4), SI
	MOVQ log_ops(DX), BX
	LEAQ (BX)(R8*2), BX
	JMP  block

done:
	BLSRQ R13, R13
	JMP  row

end:
	VZEROUPPER
	RET

DATA ·lanes+0(SB)/8, $0x0003000200010000
DATA ·lanes+8(SB)/8, $0x0007000600050004
DATA ·lanes+16(SB)/8, $0x000b000a00090008
DATA ·lanes+24(SB)/8, $0x000f000e000d000c
DATA ·lanes+32(SB)/8, $0x0013001200110010
DATA ·lanes+40(SB)/8, $0x0017001600150014
DATA ·lanes+48(SB)/8, $0x001b001a00190018
DATA ·lanes+56(SB)/8, $0x001f001e001d001c
GLOBL ·lanes(SB), RODATA|NOPTR, $64

// upTo is 16 lanes of ones, then 15 of zeros. Read from lane 15-j on, lanes 0 to j are ones.
DATA ·upTo+0(SB)/8, $-1
DATA ·upTo+8(SB)/8, $-1
DATA ·upTo+16(SB)/8, $-1
DATA ·upTo+24(SB)/8, $-1
DATA ·upTo+32(SB)/8, $-1
DATA ·upTo+40(SB)/8, $-1
DATA ·upTo+48(SB)/8, $-1
DATA ·upTo+56(SB)/8, $-1
GLOBL ·upTo(SB), RODATA|NOPTR, $128

// BRING_LINE touches a line for bringAVX2 and sendAVX2. Y0 and Y1 have its row.
//
//	Y7 turns of the last lane  DX upTo, from the line's lane on
#define BRING_LINE \
	BRING_ROW; \
	ADDQ DI, R8; \
	VPBROADCASTD (SI), Y2; \
	VMOVDQU (R8), Y0; \
	VMOVDQU 32(R8), Y1; \
	VPCMPEQD Y0, Y2, Y3; \
	VPCMPEQD Y1, Y2, Y4; \
	VMOVMSKPS Y3, DX; \
	VMOVMSKPS Y4, R10; \
	SHLL $8, R10; \
	ORL  R10, DX; \
	BRING_COUNT; \
	ORL  $0x8000, DX; \
	TZCNTL DX, DX; \
	SHLL $2, DX; \
	NEGQ DX; \
	LEAQ ·upTo+60(SB), R10; \
	VMOVDQU (R10)(DX*1), Y3; \
	VMOVDQU 32(R10)(DX*1), Y4; \
	VPERMD Y0, Y7, Y5; \
	VPERMD Y1, Y7, Y6; \
	VPBLENDD $1, Y5, Y6, Y6; \
	VPBLENDD $1, Y2, Y5, Y5; \
	VPBLENDVB Y3, Y5, Y0, Y0; \
	VPBLENDVB Y4, Y6, Y1, Y1; \
	VMOVDQU Y0, (R8); \
	VMOVDQU Y1, 32(R8)

// func bringAVX2(s *state, lines *uint32, ops *uint16, n int)
//
// bringAVX2 is bringAVX512 with AVX2.
TEXT ·bringAVX2(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), R8
	MOVQ lines+8(FP), SI
	MOVQ ops+16(FP), BX
	MOVQ n+24(FP), CX
	BRING_ARGS
	VMOVDQU ·turns+224(SB), Y7

line:
	BRING_LINE
	DECQ CX
	JNE  line
	VZEROUPPER
	RET

// func sendAVX2(to, e *state, rows, heads uint64, first int)
//
// sendAVX2 is sendAVX512 with AVX2, row by row.
TEXT ·sendAVX2(SB), NOSPLIT, $16-40
	MOVQ to+0(FP), R8
	BRING_ARGS
	VMOVDQU ·turns+224(SB), Y7

row:
	MOVQ rows+16(FP), DX
	TESTQ DX, DX
	JEQ  end
	TZCNTQ DX, CX
	BLSRQ DX, DX
	MOVQ DX, rows+16(FP)
	MOVQ heads+24(FP), DX
	BTQ  CX, DX
	SBBQ R9, R9
	ADDQ first+32(FP), CX
	MOVQ CX, row-8(SP)
	MOVQ e+8(FP), R8
	MOVQ state_count(R8), DX
	MOVWLZX (DX)(CX*2), R10
	ANDQ R9, R10
	IMULQ state_ways(R8), CX
	MOVQ state_heads(R8), SI
	LEAQ (SI)(CX*4), SI
	MOVQ state_ops(R8), BX
	LEAQ (BX)(CX*2), BX
	MOVQ R10, CX
	MOVQ $0, log-16(SP)

lines:
	TESTQ CX, CX
	JEQ  sent

line:
	BRING_LINE
	DECQ CX
	JNE  line

sent:
	CMPQ log-16(SP), $0
	JNE  row
	MOVQ $1, log-16(SP)
	MOVQ row-8(SP), CX
	IMUL3Q $span__size, CX, CX
	MOVQ e+8(FP), R8
	MOVQ state_log(R8), DX
	ADDQ log_rows(DX), CX
	MOVLQSX span_at(CX), R8
	MOVLQSX span_n(CX), CX
	MOVQ log_lines(DX), SI
	LEAQ (SI)(R8*4), SI
	MOVQ log_ops(DX), BX
	LEAQ (BX)(R8*2), BX
	JMP  lines

end:
	VZEROUPPER
	RET
