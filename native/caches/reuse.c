/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * Miss curves by reuse distances.
 *
 * The distance d of an access is the number of other lines touched since the last touch of its
 * line: a fully associative LRU cache hits if its capacity is > d, so one histogram of distances
 * holds the misses of all capacities (Mattson et al., "Evaluation techniques for storage
 * hierarchies", IBM Systems Journal 9(2), 1970, doi:10.1147/sj.92.0078).
 *
 * Write-backs from the same pass: m is the largest distance of a line since it was last written (0
 * right after). Capacities > m still hold it dirty. At the next access, at distance d, capacities
 * <= d have let it go, so those in (m, d] have written it back. The rest of this file keeps m as
 * the step of a capacity, which is all that the comparison needs.
 *
 * Where a program touches more lines than may be followed, a sample of lines chosen by a hash is
 * followed instead, and distances and counts are scaled by the reciprocal of its share; the share
 * is halved as often as it must be (Waldspurger et al., "Efficient MRC construction with SHARDS",
 * FAST 2015). What was counted before, with a larger share, stays.
 *
 * Distances are counted in a bit vector over time that has a bit where some line was touched last.
 */
#include "reuse.h"

#define CLEAN UINT16_MAX
#define NO_LINE UINT64_MAX
#define WORD_BITS 64u
#define TIMES_PER_LINE 8u /* how often lines are touched before times are numbered anew */
#define SHORT_SPAN 12u    /* words that are quicker counted than looked up in the tree */

/* ---- steps of capacity ---- */

/* The largest step whose capacity is <= lines. */
static uint32_t step_of(uint64_t lines) {
    const uint32_t n = REUSE_STEPS_PER_OCTAVE;
    if (lines < n) {
        return (uint32_t)lines;
    }
    const uint32_t octave = WORD_BITS - 1 - (uint32_t)__builtin_clzll(lines / n);
    const uint32_t step = n * octave + (uint32_t)(lines >> octave);
    return step < CURVE_ROWS ? step : CURVE_ROWS - 1;
}

static uint64_t capacity_of(uint32_t step) {
    const uint32_t n = REUSE_STEPS_PER_OCTAVE;
    return step < n ? step : (uint64_t)(n + step % n) << (step / n - 1);
}

/* ---- who was touched when ---- */

static uint32_t ones(uint64_t word) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(word);
#else
    /* The builtin would call a library. */
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(word * 0x0101010101010101u >> 56);
#endif
}

static uint32_t n_words(const Reuse *reuse) {
    return reuse->end_of_time / WORD_BITS;
}

static void add_to_counts(Reuse *reuse, uint32_t word, uint32_t change) {
    for (uint32_t node = word + 1; node <= n_words(reuse); node += node & -node) {
        reuse->counts[node] += change;
    }
}

static void set_touch(Reuse *reuse, ReuseLine *line) {
    line->time = reuse->now++;
    reuse->touched[line->time / WORD_BITS] |= UINT64_C(1) << line->time % WORD_BITS;
}

static void clear_touch(Reuse *reuse, const ReuseLine *line) {
    reuse->touched[line->time / WORD_BITS] &= ~(UINT64_C(1) << line->time % WORD_BITS);
}

static void move_touch(Reuse *reuse, ReuseLine *line) {
    const uint32_t before = line->time / WORD_BITS, after = reuse->now / WORD_BITS;
    clear_touch(reuse, line);
    set_touch(reuse, line);
    if (before != after) {
        add_to_counts(reuse, before, UINT32_MAX);
        add_to_counts(reuse, after, 1);
    }
}

/* Lines last touched in the words before this one. */
static uint32_t touched_before(const Reuse *reuse, uint32_t word) {
    uint32_t sum = 0;
    for (uint32_t node = word; node; node -= node & -node) {
        sum += reuse->counts[node];
    }
    return sum;
}

/* Lines last touched after this time, in its own word. */
static uint32_t touched_beside(const Reuse *reuse, uint32_t time) {
    return ones(reuse->touched[time / WORD_BITS] >> time % WORD_BITS >> 1);
}

/* Lines touched since this one. */
static uint32_t depth_of(const Reuse *reuse, const ReuseLine *line) {
    const uint32_t word = line->time / WORD_BITS, last = reuse->now / WORD_BITS;
    if (last - word > SHORT_SPAN) {
        return touched_beside(reuse, line->time) + reuse->n_lines - touched_before(reuse, word + 1);
    }
    uint32_t sum = touched_beside(reuse, line->time);
    for (uint32_t next = word + 1; next <= last && next < n_words(reuse); next++) {
        sum += ones(reuse->touched[next]);
    }
    return sum;
}

