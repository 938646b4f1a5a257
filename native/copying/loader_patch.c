/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a copy into the neighbourhood of its module, and the module's code to it.
 *
 * Everything is checked before the first byte of the module is changed, and what cannot be changed
 * back into code is mapped anew from the module's file. */
#include "loader.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif


uint64_t linker_break;

static const void *section(const CopyHeader *copy, SectionKind kind) {
    return (const uint8_t *)copy + copy->sections[kind].at;
}

static uint64_t count(const CopyHeader *copy, SectionKind kind) {
    return copy->sections[kind].n;
}

static const uint8_t *section_end(const CopyHeader *copy, SectionKind kind) {
    return (const uint8_t *)copy + copy->sections[kind + 1].at;
}

/* Have the kernel make pages ready at once: page by page it takes several times as long. */
static void expect(const void *from, const void *to, int what) {
    const uint64_t start = (uint64_t)from & ~UINT64_C(4095), end = (uint64_t)to;
    if (end > start) {
        kernel(SYS_madvise, start, end - start, (uint64_t)what, 0, 0, 0);
    }
}

/* Add to 32-bit numbers in the copy, whose offsets are listed. */
static bool add_to_all(Loaded *module, SectionKind kind, uint32_t added) {
    const uint32_t *offsets = section(module->copy, kind);
    const uint64_t n = count(module->copy, kind);
    uint64_t most = 0;
    for (uint64_t i = 0; i < n; i++) {
        most = offsets[i] > most ? offsets[i] : most;
    }
    if (n && most + 4 > module->code_bytes) {
        return false;
    }
    for (uint64_t i = 0; added && i < n; i++) {
        uint32_t value;
        memcpy(&value, module->code + offsets[i], 4);
        value += added;
        memcpy(module->code + offsets[i], &value, 4);
    }
    return true;
}

static void fill_hooks(uint8_t *code) {
    uint64_t *hooks = (uint64_t *)code;
    for (unsigned i = 0; i < HOOK_COUNT; i++) {
        hooks[i] = (uint64_t)hook_none;
    }
    hooks[HOOK_SYSCALL] = (uint64_t)hook_system_call;
    hooks[HOOK_AFTER_CLONE] = (uint64_t)hook_after_clone;
    hooks[HOOK_REQUEST] = (uint64_t)hook_request;
    hooks[HOOK_TILES] = (uint64_t)hook_tiles;
    hooks[HOOK_RING_FULL] = (uint64_t)hook_ring_full;
    hooks[HOOK_ENTERED] = (uint64_t)hook_entered;
    hooks[HOOK_LEFT] = (uint64_t)hook_left;
}

static void jump_at(uint8_t *at, uint64_t from, uint64_t to) {
    const uint32_t distance = (uint32_t)(to - from - 5);
    at[0] = 0xe9;
    memcpy(at + 1, &distance, 4);
}

/* ---- functions that the loader looks after ---- */

static bool is_counter(const uint8_t *code) {
    static const uint8_t increment[] = {0x65, 0x48, 0xff, 0x04, 0x25};
    return !memcmp(code, increment, sizeof increment);
}

/* A copied function goes to one of the loader's first. Its entry is changed in the copy, so that
   calls from within its module come by as well. */
static void hook_entries(const Loaded *module) {
    const Anchor *anchors = section(module->copy, SECTION_ANCHORS);
    const uint64_t n = count(module->copy, SECTION_ANCHORS);
    uint32_t stub = STUBS_AT;
    for (uint64_t i = 0; i < n; i++) {
        const Anchor *anchor = &anchors[i];
        uint8_t *entry = module->code + anchor->to;
        const bool seems_right = anchor->hook && anchor->to != UINT32_MAX
            && anchor->to + COUNTER_BYTES <= module->code_bytes
            && stub + STUB_BYTES <= HOOKS_BYTES && is_counter(entry);
        if (!seems_right) {
            continue;
        }
        uint8_t *at = module->code + stub;
        if (entry_stub((EntryHook)anchor->hook, at, entry)) {
            jump_at(at + ENTRY_STUB_BYTES + COUNTER_BYTES,
                    (uint64_t)at + ENTRY_STUB_BYTES + COUNTER_BYTES,
                    (uint64_t)entry + COUNTER_BYTES);
            jump_at(entry, (uint64_t)entry, (uint64_t)at);
            stub += STUB_BYTES;
        }
    }
}

