/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that all processes of a counted run share, and Python reads.
 *
 * It is one memfd that Ridgepoint holds open; every process maps it (MAP_SHARED), so its counts
 * are there however it ends. Python writes the header before the run; everything else is only
 * ever appended, with atomic additions: a process that is killed in the middle of anything loses
 * at most what it was about to append. All numbers are little endian.
 *
 *   header | modules | events | samples | names | banks
 *
 * The environment variable RIDGEPOINT_ARENA names it ("/proc/1234/fd/5"); a process that cannot
 * open it runs as it is, uncounted.
 */
#ifndef RIDGEPOINT_ARENA_H
#define RIDGEPOINT_ARENA_H

#include <stdint.h>

#define ARENA_MAGIC "RPARENA1"
#define ARENA_VARIABLE "RIDGEPOINT_ARENA"

/* ---- options: bits of ArenaHeader.options ---- */
#define OPTION_SAMPLES UINT64_C(1)  /* a timer per thread classifies where its time goes */
#define OPTION_TRAFFIC UINT64_C(2)  /* recording copies: all addresses are simulated */
#define OPTION_BURSTS UINT64_C(4)   /* counting and recording copies: bursts of addresses */
#define OPTION_JIT UINT64_C(8)      /* code made at run time is copied too */
#define OPTION_VERBOSE UINT64_C(16) /* the loader says on stderr what it does */
#define OPTION_ALL_THREADS UINT64_C(32) /* those outside count with one that is inside */
#define OPTION_LINES UINT64_C(64) /* those without lines of Python, with the only one on a line */

typedef struct {
    char magic[8];
    uint64_t options;
    /* Places in the file, in bytes, and how many fit; written by Python. */
    uint64_t modules_at, most_modules;
    uint64_t events_at, most_events;
    uint64_t samples_at, most_samples;
    uint64_t names_at, names_bytes; /* strings with their 0; offset 0 is "" */
    uint64_t banks_at, most_banks, bank_bytes;
    uint64_t most_counters; /* of a bank */
    uint64_t period_ns;     /* CPU time between two samples of a thread, or two bursts */
    uint64_t folder_name;   /* offsets in names: folder of the copies, */
    uint64_t copier_name;   /* the program that makes them, */
    uint64_t loader_name;   /* and the preloaded library */
    uint64_t traffic_at;    /* of ArenaTraffic, see arena_traffic.h; 0: there is none */
    uint64_t function_name; /* functions that are counted alone: a name or pattern; 0: none */
    uint64_t claims_at;     /* of PLANNED_UNITS words; 0, or few counters: all are given in turn */
    uint64_t region_name;   /* the region that is counted alone; 0: none */
    uint64_t reserved[12];
    /* How many there are; only ever added to (names_used begins at 1). Each on a cache line. */
    _Alignas(64) uint64_t n_modules;
    _Alignas(64) uint64_t n_events;
    _Alignas(64) uint64_t n_samples;
    _Alignas(64) uint64_t names_used;
    _Alignas(64) uint64_t n_banks;
    _Alignas(64) uint64_t n_counters; /* numbers that modules have taken in turn */
    _Alignas(64) uint64_t n_processes;
    _Alignas(64) uint64_t threads_without_bank; /* they share one, and their counts may be lost */
    /* Of OPTION_ALL_THREADS and OPTION_LINES, CPU time: of all threads while one was inside; and of those that may
       have counted in the wrong bank meanwhile, see loader_group.c. */
    _Alignas(64) uint64_t inside_ns;
    _Alignas(64) uint64_t late_ns;
} ArenaHeader;

/* Counters up to FIRST_PLANNED are given in turn. Those behind are given in units, to the copies
   whose code has them already: each unit has a word that says by whom it was claimed, 0: nobody. */
#define FIRST_PLANNED (UINT64_C(4) << 20)
#define PLANNED_UNIT UINT64_C(1024)
#define PLANNED_UNITS (UINT64_C(48) << 10)

