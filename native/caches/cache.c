/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * What happens beyond a hit in L1: fills, evictions, coherence, prefetches, non-temporal stores.
 *
 * The levels are neither inclusive nor exclusive: a miss fills every level on its way, outermost
 * first, and an eviction removes the line from no other level. A dirty line that leaves level k
 * goes to level k + 1: there it marks the copy dirty and used, or enters without a read from
 * beyond, since the whole line is written.
 *
 * CPUs are coherent as by MESI, with evictions and moves counted for the site that caused them.
 * The caches are a tree, and where paths meet decides: a read that finds another CPU's dirty copy
 * first has it written back to the nearest level that both share (or memory), across every
 * boundary between, and both copies are clean then; a store does the same and removes the copies of
 * all others, clean ones too. So all copies of a line that is dirty in one cache lie inside that
 * cache's own branch or on its way to memory (there they are stale), and nowhere else.
 *
 * Non-temporal stores go to memory and leave no copy anywhere; a dirty one is written back first
 * unless the store covers the line. A prefetch that finds the line nearer than it would bring it
 * does nothing; NTA crosses all boundaries and fills L1 alone. Instructions are read through their
 * own L1 and then as data are; code that their CPU has just written leaves its L1 of data first.
 *
 * Not simulated: hardware prefetchers, victim caches, hashed set indices, physical addresses,
 * direct transfers between caches of one level. Stores leave copies in instruction caches alone:
 * what matters there, self-modifying code, re-reads a few lines.
 */
#include "cache.h"

#define NO_LEVEL CACHE_MAX_LEVELS

/* ---- what bursts tell ---- */

static bool is_unknown(const Caches *caches, uint64_t evicted) {
    return caches->burst && !caches->saw_all && (evicted == 0 || (evicted & TAG_STALE));
}

/* A line was read into a level, for this one: who was not used in this burst may have been the last
   that is left of it, or not. */
static void note_read(Caches *caches, uint32_t level, uint64_t evicted) {
    BurstMoved *const burst = caches->burst;
    if (burst) {
        burst->read_lines[level]++;
        burst->may_be_hits[level] += is_unknown(caches, evicted);
    }
}

static void note_hit(Caches *caches, uint32_t level, uint64_t before) {
    if (caches->burst) {
        caches->burst->may_be_misses[level] += before >> 63;
    }
}

static void note_evicted(Caches *caches, uint32_t level, uint64_t evicted) {
    BurstMoved *const burst = caches->burst;
    if (burst) {
        const bool unsure = is_unknown(caches, evicted) || (evicted & TAG_UNSURE);
        burst->write_lines[level] += evicted & TAG_DIRTY;
        burst->may_be_clean[level] += unsure && (evicted & TAG_DIRTY);
        burst->may_be_dirty[level] += unsure && !(evicted & TAG_DIRTY);
    }
}

/* ---- writing back ---- */

/* A dirty line arrives at a level of the selected CPU's path from inside. */
static void deliver(Caches *caches, Moved *moved, uint32_t level, uint64_t tag) {
    for (; level < caches->n_levels; level++) {
        const uint64_t before = cache_enter(caches->path[level], tag, TAG_DIRTY);
        if (is_same_line(before, tag)) {
            return;
        }
        note_evicted(caches, level, before);
        if (!(before & TAG_DIRTY)) {
            return;
        }
        moved->write_lines[level]++;
        tag = before & ~TAG_STATE;
    }
}

/* What had to leave a level goes outwards if it is dirty. */
static void let_go(Caches *caches, Moved *moved, uint32_t level, uint64_t evicted) {
    note_evicted(caches, level, evicted);
    if (evicted & TAG_DIRTY) {
        moved->write_lines[level]++;
        deliver(caches, moved, level + 1, evicted & ~TAG_STATE);
    }
}

