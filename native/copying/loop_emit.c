/* SPDX-License-Identifier: Apache-2.0 */
/* Emits what loops need that count in registers: zeros before, sums behind. */
#include "emit.h"

#define ZERO_BYTES 12u
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

static bool is_head(const Emitter *e, const Loop *loop, const Block *block) {
    return &e->graph.blocks[loop->head] == block;
}

static bool is_inside(const Emitter *e, const Block *block, uint32_t other) {
    return other != NO_INDEX && e->graph.blocks[other].loop == block->loop;
}

/* Whether what follows a block in the code is outside. */
static bool is_left_below(const Emitter *e, const Loop *loop, const Block *block) {
    return loop->n_counters && block->next != NO_INDEX && !is_inside(e, block, block->next);
}

uint32_t loop_most_bytes(const Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    if (!loop) {
        return 0;
    }
    return (is_head(e, loop, block) ? ZERO_BYTES * loop->n_counters + 2 : 0)
           + (is_left_below(e, loop, block) ? SUM_BYTES * loop->n_counters : 0);
}

/* mov [rsp - at], r, or back. */
static void put_red_zone(Emitter *e, uint8_t op, uint8_t r, uint8_t at) {
    PUT(e, r >= 8 ? 0x4C : 0x48, op, (uint8_t)(0x44 | (r & 7) << 3), 0x24, (uint8_t)-at);
}

/* Before the head: zeros, over which blocks of the loop that run into it jump. Returns where such
   a jump is to be completed, or 0. */
uint64_t loop_enter(Emitter *e, const Block *block) {
    Loop *loop = loop_of(e, block);
    uint64_t jump = 0;
    if (!loop || !is_head(e, loop, block) || !loop->n_counters) {
        return 0;
    }
    if (block > e->graph.blocks && block[-1].loop == block->loop
        && block[-1].next == loop->head) {
        PUT(e, 0xEB, 0);
        jump = e->n;
    }
    return jump;
}

static void put_move(Emitter *e, uint8_t to, uint8_t from) {
    PUT(e, (uint8_t)(0x48 | (from >= 8 ? 4 : 0) | (to >= 8 ? 1 : 0)), 0x89,
        (uint8_t)(0xC0 | (from & 7) << 3 | (to & 7)));
}

void loop_begin(Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    for (uint32_t i = 0; loop && is_head(e, loop, block) && i < loop->n_counters; i++) {
        const LoopCounter *counter = &loop->counters[i];
        if (counter->saved_at) {
            put_red_zone(e, 0x89, counter->r, counter->saved_at);
        }
        if (i == 0 && loop->induction.is_used) {
            put_move(e, counter->r, loop->induction.r);
        } else {
            put_zero(e, counter->r);
        }
    }
}

/* From where the register was to how often it was moved; flags are dead. */
static void put_iterations(Emitter *e, uint8_t r, const Induction *induction) {
    const uint8_t high = r >= 8, other = induction->r;
    PUT(e, (uint8_t)(0x48 | (other >= 8 ? 4 : 0) | high), 0x29, /* sub r, other */
        (uint8_t)(0xC0 | (other & 7) << 3 | (r & 7)));
    if (!induction->is_down) {
        PUT(e, 0x48 | high, 0xF7, (uint8_t)(0xD8 | (r & 7))); /* neg */
    }
    if (induction->shift) {
        PUT(e, 0x48 | high, 0xC1, (uint8_t)(0xE8 | (r & 7)), induction->shift); /* shr */
    }
}

