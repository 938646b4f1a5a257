/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what a function does with exceptions (language-specific data of C++ and its kin). */
#ifndef RIDGEPOINT_EXCEPTION_TABLE_H
#define RIDGEPOINT_EXCEPTION_TABLE_H

#include "append.h"
#include "frame.h"
#include "unwind.h"

/* A range of code, where exceptions in it go on (0: nowhere), and the first of its actions, counted
   from 1 (0: none). */
typedef struct {
    uint64_t start, end, pad, action;
} CallSite;

typedef struct {
    const Module *module;
    uint64_t start, end;   /* of the code it is for */
    uint64_t pads;         /* what landing pads count from */
    uint8_t site_encoding, type_encoding;
    uint64_t types;        /* vaddr of the end of the types, or 0 */
    uint64_t actions, actions_end;
    uint64_t n_types, specifications_end; /* as far as the actions reach */
    Reader sites;
} ExceptionTable;

/* Where code of one function is in its copy. */
typedef struct {
    PlaceOf place_of;
    void *context;
    uint64_t start, end;   /* vaddr */
    uint32_t from, to;
    uint64_t delta;
} Placing;

/* Where an address is in the copy, or, if no instruction begins there, the next one. */
uint32_t placing_place(const Placing *placing, uint64_t address);

/* Write at `at` in the copy how far it is from there to a vaddr, as 4 bytes. False: too far, or
   not in the module. */
bool placing_point(const Module *module, uint64_t delta, uint64_t to, uint32_t at, Array *code,
                   Array *outward);

/* The table of a frame with one. False: it is damaged, or something else. */
bool exceptions_read(const Module *module, const Frame *frame, ExceptionTable *table);
/* The next of a table's call sites, in their order; false: there is no other, or it is damaged
   (then `sites.bad`). */
bool exceptions_next(ExceptionTable *table, CallSite *site);

/* Append the table to the copy. False: it cannot be carried over, and what was appended has no
   meaning. */
bool exceptions_emit(ExceptionTable table, const Placing *placing, Array *code, Array *outward);

#endif
