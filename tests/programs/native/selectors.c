/* Programs that set %gs, and read nothing through it; and one with tables in its code: one looks as
 * if it did, one like padding. usage: selectors MODE */
#include "modes.h"

static uint64_t sum = 1;
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}
__attribute__((noinline)) static uint64_t sets_base(uint64_t base) {
    uint64_t now;
    __asm__ volatile("wrgsbase %1\n rdgsbase %0" : "=r"(now) : "r"(base));
    return now;
}
__attribute__((noinline)) static void sets_selector(uint32_t selector) {
    __asm__ volatile("movl %0, %%gs" : : "r"(selector));
}

#ifdef TABLE
uint64_t behind_table(uint64_t x);
__asm__(".text\n.type behind_table, @function\n"
        "behind_table: lea 1f(%rip), %rax\n jmp *%rax\n"
        ".byte 0x65, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0\n" /* mov %gs:8, %rax */
        "1: lea 3(%rdi), %rax\n ret\n.size behind_table, . - behind_table\n");

static int table(int argc, char **argv) {
    (void)argc, (void)argv, (void)sets_base, (void)sets_selector;
    for (int i = 0; i < 1000; i++) {
        sum += behind_table(work(i, 10));
    }
    return report("table");
}

void tiny(void);
uint64_t behind_zeros(uint64_t x);
__asm__(".text\n.type tiny, @function\ntiny: nop\n nop\n ret\n.size tiny, . - tiny\n"
        " nop\n nop\n .fill 16, 1, 0\n.type behind_zeros, @function\n"
        "behind_zeros: lea 3(%rdi), %rax\n ret\n.size behind_zeros, . - behind_zeros\n");

static int zeros(int argc, char **argv) {
    (void)argc, (void)argv;
    void (*volatile call)(void) = tiny;
    uint64_t (*volatile function)(uint64_t) = behind_zeros;
    for (int i = 0; i < 1000; i++) {
        const uint64_t *words = (const uint64_t *)function;
        call();
        sum += function(work(i, 10)) + words[-1] + words[-2];
    }
    return report("zeros");
}
static const Mode modes[] = {{"table", table}, {"zeros", zeros}};
#elif defined SELECTOR
static int selector(int argc, char **argv) {
    (void)argc, (void)argv, (void)sets_base;
    for (int i = 0; i < 1000; i++) {
        sets_selector(0);
        sum += work(i, 10);
    }
    return report("selector");
}
static const Mode modes[] = {{"selector", selector}};
#else
static int base(int argc, char **argv) {
    static uint64_t words[16];
    (void)argc, (void)argv, (void)sets_selector;
    for (int i = 0; i < 1000; i++) {
        EXPECT(sets_base((uint64_t)(words + i % 16)) == (uint64_t)(words + i % 16));
        sum += work(i, 10);
    }
    return report("base");
}
static const Mode modes[] = {{"base", base}};
#endif
RUN_MODES(modes)
