/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MREMAP_MAYMOVE */
#define DEFINES_MEMORY
#include "memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "system.h"

/* Compilers turn a loop that copies into a call of memcpy, also in memcpy itself. */
#define KEEP_LOOP __asm__ volatile("" ::: "memory")

/* ---- pages ---- */

static size_t whole_pages(size_t bytes) {
    return (bytes + 4095) & ~(size_t)4095;
}

void *pages_take(size_t bytes) {
    const int64_t at = system_call(SYS_mmap, 0, whole_pages(bytes), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    return system_refused(at) ? NULL : (void *)at;
}

void pages_give(void *memory, size_t bytes) {
    if (memory) {
        system_call(SYS_munmap, (uint64_t)memory, whole_pages(bytes), 0, 0, 0, 0);
    }
}

/* ---- arrays ---- */

void array_begin(Array *array, size_t size) {
    *array = (Array){.size = size};
}

static bool grow(Array *array, size_t least) {
    size_t bytes;
    size_t wanted = array->capacity * 2 > least ? array->capacity * 2 : least;
    if (least < array->n || __builtin_mul_overflow(wanted, array->size, &bytes)
        || bytes > SIZE_MAX / 2) {
        return false;
    }
    bytes = whole_pages(bytes);
    void *items = NULL;
    if (array->items) {
        const int64_t at =
            system_call(SYS_mremap, (uint64_t)array->items,
                        whole_pages(array->capacity * array->size), bytes, MREMAP_MAYMOVE, 0, 0);
        items = system_refused(at) ? NULL : (void *)at;
    } else {
        items = pages_take(bytes);
    }
    if (!items) {
        return false;
    }
    array->items = items;
    array->capacity = bytes / array->size;
    return true;
}

void *array_add(Array *array, size_t n) {
    if (array->failed
        || (n > array->capacity - array->n && !grow(array, array->n + n))) {
        array->failed = true;
        return NULL;
    }
    uint8_t *added = array->items + array->n * array->size;
    array->n += n;
    memset(added, 0, n * array->size);
    return added;
}

void array_end(Array *array) {
    pages_give(array->items, array->capacity * array->size);
    array_begin(array, array->size);
}

bool numbers_add(Array *numbers, uint64_t number) {
    uint64_t *added = array_add(numbers, 1);
    if (added) {
        *added = number;
    }
    return added != NULL;
}

/* ---- bytes ---- */

typedef struct {
    uint64_t word;
} __attribute__((packed, may_alias)) Unaligned64;

typedef struct {
    uint32_t word;
} __attribute__((packed, may_alias)) Unaligned32;

/* Up to 16 bytes, read before any is written: instructions are as long. */
static void move_few(uint8_t *to, const uint8_t *from, size_t n) {
    if (n >= 8) {
        const uint64_t first = ((const Unaligned64 *)from)->word;
        const uint64_t last = ((const Unaligned64 *)(from + n - 8))->word;
        ((Unaligned64 *)to)->word = first;
        ((Unaligned64 *)(to + n - 8))->word = last;
    } else if (n >= 4) {
        const uint32_t first = ((const Unaligned32 *)from)->word;
        const uint32_t last = ((const Unaligned32 *)(from + n - 4))->word;
        ((Unaligned32 *)to)->word = first;
        ((Unaligned32 *)(to + n - 4))->word = last;
    } else if (n) {
        const uint8_t first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first;
        to[n / 2] = middle;
        to[n - 1] = last;
    }
}

void *memcpy(void *to, const void *from, size_t n) {
    if (n <= 16) {
        move_few(to, from, n);
    } else {
        void *at = to;
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n) : : "memory");
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    if (n <= 16 || (uintptr_t)to - (uintptr_t)from >= n) {
        return memcpy(to, from, n);
    }
    uint8_t *end = (uint8_t *)to + n;
    const uint8_t *source = (const uint8_t *)from + n;
    while (n >= 8) { /* downwards by string instruction is slow */
        n -= 8;
        end -= 8;
        source -= 8;
        ((Unaligned64 *)end)->word = ((const Unaligned64 *)source)->word;
        KEEP_LOOP;
    }
    move_few(to, from, n);
    return to;
}

