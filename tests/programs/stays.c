/* A program that says how long it is in `work`: stays HOW TIMES, by the clock around each call. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double x = 1.0;
static jmp_buf outside;
static int leaves;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

__attribute__((noipa)) static void inner(long n)
{
    for (long i = 0; i < n; i++) {
        x = x * 0.999 + 0.001;
        __asm__ volatile("" : "+m"(x));
    }
}

__attribute__((noipa)) static void work(int depth)
{
    if (depth) {
        work(depth - 1);
        __asm__ volatile("");
        return;
    }
    inner(1000000);
    if (leaves)
        longjmp(outside, 1);
}

/* What follows the call is passed over by longjmp. */
__attribute__((noipa)) static void call_work(void)
{
    work(0);
    __asm__ volatile("");
}

static void *in_thread(void *unused)
{
    (void)unused;
    work(0);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    const long times = argc > 2 ? atol(argv[2]) : 1;
    double inside = 0;
    inner(3000000); /* what comes before */
    leaves = strcmp(how, "jump") == 0;
    for (volatile long i = 0; i < times; i++) {
        const double begin = now();
        if (strcmp(how, "thread") == 0) {
            pthread_t thread;
            pthread_create(&thread, NULL, in_thread, NULL);
            pthread_join(thread, NULL);
        } else if (leaves) {
            if (setjmp(outside) == 0)
                call_work();
        } else {
            work(strcmp(how, "recursive") == 0 ? 5 : 0);
        }
        inside += now() - begin;
    }
    inner(3000000);
    printf("%.9f\n", inside);
    return 0;
}
