/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of more than one word in the ring: gathers, strings, masks, tiles. */
#include "traffic_state.h"

#define INDEX_WORDS 8u
#define MOST_BYTES (UINT64_C(1) << 32) /* of a string: words that a signal mixed up mean nothing */

uint32_t traffic_words_of(const Access *access) {
    if (access->bits & ACCESS_GATHER) {
        return 1 + INDEX_WORDS + 1;
    }
    return access->bits & (ACCESS_REPEATED | ACCESS_MASKED | ACCESS_TILE) ? 2 : 1;
}

static AccessKind kind_of(const Step *step) {
    return step->kind & 15;
}

static void access_by(const Step *step, uint64_t address, uint32_t bytes) {
    if (address) {
        traffic_access(step->site, address, bytes, kind_of(step));
    }
}

/* ---- gathers and scatters ---- */

static void gather(const Step *step, const uint64_t *words) {
    const uint32_t lanes = (step->shape & 15u) + 1, scale = step->shape >> 4 & 3;
    const bool is_wide = step->shape & 64;
    const int64_t *const wide = (const int64_t *)(words + 1);
    const int32_t *const narrow = (const int32_t *)(words + 1);
    const uint64_t mask = words[1 + INDEX_WORDS];
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (mask >> lane & 1) {
            const int64_t index = is_wide ? wide[lane & 7] : narrow[lane];
            access_by(step, words[0] + ((uint64_t)index << scale), step->bytes);
        }
    }
}

/* ---- masks ---- */

static uint32_t n_ones(uint64_t mask) {
    uint32_t n = 0;
    for (; mask; mask &= mask - 1) { /* the builtin may call a library */
        n++;
    }
    return n;
}

/* Lanes side by side are one access: they would find their lines as the first has left them. */
static void access_masked(const Step *step, const uint64_t *words) {
    const uint32_t lanes = (step->shape & 63u) + 1;
    uint64_t mask = words[1] & (~UINT64_C(0) >> (64 - lanes));
    if (step->shape & 128 && mask) { /* compressed: as many lanes as are set, from the first on */
        mask = ~UINT64_C(0) >> (64 - n_ones(mask));
    }
    uint64_t address = words[0];
    while (mask && words[0]) {
        const uint32_t gap = (uint32_t)__builtin_ctzll(mask);
        mask >>= gap;
        address += gap * step->bytes;
        const uint32_t run = ~mask ? (uint32_t)__builtin_ctzll(~mask) : 64;
        access_by(step, address, run * step->bytes);
        address += run * step->bytes;
        mask = run == 64 ? 0 : mask >> run;
    }
}

/* ---- tiles ---- */

/* As LDTILECFG has it: bytes of a row are 16 bit numbers from byte 16, rows 8 bit ones from 48. */
static void access_tile(const Bank *bank, const Step *step, const uint64_t *words) {
    const uint8_t *const configuration = bank->tiles;
    const uint32_t tile = step->shape & 7, rows = configuration[48 + tile];
    const uint32_t bytes = configuration[16 + 2 * tile] | configuration[17 + 2 * tile] << 8;
    for (uint32_t row = 0; row < rows && bytes && words[0]; row++) {
        access_by(step, words[0] + row * words[1], bytes);
    }
}

/* ---- strings ---- */

typedef struct {
    const Step *step;
    uint64_t at;
} Pointer;

/* How many elements from this one on lie in one line, so that all but the first change nothing. */
static uint64_t elements_in_line(const Pointer *pointer, int64_t move) {
    const uint64_t bytes = pointer->step->bytes, line_bytes = UINT64_C(1) << traffic.skip_bits;
    const uint64_t offset = pointer->at & (line_bytes - 1);
    if (!traffic.skip_bits || offset + bytes > line_bytes) {
        return 1;
    }
    return move > 0 ? (line_bytes - offset) / bytes : offset / bytes + 1;
}

static uint64_t n_elements(const Step *step, const uint64_t *words) {
    const uint64_t before = words[0], after = words[1];
    const uint64_t bytes = after > before ? after - before : before - after;
    return before && after && bytes <= MOST_BYTES ? bytes / step->bytes : 0;
}

/* One element of each pointer after the other. */
static void repeat(Pointer *pointers, uint32_t n_pointers, uint64_t n, int64_t move) {
    while (n) {
        uint64_t together = n;
        for (uint32_t i = 0; i < n_pointers; i++) {
            const uint64_t alike = elements_in_line(&pointers[i], move);
            together = alike < together ? alike : together;
            access_by(pointers[i].step, pointers[i].at, pointers[i].step->bytes);
        }
        for (uint32_t i = 0; i < n_pointers; i++) {
            pointers[i].at += (uint64_t)move * together;
        }
        n -= together;
    }
}

static const uint64_t *make_repeated(const Step **step, const Step *end, const uint64_t *words) {
    const Step *const first = *step, *const second = first + 1;
    const uint64_t n = n_elements(first, words);
    const int64_t move = words[1] > words[0] ? first->bytes : -(int64_t)first->bytes;
    Pointer pointers[2] = {{.step = first, .at = words[0]}};
    const bool takes_turns = second < end && second->kind >> 4 == FORM_REPEATED &&
                             second->site == first->site && second->bytes == first->bytes;
    if (takes_turns) {
        pointers[1] = (Pointer){.step = second, .at = words[2]};
        *step = second;
    }
    repeat(pointers, takes_turns ? 2 : 1, n, move);
    return words + (takes_turns ? 4 : 2);
}

/* ---- any form ---- */

const uint64_t *traffic_make_form(const Bank *bank, const Step **step, const Step *end,
                                  const uint64_t *words) {
    const Step *const one = *step;
    switch (one->kind >> 4) {
    case FORM_GATHER:
        gather(one, words);
        return words + 1 + INDEX_WORDS + 1;
    case FORM_REPEATED:
        return make_repeated(step, end, words);
    case FORM_MASKED:
        access_masked(one, words);
        return words + 2;
    case FORM_TILE:
        access_tile(bank, one, words);
        return words + 2;
    default:
        access_by(one, words[0], one->bytes);
        return words + 1;
    }
}
