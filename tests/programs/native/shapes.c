/* Calls what shapes.S has. usage: shapes MODE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "modes.h"

static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}

typedef int Int(int, int);
typedef uint64_t Word(uint64_t, uint64_t);
extern Int bytes_1, bytes_2, bytes_3, bytes_4, bytes_4_again, after_short_jump, no_table;
extern Int data_inside, overlapping, call_and_pop, inline_argument, push_and_return;
extern Int flags_returned, loops, forms, jumps_on, all_flags, pushed_flags;
extern Word bytes_short_jump, entered_twice, enters_late, computed_offset;
extern Word many_branches, red_zone, swaps_fs, around_call, old_call;
extern unsigned __int128 carries(const uint64_t *words, uint64_t n);
extern uint64_t two_chains(uint64_t *to, const uint64_t *from, uint64_t factor, uint64_t n);
extern uint64_t strings(const char *one, const char *other, uint64_t n);
extern char *backwards(char *to, const char *from, uint64_t n);
extern int transaction(uint64_t *word), per_cpu(void *area, uint64_t *words);

static int small(int argc, char **argv) {
    (void)argc, (void)argv;
    Int *volatile all[] = {bytes_3, bytes_4, bytes_4_again};
    void (*volatile none[])(void) = {(void (*)(void))bytes_1, (void (*)(void))bytes_2,
                                     (void (*)(void))after_short_jump};
    for (int i = 0; i < 3000; i++) {
        mix(all[i % 3](i, 2 * i));
        none[i % 3]();
        mix(bytes_4(i, 3) + bytes_4_again(i, 7) + bytes_3(i, i));
        mix(bytes_short_jump(i, 0));
    }
    return report("small");
}
static int middle(int argc, char **argv) {
    (void)argc, (void)argv;
    Word *volatile by_pointer = entered_twice;
    for (int i = 0; i < 1000; i++) {
        EXPECT(entered_twice(i, 0) == (uint64_t)i + 10 && by_pointer(i, 0) == (uint64_t)i + 10);
        EXPECT(enters_late(i, 0) == (uint64_t)i + 10);
        mix(computed_offset(i % 9, 0));
    }
    return report("middle");
}
static int unknown(int argc, char **argv) {
    (void)argc, (void)argv;
    Int *volatile hidden = no_table;
    for (int i = 0; i < 1000; i++) {
        mix(hidden(i % 6, 0));
        mix(data_inside(i % 6, 0));
        mix(overlapping(i % 6, 0));
        mix(push_and_return(i, 0));
    }
    return report("unknown");
}
static int call_pop(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 1000; i++) EXPECT(call_and_pop(i, 0) == 123456 + i);
    return report("call_pop");
}
static int inlined(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 1000; i++) EXPECT(inline_argument(i, 0) == 4711 + i);
    return report("inlined");
}
static const uint64_t odd[] = {0, 1, 2, 127, 128, 255, 1ull << 31, (1ull << 31) - 1, 1ull << 32,
                               1ull << 63, (1ull << 63) - 1, ~0ull, ~0ull - 1, 0x8080808080808080};
#define N_ODD (sizeof odd / sizeof *odd)
static int flags(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < N_ODD; i++)
            for (size_t j = 0; j < N_ODD; j++) {
                uint64_t one = odd[i] + round, other = odd[j];
                mix(many_branches(one, other));
                mix(all_flags((int)one, (int)other));
                mix(pushed_flags((int)one, (int)other));
                mix(red_zone(one, other));
                mix(flags_returned((int)one, (int)other));
            }
    return report("flags");
}
static int chains(int argc, char **argv) {
    (void)argc, (void)argv;
    __builtin_cpu_init();
    int has = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2");
    uint64_t words[64], to[64];
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 64; i++) words[i] = work(round + i, 3), to[i] = work(i, 5);
        unsigned __int128 both = carries(words, 1 + round % 64);
        mix((uint64_t)both);
        mix((uint64_t)(both >> 64));
        if (has) mix(two_chains(to, words, words[0], 1 + round % 64));
        for (int i = 0; i < 64; i++) mix(to[i]);
    }
    return report("chains");
}
static int string(int argc, char **argv) {
    (void)argc, (void)argv;
    char one[300], other[300], third[300];
    for (int i = 0; i < 300; i++) one[i] = other[i] = "abcdefghx"[i % 9];
    for (int i = 0; i < 600; i++) {
        other[i % 300] ^= i % 7 ? 0 : 2;
        mix(loops(i % 20 + (i % 5 ? 0 : 1), i % 12));
        mix(strings(one, other, i % 300));
        mix(backwards(third, one, i % 300) - third);
        for (int j = 0; j < i % 300; j++) mix(third[j]);
    }
    return report("string");
}
static int odd_forms(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 1000; i++) mix(forms(i * 12345, 0)), mix(jumps_on(i % 3, 0));
    return report("forms");
}
static int system_calls(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 1000; i++) mix(around_call(0, 0));
    for (int i = 0; i < 100; i++) {
        char *page = mmap(NULL, 4096 * 3, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(page != MAP_FAILED && syscall(SYS_munmap, page, 4096 * 3) == 0);
        EXPECT(syscall(SYS_gettid) == getpid());
    }
    return report("system_calls");
}
static int old_calls(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 100; i++) EXPECT((pid_t)old_call(0, 0) == getpid());
    return report("old_calls");
}
static int fs_base(int argc, char **argv) {
    (void)argc, (void)argv;
    static uint64_t words[16];
    for (int i = 0; i < 16; i++) words[i] = work(i, 2);
    for (int i = 0; i < 1000; i++) mix(swaps_fs((uint64_t)words, i % 16 * 8));
    return report("fs_base");
}
static int transactions(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t word = 0, failed = 0;
    for (int i = 0; i < 10000; i++)
        if (transaction(&word)) word++, failed++;
    mix(word);
    (void)failed;
    return report("transactions");
}
static uint64_t of_cpus[1024][8] __attribute__((aligned(64)));
static void *counts_per_cpu(void *unused) {
    void *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    for (int i = 0; i < 1000000; i++)
        while (per_cpu(area, of_cpus[0])) {}
    return unused;
}
static int restartable(int argc, char **argv) {
    (void)argc, (void)argv;
    EXPECT(__rseq_size > 0);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, counts_per_cpu, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    uint64_t total = 0;
    for (int i = 0; i < 1024; i++) total += of_cpus[i][0];
    printf("%llu\n", (unsigned long long)total);
    return 0;
}

/* Code that is changed while the program runs: the immediate of a function of its own. */
__attribute__((noinline)) uint64_t patched(uint64_t with);
__asm__(".text\n.p2align 4\n.globl patched\n.type patched, @function\npatched:\n.cfi_startproc\n"
        " leaq 1(%rdi), %rax\n imulq $0x11111111, %rax, %rax\n ret\n"
        ".cfi_endproc\n.size patched, .-patched\n .fill 8192, 1, 0xcc\n");
