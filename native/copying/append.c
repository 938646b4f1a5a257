/* SPDX-License-Identifier: Apache-2.0 */
#include "append.h"

void append_number(Array *code, uint64_t number, unsigned n) {
    uint8_t *at = array_add(code, n);
    for (unsigned i = 0; at && i < n; i++) {
        at[i] = (uint8_t)(number >> 8 * i);
    }
}

void append_byte(Array *code, uint8_t byte) {
    append_number(code, byte, 1);
}

void append_bytes(Array *code, const uint8_t *bytes, size_t n) {
    uint8_t *at = array_add(code, n);
    if (at) {
        memcpy(at, bytes, n);
    }
}

void append_leb(Array *code, uint64_t number, bool is_signed) {
    for (bool more = true; more;) {
        const uint8_t low = number & 127;
        number = is_signed ? (uint64_t)((int64_t)number >> 7) : number >> 7;
        const bool is_negative = is_signed && low & 64;
        more = is_negative ? number != UINT64_MAX : number || (is_signed && low & 64);
        append_byte(code, more ? low | 128 : low);
    }
}

void append_until(Array *code, size_t multiple) {
    array_add(code, -code->n & (multiple - 1));
}
