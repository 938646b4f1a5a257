/* Kernels in the widest vectors of this CPU, counted for their cost. usage: wide NAME N REPEATS
 *
 *   daxpy      2 N flop: y += a x
 *   dgemm      2 N^3 flop: C += A B, row by row
 *   masked     2 N flop: y += a x, a last vector under a mask (useful lanes; -march=native)
 *   chosen     2 flop for each of the N that is above 1.5: if (x > 1.5) y = y / 4 + x
 *   threads    2 N flop by each of eight threads
 */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone)) void
#define THREADS 8

static long n, repeats;

KERNEL daxpy(double a, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
}

KERNEL dgemm(const double *restrict a, const double *restrict b, double *restrict c) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

KERNEL masked(double a, const double *restrict x, double *restrict y) {
#ifdef __AVX512F__
    const __m512d factor = _mm512_set1_pd(a);
    for (long i = 0; i < n; i += 8) {
        const __mmask8 mask = n - i >= 8 ? 0xff : (__mmask8)((1 << (n - i)) - 1);
        const __m512d left = _mm512_maskz_loadu_pd(mask, x + i);
        const __m512d sum = _mm512_mask_fmadd_pd(left, mask, factor,
                                                 _mm512_maskz_loadu_pd(mask, y + i));
        _mm512_mask_storeu_pd(y + i, mask, sum);
    }
#else
    daxpy(a, x, y);
#endif
}

KERNEL chosen(const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++)
        if (x[i] > 1.5) y[i] = y[i] * 0.25 + x[i];
}

static double *numbers(long count) {
    double *made = aligned_alloc(64, (count * sizeof *made + 63) / 64 * 64);
    unsigned seed = 1;
    for (long i = 0; i < count; i++) {
        /* From 1 to 2, without a flop: the bits of the fraction are random. */
        seed = seed * 1664525u + 1013904223u;
        const uint64_t bits = UINT64_C(1023) << 52 | (uint64_t)seed << 20;
        memcpy(made + i, &bits, sizeof bits);
    }
    return made;
}

static void *work(void *unused) {
    (void)unused;
    double *x = numbers(n), *y = numbers(n);
    for (long r = 0; r < repeats; r++) daxpy(1e-3, x, y);
    return y;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    n = atol(argv[2]);
    repeats = atol(argv[3]);
    if (!strcmp(argv[1], "threads")) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        return 0;
    }
    const int square = !strcmp(argv[1], "dgemm");
    double *x = numbers(square ? n * n : n), *y = numbers(square ? n * n : n);
    double *z = square ? numbers(n * n) : y;
    for (long r = 0; r < repeats; r++) {
        if (!strcmp(argv[1], "daxpy")) daxpy(1e-3, x, y);
        else if (!strcmp(argv[1], "masked")) masked(1e-3, x, y);
        else if (!strcmp(argv[1], "chosen")) chosen(x, y);
        else if (square) dgemm(x, y, z);
        else return 2;
    }
    printf("%.17g\n", z[n / 2]);
    return 0;
}
