/* SPDX-License-Identifier: Apache-2.0 */
/* Finds blocks whose executions follow from those of others.
 *
 * What flows into a block by branches of its own function is the sum of the flows along them. A
 * branch that is a block's only way out carries all its executions; one of two carries what the
 * other does not, and that is known where the other leads to a block that nothing else leads to.
 * Calls may not return, so what follows them is always counted. A branch to code that many lead to,
 * an error's say, is counted on the way there, where it is cheap because few go it; then what
 * follows the branch needs no counter. */
#include "sums.h"

#define MANY 4      /* ways into a block */
#define MANY_BACK 8

bool sums_is_counted(const Formula *formulas, uint32_t block) {
    const Formula *f = &formulas[block];
    return f->n == 1 && f->terms[0] == (int32_t)block + 1;
}

static bool is_outside(const Graph *g, uint32_t block) {
    return is_marked(g->analysis, g->analysis->outside,
                     g->analysis->list[g->blocks[block].first].address);
}

static uint8_t flow_of(const Graph *g, const Block *block) {
    return g->analysis->list[block->first + block->n - 1].flow;
}

static void count(Formula *formulas, uint32_t block) {
    formulas[block] = (Formula){.terms = {(int32_t)block + 1}, .n = 1, .is_known = true};
}

/* Add or subtract a term; two that cancel vanish. */
static bool add_term(Formula *sum, int32_t term) {
    for (uint8_t i = 0; i < sum->n; i++) {
        if (sum->terms[i] == -term) {
            sum->terms[i] = sum->terms[--sum->n];
            return true;
        }
    }
    if (sum->n == MOST_TERMS) {
        return false;
    }
    sum->terms[sum->n++] = term;
    return true;
}

/* Those of a block that comes later get a counter for it: then nothing depends on itself. */
static bool add_block(const Graph *g, const Formula *formulas, Formula *sum, uint32_t block,
                      int32_t sign) {
    while (g->blocks[block].twin != NO_INDEX) {
        block = g->blocks[block].twin;
    }
    const Formula *f = &formulas[block];
    if (!f->is_known) {
        return add_term(sum, sign * ((int32_t)block + 1));
    }
    bool good = true;
    for (uint8_t i = 0; i < f->n; i++) {
        good = good && add_term(sum, sign * f->terms[i]);
    }
    return good;
}

static bool has_one_way_in(const Graph *g, uint32_t block) {
    return g->before_at[block + 2] - g->before_at[block + 1] == 1 && !is_outside(g, block);
}

/* What flows from one block to another. */
static bool add_edge(const Graph *g, const Formula *formulas, Formula *sum, uint32_t from,
                     uint32_t to) {
    const Block *block = &g->blocks[from];
    const Instruction *last = &g->analysis->list[block->first + block->n - 1];
    const uint8_t flow = flow_of(g, block);
    if (block->counts_branch) {
        const int32_t branch = (int32_t)(g->n_blocks + from) + 1;
        return to == block->branch ? add_term(sum, branch)
                                   : add_block(g, formulas, sum, from, 1) && add_term(sum, -branch);
    }
    if (block->beyond || last->what == WHAT_SYSCALL
        || switches_bank(g->analysis->module, last)) {
        return false;
    }
    if (flow == FLOW_NEXT || flow == FLOW_JUMP) {
        return add_block(g, formulas, sum, from, 1);
    }
    if (flow != FLOW_CONDITIONAL || block->next == block->branch) {
        return false;
    }
    const uint32_t other = block->next == to ? block->branch : block->next;
    return has_one_way_in(g, other) && add_block(g, formulas, sum, from, 1)
           && add_block(g, formulas, sum, other, -1);
}

static bool find_formula(const Graph *g, const Formula *formulas, uint32_t block, Formula *sum) {
    *sum = (Formula){.is_known = true};
    if (is_outside(g, block) || g->before_at[block + 1] == g->before_at[block + 2]) {
        return false;
    }
    for (uint32_t i = g->before_at[block + 1]; i < g->before_at[block + 2]; i++) {
        if (!add_edge(g, formulas, sum, g->before[i], block)) {
            return false;
        }
    }
    for (uint8_t i = 0; i < sum->n; i++) {
        const int32_t term = sum->terms[i];
        if ((uint32_t)(term < 0 ? -term : term) == block + 1) {
            return false; /* it depends on itself */
        }
    }
    return true;
}

/* Whether a branch from block `from` to another is rarely taken, as it seems: forward to what only
   branches lead to, or to where many lead. (Around some code, to what follows it, is no such.) */
static bool is_rare(const Graph *g, uint32_t from, uint32_t to) {
    const uint32_t n = g->before_at[to + 2] - g->before_at[to + 1];
    bool is_fallen_into = false;
    for (uint32_t i = g->before_at[to + 1]; i < g->before_at[to + 2]; i++) {
        is_fallen_into |= g->blocks[g->before[i]].next == to;
    }
    if (to <= from) {
        return n >= MANY_BACK;
    }
    return !is_fallen_into || n >= MANY;
}

/* The block before one that follows it for lack of a branch, which can be counted. */
static Block *find_branch(const Graph *g, uint32_t block) {
    if (is_outside(g, block) || g->before_at[block + 2] - g->before_at[block + 1] != 1) {
        return NULL;
    }
    Block *before = &g->blocks[g->before[g->before_at[block + 1]]];
    const uint32_t to = before->branch;
    if (flow_of(g, before) != FLOW_CONDITIONAL || before->next != block || to == block
        || before->loop != NO_INDEX) {
        return NULL;
    }
    if (to == NO_INDEX) {
        return before->beyond & LIVE_INC_FLAGS ? NULL : before;
    }
    const bool is_good = !has_one_way_in(g, to) && is_rare(g, block, to)
                         && !(g->blocks[to].live_in & LIVE_INC_FLAGS);
    return is_good && !before->beyond ? before : NULL;
}

static bool find_by_branch(const Graph *g, const Formula *formulas, uint32_t block, Formula *sum) {
    Block *before = find_branch(g, block);
    if (!before) {
        return false;
    }
    before->counts_branch = true;
    if (find_formula(g, formulas, block, sum) && sum->n > 0) {
        return true;
    }
    before->counts_branch = false;
    return false;
}

void sums_find(const Graph *g, Formula *formulas) {
    memset(formulas, 0, g->n_blocks * sizeof *formulas);
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const Block *block = &g->blocks[b];
        Formula sum;
        if (block->twin != NO_INDEX) {
            formulas[b] = formulas[block->twin];
        } else if (formulas[b].is_known) {
            continue; /* another one needs its counter */
        } else if (block->loop == NO_INDEX
                   && ((find_formula(g, formulas, b, &sum) && sum.n > 0)
                       || find_by_branch(g, formulas, b, &sum))) {
            formulas[b] = sum;
            for (uint8_t i = 0; i < sum.n; i++) {
                const uint32_t term =
                    (uint32_t)(sum.terms[i] < 0 ? -sum.terms[i] : sum.terms[i]) - 1;
                if (term < g->n_blocks && !formulas[term].is_known) {
                    count(formulas, term);
                }
            }
        } else {
            count(formulas, b);
        }
    }
}
