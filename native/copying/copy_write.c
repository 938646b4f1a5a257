/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of a copy: beside its place, then renamed, so that nobody sees half of one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "copier.h"
#include "system.h"

#define LONGEST_PATH 4096

static uint64_t rounded(uint64_t at, uint64_t unit) {
    return (at + unit - 1) & ~(unit - 1);
}

static void place_sections(Copy *copy) {
    uint64_t at = sizeof(CopyHeader);
    for (int i = 0; i < SECTION_COUNT; i++) {
        const Array *items = &copy->sections[i];
        at = rounded(at, i == SECTION_CODE ? 4096 : 8);
        copy->header.sections[i] = (Section){at, items->n};
        at += items->n * items->size;
    }
    copy->header.file_bytes = at;
}

static bool write_all(int fd, const void *bytes, uint64_t n, uint64_t at) {
    while (n > 0) {
        const int64_t done =
            system_call(SYS_pwrite64, (uint64_t)fd, (uint64_t)bytes, n, at, 0, 0);
        if (done <= 0) {
            return false;
        }
        bytes = (const uint8_t *)bytes + done;
        n -= (uint64_t)done;
        at += (uint64_t)done;
    }
    return true;
}

/* `path`, and what tells this process's file from those of others. */
static bool name_beside(const char *path, char *out) {
    size_t n = 0;
    for (; path[n]; n++) {
        if (n + 16 > LONGEST_PATH) {
            return false;
        }
        out[n] = path[n];
    }
    out[n++] = '.';
    for (uint64_t pid = (uint64_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0); pid; pid /= 10) {
        out[n++] = (char)('0' + pid % 10);
    }
    out[n] = 0;
    return true;
}

const char *copy_write(const Copy *copy, const char *path) {
    char beside[LONGEST_PATH];
    Copy placed = *copy;
    if (!name_beside(path, beside)) {
        return "the path of its copy is too long";
    }
    const int64_t fd = system_call(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)beside,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666, 0, 0);
    if (system_refused(fd)) {
        return "the file of its copy cannot be created";
    }
    place_sections(&placed);
    bool good = write_all((int)fd, &placed.header, sizeof placed.header, 0);
    for (int i = 0; i < SECTION_COUNT; i++) {
        const Array *items = &placed.sections[i];
        good = good && write_all((int)fd, items->items, items->n * items->size,
                                 placed.header.sections[i].at);
    }
    /* A last section without entries may lie beyond what was written. */
    good = good && !system_refused(system_call(SYS_ftruncate, (uint64_t)fd,
                                               placed.header.file_bytes, 0, 0, 0, 0));
    system_call(SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
    good = good && !system_refused(system_call(SYS_renameat, (uint64_t)AT_FDCWD,
                                               (uint64_t)beside, (uint64_t)AT_FDCWD,
                                               (uint64_t)path, 0, 0));
    if (!good) {
        system_call(SYS_unlinkat, (uint64_t)AT_FDCWD, (uint64_t)beside, 0, 0, 0, 0);
        return "the file of its copy cannot be written";
    }
    return NULL;
}
