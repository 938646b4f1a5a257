/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the lanes that masked arithmetic really works on: the population of its mask.
 *
 * A mask is counted anywhere between the instructions that change it, where flags and a register
 * are free: saving flags costs more than all the rest. */
#include "emit.h"

static bool changes(const Instruction *x, uint8_t mask) {
    return x->masks_changed >> mask & 1;
}

static int ease(uint32_t live) {
    return (live & LIVE_FLAGS ? 0 : 2) + (find_scratch(live) != NO_SCRATCH);
}

/* The best place for the mask of instruction i. */
static uint32_t find_place(const Emitter *e, const Block *block, uint32_t i) {
    const Instruction *x = &e->analysis->list[block->first];
    const uint8_t mask = x[i].mask;
    uint32_t best = i;
    for (uint32_t k = i; k > 0 && !changes(&x[k - 1], mask); k--) {
        best = ease(e->live[k - 1]) > ease(e->live[best]) ? k - 1 : best;
    }
    for (uint32_t k = i; k + 1 < block->n && !changes(&x[k], mask); k++) {
        best = ease(e->live[k + 1]) > ease(e->live[best]) ? k + 1 : best;
    }
    return best;
}

void masks_plan(Emitter *e, const Block *block) {
    const Instruction *x = &e->analysis->list[block->first];
    uint32_t known[8][2]; /* lanes and row of what was counted since the mask changed */
    memset(known, 0, sizeof known);
    e->masks.n = 0;
    live_before(e, block, 0); /* so that all are known */
    for (uint32_t k = 0; k < block->n; k++) {
        if (x[k].mask && x[k].masked_lanes) {
            uint32_t *same = known[x[k].mask];
            const uint32_t row = add_row(e, x[k].address, x[k].masked_lanes, ROW_MASK);
            if (same[0] == x[k].masked_lanes) {
                ((Row *)e->copy->sections[SECTION_ROWS].items)[row].shares = 1 + same[1];
            } else {
                MaskCount *count = array_add(&e->masks, 1);
                if (count) {
                    *count = (MaskCount){find_place(e, block, k), row, x[k].mask,
                                         x[k].masked_lanes, loop_register(e, block, row)};
                }
                same[0] = x[k].masked_lanes;
                same[1] = row;
                e->copy->n_masks++;
            }
        }
        for (uint8_t mask = 1; mask < 8; mask++) {
            known[mask][0] = changes(&x[k], mask) ? 0 : known[mask][0];
        }
    }
}

/* kmov r, k; cut to the lanes; popcnt r, r. KMOVB is avoided: not all CPUs with masks have it. */
static void put_population(Emitter *e, uint8_t r, const MaskCount *count) {
    const uint8_t rex = r >= 8 ? 5 : 0, low = r & 7, both = (uint8_t)(0xC0 | low * 9);
    const uint8_t form = count->lanes > 32 ? 0xFB : count->lanes > 16 ? 0x7B : 0x78;
    PUT(e, 0xC4, r >= 8 ? 0x61 : 0xE1, form, 0x93, (uint8_t)(0xC0 | low << 3 | count->mask));
    if (count->lanes == 8) {
        PUT(e, 0x40 | rex, 0x0F, 0xB6, both); /* movzx r32, r8 */
    } else if (count->lanes < 8) {
        PUT(e, 0x40 | (rex & 1), 0x83, (uint8_t)(0xE0 | low),
            (uint8_t)((1u << count->lanes) - 1)); /* and r32, lanes */
    }
    PUT(e, 0xF3, 0x48 | rex, 0x0F, 0xB8, both);
}

void masks_count(Emitter *e, uint32_t k) {
    for (size_t i = 0; i < e->masks.n; i++) {
        const MaskCount *count = &((const MaskCount *)e->masks.items)[i];
        if (count->k != k) {
            continue;
        }
        const bool flags = (e->live[k] & LIVE_FLAGS) != 0;
        const uint8_t scratch = find_scratch(e->live[k]), r = scratch == NO_SCRATCH ? 0 : scratch;
        const bool saves = flags || scratch == NO_SCRATCH;
        if (saves) {
            put_spill(e, r);
        }
        if (flags) {
            put1(e, 0x9C); /* pushfq */
        }
        put_population(e, r, count);
        if (count->r == NO_SCRATCH) {
            put_counter(e, 0x01, r, count->row);
        } else {
            put_lea(e, count->r, r, 0);
        }
        if (flags) {
            put1(e, 0x9D);
        }
        if (saves) {
            put_unspill(e, r);
        }
    }
}
