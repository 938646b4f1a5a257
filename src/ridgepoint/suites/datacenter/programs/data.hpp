// SPDX-License-Identifier: Apache-2.0
// Seeded data, in whole numbers only, so that every machine makes the same bytes.
#ifndef DATACENTER_DATA_HPP
#define DATACENTER_DATA_HPP

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "file.hpp"
#include "options.hpp"

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): any seed will do, zero included.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    // Return a number below `n`, which is less than 2^32; its bias is below 2^-32.
    uint64_t below(uint64_t n) { return (next() >> 32) * n >> 32; }
    // Return a number below 2^bits - 1, of which r has about the probability 1 / (bits r ln 2), as
    // words of a language have by their rank (Zipf): the octave is uniform, and the place in it.
    uint64_t rank(uint64_t bits) {
        const uint64_t octave = uint64_t(1) << below(bits);
        return octave - 1 + below(octave);
    }

  private:
    uint64_t state_;
};

constexpr uint64_t vocabulary_bits = 16, review_categories = 5, review_bits = 10;

// Words by their number, up to three syllables each, so that frequent words are short. They are
// spelt once: gigabytes of text are a copy of eight bytes for each word.
class Words {
  public:
    Words() : texts_(count), sizes_(count) {
        static const char consonants[] = "bdfghjklmnprstvw", vowels[] = "aeiou";
        for (uint64_t number = 0; number < count; number++) {
            char *text = texts_[number].text;
            for (uint64_t left = number + 1; left > 0; left = (left - 1) / 80) {
                const uint64_t syllable = (left - 1) % 80;
                *text++ = consonants[syllable / 5];
                *text++ = vowels[syllable % 5];
            }
            sizes_[number] = (unsigned char)(text - texts_[number].text);
        }
    }

    // Write a word where there is room for `slot` bytes; return its end.
    char *put(uint64_t number, char *at) const {
        std::memcpy(at, texts_[number].text, slot);
        return at + sizes_[number];
    }

    std::string at(uint64_t number) const {
        return std::string(texts_[number].text, sizes_[number]);
    }

    static constexpr size_t slot = 8;

  private:
    struct Text {
        char text[slot];
    };
    // Beyond the vocabulary, each category of reviews has words of its own.
    static constexpr uint64_t count = (uint64_t(64) + review_categories) << review_bits;
    std::vector<Text> texts_;
    std::vector<unsigned char> sizes_;
};

// Write `size` bytes of lines of 5 to 14 words; the last byte is a newline.
inline void generate_text(Writer &out, uint64_t size, uint64_t seed) {
    Random random(seed);
    const Words words;
    char line[15 * (Words::slot + 1)];
    while (out.written_bytes() < size) {
        char *end = words.put(random.rank(vocabulary_bits), line);
        line[0] = char(line[0] - 'a' + 'A');
        for (uint64_t left = 4 + random.below(10); left > 0; left--) {
            *end++ = ' ';
            end = words.put(random.rank(vocabulary_bits), end);
        }
        *end++ = '.';
        *end++ = '\n';
        const uint64_t room = size - out.written_bytes();
        if (uint64_t(end - line) >= room) {
            end = line + room;
            end[-1] = '\n';
        }
        out.add(line, size_t(end - line));
    }
}

constexpr size_t most_digits = 20;

// Write a number in digits where there is room for `most_digits`; return its end.
template <class Number> char *put_number(Number number, char *at) {
    return std::to_chars(at, at + most_digits, number).ptr;
}

// Write whole numbers of 64 bits, each on a line, or as 8 bytes, the lowest first.
inline void generate_integers(Writer &out, uint64_t count, uint64_t seed, bool binary) {
    Random random(seed);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t value = int64_t(random.next());
        if (binary) {
            out.add(reinterpret_cast<const char *>(&value), sizeof value);
        } else {
            char line[most_digits + 1];
            char *end = put_number(value, line);
            *end++ = '\n';
            out.add(line, size_t(end - line));
        }
    }
}

