// SPDX-License-Identifier: Apache-2.0
// Count matches in a text: occurrences of a string, overlapping ones too, as MPI_Grep of
// BigDataBench does; or, as the form "lines", lines that match a regular expression, which is what
// the paper says it does. Each thread reads its part of the file in chunks.
//
// Mended: matches across the edge of a chunk or of a part are counted, the last bytes of a part are
// read, and a byte of 0 does not end a chunk.
#include "data.hpp"
#include "expression.hpp"
#include "program.hpp"
#include "words.hpp"

namespace {

constexpr size_t original_chunk = 1 << 16;

// Count the places before `starts` at which the pattern occurs in `n` bytes.
template <bool prefetch>
uint64_t occurrences(const char *text, size_t n, size_t starts, const std::string &pattern) {
    const char *wanted = pattern.data();
    const size_t length = pattern.size();
    uint64_t found = 0;
    for (size_t i = 0; i < starts && i + length <= n; i++) {
        if (prefetch && i % line_bytes == 0) __builtin_prefetch(text + i + text_prefetch_bytes);
        if (text[i] != wanted[0]) continue;
        size_t same = 1;
        while (same < length && text[i + same] == wanted[same]) same++;
        found += same == length;
    }
    return found;
}

// Count the occurrences that begin in a part of the file.
template <bool prefetch>
uint64_t count_occurrences(const File &input, Share part, const std::string &pattern, size_t chunk) {
    // Chunks overlap by all but one byte of the pattern, so that each match is whole in one.
    std::vector<char> buffer(chunk + pattern.size() - 1);
    uint64_t found = 0;
    while (part.begin < part.end) {
        const uint64_t left = part.end - part.begin;
        const size_t starts = left < chunk ? size_t(left) : chunk;
        const size_t n = input.read_at(part.begin, buffer.data(), starts + pattern.size() - 1);
        found += occurrences<prefetch>(buffer.data(), n, starts, pattern);
        part.begin += starts;
    }
    return found;
}

// Count the lines that begin in a part of the file and match.
uint64_t count_lines(const File &input, const Share &part, const Expression &expression,
                     size_t chunk) {
    // A line begins after a newline: begin with the byte before the part.
    uint64_t at = part.begin - (part.begin > 0);
    Reader reader(input, at, chunk);
    if (part.begin > 0)
        for (int c = 0; c != '\n'; at++)
            if ((c = reader.next()) < 0) return 0;
    uint64_t found = 0;
    std::string line;
    while (at < part.end) {
        line.clear();
        int c;
        for (c = reader.next(); c >= 0 && c != '\n'; c = reader.next()) line += char(c);
        if (c < 0 && line.empty()) break;
        found += expression.matches(line.data(), line.size());
        at += line.size() + 1;
    }
    return found;
}

uint64_t search(const File &input, const Options &options, const std::string &pattern,
                size_t chunk) {
    const bool lines = options.form() == "lines", prefetch = options.prefetches();
    const Expression expression(lines ? pattern : "");
    const int threads = options.threads();
    std::vector<uint64_t> found(size_t(threads), 0);
    parallel(threads, [&](int thread) {
        const Share part(input.size(), thread, threads);
        found[size_t(thread)] =
            lines      ? count_lines(input, part, expression, chunk)
            : prefetch ? count_occurrences<true>(input, part, pattern, chunk)
                       : count_occurrences<false>(input, part, pattern, chunk);
    });
    uint64_t sum = 0;
    for (const uint64_t one : found) sum += one;
    return sum;
}

// Count once more with the standard library's search, over the whole text.
void check(uint64_t found, const File &input, const std::string &pattern) {
    const std::string text = contents(input);
    uint64_t expected = 0;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1))
        expected++;
    if (found != expected)
        throw Mismatch(std::to_string(found) + " matches, expected " + std::to_string(expected));
}

void grep(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 10000000));
    const std::string pattern = options.text("pattern", "beba");
    const size_t chunk = size_t(options.number("chunk", original_chunk, 1, 1 << 30));
    if (pattern.empty())
        throw Failure("cannot search for nothing", "the pattern is empty", "give --pattern a text");
    const bool checks = options.has("check") && options.form() != "lines";
    const File input = input_of(
        options, size, [&](Writer &out) { generate_text(out, size, options.seed()); });
    for (int64_t i = 0; i < options.repeat(); i++) {
        uint64_t found = 0;
        const double seconds = measured([&] { found = search(input, options, pattern, chunk); });
        if (checks) check(found, input, pattern);
        if (options.has("results")) {
            const File file = create(options.text("results"));
            Writer out(file);
            out.add(std::to_string(found) + '\n');
            out.flush();
        }
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
