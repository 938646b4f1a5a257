/* SPDX-License-Identifier: Apache-2.0 */
/* Emits copies of tables, and the instructions that read them. */
#include "dispatch.h"
#include "emit.h"

/* A copied table; several jumps may read it. */
typedef struct {
    Table table;
    uint64_t at;
} CopiedTable;

void emit_tables_begin(Emitter *e) {
    array_begin(&e->tables, sizeof(CopiedTable));
    array_begin(&e->loads, sizeof(TableLoad));
}

static bool is_same(const Table *a, const Table *b) {
    return a->table == b->table && a->base == b->base && a->n == b->n
           && a->is_whole == b->is_whole;
}

/* The number of a table, which is remembered. Those of one function follow each other. */
static uint32_t number_of(Emitter *e, const Table *table) {
    const CopiedTable *all = (const CopiedTable *)e->tables.items;
    for (size_t i = e->tables.n; i > e->first_table; i--) {
        if (is_same(&all[i - 1].table, table)) {
            return (uint32_t)(i - 1);
        }
    }
    CopiedTable *added = array_add(&e->tables, 1);
    if (added) {
        added->table = *table;
    }
    return (uint32_t)(e->tables.n - 1);
}

const Dispatch *dispatch_at(const Emitter *e, uint32_t i) {
    const Dispatch *all = (const Dispatch *)e->dispatches.items;
    for (size_t k = 0; k < e->dispatches.n; k++) {
        if (all[k].load == i) {
            return &all[k];
        }
    }
    return NULL;
}

/* The same instruction with a displacement of 4 bytes, which is written when the table is. */
void emit_load(Emitter *e, const Instruction *x, const uint8_t *code, const Dispatch *dispatch) {
    const uint8_t has_base = x->base != NO_REGISTER;
    const uint32_t n = x->length - (x->displacement_bytes ? x->displacement_bytes : 0u);
    put_bytes(e, code, n - 2);
    put1(e, (uint8_t)((code[n - 2] & 0x3F) | (has_base ? 0x80 : 0)));
    put1(e, code[n - 1]);
    TableLoad *load = array_add(&e->loads, 1);
    if (load) {
        *load = (TableLoad){(uint32_t)e->n, number_of(e, &dispatch->table), x->displacement,
                            has_base};
    }
    put4(e, 0);
}

static void note_in(Emitter *e, SectionKind kind) {
    uint32_t *at = array_add(&e->copy->sections[kind], 1);
    if (at) {
        *at = (uint32_t)e->n;
    }
}

static void put_distance(Emitter *e, uint64_t distance) {
    if ((int64_t)distance != (int32_t)distance) {
        e->failed = "its code and data are more than 2 GiB apart";
    }
    note_in(e, SECTION_TOWARD);
    put4(e, (uint32_t)distance);
}

static void put_entry(Emitter *e, const Table *table, uint32_t k) {
    uint64_t target = 0;
    const bool known = table_target(e->analysis, table, k, &target);
    const uint64_t place =
        known ? e->delta + e->places[analysis_index(e->analysis, target)].at : 0;
    if (table->is_whole) {
        note_in(e, SECTION_ABSOLUTE);
        put_bytes(e, &place, sizeof place);
    } else if (known) {
        put_distance(e, place - table->base);
    } else { /* as it was, and so where it led */
        put_bytes(e, module_bytes(e->analysis->module, table->table + 4 * (uint64_t)k, 4), 4);
    }
}

/* Behind all code, once the place of everything is known. */
void emit_tables(Emitter *e) {
    CopiedTable *all = (CopiedTable *)e->tables.items;
    for (size_t i = 0; i < e->tables.n && !e->failed; i++) {
        const Table *table = &all[i].table;
        if (!emit_reserve(e, 16 + 8 * (uint64_t)table->n)) {
            return;
        }
        while (e->n & 7) {
            put1(e, 0xCC);
        }
        all[i].at = e->n;
        for (uint32_t k = 0; k < table->n; k++) {
            put_entry(e, table, k);
        }
    }
    const uint64_t end = e->n;
    const TableLoad *loads = (const TableLoad *)e->loads.items;
    for (size_t i = 0; i < e->loads.n && !e->failed; i++) {
        const CopiedTable *table = &all[loads[i].table];
        const uint64_t place = e->delta + table->at;
        e->n = loads[i].at;
        put_distance(e, loads[i].has_base
                            ? place - table->table.table + (uint64_t)(int64_t)loads[i].displacement
                            : place);
    }
    e->n = end;
    e->copy->n_tables += e->tables.n;
    e->tables.n = e->loads.n = e->first_table = 0;
}
