/* SPDX-License-Identifier: Apache-2.0 */
/* What all threads do while one is in what is counted alone (`--all-threads`), or on a line of Python.
 *
 * A thread that is outside then counts in a bank of the regions of one that is inside, its host.
 * No thread can change another one's %gs, so each looks, before its system calls and when they
 * return, whether who is inside has changed since it last did: a thread that waits for others in
 * the kernel is right from its next instruction on. One that did something else at that moment is
 * late, and may have worked in the wrong bank until its next system call. The CPU time of that is
 * told; who reads it refuses what took more than a trace of it.
 *
 * With lines, all that tell lines are threads of Python, and none of these is a guest. Who is the
 * only one on a line is the host; whether two of them woke a third cannot be known.
 */
#include "loader.h"
#include "regions.h"

#include <sys/syscall.h>

#define CLOCK_OF_PROCESS 2
#define CLOCK_OF_THREAD(tid) (((uint64_t)~(tid) << 3 | 6) & UINT32_MAX)

static struct {
    uint64_t lock;
    uint64_t epoch;    /* changes whenever the regions of guests do */
    Thread *host;      /* whose regions these are; NULL: nobody is inside */
    uint64_t began_ns; /* CPU time of the process when the first one came in */
    bool lines_are_told; /* by a thread at least */
} group;

bool group_is_on(void) {
    return process.arena->options & (OPTION_ALL_THREADS | OPTION_LINES);
}

static bool is_by_line(void) {
    return process.arena->options & OPTION_LINES;
}

/* In the child of a fork: threads begin anew, and whoever goes on comes in again. */
void group_forget(void) {
    memset(&group, 0, sizeof group);
}

static uint64_t cpu_ns(uint64_t clock) {
    uint64_t time[2] = {0};
    const bool failed = kernel(SYS_clock_gettime, clock, (uint64_t)time, 0, 0, 0, 0);
    return failed ? 0 : time[0] * UINT64_C(1000000000) + time[1];
}

static void add(uint64_t *total, uint64_t from_ns, uint64_t to_ns) {
    if (from_ns && to_ns > from_ns) {
        __atomic_add_fetch(total, to_ns - from_ns, __ATOMIC_RELAXED);
    }
}

/* ---- who is inside ---- */

static bool is_selected(const Thread *thread) {
    const ArenaHeader *arena = process.arena;
    if (is_by_line()) {
        return thread->line;
    }
    const char *wanted = arena->region_name ? arena_text(arena->region_name) : NULL;
    return regions_hold(arena_text(thread->own), wanted, arena->function_name);
}

static Thread *any_inside(void) {
    Thread *found = NULL;
    for (Thread *thread = NULL; (thread = thread_after(thread));) {
        if (thread->is_inside && !is_by_line()) {
            return thread;
        }
        if (thread->is_inside && found) {
            return NULL; /* on another line */
        }
        found = thread->is_inside ? thread : found;
    }
    return found;
}

/* ---- who is late ---- */

static void settle(Thread *thread) {
    if (thread->late_from) {
        add(&process.arena->late_ns, thread->late_from, cpu_ns(CLOCK_OF_THREAD(thread->tid)));
        thread->late_from = 0;
    }
}

/* Whoever is in a system call looks when it returns; others are late from now on. */
static void changes(const Thread *by) {
    __atomic_add_fetch(&group.epoch, 1, __ATOMIC_SEQ_CST);
    for (Thread *thread = NULL; (thread = thread_after(thread));) {
        if (thread != by) {
            settle(thread);
            if (!thread->tells_lines && !__atomic_load_n(&thread->in_call, __ATOMIC_SEQ_CST)) {
                thread->late_from = cpu_ns(CLOCK_OF_THREAD(thread->tid));
            }
        }
    }
}

/* ---- what the loader calls ---- */

static uint64_t regions_of_guests(void) {
    return group.host ? group.host->own : 0;
}

