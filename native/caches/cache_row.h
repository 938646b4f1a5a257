/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * A row: the tags of one set of a cache, the one used last first. So there is nothing to search
 * for when a line has to leave, and no time of use to be kept.
 *
 * Using a line moves those before it on by one place. The vector code does that to whole rows: it
 * loads all of them, and writes all of them back with the same aligned vectors. Narrower stores
 * would do, but a CPU makes a load wait for earlier stores to the same bytes unless a single one
 * of them covers it, and the next use of the row follows soon: hits were three times slower.
 */
#ifndef RIDGEPOINT_CACHE_ROW_H
#define RIDGEPOINT_CACHE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The low bits of a tag; the others are the address of its line. A slot without a line is 0: no
   program has memory in line 0. */
#define TAG_DIRTY UINT64_C(1)
#define TAG_SHARED UINT64_C(2) /* a cache off this one's way to memory may hold a copy */
/* Where only bursts of accesses are seen (caches_begin_burst): */
#define TAG_UNSURE UINT64_C(4)           /* what this line was before the burst matters, and is not known */
#define TAG_STALE (UINT64_C(1) << 63)    /* the line was not used in this burst */
#define TAG_STATE (TAG_DIRTY | TAG_SHARED | TAG_UNSURE | TAG_STALE)
#define TAG_LOW_STATE (TAG_STATE & ~TAG_STALE)

#define SLOTS_PER_VECTOR 4

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE bool is_same_line(uint64_t a, uint64_t b) {
    return ((a ^ b) & ~TAG_STATE) == 0;
}

/* What is written of a line becomes known, and whatever is used is not stale any more. */
ALWAYS_INLINE uint64_t used(uint64_t before, uint64_t state) {
    const uint64_t unsure = before >> 61 & TAG_UNSURE;
    return ((before & ~TAG_STALE) | unsure | state) & ~((state & TAG_DIRTY) << 2);
}

/* ---- rows of any length ---- */

ALWAYS_INLINE uint32_t any_row_find(const uint64_t *row, uint32_t ways, uint64_t tag) {
    uint32_t place = 0;
    while (place < ways && !is_same_line(row[place], tag)) {
        place++;
    }
    return place;
}

ALWAYS_INLINE uint64_t any_row_enter(uint64_t *row, uint32_t ways, uint64_t tag, uint64_t state) {
    uint64_t before = 0, moving = tag;
    for (uint32_t place = 0; place < ways && !is_same_line(before, tag); place++) {
        before = row[place];
        row[place] = moving;
        moving = before;
    }
    row[0] = used(is_same_line(before, tag) ? before : tag, state);
    return before;
}

/* ---- rows of n vectors: a constant where this is inlined ---- */

#ifdef __AVX2__
typedef uint64_t Tags __attribute__((vector_size(32), may_alias));

/* A bit for each slot: whether it holds the line. */
ALWAYS_INLINE unsigned vectors_find(const uint64_t *row, uint32_t n, uint64_t tag) {
    typedef double Signs __attribute__((vector_size(32)));
    unsigned found = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++) {
        const Tags same = (Tags)((((const Tags *)row)[i] & ~TAG_STATE) == tag);
        found |= (unsigned)__builtin_ia32_movmskpd256((Signs)same) << (i * SLOTS_PER_VECTOR);
    }
    return found;
}

/* Put a tag first; those before the place move on by one, and what was there is gone. */
ALWAYS_INLINE void vectors_move(uint64_t *row, uint32_t n, long long place, uint64_t first) {
    typedef long long Words __attribute__((vector_size(32)));
    typedef int Ints __attribute__((vector_size(32)));
    typedef char Bytes __attribute__((vector_size(32)));
    Words before = {(long long)first};
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++) {
        const Words old = (Words)((const Tags *)row)[i];
        const Words turned = __builtin_ia32_permdi256(old, 0x93); /* 3, 0, 1, 2 */
        const Words moved = (Words)__builtin_ia32_pblendd256((Ints)turned, (Ints)before, 0x03);
        const Words places_before = (Words){-1, 0, 1, 2} + (long long)(i * SLOTS_PER_VECTOR);
        const Bytes changes = (Bytes)(place > places_before);
        ((Tags *)row)[i] = (Tags)__builtin_ia32_pblendvb256((Bytes)old, (Bytes)moved, changes);
        before = turned;
    }
}

ALWAYS_INLINE uint64_t vectors_enter(uint64_t *row, uint32_t n, uint32_t ways, uint64_t tag,
                                     uint64_t state) {
    const unsigned found = vectors_find(row, n, tag);
    const uint32_t place = (uint32_t)__builtin_ctz(found | 1u << (ways - 1));
    const uint64_t before = row[place];
    vectors_move(row, n, place, used(found ? before : tag, state));
    return before;
}
#endif

/* ---- rows: whole vectors, of which the slots beyond the ways stay empty ---- */

/* Where the line is; `ways` or more: nowhere. */
ALWAYS_INLINE uint32_t row_find(const uint64_t *row, uint32_t ways, uint64_t tag) {
#ifdef __AVX2__
    switch ((ways - 1) / SLOTS_PER_VECTOR) {
    case 1:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 2, tag) | UINT64_C(1) << 32);
    case 2:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 3, tag) | UINT64_C(1) << 32);
    case 3:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 4, tag) | UINT64_C(1) << 32);
    }
#endif
    return any_row_find(row, ways, tag);
}

/* Use the line, or take it in, with these state bits set. Return its own tag as it was, or that of
   the one that had to leave, or 0. */
ALWAYS_INLINE uint64_t row_enter(uint64_t *row, uint32_t ways, uint64_t tag, uint64_t state) {
#ifdef __AVX2__
    const uint32_t vectors = (ways - 1) / SLOTS_PER_VECTOR + 1;
    if (__builtin_expect(vectors == 2, 1)) {
        return vectors_enter(row, 2, ways, tag, state);
    }
    if (vectors == 3) {
        return vectors_enter(row, 3, ways, tag, state);
    }
    if (vectors == 4) {
        return vectors_enter(row, 4, ways, tag, state);
    }
#endif
    return any_row_enter(row, ways, tag, state);
}

#endif
