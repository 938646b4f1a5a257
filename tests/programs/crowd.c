/* Threads and processes of known work. usage: crowd MODE N
 *
 * work() of work.h is called N times and then once by main(), but where another number is said:
 *   waves      threads one after another        alive      threads that wait for each other
 *   exits      N threads; the last ends the process before main() goes on: N times
 *   private    4 threads, each reads its own N lines 4 times      padded, shared  see below
 *   fork, vfork, spawn, rawfork, rawclone       N children, one after another
 *   together   N children at once               outlives   a child that works once main() is gone
 *   execfails  N execs that fail                execthread exec in a thread: becomes "waves"
 *   chain      execs itself N times, each time after working once
 *   killed     N children that work and then wait for main() to kill them: their work is lost
 *   suicide    N children that work and kill themselves
 *   grandchild N children, each with a child that works too: 2 N + 1
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;
static long n;
static char *self;
static struct {
    _Alignas(4096) volatile long together[8];
    _Alignas(4096) struct { _Alignas(64) volatile long number; } apart[8];
} counters;

static void *ends(void *number) {
    sink = work();
    if ((long)number == n - 1) exit(0);
    return NULL;
}
static void *reads(void *unused) {
    double *own = aligned_alloc(4096, 64 * n), sum = 0;
    pthread_barrier_wait(&barrier);
    for (int r = 0; r < 4; r++)
        for (long i = 0; i < 8 * n; i += 8) sum += own[i];
    sink = sum;
    return unused;
}
/* Adds to counters in one line, or in lines of their own, and gives way after each. */
static void *adds_together(void *which) {
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < n; i++, sched_yield()) counters.together[(long)which]++;
    return NULL;
}
static void *adds_apart(void *which) {
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < n; i++, sched_yield()) counters.apart[(long)which].number++;
    return NULL;
}
static void *becomes(void *unused) {
    execl(self, self, "waves", "2", (char *)NULL);
    return unused;
}
static void threads(void *(*function)(void *), long many, int at_once) {
    pthread_t *all = malloc(many * sizeof *all);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (long i = 0; i < many; i++) {
        if (pthread_create(&all[i], &small, function, (void *)i)) exit(9);
        if (!at_once) pthread_join(all[i], NULL);
    }
    for (long i = 0; at_once && i < many; i++) pthread_join(all[i], NULL);
}
static pid_t spawned(void) {
    pid_t child;
    char *arguments[] = {self, "waves", "0", NULL};
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ)) exit(9);
    return child;
}
static pid_t forked(const char *mode) {
    if (!strcmp(mode, "spawn")) return spawned();
    if (!strcmp(mode, "vfork")) {
        pid_t child = vfork();
        if (child == 0) execl(self, self, "waves", "0", (char *)NULL);
        return child;
    }
    if (!strcmp(mode, "rawfork")) return (pid_t)syscall(SYS_fork);
    if (!strcmp(mode, "rawclone")) return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return fork();
}
static void children(const char *mode) {
    int worked[2];
    char one;
    if (pipe(worked)) exit(7);
    for (long i = 0; i < n; i++) {
        pid_t child = forked(mode);
        if (child < 0) exit(8);
        if (child == 0) {
            if (!strcmp(mode, "grandchild") && fork() > 0) wait(NULL);
            sink = work();
            if (!strcmp(mode, "suicide")) raise(SIGKILL);
            if (!strcmp(mode, "killed")) {
                if (write(worked[1], "", 1) == 1) pause();
            }
            _exit(0);
        }
        if (!strcmp(mode, "killed") && read(worked[0], &one, 1) == 1) kill(child, SIGKILL);
        if (strcmp(mode, "together")) waitpid(child, NULL, 0);
    }
    while (wait(NULL) > 0) continue;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *mode = argv[1];
    n = atol(argv[2]);
    self = argv[0];
    if (!strcmp(mode, "waves")) threads(works, n, 0);
    else if (!strcmp(mode, "alive") || !strcmp(mode, "private")) {
        long many = *mode == 'p' ? 4 : n;
        pthread_barrier_init(&barrier, NULL, (unsigned)many);
        threads(*mode == 'p' ? reads : waits, many, 1);
    } else if (!strcmp(mode, "shared") || !strcmp(mode, "padded")) {
        pthread_barrier_init(&barrier, NULL, 4);
        threads(*mode == 's' ? adds_together : adds_apart, 4, 1);
    } else if (!strcmp(mode, "exits")) {
        threads(ends, n, 0);
    } else if (!strcmp(mode, "execthread")) {
        sink = work();
        threads(becomes, 1, 1);
    } else if (!strcmp(mode, "execfails")) {
        for (long i = 0; i < n; i++) {
            execl("/nonexistent", "nonexistent", (char *)NULL);
            sink = work();
        }
    } else if (!strcmp(mode, "chain") && n > 0) {
        char rest[20];
        snprintf(rest, sizeof rest, "%ld", n - 1);
        sink = work();
        execl(self, self, "chain", rest, (char *)NULL);
    } else if (!strcmp(mode, "outlives")) {
        if (fork() == 0) {
            usleep(300000);
            sink = work();
            _exit(0);
        }
        sink = work();
        _exit(0);
    } else if (strcmp(mode, "chain")) {
        children(mode);
    }
    sink = work();
    return 0;
}
