// SPDX-License-Identifier: Apache-2.0
// Count matches in a text: occurrences of a string, overlapping ones too, as MPI_Grep of
// BigDataBench does; or, as the form "lines", lines that match a regular expression, which is what
// the paper says it does. Each thread reads its part of the file in chunks.
//
// Mended: matches across the edge of a chunk or of a part are counted, the last bytes of a part are
// read, and a byte of 0 does not end a chunk.
#include "grep_search.hpp"

namespace {

uint64_t searched(const File &input, const Options &options, const Search &search) {
    const int threads = options.threads();
    std::vector<uint64_t> found(size_t(threads), 0);
    parallel(threads, [&](int thread) {
        found[size_t(thread)] = search.count(input, Share(input.size(), thread, threads));
    });
    uint64_t sum = 0;
    for (const uint64_t one : found) sum += one;
    return sum;
}

void grep(const Options &options) {
    const Search search(options);
    const bool checks = options.has("check") && search.can_check();
    const File input = text_of(options);
    for (int64_t i = 0; i < options.repeat(); i++) {
        uint64_t found = 0;
        const double seconds = measured([&] { found = searched(input, options, search); });
        if (checks) search.check(found, input);
        write_matches(options, found);
        Report(options, i, seconds)
            .add("bytes", input.size()).add("matches", found).add("checked", checks).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"grep", "count matches in a text; --size is its bytes",
                        {"original", "prefetch", "lines"}, {"pattern", "chunk"}, {}}, grep);
}
