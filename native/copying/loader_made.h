/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program makes at run time: what of it is sure to be functions. */
#ifndef RIDGEPOINT_LOADER_MADE_H
#define RIDGEPOINT_LOADER_MADE_H

#include "loader.h"
#include "loader_made_frames.h"

#define CODE_AT 4096u                  /* in the file of such code, and its vaddr */
#define MOST_BYTES (UINT64_C(1) << 22) /* of code that is looked at */
#define FRAMES_AT (2 * MOST_BYTES)     /* vaddr of its unwind tables, which are nowhere in memory */
#define MOST_FUNCTIONS 512u

/* Code from `begin` to `end`; closed: nothing but other closed functions is called from it, so
   nobody unwinds through it. */
typedef struct {
    uint64_t begin, end;
    const MadeFrame *frame; /* what unwinders know of it; NULL: nothing */
    bool is_closed;
} MadeFunction;

extern MadeFunction made_functions[MOST_FUNCTIONS]; /* of the code that was looked at last */
extern uint64_t n_made_functions;

/* False: there are none that are sure. `may_change`: each by itself, without who tells of it. */
bool made_find_functions(const uint8_t *code, uint64_t n, bool may_change);

/* ---- loader_made_file.c ---- */

bool made_write_file(const uint8_t *code, uint64_t n, char *path, size_t room);

#endif
