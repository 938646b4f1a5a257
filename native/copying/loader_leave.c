/* SPDX-License-Identifier: Apache-2.0 */
/* Code of a module that the program is about to change: it runs what it wrote, not the copy.
 *
 * The original gets back the bytes that lead into the copy. The copy stays where it is, since
 * threads are in it and return to it; but calls and jumps in it that lead to what may change lead
 * to the original now, and who is in the middle of it leaves at the next instruction that has room
 * for a jump. The first instructions of functions, which a jump to the copy stood for, stay in the
 * copy as they were: a program that puts itself before functions may hold that jump and call them
 * by it.
 *
 * No thread sees half of a jump: pages of the copy are exchanged as a whole. */
#define _GNU_SOURCE /* mremap */
#include "instruction.h"
#include "loader.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define JUMP_BYTES 5u
#define ROOM (UINT64_C(1) << 20) /* of the copy, that is exchanged at once */
#define PAGE(address) ((address) & ~UINT64_C(4095))
#define PAGE_END(address) PAGE((address) + 4095)

/* A part of a module that is left. */
typedef struct {
    Loaded *module;
    uint64_t from, to;
    uint64_t *kept;  /* bit n: a jump to the copy stood for what is at from + n */
    uint8_t *pages;  /* what becomes of the copy's pages from `begin` on; NULL: none yet */
    uint64_t begin, used;
    uint64_t n_borrowed; /* parts of the copy with borrowed registers that are over */
} Leaving;

static const void *section(const Loaded *module, SectionKind kind) {
    return (const uint8_t *)module->copy + module->copy->sections[kind].at;
}

static uint64_t count(const Loaded *module, SectionKind kind) {
    return module->copy->sections[kind].n;
}

/* ---- the original ---- */

static size_t patched_bytes(const Anchor *anchor) {
    return anchor->to == UINT32_MAX ? 2 : JUMP_BYTES;
}

/* Whether what is at an anchor still leads into the copy. */
static bool leads_there(const Loaded *module, const Anchor *anchor, const uint8_t *code) {
    int32_t distance;
    if (patched_bytes(anchor) == 2) {
        return code[0] == 0xEB && code[1] == (uint8_t)anchor->hop;
    }
    memcpy(&distance, code + 1, 4);
    const uint64_t to = module->bias + anchor->address + JUMP_BYTES + (uint64_t)(int64_t)distance;
    return code[0] == 0xE9 && to == (uint64_t)module->code + anchor->to;
}

/* Of code made at run time: the program may have changed or unmapped it without our seeing. */
static bool is_patched(const Loaded *module) {
    const Anchor *anchors = section(module, SECTION_ANCHORS);
    for (uint64_t i = 0; i < count(module, SECTION_ANCHORS); i++) {
        uint8_t there[JUMP_BYTES];
        if (read_program(module->bias + anchors[i].address, there, patched_bytes(&anchors[i]))
            && leads_there(module, &anchors[i], there)) {
            return true;
        }
    }
    return false;
}

