/* SPDX-License-Identifier: Apache-2.0 */
#include "identity.h"
#include "module_parts.h"

#define FIRST_FACTOR UINT64_C(0x9E3779B97F4A7C15)
#define SECOND_FACTOR UINT64_C(0xC2B2AE3D27D4EB4F)

#define LEAST_ID_BYTES 8

typedef struct {
    uint64_t first, second;
} Hash;

static void mix(Hash *hash, uint64_t word) {
    hash->first = (hash->first ^ word) * FIRST_FACTOR;
    hash->first ^= hash->first >> 32;
    hash->second = (hash->second + word) * SECOND_FACTOR;
    hash->second ^= hash->second >> 29;
}

static void mix_bytes(Hash *hash, const uint8_t *bytes, size_t n) {
    uint64_t word;
    mix(hash, n);
    for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, n);
    mix(hash, word);
}

static void finish(Hash hash, uint64_t out[2]) {
    mix(&hash, 0);
    out[0] = hash.first;
    out[1] = hash.second;
}

void identity_of_note(const uint8_t *id, size_t n, uint64_t file_bytes, uint64_t out[2]) {
    Hash hash = {FIRST_FACTOR, SECOND_FACTOR};
    mix(&hash, file_bytes);
    mix_bytes(&hash, id, n);
    finish(hash, out);
}

void identity_of_content(const uint8_t *file, size_t n, uint64_t out[2]) {
    Hash hash = {SECOND_FACTOR, FIRST_FACTOR};
    mix_bytes(&hash, file, n);
    finish(hash, out);
}

const uint8_t *identity_find_note(const uint8_t *notes, uint64_t bytes, uint64_t align,
                                  uint64_t *id_bytes) {
    const uint64_t mask = align == 8 ? 7 : 3;
    while (bytes >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes, sizeof note);
        const uint64_t content = (sizeof note + note.n_namesz + mask) & ~mask;
        const uint64_t end = (content + note.n_descsz + mask) & ~mask;
        if (content + note.n_descsz > bytes) {
            return NULL;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4
            && !memcmp(notes + sizeof note, "GNU", 4) && note.n_descsz >= LEAST_ID_BYTES) {
            *id_bytes = note.n_descsz;
            return notes + content;
        }
        if (end >= bytes) {
            return NULL;
        }
        notes += end;
        bytes -= end;
    }
    return NULL;
}

void read_identity(Module *module, const Elf64_Ehdr *header) {
    const uint64_t n = header->e_phnum * sizeof(Elf64_Phdr);
    const uint8_t *headers = file_bytes(module, header->e_phoff, n);
    for (uint64_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, headers + i * sizeof segment, sizeof segment);
        const uint8_t *notes = file_bytes(module, segment.p_offset, segment.p_filesz);
        if (segment.p_type == PT_NOTE && notes) {
            uint64_t id_bytes;
            const uint8_t *id =
                identity_find_note(notes, segment.p_filesz, segment.p_align, &id_bytes);
            if (id) {
                identity_of_note(id, id_bytes, module->file_bytes, module->identity);
                return;
            }
        }
    }
    identity_of_content(module->file, module->file_bytes, module->identity);
}
