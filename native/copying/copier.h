/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the copy of a module: the same instructions elsewhere, with counters. */
#ifndef RIDGEPOINT_COPIER_H
#define RIDGEPOINT_COPIER_H

#include "copy_file.h"
#include "module.h"

typedef enum {
    COPY_COUNTING,
    COPY_RECORDING,
    COPY_BOTH,
    COPY_SELECTING = 4, /* beside one of these: functions can be counted alone, with what they call */
} CopyKind;

/* Where the copy of a function's entry begins. */
typedef struct {
    uint64_t address;
    uint64_t at;
} EntryPlace;

/* All sections of a copy in memory, ready to be written or loaded. */
typedef struct {
    CopyHeader header;
    Array sections[SECTION_COUNT];
    Array entries; /* EntryPlace, by `at`: of a selecting copy */
    /* For who wants to know. */
    uint64_t n_blocks, n_indirect, n_unresolved, n_unpatched, n_flagged, n_masks, n_tables;
} Copy;

/* NULL, or why not. `only`: sorted starts of the functions to copy, or NULL: all. */
const char *copy_make(const Module *module, CopyKind kind, const uint64_t *only, size_t n_only,
                      Copy *out);
void copy_free(Copy *copy);

/* Write it beside `path` and rename it into place. NULL, or why not. */
const char *copy_write(const Copy *copy, const char *path);

#endif
