/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what one rank does in MPI, and writes it to a file when the program finalises MPI.
 *
 * RIDGEPOINT_MPI_FOLDER names the folder; without it nothing is recorded. Each thread has counts
 * of its own, so that threads which call MPI at once do not wait for each other here.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "profile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
/* For the marks, which use it: glibc has it since 2.18, and a wheel is also for 2.17. */
static int at_thread_end(void (*end)(void *), void *argument, void *library) {
    int (*known)(void (*)(void *), void *, void *);
    *(void **)&known = dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
    return known ? known(end, argument, library) : -1;
}
#define __cxa_thread_atexit_impl at_thread_end
#endif
#include "ridgepoint.h"
#undef __cxa_thread_atexit_impl

typedef struct {
    uint64_t messages, bytes;
} peer_t;

struct thread {
    tally_t tallies[N_CALLS];
    peer_t *peers; /* by rank in MPI_COMM_WORLD; one more for ranks of other worlds */
    int depth, call;
    int64_t started_ns;
    struct thread *next;
};

static const struct {
    const char *name, *kind, *algorithm;
} calls[N_CALLS] = {
#define CALL(name, kind, algorithm) {"MPI_" #name, kind, algorithm},
#include "table.h"
#undef CALL
};

static atomic_int recording;
static __thread thread_t *here;
static thread_t *threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int world_rank, world_size, keyval = MPI_KEYVAL_INVALID;
static int64_t began_ns, began_cpu_ns;
static pid_t owner;

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static thread_t *this_thread(void) {
    if (here) return here;
    thread_t *made = calloc(1, sizeof *made);
    if (made) made->peers = calloc((size_t)world_size + 1, sizeof *made->peers);
    if (!made || !made->peers) {
        fprintf(stderr, "ridgepoint: no memory left to profile MPI\n");
        abort();
    }
    pthread_mutex_lock(&lock);
    made->next = threads;
    threads = made;
    pthread_mutex_unlock(&lock);
    return here = made;
}

thread_t *rp_called(int call) {
    if (!atomic_load_explicit(&recording, memory_order_acquire)) return NULL;
    thread_t *thread = this_thread();
    if (thread->depth) return NULL; /* MPI calls itself, or this file calls MPI */
    thread->depth = 1;
    thread->call = call;
    thread->tallies[call].calls++;
    return thread;
}

void rp_started(thread_t *thread) {
    if (thread) thread->started_ns = clock_ns(CLOCK_MONOTONIC);
}

void rp_ended(thread_t *thread) {
    if (!thread) return;
    thread->tallies[thread->call].ns += clock_ns(CLOCK_MONOTONIC) - thread->started_ns;
    thread->depth = 0;
}

void rp_bytes(thread_t *thread, uint64_t sent, uint64_t received, uint64_t moved) {
    tally_t *tally = &thread->tallies[thread->call];
    tally->sent += sent;
    tally->received += received;
    tally->moved += moved;
}

/* A communicator keeps the ranks that its own have in MPI_COMM_WORLD as long as it lives. */
static int forget(MPI_Comm comm, int key, void *ranks, void *unused) {
    (void)comm, (void)key, (void)unused;
    free(ranks);
    return MPI_SUCCESS;
}

static int copy_nothing(MPI_Comm comm, int key, void *unused, void *ranks, void *copy, int *flag) {
    (void)comm, (void)key, (void)unused, (void)ranks, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int *translated(MPI_Comm comm) {
    MPI_Group own, world;
    int between, size;
    PMPI_Comm_test_inter(comm, &between);
    between ? PMPI_Comm_remote_group(comm, &own) : PMPI_Comm_group(comm, &own);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(own, &size);
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks + sizeof *ranks);
    if (ranks) {
        for (int i = 0; i < size; i++) ranks[size + i] = i;
        PMPI_Group_translate_ranks(own, size, ranks + size, world, ranks);
    }
    PMPI_Group_free(&own);
    PMPI_Group_free(&world);
    return ranks;
}

static int in_world(int rank, MPI_Comm comm) {
    int *ranks, found;
    if (comm == MPI_COMM_WORLD) return rank;
    pthread_mutex_lock(&lock); /* two threads may ask for one communicator at once */
    PMPI_Comm_get_attr(comm, keyval, &ranks, &found);
    if (!found && (ranks = translated(comm))) PMPI_Comm_set_attr(comm, keyval, ranks);
    pthread_mutex_unlock(&lock);
    return ranks && ranks[rank] != MPI_UNDEFINED ? ranks[rank] : world_size;
}

