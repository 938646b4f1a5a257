/* SPDX-License-Identifier: Apache-2.0 */
/* Finds instructions, blocks and places that may be jumped to, over all functions of a module.
 *
 * What is marked too much costs a counter or an anchor; what is missed would be a crash (a jump
 * into patched bytes) or a block that runs uncounted. So everything that looks like a reference to
 * code is taken for one. */
#include "analysis.h"

#include "constants.h"
#include "unwind.h"

#define MOST_PIECE_BYTES (UINT64_C(1) << 26)

bool analysis_decode(Analysis *a, const Piece *piece) {
    const uint64_t bytes = piece->end - piece->start;
    const uint8_t *code = module_bytes(a->module, piece->start, bytes);
    a->n_list = 0;
    if (!code) {
        return false;
    }
    uint64_t at = 0;
    while (at < bytes) {
        Instruction *x = &a->list[a->n_list];
        if (!instruction_decode(code + at, bytes - at, piece->start + at, x)) {
            return false;
        }
        at += x->length;
        a->n_list++;
    }
    return true;
}

uint32_t analysis_index(const Analysis *a, uint64_t address) {
    const uint64_t i = address - a->from;
    if (i >= a->to - a->from) {
        return NO_INDEX;
    }
    const uint64_t word = a->starts[i >> 6], bit = UINT64_C(1) << (i & 63);
    if (!(word & bit)) {
        return NO_INDEX;
    }
    return a->ranks[i >> 6] + count_bits(word & (bit - 1));
}

/* ---- pieces ---- */

