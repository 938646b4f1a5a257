/* Regions and functions of known work. usage: parts MODE N
 *
 * adds(n) does n scalar additions of fp64, multiplies(n) n multiplications. Every mode does 1000
 * additions before and after, outside of all regions and functions named.
 *   nested     in region "a" 100 additions, in "b" within it 10, then 1 more in "a"; N times
 *   recursive  region "r", in it 5 additions and itself, N deep
 *   threads    N threads: one half in "even" 7 additions, the other in "odd" 3, at once
 *   crossed    region "a" begins, "b" begins, "a" ends, "b" ends; 5 additions after each beginning
 *   loop       N times 10 additions in region "a", 5 outside
 * Functions: each calls adds() with the number said.
 *   factorial  2 per call, N calls deep           thrown   4, then throws past its caller
 *   jumped     4, then longjmp past its caller    tail     3, and ends by a jump to tail_target, 6
 *   inthread   8, in each of N threads at once    handled  9, from a signal handler
 *   entered    entered by a jump, 5               mutual   1, and mutual_other 2, N deep
 *   first, second   1 and 10; "both" calls them N times
 */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#include "ridgepoint.h"

#define PART extern "C" __attribute__((noinline, noclone))

double data[2000];
static volatile double sink;
static jmp_buf back;
static pthread_barrier_t barrier;

PART void adds(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += data[i];
    sink = sum;
}
PART long factorial(long n) {
    adds(2);
    return n < 2 ? 1 : n * factorial(n - 1);
}
PART void thrown() {
    adds(4);
    throw 1;
}
PART void calls_thrown() {
    thrown();
    adds(100);
}
PART void jumped() {
    adds(4);
    longjmp(back, 1);
}
PART void calls_jumped() {
    jumped();
    adds(100);
}
PART void tail_target() { adds(6); sink = 0; }
PART void tail() {
    adds(3);
    __asm__ volatile("" ::: "memory");
    return tail_target(); /* -O2 makes it a jump */
}
PART void inthread() { adds(8); sink = 0; }
PART void handled(int) { adds(9); sink = 0; }
PART void entered() { adds(5); sink = 0; }
PART void mutual_other(long n);
PART void mutual(long n) {
    adds(1);
    if (n > 1) mutual_other(n - 1);
    sink = 0;
}
PART void mutual_other(long n) {
    adds(2);
    if (n > 1) mutual(n - 1);
    sink = 0;
}
PART void first() { adds(1); sink = 0; }
PART void second() { adds(10); sink = 0; }
PART void recursive(long n) {
    RIDGEPOINT_REGION_BEGIN("r");
    adds(5);
    if (n > 1) recursive(n - 1);
    RIDGEPOINT_REGION_END("r");
}
static void *marks(void *number) {
    int odd = (long)number % 2;
    pthread_barrier_wait(&barrier);
    RIDGEPOINT_REGION_BEGIN(odd ? "odd" : "even");
    pthread_barrier_wait(&barrier);
    adds(odd ? 3 : 7);
    pthread_barrier_wait(&barrier);
    RIDGEPOINT_REGION_END(odd ? "odd" : "even");
    return NULL;
}
static void *calls(void *) {
    pthread_barrier_wait(&barrier);
    adds(50);
    inthread();
    adds(50);
    return NULL;
}
static void threads(void *(*function)(void *), long n) {
    pthread_t all[64];
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (long i = 0; i < n; i++) pthread_create(&all[i], NULL, function, (void *)i);
    for (long i = 0; i < n; i++) pthread_join(all[i], NULL);
}
PART void jumps_in() {
    __asm__ volatile("leaq 1f(%%rip), %%rax\n pushq %%rax\n jmp entered\n 1:" ::
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
                           "xmm1", "memory");
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *mode = argv[1];
    volatile long i, n = atol(argv[2]);
    adds(1000);
    for (i = 0; i < n; i++) {
        if (!strcmp(mode, "nested")) {
            RIDGEPOINT_REGION_BEGIN("a");
            adds(100);
            RIDGEPOINT_REGION_BEGIN("b");
            adds(10);
            RIDGEPOINT_REGION_END("b");
            adds(1);
            RIDGEPOINT_REGION_END("a");
        } else if (!strcmp(mode, "crossed")) {
            RIDGEPOINT_REGION_BEGIN("a");
            adds(5);
            RIDGEPOINT_REGION_BEGIN("b");
            adds(5);
            RIDGEPOINT_REGION_END("a");
            adds(100);
            RIDGEPOINT_REGION_END("b");
        } else if (!strcmp(mode, "loop")) {
            RIDGEPOINT_REGION_BEGIN("a");
            adds(10);
            RIDGEPOINT_REGION_END("a");
            adds(5);
        } else if (!strcmp(mode, "thrown")) {
            try {
                calls_thrown();
            } catch (int) {
                adds(20);
            }
        } else if (!strcmp(mode, "jumped")) {
            if (!setjmp(back)) calls_jumped();
            adds(20);
        } else if (!strcmp(mode, "tail")) tail();
        else if (!strcmp(mode, "entered")) jumps_in();
        else if (!strcmp(mode, "both")) first(), second();
        else if (!strcmp(mode, "handled")) {
            signal(SIGUSR1, handled);
            raise(SIGUSR1);
        }
    }
    if (!strcmp(mode, "recursive")) recursive(n);
    if (!strcmp(mode, "factorial")) sink = factorial(n);
    if (!strcmp(mode, "mutual")) mutual(n);
    if (!strcmp(mode, "threads")) threads(marks, n);
    if (!strcmp(mode, "inthread")) threads(calls, n);
    adds(1000);
    return 0;
}
