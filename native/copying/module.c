/* SPDX-License-Identifier: Apache-2.0 */
#include "module_parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "system.h"

/* ---- segments ---- */

static const char *add_segment(Opening *opening, const Elf64_Phdr *header) {
    Module *module = opening->module;
    const uint8_t *content = file_bytes(module, header->p_offset, header->p_filesz);
    uint64_t end;
    if (!content) {
        return "the file is cut short";
    }
    if (header->p_filesz > header->p_memsz
        || __builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) || end >> 47) {
        return "its program headers are damaged";
    }
    if (!header->p_memsz) {
        return NULL;
    }
    Segment *segment = array_add(owned_array(opening, OWNED_SEGMENTS), 1);
    if (segment) {
        *segment = (Segment){
            .address = header->p_vaddr,
            .bytes = header->p_memsz,
            .known = header->p_filesz,
            .content = content,
            .executable = header->p_flags & PF_X,
            .writable = header->p_flags & PF_W,
        };
    }
    return NULL;
}

static const char *finish_segments(Opening *opening) {
    Module *module = opening->module;
    Array *array = owned_array(opening, OWNED_SEGMENTS);
    sort_records(array->items, array->n, sizeof(Segment) / 8);
    module->segments = (Segment *)array->items;
    module->n_segments = array->n;
    if (!array->n) {
        return array->failed ? "memory ran out" : "it has nothing to load";
    }
    for (size_t i = 1; i < array->n; i++) {
        const Segment *before = &module->segments[i - 1];
        if (before->address + before->bytes > module->segments[i].address) {
            return "its segments overlap";
        }
    }
    const Segment *last = &module->segments[array->n - 1];
    module->lowest = module->segments[0].address & ~UINT64_C(4095);
    module->highest = (last->address + last->bytes + 4095) & ~UINT64_C(4095);
    return NULL;
}

static const char *read_program_headers(Opening *opening) {
    const Elf64_Ehdr *header = &opening->header;
    const uint64_t n = header->e_phnum;
    const uint8_t *at = file_bytes(opening->module, header->e_phoff, n * sizeof(Elf64_Phdr));
    if (header->e_phentsize != sizeof(Elf64_Phdr) || !at) {
        return "its program headers are damaged";
    }
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Phdr one;
        memcpy(&one, at + i * sizeof one, sizeof one);
        const char *why = NULL;
        switch (one.p_type) {
        case PT_LOAD:
            why = add_segment(opening, &one);
            break;
        case PT_DYNAMIC:
            opening->dynamic = (Extent){one.p_vaddr, one.p_filesz};
            break;
        case PT_INTERP:
            opening->has_interpreter = true;
            break;
        case PT_GNU_EH_FRAME:
            opening->eh_frame_hdr = one.p_vaddr;
            break;
        }
        if (why) {
            return why;
        }
    }
    return finish_segments(opening);
}

/* ---- sections ---- */

static void find_sections(Opening *opening) {
    const Elf64_Ehdr *header = &opening->header;
    const uint8_t *first = file_bytes(opening->module, header->e_shoff, sizeof(Elf64_Shdr));
    Elf64_Shdr zeroth, names;
    if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr) || !first) {
        return;
    }
    memcpy(&zeroth, first, sizeof zeroth);
    const uint64_t n = header->e_shnum ? header->e_shnum : zeroth.sh_size;
    const uint64_t name_section =
        header->e_shstrndx == SHN_XINDEX ? zeroth.sh_link : header->e_shstrndx;
    if (n > opening->module->file_bytes / sizeof(Elf64_Shdr) || name_section >= n
        || !file_bytes(opening->module, header->e_shoff, n * sizeof(Elf64_Shdr))) {
        return;
    }
    memcpy(&names, first + name_section * sizeof names, sizeof names);
    const uint8_t *text = file_bytes(opening->module, names.sh_offset, names.sh_size);
    if (!text || !names.sh_size || text[names.sh_size - 1]) {
        return;
    }
    opening->sections = first;
    opening->n_sections = n;
    opening->section_names = (const char *)text;
    opening->section_name_bytes = names.sh_size;
}

static bool begins(const char *text, const char *with) {
    for (; *with; text++, with++) {
        if (*text != *with) {
            return false;
        }
    }
    return true;
}

static bool is_same(const char *a, const char *b) {
    return begins(a, b) && begins(b, a);
}

static void add_range(Opening *opening, Owned which, Range range) {
    Range *added = array_add(owned_array(opening, which), 1);
    if (added) {
        *added = range;
    }
}

static void read_symbol_table(Opening *opening, const Elf64_Shdr *section) {
    const Module *module = opening->module;
    SymbolTable *table = &opening->all_symbols;
    Elf64_Shdr strings;
    const uint8_t *symbols = file_bytes(module, section->sh_offset, section->sh_size);
    if (!symbols || section->sh_entsize != sizeof(Elf64_Sym)
        || section->sh_link >= opening->n_sections) {
        return;
    }
    table->symbols = symbols;
    table->n = section->sh_size / sizeof(Elf64_Sym);
    memcpy(&strings, opening->sections + section->sh_link * sizeof strings, sizeof strings);
    const uint8_t *text = file_bytes(module, strings.sh_offset, strings.sh_size);
    if (text && strings.sh_size && !text[strings.sh_size - 1]) {
        table->strings = (const char *)text;
        table->string_bytes = strings.sh_size;
    }
}

