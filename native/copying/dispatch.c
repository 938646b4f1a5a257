/* SPDX-License-Identifier: Apache-2.0 */
/* Finds indirect jumps whose tables are known for sure: where the table begins, because the
 * address is followed from where it is made to where it is used; that nobody changes it; and how
 * long it is at most. Of distances too many entries may be copied: those that lead to no label of
 * the function are the same in the copy, and lead where they led. */
#include "dispatch.h"

#include <elf.h>

#include "constants.h"

#define MOST_ENTRIES 8192u
#define MORE_DISTANCES MOST_ENTRIES /* behind the last that is surely one: switches of LLVM have
                                       hundreds of entries for their default */

/* A jump that looks as if it read a table. */
typedef struct {
    const Block *block;
    uint32_t load;  /* instruction of the block that reads the entry */
    uint32_t sum;   /* of distances: that adds the base */
    uint8_t base;   /* register that is added, or NO_REGISTER: the number of the instruction is */
    bool is_whole;
} Candidate;

/* ---- instructions ---- */

static bool reads_entry(const Instruction *x, uint8_t scale) {
    return x->has_memory && x->index != NO_REGISTER && x->scale == scale && !x->segment
           && !x->is_vsib && !x->is_address32 && !x->is_rip_relative && x->base != 4 /* rsp */;
}

static bool is_loading(const Analysis *a, const Instruction *x, uint8_t op, uint8_t scale,
                       uint8_t *to) {
    Form form;
    if (!reads_entry(x, scale) || !form_of(a->module, x, &form) || form.op != op
        || !form.is_wide) {
        return false;
    }
    *to = form.reg;
    return true;
}

/* Whether nothing uses or changes a register from instruction i up to, and without, k. */
static bool is_kept(const Analysis *a, uint32_t i, uint32_t k, uint8_t r) {
    for (; i < k; i++) {
        if ((a->list[i].read | a->list[i].changed) >> r & 1) {
            return false;
        }
    }
    return true;
}

/* The last instruction from `first` up to, and without, `end` that changes a register. */
static uint32_t last_change(const Analysis *a, uint32_t first, uint32_t end, uint8_t r) {
    for (uint32_t i = end; i > first; i--) {
        if (a->list[i - 1].changed >> r & 1) {
            return i - 1;
        }
    }
    return NO_INDEX;
}

/* add r, base, where the program is not moved. */
static bool is_sum_with_number(const Analysis *a, const Block *block, uint32_t sum, uint8_t r,
                               Candidate *candidate) {
    const Instruction *x = &a->list[sum];
    Form form;
    uint8_t to;
    if (a->module->lowest == 0 || !form_of(a->module, x, &form) || !form.is_wide
        || x->immediate_bytes != 4 || x->has_memory || x->changed != 1u << r
        || !(form.op == 0x05 || (form.op == 0x81 && form.mod == 3 && (form.reg & 7) == 0))) {
        return false;
    }
    const uint32_t load = last_change(a, block->first, sum, r);
    if (load == NO_INDEX || !is_loading(a, &a->list[load], 0x63, 4, &to) || to != r
        || !is_kept(a, load + 1, sum, r)) {
        return false;
    }
    *candidate = (Candidate){block, load - block->first, sum - block->first, NO_REGISTER, false};
    return true;
}

/* add r, distance + base, where either of two registers is the distance. */
static bool is_sum(const Analysis *a, const Block *block, uint32_t sum, uint8_t r,
                   Candidate *candidate) {
    Form form;
    if (!form_of(a->module, &a->list[sum], &form) || !form.is_wide || form.mod != 3
        || (form.op != 0x01 && form.op != 0x03)) {
        return false;
    }
    const uint8_t other = form.op == 0x01 ? form.reg : form.rm;
    const uint8_t pairs[2][2] = {{r, other}, {other, r}}; /* distance, base */
    for (int i = 0; i < 2 && r != other; i++) {
        uint8_t to;
        const uint32_t load = last_change(a, block->first, sum, pairs[i][0]);
        if (load != NO_INDEX && is_loading(a, &a->list[load], 0x63, 4, &to)
            && to == pairs[i][0] && is_kept(a, load + 1, sum, to)) {
            *candidate = (Candidate){block, load - block->first, sum - block->first, pairs[i][1],
                                     false};
            return true;
        }
    }
    return false;
}

static bool is_candidate(const Analysis *a, const Block *block, Candidate *candidate) {
    const uint32_t last = block->first + block->n - 1;
    const Instruction *jump = &a->list[last];
    Form form;
    uint8_t to;
    if (jump->flow != FLOW_INDIRECT_JUMP || !form_of(a->module, jump, &form)
        || form.op != 0xFF) {
        return false;
    }
    *candidate = (Candidate){.block = block, .load = block->n - 1, .is_whole = true};
    if (form.mod != 3) {
        return reads_entry(jump, 8);
    }
    const uint32_t change = last_change(a, block->first, last, form.rm);
    if (change == NO_INDEX || !is_kept(a, change + 1, last, form.rm)) {
        return false;
    }
    candidate->load = change - block->first;
    return (is_loading(a, &a->list[change], 0x8B, 8, &to) && to == form.rm)
           || is_sum(a, block, change, form.rm, candidate)
           || is_sum_with_number(a, block, change, form.rm, candidate);
}

