/* SPDX-License-Identifier: Apache-2.0 */
/* Which loads and stores leave lanes alone that a mask says, and how large a lane is.
 *
 * Of moves, expansions and compressions, and of arithmetic whose lanes are counted. Of what else may
 * be masked (broadcasts, integers) the whole operand counts: it seldom reaches into another line.
 */
#include "record.h"

/* Of EVEX: map, opcode, the bits pp and W. False: it is none. */
typedef struct {
    uint8_t map, opcode, pp;
    bool w;
} Opcode;

static bool is_prefix(uint8_t byte) {
    return byte == 0x67 || byte == 0x64 || byte == 0x65 || (byte & 0xE7) == 0x26;
}

static bool opcode_of(const Instruction *x, const uint8_t *code, Opcode *out) {
    const uint8_t first = x->encoding == ENCODING_EVEX ? 0x62 : 0xC4;
    uint8_t at = 0;
    while (at < x->length && is_prefix(code[at])) {
        at++;
    }
    if (at + 5 > x->length || code[at] != first) {
        return false; /* the shorter form of VEX has map 1 alone */
    }
    *out = (Opcode){.map = code[at + 1] & 31, .pp = code[at + 2] & 3, .w = code[at + 2] >> 7};
    out->opcode = code[at + (first == 0x62 ? 4 : 3)];
    if (first == 0x62) {
        out->map &= 7;
    }
    return true;
}

/* VMASKMOVPS, VMASKMOVPD, VPMASKMOVD, VPMASKMOVQ */
static uint8_t bytes_of_vex(const Opcode *opcode) {
    if (opcode->map != 2) {
        return 0;
    }
    switch (opcode->opcode) {
    case 0x2C:
    case 0x2E:
        return 4;
    case 0x2D:
    case 0x2F:
        return 8;
    case 0x8C:
    case 0x8E:
        return opcode->w ? 8 : 4;
    default:
        return 0;
    }
}

static uint8_t bytes_of_move(const Opcode *opcode, bool *is_compressed) {
    const uint8_t usual = opcode->w ? 8 : 4, small = opcode->w ? 2 : 1;
    if (opcode->map == 1) {
        switch (opcode->opcode) {
        case 0x10: /* MOVUPS, MOVUPD, MOVSS, MOVSD */
        case 0x11:
        case 0x28: /* MOVAPS, MOVAPD */
        case 0x29:
            return usual;
        case 0x6F: /* MOVDQA32, MOVDQU8 and their kin */
        case 0x7F:
            return opcode->pp == 3 ? small : usual;
        default:
            return 0;
        }
    }
    if (opcode->map != 2) {
        return 0;
    }
    switch (opcode->opcode) {
    case 0x62: /* VPEXPANDB, VPCOMPRESSB, ... */
    case 0x63:
        *is_compressed = true;
        return small;
    case 0x88: /* VEXPANDPS, VPEXPANDD, VCOMPRESSPS, VPCOMPRESSD, ... */
    case 0x89:
    case 0x8A:
    case 0x8B:
        *is_compressed = true;
        return usual;
    default:
        return 0;
    }
}

static uint8_t bytes_of_arithmetic(const Instruction *x) {
    const uint32_t lanes = x->masked_lanes;
    const uint32_t bytes = lanes > 1 && x->memory_bytes % lanes == 0 ? x->memory_bytes / lanes : 0;
    return bytes == 2 || bytes == 4 || bytes == 8 ? (uint8_t)bytes : 0; /* else a broadcast */
}

uint8_t masked_lane_bytes(const Instruction *x, const uint8_t *code, bool *is_compressed) {
    const bool may = x->encoding == ENCODING_VEX || (x->encoding == ENCODING_EVEX && x->mask);
    Opcode opcode;
    if (!may || !opcode_of(x, code, &opcode)) {
        return 0;
    }
    uint8_t bytes = x->encoding == ENCODING_VEX ? bytes_of_vex(&opcode)
                                                : bytes_of_move(&opcode, is_compressed);
    if (!bytes && x->encoding == ENCODING_EVEX) {
        bytes = bytes_of_arithmetic(x);
    }
    const uint32_t lanes = bytes ? x->memory_bytes / bytes : 0;
    return lanes >= 1 && lanes <= 64 && lanes * bytes == x->memory_bytes ? bytes : 0;
}
