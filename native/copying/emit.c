/* SPDX-License-Identifier: Apache-2.0 */
/* Copies one function: blocks with their counters, aligned as the original. */
#include "emit.h"

#define MOST_ALIGNMENT 32u
#define HEAD_BYTES 48u /* a counter in its longest form */
#define SLACK 256u
#define LOOP_EXITS_BYTES ((MOST_LOOP_BLOCKS + 1) * (MOST_LOOP_COUNTERS * 48u + 8u))

static uint32_t alignment_of(uint64_t address) {
    const uint64_t low = address & -address;
    return low < MOST_ALIGNMENT ? (uint32_t)low : MOST_ALIGNMENT;
}

static bool is_aligned_loop(const Emitter *e, const Block *block) {
    return block->is_loop_head
           && alignment_of(e->analysis->list[block->first].address) >= 16;
}

static bool has_masks(const Emitter *e, const Block *block) {
    for (uint32_t k = 0; k < block->n; k++) {
        if (e->analysis->list[block->first + k].masked_lanes) {
            return true;
        }
    }
    return false;
}

/* Whether what is emitted now counts, and code that records follows. */
static bool turns(const Emitter *e) {
    return e->kind == COPY_BOTH && !e->records;
}

/* Most bytes before each instruction, which tells whether a short branch forward will reach:
   bounds[i + 1] is after instruction i. */
static uint32_t find_bounds(Emitter *e) {
    const Instruction *list = e->analysis->list;
    uint32_t total = 0;
    for (size_t b = 0; b < e->graph.n_blocks; b++) {
        const Block *block = &e->graph.blocks[b];
        e->bounds[block->first] = total;
        total += HEAD_BYTES + (is_aligned_loop(e, block) ? MOST_ALIGNMENT : 0);
        total += e->records ? record_head_bytes() : 0;
        total += e->selects ? SELECTION_BYTES : 0;
        total += turns(e) ? TURN_BYTES : 0;
        total += loop_most_bytes(e, block);
        for (uint32_t i = block->first; i < block->first + block->n; i++) {
            total += emit_most_bytes(&list[i]);
            total += dispatch_at(e, i) ? LOAD_BYTES : 0;
            total += list[i].masked_lanes ? MOST_MASK_BYTES : 0;
            total += e->records ? record_most_bytes(e, &list[i]) : 0;
        }
        uint32_t left = total;
        for (uint32_t i = block->first + block->n; i > block->first; i--) {
            e->bounds[i] = left;
            left -= emit_most_bytes(&list[i - 1]);
        }
    }
    return total;
}

bool emit_reserve(Emitter *e, uint64_t bytes) {
    Array *code = &e->copy->sections[SECTION_CODE];
    code->n = e->n;
    if (code->capacity - code->n < bytes) {
        if (!array_add(code, bytes)) {
            e->failed = NO_MEMORY;
            return false;
        }
        code->n = e->n;
    }
    e->code = code->items;
    return true;
}

/* ---- counters ---- */

/* The first instruction of a block before which INC may overwrite its flags, or NO_INDEX. */
static uint32_t find_free_flags(Emitter *e, const Block *block) {
    if (!(block->live_in & LIVE_INC_FLAGS)) {
        return 0;
    }
    for (uint32_t k = 1; k < block->n; k++) {
        if (!(live_before(e, block, k) & LIVE_INC_FLAGS)) {
            return k;
        }
    }
    return NO_INDEX;
}

/* Count without flags: in a dead register, or one that is saved below the red zone. Not in a slot
   of the bank: a signal's handler may run such code in between. */
static void count_without_flags(Emitter *e, uint32_t live, uint32_t counter) {
    const uint8_t scratch = find_scratch(live), r = scratch == NO_SCRATCH ? 0 : scratch;
    if (scratch == NO_SCRATCH) {
        put_spill(e, r);
    }
    put_counter(e, 0x8B, r, counter);
    put_lea(e, r, NO_SCRATCH, 1);
    put_counter(e, 0x89, r, counter);
    if (scratch == NO_SCRATCH) {
        put_unspill(e, r);
    }
    e->copy->n_flagged++;
}

