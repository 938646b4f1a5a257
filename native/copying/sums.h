/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that need no counter, because those of others tell how often they were executed. */
#ifndef RIDGEPOINT_SUMS_H
#define RIDGEPOINT_SUMS_H

#include "flow.h"

#define MOST_TERMS 6

/* Executions of a block: the sum of those of blocks with counters, 1 + block, and of branches with
   counters, 1 + blocks in all + block; less than 0 where they are subtracted. */
typedef struct {
    int32_t terms[MOST_TERMS];
    uint8_t n;
    bool is_known; /* decided: with a counter of its own, that is its only term */
} Formula;

/* Of all blocks; `formulas` has room for them, and twins are known. Sets `counts_branch`. */
void sums_find(const Graph *graph, Formula *formulas);

/* Whether it has a counter of its own. */
bool sums_is_counted(const Formula *formulas, uint32_t block);

#endif
