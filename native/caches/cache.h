/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * Write-back, write-allocate, true-LRU caches in up to four levels, shared by CPUs as the geometry
 * says: which lines cross which boundary, and which instruction ("site") made them.
 *
 * Pure C: no library, no Valgrind; memory comes from an allocator that the caller names. What is
 * simulated, and what is not, is told in cache.c; this header holds what every access runs through.
 * cache_setup.c makes, empties and counts whole caches.
 */
#ifndef RIDGEPOINT_CACHE_H
#define RIDGEPOINT_CACHE_H

#include "one_cache.h"

#define CACHE_MAX_LEVELS 4

/* size_bytes must be a multiple of ways x line_bytes, so the number of sets may be any; ways <
   65536. cpus: how many CPUs, with neighbouring numbers, share one such cache. */
typedef struct {
    uint64_t size_bytes;
    uint32_t ways;
    uint32_t cpus;
} CacheShape;

/* data[k].cpus must be a multiple of data[k - 1].cpus. instruction.size_bytes 0: there is no cache
   of instructions, and they are fetched from data[1] (n_levels 1: fetches are ignored). */
typedef struct {
    uint32_t n_levels, line_bytes, n_cpus;
    CacheShape data[CACHE_MAX_LEVELS];
    CacheShape instruction;
} CacheGeometry;

/* Lines that crossed the outer side of level k, and bytes that went past all caches. The order is
   that of the file that the engine writes. */
typedef struct {
    uint64_t read_lines[CACHE_MAX_LEVELS];
    uint64_t write_lines[CACHE_MAX_LEVELS];
    uint64_t nt_bytes;
} Moved;

/* Where to add what a site moved; asked only when something may move. Never NULL. */
typedef Moved *(*MovedOf)(void *context, uint32_t site);

typedef enum {
    ACCESS_LOAD,
    ACCESS_STORE, /* also read-modify-write */
    ACCESS_NT_STORE,
    ACCESS_PREFETCH_T0,
    ACCESS_PREFETCH_T1,
    ACCESS_PREFETCH_T2,
    ACCESS_PREFETCH_NTA,
    ACCESS_FETCH, /* of instructions */
} AccessKind;

/* Of a burst of accesses, up to now: what was moved if lines that it did not use before are still as
   the last burst left them, and how much of that is not sure. */
typedef struct {
    uint64_t read_lines[CACHE_MAX_LEVELS], write_lines[CACHE_MAX_LEVELS], nt_bytes;
    uint64_t may_be_hits[CACHE_MAX_LEVELS];    /* of read_lines */
    uint64_t may_be_misses[CACHE_MAX_LEVELS];  /* not in read_lines */
    uint64_t may_be_clean[CACHE_MAX_LEVELS];   /* of write_lines */
    uint64_t may_be_dirty[CACHE_MAX_LEVELS];   /* not in write_lines */
} BurstMoved;

typedef struct Caches {
    Cache *path[CACHE_MAX_LEVELS]; /* from the selected CPU to memory */
    Cache *instruction;            /* of the selected CPU; NULL: there is none */
    uint64_t line_mask;
    uint32_t line_bits, n_levels;
    bool several; /* more than one CPU was ever selected: copies may be elsewhere */
    uint32_t cpu, n_cpus, cpus_seen; /* cpus_seen: highest CPU ever selected, plus 1 */
    uint32_t cpus_per[CACHE_MAX_LEVELS], cpus_per_instruction;
    Cache *data[CACHE_MAX_LEVELS], *instructions; /* all caches of a level */
    void *(*allocate)(size_t bytes);
    MovedOf moved_of;
    void *context;
    BurstMoved *burst; /* NULL: nothing is added up there */
    bool saw_all;      /* nothing was accessed before the burst */
} Caches;

/* NULL if the geometry is impossible or there is no memory. CPU 0 is selected. allocate must
   return zeroed memory; nothing is ever given back. */
