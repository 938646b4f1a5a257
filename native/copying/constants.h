/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses registers hold for sure, wherever a function jumps by a table. */
#ifndef RIDGEPOINT_CONSTANTS_H
#define RIDGEPOINT_CONSTANTS_H

#include "flow.h"

#define MOST_SLOTS 8u

/* A word on the stack that a register is kept in. */
typedef struct {
    int32_t displacement;
    uint8_t base; /* rsp or rbp */
} Slot;

/* What 16 registers and the slots hold: an address, or 0 for anything. */
typedef struct {
    uint64_t values[16 + MOST_SLOTS];
    bool is_known; /* control reaches this, by a way that was seen */
} Held;

#define DIFFERENT UINT64_MAX

typedef struct {
    const Graph *graph;
    bool may;      /* find what is held on those paths where it is known; DIFFERENT, if that differs */
    bool has_frame; /* rbp is of the stack too */
    Held *at;      /* the beginning of each block */
    Slot slots[MOST_SLOTS];
    uint32_t n_slots;
} Constants;

/* A legacy instruction with an opcode of one byte; False: it is another one, or has prefixes that
   would change its meaning. */
typedef struct {
    uint8_t op, mod, reg, rm; /* numbers of registers, if mod is 3 */
    bool is_wide;
} Form;

bool form_of(const Module *module, const Instruction *x, Form *form);

/* Whether it is a move between a register and a word on the stack. */
bool is_slot_move(const Instruction *x, const Form *form);

/* Of the piece that the graph is of; `slots` are set. False: there is not enough memory. */
bool constants_find(Constants *constants);
void constants_end(Constants *constants);

/* What a register holds before instruction k of a block; 0, if that is not known. */
uint64_t constants_before(const Constants *constants, const Block *block, uint32_t k, uint8_t r);

#endif
