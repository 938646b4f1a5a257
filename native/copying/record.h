/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: every block writes to the ring which it is and what it accesses. */
#ifndef RIDGEPOINT_RECORD_H
#define RIDGEPOINT_RECORD_H

#include "emit.h"

#define MOST_ACCESSES 6

/* A register as one of a set; none: the empty set. */
static inline uint16_t bit_of(uint8_t r) {
    return r < 16 ? (uint16_t)(1u << r) : 0;
}

typedef enum {
    NOTE_OPERAND,  /* the address of the memory operand */
    NOTE_GATHER,   /* its base, 8 words of indices, 1 of the mask */
    NOTE_MASKED,   /* the address, and the mask: a bit per lane */
    NOTE_TILE,     /* its base, and the index register: from row to row */
    NOTE_STACK,    /* r + displacement */
    NOTE_REGISTER, /* r */
    NOTE_POINTER,  /* r before and after the instruction */
} NoteKind;

/* An access that one execution of an instruction makes. */
typedef struct {
    uint8_t kind, words, r;
    uint8_t bits, shape; /* as in Access */
    uint16_t bytes;
    int32_t displacement; /* added to that of the operand */
} NewAccess;

/* Where the words of an access are written. */
typedef struct {
    uint32_t k, at; /* of instruction k of the block, before instruction `at` */
    uint32_t word;  /* of the record, without the block's own */
    int32_t shift;  /* what rsp moves by from `at` to k */
    NewAccess access;
} Note;

unsigned list_accesses(const Module *module, const Instruction *x, NewAccess *out);

/* lea, mov and the like, in record_bytes.c */
void put_index(Emitter *e, uint8_t op, uint8_t r);     /* 0x8B mov r, gs:[ring_index]; 0x89 back */
void put_word(Emitter *e, uint8_t index, uint8_t r, uint32_t words_left);
void put_block_word(Emitter *e, uint8_t index, uint32_t counter, uint32_t words_left);
void put_advance(Emitter *e, uint8_t index, uint32_t words);
void put_address(Emitter *e, uint8_t r, const Instruction *x, int32_t displacement,
                 bool with_index);
void put_base(Emitter *e, uint8_t r, uint8_t base, int32_t displacement);
void put_vector(Emitter *e, uint8_t index, const Instruction *x, uint32_t words_left);
void put_ring_compare(Emitter *e); /* whether it is full */
uint64_t counting_head(const Emitter *e, uint32_t block);
/* Of an instruction with this many lanes of so many bytes. */
void put_mask(Emitter *e, uint8_t r, const Instruction *x, uint32_t lanes, uint32_t bytes);

/* ---- record_mask.c ---- */

/* Bytes of a lane of the memory that a mask leaves alone in part; 0: it does not. */
uint8_t masked_lane_bytes(const Instruction *x, const uint8_t *code, bool *is_compressed);

#endif