/* The function that the dynamic linker calls when modules come and go, in the linker's copy. */
static void hook_linker_break(const Loaded *module) {
    const Place *places = section(module->copy, SECTION_PLACES);
    const uint64_t n = count(module->copy, SECTION_PLACES);
    const uint64_t address = linker_break - module->bias - module->lowest;
    for (uint64_t i = 0; i < n; i++) {
        if (places[i].address == address && places[i].at < module->code_bytes) {
            uint8_t *at = module->code + places[i].at;
            if (places[i].at >= COUNTER_BYTES && !is_counter(at)
                && is_counter(at - COUNTER_BYTES)) {
                at -= COUNTER_BYTES;
            }
            uint8_t *stub = module->code + HOOKS_BYTES - 16;
            static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
            const uint64_t to = (uint64_t)modules_changed;
            memcpy(stub, jump, sizeof jump);
            memcpy(stub + sizeof jump, &to, 8);
            jump_at(at, (uint64_t)at, (uint64_t)stub);
            return;
        }
    }
}

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
        if (memcmp((const void *)at, anchors[i].expected, bytes)) {
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
    const bool is_linker =
        linker_break >= module->bias + module->lowest && linker_break < module->bias + module->highest;
    if (!open_for_patching(segments, n)) {
        return false;
    }
    bool all_right = true;
    for (size_t i = 0; i < n; i++) {
        const CodeSegment *segment = &segments[i];
        if (count(module->copy, SECTION_ANCHORS) > segment->bytes / 4096) {
            expect((void *)segment->address, (void *)(segment->address + segment->bytes),
                   MADV_POPULATE_WRITE); /* there is one on almost every page */
        }
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

static void give_back(Loaded *module) {
    kernel(SYS_munmap, (uint64_t)module->code, module->code_bytes, 0, 0, 0, 0);
    module->code = NULL;
}

/* Bring the copy next to the module, ready to run. */
static Reason bring(Loaded *module, uint64_t first_counter, bool is_executable) {
    const CopyHeader *copy = module->copy;
    const uint64_t wanted = module->bias + copy->delta;
    module->code_bytes = count(copy, SECTION_CODE);
    module->code = place_take(wanted, module->code_bytes, module->bias + module->lowest,
                              module->bias + module->highest, is_executable);
    if (!module->code) {
        return REASON_NO_ROOM;
    }
    expect(section(copy, SECTION_CODE), section_end(copy, SECTION_ANCHORS), MADV_POPULATE_READ);
    expect(module->code, module->code + module->code_bytes, MADV_POPULATE_WRITE);
    memcpy(module->code, section(copy, SECTION_CODE), module->code_bytes);
    if (!add_to_all(module, SECTION_OUTWARD, (uint32_t)(wanted - (uint64_t)module->code))
        || !add_to_all(module, SECTION_COUNTERS, (uint32_t)(8 * first_counter))) {
        return REASON_DAMAGED;
    }
    fill_hooks(module->code);
    hook_entries(module);
    functions_select(module);
    if (linker_break >= module->bias + module->lowest
        && linker_break < module->bias + module->highest) {
        hook_linker_break(module);
    }
    return call_protect(module->code, module->code_bytes, PROT_READ | PROT_EXEC)
        ? REASON_FORBIDDEN
        : REASON_NONE;
}

Reason copy_load(Loaded *module, int64_t file, uint64_t first_counter, bool is_executable) {
    Reason reason = check_anchors(module);
    if (reason == REASON_NONE && !patching_is_allowed(file)) {
        reason = REASON_FORBIDDEN;
    }
    if (reason != REASON_NONE) {
        return reason;
    }
    reason = bring(module, first_counter, is_executable);
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
