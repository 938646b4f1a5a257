/* SPDX-License-Identifier: Apache-2.0 */
/* Finds innermost loops that can count in registers.
 *
 * A counter in memory costs a store per block, which is what tight loops have least of. Blocks of
 * a loop that calls nothing are contiguous and entered at the head only; a register that no
 * instruction of it touches and that is dead wherever it is left counts in it for nothing. What
 * was counted is lost if the process dies, or a signal's handler jumps out, in the middle. */
#include "loops.h"

#include "emit.h"

#define MOST_PATHS 64

/* ---- which blocks are one ---- */

static bool is_simple(const Graph *g, const Block *block) {
    const Instruction *x = &g->analysis->list[block->first];
    const uint8_t flow = x[block->n - 1].flow;
    if (block->beyond || (flow != FLOW_NEXT && flow != FLOW_CONDITIONAL && flow != FLOW_JUMP)) {
        return false;
    }
    for (uint32_t k = 0; k < block->n; k++) { /* nothing that may switch banks */
        if (x[k].what == WHAT_SYSCALL || switches_bank(g->analysis->module, &x[k])) {
            return false;
        }
    }
    return true;
}

static bool holds(const Loop *loop, uint32_t block) {
    return loop->first <= block && block <= loop->last;
}

/* Whether a branch of it leads back to where it began, and no other one back. */
static bool is_innermost(const Graph *g, const Loop *loop) {
    for (uint32_t b = loop->first; b <= loop->last; b++) {
        const Block *block = &g->blocks[b];
        if (!is_simple(g, block)) {
            return false;
        }
        if (block->branch != NO_INDEX && block->branch <= b && block->branch > loop->first) {
            return false;
        }
    }
    return true;
}

/* Whether something else leads to a block inside. */
static bool is_entered(const Graph *g, const Loop *loop) {
    for (uint32_t b = loop->first; b <= loop->last; b++) {
        const uint64_t address = g->analysis->list[g->blocks[b].first].address;
        if (b > loop->first && is_marked(g->analysis, g->analysis->outside, address)) {
            return true;
        }
    }
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const Block *block = &g->blocks[b];
        const bool in = holds(loop, b);
        if (!in && ((block->branch != NO_INDEX && block->branch != loop->first
                     && holds(loop, block->branch))
                    || (block->next != NO_INDEX && block->next != loop->first
                        && holds(loop, block->next)))) {
            return true;
        }
    }
    return false;
}

/* ---- registers ---- */

/* What is live where a successor is outside. */
static uint32_t live_outside(const Graph *g, const Loop *loop, uint32_t successor) {
    return successor == NO_INDEX || holds(loop, successor) ? 0 : g->blocks[successor].live_in;
}

static uint32_t find_registers(const Graph *g, const Loop *loop) {
    uint32_t taken = LIVE_REGISTER(4) | LIVE_REGISTER(12), flags = 0;
    for (uint32_t b = loop->first; b <= loop->last; b++) {
        const Block *block = &g->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->n; i++) {
            const Instruction *x = &g->analysis->list[i];
            taken |= (uint32_t)(x->read | x->changed) << 16;
        }
        const uint32_t out =
            live_outside(g, loop, block->next) | live_outside(g, loop, block->branch);
        taken |= out & LIVE_REGISTERS;
        flags |= out & LIVE_FLAGS;
    }
    uint32_t left = ~taken & LIVE_REGISTERS;
    if (flags && left) { /* one is kept, to add without flags */
        left &= left - 1;
    }
    return left;
}

/* ---- blocks that are executed equally often ---- */

typedef struct {
    const Graph *graph;
    const Loop *loop;
    uint64_t paths[MOST_LOOP_BLOCKS]; /* through each block */
    uint32_t stack[MOST_LOOP_BLOCKS];
    int n_paths;
} Paths;

