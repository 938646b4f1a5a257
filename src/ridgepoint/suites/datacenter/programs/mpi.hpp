// SPDX-License-Identifier: Apache-2.0
// What the programs that run under MPI share: a main that ends all ranks if one fails, and messages
// of more than MPI counts at once.
#ifndef DATACENTER_MPI_HPP
#define DATACENTER_MPI_HPP

#include <mpi.h>

#include <algorithm>

#include "program.hpp"

// The ranks of this program, and which of them this one is.
struct World {
    int rank = 0, ranks = 1;
    World() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }
    bool is_first() const { return rank == 0; }
    void meet() const { MPI_Barrier(MPI_COMM_WORLD); }
};

constexpr int64_t most_at_once = int64_t(1) << 27; // integers: MPI counts in `int`

inline void send_integers(const int64_t *values, int64_t n, int to) {
    for (int64_t i = 0; i < n; i += most_at_once)
        MPI_Send(values + i, int(std::min(most_at_once, n - i)), MPI_INT64_T, to, 1,
                 MPI_COMM_WORLD);
}

inline void receive_integers(int64_t *values, int64_t n, int from) {
    for (int64_t i = 0; i < n; i += most_at_once)
        MPI_Recv(values + i, int(std::min(most_at_once, n - i)), MPI_INT64_T, from, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Run a program's body(options, world) on every rank; return its exit status. What is wrong with
// the options is said by the first rank alone; a rank that fails ends all.
template <class Body> int run_ranks(int argc, char **argv, const Usage &usage, Body body) {
    MPI_Init(&argc, &argv);
    const World world;
    int status = 0;
    bool waits = false;
    if (!world.is_first()) {
        try {
            waits = Options(argc, argv, usage).has("help");
        } catch (const std::exception &) {
            waits = true;
        }
    }
    if (!waits)
        status = run_program(argc, argv, usage, [&](const Options &options) {
            if (options.threads() > 1)
                throw Failure("cannot use --threads", "each rank has one thread",
                              "start more ranks: mpirun -n 4");
            body(options, world);
        });
    if (status) MPI_Abort(MPI_COMM_WORLD, status);
    world.meet(); // with the first rank, which may have an error to tell
    MPI_Finalize();
    return 0;
}

#endif
