/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that begin and end threads, processes and programs.
 *
 * A call that begins a thread or process, or another program, is made where its copy has an
 * instruction after which HOOK_AFTER_CLONE comes by; the others as if nothing had been.
 */
#include "loader.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

extern uint64_t modules_lock, names_lock;

/* ---- in the child ---- */

static void tiles_of_child(const Bank *parents, uint8_t tiles[64]) {
    static const uint8_t none[64];
    memset(tiles, 0, 64);
    if (memcmp(parents->tiles, none, 64)) {
        tiles_read(tiles);
    }
}

static void begin_thread(const Bank *parents) {
    uint8_t tiles[64];
    Thread *thread = thread_take();
    if (!thread) { /* it shares its parent's */
        __atomic_add_fetch(&process.arena->threads_without_bank, 1, __ATOMIC_RELAXED);
        return;
    }
    tiles_of_child(parents, tiles);
    thread_begins(thread, tiles);
    samples_of_thread(thread);
}

/* A forked child goes on inside the regions that its thread was in; they begin there. */
static void begin_process(const Bank *parents) {
    uint8_t tiles[64];
    const Thread before = *(const Thread *)parents->thread;
    const uint64_t number =
        __atomic_fetch_add(&process.arena->n_processes, 1, __ATOMIC_RELAXED);
    const uint64_t parent = process.number;
    process.pid = system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    const uint64_t values[4] = {number, (uint64_t)process.pid};
    arena_event(EVENT_FORKED, values, 0, 0);
    process.number = number;
    process_began(true, parent);
    modules_lock = 0;
    names_lock = 0;
    threads_forget();
    Thread *thread = thread_take();
    traffic_after_fork(true, thread->tid);
    thread->open = before.open;
    tiles_of_child(parents, tiles);
    bank_use(thread, before.regions, tiles);
    samples_of_thread(thread);
}

static void child_begins(void) {
    const Signals before = signals_block();
    const Bank *parents = bank_here();
    if (system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) == system_call(SYS_getpid, 0, 0, 0, 0, 0, 0)) {
        begin_process(parents);
    } else {
        begin_thread(parents);
    }
    signals_restore(before);
}

/* ---- before ---- */

/* Bytes of the program's memory, wherever that is; false: it is not there. */
bool read_program(uint64_t address, void *to, uint64_t bytes) {
    const uint64_t here[2] = {(uint64_t)to, bytes}, there[2] = {address, bytes};
    const int64_t n = system_call(SYS_process_vm_readv, (uint64_t)process.pid, (uint64_t)here, 1,
                                  (uint64_t)there, 1, 0);
    if (n == -ENOSYS || n == -EPERM) { /* forbidden here: believe the program */
        memcpy(to, (const void *)address, bytes);
        return address != 0;
    }
    return n == (int64_t)bytes;
}

/* A child that shares its parent's memory and is no thread of it counts in its parent's bank: it
   becomes another program soon, while its parent waits. */
static bool needs_bank(uint64_t flags) {
    return !(flags & CLONE_VM) || flags & CLONE_THREAD;
}

static uint64_t clone3_flags(const Frame *frame) {
    uint64_t flags;
    const bool is_known = frame->rsi >= 64 && read_program(frame->rdi, &flags, sizeof flags);
    return is_known ? flags : CLONE_VM; /* else the kernel will refuse it */
}

static void before_fork(const Thread *thread) {
    traffic_ring(bank_here());
    traffic_before_fork(thread->tid);
}

static bool is_this_process(void) {
    return system_call(SYS_getpid, 0, 0, 0, 0, 0, 0) == process.pid;
}

static void exits(uint64_t status) {
    if (is_this_process()) {
        traffic_ring(bank_here());
        traffic_ends(process.number, true, bank_after);
        const uint64_t values[4] = {status & 255};
        arena_event(EVENT_ENDED, values, 0, 0);
    }
}

/* %gs is where counts go. What would use the program's own is not copied, but what is copied could
   not be stopped, so the program is told that the kernel does not know this call. */
static void sets_gs(Frame *frame) {
    const uint64_t values[4] = {0};
    arena_event(EVENT_USES_GS, values, 0, 0);
    say("the program sets %gs", "", frame->rsi);
    frame->rdi = ~UINT64_C(0); /* EINVAL */
}

/* Every thread of glibc, and every process that it forked, calls this first. It is seen here if
   the call that began it was not. */
static void notice_thread(const Thread *thread) {
    if ((uint64_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid) {
        child_begins();
    }
}

/* Whoever is killed for most calls can wait for no lock. */
static void is_sandboxed(void) {
    process.is_sandboxed = true;
    traffic_ring(bank_here());
    traffic_ends(process.number, true, bank_after);
}

static bool clones(const Thread *thread, uint64_t flags) {
    if (!(flags & CLONE_VM)) {
        before_fork(thread);
    }
    return needs_bank(flags);
}

static bool returns_by_hook(Thread *thread, Frame *frame) {
    thread->is_exec = 0;
    switch (frame->rax) {
    case SYS_clone: return clones(thread, frame->rdi);
    case SYS_clone3: return clones(thread, clone3_flags(frame));
    case SYS_fork: return clones(thread, 0);
    case SYS_execve:
    case SYS_execveat: exec_begins(thread, frame); return true;
    case SYS_exit_group: exits(frame->rdi); return false;
    case SYS_arch_prctl:
        if (frame->rdi == ARCH_SET_GS) {
            sets_gs(frame);
        }
        return false;
    case SYS_set_robust_list: notice_thread(thread); return false;
    case SYS_prctl:
        if (frame->rdi == PR_SET_SECCOMP) {
            is_sandboxed();
        }
        return false;
    case SYS_seccomp:
        if (frame->rdi <= SECCOMP_SET_MODE_FILTER) { /* the others only ask */
            is_sandboxed();
        }
        return false;
    default: return false;
    }
}

void system_call_begins(Frame *frame) {
    if (returns_by_hook(thread_here(), frame)) {
        frame->rcx -= AFTER_CLONE_BYTES;
    }
}

/* ---- after ---- */

void system_call_returned(Frame *frame) {
    if (!frame->rax) {
        child_begins();
        return;
    }
    traffic_after_fork(false, thread_here()->tid);
    if (system_refused((int64_t)frame->rax)) {
        Thread *thread = thread_here();
        if (thread->is_exec) {
            exec_failed(thread, frame);
        }
    }
}
