/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_apart.h"

#include "identity.h"
#include "text.h"

#define SYSTEM_FOLDER "/usr/lib/debug"
#define MOST_ID_BYTES 64
#define LONGEST_PATH 4096
#define CRC_POLYNOMIAL UINT32_C(0xEDB88320)

typedef struct {
    char text[LONGEST_PATH];
    size_t n;
    bool is_too_long;
} Path;

static void put(Path *path, const char *text, size_t n) {
    if (n >= sizeof path->text - path->n) {
        path->is_too_long = true;
        return;
    }
    memcpy(path->text + path->n, text, n);
    path->n += n;
    path->text[path->n] = 0;
}

static void put_text(Path *path, const char *text) {
    put(path, text, text_length(text));
}

/* ---- by the build id ---- */

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

static bool open_by_build_id(Module *file, const Module *module) {
    static const char digits[] = "0123456789abcdef";
    Path path = {.n = 0};
    uint64_t n;
    const uint8_t *id = find_build_id(module, &n);
    if (!id || n > MOST_ID_BYTES) {
        return false;
    }
    put_text(&path, SYSTEM_FOLDER "/.build-id/");
    for (uint64_t i = 0; i < n; i++) {
        put(&path, &digits[id[i] >> 4], 1);
        put(&path, &digits[id[i] & 15], 1);
        put_text(&path, i ? "" : "/");
    }
    put_text(&path, ".debug");
    return !map_file(file, path.text);
}

/* ---- by name and checksum ---- */

static uint32_t checksum(const uint8_t *bytes, size_t n) {
    uint32_t of_bytes[256], sum = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        of_bytes[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            of_bytes[i] = of_bytes[i] >> 1 ^ (of_bytes[i] & 1 ? CRC_POLYNOMIAL : 0);
        }
    }
    for (size_t i = 0; i < n; i++) {
        sum = sum >> 8 ^ of_bytes[(sum ^ bytes[i]) & 255];
    }
    return ~sum;
}

static bool open_by_link(Module *file, const Module *module, ApartPlace place) {
    Elf64_Shdr section;
    const uint8_t *content = debug_find_section(module, ".gnu_debuglink", &section)
                               ? file_bytes(module, section.sh_offset, section.sh_size)
                               : NULL;
    Reader link = reader_of(content, content ? section.sh_size : 0, 0);
    const char *name = reader_string(&link);
    if (link.bad || !*name || reader_left(&link) < 4) {
        return false;
    }
    link.at = link.end - 4;
    const uint32_t stated = (uint32_t)reader_number(&link, 4);
    Path path = {.n = 0};
    size_t folder = text_length(module->path);
    while (folder && module->path[folder - 1] != '/') {
        folder--;
    }
    put_text(&path, place == APART_IN_SYSTEM ? SYSTEM_FOLDER : "");
    put(&path, module->path, folder);
    put_text(&path, place == APART_IN_OWN_FOLDER ? ".debug/" : "");
    put_text(&path, name);
    if (path.is_too_long || map_file(file, path.text)) {
        return false;
    }
    if (checksum(file->file, file->file_bytes) == stated) {
        return true;
    }
    pages_give((void *)file->file, file->file_bytes);
    *file = (Module){0};
    return false;
}

bool debug_open_apart(Module *file, const Module *module, ApartPlace place) {
    return place == APART_BY_BUILD_ID ? open_by_build_id(file, module)
                                      : open_by_link(file, module, place);
}
