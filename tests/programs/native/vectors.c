/* Vector and tile operations whose number is known by hand; the table is in the tests.
 * usage: vectors MODE: each calls a function of the mode's name that does the work. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "modes.h"

#define TARGET(what) __attribute__((noinline, target(what)))
#define N 1003
#define TIMES 100

static double a[N + 8], b[N + 8], c[N + 8];
static float f[N + 16], g[N + 16];

static void fill(void) {
    for (int i = 0; i < N; i++) {
        a[i] = i * 0.5 - 100, b[i] = 3 - i * 0.25, c[i] = i % 17;
        f[i] = i % 31 - 15.f, g[i] = 2.f - i % 7;
    }
}
static int report(const char *what) {
    uint64_t sum = 1, bits;
    for (int i = 0; i < N; i++) {
        memcpy(&bits, &c[i], 8);
        sum = sum * 1099511628211u + bits;
        bits = 0;
        memcpy(&bits, &f[i], 4);
        sum = sum * 1099511628211u + bits;
    }
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}

/* c += a b: 125 whole vectors and one of three lanes. */
TARGET("avx512f") void masked_tail(void) {
    for (int i = 0; i < N; i += 8) {
        __mmask8 which = N - i >= 8 ? 0xff : (__mmask8)((1 << (N - i)) - 1);
        __m512d x = _mm512_maskz_loadu_pd(which, a + i), y = _mm512_maskz_loadu_pd(which, b + i);
        __m512d z = _mm512_maskz_loadu_pd(which, c + i);
        _mm512_mask_storeu_pd(c + i, which, _mm512_mask3_fmadd_pd(x, y, z, which));
    }
}
/* c = c / 2 where a > 0: 8 lanes at a time, of which some are wanted. */
TARGET("avx512f") void masked_if(void) {
    for (int i = 0; i + 8 <= N; i += 8) {
        __m512d x = _mm512_loadu_pd(a + i), z = _mm512_loadu_pd(c + i);
        __mmask8 which = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_GT_OQ);
        _mm512_storeu_pd(c + i, _mm512_mask_mul_pd(z, which, z, _mm512_set1_pd(0.5)));
    }
}
/* 16 lanes of float, masks of every population from 0 to 16, zeroing and merging. */
TARGET("avx512f,avx512vl") void masked_float(void) {
    for (int i = 0; i <= 16; i++) {
        __mmask16 which = (__mmask16)((1u << i) - 1);
        __m512 x = _mm512_loadu_ps(f + i), y = _mm512_loadu_ps(g + i);
        _mm512_storeu_ps(f + i, _mm512_maskz_add_ps(which, x, y));
        __m256 u = _mm256_loadu_ps(f + 500 + i), v = _mm256_loadu_ps(g + i);
        _mm256_storeu_ps(f + 500 + i, _mm256_mask_sub_ps(u, (__mmask8)which, u, v));
        __m128 w = _mm_load_ss(f + 700 + i);
        f[700 + i] = _mm_cvtss_f32(_mm_mask_mul_ss(w, (__mmask8)(i & 1), w, w));
    }
}
TARGET("avx512fp16,avx512vl") void half(void) {
    static _Float16 h[64];
    for (int i = 0; i < 64; i++) h[i] = (_Float16)(i % 5);
    __m512h x = _mm512_loadu_ph(h), y = _mm512_loadu_ph(h + 32);
    for (int i = 0; i < 10; i++) {
        y = _mm512_fmadd_ph(x, x, y);
        y = _mm512_mask_add_ph(y, 0x0000ffff, y, x);
        y = _mm512_mask_sub_ph(y, 0x80000001, y, x);
    }
    _mm512_storeu_ph(h, y);
    for (int i = 0; i < 32; i++) f[i] += (float)h[i];
}
TARGET("avx512bf16,avx512f") void bfloat(void) {
    __m512 sum = _mm512_setzero_ps();
    for (int i = 0; i + 32 <= 512; i += 16) {
        __m512bh x = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(g + i), _mm512_loadu_ps(g + i + 16));
        sum = _mm512_dpbf16_ps(sum, x, x);
        sum = _mm512_mask_dpbf16_ps(sum, 0x00ff, x, x);
    }
    _mm512_storeu_ps(f, sum);
}
TARGET("avx512vnni,avx512f") void vnni(void) {
    __m512i sum = _mm512_setzero_si512();
    for (int i = 0; i < 50; i++) {
        __m512i x = _mm512_set1_epi8((char)i), y = _mm512_set1_epi16((short)(i * 3));
        sum = _mm512_dpbusd_epi32(sum, x, y);
        sum = _mm512_mask_dpwssd_epi32(sum, 0x1111, x, y);
    }
    c[0] = _mm512_reduce_add_epi32(sum);
}
TARGET("avx2,fma") void fused(void) {
    for (int i = 0; i + 4 <= N; i += 4) {
        __m256d x = _mm256_loadu_pd(a + i), y = _mm256_loadu_pd(b + i), z = _mm256_loadu_pd(c + i);
        _mm256_storeu_pd(c + i, _mm256_fmsubadd_pd(x, y, _mm256_fnmadd_pd(x, y, z)));
    }
}
TARGET("avx2") void gathered(void) {
    for (int i = 0; i + 8 <= 512; i += 8) {
        __m256i at = _mm256_set_epi32(7 + i, 1, 5, i, 3, 2 + i, 9, 0);
        __m256 x = _mm256_i32gather_ps(g, at, 4);
        _mm256_storeu_ps(f + i, _mm256_add_ps(x, _mm256_maskload_ps(f + i, at)));
    }
}
__attribute__((noinline)) void old(void) { /* x87: 3 additions and 2 products in each round */
    for (int i = 0; i < N; i++) {
        long double x = c[i], y = a[i];
        __asm__ volatile("fld %1\n fldt %2\n fadd %%st(1), %%st\n fmul %%st(1), %%st\n"
                         "fadd %%st(1), %%st\n fmulp\n fadds %3\n fstpt %0"
                         : "=m"(x) : "f"(y), "m"(x), "m"(g[i]) : "st(7)");
        c[i] = (double)x;
    }
}

