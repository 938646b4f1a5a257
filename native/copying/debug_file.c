/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_file.h"

#include "debug_apart.h"

#define LONGEST_STRING 65536
#define MOST_PACKED 1100 /* deflate makes at most 1032 bytes of one */

static const char *const names[DEBUG_KINDS] = {
    ".debug_line", ".debug_line_str", ".debug_str", ".debug_info", ".debug_abbrev",
};
/* Packed as they were before ELF had a flag for it. */
static const char *const old_names[DEBUG_KINDS] = {
    ".zdebug_line", ".zdebug_line_str", ".zdebug_str", ".zdebug_info", ".zdebug_abbrev",
};

/* ---- sections of an ELF file ---- */

static const uint8_t *section_headers(const Module *file, Elf64_Ehdr *header) {
    if (!file->file) {
        return NULL;
    }
    memcpy(header, file->file, sizeof *header);
    if (header->e_shentsize != sizeof(Elf64_Shdr) || !header->e_shoff) {
        return NULL;
    }
    return file_bytes(file, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
}

static bool is_same(const char *text, const char *end, const char *name) {
    for (; text < end && *text == *name; text++, name++) {
        if (!*name) {
            return true;
        }
    }
    return false;
}

bool debug_find_section(const Module *file, const char *name, Elf64_Shdr *found) {
    Elf64_Ehdr header;
    Elf64_Shdr names_of;
    const uint8_t *all = section_headers(file, &header);
    if (!all || header.e_shstrndx >= header.e_shnum) {
        return false;
    }
    memcpy(&names_of, all + header.e_shstrndx * sizeof names_of, sizeof names_of);
    const char *text = (const char *)file_bytes(file, names_of.sh_offset, names_of.sh_size);
    for (unsigned i = 0; text && i < header.e_shnum; i++) {
        memcpy(found, all + i * sizeof *found, sizeof *found);
        if (found->sh_name < names_of.sh_size && found->sh_type != SHT_NOBITS
            && is_same(text + found->sh_name, text + names_of.sh_size, name)) {
            return true;
        }
    }
    return false;
}

/* Where the packed bytes are, and how many they will be; 0: they are not packed so. */
static uint64_t packed_part(Reader *section, bool is_old) {
    Elf64_Chdr header;
    if (is_old) {
        const uint8_t *magic = reader_bytes(section, 4);
        const uint64_t bytes = __builtin_bswap64(reader_number(section, 8));
        return !section->bad && !memcmp(magic, "ZLIB", 4) ? bytes : 0;
    }
    const uint8_t *content = reader_bytes(section, sizeof header);
    if (!content) {
        return 0;
    }
    memcpy(&header, content, sizeof header);
    return header.ch_type == ELFCOMPRESS_ZLIB ? header.ch_size : 0;
}

static void unpack(DebugFile *debug, DebugKind kind, Reader packed, bool is_old) {
    const uint64_t n = packed_part(&packed, is_old);
    if (!n || n / MOST_PACKED > reader_left(&packed) || !debug->unpack) {
        return;
    }
    debug->unpacked[kind] = pages_take(n);
    if (debug->unpacked[kind]) {
        debug->sections[kind] = reader_of(debug->unpacked[kind], n, 0);
        if (!debug->unpack(packed.at, reader_left(&packed), debug->unpacked[kind], n)) {
            debug->sections[kind].at = debug->sections[kind].end;
        }
    }
}

Reader debug_section(DebugFile *debug, DebugKind kind) {
    Elf64_Shdr header;
    if (!debug->is_known[kind]) {
        debug->is_known[kind] = true;
        const bool is_new = debug_find_section(&debug->file, names[kind], &header);
        const bool is_old =
            !is_new && debug_find_section(&debug->file, old_names[kind], &header);
        if (is_new || is_old) {
            const uint8_t *content = file_bytes(&debug->file, header.sh_offset, header.sh_size);
            const Reader whole = reader_of(content, content ? header.sh_size : 0, 0);
            if (is_old || header.sh_flags & SHF_COMPRESSED) {
                unpack(debug, kind, whole, is_old);
            } else {
                debug->sections[kind] = whole;
            }
        }
    }
    return debug->sections[kind];
}

/* ---- strings ---- */

const char *reader_string(Reader *reader) {
    const uint8_t *text = reader->at;
    const uint8_t *end = reader_left(reader) < LONGEST_STRING ? reader->end : text + LONGEST_STRING;
    for (const uint8_t *at = text; at < end; at++) {
        if (!*at) {
            reader->at = at + 1;
            return (const char *)text;
        }
    }
    reader->at = reader->end;
    reader->bad = true;
    return "";
}

const char *debug_string(DebugFile *debug, DebugKind kind, uint64_t offset) {
    Reader section = debug_section(debug, kind);
    return reader_bytes(&section, offset) ? reader_string(&section) : "";
}

/* ---- all of it ---- */

static bool has_lines(const DebugFile *debug) {
    Elf64_Shdr header;
    return debug_find_section(&debug->file, names[DEBUG_LINE], &header)
           || debug_find_section(&debug->file, old_names[DEBUG_LINE], &header);
}

bool debug_file_begin(DebugFile *debug, const Module *module, Unpack unpack) {
    *debug = (DebugFile){
        .unpack = unpack,
        .file = {.file = module->file, .file_bytes = module->file_bytes},
    };
    for (int place = 0; !has_lines(debug); place++) {
        debug_file_end(debug);
        *debug = (DebugFile){.unpack = unpack};
        if (place == APART_PLACES) {
            return false;
        }
        debug->is_apart = debug_open_apart(&debug->file, module, (ApartPlace)place);
    }
    return true;
}

void debug_file_end(DebugFile *debug) {
    for (int i = 0; i < DEBUG_KINDS; i++) {
        if (debug->unpacked[i]) {
            pages_give(debug->unpacked[i], (size_t)(debug->sections[i].end - debug->unpacked[i]));
        }
    }
    if (debug->is_apart) {
        pages_give((void *)debug->file.file, debug->file.file_bytes);
    }
}
