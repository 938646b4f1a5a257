/* A library that begins a thread as soon as it is loaded; it works when asked to. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

double library_data[500];
static pthread_barrier_t barrier;
static pthread_t thread;
static volatile double sink;

double library_work(void) {
    double sum = 0;
    for (int i = 0; i < 500; i++) sum += library_data[i];
    return sum;
}
static void *waits(void *unused) {
    pthread_barrier_wait(&barrier);
    sink = library_work();
    return unused;
}
__attribute__((constructor)) static void begins(void) {
    sink = library_work();
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, waits, NULL)) abort();
}
__attribute__((destructor)) static void ends(void) {
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}
