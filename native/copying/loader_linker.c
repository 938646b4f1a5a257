/* SPDX-License-Identifier: Apache-2.0 */
/* What the dynamic linker knows: its list of modules, and their symbols. */
#include "loader.h"

#include <elf.h>
#include <link.h>

#define PAGE(address) ((address) & ~UINT64_C(4095))

static const ElfW(Dyn) *dynamic_entry(const ElfW(Dyn) *dynamic, int64_t tag) {
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == tag) {
            return dynamic;
        }
    }
    return NULL;
}

/* Of an image in memory; *bias is where it is. NULL: it has none. */
static const ElfW(Dyn) *dynamic_of(const Elf64_Phdr *headers, uint64_t n, uint64_t first_page,
                                   uint64_t *bias) {
    const Elf64_Phdr *dynamic = NULL;
    bool is_known = false;
    for (uint64_t i = 0; i < n; i++) {
        if (headers[i].p_type == PT_PHDR) {
            *bias = (uint64_t)headers - headers[i].p_vaddr;
            is_known = true;
        } else if (headers[i].p_type == PT_LOAD && !headers[i].p_offset && !is_known) {
            *bias = first_page - headers[i].p_vaddr;
        } else if (headers[i].p_type == PT_DYNAMIC) {
            dynamic = &headers[i];
        }
    }
    return dynamic ? (const ElfW(Dyn) *)(*bias + dynamic->p_vaddr) : NULL;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) {
        hash = hash * 33 + (uint8_t)*name;
    }
    return hash;
}

/* Addresses in a dynamic section were made absolute by glibc, unless the section is read-only. */
static uint64_t absolute(const ElfW(Dyn) *entry, uint64_t bias) {
    return entry->d_un.d_ptr < bias ? entry->d_un.d_ptr + bias : entry->d_un.d_ptr;
}

static uint64_t symbol_of(const ElfW(Dyn) *dynamic, uint64_t bias, const char *name) {
    const ElfW(Dyn) *hash_entry = dynamic_entry(dynamic, DT_GNU_HASH);
    const ElfW(Dyn) *symbols_entry = dynamic_entry(dynamic, DT_SYMTAB);
    const ElfW(Dyn) *strings_entry = dynamic_entry(dynamic, DT_STRTAB);
    if (!hash_entry || !symbols_entry || !strings_entry) {
        return 0;
    }
    const uint32_t *table = (const uint32_t *)absolute(hash_entry, bias);
    const Elf64_Sym *symbols = (const Elf64_Sym *)absolute(symbols_entry, bias);
    const char *strings = (const char *)absolute(strings_entry, bias);
    const uint32_t *buckets = table + 4 + 2 * table[2], *chains = buckets + table[0];
    const uint32_t hash = gnu_hash(name);
    uint32_t i = table[0] ? buckets[hash % table[0]] : 0;
    if (i < table[1]) {
        return 0;
    }
    for (;; i++) {
        const uint32_t here = chains[i - table[1]];
        if ((here | 1) == (hash | 1) && text_equal(strings + symbols[i].st_name, name)) {
            return bias + symbols[i].st_value;
        }
        if (here & 1) {
            return 0;
        }
    }
}

/* What it keeps for debuggers, or NULL. */
struct r_debug *linker_debug(void) {
    uint64_t bias = 0;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)process.executable_headers;
    const ElfW(Dyn) *dynamic =
        dynamic_of(headers, process.n_executable_headers, PAGE((uint64_t)headers), &bias);
    const ElfW(Dyn) *entry = dynamic ? dynamic_entry(dynamic, DT_DEBUG) : NULL;
    if (entry && entry->d_un.d_ptr) {
        return (struct r_debug *)entry->d_un.d_ptr;
    }
    if (process.linker) { /* else the linker was called as a program */
        const Elf64_Ehdr *header = (const Elf64_Ehdr *)process.linker;
        headers = (const Elf64_Phdr *)(process.linker + header->e_phoff);
        dynamic = dynamic_of(headers, header->e_phnum, process.linker, &bias);
    }
    return dynamic ? (struct r_debug *)symbol_of(dynamic, bias, "_r_debug") : NULL;
}

/* Those that it needs come before those that it has. */
bool module_imports(const Loaded *module, const char *name) {
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)module->dynamic;
    const ElfW(Dyn) *hash = dynamic_entry(dynamic, DT_GNU_HASH);
    const ElfW(Dyn) *symbols_entry = dynamic_entry(dynamic, DT_SYMTAB);
    const ElfW(Dyn) *strings_entry = dynamic_entry(dynamic, DT_STRTAB);
    if (!hash || !symbols_entry || !strings_entry) {
        return false;
    }
    const Elf64_Sym *symbols = (const Elf64_Sym *)absolute(symbols_entry, module->bias);
    const char *strings = (const char *)absolute(strings_entry, module->bias);
    const uint32_t n = ((const uint32_t *)absolute(hash, module->bias))[1];
    for (uint32_t i = 1; i < n; i++) {
        if (text_equal(strings + symbols[i].st_name, name)) {
            return true;
        }
    }
    return false;
}
