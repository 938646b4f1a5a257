/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * One set-associative cache with true LRU: which lines it holds, and in which order they were used.
 */
#ifndef RIDGEPOINT_ONE_CACHE_H
#define RIDGEPOINT_ONE_CACHE_H

#include "cache_row.h"

typedef struct {
    uint64_t *rows; /* NULL until a CPU of this cache is selected */
    uint64_t n_sets, set_mask;
    uint64_t reciprocal; /* 2^64 / n_sets, rounded down; 0: n_sets is a power of two */
    uint32_t ways;
    uint32_t slots; /* of a row: the ways rounded up to whole vectors; those beyond stay empty */
    uint32_t line_bits;
} Cache;

ALWAYS_INLINE uint64_t cache_set(const Cache *cache, uint64_t tag) {
    const uint64_t line = tag >> cache->line_bits;
    if (__builtin_expect(cache->reciprocal == 0, 1)) {
        return line & cache->set_mask;
    }
    /* Rounding the reciprocal down makes the quotient too small by 1 at most. */
    const uint64_t quotient = (uint64_t)(((unsigned __int128)line * cache->reciprocal) >> 64);
    const uint64_t set = line - quotient * cache->n_sets;
    return set < cache->n_sets ? set : set - cache->n_sets;
}

/* The row that the line belongs to. */
ALWAYS_INLINE uint64_t *cache_row(const Cache *cache, uint64_t tag) {
    return cache->rows + cache_set(cache, tag) * cache->slots;
}

/* The tag of the line, or NULL. */
static inline uint64_t *cache_find(const Cache *cache, uint64_t tag) {
    uint64_t *const row = cache_row(cache, tag);
    const uint32_t place = row_find(row, cache->ways, tag);
    return place < cache->ways ? row + place : NULL;
}

/* Use the line, or take it in: see row_enter. */
ALWAYS_INLINE uint64_t cache_enter(const Cache *cache, uint64_t tag, uint64_t state) {
    return row_enter(cache_row(cache, tag), cache->ways, tag, state);
}

/* Replace the tag of a copy that cache_find found; by 0: the line leaves. */
static inline void cache_change(const Cache *cache, uint64_t *copy, uint64_t tag) {
    uint64_t *const last = cache_row(cache, *copy) + cache->ways - 1;
    for (; !tag && copy < last; copy++) {
        *copy = copy[1];
    }
    *copy = tag;
}

static inline void cache_forget(Cache *cache) {
    for (uint64_t slot = 0; slot < cache->n_sets * cache->slots; slot++) {
        cache->rows[slot] = 0;
    }
}

#endif
