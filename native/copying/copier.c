/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the copy of a module: analysis, copies of all functions, unwind tables, anchors. */
#include "copier.h"

#include "plan.h"
#include "record.h"
#include "unwind.h"

#define DISTANCE UINT64_C(0x10000) /* between a module and the place planned for its copy */

static const char no_memory[] = NO_MEMORY;

static void begin_copy(Copy *copy) {
    static const size_t sizes[SECTION_COUNT] = {
        [SECTION_CODE] = 1,
        [SECTION_OUTWARD] = sizeof(uint32_t),
        [SECTION_COUNTERS] = sizeof(uint32_t),
        [SECTION_ANCHORS] = sizeof(Anchor),
        [SECTION_ROWS] = sizeof(Row),
        [SECTION_PLACES] = sizeof(Place),
        [SECTION_ACCESSES] = sizeof(Access),
        [SECTION_SUMS] = sizeof(Sum),
        [SECTION_TURNS] = sizeof(LoopTurn),
        [SECTION_RECORDING] = sizeof(Recording),
        [SECTION_LINES] = sizeof(Line),
        [SECTION_FUNCTIONS] = sizeof(NamedFunction),
        [SECTION_BORROWED] = sizeof(Borrowed),
        [SECTION_TOWARD] = sizeof(uint32_t),
        [SECTION_ABSOLUTE] = sizeof(uint32_t),
    };
    *copy = (Copy){0};
    array_begin(&copy->entries, sizeof(EntryPlace));
    for (int i = 0; i < SECTION_COUNT; i++) {
        array_begin(&copy->sections[i], sizes[i] ? sizes[i] : 1);
    }
}

void copy_free(Copy *copy) {
    for (int i = 0; i < SECTION_COUNT; i++) {
        array_end(&copy->sections[i]);
    }
    array_end(&copy->entries);
}

/* ---- the emitter ---- */

static bool begin_emitter(Emitter *e, Analysis *analysis, CopyKind kind, Copy *copy) {
    *e = (Emitter){.analysis = analysis, .copy = copy, .kind = kind & ~COPY_SELECTING,
                   .selects = kind & COPY_SELECTING};
    e->delta = ((analysis->module->highest + DISTANCE - 1) & ~(DISTANCE - 1)) + DISTANCE;
    array_begin(&e->forward, sizeof(Forward));
    array_begin(&e->late, sizeof(Late));
    array_begin(&e->masks, sizeof(MaskCount));
    array_begin(&e->notes, sizeof(Note));
    array_begin(&e->stubs, sizeof(RingStub));
    array_begin(&e->loops, sizeof(Loop));
    array_begin(&e->exits, sizeof(Exit));
    array_begin(&e->branches, sizeof(CountedBranch));
    array_begin(&e->dispatches, sizeof(Dispatch));
    emit_tables_begin(e);
    array_begin(&e->turns, sizeof(Turn));
    array_begin(&e->hooked, sizeof(uint64_t));
    find_hooked(analysis->module, &e->hooked);
    e->bounds = pages_take((analysis->room + 2) * sizeof(uint32_t));
    e->live = pages_take((analysis->room + 2) * sizeof(uint32_t));
    e->formulas = pages_take((analysis->room + 2) * sizeof(Formula));
    e->rows = pages_take(2 * (analysis->room + 2) * sizeof(uint32_t));
    e->places = array_add(&copy->sections[SECTION_PLACES], analysis->n_instructions);
    e->n = HOOKS_BYTES;
    Array *code = &copy->sections[SECTION_CODE];
    const bool good = array_add(code, HOOKS_BYTES) && graph_begin(&e->graph, analysis)
                      && e->bounds && e->live && e->rows
                      && e->formulas && (e->places || !analysis->n_instructions);
    e->graph.most_words = e->kind == COPY_COUNTING ? 0 : MOST_WORDS;
    return good;
}

