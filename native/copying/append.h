/* SPDX-License-Identifier: Apache-2.0 */
/* Adds numbers to an array of bytes. */
#ifndef RIDGEPOINT_APPEND_H
#define RIDGEPOINT_APPEND_H

#include "memory.h"

void append_byte(Array *code, uint8_t byte);
/* The low `n` bytes. */
void append_number(Array *code, uint64_t number, unsigned n);
void append_leb(Array *code, uint64_t number, bool is_signed);
void append_bytes(Array *code, const uint8_t *bytes, size_t n);
/* Zeros up to a multiple (a power of 2). */
void append_until(Array *code, size_t multiple);

#endif
