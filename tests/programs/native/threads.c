/* Threads in all ways in which they begin and end. usage: threads MODE */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "modes.h"

static atomic_ullong total;
static atomic_int count;

static void *adds(void *seed) {
    total += work((uintptr_t)seed, 50);
    return seed;
}

static int report(const char *what) {
    printf("%s: %d threads, sum %016llx\n", what, (int)count, (unsigned long long)total);
    return 0;
}

static pthread_t begun(const pthread_attr_t *how, void *(*what)(void *), uintptr_t with) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, how, what, (void *)with) == 0);
    count++;
    return thread;
}

/* 10,000, one after the other: what belongs to a thread must be used again. */
static int brief(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 10000;
    for (int i = 0; i < n; i++) {
        void *answer;
        EXPECT(pthread_join(begun(NULL, adds, (uintptr_t)i), &answer) == 0);
        EXPECT(answer == (void *)(uintptr_t)i);
    }
    return report("brief");
}

static pthread_barrier_t all_here;

static void *meets(void *seed) {
    for (int i = 0; i < 20; i++) {
        total += work((uintptr_t)seed + i, 500);
        pthread_barrier_wait(&all_here);
    }
    return NULL;
}

/* 64 at the same time. */
static int many(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t threads[64];
    pthread_barrier_init(&all_here, NULL, 64);
    for (int i = 0; i < 64; i++) threads[i] = begun(NULL, meets, i);
    for (int i = 0; i < 64; i++) pthread_join(threads[i], NULL);
    return report("many");
}

static void *endless(void *unused) {
    (void)unused;
    for (volatile uint64_t i = 0;; i++) {}
    return NULL;
}
static atomic_int cleaned;
static void cleans(void *unused) {
    (void)unused;
    cleaned++;
}
static sem_t never;
static void *waits(void *unused) {
    pthread_cleanup_push(cleans, unused);
    count++;
    sem_wait(&never);
    pthread_cleanup_pop(0);
    return NULL;
}
static void *asked(void *unused) {
    pthread_cleanup_push(cleans, unused);
    for (uint64_t i = 0;; i++) {
        total += work(i, 10) & 0;
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}
static void *at_once(void *unused) {
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    return endless(unused);
}

/* Waiting in the kernel, at points of its own, and in the middle of anything. */
static int cancel(int argc, char **argv) {
    (void)argc, (void)argv;
    sem_init(&never, 0, 0);
    for (int round = 0; round < 50; round++) {
        void *(*ways[])(void *) = {waits, asked, at_once};
        for (int way = 0; way < 3; way++) {
            pthread_t thread;
            void *answer;
            EXPECT(pthread_create(&thread, NULL, ways[way], NULL) == 0);
            usleep(way == 2 ? 2000 : 200);
            EXPECT(pthread_cancel(thread) == 0);
            EXPECT(pthread_join(thread, &answer) == 0 && answer == PTHREAD_CANCELED);
        }
    }
    printf("cancel: at least %d cleaned\n", cleaned >= 50 ? 50 : cleaned);
    return 0;
}

static pthread_key_t keys[8];
static void destroys(void *value) {
    total += work((uintptr_t)value, 20);
    uintptr_t left = (uintptr_t)value;
    if (left > 1) pthread_setspecific(keys[left % 8], (void *)(left / 2)); /* once more */
    else cleaned++;
}
static void *has_keys(void *seed) {
    for (int i = 0; i < 8; i++) pthread_setspecific(keys[i], (void *)((uintptr_t)seed % 3 + 1));
    return NULL;
}
/* Destructors run when the thread is half gone, several rounds of them. */
static int destructors(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 8; i++) pthread_key_create(&keys[i], destroys);
    for (int i = 0; i < 200; i++) pthread_join(begun(NULL, has_keys, i), NULL);
    printf("cleaned %d\n", (int)cleaned);
    return report("destructors");
}

static _Thread_local uint64_t mine = 5;
static _Thread_local char large[2000];
static void *own(void *seed) {
    for (int i = 0; i < 1000; i++) {
        mine += work((uintptr_t)seed + i, 3);
        large[(mine >> 8) % sizeof large]++;
    }
    uint64_t sum = mine;
    for (size_t i = 0; i < sizeof large; i++) sum = sum * 31 + large[i];
    total += sum;
    return NULL;
}
static int local(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t threads[16];
    for (int i = 0; i < 16; i++) threads[i] = begun(NULL, own, i);
    for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
    printf("main's %llu\n", (unsigned long long)mine);
    return report("local");
}

