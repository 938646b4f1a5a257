/* SPDX-License-Identifier: Apache-2.0 */
/* Private to module_*.c: what is known while a module is being opened. */
#ifndef RIDGEPOINT_MODULE_PARTS_H
#define RIDGEPOINT_MODULE_PARTS_H

#include <elf.h>

#include "module.h"

typedef enum {
    OWNED_SEGMENTS,
    OWNED_CODE,
    OWNED_STUBS,
    OWNED_FUNCTIONS,
    OWNED_ENTRIES,
    OWNED_POINTERS,
    OWNED_RELOCATED,
    OWNED_IMPORTS,
    OWNED_FDES,
    OWNED_NAMED,
    OWNED_COUNT
} Owned;

typedef struct {
    const uint8_t *symbols; /* Elf64_Sym, not aligned */
    size_t n;
    const char *strings;    /* the last byte is 0; or NULL */
    size_t string_bytes;
} SymbolTable;

typedef struct {
    uint64_t address, bytes;
} Extent;

typedef struct {
    Module *module;
    Elf64_Ehdr header;
    const uint8_t *sections; /* Elf64_Shdr, not aligned */
    size_t n_sections;
    const char *section_names;
    size_t section_name_bytes;
    Extent dynamic;          /* PT_DYNAMIC */
    uint64_t eh_frame_hdr;
    Range eh_frame, rseq;
    bool has_interpreter, is_pie;
    bool has_sections_of_code;
    /* of the dynamic section */
    Extent rela, jmprel, relr, arrays[3];
    uint64_t symbols_at, hash, gnu_hash, init, fini;
    Extent strings_at;
    SymbolTable dynamic_symbols, all_symbols;
} Opening;

static inline Array *owned_array(Opening *opening, Owned which) {
    return &opening->module->owned[which];
}

/* `n` bytes of the file at an offset, or NULL. */
static inline const uint8_t *file_bytes(const Module *module, uint64_t at, uint64_t n) {
    return at <= module->file_bytes && n <= module->file_bytes - at ? module->file + at : NULL;
}

static inline Elf64_Sym symbol_at(const SymbolTable *table, size_t i) {
    Elf64_Sym symbol;
    memcpy(&symbol, table->symbols + i * sizeof symbol, sizeof symbol);
    return symbol;
}

const Segment *module_segment_at(const Module *module, uint64_t address);

/* Offset of a symbol's name in Module.strings, or 0. */
uint32_t symbol_name(const Module *module, const SymbolTable *table, const Elf64_Sym *symbol);

/* Fills `file` and `file_bytes`. NULL, or why not. */
const char *map_file(Module *module, const char *path);

void read_identity(Module *module, const Elf64_Ehdr *header);
void read_dynamic(Opening *opening);
void choose_strings(Opening *opening);
void read_relocations(Opening *opening);
void read_functions(Opening *opening);
void read_frames(Opening *opening);
void guess_functions(Opening *opening);

#endif
