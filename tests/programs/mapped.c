/* What is mapped where. usage: mapped MIB LIBRARY
 *
 * Takes the addresses of MIB below the C library that are free, all but the uppermost 100; then opens
 * LIBRARY, calls its work() three times, and prints what the kernel says of its own memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile double sink;

int main(int argc, char **argv) {
    const uint64_t piece = 1 << 20, top = (uint64_t)(uintptr_t)&puts & ~(piece - 1);
    const long mib = argc > 2 ? atol(argv[1]) : 0;
    for (long i = 100; i < mib; i++)
        mmap((void *)(uintptr_t)(top - (uint64_t)i * piece), piece, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    void *opened = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    double (*work)(void) = opened ? (double (*)(void))dlsym(opened, "library_work") : NULL;
    if (!work) return 4;
    for (int i = 0; i < 3; i++) sink = work();
    FILE *maps = fopen("/proc/self/smaps", "r");
    for (int c = maps ? getc(maps) : EOF; c != EOF; c = getc(maps)) putchar(c);
    return maps ? 0 : 5;
}
