/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One set-associative cache with true LRU: which lines it holds, and in which order they were used.
 *
 * A set is `slots` tags and then as many stamps. Hits move no tags: a vector load that follows
 * narrow stores to the same bytes stalls the host's store forwarding, which made hits three
 * times slower. A stamp is the time of use and, in its low bits, its own slot, so that a plain
 * minimum finds who has to leave. An L1 remembers each set's line used last besides: using that
 * once more changes nothing.
 */
#ifndef RIDGEPOINT_ONE_CACHE_H
#define RIDGEPOINT_ONE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The low bits of a tag; the others are the address of its line. A slot without a line is 0. */
#define TAG_DIRTY UINT64_C(1)
#define TAG_SHARED UINT64_C(2) /* a cache off this one's way to memory may hold a copy */
#define TAG_VALID UINT64_C(4)
#define TAG_STATE (TAG_DIRTY | TAG_SHARED)

#define SLOTS_PER_VECTOR 4
#define SLOT_LIMIT UINT64_C(65536) /* of a set; stamps of free slots are below */

typedef struct {
    uint64_t *sets; /* NULL until a CPU of this cache is selected */
    uint64_t *last; /* per set: the tag with the largest stamp, or 0: unknown. NULL: not kept */
    uint64_t clock; /* counts in steps of SLOT_LIMIT: 48 bits of it last for weeks */
    uint64_t n_sets, set_mask;
    uint64_t reciprocal; /* 2^64 / n_sets, rounded down; 0: n_sets is a power of two */
    uint32_t ways;
    uint32_t slots; /* the ways rounded up to whole vectors; those beyond stay empty */
    uint32_t line_bits;
} Cache;

static inline uint64_t cache_set(const Cache *cache, uint64_t tag) {
    const uint64_t line = tag >> cache->line_bits;
    if (__builtin_expect(cache->reciprocal == 0, 1)) {
        return line & cache->set_mask;
    }
    /* Rounding the reciprocal down makes the quotient too small by 1 at most. */
    const uint64_t quotient = (uint64_t)(((unsigned __int128)line * cache->reciprocal) >> 64);
    const uint64_t set = line - quotient * cache->n_sets;
    return set < cache->n_sets ? set : set - cache->n_sets;
}

static inline uint64_t *cache_tags(const Cache *cache, uint64_t set) {
    return cache->sets + set * 2 * cache->slots;
}

static inline void cache_stamp(Cache *cache, uint64_t *tags, uint32_t slot) {
    cache->clock += SLOT_LIMIT;
    tags[cache->slots + slot] = cache->clock + slot;
}

/* The slot that holds the line, or cache->slots. */
static inline uint32_t cache_slot(const Cache *cache, const uint64_t *tags, uint64_t tag) {
    uint32_t slot = 0;
#ifdef __AVX2__
    typedef uint64_t Tags __attribute__((vector_size(32), aligned(8), may_alias));
    typedef double Signs __attribute__((vector_size(32)));
    for (; slot < cache->slots; slot += SLOTS_PER_VECTOR) {
        const Tags same = (Tags)((*(const Tags *)(tags + slot) & ~TAG_STATE) == tag);
        const int found = __builtin_ia32_movmskpd256((Signs)same);
        if (found) {
            return slot + (uint32_t)__builtin_ctz((unsigned)found);
        }
    }
#else
    while (slot < cache->slots && (tags[slot] & ~TAG_STATE) != tag) {
        slot++;
    }
#endif
    return slot;
}

/* The tag of the line, or NULL. */
static inline uint64_t *cache_find(const Cache *cache, uint64_t tag) {
    uint64_t *const tags = cache_tags(cache, cache_set(cache, tag));
    const uint32_t slot = cache_slot(cache, tags, tag);
    return slot == cache->slots ? NULL : tags + slot;
}

/* Like cache_find, and the line is the one used last then. */
static inline uint64_t *cache_use(Cache *cache, uint64_t tag) {
    const uint64_t set = cache_set(cache, tag);
    uint64_t *const tags = cache_tags(cache, set);
    const uint32_t slot = cache_slot(cache, tags, tag);
    if (slot == cache->slots) {
        return NULL;
    }
    cache_stamp(cache, tags, slot);
    if (cache->last) {
        cache->last[set] = tags[slot];
    }
    return tags + slot;
}

/* The slot used longest ago. Four minima side by side: one alone would wait for each step. */
static inline uint32_t cache_oldest(const Cache *cache, const uint64_t *stamps) {
    uint64_t oldest[SLOTS_PER_VECTOR] = {stamps[0], stamps[1], stamps[2], stamps[3]};
    for (uint32_t slot = SLOTS_PER_VECTOR; slot < cache->slots; slot += SLOTS_PER_VECTOR) {
        for (uint32_t i = 0; i < SLOTS_PER_VECTOR; i++) {
            const uint64_t stamp = stamps[slot + i];
            oldest[i] = stamp < oldest[i] ? stamp : oldest[i];
        }
    }
    const uint64_t a = oldest[0] < oldest[1] ? oldest[0] : oldest[1];
    const uint64_t b = oldest[2] < oldest[3] ? oldest[2] : oldest[3];
    return (uint32_t)((a < b ? a : b) % SLOT_LIMIT);
}

/* Take in a line that is not there; return the tag of the one that had to leave, or 0. */
static inline uint64_t cache_insert(Cache *cache, uint64_t tag) {
    const uint64_t set = cache_set(cache, tag);
    uint64_t *const tags = cache_tags(cache, set);
    const uint32_t slot = cache_oldest(cache, tags + cache->slots);
    const uint64_t evicted = tags[slot];
    tags[slot] = tag;
    cache_stamp(cache, tags, slot);
    if (cache->last) {
        cache->last[set] = tag;
    }
    return evicted;
}

/* Replace the tag of a copy that cache_find found; by 0: the line leaves. */
static inline void cache_change(Cache *cache, uint64_t *copy, uint64_t tag) {
    const uint64_t set = cache_set(cache, *copy);
    if (cache->last && ((cache->last[set] ^ *copy) & ~TAG_STATE) == 0) {
        cache->last[set] = tag;
    }
    *copy = tag;
    if (!tag) {
        copy[cache->slots] = (uint64_t)(copy - cache_tags(cache, set));
    }
}

static inline void cache_forget(Cache *cache) {
    for (uint64_t set = 0; set < cache->n_sets; set++) {
        uint64_t *const tags = cache_tags(cache, set), *const stamps = tags + cache->slots;
        for (uint32_t slot = 0; slot < cache->slots; slot++) {
            tags[slot] = 0;
            stamps[slot] = slot < cache->ways ? slot : UINT64_MAX;
        }
        if (cache->last) {
            cache->last[set] = 0;
        }
    }
}

#endif
