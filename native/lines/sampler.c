/* SPDX-License-Identifier: Apache-2.0 */
/* A timer of CPU time for each thread, and what its signal finds. */
#define _GNU_SOURCE
#include "lines.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNAL 61 /* the copying engine has 62 */
#define PERIOD_NS 973001L

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static LineTable *table;
static const char *folder;
static const void *main_state;
static uint64_t python_threads; /* beside the first one */
static __thread uint64_t seen_ns __attribute__((tls_model("initial-exec")));
static __thread bool is_known __attribute__((tls_model("initial-exec")));

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Which frame began the work of a thread that Python does not know: the only one that there is. */
static void note(Kind kind, uint64_t ns) {
    const void *state = frames_state();
    if (state) {
        if (syscall(SYS_gettid) == getpid()) {
            main_state = state;
        } else if (!is_known) {
            is_known = true;
            __atomic_add_fetch(&python_threads, 1, __ATOMIC_RELAXED);
        }
    } else if (main_state) {
        kind = IN_OTHER_THREAD;
        if (__atomic_load_n(&python_threads, __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&table->unlocated, 1, __ATOMIC_RELAXED);
            row_add(&table->unknown, kind, ns);
            return;
        }
        state = main_state;
    }
    const Line line = frames_line(table, state);
    if (line.file) {
        LineRow *row = table_row(table, line.file, line.line);
        row_add(row ? row : &table->unknown, kind, ns);
    } else {
        row_add(&table->outside, kind, ns);
    }
}

static void timer_fired(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    const int error = errno;
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t now = cpu_ns();
    if (table) {
        note(where((uint64_t)registers[REG_RIP], (uint64_t)registers[REG_RSP]), now - seen_ns);
    }
    seen_ns = cpu_ns(); /* what this takes is no line's */
    errno = error;
}

/* ---- timers ---- */

static bool timer_begin(timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
    event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer)) {
        return false;
    }
    const struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    seen_ns = cpu_ns();
    return !timer_settime(*timer, 0, &period, NULL);
}

typedef struct {
    void *(*function)(void *);
    void *argument;
} Start;

static void timer_end(void *timer) {
    timer_delete(*(timer_t *)timer);
}

static void *begin_thread(void *given) {
    const Start start = *(Start *)given;
    timer_t timer;
    void *result;
    free(given);
    if (!table || !timer_begin(&timer)) {
        return start.function(start.argument);
    }
    pthread_cleanup_push(timer_end, &timer);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
               void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    }
    trace_new_threads();
    Start *start = table ? malloc(sizeof *start) : NULL;
    if (!start) {
        return real(thread, attributes, function, argument);
    }
    *start = (Start){function, argument};
    const int error = real(thread, attributes, begin_thread, start);
    if (error) {
        free(start);
    }
    return error;
}

/* ---- processes ---- */

static void process_begins(void) {
    static timer_t timer;
    struct sigaction action = {.sa_sigaction = timer_fired,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    uint64_t version = 0;
    const LineTable *parent = table;
    table = NULL;
    main_state = NULL;
    python_threads = 0;
    const Refusal refusal = frames_begin(&version);
    LineTable *made = table_follow(folder, parent);
    if (!made) {
        return;
    }
    made->version = version;
    made->refusal = refusal;
    if (refusal == KNOWN) {
        where_begin();
        table = made;
        sigemptyset(&action.sa_mask);
        if (sigaction(SIGNAL, &action, NULL) || !timer_begin(&timer)) {
            made->refusal = NO_TIMER;
            table = NULL;
        }
    }
}

__attribute__((constructor)) static void begin(void) {
    folder = getenv(LINES_VARIABLE);
    /* Other programs, such as a shell that starts Python, only hand it on. */
    if (folder && *folder && dlsym(RTLD_DEFAULT, "_PyRuntime")) {
        const char *traced = getenv(TRACED_VARIABLE);
        folder = realpath(folder, NULL); /* the program may change its variables */
        if (folder && traced && *traced) {
            trace_begin(folder, traced);
        } else if (folder) {
            process_begins();
            pthread_atfork(NULL, NULL, process_begins);
        }
    }
}
