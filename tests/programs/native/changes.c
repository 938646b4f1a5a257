/* Changes its own text while it runs. usage: changes MODE [LIBRARY]
 * With -DWRITABLE it may do so without asking. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modes.h"

typedef uint64_t Number(uint64_t);
static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}

/* On a page of their own: each returns a number that is written in it, and does what its name says
   before. Where numbers are: *_at. */
#define FUNCTION(name, body)                                                                       \
    extern Number name;                                                                            \
    __asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" body      \
            ".cfi_endproc\n.size " #name ", . - " #name "\n .p2align 4\n")
extern uint8_t number_at[], late_at[], once_more_at[];
#ifdef WRITABLE
#define SECTION ".section .own, \"awx\", @progbits\n"
#else
#define SECTION ".text\n"
#endif
__asm__(SECTION ".p2align 12\npage_begins:\n");
FUNCTION(number, "movl $1111, %eax\n number_at = . - 4\n addq %rdi, %rax\n ret\n");
/* Calls what changes its second half, then goes on there. */
FUNCTION(late, "pushq %rbx\n.cfi_adjust_cfa_offset 8\n movq %rdi, %rbx\n call *%rsi\n"
               " testq %rbx, %rbx\n jz 1f\n incq %rbx\n1: movl $2222, %eax\n late_at = . - 4\n"
               " addq %rbx, %rax\n popq %rbx\n.cfi_adjust_cfa_offset -8\n ret\n");
/* The same, in each round of a loop. */
FUNCTION(again, "pushq %rbx\n.cfi_adjust_cfa_offset 8\n pushq %rbp\n.cfi_adjust_cfa_offset 8\n"
                " pushq %r12\n.cfi_adjust_cfa_offset 8\n xorl %ebp, %ebp\n movl $9, %ebx\n"
                " movq %rsi, %r12\n1: movq %rdi, %rdi\n call *%r12\n imulq $3, %rbp, %rbp\n"
                " addq $3333, %rbp\n once_more_at = . - 4\n decl %ebx\n jnz 1b\n"
                " movq %rbp, %rax\n popq %r12\n.cfi_adjust_cfa_offset -8\n popq %rbp\n"
                ".cfi_adjust_cfa_offset -8\n popq %rbx\n.cfi_adjust_cfa_offset -8\n ret\n");
/* Nothing but a loop that needs nearly all registers, until *rdi is not 0. */
FUNCTION(spins, "pushq %rbx\n pushq %rbp\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
                " movl $1, %eax\n movl $2, %ecx\n movl $3, %edx\n movl $4, %ebx\n movl $5, %ebp\n"
                " movl $6, %esi\n movl $7, %r8d\n movl $8, %r9d\n movl $9, %r10d\n"
                " movl $10, %r11d\n movl $11, %r12d\n movl $12, %r13d\n movl $13, %r14d\n"
                " movl $14, %r15d\n"
                "1: incl %eax\n testb $1, %al\n jz 2f\n addl %eax, %ecx\n"
                "2: cmpl $0, (%rdi)\n jz 1b\n"
                " addq %r15, %r14\n addq %r14, %r13\n addq %r13, %r12\n addq %r12, %r11\n"
                " addq %r11, %r10\n addq %r10, %r9\n addq %r9, %r8\n addq %r8, %rsi\n"
                " addq %rsi, %rbp\n addq %rbp, %rbx\n addq %rbx, %rdx\n movq %rdx, %rax\n"
                " popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbp\n popq %rbx\n ret\n");
FUNCTION(calls, "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n call number\n incq %rax\n"
                " addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n ret\n");
__asm__(".p2align 12\npage_ends:\n.text\n");
extern uint8_t page_begins[], page_ends[];
#define PAGE_BYTES ((size_t)(page_ends - page_begins))

