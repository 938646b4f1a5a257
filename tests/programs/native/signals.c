/* Signals: faults that are mended, skipped and jumped out of, and ten thousand a second.
 * usage: signals MODE */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "modes.h"

typedef void Handler(int, siginfo_t *, void *);

static void handle(int number, Handler *handler, int flags) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags, .sa_sigaction = handler};
    sigemptyset(&action.sa_mask);
    EXPECT(sigaction(number, &action, NULL) == 0);
}
static int report(const char *what, uint64_t number) {
    printf("%s %016llx\n", what, (unsigned long long)number);
    return 0;
}

/* A fault in the middle of a loop, 1000 times, and out of the handler by siglongjmp. */
static sigjmp_buf back;
static void jumps(int number, siginfo_t *info, void *context) {
    (void)context;
    siglongjmp(back, number + (info->si_addr == (void *)64 ? 100 : 0));
}
__attribute__((noinline)) static uint64_t reads(const volatile uint64_t *from, uint64_t sum) {
    for (int i = 0; i < 5; i++) sum = sum * 3 + i;
    return sum + *from;
}
static int segv_jump(int argc, char **argv) {
    (void)argc, (void)argv;
    volatile uint64_t sum = 0;
    handle(SIGSEGV, jumps, 0);
    for (volatile int i = 0; i < 1000; i++) {
        int how = sigsetjmp(back, 1);
        if (how) sum += how;
        else sum += reads(i % 2 ? (void *)64 : (void *)&sum, i);
    }
    return report("segv_jump", sum);
}

/* The handler makes the page usable: the instruction runs again. */
static char *pages;
static volatile int mended;
static void mends(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    uintptr_t at = (uintptr_t)info->si_addr & ~4095ul;
    mended++;
    mprotect((void *)at, 4096, PROT_READ | PROT_WRITE);
}
static int segv_mend(int argc, char **argv) {
    (void)argc, (void)argv;
    const int n = 200;
    pages = mmap(NULL, n * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(pages != MAP_FAILED);
    handle(SIGSEGV, mends, 0);
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pages[i * 4096 + i] += (char)i;
        memset(pages + i * 4096 + 1000, i, 3000); /* perhaps REP STOS over the edge */
        sum = sum * 31 + pages[i * 4096 + i] + pages[i * 4096 + 1500];
    }
    printf("mended %d\n", mended);
    return report("segv_mend", sum);
}

/* The handler looks at the bytes of the instruction that divided by zero, and skips it. */
static int lengths[16];
static void skips(int number, siginfo_t *info, void *context) {
    (void)number;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)registers[REG_RIP];
    EXPECT(info->si_code == FPE_INTDIV);
    int prefix = (*at & 0xf0) == 0x40;
    EXPECT(at[prefix] == 0xf7 && (at[prefix + 1] & 0xf0) == 0xf0); /* (i)div register */
    registers[REG_RAX] = 77;
    registers[REG_RIP] += 2 + prefix;
    lengths[2 + prefix]++;
}
__attribute__((noinline)) static uint32_t divides(uint32_t a, uint32_t b) {
    uint32_t high = 0;
    __asm__ volatile("divl %2" : "+a"(a), "+d"(high) : "r"(b) : "cc");
    return a + high;
}
__attribute__((noinline)) static uint64_t divides_long(uint64_t a, uint64_t b) {
    uint64_t high = 0;
    __asm__ volatile("divq %2" : "+a"(a), "+d"(high) : "r"(b) : "cc");
    return a + high;
}
static int fpe_skip(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t sum = 0;
    handle(SIGFPE, skips, 0);
    for (int i = 0; i < 500; i++) sum = sum * 7 + divides(1000, i % 3) + divides_long(5000, i % 5);
    printf("%d short, %d long\n", lengths[2], lengths[3]);
    return report("fpe_skip", sum);
}

/* As virtual machines and kernels do it: a table says where a faulting instruction goes on. */
extern char guarded_load[], guarded_on[], guarded_failed[];
__attribute__((noinline)) uint64_t guarded(const uint64_t *from);
__asm__(".text\n.globl guarded\n.type guarded, @function\nguarded:\n.cfi_startproc\n"
        ".globl guarded_load, guarded_on, guarded_failed\n"
        "guarded_load: movq (%rdi), %rax\n"
        "guarded_on: addq $1, %rax\n ret\n"
        "guarded_failed: movl $4242, %eax\n ret\n"
        ".cfi_endproc\n.size guarded, .-guarded\n");
