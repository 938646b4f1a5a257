/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a ring, replayed in the simulated caches.
 *
 * A ring holds records: the word of a block, then the words of its accesses. A signal that came
 * in the middle of a block may have left some at 0, or written others over them; from the first
 * word on that should begin a record and does not, the rest of the ring is dropped, and counted.
 */
#include <sys/syscall.h>

#include "memory.h"
#include "system.h"
#include "traffic_state.h"

#define COMMON_LINE_BITS 6
#define HOST_LINE_BYTES 64
#define STATUS_BYTES 2047
#define OWN_KIB 4096 /* that a program may have touched before its copies were loaded */

/* ---- making the caches ---- */

static CacheShape shape_of(const ArenaCache *cache) {
    return (CacheShape){.size_bytes = cache->size_bytes,
                        .ways = (uint32_t)cache->ways,
                        .cpus = (uint32_t)(cache->cpus ? cache->cpus : 1)};
}

static bool make_geometry(uint32_t number) {
    const ArenaGeometry *const asked = &traffic.options->geometry[number];
    CacheGeometry geometry = {.n_levels = (uint32_t)asked->n_levels,
                              .line_bytes = (uint32_t)asked->line_bytes,
                              .n_cpus = (uint32_t)asked->n_cpus,
                              .instruction = shape_of(&asked->instruction)};
    for (uint32_t level = 0; level < asked->n_levels && level < CACHE_MAX_LEVELS; level++) {
        geometry.data[level] = shape_of(&asked->data[level]);
    }
    Caches *const caches =
        caches_new(&geometry, traffic_take, number ? traffic_moved_elsewhere : traffic_moved,
                   (void *)(uintptr_t)(number ? number - 1 : 0));
    if (!caches) {
        return false;
    }
    traffic.caches[number] = caches;
    const uint32_t ways = caches->instruction ? caches->instruction->ways : 0;
    traffic.lines_kept = ways < traffic.lines_kept ? ways : traffic.lines_kept;
    if (caches->line_bits < traffic.skip_bits) {
        traffic.skip_bits = caches->line_bits;
    }
    if (caches->path[0]->ways < 2) {
        traffic.skip_bits = 0;
    }
    return true;
}

static void release(void *memory) {
    (void)memory; /* only what failed: nothing is simulated then */
}

bool traffic_make_caches(void) {
    const ArenaTraffic *const options = traffic.options;
    const uint64_t line_bytes = options->geometry[0].line_bytes;
    const uint64_t n_cpus = options->geometry[0].n_cpus;
    traffic.n_geometries = (uint32_t)options->n_geometries;
    traffic.n_cpus = n_cpus ? (uint32_t)n_cpus : 1;
    traffic.threads_on_cpu = traffic_take(traffic.n_cpus * sizeof *traffic.threads_on_cpu);
    traffic.line_bits = line_bytes ? (uint32_t)__builtin_ctzll(line_bytes) : COMMON_LINE_BITS;
    traffic.lines_kept = traffic.n_geometries ? UINT32_MAX : 0;
    traffic.skip_bits = options->reuse_lines ? 0 : traffic.line_bits;
    for (uint32_t i = 0; i < traffic.n_geometries; i++) {
        if (!make_geometry(i)) {
            return false;
        }
    }
    if (options->reuse_lines) {
        traffic.reuse = reuse_new((uint32_t)options->reuse_lines, traffic_take, release);
    }
    return traffic.threads_on_cpu && (traffic.reuse || !options->reuse_lines);
}

/* ---- one access ---- */

static void follow_reuse(uint64_t address, uint32_t bytes, AccessKind kind) {
    if (kind > ACCESS_STORE) {
        return; /* past the caches, or no access of the program's own */
    }
    const uint64_t last = (address + bytes - 1) >> traffic.line_bits;
    for (uint64_t line = address >> traffic.line_bits; line <= last; line++) {
        reuse_access(traffic.reuse, line, kind == ACCESS_STORE);
    }
}

void traffic_access(uint32_t site, uint64_t address, uint32_t bytes, AccessKind kind) {
    if (address == 0) {
        return; /* it did not happen */
    }
    for (uint32_t g = 0; g < traffic.n_geometries; g++) {
        caches_access(traffic.caches[g], address, bytes, kind, site);
    }
    if (traffic.reuse) {
        follow_reuse(address, bytes, kind);
    }
}