/* Give the lines the times 0, 1, ... in the order of their last touches. */
static void number_anew(Reuse *reuse) {
    uint32_t *const before = reuse->counts; /* for a while: the touches before each word */
    uint32_t sum = 0;
    for (uint32_t word = 0; word < n_words(reuse); word++) {
        before[word] = sum;
        sum += ones(reuse->touched[word]);
    }
    for (uint32_t i = 0; i < reuse->n_lines; i++) {
        const uint32_t time = reuse->lines[i].time, word = time / WORD_BITS;
        const uint32_t beside = touched_beside(reuse, time) + 1;
        reuse->lines[i].time = before[word] + ones(reuse->touched[word]) - beside;
    }
    reuse->now = 0;
    for (uint32_t word = 0; word < n_words(reuse); word++) {
        reuse->touched[word] = 0;
        reuse->counts[word] = 0;
    }
    reuse->counts[n_words(reuse)] = 0;
    for (; reuse->now < sum; reuse->now++) {
        reuse->touched[reuse->now / WORD_BITS] |= UINT64_C(1) << reuse->now % WORD_BITS;
    }
    for (uint32_t word = 0; word < n_words(reuse); word++) {
        const uint32_t parent = word + 1 + ((word + 1) & -(word + 1));
        reuse->counts[word + 1] += ones(reuse->touched[word]);
        if (parent <= n_words(reuse)) {
            reuse->counts[parent] += reuse->counts[word + 1];
        }
    }
}

/* ---- the sample ---- */

/* The finalizer of splitmix64: its high bits choose the sample, its low ones the bucket. */
static uint64_t hash_of(uint64_t line) {
    line = (line ^ line >> 30) * 0xbf58476d1ce4e5b9u;
    line = (line ^ line >> 27) * 0x94d049bb133111ebu;
    return line ^ line >> 31;
}

static bool is_sampled(const Reuse *reuse, uint64_t hash) {
    return reuse->sampling_bits == 0 || hash >> (WORD_BITS - reuse->sampling_bits) == 0;
}

/* The bucket of the line, or the free one where it belongs. */
static uint32_t *bucket_of(const Reuse *reuse, uint64_t line, uint64_t hash) {
    uint64_t bucket = hash & (reuse->n_buckets - 1);
    while (reuse->buckets[bucket] && reuse->lines[reuse->buckets[bucket] - 1].line != line) {
        bucket = (bucket + 1) & (reuse->n_buckets - 1);
    }
    return &reuse->buckets[bucket];
}

static uint64_t denominator(const Reuse *reuse) {
    return UINT64_C(1) << reuse->sampling_bits;
}

/* Let go of every second line. */
static void halve_sample(Reuse *reuse) {
    uint32_t kept = 0;
    reuse->sampling_bits++;
    for (uint32_t i = 0; i < reuse->n_lines; i++) {
        if (is_sampled(reuse, hash_of(reuse->lines[i].line))) {
            reuse->lines[kept++] = reuse->lines[i];
        } else {
            add_to_counts(reuse, reuse->lines[i].time / WORD_BITS, UINT32_MAX);
            clear_touch(reuse, &reuse->lines[i]);
        }
    }
    reuse->n_lines = kept;
    for (uint64_t bucket = 0; bucket < reuse->n_buckets; bucket++) {
        reuse->buckets[bucket] = 0;
    }
    for (uint32_t i = 0; i < kept; i++) {
        const uint64_t line = reuse->lines[i].line;
        *bucket_of(reuse, line, hash_of(line)) = i + 1;
    }
}

/* A line touched for the first time; NULL: it is no longer one of the sample. */
static ReuseLine *add_line(Reuse *reuse, uint64_t line, uint64_t hash) {
    while (reuse->n_lines == reuse->most_lines) {
        halve_sample(reuse);
    }
    if (!is_sampled(reuse, hash)) {
        return NULL;
    }
    *bucket_of(reuse, line, hash) = reuse->n_lines + 1;
    ReuseLine *const added = &reuse->lines[reuse->n_lines++];
    *added = (ReuseLine){.line = line, .dirty_above = CLEAN};
    add_to_counts(reuse, reuse->now / WORD_BITS, 1);
    set_touch(reuse, added);
    return added;
}

/* ---- accesses ---- */

/* Capacities above `from` and up to `to` (steps) have written a line back. */
static void add_write_backs(int64_t *write_backs, uint32_t from, uint32_t to, uint64_t weight) {
    if (from < to) {
        write_backs[from + 1] += (int64_t)weight;
        if (to + 1 < CURVE_ROWS) {
            write_backs[to + 1] -= (int64_t)weight;
        }
    }
}

static void touch_again(Reuse *reuse, ReuseLine *line) {
    const uint64_t weight = denominator(reuse);
    const uint32_t step = step_of(depth_of(reuse, line) * weight);
    move_touch(reuse, line);
    if (reuse->on) {
        reuse->misses[step] += weight;
    }
    if (line->counted) {
        add_write_backs(reuse->write_backs, line->dirty_above, step, weight);
    }
    if (line->dirty_above < step) {
        line->dirty_above = (uint16_t)step;
    }
}