static uint32_t add_block_row(Emitter *e, const Block *block) {
    const Instruction *first = &e->analysis->list[block->first];
    const Instruction *last = first + block->n - 1;
    const uint32_t bytes = (uint32_t)(last->address + last->length - first->address);
    const uint32_t row = add_row(e, first->address, bytes, ROW_BLOCK);
    e->rows[block - e->graph.blocks] = row;
    return row;
}

/* What tells the executions of blocks without counters. */
static void add_sums(Emitter *e) {
    for (uint32_t b = 0; b < e->graph.n_blocks && turns(e); b++) {
        if (e->graph.blocks[b].twin != NO_INDEX) {
            ((Row *)e->copy->sections[SECTION_ROWS].items)[e->rows[b]].shares =
                1 + e->rows[e->graph.blocks[b].twin];
        }
    }
    for (uint32_t b = 0; b < e->graph.n_blocks && e->kind == COPY_COUNTING; b++) {
        const Formula *formula = &e->formulas[b];
        if (sums_is_counted(e->formulas, b)) {
            continue;
        }
        if (formula->n == 1 && formula->terms[0] > 0) {
            ((Row *)e->copy->sections[SECTION_ROWS].items)[e->rows[b]].shares =
                1 + e->rows[formula->terms[0] - 1];
            continue;
        }
        Sum *sums = array_add(&e->copy->sections[SECTION_SUMS], formula->n);
        for (uint8_t i = 0; sums && i < formula->n; i++) {
            const int32_t term = formula->terms[i];
            const int32_t row = (int32_t)e->rows[(term < 0 ? -term : term) - 1] + 1;
            sums[i] = (Sum){.row = e->rows[b], .term = term < 0 ? -row : row};
        }
    }
}

/* How a block counts: before instruction `at`, in register r or in memory. */
typedef struct {
    uint32_t row, at;
    uint8_t r;
} BlockCount;

static BlockCount plan_count(Emitter *e, const Block *block) {
    const uint64_t address = e->analysis->list[block->first].address;
    BlockCount count = {.row = add_block_row(e, block), .r = NO_SCRATCH};
    if (hook_at(e, address)) {
        return count; /* the loader looks for INC there */
    }
    if (turns(e) && block->twin != NO_INDEX) {
        count.at = NO_INDEX - 1;
        return count;
    }
    if (e->kind == COPY_COUNTING
        && !sums_is_counted(e->formulas, (uint32_t)(block - e->graph.blocks))) {
        count.at = NO_INDEX - 1;
        return count;
    }
    count.r = loop_register(e, block, count.row);
    count.at = count.r == NO_SCRATCH ? find_free_flags(e, block) : 0;
    return count;
}

static void count_block(Emitter *e, const Block *block, uint32_t k, const BlockCount *count) {
    if (k == 0 && count->at == NO_INDEX) {
        count_without_flags(e, block->live_in | loop_registers(e, block), count->row);
    } else if (k == count->at && count->r != NO_SCRATCH) {
        const Loop *loop = loop_of(e, block);
        if (loop->induction.is_used && loop->counters[0].r == count->r) {
            return; /* where it is left */
        }
        put_lea(e, count->r, NO_SCRATCH, 1);
    } else if (k == count->at) {
        put_inc_counter(e, count->row);
    }
}

/* ---- blocks ---- */

static void begin_block(Emitter *e, const Block *block) {
    const Instruction *first = &e->analysis->list[block->first];
    Loop *loop = loop_of(e, block);
    e->places[e->graph.first_index + block->first].at = (uint32_t)e->n;
    const bool is_asked = e->selects && put_selection(e, block);
    const uint64_t jump = loop_enter(e, block);
    if (jump) { /* who comes from outside begins behind the jump */
        e->places[e->graph.first_index + block->first].at = (uint32_t)e->n;
    }
    loop_begin(e, block);
    if (is_aligned_loop(e, block)) {
        put_nops(e, (uint32_t)-e->n & (alignment_of(first->address) - 1));
    }
    if (jump) {
        e->code[jump - 1] = (uint8_t)(e->n - jump);
    }
    const bool is_counted_loop =
        loop && &e->graph.blocks[loop->head] == block && loop->n_counters;
    if (!is_asked && !is_counted_loop) {
        e->places[e->graph.first_index + block->first].at = (uint32_t)e->n;
    }
    if (loop && &e->graph.blocks[loop->head] == block) {
        loop->label = e->n;
    }
    if (turns(e)) {
        put_turn(e, block);
    }
}