void *memset(void *to, int byte, size_t n) {
    uint8_t *at = to;
    if (n > 64) {
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
        return to;
    }
    const uint64_t word = UINT64_C(0x0101010101010101) * (uint8_t)byte;
    for (; n >= 8; n -= 8, at += 8) {
        ((Unaligned64 *)at)->word = word;
        KEEP_LOOP;
    }
    for (; n; n--, at++) {
        *at = (uint8_t)byte;
        KEEP_LOOP;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const uint8_t *left = a, *right = b;
    for (; n; n--, left++, right++) {
        if (*left != *right) {
            return *left - *right;
        }
        KEEP_LOOP;
    }
    return 0;
}

/* ---- sorting ---- */

/* A record is `words` 64-bit numbers, the first of which is its key. */
static inline bool is_sorted(const uint64_t *items, size_t n, size_t words) {
    for (size_t i = 1; i < n; i++) {
        if (items[i * words] < items[(i - 1) * words]) {
            return false;
        }
    }
    return true;
}

static inline void put(uint64_t *to, const uint64_t *from, size_t words) {
    for (size_t i = 0; i < words; i++) {
        to[i] = from[i];
        KEEP_LOOP;
    }
}

static void sift(uint64_t *items, size_t root, size_t n, size_t words) {
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && items[child * words] < items[(child + 1) * words]) {
            child++;
        }
        if (items[root * words] >= items[child * words]) {
            return;
        }
        for (size_t i = 0; i < words; i++) {
            const uint64_t kept = items[root * words + i];
            items[root * words + i] = items[child * words + i];
            items[child * words + i] = kept;
        }
    }
}

/* Slow, but in place: for a few, and where there is no memory for the quick one. */
static void heap_sort(uint64_t *items, size_t n, size_t words) {
    for (size_t i = n / 2; i-- > 0;) {
        sift(items, i, n, words);
    }
    for (size_t end = n; end-- > 1;) {
        for (size_t i = 0; i < words; i++) {
            const uint64_t kept = items[i];
            items[i] = items[end * words + i];
            items[end * words + i] = kept;
        }
        sift(items, 0, end, words);
    }
}

static void insertion_sort(uint64_t *items, size_t n, size_t words) {
    uint64_t record[SORT_MOST_WORDS];
    for (size_t i = 1; i < n; i++) {
        size_t at = i;
        put(record, items + i * words, words);
        for (; at && items[(at - 1) * words] > record[0]; at--) {
            put(items + at * words, items + (at - 1) * words, words);
        }
        put(items + at * words, record, words);
    }
}

/* Deal the records into 256 heaps by one byte of their keys, in order. False: all have the same. */
static inline bool deal(uint64_t *to, const uint64_t *from, size_t n, size_t words,
                        unsigned shift) {
    size_t place[256] = {0};
    for (size_t i = 0; i < n; i++) {
        place[from[i * words] >> shift & 255]++;
    }
    if (place[from[0] >> shift & 255] == n) {
        return false;
    }
    for (size_t i = 0, sum = 0; i < 256; i++) {
        const size_t here = place[i];
        place[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = place[from[i * words] >> shift & 255]++;
        put(to + at * words, from + i * words, words);
    }
    return true;
}

static inline __attribute__((always_inline)) void sort(uint64_t *items, size_t n, size_t words) {
    if (is_sorted(items, n, words)) {
        return;
    }
    if (n <= 32) {
        insertion_sort(items, n, words);
        return;
    }
    uint64_t *other = pages_take(n * words * 8);
    if (!other) {
        heap_sort(items, n, words);
        return;
    }
    uint64_t *from = items, *to = other;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (deal(to, from, n, words, shift)) {
            uint64_t *kept = from;
            from = to;
            to = kept;
        }
    }
    if (from != items) {
        memcpy(items, from, n * words * 8);
    }
    pages_give(other, n * words * 8);
}

void sort_records(void *items, size_t n, size_t words) {
    if (words == 2) { /* the compiler unrolls it */
        sort(items, n, 2);
    } else {
        sort(items, n, words);
    }
}

size_t sort_unique_u64(uint64_t *items, size_t n) {
    sort(items, n, 1);
    size_t kept = n ? 1 : 0;
    for (size_t i = 1; i < n; i++) {
        if (items[i] != items[kept - 1]) {
            items[kept++] = items[i];
        }
    }
    return kept;
}

size_t records_until(const void *items, size_t n, size_t words, uint64_t most) {
    const uint64_t *keys = items;
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle * words] <= most) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
