/* SPDX-License-Identifier: Apache-2.0 */
/* Where the functions of a module begin and end. */
#include "frame.h"
#include "module_parts.h"

/* Somebody's word that a function is there; the greater rank has the better name. */
typedef struct {
    uint64_t start, end;
    uint32_t name, rank;
} Candidate;

enum { RANK_FDE, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

/* ---- who says that there is one ---- */

static void add_symbols(Opening *opening, const SymbolTable *table, bool is_dynamic,
                        Array *candidates) {
    const Module *module = opening->module;
    for (size_t i = 1; i < table->n; i++) {
        const Elf64_Sym symbol = symbol_at(table, i);
        const unsigned type = ELF64_ST_TYPE(symbol.st_info), bind = ELF64_ST_BIND(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || type == STT_TLS || type == STT_OBJECT
            || !module_is_code(module, symbol.st_value)) {
            continue;
        }
        const uint32_t name = symbol_name(module, table, &symbol);
        Range *named = name && type != STT_SECTION && type != STT_FILE
            ? array_add(owned_array(opening, OWNED_NAMED), 1) : NULL;
        if (named) {
            *named = (Range){symbol.st_value, name};
        }
        if (is_dynamic) { /* others may call it, whatever it is inside of */
            numbers_add(owned_array(opening, OWNED_ENTRIES), symbol.st_value);
        }
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_size
            && symbol.st_size <= UINT64_MAX - symbol.st_value) {
            Candidate *added = array_add(candidates, 1);
            if (added) {
                *added = (Candidate){
                    .start = symbol.st_value,
                    .end = symbol.st_value + symbol.st_size,
                    .name = name,
                    .rank = bind == STB_LOCAL  ? RANK_LOCAL
                          : bind == STB_WEAK ? RANK_WEAK
                                             : RANK_GLOBAL,
                };
            }
        }
    }
}

static void add_fdes(Opening *opening, Array *candidates) {
    Module *module = opening->module;
    Array *fdes = owned_array(opening, OWNED_FDES);
    frame_find_all(module, opening->eh_frame_hdr, opening->eh_frame, fdes);
    sort_records(fdes->items, fdes->n, sizeof(Fde) / 8);
    module->fdes = (Fde *)fdes->items;
    module->n_fdes = fdes->n;
    for (size_t i = 0; i < module->n_fdes; i++) {
        const Fde *fde = &module->fdes[i];
        Candidate *added =
            module_is_code(module, fde->start) ? array_add(candidates, 1) : NULL;
        if (added) {
            *added = (Candidate){.start = fde->start, .end = fde->end, .rank = RANK_FDE};
        }
    }
}

/* ---- functions ---- */

/* All that is said of one start: the longest of symbols, or an FDE; how many there were. */
static size_t settle(const Candidate *candidates, size_t n, Candidate *one) {
    size_t i = 1;
    *one = candidates[0];
    for (; i < n && candidates[i].start == one->start; i++) {
        const Candidate *other = &candidates[i];
        if (one->rank == RANK_FDE) {
            *one = other->rank == RANK_FDE && other->end < one->end ? *one : *other;
        } else if (other->rank != RANK_FDE) {
            one->end = other->end > one->end ? other->end : one->end;
            one->name = other->rank > one->rank ? other->name : one->name;
            one->rank = other->rank > one->rank ? other->rank : one->rank;
        }
    }
    return i;
}

static uint64_t end_of_code(const Module *module, uint64_t address) {
    const size_t n = records_until(module->code, module->n_code, sizeof(Range) / 8, address);
    return module->code[n - 1].end;
}

static void choose_functions(Opening *opening, const Candidate *candidates, size_t n) {
    Module *module = opening->module;
    Array *functions = owned_array(opening, OWNED_FUNCTIONS);
    uint64_t done_to = 0;
    for (size_t i = 0; i < n;) {
        Candidate one;
        i += settle(candidates + i, n - i, &one);
        if (one.start < done_to) {
            numbers_add(owned_array(opening, OWNED_ENTRIES), one.start);
            continue;
        }
        const uint64_t end = end_of_code(module, one.start);
        Function *function = array_add(functions, 1);
        if (!function) {
            return;
        }
        *function = (Function){
            .start = one.start,
            .end = one.end < end ? one.end : end,
            .name = one.name,
        };
        done_to = function->end;
    }
    module->functions = (Function *)functions->items;
    module->n_functions = functions->n;
}

