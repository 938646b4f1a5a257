/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and bytes for code that must not call a library: the core of the copier runs in the
 * measured program too, where a call of malloc or memcpy would be counted, or never return. */
#ifndef RIDGEPOINT_MEMORY_H
#define RIDGEPOINT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory straight from the kernel, or NULL; whole pages. */
void *pages_take(size_t bytes);
void pages_give(void *memory, size_t bytes);

#define NO_MEMORY "there is not enough memory" /* for messages */

/* An array that grows: `items` of `size` bytes each. Growing may move it. */
typedef struct {
    uint8_t *items;
    size_t n, capacity, size;
    bool failed; /* memory ran out: what was added since is not there */
} Array;

void array_begin(Array *array, size_t size);
void *array_add(Array *array, size_t n); /* n new items, zeroed; NULL: no memory */
void array_end(Array *array);
bool numbers_add(Array *numbers, uint64_t number); /* to an array of uint64_t; false: no memory */

/* gcc calls these by name in freestanding code as well. */
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
#ifndef DEFINES_MEMORY
/* -fno-builtin makes a call of each: of a few bytes too, of which there are millions. */
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define memcmp __builtin_memcmp
#endif

/* Sort numbers ascending, in place; returns how many remain without repetitions. */
size_t sort_unique_u64(uint64_t *items, size_t n);

/* Sort records of `words` 64-bit numbers (at most SORT_MOST_WORDS) by the first of them, in place.
   Those with the same keep their order, unless memory runs out. */
#define SORT_MOST_WORDS 8
void sort_records(void *items, size_t n, size_t words);
/* Of sorted records: how many have a first number up to `most`. */
size_t records_until(const void *items, size_t n, size_t words, uint64_t most);

#endif
