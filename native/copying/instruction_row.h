/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the generated table of instructions, which instruction.c alone includes. Names and
 * meanings are those of ridgepoint.meters.native.instruction_rows.Row, which fills them in. */
#ifndef RIDGEPOINT_INSTRUCTION_ROW_H
#define RIDGEPOINT_INSTRUCTION_ROW_H

#include <stdint.h>

/* What an instruction does to the register that a field of its encoding names. */
enum { ROLE_READ = 1, ROLE_WHOLE = 2, ROLE_CHANGED = 4 };

enum {
    INVALID = 1u << 0,
    HAS_MODRM = 1u << 1,
    IGNORES_MOD = 1u << 2,     /* takes registers whatever ModRM.mod is */
    HAS_MOFFS = 1u << 3,       /* an absolute address of 8 bytes in place of ModRM */
    HAS_VSIB = 1u << 4,
    NEEDS_SIB = 1u << 5,       /* of memory */
    ADDRESS_UNREAD = 1u << 6,  /* the registers of the memory operand do not matter */
    SAME_UNREAD = 1u << 7,     /* two equal registers do not matter: XOR, SUB */
    COUNTS_BITS = 1u << 8,     /* the immediate is a count, and flags stay as they are if it is 0 */
    REG_IS_BYTE = 1u << 9,
    RM_IS_BYTE = 1u << 10,
    OPCODE_IS_BYTE = 1u << 11,
    CHANGES_K = 1u << 12,      /* ModRM.reg is a mask */
    CHANGES_K_PAIR = 1u << 13, /* and the other one of the pair */
    CHANGES_MASK = 1u << 14,
    NEEDS_MASK = 1u << 15,
    NEEDS_UNIQUE = 1u << 16,   /* all vector registers, index included, differ */
    NEEDS_UNIQUE_TARGET = 1u << 17,
    REFUSES_R = 1u << 18,      /* refused: this bit, field or prefix */
    REFUSES_X = 1u << 19,
    REFUSES_B = 1u << 20,
    REFUSES_R2 = 1u << 21,
    REFUSES_V2 = 1u << 22,
    REFUSES_VVVV = 1u << 23,
    REFUSES_HIGH_VVVV = 1u << 24,
    REFUSES_MASK = 1u << 25,
    REFUSES_ZEROING = 1u << 26,
    REFUSES_LOCK = 1u << 27,
    REFUSES_ADDRESS32 = 1u << 28,
    REFUSES_RIP = 1u << 29,
};

typedef struct {
    uint32_t traits;
    uint16_t read, written, changed; /* registers that no field names */
    uint16_t memory_bytes;
    uint8_t flow, what, flags_read, flags_written;
    uint8_t reg, rm, vvvv, opcode;   /* ROLE_* */
    uint8_t immediate_bytes, displacement_shift;
    uint8_t memory_access, elements, index_bytes, masked_lanes;
    uint8_t implicit_access, implicit_bytes, stack_access, stack_bytes;
} Row;

#endif
