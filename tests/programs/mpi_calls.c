/* Calls of MPI whose bytes follow from this file; the sums are in test_mpi_profile.py. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 1000 /* doubles: 8000 byte */
#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank, size;

static void collectives(void) {
    double *out = calloc((size_t)size * N, 8), *in = calloc((size_t)size * N, 8);
    int own[64], all[64], places[64], sums[64];
    MPI_Request request;
    MPI_Bcast(out, N, MPI_DOUBLE, 1, WORLD);
    MPI_Reduce(out, in, N, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    MPI_Allreduce(out, in, N, MPI_DOUBLE, MPI_SUM, WORLD);
    /* What only the root looks at may be anything elsewhere. */
    if (rank == 0)
        MPI_Gather(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, 0, WORLD);
    else
        MPI_Gather(out, N, MPI_DOUBLE, NULL, -1, MPI_DATATYPE_NULL, 0, WORLD);
    if (rank == 2)
        MPI_Scatter(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, 2, WORLD);
    else
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, in, N, MPI_DOUBLE, 2, WORLD);
    MPI_Allgather(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, WORLD);
    MPI_Alltoall(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, WORLD);
    MPI_Reduce_scatter_block(out, in, N, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Scan(out, in, N, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, N, MPI_DOUBLE, WORLD, &request);
    MPI_Wait(&request, IGNORED);
    for (int i = 0, at = 0; i < size; at += all[i++]) {
        all[i] = 100 * (i + 1);
        own[i] = 100 * (rank + 1);
        places[i] = at;
        sums[i] = i * own[i];
    }
    MPI_Gatherv(out, own[0], MPI_DOUBLE, in, all, places, MPI_DOUBLE, 0, WORLD);
    MPI_Alltoallv(out, all, places, MPI_DOUBLE, in, own, sums, MPI_DOUBLE, WORLD);
    MPI_Barrier(WORLD);
    free(out);
    free(in);
}

static void messages(void) {
    char buffer[8192] = {0};
    MPI_Request requests[10];
    MPI_Comm half;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, mine;
    /* In the halves ranks are the other way round: 0 is world rank 2 or 3. */
    MPI_Comm_split(WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &mine);
    if (mine == 0) MPI_Send(buffer, 100, MPI_INT, 1, 0, half);
    if (mine == 1) MPI_Recv(buffer, 100, MPI_INT, 0, 0, half, IGNORED);
    MPI_Comm_free(&half);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(buffer + 100 * i, 10, MPI_DOUBLE, left, i, WORLD, &requests[i]);
        MPI_Isend(buffer + 4096, 10, MPI_DOUBLE, right, i, WORLD, &requests[5 + i]);
    }
    MPI_Waitall(10, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(buffer, 7, MPI_CHAR, right, 9, buffer + 4096, 7, MPI_CHAR, left, 9, WORLD,
                 IGNORED);
    MPI_Send_init(buffer, 16, MPI_BYTE, (rank + 2) % size, 8, WORLD, &requests[0]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&requests[0]);
        MPI_Recv(buffer + 4096, 16, MPI_BYTE, (rank + 2) % size, 8, WORLD, IGNORED);
        MPI_Wait(&requests[0], IGNORED);
    }
    MPI_Request_free(&requests[0]);
    MPI_Send(buffer, 1000, MPI_CHAR, MPI_PROC_NULL, 0, WORLD);
}

/* Each rank sends its right neighbour ten messages of a million byte. */
static void stream(void) {
    char *out = calloc(1, 1000000), *in = malloc(1000000);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(out, 1000000, MPI_CHAR, (rank + 1) % size, 0, in, 1000000, MPI_CHAR,
                     (rank + size - 1) % size, 0, WORLD, IGNORED);
    free(out);
    free(in);
}

/* Each of four threads sends and receives a thousand messages of 24 byte. */
static void *talking(void *number) {
    double out[3] = {0}, in[3];
    int tag = (int)(long)number, other = rank ^ 1;
    for (int i = 0; i < 1000; i++)
        MPI_Sendrecv(out, 3, MPI_DOUBLE, other, tag, in, 3, MPI_DOUBLE, other, tag, WORLD, IGNORED);
    return NULL;
}

static void threads(void) {
    pthread_t made[4];
    for (long i = 0; i < 4; i++) pthread_create(&made[i], NULL, talking, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(made[i], NULL);
}

/* Two flop in each step; `volatile` keeps the compiler from leaving any out. */
static void flop(long steps) {
    volatile double x = 1.0;
    for (long i = 0; i < steps; i++) x = x * 0.5 + 1.0;
}

/* Rank r has r + 1 shares of work, and then waits for the others. */
static void unbalanced(void) {
    flop(1000000L * (rank + 1));
    MPI_Barrier(WORLD);
}

static void dying(const char *how) {
    if (rank == 1 && !strcmp(how, "signal")) raise(SIGKILL);
    if (rank == 1 && !strcmp(how, "status")) exit(7);
    if (rank == 1 && !strcmp(how, "hang")) sleep(1000);
    MPI_Barrier(WORLD);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int provided;
    flop(500000); /* before MPI: not of the parallel part */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    if (!strcmp(mode, "collectives")) collectives();
    if (!strcmp(mode, "messages")) messages();
    if (!strcmp(mode, "stream")) stream();
    if (!strcmp(mode, "threads") && provided == MPI_THREAD_MULTIPLE) threads();
    if (!strcmp(mode, "unbalanced")) unbalanced();
    if (!strcmp(mode, "die")) dying(argv[2]);
    if (!strcmp(mode, "leave")) exit(0);
    MPI_Finalize();
    flop(500000);
    return argc > 2 && !strcmp(mode, "end") ? atoi(argv[2]) : 0;
}
