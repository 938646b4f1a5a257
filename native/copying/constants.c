/* SPDX-License-Identifier: Apache-2.0 */
/* Follows addresses from where they are made (LEA) through registers, and words of the stack that
 * registers are kept in, to where they are used.
 *
 * Control comes to a block from its predecessors; to the labels of tables from all indirect jumps
 * of the function. Wherever else it may come from, nothing is known. Compilers keep a register in
 * a word of the stack that nothing else refers to while it is there: words whose address is taken
 * are left out. */
#include "constants.h"

#define REGISTER_RSP 4
#define REGISTER_RBP 5
/* rax, rcx, rdx, rsi, rdi, r8 to r11: what calls may change. */
#define CALLER_SAVED 0x0FC7u
#define MOST_STORED 16384 /* by an instruction, if it is not known */

bool form_of(const Module *module, const Instruction *x, Form *form) {
    const uint8_t *code = module_bytes(module, x->address, x->length);
    uint8_t i = 0, rex = 0;
    if (!code || x->encoding != ENCODING_LEGACY) {
        return false;
    }
    while (i < x->length && (code[i] == 0x3E || code[i] == 0x2E)) {
        i++;
    }
    if (i < x->length && (code[i] & 0xF0) == 0x40) {
        rex = code[i++];
    }
    if (i + 2 > x->length || code[i] == 0x0F || code[i] == 0x66 || code[i] == 0x67
        || (code[i] & 0xFE) == 0xF2 || (code[i] & 0xFE) == 0x64) {
        return false;
    }
    *form = (Form){
        .op = code[i],
        .mod = code[i + 1] >> 6,
        .reg = (uint8_t)((code[i + 1] >> 3 & 7) | (rex & 4) << 1),
        .rm = (uint8_t)((code[i + 1] & 7) | (rex & 1) << 3),
        .is_wide = rex & 8,
    };
    return true;
}

bool is_slot_move(const Instruction *x, const Form *form) {
    return (form->op == 0x89 || form->op == 0x8B) && form->is_wide && form->mod != 3
           && x->index == NO_REGISTER && !x->segment
           && (x->base == REGISTER_RSP || x->base == REGISTER_RBP);
}

/* ---- one instruction ---- */

static uint32_t slot_of(const Constants *c, const Instruction *x) {
    for (uint32_t i = 0; i < c->n_slots; i++) {
        if (c->slots[i].base == x->base && c->slots[i].displacement == x->displacement) {
            return 16 + i;
        }
    }
    return NO_INDEX;
}

/* Registers that an instruction may change. People let callees keep and change what they like. */
static uint16_t changed_by(const Constants *c, const Instruction *x) {
    if (x->flow != FLOW_CALL && x->flow != FLOW_INDIRECT_CALL) {
        return x->changed;
    }
    return c->graph->piece->function.fde ? CALLER_SAVED : 0xFFFF;
}

/* Slots that something else than the move of a whole word may have changed. */
static void forget_slots(const Constants *c, const Instruction *x, Held *held) {
    const bool on_stack = x->has_memory && (x->memory_access & 2)
                          && (x->base == REGISTER_RSP
                              || (x->base == REGISTER_RBP && c->has_frame));
    const int64_t bytes = x->memory_bytes ? x->memory_bytes : MOST_STORED;
    for (uint32_t i = 0; i < c->n_slots; i++) {
        const Slot *slot = &c->slots[i];
        const int64_t apart = (int64_t)slot->displacement - x->displacement;
        const bool overlaps = x->base != slot->base || (apart > -8 && apart < bytes);
        if ((changed_by(c, x) >> slot->base & 1) || (on_stack && overlaps)) {
            held->values[16 + i] = 0;
        }
    }
}

static void step(const Constants *c, const Instruction *x, Held *held) {
    Form form;
    const bool has_form = form_of(c->graph->analysis->module, x, &form);
    uint32_t to = NO_INDEX;
    uint64_t value = 0;
    if (has_form && is_slot_move(x, &form)) {
        const uint32_t slot = slot_of(c, x);
        const bool stores = form.op == 0x89;
        to = stores ? slot : form.reg;
        value = stores ? held->values[form.reg] : slot == NO_INDEX ? 0 : held->values[slot];
    } else if (has_form && form.is_wide && form.mod == 3 && (form.op == 0x89 || form.op == 0x8B)) {
        to = form.op == 0x89 ? form.rm : form.reg;
        value = held->values[form.op == 0x89 ? form.reg : form.rm];
    } else if (has_form && form.is_wide && x->what == WHAT_LEA && x->is_rip_relative) {
        to = form.reg;
        value = x->target;
    }
    forget_slots(c, x, held);
    for (uint32_t r = 0; r < 16; r++) {
        if (changed_by(c, x) >> r & 1) {
            held->values[r] = 0;
        }
    }
    if (to != NO_INDEX) {
        held->values[to] = value;
    }
}

