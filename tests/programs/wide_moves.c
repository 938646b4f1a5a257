/* Accesses of AVX-512, of which every line is known. usage: wide_moves KERNEL
 *
 *   whole       64 bytes at a time: reads a, writes c
 *   under_mask  reads and writes half of every second line of a: the other lines are left alone
 *   tail        one access of 64 bytes at the end of a line, of which the mask leaves the half
 *               beyond it alone
 *   gather      16 lanes of 4 bytes, from 16 lines; under a mask 4 of them
 *   scatter     8 lanes of 8 bytes to 8 lines
 *   compress    8 lanes of which 4 are stored, 16 lines apart
 *   past        stores past the caches
 *   bytes       64 lanes of one byte, of which the second line's are left alone
 *   added       one operand in memory, of which the mask leaves the second line's half alone
 *
 * It prints a sum of all elements, of which each kernel changes some or reads all.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone)) static void
#define LINES 4096
#define ARRAY __attribute__((aligned(4096)))

static float a[16 * LINES] ARRAY, c[16 * LINES] ARRAY;
static volatile char others[64 * 8 * LINES] ARRAY; /* read in between: no cache holds a or c then */
static volatile float sink;

KERNEL whole(void) {
    for (long i = 0; i < 16 * LINES; i += 16)
        _mm512_store_ps(c + i, _mm512_add_ps(_mm512_load_ps(a + i), _mm512_set1_ps(1)));
}

KERNEL under_mask(void) {
    for (long i = 0; i < 16 * LINES; i += 32)
        _mm512_mask_storeu_ps(a + i, 0x00ff, _mm512_maskz_loadu_ps(0x00ff, a + i));
}

KERNEL tail(void) {
    __m512 sum = _mm512_setzero_ps();
    for (long i = 0; i < 16 * LINES; i += 64)
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(0x00ff, a + i + 8));
    sink = _mm512_reduce_add_ps(sum);
}

KERNEL gather(void) {
    const __m512i apart = _mm512_mullo_epi32(
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
        _mm512_set1_epi32(16));
    __m512 sum = _mm512_setzero_ps();
    for (long i = 0; i < 8 * LINES; i += 256) {
        sum = _mm512_add_ps(sum, _mm512_i32gather_ps(apart, a + i, 4));
        sum = _mm512_mask_i32gather_ps(sum, 0x1111, apart, c + i, 4);
    }
    sink = _mm512_reduce_add_ps(sum);
}

KERNEL scatter(void) {
    const __m512i apart = _mm512_set_epi64(112, 96, 80, 64, 48, 32, 16, 0);
    for (long i = 0; i < 16 * LINES; i += 256)
        _mm512_i64scatter_pd(a + i, apart, _mm512_set1_pd(1), 4);
}

KERNEL compress(void) {
    for (long i = 0; i < 16 * LINES; i += 256)
        _mm512_mask_compressstoreu_pd(c + i + 8, 0xaa, _mm512_set1_pd(1));
}

KERNEL past(void) {
    for (long i = 0; i < 16 * LINES; i += 16) _mm512_stream_ps(c + i, _mm512_set1_ps(2));
}

KERNEL bytes(void) {
    for (long i = 0; i < 64 * LINES; i += 256) {
        const __m512i x = _mm512_maskz_loadu_epi8(0xffffffffu, (const char *)a + i + 32);
        _mm512_mask_storeu_epi8((char *)c + i + 32, 0xffffffffu, x);
    }
}

KERNEL added(void) {
    __m512 sum = _mm512_setzero_ps();
    for (long i = 0; i < 16 * LINES; i += 64)
        sum = _mm512_mask_add_ps(sum, 0x00ff, sum, _mm512_loadu_ps(a + i + 8));
    sink = _mm512_reduce_add_ps(sum);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    for (long i = 0; i < 16 * LINES; i++) a[i] = (float)(i % 7), c[i] = (float)(i % 5);
    for (long i = 0; i < (long)sizeof others; i += 64) sink += others[i];
#define ONE(name) if (!strcmp(argv[1], #name)) name();
    ONE(whole) ONE(under_mask) ONE(tail) ONE(gather) ONE(scatter) ONE(compress) ONE(past)
    ONE(bytes) ONE(added)
    double sum = sink;
    for (long i = 0; i < 16 * LINES; i++) sum += (double)a[i] + 3 * (double)c[i];
    printf("%.17g\n", sum);
    return 0;
}
