/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All caches at once: making them from a geometry, emptying them, counting what is dirty.
 */
#include "cache.h"

#define CPU_LIMIT 65536u
#define WAY_LIMIT 65536u

static uint32_t n_caches(const Caches *caches, uint32_t cpus_per) {
    return (caches->n_cpus - 1) / cpus_per + 1;
}

/* ---- all dirty lines ---- */

typedef void (*VisitLine)(const Caches *caches, uint32_t level, uint32_t cpu, uint32_t tag,
                          void *context);

static void visit_dirty_lines(const Caches *caches, uint32_t level, VisitLine visit,
                              void *context) {
    uint32_t per = caches->cpus_per[level];
    for (uint32_t cpu = 0; cpu < caches->cpus_seen; cpu += per) {
        const Cache *cache = cache_of(caches, level, cpu);
        for (uint64_t set = 0; cache->rows && set < cache->n_sets; set++) {
            for (uint32_t slot = 0; slot < cache->ways; slot++) {
                uint32_t tag = cache->rows[set * cache->slots + slot];
                if (tag & TAG_DIRTY) {
                    visit(caches, level, cpu, tag & ~TAG_STATE, context);
                }
            }
        }
    }
}

/* The dirty line leaves `level` for the next one that has a copy, or else for memory. */
static void write_line_back(const Caches *caches, uint32_t level, uint32_t cpu, uint32_t tag,
                            void *moved) {
    for (uint32_t outer = level + 1; outer <= caches->n_levels; outer++) {
        ((Moved *)moved)->write_lines[outer - 1]++;
        uint32_t *copy =
            outer < caches->n_levels ? cache_find(cache_of(caches, outer, cpu), tag) : NULL;
        if (copy) {
            *copy |= TAG_DIRTY;
            return;
        }
    }
}

static void forget(Cache *caches, uint32_t n) {
    for (Cache *cache = caches; cache < caches + n; cache++) {
        if (cache->rows) {
            cache_forget(cache);
        }
    }
}

void caches_empty(Caches *caches, uint32_t site) {
    Moved *moved = caches->moved_of(caches->context, site);
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        visit_dirty_lines(caches, level, write_line_back, moved);
    }
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        forget(caches->data[level], n_caches(caches, caches->cpus_per[level]));
    }
    if (caches->instructions) {
        forget(caches->instructions, n_caches(caches, caches->cpus_per_instruction));
    }
}

/* A line may be dirty in several levels of one path: its outermost copy stands for it. */
static void count_line(const Caches *caches, uint32_t level, uint32_t cpu, uint32_t tag,
                       void *count) {
    while (++level < caches->n_levels) {
        uint32_t *copy = cache_find(cache_of(caches, level, cpu), tag);
        if (copy && (*copy & TAG_DIRTY)) {
            return;
        }
    }
    ++*(uint64_t *)count;
}

uint64_t caches_dirty_lines(const Caches *caches) {
    uint64_t count = 0;
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        visit_dirty_lines(caches, level, count_line, &count);
    }
    return count;
}

/* ---- numbers of pieces ---- */

static void mark_pieces(const Cache *caches, uint32_t n, bool *held) {
    for (const Cache *cache = caches; cache < caches + n; cache++) {
        for (uint64_t slot = 0; cache->rows && slot < cache->n_sets * cache->slots; slot++) {
            held[cache->rows[slot] >> (TAG_NAME_SHIFT + PIECE_BITS)] = true;
        }
    }
}

/* Take the numbers back of pieces of which no cache holds a line. */
static void take_numbers_back(Caches *caches) {
    Names *const names = &caches->names;
    bool held[N_PIECES] = {true};
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        mark_pieces(caches->data[level], n_caches(caches, caches->cpus_per[level]), held);
    }
    if (caches->instructions) {
        mark_pieces(caches->instructions, n_caches(caches, caches->cpus_per_instruction), held);
    }
    for (uint32_t number = 0; number < N_PIECES; number++) {
        if (!held[number]) {
            names->latest[names->pieces[number] % N_PIECES] = (NamedPiece){0, 0};
            names->pieces[number] = 0;
        }
    }
}

/* The number that a piece has, or a free one; N_PIECES: there is none. */
static uint32_t find_number(const Names *names, uint64_t piece) {
    uint32_t unused = N_PIECES;
    for (uint32_t number = 1; number < N_PIECES; number++) {
        if (names->pieces[number] == piece) {
            return number;
        }
        unused = names->pieces[number] || unused < N_PIECES ? unused : number;
    }
    return unused;
}

void caches_name(Caches *caches, uint64_t line) {
    Names *const names = &caches->names;
    const uint64_t piece = line >> PIECE_BITS;
    uint32_t number = piece ? find_number(names, piece) : 0;
    if (number == N_PIECES) {
        take_numbers_back(caches);
        number = find_number(names, piece);
    }
    if (number == N_PIECES) {
        names->exhausted = true;
        number = 0;
    } else {
        names->pieces[number] = piece;
    }
    names->latest[piece % N_PIECES] = (NamedPiece){piece, number << PIECE_BITS};
}

/* ---- making them ---- */

static bool is_power_of_two(uint64_t value) {
    return value && !(value & (value - 1));
}

