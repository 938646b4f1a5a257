/* SPDX-License-Identifier: Apache-2.0 */
/* Jump tables, and what code outside of known functions may jump to.
 *
 * Tables of whole addresses need no search: relocations name their entries, and where nothing is
 * relocated every word of data is looked at. What is searched for are tables of 4-byte distances,
 * from the table itself (switch) or from a label (computed goto of glibc's printf). They are
 * over-approximated: they begin at any place that the function refers to, and end at the first
 * entry that is no instruction of the function. */
#include "analysis.h"

#define MOST_ENTRIES 8192
#define MOST_BASES 8
#define SEEN 1024

/* GNU compilers move unlikely code to a part of its own; stripped, it has no name. */
static bool is_cold_part(const Analysis *a, const Piece *piece) {
    if (!piece || piece->kind != PIECE_FUNCTION) {
        return false;
    }
    const char *name = a->module->strings + piece->function.name;
    if (!*name) {
        return true;
    }
    for (; *name; name++) {
        if (!memcmp(name, ".cold", name[0] == '.' ? 5 : 1) && name[0] == '.') {
            return true;
        }
    }
    return false;
}

bool analysis_is_label(const Analysis *a, const Piece *piece, uint64_t target) {
    if (!is_marked(a, a->starts, target)) {
        return false;
    }
    return (piece->start <= target && target < piece->end)
           || is_cold_part(a, analysis_piece_at(a, target));
}

/* Entries at `table`, counted from `base`. */
static bool read_table(Analysis *a, const Piece *piece, uint64_t table, uint64_t base) {
    int k = 0;
    for (; k < MOST_ENTRIES; k++) {
        const uint8_t *entry = module_bytes(a->module, table + 4 * (uint64_t)k, 4);
        int32_t distance;
        if (!entry) {
            break;
        }
        memcpy(&distance, entry, 4);
        const uint64_t target = base + (uint64_t)(int64_t)distance;
        if (!analysis_is_label(a, piece, target)) {
            break;
        }
        mark_taken(a, target);
    }
    return k > 0;
}

/* Where tables may begin: what operands refer to without a base register. */
static bool may_begin_table(const Instruction *x, uint64_t *table) {
    if (!x->has_memory || x->segment) {
        return false;
    }
    if (x->is_rip_relative) {
        *table = x->target;
        return true;
    }
    *table = (uint64_t)(int64_t)x->displacement;
    return x->base == NO_REGISTER && x->index != NO_REGISTER && !x->is_vsib;
}

/* An address of code that an instruction makes, or 0. */
static uint64_t made_by(const Analysis *a, const Instruction *x) {
    if (x->what == WHAT_LEA && x->is_rip_relative) {
        return x->target;
    }
    const bool is_fixed = a->module->lowest != 0;
    const uint8_t *at = is_fixed && x->immediate_bytes == 4 && x->flow == FLOW_NEXT
                            ? module_bytes(a->module, x->address + x->immediate_at, 4) : NULL;
    int32_t number = 0;
    if (at) {
        memcpy(&number, at, 4);
    }
    return (uint64_t)(int64_t)number;
}

/* Labels of this function whose addresses it takes. */
static size_t find_bases(const Analysis *a, const Piece *piece, uint64_t *bases) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_list && n < MOST_BASES; i++) {
        const uint64_t address = made_by(a, &a->list[i]);
        if (address > piece->start && address < piece->end && is_marked(a, a->starts, address)) {
            bases[n++] = address;
        }
    }
    return n;
}

void analysis_find_tables(Analysis *a, const Piece *piece) {
    uint64_t bases[MOST_BASES], seen[SEEN] = {0};
    const size_t n_bases = find_bases(a, piece, bases);
    bool found = false;
    for (size_t i = 0; i < a->n_list; i++) {
        uint64_t table;
        if (!may_begin_table(&a->list[i], &table) || seen[table / 4 % SEEN] == table) {
            continue;
        }
        seen[table / 4 % SEEN] = table;
        if (read_table(a, piece, table, table)) {
            const Piece *at = analysis_piece_at(a, table);
            found = true;
            if (at && at->start != table) { /* hand-written code has tables between instructions */
                clear_mark(a, a->taken, table);
            }
        }
        for (size_t b = 0; b < n_bases; b++) {
            found |= read_table(a, piece, table, bases[b]);
        }
    }
    a->n_unresolved += !found;
}

/* ---- bytes that are in no decoded piece ---- */

/* The displacements of padding look like short jumps forward. */
static uint64_t skip_padding(const Analysis *a, uint64_t from, uint64_t to) {
    const uint8_t *code = module_bytes(a->module, from, to - from);
    Instruction x;
    while (code && from < to && instruction_decode(code, to - from, from, &x)
           && (x.what == WHAT_NOP || code[0] == 0xCC)) {
        from += x.length;
        code += x.length;
    }
    return from;
}

static void scan(const Analysis *a, uint64_t from, uint64_t to) {
    from = from < to ? skip_padding(a, from, to) : to;
    const uint8_t *code = from < to ? module_bytes(a->module, from, to - from) : NULL;
    if (!code) {
        return;
    }
    for (uint64_t i = 0; i + 2 <= to - from; i++) {
        const uint8_t op = code[i];
        if (op == 0xEB || (op & 0xF0) == 0x70 || (op & 0xFC) == 0xE0) {
            set_mark(a, a->stops, from + i + 2 + (uint64_t)(int64_t)(int8_t)code[i + 1]);
        }
        if (i + 4 <= to - from) { /* jumps, calls, LEA */
            int32_t distance;
            memcpy(&distance, code + i, 4);
            set_mark(a, a->stops, from + i + 4 + (uint64_t)(int64_t)distance);
        }
    }
}

void analysis_scan_gaps(Analysis *a) {
    size_t p = 0;
    for (size_t c = 0; c < a->module->n_code; c++) {
        uint64_t at = a->module->code[c].start;
        const uint64_t end = a->module->code[c].end;
        while (p < a->n_pieces && a->pieces[p].end <= at) {
            p++;
        }
        for (; p < a->n_pieces && a->pieces[p].start < end; p++) {
            if (a->pieces[p].is_decoded) {
                scan(a, at, a->pieces[p].start);
                at = a->pieces[p].end;
            }
        }
        scan(a, at, end);
    }
}
