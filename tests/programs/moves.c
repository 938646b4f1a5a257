/* Accesses of every kind, at addresses that are the same in every run. usage: moves KERNEL REPEATS
 *
 * Link it without -pie: arrays and code then lie where the file says, the stack among them. Each
 * kernel is a function of its name, called in the region "hot", whose marks touch nothing else.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone)) static void
#define N 40000
#define ARRAY __attribute__((aligned(4096)))

static double a[N] ARRAY, b[N] ARRAY, c[N] ARRAY;
static int32_t indices[N] ARRAY;
static void *chain[N] ARRAY;
static volatile double sink;

KERNEL triad(void) {
    for (long i = 0; i < N; i++) c[i] = a[i] + 3 * b[i];
}

KERNEL stencil(void) {
    for (long i = 1; i < 199; i++)
        for (long j = 200 * i + 1; j < 200 * i + 199; j++)
            b[j] = 0.25 * (a[j - 1] + a[j + 1] + a[j - 200] + a[j + 200]);
}

KERNEL randomly(void) {
    double sum = 0;
    uint64_t r = 88172645463325252u;
    for (long i = 0; i < 100000; i++) {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        sum += a[r % N];
        if (r & 1024) b[(r >> 20) % N] = sum;
    }
}

KERNEL matmul(void) {
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 100; k++)
            for (int j = 0; j < 100; j++) c[i * 100 + j] += a[i * 100 + k] * b[k * 100 + j];
}

KERNEL gather(void) {
    __m256d sum = _mm256_setzero_pd();
    for (long i = 0; i < N; i += 4)
        sum = _mm256_add_pd(
            sum, _mm256_i32gather_pd(a, _mm_load_si128((const __m128i *)(indices + i)), 8));
    sink = sum[0];
}

KERNEL gather_some(void) {
    __m256 sum = _mm256_setzero_ps();
    const __m256 mask = _mm256_castsi256_ps(_mm256_set_epi32(0, -1, -1, 0, 0, 0, -1, 0));
    for (long i = 0; i < N; i += 8)
        sum = _mm256_mask_i32gather_ps(
            sum, (const float *)b, _mm256_load_si256((const __m256i *)(indices + i)), mask, 4);
    sink = sum[1];
}

KERNEL masked(void) {
    const __m256i mask = _mm256_set_epi64x(0, -1, 0, -1);
    for (long i = 0; i < N - 4; i += 3)
        _mm256_maskstore_pd(b + i, mask, _mm256_maskload_pd(a + i, mask));
}

KERNEL nontemporal(void) {
    for (long i = 0; i < N; i += 4) _mm256_stream_pd(c + i, _mm256_load_pd(a + i));
}

KERNEL prefetching(void) {
    for (long i = 0; i < N - 128; i += 8) {
        _mm_prefetch((const char *)(a + i + 64), _MM_HINT_T0);
        _mm_prefetch((const char *)(b + i + 64), _MM_HINT_T1);
        _mm_prefetch((const char *)(c + i + 64), _MM_HINT_NTA);
        c[i] = a[i] + b[i];
    }
}

KERNEL strings(void) {
    void *to = c;
    const void *from = a;
    long n = 4 * N + 3;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    to = b;
    n = N / 2;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0) : "memory");
    to = (char *)c + 4 * N;
    from = (const char *)b + 4 * N;
    n = 1000;
    __asm__ volatile("std\n rep movsl\n cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    n = 0;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
    to = a;
    from = b;
    n = N;
    __asm__ volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
    to = c;
    n = N;
    __asm__ volatile("repne scasb" : "+D"(to), "+c"(n) : "a"(77) : "memory", "cc");
}

KERNEL update(void) {
    for (long i = 0; i < N; i += 3) {
        a[i] += 1;
        ((int *)b)[2 * i]++;
    }
}

KERNEL unaligned(void) {
    for (long i = 0; i < 8 * N - 64; i += 37)
        _mm256_storeu_pd((double *)((char *)c + i),
                         _mm256_loadu_pd((const double *)((char *)a + i)));
}

KERNEL pointers(void) {
    void **at = chain;
    for (int i = 0; i < 100000; i++) at = *at;
    sink = (double)(uintptr_t)at;
}

KERNEL pushes(void) { /* on a stack of its own, which lies where it lay last time */
    for (int i = 0; i < 200; i++)
        __asm__ volatile("movq %%rsp, %%r12\n leaq %0, %%rsp\n movl $2000, %%ecx\n"
                         "1: pushq %%rcx\n call 3f\n decl %%ecx\n jnz 1b\n"
                         "movl $2000, %%ecx\n 2: popq (%%rsp)\n decl %%ecx\n jnz 2b\n"
                         "movq %%r12, %%rsp\n jmp 4f\n 3: ret $0\n 4:"
                         : : "m"(c[N - 8]) : "r12", "rcx", "cc", "memory");
}

static const struct {
    const char *name;
    void (*run)(void);
} kernels[] = {
#define ONE(name) {#name, name},
    ONE(triad) ONE(stencil) ONE(randomly) ONE(matmul) ONE(gather) ONE(gather_some) ONE(masked)
    ONE(nontemporal) ONE(prefetching) ONE(strings) ONE(update) ONE(unaligned) ONE(pointers)
    ONE(pushes)
};

static char stack[65536] ARRAY;
static uint64_t words[6] ARRAY;
static int repeats;
static void (*chosen)(void);

static void mark(uint64_t request) {
    uint64_t result;
    words[0] = request;
    words[1] = (uint64_t)"hot";
    __asm__ volatile("rolq $3, %%rdi\n rolq $13, %%rdi\n rolq $61, %%rdi\n rolq $51, %%rdi\n"
                     "xchgq %%rbx, %%rbx"
                     : "=d"(result) : "a"(words), "0"(0) : "cc", "memory");
}

__attribute__((noinline, noclone, used)) static void measured(void) {
    mark(0x52500000);
    for (int r = 0; r < repeats; r++) chosen();
    mark(0x52500001);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    for (long i = 0; i < N; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
        indices[i] = (int32_t)(i * 7919 % N);
        chain[i] = &chain[(i + 7919) % N];
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (!strcmp(kernels[k].name, argv[1])) chosen = kernels[k].run;
    repeats = atoi(argv[2]);
    if (!chosen) return 2;
    __asm__ volatile("movq %%rsp, %%rbx\n leaq %0, %%rsp\n call measured\n movq %%rbx, %%rsp"
                     : : "m"(stack[sizeof stack - 4096])
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
                       "memory");
    return 0;
}