static void emit_block(Emitter *e, const Block *block) {
    const Instruction *first = &e->analysis->list[block->first];
    e->live_is_known = false;
    const BlockCount count = plan_count(e, block);
    const uint32_t index = e->graph.first_index + block->first;
    const bool masked = has_masks(e, block);
    begin_block(e, block);
    if (masked) {
        masks_plan(e, block);
    }
    if (e->records) {
        record_plan(e, block, count.row);
    }
    for (uint32_t k = 0; k < block->n; k++) {
        e->places[index + k].address = (uint32_t)(first[k].address - e->analysis->module->lowest);
        if (k > 0) {
            e->places[index + k].at = (uint32_t)e->n;
        }
        if (k == 0 && e->records && !block->is_inside && !hook_at(e, first->address)) {
            put_ring_check(e, block);
        }
        count_block(e, block, k, &count);
        if (masked) {
            masks_count(e, k);
        }
        if (e->records) {
            record_before(e, block, k, count.row);
        }
        emit_instruction(e, block, k);
        if (e->records) {
            record_after(e, block, k);
        }
    }
    loop_leave(e, block);
}

static void resolve_forward(Emitter *e) {
    const Forward *forward = (const Forward *)e->forward.items;
    for (size_t i = 0; i < e->forward.n; i++) {
        const uint32_t first = e->graph.first_index + e->graph.blocks[forward[i].block].first;
        const Loop *loop = loop_of(e, &e->graph.blocks[forward[i].block]);
        const uint32_t at = forward[i].at;
        const uint32_t place =
            forward[i].is_inside && loop ? (uint32_t)loop->label : e->places[first].at;
        if (!forward[i].is_short) {
            const uint32_t distance = place - (at + 4);
            memcpy(e->code + at, &distance, 4);
        } else if (place - (at + 1) < 128) {
            e->code[at] = (uint8_t)(place - (at + 1));
        } else {
            e->failed = "a short branch of its copy does not reach (an error of the copier)";
        }
    }
    e->forward.n = 0;
}

/* Recording code counts in memory; but where counting code is in the middle of an iteration there
   is no way back to it. */
static void leave_loops(Emitter *e) {
    for (size_t b = 0; b < e->graph.n_blocks; b++) {
        Block *block = &e->graph.blocks[b];
        block->is_inside =
            block->loop != NO_INDEX && ((Loop *)e->loops.items)[block->loop].head != b;
    }
    for (size_t b = 0; b < e->graph.n_blocks; b++) {
        e->graph.blocks[b].loop = e->graph.blocks[b].twin = NO_INDEX;
    }
    e->loops.n = 0;
}

void emit_piece(Emitter *e, const Piece *piece) {
    graph_make(&e->graph, piece);
    dispatch_find(&e->graph, &e->dispatches);
    e->first_table = e->tables.n;
    e->loops.n = 0;
    if (e->kind != COPY_RECORDING) {
        loops_find(&e->graph, &e->loops);
    }
    if (e->kind == COPY_COUNTING) {
        sums_find(&e->graph, e->formulas);
    }
    if (e->counting) {
        leave_loops(e);
    }
    if (!emit_reserve(e, find_bounds(e) + e->loops.n * LOOP_EXITS_BYTES
                             + e->graph.n_blocks * COUNTED_BRANCH_BYTES + SLACK)) {
        return;
    }
    const uint32_t unit = alignment_of(piece->start);
    if (turns(e)) {
        put_entry_turn(e, unit);
    }
    while (e->n & (unit - 1)) {
        put1(e, 0xCC);
    }
    for (size_t b = 0; b < e->graph.n_blocks && !e->failed; b++) {
        emit_block(e, &e->graph.blocks[b]);
    }
    if (piece->ends_open) {
        emit_jump(e, piece->end);
    }
    loops_note_borrowed(e);
    add_sums(e);
    record_stubs(e);
    loop_exits(e);
    emit_counted_branches(e);
    if (turns(e)) {
        loop_turns(e);
    }
    if (!e->failed) {
        resolve_forward(e);
    }
    if (e->n > INT32_MAX) {
        e->failed = "its copy would be larger than 2 GiB";
    }
}