static void protect(int how) {
#ifdef WRITABLE
    how |= PROT_WRITE;
    if (how & PROT_EXEC) return;
#endif
    EXPECT(mprotect(page_begins, PAGE_BYTES, how) == 0);
}
static void write_number(uint8_t *at, uint32_t n) {
    protect(PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(at, &n, 4);
    protect(PROT_READ | PROT_EXEC);
}

static int direct(int argc, char **argv) { /* by a call, by a pointer, by a call from the page */
    (void)argc, (void)argv;
    Number *volatile function = number;
    for (uint32_t i = 0; i < 200; i++) {
        mix(number(i) + function(i) + calls(i));
        write_number(number_at, i * 7);
    }
    return report("direct");
}

static int rounds;
static void change_late(void) { write_number(late_at, ++rounds * 5); }
static void change_again(void) { write_number(once_more_at, ++rounds * 5); }
static int under_way(int argc, char **argv) { /* a function changes where it goes on */
    (void)argc, (void)argv;
    uint64_t (*volatile one)(uint64_t, void (*)(void)) = (void *)late;
    uint64_t (*volatile other)(uint64_t, void (*)(void)) = (void *)again;
    for (uint32_t i = 0; i < 50; i++) {
        mix(one(i, change_late));
        mix(other(i, change_again));
    }
    return report("under_way");
}

static jmp_buf back;
static void throws(void) {
    change_late();
    longjmp(back, 1);
}
static int jumped(int argc, char **argv) { /* past a function that was changed, while it runs */
    (void)argc, (void)argv;
    uint64_t (*volatile one)(uint64_t, void (*)(void)) = (void *)late;
    for (volatile uint32_t i = 0; i < 50; i++) {
        if (!setjmp(back)) mix(one(i, throws));
        mix(one(i, change_late));
    }
    return report("jumped");
}

/* Somebody puts himself before `number` and calls what was there by a copy of its beginning. */
static uint8_t *beginning;
static Number *volatile by_beginning;
static uint64_t instead(uint64_t n) { return by_beginning(n) * 2 + 1; }
static void put_jump(uint8_t *at, uint64_t to) {
    const int32_t distance = (int32_t)(to - (uint64_t)at - 5);
    *at = 0xe9;
    memcpy(at + 1, &distance, 4);
}
static int hooked(int argc, char **argv) {
    (void)argc, (void)argv;
    for (uint8_t *at = page_ends + (1 << 24); !beginning; at += 1 << 20) {
        uint8_t *page = mmap(at, 4096, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        beginning = page == MAP_FAILED ? NULL : page;
    }
    uint8_t saved[5];
    memcpy(saved, (void *)number, 5);
    memcpy(beginning, saved, 5);
    if (*saved == 0xe9) { /* whoever moves a jump must have it lead to where it led */
        int32_t distance;
        memcpy(&distance, saved + 1, 4);
        put_jump(beginning, (uint64_t)number + 5 + distance);
    }
    put_jump(beginning + 5, (uint64_t)number + 5);
    EXPECT(mprotect(beginning, 4096, PROT_READ | PROT_EXEC) == 0);
    by_beginning = (Number *)beginning;
    for (uint32_t i = 0; i < 20; i++) {
        protect(PROT_READ | PROT_WRITE | PROT_EXEC);
        if (i % 2) memcpy((void *)number, saved, 5);
        else put_jump((uint8_t *)number, (uint64_t)instead);
        protect(PROT_READ | PROT_EXEC);
        for (uint32_t k = 0; k < 5; k++) mix(number(k) + calls(k) + by_beginning(k));
    }
    return report("hooked");
}

static int remapped(int argc, char **argv) { /* the same text, in other memory */
    (void)argc, (void)argv;
    uint8_t *kept = malloc(PAGE_BYTES);
    for (uint32_t i = 0; i < 20; i++) {
        mix(number(i) + calls(i));
        memcpy(kept, page_begins, PAGE_BYTES);
        EXPECT(mmap(page_begins, PAGE_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page_begins);
        memcpy(page_begins, kept, PAGE_BYTES);
        protect(PROT_READ | PROT_EXEC);
        mix(number(i) + calls(i));
    }
    return report("remapped");
}
static int other_text(int argc, char **argv) { /* others' text where it was */
    (void)argc, (void)argv;
    static const uint8_t code[] = {0x48, 0x8d, 0x47, 0x63, 0xc3}; /* lea rax, [rdi + 99]; ret */
    mix(number(1) + calls(1));
    EXPECT(mmap(page_begins, PAGE_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page_begins);
    memcpy((void *)number, code, sizeof code);
    memcpy((void *)calls, code, sizeof code);
    protect(PROT_READ | PROT_EXEC);
    mix(number(1) + calls(2));
    return report("other_text");
}

static int stop;
static void *spinning(void *unused) {
    (void)unused;
    return (void *)spins((uint64_t)&stop);
}
static pthread_barrier_t barrier;
static void *calling(void *own) {
    uint64_t *all = own;
    for (uint32_t i = 0; i < 60; i++) {
        pthread_barrier_wait(&barrier);
        for (int k = 0; k < 100; k++) *all = *all * 31 + number(i) + calls(k);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
static int threads(int argc, char **argv) { /* others are in it, and in loops beside it */
    (void)argc, (void)argv;
    pthread_t all[3], other;
    uint64_t own[3] = {0};
    void *result;
    pthread_barrier_init(&barrier, NULL, 4);
    pthread_create(&other, NULL, spinning, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&all[i], NULL, calling, &own[i]);
    for (uint32_t i = 0; i < 60; i++) {
        write_number(number_at, i * 11);
        pthread_barrier_wait(&barrier);
        mix(number(i));
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(all[i], NULL);
        mix(own[i]);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(other, &result);
    mix((uint64_t)result);
    return report("threads");
}
/* One number is written while others read it: they see it before or after. */
static void *reading(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        const uint64_t n = number(0);
        EXPECT(n == 1111 || (n < 1000 && n % 3 == 0));
    }
    return unused;
}
static int raced(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t all[2];
    for (int i = 0; i < 2; i++) pthread_create(&all[i], NULL, reading, NULL);
    for (uint32_t i = 0; i < 300; i++) {
        protect(PROT_READ | PROT_WRITE | PROT_EXEC);
        __atomic_store_n((uint32_t *)number_at, i * 3, __ATOMIC_RELEASE);
        protect(PROT_READ | PROT_EXEC);
    }
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(all[i], NULL);
    mix(number(0));
    return report("raced");
}

static int forked(int argc, char **argv) {
    (void)argc, (void)argv;
    for (uint32_t i = 0; i < 20; i++) {
        const pid_t pid = fork();
        if (!pid) {
            write_number(number_at, i);
            _exit((int)(number(i) + calls(1)) & 127);
        }
        int status;
        EXPECT(waitpid(pid, &status, 0) == pid);
        mix(WEXITSTATUS(status));
        mix(number(i));
    }
    write_number(number_at, 5);
    mix(number(5));
    return report("forked");
}
static void handler(int signal) { write_number(number_at, (uint32_t)signal * ++rounds); }
static int signalled(int argc, char **argv) {
    (void)argc, (void)argv;
    signal(SIGUSR1, handler);
    for (uint32_t i = 0; i < 50; i++) {
        mix(number(i));
        raise(SIGUSR1);
        mix(number(i) + calls(i));
    }
    return report("signalled");
}
static uint64_t thrice(uint64_t n) { return 3 * n; }
static int library(int argc, char **argv) { /* that comes and goes */
    EXPECT(argc > 2);
    static const uint8_t code[] = {0x31, 0xc0, 0x04, 0x2a, 0xc3}; /* eax = 42 */
    for (int i = 0; i < 5; i++) {
        void *object = dlopen(argv[2], RTLD_NOW);
        EXPECT(object);
        uint8_t *function = dlsym(object, "library_calls");
        uint64_t (*volatile calls_back)(uint64_t, Number *) = (void *)function;
        EXPECT(function);
        mix(calls_back(i, thrice));
        uint8_t *page = (uint8_t *)((uintptr_t)function & ~4095ul);
        EXPECT(mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
        memcpy(function, code, sizeof code);
        EXPECT(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0);
        mix(calls_back(i, thrice));
        dlclose(object);
    }
    return report("library");
}

/* Functions of the C library are hooked, on pages of what makes system calls, too. */
static void *lives(void *n) { return (void *)((uintptr_t)n + 1); }
static int system_too(int argc, char **argv) {
    (void)argc, (void)argv;
    static const uint8_t code[] = {0xb8, 0x2a, 0, 0, 0, 0xc3}; /* eax = 42 */
    static const char *const names[] = {"getppid", "mprotect", "clone", "fork", "pthread_create"};
    for (int i = 0; i < 5; i++) {
        uint8_t *function = dlsym(RTLD_DEFAULT, names[i]);
        EXPECT(function);
        uint8_t *page = (uint8_t *)((uintptr_t)function & ~4095ul);
        EXPECT(mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
        if (i == 0) memcpy(function, code, sizeof code);
        EXPECT(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0);
        mix(getppid());
        pthread_t thread;
        void *result;
        EXPECT(!pthread_create(&thread, NULL, lives, (void *)(uintptr_t)i));
        EXPECT(!pthread_join(thread, &result));
        mix((uintptr_t)result);
        const pid_t pid = fork();
        if (!pid) _exit(getppid() + i);
        int status;
        EXPECT(waitpid(pid, &status, 0) == pid);
        mix(WEXITSTATUS(status));
    }
    return report("system_too");
}

static const Mode modes[] = {
    {"direct", direct},   {"under_way", under_way},   {"jumped", jumped},   {"hooked", hooked},
    {"remapped", remapped}, {"other_text", other_text}, {"threads", threads}, {"raced", raced},
    {"forked", forked},   {"signalled", signalled},   {"library", library},
    {"system_too", system_too},
};
RUN_MODES(modes)
