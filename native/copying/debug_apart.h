/* SPDX-License-Identifier: Apache-2.0 */
/* Private to debug_*.c: files that the debug information of stripped ones was put in. */
#ifndef RIDGEPOINT_DEBUG_APART_H
#define RIDGEPOINT_DEBUG_APART_H

#include "debug_file.h"
#include "module_parts.h"

/* Where they may be; all but the first by the name and checksum that the module states. GDB's
   manual, "Debugging Information in Separate Files". */
typedef enum {
    APART_BY_BUILD_ID,  /* /usr/lib/debug/.build-id/ab/cdef.debug */
    APART_BESIDE,       /* the module's folder */
    APART_IN_OWN_FOLDER, /* .debug in that */
    APART_IN_SYSTEM,    /* /usr/lib/debug, and the module's folder within */
    APART_PLACES
} ApartPlace;

/* Map what is at a place, if it belongs to the module. */
bool debug_open_apart(Module *file, const Module *module, ApartPlace place);

bool debug_find_section(const Module *file, const char *name, Elf64_Shdr *found);

#endif
