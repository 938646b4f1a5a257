/* Streams of known traffic. usage: streams KERNEL LINES REPEATS [BYTES]
 *
 * Arrays of so many lines of 64 byte, aligned to pages; each kernel passes through its own REPEATS
 * times, in a function of its name. BYTES is the distance that "strided" reads at.
 *   readonly   reads a            writeonly   writes b          copyto   reads a, writes b
 *   triad      reads a and b, writes c        update      reads and writes a
 *   nontemporal  writes b past the caches     prefetched  only prefetches a, by every kind
 *   ahead      reads a, and prefetches it 8 lines ahead       strided  reads 8 byte at a time
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone))
#define EACH for (long i = 0; i < n; i += 8)
static volatile double sink;

KERNEL void readonly(long n, const double *a) {
    __m256d sum = _mm256_setzero_pd();
    EACH sum = _mm256_add_pd(sum, _mm256_add_pd(_mm256_load_pd(a + i), _mm256_load_pd(a + i + 4)));
    sink = sum[0];
}
KERNEL void writeonly(long n, double *b) { EACH for (int k = 0; k < 8; k++) b[i + k] = 1.5; }
KERNEL void copyto(long n, const double *a, double *b) {
    EACH for (int k = 0; k < 8; k += 4) _mm256_store_pd(b + i + k, _mm256_load_pd(a + i + k));
}
KERNEL void triad(long n, const double *a, const double *b, double *c) {
    EACH for (int k = 0; k < 8; k++) c[i + k] = a[i + k] + 3.0 * b[i + k];
}
KERNEL void update(long n, double *a) { EACH for (int k = 0; k < 8; k++) a[i + k] += 1.0; }
KERNEL void nontemporal(long n, double *b) {
    EACH for (int k = 0; k < 8; k += 4) _mm256_stream_pd(b + i + k, _mm256_set1_pd(1.5));
}
KERNEL void ahead(long n, const double *a) {
    __m256d sum = _mm256_setzero_pd();
    EACH {
        _mm_prefetch((const char *)(a + i + 64), _MM_HINT_T0);
        sum = _mm256_add_pd(sum, _mm256_load_pd(a + i));
    }
    sink = sum[0];
}
KERNEL void strided(const char *a, const char *end, long bytes) {
    double sum = 0;
    for (; a < end; a += bytes) sum += *(const double *)a;
    sink = sum;
}
/* Eight lines a round, each by another instruction and form of address. */
KERNEL void prefetched(long n, const double *a) {
    for (long i = 0; i < 8 * n; i += 512)
        __asm__ volatile(
            "prefetcht0 (%0,%1)\n prefetcht1 64(%0,%1)\n"
            "movq %1, %%r12\n shrq $3, %%r12\n prefetcht2 128(%0,%%r12,8)\n"
            "leaq (%0,%1), %%r13\n prefetchnta 192(%%r13)\n prefetchw 256(%%r13)\n"
            "prefetcht0 0x140(%%r13)\n leaq -4096(%%r13), %%r12\n prefetcht0 0x1180(%%r12)\n"
            "shrq $1, %%r13\n prefetcht0 448(,%%r13,2)\n"
            : : "r"(a), "r"(i) : "r12", "r13", "memory");
}
__attribute__((aligned(4096))) static char fixed[64 * 1024];
KERNEL void relative(void) { /* one line, by its distance from the instruction */
    __asm__ volatile("prefetcht0 %0" : : "m"(fixed[4096]));
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const char *name = argv[1];
    long n = 8 * atol(argv[2]), repeats = atol(argv[3]), bytes = argc > 4 ? atol(argv[4]) : 64;
    double *a = aligned_alloc(4096, 8 * n + 8192), *b = aligned_alloc(4096, 8 * n + 8192);
    double *c = aligned_alloc(4096, 8 * n + 8192);
    for (long r = 0; r < repeats; r++) {
        if (!strcmp(name, "readonly")) readonly(n, a);
        else if (!strcmp(name, "writeonly")) writeonly(n, b);
        else if (!strcmp(name, "copyto")) copyto(n, a, b);
        else if (!strcmp(name, "triad")) triad(n, a, b, c);
        else if (!strcmp(name, "update")) update(n, a);
        else if (!strcmp(name, "nontemporal")) nontemporal(n, b);
        else if (!strcmp(name, "ahead")) ahead(n, a);
        else if (!strcmp(name, "strided")) strided((char *)a, (char *)(a + n), bytes);
        else if (!strcmp(name, "prefetched")) prefetched(n, a);
        else if (!strcmp(name, "relative")) relative();
        else if (!strcmp(name, "both")) prefetched(n, a), readonly(n, a);
        else return 2;
    }
    return 0;
}