/* Add all to the bank; `live` is what is live behind. */
static void put_sums(Emitter *e, const Loop *loop, uint32_t live) {
    for (uint32_t i = 0; i < loop->n_given; i++) {
        const LoopCounter *counter = &loop->counters[i];
        if (i == 0 && loop->induction.is_used) {
            put_iterations(e, counter->r, &loop->induction);
        }
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
    for (uint32_t i = 0; i < loop->n_counters; i++) {
        if (loop->counters[i].saved_at) {
            put_red_zone(e, 0x8B, loop->counters[i].r, loop->counters[i].saved_at);
        }
    }
}

static uint32_t live_at(const Emitter *e, uint64_t target) {
    const uint32_t block = graph_block_at(&e->graph, target);
    return block == NO_INDEX ? LIVE_ALL : e->graph.blocks[block].live_in;
}

/* The displacement of a jump to where the loop's counters are added. */
static void put_exit(Emitter *e, const Block *block, uint64_t target) {
    Exit *out = array_add(&e->exits, 1);
    if (out) {
        *out = (Exit){target, (uint32_t)e->n, block->loop};
    }
    put4(e, 0);
}

/* A branch of a block in a loop, if it leaves it: then it is emitted here. */
bool loop_branch(Emitter *e, const Block *block, const Instruction *x) {
    const Loop *loop = loop_of(e, block);
    if (!loop || !loop->n_counters || is_inside(e, block, block->branch)) {
        return false;
    }
    if (x->flow == FLOW_JUMP) { /* not here: what later blocks count in is not known yet */
        put1(e, 0xE9);
    } else {
        PUT(e, 0x0F, 0x80 | x->condition);
    }
    put_exit(e, block, x->target);
    return true;
}

/* Behind a block whose successor is outside: here, if all counters are known by then. */
void loop_leave(Emitter *e, const Block *block) {
    const Loop *loop = loop_of(e, block);
    if (!loop || !is_left_below(e, loop, block)) {
        return;
    }
    const Block *next = &e->graph.blocks[block->next];
    if (&e->graph.blocks[loop->blocks[loop->n_blocks - 1]] == block) {
        put_sums(e, loop, next->live_in);
    } else {
        put1(e, 0xE9);
        put_exit(e, block, e->analysis->list[next->first].address);
    }
}

/* From the heads of loops to where they record: the loader sends threads there. */
void loop_turns(Emitter *e) {
    for (size_t i = 0; i < e->loops.n; i++) {
        const Loop *loop = &((const Loop *)e->loops.items)[i];
        const Block *head = &e->graph.blocks[loop->head];
        LoopTurn *turn = array_add(&e->copy->sections[SECTION_TURNS], 1);
        if (turn) {
            *turn = (LoopTurn){.to = (uint32_t)e->n, .head = (uint32_t)loop->label};
        }
        put_sums(e, loop, head->live_in);
        put1(e, 0xE9);
        add_turn(e, head->first);
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

static bool borrows(const Loop *loop) {
    for (uint32_t i = 0; i < loop->n_counters; i++) {
        if (loop->counters[i].saved_at) {
            return true;
        }
    }
    return false;
}

/* What lies between the blocks of a loop counts as a part of it; loops that lie in each other so
   are one. So they ascend. */
void loops_note_borrowed(Emitter *e) {
    Array *all = &e->copy->sections[SECTION_BORROWED];
    const Place *places = e->places + e->graph.first_index;
    for (size_t i = 0; i < e->loops.n; i++) {
        const Loop *loop = &((const Loop *)e->loops.items)[i];
        const uint32_t last = loop->blocks[loop->n_blocks - 1] + 1;
        Borrowed one = {places[e->graph.blocks[loop->blocks[0]].first].at, (uint32_t)e->n};
        Borrowed *before = all->n ? (Borrowed *)all->items + all->n - 1 : NULL;
        if (last < e->graph.n_blocks) {
            one.end = places[e->graph.blocks[last].first].at;
        }
        if (borrows(loop) && before && one.begin < before->end) {
            before->begin = before->begin < one.begin ? before->begin : one.begin;
            before->end = before->end > one.end ? before->end : one.end;
        } else if (borrows(loop) && (before = array_add(all, 1))) {
            *before = one;
        }
    }
}
