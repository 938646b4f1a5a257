/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/* A small matcher of regular expressions, by backtracking.
 *
 * There is no C library inside Valgrind. What is repeated and one character long is matched by
 * a loop, so that the depth of the recursion follows the pattern and not the name.
 */
#include "pattern.h"

/* What remains to be matched after a group. */
typedef struct Rest {
    const char *atom, *atom_end; /* of the group, where it may repeat; else NULL */
    const char *from;            /* where in the name its last repetition began */
    const char *pattern, *end;
    const struct Rest *next;
} Rest;

static bool match_sequence(const char *pattern, const char *end, const char *name,
                           const Rest *rest);
static bool match_alternatives(const char *pattern, const char *end, const char *name,
                               const Rest *rest);

/* ---- the form of a pattern ---- */

/* `\` before a letter or digit has a meaning elsewhere that it has not here. */
static bool is_escape(const char *pattern, const char *end) {
    if (pattern + 1 >= end) {
        return false;
    }
    const char lower = (char)(pattern[1] | ' ');
    return !(lower >= 'a' && lower <= 'z') && !(pattern[1] >= '0' && pattern[1] <= '9');
}

static const char *end_of_class(const char *pattern, const char *end) {
    const char *at = pattern + 1;
    at += at < end && *at == '^';
    for (const char *first = at; at < end && (at == first || *at != ']'); at++) {
        if (*at == '\\' && !is_escape(at++, end)) {
            return NULL;
        }
        const unsigned char low = (unsigned char)*at;
        if (at + 2 < end && at[1] == '-' && at[2] != ']') {
            at += 2;
            if (*at == '\\' && !is_escape(at++, end)) {
                return NULL;
            }
            if ((unsigned char)*at < low) {
                return NULL;
            }
        }
    }
    return at < end ? at + 1 : NULL;
}

static const char *end_of_atom(const char *pattern, const char *end);

static const char *end_of_group(const char *pattern, const char *end) {
    const char *at = pattern + 1;
    while (at && at < end && *at != ')') {
        at = *at == '|' || *at == '*' || *at == '+' || *at == '?' ? at + 1 : end_of_atom(at, end);
    }
    return at && at < end ? at + 1 : NULL;
}

/* The end of one character, class or group; NULL if it is not complete. */
static const char *end_of_atom(const char *pattern, const char *end) {
    switch (*pattern) {
    case '[':
        return end_of_class(pattern, end);
    case '(':
        return end_of_group(pattern, end);
    case '\\':
        return is_escape(pattern, end) ? pattern + 2 : NULL;
    default:
        return pattern + 1;
    }
}

static bool is_repetition(char character) {
    return character == '*' || character == '+' || character == '?';
}

static bool is_well_formed(const char *pattern, const char *end) {
    bool may_repeat = false;
    while (pattern < end) {
        if (is_repetition(*pattern)) {
            if (!may_repeat) {
                return false;
            }
            may_repeat = false;
            pattern++;
            continue;
        }
        if (*pattern == ')' || *pattern == '{' || *pattern == '^' || *pattern == '$') {
            return false; /* has a meaning elsewhere that it has not here */
        }
        may_repeat = *pattern != '|';
        const char *atom_end = end_of_atom(pattern, end);
        if (!atom_end || (*pattern == '(' && !is_well_formed(pattern + 1, atom_end - 1))) {
            return false;
        }
        pattern = atom_end;
    }
    return true;
}

/* ---- matching ---- */

static bool class_holds(const char *pattern, const char *end, char character) {
    const char *at = pattern + 1;
    const bool inverted = *at == '^';
    at += inverted;
    bool found = false;
    for (const char *first = at; at < end - 1 && (at == first || *at != ']'); at++) {
        if (*at == '\\') {
            at++;
        }
        const unsigned char low = (unsigned char)*at;
        unsigned char high = low;
        if (at + 2 < end - 1 && at[1] == '-') {
            at += 2;
            if (*at == '\\') {
                at++;
            }
            high = (unsigned char)*at;
        }
        found |= low <= (unsigned char)character && (unsigned char)character <= high;
    }
    return found != inverted;
}

static bool character_matches(const char *atom, const char *atom_end, char character) {
    switch (*atom) {
    case '.':
        return true;
    case '[':
        return class_holds(atom, atom_end, character);
    case '\\':
        return atom[1] == character;
    default:
        return *atom == character;
    }
}