static void fill(Caches *caches, Moved *moved, uint32_t level, uint64_t tag) {
    const Cache *const cache = caches->path[level];
    const uint64_t evicted = cache_enter(cache, tag & ~TAG_STATE, tag & TAG_STATE);
    note_read(caches, level, evicted);
    if (is_unknown(caches, evicted)) {
        *cache_row(cache, tag & ~TAG_STATE) |= TAG_UNSURE;
    }
    let_go(caches, moved, level, evicted);
}

static void cross_outwards(Caches *caches, Moved *moved, uint32_t from, uint32_t to) {
    for (uint32_t level = from; level < to; level++) {
        moved->write_lines[level]++;
        if (caches->burst) {
            caches->burst->write_lines[level]++;
        }
    }
}

/* ---- other CPUs' copies ---- */

typedef struct {
    bool removing;
    bool found;
    uint32_t innermost_dirty; /* NO_LEVEL: no copy is dirty */
} Snoop;

static void snoop_cache(Cache *cache, uint32_t level, uint64_t tag, Snoop *snoop) {
    uint64_t *copy = cache->rows ? cache_find(cache, tag) : NULL;
    if (!copy) {
        return;
    }
    snoop->found = true;
    if ((*copy & TAG_DIRTY) && snoop->innermost_dirty == NO_LEVEL) {
        snoop->innermost_dirty = level;
    }
    cache_change(cache, copy, snoop->removing ? 0 : tag | TAG_SHARED);
}

/* First and last CPU below the cache of this level on the selected CPU's path. */
static void branch(const Caches *caches, uint32_t level, uint32_t *first, uint32_t *end) {
    uint32_t seen = caches->cpus_seen;
    if (level == caches->n_levels) {
        *first = 0;
        *end = seen;
    } else {
        uint32_t per = caches->cpus_per[level];
        *first = caches->cpu / per * per;
        *end = seen - *first < per ? seen : *first + per;
    }
}

/* Look for copies in the branches that meet the selected CPU's path at this level. A dirty one is
   written back to it; then all are clean and shared, or are removed. Return whether any is left. */
static bool snoop_level(Caches *caches, Moved *moved, uint32_t level, uint64_t tag, bool removing) {
    uint32_t first, end, my_first, my_end;
    Snoop snoop = {.removing = removing, .innermost_dirty = NO_LEVEL};
    branch(caches, level, &first, &end);
    branch(caches, level - 1, &my_first, &my_end);
    for (uint32_t inner = 0; inner < level; inner++) {
        uint32_t per = caches->cpus_per[inner];
        for (uint32_t cpu = first; cpu < end; cpu += per) {
            if (cpu < my_first || cpu >= my_end) {
                snoop_cache(cache_of(caches, inner, cpu), inner, tag, &snoop);
            }
        }
    }
    if (snoop.innermost_dirty != NO_LEVEL) {
        cross_outwards(caches, moved, snoop.innermost_dirty, level);
        deliver(caches, moved, level, tag);
    }
    return snoop.found && !removing;
}

static void snoop_levels(Caches *caches, Moved *moved, uint32_t from, uint64_t tag) {
    if (caches->several) {
        for (uint32_t level = from; level <= caches->n_levels; level++) {
            snoop_level(caches, moved, level, tag, true);
        }
    }
}

/* ---- reading in ---- */

/* Look for the line from level `inner` outwards, where the path to it has already missed it, and
   gather other CPUs' copies on the way. Return the level that has it (n_levels: memory). */
static uint32_t look_outwards(Caches *caches, Moved *moved, uint32_t inner, uint32_t lowest_used,
                              uint64_t tag, bool removing, uint64_t *shared) {
    for (uint32_t level = inner; level < caches->n_levels; level++) {
        if (caches->several && level && snoop_level(caches, moved, level, tag, removing)) {
            *shared = TAG_SHARED;
        }
        const Cache *cache = caches->path[level];
        const uint64_t *copy = cache_find(cache, tag);
        if (copy) {
            *shared |= *copy & TAG_SHARED;
            if (level >= lowest_used) {
                note_hit(caches, level, *copy);
                cache_enter(cache, tag, 0);
            }
            return level;
        }
    }
    if (caches->several && snoop_level(caches, moved, caches->n_levels, tag, removing)) {
        *shared = TAG_SHARED;
    }
    return caches->n_levels;
}

