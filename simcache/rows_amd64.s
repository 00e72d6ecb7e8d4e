#include "go_asm.h"
#include "textflag.h"

// lanes holds, for lane j = 0..7, a vector whose lanes 0..j are all ones.
DATA ·lanes+0(SB)/8, $0x00000000ffffffff
DATA ·lanes+8(SB)/8, $0
DATA ·lanes+16(SB)/8, $0
DATA ·lanes+24(SB)/8, $0
DATA ·lanes+32(SB)/8, $-1
DATA ·lanes+40(SB)/8, $0
DATA ·lanes+48(SB)/8, $0
DATA ·lanes+56(SB)/8, $0
DATA ·lanes+64(SB)/8, $-1
DATA ·lanes+72(SB)/8, $0x00000000ffffffff
DATA ·lanes+80(SB)/8, $0
DATA ·lanes+88(SB)/8, $0
DATA ·lanes+96(SB)/8, $-1
DATA ·lanes+104(SB)/8, $-1
DATA ·lanes+112(SB)/8, $0
DATA ·lanes+120(SB)/8, $0
DATA ·lanes+128(SB)/8, $-1
DATA ·lanes+136(SB)/8, $-1
DATA ·lanes+144(SB)/8, $0x00000000ffffffff
DATA ·lanes+152(SB)/8, $0
DATA ·lanes+160(SB)/8, $-1
DATA ·lanes+168(SB)/8, $-1
DATA ·lanes+176(SB)/8, $-1
DATA ·lanes+184(SB)/8, $0
DATA ·lanes+192(SB)/8, $-1
DATA ·lanes+200(SB)/8, $-1
DATA ·lanes+208(SB)/8, $-1
DATA ·lanes+216(SB)/8, $0x00000000ffffffff
DATA ·lanes+224(SB)/8, $-1
DATA ·lanes+232(SB)/8, $-1
DATA ·lanes+240(SB)/8, $-1
DATA ·lanes+248(SB)/8, $-1
GLOBL ·lanes(SB), RODATA|NOPTR, $256

// func filterAVX2(l *rows, tags *uint32, refs, out []uint64) int
//
// The twin of rows.filterGo. A row is one or more vectors of 8 tags. The tag
// looked for is compared with a vector at a time, dirty bits masked. A row is
// moved by loading each of its vectors from one tag lower, from the last to be
// moved down to the first, whose lane 0 becomes the tag.
//
// AX l, then scratch   BX ref        CX offset in the row   DX scratch
// SI refs  R13 their end  DI out     R8 tags   R9 mask   R10 down   R15 bits
// R11 key: the tag with its dirty bit set     R12 row
TEXT ·filterAVX2(SB), NOSPLIT, $0-72
	MOVQ l+0(FP), AX
	MOVQ tags+8(FP), R8
	MOVQ refs_base+16(FP), SI
	MOVQ refs_len+24(FP), R13
	LEAQ (SI)(R13*8), R13
	MOVQ out_base+40(FP), DI
	MOVQ rows_mask(AX), R9
	MOVQ rows_down(AX), R10
	MOVQ rows_bits(AX), R15
	MOVL $1, DX
	VMOVD DX, X15
	VPBROADCASTD X15, Y15
	MOVQ rows_ways(AX), DX    // lanes of the last vector that are ways
	DECQ DX
	ANDQ $7, DX
	SHLQ $5, DX
	LEAQ ·lanes(SB), CX
	VMOVDQU (CX)(DX*1), Y14

next:
	CMPQ SI, R13
	JAE  done
	MOVQ l+0(FP), AX
	CMPQ rows_ahead(AX), $0
	JEQ  lookup
	MOVQ rows_ahead(AX), DX   // bytes of references to look ahead
	ADDQ SI, DX
	CMPQ DX, R13
	JAE  lookup
	MOVQ (DX), DX
	SHRXQ R10, DX, DX
	ANDQ R9, DX
	IMULQ rows_pitch(AX), DX
	PREFETCHT0 (R8)(DX*1)

lookup:
	MOVQ (SI), BX
	ADDQ $8, SI
	SHRXQ R10, BX, R11
	MOVQ R9, R12
	ANDQ R11, R12
	IMULQ rows_pitch(AX), R12
	ADDQ R8, R12
	SHRXQ R15, R11, R11
	LEAL 3(R11)(R11*1), R11
	MOVL (R12), DX
	ORL  $1, DX
	CMPL DX, R11
	JNE  search
	TESTL $1, BX
	JEQ  next
	MOVL R11, (R12)           // a write: dirty
	JMP  next

search:
	VMOVD R11, X0
	VPBROADCASTD X0, Y0
	XORL CX, CX

compare:
	VPOR (R12)(CX*1), Y15, Y1
	VPCMPEQD Y0, Y1, Y1
	VMOVMSKPS Y1, DX
	TESTL DX, DX
	JNE  hit
	ADDQ $32, CX
	CMPQ CX, rows_pitch(AX)
	JLT  compare

	// A miss: the whole row moves, and its last way goes.
	MOVQ rows_ways(AX), DX
	MOVL -4(R12)(DX*4), DX    // victim
	VMOVDQU Y14, Y3
	SUBQ $32, CX
	DECL R11                  // the tag, clean
	MOVL BX, AX
	ANDL $1, AX
	ORL  AX, R11
	TESTL $2, BX
	JNE  evict
	MOVQ BX, AX               // the next level is to be read
	ANDQ $-2, AX
	MOVQ AX, (DI)
	ADDQ $8, DI

evict:
	TESTL $1, DX
	JEQ  move
	MOVL DX, DX               // its block: (victim/2 - 1) << bits | set
	SHRQ $1, DX
	DECQ DX
	SHLXQ R15, DX, DX
	SHRXQ R10, BX, AX
	ANDQ R9, AX
	ORQ  AX, DX
	SHLXQ R10, DX, DX
	MOVL BX, AX
	ANDL $0xfc, AX
	ORL  $3, AX
	ORQ  AX, DX
	MOVQ DX, (DI)
	ADDQ $8, DI
	JMP  move

hit:
	BSFL DX, DX               // lane
	LEAQ (R12)(CX*1), AX
	MOVL (AX)(DX*4), AX       // the tag found, for its dirty bit
	SHLQ $5, DX
	LEAQ ·lanes(SB), R11
	VMOVDQU (R11)(DX*1), Y3
	MOVL AX, R11
	MOVL BX, AX
	ANDL $1, AX
	ORL  AX, R11

	// Move the row: lanes in Y3 of the vector at CX, all of those before.
move:
	VMOVD R11, X0
	TESTQ CX, CX
	JEQ  first
	VMOVDQU -4(R12)(CX*1), Y1
	VMOVDQU (R12)(CX*1), Y2
	VPBLENDVB Y3, Y1, Y2, Y1
	VMOVDQU Y1, (R12)(CX*1)
	VPCMPEQD Y3, Y3, Y3
	SUBQ $32, CX
	JMP  move

first:
	VMOVDQU -4(R12), Y1
	VPBLENDD $1, Y0, Y1, Y1
	VMOVDQU (R12), Y2
	VPBLENDVB Y3, Y1, Y2, Y1
	VMOVDQU Y1, (R12)
	JMP  next

done:
	MOVQ out_base+40(FP), AX
	SUBQ AX, DI
	SHRQ $3, DI
	MOVQ DI, ret+64(FP)
	VZEROUPPER
	RET
