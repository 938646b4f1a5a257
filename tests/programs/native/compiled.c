/* What compilers make of branches, calls and constants: built with many options.
 * usage: compiled all */
#define _GNU_SOURCE
#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <wchar.h>

#include "modes.h"

static uint64_t sum = 1;
__attribute__((noinline)) static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }

/* An interpreter whose every instruction jumps to the next. */
__attribute__((noinline)) static uint64_t interpret(const uint8_t *code) {
    static const void *const labels[] = {&&push, &&add, &&mul, &&swap, &&jump, &&dup, &&end};
    uint64_t stack[16] = {0};
    int top = 0, left = 1000;
#define NEXT goto *labels[*code++]
    NEXT;
push: stack[++top & 15] = *code++; NEXT;
add: stack[(top - 1) & 15] += stack[top & 15], top--; NEXT;
mul: stack[(top - 1) & 15] *= stack[top & 15], top--; NEXT;
swap: {
    uint64_t kept = stack[top & 15];
    stack[top & 15] = stack[(top - 1) & 15], stack[(top - 1) & 15] = kept;
}
    NEXT;
jump: code += (--left > 0) ? (int8_t)*code : 1; NEXT;
dup: top++, stack[top & 15] = stack[(top - 1) & 15]; NEXT;
end: return stack[top & 15];
}
/* Labels as differences, which need no relocation. */
__attribute__((noinline)) static int relative(int which) {
    static const int offsets[] = {&&one - &&one, &&two - &&one, &&three - &&one, &&four - &&one};
    goto *(&&one + offsets[which & 3]);
one: return 11;
two: return 22 + which;
three: mix(5); return 33;
four: return 44 * which;
}

__attribute__((noinline)) static int dense(int i) {
    switch (i) {
    case 0: return 7; case 1: mix(1); return 9; case 2: return i * 7; case 3: mix(i); break;
    case 4: return dense(3) + 1; case 5: mix(8); /* fall through */ case 6: return 66;
    case 7: return -1; case 8: mix(88); return 8; case 9: return 99; case 11: return 111;
    case 12: case 13: case 14: return i + 100; case 15: mix(15); return 15; default: return 1000;
    }
    return 5;
}
__attribute__((noinline)) static int sparse(unsigned i) {
    switch (i) {
    case 1: return 4; case 100: return 5; case 1000: return 6; case 65536: return 7;
    case 1u << 20: return 8; case 1u << 30: return 9; case ~0u: return 10; case 5: return 11;
    case 12345: return 12; case 12346: return 13; case 12347: return 14; case 12348: return 15;
    }
    return 0;
}
__attribute__((noinline)) static uint64_t wide(uint64_t i) {
    switch (i) {
    case 0x100000000: return 1; case 0x100000001: return 5; case 0x100000002: return 9;
    case 0x100000003: mix(3); return 2; case 0x100000004: return 4; case 0x100000005: return 8;
    case 0x100000006: mix(6); return 3; case 0x100000007: return i >> 30;
    }
    return 77;
}
__attribute__((noinline)) static int characters(const char *text) {
    int n = 0;
    for (; *text; text++)
        switch (*text) {
        case 'a' ... 'f': n += 1; break;
        case 'A' ... 'F': n += 2; break;
        case '0' ... '9': switch (*text & 3) { case 0: n += 3; break; case 1: n *= 2; break;
                          case 2: n ^= 5; break; case 3: mix(n); } break;
        case ' ': case '\t': case '\n': n += 7; break;
        case '+': n = -n; break; case '-': n--; break; case '*': n *= 3; break;
        case '/': n /= 3; break; case '%': n %= 1000; break;
        default: n += 11;
        }
    return n;
}
/* Copies 1 to n bytes, entered in the middle of a loop. */
__attribute__((noinline)) static void duff(char *to, const char *from, int n) {
    int rounds = (n + 7) / 8;
    switch (n % 8) {
    case 0: do { *to++ = *from++; /* fall through */
    case 7: *to++ = *from++; /* fall through */
    case 6: *to++ = *from++; /* fall through */
    case 5: *to++ = *from++; /* fall through */
    case 4: *to++ = *from++; /* fall through */
    case 3: *to++ = *from++; /* fall through */
    case 2: *to++ = *from++; /* fall through */
    case 1: *to++ = *from++; } while (--rounds > 0);
    }
}

