/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes x86-64 instructions: their length, where they may go, and what registers, flags and
 * memory they use. What is known of each opcode is a table that Python generates from iced-x86
 * (ridgepoint.meters.native.instruction_table), with which the tests compare every instruction of
 * whole libraries. Freestanding: it runs in the copier and in the measured program. */
#ifndef RIDGEPOINT_INSTRUCTION_H
#define RIDGEPOINT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    FLOW_NEXT,          /* the next instruction is the next one: also SYSCALL */
    FLOW_CONDITIONAL,   /* Jcc */
    FLOW_LOOP,          /* LOOP, LOOPE, LOOPNE, JRCXZ, JECXZ: only rel8 exists */
    FLOW_JUMP,          /* JMP rel */
    FLOW_CALL,          /* CALL rel */
    FLOW_INDIRECT_JUMP,
    FLOW_INDIRECT_CALL,
    FLOW_RETURN,        /* RET, IRET */
    FLOW_XBEGIN,        /* falls through, or goes to its target */
    FLOW_STOP,          /* UD2, INT3, HLT, INT, XABORT: what follows may not be code */
} Flow;

/* Flags, as in Instruction.flags_*. */
enum { FLAG_CF = 1, FLAG_PF = 2, FLAG_AF = 4, FLAG_ZF = 8, FLAG_SF = 16, FLAG_OF = 32,
       FLAG_DF = 64, FLAGS_ALL = 63 /* without DF */ };

typedef enum {
    WHAT_PLAIN,
    WHAT_SYSCALL,       /* SYSCALL */
    WHAT_REPEATED,      /* string instruction with a REP or REPNE prefix */
    WHAT_TILES,         /* LDTILECFG, TILERELEASE, XRSTOR: may change the configuration of tiles */
    WHAT_LEA,
    WHAT_NOP,
    WHAT_PREFETCH,
    WHAT_ENDBR,
    WHAT_GS,            /* sets GS or its base, or reads the base: MOV, POP, LGS, WRGSBASE, ... */
} What;

typedef enum { ENCODING_LEGACY, ENCODING_VEX, ENCODING_EVEX, ENCODING_XOP } Encoding;

/* Accesses that no explicit operand makes, as in Instruction.implicit_access. */
enum { IMPLICIT_READ_RSI = 1, IMPLICIT_READ_RDI = 2, IMPLICIT_WRITE_RDI = 4,
       IMPLICIT_OTHER = 8 /* XLAT, CLZERO, MOVDIR64B's destination and the like */ };

#define NO_REGISTER 255
#define REGISTER_RIP 16

typedef struct {
    uint64_t address;
    uint64_t target;       /* of a direct branch, of a RIP-relative memory operand, or the absolute
                              address of MOV with 8 bytes of it (A0 to A3); else 0 */
    uint8_t length;        /* 1 to 15 */
    uint8_t flow;          /* Flow */
    uint8_t what;          /* What */
    uint8_t condition;     /* of Jcc: 0 to 15 as encoded */
    uint8_t flags_read, flags_written; /* written: changed, cleared, set or undefined, always */
    uint16_t read;         /* general registers whose value matters, bit n: register n of the
                              encoding (0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, ...); implicit too */
    uint16_t written;      /* those that are overwritten whole: 64 bits, or 32, whatever happens */
    uint16_t changed;      /* those that may change, written ones included */
    /* The one explicit memory operand, if `has_memory`; LEA, NOP, prefetches have one too. Two
       need care where an address is computed beforehand: POP [rsp + d] means RSP as it is
       afterwards, and BT, BTC, BTR, BTS [m], reg access the bytes at m + reg / 8. */
    bool has_memory, is_rip_relative, is_vsib;
    bool is_address32;     /* addresses, and the count of REP, LOOP and JRCXZ, are of 32 bits */
    uint8_t base, index;   /* general register, REGISTER_RIP or NO_REGISTER; of VSIB the vector */
    uint8_t scale;         /* 1, 2, 4, 8 */
    uint8_t segment;       /* 0, or the prefix: 0x64 FS, 0x65 GS */
    int32_t displacement;  /* as encoded, and scaled where EVEX compresses it */
    uint8_t displacement_at, displacement_bytes; /* in the instruction; bytes 0: none */
    uint8_t immediate_at, immediate_bytes;       /* also of relative branches; of two their sum */
    /* What that operand is for, as the counting rules have it: bytes count in full. */
    uint16_t memory_bytes; /* of a gather: of one element; 0: depends on run-time state */
    uint8_t memory_access; /* 1 read, 2 written, 3 both, 0 none; | 4: non-temporal store */
    uint8_t elements;      /* of a gather or scatter */
    uint8_t index_bytes;   /* of its indices: 4 or 8 */
    bool uses_stack;       /* PUSH, POP, CALL, RET, ENTER, LEAVE: an implicit access at rsp; of
                              LEAVE at rbp */
    /* AVX-512 masks. */
    uint8_t mask;          /* k1 to k7, or 0: none */
    uint8_t masked_lanes;  /* lanes of arithmetic that flop are counted of, where mask > 0; or 0 */
    uint8_t masks_changed; /* bit n: k register n may change */
    /* For who emits code that looks at the operands. */
    uint8_t encoding;      /* Encoding */
    uint8_t reg, vvvv;     /* of ModRM and VEX with their extensions: a register's number */
    uint8_t implicit_access, implicit_bytes; /* of string instructions: bits, and of one element */
    uint8_t stack_access, stack_bytes; /* if uses_stack: 1 read, 2 written, 3 both; ENTER: of one */
} Instruction;

/* Decode the first instruction of `room` bytes at `code`, which run at `address`. False: it is no
   instruction, or does not end in there; then only `length` is set, to 0. */
bool instruction_decode(const uint8_t *code, size_t room, uint64_t address, Instruction *out);

#endif
