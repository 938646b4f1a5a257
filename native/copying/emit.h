/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the copies of functions, with their counters. */
#ifndef RIDGEPOINT_EMIT_H
#define RIDGEPOINT_EMIT_H

#include "arena.h"
#include "copier.h"
#include "dispatch.h"
#include "flow.h"
#include "loops.h"
#include "sums.h"

#define NO_SCRATCH 255

/* A branch whose target was not placed yet when it was written. */
typedef struct {
    uint32_t at;      /* of its displacement */
    uint32_t block;   /* of this function */
    bool is_short;
    bool is_inside;   /* from within the loop whose head it is */
} Forward;

/* A branch to another function. */
typedef struct {
    uint64_t target;
    uint64_t at;
} Late;

/* Before instruction `k` of the block at hand, the population of a mask is added to a row. */
typedef struct {
    uint32_t k, row;
    uint8_t mask, lanes;
    uint8_t r;          /* register that a loop counts it in, or NO_SCRATCH */
} MaskCount;

/* A jump from the head of a recording block to where the ring is handed over. */
typedef struct {
    uint32_t at, block;
} RingStub;

/* A branch that is counted on its way. */
typedef struct {
    uint64_t target;
    uint32_t at, row; /* of its displacement */
} CountedBranch;

/* An instruction that reads a copied table: its displacement, and what it was. */
typedef struct {
    uint32_t at, table;
    int32_t displacement;
    bool has_base;
} TableLoad;
/* A jump to where a counting block records: its displacement, and the block's first instruction. */
typedef struct {
    uint32_t at, index;
} Turn;

/* A branch out of a loop that counts in registers. */
typedef struct {
    uint64_t target;
    uint32_t at, loop;
} Exit;

typedef struct {
    Analysis *analysis;
    Copy *copy;
    Graph graph;
    Array hooked;           /* entries that a hook stands before: the loader patches their INC */
    uint64_t delta;
    uint8_t *code;          /* of SECTION_CODE; moves when it grows */
    uint64_t n;             /* bytes in it */
    Place *places;          /* of all instructions, by their number */
    const Place *counting;  /* those of the counting copy, while the recording one is emitted */
    uint32_t *bounds;       /* of the piece: most bytes before each instruction */
    uint32_t *live;         /* before each instruction of the block at hand, if live_is_known */
    bool live_is_known;
    CopyKind kind;
    bool records;           /* what is emitted now */
    bool selects;
    uint32_t record_words;  /* of the block at hand, without its own */
    size_t next_note;       /* that is not emitted yet */
    Array forward, late, masks, notes, stubs, loops, exits;
    Array turns;            /* Turn: of all pieces */
    Array branches;         /* of the piece that are counted */
    Array dispatches;       /* likewise */
    Array tables, loads;    /* of all pieces */
    size_t first_table;     /* of the piece */
    uint32_t *rows;         /* of each block of the piece; then of their branches */
    Formula *formulas;      /* likewise */
    const char *failed;
} Emitter;

/* ---- bytes ---- */

static inline void put1(Emitter *e, uint8_t byte) {
    e->code[e->n++] = byte;
}

static inline void put4(Emitter *e, uint32_t value) {
    memcpy(e->code + e->n, &value, 4);
    e->n += 4;
}

static inline void put_bytes(Emitter *e, const void *bytes, size_t n) {
    memcpy(e->code + e->n, bytes, n);
    e->n += n;
}

#define PUT(e, ...)                                                                                \
    do {                                                                                           \
        const uint8_t put_these[] = {__VA_ARGS__};                                                 \
        put_bytes(e, put_these, sizeof put_these);                                                 \
    } while (0)

void put_nops(Emitter *e, uint32_t n);
/* op with a general register and gs:[counter n]; `op` is 0x89 mov to memory, 0x8B mov from memory,
   0x01 add to memory, 0x29 subtract from memory. */
void put_counter(Emitter *e, uint8_t op, uint8_t r, uint32_t counter);
void put_inc_counter(Emitter *e, uint32_t counter);
void put_zero(Emitter *e, uint8_t r);
/* lea r, [r + other + add]; other: NO_SCRATCH for none. */
void put_lea(Emitter *e, uint8_t r, uint8_t other, int8_t add);
/* Leave the red zone and save a register; flags stay. */
void put_spill(Emitter *e, uint8_t r);
void put_unspill(Emitter *e, uint8_t r);
/* Displacement of 4 bytes to an offset in the copy, or to a vaddr outside. */
void put_inward(Emitter *e, uint64_t offset);
void put_outward(Emitter *e, uint64_t target, uint32_t bytes_after);
void put_hook_call(Emitter *e, Hook hook);

