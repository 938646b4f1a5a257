/* SPDX-License-Identifier: Apache-2.0 */
#include "inflate.h"

#define LONGEST_CODE 15
#define MOST_SYMBOLS 288
#define MOST_LENGTHS (286 + 32)
#define INVALID 0xFFFF

/* Which symbol the next `bits` bits begin with, and how many of these are its code:
   symbol << 4 | length. */
typedef struct {
    unsigned bits;
    uint16_t symbols[1 << LONGEST_CODE];
} Codes;

typedef struct {
    const uint8_t *at, *end;
    uint64_t held;      /* bits that were read and not used yet, the next lowest */
    unsigned n_held, n_beyond; /* n_beyond: of these, zeros after the end */
    uint8_t *out;
    size_t n, room;
    Codes *lengths, *distances;
    bool bad;
} Stream;

/* ---- bits ---- */

/* At least `n` (up to 32) bits are held; after the end they are zeros. */
static inline void fill(Stream *s, unsigned n) {
    while (s->n_held < n) {
        if (s->at < s->end) {
            s->held |= (uint64_t)*s->at++ << s->n_held;
        } else {
            s->n_beyond += 8;
        }
        s->n_held += 8;
    }
}

static inline void drop(Stream *s, unsigned n) {
    s->held >>= n;
    s->n_held -= n;
    s->bad |= s->n_beyond > s->n_held;
}

static inline unsigned take(Stream *s, unsigned n) {
    fill(s, n);
    const unsigned bits = (unsigned)(s->held & ((UINT64_C(1) << n) - 1));
    drop(s, n);
    return bits;
}

/* ---- codes ---- */

static unsigned reversed(unsigned code, unsigned n) {
    unsigned out = 0;
    for (; n; n--, code >>= 1) {
        out = out << 1 | (code & 1);
    }
    return out;
}

/* Codes by the lengths of each symbol's; 0: it has none. False: no such codes can be. */
static bool make_codes(Codes *codes, const uint8_t *lengths, unsigned n) {
    unsigned counts[LONGEST_CODE + 1] = {0}, next[LONGEST_CODE + 1] = {0};
    codes->bits = 1;
    for (unsigned i = 0; i < n; i++) {
        counts[lengths[i]]++;
        codes->bits = lengths[i] > codes->bits ? lengths[i] : codes->bits;
    }
    unsigned code = 0;
    counts[0] = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        code = (code + counts[length - 1]) << 1;
        next[length] = code;
        if (code + counts[length] > 1u << length) {
            return false;
        }
    }
    const unsigned size = 1u << codes->bits;
    memset(codes->symbols, 0xFF, size * sizeof codes->symbols[0]);
    for (unsigned i = 0; i < n; i++) {
        const unsigned length = lengths[i];
        if (!length) {
            continue;
        }
        for (unsigned at = reversed(next[length]++, length); at < size; at += 1u << length) {
            codes->symbols[at] = (uint16_t)(i << 4 | length);
        }
    }
    return true;
}

static inline unsigned take_symbol(Stream *s, const Codes *codes) {
    fill(s, codes->bits);
    const uint16_t found = codes->symbols[s->held & ((1u << codes->bits) - 1)];
    if (found == INVALID) {
        s->bad = true;
        return 0;
    }
    drop(s, found & 15);
    return found >> 4;
}

