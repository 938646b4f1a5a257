/* SPDX-License-Identifier: Apache-2.0 */
/* Where copies go: within 2 GiB of what they are copies of. */
#include "loader.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define REACH (UINT64_C(0x7fff0000))
#define LOWEST UINT64_C(0x10000)
#define HIGHEST UINT64_C(0x7ffffffff000)
#define GUARD UINT64_C(0x10000)
#define FAR (UINT64_C(1) << 30)
#define FAR_UNIT (UINT64_C(4) << 20) /* the kernel aligns large files as it likes */
#define HEAP_ROOM (UINT64_C(1) << 30) /* what brk may want behind the executable */

typedef struct {
    uint64_t start, end;
} Taken;

static Array taken; /* Taken, sorted: what is mapped */

void places_forget(void) {
    array_end(&taken);
}

/* For files that are only looked at: the kernel would put them below the libraries, where copies
   and libraries that come later have to be. */
uint64_t place_far(uint64_t bytes) {
    static uint64_t lowest;
    lowest = (lowest ? lowest : (uint64_t)process.arena - FAR) - bytes - FAR_UNIT;
    lowest &= ~(FAR_UNIT - 1);
    return lowest;
}

static void read_taken(void) {
    Array content;
    const char *text = (const char *)call_read_all("/proc/self/maps", &content);
    array_begin(&taken, sizeof(Taken));
    Mapping one;
    while (maps_next(&text, &one)) {
        Taken *last = (Taken *)taken.items + taken.n - 1;
        if (taken.n && last->end == one.start) {
            last->end = one.end;
        } else {
            Taken *added = array_add(&taken, 1);
            if (added) {
                *added = (Taken){one.start, one.end};
            }
        }
    }
    array_end(&content);
}

/* Before files are opened: there may be no descriptor left then. */
void places_know(void) {
    if (!taken.n) {
        read_taken();
    }
}

static uint64_t distance(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

typedef struct {
    uint64_t wanted, bytes, from, to; /* `from` to `to`: where it may lie */
    uint64_t best;
} Search;

/* The place in a gap that is nearest to the wanted one. */
static void look_into(Search *search, uint64_t start, uint64_t end) {
    start = start < search->from ? search->from : start;
    end = end > search->to ? search->to : end;
    if (end < start || end - start < search->bytes) {
        return;
    }
    uint64_t at = search->wanted;
    at = at < start ? start : at;
    at = at > end - search->bytes ? end - search->bytes : at;
    at &= ~UINT64_C(4095);
    if (at >= start
        && (!search->best
            || distance(at, search->wanted) < distance(search->best, search->wanted))) {
        search->best = at;
    }
}

static uint64_t find(Search search) {
    uint64_t start = LOWEST;
    const Taken *ranges = (const Taken *)taken.items;
    for (size_t i = 0; i < taken.n; i++) {
        if (ranges[i].start > start + 2 * GUARD) {
            look_into(&search, start + GUARD, ranges[i].start - GUARD);
        }
        start = ranges[i].end;
    }
    if (start < HIGHEST) {
        look_into(&search, start + GUARD, HIGHEST);
    }
    return search.best;
}

/* Now it is taken; the gap before and after it remain. */
static void note_taken(uint64_t start, uint64_t end) {
    if (!array_add(&taken, 1)) {
        return;
    }
    Taken *ranges = (Taken *)taken.items;
    size_t at = taken.n - 1;
    for (; at && ranges[at - 1].start > start; at--) {
        ranges[at] = ranges[at - 1];
    }
    ranges[at] = (Taken){start, end};
}

static uint8_t *map_there(uint64_t at, uint64_t bytes) {
    void *there = call_map(at, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (there && (uint64_t)there != at) { /* an old kernel */
        kernel(SYS_munmap, (uint64_t)there, bytes, 0, 0, 0, 0);
        there = NULL;
    }
    return there;
}

uint8_t *place_take(uint64_t wanted, uint64_t bytes, uint64_t lowest, uint64_t highest,
                    bool is_executable) {
    bytes = (bytes + 4095) & ~UINT64_C(4095);
    for (int trial = 0; trial < 3; trial++) {
        places_know();
        Search search = {wanted, bytes, highest > REACH ? highest - REACH : LOWEST,
                         lowest + REACH, 0};
        uint64_t at = 0;
        if (is_executable) { /* the heap grows behind it: first before it, then far behind it */
            Search before = search, behind = search;
            before.to = lowest;
            before.wanted = wanted < lowest ? wanted : lowest;
            behind.from = highest + HEAP_ROOM;
            behind.wanted = wanted > behind.from ? wanted : behind.from;
            at = find(before);
            at = at ? at : find(behind);
        }
        at = at ? at : find(search);
        uint8_t *there = at ? map_there(at, bytes) : NULL;
        if (there) {
            note_taken(at, at + bytes);
            return there;
        }
        places_forget(); /* another thread may have mapped something */
    }
    return NULL;
}
