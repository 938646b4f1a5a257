/* Every fused multiply-add of x86-64, on ordinary and odd numbers. usage: fused N [all]
 *
 * Prints for each form of each instruction a hash of the 256 bits that it left in its
 * destination for N random operands; with "all" also for operands among which there are NaNs. Then
 * of code that reads and overwrites halves of their results, and of one whose operand is not there.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const uint64_t odd64[] = {
    0, 1ull << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF,
    0x7FF0000000000000, 0xFFF0000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
    0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0x4340000000000000, 0x3CA0000000000000,
    0x8000000000000001, 0x0018000000000001,
    0x7FF8000000000000, 0xFFF8000000000123, 0x7FF0000000000001, 0xFFF4000000000777};
static const uint32_t odd32[] = {
    0, 1u << 31, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x3F800000,
    0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x4B800000, 0x33000000, 0x80000001, 0x00C00001,
    0x7FC00000, 0xFFC00123, 0x7F800001, 0xFFA00777};
enum { NUMBERS = 16, ALL = 20 };

static int n_odd = NUMBERS, n_trials;
static uint64_t seed;
static char *page; /* the one after it is not there */

static uint64_t random_bits(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}
static uint64_t number64(void) { /* odd, near one, or of any exponent; no NaN by chance */
    uint64_t bits = random_bits();
    switch (random_bits() % 4) {
    case 0: return odd64[random_bits() % (unsigned)n_odd];
    case 1: return (bits & 0x800FFFFFFFFFFFFF) | (0x3FEull + bits % 3) << 52;
    case 2: return (bits & 0x800FFFFFFFFFFFFF) | (bits >> 20) % 2047 << 52;
    default: return bits & 0x8010000000000000 ? bits & 0xBFFFFFFFFFFFFFFF : bits >> 12;
    }
}
static uint32_t number32(void) {
    uint32_t bits = (uint32_t)random_bits();
    switch (random_bits() % 4) {
    case 0: return odd32[random_bits() % (unsigned)n_odd];
    case 1: return (bits & 0x807FFFFF) | (0x7E + bits % 3) << 23;
    case 2: return (bits & 0x807FFFFF) | (bits >> 7) % 255 << 23;
    default: return bits & 0xBFFFFFFF;
    }
}
static uint64_t hashed(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * 0x100000001B3;
    return hash;
}

typedef struct {
    uint64_t a[4], b[4], c[4], unaligned[8];
} Operands;
static Operands operands;
static void fill(int is64) {
    uint64_t *words = (uint64_t *)&operands;
    for (size_t i = 0; i < 12; i++)
        words[i] = is64 ? number64() : number32() | (uint64_t)number32() << 32;
    memcpy((char *)operands.unaligned + 4, operands.c, sizeof operands.c);
    memcpy(page + 4096 - 48, operands.c, sizeof operands.c);
}

/* One form of one instruction: operands in ymm1 to ymm3, then the result. */
typedef struct {
    const char *name;
    int is64;
    void (*run)(void *result, const char *memory);
} Form;

#define LOAD "vmovdqu (%2), %%ymm1\n vmovdqu 32(%2), %%ymm2\n vmovdqu 64(%2), %%ymm3\n"
#define RUN(function, code)                                                                   \
    static void function(void *result, const char *memory) {                                  \
        __asm__ volatile(LOAD code "\n vmovdqu %%ymm1, (%0)"                                  \
                         : : "r"(result), "r"(memory), "r"(&operands), "r"(32l)               \
                         : "xmm1", "xmm2", "xmm3", "memory");                                 \
    }