static void end_emitter(Emitter *e) {
    graph_end(&e->graph);
    array_end(&e->forward);
    array_end(&e->late);
    array_end(&e->masks);
    array_end(&e->notes);
    array_end(&e->stubs);
    array_end(&e->loops);
    array_end(&e->exits);
    array_end(&e->branches);
    array_end(&e->dispatches);
    array_end(&e->tables);
    array_end(&e->loads);
    array_end(&e->turns);
    array_end(&e->hooked);
    pages_give(e->bounds, (e->analysis->room + 2) * sizeof(uint32_t));
    pages_give(e->live, (e->analysis->room + 2) * sizeof(uint32_t));
    pages_give(e->formulas, (e->analysis->room + 2) * sizeof(Formula));
    pages_give(e->rows, 2 * (e->analysis->room + 2) * sizeof(uint32_t));
}

/* Branches between functions: to the copy of their target, or out to the original. */
static void resolve_late(Emitter *e) {
    const Late *late = (const Late *)e->late.items;
    const uint64_t end = e->n;
    for (size_t i = 0; i < e->late.n; i++) {
        const uint32_t index = analysis_index(e->analysis, late[i].target);
        e->n = late[i].at;
        if (index != NO_INDEX && is_marked(e->analysis, e->analysis->leaders, late[i].target)) {
            /* Hooks stand before counting copies only. */
            const bool hooked = e->counting && hook_at(e, late[i].target);
            put_inward(e, (hooked ? e->counting : e->places)[index].at);
        } else {
            put_outward(e, late[i].target, 0);
        }
    }
    e->n = end;
}

/* ---- unwind tables ---- */

static uint32_t place_of(void *context, uint64_t address) {
    const Emitter *e = context;
    const uint32_t index = analysis_index(e->analysis, address);
    return index == NO_INDEX ? NO_PLACE : e->places[index].at;
}

/* Appends the tables; functions that have to be left out are added to `lost`. */
static bool emit_unwinding(Emitter *e, const Array *ends, Array *lost) {
    Array functions;
    array_begin(&functions, sizeof(CopiedFunction));
    size_t n = 0;
    for (size_t i = 0; i < e->analysis->n_pieces; i++) {
        const Piece *piece = &e->analysis->pieces[i];
        if (!piece->is_copied) {
            continue;
        }
        const uint32_t to = ((const uint32_t *)ends->items)[n++];
        CopiedFunction *function = piece->function.fde ? array_add(&functions, 1) : NULL;
        if (function) {
            *function = (CopiedFunction){piece->start, piece->end, piece->function.fde,
                                         place_of(e, piece->start), to};
        }
    }
    Array *code = &e->copy->sections[SECTION_CODE];
    code->n = e->n;
    e->copy->header.eh_frame_hdr =
        unwind_emit(e->analysis->module, (const CopiedFunction *)functions.items, functions.n,
                    place_of, e, e->delta, code, &e->copy->sections[SECTION_OUTWARD], lost);
    const bool failed = functions.failed;
    array_end(&functions);
    return !failed;
}

/* ---- all of it ---- */

static bool add_end(Array *ends, uint64_t at) {
    uint32_t *end = array_add(ends, 1);
    if (end) {
        *end = (uint32_t)at;
    }
    return end != NULL;
}

/* The copies of all functions, of one kind, and their unwind tables. */
static void emit_code(Emitter *e, bool records, Array *lost) {
    Array ends;
    array_begin(&ends, sizeof(uint32_t));
    e->records = records;
    e->late.n = 0;
    for (size_t i = 0; i < e->analysis->n_pieces && !e->failed; i++) {
        const Piece *piece = &e->analysis->pieces[i];
        if (piece->is_copied) {
            analysis_decode(e->analysis, piece);
            emit_piece(e, piece);
            e->failed = add_end(&ends, e->n) ? e->failed : no_memory;
        }
    }
    if (!e->failed) {
        resolve_late(e);
        emit_tables(e);
    }
    if (!e->failed) {
        e->failed = emit_unwinding(e, &ends, lost) ? e->failed : no_memory;
    }
    e->n = e->copy->sections[SECTION_CODE].n;
    array_end(&ends);
}

