/* Kernels that are counted for their cost. usage: kernels NAME N REPEATS
 *
 *   qsort      0 flop; N integers in random order, sorted by the C library
 *   threads    2 N flop by each of four threads per repetition: y += a x
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

static long n, repeats;

static int compared(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort(void) {
    int *numbers = malloc(n * sizeof *numbers);
    unsigned seed = 1;
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < n; i++) numbers[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 1);
        qsort(numbers, n, sizeof *numbers, compared);
    }
}

__attribute__((noinline)) static void daxpy(double a, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
}

static void *work(void *unused) {
    (void)unused;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (long i = 0; i < n; i++) x[i] = y[i] = 1.0 + (double)i;
    for (long r = 0; r < repeats; r++) daxpy(3.0, x, y);
    return y;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    n = atol(argv[2]);
    repeats = atol(argv[3]);
    if (!strcmp(argv[1], "qsort")) {
        sort();
    } else if (!strcmp(argv[1], "threads")) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    } else {
        return 2;
    }
    return 0;
}