/* At once where that is possible: other threads may be about to execute it. */
static void put_back(uint8_t *at, const uint8_t *bytes, size_t n) {
    uint64_t *word = (uint64_t *)((uint64_t)at & ~UINT64_C(7));
    const size_t from = (size_t)(at - (uint8_t *)word);
    if (from + n > 8) {
        memcpy(at, bytes, n);
        return;
    }
    uint64_t value = *word;
    memcpy((uint8_t *)&value + from, bytes, n);
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Padding that short jumps lead to stays a jump: a program may have read the short one. */
static bool is_given_back(const Anchor *anchors, uint64_t n, uint64_t i) {
    for (uint64_t k = n; k > 0 && anchors[k - 1].to == UINT32_MAX; k--) {
        const Anchor *hop = &anchors[k - 1];
        if (hop->address + 2 + (uint64_t)(int64_t)hop->hop == anchors[i].address) {
            return false;
        }
    }
    return true;
}

/* Of the pages from `begin` to `end`, which can be written, what is in [from, to) too. */
static void put_all_back(const Loaded *module, uint64_t from, uint64_t to, uint64_t begin,
                         uint64_t end) {
    const Anchor *anchors = section(module, SECTION_ANCHORS);
    const uint64_t n = count(module, SECTION_ANCHORS);
    for (uint64_t i = 0; i < n; i++) {
        uint8_t *code = (uint8_t *)(module->bias + anchors[i].address);
        const uint64_t at = (uint64_t)code, after = at + patched_bytes(&anchors[i]);
        if (after > from && at < to && at >= begin && after <= end
            && leads_there(module, &anchors[i], code) && is_given_back(anchors, n, i)) {
            put_back(code, anchors[i].expected, after - at);
        }
    }
}

/* Whether an anchor reaches over this end of a page, and both pages are still as they were. */
static bool is_crossed(const Loaded *module, uint64_t page) {
    const Anchor *anchors = section(module, SECTION_ANCHORS);
    for (uint64_t i = 0; i < count(module, SECTION_ANCHORS); i++) {
        const uint64_t at = module->bias + anchors[i].address;
        const size_t bytes = patched_bytes(&anchors[i]);
        uint8_t there[JUMP_BYTES];
        if (at < page && at + bytes > page && read_program(at, there, bytes)) {
            return leads_there(module, &anchors[i], there);
        }
    }
    return false;
}

static void restore(const Loaded *module, uint64_t from, uint64_t to) {
    const uint64_t lowest = is_crossed(module, from) ? from - 4096 : from;
    const uint64_t highest = is_crossed(module, to) ? to + 4096 : to;
    for (uint64_t i = 0; i < module->n_segments; i++) {
        const CodeSegment *segment = &module->segments[i];
        const uint64_t segment_end = segment->address + segment->bytes;
        const uint64_t begin = lowest > segment->address ? lowest : segment->address;
        const uint64_t end = highest < segment_end ? highest : segment_end;
        const int own = PROT_READ | PROT_EXEC | (segment->is_writable ? PROT_WRITE : 0);
        void *code = (void *)begin;
        if (begin < end
            && (!call_protect(code, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC)
                || !call_protect(code, end - begin, PROT_READ | PROT_WRITE))) {
            put_all_back(module, from, to, begin, end);
            call_protect(code, end - begin, own);
        }
    }
}

/* No thread is in its copy. */
void copy_drop(Loaded *module) {
    if (module->code) {
        restore(module, module->bias + module->lowest, module->bias + module->highest);
        kernel(SYS_munmap, (uint64_t)module->code, module->code_bytes, 0, 0, 0, 0);
        module->code = NULL;
    }
}

/* ---- pages of the copy ---- */

static bool install(Leaving *l) {
    bool is_done = !l->pages;
    if (l->pages && !call_protect(l->pages, l->used, PROT_READ | PROT_EXEC)) {
        is_done = !system_refused(kernel(SYS_mremap, (uint64_t)l->pages, l->used, l->used,
                                         MREMAP_MAYMOVE | MREMAP_FIXED, l->begin, 0));
    }
    if (l->pages) { /* what was moved is not there any more */
        const uint64_t moved = is_done ? l->used : 0;
        kernel(SYS_munmap, (uint64_t)l->pages + moved, ROOM - moved, 0, 0, 0, 0);
    }
    l->pages = NULL;
    return is_done;
}

/* Write something into the copy that is there when its pages are installed. Ascending. */
static bool edit(Leaving *l, const uint8_t *at, const void *bytes, size_t n) {
    const uint64_t end = PAGE_END((uint64_t)at + n);
    if (l->pages && end - l->begin > ROOM && !install(l)) {
        return false;
    }
    if (!l->pages) {
        l->pages = call_map(0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        l->begin = PAGE((uint64_t)at);
        l->used = 0;
    }
    if (!l->pages) {
        return false;
    }
    if (end - l->begin > l->used) {
        memcpy(l->pages + l->used, (const void *)(l->begin + l->used), end - l->begin - l->used);
        l->used = end - l->begin;
    }
    memcpy(l->pages + ((uint64_t)at - l->begin), bytes, n);
    return true;
}

/* ---- the copy ---- */

static bool is_in(const Leaving *l, uint64_t address) {
    return address >= l->from && address < l->to;
}

static uint64_t address_of(const Loaded *module, const Place *place) {
    return module->bias + module->lowest + place->address;
}

/* The instruction whose copy begins exactly there; 0: none does. */
static uint64_t original_of(const Loaded *module, uint64_t address) {
    const uint64_t at = address - (uint64_t)module->code;
    const Place *places = section(module, SECTION_PLACES);
    uint64_t low = 0, high = at < module->code_bytes ? count(module, SECTION_PLACES) : 0;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (places[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count(module, SECTION_PLACES) && places[low].at == at
        ? address_of(module, &places[low])
        : 0;
}

static bool is_direct(const Instruction *x) {
    return x->immediate_bytes == 4
        && (x->flow == FLOW_CALL || x->flow == FLOW_JUMP || x->flow == FLOW_CONDITIONAL);
}

/* In a loop that counts in registers of the program nobody can leave in the middle. */
static bool is_borrowed(Leaving *l, uint32_t at) {
    const Borrowed *borrowed = section(l->module, SECTION_BORROWED);
    const uint64_t n = count(l->module, SECTION_BORROWED);
    while (l->n_borrowed < n && borrowed[l->n_borrowed].end <= at) {
        l->n_borrowed++;
    }
    return l->n_borrowed < n && borrowed[l->n_borrowed].begin <= at;
}

/* Whether a thread that comes there goes on in the original. */
static bool leaves_at(Leaving *l, const Place *place, const Instruction *x) {
    const uint64_t original = address_of(l->module, place);
    const uint64_t i = original - l->from;
    return is_in(l, original) && x->length >= JUMP_BYTES && !is_borrowed(l, place->at)
        && !(l->kept[i >> 6] >> (i & 63) & 1);
}

static bool leave_place(Leaving *l, const Place *place, uint64_t end) {
    const uint8_t *code = l->module->code + place->at;
    for (const uint8_t *at = code; at < l->module->code + end;) {
        Instruction x;
        if (!instruction_decode(at, (size_t)(l->module->code + end - at), (uint64_t)at, &x)) {
            return true;
        }
        const uint64_t target = is_direct(&x) ? original_of(l->module, x.target) : 0;
        const uint64_t after = (uint64_t)at + x.length;
        bool is_done = true;
        if (at == code && leaves_at(l, place, &x)) {
            const uint32_t distance =
                (uint32_t)(address_of(l->module, place) - (uint64_t)at - JUMP_BYTES);
            uint8_t jump[JUMP_BYTES] = {0xE9};
            memcpy(jump + 1, &distance, 4);
            is_done = edit(l, at, jump, sizeof jump);
        } else if (target && is_in(l, target)) {
            const uint32_t distance = (uint32_t)(target - after);
            is_done = edit(l, (const uint8_t *)after - 4, &distance, 4);
        }
        if (!is_done) {
            return false;
        }
        at = (const uint8_t *)after;
    }
    return true;
}

static bool leave_copy(Leaving *l) {
    const Place *places = section(l->module, SECTION_PLACES);
    const uint64_t n = count(l->module, SECTION_PLACES);
    bool is_done = true;
    for (uint64_t i = 0; is_done && i < n; i++) {
        /* Behind the last are tables. */
        const uint64_t end = i + 1 < n ? places[i + 1].at : places[i].at;
        is_done = end <= l->module->code_bytes && leave_place(l, &places[i], end);
    }
    return install(l) && is_done;
}

static void keep_beginnings(Leaving *l) {
    const Anchor *anchors = section(l->module, SECTION_ANCHORS);
    for (uint64_t i = 0; i < count(l->module, SECTION_ANCHORS); i++) {
        const uint64_t at = l->module->bias + anchors[i].address;
        for (uint64_t k = at; k < at + patched_bytes(&anchors[i]); k++) {
            if (is_in(l, k)) {
                l->kept[(k - l->from) >> 6] |= UINT64_C(1) << ((k - l->from) & 63);
            }
        }
    }
}

/* ---- which parts ---- */

bool code_is_left(const Loaded *module, uint64_t address) {
    const uint64_t n = __atomic_load_n(&module->n_left, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (address >= module->left[i].from && address < module->left[i].to) {
            return true;
        }
    }
    return false;
}

/* Cut what is left already off both ends; false: nothing remains. */
static bool is_new(const Loaded *module, uint64_t *from, uint64_t *to) {
    while (*from < *to && code_is_left(module, *from)) {
        *from += 4096;
    }
    while (*from < *to && code_is_left(module, *to - 1)) {
        *to -= 4096;
    }
    return *from < *to;
}

static void note_left(Loaded *module, uint64_t *from, uint64_t *to) {
    if (module->n_left + 1 == MOST_LEFT) { /* all of it, then */
        *from = module->bias + module->lowest;
        *to = module->bias + module->highest;
    }
    module->left[module->n_left].from = *from;
    module->left[module->n_left].to = *to;
    __atomic_store_n(&module->n_left, module->n_left + 1, __ATOMIC_RELEASE);
}

/* [from, to), whole pages, is about to change. The lock is taken. */
void copy_leave(Loaded *module, uint64_t from, uint64_t to) {
    const uint64_t lowest = module->bias + module->lowest;
    const uint64_t highest = module->bias + module->highest;
    from = from > lowest ? from : lowest;
    to = to < highest ? to : highest;
    if (!module->code || !is_new(module, &from, &to)) {
        return;
    }
    note_left(module, &from, &to);
    /* With a page on both sides: functions begin and end there. */
    Leaving l = {.module = module, .from = from > lowest ? from - 4096 : from,
                 .to = to < highest ? to + 4096 : to};
    const uint64_t bytes = (l.to - l.from) / 8;
    l.kept = pages_take(bytes);
    say("left what is changed", "", from);
    if (module->map || is_patched(module)) {
        restore(module, from, to);
    }
    if (l.kept) {
        keep_beginnings(&l);
    }
    if (!l.kept || !leave_copy(&l)) {
        say("the copy of what is changed remains", "", from);
    }
    pages_give(l.kept, bytes);
    module->a_return = code_is_left(module, module->a_return) ? find_return(module)
                                                               : module->a_return;
}