/* ---- records ---- */

static inline void fetch(const Block *block) {
    for (uint32_t i = 0; i < block->n_lines; i++) {
        const CodeLine *const line = &block->lines[i];
        if (line->address != traffic.last_fetched) {
            traffic.last_fetched = line->address;
            for (uint32_t g = 0; g < traffic.n_geometries; g++) {
                caches_fetch(traffic.caches[g], line->address, line->site);
            }
        }
    }
}

static __attribute__((noinline)) void access_all(const Bank *bank, const Block *block,
                                                 const uint64_t *words) {
    const Step *const end = block->steps + block->n_steps;
    for (const Step *step = block->steps; step < end; step++) {
        words = traffic_make_form(bank, &step, end, words);
    }
}

/* The block after the one at hand is looked at while that is replayed. */
static inline void prefetch_block(const uint64_t *record, const uint64_t *end) {
    if (record < end) {
        const uint64_t n = (*record - COUNTERS_AT) / sizeof(uint64_t);
        if (n < traffic.arena->most_counters) {
            const Block *const block = traffic.blocks[n];
            __builtin_prefetch(block);
            __builtin_prefetch((const char *)block + HOST_LINE_BYTES);
        }
    }
}

/* Replay the records from one on that are of the same block; return where the next one begins, or
   this one if it is none. nearest: the L1 of data of the only geometry, or NULL. */
ALWAYS_INLINE const uint64_t *replay_run(const Bank *bank, const uint64_t *record,
                                         const uint64_t *end, const Cache *nearest) {
    const uint64_t word = *record;
    const Block *const block = traffic_block(word);
    if (!block) {
        return record;
    }
    Caches *const first = traffic.caches[0];
    const uint64_t n = block->n_words;
    const bool one_by_one = nearest && block->is_plain;
    uint64_t runs = 0;
    traffic.last_site = block->last_site;
    fetch(block);
    for (;;) {
        record++;
        runs++;
        if (n > (uint64_t)(end - record)) {
            return record - 1; /* it was cut short */
        }
        if (one_by_one) {
            for (uint64_t i = 0; i < n; i++) {
                const Step *const step = &block->steps[i];
                caches_access_by(first, nearest, record[i], step->bytes, step->kind, step->site);
            }
        } else {
            access_all(bank, block, record);
        }
        record += n;
        if (record >= end || *record != word) {
            break;
        }
        if (block->n_lines > traffic.lines_kept) {
            fetch(block);
        }
    }
    ((Block *)block)->runs += runs;
    prefetch_block(record + 1, end);
    return record;
}

/* One geometry, no miss curve, and an L1 like that of most CPUs: this has to be fast. */
static bool is_common(void) {
    const Cache *const nearest = traffic.n_geometries == 1 ? traffic.caches[0]->path[0] : NULL;
    return nearest && !traffic.reuse && nearest->line_bits == COMMON_LINE_BITS &&
           !nearest->reciprocal;
}

/* Where the first record begins that is none; or the end. */
static const uint64_t *replay_until(const Bank *bank, const uint64_t *record, const uint64_t *end) {
    const bool common = is_common();
    Cache nearest = {0};
    if (common) {
        nearest = *traffic.caches[0]->path[0];
        nearest.line_bits = COMMON_LINE_BITS;
        nearest.reciprocal = 0; /* constants: what depends on them costs nothing */
    }
    while (record < end) {
        const uint64_t *const next = common ? replay_run(bank, record, end, &nearest)
                                            : replay_run(bank, record, end, NULL);
        if (next == record) {
            return record;
        }
        record = next;
    }
    return end;
}

static bool select_cpu(uint32_t cpu) {
    bool has_memory = true;
    for (uint32_t g = 0; g < traffic.n_geometries; g++) {
        if (traffic.caches[g]->cpu != cpu) {
            traffic.last_fetched = 0;
            has_memory &= caches_select_cpu(traffic.caches[g], cpu < traffic.caches[g]->n_cpus
                                                                   ? cpu : 0);
        }
    }
    return has_memory;
}

