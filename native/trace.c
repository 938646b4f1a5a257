/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses noted by a running program, replayed in the simulated caches.
 *
 * The compiled code appends a record for every segment that it runs: the segment, then the
 * address of each of its accesses (0 where a condition held it back). Replaying many at once is
 * much cheaper than calling a helper for each access: nothing is saved and restored around
 * calls, and the simulator's state stays in registers and caches.
 *
 * A record is claimed when its segment begins, so that a fault leaves a last record that is
 * filled only in part; `trace_interrupted` replays what of it did run.
 */
#include "engine.h"

#include "opcode.h"

#define HOST_LINE_BYTES 64
#define COMMON_LINE_BITS 6
/* Half of what a small L2 holds: addresses are read while they are near. */
#define TRACE_WORDS (16u * 1024u)

ULong *trace_cursor;
ULong *trace_limit;

static ULong *trace_start;
static Caches *caches[MAX_GEOMETRIES];
static Reuse *reuse;
static Addr last_fetched; /* line: fetching it once more changes nothing */
static const Segment *last_replayed;
static Bool is_dropped;
/* Ways of the L1s of instructions. A segment of no more lines, run again at once, finds them all,
 * and leaves the order of their use as it was. */
static UInt lines_kept;
static UInt line_shift;

static void *allocate_for_caches(size_t bytes) {
    return allocate(bytes);
}

static void release(void *memory) {
    VG_(free)(memory);
}

Bool traced(void) {
    return options.n_geometries > 0 || options.reuse_lines > 0;
}

void trace_begin(void) {
    if (!traced()) {
        return;
    }
    trace_start = allocate(TRACE_WORDS * sizeof *trace_start);
    trace_cursor = trace_start;
    trace_limit = trace_start + TRACE_WORDS - TRACE_SLACK;
    lines_kept = options.n_geometries ? ~0u : 0;
    for (UInt i = 0; i < options.n_geometries; i++) {
        const MovedOf moved = i == 0 ? bank_moved : bank_moved_elsewhere;
        caches[i] = caches_new(&options.geometry[i], allocate_for_caches, moved,
                               (void *)(UWord)(i == 0 ? 0 : i - 1));
        if (!caches[i]) {
            give_up("these caches cannot be simulated");
        }
        const Cache *instructions = caches[i]->instruction;
        const UInt ways = instructions ? instructions->ways : 0;
        lines_kept = ways < lines_kept ? ways : lines_kept;
    }
    if (options.reuse_lines) {
        reuse = reuse_new(options.reuse_lines, allocate_for_caches, release);
    }
    line_shift = __builtin_ctz(options.geometry[0].line_bytes);
}

static inline void fetch(const Segment *segment) {
    for (UInt i = 0; i < segment->n_lines; i++) {
        const FetchedLine *line = &segment->lines[i];
        if (line->address != last_fetched) {
            last_fetched = line->address;
            for (UInt g = 0; g < options.n_geometries; g++) {
                caches_fetch(caches[g], line->address, line->instruction);
            }
        }
    }
}

static void follow_reuse(const Access *access, ULong address) {
    const Bool write = access->kind == ACCESS_STORE;
    if (access->kind > ACCESS_STORE) {
        return; /* past the caches, or no access of the program's own */
    }
    const ULong last = (address + access->bytes - 1) >> line_shift;
    for (ULong line = address >> line_shift; line <= last; line++) {
        reuse_access(reuse, line, write);
    }
}

static void access_all(const Access *access, ULong address) {
    if (address == 0) {
        return; /* held back by a condition */
    }
    for (UInt g = 0; g < options.n_geometries; g++) {
        caches_access(caches[g], address, access->bytes, access->kind, access->instruction);
    }
    if (reuse) {
        follow_reuse(access, address);
    }
}

static inline ULong *counter_of(const Segment *segment) {
    return &counter_pages[segment->index / COUNTERS_PER_PAGE][segment->index % COUNTERS_PER_PAGE];
}

/* Where a record ends is known from its segment alone: the segment after the next one is asked for
 * while this one is replayed. */
static inline void prefetch_after(const ULong *record, const ULong *end) {
    const ULong *next = record + 1 + ((const Segment *)record[0])->n_accesses;
    if (next < end && *next != record[0]) {
        next += 1 + ((const Segment *)*next)->n_accesses;
        if (next < end) {
            __builtin_prefetch((const Segment *)*next);
            __builtin_prefetch((const HChar *)*next + HOST_LINE_BYTES);
        }
    }
}

/* Replay the records from one on that are of the same segment; return the next one. nearest: the
 * L1 of data of the only geometry, or NULL. */
ALWAYS_INLINE const ULong *replay_run(const ULong *record, const ULong *end,
                                      const Cache *nearest) {
    Caches *const first = caches[0];
    const Segment *const segment = (const Segment *)record[0];
    const Access *const accesses = segment->accesses;
    const UWord n = segment->n_accesses;
    ULong times = 0;
    prefetch_after(record, end);
    fetch(segment);
    for (;;) {
        record++;
        for (UWord i = 0; i < n; i++) {
            const ULong address = record[i];
            const Access *const access = &accesses[i];
            if (nearest) {
                caches_access_by(first, nearest, address, access->bytes, access->kind,
                                 access->instruction);
            } else {
                access_all(access, address);
            }
        }
        record += n;
        times++;
        if (record >= end || record[0] != (ULong)segment) {
            break;
        }
        if (segment->n_lines > lines_kept) {
            fetch(segment);
        }
    }
    *counter_of(segment) += times;
    return record;
}