/* Nobody joins them; main leaves before they do. */
static void *later(void *seed) {
    usleep(20000);
    adds(seed);
    if (++cleaned == 8) report("detached");
    return NULL;
}
static int detached(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 8; i++) begun(&how, later, i);
    pthread_exit(NULL);
}

/* The smallest and a huge stack. */
static int stacks(int argc, char **argv) {
    (void)argc, (void)argv;
    size_t sizes[] = {PTHREAD_STACK_MIN, PTHREAD_STACK_MIN + 4096, 1 << 20, 1ul << 30};
    for (int i = 0; i < 4; i++) {
        pthread_attr_t how;
        pthread_attr_init(&how);
        EXPECT(pthread_attr_setstacksize(&how, sizes[i]) == 0);
        for (int j = 0; j < 50; j++) pthread_join(begun(&how, adds, j), NULL);
    }
    return report("stacks");
}

/* A thread that ends the process while others compute. */
static void *ends(void *unused) {
    (void)unused;
    usleep(20000);
    printf("ends\n");
    fflush(stdout);
    _exit(7);
}
static int exits(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 4; i++) begun(NULL, endless, 0);
    begun(NULL, ends, 0);
    for (;;) pause();
    return 0;
}

/* clone() without any library: a thread that has no pthread, and no TLS of its own. */
static int cloned_word;
static int in_clone(void *seed) {
    total += work((uintptr_t)seed, 1000);
    return 0;
}
static int raw(int argc, char **argv) {
    (void)argc, (void)argv;
    const size_t bytes = 65536;
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
    for (int i = 0; i < 200; i++) {
        char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(stack != MAP_FAILED);
        cloned_word = -1;
        int tid = clone(in_clone, stack + bytes, flags, (void *)(uintptr_t)i, NULL, NULL,
                        &cloned_word);
        EXPECT(tid > 0);
        count++;
        for (int now; (now = __atomic_load_n(&cloned_word, __ATOMIC_SEQ_CST)) != 0;)
            syscall(SYS_futex, &cloned_word, FUTEX_WAIT, now, NULL, NULL, 0);
        munmap(stack, bytes);
    }
    return report("raw");
}

/* C11's threads, and call_once. */
static once_flag once = ONCE_FLAG_INIT;
static void only_once(void) { cleaned++; }
static int c11(void *seed) {
    call_once(&once, only_once);
    adds(seed);
    return 5;
}
static int standard(int argc, char **argv) {
    (void)argc, (void)argv;
    thrd_t threads[16];
    int sum = 0, answer;
    for (int i = 0; i < 16; i++)
        EXPECT(thrd_create(&threads[i], c11, (void *)(uintptr_t)i) == thrd_success);
    for (int i = 0; i < 16; i++) thrd_join(threads[i], &answer), sum += answer;
    printf("%d once, %d\n", (int)cleaned, sum);
    return report("standard");
}

/* A tree of threads: each begins two until the seventh generation. */
static void *tree(void *depth) {
    uintptr_t left = (uintptr_t)depth;
    total += work(left, 300);
    if (left == 0) return NULL;
    pthread_t one = begun(NULL, tree, left - 1), other = begun(NULL, tree, left - 1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return NULL;
}
static int trees(int argc, char **argv) {
    (void)argc, (void)argv;
    tree((void *)7);
    return report("trees");
}

/* A thread on a stack that the program owns. */
static int own_stack(int argc, char **argv) {
    (void)argc, (void)argv;
    static _Alignas(64) char stack[65536];
    pthread_attr_t how;
    pthread_attr_init(&how);
    EXPECT(pthread_attr_setstack(&how, stack, sizeof stack) == 0);
    for (int i = 0; i < 100; i++) pthread_join(begun(&how, adds, i), NULL);
    return report("own_stack");
}

static const Mode modes[] = {
    {"brief", brief},     {"many", many},         {"cancel", cancel}, {"destructors", destructors},
    {"local", local},     {"detached", detached}, {"stacks", stacks}, {"exits", exits},
    {"raw", raw},         {"standard", standard}, {"trees", trees},   {"own_stack", own_stack},
};
RUN_MODES(modes)
