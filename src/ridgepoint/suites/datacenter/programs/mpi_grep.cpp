// SPDX-License-Identifier: Apache-2.0
// Count matches in a text, as mpi_grep of BigDataBench does: each rank searches its part of the
// file, which all ranks read, and a reduction adds up what they found.
#include "grep_search.hpp"
#include "mpi.hpp"

namespace {

void grep(const Options &options, const World &world) {
    const Search search(options);
    const bool checks = options.has("check") && search.can_check();
    const File input = text_of(options);
    for (int64_t i = 0; i < options.repeat(); i++) {
        uint64_t found = 0;
        world.meet();
        const double seconds = measured([&] {
            const uint64_t own = search.count(input, Share(input.size(), world.rank, world.ranks));
            MPI_Reduce(&own, &found, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        });
        if (!world.is_first()) continue;
        if (checks) search.check(found, input);
        write_matches(options, found);
        Report(options, i, seconds)
            .add("ranks", world.ranks).add("bytes", input.size()).add("matches", found)
            .add("checked", checks).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_ranks(argc, argv,
                     {"mpi_grep", "count matches in a text on several ranks; --size is its bytes",
                      {"original", "lines"}, {"pattern", "chunk"}, {}}, grep);
}
