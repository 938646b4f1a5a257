/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few x86-64 instructions that the engine has to know by their bytes. */
#ifndef RIDGEPOINT_OPCODE_H
#define RIDGEPOINT_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    OPCODE_OTHER,
    OPCODE_REP_STRING,   /* a string instruction with a REP, REPE or REPNE prefix */
    OPCODE_DIVISION,     /* of integers: it may raise SIGFPE */
    OPCODE_SCALAR_FMA,   /* a fused multiply-add of one number */
    OPCODE_NT_STORE,     /* a store that goes past the caches */
    OPCODE_PREFETCH_T0,  /* PREFETCHT0, PREFETCHW, PREFETCHWT1, PREFETCH of 3DNow! */
    OPCODE_PREFETCH_T1,
    OPCODE_PREFETCH_T2,
    OPCODE_PREFETCH_NTA,
} Opcode;

#define NO_REGISTER 16

/* An address as an instruction states it: base + index * 2^scale + displacement. */
typedef struct {
    unsigned base, index; /* 0 to 15, or NO_REGISTER */
    unsigned scale;
    int64_t displacement; /* relative to the next instruction where is_rip_relative */
    bool is_rip_relative;
} Operand;

Opcode opcode_of(const uint8_t *code, unsigned length);

/* Where a prefetch points; false where that is not supported (FS, GS, 32-bit addresses). */
bool prefetched_operand(const uint8_t *code, unsigned length, Operand *operand);

#endif