static void looks_up(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (registers[REG_RIP] == (greg_t)guarded_load) {
        registers[REG_RIP] = (greg_t)guarded_failed;
        return;
    }
    signal(number, SIG_DFL); /* a fault that nobody expected */
}
static int segv_table(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t sum = 0, good = 5;
    handle(SIGSEGV, looks_up, 0);
    for (int i = 0; i < 100; i++) sum = sum * 3 + guarded(i % 2 ? &good : NULL);
    return report("segv_table", sum);
}

/* The first instruction of a function faults, and is skipped: its second one may not be disturbed
   by what an engine wrote over the first. */
__attribute__((noinline)) uint64_t first_fails(const uint64_t *from);
__asm__(".text\n.p2align 4\n.globl first_fails\n.type first_fails, @function\nfirst_fails:\n"
        ".cfi_startproc\n movq (%rdi), %rax\n addq $1, %rax\n leaq (%rax, %rax, 2), %rax\n ret\n"
        ".cfi_endproc\n.size first_fails, .-first_fails\n");
static void skips_first(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    EXPECT(registers[REG_RIP] == (greg_t)first_fails);
    registers[REG_RIP] += 3;
    registers[REG_RAX] = 41;
}
static int segv_first(int argc, char **argv) {
    (void)argc, (void)argv;
    uint64_t sum = 0, good = 5;
    handle(SIGSEGV, skips_first, 0);
    for (int i = 0; i < 300; i++) sum = sum * 3 + first_fails(i % 2 ? &good : NULL);
    return report("segv_first", sum);
}

/* A profiler inside the program: where its time goes must be where its functions are. */
static volatile int inside, outside;
extern char __start_hot_text[], __stop_hot_text[];
__attribute__((noinline, section("hot_text"))) static uint64_t hot(uint64_t n) {
    uint64_t sum = n;
    for (uint64_t i = 0; i < n; i++) sum = (sum ^ i) * 0x9e3779b97f4a7c15;
    __asm__ volatile("");
    return sum;
}
static void samples(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    uintptr_t at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (at >= (uintptr_t)__start_hot_text && at < (uintptr_t)__stop_hot_text) inside = inside + 1;
    else outside = outside + 1;
}
static int own_profiler(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGPROF, samples, SA_RESTART);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    uint64_t sum = 0;
    setitimer(ITIMER_PROF, &every, NULL);
    while (inside + outside < 100) sum = hot(100000);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    return report(inside > outside ? "inside" : "outside", sum);
}

/* Ten thousand signals a second, whose handler computes as the program does. */
static volatile uint64_t in_handler;
static volatile int ticks;
static void computes(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    int error = errno;
    in_handler = work(3, 40);
    ticks++;
    errno = error;
}
static uint64_t busy(int least) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 4000; i++) sum = sum * 5 + work(i, 400);
    while (ticks < least) sum += work(1, 100) & 0;
    return sum;
}
static int itimer(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGALRM, computes, SA_RESTART);
    struct itimerval every = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &every, NULL);
    uint64_t sum = busy(500);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    return report("itimer", sum ^ in_handler);
}
static timer_t timer_of_thread(int number) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    struct itimerspec every = {{0, 100000}, {0, 100000}};
    timer_t timer;
    EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    EXPECT(timer_settime(timer, 0, &every, NULL) == 0);
    return timer;
}
static uint64_t sums[4];
static void *with_timer(void *which) {
    timer_t timer = timer_of_thread(SIGRTMIN + 3);
    sums[(uintptr_t)which] = busy(500);
    timer_delete(timer);
    return NULL;
}
static int timers(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t threads[4];
    handle(SIGRTMIN + 3, computes, SA_RESTART);
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, with_timer, (void *)i);
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL), sum = sum * 3 + sums[i];
    return report("timers", sum ^ in_handler);
}
/* At the same time forks, system calls that are interrupted, and jumps out of a handler. */
static void jumps_back(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    ticks++;
    siglongjmp(back, 1);
}
static int timer_jumps(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGALRM, jumps_back, SA_NODEFER);
    struct itimerval every = {{0, 300}, {0, 300}};
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigsetjmp(back, 1);
    if (ticks == 0) setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 2000)
        for (int i = 0; i < 100; i++) sums[0] = work(i, 60);
    sigprocmask(SIG_BLOCK, &alarm_only, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    return report("timer_jumps", work(99, 60));
}
static int timer_forks(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGALRM, computes, 0);
    struct itimerval every = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 50; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            i--;
            continue;
        }
        if (pid == 0) _exit(work(i, 300) & 127);
        int status;
        while (waitpid(pid, &status, 0) < 0) EXPECT(errno == EINTR);
        EXPECT(WEXITSTATUS(status) == (int)(work(i, 300) & 127));
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    return report("timer_forks", 50);
}