/* Read a line, which L1 has made room for, where others may have copies of it. Return its state. */
static __attribute__((noinline)) uint64_t read_among_others(Caches *caches, Moved *moved,
                                                            uint64_t tag, bool store) {
    uint64_t state = 0;
    const uint32_t found = look_outwards(caches, moved, 1, 1, tag, store, &state);
    if (store && state) {
        snoop_levels(caches, moved, found + 1, tag);
    }
    for (uint32_t level = found; level-- > 1;) {
        moved->read_lines[level]++;
        fill(caches, moved, level, tag | (store ? 0 : state));
    }
    return store ? 0 : state;
}

static void read_further(Caches *caches, Moved *moved, uint32_t level, uint64_t tag,
                         uint64_t evicted);

/* Read a line from a level on, where nobody else has any. It enters what it misses at once, and
   what has to leave for it waits until it is found: so every cache sees lines in the same order as
   if the line were found first, and is looked into once. */
static void read_alone(Caches *caches, Moved *moved, uint32_t level, uint64_t tag) {
    if (level == caches->n_levels) {
        return;
    }
    const uint64_t before = cache_enter(caches->path[level], tag, 0);
    if (!is_same_line(before, tag)) {
        read_further(caches, moved, level, tag, before);
    } else {
        note_hit(caches, level, before);
    }
}

static __attribute__((noinline)) void read_further(Caches *caches, Moved *moved, uint32_t level,
                                                   uint64_t tag, uint64_t evicted) {
    moved->read_lines[level]++;
    note_read(caches, level, evicted);
    if (is_unknown(caches, evicted)) {
        *cache_row(caches->path[level], tag) |= TAG_UNSURE;
    }
    read_alone(caches, moved, level + 1, tag);
    let_go(caches, moved, level, evicted);
}

/* L1 has let a line in, and another one go for it. */
static __attribute__((noinline)) void miss(Caches *caches, uint64_t tag, bool store,
                                           uint64_t evicted, uint32_t site) {
    Moved *const moved = caches->moved_of(caches->context, site);
    moved->read_lines[0]++;
    note_read(caches, 0, evicted);
    if (is_unknown(caches, evicted) && !store) {
        *cache_row(caches->path[0], tag) |= TAG_UNSURE;
    }
    if (caches->several) {
        *cache_row(caches->path[0], tag) |= read_among_others(caches, moved, tag, store);
    } else {
        read_alone(caches, moved, 1, tag);
    }
    let_go(caches, moved, 0, evicted);
}

static __attribute__((noinline)) void take_from_others(Caches *caches, uint64_t *row,
                                                       uint32_t site) {
    *row &= ~TAG_SHARED;
    snoop_levels(caches, caches->moved_of(caches->context, site), 1, *row & ~TAG_STATE);
}

/* A load or store after which L1's row is another one, at least. What hits L1 calls nothing from
   here, and so needs no place on the stack. */
void caches_use_line(Caches *caches, uint64_t *row, uint64_t tag, bool store, uint32_t site) {
    if (tag == 0) {
        return; /* it did not happen */
    }
    const uint64_t before = row_enter(row, caches->path[0]->ways, tag, store ? TAG_DIRTY : 0);
    if (!is_same_line(before, tag)) {
        miss(caches, tag, store, before, site);
        return;
    }
    note_hit(caches, 0, before);
    if (__builtin_expect(store && (before & TAG_SHARED), 0)) {
        take_from_others(caches, row, site);
    }
}

/* Fill from level `to` outwards (only_one: that level alone) unless the line is there or nearer. */
static void prefetch(Caches *caches, uint64_t tag, uint32_t to, bool only_one, uint32_t site) {
    if (to >= caches->n_levels) {
        to = caches->n_levels - 1;
    }
    if (cache_find(caches->path[0], tag)) {
        if (to == 0) {
            cache_enter(caches->path[0], tag, 0);
        }
        return;
    }
    Moved *moved = caches->moved_of(caches->context, site);
    uint64_t state = 0;
    uint32_t found = look_outwards(caches, moved, 1, to, tag, false, &state);
    for (uint32_t level = found; level-- > to;) {
        moved->read_lines[level]++;
        if (level == to || !only_one) {
            fill(caches, moved, level, tag | state);
        }
    }
}

