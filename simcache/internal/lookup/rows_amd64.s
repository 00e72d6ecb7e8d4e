#include "go_asm.h"
#include "textflag.h"

// ones is 16 lanes of ones, then 16 of zeros: read from lane 15-j on, the lanes
// 0 to j are ones.
DATA ·ones+0(SB)/8, $-1
DATA ·ones+8(SB)/8, $-1
DATA ·ones+16(SB)/8, $-1
DATA ·ones+24(SB)/8, $-1
DATA ·ones+32(SB)/8, $-1
DATA ·ones+40(SB)/8, $-1
DATA ·ones+48(SB)/8, $-1
DATA ·ones+56(SB)/8, $-1
GLOBL ·ones(SB), RODATA|NOPTR, $128

// up is which lane of a vector each takes when its tags move up by one; the last comes round.
DATA ·up+0(SB)/8, $0x0000000000000007
DATA ·up+8(SB)/8, $0x0000000200000001
DATA ·up+16(SB)/8, $0x0000000400000003
DATA ·up+24(SB)/8, $0x0000000600000005
GLOBL ·up(SB), RODATA|NOPTR, $32

// EVICT hands the dirty tag AX to the next level: its block is
// (AX/2 - 1)<<bits | set.
#define EVICT \
	SHRQ $1, AX; \
	DECQ AX; \
	SHLXQ R15, AX, AX; \
	SHRXQ R10, BX, DX; \
	ANDQ R9, DX; \
	ORQ  DX, AX; \
	SHLXQ R10, AX, AX; \
	MOVL BX, DX; \
	ANDL $const_ops, DX; \
	ORL  $3, DX; \
	ORQ  DX, AX; \
	MOVQ AX, (DI); \
	ADDQ $8, DI

// PLACE takes the next reference, or goes to chunk, and finds its row, R12, and
// its key, R11. If that is the first tag, it only has to become dirty where it
// is written; else the key goes to every lane of Y0.
#define PLACE(again) \
	CMPQ SI, R13; \
	JAE  chunk; \
	MOVQ (SI), BX; \
	ADDQ $8, SI; \
	SHRXQ R10, BX, R11; \
	MOVQ R9, R12; \
	ANDQ R11, R12; \
	IMULQ pitch-8(SP), R12; \
	ADDQ R8, R12; \
	SHRXQ R15, R11, R11; \
	LEAL 3(R11)(R11*1), R11; \
	MOVL (R12), DX; \
	ORL  $1, DX; \
	CMPL DX, R11; \
	JNE  5(PC); \
	TESTL $1, BX; \
	JEQ  again; \
	MOVL R11, (R12); \
	JMP  again; \
	VMOVD R11, X0; \
	VPBROADCASTD X0, Y0

// TAG makes R11 the tag, dirty if it is written.
#define TAG \
	DECL R11; \
	MOVL BX, DX; \
	ANDL $1, DX; \
	ORL  DX, R11

// MISS hands a reference that missed to the next level, as a read.
#define MISS \
	MOVQ BX, DX; \
	ANDQ $-2, DX; \
	MOVQ DX, (DI); \
	ADDQ $8, DI

