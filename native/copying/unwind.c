/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind.h"

#include "exception_table.h"
#include "frame_program.h"

/* ---- what unwind tables are there for a function ---- */

/* Most have one FDE; a symbol may cover several, and an FDE more than the symbol. */
typedef struct {
    const Module *module;
    uint64_t end;
    uint64_t fde;   /* not handed out yet; 0: go on with `next` */
    size_t next;    /* in Module.fdes */
    uint64_t done_to;
} Pieces;

static Pieces pieces_of(const Module *module, uint64_t start, uint64_t end, uint64_t fde) {
    const size_t next =
        records_until(module->fdes, module->n_fdes, sizeof(Fde) / 8, start);
    return (Pieces){.module = module, .end = end, .fde = fde, .next = next, .done_to = start};
}

typedef struct {
    Cie cie;
    Frame frame;
    bool is_known; /* could be read */
} Piece;

/* Exception tables mean nothing without a routine that reads them. */
static bool has_exceptions(const Piece *piece) {
    return piece->cie.personality && piece->frame.lsda;
}

static bool next_piece(Pieces *pieces, Piece *piece) {
    const Module *module = pieces->module;
    uint64_t address = pieces->fde;
    pieces->fde = 0;
    for (; !address && pieces->next < module->n_fdes
           && module->fdes[pieces->next].start < pieces->end; pieces->next++) {
        if (module->fdes[pieces->next].start >= pieces->done_to) {
            address = module->fdes[pieces->next].address;
        }
    }
    if (!address) {
        return false;
    }
    piece->is_known = frame_read(module, address, &piece->cie, &piece->frame)
                   && !piece->cie.is_signal_frame && piece->cie.return_register <= UINT8_MAX;
    if (piece->is_known && piece->frame.end > pieces->done_to) {
        pieces->done_to = piece->frame.end;
    }
    return true;
}

/* ---- what a copy has to know before ---- */

static bool add_pads(const Module *module, const Frame *frame, Array *found) {
    ExceptionTable table;
    CallSite site;
    if (!exceptions_read(module, frame, &table)) {
        return false;
    }
    while (exceptions_next(&table, &site)) {
        if (site.pad) {
            uint64_t *added = array_add(found, 1);
            if (added) {
                *added = site.pad;
            }
        }
    }
    return true;
}

bool unwind_landing_pads(const Module *module, const Function *function, Array *found) {
    Pieces pieces = pieces_of(module, function->start, function->end, function->fde);
    Piece piece = {.is_known = false};
    while (next_piece(&pieces, &piece)) {
        const Frame *frame = &piece.frame;
        if (!piece.is_known
            || !frame_program_is_known(module, &piece.cie, piece.cie.program, 0, false)
            || !frame_program_is_known(module, &piece.cie, frame->program, frame->start, true)
            || (has_exceptions(&piece) && !add_pads(module, &piece.frame, found))) {
            return false;
        }
    }
    return true;
}

/* ---- writing ---- */

#define N_CIES 256 /* remembered: the others are written again where they are needed again */

typedef struct {
    const Module *module;
    uint64_t delta;
    Array *code, *outward;
    Array rows;             /* uint64_t: place << 32 | offset of its FDE */
    struct {
        uint64_t address;
        uint32_t at;
    } cies[N_CIES];
} Tables;

/* Fill in the length of an entry that began at `at`. */
static void end_entry(Array *code, size_t at) {
    append_until(code, 8);
    if (!code->failed) {
        const uint32_t bytes = (uint32_t)(code->n - at - 4);
        memcpy(code->items + at, &bytes, sizeof bytes);
    }
}

