/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks what zlib packed (RFC 1950 and 1951): debug information is often kept so. */
#ifndef RIDGEPOINT_INFLATE_H
#define RIDGEPOINT_INFLATE_H

#include "memory.h"

/* Whether a zlib stream unpacks to exactly `room` bytes. Its checksum is not looked at. */
bool inflate_zlib(const uint8_t *packed, size_t n, uint8_t *out, size_t room);

#endif
