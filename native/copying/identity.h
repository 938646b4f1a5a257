/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a module is: the name that its copy is kept under. */
#ifndef RIDGEPOINT_IDENTITY_H
#define RIDGEPOINT_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* The first build id of at least 8 bytes among the notes of one PT_NOTE segment, or NULL. */
const uint8_t *identity_find_note(const uint8_t *notes, uint64_t bytes, uint64_t align,
                                  uint64_t *id_bytes);
/* Of a module with a build id, from that and the size of its file. */
void identity_of_note(const uint8_t *id, size_t n, uint64_t file_bytes, uint64_t out[2]);
/* Of one without, from everything in its file. */
void identity_of_content(const uint8_t *file, size_t n, uint64_t out[2]);

#endif
