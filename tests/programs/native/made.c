/* Code that programs make, change, move and take away while they run. usage: made MODE [LIBRARY] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modes.h"

typedef uint64_t Made(uint64_t);
static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}
static uint8_t *pages(int n, int how) {
    uint8_t *at = mmap(NULL, n * 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(at != MAP_FAILED);
    return at;
}

/* rax = (rdi + number) in a loop of `rounds`: 5 + 3 rounds instructions. */
static size_t write_code(uint8_t *at, uint32_t number, uint32_t rounds) {
    static const uint8_t code[] = {
        0x48, 0x89, 0xf8,                         /* mov rax, rdi */
        0xb9, 0, 0, 0, 0,                         /* mov ecx, rounds */
        0x48, 0x05, 0, 0, 0, 0,                   /* 1: add rax, number */
        0x48, 0x6b, 0xc0, 0x03,                   /* imul rax, rax, 3 */
        0xff, 0xc9, 0x75, 0xf2,                   /* dec ecx; jnz 1b */
        0x0f, 0x1f, 0x40, 0x00, 0xc3};            /* nop; ret */
    memcpy(at, code, sizeof code);
    memcpy(at + 4, &rounds, 4);
    memcpy(at + 10, &number, 4);
    return sizeof code;
}

static int rewritten(int argc, char **argv) { /* writable and executable all the time */
    (void)argc, (void)argv;
    uint8_t *at = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (uint32_t i = 0; i < 3000; i++) {
        write_code(at + i % 64 * 32, i * 7, i % 5 + 1);
        mix(((Made *)(at + i % 64 * 32))(i));
        mix(((Made *)(at))(i));
    }
    return report("rewritten");
}
static int protected(int argc, char **argv) { /* one or the other */
    (void)argc, (void)argv;
    uint8_t *at = pages(4, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < 500; i++) {
        EXPECT(mprotect(at, 4 * 4096, PROT_READ | PROT_WRITE) == 0);
        for (int j = 0; j < 4; j++) write_code(at + j * 4096 + i % 10, i * 7 + j, i % 5 + 1);
        EXPECT(mprotect(at, 4 * 4096, PROT_READ | PROT_EXEC) == 0);
        for (int j = 0; j < 4; j++) mix(((Made *)(at + j * 4096 + i % 10))(i));
    }
    return report("protected");
}
static int twice(int argc, char **argv) { /* two views of the same memory */
    (void)argc, (void)argv;
    int file = memfd_create("code", 0);
    EXPECT(ftruncate(file, 4096) == 0);
    uint8_t *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    EXPECT(to != MAP_FAILED && at != MAP_FAILED);
    for (uint32_t i = 0; i < 3000; i++) {
        write_code(to, i, i % 9 + 1);
        mix(((Made *)at)(i));
    }
    return report("twice");
}
static int remapped(int argc, char **argv) { /* other code where some was, and moved */
    (void)argc, (void)argv;
    uint8_t *at = pages(2, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (uint32_t i = 0; i < 300; i++) {
        write_code(at, i * 3, i % 4 + 1);
        for (int j = 0; j < 20; j++) mix(((Made *)at)(j));
        if (i % 3 == 0) {
            uint8_t *now = mremap(at, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED,
                                  pages(2, PROT_NONE));
            EXPECT(now != MAP_FAILED);
            mix(((Made *)now)(i));
            at = now;
        } else if (i % 3 == 1) {
            EXPECT(munmap(at, 8192) == 0);
            uint8_t *now = mmap(at, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            EXPECT(now == at);
        }
    }
    return report("remapped");
}
static int threads_left;
static uint8_t *shared;
static void *runs(void *seed) {
    uint64_t own = 0;
    while (__atomic_load_n(&threads_left, __ATOMIC_ACQUIRE)) own += ((Made *)shared)(1) & 1;
    (void)own;
    return seed;
}
static int while_running(int argc, char **argv) { /* other pages change while threads run one */
    (void)argc, (void)argv;
    pthread_t threads[3];
    shared = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    write_code(shared, 3, 1000);
    threads_left = 1;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, runs, NULL);
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t *at = pages(1, PROT_READ | PROT_WRITE);
        write_code(at, i, 100);
        mprotect(at, 4096, PROT_READ | PROT_EXEC);
        mix(((Made *)at)(i));
        munmap(at, 4096);
    }
    __atomic_store_n(&threads_left, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return report("while_running");
}
static sigjmp_buf back;
static void jumps(int number) { siglongjmp(back, number); }
static int taken_away(int argc, char **argv) { /* what is not executable any more faults */
    (void)argc, (void)argv;
    uint8_t *at = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    signal(SIGSEGV, jumps);
    write_code(at, 5, 3);
    for (volatile int i = 0; i < 200; i++) {
        int how = sigsetjmp(back, 1);
        if (how) {
            mix(how);
        } else {
            mprotect(at, 4096, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC);
            mix(((Made *)at)(i));
        }
    }
    return report("taken_away");
}
static int on_stack(int argc, char **argv) { /* as old closures do */
    (void)argc, (void)argv;
    _Alignas(64) uint8_t code[64];
    uintptr_t page = (uintptr_t)code & ~4095ul;
    EXPECT(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    for (int i = 0; i < 1000; i++) {
        write_code(code, i, 2);
        mix(((Made *)code)(i));
    }
    return report("on_stack");
}
/* Many different functions, of which each runs once: what is kept of them must not grow. */
static int many(int argc, char **argv) {
    (void)argc, (void)argv;
    for (uint32_t i = 0; i < 5000; i++) {
        uint8_t *at = pages(1, PROT_READ | PROT_WRITE);
        write_code(at + 16, i, 3);
        EXPECT(mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0);
        mix(((Made *)(at + 16))(i));
        EXPECT(munmap(at, 4096) == 0);
    }
    return report("many");
}
/* The file of a library is mapped once more, without a loader, and called. */
static int by_hand(int argc, char **argv) {
    EXPECT(argc > 2);
    int file = open(argv[2], O_RDONLY);
    EXPECT(file >= 0);
    uint8_t *at = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    EXPECT(at != MAP_FAILED && !memcmp(at, "\177ELF", 4));
    for (int i = 4; i < 8192; i++) mix(at[i]); /* its bytes are those of the file */
    munmap(at, 65536);
    close(file);
    return report("by_hand");
}
static int forked(int argc, char **argv) { /* made before and after a fork, in both */
    (void)argc, (void)argv;
    uint8_t *at = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    write_code(at, 77, 5);
    for (int i = 0; i < 20; i++) {
        mix(((Made *)at)(i));
        pid_t pid = fork();
        if (pid == 0) {
            uint64_t before = ((Made *)at)(3);
            write_code(at, i, 2);
            _exit((before + ((Made *)at)(i)) & 127);
        }
        int status;
        EXPECT(waitpid(pid, &status, 0) == pid);
        mix(WEXITSTATUS(status));
        mix(((Made *)at)(i));
    }
    return report("forked");
}

static const Mode modes[] = {
    {"rewritten", rewritten}, {"protected", protected}, {"twice", twice}, {"remapped", remapped},
    {"while_running", while_running}, {"taken_away", taken_away}, {"on_stack", on_stack},
    {"many", many}, {"by_hand", by_hand}, {"forked", forked},
};
RUN_MODES(modes)
