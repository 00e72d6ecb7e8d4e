#include "go_asm.h"
#include "textflag.h"

// func stepAVX2(lines *uint32, n int, steppers *stepper, k int)
//
// stepAVX2 is moveGo for 8 lines at a time and movers of any step. Y4 has the lines that a mover
// moved, Y5 their new numbers. Shifts by 32 leave 0.
TEXT ·stepAVX2(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ steppers+16(FP), SI
	MOVQ k+24(FP), BX
	SHRQ $3, CX
	IMUL3Q $stepper__size, BX, BX

vector:
	VMOVDQU (DI), Y0
	VMOVDQA Y0, Y5
	VPXOR Y4, Y4, Y4
	XORL DX, DX

step:
	VPBROADCASTD stepper_low(SI)(DX*1), Y1
	VPSUBD Y1, Y0, Y1
	VPBROADCASTD stepper_size(SI)(DX*1), Y2
	VPMINUD Y1, Y2, Y2
	VPCMPEQD Y1, Y2, Y2
	VPBROADCASTD stepper_inverse(SI)(DX*1), Y3
	VPMULLD Y3, Y1, Y1
	VPBROADCASTD stepper_right(SI)(DX*1), Y3
	VPSRLVD Y3, Y1, Y6
	VPBROADCASTD stepper_left(SI)(DX*1), Y3
	VPSLLVD Y3, Y1, Y1
	VPOR Y6, Y1, Y1
	VPBROADCASTD stepper_most(SI)(DX*1), Y3
	VPMINUD Y1, Y3, Y3
	VPCMPEQD Y1, Y3, Y3
	VPAND Y3, Y2, Y2
	VPANDN Y2, Y4, Y2
	VPOR Y2, Y4, Y4
	VPBROADCASTD stepper_by(SI)(DX*1), Y3
	VPAND Y2, Y3, Y3
	VPADDD Y3, Y5, Y5
	ADDQ $stepper__size, DX
	CMPQ DX, BX
	JB   step
	VMOVDQU Y5, (DI)
	ADDQ $32, DI
	DECQ CX
	JNE  vector
	VZEROUPPER
	RET
