/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's functions, each of which says what it is asked for and is timed.
 *
 * Of collectives the bytes are those of the buffers that the arguments describe, and those that
 * this rank would send if the library used the algorithm that table.h names.
 */
#include "profile.h"

#include <stddef.h>

#define WRAPPED __attribute__((visibility("default")))

/* What follows the arguments is executed if the program itself calls, with `thread` at hand. */
#define WRAP(name, parameters, arguments, ...) \
    WRAPPED int NAME(MPI_##name) parameters { \
        thread_t *thread = rp_called(CALL_##name); \
        if (thread) { __VA_ARGS__; } \
        rp_started(thread); \
        int status = NAME(PMPI_##name) arguments; \
        rp_ended(thread); \
        return status; \
    }

typedef struct {
    int rank, size; /* of the other group, where there are two */
} place_t;

static uint64_t extent(MPI_Datatype type) {
    MPI_Count bytes = 0;
    PMPI_Type_size_x(type, &bytes);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static place_t place(MPI_Comm comm) {
    place_t found;
    int between;
    PMPI_Comm_rank(comm, &found.rank);
    PMPI_Comm_test_inter(comm, &between);
    between ? PMPI_Comm_remote_size(comm, &found.size) : PMPI_Comm_size(comm, &found.size);
    return found;
}

static int children(int root, place_t at) { return rp_children(root, at.rank, at.size); }

static uint64_t ring_share(uint64_t bytes, place_t at, int rounds) {
    return at.size ? bytes * (uint64_t)(at.size - 1) * (uint64_t)rounds / (uint64_t)at.size : 0;
}

/* Numbers of neighbours to receive from and to send to. */
static void neighbours(MPI_Comm comm, int *in, int *out) {
    int kind, weighted, rank;
    *in = *out = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    } else if (kind == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, in);
        *out = *in;
    } else if (kind == MPI_CART) {
        int dimensions, source, target;
        PMPI_Cartdim_get(comm, &dimensions);
        for (int each = 0; each < dimensions; each++) {
            PMPI_Cart_shift(comm, each, 1, &source, &target); /* the edge has a neighbour less */
            *in += (source != MPI_PROC_NULL) + (target != MPI_PROC_NULL);
        }
        *out = *in;
    }
}

/* Requests that are started again and again; few, so they are looked for one by one. */
#include "persistent.h"

#define NAME(name) name
#define COUNT int
#define DISPLACEMENT int
#include "calls.h"
#include "plain_calls.h"
#undef NAME
#undef COUNT
#undef DISPLACEMENT

/* Since MPI 4 each function with a count has a twin for large ones. Compiled for older members of
 * a family it must define none: programs look which of them there are. */
#if MPI_VERSION >= 4 && !defined(RIDGEPOINT_MPI_3)
#define NAME(name) name##_c
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "calls.h"
#endif

WRAPPED int MPI_Init(int *argc, char ***argv) {
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS) rp_begin();
    return status;
}

WRAPPED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int status = PMPI_Init_thread(argc, argv, required, provided);
    if (status == MPI_SUCCESS) rp_begin();
    return status;
}

WRAPPED int MPI_Finalize(void) {
    rp_end();
    return PMPI_Finalize();
}
