// SPDX-License-Identifier: Apache-2.0
// A small matcher of regular expressions, whose work is in sight instead of in a library.
//
// After R. Pike's, in B. Kernighan, "A regular expression matcher" (Beautiful Code, 2007), with +
// and ?, the escape \, and lengths in place of a final 0, so that a text may hold any byte.
#ifndef DATACENTER_EXPRESSION_HPP
#define DATACENTER_EXPRESSION_HPP

#include <string>
#include <vector>

#include "failure.hpp"

class Expression {
  public:
    // Of literal characters, . ^ $ * + ? and \ before any of them.
    explicit Expression(const std::string &text) {
        for (size_t i = 0; i < text.size(); i++) {
            const char c = text[i];
            if (c == '^' && i == 0) {
                from_begin_ = true;
            } else if (c == '$' && i + 1 == text.size()) {
                to_end_ = true;
            } else if (c == '*' || c == '+' || c == '?') {
                if (items_.empty() || items_.back().repeat) refuse(text, "has nothing to repeat");
                items_.back().repeat = c;
            } else if (c == '\\') {
                if (i + 1 == text.size()) refuse(text, "ends with an escape");
                items_.push_back({text[++i], false, 0});
            } else {
                items_.push_back({c, c == '.', 0});
            }
        }
    }

    // Tell whether a line holds a match anywhere.
    bool matches(const char *line, size_t n) const {
        if (from_begin_) return matches_here(0, line, line + n);
        for (size_t i = 0; i <= n; i++)
            if (matches_here(0, line + i, line + n)) return true;
        return false;
    }

  private:
    struct Item {
        char character;
        bool any;
        char repeat; // 0: once
    };

    bool matches_here(size_t item, const char *at, const char *end) const {
        for (; item < items_.size(); item++) {
            if (items_[item].repeat) return matches_repeated(item, at, end);
            if (at == end || !fits(items_[item], *at)) return false;
            at++;
        }
        return !to_end_ || at == end;
    }

    bool matches_repeated(size_t item, const char *at, const char *end) const {
        const char repeat = items_[item].repeat;
        const bool once_at_most = repeat == '?';
        if (repeat == '+') {
            if (at == end || !fits(items_[item], *at)) return false;
            at++;
        }
        for (const char *begin = at;; at++) {
            if (matches_here(item + 1, at, end)) return true;
            if (at == end || !fits(items_[item], *at) || (once_at_most && at > begin)) return false;
        }
    }

    static bool fits(const Item &item, char c) { return item.any || item.character == c; }

    [[noreturn]] static void refuse(const std::string &text, const std::string &why) {
        throw Failure("cannot search for " + quoted(text), "the expression " + why,
                      "write a backslash before a character that means itself");
    }

    std::vector<Item> items_;
    bool from_begin_ = false, to_end_ = false;
};

#endif
