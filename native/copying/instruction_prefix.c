/* SPDX-License-Identifier: Apache-2.0 */
#include "instruction_prefix.h"

/* False: the code ends. Afterwards `at` is behind the prefixes and REX is taken apart. */
static bool read_prefixes(Reading *reading) {
    uint8_t rex = 0;
    for (; has(reading, 1); reading->at++) {
        const uint8_t byte = reading->code[reading->at];
        if ((byte & 0xF0) == 0x40) {
            rex = byte;
            continue;
        }
        switch (byte) {
        case 0x26: case 0x2E: case 0x36: case 0x3E:
            break;
        case 0x64: case 0x65:
            reading->segment = byte;
            break;
        case 0x66:
            reading->prefix66 = true;
            break;
        case 0x67:
            reading->address32 = true;
            break;
        case 0xF0:
            reading->lock = true;
            break;
        case 0xF2: case 0xF3:
            reading->rep = byte;
            break;
        default:
            reading->rex_present = rex != 0;
            reading->w = rex >> 3 & 1;
            reading->r = rex >> 2 & 1;
            reading->x = rex >> 1 & 1;
            reading->b = rex & 1;
            return true;
        }
        rex = 0;
    }
    return false;
}

static bool has_prefix_that_vex_refuses(const Reading *reading) {
    return reading->prefix66 || reading->rep || reading->lock || reading->rex_present;
}

static void take_inverted(Reading *reading, uint8_t byte) {
    reading->r = !(byte & 0x80);
    reading->x = !(byte & 0x40);
    reading->b = !(byte & 0x20);
}

static bool read_vex2(Reading *reading) {
    if (!has(reading, 3)) {
        return false;
    }
    const uint8_t second = reading->code[reading->at + 1];
    reading->r = !(second & 0x80);
    reading->vvvv = ~second >> 3 & 15;
    reading->variant = (second & 3) | (second & 4) << 1;
    reading->map = MAP_VEX + 1;
    reading->at += 2;
    return true;
}

/* VEX of three bytes, and XOP, whose maps begin at 8. */
static bool read_vex3(Reading *reading) {
    if (!has(reading, 4)) {
        return false;
    }
    const uint8_t *code = reading->code + reading->at;
    const uint8_t map = code[1] & 31;
    if (code[0] == 0xC4 ? map < 1 || map > 3 : map < 8 || map > 10) {
        return false;
    }
    take_inverted(reading, code[1]);
    reading->w = code[2] >> 7;
    reading->vvvv = ~code[2] >> 3 & 15;
    reading->variant = (code[2] & 3) | reading->w << 2 | (code[2] & 4) << 1;
    reading->map = (code[0] == 0xC4 ? MAP_VEX : MAP_XOP) + map;
    reading->at += 3;
    return true;
}

static bool read_evex(Reading *reading) {
    if (!has(reading, 5)) {
        return false;
    }
    const uint8_t *code = reading->code + reading->at;
    const uint8_t map = code[1] & 7;
    if ((code[1] & 8) || !(code[2] & 4) || map == 0 || map == 4 || map == 7) {
        return false;
    }
    take_inverted(reading, code[1]);
    reading->r2 = !(code[1] & 0x10);
    reading->w = code[2] >> 7;
    reading->vvvv = ~code[2] >> 3 & 15;
    reading->zeroing = code[3] >> 7;
    reading->v2 = !(code[3] & 8);
    reading->mask = code[3] & 7;
    reading->variant =
        (code[2] & 3) | reading->w << 2 | (code[3] >> 4 & 1) << 3 | (code[3] >> 5 & 3) << 4;
    reading->map = MAP_EVEX + map;
    reading->at += 4;
    return true;
}

static void read_escapes(Reading *reading) {
    if (reading->code[reading->at] == 0x0F && has(reading, 2)) {
        const uint8_t second = reading->code[++reading->at];
        reading->map = MAP_LEGACY + 1;
        if ((second == 0x38 || second == 0x3A) && has(reading, 2)) {
            reading->map = MAP_LEGACY + (second == 0x38 ? 2 : 3);
            reading->at++;
        }
        reading->is_now3d = reading->map == MAP_LEGACY + 1 && second == 0x0F;
    }
    reading->variant = (reading->rep == 0xF3) << 2 | (reading->rep == 0xF2) << 3 |
                       reading->prefix66 << 1 | reading->w;
}

bool instruction_read_opcode(Reading *reading, Instruction *out) {
    if (!read_prefixes(reading)) {
        return false;
    }
    const uint8_t *code = reading->code + reading->at;
    bool (*read)(Reading *) = NULL;
    if (code[0] == 0xC5) {
        read = read_vex2, out->encoding = ENCODING_VEX;
    } else if (code[0] == 0xC4) {
        read = read_vex3, out->encoding = ENCODING_VEX;
    } else if (code[0] == 0x62) {
        read = read_evex, out->encoding = ENCODING_EVEX;
    } else if (code[0] == 0x8F && has(reading, 2) && (code[1] & 31) >= 8) {
        read = read_vex3, out->encoding = ENCODING_XOP;
    }
    if (!read) {
        read_escapes(reading);
    } else if (has_prefix_that_vex_refuses(reading) || !read(reading)) {
        return false;
    }
    if (!has(reading, 1)) {
        return false;
    }
    reading->opcode = reading->code[reading->at++];
    return true;
}