/* A module whose copy was loaded: its counters have the same numbers in all processes. Two
   processes that load one at the same moment may make two rows of it: counts add up. */
typedef struct {
    uint64_t ready;         /* 1 once the rest is written */
    uint64_t path_name;     /* of the module; of code made at run time "" */
    uint64_t copy_name;     /* path of the file of its copy, whose rows say what counters mean */
    uint64_t identity[2];   /* as CopyHeader has it */
    uint64_t first_counter, n_counters;
    uint64_t process;       /* of code made at run time: who made it; else ~0 */
} ArenaModule;

typedef enum {
    EVENT_NONE = 0,          /* not written yet */
    EVENT_BEGAN = 1,         /* process `process` began: a = pid, b = parent's pid, name = exe */
    EVENT_FORKED = 2,        /* a = number of the new process, b = its pid */
    EVENT_EXECS = 3,         /* it is about to become another program: name = path, a = 1: vfork */
    EVENT_EXEC_FAILED = 4,   /* a = errno: it goes on */
    EVENT_LOADED = 5,        /* a = module, b = load bias, c = where its copy is, d = its bytes */
    EVENT_LEFT_ALONE = 6,    /* module `name` was not copied: a = Reason */
    EVENT_UNLOADED = 7,      /* a = module */
    EVENT_THREAD = 8,        /* a = thread id, b = threads alive now */
    EVENT_ENDED = 9,         /* a = status; b = 1: by a signal that it sent itself */
    EVENT_USES_GS = 10,      /* it set %gs itself: nothing is counted from now on */
} EventKind;

typedef enum {
    REASON_NONE,
    REASON_NO_COPY,        /* no copy could be made; see the copier's message in `name2` */
    REASON_CHANGED,        /* its code is not what was copied */
    REASON_NO_ROOM,        /* no address space within 2 GiB of it */
    REASON_NO_COUNTERS,    /* the bank is full */
    REASON_FORBIDDEN,      /* the system lets nobody make its code writable */
    REASON_USES_GS,        /* its code uses %gs */
    REASON_CHECKS_ITSELF,
    REASON_DAMAGED,        /* the file of its copy is cut short or of another format */
    REASON_THREADS,        /* the program had threads before the loader began */
    REASON_WRITABLE,       /* its code can be written without a system call */
} Reason;

typedef struct {
    uint64_t kind; /* EventKind, written last */
    uint64_t process;
    uint64_t a, b, c, d;
    uint64_t name, name2;
} ArenaEvent;

/* Where time went that was not in a copy. */
typedef struct {
    uint64_t process;
    uint64_t address; /* at run time; 0: not written yet */
} ArenaSample;

/* ---- banks ---- */

/* What %gs points to: the counters of a thread in one set of regions, with one configuration of
   AMX's tiles. */
typedef struct Bank {
    uint64_t self;        /* where this bank is in this process */
    uint64_t process;     /* number, from 0 in the order of beginning */
    uint64_t pid, tid;
    uint64_t regions;     /* offset in names of the open regions' names, outermost first,
                             separated by '\n'; 0: none */
    uint64_t next;        /* private to the loader: next bank of the same thread */
    uint64_t thread;      /* private to the loader */
    uint64_t is_free;     /* its thread has ended; another may go on with it */
    uint8_t tiles[64];    /* as LDTILECFG has it; all 0: not configured */
    /* Samples of this thread, by where the program counter was. */
    uint64_t in_copy, in_original, in_loader, in_kernel, elsewhere;
    uint64_t dropped;     /* addresses that were not recorded */
    uint64_t slots[32];   /* of emitted code and of the loader's assembler, see copy_file.h */
    uint64_t ring_index;  /* bytes used of the ring */
    uint64_t not_simulated; /* words of it that no cache has seen */
} Bank;

#define RING_AT 4096u
#define RING_BYTES 65536u  /* a block may write as much beyond */
#define COUNTERS_AT (RING_AT + 2 * RING_BYTES)
/* Counter n of a bank is the 64-bit number at COUNTERS_AT + 8 n. */

#endif
