/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts: the program mostly runs in counting code, and now and then for a while in recording code.
 *
 * The first burst begins with the program. From then on the program's progress is divided into pieces,
 * and a burst begins at a random place of each: progress is what recording would have written to rings,
 * by the counters of the blocks that do most of it. (At random times fast parts would be met too
 * seldom.) How long a piece is, is decided before, by what the last burst cost.
 *
 * Where the hot blocks hardly run any more a scout goes ahead: a burst so short that it only tells which
 * blocks are hot now.
 *
 * Threads look in at every tick of their timers: they are sent to recording code, whose full ring
 * brings them here, and go back unless a burst is on or begins.
 */
#include "memory.h"
#include "traffic_state.h"

#define SHARE 4u                      /* bursts may take one part of so many of the time between */
#define FIRST_WORDS (UINT64_C(2) << 20)
#define USUAL_WORDS (UINT64_C(1) << 18)
#define MOST_WORDS_OF_BURST (UINT64_C(8) << 20)
#define HOT_SHARE 500u                /* of the words of a burst, one part of so many */
#define UNKNOWN_SHARE 20u
#define LEAST_READS 1024u             /* one line in so many words is worth a longer burst */
#define LOST_SHARE 16u                /* of usual progress, with less of which one is lost */
#define SCOUT_WORDS 8192u
#define SCOUT_TICKS 8u

/* ---- rows ---- */

static ArenaBurst *new_row(void) {
    ArenaTraffic *const options = traffic.options;
    const uint64_t n = __atomic_fetch_add(&options->n_bursts, 1, __ATOMIC_RELAXED);
    return n < options->most_bursts
               ? (ArenaBurst *)((char *)traffic.arena + options->bursts_at) + n
               : NULL;
}

static void write_part(void) {
    Bursts *const b = &traffic.bursts;
    const uint32_t n = b->n_parts++;
    if (b->row && n < BURST_PARTS) {
        ArenaBurstPart *const part = &b->row->parts[n];
        part->words = b->words;
        _Static_assert(sizeof *part == sizeof b->words + sizeof b->moved, "as BurstMoved");
        memcpy(part->read_lines, &b->moved, sizeof b->moved);
        __atomic_store_n(&b->row->n_parts, b->n_parts, __ATOMIC_RELEASE);
    }
}

/* ---- progress ---- */

static uint64_t next_random(void) {
    uint64_t x = traffic.bursts.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return traffic.bursts.random = x;
}

static uint64_t up_to(uint64_t most) {
    return (uint64_t)(((unsigned __int128)next_random() * most) >> 64);
}

static bool is_hot(uint64_t counter) {
    const Bursts *const b = &traffic.bursts;
    for (uint64_t i = 0; i < b->n_hot; i++) {
        if (b->hot[i].counter == counter) {
            return true;
        }
    }
    return false;
}

/* Blocks that did much of this burst tell of progress from now on. */
static void find_hot(void) {
    Bursts *const b = &traffic.bursts;
    for (Block *block = traffic.known; block; block = block->known_before) {
        const uint64_t words = block->runs * (block->n_words + 1);
        block->runs = 0;
        if (b->hot && words > b->words / HOT_SHARE && b->n_hot < MOST_HOT
            && !is_hot(traffic_counting(block->counter))) {
            b->hot[b->n_hot++] = (Hot){traffic_counting(block->counter), block->n_words + 1};
        }
    }
    b->generation++;
}

static uint64_t mark_of(const Bank *bank) {
    const uint64_t *const counters = (const uint64_t *)((const char *)bank + COUNTERS_AT);
    const Bursts *const b = &traffic.bursts;
    uint64_t mark = 0;
    for (uint64_t i = 0; i < b->n_hot; i++) {
        mark += counters[b->hot[i].counter] * b->hot[i].words;
    }
    return mark;
}

static uint64_t progress_per_tick(void) {
    const Bursts *const b = &traffic.bursts;
    return b->ticks_out ? b->progress / b->ticks_out : 0;
}

/* Blocks that share a counter, and others that came to be hot later, make it jump: then it is only
   looked at anew. */
static void follow(Bank *bank) {
    Bursts *const b = &traffic.bursts;
    const uint64_t mark = mark_of(bank);
    uint64_t came = 0;
    if (bank->slots[SLOT_MARKED] == b->generation && mark >= bank->slots[SLOT_MARK]) {
        came = mark - bank->slots[SLOT_MARK];
        b->n_lost = came * LOST_SHARE < progress_per_tick() ? b->n_lost + 1 : 0;
    }
    b->progress += came;
    bank->slots[SLOT_MARKED] = b->generation;
    bank->slots[SLOT_MARK] = mark;
}

/* ---- one burst ---- */

typedef enum { BURST_USUAL, BURST_FIRST, BURST_SCOUT } BurstKind;

static void begin(BurstKind kind) {
    Bursts *const b = &traffic.bursts;
    const bool is_first = kind == BURST_FIRST;
    b->is_scout = kind == BURST_SCOUT;
    const uint64_t begun_at = b->end - b->weight;
    if (b->progress > b->end && !b->is_scout) { /* what a long loop did came all at once */
        b->end = b->progress;
        b->weight = b->end - begun_at;
    }
    b->number++;
    b->words = 0;
    b->limit = traffic.options->burst_words ? traffic.options->burst_words
               : is_first                   ? FIRST_WORDS
               : b->is_scout                ? SCOUT_WORDS
                                            : b->usual_limit;
    b->n_parts = 0;
    b->ticks_before = b->ticks_in;
    b->row = b->is_scout ? NULL : new_row();
    if (b->row) {
        b->row->process = traffic.process;
        b->row->is_first = is_first;
        b->row->weight = is_first ? 0 : b->weight;
    }
    caches_begin_burst(traffic.caches[0], &b->moved, is_first);
    traffic.last_fetched = 0;
    b->is_on = true;
}

