/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a module that hold debug information, in its file or in one apart. */
#ifndef RIDGEPOINT_DEBUG_FILE_H
#define RIDGEPOINT_DEBUG_FILE_H

#include "reader.h"

typedef enum {
    DEBUG_LINE,
    DEBUG_LINE_STR,
    DEBUG_STR,
    DEBUG_INFO,
    DEBUG_ABBREV,
    DEBUG_KINDS
} DebugKind;

/* Unpacks a zlib stream; true if it fills `room` exactly. */
typedef bool (*Unpack)(const uint8_t *packed, size_t n, uint8_t *out, size_t room);

typedef struct {
    Unpack unpack;                  /* NULL: packed sections are left out */
    Module file;                    /* of which nothing but the bytes is known */
    bool is_apart;
    bool is_known[DEBUG_KINDS];
    Reader sections[DEBUG_KINDS];
    uint8_t *unpacked[DEBUG_KINDS]; /* memory for those that are packed in the file */
} DebugFile;

/* False: there are no line programs. */
bool debug_file_begin(DebugFile *debug, const Module *module, Unpack unpack);
void debug_file_end(DebugFile *debug);

/* A section from its beginning, found and unpacked when it is asked for; empty: there is none. */
Reader debug_section(DebugFile *debug, DebugKind kind);
/* The string at an offset; "" if it is none. */
const char *debug_string(DebugFile *debug, DebugKind kind, uint64_t offset);
/* The string that a reader comes to; "" and bad if it is too long. */
const char *reader_string(Reader *reader);

#endif
