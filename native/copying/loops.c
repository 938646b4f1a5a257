/* SPDX-License-Identifier: Apache-2.0 */
/* Finds innermost loops that can count in registers.
 *
 * A counter in memory costs a store per block, which is what tight loops have least of. A loop
 * that calls nothing and is entered at its head only counts in registers instead: in those that no
 * instruction of it touches and that are dead wherever it is left, or in any that it does not
 * touch, if the function leaves the red zone free to keep them. What was counted is lost if the
 * process dies, or a signal's handler jumps out, in the middle. */
#include "loops.h"

#include "emit.h"

#define MOST_PATHS 64
#define RED_ZONE_WORDS 16u

/* ---- blocks ---- */

static bool is_simple(const Graph *g, const Block *block) {
    const Instruction *x = &g->analysis->list[block->first];
    const uint8_t flow = x[block->n - 1].flow;
    if (block->beyond || block->loop != NO_INDEX
        || (flow != FLOW_NEXT && flow != FLOW_CONDITIONAL && flow != FLOW_JUMP)) {
        return false;
    }
    for (uint32_t k = 0; k < block->n; k++) {
        if (x[k].what == WHAT_SYSCALL || switches_bank(g->analysis->module, &x[k])) {
            return false;
        }
    }
    return true;
}

/* Number of a block in the loop, or NO_INDEX. */
static uint32_t position(const Loop *loop, uint32_t block) {
    for (uint32_t i = 0; i < loop->n_blocks; i++) {
        if (loop->blocks[i] == block) {
            return i;
        }
    }
    return NO_INDEX;
}

/* Add a block, in order. False: it cannot be in such a loop, or there are too many. */
static bool add_block(const Graph *g, Loop *loop, uint32_t block) {
    if (loop->n_blocks == MOST_LOOP_BLOCKS || !is_simple(g, &g->blocks[block])) {
        return false;
    }
    uint32_t i = loop->n_blocks++;
    for (; i > 0 && loop->blocks[i - 1] > block; i--) {
        loop->blocks[i] = loop->blocks[i - 1];
    }
    loop->blocks[i] = block;
    return true;
}

/* Everything from which a jump back can be reached without passing its head; if it is entered
   elsewhere, this comes to blocks that anybody may jump to. */
static bool collect(const Graph *g, Loop *loop) {
    uint32_t open[MOST_LOOP_BLOCKS], n = 0;
    if (!add_block(g, loop, loop->head)) {
        return false;
    }
    for (uint32_t i = g->before_at[loop->head + 1]; i < g->before_at[loop->head + 2]; i++) {
        const uint32_t last = g->before[i];
        if (last > loop->head && position(loop, last) == NO_INDEX) {
            if (!add_block(g, loop, last)) {
                return false;
            }
            open[n++] = last;
        }
    }
    while (n > 0) {
        const uint32_t b = open[--n];
        const uint64_t address = g->analysis->list[g->blocks[b].first].address;
        if (is_marked(g->analysis, g->analysis->outside, address)) {
            return false;
        }
        for (uint32_t i = g->before_at[b + 1]; i < g->before_at[b + 2]; i++) {
            const uint32_t before = g->before[i];
            if (position(loop, before) == NO_INDEX) {
                if (!add_block(g, loop, before)) {
                    return false;
                }
                open[n++] = before;
            }
        }
    }
    return true;
}

/* ---- paths ---- */

typedef struct {
    const Graph *graph;
    const Loop *loop;
    uint64_t paths[MOST_LOOP_BLOCKS]; /* through each block */
    uint32_t stack[MOST_LOOP_BLOCKS];
    int n_paths;
    bool has_cycle; /* beside the one through the head */
} Paths;

