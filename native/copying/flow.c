/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and liveness.
 *
 * A register counts as dead only if this function overwrites it on every path before it ends or
 * calls anything: compilers agree with the functions of one file on what those leave alone
 * (-fipa-ra), and helpers of TLS preserve everything, so that the ABI's word on calls is not
 * enough. Flags do not survive calls and returns, except in code without unwind tables (written by
 * hand) and in functions that were seen to take or return them. */
#include "flow.h"

#define REGISTER_RAX 0
#define REGISTER_RDX 2
#define REGISTER_RSP 4
#define REGISTER_RBP 5
/* rcx, rsi, rdi, r8 to r11: neither kept for the caller nor returned to it. */
#define SCRATCH 0x0FC2u

bool graph_begin(Graph *g, const Analysis *a) {
    *g = (Graph){.analysis = a, .room = a->room + 1};
    g->blocks = pages_take(g->room * sizeof(Block));
    g->block_of = pages_take(g->room * sizeof(uint32_t));
    g->before_at = pages_take((g->room + 2) * sizeof(uint32_t));
    g->before = pages_take(g->room * 2 * sizeof(uint32_t));
    return g->blocks && g->block_of && g->before_at && g->before;
}

void graph_end(Graph *g) {
    pages_give(g->blocks, g->room * sizeof(Block));
    pages_give(g->block_of, g->room * sizeof(uint32_t));
    pages_give(g->before_at, (g->room + 2) * sizeof(uint32_t));
    pages_give(g->before, g->room * 2 * sizeof(uint32_t));
}

uint32_t graph_block_at(const Graph *g, uint64_t address) {
    if (address < g->piece->start || address >= g->piece->end) {
        return NO_INDEX;
    }
    const uint32_t i = analysis_index(g->analysis, address);
    return i == NO_INDEX ? NO_INDEX : g->block_of[i - g->first_index];
}

static bool reads_everything(const Graph *g, const Instruction *x) {
    return x->what == WHAT_SYSCALL || x->flow == FLOW_STOP || is_request(g->analysis->module, x);
}

static uint32_t needed_by(const Graph *g, const Instruction *x) {
    if (x->flow == FLOW_CALL || x->flow == FLOW_INDIRECT_CALL) {
        const bool takes = g->keeps_flags
                           || (x->flow == FLOW_CALL
                               && is_marked(g->analysis, g->analysis->flagged, x->target));
        return LIVE_REGISTERS | (takes ? LIVE_FLAGS : 0);
    }
    const uint32_t needs = (uint32_t)x->read << 16 | (x->flags_read & LIVE_FLAGS);
    return reads_everything(g, x) ? LIVE_ALL : needs;
}

static uint32_t ended_by(const Instruction *x) {
    if (x->flow == FLOW_CALL || x->flow == FLOW_INDIRECT_CALL) {
        return LIVE_FLAGS;
    }
    return (uint32_t)x->written << 16 | (x->flags_written & LIVE_FLAGS);
}

uint32_t graph_before(const Graph *g, const Instruction *x, uint32_t live) {
    return needed_by(g, x) | (live & ~ended_by(x));
}

/* Flags that code elsewhere needs when it is jumped to. */
static uint32_t flags_wanted_at(const Graph *g, uint64_t address) {
    uint32_t open = LIVE_FLAGS;
    for (int k = 0; k < 16 && open; k++) {
        Instruction x;
        const Piece *piece = analysis_piece_at(g->analysis, address);
        const uint64_t room = piece && piece->end - address < 15 ? piece->end - address : 15;
        const uint8_t *code = module_bytes(g->analysis->module, address, room);
        if (!code || !instruction_decode(code, room, address, &x) || (x.flags_read & open)) {
            return LIVE_FLAGS;
        }
        open &= ~(uint32_t)x.flags_written;
        address += x.length;
        if (x.flow == FLOW_JUMP) {
            address = x.target;
        } else if (x.flow == FLOW_INDIRECT_JUMP) {
            return g->keeps_flags ? open : 0;
        } else if (x.flow != FLOW_NEXT) {
            return x.flow == FLOW_CONDITIONAL || g->keeps_flags ? open : 0;
        }
    }
    return open;
}

static void connect(Graph *g, Block *block, uint32_t *successor, uint64_t address) {
    *successor = graph_block_at(g, address);
    if (*successor == NO_INDEX || g->analysis->list[g->blocks[*successor].first].address
                                      != address) {
        *successor = NO_INDEX;
        block->beyond |= LIVE_REGISTERS | flags_wanted_at(g, address);
    }
}

static void find_successors(Graph *g, size_t b) {
    Block *block = &g->blocks[b];
    const Instruction *last = &g->analysis->list[block->first + block->n - 1];
    const uint8_t flow = last->flow;
    if (flow == FLOW_CONDITIONAL || flow == FLOW_LOOP || flow == FLOW_JUMP
        || flow == FLOW_XBEGIN) {
        connect(g, block, &block->branch, last->target);
        if (block->branch != NO_INDEX && block->branch <= b) {
            g->blocks[block->branch].is_loop_head = true;
        }
    }
    if (flow == FLOW_RETURN) {
        block->beyond |= g->live_at_return;
    } else if (flow == FLOW_INDIRECT_JUMP) {
        block->beyond |= LIVE_REGISTERS | (g->keeps_flags ? LIVE_FLAGS : 0);
    } else if (flow != FLOW_JUMP) {
        connect(g, block, &block->next, last->address + last->length);
    }
}

/* Whether the function may keep something below its stack pointer: it says so by a negative
   displacement, or has a copy of the pointer that might. */