void reuse_access_other(Reuse *reuse, uint64_t line, bool write) {
    const uint64_t hash = hash_of(line);
    reuse->last_line = line;
    reuse->last = &reuse->outside;
    if (!is_sampled(reuse, hash)) {
        return;
    }
    if (reuse->now == reuse->end_of_time) {
        number_anew(reuse);
    }
    const uint32_t index = *bucket_of(reuse, line, hash);
    ReuseLine *touched = index ? &reuse->lines[index - 1] : add_line(reuse, line, hash);
    if (!touched) {
        return;
    }
    if (index) {
        touch_again(reuse, touched);
    } else if (reuse->on) {
        reuse->first_touches += denominator(reuse);
    }
    if (write) {
        touched->dirty_above = 0;
        touched->counted = reuse->on;
    }
    reuse->last = touched;
}

/* ---- what came out ---- */

void reuse_count(Reuse *reuse, bool on) {
    reuse->on = on;
}

void reuse_forget_counts(Reuse *reuse) {
    reuse->accesses = 0;
    reuse->first_touches = 0;
    for (uint32_t step = 0; step < CURVE_ROWS; step++) {
        reuse->misses[step] = 0;
        reuse->write_backs[step] = 0;
    }
    for (uint32_t i = 0; i < reuse->n_lines; i++) {
        reuse->lines[i].counted = false;
    }
}

/* Dirty lines at the end: smaller capacities than their depth have written them back since. */
static void add_last_writes(const Reuse *reuse, int64_t *write_backs, int64_t *pending) {
    const uint64_t weight = denominator(reuse);
    for (uint32_t i = 0; i < reuse->n_lines; i++) {
        const ReuseLine *line = &reuse->lines[i];
        if (line->counted && line->dirty_above != CLEAN) {
            const uint32_t above = line->dirty_above;
            const uint32_t step = step_of(depth_of(reuse, line) * weight);
            add_write_backs(write_backs, above, step, weight);
            add_write_backs(pending, above > step ? above : step, CURVE_ROWS - 1, weight);
        }
    }
}

/* The first step whose cache holds all that was ever touched, as far as the sample knows. */
static uint32_t last_step(const Reuse *reuse) {
    const uint64_t footprint = reuse->n_lines * denominator(reuse);
    uint32_t step = footprint ? step_of(footprint - 1) + 1 : 1;
    for (uint32_t above = step; above < CURVE_ROWS; above++) {
        if (reuse->misses[above]) {
            step = above + 1;
        }
    }
    return step < CURVE_ROWS ? step : CURVE_ROWS - 1;
}

size_t reuse_curve(const Reuse *reuse, CurveRow *rows, size_t n, CurveSummary *summary) {
    int64_t write_backs[CURVE_ROWS], pending[CURVE_ROWS] = {0}, written = 0, left = 0;
    const uint32_t last = last_step(reuse), n_rows = last < n ? last : (uint32_t)n;
    uint64_t hits = 0, misses = reuse->first_touches;
    for (uint32_t step = 0; step < CURVE_ROWS; step++) {
        write_backs[step] = reuse->write_backs[step];
        misses += reuse->misses[step];
    }
    add_last_writes(reuse, write_backs, pending);
    for (uint32_t step = 1; step <= n_rows; step++) {
        hits += reuse->misses[step - 1];
        written += write_backs[step];
        left += pending[step];
        rows[step - 1] =
            (CurveRow){capacity_of(step), misses - hits, (uint64_t)written, (uint64_t)left};
    }
    *summary = (CurveSummary){reuse->n_lines, denominator(reuse), reuse->accesses};
    return n_rows;
}

/* ---- making it ---- */

Reuse *reuse_new(uint32_t most_lines, void *(*allocate)(size_t bytes), void (*release)(void *)) {
    const bool possible = most_lines >= 16 && most_lines <= UINT32_C(1) << 28;
    Reuse *reuse = possible ? allocate(sizeof *reuse) : NULL;
    if (!reuse) {
        return NULL;
    }
    reuse->most_lines = most_lines;
    reuse->last_line = NO_LINE;
    reuse->last = &reuse->outside;
    reuse->end_of_time = (most_lines * TIMES_PER_LINE + WORD_BITS) / WORD_BITS * WORD_BITS;
    reuse->n_buckets = 2;
    while (reuse->n_buckets < 2 * (uint64_t)most_lines) {
        reuse->n_buckets *= 2;
    }
    reuse->lines = allocate(most_lines * sizeof *reuse->lines);
    reuse->buckets = allocate(reuse->n_buckets * sizeof *reuse->buckets);
    reuse->touched = allocate(n_words(reuse) * sizeof *reuse->touched);
    reuse->counts = allocate((n_words(reuse) + 1) * sizeof *reuse->counts);
    void *const parts[] = {reuse->lines, reuse->buckets, reuse->touched, reuse->counts};
    if (parts[0] && parts[1] && parts[2] && parts[3]) {
        return reuse;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i]) {
            release(parts[i]);
        }
    }
    release(reuse);
    return NULL;
}
