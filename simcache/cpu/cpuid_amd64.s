#include "textflag.h"

// func identify(leaf, subleaf uint32) (r registers)
TEXT ·identify(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, r_eax+8(FP)
	MOVL BX, r_ebx+12(FP)
	MOVL CX, r_ecx+16(FP)
	MOVL DX, r_edx+20(FP)
	RET
