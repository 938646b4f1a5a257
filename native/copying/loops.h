/* SPDX-License-Identifier: Apache-2.0 */
/* Innermost loops whose counters are in registers that they do not use, and are added to the bank
 * where the loop is left. */
#ifndef RIDGEPOINT_LOOPS_H
#define RIDGEPOINT_LOOPS_H

#include "flow.h"

#define MOST_LOOP_BLOCKS 16u
#define MOST_LOOP_COUNTERS 6u

/* Register r counts for `row`; NO_INDEX: for none yet. What the program has in it is kept in the
   red zone, `saved_at` below the stack pointer; 0: nothing. */
typedef struct {
    uint32_t row;
    uint8_t r, saved_at;
} LoopCounter;

/* A register that each iteration of a loop of one block moves by the same power of two: how far it
   came tells how often, and nothing is counted on the way. */
typedef struct {
    bool is_used, is_down;
    uint8_t r, shift;
} Induction;

typedef struct {
    uint32_t head;         /* the only block where it is entered */
    uint32_t n_blocks;
    uint32_t blocks[MOST_LOOP_BLOCKS]; /* ascending */
    uint32_t registers;    /* of `counters`, as LIVE_REGISTER has them */
    Induction induction;   /* of the first of `counters` */
    uint32_t n_counters, n_given;
    LoopCounter counters[MOST_LOOP_COUNTERS];
    uint64_t label;        /* where its head is in the copy, behind the counters' beginning */
} Loop;

/* Find the loops of a function: sets `loop` of blocks in them, and `twin` of blocks that are
   executed exactly as often as another one before them. */
void loops_find(const Graph *graph, Array *loops);

#endif
