/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables (.eh_frame, .eh_frame_hdr, language-specific data) of copied functions. */
#ifndef RIDGEPOINT_UNWIND_H
#define RIDGEPOINT_UNWIND_H

#include "module.h"

#define NO_PLACE UINT32_MAX

/* Offset in the copy of the instruction at a vaddr (an address at the end of a function: of the
   end of its copy), or NO_PLACE. */
typedef uint32_t (*PlaceOf)(void *context, uint64_t address);

typedef struct {
    uint64_t start, end;  /* vaddr */
    uint64_t fde;
    uint32_t from, to;    /* offsets in the copy */
} CopiedFunction;

/* Landing pads of a function's exception tables, added to `found` (uint64_t vaddrs). False: its
   tables cannot be carried over, so it must not be copied: nothing is thrown through a copy
   without tables. */
bool unwind_landing_pads(const Module *module, const Function *function, Array *found);

/* Append the tables of copied functions to `code` (bytes). What points out of the copy is written
   for a copy at load bias + delta, and its offset added to `outward` (uint32_t). Returns the
   offset of .eh_frame_hdr, or 0 if there is none. Functions whose tables cannot be carried over
   are left out of the tables, and their starts added to `lost` (uint64_t): the copy has to be made
   again without them. */
uint64_t unwind_emit(const Module *module, const CopiedFunction *functions, size_t n,
                     PlaceOf place_of, void *context, uint64_t delta, Array *code, Array *outward,
                     Array *lost);

#endif