static bool is_wanted(const Piece *piece, const uint64_t *only, size_t n_only) {
    size_t low = 0, high = n_only;
    while (only && low < high) {
        const size_t middle = (low + high) / 2;
        if (only[middle] < piece->start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return !only || (low < n_only && only[low] == piece->start);
}

static bool may_copy(const Analysis *a, const Piece *piece) {
    const Function *function = &piece->function;
    if (function->is_signal_frame || function->is_in_rseq || function->has_own_frames) {
        return false;
    }
    for (size_t i = 0; i < a->n_list; i++) {
        if (analysis_reads_own_address(a, i)) {
            return false;
        }
    }
    return true;
}

/* Valgrind's client requests: xchg rbx, rbx after four rotations of rdi. */
bool is_request(const Module *module, const Instruction *x) {
    static const uint8_t request[] = {0x48, 0xC1, 0xC7, 0x03, 0x48, 0xC1, 0xC7, 0x0D, 0x48, 0xC1,
                                      0xC7, 0x3D, 0x48, 0xC1, 0xC7, 0x33, 0x48, 0x87, 0xDB};
    const size_t before = sizeof request - 3;
    if (x->length != 3 || x->read != 8 || x->changed != 8 || x->flags_written) {
        return false;
    }
    const uint8_t *code = module_bytes(module, x->address - before, sizeof request);
    return code && !memcmp(code, request, sizeof request);
}

bool switches_bank(const Module *module, const Instruction *x) {
    return (x->what == WHAT_TILES && x->encoding == ENCODING_VEX) || is_request(module, x);
}

/* ---- marks of one piece ---- */

static void mark_all(const Analysis *a, uint64_t address) {
    set_mark(a, a->leaders, address);
    set_mark(a, a->stops, address);
}

void mark_taken(Analysis *a, uint64_t address) {
    set_mark(a, a->taken, address);
    set_mark(a, a->entered, address);
}

/* A thunk that compilers jump to instead of through a register: call; mov (%rsp), register; ret. */
static bool is_thunk(const Module *module, uint64_t target) {
    const uint8_t *code = module_bytes(module, target, 5);
    int32_t distance;
    if (!code || code[0] != 0xe8) {
        return false;
    }
    memcpy(&distance, code + 1, 4);
    code = module_bytes(module, target + 5 + (uint64_t)(int64_t)distance, 5);
    return code && (code[0] & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 0x04
        && code[3] == 0x24 && code[4] == 0xc3;
}

/* What an instruction does to the flow of control. */
static void mark_flow(Analysis *a, Piece *piece, const Instruction *x) {
    const uint64_t next = x->address + x->length;
    switch (x->flow) {
    case FLOW_NEXT:
        if (x->what == WHAT_SYSCALL || switches_bank(a->module, x)) {
            mark_all(a, next); /* it may not come back, or twice; or counts go elsewhere then */
        }
        return;
    case FLOW_CONDITIONAL:
    case FLOW_LOOP:
    case FLOW_JUMP:
    case FLOW_CALL:
    case FLOW_XBEGIN:
        mark_all(a, x->target);
        if (x->flow == FLOW_CALL || x->target < piece->start || x->target >= piece->end) {
            set_mark(a, a->outside, x->target);
        }
        piece->has_indirect |= x->flow != FLOW_CALL && is_thunk(a->module, x->target);
        break;
    case FLOW_INDIRECT_JUMP:
        piece->has_indirect = true;
        a->n_indirect++;
        break;
    default:
        break;
    }
    mark_all(a, next); /* behind a jump or return, too: by a table that is not known */
}

/* Numbers in instructions that may be addresses of code. */
static void mark_references(Analysis *a, const Instruction *x) {
    if (x->is_rip_relative && x->what == WHAT_LEA) {
        /* Not an entry, unless somebody else says so: it may be data, or the first of a row of
           instructions that are jumped into by arithmetic. */
        set_mark(a, a->taken, x->target);
        set_mark(a, a->joined, x->target);
        return;
    }
    const bool fixed = a->module->lowest != 0; /* loaded where the file says: no relocation */
    if (!fixed || x->immediate_bytes < 4 || x->flow != FLOW_NEXT) {
        return;
    }
    const uint8_t *at = module_bytes(a->module, x->address + x->immediate_at, x->immediate_bytes);
    uint64_t value = 0;
    if (at) {
        memcpy(&value, at, x->immediate_bytes == 8 ? 8 : 4);
        mark_taken(a, value);
    }
}

/* An address of code that a number is added to before it is used: bytes behind it are jumped to.
   (A distance from a table leads to labels, which are known.) */
static void mark_added(const Analysis *a, size_t i) {
    const Instruction *lea = &a->list[i];
    for (size_t k = i + 1; k < a->n_list && k <= i + 6 && a->list[k].flow == FLOW_NEXT; k++) {
        const Instruction *x = &a->list[k];
        if (x->changed & lea->changed) {
            const bool by_number = x->immediate_bytes || x->what == WHAT_LEA;
            for (uint64_t at = 1; by_number && (x->read & lea->changed) && at < 16; at++) {
                set_mark(a, a->stops, lea->target + at);
            }
            return;
        }
    }
}

/* Whether a label's address and the stack pointer are kept, as __builtin_setjmp does: then it is
   jumped to from elsewhere. */
static bool is_kept_with_stack(const Analysis *a, size_t i) {
    bool label = false, stack = false;
    for (size_t k = i + 1; k < a->n_list && k <= i + 6 && a->list[k].flow == FLOW_NEXT; k++) {
        Form form;
        if (form_of(a->module, &a->list[k], &form) && form.op == 0x89 && form.mod != 3
            && form.is_wide) {
            label |= a->list[i].changed >> form.reg & 1;
            stack |= form.reg == 4;
        }
    }
    return label && stack;
}

/* Labels of a function whose address it takes. */
static void mark_label(Analysis *a, Piece *piece, size_t i) {
    const Instruction *x = &a->list[i];
    if (!x->is_rip_relative || x->what != WHAT_LEA || !analysis_piece_at(a, x->target)) {
        return;
    }
    mark_added(a, i);
    if (x->target > piece->start && x->target < piece->end && piece->function.fde
        && is_kept_with_stack(a, i)) {
        mark_taken(a, x->target);
        piece->has_indirect = true;
    }
}

/* Functions whose callers use the flags that they return, and those that use their caller's.
   Compilers make none, people do. */
static void mark_flagged(Analysis *a, const Piece *piece) {
    uint64_t from = piece->start;
    uint8_t open = FLAGS_ALL; /* not written since */
    for (size_t i = 0; i < a->n_list; i++) {
        const Instruction *x = &a->list[i];
        if (open & x->flags_read) {
            set_mark(a, a->flagged, from);
            open = 0;
        }
        open &= (uint8_t)~x->flags_written;
        if (x->flow == FLOW_CALL) {
            from = x->target;
            open = FLAGS_ALL;
        } else if (x->flow != FLOW_NEXT && x->flow != FLOW_CONDITIONAL) {
            open = 0;
        }
    }
}

static void mark_piece(Analysis *a, Piece *piece) {
    for (size_t i = 0; i < a->n_list; i++) {
        const Instruction *x = &a->list[i];
        if (piece->is_copied) {
            set_mark(a, a->starts, x->address);
        }
        mark_flow(a, piece, x);
        mark_references(a, x);
        mark_label(a, piece, i);
        if (x->what == WHAT_SYSCALL) {
            uint64_t *call = array_add(&a->system_calls, 2);
            if (call) {
                call[0] = x->address + x->length;
                call[1] = (uint64_t)(piece - a->pieces);
            }
        }
    }
    mark_flagged(a, piece);
    if (a->n_list) {
        const uint8_t flow = a->list[a->n_list - 1].flow;
        piece->ends_open = flow != FLOW_JUMP && flow != FLOW_INDIRECT_JUMP && flow != FLOW_RETURN;
        piece->runs_on = piece->ends_open && flow != FLOW_CALL && flow != FLOW_INDIRECT_CALL
                         && flow != FLOW_STOP;
    }
}

static void visit_piece(Analysis *a, Piece *piece, bool wanted) {
    mark_all(a, piece->start);
    if (piece->kind == PIECE_FUNCTION) {
        mark_taken(a, piece->start);
    }
    if (piece->end - piece->start > MOST_PIECE_BYTES) {
        return;
    }
    const bool decoded = analysis_decode(a, piece);
    piece->is_decoded = decoded && piece->kind != PIECE_GAP;
    piece->is_copied = decoded && wanted && may_copy(a, piece)
                       && analysis_gs_is_free(a, piece);
    mark_piece(a, piece); /* as far as it was decoded */
}

/* Once all instructions are known: tables may lead into a function's cold part. */
static void visit_tables(Analysis *a) {
    for (size_t i = 0; i < a->n_pieces; i++) {
        if (a->pieces[i].has_indirect && a->pieces[i].is_copied) {
            analysis_decode(a, &a->pieces[i]);
            analysis_find_tables(a, &a->pieces[i]);
        }
    }
}

/* ---- marks of the module ---- */

static void leave_alone(Analysis *a, Piece *piece) {
    piece->is_copied = false;
    for (uint64_t at = piece->start; at < piece->end; at++) {
        const uint64_t bit = at - a->from;
        a->starts[bit >> 6] &= ~(UINT64_C(1) << (bit & 63));
    }
}

/* The kernel and the threads' library compare program counters with the places around system
   calls that may be cancelled; such a function has to run where it is. */
static void keep_compared_calls(Analysis *a) {
    const uint64_t *calls = (const uint64_t *)a->system_calls.items;
    for (size_t i = 0; i + 1 < a->system_calls.n; i += 2) {
        Piece *piece = &a->pieces[calls[i + 1]];
        if (piece->is_copied && calls[i] < piece->end
            && is_marked(a, a->taken, calls[i])) {
            leave_alone(a, piece);
        }
    }
}

/* Where exceptions are caught; a function whose tables cannot be carried over stays. */
static void mark_landing_pads(Analysis *a) {
    Array pads;
    array_begin(&pads, sizeof(uint64_t));
    for (size_t i = 0; i < a->n_pieces; i++) {
        Piece *piece = &a->pieces[i];
        if (piece->is_copied && piece->function.fde
            && !unwind_landing_pads(a->module, &piece->function, &pads)) {
            leave_alone(a, piece);
        }
    }
    for (size_t i = 0; i < pads.n; i++) {
        mark_all(a, ((const uint64_t *)pads.items)[i]);
        set_mark(a, a->outside, ((const uint64_t *)pads.items)[i]);
    }
    array_end(&pads);
}

static void mark_module(Analysis *a) {
    const Module *m = a->module;
    for (size_t i = 0; i < m->n_pointers; i++) {
        mark_taken(a, m->pointers[i]);
    }
    keep_compared_calls(a); /* before entries, which may be there by chance */
    for (size_t i = 0; i < m->n_entries; i++) {
        mark_taken(a, m->entries[i]);
        set_mark(a, a->joined, m->entries[i]);
    }
    mark_landing_pads(a);
    for (size_t i = 0; i < a->words; i++) {
        a->leaders[i] = (a->leaders[i] | a->taken[i]) & a->starts[i];
        a->stops[i] |= a->leaders[i] | a->taken[i];
        a->joined[i] |= a->outside[i];
        a->outside[i] |= a->taken[i];
    }
}

static bool count_ranks(Analysis *a) {
    uint64_t n = 0;
    for (size_t i = 0; i < a->words; i++) {
        a->ranks[i] = (uint32_t)n;
        n += count_bits(a->starts[i]);
    }
    a->n_instructions = n;
    a->n_copied = 0;
    for (size_t i = 0; i < a->n_pieces; i++) {
        a->n_copied += a->pieces[i].is_copied;
    }
    return n < NO_INDEX;
}

void analysis_leave_alone(Analysis *a, const uint64_t *starts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const Piece *piece = analysis_piece_at(a, starts[i]);
        if (piece) {
            leave_alone(a, &a->pieces[piece - a->pieces]);
        }
    }
    count_ranks(a);
}

/* ---- memory ---- */

static bool take_memory(Analysis *a) {
    a->from = UINT64_MAX;
    for (size_t i = 0; i < a->module->n_code; i++) {
        const Range *code = &a->module->code[i];
        a->from = code->start < a->from ? code->start : a->from;
        a->to = code->end > a->to ? code->end : a->to;
    }
    for (size_t i = 0; i < a->n_pieces; i++) {
        const uint64_t bytes = a->pieces[i].end - a->pieces[i].start;
        a->room = bytes > a->room && bytes <= MOST_PIECE_BYTES ? bytes : a->room;
    }
    a->from &= ~UINT64_C(63);
    a->words = (a->to - a->from) / 64 + 1;
    a->starts = pages_take(a->words * 8);
    a->leaders = pages_take(a->words * 8);
    a->stops = pages_take(a->words * 8);
    a->taken = pages_take(a->words * 8);
    a->flagged = pages_take(a->words * 8);
    a->outside = pages_take(a->words * 8);
    a->entered = pages_take(a->words * 8);
    a->joined = pages_take(a->words * 8);
    a->ranks = pages_take(a->words * 4);
    a->list = pages_take((a->room + 1) * sizeof(Instruction));
    return a->starts && a->leaders && a->stops && a->taken && a->flagged && a->outside
           && a->entered && a->joined && a->ranks && a->list;
}

void analysis_free(Analysis *a) {
    pages_give(a->starts, a->words * 8);
    pages_give(a->leaders, a->words * 8);
    pages_give(a->stops, a->words * 8);
    pages_give(a->taken, a->words * 8);
    pages_give(a->flagged, a->words * 8);
    pages_give(a->outside, a->words * 8);
    pages_give(a->entered, a->words * 8);
    pages_give(a->joined, a->words * 8);
    pages_give(a->ranks, a->words * 4);
    pages_give(a->list, (a->room + 1) * sizeof(Instruction));
    array_end(&a->own_pieces);
    array_end(&a->system_calls);
    }

const char *analysis_make(Analysis *a, const Module *module, const uint64_t *only, size_t n_only) {
    *a = (Analysis){.module = module};
    array_begin(&a->own_pieces, sizeof(Piece));
    array_begin(&a->system_calls, sizeof(uint64_t));
    if (module->n_code == 0) {
        return "it has no code";
    }
    analysis_list_pieces(a);
    if (a->own_pieces.failed || !take_memory(a)) {
        return NO_MEMORY;
    }
    for (size_t i = 0; i < a->n_pieces; i++) {
        visit_piece(a, &a->pieces[i], is_wanted(&a->pieces[i], only, n_only));
    }
    visit_tables(a);
    analysis_scan_gaps(a);
    mark_module(a);
    if (!count_ranks(a)) {
        return "it has more than 4 billion instructions";
    }
    return a->system_calls.failed ? NO_MEMORY : NULL;
}