/* Each other's tails. */
static int odd_one(unsigned n);
__attribute__((noinline)) static int even_one(unsigned n) { return n ? odd_one(n - 1) : 1; }
__attribute__((noinline)) static int odd_one(unsigned n) { return n ? even_one(n - 1) : 0; }

typedef int Op(int, int);
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int times(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
static int over(int a, int b) { return b ? a / b : 0; }
static Op *const operators[] = {plus, minus, times, over};
__attribute__((noinline)) static int tail(int which, int a, int b) { return operators[which](a, b); }

__attribute__((noinline)) static double variadic(int n, ...) {
    va_list all;
    double total = 0;
    va_start(all, n);
    for (int i = 0; i < n; i++) total += i % 2 ? va_arg(all, double) : va_arg(all, int);
    va_end(all);
    return total;
}
typedef struct { double a[5]; int b; } Large;
__attribute__((noinline)) static Large returns(Large with, int i) {
    with.a[i % 5] += i;
    with.b ^= i;
    return with;
}
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static int dynamic(int n) {
    volatile char room[n + 1];
    for (int i = 0; i <= n; i++) room[i] = (char)(i * 3);
    return room[n] + room[n / 2];
}
__attribute__((noinline)) static double floats(double x, float y, long double z) {
    double complex c = x + y * I;
    c = c * c + 1 / (c + 3);
    return creal(c) + cimag(c) + (double)(z * z) + sin(x) + floor(y) + fma(x, x, y) +
           (double)(uint64_t)(x * 1e15) + (double)(unsigned)(y * 1e5f);
}
__attribute__((noinline)) static unsigned __int128 big(unsigned __int128 a, uint64_t b) {
    return a * b + (a >> 64) / (b | 1) - (a < b);
}
static _Thread_local int of_thread = 5;
extern _Thread_local int of_thread_elsewhere;
_Thread_local int of_thread_elsewhere = 3;
static int initialized[4] = {1, 2, 3, 4};
static int *pointers[] = {&initialized[2], &initialized[0], &initialized[3]};

static int compares(const void *a, const void *b) {
    return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static int all(int argc, char **argv) {
    (void)argc, (void)argv;
    static const uint8_t code[] = {0, 3, 0, 4, 1, 5, 2, 3, 0, 7, 1, 4, (uint8_t)-9, 6};
    for (int i = 0; i < 2000; i++) {
        mix(relative(i));
        mix(dense(i % 20 - 2));
        mix(sparse(i % 3 ? (unsigned)i * 257 : 1u << (i % 32)));
        mix(sparse(i % 7 + 12343));
        mix(wide(0x100000000 + i % 10));
        mix(tail(i % 4, i * 77777, i % 13));
        mix(odd_one(i % 100));
    }
    for (int i = 0; i < 50; i++) mix(interpret(code));
    mix(characters("The 0123 quick + Brown 45 FOX * jumps - over 6789 / the lazy % dog, twice"));
    for (int i = 1; i < 100; i++) {
        char to[100], from[100];
        for (int j = 0; j < 100; j++) from[j] = (char)(i * j), to[j] = 0;
        duff(to, from, i);
        for (int j = 0; j < 100; j++) mix(to[j]);
    }
    double total = 0;
    Large large = {{1, 2, 3, 4, 5}, 6};
    unsigned __int128 wide_one = 12345;
    for (int i = 1; i < 500; i++) {
        total = total * 0.5 + variadic(5, i, i * 0.5, i, 2.5, i) + floats(i * 0.25, i, i / 3.0L);
        large = returns(large, i);
        wide_one = big(wide_one, (uint64_t)i << 40 | 3);
        mix(dynamic(i));
        of_thread += of_thread_elsewhere++;
        *pointers[i % 3] += i;
    }
    mix((uint64_t)(wide_one >> 64) ^ (uint64_t)wide_one);
    int numbers[500];
    for (int i = 0; i < 500; i++) numbers[i] = (int)((unsigned)i * 2654435761u);
    qsort(numbers, 500, sizeof *numbers, compares);
    for (int i = 0; i < 500; i++) mix(numbers[i]);
    printf("%.17g %.17g %d %d\n", total, large.a[3] + large.b, of_thread, initialized[3]);
    printf("%s %ls %c %lx %+08.3e\n", "text", L"wide", 'c', 123456789l, -12.5);
    printf("all %016llx\n", (unsigned long long)sum);
    return 0;
}

static const Mode modes[] = {{"all", all}};
RUN_MODES(modes)