static bool emit_cie(Tables *tables, const Cie *cie, uint32_t *at) {
    Array *code = tables->code;
    const size_t kept = cie->address / 4 % N_CIES;
    if (tables->cies[kept].address == cie->address) {
        *at = tables->cies[kept].at;
        return true;
    }
    if (!frame_program_is_known(tables->module, cie, cie->program, 0, false)) {
        return false;
    }
    static const char PLAIN[] = "zR", FULL[] = "zPLR";
    const bool has_personality = cie->personality;
    const size_t begin = code->n;
    append_number(code, 0, 8);
    append_byte(code, 1);
    append_bytes(code, (const uint8_t *)(has_personality ? FULL : PLAIN),
                 has_personality ? sizeof FULL : sizeof PLAIN);
    append_leb(code, 1, false);
    append_leb(code, (uint64_t)cie->data_align, true);
    append_byte(code, (uint8_t)cie->return_register);
    append_leb(code, has_personality ? 7 : 1, false);
    if (has_personality) {
        append_byte(code, (cie->personality_encoding & POINTER_INDIRECT) | POINTER_RELATIVE_4);
        append_number(code, 0, 4);
        if (!placing_point(tables->module, tables->delta, cie->personality,
                           (uint32_t)code->n - 4, code, tables->outward)) {
            return false;
        }
        append_byte(code, POINTER_RELATIVE_4);
    }
    append_byte(code, POINTER_RELATIVE_4);
    append_bytes(code, cie->program.at, reader_left(&cie->program));
    end_entry(code, begin);
    *at = (uint32_t)begin;
    tables->cies[kept].address = cie->address;
    tables->cies[kept].at = *at;
    return true;
}

static bool emit_fde(Tables *tables, const Piece *piece, const Placing *placing, uint32_t cie,
                     uint32_t lsda) {
    Array *code = tables->code;
    const size_t begin = code->n;
    append_number(code, 0, 4);
    append_number(code, code->n - cie, 4);
    append_number(code, placing->from - code->n, 4);
    append_number(code, placing->to - placing->from, 4);
    append_byte(code, piece->cie.personality ? 4 : 0);
    if (piece->cie.personality) {
        append_number(code, lsda ? lsda - code->n : 0, 4);
    }
    if (!frame_program_emit(tables->module, &piece->cie, &piece->frame, placing, code)) {
        return false;
    }
    end_entry(code, begin);
    uint64_t *row = array_add(&tables->rows, 1);
    if (row) {
        *row = (uint64_t)placing->from << 32 | begin;
    }
    return row && !code->failed;
}

/* Where a piece of a function is in the copy; false: nowhere (`is_lost`: though it should be). */
static bool place_piece(const CopiedFunction *function, const Piece *piece, Placing *placing,
                        bool *is_lost) {
    Placing whole = *placing;
    whole.start = function->start;
    whole.end = function->end;
    whole.from = function->from;
    whole.to = function->to;
    *placing = whole;
    if (piece->frame.start > whole.start) {
        placing->start = piece->frame.start;
        placing->from = placing_place(&whole, placing->start);
    }
    if (piece->frame.end < whole.end) {
        placing->end = piece->frame.end;
        placing->to = placing_place(&whole, placing->end);
    }
    if (placing->start >= placing->end) {
        return false;
    }
    *is_lost = placing->from == NO_PLACE || placing->to == NO_PLACE || placing->to < placing->from;
    return !*is_lost;
}

/* Exception tables come before all entries, which have to follow each other. `lsdas`: where each
   piece's is, 0: none. False: one of the function's cannot be carried over. */
static bool emit_exceptions(Tables *tables, const CopiedFunction *function, Placing placing,
                            Array *lsdas) {
    Pieces pieces = pieces_of(tables->module, function->start, function->end, function->fde);
    Piece piece = {.is_known = false};
    bool is_lost = false;
    while (next_piece(&pieces, &piece)) {
        uint32_t *lsda = array_add(lsdas, 1);
        if (!lsda || !piece.is_known) {
            return false;
        }
        ExceptionTable table;
        if (place_piece(function, &piece, &placing, &is_lost) && has_exceptions(&piece)) {
            append_until(tables->code, 4);
            *lsda = (uint32_t)tables->code->n;
            is_lost = !exceptions_read(tables->module, &piece.frame, &table)
                   || !exceptions_emit(table, &placing, tables->code, tables->outward);
        }
        if (is_lost) {
            return false;
        }
    }
    return true;
}