/* The recording code behind the counting one. */
static void emit_recording(Emitter *e, Array *lost) {
    Array *places = &e->copy->sections[SECTION_PLACES];
    const uint64_t n = e->analysis->n_instructions, header = e->copy->header.eh_frame_hdr;
    Recording *recording = array_add(&e->copy->sections[SECTION_RECORDING], 1);
    if (!recording || !array_add(places, n)) {
        e->failed = no_memory;
        return;
    }
    e->counting = (const Place *)places->items;
    e->places = (Place *)places->items + n;
    recording->begin = (uint32_t)e->n;
    recording->first_row = (uint32_t)e->copy->sections[SECTION_ROWS].n;
    emit_code(e, true, lost);
    if (!e->failed) {
        e->code = e->copy->sections[SECTION_CODE].items;
        resolve_turns(e);
    }
    recording = (Recording *)e->copy->sections[SECTION_RECORDING].items;
    recording->end = (uint32_t)e->n;
    recording->eh_frame_hdr = (uint32_t)e->copy->header.eh_frame_hdr;
    e->copy->header.eh_frame_hdr = header;
    e->places = (Place *)places->items;
    e->counting = NULL;
}

static const char *emit_all(Emitter *e, Array *lost) {
    emit_code(e, e->kind == COPY_RECORDING, lost);
    Array *turns = &e->copy->sections[SECTION_TURNS];
    sort_records(turns->items, turns->n, 1); /* by `head`, which are the high halves */
    if (!e->failed && e->kind == COPY_BOTH) {
        emit_recording(e, lost);
    }
    if (!e->failed) {
        emit_anchors(e);
    }
    return e->failed;
}

static void fill_header(Copy *copy, const Emitter *e) {
    const Module *module = e->analysis->module;
    CopyHeader *header = &copy->header;
    memcpy(header->magic, COPY_MAGIC, sizeof header->magic);
    header->identity[0] = module->identity[0];
    header->identity[1] = module->identity[1];
    header->module_bytes = module->file_bytes;
    header->lowest = module->lowest;
    header->highest = module->highest;
    header->delta = e->delta;
    header->flags = (e->analysis->uses_gs ? COPY_USES_GS : 0)
                    | (e->kind == COPY_RECORDING ? COPY_RECORDS : 0)
                    | (e->kind == COPY_BOTH ? COPY_HAS_BOTH : 0);
    header->n_instructions = e->analysis->n_instructions;
    header->n_functions = e->analysis->n_copied;
    header->n_left_alone = e->analysis->n_pieces - e->analysis->n_copied;
    copy->n_blocks = copy->sections[SECTION_ROWS].n;
    copy->n_indirect = e->analysis->n_indirect;
    copy->n_unresolved = e->analysis->n_unresolved;
}

static bool ran_out(const Copy *copy, const Emitter *e) {
    bool failed = e->forward.failed || e->late.failed || e->masks.failed || e->notes.failed
                  || e->stubs.failed || e->loops.failed || e->exits.failed || e->hooked.failed
                  || e->branches.failed || e->dispatches.failed || e->tables.failed || e->loads.failed
                  || e->turns.failed;
    failed |= copy->entries.failed;
    for (int i = 0; i < SECTION_COUNT; i++) {
        failed |= copy->sections[i].failed;
    }
    return failed;
}

static const char *emit_copy(Analysis *analysis, CopyKind kind, Copy *copy, Array *lost) {
    Emitter e;
    begin_copy(copy);
    const char *problem = begin_emitter(&e, analysis, kind, copy) ? emit_all(&e, lost) : no_memory;
    if (!problem) {
        fill_header(copy, &e);
        problem = ran_out(copy, &e) ? no_memory : NULL;
    }
    if (!problem) {
        plan_place(copy, analysis->module);
    }
    end_emitter(&e);
    return problem;
}

const char *copy_make(const Module *module, CopyKind kind, const uint64_t *only, size_t n_only,
                      Copy *copy) {
    Analysis analysis;
    Array lost;
    *copy = (Copy){0};
    if (module->frames_of) {
        return "its runtime looks return addresses up in tables of its own";
    }
    array_begin(&lost, sizeof(uint64_t));
    const char *problem = analysis_make(&analysis, module, only, n_only);
    /* An exception that meets a copy without tables ends the program: such functions are left
       alone, and all is copied again. */
    for (bool again = !problem; again && !problem;) {
        lost.n = 0;
        problem = emit_copy(&analysis, kind, copy, &lost);
        again = !problem && lost.n > 0;
        if (again) {
            copy_free(copy);
            analysis_leave_alone(&analysis, (const uint64_t *)lost.items, lost.n);
        }
    }
    if (problem) {
        copy_free(copy);
    }
    array_end(&lost);
    analysis_free(&analysis);
    return problem;
}