// Write about `size` bytes of reviews: a category, a tab, 10 to 60 words, of which one in four is
// of a vocabulary of the category's own.
inline void generate_reviews(Writer &out, uint64_t size, uint64_t seed) {
    Random random(seed);
    const Words words;
    char line[2 + 61 * (Words::slot + 1)];
    while (out.written_bytes() < size) {
        const uint64_t category = random.below(review_categories);
        char *end = put_number(category + 1, line);
        *end++ = '\t';
        for (uint64_t left = 10 + random.below(51); left > 0; left--) {
            const bool own = random.below(4) == 0;
            const uint64_t offset = own ? (64 + category) << review_bits : 0;
            end = words.put(offset + random.rank(own ? review_bits : vocabulary_bits), end);
            *end++ = left > 1 ? ' ' : '.';
        }
        *end++ = '\n';
        out.add(line, size_t(end - line));
    }
}

constexpr uint64_t point_dimensions = 9, point_centres = 100;

// Write points of 9 coordinates around 100 centres, each coordinate with noise from 0 to 1.
inline void generate_points(Writer &out, uint64_t count, uint64_t seed) {
    Random random(seed);
    uint64_t centres[point_centres][point_dimensions];
    for (auto &centre : centres)
        for (uint64_t &coordinate : centre) coordinate = random.below(10000000);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t which = random.below(point_centres);
        char line[point_dimensions * 12], *end = line;
        for (const uint64_t coordinate : centres[which]) {
            const uint64_t millionths = coordinate + random.below(1000000);
            end = put_number(millionths / 1000000, end);
            // One more digit than the fraction has, whose place the point takes.
            char *const point = end;
            end = put_number(1000000 + millionths % 1000000, end);
            *point = '.';
            *end++ = ' ';
        }
        end[-1] = '\n';
        out.add(line, size_t(end - line));
    }
}

constexpr uint64_t most_document_words = 200;

// Write documents, each on a line, of 20 to 200 words.
inline void generate_documents(Writer &out, uint64_t count, uint64_t seed) {
    Random random(seed);
    const Words words;
    char line[(most_document_words + 1) * (Words::slot + 1)];
    for (uint64_t i = 0; i < count; i++) {
        char *end = line;
        for (uint64_t left = 20 + random.below(most_document_words - 19); left > 0; left--) {
            end = words.put(random.rank(vocabulary_bits), end);
            *end++ = left > 1 ? ' ' : '\n';
        }
        out.add(line, size_t(end - line));
    }
}

constexpr uint64_t edge_factor = 16;

// Return the exponent of the smallest power of two that is at least `n`.
inline uint64_t exponent_of(uint64_t n) {
    uint64_t exponent = 0;
    while (exponent < 63 && uint64_t(1) << exponent < n) exponent++;
    return exponent;
}

// Call take(from, to) for 16 edges per vertex of a Kronecker graph as Graph500 has it (A = 0.57,
// B = C = 0.19), its vertices renamed so that a low number does not mean many edges.
template <class Take> void kronecker_edges(uint64_t vertices, uint64_t seed, Take take) {
    const uint64_t exponent = exponent_of(vertices), n = uint64_t(1) << exponent;
    Random random(seed);
    const uint64_t factor = random.next() | 1, twist = random.next();
    const auto renamed = [&](uint64_t v) { // one to one: odd factor, xor with its own high bits
        v = (v ^ twist) * factor & (n - 1);
        v ^= v >> (exponent / 2 + 1);
        return v * factor & (n - 1);
    };
    for (uint64_t edge = 0; edge < edge_factor * n; edge++) {
        uint64_t from = 0, to = 0;
        for (uint64_t bit = 0; bit < exponent; bit++) {
            const uint64_t percent = random.below(100);
            from = 2 * from + (percent >= 76);
            to = 2 * to + ((percent >= 57 && percent < 76) || percent >= 95);
        }
        take(renamed(from), renamed(to));
    }
}

inline void generate_graph(Writer &out, uint64_t vertices, uint64_t seed) {
    kronecker_edges(vertices, seed, [&](uint64_t from, uint64_t to) {
        char line[2 * (most_digits + 1)];
        char *end = put_number(from, line);
        *end++ = ' ';
        end = put_number(to, end);
        *end++ = '\n';
        out.add(line, size_t(end - line));
    });
}

// Return the file that --input names, or one of up to `most_bytes` that `generate` fills in memory.
template <class Generate>
File input_of(const Options &options, long double most_bytes, Generate generate) {
    if (options.has("input")) return File::open(options.text("input"));
    require_memory(most_bytes, "data of that size");
    File file = File::memory();
    Writer out(file);
    generate(out);
    out.flush();
    return file;
}

#endif
