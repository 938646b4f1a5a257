/* SPDX-License-Identifier: Apache-2.0 */
/* Copies one instruction: its bytes as they are, but for branches and RIP-relative operands. */
#include "emit.h"

#define LONGEST_BRANCH 6u
#define HEAD_BYTES 127u /* most before a loop's head: padding, the beginning of its counters */
#define REP_BYTES 120u
#define HOOK_BYTES 24u
#define SYSTEM_CALL_BYTES 32u

uint32_t emit_most_bytes(const Instruction *x) {
    switch (x->flow) {
    case FLOW_LOOP:
        return x->length + 7u;
    case FLOW_CONDITIONAL:
    case FLOW_JUMP:
    case FLOW_CALL:
    case FLOW_XBEGIN:
        return LONGEST_BRANCH;
    default:
        break;
    }
    return x->length + (x->what == WHAT_REPEATED   ? REP_BYTES
                        : x->what == WHAT_SYSCALL ? SYSTEM_CALL_BYTES
                        : x->what == WHAT_TILES || (x->length == 3 && !x->has_memory)
                            ? HOOK_BYTES
                            : 0);
}

static const uint8_t *bytes_of(const Emitter *e, const Instruction *x) {
    return module_bytes(e->analysis->module, x->address, x->length);
}

/* ---- branches ---- */

/* Where it is copied to, or where it is: known once all functions are copied. */
static void put_far(Emitter *e, uint64_t target) {
    Late *late = array_add(&e->late, 1);
    if (late) {
        *late = (Late){target, e->n};
    }
    put4(e, 0);
}

/* Whether a branch leads to the head of the loop that it is in: it goes on counting there. */
static bool is_inside_loop(const Emitter *e, uint32_t from, uint32_t to) {
    const Loop *loop = loop_of(e, &e->graph.blocks[to]);
    return loop && loop->head == to && e->graph.blocks[from].loop == e->graph.blocks[to].loop;
}

/* Where the target block begins in this function: `*known` if it is written already; else the
   most bytes that can lie between here, after instruction i, and there. */
static uint32_t find_target(const Emitter *e, uint32_t i, uint64_t target, uint32_t block,
                            bool *known, uint64_t *place) {
    const uint32_t b = graph_block_at(&e->graph, target);
    const Block *to = &e->graph.blocks[b];
    if (b == NO_INDEX || e->analysis->list[to->first].address != target) {
        return NO_INDEX;
    }
    *known = b <= block;
    const uint32_t head = to->is_loop_head ? HEAD_BYTES + SELECTION_BYTES : 0;
    *place = !*known ? e->bounds[to->first] + head - e->bounds[i + 1]
             : is_inside_loop(e, block, b) ? loop_of(e, to)->label
                                           : e->places[e->graph.first_index + to->first].at;
    return b;
}

static void put_forward(Emitter *e, uint32_t from, uint32_t block, bool is_short) {
    Forward *forward = array_add(&e->forward, 1);
    if (forward) {
        *forward = (Forward){(uint32_t)e->n, block, is_short, is_inside_loop(e, from, block)};
    }
    if (is_short) {
        put1(e, 0);
    } else {
        put4(e, 0);
    }
}

/* The short form where it reaches. */
static void put_branch(Emitter *e, uint32_t block, uint32_t i, const uint8_t *near_form,
                       uint32_t n_near, const uint8_t *far_form, uint32_t n_far) {
    const uint64_t target = e->analysis->list[i].target;
    bool known = false;
    uint64_t place = 0;
    const uint32_t b = find_target(e, i, target, block, &known, &place);
    if (b == NO_INDEX) {
        put_bytes(e, far_form, n_far);
        put_far(e, target);
        return;
    }
    const bool is_short = known ? e->n + n_near + 1 - place <= 128 : place <= 127;
    put_bytes(e, is_short ? near_form : far_form, is_short ? n_near : n_far);
    if (!known) {
        put_forward(e, block, b, is_short);
    } else if (is_short) {
        put1(e, (uint8_t)(place - (e->n + 1)));
    } else {
        put_inward(e, place);
    }
}

/* A branch by the way of a counter. */
static void put_counted_branch(Emitter *e, uint32_t block, const Instruction *x) {
    const uint32_t row = add_row(e, x->address, 0, ROW_UNUSED);
    e->rows[e->graph.n_blocks + block] = row;
    PUT(e, 0x0F, 0x80 | x->condition);
    CountedBranch *branch = array_add(&e->branches, 1);
    if (branch) {
        *branch = (CountedBranch){x->target, (uint32_t)e->n, row};
    }
    put4(e, 0);
}

/* Out of the way, behind the function. */
void emit_counted_branches(Emitter *e) {
    for (size_t i = 0; i < e->branches.n; i++) {
        const CountedBranch *branch = &((const CountedBranch *)e->branches.items)[i];
        const uint32_t distance = (uint32_t)e->n - (branch->at + 4);
        memcpy(e->code + branch->at, &distance, 4);
        put_inc_counter(e, branch->row);
        put1(e, 0xE9);
        if (graph_block_at(&e->graph, branch->target) == NO_INDEX) {
            put_far(e, branch->target);
        } else {
            put_inward(e, e->places[analysis_index(e->analysis, branch->target)].at);
        }
    }
    e->branches.n = 0;
}