static bool is_below_stack(const Instruction *x) {
    const uint16_t rsp = 1u << REGISTER_RSP;
    if (x->has_memory && x->base == REGISTER_RSP) {
        return x->displacement < 0;
    }
    return (x->read & rsp) && !x->uses_stack && (x->changed & ~rsp);
}

/* Registers that callers cannot count on: it writes them, and does not seem to save them. */
static void find_return(Graph *g) {
    const bool has_tables = g->piece->function.fde != 0;
    const bool flags = !has_tables
                       || is_marked(g->analysis, g->analysis->flagged, g->piece->start);
    uint32_t written = 0, saved = 0;
    g->red_zone_is_free = has_tables;
    for (size_t i = 0; i < g->analysis->n_list; i++) {
        const Instruction *x = &g->analysis->list[i];
        const bool on_stack = x->has_memory && (x->memory_access & 2)
                              && (x->base == REGISTER_RSP || x->base == REGISTER_RBP);
        written |= x->written;
        g->red_zone_is_free &= !is_below_stack(x);
        if (on_stack || (x->uses_stack && x->flow == FLOW_NEXT)) {
            saved |= x->read;
        }
    }
    g->keeps_flags = flags;
    g->live_at_return = LIVE_REGISTERS | (flags ? LIVE_FLAGS : 0);
    if (has_tables) {
        g->live_at_return &= ~((written & ~saved & SCRATCH) << 16);
    }
}

static void find_blocks(Graph *g) {
    const Analysis *a = g->analysis;
    Block *block = NULL;
    uint32_t words = 0;
    g->n_blocks = 0;
    for (uint32_t i = 0; i < a->n_list; i++) {
        const Instruction *x = &a->list[i];
        words += g->most_words ? record_words(a->module, x) : 0;
        if (!block || is_marked(a, a->leaders, x->address)
            || (g->most_words && words > g->most_words)) {
            block = &g->blocks[g->n_blocks++];
            *block = (Block){.first = i, .next = NO_INDEX, .branch = NO_INDEX, .loop = NO_INDEX,
                             .twin = NO_INDEX};
            words = g->most_words ? record_words(a->module, x) : 0;
        }
        g->block_of[i] = (uint32_t)g->n_blocks - 1;
        block->n++;
    }
}

static bool is_padding(const Graph *g, const Block *block) {
    const Instruction *first = &g->analysis->list[block->first];
    for (uint32_t k = 0; k < block->n; k++) {
        if (first[k].what != WHAT_NOP) {
            return false;
        }
    }
    return !is_marked(g->analysis, g->analysis->outside, first->address);
}

/* What aligns a label behind a jump is never executed, and no way to it. */
static void cut_padding(Graph *g) {
    for (size_t b = 0; b + 1 < g->n_blocks; b++) {
        g->blocks[b + 1].is_reached |= g->blocks[b].next == b + 1;
        if (g->blocks[b].branch != NO_INDEX) {
            g->blocks[g->blocks[b].branch].is_reached = true;
        }
    }
    if (g->n_blocks && g->blocks[g->n_blocks - 1].branch != NO_INDEX) {
        g->blocks[g->blocks[g->n_blocks - 1].branch].is_reached = true;
    }
    for (size_t b = 1; b < g->n_blocks; b++) {
        if (!g->blocks[b].is_reached && is_padding(g, &g->blocks[b])) {
            g->blocks[b].next = NO_INDEX;
        }
    }
}

/* Predecessors: those of block b are before[before_at[b + 1]] and on, to before_at[b + 2]. */
static void find_before(Graph *g) {
    uint32_t *at = g->before_at, total = 0;
    memset(at, 0, (g->n_blocks + 2) * sizeof *at);
    for (size_t b = 0; b < 2 * g->n_blocks; b++) {
        const Block *block = &g->blocks[b / 2];
        const uint32_t successor = b % 2 ? block->branch : block->next;
        if (successor != NO_INDEX) {
            at[successor + 1]++;
            total++;
        }
    }
    for (size_t b = 1; b <= g->n_blocks; b++) {
        at[b] += at[b - 1];
    }
    at[g->n_blocks + 1] = total;
    for (size_t b = 0; b < 2 * g->n_blocks; b++) {
        const Block *block = &g->blocks[b / 2];
        const uint32_t successor = b % 2 ? block->branch : block->next;
        if (successor != NO_INDEX) {
            g->before[--at[successor + 1]] = (uint32_t)(b / 2);
        }
    }
}

static void find_needs(Graph *g, Block *block) {
    for (uint32_t k = block->n; k-- > 0;) {
        const Instruction *x = &g->analysis->list[block->first + k];
        const uint32_t needs = needed_by(g, x), ends = ended_by(x);
        block->needs = needs | (block->needs & ~ends);
        block->ends |= ends;
    }
    block->live_in = block->needs;
}

static uint32_t live_after(const Graph *g, const Block *block) {
    uint32_t live = block->beyond;
    if (block->next != NO_INDEX) {
        live |= g->blocks[block->next].live_in;
    }
    if (block->branch != NO_INDEX) {
        live |= g->blocks[block->branch].live_in;
    }
    return live;
}

static void spread(Graph *g) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = g->n_blocks; b-- > 0;) {
            Block *block = &g->blocks[b];
            block->live_out = live_after(g, block);
            const uint32_t live = block->needs | (block->live_out & ~block->ends);
            changed |= live != block->live_in;
            block->live_in = live;
        }
    }
}

void graph_make(Graph *g, const Piece *piece) {
    g->piece = piece;
    g->first_index = analysis_index(g->analysis, piece->start);
    find_return(g);
    find_blocks(g);
    for (size_t b = 0; b < g->n_blocks; b++) {
        find_successors(g, b);
        find_needs(g, &g->blocks[b]);
    }
    spread(g);
    cut_padding(g);
    find_before(g);
}
