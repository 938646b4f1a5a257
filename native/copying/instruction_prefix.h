/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions up to their opcode: prefixes, REX, VEX, EVEX and XOP. Only the decoder uses it. */
#ifndef RIDGEPOINT_INSTRUCTION_PREFIX_H
#define RIDGEPOINT_INSTRUCTION_PREFIX_H

#include "instruction.h"

/* Numbers of maps in the table: of each encoding this plus the number that is encoded. */
enum { MAP_LEGACY = 0, MAP_VEX = 3, MAP_EVEX = 6, MAP_XOP = 5 };

/* What has been read so far. */
typedef struct {
    const uint8_t *code;
    unsigned at, room;
    bool prefix66, lock, address32, rex_present;
    uint8_t rep, segment; /* the prefixes themselves, or 0 */
    uint8_t w, r, x, b;   /* extension bits, 0 or 1 */
    uint8_t r2, v2, vvvv, mask, zeroing;
    uint8_t map;          /* in the table */
    uint8_t variant;      /* as ridgepoint.meters.native.instruction_samples numbers them */
    uint8_t opcode, modrm;
    bool is_now3d;
} Reading;

/* Whether there are so many bytes left. */
static inline bool has(const Reading *reading, unsigned n) {
    return reading->room - reading->at >= n;
}

/* Everything up to the opcode, it included. False: this begins no instruction. */
bool instruction_read_opcode(Reading *reading, Instruction *out);

#endif
