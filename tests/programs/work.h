/* What threads and processes of known work do: work() does 1000 scalar additions of fp64. */
#ifndef WORK_H
#define WORK_H

#include <pthread.h>

double data[1000];
static volatile double sink;
static pthread_barrier_t barrier;

__attribute__((noinline, noclone)) double work(void) {
    double sum = 0;
    for (int i = 0; i < 1000; i++) sum += data[i];
    return sum;
}
static void *works(void *unused) {
    sink = work();
    return unused;
}
static void *waits(void *unused) {
    pthread_barrier_wait(&barrier);
    sink = work();
    return unused;
}

#endif
