/* SPDX-License-Identifier: Apache-2.0 */
/* Marks regions of a C or C++ program, so that Ridgepoint counts and times them apart:
 *
 *     RIDGEPOINT_REGION_BEGIN("solve");
 *     ...
 *     RIDGEPOINT_REGION_END("solve");
 *
 * Nothing to link. Under Ridgepoint's counting engine a mark is a message to it; in a run that
 * Ridgepoint times (RIDGEPOINT_REGION_TIMES names a folder) it reads the clock; else it costs a
 * few instructions, and none at all with -DRIDGEPOINT_DISABLE. The rules are in docs/regions.md.
 */
#ifndef RIDGEPOINT_H
#define RIDGEPOINT_H

#if defined(RIDGEPOINT_DISABLE) || !defined(__linux__) || !defined(__GNUC__)
#define RIDGEPOINT_REGION_BEGIN(name) ((void)sizeof(name))
#define RIDGEPOINT_REGION_END(name) ((void)sizeof(name))
#else
#define RIDGEPOINT_REGION_BEGIN(name) ridgepoint_mark_(0x52500000, (name))
#define RIDGEPOINT_REGION_END(name) ridgepoint_mark_(0x52500001, (name))

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One definition for all translation units, and for the shared libraries linked with them. */
#define RIDGEPOINT_SHARED_ __attribute__((weak, visibility("default")))
#define RIDGEPOINT_RECORDS_ 1024

#ifdef __cplusplus
extern "C" {
#endif

/* The times of a process are a file mapped into memory, so that they outlive it however it ends.
 * Durations are sums of times, those of beginnings negative: of a region that is open, the time of
 * its end is still to be added. Python reads and writes the same layout (region_times.py). */
struct ridgepoint_record_ {
    char name[208];
    int64_t entries, busy_ns, wall_ns, inside, first_ns, last_ns; /* inside: threads */
    int64_t cpu_ns; /* of all threads of the process while one was inside */
};
struct ridgepoint_table_ {
    char magic[8]; /* the digit is the number of the layout */
    int64_t n_records, updating, last_mark_ns, ended_ns; /* updating: not to be read */
    int64_t ended_cpu_ns, unused[26];
    struct ridgepoint_record_ records[RIDGEPOINT_RECORDS_];
};
struct ridgepoint_thread_ {
    struct ridgepoint_record_ **open; /* outermost first */
    size_t depth, capacity;
    int busy, watched;
};

RIDGEPOINT_SHARED_ int ridgepoint_timing_ = 1; /* 0 once it is known that nobody asks for times */
RIDGEPOINT_SHARED_ int ridgepoint_lock_ = 0;
RIDGEPOINT_SHARED_ int64_t ridgepoint_forked_ns_ = 0;
RIDGEPOINT_SHARED_ struct ridgepoint_table_ *ridgepoint_times_ = NULL;
RIDGEPOINT_SHARED_ __thread struct ridgepoint_thread_ ridgepoint_here_ = {NULL, 0, 0, 0, 0};

/* By another name, since strict C99 hides clock_gettime and struct timespec. */
extern int ridgepoint_gettime_(int clock, long seconds_and_ns[2]) __asm__("clock_gettime");
#ifdef __GLIBC__
extern int __cxa_thread_atexit_impl(void (*end)(void *), void *argument, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));
#endif

static inline int64_t ridgepoint_clock_ns_(int clock) {
    long now[2] = {0, 0};
    ridgepoint_gettime_(clock, now);
    return (int64_t)now[0] * 1000000000 + now[1];
}
static inline int64_t ridgepoint_now_ns_(void) {
    return ridgepoint_clock_ns_(1 /* CLOCK_MONOTONIC */);
}
static inline int64_t ridgepoint_cpu_ns_(void) {
    return ridgepoint_clock_ns_(2 /* CLOCK_PROCESS_CPUTIME_ID */);
}
/* Return 0 in a signal handler that interrupted a mark of its own thread: that mark comes first. */
static inline int ridgepoint_acquire_(void) {
    if (ridgepoint_here_.busy) return 0;
    ridgepoint_here_.busy = 1;
    while (__atomic_exchange_n(&ridgepoint_lock_, 1, __ATOMIC_ACQUIRE)) sched_yield();
    if (ridgepoint_times_) ridgepoint_times_->updating = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}
