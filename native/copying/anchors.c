/* SPDX-License-Identifier: Apache-2.0 */
/* Where original code leads into the copy: five bytes that nothing jumps into, or two before a
 * hole of padding nearby. An entry without either runs as the original. */
#include "emit.h"

#define JUMP_BYTES 5u
#define REACH 120

/* ---- hooks ---- */

static bool is_same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++, b++;
    }
    return *b == 0 && (*a == 0 || *a == '@');
}

/* Libraries have several names for each: _dl_addr, __dlopen. */
static EntryHook hook_of_name(const char *name) {
    static const struct {
        const char *name;
        EntryHook hook;
    } hooks[] = {
        {"dl_find_object", ENTRY_FIND_OBJECT}, {"dl_iterate_phdr", ENTRY_ITERATE_PHDR},
        {"dladdr", ENTRY_ADDR},                {"dladdr1", ENTRY_ADDR},
        {"dl_addr", ENTRY_ADDR},               {"dlopen", ENTRY_CALLER},
        {"dlmopen", ENTRY_CALLER},             {"dlsym", ENTRY_CALLER},
        {"dlvsym", ENTRY_CALLER},              {"Unwind_GetIP", ENTRY_GET_IP},
        {"Unwind_GetRegionStart", ENTRY_GET_START},
        {"register_frame", ENTRY_REGISTER_FRAME}, {"register_frame_info", ENTRY_REGISTER_FRAME},
    };
    const char *whole = name;
    while (*name == '_') {
        name++;
    }
    const bool possible = (name[0] == 'd' && name[1] == 'l') || name[0] == 'U'
        || (name[0] == 'r' && name == whole + 2); /* others' may be about pictures */
    for (size_t i = 0; possible && i < sizeof hooks / sizeof hooks[0]; i++) {
        if (is_same(name, hooks[i].name)) {
            return hooks[i].hook;
        }
    }
    return ENTRY_PLAIN;
}

void find_hooked(const Module *module, Array *hooked) {
    for (size_t i = 0; i < module->n_functions; i++) {
        const EntryHook hook = hook_of_name(module->strings + module->functions[i].name);
        uint64_t *entry = hook == ENTRY_PLAIN ? NULL : array_add(hooked, 2);
        if (entry) {
            entry[0] = hook;
            entry[1] = module->functions[i].start;
        }
    }
}

EntryHook hook_at(const Emitter *e, uint64_t address) {
    const uint64_t *entries = (const uint64_t *)e->hooked.items;
    for (size_t i = 0; i + 1 < e->hooked.n; i += 2) {
        if (entries[i + 1] == address) {
            return (EntryHook)entries[i];
        }
    }
    return ENTRY_PLAIN;
}

/* ---- padding ---- */

/* Whether there is nothing but whole NOPs and INT3s from a place up to an address: zeros, say, may
   be data as well. */
static bool is_filled(const Module *module, uint64_t from, uint64_t address) {
    while (from <= address) {
        size_t room = 0;
        Instruction x = {.length = 1};
        const uint8_t *code = module_rest(module, from, &room);
        if (!code || room == 0
            || (*code != 0xCC
                && !(instruction_decode(code, room, from, &x) && x.what == WHAT_NOP))) {
            return false;
        }
        from += x.length;
    }
    return true;
}

/* Bytes behind a function that does not run into them, where nothing begins. */
static bool is_padding(const Emitter *e, uint64_t address) {
    const Analysis *a = e->analysis;
    if (!module_is_code(a->module, address) || is_marked(a, a->stops, address)
        || analysis_piece_at(a, address)) {
        return false;
    }
    for (uint64_t before = address - 1; before > address - 64; before--) {
        const Piece *piece = analysis_piece_at(a, before);
        if (piece) {
            return piece->is_decoded && !piece->runs_on
                   && is_filled(a->module, piece->end, address);
        }
    }
    return false;
}

static bool is_hole(const Emitter *e, uint64_t address) {
    for (uint64_t k = 0; k < JUMP_BYTES; k++) {
        if (!is_padding(e, address + k)) {
            return false;
        }
    }
    return true;
}

/* A hole that a short jump at an address reaches, or 0. It is taken. */
static uint64_t take_hole(const Emitter *e, uint64_t address) {
    for (int64_t d = 2; d < REACH; d++) {
        const uint64_t places[] = {address - (uint64_t)d, address + (uint64_t)d};
        for (int i = 0; i < 2; i++) {
            if (is_hole(e, places[i])) {
                for (uint64_t k = 0; k < JUMP_BYTES; k++) {
                    set_mark(e->analysis, e->analysis->stops, places[i] + k);
                }
                return places[i];
            }
        }
    }
    return 0;
}

