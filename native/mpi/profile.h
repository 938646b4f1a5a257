/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of MPI's functions tell, and where it is added up. */
#ifndef RIDGEPOINT_MPI_PROFILE_H
#define RIDGEPOINT_MPI_PROFILE_H

#include <mpi.h>
#include <stdint.h>

typedef struct {
    uint64_t calls, sent, received; /* bytes, as the arguments say */
    uint64_t moved;                 /* bytes that a named algorithm would send from this rank */
    int64_t ns;
} tally_t;

/* The calls that are told apart; each has a kind and, if it is a collective, an algorithm. */
enum {
#define CALL(name, kind, algorithm) CALL_##name,
#include "table.h"
#undef CALL
    N_CALLS
};

/* A call that is under way; NULL where it is MPI itself that calls, or nobody asked for times. */
typedef struct thread thread_t;

/* Begin a call: what follows until rp_started is not in its time. */
thread_t *rp_called(int call);
void rp_started(thread_t *thread);
void rp_ended(thread_t *thread);

/* Tell of the bytes of the call that is under way. */
void rp_bytes(thread_t *thread, uint64_t sent, uint64_t received, uint64_t moved);
void rp_sent_to(thread_t *thread, int rank, MPI_Comm comm, uint64_t bytes);

/* How often a rank sends in a broadcast along a binomial tree. */
int rp_children(int root, int rank, int size);

/* From the end of MPI_Init to the beginning of MPI_Finalize. */
void rp_begin(void);
void rp_end(void);

#endif
