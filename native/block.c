/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segments of a block, and the code by which they are counted and their addresses noted. */
#include "block.h"

#include "statements.h"

#define MOST_IN_SEGMENT 4096u

static UInt segment_instructions[MOST_IN_SEGMENT];
static Access segment_accesses[MOST_IN_SEGMENT];

static void emit_counter(Block *block) {
    block->page_address = IRConst_U64(0);
    block->counter_offset = IRConst_U64(0);
    IRExpr *page = loaded_word(block->out, IRExpr_Const(block->page_address));
    IRExpr *from = sum(block->out, page, IRExpr_Const(block->counter_offset));
    IRExpr *count = sum(block->out, loaded_word(block->out, from), constant(1));
    store_word(block->out, sum(block->out, page, IRExpr_Const(block->counter_offset)), count);
}

static void emit_record(Block *block) {
    block->record_segment = IRConst_U64(0);
    block->record_bytes = IRConst_U64(0);
    IRExpr *cursor = constant((HWord)&trace_cursor);
    block->record = assigned(block->out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, cursor));
    IRExpr *record = IRExpr_RdTmp(block->record);
    store_word(block->out, record, IRExpr_Const(block->record_segment));
    store_word(block->out, cursor, sum(block->out, record, IRExpr_Const(block->record_bytes)));
}

void open_segment(Block *block, SegmentRole role) {
    block->segment = (Segment){
        .role = role, .instructions = segment_instructions, .accesses = segment_accesses};
    block->is_open = True;
    if (traced()) {
        emit_record(block);
    } else {
        emit_counter(block);
    }
}

void flush_waiting(Block *block) {
    Waiting *waiting = &block->waiting;
    if (!waiting->is_waiting) {
        return;
    }
    waiting->is_waiting = False;
    if (!block->is_open) {
        open_segment(block, SEGMENT_PLAIN); /* the rest of an instruction, after an exit in it */
    }
    tl_assert(block->segment.n_accesses < MOST_IN_SEGMENT);
    const UInt place = block->segment.n_accesses++;
    block->segment.accesses[place] = waiting->access;
    IRExpr *slot = sum(block->out, IRExpr_RdTmp(block->record), constant(8 * (1 + place)));
    store_word(block->out, slot, waiting->address);
}

void close_segment(Block *block) {
    flush_waiting(block);
    if (!block->is_open) {
        return;
    }
    block->is_open = False;
    const Segment *segment = segment_with(&block->segment);
    if (traced()) {
        block->record_segment->Ico.U64 = (HWord)segment;
        block->record_bytes->Ico.U64 = 8 * (1 + segment->n_accesses);
    } else {
        block->page_address->Ico.U64 = (HWord)&counter_pages[segment->index / COUNTERS_PER_PAGE];
        block->counter_offset->Ico.U64 = 8 * (segment->index % COUNTERS_PER_PAGE);
    }
}

void add_instruction(Block *block) {
    tl_assert(block->segment.n_instructions < MOST_IN_SEGMENT);
    block->segment.instructions[block->segment.n_instructions++] = block->instruction->index;
}
