// SPDX-License-Identifier: Apache-2.0
// Count the words of a text: all, different ones, and the most frequent, as MPI_WordCount of
// BigDataBench does: every thread reads all of the file and keeps, in an ordered map, the words
// whose first letter is in its slice of the alphabet.
//
// Mended: words across the edge of a chunk are whole and may be of any length, keys of the map
// outlive their insertion, and words that begin with a digit are not lost (the last slice has them).
#include <map>

#include "data.hpp"
#include "program.hpp"
#include "words.hpp"

namespace {

using Counts = std::map<std::string, uint64_t, WordLess>;

constexpr int letters = 26;

struct Totals {
    uint64_t words = 0, distinct = 0, most = 0;
};

// Count the words whose first letter is among [first, last); digits count as a letter after z.
template <bool prefetch>
Counts count_slice(const File &input, int first, int last, Totals &totals) {
    Counts counts;
    Reader reader(input);
    WordCollector words;
    const auto take = [&](const std::string &word) {
        const int letter = word[0] < 'a' ? letters : word[0] - 'a';
        if (letter < first || letter >= last) return;
        totals.words++;
        auto hit = counts.find(word);
        if (hit == counts.end()) hit = counts.emplace(word, 0).first;
        const uint64_t count = ++hit->second;
        if (count > totals.most) totals.most = count;
    };
    size_t n;
    for (const char *chunk = reader.chunk(n); n > 0; chunk = reader.chunk(n))
        words.feed<prefetch>(chunk, n, take);
    words.finish(take);
    totals.distinct = counts.size();
    return counts;
}

struct Result {
    std::vector<Counts> slices;
    Totals totals;
};

template <bool prefetch> Result count_words(const File &input, int threads) {
    Result result;
    result.slices.resize(size_t(threads));
    std::vector<Totals> totals(size_t(threads), Totals{});
    const int portion = (letters + threads - 1) / threads;
    parallel(threads, [&](int thread) {
        const int first = thread * portion;
        const bool is_last = first < letters && first + portion >= letters;
        const int last = is_last ? letters + 1 : first < letters ? first + portion : first;
        const size_t own = size_t(thread);
        if (first < last)
            result.slices[own] = count_slice<prefetch>(input, first, last, totals[own]);
    });
    for (const Totals &part : totals) {
        result.totals.words += part.words;
        result.totals.distinct += part.distinct;
        if (part.most > result.totals.most) result.totals.most = part.most;
    }
    return result;
}

// Count words again, but none apart, by the ends of runs of their characters.
uint64_t ends_of_words(const File &input) {
    Reader reader(input);
    uint64_t ends = 0;
    bool inside = false;
    for (int c = reader.next(); c >= 0; c = reader.next()) {
        ends += inside && !is_word_character(c);
        inside = is_word_character(c);
    }
    return ends + inside;
}

void check(const Result &result, const File &input) {
    uint64_t words = 0, most = 0;
    for (const Counts &slice : result.slices)
        for (const auto &[word, count] : slice) {
            words += count;
            most = count > most ? count : most;
        }
    if (words != ends_of_words(input)) throw Mismatch("words were lost or counted twice");
    if (most != result.totals.most) throw Mismatch("another word is more frequent");
}

void write_results(const Result &result, const std::string &path) {
    const File file = create(path);
    Writer out(file);
    for (const Counts &slice : result.slices)
        for (const auto &[word, count] : slice) out.add(word + ' ' + std::to_string(count) + '\n');
    out.flush();
}

void wordcount(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 10000000));
    const File input = input_of(
        options, size, [&](Writer &out) { generate_text(out, size, options.seed()); });
    for (int64_t i = 0; i < options.repeat(); i++) {
        Result result;
        const double seconds = measured([&] {
            result = options.prefetches() ? count_words<true>(input, options.threads())
                                          : count_words<false>(input, options.threads());
        });
        if (options.has("check")) check(result, input);
        if (options.has("results")) write_results(result, options.text("results"));
        const Totals &totals = result.totals;
        Report(options, i, seconds)
            .add("bytes", input.size()).add("words", totals.words)
            .add("distinct", totals.distinct).add("most", totals.most)
            .add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"wordcount", "count the words of a text; --size is its bytes",
                        {"original", "prefetch"}, {}, {}}, wordcount);
}