static bool is_possible(const CacheShape *shape, uint64_t line_bytes) {
    return shape->ways && shape->ways < WAY_LIMIT && shape->cpus && shape->cpus < CPU_LIMIT &&
           shape->size_bytes && shape->size_bytes % (shape->ways * line_bytes) == 0;
}

static void describe(Cache *cache, const CacheShape *shape, uint32_t line_bits) {
    const uint32_t vectors = (shape->ways - 1) / SLOTS_PER_VECTOR + 1;
    const uint64_t n_sets = (shape->size_bytes >> line_bits) / shape->ways;
    const bool masked = is_power_of_two(n_sets) && n_sets <= UINT64_C(1) << PIECE_BITS;
    cache->line_bits = line_bits;
    cache->ways = shape->ways;
    cache->slots = vectors * SLOTS_PER_VECTOR;
    cache->n_sets = n_sets;
    cache->set_mask = masked ? n_sets - 1 : 0;
    /* For a power of two this is one less than the quotient of 2^64, which cache_set allows. */
    cache->reciprocal = masked ? 0 : UINT64_MAX / n_sets;
}

static bool is_possible_geometry(const CacheGeometry *geometry) {
    uint32_t line_bytes = geometry->line_bytes, inner_cpus = 1;
    if (!is_power_of_two(line_bytes) || line_bytes <= (TAG_STATE | TAG_VALID) ||
        !geometry->n_cpus || geometry->n_cpus > CPU_LIMIT || !geometry->n_levels ||
        geometry->n_levels > CACHE_MAX_LEVELS) {
        return false;
    }
    for (uint32_t level = 0; level < geometry->n_levels; level++) {
        const CacheShape *shape = &geometry->data[level];
        if (!is_possible(shape, line_bytes) || shape->cpus % inner_cpus) {
            return false;
        }
        inner_cpus = shape->cpus;
    }
    return !geometry->instruction.size_bytes || is_possible(&geometry->instruction, line_bytes);
}

static Cache *make_level(Caches *caches, const CacheShape *shape) {
    uint32_t n = n_caches(caches, shape->cpus);
    Cache *level = caches->allocate(n * sizeof *level);
    for (uint32_t i = 0; level && i < n; i++) {
        describe(&level[i], shape, caches->line_bits);
        level[i].names = &caches->names;
    }
    return level;
}

Caches *caches_new(const CacheGeometry *geometry, void *(*allocate)(size_t bytes), MovedOf moved_of,
                   void *context) {
    Caches *caches = is_possible_geometry(geometry) ? allocate(sizeof *caches) : NULL;
    if (!caches) {
        return NULL;
    }
    caches->line_bits = (uint32_t)__builtin_ctz(geometry->line_bytes);
    caches->line_mask = ~(uint64_t)(geometry->line_bytes - 1);
    caches->n_levels = geometry->n_levels;
    caches->n_cpus = geometry->n_cpus;
    caches->allocate = allocate;
    caches->moved_of = moved_of;
    caches->context = context;
    for (uint32_t level = 0; level < geometry->n_levels; level++) {
        caches->cpus_per[level] = geometry->data[level].cpus;
        caches->data[level] = make_level(caches, &geometry->data[level]);
        if (!caches->data[level]) {
            return NULL;
        }
    }
    if (geometry->instruction.size_bytes) {
        caches->cpus_per_instruction = geometry->instruction.cpus;
        caches->instructions = make_level(caches, &geometry->instruction);
        if (!caches->instructions) {
            return NULL;
        }
    }
    return caches_select_cpu(caches, 0) ? caches : NULL;
}

/* Zeroed bytes that begin on a line of the host's cache, so that rows lie in as few as they can. */
static void *make_bytes(Caches *caches, uint64_t n) {
    const uintptr_t line_bytes = 64;
    uintptr_t room = (uintptr_t)caches->allocate(n + line_bytes);
    return room ? (void *)((room + line_bytes - 1) / line_bytes * line_bytes) : NULL;
}

static bool make_rows(Caches *caches, Cache *cache, bool is_first) {
    if (!cache->rows) {
        cache->rows = make_bytes(caches, cache->n_sets * cache->slots * sizeof *cache->rows);
    }
    if (is_first && !cache->recent) {
        cache->recent = make_bytes(caches, cache->n_sets * sizeof *cache->recent);
    }
    return cache->rows && (cache->recent || !is_first);
}

bool caches_select_cpu(Caches *caches, uint32_t cpu) {
    if (cpu >= caches->n_cpus) {
        return false;
    }
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        if (!make_rows(caches, cache_of(caches, level, cpu), level == 0)) {
            return false;
        }
    }
    if (caches->instructions) {
        Cache *instruction = &caches->instructions[cpu / caches->cpus_per_instruction];
        if (!make_rows(caches, instruction, true)) {
            return false;
        }
        caches->instruction = instruction;
    }
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        caches->path[level] = cache_of(caches, level, cpu);
    }
    caches->several |= caches->cpus_seen && cpu != caches->cpu;
    caches->cpu = cpu;
    caches->cpus_seen = cpu < caches->cpus_seen ? caches->cpus_seen : cpu + 1;
    return true;
}
