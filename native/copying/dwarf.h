/* SPDX-License-Identifier: Apache-2.0 */
/* Private to lines*.c: what units of DWARF (versions 2 to 5) hold. */
#ifndef RIDGEPOINT_DWARF_H
#define RIDGEPOINT_DWARF_H

#include "debug_file.h"

/* How numbers of a unit are written. */
typedef struct {
    unsigned version, address_bytes, offset_bytes;
} UnitForm;

typedef struct {
    const char *text; /* or NULL */
    uint64_t number;
} Value;

/* The length of a unit, which says whether offsets in it have 4 or 8 bytes; its content. */
Reader dwarf_unit(Reader *section, UnitForm *form);
/* A value of a form (DW_FORM_*), or `bad`: forms that are not known cannot be skipped. */
Value dwarf_value(Reader *reader, uint64_t form, const UnitForm *unit, DebugFile *debug);

/* By the offsets of line programs the folders in which their compilers ran. */
typedef struct {
    bool is_read;
    Array rows;
} Folders;

void folders_begin(Folders *folders);
const char *folders_find(Folders *folders, DebugFile *debug, uint64_t program);
void folders_end(Folders *folders);

#endif
