/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a copy into the neighbourhood of its module. */
#include "loader_copy.h"

/* Add to 32-bit numbers in the copy, whose offsets are listed. */
static bool add_to_all(Loaded *module, SectionKind kind, uint32_t added) {
    const uint32_t *offsets = section(module->copy, kind);
    const uint64_t n = count(module->copy, kind);
    uint64_t most = 0;
    if (!added) {
        return true;
    }
    for (uint64_t i = 0; i < n; i++) {
        most = offsets[i] > most ? offsets[i] : most;
    }
    if (n && most + 4 > module->code_bytes) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
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
    const uint64_t copied = loaded_copy(module, linker_break);
    if (!copied || copied - (uint64_t)module->code >= module->code_bytes) {
        return;
    }
    uint8_t *at = (uint8_t *)copied;
    if (copied - (uint64_t)module->code >= COUNTER_BYTES && !is_counter(at)
        && is_counter(at - COUNTER_BYTES)) {
        at -= COUNTER_BYTES;
    }
    uint8_t *stub = module->code + HOOKS_BYTES - 16;
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    const uint64_t to = (uint64_t)modules_changed;
    memcpy(stub, jump, sizeof jump);
    memcpy(stub + sizeof jump, &to, 8);
    jump_at(at, (uint64_t)at, (uint64_t)stub);
}

/* ---- its memory ---- */

void give_back(Loaded *module) {
    kernel(SYS_munmap, (uint64_t)module->code, module->code_bytes, 0, 0, 0, 0);
    module->code = NULL;
}

static bool fill(Loaded *module, uint64_t wanted, uint64_t first_counter) {
    const CopyHeader *copy = module->copy;
    const uint64_t further = wanted - (uint64_t)module->code;
    if (!tables_move(module, wanted) || !add_to_all(module, SECTION_OUTWARD, (uint32_t)further)
        || !add_to_all(module, SECTION_COUNTERS,
                       (uint32_t)(8 * (first_counter - copy->first_counter)))) {
        return false;
    }
    fill_hooks(module->code);
    hook_entries(module);
    functions_select(module);
    if (linker_break >= module->bias + module->lowest
        && linker_break < module->bias + module->highest) {
        hook_linker_break(module);
    }
    return true;
}

static bool make_executable(const Loaded *module) {
    return !call_protect(module->code, module->code_bytes, PROT_READ | PROT_EXEC);
}

/* As it is in its file, which all processes share: only pages with hooks become the process's own.
   False: it is not to be had there (where nothing may be executed, say). */
static bool map_as_planned(Loaded *module, int64_t file, uint64_t wanted, uint64_t first_counter) {
    const Section *code = &module->copy->sections[SECTION_CODE];
    return (uint64_t)module->code == wanted && first_counter == module->copy->first_counter
        && !(code->at & 4095)
        && call_map(wanted, code->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
                    code->at)
        && fill(module, wanted, first_counter) && make_executable(module);
}

/* In memory of the process, wherever that is. */
static Reason make_own(Loaded *module, uint64_t wanted, uint64_t first_counter) {
    const uint8_t *code = section(module->copy, SECTION_CODE);
    expect(code, code + module->code_bytes, MADV_POPULATE_READ);
    expect(module->code, module->code + module->code_bytes, MADV_POPULATE_WRITE);
    memcpy(module->code, code, module->code_bytes);
    if (!fill(module, wanted, first_counter)) {
        return REASON_DAMAGED;
    }
    return make_executable(module) ? REASON_NONE : REASON_FORBIDDEN;
}

Reason bring(Loaded *module, int64_t file, uint64_t first_counter, bool is_executable) {
    const uint64_t wanted = module->bias + module->copy->delta;
    module->code_bytes = count(module->copy, SECTION_CODE);
    module->code = place_take(wanted, module->code_bytes, module->bias + module->lowest,
                              module->bias + module->highest, is_executable);
    if (!module->code) {
        return REASON_NO_ROOM;
    }
    if (map_as_planned(module, file, wanted, first_counter)) {
        return REASON_NONE;
    }
    say("its place or its counters are not those that were planned", "", wanted);
    if (!call_map((uint64_t)module->code, module->code_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)) {
        return REASON_NO_ROOM;
    }
    return make_own(module, wanted, first_counter);
}
