/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader calls: one lock around all that is simulated. */
#include "traffic.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "memory.h"
#include "system.h"
#include "traffic_state.h"

#define PIECE_BYTES (UINT64_C(1) << 20)
#define BLOCK_SIGNALS 0 /* SIG_BLOCK */
#define SET_SIGNALS 2   /* SIG_SETMASK */

TrafficState traffic;

/* ---- the lock ---- */

enum { FREE, HELD, AWAITED };

static uint32_t lock_state;

static void lock(void) {
    uint32_t state = FREE;
    if (__atomic_compare_exchange_n(&lock_state, &state, HELD, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        return;
    }
    while (__atomic_exchange_n(&lock_state, AWAITED, __ATOMIC_ACQUIRE) != FREE) {
        system_call(SYS_futex, (uint64_t)&lock_state, FUTEX_WAIT_PRIVATE, AWAITED, 0, 0, 0);
    }
}

static void unlock(void) {
    if (__atomic_exchange_n(&lock_state, FREE, __ATOMIC_RELEASE) == AWAITED) {
        system_call(SYS_futex, (uint64_t)&lock_state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    }
}

/* What a signal handler does in the middle would wait for this very lock. */
static uint64_t block_signals(void) {
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    system_call(SYS_rt_sigprocmask, BLOCK_SIGNALS, (uint64_t)&all, (uint64_t)&before, sizeof all,
                0, 0);
    return before;
}

static void allow_signals(uint64_t before) {
    system_call(SYS_rt_sigprocmask, SET_SIGNALS, (uint64_t)&before, 0, sizeof before, 0, 0);
}

/* ---- vector registers ---- */

#ifdef TRAFFIC_VECTORS
/* The halves of the first 16 that AVX2 writes, and the upper ones, which it clears. */
#define VECTOR_STATE 0x46u

static _Alignas(64) uint8_t vectors[4096];

static void save_vectors(void) {
    __asm__ volatile("xsave64 %0" : "+m"(vectors) : "a"(VECTOR_STATE), "d"(0) : "memory");
    __asm__ volatile("vzeroupper" ::: "memory");
}

static void restore_vectors(void) {
    __asm__ volatile("xrstor64 %0" : : "m"(vectors), "a"(VECTOR_STATE), "d"(0) : "memory");
}
#else
static void save_vectors(void) {}
static void restore_vectors(void) {}
#endif

static uint64_t enter(void) {
    const uint64_t signals = block_signals();
    lock();
    save_vectors();
    return signals;
}

static void leave(uint64_t signals) {
    restore_vectors();
    unlock();
    allow_signals(signals);
}

static bool is_on(void) {
    return traffic.arena && !traffic.has_failed && !traffic.is_over;
}

/* ---- memory ---- */

void *traffic_take(size_t bytes) {
    const size_t whole = (bytes + 15) & ~(size_t)15;
    if (whole >= PIECE_BYTES / 4) {
        return pages_take(whole);
    }
    if (whole > traffic.memory_left) {
        traffic.memory = pages_take(PIECE_BYTES);
        traffic.memory_left = traffic.memory ? PIECE_BYTES : 0;
        if (!traffic.memory) {
            return NULL;
        }
    }
    void *const taken = traffic.memory;
    traffic.memory += whole;
    traffic.memory_left -= whole;
    return taken;
}

void *traffic_grown(void *items, uint32_t n, uint32_t *room, size_t size) {
    if (n < *room) {
        return items;
    }
    const uint32_t wanted = 2 * *room + 16;
    void *const grown = traffic_take(wanted * size);
    if (grown) {
        memcpy(grown, items, n * size);
        *room = wanted;
    }
    return grown;
}

/* ---- a process ---- */

void traffic_begin(ArenaHeader *arena, uint64_t process) {
    if (!(arena->options & OPTION_TRAFFIC) || !arena->traffic_at) {
        return;
    }
    const uint64_t signals = enter();
    traffic.arena = arena;
    traffic.options = (ArenaTraffic *)((char *)arena + arena->traffic_at);
    traffic.blocks = pages_take(arena->most_counters * sizeof *traffic.blocks);
    traffic.sites = pages_take(MOST_SITE_PAGES * sizeof *traffic.sites);
    traffic.process = process;
    traffic.has_failed = !traffic.blocks || !traffic.sites || !traffic_make_caches();
    if (arena->options & OPTION_BURSTS && !traffic.has_failed && traffic.n_geometries) {
        burst_prepare(true);
    }
    leave(signals);
}

void traffic_begun(void) {
    if (is_on()) {
        traffic.first_kib = traffic_resident_kib();
    }
}

void traffic_module(uint64_t module, uint64_t first_counter, const CopyHeader *copy,
                    uint64_t bias) {
    if (is_on()) {
        const uint64_t signals = enter();
        traffic_add_module(&(TrafficModule){
            .module = module,
            .first_counter = first_counter,
            .n_counters = copy->sections[SECTION_ROWS].n,
            .bias = bias,
            .copy = copy,
        });
        leave(signals);
    }
}

/* Threads that run on while their rings are replayed come to their end at any place in them. */
void traffic_ends(uint64_t process, bool is_last, Bank *(*next_bank)(Bank *before)) {
    if (!is_on()) {
        return;
    }
    const uint64_t signals = enter();
    if (is_on()) {
        burst_ends(is_last, next_bank);
        for (Bank *bank = NULL; is_last && !traffic.bursts.are_wanted
                                && (bank = next_bank(bank));) {
            traffic_replay(bank);
        }
        traffic_write_end(process, is_last ? 1 : 2);
        traffic.is_over = is_last;
    }
    leave(signals);
}

void traffic_has_ended(void) {
    traffic.has_ended = true;
}

/* ---- threads ---- */

void traffic_thread_begins(uint64_t tid) {
    if (is_on()) {
        const uint64_t signals = enter();
        traffic.has_failed |= !traffic_thread(tid);
        leave(signals);
    }
}

void traffic_thread_ends(uint64_t tid) {
    if (is_on()) {
        const uint64_t signals = enter();
        traffic_forget_thread(tid);
        leave(signals);
    }
}

void traffic_ring(Bank *bank) {
    if (traffic.bursts.are_wanted) {
        if (is_on()) {
            const uint64_t signals = enter();
            burst_ring(bank);
            leave(signals);
        } else {
            burst_state(bank);
        }
        return;
    }
    if (is_on() && bank->ring_index) {
        const uint64_t signals = enter();
        if (is_on()) {
            traffic_replay(bank);
        }
        leave(signals);
    } else if (!traffic.has_ended) {
        bank->not_simulated += bank->ring_index / sizeof(uint64_t);
    }
    bank->ring_index = 0;
}

void traffic_enters(Bank *bank) {
    if (traffic.bursts.are_wanted) {
        burst_state(bank);
    }
}

void traffic_switched(const Bank *from, const Bank *to, uint64_t own) {
    const bool is_same = from->regions == to->regions && to->regions == own;
    if (!is_on() || is_same) {
        return;
    }
    const uint64_t signals = enter();
    TrafficThread *const thread = traffic_thread(to->tid);
    const bool is_cold = traffic.options->flags & TRAFFIC_COLD;
    if (thread) {
        const bool before = traffic_is_selected(thread);
        traffic_use_sheet(from->process, traffic_regions_of(thread));
        traffic_goes_into(thread, own, to->regions);
        if (is_cold && before != traffic_is_selected(thread)) {
            traffic_empty_caches(); /* what was dirty belongs to where it was before */
        }
    }
    leave(signals);
}

/* ---- fork ---- */

static uint64_t signals_before_fork, tid_before_fork;

void traffic_before_fork(uint64_t tid) {
    if (is_on()) {
        const uint64_t signals = enter();
        signals_before_fork = signals;
        tid_before_fork = tid;
    }
}

/* The child has its parent's caches, warm as they are, and counts from nothing: its rows are those
   of another process. */
void traffic_after_fork(bool is_child, uint64_t process, uint64_t tid) {
    if (!tid_before_fork || (!is_child && tid != tid_before_fork)) {
        return; /* what returned was no fork of this thread's */
    }
    if (is_child) {
        traffic_only_thread(tid_before_fork, tid);
        traffic.last_fetched = 0;
        traffic.process = process;
        if (traffic.bursts.are_wanted) {
            burst_prepare(false);
        }
        if (traffic.reuse) {
            reuse_forget_counts(traffic.reuse);
        }
    }
    tid_before_fork = 0;
    leave(signals_before_fork);
}