/* ---- instructions ---- */

static void fetch(Caches *caches, uint64_t tag, uint32_t site) {
    const Cache *nearest = caches->instruction;
    if (nearest ? is_same_line(cache_enter(nearest, tag, 0), tag) : caches->n_levels == 1) {
        return;
    }
    Moved *moved = caches->moved_of(caches->context, site);
    /* Code that this CPU has just written is still in its L1 of data. */
    uint64_t *written = cache_find(caches->path[0], tag), state = 0;
    if (written && (*written & TAG_DIRTY)) {
        cache_change(caches->path[0], written, *written & ~TAG_DIRTY);
        moved->write_lines[0]++;
        if (caches->burst) {
            caches->burst->write_lines[0]++;
        }
        deliver(caches, moved, 1, tag);
    }
    uint32_t found = look_outwards(caches, moved, 1, 1, tag, false, &state);
    for (uint32_t level = found; level-- > 1;) {
        moved->read_lines[level]++;
        fill(caches, moved, level, tag | state);
    }
    if (nearest) {
        moved->read_lines[0]++;
        if (caches->burst) {
            caches->burst->read_lines[0]++;
        }
    }
}

/* ---- non-temporal stores ---- */

static void store_past_caches(Caches *caches, uint64_t tag, uint32_t bytes, uint32_t site) {
    Moved *moved = caches->moved_of(caches->context, site);
    Snoop snoop = {.removing = true, .innermost_dirty = NO_LEVEL};
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        uint32_t per = caches->cpus_per[level];
        for (uint32_t cpu = 0; cpu < caches->cpus_seen; cpu += per) {
            snoop_cache(cache_of(caches, level, cpu), level, tag, &snoop);
        }
    }
    bool whole = bytes == 1u << caches->line_bits;
    if (snoop.innermost_dirty != NO_LEVEL && !whole) {
        cross_outwards(caches, moved, snoop.innermost_dirty, caches->n_levels);
    }
    moved->nt_bytes += bytes;
    if (caches->burst) {
        caches->burst->nt_bytes += bytes;
    }
}

/* ---- any access ---- */

static void access_part(Caches *caches, uint64_t address, uint32_t bytes, AccessKind kind,
                        uint32_t site) {
    const uint64_t tag = address & caches->line_mask;
    if (tag == 0) {
        return; /* a prefetch by a null pointer, or near it */
    }
    switch (kind) {
    case ACCESS_LOAD:
    case ACCESS_STORE:
        caches_access_line(caches, caches->path[0], tag, kind == ACCESS_STORE, site);
        break;
    case ACCESS_NT_STORE:
        store_past_caches(caches, tag, bytes, site);
        break;
    /* T1 and T2 as the instruction set describes them; CPUs differ in what they make of T2. */
    case ACCESS_PREFETCH_T0:
        prefetch(caches, tag, 0, false, site);
        break;
    case ACCESS_PREFETCH_T1:
        prefetch(caches, tag, 1, false, site);
        break;
    case ACCESS_PREFETCH_T2:
        prefetch(caches, tag, 2, false, site);
        break;
    case ACCESS_PREFETCH_NTA:
        prefetch(caches, tag, 0, true, site);
        break;
    case ACCESS_FETCH:
        fetch(caches, tag, site);
        break;
    }
}

void caches_access_rarely(Caches *caches, uint64_t address, uint32_t bytes, AccessKind kind,
                          uint32_t site) {
    while (bytes && address) {
        uint64_t room = ~caches->line_mask - (address & ~caches->line_mask) + 1;
        uint32_t part = bytes < room ? bytes : (uint32_t)room;
        access_part(caches, address, part, kind, site);
        address += part;
        bytes -= part;
    }
}
