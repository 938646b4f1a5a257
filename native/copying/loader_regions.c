/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, as docs/regions.md has them; configurations of tiles; full rings. */
#include "loader.h"
#include "regions.h"

#define REGION_BEGINS UINT64_C(0x52500000)
#define REGION_ENDS UINT64_C(0x52500001)
#define LINE_BEGINS UINT64_C(0x52500002)
#define KNOWN_LINES 256u
#define MOST_NAME_BYTES 200u
#define MOST_LIST_BYTES 16384u
#define MOST_TEXTS 4096u

/* ---- texts that have an offset in the arena already ---- */

uint64_t names_lock;
static uint64_t texts[MOST_TEXTS]; /* by hash; 0: free */

static uint64_t hash_of(const char *text, size_t n) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 29;
}

/* Offset of a text among names; 0: no room for another. */
static uint64_t name_of(const char *text, size_t n) {
    const uint64_t hash = hash_of(text, n);
    for (uint64_t i = 0; i < MOST_TEXTS; i++) {
        uint64_t *slot = &texts[(hash + i) % MOST_TEXTS];
        const uint64_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        const char *known = arena_text(found);
        if (found && text_begins(known, text) && !known[n]) {
            return found;
        }
        if (!found) {
            const uint64_t made = i < MOST_TEXTS / 2 ? arena_name(text, n) : 0;
            __atomic_store_n(slot, made, __ATOMIC_RELEASE);
            return made;
        }
    }
    return 0;
}

/* ---- lists of open regions ---- */

static char list[MOST_LIST_BYTES]; /* guarded by the lock */

/* The regions after one more began: its name is last, and nowhere else. */
static uint64_t list_with(uint64_t regions, const char *name, size_t name_bytes) {
    const char *rest = arena_text(regions);
    size_t n = 0;
    while (*rest) {
        size_t length = 0;
        while (rest[length] && rest[length] != '\n') {
            length++;
        }
        const bool is_same = length == name_bytes && !memcmp(rest, name, length);
        if (!is_same && n + length + name_bytes + 2 < sizeof list) {
            memcpy(list + n, rest, length);
            n += length;
            list[n++] = '\n';
        }
        rest += length + (rest[length] == '\n');
    }
    if (n + name_bytes >= sizeof list) {
        return 0;
    }
    memcpy(list + n, name, name_bytes);
    list[n + name_bytes] = 0;
    return name_of(list, n + name_bytes);
}

uint64_t regions_with(uint64_t regions, const char *name, size_t n) {
    uint64_t found = 0;
    if (lock_take(&names_lock)) {
        found = list_with(regions, name, n);
        lock_release(&names_lock);
    }
    return found;
}

static bool has_name(uint64_t regions, const char *name, size_t n) {
    for (const char *at = arena_text(regions); *at;) {
        size_t length = 0;
        while (at[length] && at[length] != '\n') {
            length++;
        }
        if (length == n && !memcmp(at, name, n)) {
            return true;
        }
        at += length + (at[length] == '\n');
    }
    return false;
}

uint64_t regions_within(uint64_t outer, uint64_t inner) {
    uint64_t regions = outer;
    for (const char *at = arena_text(inner); *at && regions;) {
        size_t length = 0;
        while (at[length] && at[length] != '\n') {
            length++;
        }
        if (!has_name(outer, at, length)) {
            regions = regions_with(regions, at, length);
        }
        at += length + (at[length] == '\n');
    }
    return regions;
}

/* The same with the line that a thread is on: lines change millions of times. */
uint64_t regions_on_line(uint64_t regions, uint64_t line) {
    static struct {
        uint64_t regions, line, both;
    } known[KNOWN_LINES];
    const uint64_t slot = (line + regions * 31) / 2 % KNOWN_LINES;
    uint64_t both = 0;
    if (!lock_take(&names_lock)) {
        return regions;
    }
    if (known[slot].regions == regions && known[slot].line == line) {
        both = known[slot].both;
    } else {
        const char *name = arena_text(line);
        size_t n = 0;
        while (name[n]) {
            n++;
        }
        both = list_with(regions, name, n);
        known[slot].regions = regions;
        known[slot].line = line;
        known[slot].both = both;
    }
    lock_release(&names_lock);
    return both ? both : regions;
}

static size_t copy_name(char *to, const char *name) {
    size_t n = 0;
    for (; n < MOST_NAME_BYTES && name[n]; n++) {
        to[n] = (uint8_t)name[n] < 32 || name[n] == 127 ? '?' : name[n];
    }
    to[n] = 0;
    return n;
}

static void begins(Thread *thread, const char *text) {
    char name[MOST_NAME_BYTES + 1];
    const size_t n = copy_name(name, text);
    uint64_t id = 0, regions = 0;
    if (n && lock_take(&names_lock)) {
        id = name_of(name, n);
        regions = id ? list_with(thread->regions, name, n) : 0;
        lock_release(&names_lock);
    }
    const bool has_room = !is_quiet || thread->open.n < thread->open.capacity;
    OpenRegion *open = regions && has_room ? array_add(&thread->open, 1) : NULL;
    if (open) {
        *open = (OpenRegion){id, thread->regions};
        bank_use(thread, regions, bank_here()->tiles);
    }
}

static void ends(Thread *thread, const char *text) {
    char name[MOST_NAME_BYTES + 1];
    OpenRegion *open = (OpenRegion *)thread->open.items;
    if (!copy_name(name, text)) {
        return;
    }
    /* What was open before the function that is counted alone goes on as long as that does. */
    const size_t least = thread->function_sp == NO_LIMIT ? 0 : thread->open_before_function;
    size_t depth = thread->open.n;
    while (depth > least && !text_equal(arena_text(open[depth - 1].name), name)) {
        depth--;
    }
    if (depth > least) {
        thread->open.n = depth - 1;
        bank_use(thread, open[depth - 1].before, bank_here()->tiles);
    }
}

/* The thread goes to another line, or with an empty name to none. */
static void goes_to_line(Thread *thread, const char *text) {
    char name[MOST_NAME_BYTES + 2] = {LINE_MARK};
    const size_t n = copy_name(name + 1, text);
    uint64_t line = 0;
    if (n && lock_take(&names_lock)) {
        line = name_of(name, n + 1);
        lock_release(&names_lock);
    }
    thread->line = line;
    thread->tells_lines = 1;
    bank_use(thread, thread->regions, bank_here()->tiles);
}

static void take_request(const uint64_t *words) {
    if (words[0] != REGION_BEGINS && words[0] != REGION_ENDS && words[0] != LINE_BEGINS) {
        return;
    }
    Thread *thread = thread_here();
    const char *name = (const char *)words[1];
    if (!name || thread->busy) {
        return;
    }
    thread->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (words[0] == REGION_BEGINS) {
        begins(thread, name);
    } else if (words[0] == LINE_BEGINS) {
        goes_to_line(thread, name);
    } else {
        ends(thread, name);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

/* What the program gets is what it would get of nobody: rdx stays as it is. */
void request_seen(const Frame *frame) {
    take_request((const uint64_t *)frame->rax);
}

/* For callers whose code is not copied, and for Python. */
__attribute__((visibility("default"))) void ridgepoint_native_request(uint64_t *words) {
    if (process.arena) {
        take_request(words);
    }
}

/* ---- tiles, rings ---- */

void tiles_seen(void) {
    uint8_t tiles[64];
    Thread *thread = thread_here();
    tiles_read(tiles);
    if (memcmp(tiles, bank_here()->tiles, 64)) {
        bank_use(thread, thread->regions, tiles);
    }
}

void ring_is_full(void) {
    traffic_ring(bank_here());
}
