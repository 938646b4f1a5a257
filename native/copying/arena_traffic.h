/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the arena that is about caches: what Python wants simulated, and what came out.
 *
 * What code moved is there at any moment, however a process ends; what was dirty at the end, and
 * the miss curve, are written when it ends by itself or becomes another program.
 */
#ifndef RIDGEPOINT_ARENA_TRAFFIC_H
#define RIDGEPOINT_ARENA_TRAFFIC_H

#include <stdint.h>

#define TRAFFIC_LEVELS 4      /* as many as cache.h has */
#define TRAFFIC_GEOMETRIES 8
#define TRAFFIC_CURVE_ROWS 496 /* as many as reuse.h has */

/* ---- flags ---- */
#define TRAFFIC_COLD UINT64_C(1)        /* empty the caches when the selected region begins, ends */
#define TRAFFIC_ALL_THREADS UINT64_C(2) /* what any thread does while one is inside is in it */
#define TRAFFIC_FUNCTION UINT64_C(4)    /* regions whose names begin with \1 are selected too */

typedef struct {
    uint64_t size_bytes, ways, cpus;
} ArenaCache;

typedef struct {
    uint64_t line_bytes, n_cpus, n_levels;
    ArenaCache instruction; /* size 0: there is none */
    ArenaCache data[TRAFFIC_LEVELS];
} ArenaGeometry;

typedef struct {
    uint64_t n_geometries;  /* code is charged in the first; 0: no caches, only the miss curve */
    uint64_t reuse_lines;   /* that the miss curve may follow; 0: there is no miss curve */
    uint64_t flags;
    uint64_t region_name;   /* offset in names: the miss curve and COLD are for it; 0: for all */
    uint64_t moved_at, most_moved;
    uint64_t ends_at, most_ends;
    uint64_t bursts_at, most_bursts;
    uint64_t burst_words; /* of all bursts; 0: as seems best */
    uint64_t reserved[5];
    ArenaGeometry geometry[TRAFFIC_GEOMETRIES];
    _Alignas(64) uint64_t n_moved; /* rows taken; more than there are: some stayed without one */
    _Alignas(64) uint64_t n_bursts; /* likewise */
} ArenaTraffic;

typedef enum {
    MOVED_NOTHING,   /* not written yet */
    MOVED_AT,        /* by the instruction that holds the byte at vaddr `address` of `module` */
    MOVED_ANYWHERE,  /* by instructions for which there was no row left */
    MOVED_ELSEWHERE, /* by all together in geometry 1 + `module` */
} MovedKind;

#define MOVED_IN_BURSTS (UINT64_C(1) << 63) /* of ArenaMoved.process: not in the first burst */

/* Several rows may be of one instruction: they add up. */
typedef struct {
    uint64_t kind;            /* MovedKind, written after what says whose it is */
    uint64_t process, regions; /* as a bank has them */
    uint64_t module, address;
    uint64_t read_lines[TRAFFIC_LEVELS], write_lines[TRAFFIC_LEVELS], nt_bytes; /* as Moved */
} ArenaMoved;

#define BURST_PARTS 8

/* What a burst of a process moved; all numbers are from its beginning up to the end of a part. */
typedef struct {
    uint64_t words; /* of rings */
    uint64_t read_lines[TRAFFIC_LEVELS], write_lines[TRAFFIC_LEVELS], nt_bytes; /* as BurstMoved */
    uint64_t may_be_hits[TRAFFIC_LEVELS], may_be_misses[TRAFFIC_LEVELS];
    uint64_t may_be_clean[TRAFFIC_LEVELS], may_be_dirty[TRAFFIC_LEVELS];
} ArenaBurstPart;

typedef struct {
    uint64_t process;
    uint64_t is_first; /* it began with the program, and knows all */
    uint64_t weight;   /* words that the program came further from the one before to the next, without
                          bursts; 0: unknown */
    uint64_t n_parts;  /* written last; fewer than BURST_PARTS: the program ended before it */
    ArenaBurstPart parts[BURST_PARTS];
} ArenaBurst;

/* One per process, by its number. */
typedef struct {
    uint64_t ready;         /* 1: ended; 2: became, or tried to become, another program */
    uint64_t pending_lines[TRAFFIC_GEOMETRIES];
    uint64_t line_bytes, sampled_lines, denominator, accesses; /* of the miss curve */
    uint64_t n_rows;
    uint64_t failed;        /* 1: memory ran out, and not all was simulated */
    uint64_t own_kib;       /* at most that much of the program's was resident at any time */
    uint64_t reserved;
    uint64_t rows[TRAFFIC_CURVE_ROWS][4]; /* CurveRow */
} ArenaEnd;

#endif
