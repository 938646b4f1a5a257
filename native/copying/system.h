/* SPDX-License-Identifier: Apache-2.0 */
/* System calls without a library. */
#ifndef RIDGEPOINT_SYSTEM_H
#define RIDGEPOINT_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* What the kernel returns: -errno if it refused. */
#ifdef RIDGEPOINT_OWN_SYSTEM /* tests bring another */
int64_t system_call(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f);
#else
static inline int64_t system_call(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                  uint64_t e, uint64_t f) {
    int64_t result;
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#endif

static inline bool system_refused(int64_t result) {
    return (uint64_t)result >= (uint64_t)-4095;
}

#endif