static void writable(void *at, int how) {
    uintptr_t page = (uintptr_t)at & ~4095ul;
    EXPECT(mprotect((void *)page, 8192, how) == 0);
}
static int changed(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t (*volatile function)(uint64_t) = patched;
    for (uint32_t i = 0; i < 200; i++) {
        mix(patched(i) + function(i));
        writable((void *)patched, PROT_READ | PROT_WRITE | PROT_EXEC);
        uint32_t number = 0x22222222 + i * 3;
        memcpy((char *)patched + 7, &number, 4);
        writable((void *)patched, PROT_READ | PROT_EXEC);
    }
    return report("changed");
}
/* The whole function is replaced by another of another length. */
static int replaced(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t (*volatile function)(uint64_t) = patched;
    static const uint8_t other[] = {0x48, 0x8d, 0x47, 0x63, 0xc3}; /* lea rax, [rdi + 99]; ret */
    static const uint8_t one[] = {0x48, 0x8d, 0x47, 0x01, 0x48, 0x69, 0xc0, 0x11, 0x11, 0x11, 0x11,
                                  0xc3};
    for (uint32_t i = 0; i < 100; i++) {
        mix(patched(i) + function(i));
        writable((void *)patched, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (i % 2) memcpy((void *)patched, one, sizeof one);
        else memcpy((void *)patched, other, sizeof other);
        writable((void *)patched, PROT_READ | PROT_EXEC);
    }
    return report("replaced");
}
/* Its own bytes, as programs that guard themselves sum them. */
extern const char __executable_start[], etext[];
static int self_check(int argc, char **argv) {
    (void)argc, (void)argv;
    for (const uint8_t *at = (const uint8_t *)bytes_1; at < (const uint8_t *)etext; at++) mix(*at);
    return report("self_check");
}
/* Who called, as asserts and allocators ask. */
__attribute__((noinline)) static void *who(void) { return __builtin_return_address(0); }
__attribute__((noinline)) int asks(int argc, char **argv) {
    (void)argc, (void)argv;
    Dl_info info;
    EXPECT(dladdr(who(), &info));
    printf("called from %s\n", info.dli_sname ? info.dli_sname : "nothing");
    uintptr_t at = (uintptr_t)who();
    printf("%s the program\n", at >= (uintptr_t)__executable_start && at < (uintptr_t)etext
                                   ? "inside" : "outside");
    return 0;
}

static const Mode modes[] = {
    {"small", small},       {"middle", middle},     {"unknown", unknown}, {"call_pop", call_pop},
    {"inlined", inlined},   {"flags", flags},       {"chains", chains},   {"string", string},
    {"forms", odd_forms},   {"system_calls", system_calls}, {"old_calls", old_calls},
    {"fs_base", fs_base},
    {"transactions", transactions}, {"restartable", restartable}, {"changed", changed},
    {"replaced", replaced}, {"self_check", self_check}, {"asks", asks},
};
RUN_MODES(modes)