/* One geometry, no miss curve, and an L1 like that of most CPUs: this has to be fast. */
static Bool is_common(void) {
    const Cache *nearest = options.n_geometries == 1 ? caches[0]->path[0] : NULL;
    return nearest && !reuse && nearest->line_bits == COMMON_LINE_BITS && !nearest->reciprocal;
}

static void replay_until(const ULong *end) {
    const ULong *record = trace_start, *last = record;
    if (is_common()) {
        Cache nearest = *caches[0]->path[0];
        nearest.line_bits = COMMON_LINE_BITS;
        nearest.reciprocal = 0; /* constants: what depends on them costs nothing */
        while (record < end) {
            last = record;
            record = replay_run(record, end, &nearest);
        }
    } else {
        while (record < end) {
            last = record;
            record = replay_run(record, end, NULL);
        }
    }
    last_replayed = (const Segment *)last[0];
    trace_cursor = trace_start;
}

void trace_replay(void) {
    if (is_dropped) {
        trace_cursor = trace_start;
    } else if (trace_cursor > trace_start) {
        replay_until(trace_cursor);
    }
}

void trace_drop(Bool on) {
    is_dropped = on;
}

static Bool lies_at(UInt instruction, Addr address) {
    return instruction_of(instruction)->address == address;
}

/* The part of a segment that ran before the instruction at an address; NULL: it is not in it. */
static Segment *part_before(const Segment *segment, Addr at) {
    Segment part = *segment;
    for (UInt i = segment->n_instructions; i-- > 0;) {
        if (lies_at(segment->instructions[i], at)) {
            part.n_instructions = i;
        }
    }
    for (UInt i = segment->n_accesses; i-- > 0;) {
        if (lies_at(segment->accesses[i].instruction, at)) {
            part.n_accesses = i;
        }
    }
    if (part.n_instructions == segment->n_instructions && part.n_accesses == segment->n_accesses) {
        return NULL;
    }
    return segment_with(&part);
}

/* A fault came from the instruction at an address: it, and what follows it, did not run. */
void trace_interrupted(Addr at) {
    if (trace_cursor == trace_start) {
        return;
    }
    ULong *last = trace_start;
    for (ULong *record = trace_start; record < trace_cursor;) {
        last = record;
        record += 1 + ((const Segment *)record[0])->n_accesses;
    }
    const Segment *part = part_before((const Segment *)last[0], at);
    if (part) {
        last[0] = (ULong)part;
        trace_cursor = last + 1 + part->n_accesses;
    }
    trace_replay();
}

/* ---- where no addresses are noted ---- */

/* The end of a segment from the instruction at an address on; NULL: it is not in it. */
static const Segment *part_from(const Segment *segment, Addr at) {
    for (UInt i = 0; i < segment->n_instructions; i++) {
        if (lies_at(segment->instructions[i], at)) {
            Segment part = *segment;
            part.instructions += i;
            part.n_instructions -= i;
            return segment_with(&part);
        }
    }
    return NULL;
}

static Bool is_as_in_memory(UInt instruction) {
    const Instruction *known = instruction_of(instruction);
    return VG_(memcmp)(known->code, (const void *)known->address, known->length) == 0;
}

static Bool is_iteration(const Segment *segment) {
    return segment->role == SEGMENT_ITERATION || segment->role == SEGMENT_LAST_ITERATION;
}

/* Whether a segment may be the one in which an instruction failed. One with a REP prefix
 * reads and writes memory in its iterations alone. */
static Bool may_fail_at(const Segment *segment, Addr at) {
    for (UInt i = 0; i < segment->n_instructions; i++) {
        const UInt instruction = segment->instructions[i];
        if (lies_at(instruction, at)) {
            const Instruction *known = instruction_of(instruction);
            const Bool repeats = opcode_of(known->code, known->length) == OPCODE_REP_STRING;
            return is_as_in_memory(instruction) &&
                   repeats == is_iteration(segment) && *counter_of(segment) != 0;
        }
    }
    return False;
}

/* A fault came from the instruction at an address: takes off what its segment was counted for
 * and did not run. Several segments may hold the instruction, where one jumps into the middle
 * of another; they end alike, at the next branch, unless VEX cut a long one short. */
void segment_interrupted(Addr at) {
    static Addr last_at;
    static UInt last_n_segments;
    static const Segment *last_part; /* found again at once by a program that lives by faults */
    if (at != last_at || n_segments() != last_n_segments) {
        last_part = NULL;
        for (UInt i = n_segments(); i-- > 0 && !last_part;) {
            if (may_fail_at(segment_of(i), at)) {
                last_part = part_from(segment_of(i), at);
            }
        }
        last_at = at;
        last_n_segments = n_segments();
    }
    if (last_part) {
        (*counter_of(last_part))--; /* below zero, too: sums are what is written */
    }
}

void trace_select_cpu(UInt cpu) {
    last_fetched = 0;
    for (UInt g = 0; g < options.n_geometries; g++) {
        caches_select_cpu(caches[g], cpu);
    }
}

void trace_empty_caches(void) {
    trace_replay();
    last_fetched = 0;
    const UInt n = last_replayed ? last_replayed->n_instructions : 0;
    const UInt site = n ? last_replayed->instructions[n - 1] : 0;
    for (UInt g = 0; g < options.n_geometries; g++) {
        caches_empty(caches[g], site);
    }
}

void trace_count_reuse(Bool on) {
    if (reuse) {
        reuse_count(reuse, on);
    }
}

void trace_forget_counts(void) {
    if (reuse) {
        reuse_forget_counts(reuse);
    }
}

ULong trace_dirty_lines(UInt geometry) {
    return caches_dirty_lines(caches[geometry]);
}

Reuse *trace_reuse(void) {
    return reuse;
}