/* Tiles of odd sizes. */
typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} __attribute__((packed)) Tiles;
static int tiles_allowed(void) { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }

static uint8_t from_1[1024], from_2[1024], sums[1024];
/* (rows x 4 k) times (4 k x columns): `k` 32-bit words of each row. */
TARGET("amx-tile,amx-int8,amx-bf16") void tile(int rows, int columns, int k, int times, int bf16) {
    Tiles how = {.palette = 1};
    how.rows[0] = rows, how.bytes[0] = columns * 4; /* sums */
    how.rows[1] = rows, how.bytes[1] = k * 4;
    how.rows[2] = k, how.bytes[2] = columns * 4;
    _tile_loadconfig(&how);
    _tile_zero(0);
    _tile_loadd(1, from_1, 64);
    _tile_loadd(2, from_2, 64);
    for (int i = 0; i < times; i++) {
        if (bf16) _tile_dpbf16ps(0, 1, 2);
        else _tile_dpbssd(0, 1, 2);
    }
    _tile_stored(0, sums, 64);
    _tile_release();
}
static void tiles(void) {
    for (int i = 0; i < 1024; i++) {
        from_1[i] = (uint8_t)(i % 4 == 3 ? 0x3f : i % 4 == 1 ? 0x40 : i);
        from_2[i] = (uint8_t)(i % 4 == 3 ? 0x3f : i % 4 == 1 ? 0x40 : i * 3);
    }
    memset(sums, 0, sizeof sums);
    for (int bf16 = 0; bf16 < 2; bf16++) {
        tile(16, 16, 16, 10, bf16);
        tile(3, 5, 7, 20, bf16);
        tile(1, 16, 1, 30, bf16);
        tile(16, 1, 16, 40, bf16);
        for (int i = 0; i < 1000; i++) f[i] = sums[i] + f[i] / 2;
    }
}

static int run(void (*what)(void), const char *name, int times) {
    fill();
    for (int i = 0; i < times; i++) what();
    return report(name);
}
#define MODE(name)                                                                                 \
    static int do_##name(int argc, char **argv) {                                                  \
        (void)argc, (void)argv;                                                                    \
        return run(name, #name, TIMES);                                                            \
    }
MODE(masked_tail)
MODE(masked_if)
MODE(masked_float)
MODE(half)
MODE(bfloat)
MODE(vnni)
MODE(fused)
MODE(gathered)
MODE(old)
static int do_tiles(int argc, char **argv) {
    (void)argc, (void)argv;
    EXPECT(tiles_allowed());
    return run(tiles, "tiles", 3);
}

static const Mode modes[] = {
    {"masked_tail", do_masked_tail}, {"masked_if", do_masked_if},
    {"masked_float", do_masked_float}, {"half", do_half}, {"bfloat", do_bfloat},
    {"vnni", do_vnni}, {"fused", do_fused}, {"gathered", do_gathered}, {"old", do_old},
    {"tiles", do_tiles},
};
RUN_MODES(modes)
