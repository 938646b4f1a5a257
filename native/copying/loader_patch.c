/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a module's code to its copy.
 *
 * Everything is checked before the first byte of the module is changed, and what cannot be changed
 * back into code is mapped anew from the module's file. */
#include "loader_copy.h"

#include <stddef.h>

uint64_t linker_break;

/* ---- checks ---- */

static const CodeSegment *segment_of(const CodeSegment *segments, size_t n, uint64_t address) {
    for (size_t i = 0; i < n; i++) {
        if (address >= segments[i].address && address - segments[i].address < segments[i].bytes) {
            return &segments[i];
        }
    }
    return NULL;
}

static size_t patched_bytes(const Anchor *anchor) {
    return anchor->to == UINT32_MAX ? 2 : 5;
}

/* There may be half a million of them. */
static inline bool is_expected(const uint8_t *code, const uint8_t *expected, size_t bytes) {
    uint32_t there, wanted;
    if (bytes != 5) {
        return !memcmp(code, expected, bytes);
    }
    memcpy(&there, code, 4);
    memcpy(&wanted, expected, 4);
    return there == wanted && code[4] == expected[4];
}

static Reason check_anchors(const Loaded *module) {
    const Anchor *anchors = section(module->copy, SECTION_ANCHORS);
    const uint64_t n = count(module->copy, SECTION_ANCHORS);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = module->bias + anchors[i].address;
        const size_t bytes = patched_bytes(&anchors[i]);
        const CodeSegment *segment = segment_of(module->segments, module->n_segments, at);
        if (!segment || at + bytes > segment->address + segment->bytes
            || (bytes == 5 && anchors[i].to >= count(module->copy, SECTION_CODE))) {
            return REASON_DAMAGED;
        }
        if (!is_expected((const uint8_t *)at, anchors[i].expected, bytes)) {
            say("expected other bytes at", "", at);
            return REASON_CHANGED;
        }
    }
    return REASON_NONE;
}

/* Whether changed code may be made executable: SELinux may forbid it, and it must be known before
   anything is changed. `file`: of any module. */
bool patching_is_allowed(int64_t file) {
    static uint64_t known; /* 1 yes, 2 no */
    if (!known) {
        uint8_t *page = call_map(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        known = 2;
        if (page) {
            *(volatile uint8_t *)page = *(volatile uint8_t *)page;
            known = call_protect(page, 4096, PROT_READ | PROT_EXEC) ? 2 : 1;
            kernel(SYS_munmap, (uint64_t)page, 4096, 0, 0, 0, 0);
        }
    }
    return known == 1;
}

/* ---- the module's own code ---- */

/* Where functions that are under way return to: their code must stay as it is. Only the dynamic
   linker has any, those that called this. */
static bool is_returned_to(uint64_t address, size_t bytes) {
    const uint64_t *word = __builtin_frame_address(0);
    for (unsigned i = 0; i < 2048 && (uint64_t)word < process.stack_end; i++, word++) {
        if (*word > address && *word < address + bytes) {
            return true;
        }
    }
    return false;
}

/* What an anchor becomes. */
static void put_anchor(const Loaded *module, const Anchor *anchor, uint8_t *code) {
    if (patched_bytes(anchor) == 2) {
        code[0] = 0xeb;
        code[1] = (uint8_t)anchor->hop;
    } else {
        jump_at(code, module->bias + anchor->address, (uint64_t)module->code + anchor->to);
    }
}

static void patch_anchors(const Loaded *module, const CodeSegment *segment, bool is_linker) {
    const Anchor *anchors = section(module->copy, SECTION_ANCHORS);
    const uint64_t n = count(module->copy, SECTION_ANCHORS);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = module->bias + anchors[i].address;
        const size_t bytes = patched_bytes(&anchors[i]);
        if (at < segment->address || at - segment->address >= segment->bytes
            || (at + bytes > linker_break && at < linker_break + 5)
            || (is_linker && is_returned_to(at, bytes))) {
            continue;
        }
        put_anchor(module, &anchors[i], (uint8_t *)at);
    }
}

