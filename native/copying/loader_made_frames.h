/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables that the program registers for code that it makes (__register_frame).
 *
 * They say where functions begin and end, and that nobody but unwinders looks at where they return
 * to: such functions may call whatever they like from their copies, which have tables as well. */
#ifndef RIDGEPOINT_LOADER_MADE_FRAMES_H
#define RIDGEPOINT_LOADER_MADE_FRAMES_H

#include "memory.h"

/* A function that has an entry in a section of tables; all addresses at run time. */
typedef struct {
    uint64_t start, end, entry, section;
} MadeFrame;

/* A section of tables, with zeros at its end. Of entries that have to do with exceptions nothing is
   kept. */
void frames_register(uint64_t section);

/* Those of functions in [from, to) whose entries are still there, by their starts; returns how many
   of at most `most`. */
uint64_t frames_find(uint64_t from, uint64_t to, MadeFrame *found, uint64_t most);

/* Append an entry to a section of tables for a file: `at` is the vaddr of the array's first byte,
   `bias` what is added to a vaddr at run time. False: it is not there any more. */
bool frames_append(const MadeFrame *frame, uint64_t at, uint64_t bias, Array *bytes);

#endif
