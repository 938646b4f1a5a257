/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of one function, and which flags and general registers they still need. */
#ifndef RIDGEPOINT_FLOW_H
#define RIDGEPOINT_FLOW_H

#include "analysis.h"

/* What is live, in one word: flags as FLAG_* in bits 0 to 5, general register n in bit 16 + n. */
#define LIVE_FLAGS ((uint32_t)FLAGS_ALL)
#define LIVE_INC_FLAGS ((uint32_t)(FLAGS_ALL & ~FLAG_CF)) /* those that INC overwrites */
#define LIVE_REGISTER(n) (UINT32_C(1) << (16 + (n)))
#define LIVE_REGISTERS UINT32_C(0xFFFF0000)
#define LIVE_ALL (LIVE_REGISTERS | LIVE_FLAGS)

typedef struct {
    uint32_t first, n;         /* instructions, in analysis->list */
    uint32_t live_in, live_out;
    uint32_t needs, ends;      /* read before written; overwritten */
    uint32_t beyond;           /* live where it leaves the function */
    uint32_t next, branch;     /* successors in the function, or NO_INDEX */
    uint32_t loop;             /* in which it counts in registers (loops.h), or NO_INDEX */
    uint32_t twin;             /* block before it that is executed as often, or NO_INDEX */
    bool counts_branch;        /* how often it branches has a counter (sums.h) */
    bool is_reached;           /* by a branch, or from the block above */
    bool is_loop_head;         /* a branch of this function leads back to it */
    bool is_inside;            /* of a loop that counts in registers, and not its head */
} Block;

typedef struct {
    const Analysis *analysis;
    const Piece *piece;
    Block *blocks;
    size_t n_blocks, room;
    uint32_t *block_of;        /* of each instruction */
    uint32_t *before;          /* predecessors; those of block b begin at before_at[b + 1] */
    uint32_t *before_at;
    bool red_zone_is_free;     /* nothing is kept below the stack pointer */
    uint32_t first_index;      /* number of the piece's first instruction in the module */
    uint32_t most_words;       /* of a recording block; 0: it does not record */
    bool keeps_flags;          /* flags may be live at its exits and calls */
    uint32_t live_at_return;
} Graph;

/* A signal's handler may empty the ring in the middle of a block, which then writes up to its own
   length below it: the bank has 3 KiB of room there. */
#define MOST_WORDS 320u

/* Words that a recording block writes to the ring for an instruction (record.h). */
uint32_t record_words(const Module *module, const Instruction *x);

bool graph_begin(Graph *graph, const Analysis *analysis);
void graph_end(Graph *graph);

/* Of the piece in analysis->list. */
void graph_make(Graph *graph, const Piece *piece);

/* What is live before an instruction, if `live` is after it. */
uint32_t graph_before(const Graph *graph, const Instruction *x, uint32_t live);

/* Block that begins at an address of this piece, or NO_INDEX. */
uint32_t graph_block_at(const Graph *graph, uint64_t address);

#endif