void put_counter_place(Emitter *e, uint32_t counter);

/* ---- functions that can be counted alone ---- */

/* Most bytes that put_selection writes, and what it writes before a block: true if anything. */
#define SELECTION_BYTES 64u
bool put_selection(Emitter *e, const Block *block);
bool is_returned_to(const Emitter *e, const Block *block);

/* ---- rows ---- */

uint32_t add_row(Emitter *e, uint64_t address, uint32_t bytes, RowKind kind);

/* ---- parts ---- */

/* A general register that is dead in `live`, or NO_SCRATCH. */
uint8_t find_scratch(uint32_t live);
/* What is live before instruction `k` of a block. */
uint32_t live_before(Emitter *e, const Block *block, uint32_t k);

/* Plan where the masks of a block are counted, and count those due before instruction k. */
void masks_plan(Emitter *e, const Block *block);
void masks_count(Emitter *e, uint32_t k);
#define MOST_MASK_BYTES 64u

/* Loops that count in registers. */
Loop *loop_of(const Emitter *e, const Block *block);
uint32_t loop_registers(const Emitter *e, const Block *block);
uint8_t loop_register(Emitter *e, const Block *block, uint32_t row);
uint32_t loop_most_bytes(const Emitter *e, const Block *block);
uint64_t loop_enter(Emitter *e, const Block *block);
void loop_begin(Emitter *e, const Block *block);
bool loop_branch(Emitter *e, const Block *block, const Instruction *x);
void loop_leave(Emitter *e, const Block *block);
void loop_exits(Emitter *e);
void loops_note_borrowed(Emitter *e);
void loop_turns(Emitter *e);

/* Recording (record.h): words that an instruction writes to the ring, and the emission of those of
   the block that was planned. */
uint32_t record_most_bytes(const Emitter *e, const Instruction *x);
uint32_t record_head_bytes(void);
void record_plan(Emitter *e, const Block *block, uint32_t counter);
void record_before(Emitter *e, const Block *block, uint32_t k, uint32_t counter);
void record_after(Emitter *e, const Block *block, uint32_t k);
void record_stubs(Emitter *e);
void put_ring_check(Emitter *e, const Block *block);

/* Jumps by tables that are copied: that which instruction i of the list reads one for, or NULL; its
   emission; and, once everything has its place, that of the tables. */
#define LOAD_BYTES 4u /* more than the original has */
const Dispatch *dispatch_at(const Emitter *e, uint32_t i);
void emit_load(Emitter *e, const Instruction *x, const uint8_t *code, const Dispatch *dispatch);
void emit_tables_begin(Emitter *e);
void emit_tables(Emitter *e);

/* Room for so many more bytes of code. False: there is none. */
bool emit_reserve(Emitter *e, uint64_t bytes);
/* A counting block asks whether it shall record (turn.c). */
#define TURN_BYTES 16u
void put_turn(Emitter *e, const Block *block);
void put_entry_turn(Emitter *e, uint32_t unit); /* before a function, for who comes from outside */
bool has_entry_turn(const Emitter *e, uint32_t at);
void add_turn(Emitter *e, uint32_t first);
void resolve_turns(Emitter *e);

/* Instruction k of a block. */
void emit_instruction(Emitter *e, const Block *block, uint32_t k);
void emit_jump(Emitter *e, uint64_t target);
#define COUNTED_BRANCH_BYTES 14u
void emit_counted_branches(Emitter *e);
/* Most bytes that emit_instruction writes. */
uint32_t emit_most_bytes(const Instruction *x);

/* Copy the piece that analysis->list holds. */
void emit_piece(Emitter *e, const Piece *piece);

/* ---- anchors ---- */

/* Entries of functions that the loader has hooks for, as ENTRY_* and address in turn. */
void find_hooked(const Module *module, Array *hooked);
EntryHook hook_at(const Emitter *e, uint64_t address);
void emit_anchors(Emitter *e);

#endif