/* What a block leaves out next time did not happen. */
static void clear(uint64_t *word, const uint64_t *end) {
#ifdef __AVX2__
    typedef uint64_t Words __attribute__((vector_size(32)));
    for (; word + sizeof(Words) / sizeof *word <= end; word += sizeof(Words) / sizeof *word) {
        *(Words *)word = (Words){0}; /* a ring begins on a page */
    }
#endif
    for (; word < end; word++) {
        *word = 0;
    }
}

void traffic_replay(Bank *bank) {
    const TrafficThread *const thread = traffic_thread(bank->tid);
    const uint64_t most = RING_BYTES + RING_BYTES / 2; /* a signal may have mixed it up */
    const uint64_t bytes = bank->ring_index < most ? bank->ring_index : most;
    uint64_t *const begin = (uint64_t *)((char *)bank + RING_AT);
    uint64_t *const end = begin + bytes / sizeof *begin;
    if (!thread || !select_cpu(thread->cpu)) {
        traffic.has_failed = true;
        return;
    }
    if (traffic_is_dropped()) {
        return;
    }
    const bool is_later = traffic.bursts.are_wanted && !traffic.caches[0]->saw_all;
    traffic_use_sheet(bank->process | (is_later ? MOVED_IN_BURSTS : 0),
                      traffic_regions_of(thread));
    if (traffic.reuse) {
        reuse_count(traffic.reuse, traffic_is_selected(thread));
    }
    bank->not_simulated += (uint64_t)(end - replay_until(bank, begin, end));
    clear(begin, end);
}

/* ---- all at once ---- */

void traffic_empty_caches(void) {
    traffic.last_fetched = 0;
    for (uint32_t g = 0; g < traffic.n_geometries; g++) {
        caches_empty(traffic.caches[g], traffic.last_site);
    }
}

/* What getrusage tells is of the program before, too, which became this one. */
uint64_t traffic_resident_kib(void) {
    static const char name[] = "VmHWM:";
    char text[STATUS_BYTES + 1];
    const int64_t file = system_call(SYS_open, (uint64_t)"/proc/self/status", 0, 0, 0, 0, 0);
    int64_t n = system_call(SYS_read, (uint64_t)file, (uint64_t)text, STATUS_BYTES, 0, 0, 0);
    system_call(SYS_close, (uint64_t)file, 0, 0, 0, 0, 0);
    text[n > 0 && file >= 0 ? n : 0] = 0;
    uint64_t kib = 0;
    for (const char *at = text; *at; at++) {
        if (!memcmp(at, name, at + sizeof name < text + sizeof text ? sizeof name - 1 : 1)) {
            for (at += sizeof name - 1; *at == ' ' || *at == '\t'; at++) {
            }
            for (; *at >= '0' && *at <= '9'; at++) {
                kib = 10 * kib + (uint64_t)(*at - '0');
            }
            break;
        }
    }
    return kib;
}

void traffic_write_end(uint64_t process, uint64_t why) {
    const ArenaTraffic *const options = traffic.options;
    if (process >= options->most_ends) {
        return;
    }
    ArenaEnd *const of =
        (ArenaEnd *)((char *)traffic.arena + options->ends_at) + process;
    for (uint32_t g = 0; g < traffic.n_geometries; g++) {
        of->pending_lines[g] = caches_dirty_lines(traffic.caches[g]);
    }
    if (traffic.reuse) {
        CurveSummary summary;
        _Static_assert(sizeof of->rows[0] == sizeof(CurveRow), "rows are of the same numbers");
        of->n_rows =
            reuse_curve(traffic.reuse, (CurveRow *)of->rows, TRAFFIC_CURVE_ROWS, &summary);
        of->line_bytes = UINT64_C(1) << traffic.line_bits;
        of->sampled_lines = summary.sampled_lines;
        of->denominator = summary.denominator;
        of->accesses = summary.accesses;
    }
    of->failed = traffic.has_failed;
    const uint64_t kib = traffic_resident_kib();
    of->own_kib = kib && traffic.first_kib ? kib - traffic.first_kib + OWN_KIB : 0;
    __atomic_store_n(&of->ready, why, __ATOMIC_RELEASE);
}
