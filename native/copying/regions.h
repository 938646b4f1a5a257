/* SPDX-License-Identifier: Apache-2.0 */
/* The list of regions that a bank is of: names, one a line. */
#ifndef RIDGEPOINT_REGIONS_H
#define RIDGEPOINT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Stands before the name of a function that is counted alone. */
#define FUNCTION_MARK '\1'
/* Before the name of a line of Python; a thread is in one at most. */
#define LINE_MARK '\2'
/* Before that of the line with which a thread counts that tells none itself; alone: with none. */
#define OTHERS_MARK '\3'

/* Whether a list has a region of this name (NULL: none is asked for), or that of a function. */
static inline bool regions_hold(const char *regions, const char *name, bool function) {
    while (*regions) {
        if (*regions == FUNCTION_MARK && function) {
            return true;
        }
        size_t n = 0;
        while (name && name[n] && regions[n] == name[n]) {
            n++;
        }
        if (name && !name[n] && (!regions[n] || regions[n] == '\n')) {
            return true;
        }
        while (*regions && *regions++ != '\n') {
        }
    }
    return false;
}

#endif