/* ---- the whole function ---- */

/* Control may come here in ways that are not seen. */
static bool is_open(const Graph *g, const Block *block) {
    const uint64_t address = g->analysis->list[block->first].address;
    return block == g->blocks || is_marked(g->analysis, g->analysis->joined, address);
}

static bool is_label(const Graph *g, const Block *block) {
    return is_marked(g->analysis, g->analysis->taken, g->analysis->list[block->first].address);
}

/* What is held where it was `before`, and control also comes with another value. */
static uint64_t merged(uint64_t before, uint64_t other, bool may) {
    if (!may) {
        return before == other ? before : 0;
    }
    return !before || before == other ? other : other ? DIFFERENT : before;
}

/* Let control come to a place with what `held` says. True: that changes something. */
static bool arrive(Held *at, const Held *held, bool may) {
    bool changed = false;
    if (!at->is_known) {
        *at = *held;
        return true;
    }
    for (uint32_t i = 0; i < 16 + MOST_SLOTS; i++) {
        const uint64_t value = merged(at->values[i], held->values[i], may);
        changed |= value != at->values[i];
        at->values[i] = value;
    }
    return changed;
}

static void leave(const Constants *c, const Block *block, Held *held) {
    for (uint32_t i = block->first; i < block->first + block->n; i++) {
        step(c, &c->graph->analysis->list[i], held);
    }
}

static bool spread(const Constants *c, Held *labels) {
    const Graph *g = c->graph;
    bool changed = false;
    for (size_t b = 0; b < g->n_blocks; b++) {
        const Block *block = &g->blocks[b];
        if (labels->is_known && is_label(g, block)) {
            changed |= arrive(&c->at[b], labels, c->may);
        }
        if (!c->at[b].is_known) {
            continue;
        }
        Held held = c->at[b];
        leave(c, block, &held);
        if (block->next != NO_INDEX) {
            changed |= arrive(&c->at[block->next], &held, c->may);
        }
        if (block->branch != NO_INDEX) {
            changed |= arrive(&c->at[block->branch], &held, c->may);
        }
        if (g->analysis->list[block->first + block->n - 1].flow == FLOW_INDIRECT_JUMP) {
            changed |= arrive(labels, &held, c->may);
        }
    }
    return changed;
}

static bool sets_frame(const Instruction *x) {
    return (x->changed >> REGISTER_RBP & 1) && (x->read >> REGISTER_RSP & 1) && !x->uses_stack
           && (!x->has_memory || x->what == WHAT_LEA);
}

static void drop_slots(Constants *c) {
    const Analysis *a = c->graph->analysis;
    for (size_t i = 0; i < a->n_list; i++) {
        c->has_frame |= sets_frame(&a->list[i]);
    }
    for (uint32_t i = c->n_slots; i > 0; i--) {
        if (c->slots[i - 1].base == REGISTER_RBP && !c->has_frame) {
            c->slots[i - 1] = c->slots[--c->n_slots];
        }
    }
    for (size_t i = 0; i < a->n_list; i++) {
        const uint32_t slot = a->list[i].what == WHAT_LEA ? slot_of(c, &a->list[i]) : NO_INDEX;
        if (slot != NO_INDEX) {
            c->slots[slot - 16] = c->slots[--c->n_slots];
        }
    }
}

bool constants_find(Constants *c) {
    const Graph *g = c->graph;
    Held labels = {0};
    c->at = pages_take(g->n_blocks * sizeof(Held));
    if (!c->at) {
        return false;
    }
    drop_slots(c);
    for (size_t b = 0; b < g->n_blocks; b++) {
        c->at[b].is_known = is_open(g, &g->blocks[b]);
    }
    while (spread(c, &labels)) {
    }
    return true;
}

void constants_end(Constants *c) {
    if (c->at) {
        pages_give(c->at, c->graph->n_blocks * sizeof(Held));
        c->at = NULL;
    }
}

uint64_t constants_before(const Constants *c, const Block *block, uint32_t k, uint8_t r) {
    Held held = c->at[block - c->graph->blocks];
    if (!held.is_known) {
        return 0;
    }
    for (uint32_t i = 0; i < k; i++) {
        step(c, &c->graph->analysis->list[block->first + i], &held);
    }
    return held.values[r] == DIFFERENT ? 0 : held.values[r];
}
