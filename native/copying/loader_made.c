/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program makes at run time and then seals: what was writable becomes executable.
 * It may stay writable if who makes it is known never to write there again.
 *
 * It is written into a file like a module's, and copied as modules are. Only what is sure is:
 * memory that no file is behind, and in it functions that unwind tables are registered for; or that
 * call nothing but each other and jump nowhere else, so nobody unwinds through them. Where there is
 * something else behind the first function, as the tables of oneDNN's kernels, only that is
 * believed to be one: no byte is changed that is not code. Where it stays writable the first is
 * alone as well. Before the program writes there again its bytes are put back, and the copy is
 * left. */
#define _GNU_SOURCE /* MREMAP_FIXED */
#include "loader_made.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define LEAST_BYTES 16u
#define MOST_ZEROS 8u /* that the last instruction may end with */
#define MOST_SEALS 4u /* of one place: who changes code all the time would wait for copies */
#define MOST_PLACES 1024u
#define MOST_WAITS 1000u

static struct {
    uint64_t address, seals;
} places[MOST_PLACES];
static uint64_t n_places;

/* ---- where it is ---- */

static bool is_anonymous_line(const char *permissions) {
    return permissions[0] == 'r' && permissions[1] == 'w' && permissions[3] == 'p'
        && text_begins(permissions + 5, "00000000 00:00 0 ");
}

/* Whether all of it is private memory that no file is behind and that is not executable yet. */
static bool is_anonymous(uint64_t from, uint64_t to) {
    Array maps;
    if (!call_read_all("/proc/self/maps", &maps)) {
        return false;
    }
    const char *text = (const char *)maps.items;
    Mapping one;
    while (from < to && maps_next(&text, &one)) {
        if (one.start <= from && from < one.end) {
            if (!is_anonymous_line(one.rest)) {
                break;
            }
            from = one.end;
        }
    }
    array_end(&maps);
    return from >= to;
}

/* ---- sealed and opened ---- */

static bool changes_too_often(uint64_t address) {
    for (uint64_t i = 0; i < n_places; i++) {
        if (places[i].address == address) {
            return ++places[i].seals > MOST_SEALS;
        }
    }
    if (n_places == MOST_PLACES) {
        return true;
    }
    places[n_places].address = address;
    places[n_places++].seals = 1;
    return false;
}

static void sealed(uint64_t from, uint64_t bytes, bool stays_writable) {
    static char path[4096];
    const uint8_t *code = (const uint8_t *)from;
    if (from & 4095 || bytes < LEAST_BYTES || bytes > MOST_BYTES || loaded_at(from)
        || !is_anonymous(from, from + bytes)) {
        return;
    }
    const uint64_t all = bytes;
    while (bytes > LEAST_BYTES && !code[bytes - 1]) {
        bytes--;
    }
    bytes = bytes + MOST_ZEROS < all ? bytes + MOST_ZEROS : all;
    if (!made_find_functions(code, bytes, stays_writable) || changes_too_often(from)
        || !made_write_file(code, bytes, path, sizeof path)) {
        return;
    }
    module_made(path, from - CODE_AT);
}

/* The program calls __register_frame. */
void frames_are_registered(uint64_t section) {
    if (is_quiet || !(process.arena->options & OPTION_JIT)) {
        return;
    }
    const Signals before = signals_block();
    if (lock_take(&modules_lock)) {
        frames_register(section);
        lock_release(&modules_lock);
    }
    signals_restore(before);
}

/* Whether nothing remains of a module where [from, to) is gone. */
static bool is_all(const Loaded *module, uint64_t from, uint64_t to) {
    return from <= module->bias + module->lowest && to >= module->bias + module->highest;
}

static bool touches(const Loaded *module, uint64_t from, uint64_t to) {
    return module->is_there && module->code && from < module->bias + module->highest
        && to > module->bias + module->lowest;
}

static bool touches_any(uint64_t from, uint64_t to) {
    const uint64_t n = __atomic_load_n(&n_loaded, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (touches(&loaded[i], from, to)) {
            return true;
        }
    }
    return false;
}

/* Who unmaps all of a library is its loader. */
static void opened(uint64_t from, uint64_t to, bool is_gone) {
    for (uint64_t i = 0; i < n_loaded; i++) {
        Loaded *module = &loaded[i];
        if (!touches(module, from, to)) {
            continue;
        }
        if (!module->map) {
            module_unmade(module, is_gone && is_all(module, from, to));
        } else if (!is_gone || !is_all(module, from, to)) {
            copy_leave(module, from, to);
        }
    }
}

/* What a call does to memory. */
typedef struct {
    uint64_t from, to;
    bool changes, removes, seals;
} Change;

static Change change_of(const Frame *frame) {
    Change change = {frame->rdi, frame->rdi + ((frame->rsi + 4095) & ~UINT64_C(4095)), 0, 0, 0};
    switch (frame->rax) {
    case SYS_mprotect: change.seals = frame->rdx & PROT_EXEC; /* fall through */
    case SYS_pkey_mprotect: change.changes = frame->rdx & PROT_WRITE; break;
    case SYS_mmap: change.changes = change.removes = frame->r10 & MAP_FIXED; break;
    case SYS_munmap: change.changes = change.removes = true; break;
    default: change.changes = true; /* mremap */
    }
    return change;
}

/* The program is about to change what memory is for. */
void made_changes(const Thread *thread, const Frame *frame) {
    const Change change = change_of(frame);
    const bool moves_there = frame->rax == SYS_mremap && frame->r10 & MREMAP_FIXED;
    const bool seals = change.seals && process.arena->options & OPTION_JIT;
    const bool opens = (change.changes && touches_any(change.from, change.to))
        || (moves_there && touches_any(frame->r8, frame->r8 + frame->rdx));
    if (is_quiet || !(opens || seals)
        || (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid) {
        return;
    }
    const Signals before = signals_block();
    bool is_locked = lock_take(&modules_lock);
    for (unsigned i = 0; opens && !is_locked && i < MOST_WAITS; i++) { /* a copy is being made */
        is_locked = lock_take(&modules_lock);
    }
    if (is_locked) {
        if (opens) {
            opened(change.from, change.to, change.removes);
        }
        if (opens && moves_there) {
            opened(frame->r8, frame->r8 + frame->rdx, true);
        }
        if (seals && (!(frame->rdx & PROT_WRITE) || writes_once(frame))) {
            sealed(change.from, change.to - change.from, frame->rdx & PROT_WRITE);
        }
        lock_release(&modules_lock);
    }
    signals_restore(before);
}
