/* SPDX-License-Identifier: Apache-2.0 */
/* Strings one after the other with their 0, each there once; the first is empty. */
#ifndef RIDGEPOINT_NAMES_H
#define RIDGEPOINT_NAMES_H

#include "memory.h"

#define LONGEST_NAME 8192

typedef struct {
    Array *text;      /* of bytes */
    uint32_t *places; /* a hash table of offsets; 0: empty */
    size_t room, n;   /* of the table: how many places, and how many are used */
} Names;

/* To add to what `text` has. */
void names_begin(Names *names, Array *text);
void names_end(Names *names);

/* Offset of a string, a new one if it was not there; 0 if memory runs out. */
uint32_t names_add(Names *names, const char *name, size_t n);
/* The path of a file: parts that are relative are so to what is before them. */
uint32_t names_add_path(Names *names, const char *base, const char *folder, const char *file);

#endif
