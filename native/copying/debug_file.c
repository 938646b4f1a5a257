/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_file.h"

#include "identity.h"
#include "inflate.h"
#include "module_parts.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id/"
#define DEBUG_ENDING ".debug"
#define MOST_ID_BYTES 64
#define LONGEST_STRING 65536
#define MOST_PACKED 1100 /* deflate makes at most 1032 bytes of one */

static const char *const names[DEBUG_KINDS] = {"line", "line_str", "str", "info", "abbrev"};

/* ---- sections of an ELF file ---- */

static const uint8_t *section_headers(const Module *file, Elf64_Ehdr *header) {
    memcpy(header, file->file, sizeof *header);
    if (header->e_shentsize != sizeof(Elf64_Shdr) || !header->e_shoff) {
        return NULL;
    }
    return file_bytes(file, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
}

/* What follows a beginning, or NULL. */
static const char *after(const char *text, const char *end, const char *beginning) {
    for (; *beginning; text++, beginning++) {
        if (text >= end || *text != *beginning) {
            return NULL;
        }
    }
    return text;
}

static bool has_name(const char *text, const char *end, DebugKind kind, bool *is_old) {
    const char *rest = after(text, end, ".debug_");
    *is_old = !rest;
    rest = rest ? rest : after(text, end, ".zdebug_");
    rest = rest ? after(rest, end, names[kind]) : NULL;
    return rest && rest < end && !*rest;
}

/* The header of a section; `is_old`: packed as it was before ELF had a flag for it. */
static bool find_section(const Module *file, DebugKind kind, Elf64_Shdr *found, bool *is_old) {
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
            && has_name(text + found->sh_name, text + names_of.sh_size, kind, is_old)) {
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
    if (!n || n / MOST_PACKED > reader_left(&packed)) {
        return;
    }
    debug->unpacked[kind] = pages_take(n);
    if (debug->unpacked[kind]) {
        debug->sections[kind] = reader_of(debug->unpacked[kind], n, 0);
        if (!inflate_zlib(packed.at, reader_left(&packed), debug->unpacked[kind], n)) {
            debug->sections[kind].at = debug->sections[kind].end;
        }
    }
}

Reader debug_section(DebugFile *debug, DebugKind kind) {
    Elf64_Shdr header;
    bool is_old;
    if (!debug->is_known[kind]) {
        debug->is_known[kind] = true;
        if (find_section(&debug->file, kind, &header, &is_old)) {
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

/* ---- files apart ---- */

static const uint8_t *find_build_id(const Module *module, uint64_t *n) {
    Elf64_Ehdr header;
    memcpy(&header, module->file, sizeof header);
    const uint8_t *headers =
        file_bytes(module, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    for (unsigned i = 0; headers && i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, headers + i * sizeof segment, sizeof segment);
        const uint8_t *notes = file_bytes(module, segment.p_offset, segment.p_filesz);
        const uint8_t *id = segment.p_type == PT_NOTE && notes
                              ? identity_find_note(notes, segment.p_filesz, segment.p_align, n)
                              : NULL;
        if (id) {
            return id;
        }
    }
    return NULL;
}

static char *put_text(char *to, const char *text) {
    while (*text) {
        *to++ = *text++;
    }
    return to;
}

static bool open_apart(DebugFile *debug, const Module *module) {
    static const char digits[] = "0123456789abcdef";
    char path[sizeof DEBUG_FOLDER + 2 * MOST_ID_BYTES + 1 + sizeof DEBUG_ENDING];
    uint64_t n;
    const uint8_t *id = find_build_id(module, &n);
    if (!id || n > MOST_ID_BYTES) {
        return false;
    }
    char *end = put_text(path, DEBUG_FOLDER);
    for (uint64_t i = 0; i < n; i++) {
        *end++ = digits[id[i] >> 4];
        *end++ = digits[id[i] & 15];
        end = put_text(end, i ? "" : "/");
    }
    end = put_text(end, DEBUG_ENDING);
    *end = 0;
    debug->file = (Module){0};
    debug->is_apart = true;
    return !map_file(&debug->file, path);
}

static bool has_lines(const DebugFile *debug) {
    Elf64_Shdr header;
    bool is_old;
    return find_section(&debug->file, DEBUG_LINE, &header, &is_old);
}

bool debug_file_begin(DebugFile *debug, const Module *module) {
    *debug = (DebugFile){.file = {.file = module->file, .file_bytes = module->file_bytes}};
    return has_lines(debug) || (open_apart(debug, module) && has_lines(debug));
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
