/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the engine share.
 *
 * The engine counts how often each straight-line segment of the program's code runs, keeps the
 * bytes of every instruction in it, and simulates caches. It decides nothing about the meaning
 * of instructions: flop, loads and branches are decoded from the bytes by who reads its output.
 *
 *   engine.c      the tool: options, requests, fork, exec, signals, exit
 *   instrument.c  rewrites a block of code so that it counts itself and notes its addresses
 *   block.c       the segments of such a block; accesses.c: its accesses to memory
 *   opcode.c      the few instructions that have to be known by their bytes
 *   prefetch.c    where software prefetches point
 *   code.c        instructions and segments, each known once
 *   banks.c       counters, apart for each set of active regions
 *   threads.c     which thread is in which regions, and on which simulated CPU
 *   trace.c       the addresses noted by a running program, replayed in the simulated caches
 *   pattern.c     names of functions
 *   caches/       caches, and reuse distances: pure C that the copying engine runs too
 *   fma*.c        fused multiply-add at the speed of the hardware
 *   output.c      the file that is written
 */
#ifndef RIDGEPOINT_ENGINE_H
#define RIDGEPOINT_ENGINE_H

#include "pub_tool_basics.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_tooliface.h"

#include "cache.h"
#include "reuse.h"

#define MAX_INSTRUCTION_BYTES 15
#define MAX_GEOMETRIES 8

/* ---- options (engine.c) ---- */

typedef struct {
    UInt n_geometries;             /* 0: none is simulated; instructions are charged by the first */
    CacheGeometry geometry[MAX_GEOMETRIES];
    UInt reuse_lines;              /* lines that the miss curve may track; 0: no miss curve */
    const HChar *region;           /* count for the miss curve in this region only, or NULL */
    const HChar *function;         /* pattern of functions that are regions, or NULL */
    Bool cold;                     /* empty the caches when the selected region begins */
    Bool all_threads;              /* what any thread does while one is inside is in it */
    const HChar *output;           /* file name without its last part; %p is the process */
} Options;

extern Options options;
Bool traced(void);                 /* whether addresses are needed at all */

/* ---- strings and code (code.c) ---- */

typedef struct Instruction {
    struct Instruction *next;      /* in its hash chain */
    Addr address;                  /* at run time */
    Addr file_address;             /* as its object file states it */
    UInt object, function, source; /* ids of strings; 0 is unknown */
    UInt line;
    UInt index;
    UChar length;
    UChar code[MAX_INSTRUCTION_BYTES];
} Instruction;

typedef enum {
    SEGMENT_PLAIN,
    SEGMENT_ITERATION,      /* one iteration of an instruction with a REP prefix */
    SEGMENT_LAST_ITERATION, /* one that its flag ends, unless SEGMENT_NOT_LAST follows */
    SEGMENT_NOT_LAST,
    SEGMENT_FLAG_END,       /* the flag ended such an instruction */
} SegmentRole;

typedef struct {
    UInt instruction; /* index */
    UShort bytes;
    UShort kind;      /* AccessKind */
} Access;

typedef struct {
    Addr address;     /* of the first byte that is fetched from a line */
    UInt instruction; /* index: the first on that line */
} FetchedLine;

/* Instructions that run one after the other, or not at all. */
typedef struct Segment {
    UInt index; /* of its counter in every bank */
    UInt n_instructions, n_accesses, n_lines;
    FetchedLine *lines;
    Access *accesses;
    UInt *instructions;
    UInt role;            /* SegmentRole */
    struct Segment *next; /* in its hash chain */
} Segment;

UInt string_id(const HChar *text);
UInt n_strings(void);
const HChar *string_of(UInt id);

Instruction *instruction_at(Addr address, UInt length, DiEpoch epoch);
UInt n_instructions(void);
Instruction *instruction_of(UInt index);

/* The segment with this content; made if there is none. The content is copied. */
Segment *segment_with(const Segment *content);
UInt n_segments(void);
Segment *segment_of(UInt index);

/* ---- counters (banks.c) ---- */

#define COUNTERS_PER_PAGE 16384u
#define MAX_COUNTER_PAGES 4096u

/* Where the counters of the running thread's bank lie; compiled code reads these. */
extern ULong *counter_pages[MAX_COUNTER_PAGES];

typedef struct Bank Bank;
void banks_begin(void);
void banks_make_room(UInt segment_index);
Bank *bank_outside(void);                      /* the bank of no region */
Bank *bank_entered(Bank *from, UInt name);     /* the bank of its regions and one more */
Bank *bank_within(const Bank *outer, const Bank *inner); /* of the regions of both */
Bool bank_holds(const Bank *bank, UInt name);
void bank_use(Bank *bank);                     /* count there from now on */
Moved *bank_moved(void *unused, UInt instruction);
Moved *bank_moved_elsewhere(void *geometry, UInt instruction);
void banks_forget_counts(void);
UInt n_banks(void);
Bank *bank_of(UInt index);
UInt bank_path(const Bank *bank, const UInt **names);
ULong bank_counter(const Bank *bank, UInt segment_index);
const Moved *bank_moved_by(const Bank *bank, UInt instruction);  /* NULL: nothing */
const Moved *bank_moved_in(const Bank *bank, UInt geometry);

/* ---- threads and regions (threads.c) ---- */

extern Bool asleep; /* nothing has to be counted yet: code runs as it is */
void threads_begin(void);
void thread_runs(ThreadId tid);
void thread_created(ThreadId tid);
void thread_ended(ThreadId tid);
void threads_of_child(ThreadId tid);           /* of a fork: all others are gone */
UInt threads_most(void);
ULong threads_started(void);
void region_begins(ThreadId tid, UInt name);
void region_ends(ThreadId tid, UInt name);
/* Above this the stack pointer has left the function that was asked for, if the running thread is
 * in one; compiled code reads it. */
extern Addr function_limit;
Bool is_selected_function(const HChar *name);
UInt function_name_id(const HChar *name); /* of the region that a function is */
void function_entered(UInt name, Addr sp);
void function_left(Addr sp, Addr to);

/* ---- the trace (trace.c) ---- */

#define TRACE_SLACK 8192u /* words that one block may write without asking for room */

extern ULong *trace_cursor;
extern ULong *trace_limit;
void trace_begin(void);
void trace_replay(void);
void trace_interrupted(Addr at);
void segment_interrupted(Addr at); /* the same where nothing is traced */
void trace_select_cpu(UInt cpu);
void trace_empty_caches(void);
void trace_drop(Bool on); /* what is noted from now on is not replayed */
void trace_count_reuse(Bool on);
void trace_forget_counts(void);
ULong trace_dirty_lines(UInt geometry);
Reuse *trace_reuse(void);

/* ---- instrumentation (instrument.c) ---- */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word);

/* ---- output (output.c) ---- */

typedef enum { WRITTEN_AT_EXIT, WRITTEN_BEFORE_EXEC } WhyWritten;
void output_begin(void);
void write_output(WhyWritten why, Int status);
void output_of_child(void);

/* ---- for all (engine.c) ---- */

void *allocate(SizeT bytes);                                 /* zeroed */
void give_up(const HChar *why) __attribute__((noreturn));    /* ends the program with a message */

#endif
