// SPDX-License-Identifier: Apache-2.0
// Sort whole numbers of 64 bits from a file: blocks by quick sort and a tree of merges among
// threads, as MPI_Sort of BigDataBench does among ranks; several blocks become runs in temporary
// files, merged at the end by a linear scan over their heads.
//
// Mended: a token that is no integer is refused, not read as 0 or past a buffer's end; the last
// merge is of 64 bits like the rest, where the original's reads `int`.
#include "sort_file.hpp"
#include "sort_vector.hpp"

namespace {

enum class Form { original, prefetch, simd };

struct Settings {
    Form form;
    int threads;
    int64_t block;
    bool binary;
};

// Sort with as many threads: each sorts a part, and parts are merged pairwise.
void sort_tree(int64_t *values, int64_t *room, int64_t n, const Settings &how, int threads) {
    if (threads <= 1 || n < 2) {
        if (how.form == Form::simd)
            merge_sort(values, room, n);
        else if (how.form == Form::prefetch)
            quick_sort<true>(values, n);
        else
            quick_sort<false>(values, n);
        return;
    }
    const int64_t half = n / 2;
    const int others = threads / 2;
    parallel(2, [&](int which) {
        if (which == 0)
            sort_tree(values, room, half, how, threads - others);
        else
            sort_tree(values + half, room + half, n - half, how, others);
    });
    if (how.form == Form::simd)
        merge_vectors(values, half, values + half, n - half, room);
    else if (how.form == Form::prefetch)
        merge<true>(values, half, values + half, n - half, room);
    else
        merge<false>(values, half, values + half, n - half, room);
    for (int64_t i = 0; i < n; i++) values[i] = room[i];
}

void sort(const Options &options) {
    const Form form = options.form() == "simd" ? Form::simd
                      : options.prefetches()   ? Form::prefetch
                                               : Form::original;
    const Settings how{form, options.threads(), options.number("block", original_block),
                       options.has("binary")};
    const File input = integers_of(options, how.binary);
    require_block(input, how.binary, how.block);
    for (int64_t i = 0; i < options.repeat(); i++) {
        Output output(options);
        Totals totals;
        const double seconds = measured([&] {
            totals = sort_file(input, how.binary, how.block, output,
                               [&](int64_t *values, int64_t *room, int64_t n) {
                                   sort_tree(values, room, n, how, how.threads);
                               });
            if (output.writer) output.writer->flush();
        });
        if (options.has("check")) check_sorted(output, totals);
        Report(options, i, seconds)
            .add("records", output.count).add("first", output.first).add("last", output.last)
            .add("checksum", output.checksum).add("vector", form == Form::simd && vectors)
            .add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"sort", "sort whole numbers of 64 bits; --size is how many",
                        {"original", "prefetch", "simd"}, {"block"}, {"binary"}}, sort);
}