static void fixed_codes(Stream *s) {
    uint8_t lengths[MOST_SYMBOLS];
    for (unsigned i = 0; i < MOST_SYMBOLS; i++) {
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    make_codes(s->lengths, lengths, MOST_SYMBOLS);
    memset(lengths, 5, 30);
    make_codes(s->distances, lengths, 30);
}

/* The lengths of codes are themselves written in a code. */
static void own_codes(Stream *s) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[MOST_LENGTHS + 138] = {0};
    const unsigned n_lengths = take(s, 5) + 257, n_distances = take(s, 5) + 1;
    const unsigned n_orders = take(s, 4) + 4, n = n_lengths + n_distances;
    for (unsigned i = 0; i < n_orders; i++) {
        lengths[order[i]] = (uint8_t)take(s, 3);
    }
    s->bad |= n_lengths > 286 || !make_codes(s->lengths, lengths, 19);
    memset(lengths, 0, 19);
    for (unsigned i = 0; i < n && !s->bad;) {
        const unsigned symbol = take_symbol(s, s->lengths);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        s->bad |= symbol == 16 && !i;
        const uint8_t repeated = symbol == 16 && i ? lengths[i - 1] : 0;
        const unsigned times = symbol == 16   ? 3 + take(s, 2)
                               : symbol == 17 ? 3 + take(s, 3)
                                              : 11 + take(s, 7);
        memset(lengths + i, repeated, times);
        i += times;
        s->bad |= i > n;
    }
    s->bad = s->bad || !make_codes(s->lengths, lengths, n_lengths)
             || !make_codes(s->distances, lengths + n_lengths, n_distances);
}

/* ---- blocks ---- */

static void copy_back(Stream *s, size_t distance, size_t n) {
    if (distance > s->n || n > s->room - s->n) {
        s->bad = true;
        return;
    }
    for (; n; n--, s->n++) { /* it may repeat what it writes */
        s->out[s->n] = s->out[s->n - distance];
    }
}

static void coded_block(Stream *s) {
    while (!s->bad) {
        const unsigned symbol = take_symbol(s, s->lengths);
        if (symbol < 256) {
            s->bad |= s->n >= s->room;
            if (!s->bad) {
                s->out[s->n++] = (uint8_t)symbol;
            }
            continue;
        }
        if (symbol == 256) {
            return;
        }
        /* Lengths from 3 and distances from 1, in groups of 4 and of 2 with the same extra bits. */
        const unsigned k = symbol - 257, extra = k < 8 || k >= 28 ? 0 : k / 4 - 1;
        const unsigned base = k < 8 ? k + 3 : k >= 28 ? 258 : ((4 + k % 4) << extra) + 3;
        const unsigned length = base + take(s, extra), d = take_symbol(s, s->distances);
        const unsigned more = d < 4 ? 0 : d / 2 - 1;
        s->bad |= k > 28 || d > 29;
        if (!s->bad) {
            copy_back(s, (d < 4 ? d + 1 : ((2 + d % 2) << more) + 1) + take(s, more), length);
        }
    }
}

static void stored_block(Stream *s) {
    drop(s, s->n_held % 8);
    const unsigned n = take(s, 16);
    s->bad |= (take(s, 16) ^ n) != 0xFFFF;
    for (unsigned i = 0; i < n && !s->bad; i++) {
        const unsigned byte = take(s, 8);
        s->bad |= s->n >= s->room;
        if (!s->bad) {
            s->out[s->n++] = (uint8_t)byte;
        }
    }
}

static void unpack(Stream *s) {
    bool is_last = false;
    while (!is_last && !s->bad) {
        is_last = take(s, 1);
        switch (take(s, 2)) {
        case 0:
            stored_block(s);
            break;
        case 1:
            fixed_codes(s);
            coded_block(s);
            break;
        case 2:
            own_codes(s);
            coded_block(s);
            break;
        default:
            s->bad = true;
        }
    }
}

bool inflate_zlib(const uint8_t *packed, size_t n, uint8_t *out, size_t room) {
    Codes *codes = n > 2 ? pages_take(2 * sizeof(Codes)) : NULL;
    if (!codes || (packed[0] & 15) != 8 || packed[1] & 32) { /* no deflate, or a dictionary */
        pages_give(codes, 2 * sizeof(Codes));
        return false;
    }
    Stream s = {.at = packed + 2, .end = packed + n, .out = out, .room = room,
                .lengths = codes, .distances = codes + 1};
    unpack(&s);
    pages_give(codes, 2 * sizeof(Codes));
    return !s.bad && s.n == room;
}
