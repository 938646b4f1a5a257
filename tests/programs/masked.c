/* Work under AVX-512 masks that is known. usage: masked N TIMES
 *
 * fma_tail(n) is one 512-bit FMA of fp64 for each 8 numbers, the last under a mask of n % 8 bits;
 * add_where(n) is one masked addition of fp32 for each 16 numbers, of which every third is on;
 * add_none() is a masked addition of fp64 with no bit on. Each is called TIMES times.
 */
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDE __attribute__((noinline, noclone, target("avx512f,avx512vl,avx512bw,avx512dq")))

static double x[4096], y[4096];
static float u[4096];

WIDE void fma_tail(long n) {
    const __m512d a = _mm512_set1_pd(0.5);
    for (long i = 0; i < n; i += 8) {
        const __mmask8 on = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
        const __m512d left = _mm512_maskz_loadu_pd(on, x + i);
        _mm512_mask_storeu_pd(y + i, on, _mm512_mask3_fmadd_pd(left, a, _mm512_loadu_pd(y + i), on));
    }
}

WIDE void add_where(long n) {
    for (long i = 0; i + 16 <= n; i += 16) {
        __mmask16 on = 0;
        for (int lane = 0; lane < 16; lane++) on |= (__mmask16)(((i + lane) % 3 == 0) << lane);
        const __m512 old = _mm512_loadu_ps(u + i);
        _mm512_storeu_ps(u + i, _mm512_mask_add_ps(old, on, old, old));
    }
}

WIDE void add_none(volatile unsigned char *bits) {
    const __m512d old = _mm512_loadu_pd(x);
    _mm512_storeu_pd(x, _mm512_mask_add_pd(old, (__mmask8)*bits, old, old));
}

int main(int argc, char **argv) {
    const long n = argc > 1 ? atol(argv[1]) : 1003, times = argc > 2 ? atol(argv[2]) : 1;
    volatile unsigned char none = 0;
    for (long i = 0; i < 4096; i++) x[i] = y[i] = 1, u[i] = 1;
    for (long i = 0; i < times; i++) {
        fma_tail(n);
        add_where(n);
        add_none(&none);
    }
    printf("%g %g %g\n", y[0], (double)u[0], x[0]);
    return 0;
}
