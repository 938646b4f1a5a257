/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel, strings and messages. */
#include "loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* ---- the kernel ---- */

int64_t call_open(const char *path, int flags) {
    return kernel(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)path, (uint64_t)flags | O_CLOEXEC,
                       0600, 0, 0);
}

void call_close(int64_t file) {
    if (file >= 0) {
        kernel(SYS_close, (uint64_t)file, 0, 0, 0, 0, 0);
    }
}

/* NULL: refused. */
void *call_map(uint64_t at, uint64_t bytes, int protection, int flags, int64_t file,
               uint64_t from) {
    const int64_t result = kernel(SYS_mmap, at, bytes, (uint64_t)protection, (uint64_t)flags,
                                       (uint64_t)file, from);
    return system_refused(result) ? NULL : (void *)result;
}

int64_t call_protect(const void *at, uint64_t bytes, int protection) {
    return kernel(SYS_mprotect, (uint64_t)at, bytes, (uint64_t)protection, 0, 0, 0);
}

uint8_t *call_read_all(const char *path, Array *content) {
    enum { PIECE = 4096 }; /* what /proc gives at a time; more would only be zeroed for nothing */
    array_begin(content, 1);
    const int64_t file = call_open(path, O_RDONLY);
    int64_t n = file;
    while (n >= 0 && array_add(content, PIECE)) {
        content->n -= PIECE;
        n = kernel(SYS_read, (uint64_t)file, (uint64_t)content->items + content->n, PIECE - 1,
                        0, 0, 0);
        if (n <= 0) {
            break;
        }
        content->n += (size_t)n;
    }
    call_close(file);
    if (n < 0 || content->failed) {
        array_end(content);
        return NULL;
    }
    content->items[content->n] = 0;
    return content->items;
}

Signals signals_block(void) {
    const uint64_t all = ~UINT64_C(0);
    Signals before = {0};
    kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (uint64_t)&all, (uint64_t)&before, 8, 0,
                0);
    return before;
}

void signals_restore(Signals before) {
    kernel(SYS_rt_sigprocmask, 2, (uint64_t)&before, 0, 8, 0, 0);
}

bool lock_take(uint64_t *lock) {
    for (unsigned i = 0; i < 100000; i++) {
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
            return true;
        }
        __builtin_ia32_pause();
        kernel(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
    return false;
}

void lock_release(uint64_t *lock) {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* ---- what is mapped ---- */

bool maps_next(const char **text, Mapping *mapping) {
    if (!*text || !**text) {
        return false;
    }
    mapping->start = text_hexadecimal(text);
    *text += **text == '-';
    mapping->end = text_hexadecimal(text);
    mapping->rest = *text + (**text == ' ');
    const char *end = text_find(*text, "\n");
    *text = end ? end + 1 : NULL;
    return true;
}

/* ---- messages ---- */

void say(const char *what, const char *name, uint64_t number) {
    char text[512];
    if (!process.arena || !(process.arena->options & OPTION_VERBOSE)) {
        return;
    }
    size_t n = text_add(text, 0, sizeof text, "ridgepoint: ");
    n = text_add_number(text, n, sizeof text, (uint64_t)process.pid, 10, 1);
    n = text_add(text, n, sizeof text, ": ");
    n = text_add(text, n, sizeof text, what);
    n = text_add(text, n, sizeof text, " ");
    n = text_add(text, n, sizeof text, name);
    n = text_add(text, n, sizeof text, " 0x");
    n = text_add_number(text, n, sizeof text, number, 16, 1);
    n = text_add(text, n, sizeof text, "\n");
    kernel(SYS_write, 2, (uint64_t)text, n, 0, 0, 0);
}