/* Where signals return to: unwinders and debuggers know it by its bytes. */
static bool is_restorer(const Module *module, const Function *function) {
    static const uint8_t LONG[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
    static const uint8_t SHORT[] = {0xB8, 0x0F, 0, 0, 0, 0x0F, 0x05};
    const uint8_t *code = module_bytes(module, function->start, sizeof LONG);
    return code && (!memcmp(code, LONG, sizeof LONG) || !memcmp(code, SHORT, sizeof SHORT));
}

/* An FDE may be of several functions (a section of stubs has one), or begin a byte early. */
static void join_fdes(Module *module) {
    size_t next = 0;
    for (size_t i = 0; i < module->n_functions; i++) {
        Function *function = &module->functions[i];
        while (next < module->n_fdes && module->fdes[next].start <= function->start) {
            next++;
        }
        const Fde *fde = next ? &module->fdes[next - 1] : NULL;
        if (fde && fde->end > function->start) {
            function->fde = fde->address;
            function->is_signal_frame = fde->is_signal_frame;
        }
        function->is_signal_frame |= is_restorer(module, function);
    }
}

/* ---- restartable sequences ---- */

typedef struct {
    uint32_t version, flags;
    uint64_t start, bytes, abort;
} Sequence;

#define MOST_SEQUENCE 65536 /* bytes: true ones have dozens */

static void mark_rseq(Module *module, uint64_t start, uint64_t end) {
    const size_t words = sizeof(Function) / 8;
    size_t i = records_until(module->functions, module->n_functions, words, start);
    i -= i && module->functions[i - 1].end > start;
    for (; i < module->n_functions && module->functions[i].start < end; i++) {
        module->functions[i].is_in_rseq = true;
    }
}

static void read_rseq(Opening *opening) {
    Module *module = opening->module;
    for (uint64_t at = (opening->rseq.start + 31) & ~UINT64_C(31);
         at + sizeof(Sequence) <= opening->rseq.end; at += sizeof(Sequence)) {
        uint64_t start, bytes, abort;
        if (module_word(module, at + offsetof(Sequence, start), &start)
            && module_word(module, at + offsetof(Sequence, bytes), &bytes)
            && module_word(module, at + offsetof(Sequence, abort), &abort)) {
            const uint64_t end = start + bytes;
            if (module_is_code(module, start) && bytes && bytes <= MOST_SEQUENCE) {
                mark_rseq(module, start, end);
            }
            mark_rseq(module, abort, abort + 1);
        }
    }
}

/* ---- all of it ---- */

static void add_other_entries(Opening *opening) {
    const Module *module = opening->module;
    Array *entries = owned_array(opening, OWNED_ENTRIES);
    const uint64_t known[] = {opening->header.e_entry, opening->init, opening->fini};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (module_is_code(module, known[i])) {
            numbers_add(entries, known[i]);
        }
    }
    for (size_t i = 0; i < sizeof opening->arrays / sizeof opening->arrays[0]; i++) {
        uint64_t value;
        for (uint64_t at = 0; at + 8 <= opening->arrays[i].bytes
             && module_word(module, opening->arrays[i].address + at, &value); at += 8) {
            if (module_is_code(module, value)) {
                numbers_add(entries, value);
            }
        }
    }
}

/* Those that no function begins at. */
static size_t without_starts(const Module *module, uint64_t *entries, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const Function *function = module_function_at(module, entries[i]);
        if (!function || function->start != entries[i]) {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

void read_functions(Opening *opening) {
    Module *module = opening->module;
    Array *entries = owned_array(opening, OWNED_ENTRIES);
    Array candidates;
    array_begin(&candidates, sizeof(Candidate));
    add_symbols(opening, &opening->dynamic_symbols, true, &candidates);
    add_symbols(opening, &opening->all_symbols, false, &candidates);
    Array *named = owned_array(opening, OWNED_NAMED);
    sort_records(named->items, named->n, sizeof(Range) / 8);
    module->named = (Range *)named->items;
    module->n_named = named->n;
    add_fdes(opening, &candidates);
    sort_records(candidates.items, candidates.n, sizeof(Candidate) / 8);
    choose_functions(opening, (const Candidate *)candidates.items, candidates.n);
    entries->failed |= candidates.failed;
    array_end(&candidates);
    add_other_entries(opening);
    guess_functions(opening);
    join_fdes(module);
    read_rseq(opening);
    module->entries = (uint64_t *)entries->items;
    module->n_entries =
        without_starts(module, module->entries, sort_unique_u64(module->entries, entries->n));
}
