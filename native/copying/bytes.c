/* SPDX-License-Identifier: Apache-2.0 */
/* The few instructions that the copier writes of its own. */
#include "emit.h"

void put_nops(Emitter *e, uint32_t n) {
    static const uint8_t nops[9][8] = {
        {0},
        {0x90},
        {0x66, 0x90},
        {0x0F, 0x1F, 0x00},
        {0x0F, 0x1F, 0x40, 0x00},
        {0x0F, 0x1F, 0x44, 0x00, 0x00},
        {0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00},
        {0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00},
        {0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    };
    while (n > 0) {
        const uint32_t k = n < 8 ? n : 8;
        put_bytes(e, nops[k], k);
        n -= k;
    }
}

static void note(Emitter *e, SectionKind section) {
    uint32_t *place = array_add(&e->copy->sections[section], 1);
    if (place) {
        *place = (uint32_t)e->n;
    }
}

void put_counter_place(Emitter *e, uint32_t counter) {
    note(e, SECTION_COUNTERS);
    put4(e, COUNTERS_AT + 8 * counter);
}

void put_counter(Emitter *e, uint8_t op, uint8_t r, uint32_t counter) {
    PUT(e, 0x65, r >= 8 ? 0x4C : 0x48, op, (uint8_t)(0x04 | (r & 7) << 3), 0x25);
    put_counter_place(e, counter);
}

void put_inc_counter(Emitter *e, uint32_t counter) {
    PUT(e, 0x65, 0x48, 0xFF, 0x04, 0x25);
    put_counter_place(e, counter);
}

/* Without flags: mov r32, 0. */
void put_zero(Emitter *e, uint8_t r) {
    if (r >= 8) {
        put1(e, 0x41);
    }
    put1(e, (uint8_t)(0xB8 | (r & 7)));
    put4(e, 0);
}

void put_lea(Emitter *e, uint8_t r, uint8_t other, int8_t add) {
    const uint8_t high = r >= 8 ? 5 : 0;
    if (other == NO_SCRATCH && (r & 7) != 4) {
        PUT(e, 0x48 | high, 0x8D, (uint8_t)(0x40 | (r & 7) * 9), (uint8_t)add);
    } else { /* with a SIB byte: base r, index other or none */
        const uint8_t index = other == NO_SCRATCH ? 4 : other;
        PUT(e, (uint8_t)(0x48 | high | (index >= 8 ? 2 : 0)), 0x8D, (uint8_t)(0x44 | (r & 7) << 3),
            (uint8_t)((index & 7) << 3 | (r & 7)), (uint8_t)add);
    }
}

void put_spill(Emitter *e, uint8_t r) {
    PUT(e, 0x48, 0x8D, 0x64, 0x24, 0x80); /* lea rsp, [rsp - 128] */
    if (r >= 8) {
        put1(e, 0x41);
    }
    put1(e, (uint8_t)(0x50 | (r & 7)));
}

void put_unspill(Emitter *e, uint8_t r) {
    if (r >= 8) {
        put1(e, 0x41);
    }
    put1(e, (uint8_t)(0x58 | (r & 7)));
    PUT(e, 0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0);
}

void put_inward(Emitter *e, uint64_t offset) {
    put4(e, (uint32_t)(offset - (e->n + 4)));
}

void put_outward(Emitter *e, uint64_t target, uint32_t bytes_after) {
    const int64_t distance = (int64_t)(target - (e->delta + e->n + 4 + bytes_after));
    if (distance != (int32_t)distance) {
        e->failed = "its code and data are more than 2 GiB apart";
    }
    note(e, SECTION_OUTWARD);
    put4(e, (uint32_t)distance);
}

void put_hook_call(Emitter *e, Hook hook) {
    PUT(e, 0x48, 0x8D, 0x64, 0x24, 0x80, 0xFF, 0x15);
    put_inward(e, 8 * (uint64_t)hook);
    PUT(e, 0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0);
}

uint32_t add_row(Emitter *e, uint64_t address, uint32_t bytes, RowKind kind) {
    Array *rows = &e->copy->sections[SECTION_ROWS];
    Row *row = array_add(rows, 1);
    if (!row) {
        return 0;
    }
    *row = (Row){.address = address, .bytes = bytes, .kind = (uint16_t)kind};
    return (uint32_t)(rows->n - 1);
}

/* In the order of their cost: without a prefix, and not those that exceptions carry over. Not rsp,
   and not r12, which needs a byte more as a base. */
uint8_t find_scratch(uint32_t live) {
    static const uint8_t order[] = {1, 0, 2, 6, 7, 8, 9, 10, 11, 3, 5, 13, 14, 15};
    for (size_t i = 0; i < sizeof order; i++) {
        if (!(live & LIVE_REGISTER(order[i]))) {
            return order[i];
        }
    }
    return NO_SCRATCH;
}

uint32_t live_before(Emitter *e, const Block *block, uint32_t k) {
    if (!e->live_is_known) {
        uint32_t live = block->live_out;
        e->live[block->n] = live;
        for (uint32_t i = block->n; i-- > 0;) {
            live = graph_before(&e->graph, &e->analysis->list[block->first + i], live);
            e->live[i] = live;
        }
        e->live_is_known = true;
    }
    return e->live[k] | loop_registers(e, block);
}
