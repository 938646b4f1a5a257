/* Leaving functions by other ways than their end. usage: stacks MODE */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include "modes.h"

static int report(const char *what, uint64_t number) {
    printf("%s %016llx\n", what, (unsigned long long)number);
    return 0;
}

/* From ten calls below, 20000 times. */
static jmp_buf back;
#pragma GCC diagnostic ignored "-Winfinite-recursion" /* it ends by a jump */
__attribute__((noinline)) static int dives(int depth, uint64_t with) {
    if (depth == 0) longjmp(back, (int)(work(with, 5) & 0xffff) + 1);
    return dives(depth - 1, with + depth) + 1;
}
static int jumps(int argc, char **argv) {
    (void)argc, (void)argv;
    volatile uint64_t sum = 0;
    for (volatile int i = 0; i < 20000; i++) {
        int how = setjmp(back);
        if (how == 0) dives(i % 10, i);
        sum = sum * 3 + how;
    }
    return report("jumps", sum);
}
/* The compiler's own, which keep the address of a label. */
static void *buffer[5];
__attribute__((noinline)) static void leaves(void) { __builtin_longjmp(buffer, 1); }
static int builtin(int argc, char **argv) {
    (void)argc, (void)argv;
    volatile uint64_t sum = 0;
    for (volatile int i = 0; i < 1000; i++) {
        if (__builtin_setjmp(buffer) == 0) leaves();
        else sum += work(i, 5);
    }
    return report("builtin", sum);
}
/* A function within a function: the compiler writes code onto the stack. */
static int nested(int argc, char **argv) {
    (void)argv;
    uint64_t sum = 0;
    int add(const void *one, const void *other) {
        sum = sum * 3 + argc;
        return *(const int *)one - *(const int *)other;
    }
    int numbers[100];
    for (int i = 0; i < 100; i++) numbers[i] = (i * 37) % 101;
    qsort(numbers, 100, sizeof *numbers, add);
    for (int i = 0; i < 100; i++) sum = sum * 31 + numbers[i];
    return report("nested", sum);
}

/* Coroutines: stacks of the program's own, changed 40000 times. */
static ucontext_t of_main, of_others[4];
static uint64_t total;
static void coroutine(int which) {
    for (int i = 0; i < 5000; i++) {
        total = total * 3 + work(which * 1000 + i, 5);
        swapcontext(&of_others[which], &of_others[(which + 1) % 4]);
    }
}
static int contexts(int argc, char **argv) {
    (void)argc, (void)argv;
    static _Alignas(64) char rooms[4][65536];
    for (int i = 0; i < 4; i++) {
        getcontext(&of_others[i]);
        of_others[i].uc_stack.ss_sp = rooms[i];
        of_others[i].uc_stack.ss_size = sizeof rooms[i];
        of_others[i].uc_link = &of_main;
        makecontext(&of_others[i], (void (*)(void))coroutine, 1, i);
    }
    swapcontext(&of_main, &of_others[0]);
    return report("contexts", total);
}
/* A context that moves from thread to thread, as in M:N schedulers. */
static ucontext_t traveller, home;
static void travels(void) {
    for (int i = 0; i < 500; i++) {
        total = total * 3 + work(i, 20);
        swapcontext(&traveller, &home);
    }
}
static void *carries(void *unused) {
    (void)unused;
    swapcontext(&home, &traveller);
    return NULL;
}
static int travelling(int argc, char **argv) {
    (void)argc, (void)argv;
    static _Alignas(64) char room[65536];
    getcontext(&traveller);
    traveller.uc_stack.ss_sp = room;
    traveller.uc_stack.ss_size = sizeof room;
    makecontext(&traveller, travels, 0);
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, carries, NULL);
        pthread_join(thread, NULL);
    }
    return report("travelling", total);
}

