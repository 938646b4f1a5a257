/* Rare instructions of known count. usage: odd MODE N
 *
 *   x87      n additions in fp80, in extended()
 *   stream   2 n doubles stored non-temporally by streamed(), 16 bytes at a time
 *   jit      n executions of two instructions in memory made executable at run time
 */
#define _GNU_SOURCE
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile long double wide_sink;

__attribute__((noinline, noclone)) void extended(long n) {
    long double sum = 0;
    for (long i = 0; i < n; i++) sum += 1.5L;
    wide_sink = sum;
}
__attribute__((noinline, noclone)) void streamed(double *y, long n) {
    for (long i = 0; i < n; i++) _mm_stream_pd(y + 2 * i, _mm_set1_pd(1.5));
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    long n = atol(argv[2]);
    if (!strcmp(argv[1], "x87")) extended(n);
    if (!strcmp(argv[1], "stream")) streamed(aligned_alloc(64, 16 * n), n);
    if (!strcmp(argv[1], "jit")) {
        char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(code, "\xf2\x0f\x58\xc1\xc3", 5); /* addsd %xmm1,%xmm0; ret */
        for (long i = 0; i < n; i++) ((void (*)(void))code)();
    }
    return 0;
}
