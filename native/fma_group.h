/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statements of one instruction that is a fused multiply-add, as fma*.c know them. */
#ifndef RIDGEPOINT_FMA_GROUP_H
#define RIDGEPOINT_FMA_GROUP_H

#include "fma_calls.h"

#define MOST_LANES 8
#define MOST_STATEMENTS 128 /* of one instruction */

/* A temporary that is a lane of a vector. */
typedef struct {
    IRTemp vector; /* IRTemp_INVALID: it is none, as far as is known */
    UInt lane;
} Lane;

/* One operand, half by half. */
typedef struct {
    IRTemp lanes[MOST_LANES]; /* before negation */
} OperandLanes;

/* The statements of one instruction, parted. */
typedef struct {
    IRSB *out;
    IRType type; /* of a lane */
    UInt n_lanes;
    IRTemp results[MOST_LANES];
    OperandLanes operands[MOST_OPERANDS];
    Bool product_negated;
    Addend addend;
    IRStmt *early[MOST_STATEMENTS]; /* what the lanes may depend on */
    IRStmt *late[MOST_STATEMENTS];  /* what depends on them, and what changes the state */
    UInt n_early, n_late;
    /* By temporary: */
    UChar *is_late;      /* in this instruction */
    IRStmt **defined_by; /* in this instruction; NULL: elsewhere */
    Lane *lane_of;
    UInt n_temporaries;  /* of the block as it came in: others are made here */
} Group;

static inline UInt lanes_per_half(const Group *group) {
    return HALF_BYTES / sizeofIRType(group->type);
}

/* ---- parting them (fma_group.c) ---- */

Bool is_fused(const IRStmt *statement);

/* Parts the statements between two of a block, of which the first is left out; False where their
 * order would have to be kept, or what is computed is not understood. */
Bool part_statements(Group *group, const IRSB *block, Int first, Int last);

/* ---- reading and writing whole halves (fma_halves.c) ---- */

/* Emits what the lanes depend on, reading halves at once where that is possible. */
void emit_early(Group *group);

/* Emits what depends on the lanes, writing halves at once where that is possible. */
void emit_late(Group *group);

/* The vector of which these are the lanes in their order, or IRTemp_INVALID. */
IRTemp vector_of(const Group *group, const IRTemp *lanes);

/* Defines a lane from its vector; removed again by VEX where nothing uses it. */
void extract_lane(Group *group, IRTemp lane, IRTemp vector, UInt place);

/* ---- computing all lanes at once (fma_emit.c) ---- */

void emit_vector(Group *group);
void emit_scalar(Group *group);

#endif
