// SPDX-License-Identifier: Apache-2.0
// Words of a text: runs of ASCII letters and digits, in lower case, however long.
#ifndef DATACENTER_WORDS_HPP
#define DATACENTER_WORDS_HPP

#include <string>

#include "file.hpp"

inline bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

inline bool is_word_character(int c) { return is_letter(c) || (c >= '0' && c <= '9'); }

inline char lowered(int c) { return char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// Compares as strcmp does, in sight instead of in the C library.
struct WordLess {
    bool operator()(const std::string &one, const std::string &other) const {
        const char *a = one.data(), *b = other.data();
        const size_t n_a = one.size(), n_b = other.size(), n = n_a < n_b ? n_a : n_b;
        for (size_t i = 0; i < n; i++)
            if (a[i] != b[i]) return a[i] < b[i];
        return n_a < n_b;
    }
};

constexpr size_t text_prefetch_bytes = 1024, line_bytes = 64;

// Gathers words from chunks, so that one that spans two of them is whole.
class WordCollector {
  public:
    // Call take(word) for each word that ends in a chunk.
    template <bool prefetch, class Take> void feed(const char *chunk, size_t n, Take take) {
        for (size_t i = 0; i < n; i++) {
            if (prefetch && i % line_bytes == 0) __builtin_prefetch(chunk + i + text_prefetch_bytes);
            const int c = (unsigned char)chunk[i];
            if (is_word_character(c))
                word_ += lowered(c);
            else
                finish(take);
        }
    }
    template <class Take> void finish(Take take) {
        if (word_.empty()) return;
        take(static_cast<const std::string &>(word_));
        word_.clear();
    }

  private:
    std::string word_;
};

#endif
