/* SPDX-License-Identifier: Apache-2.0 */
/* Indirect jumps whose targets are known for sure to be read from one table of constants.
 *
 * In the copy the instruction that reads the entry has another displacement, which leads it to a
 * copy of the table, and entries there lead to the copies of their targets. Nothing else changes:
 * no register, no flag, and not the number of instructions. */
#ifndef RIDGEPOINT_DISPATCH_H
#define RIDGEPOINT_DISPATCH_H

#include "flow.h"

typedef struct {
    uint64_t table; /* address of the entry with index 0 */
    uint64_t base;  /* what is added to its entries, if they are distances */
    uint32_t n;
    bool is_whole;  /* entries are addresses, of 8 bytes; else distances, of 4 */
} Table;

typedef struct {
    uint32_t load;  /* the instruction that reads the entry, in analysis->list */
    Table table;
} Dispatch;

/* Those of the piece that the graph is of. */
void dispatch_find(const Graph *graph, Array *dispatches);

/* The code that entry k leads to, if it is an instruction that was copied; else false. */
bool table_target(const Analysis *analysis, const Table *table, uint32_t k, uint64_t *target);

#endif
