/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
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

typedef void (*VisitLine)(const Caches *caches, uint32_t level, uint32_t cpu, uint64_t tag,
                          void *context);

static void visit_dirty_lines(const Caches *caches, uint32_t level, VisitLine visit,
                              void *context) {
    uint32_t per = caches->cpus_per[level];
    for (uint32_t cpu = 0; cpu < caches->cpus_seen; cpu += per) {
        const Cache *cache = cache_of(caches, level, cpu);
        for (uint64_t set = 0; cache->rows && set < cache->n_sets; set++) {
            for (uint32_t slot = 0; slot < cache->ways; slot++) {
                uint64_t tag = cache->rows[set * cache->slots + slot];
                if (tag & TAG_DIRTY) {
                    visit(caches, level, cpu, tag & ~TAG_STATE, context);
                }
            }
        }
    }
}

/* The dirty line leaves `level` for the next one that has a copy, or else for memory. */
static void write_line_back(const Caches *caches, uint32_t level, uint32_t cpu, uint64_t tag,
                            void *moved) {
    for (uint32_t outer = level + 1; outer <= caches->n_levels; outer++) {
        ((Moved *)moved)->write_lines[outer - 1]++;
        uint64_t *copy =
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
static void count_line(const Caches *caches, uint32_t level, uint32_t cpu, uint64_t tag,
                       void *count) {
    while (++level < caches->n_levels) {
        uint64_t *copy = cache_find(cache_of(caches, level, cpu), tag);
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
    const bool masked = is_power_of_two(n_sets);
    cache->line_bits = line_bits;
    cache->ways = shape->ways;
    cache->slots = vectors * SLOTS_PER_VECTOR;
    cache->n_sets = n_sets;
    cache->set_mask = masked ? n_sets - 1 : 0;
    /* What is no power of two does not divide 2^64, so this is the quotient of 2^64 too. */
    cache->reciprocal = masked ? 0 : UINT64_MAX / n_sets;
}

static bool is_possible_geometry(const CacheGeometry *geometry) {
    uint32_t line_bytes = geometry->line_bytes, inner_cpus = 1;
    if (!is_power_of_two(line_bytes) || line_bytes <= TAG_LOW_STATE || !geometry->n_cpus ||
        geometry->n_cpus > CPU_LIMIT || !geometry->n_levels ||
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

/* Zeroed words that begin on a line of the host's cache, so that rows lie in as few as they can. */
static uint64_t *make_words(Caches *caches, uint64_t n) {
    const uintptr_t line_bytes = 64;
    uintptr_t room = (uintptr_t)caches->allocate(n * sizeof(uint64_t) + line_bytes);
    return room ? (uint64_t *)((room + line_bytes - 1) / line_bytes * line_bytes) : NULL;
}

static bool make_rows(Caches *caches, Cache *cache) {
    if (!cache->rows) {
        cache->rows = make_words(caches, cache->n_sets * cache->slots);
    }
    return cache->rows != NULL;
}

bool caches_select_cpu(Caches *caches, uint32_t cpu) {
    if (cpu >= caches->n_cpus) {
        return false;
    }
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        if (!make_rows(caches, cache_of(caches, level, cpu))) {
            return false;
        }
    }
    if (caches->instructions) {
        Cache *instruction = &caches->instructions[cpu / caches->cpus_per_instruction];
        if (!make_rows(caches, instruction)) {
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

/* ---- bursts ---- */

static void make_stale(Cache *cache) {
    for (uint64_t slot = 0; cache->rows && slot < cache->n_sets * cache->slots; slot++) {
        if (cache->rows[slot]) {
            cache->rows[slot] = (cache->rows[slot] & ~TAG_UNSURE) | TAG_STALE;
        }
    }
}

/* Instructions are few, and in their cache before a burst has told anything. */
void caches_begin_burst(Caches *caches, BurstMoved *burst, bool is_first) {
    *burst = (BurstMoved){0};
    caches->burst = burst;
    caches->saw_all = is_first;
    for (uint32_t level = 0; level < caches->n_levels; level++) {
        for (uint32_t i = 0; i < n_caches(caches, caches->cpus_per[level]); i++) {
            make_stale(&caches->data[level][i]);
        }
    }
}
