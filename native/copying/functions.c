/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that can be counted alone, with what they call.
 *
 * The copy of an entry begins with a jump over a hook, which the loader takes away from those that
 * were asked for. A function is left when code runs that its caller, or any further up, is returned
 * to: behind calls (setjmp's among them) and where exceptions are caught the stack pointer is
 * compared with what it was at the entry. */
#include "functions.h"

#include <stddef.h>

#include "emit.h"
#include "names.h"

/* ---- emitted code ---- */

static bool is_entry(const Emitter *e, const Block *block) {
    const Piece *piece = e->graph.piece;
    return piece->kind == PIECE_FUNCTION && block == e->graph.blocks
           && !hook_at(e, piece->start);
}

/* Code that is run after a call returned, or that an unwinder jumps to. */
bool is_returned_to(const Emitter *e, const Block *block) {
    if (block == e->graph.blocks) {
        return false;
    }
    const Instruction *first = &e->analysis->list[block->first];
    const uint8_t before = first[-1].flow;
    return before == FLOW_CALL || before == FLOW_INDIRECT_CALL
           || is_marked(e->analysis, e->analysis->outside, first->address);
}

bool put_selection(Emitter *e, const Block *block) {
    if (is_entry(e, block)) {
        EntryPlace *entry = array_add(&e->copy->entries, 1);
        if (entry) {
            *entry = (EntryPlace){e->graph.piece->start, e->n};
        }
        PUT(e, 0xEB, CALLED_BYTES + 8); /* over what comes */
        put_hook_call(e, HOOK_ENTERED);
        return true;
    }
    if (is_returned_to(e, block) && (block->live_in & LIVE_FLAGS)) {
        put_nops(e, LEFT_BYTES - CALLED_BYTES);
        put_hook_call(e, HOOK_LEFT);
        return true;
    }
    if (is_returned_to(e, block)) {
        PUT(e, 0x65, 0x48, 0x3B, 0x24, 0x25); /* cmp rsp, gs:[limit] */
        put4(e, (uint32_t)(offsetof(Bank, slots) + 8 * SLOT_LIMIT));
        PUT(e, 0x76, CALLED_BYTES + 8); /* jbe over it */
        put_hook_call(e, HOOK_LEFT);
        return true;
    }
    return false;
}

/* ---- names ---- */

/* Up to a character, or its end. */
static size_t length_until(const char *text, char end) {
    size_t n = 0;
    while (text[n] && text[n] != end) {
        n++;
    }
    return n;
}

static uint32_t add_name(Names *names, const char *symbol, Demangler *demangle) {
    const char *text = symbol[0] == '_' && symbol[1] == 'Z' ? demangle(symbol) : NULL;
    /* A version follows an @. */
    return text ? names_add(names, text, length_until(text, 0))
                : names_add(names, symbol, length_until(symbol, '@'));
}

void functions_name(const Module *module, Demangler *demangle, Copy *copy) {
    const EntryPlace *entries = (const EntryPlace *)copy->entries.items;
    Array *functions = &copy->sections[SECTION_FUNCTIONS];
    Names names;
    size_t next = 0;
    names_begin(&names, &copy->sections[SECTION_NAMES]);
    for (size_t i = 0; i < copy->entries.n; i++) {
        if (i && entries[i].address < entries[i - 1].address) {
            next = 0; /* where recording code begins */
        }
        while (next < module->n_named && module->named[next].start < entries[i].address) {
            next++;
        }
        uint64_t last = 0;
        for (; next < module->n_named && module->named[next].start == entries[i].address; next++) {
            const uint64_t symbol = module->named[next].end;
            NamedFunction *function = symbol == last ? NULL : array_add(functions, 1);
            if (function) {
                *function = (NamedFunction){
                    (uint32_t)entries[i].at, add_name(&names, module->strings + symbol, demangle)};
            }
            last = symbol;
        }
    }
    names_end(&names);
}
