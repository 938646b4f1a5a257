/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of lines: 29 bits instead of the 42 or more that a line's number has, so that a tag fits
 * 32 bits and a vector holds twice as many.
 *
 * The numbers of lines are cut into pieces of 2^22 (256 MiB of lines of 64 bytes). A name is the
 * number's low bits, and above them that of its piece, in order of first use. So a set is chosen
 * by a name's low bits as by those of the number, and no two lines share a name. When more pieces
 * are met than there are numbers, those of which no cache holds a line any more are given again.
 */
#ifndef RIDGEPOINT_CACHE_NAMES_H
#define RIDGEPOINT_CACHE_NAMES_H

#include "cache_row.h"

#define PIECE_BITS 22
#define PIECE_MASK ((1u << PIECE_BITS) - 1)
#define N_PIECES (1u << (32 - TAG_NAME_SHIFT - PIECE_BITS))

typedef struct {
    uint64_t piece;
    uint32_t first_name;
} NamedPiece;

/* Zeroed, it is as it should be at first: piece 0 has number 0, and keeps it for good. */
typedef struct {
    NamedPiece latest[N_PIECES]; /* one of those that are equal modulo N_PIECES */
    uint64_t pieces[N_PIECES];   /* by number; 0: not given, but for number 0 */
    bool exhausted;              /* two lines had to share a name: what is counted is wrong */
} Names;

ALWAYS_INLINE bool has_latest_name(const Names *names, uint64_t line) {
    const uint64_t piece = line >> PIECE_BITS;
    return names->latest[piece % N_PIECES].piece == piece;
}

/* The tag of a line that has_latest_name, valid and clean. */
ALWAYS_INLINE uint32_t latest_tag(const Names *names, uint64_t line) {
    const uint32_t first_name = names->latest[(line >> PIECE_BITS) % N_PIECES].first_name;
    return (first_name | ((uint32_t)line & PIECE_MASK)) << TAG_NAME_SHIFT | TAG_VALID;
}

/* The number of a line, from its tag. */
ALWAYS_INLINE uint64_t named_line(const Names *names, uint32_t tag) {
    const uint32_t name = tag >> TAG_NAME_SHIFT;
    return names->pieces[name >> PIECE_BITS] << PIECE_BITS | (name & PIECE_MASK);
}

#endif
