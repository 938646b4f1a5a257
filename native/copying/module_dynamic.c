/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic section of a module: its symbols, and what relocation puts where. */
#include "module_parts.h"

#ifndef DT_RELR /* glibc < 2.36 */
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

/* ---- the dynamic section ---- */

static void read_entry(Opening *opening, uint64_t tag, uint64_t value) {
    Module *module = opening->module;
    switch (tag) {
    case DT_RELA: opening->rela.address = value; break;
    case DT_RELASZ: opening->rela.bytes = value; break;
    case DT_JMPREL: opening->jmprel.address = value; break;
    case DT_PLTRELSZ: opening->jmprel.bytes = value; break;
    case DT_RELR: opening->relr.address = value; break;
    case DT_RELRSZ: opening->relr.bytes = value; break;
    case DT_SYMTAB: opening->symbols_at = value; break;
    case DT_STRTAB: opening->strings_at.address = value; break;
    case DT_STRSZ: opening->strings_at.bytes = value; break;
    case DT_HASH: opening->hash = value; break;
    case DT_GNU_HASH: opening->gnu_hash = value; break;
    case DT_INIT: opening->init = value; break;
    case DT_FINI: opening->fini = value; break;
    case DT_PREINIT_ARRAY: opening->arrays[0].address = value; break;
    case DT_PREINIT_ARRAYSZ: opening->arrays[0].bytes = value; break;
    case DT_INIT_ARRAY: opening->arrays[1].address = value; break;
    case DT_INIT_ARRAYSZ: opening->arrays[1].bytes = value; break;
    case DT_FINI_ARRAY: opening->arrays[2].address = value; break;
    case DT_FINI_ARRAYSZ: opening->arrays[2].bytes = value; break;
    case DT_TEXTREL: module->has_text_relocations = true; break;
    case DT_FLAGS: module->has_text_relocations |= (value & DF_TEXTREL) != 0; break;
    case DT_FLAGS_1: opening->is_pie |= (value & DF_1_PIE) != 0; break;
    }
}

/* How many symbols a DT_GNU_HASH table knows: those before `first` are not defined here. */
static size_t count_by_gnu_hash(const Module *module, uint64_t at) {
    uint32_t header[4], highest = 0, link;
    size_t n;
    const uint8_t *bytes = module_rest(module, at, &n);
    if (!bytes || n < sizeof header) {
        return 0;
    }
    memcpy(header, bytes, sizeof header);
    const uint64_t buckets = sizeof header + 8 * (uint64_t)header[2];
    const uint64_t chains = buckets + 4 * (uint64_t)header[0];
    if (chains > n) {
        return 0;
    }
    for (uint64_t i = 0; i < header[0]; i++) {
        memcpy(&link, bytes + buckets + 4 * i, sizeof link);
        highest = link > highest ? link : highest;
    }
    if (highest < header[1]) {
        return header[1];
    }
    for (uint64_t i = highest - header[1]; (i + 1) * 4 <= n - chains; i++) {
        memcpy(&link, bytes + chains + 4 * i, sizeof link);
        if (link & 1) {
            return header[1] + i + 1;
        }
    }
    return 0;
}

static size_t count_by_hash(const Module *module, uint64_t at) {
    uint32_t header[2];
    const uint8_t *bytes = module_bytes(module, at, sizeof header);
    if (!bytes) {
        return 0;
    }
    memcpy(header, bytes, sizeof header);
    return header[1];
}

static void find_dynamic_symbols(Opening *opening) {
    const Module *module = opening->module;
    SymbolTable *table = &opening->dynamic_symbols;
    size_t rest = 0;
    table->symbols = module_rest(module, opening->symbols_at, &rest);
    const uint8_t *text =
        module_bytes(module, opening->strings_at.address, opening->strings_at.bytes);
    if (!table->symbols) {
        return;
    }
    size_t n = opening->gnu_hash ? count_by_gnu_hash(module, opening->gnu_hash) : 0;
    const size_t other = opening->hash ? count_by_hash(module, opening->hash) : 0;
    n = other > n ? other : n;
    const size_t most = rest / sizeof(Elf64_Sym);
    table->n = n < most ? n : most;
    if (text && opening->strings_at.bytes && !text[opening->strings_at.bytes - 1]) {
        table->strings = (const char *)text;
        table->string_bytes = opening->strings_at.bytes;
    }
}

