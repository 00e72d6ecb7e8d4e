#include "textflag.h"

// Lane j of turns[p] is where lane j of a row comes from when the line in lane p
// goes to the front: 0 to p-1 move up by one, those behind p stay.
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

// func meetAVX2(row, heads *uint32, n int) (missing uint64)
//
// The twin of meetGo, for rows of 8.
//
//	SI heads  CX how many  DI row  DX which  AX missing  R9 turns
//	Y0 row  Y1 head in all lanes
TEXT ·meetAVX2(SB), NOSPLIT, $0-32
	MOVQ row+0(FP), DI
	MOVQ heads+8(FP), SI
	MOVQ n+16(FP), CX
	VMOVDQU (DI), Y0
	XORL AX, AX
	XORL DX, DX
	LEAQ ·turns(SB), R9

	// Mostly, none is there. What lies behind the heads may say otherwise, which
	// does no harm.
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
// The twin of moveGo, for 8 lines at a time and movers of step 1.
TEXT ·moveAVX2(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ movers+16(FP), SI
	MOVQ k+24(FP), BX
	SHLQ $4, BX
	SHRQ $3, CX

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
	ADDQ $16, DX
	JMP  mover

store:
	VMOVDQU Y5, (DI)
	ADDQ $32, DI
	DECQ CX
	JMP  vector

moved:
	VZEROUPPER
	RET

// func applyAVX2(to, tags, heads *uint32, n int, missing *uint8)
//
//	DI row  BX its lines after that  SI heads  CX rows left  R11 missing
//	AX which missed  DX head
TEXT ·applyAVX2(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ tags+8(FP), BX
	MOVQ heads+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ missing+32(FP), R11
	LEAQ ·turns(SB), R9

row:
	TESTQ CX, CX
	JEQ  end
	VMOVDQU (DI), Y0
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
	JNE  meet
	MOVL $0xff, AX

next:
	MOVB AX, (R11)
	VMOVDQU (BX), Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, BX
	ADDQ $32, SI
	INCQ R11
	DECQ CX
	JMP  row

meet:
	XORL AX, AX
	XORL DX, DX

head:
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
	CMPQ DX, $8
	JB   head
	JMP  next

end:
	VZEROUPPER
	RET

// func marchAVX2(rows *uint32, line uint32, n int, missing *uint8) (sum int)
//
// Touches line, line+1, ... in one row of 8 after the other, writes 1 where it was
// absent, else 0, and returns how many were.
//
//	DI row  DX line  CX rows left  R11 missing  AX sum
TEXT ·marchAVX2(SB), NOSPLIT, $0-40
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

// func everyAVX2(tags *uint32, first, mask uint32, shift uint, at, strides *int, refs, left int, out *uint64) (n int)
//
// The loop of inner.every in one level, for rows of 8. A touch of what is absent
// is written to out, its line below the number of its access.
//
//	DI tags  R12 first  R13 mask  BX shift  SI at  R10 strides  R11 out
//	DX access  AX its line  R8 the row
TEXT ·everyAVX2(SB), NOSPLIT, $0-72
	MOVQ tags+0(FP), DI
	MOVL first+8(FP), R12
	MOVL mask+12(FP), R13
	MOVQ shift+16(FP), BX
	MOVQ at+24(FP), SI
	MOVQ strides+32(FP), R10
	MOVQ out+56(FP), R11
	LEAQ ·turns(SB), R9

iteration:
	XORL DX, DX

access:
	MOVQ (SI)(DX*8), AX
	MOVQ (R10)(DX*8), R8
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
	MOVQ DX, R15
	SHLQ $32, R15
	ORQ  AX, R15
	MOVQ R15, (R11)
	CMPL CX, $1
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
	INCQ DX
	CMPQ DX, refs+40(FP)
	JB   access
	DECQ left+48(FP)
	JNE  iteration
	SUBQ out+56(FP), R11
	SHRQ $3, R11
	MOVQ R11, n+64(FP)
	VZEROUPPER
	RET
