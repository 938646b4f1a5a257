/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row: the tags of one set of a cache, the one used last first. So there is nothing to search
 * for when a line has to leave, and no time of use to be kept.
 *
 * Using a line moves those before it on by one place. The vector code does that to whole vectors,
 * aligned as they are loaded. Narrower stores would do, but a CPU makes a load wait for earlier
 * stores to the same bytes unless a single one of them covers it, and the next use of the row
 * follows soon: hits were three times slower.
 */
#ifndef RIDGEPOINT_CACHE_ROW_H
#define RIDGEPOINT_CACHE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The low bits of a tag; the others are the name of its line. A slot without a line is 0. */
#define TAG_DIRTY 1u
#define TAG_SHARED 2u /* a cache off this one's way to memory may hold a copy */
#define TAG_VALID 4u
#define TAG_STATE (TAG_DIRTY | TAG_SHARED)
#define TAG_NAME_SHIFT 3

#define SLOTS_PER_VECTOR 8

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE bool is_same_line(uint32_t a, uint32_t b) {
    return ((a ^ b) & ~TAG_STATE) == 0;
}

/* ---- rows of any length ---- */

ALWAYS_INLINE uint32_t any_row_find(const uint32_t *row, uint32_t ways, uint32_t tag) {
    uint32_t place = 0;
    while (place < ways && !is_same_line(row[place], tag)) {
        place++;
    }
    return place;
}

ALWAYS_INLINE uint32_t any_row_enter(uint32_t *row, uint32_t ways, uint32_t tag, uint32_t state) {
    uint32_t before = 0, moving = tag;
    for (uint32_t place = 0; place < ways && !is_same_line(before, tag); place++) {
        before = row[place];
        row[place] = moving;
        moving = before;
    }
    row[0] = state | (is_same_line(before, tag) ? before : tag);
    return before;
}

/* ---- rows of n vectors: a constant where this is inlined ---- */

#ifdef __AVX2__
typedef uint32_t Tags __attribute__((vector_size(32), may_alias));

/* A bit for each slot: whether it holds the line. */
ALWAYS_INLINE unsigned vectors_find(const uint32_t *row, uint32_t n, uint32_t tag) {
    typedef float Signs __attribute__((vector_size(32)));
    unsigned found = 0;
#pragma GCC unroll 3
    for (uint32_t i = 0; i < n; i++) {
        const Tags same = (Tags)((((const Tags *)row)[i] & ~TAG_STATE) == tag);
        found |= (unsigned)__builtin_ia32_movmskps256((Signs)same) << (i * SLOTS_PER_VECTOR);
    }
    return found;
}

typedef int Ints __attribute__((vector_size(32)));

/* How the first of a vector's slots, up to a place, change theirs: the last of them comes first. */
static const Ints turns[SLOTS_PER_VECTOR] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {2, 0, 1, 3, 4, 5, 6, 7},
    {3, 0, 1, 2, 4, 5, 6, 7}, {4, 0, 1, 2, 3, 5, 6, 7}, {5, 0, 1, 2, 3, 4, 6, 7},
    {6, 0, 1, 2, 3, 4, 5, 7}, {7, 0, 1, 2, 3, 4, 5, 6},
};

/* Put a tag first; those before the place move on by one, and what was there is gone. */
ALWAYS_INLINE void vectors_move(uint32_t *row, uint32_t n, uint32_t place, uint32_t first) {
    Ints before = {(int)first};
    Tags *vector = (Tags *)row;
#pragma GCC unroll 3
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (place < SLOTS_PER_VECTOR) {
            break;
        }
        const Ints turned = __builtin_ia32_permvarsi256((Ints)*vector, turns[7]);
        *vector++ = (Tags)__builtin_ia32_pblendd256(turned, before, 0x01);
        before = turned;
        place -= SLOTS_PER_VECTOR;
    }
    const Ints turned = __builtin_ia32_permvarsi256((Ints)*vector, turns[place]);
    *vector = (Tags)__builtin_ia32_pblendd256(turned, before, 0x01);
}

ALWAYS_INLINE uint32_t vectors_enter(uint32_t *row, uint32_t n, uint32_t ways, uint32_t tag,
                                     uint32_t state) {
    const unsigned found = vectors_find(row, n, tag);
    const uint32_t place = (uint32_t)__builtin_ctz(found | 1u << (ways - 1));
    const uint32_t before = row[place];
    vectors_move(row, n, place, state | (found ? before : tag));
    return before;
}
#endif

/* ---- rows: whole vectors, of which the slots beyond the ways stay empty ---- */

/* Where the line is; `ways` or more: nowhere. */
ALWAYS_INLINE uint32_t row_find(const uint32_t *row, uint32_t ways, uint32_t tag) {
#ifdef __AVX2__
    switch ((ways - 1) / SLOTS_PER_VECTOR) {
    case 0:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 1, tag) | UINT64_C(1) << 32);
    case 1:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 2, tag) | UINT64_C(1) << 32);
    case 2:
        return (uint32_t)__builtin_ctzll(vectors_find(row, 3, tag) | UINT64_C(1) << 32);
    }
#endif
    return any_row_find(row, ways, tag);
}

/* Use the line, or take it in, with these state bits set. Return its own tag as it was, or that of
   the one that had to leave, or 0. */
ALWAYS_INLINE uint32_t row_enter(uint32_t *row, uint32_t ways, uint32_t tag, uint32_t state) {
#ifdef __AVX2__
    switch ((ways - 1) / SLOTS_PER_VECTOR) {
    case 0:
        return vectors_enter(row, 1, ways, tag, state);
    case 1:
        return vectors_enter(row, 2, ways, tag, state);
    case 2:
        return vectors_enter(row, 3, ways, tag, state);
    }
#endif
    return any_row_enter(row, ways, tag, state);
}

#endif