void rp_sent_to(thread_t *thread, int rank, MPI_Comm comm, uint64_t bytes) {
    if (rank < 0) return; /* MPI_PROC_NULL */
    peer_t *peer = &thread->peers[in_world(rank, comm)];
    peer->messages++;
    peer->bytes += bytes;
    thread->tallies[thread->call].sent += bytes;
}

int rp_children(int root, int rank, int size) {
    int own = (rank - root + size) % size, count = 0;
    for (int64_t distance = 1; distance < size; distance *= 2)
        count += own < distance && own + distance < size;
    return count;
}

void rp_begin(void) {
    /* Bindings of Fortran that call MPI_Init come here twice. */
    if (atomic_load(&recording)) return;
    if (!getenv("RIDGEPOINT_MPI_FOLDER")) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    PMPI_Comm_create_keyval(copy_nothing, forget, &keyval, NULL);
    owner = getpid();
    this_thread();
    RIDGEPOINT_REGION_BEGIN("MPI");
    began_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    began_ns = clock_ns(CLOCK_MONOTONIC);
    atomic_store_explicit(&recording, 1, memory_order_release);
}

static int64_t time_in_mpi(const thread_t *thread) {
    int64_t ns = 0;
    for (int i = 0; i < N_CALLS; i++) ns += thread->tallies[i].ns;
    return ns;
}

/* Times are those of the thread that was in MPI longest: times of threads at once do not add up. */
static void write_calls(FILE *file, const thread_t *longest) {
    for (int i = 0; i < N_CALLS; i++) {
        tally_t sum = {.ns = longest->tallies[i].ns};
        for (const thread_t *each = threads; each; each = each->next) {
            sum.calls += each->tallies[i].calls;
            sum.sent += each->tallies[i].sent;
            sum.received += each->tallies[i].received;
            sum.moved += each->tallies[i].moved;
        }
        if (sum.calls)
            fprintf(file, "call\t%s\t%s\t%s\t%llu\t%lld\t%llu\t%llu\t%llu\n", calls[i].name,
                    calls[i].kind, calls[i].algorithm, (unsigned long long)sum.calls,
                    (long long)sum.ns, (unsigned long long)sum.sent,
                    (unsigned long long)sum.received, (unsigned long long)sum.moved);
    }
}

static void write_peers(FILE *file) {
    for (int rank = 0; rank <= world_size; rank++) {
        peer_t sum = {0, 0};
        for (const thread_t *each = threads; each; each = each->next) {
            sum.messages += each->peers[rank].messages;
            sum.bytes += each->peers[rank].bytes;
        }
        if (sum.messages)
            fprintf(file, "peer\t%d\t%llu\t%llu\n", rank < world_size ? rank : -1,
                    (unsigned long long)sum.messages, (unsigned long long)sum.bytes);
    }
}

static void write_all(int64_t wall_ns, int64_t cpu_ns, const char *how) {
    char path[4096];
    const char *folder = getenv("RIDGEPOINT_MPI_FOLDER");
    const thread_t *longest = threads;
    int n_threads = 0;
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%ld.mpi", folder, (long)owner);
    FILE *file = fopen(path, "w");
    if (!file) return;
    pthread_mutex_lock(&lock);
    for (const thread_t *each = threads; each; each = each->next) {
        n_threads += time_in_mpi(each) > 0;
        if (time_in_mpi(each) > time_in_mpi(longest)) longest = each;
    }
    fprintf(file, "ridgepoint-mpi\t1\nrank\t%d\t%d\ntimes\t%lld\t%lld\nthreads\t%d\n", world_rank,
            world_size, (long long)wall_ns, (long long)cpu_ns, n_threads);
    write_calls(file, longest);
    write_peers(file);
    pthread_mutex_unlock(&lock);
    fprintf(file, "end\t%s\n", how);
    fclose(file);
}

static void stop(const char *how) {
    if (!atomic_exchange(&recording, 0) || getpid() != owner) return;
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    RIDGEPOINT_REGION_END("MPI");
    write_all(now_ns - began_ns, cpu_ns - began_cpu_ns, how);
}

void rp_end(void) {
    int kept = keyval;
    stop("finalized");
    if (kept != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&keyval);
}

/* A program that leaves MPI unfinalised has called MPI, too. */
static __attribute__((destructor)) void left(void) { stop("left"); }