static void emit_branch(Emitter *e, uint32_t block, uint32_t i) {
    const Instruction *x = &e->analysis->list[i];
    const uint8_t *code = bytes_of(e, x);
    if (loop_branch(e, &e->graph.blocks[block], x)) {
        return;
    }
    if (e->graph.blocks[block].counts_branch) {
        put_counted_branch(e, block, x);
        return;
    }
    if (x->flow == FLOW_CONDITIONAL) {
        const uint8_t near_form = 0x70 | x->condition;
        const uint8_t far_form[] = {0x0F, 0x80 | x->condition};
        put_branch(e, block, i, &near_form, 1, far_form, 2);
    } else if (x->flow == FLOW_JUMP) {
        const uint8_t near_form = 0xEB, far_form = 0xE9;
        put_branch(e, block, i, &near_form, 1, &far_form, 1);
    } else { /* LOOP and JRCXZ have no long form: over a jump, to a jump */
        const uint32_t n = x->length - 1u;
        uint8_t far_form[19];
        memcpy(far_form, code, n);
        memcpy(far_form + n, (const uint8_t[]){0x02, 0xEB, 0x05, 0xE9}, 4);
        put_branch(e, block, i, code, n, far_form, n + 4);
    }
}

void emit_jump(Emitter *e, uint64_t target) {
    put1(e, 0xE9);
    put_far(e, target);
}

/* ---- system calls ---- */

static void emit_system_call(Emitter *e) {
    PUT(e, 0x48, 0x8D, 0x0D); /* lea rcx, L */
    put_inward(e, e->n + 4 + 6 + AFTER_CLONE_BYTES);
    PUT(e, 0xFF, 0x25);
    put_inward(e, 8 * (uint64_t)HOOK_SYSCALL);
    PUT(e, 0x0F, 0x05, 0x48, 0x8D, 0x0D); /* syscall; lea rcx, M */
    put_inward(e, e->n + 4 + 6 + 2);
    PUT(e, 0xFF, 0x25);
    put_inward(e, 8 * (uint64_t)HOOK_AFTER_CLONE);
    PUT(e, 0x0F, 0x05);
}

/* ---- string instructions ---- */

/* counter += rcx, or -= rcx; what is in `live` stays. */
static void count_rcx(Emitter *e, uint32_t row, uint32_t live, bool negative) {
    if (!(live & LIVE_FLAGS)) {
        put_counter(e, negative ? 0x29 : 0x01, 1, row);
        return;
    }
    const uint8_t scratch = find_scratch(live | LIVE_REGISTER(1));
    const uint8_t r = scratch == NO_SCRATCH ? 0 : scratch;
    if (scratch == NO_SCRATCH) {
        put_spill(e, r);
    }
    put_counter(e, 0x8B, r, row);
    if (negative) { /* r - rcx = r + ~rcx + 1, and NOT leaves flags alone */
        PUT(e, 0x48, 0xF7, 0xD1);
    }
    put_lea(e, r, 1, negative ? 1 : 0);
    if (negative) {
        PUT(e, 0x48, 0xF7, 0xD1);
    }
    put_counter(e, 0x89, r, row);
    if (scratch == NO_SCRATCH) {
        put_unspill(e, r);
    }
}

/* MOVS, STOS, LODS, INS and OUTS run until rcx is 0; CMPS and SCAS may end before. */
static void emit_repeated(Emitter *e, const Block *block, uint32_t k, const uint8_t *code) {
    const Instruction *x = &e->analysis->list[block->first + k];
    const uint8_t op = code[x->length - 1] & 0xFE;
    const bool may_end = op == 0xA6 || op == 0xAE;
    if (x->is_address32) {
        put_bytes(e, code, x->length);
        return;
    }
    const uint32_t row = add_row(e, x->address, x->length, ROW_ITERATIONS);
    count_rcx(e, row, live_before(e, block, k) | LIVE_REGISTER(1), false);
    put_bytes(e, code, x->length);
    if (may_end) {
        count_rcx(e, row, live_before(e, block, k + 1) | LIVE_REGISTER(1), true);
    }
}

/* ---- everything else ---- */

static void emit_plain(Emitter *e, const Instruction *x, const uint8_t *code) {
    put_bytes(e, code, x->length);
    if (x->is_rip_relative) {
        const uint32_t after = x->length - x->displacement_at - 4u;
        e->n -= 4 + after;
        put_outward(e, x->target, after);
        e->n += after;
    }
}

void emit_instruction(Emitter *e, const Block *block, uint32_t k) {
    const uint32_t i = block->first + k;
    const Instruction *x = &e->analysis->list[i];
    const uint8_t *code = bytes_of(e, x);
    switch (x->flow) {
    case FLOW_CONDITIONAL:
    case FLOW_LOOP:
    case FLOW_JUMP:
        emit_branch(e, (uint32_t)(block - e->graph.blocks), i);
        return;
    case FLOW_CALL:
        put1(e, 0xE8);
        put_far(e, x->target);
        return;
    case FLOW_XBEGIN:
        PUT(e, 0xC7, 0xF8);
        put_far(e, x->target);
        return;
    default:
        break;
    }
    const Dispatch *dispatch = dispatch_at(e, i);
    if (dispatch) {
        emit_load(e, x, code, dispatch);
    } else if (x->what == WHAT_SYSCALL) {
        emit_system_call(e);
    } else if (x->what == WHAT_REPEATED) {
        emit_repeated(e, block, k, code);
    } else {
        emit_plain(e, x, code);
        if (switches_bank(e->analysis->module, x)) {
            put_hook_call(e, x->what == WHAT_TILES ? HOOK_TILES : HOOK_REQUEST);
        }
    }
}