static bool match_rest(const Rest *rest, const char *name) {
    if (!rest) {
        return *name == 0;
    }
    if (rest->atom && name != rest->from) {
        const Rest again = {rest->atom, rest->atom_end, name,
                            rest->pattern, rest->end, rest->next};
        if (match_alternatives(rest->atom + 1, rest->atom_end - 1, name, &again)) {
            return true;
        }
    }
    return match_sequence(rest->pattern, rest->end, name, rest->next);
}

static bool match_group(const char *atom, const char *atom_end, char repetition,
                        const char *pattern, const char *end, const char *name,
                        const Rest *rest) {
    const bool repeats = repetition == '*' || repetition == '+';
    const Rest after = {repeats ? atom : NULL, atom_end, name, pattern, end, rest};
    if (match_alternatives(atom + 1, atom_end - 1, name, &after)) {
        return true;
    }
    return (repetition == '*' || repetition == '?') && match_sequence(pattern, end, name, rest);
}

static bool match_characters(const char *atom, const char *atom_end, char repetition,
                             const char *pattern, const char *end, const char *name,
                             const Rest *rest) {
    const size_t least = repetition == '*' || repetition == '?' ? 0 : 1;
    const size_t most = repetition == '*' || repetition == '+' ? (size_t)-1 : 1;
    size_t n = 0;
    while (n < most && name[n] && character_matches(atom, atom_end, name[n])) {
        n++;
    }
    for (;; n--) {
        if (n < least) {
            return false;
        }
        if (match_sequence(pattern, end, name + n, rest)) {
            return true;
        }
        if (n == 0) {
            return false;
        }
    }
}

static bool match_sequence(const char *pattern, const char *end, const char *name,
                           const Rest *rest) {
    if (pattern == end) {
        return match_rest(rest, name);
    }
    const char *atom_end = end_of_atom(pattern, end);
    const char repetition = atom_end < end && is_repetition(*atom_end) ? *atom_end : 0;
    const char *after = atom_end + (repetition != 0);
    return *pattern == '('
               ? match_group(pattern, atom_end, repetition, after, end, name, rest)
               : match_characters(pattern, atom_end, repetition, after, end, name, rest);
}

static bool match_alternatives(const char *pattern, const char *end, const char *name,
                               const Rest *rest) {
    for (const char *start = pattern;;) {
        const char *at = start;
        while (at < end && *at != '|') {
            at = is_repetition(*at) ? at + 1 : end_of_atom(at, end);
        }
        if (match_sequence(start, at, name, rest)) {
            return true;
        }
        if (at == end) {
            return false;
        }
        start = at + 1;
    }
}

static const char *end_of(const char *text) {
    while (*text) {
        text++;
    }
    return text;
}

bool pattern_is_valid(const char *pattern) {
    return *pattern && is_well_formed(pattern, end_of(pattern));
}

bool pattern_matches(const char *pattern, const char *name) {
    return match_alternatives(pattern, end_of(pattern), name, NULL);
}

/* ---- copies of functions ---- */

static bool begins_with(const char *text, const char *beginning) {
    while (*beginning && *text == *beginning) {
        text++;
        beginning++;
    }
    return !*beginning;
}

/* Whether a compiler put this behind a name: `.part.0` or `.cold`, whatever may follow. */
static bool is_made(const char *text) {
    static const char *const numbered[] = {
        ".constprop.", ".isra.",    ".part.",       ".lto_priv.",   ".llvm.",
        ".clone.",     "._omp_fn.", "._omp_cpyfn.", ".specialized."};
    static const char *const others[] = {".cold", ".localalias", ".omp_outlined",
                                         ".omp_outlined_debug__"};
    for (size_t n = 0; n < sizeof numbered / sizeof *numbered; n++) {
        const char digit = text[0] && begins_with(text, numbered[n])
                               ? text[(size_t)(end_of(numbered[n]) - numbered[n])]
                               : 0;
        if (digit >= '0' && digit <= '9') {
            return true;
        }
    }
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
        if (begins_with(text, others[n])) {
            const char after = text[(size_t)(end_of(others[n]) - others[n])];
            if (after == 0 || after == '.') {
                return true;
            }
        }
    }
    return false;
}

size_t original_length(const char *name) {
    const char *end = name;
    while (*end && !begins_with(end, " [clone ")) {
        if (end > name && is_made(end)) {
            break;
        }
        end++;
    }
    return end > name ? (size_t)(end - name) : (size_t)(end_of(name) - name);
}
