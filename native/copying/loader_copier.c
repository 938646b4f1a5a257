/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the copier as a process of its own that the program does not see: its end sends no signal,
 * and a wait for any child does not find it. */
#include "loader.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MOST_SECONDS 300u /* the largest libraries take one where much else runs */

/* What the child does, on the memory of its parent, which waits. Its descriptors are its own. */
typedef struct {
    const char *program;
    const char *arguments[8];
    int64_t messages; /* file that takes its messages */
} Task;

static __attribute__((noreturn)) void become_copier(const Task *task) {
    static const char *const no_environment[] = {NULL};
    if (task->messages >= 0) {
        kernel(SYS_dup2, (uint64_t)task->messages, 2, 0, 0, 0, 0);
    }
    /* Pipes of the program that it holds open would let others wait for their end. A program that
       may open few files has none to spare before. */
    kernel(SYS_close_range, 3, ~0u, 0, 0, 0, 0);
    const int64_t nothing = call_open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        kernel(SYS_dup2, (uint64_t)nothing, 0, 0, 0, 0, 0);
        kernel(SYS_dup2, (uint64_t)nothing, 1, 0, 0, 0, 0);
        if (task->messages < 0) {
            kernel(SYS_dup2, (uint64_t)nothing, 2, 0, 0, 0, 0);
        }
        kernel(SYS_close_range, 3, ~0u, 0, 0, 0, 0);
    }
    kernel(SYS_execve, (uint64_t)task->program, (uint64_t)task->arguments,
                (uint64_t)no_environment, 0, 0, 0);
    for (;;) {
        kernel(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    }
}

/* The child goes on here on its parent's stack: what it overwrites is below what the parent uses,
   because it calls a function that never returns. */
static __attribute__((noinline)) int64_t begin(const Task *task) {
    const int64_t child = kernel(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0, 0);
    if (!child) {
        become_copier(task);
    }
    return child;
}

static uint64_t seconds(void) {
    int64_t now[2] = {0, 0};
    kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)now, 0, 0, 0, 0);
    return (uint64_t)now[0];
}

/* Its exit status, or a negative number if it did not exit. */
static int64_t wait_for(int64_t child) {
    const uint64_t begun = seconds();
    uint64_t pause_ns = 200000;
    for (;;) {
        int status = 0;
        const int64_t ended = kernel(SYS_wait4, (uint64_t)child, (uint64_t)&status,
                                          WNOHANG | __WALL, 0, 0, 0);
        if (ended == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        if (ended < 0 && ended != -4 /* EINTR */) {
            return ended;
        }
        if (seconds() - begun > MOST_SECONDS) {
            kernel(SYS_kill, (uint64_t)child, 9, 0, 0, 0, 0);
        }
        const uint64_t pause[2] = {0, pause_ns};
        kernel(SYS_nanosleep, (uint64_t)pause, 0, 0, 0, 0, 0);
        pause_ns = pause_ns < 5000000 ? pause_ns * 2 : pause_ns;
    }
}

static void read_messages(int64_t file, char *message, size_t room) {
    message[0] = 0;
    if (file >= 0) {
        const int64_t n =
            kernel(SYS_pread64, (uint64_t)file, (uint64_t)message, room - 1, 0, 0, 0);
        message[n > 0 ? n : 0] = 0;
        while (text_length(message) && message[text_length(message) - 1] == '\n') {
            message[text_length(message) - 1] = 0;
        }
    }
}

int64_t copier_run(const char *module, const char *kind, const char *copy_path, const char *plan,
                   char *message, size_t room) {
    Task task = {.program = arena_text(process.arena->copier_name)};
    unsigned n = 0;
    task.arguments[n++] = task.program;
    task.arguments[n++] = module;
    task.arguments[n++] = copy_path;
    if (text_begins(kind, "selecting")) {
        task.arguments[n++] = "--selecting";
    }
    if (text_find(kind, "both")) {
        task.arguments[n++] = "--both";
    } else if (text_find(kind, "recording")) {
        task.arguments[n++] = "--recording";
    }
    if (plan) {
        task.arguments[n++] = "--plan";
        task.arguments[n++] = plan;
    }
    if (!task.program[0]) {
        return -1;
    }
    say("making a copy of", module, 0);
    task.messages = kernel(SYS_memfd_create, (uint64_t) "ridgepoint", 1 /* CLOEXEC */, 0, 0,
                                0, 0);
    const Signals before = signals_block();
    const int64_t child = begin(&task);
    const int64_t status = child < 0 ? child : wait_for(child);
    signals_restore(before);
    read_messages(task.messages, message, room);
    call_close(task.messages);
    return status;
}
