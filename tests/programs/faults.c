/* Faults in the middle of straight-line code. usage: faults MODE N
 *
 * Each of these functions does 3 scalar additions of fp64, then something that raises a signal
 * whose handler jumps out, then 5 multiplications that are never reached; N times:
 *   load      reads address 8                    misaligned  reads 16 bytes at an odd address
 *   store     writes address 8                   divide      by one, then by zero
 *   late      as load, but every other time it enters after the first 2 additions
 * Others:
 *   resume    as load; the handler goes on after the load: 3 additions and 5 multiplications
 *   copy      REP MOVSB of 64 bytes of which the last 48 are not there
 *   scan      REPNE SCASB that finds nothing in them
 *   alarms    a timer's handler does 7 additions each time; prints how often. N in main
 *   overflow  recursion without end, N times, each ended by a handler on its own stack
 *   raise     SIGSEGV by raise(), N times, from 3 additions; the handler returns, 5 follow
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define ADDS3 "addsd %xmm1, %xmm0\n addsd %xmm1, %xmm0\n addsd %xmm1, %xmm0\n"
#define MULS5 \
    "mulsd %xmm1, %xmm0\n mulsd %xmm1, %xmm0\n mulsd %xmm1, %xmm0\n mulsd %xmm1, %xmm0\n" \
    "mulsd %xmm1, %xmm0\n ret\n"
#define FUNCTION(name, body) \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" body \
            ".size " #name ", . - " #name "\n");

FUNCTION(load, ADDS3 "movq 8, %rax\n" MULS5)
FUNCTION(store, ADDS3 "movq %rax, 8\n" MULS5)
FUNCTION(misaligned, ADDS3 "movaps 1(%rsp), %xmm2\n" MULS5)
FUNCTION(divide, "xorl %ecx, %ecx\n movl $1, %r8d\n xorl %edx, %edx\n"
                 "addsd %xmm1, %xmm0\n idivl %r8d\n"
                 "addsd %xmm1, %xmm0\n addsd %xmm1, %xmm0\n idivl %ecx\n" MULS5)
FUNCTION(late, "addsd %xmm1, %xmm0\n addsd %xmm1, %xmm0\n"
               ".globl later\nlater: addsd %xmm1, %xmm0\n movq 8, %rax\n" MULS5)
FUNCTION(copy, ADDS3 "rep movsb\n" MULS5)
FUNCTION(scan, ADDS3 "movb $1, %al\n repne scasb\n" MULS5)
void load(void), store(void), misaligned(void), divide(void), late(void), later(void);
void copy(char *to, const char *from, long unused, long n);
void scan(const char *text, const char *unused, long unused_too, long n);

static sigjmp_buf back;
static volatile long alarms;
static volatile double sink;
double numbers[7];

static void jump_out(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}
static void go_on(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 8; /* the bytes of the load */
}
static void do_nothing(int signal) { (void)signal; }
__attribute__((noinline, noclone)) void count_alarm(int signal) {
    double sum = numbers[0];
    for (int i = 0; i < 7; i++) sum += numbers[i];
    (void)signal;
    sink = sum;
    alarms++;
}
__attribute__((noinline, noclone)) double busy(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += numbers[i % 7];
    return sum;
}
__attribute__((noinline, noclone)) long deeper(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0] + 1;
    return deeper(here) + here[0];
}
static void handle(int number, void (*with)(int), int flags) {
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = with;
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *mode = argv[1];
    volatile long i, n = atol(argv[2]);
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    munmap(page + 4096, 4096);
    handle(SIGSEGV, jump_out, SA_NODEFER | (strcmp(mode, "overflow") ? 0 : SA_ONSTACK));
    handle(SIGFPE, jump_out, SA_NODEFER);
    handle(SIGBUS, jump_out, SA_NODEFER);
    if (!strcmp(mode, "overflow")) sigaltstack(&own, NULL);
    if (!strcmp(mode, "resume")) {
        struct sigaction action = {.sa_flags = SA_SIGINFO};
        action.sa_sigaction = go_on;
        sigaction(SIGSEGV, &action, NULL);
        for (i = 0; i < n; i++) load();
        return 0;
    }
    if (!strcmp(mode, "alarms")) {
        struct itimerval often = {{0, 1000}, {0, 1000}};
        handle(SIGALRM, count_alarm, 0);
        setitimer(ITIMER_REAL, &often, NULL);
        sink = busy(n);
        sigset_t alarm_alone; /* one may still be on its way: it must not come after the print */
        sigemptyset(&alarm_alone);
        sigaddset(&alarm_alone, SIGALRM);
        sigprocmask(SIG_BLOCK, &alarm_alone, NULL);
        printf("%ld\n", alarms);
        return 0;
    }
    if (!strcmp(mode, "raise")) {
        handle(SIGSEGV, do_nothing, 0);
        for (i = 0; i < n; i++) {
            sink = busy(3);
            raise(SIGSEGV);
            sink = busy(5);
        }
        return 0;
    }
    for (i = 0; i < n; i++) {
        if (sigsetjmp(back, 1)) continue;
        if (!strcmp(mode, "load")) load();
        else if (!strcmp(mode, "store")) store();
        else if (!strcmp(mode, "misaligned")) misaligned();
        else if (!strcmp(mode, "divide")) divide();
        else if (!strcmp(mode, "late")) (i % 2 ? later : late)();
        else if (!strcmp(mode, "copy")) copy(page, page + 4096 - 16, 0, 64);
        else if (!strcmp(mode, "scan")) scan(page + 4096 - 16, NULL, 0, 64);
        else if (!strcmp(mode, "overflow")) return (int)deeper("");
        else return 2;
    }
    return 0;
}
