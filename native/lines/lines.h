/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Python: a preloaded library samples each thread of a Python program, or traces it.
 *
 * A timer of its CPU time interrupts each thread; the handler reads, without a call into the
 * interpreter and without a lock, which line of the user's files the thread is in or below, and
 * whether the interpreter, other code, or the kernel is running. It counts that in a file which
 * outlives the process however it ends. All numbers are little endian; meters/python_lines reads
 * them.
 *
 * In a counted run the interpreter's events tell instead which line each thread goes to, and the
 * copying engine counts apart what it does there: see trace.c.
 */
#ifndef RIDGEPOINT_LINES_H
#define RIDGEPOINT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_VARIABLE "RIDGEPOINT_LINES" /* names the folder for the files */
#define TRACED_VARIABLE "RIDGEPOINT_TRACED_LINES" /* names the file that lists lines to count */
#define LINES_MAGIC "RPLINES1"
#define MOST_FILES 256u
#define FILE_BYTES 512u
#define MOST_LINES 8192u /* a power of two */

/* What a thread was running when it was interrupted. */
typedef enum { IN_INTERPRETER, IN_NATIVE, IN_SYSTEM, IN_OTHER_THREAD, N_KINDS } Kind;

/* Why a process was not sampled, or its lines are not known. */
typedef enum { KNOWN, OTHER_VERSION, FREE_THREADED, NO_TIMER, NOT_COUNTED, TOO_MANY } Refusal;

typedef struct {
    uint64_t key; /* 0: free; else (file + 1) << 32 | line */
    uint64_t samples; /* of a traced line: how often it began */
    uint64_t ns[N_KINDS];
} LineRow;

typedef struct {
    char magic[8];
    uint64_t version; /* Py_Version */
    uint64_t refusal;
    uint64_t pid;
    uint64_t n_files;
    uint64_t no_room;   /* samples that found no room in the table */
    uint64_t unlocated; /* samples of threads of which no line is known: several might have begun
                           their work */
    uint64_t reserved[9];
    LineRow outside;    /* no frame of a user's file: starting, importing, ending */
    LineRow unknown;    /* of `unlocated` */
    char files[MOST_FILES][FILE_BYTES]; /* UTF-8, with a 0 */
    LineRow rows[MOST_LINES];
} LineTable;

/* ---- table.c ---- */
LineTable *table_make(const char *folder);
LineTable *table_follow(const char *folder, const LineTable *parent);
LineRow *table_row(LineTable *table, uint32_t file, uint32_t line); /* NULL: no room */
uint32_t table_file(LineTable *table, const char *path); /* 1 + its place; 0: no room */
void row_add(LineRow *row, Kind kind, uint64_t ns);

/* ---- frames.c ---- */
#define MOST_FRAMES 512

typedef struct {
    uint32_t file; /* as table_file gives it; 0: no line */
    uint32_t line;
} Line;

Refusal frames_begin(uint64_t *version);
void frames_read_directly(void); /* at events, where the interpreter is in order */
const void *frames_state(void); /* of the calling thread; NULL: Python does not know it */
Line frames_line(LineTable *table, const void *state);
const uint8_t *frame_current(const void *state);
const uint8_t *frame_previous(const uint8_t *frame);
Line frame_line(LineTable *table, const uint8_t *frame); /* of this frame alone */

/* What tells where a frame is, as long as its code lives: read directly. */
typedef struct {
    const void *code, *line_table, *instruction;
} Spot;
bool frame_spot(const uint8_t *frame, Spot *spot); /* false: it has no code of Python */
bool read_safely(void *to, const void *from, size_t n);

/* ---- trace.c ---- */
void trace_begin(const char *folder, const char *list);
void trace_new_threads(void); /* the calling thread is about to begin one */

/* ---- where.c ---- */
void where_begin(void);
Kind where(uint64_t address, uint64_t stack);

#endif
