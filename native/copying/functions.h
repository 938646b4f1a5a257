/* SPDX-License-Identifier: Apache-2.0 */
/* The names of functions that can be counted alone. */
#ifndef RIDGEPOINT_FUNCTIONS_H
#define RIDGEPOINT_FUNCTIONS_H

#include "copier.h"

/* How a symbol of C++ reads, until the next call; NULL: it is none, or nothing can tell. */
typedef const char *Demangler(const char *name);

/* Fills SECTION_FUNCTIONS of a selecting copy, with all names that symbols give each entry. */
void functions_name(const Module *module, Demangler *demangle, Copy *copy);

#endif