/* ---- how many entries ---- */

/* What AND or MOVZX leaves at most, and one more; 0: it is neither. */
static uint32_t bound_of(const Analysis *a, const Instruction *x, uint8_t r) {
    const uint8_t *code = module_bytes(a->module, x->address, x->length);
    const uint8_t at = (code[0] & 0xF0) == 0x40;
    Form form;
    if (code[at] == 0x0F && code[at + 1] == 0xB6) {
        return 256;
    }
    if (!form_of(a->module, x, &form) || form.mod != 3 || form.rm != r || form.op != 0x83
        || (code[at + 1] >> 3 & 7) != 4 || (code[at + 2] & 0x80)) {
        return 0;
    }
    return code[at + 2] + 1u;
}

/* Entries that the index may have, by what is said of it in the same block; 0: nothing. */
static uint32_t find_bound(const Analysis *a, const Candidate *candidate) {
    const uint32_t first = candidate->block->first, load = first + candidate->load;
    const uint8_t index = a->list[load].index;
    const uint32_t change = last_change(a, first, load, index);
    return change == NO_INDEX ? 0 : bound_of(a, &a->list[change], index);
}

/* ---- tables ---- */

/* Whether nothing changes it once the program runs. */
static bool is_constant(const Module *module, uint64_t address) {
    for (size_t i = 0; i < module->n_segments; i++) {
        const Segment *segment = &module->segments[i];
        if (!segment->writable && address >= segment->address
            && address - segment->address < segment->bytes) {
            return true;
        }
    }
    Elf64_Ehdr header;
    Elf64_Phdr part;
    if (!module->file || module->file_bytes < sizeof header) {
        return false;
    }
    memcpy(&header, module->file, sizeof header);
    for (uint64_t i = 0; i < header.e_phnum; i++) {
        const uint64_t at = header.e_phoff + i * sizeof part;
        if (at > module->file_bytes || module->file_bytes - at < sizeof part) {
            return false;
        }
        memcpy(&part, module->file + at, sizeof part);
        if (part.p_type == PT_GNU_RELRO && address >= part.p_vaddr
            && address - part.p_vaddr < part.p_memsz) {
            return true;
        }
    }
    return false;
}

static bool read_entry(const Analysis *a, const Table *table, uint32_t k, uint64_t *target) {
    if (table->is_whole) {
        const uint64_t place = table->table + 8 * (uint64_t)k;
        const bool fixed = a->module->lowest != 0;
        const size_t n = records_until(a->module->relocated, a->module->n_relocated,
                                       sizeof(Range) / 8, place);
        return (fixed || (n && a->module->relocated[n - 1].start == place))
               && module_word(a->module, place, target);
    }
    const uint8_t *entry = module_bytes(a->module, table->table + 4 * (uint64_t)k, 4);
    int32_t distance;
    if (entry) {
        memcpy(&distance, entry, 4);
        *target = table->base + (uint64_t)(int64_t)distance;
    }
    return entry != NULL;
}

bool table_target(const Analysis *a, const Table *table, uint32_t k, uint64_t *target) {
    return read_entry(a, table, k, target) && is_marked(a, a->starts, *target)
           && is_marked(a, a->leaders, *target) && is_marked(a, a->entered, *target);
}

/* Addresses: they end where there is none, or one of a function, of which labels have none. */
static bool measure_whole(const Analysis *a, const Piece *piece, Table *table, uint32_t bound) {
    uint64_t target;
    while (table->n < MOST_ENTRIES && table_target(a, table, table->n, &target)
           && analysis_is_label(a, piece, target)) {
        table->n++;
    }
    const Piece *other =
        read_entry(a, table, table->n, &target) ? analysis_piece_at(a, target) : NULL;
    const bool ends = !other || other->start == target;
    return table->n > 1 && table->n >= bound && (bound || ends);
}

static bool measure_distances(const Analysis *a, const Piece *piece, Table *table,
                              uint32_t bound) {
    uint32_t n = 0;
    uint64_t target;
    for (; n < MOST_ENTRIES && n < table->n + MORE_DISTANCES && read_entry(a, table, n, &target)
           && module_is_code(a->module, target); n++) {
        if (table_target(a, table, n, &target) && analysis_is_label(a, piece, target)) {
            table->n = n + 1;
        }
    }
    const bool found = table->n > 1;
    table->n = n;
    for (; table->n < bound && read_entry(a, table, table->n, &target); table->n++) {
    }
    return found && table->n >= bound;
}

/* Whether no other table has labels of the function: then a jump that reads it on one path reads
   no other on any. */