static bool emit_entries(Tables *tables, const CopiedFunction *function, Placing placing,
                         const uint32_t *lsda) {
    Pieces pieces = pieces_of(tables->module, function->start, function->end, function->fde);
    Piece piece = {.is_known = false};
    bool is_lost = false;
    for (; next_piece(&pieces, &piece); lsda++) {
        uint32_t cie;
        if (place_piece(function, &piece, &placing, &is_lost)
            && (!emit_cie(tables, &piece.cie, &cie)
                || !emit_fde(tables, &piece, &placing, cie, *lsda))) {
            return false;
        }
    }
    return true;
}

static uint64_t emit_header(Tables *tables, size_t begin) {
    Array *code = tables->code;
    uint64_t *rows = (uint64_t *)tables->rows.items;
    const size_t n = sort_unique_u64(rows, tables->rows.n);
    append_number(code, 0, 4);
    append_until(code, 4);
    const size_t header = code->n;
    append_byte(code, 1);
    append_byte(code, POINTER_RELATIVE_4);
    append_byte(code, 0x03); /* the count: 4 bytes */
    append_byte(code, POINTER_TO_DATA | 0x0B);
    append_number(code, begin - code->n, 4);
    append_number(code, n, 4);
    for (size_t i = 0; i < n; i++) {
        append_number(code, (rows[i] >> 32) - header, 4);
        append_number(code, (uint32_t)rows[i] - header, 4);
    }
    return header;
}

/* What was appended since is not there. */
typedef struct {
    size_t code, outward, rows;
} Mark;

static Mark mark(const Tables *tables) {
    return (Mark){tables->code->n, tables->outward->n, tables->rows.n};
}

static void take_back(Tables *tables, Mark to) {
    tables->code->n = to.code;
    tables->outward->n = to.outward;
    tables->rows.n = to.rows;
}

static void lose(Array *lost, uint64_t start) {
    uint64_t *added = array_add(lost, 1);
    if (added) {
        *added = start;
    }
}

/* CIEs that were taken back are no longer there for others. */
static void forget_cies(Tables *tables, size_t from) {
    for (size_t i = 0; i < N_CIES; i++) {
        if (tables->cies[i].at >= from) {
            tables->cies[i].address = 0;
        }
    }
}

static uint64_t emit_all(Tables *tables, const CopiedFunction *functions, size_t n,
                         Placing placing, Array *lsdas, Array *lost) {
    Array firsts; /* of each function: its first in `lsdas`, or ~0: lost */
    array_begin(&firsts, sizeof(uint64_t));
    uint64_t *first = array_add(&firsts, n);
    for (size_t i = 0; first && i < n; i++) {
        const Mark before = mark(tables);
        first[i] = lsdas->n;
        if (!emit_exceptions(tables, &functions[i], placing, lsdas)) {
            take_back(tables, before);
            first[i] = UINT64_MAX;
            lose(lost, functions[i].start);
        }
    }
    append_until(tables->code, 8);
    const size_t begin = tables->code->n;
    for (size_t i = 0; first && i < n; i++) {
        const Mark before = mark(tables);
        if (first[i] != UINT64_MAX
            && !emit_entries(tables, &functions[i], placing,
                             (const uint32_t *)lsdas->items + first[i])) {
            take_back(tables, before);
            forget_cies(tables, before.code);
            lose(lost, functions[i].start);
        }
    }
    array_end(&firsts);
    return tables->rows.n && first ? emit_header(tables, begin) : 0;
}

uint64_t unwind_emit(const Module *module, const CopiedFunction *functions, size_t n,
                     PlaceOf place_of, void *context, uint64_t delta, Array *code, Array *outward,
                     Array *lost) {
    Tables tables = {.module = module, .delta = delta, .code = code, .outward = outward};
    const Placing placing = {.place_of = place_of, .context = context, .delta = delta};
    Array lsdas;
    array_begin(&lsdas, sizeof(uint32_t));
    array_begin(&tables.rows, sizeof(uint64_t));
    const uint64_t header = n ? emit_all(&tables, functions, n, placing, &lsdas, lost) : 0;
    code->failed |= lsdas.failed || tables.rows.failed || outward->failed || lost->failed;
    array_end(&lsdas);
    array_end(&tables.rows);
    return header;
}
