/* SPDX-License-Identifier: Apache-2.0 */
/* Code whose runtime looks return addresses up in tables of its own: collectors that walk the
 * stack, mostly. It knows nothing of copies, and ends the program where it meets one. And code
 * with tables between all of its parts, which look like code as well. */
#include "module_parts.h"

#define LEAST_RETURNS 64u /* pointers to what follows a call: fewer may be chance */
#define FEW_TABLES 4u     /* where most pointers have one, */
#define LEAST_TABLES 16u  /* or only some */
#define MOST_KINDS 80u    /* of GHC's closures; it has 64 */

typedef struct {
    const char *name, *whose;
} Sign;

static const Sign SECTIONS[] = {
    {".gopclntab", "Go"},
    {".go.buildinfo", "Go"},
    {"__managedcode", ".NET"},
    {".svm_heap", "GraalVM"},
    {".llvm_stackmaps", "a collector that LLVM knows"},
};

static const Sign SYMBOLS[] = {
    {"caml_frametable", "OCaml"},
    {"caml_system__frametable", "OCaml"},
    {"caml_startup__frametable", "OCaml"},
    {"caml_plugin_header", "OCaml"},
    {"mono_aot_file_info", "Mono"},
    {"_kDartVmSnapshotInstructions", "Dart"},
    {"_kDartIsolateSnapshotInstructions", "Dart"},
};

static const char BUILTINS[] = "Builtins_"; /* V8's own functions, in a library of C++ */

/* How many bytes two texts begin with that are the same. */
static size_t common(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n]) {
        n++;
    }
    return n;
}

static const char *whose(const Sign *signs, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        const size_t same = common(name, signs[i].name);
        if (!name[same] && !signs[i].name[same]) {
            return signs[i].whose;
        }
    }
    return NULL;
}

static const char *whose_sections(const Opening *opening) {
    const char *found = NULL;
    for (size_t i = 0; i < opening->n_sections && !found; i++) {
        Elf64_Shdr section;
        memcpy(&section, opening->sections + i * sizeof section, sizeof section);
        if (section.sh_name < opening->section_name_bytes) {
            found = whose(SECTIONS, sizeof SECTIONS / sizeof *SECTIONS,
                          opening->section_names + section.sh_name);
        }
    }
    return found;
}

static const char *whose_symbols(const Module *module, const SymbolTable *table) {
    const char *found = NULL;
    for (size_t i = 1; i < table->n && !found; i++) {
        const Elf64_Sym symbol = symbol_at(table, i);
        const bool is_here = symbol.st_shndx != SHN_UNDEF;
        const uint32_t name = is_here ? symbol_name(module, table, &symbol) : 0;
        const char *text = module->strings + name;
        if (*text == 'c' || *text == 'm' || *text == '_') {
            found = whose(SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS, text);
        }
    }
    return found;
}

/* Whether data point behind calls much more often than labels of jumps do. */
static bool data_know_returns(const Module *module) {
    size_t n = 0;
    for (size_t i = 0; i < module->n_pointers; i++) {
        const uint64_t at = module->pointers[i];
        const uint8_t *call = module_bytes(module, at - 5, 5);
        int32_t distance;
        if (call && *call == 0xe8) {
            memcpy(&distance, call + 1, 4);
            n += module_is_code(module, at + (uint64_t)(int64_t)distance);
        }
    }
    return n >= LEAST_RETURNS && n > module->n_pointers / 4;
}

/* GHC puts a table before whatever data point to: two words of 32 bits, of which the first is a
   small number, and never 0. Code is hardly ever such, nor are NOPs. */
static bool data_know_tables(const Module *module) {
    size_t n = 0;
    for (size_t i = 0; i < module->n_pointers; i++) {
        uint32_t kind = 0;
        const uint8_t *table = module_bytes(module, module->pointers[i] - 8, 8);
        if (table) {
            memcpy(&kind, table, sizeof kind);
        }
        n += kind > 0 && kind <= MOST_KINDS;
    }
    return (n >= FEW_TABLES && n > module->n_pointers / 2)
           || (n >= LEAST_TABLES && n > module->n_pointers / 8);
}

void read_frames(Opening *opening) {
    Module *module = opening->module;
    module->frames_of = whose_sections(opening);
    if (!module->frames_of) {
        module->frames_of = whose_symbols(module, &opening->dynamic_symbols);
    }
    if (!module->frames_of) {
        module->frames_of = whose_symbols(module, &opening->all_symbols);
    }
    if (!module->frames_of && data_know_returns(module)) {
        module->frames_of = "its own";
    }
    if (!module->frames_of && data_know_tables(module)) {
        module->frames_of = "GHC";
    }
    for (size_t i = 0; i < module->n_functions; i++) {
        Function *function = &module->functions[i];
        const size_t same = common(module->strings + function->name, BUILTINS);
        function->has_own_frames = !BUILTINS[same];
    }
}
