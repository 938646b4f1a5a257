/* SPDX-License-Identifier: Apache-2.0 */
/* What a module's code consists of: functions, and what lies between them. */
#include "analysis.h"

#define MOST_GAP_BYTES 4096u

const Piece *analysis_piece_at(const Analysis *a, uint64_t address) {
    size_t low = 0, high = a->n_pieces;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (a->pieces[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool inside = low < a->n_pieces && a->pieces[low].start <= address;
    return inside ? &a->pieces[low] : NULL;
}

static void add_piece(Analysis *a, uint64_t start, uint64_t end, PieceKind kind) {
    Piece *piece = start < end ? array_add(&a->own_pieces, 1) : NULL;
    if (piece) {
        *piece = (Piece){.start = start, .end = end, .kind = kind};
        piece->function = (Function){.start = start, .end = end};
    }
}

static void add_function(Analysis *a, const Function *function) {
    add_piece(a, function->start, function->end, PIECE_FUNCTION);
    if (function->start < function->end && !a->own_pieces.failed) {
        ((Piece *)a->own_pieces.items)[a->own_pieces.n - 1].function = *function;
    }
}

/* Code without a symbol and without unwind tables: the system call of clone is such. Padding at
   its beginning is left out, and all of it if there is no more. */
static void add_gap(Analysis *a, uint64_t start, uint64_t end) {
    const uint8_t *code = end - start <= MOST_GAP_BYTES
                              ? module_bytes(a->module, start, end - start) : NULL;
    while (code && start < end) {
        Instruction x;
        if (!instruction_decode(code, end - start, start, &x)) {
            return;
        }
        if (x.what != WHAT_NOP && x.flow != FLOW_STOP && code[0] != 0) {
            add_piece(a, start, end, PIECE_GAP);
            return;
        }
        code += x.length;
        start += x.length;
    }
}

/* Between two functions: stubs and gaps. */
static void add_between(Analysis *a, uint64_t from, uint64_t to, size_t *stub) {
    const Module *m = a->module;
    while (*stub < m->n_stubs && m->stubs[*stub].end <= from) {
        ++*stub;
    }
    for (size_t s = *stub; from < to; s++) {
        const bool any = s < m->n_stubs && m->stubs[s].start < to;
        const uint64_t start = !any ? to : m->stubs[s].start > from ? m->stubs[s].start : from;
        if (from < start) {
            add_gap(a, from, start);
        }
        from = !any ? to : m->stubs[s].end < to ? m->stubs[s].end : to;
        add_piece(a, start, from, PIECE_STUBS);
    }
}

void analysis_list_pieces(Analysis *a) {
    const Module *m = a->module;
    size_t f = 0, stub = 0;
    for (size_t c = 0; c < m->n_code; c++) {
        uint64_t at = m->code[c].start;
        for (; f < m->n_functions && m->functions[f].start < m->code[c].end; f++) {
            add_between(a, at, m->functions[f].start, &stub);
            add_function(a, &m->functions[f]);
            at = m->functions[f].end;
        }
        add_between(a, at, m->code[c].end, &stub);
    }
    a->pieces = (Piece *)a->own_pieces.items;
    a->n_pieces = a->own_pieces.n;
}
