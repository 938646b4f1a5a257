/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * What a fully associative LRU write-back cache would read and write, for every capacity at once,
 * from one pass over the lines that a program touches. How, is told in reuse.c.
 *
 * Pure C: no library, no Valgrind; memory comes from an allocator that the caller names.
 */
#ifndef RIDGEPOINT_REUSE_H
#define RIDGEPOINT_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capacities are told apart 8 to the octave, and one by one up to 16 lines. */
#define REUSE_STEPS_PER_OCTAVE 8u
#define CURVE_ROWS (62u * REUSE_STEPS_PER_OCTAVE)

/* The order is that of the file that the engine writes. */
typedef struct {
    uint64_t capacity_lines;
    uint64_t read_lines;    /* misses, the first touch of each line among them */
    uint64_t write_lines;   /* dirty lines that had to leave */
    uint64_t pending_lines; /* dirty lines that are still in the cache */
} CurveRow;

typedef struct {
    uint64_t sampled_lines; /* lines that are followed */
    uint64_t denominator;   /* of how many each is one; 1: all are followed */
    uint64_t accesses;      /* of lines, all of them, while counting was on */
} CurveSummary;

/* A line that was touched. */
typedef struct {
    uint64_t line;
    uint32_t time;        /* of the last touch */
    uint16_t dirty_above; /* step: larger capacities hold it dirty */
    bool counted;         /* whether counting was on when it was last written */
} ReuseLine;

typedef struct Reuse {
    uint64_t last_line;
    ReuseLine *last; /* its record; of a line outside the sample: `outside` */
    uint64_t accesses;
    bool on;

    uint32_t most_lines, n_lines;
    uint32_t sampling_bits; /* the share of lines followed is 2^-sampling_bits */
    ReuseLine outside;
    ReuseLine *lines;  /* n_lines, in no order */
    uint32_t *buckets; /* open addressing: indices of lines plus 1; 0: free */
    uint64_t n_buckets;

    uint64_t *touched; /* bit t: some line was last touched at time t */
    uint32_t *counts;  /* Fenwick tree over the words of `touched` */
    uint32_t now, end_of_time;

    uint64_t first_touches;
    uint64_t misses[CURVE_ROWS];     /* at distances of this step */
    int64_t write_backs[CURVE_ROWS]; /* by how much more than at the capacity a step below */
} Reuse;

/* At most most_lines lines (16 to 2^28) are followed: when there are more, every second one is let
   go. NULL: most_lines is out of range, or there is no memory (what was allocated is released).
   allocate must return zeroed memory. Counting is off. */
Reuse *reuse_new(uint32_t most_lines, void *(*allocate)(size_t bytes), void (*release)(void *));

/* Count from now on, or no longer: misses of accesses made while on, and write-backs (whenever
   they happen) of what was written while on. Distances are always followed. */
void reuse_count(Reuse *reuse, bool on);

/* All counts become 0, and what was written up to now will not be counted. */
void reuse_forget_counts(Reuse *reuse);

/* Rows for ascending capacities from 1 line to beyond the footprint, CURVE_ROWS or n at most;
   returns how many. Counting may go on afterwards. */
size_t reuse_curve(const Reuse *reuse, CurveRow *rows, size_t n, CurveSummary *summary);

/* An access of another line than the one before. */
void reuse_access_other(Reuse *reuse, uint64_t line, bool write);

/* One access within one line, given by its number (address / line_bytes). */
static inline void reuse_access(Reuse *reuse, uint64_t line, bool write) {
    reuse->accesses += reuse->on;
    if (line != reuse->last_line) {
        reuse_access_other(reuse, line, write);
    } else if (write) {
        reuse->last->dirty_above = 0;
        reuse->last->counted = reuse->on;
    }
}

#endif