/* Whether the second half could not tell of some cache what is in it. */
static bool is_too_short(void) {
    const Bursts *const b = &traffic.bursts;
    const uint32_t n = b->row && b->n_parts == BURST_PARTS ? traffic.caches[0]->n_levels : 0;
    bool is_short = false;
    for (uint32_t k = 0; k < n; k++) {
        const ArenaBurstPart *const half = &b->row->parts[BURST_PARTS / 2 - 1];
        const ArenaBurstPart *const whole = &b->row->parts[BURST_PARTS - 1];
        const uint64_t missed = whole->may_be_misses[k] - half->may_be_misses[k];
        const uint64_t unknown = whole->may_be_hits[k] - half->may_be_hits[k] + missed;
        const uint64_t reads = whole->read_lines[k] - half->read_lines[k] + missed;
        is_short |= unknown * UNKNOWN_SHARE > reads && reads > b->limit / LEAST_READS;
    }
    return is_short;
}

static void plan(void) {
    Bursts *const b = &traffic.bursts;
    const uint64_t cost = b->ticks_in - b->ticks_before + 1;
    const uint64_t due = SHARE * b->ticks_in;
    const uint64_t owed = due > b->ticks_out ? due - b->ticks_out : 0;
    const uint64_t ticks = owed > SHARE * cost / 2 ? owed : SHARE * cost / 2;
    const uint64_t per_tick = progress_per_tick();
    const uint64_t from = b->end > b->progress ? b->end : b->progress;
    b->weight = per_tick * ticks;
    b->end = from + b->weight;
    b->start = per_tick ? from + up_to(b->weight) : ~UINT64_C(0);
    b->start_tick = b->ticks_out + (per_tick ? 8 * ticks : up_to(ticks) + 1);
}

static void finish(void) {
    Bursts *const b = &traffic.bursts;
    write_part();
    b->is_on = false;
    find_hot();
    if (b->is_scout) {
        b->n_lost = 0;
        b->scout_tick = b->ticks_out + SCOUT_TICKS;
        return;
    }
    if (!traffic.caches[0]->saw_all && is_too_short() && b->usual_limit < MOST_WORDS_OF_BURST) {
        b->usual_limit *= 2;
    }
    plan();
}

/* ---- what the rest calls ---- */

void burst_prepare(bool is_program) {
    Bursts *const b = &traffic.bursts;
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    b->are_wanted = true;
    b->random = ((uint64_t)high << 32 | low) * 2 + 1;
    b->is_on = false;
    b->usual_limit = USUAL_WORDS;
    b->ticks_in = b->ticks_out = 0;
    b->progress = b->start = b->end = b->weight = b->start_tick = 0;
    if (!b->hot) {
        b->hot = traffic_take(MOST_HOT * sizeof *b->hot);
    }
    if (is_program) {
        begin(BURST_FIRST);
    }
}

/* How the thread of a bank goes on. */
void burst_state(Bank *bank) {
    const Bursts *const b = &traffic.bursts;
    const bool records = b->is_on && !traffic.has_failed && !traffic.is_over;
    bank->slots[SLOT_BURST] = records ? b->number : 0;
    bank->slots[SLOT_TURN] = records;
    bank->ring_index = records ? 0 : RING_BYTES;
}

/* What a thread wrote that is in no burst. */
static void forget(Bank *bank) {
    uint64_t *const ring = (uint64_t *)((char *)bank + RING_AT);
    const uint64_t from = bank->slots[SLOT_BURST] ? 0 : RING_BYTES;
    const uint64_t most = RING_BYTES + RING_BYTES / 2;
    const uint64_t to = bank->ring_index < most ? bank->ring_index : most;
    for (uint64_t i = from / sizeof *ring; i < to / sizeof *ring; i++) {
        ring[i] = 0;
    }
}

void burst_ring(Bank *bank) {
    Bursts *const b = &traffic.bursts;
    if (b->is_on && bank->slots[SLOT_BURST] == b->number) {
        b->words += bank->ring_index / sizeof(uint64_t);
        traffic_replay(bank);
        while (b->is_on && b->words * BURST_PARTS >= (b->n_parts + 1) * b->limit
               && b->n_parts + 1 < BURST_PARTS) {
            write_part();
        }
        if (b->words >= b->limit) {
            finish();
            follow(bank);
        }
    } else {
        forget(bank);
        follow(bank);
        if (!b->is_on && (b->progress >= b->start || b->ticks_out >= b->start_tick)) {
            begin(BURST_USUAL);
        } else if (!b->is_on && b->n_lost > 1 && b->ticks_out >= b->scout_tick) {
            begin(BURST_SCOUT);
        }
    }
    burst_state(bank);
}

void burst_ends(bool is_last, Bank *(*next_bank)(Bank *before)) {
    Bursts *const b = &traffic.bursts;
    for (Bank *bank = NULL; is_last && b->is_on && (bank = next_bank(bank));) {
        if (bank->slots[SLOT_BURST] == b->number) {
            b->words += bank->ring_index / sizeof(uint64_t);
            traffic_replay(bank);
        }
    }
    if (b->is_on && is_last) {
        write_part();
        b->is_on = false;
    }
}

void traffic_tick(Bank *bank) {
    Bursts *const b = &traffic.bursts;
    if (!b->are_wanted) {
        return;
    }
    if (bank->slots[SLOT_BURST]) {
        __atomic_fetch_add(&b->ticks_in, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&b->ticks_out, 1, __ATOMIC_RELAXED);
        bank->slots[SLOT_TURN] = 1;
    }
}