static bool is_only_table(const Analysis *a, const Piece *piece, const Table *table) {
    for (size_t i = 0; i < a->module->n_relocated; i++) {
        const Range *word = &a->module->relocated[i]; /* its place, and the address there */
        if (word->end > piece->start && word->end < piece->end
            && word->start - table->table >= 8 * (uint64_t)table->n) {
            return false;
        }
    }
    return a->module->lowest == 0;
}

static uint64_t base_of(const Constants *c, const Candidate *candidate) {
    const Analysis *a = c->graph->analysis;
    if (candidate->base != NO_REGISTER) {
        return constants_before(c, candidate->block, candidate->sum, candidate->base);
    }
    const Instruction *x = &a->list[candidate->block->first + candidate->sum];
    const uint8_t *at = module_bytes(a->module, x->address + x->immediate_at, 4);
    int32_t number = 0;
    if (at) {
        memcpy(&number, at, 4);
    }
    return (uint64_t)(int64_t)number;
}

static bool find_table(const Constants *c, const Candidate *candidate, Table *table) {
    const Analysis *a = c->graph->analysis;
    const Piece *piece = c->graph->piece;
    const Instruction *load = &a->list[candidate->block->first + candidate->load];
    uint64_t begin = 0;
    *table = (Table){.is_whole = candidate->is_whole};
    if (load->base != NO_REGISTER) {
        begin = constants_before(c, candidate->block, candidate->load, load->base);
    }
    if ((load->base != NO_REGISTER || a->module->lowest == 0) && !begin) {
        return false;
    }
    table->table = begin + (uint64_t)(int64_t)load->displacement;
    if (!is_constant(a->module, table->table)) {
        return false;
    }
    const uint32_t bound = find_bound(a, candidate);
    if (table->is_whole) {
        return measure_whole(a, piece, table, bound) && (!c->may || is_only_table(a, piece, table));
    }
    table->base = base_of(c, candidate);
    return table->base && measure_distances(a, piece, table, bound);
}

/* ---- all of a function ---- */

static void add_slot(Constants *c, const Instruction *x) {
    Form form;
    if (!form_of(c->graph->analysis->module, x, &form) || form.op != 0x8B
        || !is_slot_move(x, &form) || c->n_slots == MOST_SLOTS) {
        return;
    }
    for (uint32_t s = 0; s < c->n_slots; s++) {
        if (c->slots[s].base == x->base && c->slots[s].displacement == x->displacement) {
            return;
        }
    }
    c->slots[c->n_slots++] = (Slot){x->displacement, x->base};
}

/* Words of the stack that bases of tables are loaded from: just before they are used, or
   elsewhere. */
static void find_slots(Constants *c, const Candidate *candidates, size_t n) {
    const Analysis *a = c->graph->analysis;
    uint32_t bases = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t first = candidates[i].block->first, load = first + candidates[i].load;
        const uint8_t base = a->list[load].base;
        const bool adds = !candidates[i].is_whole && candidates[i].base != NO_REGISTER;
        const uint32_t change = base == NO_REGISTER ? NO_INDEX : last_change(a, first, load, base);
        bases |= base == NO_REGISTER ? 0 : 1u << base;
        bases |= adds ? 1u << candidates[i].base : 0;
        if (change != NO_INDEX) {
            add_slot(c, &a->list[change]);
        }
    }
    for (size_t i = 0; n && i < a->n_list; i++) {
        if (a->list[i].changed & bases) {
            add_slot(c, &a->list[i]);
        }
    }
}

static bool is_found(const Array *dispatches, uint32_t load) {
    for (size_t i = 0; i < dispatches->n; i++) {
        if (((const Dispatch *)dispatches->items)[i].load == load) {
            return true;
        }
    }
    return false;
}

/* Those that are known on all paths; then of the others those that may be no other. */
static void find_known(const Graph *g, const Array *candidates, bool may, Array *dispatches) {
    Constants constants = {.graph = g, .may = may};
    const Candidate *all = (const Candidate *)candidates->items;
    find_slots(&constants, all, candidates->n);
    if (!constants_find(&constants)) {
        return;
    }
    for (size_t i = 0; i < candidates->n; i++) {
        Table table;
        const uint32_t load = all[i].block->first + all[i].load;
        if ((may && (!all[i].is_whole || is_found(dispatches, load)))
            || !find_table(&constants, &all[i], &table)) {
            continue;
        }
        Dispatch *found = array_add(dispatches, 1);
        if (found) {
            *found = (Dispatch){load, table};
        }
    }
    constants_end(&constants);
}

void dispatch_find(const Graph *g, Array *dispatches) {
    Array candidates;
    array_begin(&candidates, sizeof(Candidate));
    dispatches->n = 0;
    for (size_t b = 0; b < g->n_blocks && g->piece->has_indirect; b++) {
        Candidate one;
        Candidate *added = is_candidate(g->analysis, &g->blocks[b], &one)
                               ? array_add(&candidates, 1) : NULL;
        if (added) {
            *added = one;
        }
    }
    if (candidates.n) {
        find_known(g, &candidates, false, dispatches);
    }
    if (dispatches->n < candidates.n) {
        find_known(g, &candidates, true, dispatches);
    }
    array_end(&candidates);
}