static int protection(const CodeSegment *segment) {
    return PROT_READ | PROT_EXEC | (segment->is_writable ? PROT_WRITE : 0);
}

static void close_after_patching(const CodeSegment *segments, size_t n) {
    for (size_t i = 0; i < n; i++) {
        call_protect((void *)segments[i].address, segments[i].bytes, protection(&segments[i]));
    }
}

static bool open_for_patching(const CodeSegment *segments, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (call_protect((void *)segments[i].address, segments[i].bytes,
                         PROT_READ | PROT_WRITE)) {
            close_after_patching(segments, i);
            return false;
        }
    }
    return true;
}

static bool patch_module(const Loaded *module, int64_t file) {
    const CodeSegment *segments = module->segments;
    const size_t n = module->n_segments;
    const bool is_linker = linker_break >= module->bias + module->lowest
        && linker_break < module->bias + module->highest;
    if (!open_for_patching(segments, n)) {
        return false;
    }
    bool all_right = true;
    for (size_t i = 0; i < n; i++) {
        const CodeSegment *segment = &segments[i];
        patch_anchors(module, segment, is_linker);
        if (call_protect((void *)segment->address, segment->bytes, protection(segment))) {
            all_right = false; /* as it was, from its file */
            call_map(segment->address, segment->bytes, protection(segment),
                     MAP_PRIVATE | MAP_FIXED, file, segment->file_offset);
        }
    }
    return all_right;
}

/* ---- */

Reason copy_load(Loaded *module, int64_t file, int64_t copy_file, uint64_t first_counter,
                 bool is_executable) {
    Reason reason = check_anchors(module);
    if (reason == REASON_NONE && !patching_is_allowed(file)) {
        reason = REASON_FORBIDDEN;
    }
    if (reason != REASON_NONE) {
        return reason;
    }
    reason = bring(module, copy_file, first_counter, is_executable);
    if (reason == REASON_NONE && !patch_module(module, file)) {
        reason = REASON_FORBIDDEN;
    }
    if (reason != REASON_NONE && module->code) {
        give_back(module);
    }
    return reason;
}

/* ---- the dynamic linker's notice ---- */

static bool is_padding(const uint8_t *code, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (code[i] != 0x90 && code[i] != 0xcc && code[i] != 0x66 && code[i] != 0x2e
            && code[i] != 0x0f && code[i] != 0x1f && code[i] != 0x84 && code[i] != 0
            && code[i] != 0x44 && code[i] != 0x40 && code[i] != 0x80) {
            return false;
        }
    }
    return true;
}

bool linker_break_patch(uint64_t lowest, uint64_t highest) {
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};
    uint8_t *code = (uint8_t *)linker_break;
    const bool is_known = !memcmp(code, endbr, 5) || (code[0] == 0xc3 && is_padding(code + 1, 4));
    const uint64_t page = linker_break & ~UINT64_C(4095);
    const uint64_t bytes = ((linker_break + 4) & ~UINT64_C(4095)) + 4096 - page;
    uint64_t to = (uint64_t)modules_changed;
    const uint64_t reach = to > linker_break ? to - linker_break : linker_break - to;
    if (!is_known) {
        return false;
    }
    if (reach > UINT64_C(0x7fff0000)) {
        static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
        uint8_t *stub = place_take(highest, 4096, lowest, highest, false);
        if (!stub) {
            return false;
        }
        memcpy(stub, jump, sizeof jump);
        memcpy(stub + sizeof jump, &to, 8);
        if (call_protect(stub, 4096, PROT_READ | PROT_EXEC)) {
            return false;
        }
        to = (uint64_t)stub;
    }
    if (call_protect((void *)page, bytes, PROT_READ | PROT_WRITE)) {
        return false;
    }
    jump_at(code, linker_break, to);
    return !call_protect((void *)page, bytes, PROT_READ | PROT_EXEC);
}
