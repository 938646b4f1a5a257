// SPDX-License-Identifier: Apache-2.0
// Sort whole numbers of 64 bits from a file, as MPI_Sort of BigDataBench does: the first rank reads
// blocks, a binary tree of ranks halves each block, sorts the parts and merges them, and the first
// rank writes. Several blocks become runs, merged at the end by a linear scan over their heads.
#include "mpi.hpp"
#include "sort_file.hpp"
#include "sort_scalar.hpp"

namespace {

constexpr int64_t no_more = -1;

// Sort with as many ranks, of which this is the first: the right half goes to the first of others.
void sort_tree(int64_t *values, int64_t *room, int64_t n, int rank, int ranks) {
    if (ranks <= 1) {
        quick_sort<false>(values, n);
        return;
    }
    const int64_t half = n / 2;
    const int others = ranks / 2, partner = rank + ranks - others;
    const int64_t asked[2] = {n - half, others};
    send_integers(asked, 2, partner);
    send_integers(values + half, n - half, partner);
    sort_tree(values, room, half, rank, ranks - others);
    receive_integers(values + half, n - half, partner);
    merge<false>(values, half, values + half, n - half, room);
    for (int64_t i = 0; i < n; i++) values[i] = room[i];
}

// Tell all ranks that there is a block of so many integers, or no more.
int64_t announced(int64_t n) {
    MPI_Bcast(&n, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return n;
}

// Sort parts of blocks for others until there are no more.
void serve(const World &world) {
    std::vector<int64_t> values, room;
    while (announced(0) != no_more) {
        int64_t asked[2];
        MPI_Status status;
        MPI_Recv(asked, 2, MPI_INT64_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        values.resize(size_t(asked[0]));
        room.resize(size_t(asked[0]));
        receive_integers(values.data(), asked[0], status.MPI_SOURCE);
        sort_tree(values.data(), room.data(), asked[0], world.rank, int(asked[1]));
        send_integers(values.data(), asked[0], status.MPI_SOURCE);
    }
}

void lead(const Options &options, const World &world) {
    const bool binary = options.has("binary");
    const int64_t block = options.number("block", original_block);
    const File input = integers_of(options, binary);
    require_block(input, binary, block);
    for (int64_t i = 0; i < options.repeat(); i++) {
        Output output(options);
        Totals totals;
        world.meet();
        const double seconds = measured([&] {
            totals = sort_file(input, binary, block, output,
                               [&](int64_t *values, int64_t *room, int64_t n) {
                                   announced(n);
                                   sort_tree(values, room, n, 0, world.ranks);
                               });
            announced(no_more);
            if (output.writer) output.writer->flush();
        });
        if (options.has("check")) check_sorted(output, totals);
        Report(options, i, seconds)
            .add("ranks", world.ranks).add("records", output.count).add("first", output.first)
            .add("last", output.last).add("checksum", output.checksum)
            .add("checked", options.has("check")).print();
    }
}

void sort(const Options &options, const World &world) {
    if (world.is_first()) return lead(options, world);
    for (int64_t i = 0; i < options.repeat(); i++) {
        world.meet();
        measured([&] { serve(world); });
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_ranks(argc, argv,
                     {"mpi_sort", "sort whole numbers of 64 bits on several ranks; --size is how many",
                      {"original"}, {"block"}, {"binary"}}, sort);
}
