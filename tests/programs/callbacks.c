/* Functions that are reached in every way: called, jumped to at the end of another, by an address
 * that was passed on, kept in a table, or that a library was given. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

APART static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

APART static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

APART static void fill(double *a, int n) {
    for (int i = 0; i < n; i++) {
        a[i] = i * 0.5;
    }
}

APART static int twice(int x) {
    return 2 * x;
}

APART static int squared(int x) {
    return x * x;
}

APART static int chosen(int x) {
    switch (x) {
    case 0: return 11;
    case 1: return twice(x);
    case 2: return 7 * x;
    case 3: return squared(x + 1);
    case 4: return x - 5;
    case 5: return puts("five");
    }
    return twice(x);
}

static int (*const kept[])(int) = {twice, squared, chosen};

APART static void at_exit(void) {
    puts("end");
}

int main(int argc, char **argv) {
    double a[100], b[100];
    int numbers[50];
    (void)argv;
    atexit(at_exit);
    fill(a, 100);
    fill(b, 100);
    for (int i = 0; i < 50; i++) {
        numbers[i] = kept[i % 3](i % 6);
    }
    qsort(numbers, 50, sizeof numbers[0], compare);
    printf("%g %d %d\n", dot(a, b, 100), numbers[25], argc);
    return 0;
}
