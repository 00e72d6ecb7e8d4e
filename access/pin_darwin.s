#include "textflag.h"

TEXT trampoline<>(SB), NOSPLIT, $0-0
	JMP libc_pthread_set_qos_class_self_np(SB)

GLOBL ·classTrampoline(SB), RODATA, $8
DATA ·classTrampoline(SB)/8, $trampoline<>(SB)