void read_dynamic(Opening *opening) {
    size_t rest = 0;
    const uint8_t *bytes = module_rest(opening->module, opening->dynamic.address, &rest);
    const uint64_t n = bytes && rest > opening->dynamic.bytes ? opening->dynamic.bytes : rest;
    for (uint64_t at = 0; bytes && at + sizeof(Elf64_Dyn) <= n; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, bytes + at, sizeof entry);
        if (entry.d_tag == DT_NULL) {
            break;
        }
        read_entry(opening, (uint64_t)entry.d_tag, entry.d_un.d_val);
    }
    find_dynamic_symbols(opening);
}

/* ---- names ---- */

/* Names are where they are in the file: the string table that comes first is the one that all
   offsets count from, if it begins with "" as it should. */
void choose_strings(Opening *opening) {
    const char *dynamic = opening->dynamic_symbols.strings;
    const char *all = opening->all_symbols.strings;
    const char *first = !all || (dynamic && dynamic < all) ? dynamic : all;
    if (first && !*first) {
        opening->module->strings = first;
    } else {
        opening->dynamic_symbols.strings = opening->all_symbols.strings = NULL;
    }
}

uint32_t symbol_name(const Module *module, const SymbolTable *table, const Elf64_Sym *symbol) {
    if (!table->strings || symbol->st_name >= table->string_bytes
        || !table->strings[symbol->st_name]) {
        return 0;
    }
    const uint64_t offset = (uint64_t)(table->strings - module->strings) + symbol->st_name;
    return offset <= UINT32_MAX ? (uint32_t)offset : 0;
}

/* ---- relocations ---- */

static void add_pointer(Opening *opening, uint64_t address) {
    if (module_is_code(opening->module, address)) {
        numbers_add(owned_array(opening, OWNED_POINTERS), address);
    }
}

static void add_relocated(Opening *opening, uint64_t place, uint64_t value) {
    Range *added = array_add(owned_array(opening, OWNED_RELOCATED), 1);
    if (added) {
        *added = (Range){place, value};
    }
    add_pointer(opening, value);
}

static bool find_symbol(const Opening *opening, uint64_t index, Elf64_Sym *symbol) {
    const uint8_t *bytes = module_bytes(
        opening->module, opening->symbols_at + index * sizeof *symbol, sizeof *symbol);
    if (!bytes || !opening->symbols_at || !index) {
        return false;
    }
    memcpy(symbol, bytes, sizeof *symbol);
    return true;
}

static void add_import(Opening *opening, uint64_t slot, const Elf64_Sym *symbol) {
    const uint32_t name = symbol_name(opening->module, &opening->dynamic_symbols, symbol);
    Import *added = name ? array_add(owned_array(opening, OWNED_IMPORTS), 1) : NULL;
    if (added) {
        *added = (Import){.slot = slot, .name = name};
    }
}

static void read_relocation(Opening *opening, const Elf64_Rela *relocation) {
    const uint64_t place = relocation->r_offset;
    Elf64_Sym symbol;
    uint64_t lazy;
    switch (ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_RELATIVE:
        add_relocated(opening, place, (uint64_t)relocation->r_addend);
        break;
    case R_X86_64_IRELATIVE:
        add_pointer(opening, (uint64_t)relocation->r_addend);
        break;
    case R_X86_64_64:
        if (find_symbol(opening, ELF64_R_SYM(relocation->r_info), &symbol)) {
            if (symbol.st_shndx == SHN_UNDEF) {
                add_import(opening, place, &symbol);
            } else if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS) {
                add_relocated(opening, place, symbol.st_value + (uint64_t)relocation->r_addend);
            }
        }
        break;
    case R_X86_64_JUMP_SLOT:
        /* Until the first call the slot leads to the second instruction of its stub. */
        if (module_word(opening->module, place, &lazy)) {
            add_pointer(opening, lazy);
        }
        /* fall through */
    case R_X86_64_GLOB_DAT:
        if (find_symbol(opening, ELF64_R_SYM(relocation->r_info), &symbol)) {
            add_import(opening, place, &symbol);
        }
        break;
    }
}