Caches *caches_new(const CacheGeometry *geometry, void *(*allocate)(size_t bytes),
                   MovedOf moved_of, void *context);

/* Who makes the accesses from now on. False (and nothing changes) if there is no such CPU, or no
   memory for its caches, which are made when it is first selected. */
bool caches_select_cpu(Caches *caches, uint32_t cpu);

/* Write all dirty lines back, counted for the site at every boundary that they cross, and forget
   all lines: the caches are cold. */
void caches_empty(Caches *caches, uint32_t site);

/* Accesses were made that were not seen here (is_first: none were); those from now on are, and are
   added up. */
void caches_begin_burst(Caches *caches, BurstMoved *burst, bool is_first);

/* Different lines that some cache holds newer than memory does. */
uint64_t caches_dirty_lines(const Caches *caches);

/* The parts of what follows that are not worth inlining. */
void caches_use_line(Caches *caches, uint64_t *row, uint64_t tag, bool store, uint32_t site);
void caches_access_rarely(Caches *caches, uint64_t address, uint32_t bytes, AccessKind kind,
                          uint32_t site);

/* The cache of a level on a CPU's way to memory. */
static inline Cache *cache_of(const Caches *caches, uint32_t level, uint32_t cpu) {
    return &caches->data[level][cpu / caches->cpus_per[level]];
}

/* A load or store of one line, at any address in it. */
ALWAYS_INLINE void caches_access_line(Caches *caches, const Cache *nearest, uint64_t address,
                                      bool store, uint32_t site) {
    const uint64_t line_bytes = UINT64_C(1) << nearest->line_bits;
    const uint64_t tag = address & -line_bytes;
    uint64_t *const row = cache_row(nearest, address);
    /* Nothing changes when the line was used last, and is dirty already if this is a store. */
    if (__builtin_expect(store ? row[0] != (tag | TAG_DIRTY) : (row[0] ^ address) >= line_bytes,
                         0)) {
        caches_use_line(caches, row, tag, store, site);
    }
}

ALWAYS_INLINE void caches_load_or_store(Caches *caches, const Cache *nearest, uint64_t address,
                                        uint32_t bytes, bool store, uint32_t site) {
    const uint64_t line_bytes = UINT64_C(1) << nearest->line_bits;
    uint64_t end = (address & (line_bytes - 1)) + bytes;
    caches_access_line(caches, nearest, address, store, site);
    while (__builtin_expect(end > line_bytes, 0) && address) {
        address += line_bytes;
        end -= line_bytes;
        caches_access_line(caches, nearest, address, store, site);
    }
}

/* One access by the selected CPU; it may straddle lines. bytes >= 1. At address 0 it is one that did
   not happen. `nearest` is *path[0]: who makes many accesses passes a copy, which the compiler may
   keep in registers. */
ALWAYS_INLINE void caches_access_by(Caches *caches, const Cache *nearest, uint64_t address,
                                    uint32_t bytes, AccessKind kind, uint32_t site) {
    if (kind == ACCESS_LOAD) {
        caches_load_or_store(caches, nearest, address, bytes, false, site);
    } else if (kind == ACCESS_STORE) {
        caches_load_or_store(caches, nearest, address, bytes, true, site);
    } else {
        caches_access_rarely(caches, address, bytes, kind, site);
    }
}

static inline void caches_access(Caches *caches, uint64_t address, uint32_t bytes,
                                 AccessKind kind, uint32_t site) {
    caches_access_by(caches, caches->path[0], address, bytes, kind, site);
}

/* Fetch instructions from the line of an address. */
static inline void caches_fetch(Caches *caches, uint64_t address, uint32_t site) {
    const Cache *const nearest = caches->instruction;
    const uint64_t tag = address & caches->line_mask;
    if (!nearest || *cache_row(nearest, tag) != tag) {
        caches_access_rarely(caches, address, 1, ACCESS_FETCH, site);
    }
}

#endif
