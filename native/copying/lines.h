/* SPDX-License-Identifier: Apache-2.0 */
/* From which lines of the source the code of a module comes: what its debug information (DWARF 2
 * to 5) says, in its own file or in one that systems keep apart. */
#ifndef RIDGEPOINT_LINES_H
#define RIDGEPOINT_LINES_H

#include "copier.h"
#include "debug_file.h"

/* Fill SECTION_LINES, and SECTION_NAMES with the paths of sources. Where memory runs out there are
   none; damaged programs are left out. `unpack` is for sections that are packed; NULL: nothing. */
void lines_add(const Module *module, Unpack unpack, Copy *copy);

#endif
