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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

extern uint64_t modules_lock, names_lock;

bool is_quiet;

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
    process.pid = kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
    process.tid_of_main = 0; /* any thread may have forked */
    const uint64_t values[4] = {number, (uint64_t)process.pid};
    arena_event(EVENT_FORKED, values, 0, 0);
    process.number = number;
    process_began(true, parent);
    modules_lock = 0;
    names_lock = 0;
    functions_lock = 0;
    group_forget();
    process_marks_forks();
    threads_forget();
    Thread *thread = thread_take();
    thread->open = before.open;
    thread->line = before.line;
    thread->tells_lines = before.tells_lines;
    thread_goes_on(thread, &before);
    tiles_of_child(parents, tiles);
    bank_use(thread, before.regions, tiles);
    samples_of_thread(thread);
}

/* A page that says 1, and in a forked child 0. Numbers of processes do not tell: in a namespace of
   its own, a child may have its parent's. */
static uint64_t *fork_mark;

void process_marks_forks(void) {
    if (!fork_mark) {
        fork_mark = pages_take(4096);
        if (fork_mark
            && kernel(SYS_madvise, (uint64_t)fork_mark, 4096, MADV_WIPEONFORK, 0, 0, 0)) {
            pages_give(fork_mark, 4096); /* an old kernel */
            fork_mark = NULL;
        }
    }
    if (fork_mark) {
        *fork_mark = 1;
    }
}

static bool is_forked(void) {
    if (fork_mark) {
        return !*fork_mark;
    }
    return kernel(SYS_getpid, 0, 0, 0, 0, 0, 0) != process.pid;
}

/* The calling thread, if it is not the one whose bank this is. */
static void child_begins(const Thread *thread) {
    const bool is_process = is_forked();
    if (!is_process
        && (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) == thread->tid) {
        return;
    }
    const Signals before = signals_block();
    if (is_process) {
        begin_process(bank_here());
    } else {
        begin_thread(bank_here());
    }
    signals_restore(before);
    if (is_process) { /* it gives the signals back that were blocked before the fork */
        traffic_after_fork(true, process.number, thread_here()->tid);
        traffic_enters(bank_here());
    }
}

/* ---- before ---- */

bool read_program(uint64_t address, void *to, uint64_t bytes) {
    const uint64_t here[2] = {(uint64_t)to, bytes}, there[2] = {address, bytes};
    const int64_t n = kernel(SYS_process_vm_readv, (uint64_t)process.pid, (uint64_t)here, 1,
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
    return kernel(SYS_getpid, 0, 0, 0, 0, 0, 0) == process.pid;
}

static void exits(uint64_t status) {
    if (is_quiet || is_this_process()) {
        traffic_ring(bank_here());
        group_ends();
        traffic_ends(process.number, true, bank_after);
        traffic_has_ended();
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

/* Nor can it wait for a lock. */
void process_becomes_quiet(void) {
    if (!is_quiet) {
        traffic_ring(bank_here());
        traffic_ends(process.number, true, bank_after);
        samples_give_way(true);
        is_quiet = true;
    }
}

static bool clones(const Thread *thread, uint64_t flags) {
    if (!(flags & CLONE_VM)) {
        before_fork(thread);
    }
    return needs_bank(flags);
}

/* A handler may make such calls as well, so that none runs until this one has returned. */
static bool is_kept(Thread *thread, Frame *frame, bool (*begins)(Thread *, Frame *),
                    uint64_t kind) {
    if (is_quiet) {
        return false;
    }
    const Signals before = signals_block();
    thread->kept_frame = *frame;
    if (!begins(thread, frame)) {
        signals_restore(before);
        return false;
    }
    thread->kept_signals = before;
    thread->kept = kind;
    return true;
}

/* Threads are counted together: each looks around before a call and after it. */
static bool goes_by_group(Thread *thread, const Frame *frame) {
    if (is_quiet || !group_is_on()) {
        return false;
    }
    group_call_begins(thread);
    bank_here()->slots[SLOT_CALL] = frame->rax; /* it may be another bank now */
    thread->kept = KEPT_CALL;
    return true;
}

static bool returns_by_hook(Thread *thread, Frame *frame) {
    thread->kept = KEPT_NOTHING;
    switch (frame->rax) {
    case SYS_clone: return clones(thread, frame->rdi);
    case SYS_clone3: return clones(thread, clone3_flags(frame));
    case SYS_fork: return clones(thread, 0);
    case SYS_execve:
    case SYS_execveat:
        if (is_quiet) {
            return false;
        }
        thread->kept_frame = *frame;
        exec_begins(thread, frame);
        thread->kept = KEPT_EXEC;
        return true;
    case SYS_rt_sigaction: return is_kept(thread, frame, action_begins, KEPT_ACTION);
    case SYS_setrlimit:
    case SYS_getrlimit:
    case SYS_prlimit64: return is_kept(thread, frame, limit_begins, KEPT_LIMIT);
    case SYS_mlockall: return is_kept(thread, frame, lock_begins, KEPT_ARGUMENTS);
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mmap: made_changes(thread, frame); return false;
    case SYS_exit_group: exits(frame->rdi); return false;
    case SYS_arch_prctl:
        if (frame->rdi == ARCH_SET_GS) {
            sets_gs(frame);
        }
        return false;
    case SYS_set_robust_list: /* of new threads and processes, should nobody have seen them begin */
        if (!is_quiet) {
            child_begins(thread);
        }
        return false;
    case SYS_prctl:
        if (frame->rdi == PR_SET_SECCOMP) {
            process_becomes_quiet();
        }
        return false;
    case SYS_seccomp:
        if (frame->rdi <= SECCOMP_SET_MODE_FILTER) { /* the others only ask */
            process_becomes_quiet();
        }
        return false;
    case SYS_vfork: /* whose child has the same stack, */
    case SYS_rt_sigreturn: return false; /* and which does not return */
    default: return goes_by_group(thread, frame);
    }
}

void system_call_begins(Frame *frame) {
    if (returns_by_hook(thread_here(), frame)) {
        frame->rcx -= AFTER_CLONE_BYTES;
    }
}

/* ---- after ---- */

/* Give the program the registers that it called with. */
static void restore_arguments(const Frame *before, Frame *frame) {
    frame->rdi = before->rdi;
    frame->rsi = before->rsi;
    frame->rdx = before->rdx;
    frame->r10 = before->r10;
}

/* Nothing but such calls returns 0 here in the thread that called it; of a new thread this is
   still the record of the one that began it. */
static bool is_own(const Thread *thread, uint64_t kept) {
    return kept >= KEPT_ACTION && !is_forked()
        && (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) == thread->tid;
}

void system_call_returned(Frame *frame) {
    Thread *thread = thread_here();
    const uint64_t kept = thread->kept;
    if (kept == KEPT_CALL) {
        thread->kept = KEPT_NOTHING;
        group_call_returned(thread);
        return;
    }
    if (!frame->rax && !is_own(thread, kept)) {
        child_begins(thread);
        return;
    }
    traffic_after_fork(false, process.number, thread->tid);
    if (kept != KEPT_NOTHING) {
        thread->kept = KEPT_NOTHING;
        if (kept == KEPT_EXEC) {
            exec_failed(thread, frame);
        } else if (kept == KEPT_ACTION) {
            action_returned(thread, &thread->kept_frame, frame);
        } else if (kept == KEPT_LIMIT) {
            limit_returned(&thread->kept_frame, frame);
        }
        restore_arguments(&thread->kept_frame, frame);
        if (kept != KEPT_EXEC) {
            signals_restore(thread->kept_signals);
        }
    }
}