static inline void ridgepoint_release_(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (ridgepoint_times_) ridgepoint_times_->updating = 0;
    __atomic_store_n(&ridgepoint_lock_, 0, __ATOMIC_RELEASE);
    ridgepoint_here_.busy = 0;
}
static inline int ridgepoint_is_open_(const struct ridgepoint_record_ *record, size_t depth) {
    while (depth > 0 && ridgepoint_here_.open[depth - 1] != record) depth--;
    return depth > 0;
}
/* Begin the region at `level` of this thread's open ones, unless it is open outside already. */
static inline void ridgepoint_enter_(size_t level, int64_t now_ns, int64_t cpu_ns) {
    struct ridgepoint_record_ *record = ridgepoint_here_.open[level];
    if (ridgepoint_is_open_(record, level)) return;
    record->entries++;
    record->busy_ns -= now_ns;
    if (record->inside++ == 0) {
        record->wall_ns -= now_ns;
        record->cpu_ns -= cpu_ns;
    }
    if (record->first_ns == 0) record->first_ns = now_ns;
}
static inline void ridgepoint_leave_to_(size_t depth, int64_t now_ns) {
    while (ridgepoint_here_.depth > depth) {
        struct ridgepoint_record_ *record = ridgepoint_here_.open[--ridgepoint_here_.depth];
        if (ridgepoint_is_open_(record, ridgepoint_here_.depth)) continue;
        record->busy_ns += now_ns;
        record->last_ns = now_ns;
        if (--record->inside == 0) {
            record->wall_ns += now_ns;
            record->cpu_ns += ridgepoint_cpu_ns_();
        }
    }
}
static inline void ridgepoint_copy_name_(char copy[208], const char *name) {
    size_t i;
    for (i = 0; i < 200 && name[i]; i++)
        copy[i] = (unsigned char)name[i] < 32 || name[i] == 127 ? '?' : name[i];
    copy[i] = 0;
}
static inline struct ridgepoint_record_ *ridgepoint_find_(const char *name) {
    struct ridgepoint_table_ *table = ridgepoint_times_;
    int64_t i;
    for (i = 0; i < table->n_records; i++)
        if (!strcmp(table->records[i].name, name)) return &table->records[i];
    if (i == RIDGEPOINT_RECORDS_) return NULL;
    strcpy(table->records[i].name, name);
    table->n_records++;
    return &table->records[i];
}
static inline struct ridgepoint_table_ *ridgepoint_map_(const char *folder) {
    const size_t size = sizeof(struct ridgepoint_table_);
    char path[4096];
    void *zeros = calloc(1, size), *map = MAP_FAILED;
    int fd, length = snprintf(path, sizeof path, "%s/%ld.%llx.times", folder, (long)getpid(),
                              (unsigned long long)ridgepoint_now_ns_());
    fd = length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
    /* Written, not only sized: a page that finds no room later would end the program. */
    if (fd >= 0 && zeros && write(fd, zeros, size) == (ssize_t)size)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    free(zeros);
    if (map == MAP_FAILED) return NULL;
    memcpy(map, "RIDGETI2", 8);
    return (struct ridgepoint_table_ *)map;
}
/* In the child of a fork: a table of its own, made when it is needed, since most children exec. */
RIDGEPOINT_SHARED_ void ridgepoint_forked_(void) {
    ridgepoint_times_ = NULL;
    ridgepoint_lock_ = 0;
    ridgepoint_forked_ns_ = ridgepoint_now_ns_();
}
/* Make sure of this process's table; regions open at the fork are open in the child since then. */
static inline int ridgepoint_ready_(void) {
    const char *folder;
    size_t level;
    if (ridgepoint_times_) return 1;
    folder = ridgepoint_timing_ ? getenv("RIDGEPOINT_REGION_TIMES") : NULL;
    if (folder) ridgepoint_times_ = ridgepoint_map_(folder);
    ridgepoint_timing_ = ridgepoint_times_ != NULL;
    if (!ridgepoint_timing_) return 0;
    if (!ridgepoint_forked_ns_) pthread_atfork(NULL, NULL, ridgepoint_forked_);
    for (level = 0; level < ridgepoint_here_.depth; level++) {
        ridgepoint_here_.open[level] = ridgepoint_find_(ridgepoint_here_.open[level]->name);
        ridgepoint_enter_(level, ridgepoint_forked_ns_, 0); /* its CPU time began at the fork */
    }
    return 1;
}
RIDGEPOINT_SHARED_ void ridgepoint_thread_ended_(void *unused) {
    (void)unused;
    if (!ridgepoint_acquire_()) return;
    if (ridgepoint_here_.depth && ridgepoint_ready_())
        ridgepoint_leave_to_(0, ridgepoint_now_ns_());
    free(ridgepoint_here_.open);
    ridgepoint_here_.open = NULL;
    ridgepoint_here_.depth = ridgepoint_here_.capacity = 0;
    ridgepoint_release_();
}
/* Once for each translation unit, since each registers it: the last one counts. */
RIDGEPOINT_SHARED_ __attribute__((destructor)) void ridgepoint_process_ended_(void) {
    if ((!ridgepoint_times_ && !ridgepoint_here_.depth) || !ridgepoint_acquire_()) return;
    if (ridgepoint_ready_()) {
        ridgepoint_times_->ended_ns = ridgepoint_now_ns_();
        ridgepoint_times_->ended_cpu_ns = ridgepoint_cpu_ns_();
    }
    ridgepoint_release_();
}
static inline int ridgepoint_push_(struct ridgepoint_record_ *record) {
    struct ridgepoint_thread_ *here = &ridgepoint_here_;
    if (here->depth == here->capacity) {
        size_t capacity = 2 * here->capacity + 16;
        void *open = realloc(here->open, capacity * sizeof *here->open);
        if (!open) return 0;
        here->open = (struct ridgepoint_record_ **)open;
        here->capacity = capacity;
    }
#ifdef __GLIBC__
    if (!here->watched) __cxa_thread_atexit_impl(ridgepoint_thread_ended_, NULL, &__dso_handle);
    here->watched = 1;
#endif
    here->open[here->depth++] = record;
    return 1;
}
RIDGEPOINT_SHARED_ __attribute__((cold)) void ridgepoint_time_(int ends, const char *marked) {
    int saved_errno = errno;
    char name[208];
    if (!marked || !*marked || !ridgepoint_acquire_()) return;
    if (ridgepoint_ready_()) {
        struct ridgepoint_table_ *table = ridgepoint_times_;
        size_t depth = ridgepoint_here_.depth;
        ridgepoint_copy_name_(name, marked);
        /* The clock is read under the lock, so that the order of marks is that of their times,
         * and next to the region, since a page is first touched where a name is new. That of
         * CPU time is a system call, so it is read on the other side, by who is inside alone. */
        if (ends) {
            table->last_mark_ns = ridgepoint_now_ns_();
            while (depth > 0 && strcmp(ridgepoint_here_.open[depth - 1]->name, name)) depth--;
            if (depth > 0) ridgepoint_leave_to_(depth - 1, table->last_mark_ns);
        } else {
            struct ridgepoint_record_ *record = ridgepoint_find_(name);
            if (record && ridgepoint_push_(record)) {
                int64_t cpu_ns = record->inside ? 0 : ridgepoint_cpu_ns_();
                ridgepoint_enter_(depth, table->last_mark_ns = ridgepoint_now_ns_(), cpu_ns);
            }
        }
    }
    ridgepoint_release_();
    errno = saved_errno;
}

static inline void ridgepoint_mark_(uint64_t request, const char *name) {
#if defined(__x86_64__) && defined(__LP64__)
    /* A Valgrind client request: rolq $3, $13, $61, $51 of rdi, which leave it as it was, then
     * xchgq rbx, rbx. As bytes, so that -masm=intel reads them too. */
    uint64_t words[6] = {request, (uint64_t)name, 0, 0, 0, 0};
    uint64_t result;
    __asm__ volatile(".byte 0x48,0xc1,0xc7,3, 0x48,0xc1,0xc7,13, 0x48,0xc1,0xc7,61\n\t"
                     ".byte 0x48,0xc1,0xc7,51, 0x48,0x87,0xdb"
                     : "=d"(result)
                     : "a"(words), "0"(0UL)
                     : "cc", "memory");
    (void)result;
#endif
    if (__builtin_expect(ridgepoint_timing_, 0)) ridgepoint_time_((int)(request & 1), name);
}

#ifdef __cplusplus
}
#endif
#endif
#endif