#define FORMS_OF(op, v)                                                                       \
    RUN(op##_##v##_reg, #op " %%" #v "3, %%" #v "2, %%" #v "1")                               \
    RUN(op##_##v##_112, #op " %%" #v "2, %%" #v "1, %%" #v "1")                               \
    RUN(op##_##v##_121, #op " %%" #v "1, %%" #v "2, %%" #v "1")                               \
    RUN(op##_##v##_122, #op " %%" #v "2, %%" #v "2, %%" #v "1")                               \
    RUN(op##_##v##_111, #op " %%" #v "1, %%" #v "1, %%" #v "1")                               \
    RUN(op##_##v##_mem, #op " (%1), %%" #v "2, %%" #v "1")                                    \
    RUN(op##_##v##_sib, #op " -32(%1,%3), %%" #v "2, %%" #v "1")                              \
    RUN(op##_##v##_11m, #op " (%1), %%" #v "1, %%" #v "1")
#define LIST_OF(op, v, is64)                                                                  \
    {#op " " #v " 1,2,3", is64, op##_##v##_reg}, {#op " " #v " 1,1,2", is64, op##_##v##_112}, \
    {#op " " #v " 1,2,1", is64, op##_##v##_121}, {#op " " #v " 1,2,2", is64, op##_##v##_122}, \
    {#op " " #v " 1,1,1", is64, op##_##v##_111}, {#op " " #v " 1,2,m", is64, op##_##v##_mem}, \
    {#op " " #v " 1,2,sib", is64, op##_##v##_sib}, {#op " " #v " 1,1,m", is64, op##_##v##_11m},

#define ORDERS(DO, name, type, v, is64) \
    DO(name##132##type, v, is64) DO(name##213##type, v, is64) DO(name##231##type, v, is64)
#define TYPES(DO, name)                                                       \
    ORDERS(DO, name, pd, xmm, 1) ORDERS(DO, name, pd, ymm, 1)                 \
    ORDERS(DO, name, ps, xmm, 0) ORDERS(DO, name, ps, ymm, 0)
#define SCALARS(DO, name) ORDERS(DO, name, sd, xmm, 1) ORDERS(DO, name, ss, xmm, 0)
#define ALL_OF(DO)                                                            \
    TYPES(DO, vfmadd) TYPES(DO, vfmsub) TYPES(DO, vfnmadd) TYPES(DO, vfnmsub) \
    TYPES(DO, vfmaddsub) TYPES(DO, vfmsubadd)                                 \
    SCALARS(DO, vfmadd) SCALARS(DO, vfmsub) SCALARS(DO, vfnmadd) SCALARS(DO, vfnmsub)
#define DEFINE(op, v, is64) FORMS_OF(op, v)
#define LIST(op, v, is64) LIST_OF(op, v, is64)

ALL_OF(DEFINE)
static const Form forms[] = {ALL_OF(LIST)};

/* Halves of a result are overwritten, and read, between two that depend on each other. */
static void chain(uint64_t result[16]) {
    __asm__ volatile(
        LOAD
        "vfmadd213pd %%ymm3, %%ymm2, %%ymm1\n vmovlpd 8(%2), %%xmm1, %%xmm1\n"
        "vmovdqu %%ymm1, (%0)\n"
        "vfmadd231ps 36(%2), %%ymm1, %%ymm2\n movhpd 16(%2), %%xmm2\n vmovdqu %%ymm2, 32(%0)\n"
        "vfnmadd132sd %%xmm2, %%xmm1, %%xmm3\n vextractf128 $1, %%ymm2, %%xmm1\n"
        "vfmsubadd231pd %%ymm1, %%ymm2, %%ymm1\n vfmadd231ss %%xmm3, %%xmm2, %%xmm3\n"
        "vmovdqu %%ymm3, 64(%0)\n vmovdqu %%ymm1, 96(%0)\n"
        "vfmadd132pd 96(%0), %%ymm3, %%ymm1\n vmovdqu %%ymm1, 96(%0)\n"
        : : "r"(result), "r"(0l), "r"(&operands) : "xmm1", "xmm2", "xmm3", "memory");
}

static sigjmp_buf back;
static void jump_out(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

int main(int argc, char **argv) {
    n_trials = argc > 1 ? atoi(argv[1]) : 10;
    if (argc > 2) n_odd = ALL;
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint64_t hash = 0, result[4];
        seed = 88172645463325252u + i;
        for (int n = 0; n < n_trials; n++) {
            const char *places[] = {(char *)operands.c, (char *)operands.unaligned + 4,
                                    page + 4096 - 48};
            fill(forms[i].is64);
            forms[i].run(result, places[n % 3]);
            hash = hashed(hash, result, sizeof result);
        }
        printf("%s %016lx\n", forms[i].name, hash);
    }
    uint64_t hash = 0, results[16];
    for (int n = 0; n < n_trials; n++) {
        fill(n % 2);
        chain(results);
        hash = hashed(hash, results, sizeof results);
    }
    printf("chain %016lx\n", hash);
    /* The last lane of an operand is not there: nothing may have changed. */
    signal(SIGSEGV, jump_out);
    static uint64_t before[4];
    for (volatile int n = 0; n < 3; n++) {
        memset(before, 0x3F, sizeof before);
        if (!sigsetjmp(back, 1)) {
            __asm__ volatile("vmovdqu (%0), %%ymm1\n vfmadd231pd (%1), %%ymm1, %%ymm1\n"
                             "vmovdqu %%ymm1, (%0)" : : "r"(before), "r"(page + 4096 - 24)
                             : "xmm1", "memory");
        }
        printf("fault %016lx\n", hashed(0, before, sizeof before));
    }
    return 0;
}