/* All ways from the head to its next execution, or out. */
static void walk(Paths *p, uint32_t block, uint32_t depth) {
    const Block *at = &p->graph->blocks[block];
    const uint32_t successors[] = {at->next, at->branch};
    p->stack[depth++] = block - p->loop->first;
    for (int i = 0; i < 2 && p->n_paths < MOST_PATHS; i++) {
        const uint32_t s = successors[i];
        if (s == NO_INDEX) {
            continue;
        }
        if (s > block && holds(p->loop, s)) {
            walk(p, s, depth);
            continue;
        }
        for (uint32_t k = 0; k < depth; k++) {
            p->paths[p->stack[k]] |= UINT64_C(1) << p->n_paths;
        }
        p->n_paths++;
    }
}

static void find_twins(const Graph *g, const Loop *loop) {
    Paths p = {.graph = g, .loop = loop};
    walk(&p, loop->first, 0);
    for (uint32_t b = loop->first + 1; b <= loop->last && p.n_paths < MOST_PATHS; b++) {
        for (uint32_t a = loop->first; a < b && g->blocks[b].twin == NO_INDEX; a++) {
            if (g->blocks[a].twin == NO_INDEX && p.paths[b - loop->first]
                && p.paths[a - loop->first] == p.paths[b - loop->first]) {
                g->blocks[b].twin = a;
            }
        }
    }
}

/* ---- all of it ---- */

static bool has_masks(const Graph *g, const Block *block) {
    for (uint32_t i = block->first; i < block->first + block->n; i++) {
        if (g->analysis->list[i].masked_lanes) {
            return true;
        }
    }
    return false;
}

/* Registers for blocks, and those left for masks, whose rows are not known yet. One stays free
   for the masks' populations. */
static void give_registers(const Graph *g, Loop *loop) {
    uint32_t wanted = 0;
    bool masks = false;
    for (uint32_t b = loop->first; b <= loop->last; b++) {
        const bool masked = has_masks(g, &g->blocks[b]);
        wanted += g->blocks[b].twin == NO_INDEX;
        wanted += masked;
        masks |= masked;
    }
    uint32_t left = loop->registers;
    if (masks) {
        const uint8_t scratch = find_scratch(~left);
        left &= ~(scratch == NO_SCRATCH ? 0 : LIVE_REGISTER(scratch));
    }
    loop->registers = 0;
    while (left && loop->n_counters < wanted && loop->n_counters < MOST_LOOP_COUNTERS) {
        const uint8_t r = find_scratch(~left);
        if (r == NO_SCRATCH) {
            break;
        }
        left &= ~LIVE_REGISTER(r);
        loop->registers |= LIVE_REGISTER(r);
        loop->counters[loop->n_counters++] = (LoopCounter){NO_INDEX, r};
    }
}

static void consider(const Graph *g, uint32_t last, Array *loops) {
    Loop loop = {.first = g->blocks[last].branch, .last = last};
    if (last - loop.first >= MOST_LOOP_BLOCKS || !is_innermost(g, &loop)
        || is_entered(g, &loop)) {
        return;
    }
    loop.registers = find_registers(g, &loop);
    find_twins(g, &loop);
    give_registers(g, &loop);
    Loop *added = array_add(loops, 1);
    if (!added) {
        return;
    }
    *added = loop;
    for (uint32_t b = loop.first; b <= loop.last; b++) {
        g->blocks[b].loop = (uint32_t)loops->n - 1;
    }
}

/* The last block that leads back to a head. */
static bool is_last(const Graph *g, uint32_t b) {
    const uint32_t head = g->blocks[b].branch;
    for (uint32_t k = b + 1; k < g->n_blocks && k < b + MOST_LOOP_BLOCKS; k++) {
        if (g->blocks[k].branch == head) {
            return false;
        }
    }
    return true;
}

void loops_find(const Graph *g, Array *loops) {
    loops->n = 0;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const uint32_t head = g->blocks[b].branch;
        if (head != NO_INDEX && head <= b && is_last(g, b)) {
            consider(g, b, loops);
        }
    }
}
