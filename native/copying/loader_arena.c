/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that all processes of the run share. */
#include "loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void *part(uint64_t at) {
    return (uint8_t *)process.arena + at;
}

/* ---- mapping ---- */

static bool is_sound(const ArenaHeader *header, uint64_t file_bytes) {
    const uint64_t banks = header->most_banks * header->bank_bytes;
    return !memcmp(header->magic, ARENA_MAGIC, 8) && header->banks_at >= sizeof *header
        && !(header->banks_at & 4095) && !(header->bank_bytes & 4095)
        && header->bank_bytes >= COUNTERS_AT + 8 * header->most_counters
        && header->most_counters < (UINT64_C(1) << 27) && header->banks_at + banks <= file_bytes
        && header->claims_at + (header->claims_at ? PLANNED_UNITS * 8 : 0) <= header->banks_at
        && header->modules_at + header->most_modules * sizeof(ArenaModule) <= header->banks_at
        && header->events_at + header->most_events * sizeof(ArenaEvent) <= header->banks_at
        && header->samples_at + header->most_samples * sizeof(ArenaSample) <= header->banks_at
        && header->names_at + header->names_bytes <= header->banks_at;
}

/* One that leaves too little room. A program that set one itself has room for us, see
   loader_limits.c, and so have the programs that it becomes and begins. */
static bool has_limit(const ArenaHeader *arena) {
    uint64_t limit[2] = {0, 0};
    kernel(SYS_prlimit64, 0, RLIMIT_AS, 0, (uint64_t)limit, 0, 0);
    return limit[0] < limits_own_space(arena);
}

/* Far from everything, since the kernel would put it right below the libraries, where there would
   then be no room for copies. */
static uint64_t far_away(uint64_t bytes) {
    const uint64_t here = (uint64_t)&process & ~UINT64_C(0x3fffffff);
    return here - (UINT64_C(16) << 30) - (bytes & ~UINT64_C(0x3fffffff));
}