// func filterAVX2(l *rows, tags *uint32, refs, out []uint64) int
//
// The twin of rows.filterGo. A row is vectors of 8 tags. The tag looked for is
// compared with whole vectors, dirty bits masked. A row is moved by turning its vectors
// by one lane, of which the first comes from the vector before: the lanes up to that of
// the tag that was found, or of the last way, take that, the rest keeps what it is. All is
// loaded as it was stored, by whole vectors: to load from one tag lower, where the set has
// been moved just before, would wait until both of these stores are done.
//
// Rows of two vectors, as many last levels have, are looked up without a branch
// on whether and where the tag is found, which is hard to predict there. Rows of
// one vector, as most first levels have, mostly miss in all of it, since the
// first tag has been looked at. Others go vector by vector. Rows of large caches are fetched a chunk of references
// ahead.
//
//	AX CX DX scratch
//	BX reference  SI the next one  R13 end of the chunk  DI out
//	R8 tags  R9 mask  R10 down  R15 bits
//	R11 key, then the tag, dirty if it is written  R12 row
//	Y0 key  Y15 a dirty bit in every lane  Y14 the last vector's lanes that are ways  Y13 up
TEXT ·filterAVX2(SB), NOSPLIT, $32-72
	MOVQ l+0(FP), AX
	MOVQ tags+8(FP), R8
	MOVQ refs_base+16(FP), SI
	MOVQ refs_len+24(FP), DX
	LEAQ (SI)(DX*8), DX
	MOVQ DX, end-16(SP)
	MOVQ out_base+40(FP), DI
	MOVQ rows_mask(AX), R9
	MOVQ rows_down(AX), R10
	MOVQ rows_bits(AX), R15
	MOVQ rows_pitch(AX), DX
	MOVQ DX, pitch-8(SP)
	MOVQ rows_ways(AX), CX
	MOVQ CX, ways-24(SP)
	MOVL rows_last(AX), DX
	MOVL DX, last-32(SP)
	DECQ CX
	ANDQ $7, CX
	NEGQ CX
	LEAQ ·ones+60(SB), DX
	VMOVDQU (DX)(CX*4), Y14
	MOVL $1, DX
	VMOVD DX, X15
	VPBROADCASTD X15, Y15
	VMOVDQU ·up(SB), Y13

chunk:
	CMPQ SI, end-16(SP)
	JAE  done
	LEAQ 512(SI), R13
	CMPQ R13, end-16(SP)
	JLS  2(PC)
	MOVQ end-16(SP), R13
	MOVQ l+0(FP), AX
	CMPB rows_far(AX), $0
	JEQ  fetched
	MOVQ SI, DX

fetch:
	MOVQ (DX), AX
	ADDQ $8, DX
	SHRXQ R10, AX, AX
	ANDQ R9, AX
	IMULQ pitch-8(SP), AX
	PREFETCHT0 (R8)(AX*1)
	CMPQ DX, R13
	JB   fetch

fetched:
	CMPQ pitch-8(SP), $64
	JLT  next1
	JGT  next

next2:
	PLACE(next2)
	VPOR (R12), Y15, Y1
	VPCMPEQD Y0, Y1, Y1
	VMOVMSKPS Y1, DX
	VPOR 32(R12), Y15, Y2
	VPCMPEQD Y0, Y2, Y2
	VMOVMSKPS Y2, CX
	SHLL $8, CX
	ORL  CX, DX               // the lane found, as a bit, or none
	MOVL last-32(SP), CX
	ORL  DX, CX
	BSFL CX, CX               // the lane found, or the last way
	MOVL (R12)(CX*4), AX      // the tag found, or the victim
	NEGQ CX
	ANDL $1, AX
	ORL  BX, AX
	TESTL $3, AX
	JNE  written2
	MOVQ BX, (DI)             // goes on if none was found
	CMPL DX, $1
	SBBQ AX, AX
	ANDL $8, AX
	ADDQ AX, DI
	VPXOR Y15, Y0, Y0         // clean

move2:
	LEAQ ·ones+60(SB), AX
	LEAQ (AX)(CX*4), AX
	VMOVDQU (R12), Y2
	VMOVDQU 32(R12), Y4
	VPERMD Y2, Y13, Y1
	VPERMD Y4, Y13, Y3
	VPBLENDD $1, Y1, Y3, Y3
	VPBLENDD $1, Y0, Y1, Y1
	VMOVDQU (AX), Y5
	VPBLENDVB Y5, Y1, Y2, Y1
	VMOVDQU 32(AX), Y5
	VPBLENDVB Y5, Y3, Y4, Y3
	VMOVDQU Y3, 32(R12)
	VMOVDQU Y1, (R12)
	JMP  next2

written2:                         // it, or the tag found, or the victim
	TESTL DX, DX
	JNE  found2
	TAG
	VMOVD R11, X0
	TESTL $2, BX
	JNE  evict2
	MISS

