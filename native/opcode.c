/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads prefixes, opcode and ModRM of an instruction that is known to be valid.
 *
 * Source: Intel SDM volume 2, chapter 2 (formats) and appendix A (opcode maps).
 */
#include "opcode.h"

typedef struct {
    unsigned map;    /* 0: one byte, 1: 0F, others as in a VEX prefix */
    uint8_t opcode;
    unsigned at;     /* offset of what follows the opcode */
    unsigned rex_x, rex_b;
    bool rep, address32, segment;
} Head;

static bool head_of(const uint8_t *code, unsigned length, Head *head) {
    *head = (Head){0};
    unsigned at = 0;
    for (; at < length; at++) {
        uint8_t byte = code[at];
        if (byte == 0xF2 || byte == 0xF3) {
            head->rep = true;
        } else if (byte == 0x64 || byte == 0x65) {
            head->segment = true;
        } else if (byte == 0x67) {
            head->address32 = true;
        } else if (byte != 0x66 && byte != 0x2E && byte != 0x36 && byte != 0x3E && byte != 0x26 &&
                   byte != 0xF0) {
            break;
        }
    }
    if (at < length && (code[at] & 0xF0) == 0x40) {
        head->rex_x = code[at] >> 1 & 1;
        head->rex_b = code[at] & 1;
        at++;
    }
    if (at + 2 < length && code[at] == 0xC5) { /* two-byte VEX */
        head->map = 1;
        at += 2;
    } else if (at + 3 < length && code[at] == 0xC4) { /* three-byte VEX */
        head->map = code[at + 1] & 0x1F;
        at += 3;
    } else if (at + 1 < length && code[at] == 0x0F) {
        head->map = 1;
        at++;
    }
    if (at >= length) {
        return false;
    }
    head->opcode = code[at];
    head->at = at + 1;
    return true;
}

static Opcode prefetch_of(const Head *head, const uint8_t *code, unsigned length) {
    if (head->at >= length || code[head->at] >> 6 == 3) {
        return OPCODE_OTHER; /* a register operand: a NOP */
    }
    unsigned kind = code[head->at] >> 3 & 7;
    if (head->opcode == 0x0D) {
        return OPCODE_PREFETCH_T0;
    }
    switch (kind) {
    case 0:
        return OPCODE_PREFETCH_NTA;
    case 1:
        return OPCODE_PREFETCH_T0;
    case 2:
        return OPCODE_PREFETCH_T1;
    case 3:
        return OPCODE_PREFETCH_T2;
    default:
        return OPCODE_OTHER;
    }
}

static Opcode one_byte_opcode(const Head *head, const uint8_t *code, unsigned length) {
    const bool string = (head->opcode >= 0xA4 && head->opcode <= 0xA7) ||
                        (head->opcode >= 0xAA && head->opcode <= 0xAF);
    if (string && head->rep) {
        return OPCODE_REP_STRING;
    }
    const bool group3 = (head->opcode == 0xF6 || head->opcode == 0xF7) && head->at < length;
    return group3 && (code[head->at] >> 3 & 7) >= 6 ? OPCODE_DIVISION : OPCODE_OTHER;
}

Opcode opcode_of(const uint8_t *code, unsigned length) {
    Head head;
    if (!head_of(code, length, &head)) {
        return OPCODE_OTHER;
    }
    if (head.map == 0) {
        return one_byte_opcode(&head, code, length);
    }
    if (head.map == 2) { /* 99, 9B, 9D, 9F; A9, ...; B9, ... */
        const bool fma = head.opcode >= 0x90 && head.opcode <= 0xBF && (head.opcode & 9) == 9;
        return fma ? OPCODE_SCALAR_FMA : OPCODE_OTHER;
    }
    if (head.map != 1) {
        return OPCODE_OTHER;
    }
    switch (head.opcode) {
    case 0x2B: /* MOVNTPS, MOVNTPD, MOVNTSS, MOVNTSD */
    case 0xC3: /* MOVNTI */
    case 0xE7: /* MOVNTQ, MOVNTDQ */
    case 0xF7: /* MASKMOVQ, MASKMOVDQU */
        return OPCODE_NT_STORE;
    case 0x0D:
    case 0x18:
        return prefetch_of(&head, code, length);
    default:
        return OPCODE_OTHER;
    }
}

bool prefetched_operand(const uint8_t *code, unsigned length, Operand *operand) {
    Head head;
    if (!head_of(code, length, &head) || head.segment || head.address32 || head.at >= length) {
        return false;
    }
    unsigned at = head.at;
    unsigned mod = code[at] >> 6, rm = code[at] & 7;
    at++;
    *operand = (Operand){.base = NO_REGISTER, .index = NO_REGISTER};
    bool no_base = false;
    if (rm == 4) {
        if (at >= length) {
            return false;
        }
        uint8_t sib = code[at++];
        unsigned index = (sib >> 3 & 7) | head.rex_x << 3;
        operand->index = index == 4 ? NO_REGISTER : index;
        operand->scale = sib >> 6;
        no_base = mod == 0 && (sib & 7) == 5;
        operand->base = no_base ? NO_REGISTER : (sib & 7) | head.rex_b << 3;
    } else if (mod == 0 && rm == 5) {
        operand->is_rip_relative = true;
    } else {
        operand->base = rm | head.rex_b << 3;
    }
    unsigned n = mod == 1 ? 1 : mod == 2 || operand->is_rip_relative || no_base ? 4 : 0;
    if (at + n > length) {
        return false;
    }
    if (n == 1) {
        operand->displacement = (int8_t)code[at];
    } else if (n == 4) {
        operand->displacement = (int32_t)((uint32_t)code[at] | (uint32_t)code[at + 1] << 8 |
                                          (uint32_t)code[at + 2] << 16 |
                                          (uint32_t)code[at + 3] << 24);
    }
    return true;
}
