/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One set-associative cache with true LRU: which lines it holds, and in which order they were used.
 */
#ifndef RIDGEPOINT_ONE_CACHE_H
#define RIDGEPOINT_ONE_CACHE_H

#include "cache_names.h"

typedef struct {
    uint32_t *rows; /* NULL until a CPU of this cache is selected */
    /* Of an L1, by set: the address of the line that was used last, with TAG_VALID, and TAG_DIRTY
       if a store to it changes nothing; or 0. It stands for the first tag of the row, where it is
       compared with an address that has no name yet. NULL: not an L1. */
    uint64_t *recent;
    const Names *names;
    uint64_t n_sets, set_mask;
    uint64_t reciprocal; /* 2^64 / n_sets, rounded down; 0: names have the bits of the set */
    uint32_t ways;
    uint32_t slots; /* of a row: the ways rounded up to whole vectors; those beyond stay empty */
    uint32_t line_bits;
} Cache;

/* The set of a line, by its number. */
ALWAYS_INLINE uint64_t cache_set_of_line(const Cache *cache, uint64_t line) {
    if (__builtin_expect(cache->reciprocal == 0, 1)) {
        return line & cache->set_mask;
    }
    /* Rounding the reciprocal down makes the quotient too small by 1 at most. */
    const uint64_t quotient = (uint64_t)(((unsigned __int128)line * cache->reciprocal) >> 64);
    const uint64_t set = line - quotient * cache->n_sets;
    return set < cache->n_sets ? set : set - cache->n_sets;
}

ALWAYS_INLINE uint64_t cache_set(const Cache *cache, uint32_t tag) {
    if (__builtin_expect(cache->reciprocal == 0, 1)) {
        return (tag >> TAG_NAME_SHIFT) & cache->set_mask;
    }
    return cache_set_of_line(cache, named_line(cache->names, tag));
}

/* The row that the line belongs to. */
ALWAYS_INLINE uint32_t *cache_row(const Cache *cache, uint32_t tag) {
    return cache->rows + cache_set(cache, tag) * cache->slots;
}

/* The tag of the line, or NULL. */
static inline uint32_t *cache_find(const Cache *cache, uint32_t tag) {
    uint32_t *const row = cache_row(cache, tag);
    const uint32_t place = row_find(row, cache->ways, tag);
    return place < cache->ways ? row + place : NULL;
}

/* Use the line, or take it in: see row_enter. */
ALWAYS_INLINE uint32_t cache_enter(const Cache *cache, uint32_t tag, uint32_t state) {
    return row_enter(cache_row(cache, tag), cache->ways, tag, state);
}

/* Something other than a load, store or fetch has come to the row of the line. */
static inline void cache_forget_recent(const Cache *cache, uint32_t tag) {
    if (cache->recent) {
        cache->recent[cache_set(cache, tag)] = 0;
    }
}

/* Replace the tag of a copy that cache_find found; by 0: the line leaves. */
static inline void cache_change(const Cache *cache, uint32_t *copy, uint32_t tag) {
    uint32_t *const last = cache_row(cache, *copy) + cache->ways - 1;
    cache_forget_recent(cache, *copy);
    for (; !tag && copy < last; copy++) {
        *copy = copy[1];
    }
    *copy = tag;
}

static inline void cache_forget(Cache *cache) {
    for (uint64_t slot = 0; slot < cache->n_sets * cache->slots; slot++) {
        cache->rows[slot] = 0;
    }
    for (uint64_t set = 0; cache->recent && set < cache->n_sets; set++) {
        cache->recent[set] = 0;
    }
}

#endif
