/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <elf.h>

#define UNIT UINT64_C(0x10000)
#define DISTANCE UNIT                 /* at least between a module and its copy */
#define REACH UINT64_C(0x7ff00000)    /* of instructions: 2 GiB, and something to spare */
#define HEAP_ROOM (UINT64_C(1) << 30) /* behind an executable whose address is fixed */

static uint64_t rounded(uint64_t bytes) {
    return (bytes + UNIT - 1) & ~(UNIT - 1);
}

static void add_to_all(Copy *copy, SectionKind kind, uint32_t added) {
    const uint32_t *offsets = (const uint32_t *)copy->sections[kind].items;
    uint8_t *code = copy->sections[SECTION_CODE].items;
    for (size_t i = 0; i < copy->sections[kind].n; i++) {
        uint32_t value;
        memcpy(&value, code + offsets[i], 4);
        value += added;
        memcpy(code + offsets[i], &value, 4);
    }
}

static void move(Copy *copy, uint64_t delta) {
    add_to_all(copy, SECTION_OUTWARD, (uint32_t)(copy->header.delta - delta));
    copy->header.delta = delta;
}

/* Libraries are loaded one below the other: the copy of one goes some way below, each another. */
void plan_place(Copy *copy, const Module *module) {
    const uint64_t code_bytes = rounded(copy->sections[SECTION_CODE].n);
    const uint64_t nearest = code_bytes + DISTANCE;
    const uint64_t used = nearest + rounded(module->highest - module->lowest);
    Elf64_Ehdr header;
    memcpy(&header, module->file, sizeof header);
    if (header.e_type != ET_DYN) {
        const uint64_t behind = rounded(module->highest) + HEAP_ROOM;
        if (used + HEAP_ROOM < REACH) {
            move(copy, behind);
        }
    } else if (used < REACH) {
        const uint64_t spread = module->identity[0] % ((REACH - used) / UNIT + 1) * UNIT;
        move(copy, (module->lowest & ~(UNIT - 1)) - nearest - spread);
    }
}

void plan_counters(Copy *copy, uint64_t first) {
    add_to_all(copy, SECTION_COUNTERS, (uint32_t)(8 * first));
    copy->header.first_counter = first;
}