evict2:
	NEGQ CX
	MOVL (R12)(CX*4), AX
	NEGQ CX
	TESTL $1, AX
	JEQ  move2
	EVICT
	JMP  move2

found2:
	TESTL $1, AX
	JNE  move2                // stays or becomes dirty
	VPXOR Y15, Y0, Y0
	JMP  move2

next1:
	PLACE(next1)
	VMOVDQU (R12), Y2
	VPOR Y2, Y15, Y1
	VPCMPEQD Y0, Y1, Y1
	VMOVMSKPS Y1, DX
	TESTL DX, DX
	JNE  found1
	MOVQ ways-24(SP), AX
	MOVL -4(R12)(AX*4), AX    // victim
	VMOVDQU Y14, Y5
	ANDL $1, AX
	ORL  BX, AX
	TESTL $3, AX
	JNE  written1
	MOVQ BX, (DI)
	ADDQ $8, DI
	VPXOR Y15, Y0, Y0         // clean

move1:
	VPERMD Y2, Y13, Y1
	VPBLENDD $1, Y0, Y1, Y1
	VPBLENDVB Y5, Y1, Y2, Y1
	VMOVDQU Y1, (R12)
	JMP  next1

found1:
	BSFL DX, DX
	MOVL (R12)(DX*4), AX
	LEAQ ·ones+60(SB), CX
	NEGQ DX
	VMOVDQU (CX)(DX*4), Y5
	ORL  BX, AX
	TESTL $1, AX
	JNE  move1                // stays or becomes dirty
	VPXOR Y15, Y0, Y0
	JMP  move1

written1:                         // it, or the victim, or both
	TAG
	VMOVD R11, X0
	TESTL $2, BX
	JNE  evict1
	MISS

evict1:
	MOVQ ways-24(SP), AX
	MOVL -4(R12)(AX*4), AX
	TESTL $1, AX
	JEQ  move1
	EVICT
	JMP  move1

next:
	PLACE(next)
	TAG
	XORL CX, CX

compare:
	VPOR (R12)(CX*1), Y15, Y1
	VPCMPEQD Y0, Y1, Y1
	VMOVMSKPS Y1, DX
	TESTL DX, DX
	JNE  found
	ADDQ $32, CX
	CMPQ CX, pitch-8(SP)
	JLT  compare

	SUBQ $32, CX              // the last vector
	VMOVDQU Y14, Y5
	TESTL $2, BX
	JNE  evict
	MISS

evict:
	MOVQ ways-24(SP), AX
	MOVL -4(R12)(AX*4), AX    // victim
	TESTL $1, AX
	JEQ  move
	EVICT
	JMP  move

found:
	BSFL DX, DX
	LEAQ (R12)(DX*4), AX
	MOVL (AX)(CX*1), AX
	ANDL $1, AX
	ORL  AX, R11              // stays dirty
	LEAQ ·ones+60(SB), AX
	NEGQ DX
	VMOVDQU (AX)(DX*4), Y5

move:                             // lanes Y5 of the vector at CX, all of those before
	VMOVDQU (R12)(CX*1), Y2
	VPERMD Y2, Y13, Y1
	TESTQ CX, CX
	JEQ  first

before:
	VMOVDQU -32(R12)(CX*1), Y3
	VPERMD Y3, Y13, Y4
	VPBLENDD $1, Y4, Y1, Y1
	VPBLENDVB Y5, Y1, Y2, Y1
	VMOVDQU Y1, (R12)(CX*1)
	VPCMPEQD Y5, Y5, Y5
	VMOVDQU Y3, Y2
	VMOVDQU Y4, Y1
	SUBQ $32, CX
	JNE  before

first:
	VMOVD R11, X0
	VPBLENDD $1, Y0, Y1, Y1
	VPBLENDVB Y5, Y1, Y2, Y1
	VMOVDQU Y1, (R12)
	JMP  next

done:
	MOVQ out_base+40(FP), AX
	SUBQ AX, DI
	SHRQ $3, DI
	MOVQ DI, ret+64(FP)
	VZEROUPPER
	RET
