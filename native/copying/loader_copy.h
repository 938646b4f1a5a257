/* SPDX-License-Identifier: Apache-2.0 */
/* Private to loader_bring.c and loader_patch.c, which put a copy in place. */
#ifndef RIDGEPOINT_LOADER_COPY_H
#define RIDGEPOINT_LOADER_COPY_H

#include <sys/mman.h>
#include <sys/syscall.h>

#include "loader.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static inline const void *section(const CopyHeader *copy, SectionKind kind) {
    return (const uint8_t *)copy + copy->sections[kind].at;
}

static inline uint64_t count(const CopyHeader *copy, SectionKind kind) {
    return copy->sections[kind].n;
}

/* Have the kernel make pages ready at once: page by page it takes several times as long. */
static inline void expect(const void *from, const void *to, int what) {
    const uint64_t start = (uint64_t)from & ~UINT64_C(4095), end = (uint64_t)to;
    if (end > start) {
        kernel(SYS_madvise, start, end - start, (uint64_t)what, 0, 0, 0);
    }
}

static inline void jump_at(uint8_t *at, uint64_t from, uint64_t to) {
    const uint32_t distance = (uint32_t)(to - from - 5);
    at[0] = 0xe9;
    memcpy(at + 1, &distance, 4);
}

/* ---- loader_bring.c ---- */

/* Bring the copy next to the module, ready to run. `file`: of the copy. */
Reason bring(Loaded *module, int64_t file, uint64_t first_counter, bool is_executable);
void give_back(Loaded *module);

#endif