/* All ways from the head to its next execution, or out. */
static void walk(Paths *p, uint32_t at, uint32_t depth) {
    const Block *block = &p->graph->blocks[p->loop->blocks[at]];
    const uint32_t successors[] = {block->next, block->branch};
    for (uint32_t k = 0; k < depth; k++) {
        p->has_cycle |= p->stack[k] == at;
    }
    if (p->has_cycle) {
        return;
    }
    p->stack[depth++] = at;
    for (int i = 0; i < 2 && p->n_paths < MOST_PATHS; i++) {
        const uint32_t next =
            successors[i] == NO_INDEX ? NO_INDEX : position(p->loop, successors[i]);
        if (next != NO_INDEX && successors[i] != p->loop->head) {
            walk(p, next, depth);
        } else if (successors[i] != NO_INDEX) {
            for (uint32_t k = 0; k < depth; k++) {
                p->paths[p->stack[k]] |= UINT64_C(1) << p->n_paths;
            }
            p->n_paths++;
        }
    }
}

/* Blocks that lie on the same paths. False: there is a loop inside, or too much to know. */
static bool find_twins(const Graph *g, const Loop *loop) {
    Paths p = {.graph = g, .loop = loop};
    walk(&p, position(loop, loop->head), 0);
    for (uint32_t b = 1; b < loop->n_blocks && p.n_paths < MOST_PATHS && !p.has_cycle; b++) {
        Block *block = &g->blocks[loop->blocks[b]];
        for (uint32_t a = 0; a < b && block->twin == NO_INDEX; a++) {
            if (g->blocks[loop->blocks[a]].twin == NO_INDEX && p.paths[a] == p.paths[b]) {
                block->twin = loop->blocks[a];
            }
        }
    }
    return p.n_paths < MOST_PATHS && !p.has_cycle;
}

/* ---- registers ---- */

typedef struct {
    uint32_t touched; /* by instructions */
    uint32_t live;    /* where it is left */
    uint32_t wanted;  /* counters */
    bool has_masks;
} Needs;

static void add_instruction(Needs *needs, const Instruction *x) {
    needs->touched |= (uint32_t)(x->read | x->changed) << 16;
    needs->has_masks |= x->masked_lanes > 0;
}

static Needs find_needs(const Graph *g, const Loop *loop) {
    Needs needs = {.touched = LIVE_REGISTER(4) | LIVE_REGISTER(12)};
    for (uint32_t i = 0; i < loop->n_blocks; i++) {
        const Block *block = &g->blocks[loop->blocks[i]];
        const uint32_t successors[] = {block->next, block->branch};
        bool masked = false;
        for (uint32_t k = block->first; k < block->first + block->n; k++) {
            add_instruction(&needs, &g->analysis->list[k]);
            masked |= g->analysis->list[k].masked_lanes > 0;
        }
        needs.wanted += (block->twin == NO_INDEX) + masked;
        for (int s = 0; s < 2; s++) {
            if (successors[s] != NO_INDEX && position(loop, successors[s]) == NO_INDEX) {
                needs.live |= g->blocks[successors[s]].live_in;
            }
        }
    }
    return needs;
}

static void add_counter(Loop *loop, uint8_t r, uint8_t saved_at) {
    loop->registers |= LIVE_REGISTER(r);
    loop->counters[loop->n_counters++] = (LoopCounter){NO_INDEX, r, saved_at};
}

/* One dead register is left for what masks and live flags need. */
static void give_registers(const Graph *g, Loop *loop, const Needs *needs, bool moves_stack) {
    uint32_t taken = needs->touched | (needs->live & LIVE_REGISTERS);
    const uint8_t spare = needs->has_masks || (needs->live & LIVE_FLAGS) ? find_scratch(taken)
                                                                         : NO_SCRATCH;
    taken |= spare == NO_SCRATCH ? 0 : LIVE_REGISTER(spare);
    const uint32_t most = needs->wanted < MOST_LOOP_COUNTERS ? needs->wanted : MOST_LOOP_COUNTERS;
    while (loop->n_counters < most) {
        const uint8_t r = find_scratch(taken | loop->registers);
        if (r == NO_SCRATCH) {
            break;
        }
        add_counter(loop, r, 0);
    }
    uint32_t touched = needs->touched | (spare == NO_SCRATCH ? 0 : LIVE_REGISTER(spare));
    for (uint8_t word = 1; loop->n_counters < most && g->red_zone_is_free && !moves_stack
         && word <= RED_ZONE_WORDS; word++) {
        const uint8_t r = find_scratch(touched | loop->registers);
        if (r == NO_SCRATCH) {
            break;
        }
        add_counter(loop, r, (uint8_t)(8 * word));
    }
}