static void *map_shared(uint64_t bytes, int64_t file, uint64_t from) {
    void *at = call_map(far_away(bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, from);
    if (at) {
        kernel(SYS_madvise, (uint64_t)at, bytes, MADV_DONTDUMP, 0, 0, 0);
    }
    return at;
}

/* Map all of it where address space costs nothing, else all but the banks. */
static ArenaHeader *map_all(int64_t file, uint64_t file_bytes) {
    ArenaHeader *header = call_map(0, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (!header) {
        return NULL;
    }
    ArenaHeader *all = NULL;
    const uint64_t banks_at = header->banks_at;
    if (is_sound(header, file_bytes)) {
        const uint64_t end = banks_at + header->most_banks * header->bank_bytes;
        process.is_limited = has_limit(header);
        all = process.is_limited ? NULL : map_shared(end, file, 0);
        if (all) {
            process.banks = (uint8_t *)all + banks_at;
        } else {
            all = map_shared(banks_at, file, 0);
        }
    }
    kernel(SYS_munmap, (uint64_t)header, 4096, 0, 0, 0, 0);
    return all;
}

bool arena_map(const char *path) {
    struct stat status;
    const int64_t file = call_open(path, O_RDWR);
    if (file < 0) {
        return false;
    }
    ArenaHeader *header = NULL;
    if (!kernel(SYS_fstat, (uint64_t)file, (uint64_t)&status, 0, 0, 0, 0)
        && (uint64_t)status.st_size >= 4096) {
        header = map_all(file, (uint64_t)status.st_size);
    }
    call_close(file);
    text_add(process.arena_path, 0, sizeof process.arena_path, path);
    process.arena = header;
    return header != NULL;
}

/* ---- appending ---- */

/* Number of the next of `most` items, or ~0: all are taken. */
static uint64_t take(uint64_t *used, uint64_t n, uint64_t most) {
    uint64_t before = __atomic_load_n(used, __ATOMIC_RELAXED);
    do {
        if (before > most || n > most - before) {
            return ~UINT64_C(0);
        }
    } while (!__atomic_compare_exchange_n(used, &before, before + n, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return before;
}

const char *arena_text(uint64_t name) {
    return name < process.arena->names_bytes ? (char *)part(process.arena->names_at) + name : "";
}

uint64_t arena_name(const char *text, size_t length) {
    ArenaHeader *arena = process.arena;
    const uint64_t at = length ? take(&arena->names_used, length + 1, arena->names_bytes) : 0;
    if (!length || at == ~UINT64_C(0)) {
        return 0;
    }
    char *name = (char *)part(arena->names_at) + at;
    memcpy(name, text, length);
    name[length] = 0;
    return at;
}

void arena_event(EventKind kind, const uint64_t values[4], uint64_t name, uint64_t name2) {
    ArenaHeader *arena = process.arena;
    const uint64_t at = take(&arena->n_events, 1, arena->most_events);
    if (at == ~UINT64_C(0)) {
        return;
    }
    ArenaEvent *event = (ArenaEvent *)part(arena->events_at) + at;
    event->process = process.number;
    event->a = values[0];
    event->b = values[1];
    event->c = values[2];
    event->d = values[3];
    event->name = name;
    event->name2 = name2;
    __atomic_store_n(&event->kind, kind, __ATOMIC_RELEASE);
}

bool arena_sample(uint64_t address) {
    ArenaHeader *arena = process.arena;
    const uint64_t at = take(&arena->n_samples, 1, arena->most_samples);
    if (at == ~UINT64_C(0)) {
        return false;
    }
    ArenaSample *sample = (ArenaSample *)part(arena->samples_at) + at;
    sample->process = process.number;
    __atomic_store_n(&sample->address, address, __ATOMIC_RELEASE);
    return true;
}

/* ---- banks ---- */

Bank *arena_bank(void) {
    ArenaHeader *arena = process.arena;
    const uint64_t number = take(&arena->n_banks, 1, arena->most_banks);
    if (number == ~UINT64_C(0)) {
        return NULL;
    }
    if (process.banks) {
        return (Bank *)(process.banks + number * arena->bank_bytes);
    }
    const int64_t file = call_open(process.arena_path, O_RDWR);
    void *bank = file < 0 ? NULL
                          : map_shared(arena->bank_bytes, file,
                                       arena->banks_at + number * arena->bank_bytes);
    call_close(file);
    return bank;
}

/* ---- counters ---- */

static bool claim(uint64_t *unit, uint64_t tag, bool may_be_ours) {
    uint64_t nobody = 0;
    return __atomic_compare_exchange_n(unit, &nobody, tag, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
        || (may_be_ours && nobody == tag);
}

/* Those that a copy is planned to have; other processes that load it claim the same. What was
   claimed in vain stays so: another may rely on it by now. */
static bool claim_planned(uint64_t first, uint64_t n_units, const uint64_t identity[2]) {
    uint64_t *units = part(process.arena->claims_at);
    const uint64_t begin = (first - FIRST_PLANNED) / PLANNED_UNIT;
    if (first < FIRST_PLANNED || n_units > PLANNED_UNITS || begin > PLANNED_UNITS - n_units) {
        return false;
    }
    for (uint64_t i = 0; i < n_units; i++) {
        if (!claim(&units[begin + i], identity[0] | 2, true)) {
            return false;
        }
    }
    return true;
}

/* As many that nobody has, from the end; ~0: there are none. */
static uint64_t claim_others(uint64_t n_units) {
    uint64_t *units = part(process.arena->claims_at);
    uint64_t n = 0;
    for (uint64_t i = PLANNED_UNITS; i-- > 0 && n < n_units;) {
        if (claim(&units[i], 1, false)) {
            n++;
        } else {
            for (; n; n--) {
                __atomic_store_n(&units[i + n], 0, __ATOMIC_RELAXED);
            }
        }
        if (n == n_units) {
            return FIRST_PLANNED + i * PLANNED_UNIT;
        }
    }
    for (; n; n--) {
        __atomic_store_n(&units[n - 1], 0, __ATOMIC_RELAXED);
    }
    return ~UINT64_C(0);
}

static uint64_t take_counters(const ArenaModule *wanted) {
    ArenaHeader *arena = process.arena;
    const uint64_t n_units = (wanted->n_counters + PLANNED_UNIT - 1) / PLANNED_UNIT;
    if (!arena->claims_at
        || arena->most_counters < FIRST_PLANNED + PLANNED_UNITS * PLANNED_UNIT) {
        return take(&arena->n_counters, wanted->n_counters, arena->most_counters);
    }
    if (claim_planned(wanted->first_counter, n_units, wanted->identity)) {
        return wanted->first_counter;
    }
    const uint64_t first = take(&arena->n_counters, wanted->n_counters, FIRST_PLANNED);
    return first == ~UINT64_C(0) ? claim_others(n_units) : first;
}

/* ---- modules ---- */

static bool is_same(const ArenaModule *row, const ArenaModule *wanted, const char *copy_path) {
    return __atomic_load_n(&row->ready, __ATOMIC_ACQUIRE) == 1
        && row->identity[0] == wanted->identity[0] && row->identity[1] == wanted->identity[1]
        && row->process == wanted->process && row->n_counters == wanted->n_counters
        && text_equal(arena_text(row->copy_name), copy_path);
}

uint64_t arena_module(const ArenaModule *wanted, const char *path, const char *copy_path) {
    ArenaHeader *arena = process.arena;
    ArenaModule *rows = part(arena->modules_at);
    const uint64_t n = __atomic_load_n(&arena->n_modules, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < n && i < arena->most_modules; i++) {
        if (is_same(&rows[i], wanted, copy_path)) {
            return i;
        }
    }
    const uint64_t counter = take_counters(wanted);
    const uint64_t row = counter == ~UINT64_C(0)
        ? counter
        : take(&arena->n_modules, 1, arena->most_modules);
    if (row != ~UINT64_C(0)) {
        rows[row] = *wanted;
        rows[row].first_counter = counter;
        rows[row].path_name = arena_name(path, text_length(path));
        rows[row].copy_name = arena_name(copy_path, text_length(copy_path));
        __atomic_store_n(&rows[row].ready, 1, __ATOMIC_RELEASE);
    }
    return row;
}

const ArenaModule *arena_row(uint64_t row) {
    return (const ArenaModule *)part(process.arena->modules_at) + row;
}