static void read_section(Opening *opening, const Elf64_Shdr *section) {
    const Module *module = opening->module;
    if (section->sh_type == SHT_SYMTAB) {
        read_symbol_table(opening, section);
        return;
    }
    const Segment *segment = module_segment_at(module, section->sh_addr);
    if (!(section->sh_flags & SHF_ALLOC) || section->sh_type == SHT_NOBITS || !section->sh_size
        || !module_bytes(module, section->sh_addr, section->sh_size)) {
        return;
    }
    const char *name = section->sh_name < opening->section_name_bytes
                         ? opening->section_names + section->sh_name
                         : "";
    const Range range = {section->sh_addr, section->sh_addr + section->sh_size};
    if (section->sh_flags & SHF_EXECINSTR && segment->executable) {
        add_range(opening, OWNED_CODE, range);
        if (begins(name, ".plt") || begins(name, ".iplt")) {
            add_range(opening, OWNED_STUBS, range);
        }
    } else if (is_same(name, ".eh_frame")) {
        opening->eh_frame = range;
    } else if (is_same(name, "__rseq_cs")) {
        opening->rseq = range;
    }
}

/* Sort ranges and join those that overlap. */
static size_t join_ranges(Range *ranges, size_t n) {
    size_t kept = n ? 1 : 0;
    sort_records(ranges, n, sizeof(Range) / 8);
    for (size_t i = 1; i < n; i++) {
        Range *last = &ranges[kept - 1];
        if (ranges[i].start >= last->end) {
            ranges[kept++] = ranges[i];
        } else if (ranges[i].end > last->end) {
            last->end = ranges[i].end;
        }
    }
    return kept;
}

static void read_sections(Opening *opening) {
    Module *module = opening->module;
    Array *code = owned_array(opening, OWNED_CODE), *stubs = owned_array(opening, OWNED_STUBS);
    find_sections(opening);
    for (size_t i = 0; i < opening->n_sections; i++) {
        Elf64_Shdr section;
        memcpy(&section, opening->sections + i * sizeof section, sizeof section);
        read_section(opening, &section);
    }
    opening->has_sections_of_code = code->n;
    for (size_t i = 0; !opening->has_sections_of_code && i < module->n_segments; i++) {
        const Segment *segment = &module->segments[i];
        if (segment->executable && segment->known) {
            add_range(opening, OWNED_CODE,
                      (Range){segment->address, segment->address + segment->known});
        }
    }
    module->code = (Range *)code->items;
    module->n_code = join_ranges(module->code, code->n);
    module->stubs = (Range *)stubs->items;
    module->n_stubs = join_ranges(module->stubs, stubs->n);
}

/* ---- opening ---- */

const char *map_file(Module *module, const char *path) {
    struct stat status;
    const int64_t fd = system_call(SYS_open, (uint64_t)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    if (system_refused(fd)) {
        return NOT_OPENED;
    }
    const char *why = NULL;
    if (system_refused(system_call(SYS_fstat, (uint64_t)fd, (uint64_t)&status, 0, 0, 0, 0))
        || !S_ISREG(status.st_mode)) {
        why = "it is not a file";
    } else if (status.st_size < (int64_t)sizeof(Elf64_Ehdr)) {
        why = "it is not an ELF file";
    } else {
        const int64_t at = system_call(SYS_mmap, 0, (uint64_t)status.st_size, PROT_READ,
                                       MAP_PRIVATE, (uint64_t)fd, 0);
        if (system_refused(at)) {
            why = "it cannot be mapped";
        } else {
            module->file = (const uint8_t *)at;
            module->file_bytes = (size_t)status.st_size;
        }
    }
    system_call(SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
    return why;
}

static const char *read_header(Opening *opening) {
    Elf64_Ehdr *header = &opening->header;
    memcpy(header, opening->module->file, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG)) {
        return "it is not an ELF file";
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB
        || header->e_machine != EM_X86_64) {
        return "it is not for x86-64";
    }
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
        return "it is neither a program nor a shared library";
    }
    return NULL;
}

static bool ran_out(const Module *module) {
    for (size_t i = 0; i < OWNED_COUNT; i++) {
        if (module->owned[i].failed) {
            return true;
        }
    }
    return false;
}

static const char *read_all(Opening *opening) {
    Module *module = opening->module;
    const char *why = read_header(opening);
    if (!why) {
        why = read_program_headers(opening);
    }
    if (why) {
        return why;
    }
    read_identity(module, &opening->header);
    read_sections(opening);
    read_dynamic(opening);
    module->is_static = !opening->has_interpreter
                     && (opening->header.e_type == ET_EXEC || opening->is_pie);
    choose_strings(opening);
    read_relocations(opening);
    read_functions(opening);
    read_frames(opening);
    return ran_out(module) ? "memory ran out" : NULL;
}

const char *module_open(Module *module, const char *path) {
    static const size_t SIZES[OWNED_COUNT] = {
        sizeof(Segment),  sizeof(Range),    sizeof(Range), sizeof(Function), sizeof(uint64_t),
        sizeof(uint64_t), sizeof(Range), sizeof(Import),   sizeof(Fde),
        sizeof(Range),
    };
    Opening opening = {.module = module};
    *module = (Module){.path = path, .strings = ""};
    for (size_t i = 0; i < OWNED_COUNT; i++) {
        array_begin(&module->owned[i], SIZES[i]);
    }
    const char *why = map_file(module, path);
    if (!why) {
        why = read_all(&opening);
    }
    if (why) {
        module_close(module);
    }
    return why;
}

void module_close(Module *module) {
    for (size_t i = 0; i < OWNED_COUNT; i++) {
        array_end(&module->owned[i]);
    }
    pages_give((void *)module->file, module->file_bytes);
    *module = (Module){.strings = ""};
}