static void read_rela(Opening *opening, Extent table) {
    size_t rest = 0;
    const uint8_t *bytes = module_rest(opening->module, table.address, &rest);
    const uint64_t n = bytes && table.bytes < rest ? table.bytes : rest;
    for (uint64_t at = 0; bytes && at + sizeof(Elf64_Rela) <= n; at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        memcpy(&relocation, bytes + at, sizeof relocation);
        read_relocation(opening, &relocation);
    }
}

static void add_packed(Opening *opening, uint64_t place) {
    const uint8_t *bytes = module_bytes(opening->module, place, 8);
    if (bytes) {
        uint64_t value;
        memcpy(&value, bytes, sizeof value);
        add_relocated(opening, place, value);
    }
}

/* An even word is a place; an odd one has a bit for each of the 63 words that follow the last. */
static void read_relr(Opening *opening) {
    size_t rest = 0;
    const uint8_t *bytes = module_rest(opening->module, opening->relr.address, &rest);
    const uint64_t n = bytes && opening->relr.bytes < rest ? opening->relr.bytes : rest;
    uint64_t next = 0;
    for (uint64_t at = 0; bytes && at + 8 <= n; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (!(word & 1)) {
            add_packed(opening, word);
            next = word + 8;
            continue;
        }
        for (uint64_t bits = word >> 1, place = next; bits; bits >>= 1, place += 8) {
            if (bits & 1) {
                add_packed(opening, place);
            }
        }
        next += 63 * 8;
    }
}

/* A program at a fixed address has no relocations that tell where its data point to code: any
   aligned word that could be such a pointer is taken for one. */
static void scan_words(Opening *opening) {
    const Module *module = opening->module;
    const uint64_t lowest = module->n_code ? module->code[0].start : 0;
    const uint64_t highest = module->n_code ? module->code[module->n_code - 1].end : 0;
    for (size_t i = 0; i < module->n_segments; i++) {
        const Segment *segment = &module->segments[i];
        for (uint64_t at = -segment->address & 7; at + 8 <= segment->known; at += 8) {
            uint64_t word;
            memcpy(&word, segment->content + at, sizeof word);
            if (word >= lowest && word < highest
                && !module_is_code(module, segment->address + at)) {
                add_pointer(opening, word);
            }
        }
    }
}

static size_t unique_records(uint64_t *items, size_t n, size_t words) {
    size_t kept = n ? 1 : 0;
    sort_records(items, n, words);
    for (size_t i = 1; i < n; i++) {
        if (items[i * words] != items[(kept - 1) * words]) {
            for (size_t k = 0; k < words; k++) {
                items[kept * words + k] = items[i * words + k];
            }
            kept++;
        }
    }
    return kept;
}

void read_relocations(Opening *opening) {
    Module *module = opening->module;
    Array *relocated = owned_array(opening, OWNED_RELOCATED);
    Array *imports = owned_array(opening, OWNED_IMPORTS);
    Array *pointers = owned_array(opening, OWNED_POINTERS);
    read_relr(opening);
    read_rela(opening, opening->rela);
    read_rela(opening, opening->jmprel);
    if (opening->header.e_type == ET_EXEC) {
        scan_words(opening);
    }
    module->relocated = (Range *)relocated->items;
    module->n_relocated =
        unique_records((uint64_t *)relocated->items, relocated->n, sizeof(Range) / 8);
    module->imports = (Import *)imports->items;
    module->n_imports = unique_records((uint64_t *)imports->items, imports->n, sizeof(Import) / 8);
    module->pointers = (uint64_t *)pointers->items;
    module->n_pointers = sort_unique_u64(module->pointers, pointers->n);
}
