/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes much at once, for tests that call it from Python. */
#include "instruction.h"

/* From each start, one instruction. */
void decode_at(const uint8_t *code, size_t bytes, const uint64_t *starts, size_t n,
               uint64_t address, Instruction *out) {
    for (size_t i = 0; i < n; i++) {
        instruction_decode(code + starts[i], bytes - starts[i], address + starts[i], out + i);
    }
}

/* One after the other; a byte that begins none is skipped. How many. */
size_t decode_all(const uint8_t *code, size_t bytes, uint64_t address, Instruction *out,
                  size_t room) {
    size_t n = 0;
    for (size_t at = 0; at < bytes && n < room; n++) {
        instruction_decode(code + at, bytes - at, address + at, out + n);
        at += out[n].length ? out[n].length : 1;
    }
    return n;
}
