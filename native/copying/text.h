/* SPDX-License-Identifier: Apache-2.0 */
/* Strings for code that must not call a library. */
#ifndef RIDGEPOINT_TEXT_H
#define RIDGEPOINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool text_begins(const char *text, const char *beginning);
const char *text_find(const char *text, const char *part);
/* Append to text of `room` bytes, cut where it ends; returns its new length. */
size_t text_add(char *text, size_t length, size_t room, const char *added);
size_t text_add_number(char *text, size_t length, size_t room, uint64_t number, unsigned base,
                       unsigned digits);
/* Read a number up to what is no digit (nor lower-case letter) of it, and go there. */
uint64_t text_hexadecimal(const char **text);

#endif
