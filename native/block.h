/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block of code that is rewritten: its segment at hand, and the access at hand. */
#ifndef RIDGEPOINT_BLOCK_H
#define RIDGEPOINT_BLOCK_H

#include "engine.h"
#include "opcode.h"

/* An access that may still grow, since VEX splits wide ones. */
typedef struct {
    Bool is_waiting;
    IRExpr *address;
    IRTemp base; /* address = base + offset, where that is known */
    Long offset;
    Access access;
} Waiting;

/* The value of a temporary, as another one plus a constant. */
typedef struct {
    IRTemp base;
    Long offset;
} Sum;

/* The block at hand. */
typedef struct {
    IRSB *out;
    DiEpoch epoch;
    const VexGuestLayout *layout;
    Instruction *instruction;
    Opcode opcode;
    Bool iterates; /* the instruction, which has a REP prefix, is past its check of the count */
    Sum *sums;    /* by temporary of the block as it came in */
    IRTemp n_own; /* temporaries from this one on are the engine's, not the program's */
    Waiting waiting;
    Bool is_open; /* whether there is a segment to add to */
    Segment segment;
    IRTemp record;
    IRConst *record_segment, *record_bytes;   /* known when the segment is complete */
    IRConst *page_address, *counter_offset;
} Block;

/* ---- segments (block.c) ---- */

void open_segment(Block *block, SegmentRole role);
void close_segment(Block *block);
void add_instruction(Block *block); /* the one at hand, to the segment */
void flush_waiting(Block *block);   /* nothing joins the access that is waiting any more */

/* ---- accesses (accesses.c) ---- */

void note_accesses(Block *block, const IRStmt *statement);
void note_prefetch(Block *block);

#endif
