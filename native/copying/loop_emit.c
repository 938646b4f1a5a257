/* SPDX-License-Identifier: Apache-2.0 */
/* Emits what loops need that count in registers: zeros before, sums behind. */
#include "emit.h"

#define ZERO_BYTES 6u
#define SUM_BYTES 48u

Loop *loop_of(const Emitter *e, const Block *block) {
    return block->loop == NO_INDEX ? NULL : &((Loop *)e->loops.items)[block->loop];
}

uint32_t loop_registers(const Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    return loop ? loop->registers : 0;
}

/* A register that counts for a row from now on, or NO_SCRATCH. */
uint8_t loop_register(Emitter *e, const Block *block, uint32_t row) {
    Loop *loop = loop_of(e, block);
    if (!loop || loop->n_given == loop->n_counters) {
        return NO_SCRATCH;
    }
    LoopCounter *counter = &loop->counters[loop->n_given++];
    counter->row = row;
    return counter->r;
}

uint32_t loop_most_bytes(const Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    if (!loop) {
        return 0;
    }
    const uint32_t b = (uint32_t)(block - e->graph.blocks);
    return (b == loop->first ? ZERO_BYTES * loop->n_counters : 0)
           + (b == loop->last || block->next == NO_INDEX ? SUM_BYTES * loop->n_counters : 0);
}

/* Before a block: zeros, if it is the head, and then the place that its own branches go to. */
void loop_enter(Emitter *e, const Block *block) {
    Loop *loop = loop_of(e, block);
    if (loop && &e->graph.blocks[loop->first] == block) {
        for (uint32_t i = 0; i < loop->n_counters; i++) {
            put_zero(e, loop->counters[i].r);
        }
    }
}

/* Add all to the bank; `live` is what is live behind. */
static void put_sums(Emitter *e, const Loop *loop, uint32_t live) {
    for (uint32_t i = 0; i < loop->n_given; i++) {
        const LoopCounter *counter = &loop->counters[i];
        if (!(live & LIVE_FLAGS)) {
            put_counter(e, 0x01, counter->r, counter->row);
            continue;
        }
        const uint8_t scratch = find_scratch(live | loop->registers);
        const uint8_t r = scratch == NO_SCRATCH ? 0 : scratch;
        if (scratch == NO_SCRATCH) {
            put_spill(e, r);
        }
        put_counter(e, 0x8B, r, counter->row);
        put_lea(e, r, counter->r, 0);
        put_counter(e, 0x89, r, counter->row);
        if (scratch == NO_SCRATCH) {
            put_unspill(e, r);
        }
    }
}

static uint32_t live_at(const Emitter *e, uint64_t target) {
    const uint32_t block = graph_block_at(&e->graph, target);
    return block == NO_INDEX ? LIVE_ALL : e->graph.blocks[block].live_in;
}

/* A branch of a block in a loop, if it leaves it: then it is emitted here. */
bool loop_branch(Emitter *e, const Block *block, const Instruction *x) {
    const Loop *loop = loop_of(e, block);
    if (!loop || !loop->n_counters
        || (block->branch >= loop->first && block->branch <= loop->last)) {
        return false;
    }
    if (x->flow == FLOW_JUMP) { /* not here: what later blocks count in is not known yet */
        put1(e, 0xE9);
    } else {
        PUT(e, 0x0F, 0x80 | x->condition);
    }
    Exit *out = array_add(&e->exits, 1);
    if (out) {
        *out = (Exit){x->target, (uint32_t)e->n, block->loop};
    }
    put4(e, 0);
    return true;
}

/* Behind the last block. */
void loop_leave(Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    if (loop && &e->graph.blocks[loop->last] == block && block->next != NO_INDEX) {
        put_sums(e, loop, e->graph.blocks[block->next].live_in);
    }
}

/* Out of the way, behind the function. */
void loop_exits(Emitter *e) {
    for (size_t i = 0; i < e->exits.n; i++) {
        const Exit *out = &((const Exit *)e->exits.items)[i];
        const uint32_t distance = (uint32_t)e->n - (out->at + 4);
        memcpy(e->code + out->at, &distance, 4);
        put_sums(e, &((const Loop *)e->loops.items)[out->loop], live_at(e, out->target));
        put1(e, 0xE9);
        put_inward(e, e->places[analysis_index(e->analysis, out->target)].at);
    }
    e->exits.n = 0;
}
