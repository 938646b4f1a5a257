/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and their banks.
 *
 * A thread has one bank for each set of regions and configuration of tiles that it was in. When it
 * ends, the next one goes on with its record and all its banks.
 */
#include "loader.h"

#include <asm/prctl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define MOST_THREADS 32768u

/* What loader_hooks.S knows. */
_Static_assert(offsetof(Bank, self) == 0 && offsetof(Bank, tid) == 24, "in the hooks");
_Static_assert(offsetof(Bank, thread) == 48 && offsetof(Bank, is_free) == 56, "in the hooks");
_Static_assert(offsetof(Thread, alive) == 0 && offsetof(Thread, timer) == 8, "in the hooks");
_Static_assert(offsetof(Bank, slots) + 8 * SLOT_CALL == 304, "in the hooks");
_Static_assert(sizeof(Bank) <= RING_AT && SYSTEM_CALLS_AT == 133120, "in the hooks");

uint64_t threads_alive;
static Thread *threads; /* address space for all that there may be */
static uint64_t n_threads, next_to_try;

static uint64_t most_threads(void) {
    return process.is_limited ? 512 : MOST_THREADS;
}

bool threads_begin(void) {
    threads = call_map(0, most_threads() * sizeof *threads, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return threads != NULL;
}

/* In the child of a fork: those of its parent are not here. */
void threads_forget(void) {
    n_threads = 0;
    next_to_try = 0;
    threads_alive = 0;
}

void threads_stop_timers(void) {
    const uint64_t n = __atomic_load_n(&n_threads, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (threads[i].alive && threads[i].timer >= 0) {
            kernel(SYS_timer_delete, (uint64_t)threads[i].timer, 0, 0, 0, 0, 0);
            threads[i].timer = -1;
        }
    }
}

static void gs_set(const Bank *bank) {
    if (process.has_fsgsbase) {
        __asm__ volatile("wrgsbase %0" : : "r"(bank) : "memory");
    } else {
        kernel(SYS_arch_prctl, ARCH_SET_GS, (uint64_t)bank, 0, 0, 0, 0);
    }
}

void threads_give_up(void) {
    gs_set(NULL);
    process.arena = NULL;
}

static bool wake(Thread *thread) {
    uint64_t ended = 0;
    return !__atomic_load_n(&thread->alive, __ATOMIC_RELAXED)
        && __atomic_compare_exchange_n(&thread->alive, &ended, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* The record of a thread that has ended; only looked for if there must be one. */
static Thread *thread_ended(void) {
    const uint64_t n = __atomic_load_n(&n_threads, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&threads_alive, __ATOMIC_RELAXED) > n) {
        return NULL; /* this one is counted already */
    }
    const uint64_t first = __atomic_load_n(&next_to_try, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = (first + i) % n;
        if (wake(&threads[at])) {
            __atomic_store_n(&next_to_try, at + 1, __ATOMIC_RELAXED);
            return &threads[at];
        }
    }
    return NULL;
}

/* A record for the calling thread; NULL: there are too many. */
Thread *thread_take(void) {
    __atomic_add_fetch(&threads_alive, 1, __ATOMIC_RELAXED);
    Thread *thread = thread_ended();
    if (!thread) {
        const uint64_t at = __atomic_fetch_add(&n_threads, 1, __ATOMIC_ACQ_REL);
        if (at >= most_threads()) {
            __atomic_store_n(&n_threads, most_threads(), __ATOMIC_RELAXED);
            return NULL;
        }
        thread = &threads[at];
        thread->banks = NULL; /* in a forked child: of its parent's thread */
        thread->environment = NULL;
        thread->environment_bytes = 0;
        thread->open = (Array){0};
        __atomic_store_n(&thread->alive, 1, __ATOMIC_RELEASE);
    }
    thread->tid = (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0);
    thread->timer = -1;
    thread->current = NULL;
    thread->busy = 0;
    thread->regions = 0;
    thread->line = 0;
    thread->tells_lines = 0;
    thread->own = 0;
    thread->is_inside = 0;
    thread->in_call = 0;
    thread->seen = 0;
    thread->late_from = 0;
    thread->function_sp = NO_LIMIT;
    thread->stack[0] = thread->stack[1] = 0;
    thread->kept = KEPT_NOTHING;
    thread->open.n = 0;
    thread->open.size = sizeof(OpenRegion);
    return thread;
}

Thread *thread_here(void) {
    return (Thread *)bank_here()->thread;
}

/* ---- banks ---- */

/* Every system call that emitted code makes goes through this table, which must need no flag. */
static void fill_system_calls(Bank *bank) {
    static const uint8_t seen[] = {
        SYS_clone, SYS_fork, SYS_execve, SYS_execveat & 255, SYS_arch_prctl, SYS_clone3 & 255,
        SYS_exit_group, SYS_prctl, SYS_seccomp & 255, SYS_set_robust_list & 255, SYS_rt_sigaction,
        SYS_setrlimit, SYS_getrlimit, SYS_prlimit64 & 255, SYS_mlockall,
        SYS_mprotect, SYS_pkey_mprotect & 255, SYS_munmap, SYS_mremap, SYS_mmap,
    };
    uint64_t *calls = (uint64_t *)((uint8_t *)bank + SYSTEM_CALLS_AT);
    for (unsigned i = 0; i < 256; i++) {
        calls[i] = (uint64_t)(group_is_on() ? hook_system_call_seen : hook_system_call_plain);
    }
    for (unsigned i = 0; i < sizeof seen; i++) {
        calls[seen[i]] = (uint64_t)hook_system_call_seen;
    }
    calls[SYS_exit] = (uint64_t)hook_exit;
}

/* One in the arena, else one that nobody will read: the program goes on either way. */
static Bank *bank_new(void) {
    Bank *bank = arena_bank();
    if (!bank) {
        __atomic_add_fetch(&process.arena->threads_without_bank, 1, __ATOMIC_RELAXED);
        bank = call_map(0, process.arena->bank_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return bank;
}

static Bank *bank_of(Thread *thread, uint64_t regions, const uint8_t tiles[64]) {
    for (Bank *bank = thread->banks; bank; bank = (Bank *)bank->next) {
        if (bank->regions == regions && !memcmp(bank->tiles, tiles, 64)) {
            return bank;
        }
    }
    Bank *bank = bank_new();
    if (bank) {
        bank->self = (uint64_t)bank;
        bank->process = process.number;
        bank->pid = (uint64_t)process.pid;
        bank->regions = regions;
        memcpy(bank->tiles, tiles, 64);
        fill_system_calls(bank);
        bank->next = (uint64_t)thread->banks;
        bank->thread = (uint64_t)thread;
        thread->banks = bank;
    }
    return bank;
}

void bank_use(Thread *thread, uint64_t regions, const uint8_t tiles[64]) {
    if (is_quiet && !process.has_fsgsbase) {
        return; /* there is no other way to %gs */
    }
    const uint64_t own = thread->line ? regions_on_line(regions, thread->line) : regions;
    const uint64_t counted = group_regions(thread, own);
    Bank *bank = bank_of(thread, counted, tiles);
    if (!bank) {
        return; /* no memory at all: it counts on where it is */
    }
    Bank *before = thread->current;
    if (before) {
        traffic_ring(before);
    }
    bank->tid = thread->tid;
    bank->is_free = 0;
    bank->slots[SLOT_LIMIT] = thread->function_sp;
    thread->current = bank;
    thread->regions = regions;
    traffic_enters(bank);
    gs_set(bank);
    if (before) {
        traffic_switched(before, bank, own);
    }
}

static uint64_t threads_taken(void) {
    const uint64_t taken = __atomic_load_n(&n_threads, __ATOMIC_ACQUIRE);
    return taken < most_threads() ? taken : most_threads();
}

Thread *thread_after(Thread *before) {
    const uint64_t n = threads_taken();
    for (uint64_t i = before ? (uint64_t)(before - threads) + 1 : 0; i < n; i++) {
        if (__atomic_load_n(&threads[i].alive, __ATOMIC_ACQUIRE)) {
            return &threads[i];
        }
    }
    return NULL;
}

/* A thread's banks, then the next thread's. Rows of threads that have ended have theirs still. */
Bank *bank_after(Bank *before) {
    const uint64_t n = threads_taken();
    if (before && before->next) {
        return (Bank *)before->next;
    }
    for (uint64_t i = before ? (uint64_t)((Thread *)before->thread - threads) + 1 : 0; i < n; i++) {
        if (threads[i].banks) {
            return threads[i].banks;
        }
    }
    return NULL;
}

/* The calling thread is new: %gs is still that of the one that began it. */
void thread_begins(Thread *thread, const uint8_t tiles[64]) {
    traffic_thread_begins(thread->tid);
    bank_use(thread, 0, tiles);
    const uint64_t values[4] = {thread->tid,
                                __atomic_load_n(&threads_alive, __ATOMIC_RELAXED)};
    arena_event(EVENT_THREAD, values, 0, 0);
}

/* The calling thread is about to end. */
void thread_leaves(void) {
    Bank *bank = bank_here();
    traffic_ring(bank);
    group_leaves((Thread *)bank->thread);
    traffic_thread_ends(bank->tid);
    if (__atomic_load_n(&threads_alive, __ATOMIC_RELAXED) == 1) {
        traffic_ends(process.number, true, bank_after);
    }
}

void tiles_read(uint8_t tiles[64]) {
    memset(tiles, 0, 64);
    if (process.has_tiles) {
        /* sttilecfg [rdi], which not every assembler knows */
        __asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x07" : : "D"(tiles) : "memory");
    }
}