/* A thread, which is the calling one, is in these regions from now on. */
static void goes_to(Thread *thread, uint64_t regions) {
    const uint64_t before = regions_of_guests();
    thread->own = regions;
    group.lines_are_told |= thread->tells_lines;
    thread->is_inside = is_selected(thread);
    if (is_by_line()) {
        group.host = any_inside();
    } else if (!group.host || !group.host->is_inside) {
        group.host = thread->is_inside ? thread : any_inside();
    }
    const uint64_t after = regions_of_guests();
    if (before != after) {
        changes(thread);
    }
    if (!before && after) {
        group.began_ns = cpu_ns(CLOCK_OF_PROCESS);
    } else if (before && !after) {
        add(&process.arena->inside_ns, group.began_ns, cpu_ns(CLOCK_OF_PROCESS));
    }
    settle(thread);
    thread->seen = __atomic_load_n(&group.epoch, __ATOMIC_RELAXED);
}

/* Those of a guest: its own among its host's, and, should lines be told, that it is one. */
static uint64_t with_hosts(uint64_t hosts, uint64_t line, uint64_t own) {
    char name[16] = {OTHERS_MARK};
    const uint64_t both = hosts ? regions_within(hosts, own) : own;
    size_t n = 1;
    if (!group.lines_are_told) {
        return both;
    }
    for (const char *at = arena_text(line); *at && at[1] && n < sizeof name; at++) {
        name[n++] = at[1]; /* without LINE_MARK */
    }
    return regions_with(both, name, n);
}

/* Regions that the calling thread counts in if it is in some itself. */
uint64_t group_regions(Thread *thread, uint64_t own) {
    if (!group_is_on() || !lock_take(&group.lock)) {
        return own;
    }
    goes_to(thread, own);
    const bool is_guest = !thread->is_inside && !thread->tells_lines;
    const uint64_t hosts = is_guest ? regions_of_guests() : 0;
    const uint64_t line = hosts ? group.host->line : 0;
    lock_release(&group.lock);
    const uint64_t both = is_guest ? with_hosts(hosts, line, own) : 0;
    return both ? both : own;
}

/* The calling thread ends. */
void group_leaves(Thread *thread) {
    if (group_is_on() && lock_take(&group.lock)) {
        thread->line = 0;
        goes_to(thread, 0);
        lock_release(&group.lock);
    }
}

/* The process ends. */
void group_ends(void) {
    if (group_is_on() && lock_take(&group.lock)) {
        for (Thread *thread = NULL; (thread = thread_after(thread));) {
            settle(thread);
        }
        if (group.host) {
            add(&process.arena->inside_ns, group.began_ns, cpu_ns(CLOCK_OF_PROCESS));
            group.began_ns = 0;
        }
        lock_release(&group.lock);
    }
}

/* A child that shares its parent's memory has its record too, and leaves it alone. */
static void follow(Thread *thread) {
    const bool is_own = (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) == thread->tid;
    if (is_own && !thread->busy) {
        thread->busy = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        bank_use(thread, thread->regions, bank_here()->tiles);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->busy = 0;
    }
}

static void look(Thread *thread) {
    if (thread->seen != __atomic_load_n(&group.epoch, __ATOMIC_SEQ_CST)) {
        follow(thread);
    }
}

/* Before a system call of the calling thread, all of whose accesses count until here. */
void group_call_begins(Thread *thread) {
    look(thread);
    traffic_ring(bank_here());
    __atomic_store_n(&thread->in_call, 1, __ATOMIC_SEQ_CST);
}

void group_call_returned(Thread *thread) {
    __atomic_store_n(&thread->in_call, 0, __ATOMIC_SEQ_CST);
    look(thread);
}

/* A handler of a signal is about to run. Elsewhere than in a call no bank may be changed. */
void group_call_interrupted(void) {
    Thread *thread = process.arena && !is_quiet ? thread_here() : NULL;
    if (thread && thread->in_call) {
        const uint64_t call = bank_here()->slots[SLOT_CALL];
        group_call_returned(thread);
        bank_here()->slots[SLOT_CALL] = call;
    }
}
