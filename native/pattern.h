/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions, as regular expressions describe them. */
#ifndef RIDGEPOINT_PATTERN_H
#define RIDGEPOINT_PATTERN_H

#include <stdbool.h>

/* Whether all of a name matches a pattern of literal characters, `.`, classes `[a-z]` and
 * `[^a-z]`, groups `(...)`, `|`, `*`, `+`, `?`, and `\` before any of these. */
bool pattern_matches(const char *pattern, const char *name);

/* Whether a pattern is well formed. */
bool pattern_is_valid(const char *pattern);

#endif
