// SPDX-License-Identifier: Apache-2.0
// Counting matches in a part of a file, whoever searches it: a thread or a rank.
#ifndef DATACENTER_GREP_SEARCH_HPP
#define DATACENTER_GREP_SEARCH_HPP

#include "data.hpp"
#include "expression.hpp"
#include "program.hpp"
#include "words.hpp"

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
    const Mapping text(input);
    uint64_t found = 0;
    while (part.begin < part.end) {
        const uint64_t left = part.end - part.begin;
        const size_t starts = left < chunk ? size_t(left) : chunk;
        const uint64_t rest = text.size() - part.begin, wanted = starts + pattern.size() - 1;
        const size_t n = size_t(rest < wanted ? rest : wanted);
        found += occurrences<prefetch>(text.bytes() + part.begin, n, starts, pattern);
        part.begin += starts;
    }
    return found;
}

// Count the lines that begin in a part of the file and match.
inline uint64_t count_lines(const File &input, const Share &part, const Expression &expression,
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

// Searches as the options say.
class Search {
  public:
    explicit Search(const Options &options)
        : pattern_(options.text("pattern", "beba")),
          chunk_(size_t(options.number("chunk", original_chunk, 1, 1 << 30))),
          lines_(options.form() == "lines"), prefetches_(options.prefetches()),
          expression_(lines_ ? pattern_ : "") {
        if (pattern_.empty())
            throw Failure("cannot search for nothing", "the pattern is empty",
                          "give --pattern a text");
    }

    uint64_t count(const File &input, const Share &part) const {
        return lines_        ? count_lines(input, part, expression_, chunk_)
               : prefetches_ ? count_occurrences<true>(input, part, pattern_, chunk_)
                             : count_occurrences<false>(input, part, pattern_, chunk_);
    }

    bool can_check() const { return !lines_; }

    // Count once more with the standard library's search, over the whole text.
    void check(uint64_t found, const File &input) const {
        const std::string text = contents(input);
        uint64_t expected = 0;
        for (size_t at = text.find(pattern_); at != std::string::npos;
             at = text.find(pattern_, at + 1))
            expected++;
        if (found != expected)
            throw Mismatch(std::to_string(found) + " matches, expected " +
                           std::to_string(expected));
    }

  private:
    std::string pattern_;
    size_t chunk_;
    bool lines_, prefetches_;
    Expression expression_;
};

// Return the file that --input names, or one in memory.
inline File text_of(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 10000000));
    return input_of(options, size,
                    [&](Writer &out) { generate_text(out, size, options.seed()); });
}

inline void write_matches(const Options &options, uint64_t found) {
    if (!options.has("results")) return;
    const File file = create(options.text("results"));
    Writer out(file);
    out.add(std::to_string(found) + '\n');
    out.flush();
}

#endif