/* How far an instruction moves register r, 64 bits of it; 0: it does something else to it. */
static int64_t step_of(const Graph *g, const Instruction *x, uint8_t r) {
    const uint8_t *code = module_bytes(g->analysis->module, x->address, x->length);
    if (x->what == WHAT_LEA && x->base == r && x->index == NO_REGISTER && !x->is_address32
        && x->changed == 1u << r && (code[0] & 0xF8) == 0x48) {
        return x->displacement;
    }
    if (x->has_memory || x->changed != 1u << r || code[0] != (r >= 8 ? 0x49 : 0x48)
        || (code[2] & 0xC7) != (0xC0 | (r & 7))) {
        return 0;
    }
    const uint8_t kind = code[2] >> 3 & 7;
    int32_t number = (int8_t)code[3];
    if (code[1] == 0xFF && kind < 2 && x->length == 3) {
        return kind ? -1 : 1; /* inc, dec */
    }
    if (code[1] == 0x81 && x->length == 7) {
        memcpy(&number, code + 3, 4);
    } else if (code[1] != 0x83 || x->length != 4) {
        return 0;
    }
    return kind == 0 ? number : kind == 5 ? -(int64_t)number : 0; /* add, sub */
}

static void find_induction(const Graph *g, Loop *loop, const Needs *needs) {
    const Block *block = &g->blocks[loop->head];
    if (loop->n_blocks != 1 || !loop->n_counters || (needs->live & LIVE_FLAGS)) {
        return;
    }
    for (uint8_t r = 0; r < 16 && !loop->induction.is_used; r++) {
        int64_t step = 0;
        uint32_t changes = 0;
        for (uint32_t i = block->first; i < block->first + block->n; i++) {
            if (g->analysis->list[i].changed >> r & 1) {
                step = step_of(g, &g->analysis->list[i], r);
                changes++;
            }
        }
        const uint64_t size = (uint64_t)(step < 0 ? -step : step);
        if (r != 4 && changes == 1 && size && !(size & (size - 1))) {
            loop->induction =
                (Induction){true, step < 0, r, (uint8_t)__builtin_ctzll(size)};
        }
    }
}

static bool moves_stack(const Graph *g, const Loop *loop) {
    for (uint32_t i = 0; i < loop->n_blocks; i++) {
        const Block *block = &g->blocks[loop->blocks[i]];
        for (uint32_t k = block->first; k < block->first + block->n; k++) {
            if ((g->analysis->list[k].changed >> 4 & 1) || g->analysis->list[k].uses_stack) {
                return true;
            }
        }
    }
    return false;
}

/* ---- all of it ---- */

static void forget_twins(const Graph *g, const Loop *loop) {
    for (uint32_t i = 0; i < loop->n_blocks; i++) {
        g->blocks[loop->blocks[i]].twin = NO_INDEX;
    }
}

static void consider(const Graph *g, uint32_t head, Array *loops) {
    Loop loop = {.head = head};
    if (!collect(g, &loop)) {
        return;
    }
    if (!find_twins(g, &loop)) {
        forget_twins(g, &loop);
        return;
    }
    const Needs needs = find_needs(g, &loop);
    give_registers(g, &loop, &needs, moves_stack(g, &loop));
    find_induction(g, &loop, &needs);
    Loop *added = array_add(loops, 1);
    if (!added) {
        forget_twins(g, &loop);
        return;
    }
    *added = loop;
    for (uint32_t i = 0; i < loop.n_blocks; i++) {
        g->blocks[loop.blocks[i]].loop = (uint32_t)loops->n - 1;
    }
}

void loops_find(const Graph *g, Array *loops) {
    loops->n = 0;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const uint32_t head = g->blocks[b].branch;
        if (head != NO_INDEX && head <= b && g->blocks[head].loop == NO_INDEX) {
            consider(g, head, loops);
        }
    }
}