/* System calls that a signal interrupts, and those that begin again. */
static int interrupted(int argc, char **argv) {
    (void)argc, (void)argv;
    int ends[2], failed = 0;
    char byte;
    EXPECT(pipe(ends) == 0);
    for (int i = 0; i < 40; i++) {
        handle(SIGALRM, computes, i % 2 ? SA_RESTART : 0);
        /* Again and again, since the first may come before the call that it is to interrupt. */
        struct itimerval alarms = {{0, 20000}, {0, 2000}};
        ticks = 0;
        setitimer(ITIMER_REAL, &alarms, NULL);
        if (i % 2) {
            if (fork() == 0) {
                usleep(20000);
                _exit(write(ends[1], "x", 1) != 1);
            }
            EXPECT(read(ends[0], &byte, 1) == 1 && ticks >= 1);
            int status;
            while (wait(&status) < 0) {}
        } else {
            EXPECT(read(ends[0], &byte, 1) == -1 && errno == EINTR && ticks >= 1);
            failed++;
        }
    }
    struct timespec long_time = {5, 0}, rest;
    handle(SIGALRM, computes, SA_RESTART);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 2000}}, NULL);
    EXPECT(nanosleep(&long_time, &rest) == -1 && errno == EINTR && rest.tv_sec >= 3);
    return report("interrupted", failed);
}

/* A stack of the handler's own, where the program's is used up. */
static volatile int deepest;
static void overflowed(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    deepest += work(5, 100) == work(5, 100);
    siglongjmp(back, 1);
}
__attribute__((noinline)) static int deeper(volatile char *above, int left) {
    volatile char here[4096];
    here[0] = above[0] + 1;
    return left == 0 ? 0 : deeper(here, left - 1) + here[0];
}
static int alternate(int argc, char **argv) {
    (void)argc, (void)argv;
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    EXPECT(sigaltstack(&stack, NULL) == 0);
    handle(SIGSEGV, overflowed, SA_ONSTACK);
    volatile char top[1] = {0};
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0) deeper(top, 1 << 30);
    return report("alternate", deepest);
}
/* On the smallest stack that the system takes, with all of AVX-512 and AMX to save. */
static int small_alternate(int argc, char **argv) {
    (void)argc, (void)argv;
    size_t size = sysconf(_SC_MINSIGSTKSZ) + 4096;
    char *room = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size = (size + 4095) & ~4095ul;
    mprotect(room + 4096, size, PROT_READ | PROT_WRITE);
    stack_t stack = {.ss_sp = room + 4096, .ss_size = size};
    EXPECT(sigaltstack(&stack, NULL) == 0);
    handle(SIGUSR1, computes, SA_ONSTACK);
    for (int i = 0; i < 1000; i++) raise(SIGUSR1);
    return report("small_alternate", in_handler + ticks);
}

/* Handlers within handlers, and signals that wait until one has returned. */
static volatile int depth, most;
static volatile uint64_t order = 1;
static void nests(int number, siginfo_t *info, void *context) {
    (void)info, (void)context;
    if (++depth > most) most = depth;
    order = order * 31 + number + depth;
    if (number < SIGRTMIN + 8) raise(number + 1);
    order = order * 37 + work(number, 10);
    depth--;
}
static int nested(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i <= 8; i++) handle(SIGRTMIN + i, nests, 0);
    for (int i = 0; i < 300; i++) raise(SIGRTMIN);
    sigset_t some, none;
    sigfillset(&some);
    sigprocmask(SIG_BLOCK, &some, &none);
    for (int i = 8; i >= 6; i--) kill(getpid(), SIGRTMIN + i);
    sigprocmask(SIG_SETMASK, &none, NULL);
    printf("most %d\n", most);
    return report("nested", order);
}

