/* SPDX-License-Identifier: Apache-2.0 */
/* Jump tables of a copy: where the copy is not where it was planned, and where the module is. */
#include "loader.h"

static const uint32_t *offsets_of(const Loaded *module, SectionKind kind, uint64_t bytes,
                                  uint64_t *n) {
    const Section *section = &module->copy->sections[kind];
    const uint32_t *offsets = (const uint32_t *)((const uint8_t *)module->copy + section->at);
    *n = section->n;
    for (uint64_t i = 0; i < *n; i++) {
        if (offsets[i] + bytes > module->code_bytes) {
            return NULL;
        }
    }
    return offsets;
}

/* False: the file is damaged, or a distance would be too far. */
bool tables_move(Loaded *module, uint64_t wanted) {
    const int64_t moved = (int64_t)((uint64_t)module->code - wanted);
    uint64_t n;
    const uint32_t *offsets = offsets_of(module, SECTION_TOWARD, 4, &n);
    for (uint64_t i = 0; offsets && moved && i < n; i++) {
        int32_t distance;
        memcpy(&distance, module->code + offsets[i], 4);
        const int64_t sum = distance + moved;
        if (sum != (int32_t)sum) {
            return false;
        }
        distance = (int32_t)sum;
        memcpy(module->code + offsets[i], &distance, 4);
    }
    const bool good = offsets != NULL;
    offsets = offsets_of(module, SECTION_ABSOLUTE, 8, &n);
    for (uint64_t i = 0; offsets && i < n; i++) {
        uint64_t place;
        memcpy(&place, module->code + offsets[i], 8);
        place += module->bias + (uint64_t)moved;
        memcpy(module->code + offsets[i], &place, 8);
    }
    return good && offsets;
}