/* ---- anchors ---- */

static void add_anchor(Emitter *e, Array *anchors, Anchor anchor) {
    for (size_t k = 0; k < JUMP_BYTES; k++) {
        const uint8_t *byte = module_bytes(e->analysis->module, anchor.address + k, 1);
        anchor.expected[k] = byte ? *byte : 0;
    }
    Anchor *added = array_add(anchors, 1);
    if (added) {
        *added = anchor;
    }
}

/* Nothing but the address itself may be jumped to in the first bytes. */
static bool is_free(const Emitter *e, const Piece *piece, uint64_t address, uint64_t bytes) {
    for (uint64_t k = 1; k < bytes; k++) {
        const uint64_t at = address + k;
        if (at >= piece->end ? !is_padding(e, at)
                             : is_marked(e->analysis, e->analysis->stops, at)) {
            return false;
        }
    }
    return module_bytes(e->analysis->module, address, bytes) != NULL;
}

static void anchor_at(Emitter *e, const Piece *piece, uint64_t address, Array *hops) {
    Array *anchors = &e->copy->sections[SECTION_ANCHORS];
    uint32_t to = e->places[analysis_index(e->analysis, address)].at;
    if (address == piece->start && has_entry_turn(e, to)) {
        to -= TURN_BYTES;
    }
    const uint8_t hook = (uint8_t)hook_at(e, address);
    if (is_free(e, piece, address, JUMP_BYTES)) {
        for (uint64_t at = piece->end; at < address + JUMP_BYTES; at++) {
            set_mark(e->analysis, e->analysis->stops, at); /* padding, now of this anchor */
        }
        add_anchor(e, anchors, (Anchor){.address = address, .to = to, .hook = hook});
        return;
    }
    const uint64_t hole =
        address + 2 <= piece->end && is_free(e, piece, address, 2) ? take_hole(e, address) : 0;
    if (!hole) {
        e->copy->n_unpatched++;
        return;
    }
    add_anchor(e, anchors, (Anchor){.address = hole, .to = to, .hook = hook});
    add_anchor(e, hops, (Anchor){.address = address, .to = UINT32_MAX,
                                 .hop = (int8_t)(hole - (address + 2))});
}

static bool is_entry(const Module *module, uint64_t address) {
    size_t low = 0, high = module->n_entries;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (module->entries[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < module->n_entries && module->entries[low] == address;
}

/* Whether something that is referred to is code for sure. In the middle of a function that jumps
   to no address from a register or table it may be a constant that lies there: hand-written code
   has such. Whoever jumps there all the same goes on in the original. */
static bool is_target(const Module *module, const Piece *piece, uint64_t address) {
    return address == piece->start || piece->has_indirect || is_entry(module, address);
}

static void anchor_piece(Emitter *e, const Piece *piece, Array *hops) {
    const Analysis *a = e->analysis;
    for (uint64_t at = piece->start; at < piece->end;) {
        const uint64_t bit = at - a->from;
        const uint64_t left = (a->entered[bit >> 6] & a->starts[bit >> 6]) >> (bit & 63);
        if (!left) {
            at = a->from + ((bit | 63) + 1);
            continue;
        }
        at += (uint64_t)__builtin_ctzll(left);
        if (at < piece->end && is_target(a->module, piece, at)) {
            anchor_at(e, piece, at, hops);
        }
        at++;
    }
}

void emit_anchors(Emitter *e) {
    Array hops;
    array_begin(&hops, sizeof(Anchor));
    for (size_t i = 0; i < e->analysis->n_pieces; i++) {
        const Piece *piece = &e->analysis->pieces[i];
        /* Stubs stay: copies call their copies, all else is led on by the table that they read. */
        if (piece->is_copied && piece->kind == PIECE_FUNCTION
            && !module_has_stubs(e->analysis->module, piece->start, piece->end)) {
            anchor_piece(e, piece, &hops);
        }
    }
    /* Short jumps last: the holes that they lead to are patched by then. */
    Array *anchors = &e->copy->sections[SECTION_ANCHORS];
    Anchor *added = hops.n ? array_add(anchors, hops.n) : NULL;
    if (added) {
        memcpy(added, hops.items, hops.n * sizeof(Anchor));
    }
    anchors->failed |= hops.failed;
    array_end(&hops);
}
