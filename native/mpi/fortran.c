/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's functions as Fortran calls them (mpif.h, use mpi): by address, with integers for handles.
 *
 * Open MPI's bindings of Fortran call PMPI_ functions of C, so that what stands between a program
 * and MPI in C never sees them; MPICH's call MPI_ functions, which then call nothing twice here,
 * since a call within a call is not counted. The bindings that follow are looked for when they are
 * needed: most programs have none.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "profile.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WRAPPED __attribute__((visibility("default")))
#define F MPI_Fint *

static void *binding(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "ridgepoint: MPI's Fortran bindings have no %s\n", name);
        abort();
    }
    return found;
}

#define WRAP(lower, call, parameters, arguments, ...) \
    WRAPPED void mpi_##lower##_ parameters { \
        static void(*next) parameters; \
        if (!next) next = (void(*) parameters)binding("pmpi_" #lower "_"); \
        thread_t *thread = rp_called(CALL_##call); \
        if (thread) { __VA_ARGS__; } \
        rp_started(thread); \
        next arguments; \
        rp_ended(thread); \
    }

static uint64_t bytes(const MPI_Fint *count, const MPI_Fint *type) {
    int size = 0;
    PMPI_Type_size(PMPI_Type_f2c(*type), &size);
    return (uint64_t)*count * (uint64_t)size;
}

static int size_of(const MPI_Fint *comm) {
    int size;
    PMPI_Comm_size(PMPI_Comm_f2c(*comm), &size);
    return size;
}

static int rank_in(const MPI_Fint *comm) {
    int rank;
    PMPI_Comm_rank(PMPI_Comm_f2c(*comm), &rank);
    return rank;
}

#define TO(count, type, dest, comm) \
    rp_sent_to(thread, *(dest), PMPI_Comm_f2c(*(comm)), bytes(count, type))

#define SENDING(lower, call) \
    WRAP(lower, call, (void *buffer, F count, F type, F dest, F tag, F comm, F error), \
         (buffer, count, type, dest, tag, comm, error), TO(count, type, dest, comm))
SENDING(send, Send)
SENDING(ssend, Ssend)
SENDING(rsend, Rsend)
SENDING(bsend, Bsend)
#undef SENDING
#define SENDING(lower, call) \
    WRAP(lower, call, (void *buffer, F count, F type, F dest, F tag, F comm, F request, F error), \
         (buffer, count, type, dest, tag, comm, request, error), TO(count, type, dest, comm))
SENDING(isend, Isend)
SENDING(issend, Issend)
#undef SENDING

WRAP(recv, Recv, (void *buffer, F count, F type, F source, F tag, F comm, F found, F error),
     (buffer, count, type, source, tag, comm, found, error), (void)0)
WRAP(irecv, Irecv, (void *buffer, F count, F type, F source, F tag, F comm, F request, F error),
     (buffer, count, type, source, tag, comm, request, error), (void)0)
WRAP(sendrecv, Sendrecv,
     (void *out, F count, F type, F dest, F tag, void *in, F in_count, F in_type, F source,
      F in_tag, F comm, F found, F error),
     (out, count, type, dest, tag, in, in_count, in_type, source, in_tag, comm, found, error),
     TO(count, type, dest, comm))
WRAP(wait, Wait, (F request, F found, F error), (request, found, error), (void)0)
WRAP(waitall, Waitall, (F count, F requests, F found, F error), (count, requests, found, error),
     (void)0)
WRAP(waitany, Waitany, (F count, F requests, F index, F found, F error),
     (count, requests, index, found, error), (void)0)
WRAP(test, Test, (F request, F done, F found, F error), (request, done, found, error), (void)0)
WRAP(probe, Probe, (F source, F tag, F comm, F found, F error), (source, tag, comm, found, error),
     (void)0)
WRAP(iprobe, Iprobe, (F source, F tag, F comm, F there, F found, F error),
     (source, tag, comm, there, found, error), (void)0)

WRAP(barrier, Barrier, (F comm, F error), (comm, error), (void)0)
WRAP(bcast, Bcast, (void *buffer, F count, F type, F root, F comm, F error),
     (buffer, count, type, root, comm, error),
     uint64_t n = bytes(count, type); int at_root = *root == rank_in(comm);
     rp_bytes(thread, at_root ? n : 0, at_root ? 0 : n,
              n * (uint64_t)rp_children(*root, rank_in(comm), size_of(comm))))
WRAP(reduce, Reduce, (void *out, void *in, F count, F type, F op, F root, F comm, F error),
     (out, in, count, type, op, root, comm, error),
     uint64_t n = bytes(count, type); int at_root = *root == rank_in(comm);
     rp_bytes(thread, n, at_root ? n : 0, at_root ? 0 : n))
WRAP(allreduce, Allreduce, (void *out, void *in, F count, F type, F op, F comm, F error),
     (out, in, count, type, op, comm, error),
     uint64_t n = bytes(count, type); uint64_t p = (uint64_t)size_of(comm);
     rp_bytes(thread, n, n, 2 * (p - 1) * n / p))
WRAP(gather, Gather,
     (void *out, F count, F type, void *in, F in_count, F in_type, F root, F comm, F error),
     (out, count, type, in, in_count, in_type, root, comm, error),
     uint64_t n = bytes(count, type); int at_root = *root == rank_in(comm);
     rp_bytes(thread, n, at_root ? bytes(in_count, in_type) * (uint64_t)size_of(comm) : 0,
              at_root ? 0 : n))
WRAP(scatter, Scatter,
     (void *out, F count, F type, void *in, F in_count, F in_type, F root, F comm, F error),
     (out, count, type, in, in_count, in_type, root, comm, error),
     int at_root = *root == rank_in(comm); uint64_t n = at_root ? bytes(count, type) : 0;
     rp_bytes(thread, n * (uint64_t)size_of(comm), bytes(in_count, in_type),
              n * (uint64_t)(size_of(comm) - 1)))
WRAP(allgather, Allgather,
     (void *out, F count, F type, void *in, F in_count, F in_type, F comm, F error),
     (out, count, type, in, in_count, in_type, comm, error),
     uint64_t n = bytes(in_count, in_type); uint64_t p = (uint64_t)size_of(comm);
     rp_bytes(thread, n, n * p, n * (p - 1)))
WRAP(alltoall, Alltoall,
     (void *out, F count, F type, void *in, F in_count, F in_type, F comm, F error),
     (out, count, type, in, in_count, in_type, comm, error),
     uint64_t n = bytes(in_count, in_type); uint64_t p = (uint64_t)size_of(comm);
     rp_bytes(thread, n * p, n * p, n * (p - 1)))

WRAPPED void mpi_init_(F error) {
    static void (*next)(F);
    if (!next) next = (void (*)(F))binding("pmpi_init_");
    next(error);
    if (!error || *error == MPI_SUCCESS) rp_begin();
}

WRAPPED void mpi_init_thread_(F required, F provided, F error) {
    static void (*next)(F, F, F);
    if (!next) next = (void (*)(F, F, F))binding("pmpi_init_thread_");
    next(required, provided, error);
    if (!error || *error == MPI_SUCCESS) rp_begin();
}

WRAPPED void mpi_finalize_(F error) {
    static void (*next)(F);
    if (!next) next = (void (*)(F))binding("pmpi_finalize_");
    rp_end();
    next(error);
}
