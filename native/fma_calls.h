/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that execute the hardware's fused multiply-add, for compiled code to call. */
#ifndef RIDGEPOINT_FMA_CALLS_H
#define RIDGEPOINT_FMA_CALLS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Whether there are any. */
#ifdef HARDWARE_FMA
#define FMA_BY_CALLS
#endif

#define MOST_OPERANDS 3
#define MOST_HALVES 2 /* of 128 bits */
#define HALF_BYTES 16

typedef enum {
    ADDED,
    SUBTRACTED,
    SUBTRACTED_IN_EVEN_LANES,
    SUBTRACTED_IN_ODD_LANES,
    ADDENDS
} Addend;

/* Where vectors are passed; never changes. There are x, y and z, each with room for MOST_HALVES
 * halves, which are to be written and read one by one: a CPU forwards a store to a load of the same
 * width at once, and several stores to one wider load only after a long wait. */
extern void *fma_operands;

/* What computes +-(x * y) +- z by lane, the result in place of x: a void (void).
 * NULL: a negated product with an addend that is subtracted in some lanes only. */
void *fma_of_vectors(IRType lane, UInt n_halves, Bool product_negated, Addend addend);

/* The same of numbers that are passed as bits: a ULong (ULong x, ULong y, ULong z). */
void *fma_of_scalars(IRType type, Bool product_negated, Addend addend);

#endif
