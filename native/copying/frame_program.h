/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of call frame instructions: where a frame's registers are, at each instruction. */
#ifndef RIDGEPOINT_FRAME_PROGRAM_H
#define RIDGEPOINT_FRAME_PROGRAM_H

#include "exception_table.h"

/* Whether all of a program is known, and moves forwards (`may_move`: at all). */
bool frame_program_is_known(const Module *module, const Cie *cie, Reader program, uint64_t start,
                            bool may_move);

/* Append the same program with the distances of the copy; what it says of code before the copied
   part holds from its beginning on. False: it cannot be. */
bool frame_program_emit(const Module *module, const Cie *cie, const Frame *frame,
                        const Placing *placing, Array *code);

#endif
