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

static void move_words(Copy *copy, uint64_t further) {
    const Array *words = &copy->sections[SECTION_ABSOLUTE];
    uint8_t *code = copy->sections[SECTION_CODE].items;
    for (size_t i = 0; i < words->n; i++) {
        uint8_t *at = code + ((const uint32_t *)words->items)[i];
        uint64_t value;
        memcpy(&value, at, sizeof value);
        value += further;
        memcpy(at, &value, sizeof value);
    }
}

static void move(Copy *copy, uint64_t delta) {
    const uint64_t further = delta - copy->header.delta;
    add_to_all(copy, SECTION_OUTWARD, (uint32_t)-further);
    add_to_all(copy, SECTION_TOWARD, (uint32_t)further);
    move_words(copy, further);
    copy->header.delta = delta;
}

/* How far below its module a copy begins, beyond its own length: libraries are loaded one below the
   other, and copies shall lie where these do not. Each has a place of its own among those that are
   about as large, so that large ones find large gaps. */
static uint64_t spread(uint64_t code_bytes, uint64_t room, uint64_t identity) {
    static const struct {
        uint64_t code_bytes, from, to;
    } classes[] = {
        {4 << 20, 640 << 20, 832 << 20},
        {64 << 20, 832 << 20, 1152 << 20},
        {UINT64_MAX, 1152 << 20, REACH},
    };
    unsigned k = 0;
    while (code_bytes > classes[k].code_bytes) {
        k++;
    }
    const uint64_t to = classes[k].to < room ? classes[k].to : room;
    const uint64_t from = classes[k].from < to ? classes[k].from : 0;
    return from + identity % ((to - from) / UNIT + 1) * UNIT;
}

void plan_place(Copy *copy, const Module *module) {
    const uint64_t code_bytes = rounded(copy->sections[SECTION_CODE].n);
    const uint64_t nearest = code_bytes + DISTANCE;
    const uint64_t used = nearest + rounded(module->highest - module->lowest);
    Elf64_Ehdr header;
    memcpy(&header, module->file, sizeof header);
    if (header.e_type == ET_DYN && used < REACH) {
        move(copy, (module->lowest & ~(UNIT - 1)) - nearest
                       - spread(code_bytes, REACH - used, module->identity[0]));
    } else if (header.e_type != ET_DYN && used + HEAP_ROOM < REACH) {
        move(copy, rounded(module->highest) + HEAP_ROOM);
    }
}

void plan_counters(Copy *copy, uint64_t first) {
    add_to_all(copy, SECTION_COUNTERS, (uint32_t)(8 * first));
    copy->header.first_counter = first;
}
