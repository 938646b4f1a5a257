/* Functions to be counted alone, each with what it calls. usage: selected MODE N
 *
 * adds(n) does n scalar additions of fp64. Each mode calls its function N times, with adds(100)
 * before and after each.
 *   templates  shape::area<int>(1) and shape::area<double>(2): 1 and 2 additions
 *   sorted     qsort with compares(): 3 per comparison, by way of the C library
 *   linked     outer() of a library, which calls inner() there: 5; loaded: the same by dlopen
 *   forked     in_child(): 6, and 7 more in a child
 *   regions    marks(): begins region "in" and leaves it open, 8; within region "out"
 *   coroutine  yields(): 4 on a stack of its own, and a switch to main, which does 50
 *   nested     deep(): catches what thrower() throws 3 calls below: 9
 *   handler    waits(): 3, and a signal's handler on another stack 2
 *   loop       spins(x): its first instruction is where its loop begins; 10
 *   args       many arguments on the stack, 1
 *   left       longjmps to main past 3 functions from a thread: 2
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "ridgepoint.h"

#define APART __attribute__((noinline, noclone))

double data[2000];
static volatile double sink;
static jmp_buf back;
static ucontext_t here, there;
static char own_stack[1 << 16];

extern "C" APART void adds(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += data[i];
    sink = sum;
}
namespace shape {
template <class T> APART void area(T n) { adds((long)n); sink = 0; }
}
static APART int compares(const void *a, const void *b) {
    adds(3);
    return *(const int *)a - *(const int *)b;
}
#ifdef LIBRARY
extern "C" void outer(void (*)(long));
#endif
extern "C" APART void in_child() {
    adds(6);
    pid_t child = fork();
    if (!child) {
        adds(7);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
extern "C" APART void marks() {
    RIDGEPOINT_REGION_BEGIN("in");
    adds(8);
    RIDGEPOINT_REGION_END("out"); /* not its own: it goes on */
    sink = 0;
}
extern "C" APART void yields() {
    adds(4);
    swapcontext(&there, &here);
    sink = 0;
}
static void coroutine() {
    for (;;) {
        yields();
        adds(30);
    }
}
extern "C" APART void thrower(int n) {
    adds(2);
    if (n == 0) throw 1;
    thrower(n - 1);
    sink = 0;
}
extern "C" APART void deep() {
    try {
        thrower(3);
    } catch (int) {
        adds(1);
    }
    sink = 0;
}
static void on_signal(int) { adds(2); sink = 0; }
extern "C" APART void waits() {
    adds(3);
    raise(SIGUSR1);
    sink = 0;
}
extern "C" APART void spins(double *x, long n) {
    do {
        *x += 1.0;
        __asm__ volatile("" ::: "memory");
    } while (--n);
}
struct Large { long a[20]; };
extern "C" APART long args(Large a, Large b, long c) {
    adds(1);
    return a.a[3] + b.a[4] + c;
}
extern "C" APART void leaves(int n) {
    if (n == 0) {
        adds(2);
        longjmp(back, 1);
    }
    leaves(n - 1);
    sink = 0;
}
static void *in_thread(void *) {
    if (!setjmp(back)) leaves(3);
    adds(20);
    return NULL;
}

static void once(const char *mode) {
    if (!strcmp(mode, "templates")) shape::area<int>(1), shape::area<double>(2);
    if (!strcmp(mode, "sorted")) {
        int numbers[] = {5, 3, 1, 4, 2};
        qsort(numbers, 5, sizeof(int), compares);
    }
#ifdef LIBRARY
    if (!strcmp(mode, "linked")) outer(adds);
#endif
    if (!strcmp(mode, "loaded")) {
        void *library = dlopen(getenv("LIBRARY"), RTLD_NOW);
        ((void (*)(void (*)(long)))dlsym(library, "outer"))(adds);
        dlclose(library);
    }
    if (!strcmp(mode, "forked")) in_child();
    if (!strcmp(mode, "regions")) {
        RIDGEPOINT_REGION_BEGIN("out");
        marks();
        RIDGEPOINT_REGION_END("out");
    }
    if (!strcmp(mode, "coroutine")) {
        swapcontext(&here, &there);
        adds(50);
    }
    if (!strcmp(mode, "nested")) deep();
    if (!strcmp(mode, "handler")) waits();
    if (!strcmp(mode, "loop")) {
        double x = 0;
        spins(&x, 10);
        sink = x;
    }
    if (!strcmp(mode, "args")) {
        Large large = {};
        sink = (double)args(large, large, 5);
    }
    if (!strcmp(mode, "left")) {
        pthread_t thread;
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    stack_t other = {};
    other.ss_size = 1 << 16;
    other.ss_sp = malloc(other.ss_size);
    sigaltstack(&other, NULL);
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    getcontext(&there);
    there.uc_stack.ss_sp = own_stack;
    there.uc_stack.ss_size = sizeof own_stack;
    makecontext(&there, coroutine, 0);
    for (long i = 0, n = atol(argv[2]); i < n; i++) {
        adds(100);
        once(argv[1]);
        adds(100);
    }
    return 0;
}
