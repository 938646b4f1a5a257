/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/* Names of functions, as regular expressions describe them. */
#ifndef RIDGEPOINT_PATTERN_H
#define RIDGEPOINT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of a name matches a pattern of literal characters, `.`, classes `[a-z]` and
 * `[^a-z]`, groups `(...)`, `|`, `*`, `+`, `?`, and `\` before any of these. */
bool pattern_matches(const char *pattern, const char *name);

/* Whether a pattern is well formed. */
bool pattern_is_valid(const char *pattern);

/* The length of the name that a compiler made a symbol's name from, as of `f.constprop.0`, a copy
 * of `f`; of all others their own. */
size_t original_length(const char *name);

#endif