/* How deep backtrace() and libgcc see, and in which functions. */
__attribute__((noinline)) static int frames(int depth) {
    void *found[200];
    if (depth == 0) return backtrace(found, 200);
    int n = frames(depth - 1);
    __asm__ volatile("" : "+r"(n));
    return n;
}
static int backtraces(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 200; i++)
        EXPECT(frames(i % 50) - frames(0) == i % 50);
    printf("frames %d\n", frames(20));
    return 0;
}
static int compares(const void *one, const void *other) { /* through qsort of libc */
    if (total == 0) total = frames(3);
    return *(const int *)one - *(const int *)other;
}
__attribute__((noinline)) int named_one(int argc, char **argv) {
    void *found[50];
    (void)argc, (void)argv;
    int n = backtrace(found, 50);
    char **names = backtrace_symbols(found, n);
    for (int i = 0; i < n; i++) {
        char *begin = strchr(names[i], '('), *end = begin ? strchr(begin, '+') : NULL;
        if (end && end > begin + 1) printf("%.*s\n", (int)(end - begin - 1), begin + 1);
        else printf("?\n");
    }
    free(names);
    return n;
}
__attribute__((noinline)) int named_two(int argc, char **argv) {
    int n = named_one(argc, argv);
    __asm__ volatile("" : "+r"(n));
    return n;
}
static int symbols(int argc, char **argv) { /* linked with -rdynamic */
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compares);
    printf("%d frames, %d through qsort\n", named_two(argc, argv), (int)total);
    return 0;
}
/* Each frame's function is where its caller thinks that it is. */
static _Unwind_Reason_Code looks(struct _Unwind_Context *context, void *sum) {
    uintptr_t start = _Unwind_GetRegionStart(context);
    void *enclosing = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1));
    *(uint64_t *)sum = *(uint64_t *)sum * 10 + (start == (uintptr_t)enclosing) +
                       (start == (uintptr_t)named_one) * 2;
    return _URC_NO_REASON;
}
__attribute__((noinline)) static uint64_t regions_of(int depth) {
    uint64_t sum = 0;
    if (depth == 0) _Unwind_Backtrace(looks, &sum);
    else sum = regions_of(depth - 1);
    __asm__ volatile("" : "+r"(sum));
    return sum;
}
static int regions(int argc, char **argv) {
    (void)argc, (void)argv;
    return report("regions", regions_of(3));
}
/* From a handler that interrupts the program somewhere. */
static volatile int least = 1000, seen;
static void traces(int number) {
    void *found[100];
    (void)number;
    int n = backtrace(found, 100);
    seen++;
    if (n < least) least = n;
}
__attribute__((noinline)) static uint64_t computes(int depth, int i) {
    uint64_t result = depth == 0 ? work(i, 2000) : computes(depth - 1, i) + 1;
    __asm__ volatile("" : "+r"(result));
    return result;
}
static int handler(int argc, char **argv) {
    (void)argc, (void)argv;
    void *found[10];
    backtrace(found, 10); /* loads libgcc_s outside of a handler */
    struct sigaction action = {.sa_handler = traces, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    uint64_t sum = 0;
    for (int i = 0; i < 200; i++) {
        sum = sum * 3 + computes(10, i);
        raise(SIGPROF);
    }
    printf("%d times, at least %d frames\n", seen, least);
    return report("handler", sum);
}

/* 100 MiB of stack. */
__attribute__((noinline)) static uint64_t deep(int left, volatile char *above) {
    volatile char here[1000];
    here[0] = above[0] + 1;
    here[left % 1000] = here[0] * 3;
    uint64_t sum = left == 0 ? work(1, 10) : deep(left - 1, here);
    return sum * 3 + here[left % 1000];
}
static void *runs_deep(void *unused) {
    (void)unused;
    volatile char top[1] = {0};
    total = deep(100000, top);
    return NULL;
}
static int huge(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_attr_t how;
    pthread_t thread;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 256 << 20);
    EXPECT(pthread_create(&thread, &how, runs_deep, NULL) == 0);
    pthread_join(thread, NULL);
    return report("huge", total);
}

static const Mode modes[] = {
    {"jumps", jumps},     {"builtin", builtin},       {"nested", nested},
    {"contexts", contexts}, {"travelling", travelling}, {"backtraces", backtraces},
    {"symbols", symbols}, {"regions", regions},       {"handler", handler}, {"huge", huge},
};
RUN_MODES(modes)