/* The same signals that breakpoints and bad instructions raise. */
static volatile int traps, bad;
static void trapped(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (number == SIGILL) registers[REG_RIP] += 2, bad++;
    else traps++;
}
static int trap(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGTRAP, trapped, 0);
    handle(SIGILL, trapped, 0);
    uint64_t sum = 0;
    for (int i = 0; i < 300; i++) {
        __asm__ volatile("int3");
        sum += work(i, 10);
        __asm__ volatile("ud2");
        sum += work(i, 11);
    }
    printf("%d traps, %d bad\n", traps, bad);
    return report("trap", sum);
}
/* The processor's own single steps, through PUSHF and POPF. */
static volatile int steps;
static void stepped(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    steps++;
}
static int single_step(int argc, char **argv) {
    (void)argc, (void)argv;
    handle(SIGTRAP, stepped, 0);
    uint64_t sum = 5;
    __asm__ volatile("subq $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
                     "imulq $3, %0, %0\n addq $7, %0\n imulq $5, %0, %0\n"
                     "pushfq\n andq $~0x100, (%%rsp)\n popfq\n addq $128, %%rsp"
                     : "+r"(sum)::"cc", "memory");
    printf("%s\n", steps >= 5 ? "stepped" : "not stepped");
    return report("single_step", sum);
}

/* Signals that are waited for rather than handled. */
static int waited(int argc, char **argv) {
    (void)argc, (void)argv;
    sigset_t two;
    uint64_t sum = 0;
    sigemptyset(&two);
    sigaddset(&two, SIGUSR1);
    sigaddset(&two, SIGUSR2);
    sigprocmask(SIG_BLOCK, &two, NULL);
    int from = signalfd(-1, &two, 0);
    for (int i = 0; i < 100; i++) {
        int number = 0;
        struct signalfd_siginfo info;
        kill(getpid(), i % 2 ? SIGUSR1 : SIGUSR2);
        if (i % 3) EXPECT(sigwait(&two, &number) == 0);
        if (i % 3 == 0) {
            EXPECT(read(from, &info, sizeof info) == sizeof info);
            number = info.ssi_signo;
        }
        sum = sum * 3 + number + work(i, 30);
    }
    return report("waited", sum);
}

/* Which handlers, masks and timers are there at the start: as without us. */
static int inherited(int argc, char **argv) {
    (void)argc, (void)argv;
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action)) continue;
        if (action.sa_handler != SIG_DFL) printf("handled %d\n", number);
        if (sigismember(&blocked, number)) printf("blocked %d\n", number);
    }
    for (int which = 0; which < 3; which++) {
        struct itimerval now;
        getitimer(which, &now);
        if (now.it_value.tv_sec || now.it_value.tv_usec) printf("timer %d runs\n", which);
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("stack %s\n", stack.ss_flags == SS_DISABLE ? "none" : "there");
    return report("inherited", 0);
}

/* Every signal is caught, ignored or blocked by a program that wants to do so. */
static int all_caught(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int number = 1; number < 65; number++) {
        struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = computes};
        sigaction(number, &action, NULL);
    }
    uint64_t sum = 0;
    for (int i = 0; i < 3000; i++) sum = sum * 3 + work(i, 3000) % 7;
    printf("caught %d\n", ticks);
    return report("all_caught", sum);
}

static const Mode modes[] = {
    {"segv_jump", segv_jump},   {"segv_mend", segv_mend},     {"fpe_skip", fpe_skip},
    {"segv_table", segv_table}, {"segv_first", segv_first}, {"own_profiler", own_profiler},
    {"itimer", itimer},
    {"timers", timers},         {"timer_jumps", timer_jumps}, {"timer_forks", timer_forks},
    {"interrupted", interrupted}, {"alternate", alternate},
    {"small_alternate", small_alternate}, {"nested", nested}, {"trap", trap},
    {"single_step", single_step}, {"waited", waited}, {"inherited", inherited},
    {"all_caught", all_caught},
};
RUN_MODES(modes)
