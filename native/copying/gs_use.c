/* SPDX-License-Identifier: Apache-2.0 */
/* Code that uses %gs itself, and data among code that looks like it.
 *
 * Counters are found through %gs, so a program that uses it is not counted at all. That is much to
 * conclude from one instruction: some compilers put tables between functions, or in them. So it is
 * believed of functions that have unwind tables, and of those with a symbol where execution gets
 * there from the start; anything else that looks so is not copied, and no more. */
#include "analysis.h"

static bool uses_gs(const Instruction *x) {
    const bool accesses = (x->has_memory && x->what != WHAT_LEA && x->what != WHAT_NOP)
                          || x->implicit_access;
    return x->what == WHAT_GS || (x->segment == 0x65 && accesses);
}

/* Mark the instruction at an address as reached; false: it was, or none begins there. */
static bool reach(const Analysis *a, uint8_t *reached, uint64_t address) {
    size_t low = 0, high = a->n_list;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (a->list[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == a->n_list || a->list[low].address != address || reached[low]) {
        return false;
    }
    reached[low] = 1;
    return true;
}

static bool goes_on(const Instruction *x) {
    return x->flow != FLOW_JUMP && x->flow != FLOW_INDIRECT_JUMP && x->flow != FLOW_RETURN
           && x->flow != FLOW_STOP;
}

static bool is_branch(const Instruction *x) {
    return x->flow == FLOW_CONDITIONAL || x->flow == FLOW_LOOP || x->flow == FLOW_JUMP
           || x->flow == FLOW_XBEGIN;
}

/* Whether some use of %gs is reached from the start by branches that are seen. */
static bool is_reached(const Analysis *a) {
    uint8_t *reached = pages_take(a->n_list);
    bool is_new = reached && reach(a, reached, a->list[0].address), is_used = !reached;
    while (is_new && !is_used) {
        is_new = false;
        for (size_t i = 0; i < a->n_list; i++) {
            const Instruction *x = &a->list[i];
            if (reached[i]) {
                is_used |= uses_gs(x);
                is_new |= goes_on(x) && reach(a, reached, x->address + x->length);
                is_new |= is_branch(x) && reach(a, reached, x->target);
            }
        }
    }
    if (reached) {
        pages_give(reached, a->n_list);
    }
    return is_used;
}

bool analysis_gs_is_free(Analysis *a, const Piece *piece) {
    size_t i = 0;
    while (i < a->n_list && !uses_gs(&a->list[i])) {
        i++;
    }
    if (i == a->n_list) {
        return true;
    }
    const Function *function = &piece->function;
    if (piece->kind == PIECE_FUNCTION && !function->is_guessed) {
        a->uses_gs |= function->fde || is_reached(a);
    }
    return false;
}
