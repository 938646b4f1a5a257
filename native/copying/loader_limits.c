/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a program's memory are meant for its own: what the arena takes of its addresses comes
 * on top, and is not locked into memory with the rest. */
#define _GNU_SOURCE
#include "loader.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define COPIES (UINT64_C(512) << 20) /* of modules, roughly */

/* What we take of a process's addresses: the same in all that share the arena. */
uint64_t limits_own_space(const ArenaHeader *arena) {
    return arena->banks_at + arena->most_banks * arena->bank_bytes + COPIES;
}

/* A limit that a program has set, as it is for the kernel. Without a limit there is none. */
static uint64_t raised(uint64_t limit) {
    const uint64_t own = limits_own_space(process.arena);
    return limit == RLIM_INFINITY || limit + own < limit ? RLIM_INFINITY : limit + own;
}

/* One that is less was set by somebody who does not know us. */
static uint64_t lowered(uint64_t limit) {
    const uint64_t own = limits_own_space(process.arena);
    return limit == RLIM_INFINITY || limit < own ? limit : limit - own;
}

static bool is_of_this_process(uint64_t pid) {
    return !pid || pid == (uint64_t)process.pid;
}

/* It shares the memory of the thread that waits for it. */
static bool is_of_child(const Thread *thread) {
    return (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid;
}

/* Where a call says what the limit shall be, and where it wants to hear what it was. */
static bool has_parts(Frame *frame, uint64_t **wanted, uint64_t **told) {
    static uint64_t none;
    *wanted = *told = &none;
    switch (frame->rax) {
    case SYS_setrlimit: *wanted = &frame->rsi; return frame->rdi == RLIMIT_AS;
    case SYS_getrlimit: *told = &frame->rsi; return frame->rdi == RLIMIT_AS;
    default: *wanted = &frame->rdx; *told = &frame->r10;
        return frame->rsi == RLIMIT_AS && is_of_this_process(frame->rdi);
    }
}

/* A call of setrlimit, getrlimit or prlimit64; true: it has to be looked at when it returns. */
bool limit_begins(Thread *thread, Frame *frame) {
    uint64_t *wanted, *told;
    if (!has_parts(frame, &wanted, &told) || is_of_child(thread)) {
        return false;
    }
    if (*wanted && read_program(*wanted, thread->limit, sizeof thread->limit)) {
        thread->limit[0] = raised(thread->limit[0]);
        thread->limit[1] = raised(thread->limit[1]);
        *wanted = (uint64_t)thread->limit;
    }
    return true;
}

void limit_returned(const Frame *before, const Frame *frame) {
    uint64_t *wanted, *told;
    Frame called = *before;
    if (has_parts(&called, &wanted, &told) && *told && !frame->rax) {
        uint64_t *limit = (uint64_t *)*told;
        limit[0] = lowered(limit[0]);
        limit[1] = lowered(limit[1]);
    }
}

/* A call of mlockall: all of the arena would be made, and nothing else fit into memory. */
bool lock_begins(Thread *thread, Frame *frame) {
    if (!(frame->rdi & MCL_CURRENT) || is_of_child(thread)) {
        return false;
    }
    frame->rdi |= MCL_ONFAULT;
    return true;
}
