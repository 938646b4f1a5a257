/* Programs that use %gs themselves. usage: segments MODE */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "modes.h"

static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}
__attribute__((noinline)) static uint64_t reads_gs(uint64_t at) {
    uint64_t word;
    __asm__ volatile("movq %%gs:(%1), %0" : "=r"(word) : "r"(at));
    return word;
}
__attribute__((noinline)) static uint64_t sets_gs(uint64_t base) {
    uint64_t now;
    __asm__ volatile("wrgsbase %1\n rdgsbase %0" : "=r"(now) : "r"(base));
    return now;
}
static void *with_gs(void *seed) {
    static _Thread_local uint64_t words[16];
    for (int i = 0; i < 16; i++) words[i] = work((uintptr_t)seed + i, 2);
    EXPECT(syscall(SYS_arch_prctl, ARCH_SET_GS, words) == 0);
    uint64_t own = 0, base;
    for (int i = 0; i < 1000; i++) own = own * 3 + reads_gs(i % 16 * 8) + work(i, 20);
    EXPECT(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && base == (uint64_t)words);
    return (void *)own;
}
static int gs(int argc, char **argv) { /* by a system call, in four threads */
    (void)argc, (void)argv;
    uint64_t base = 1;
    EXPECT(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
    printf("at first %s\n", base == 0 ? "0" : "not 0");
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, with_gs, (void *)i);
    mix((uint64_t)with_gs((void *)9));
    for (int i = 0; i < 4; i++) {
        void *answer;
        pthread_join(threads[i], &answer);
        mix((uint64_t)answer);
    }
    return report("gs");
}
static int gs_base(int argc, char **argv) { /* by WRGSBASE */
    (void)argc, (void)argv;
    static uint64_t words[16];
    for (int i = 0; i < 16; i++) words[i] = work(i, 2);
    EXPECT(sets_gs((uint64_t)words) == (uint64_t)words);
    for (int i = 0; i < 10000; i++) mix(reads_gs(i % 16 * 8) + work(i, 10));
    return report("gs_base");
}

static const Mode modes[] = {{"gs", gs}, {"gs_base", gs_base}};
RUN_MODES(modes)
