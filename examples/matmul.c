/* A square matrix product in fp64, rows innermost: matmul N. Does 2 N^3 flop. */
#include <stdio.h>
#include <stdlib.h>

static void matmul(long n, const double *restrict a, const double *restrict b, double *restrict c)
{
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 512;
    if (n < 1) {
        fprintf(stderr, "usage: matmul N (N >= 1)\n");
        return 2;
    }
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
    double *c = calloc(n * n, sizeof *c);
    if (!a || !b || !c) {
        fprintf(stderr, "matmul: no memory for three matrices of %ld x %ld\n", n, n);
        return 1;
    }
    for (long i = 0; i < n * n; i++) {
        a[i] = 1.0 + (double)(i % 7);
        b[i] = 0.5 + (double)(i % 5);
    }
    matmul(n, a, b, c);
    printf("matmul: c[0][0] is %g, the last is %g\n", c[0], c[n * n - 1]);
    free(a);
    free(b);
    free(c);
    return 0;
}
