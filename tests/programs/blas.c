/* BLAS-like kernels whose work is known by hand. usage: blas KERNEL N [REPEATS]
 *
 *   daxpy     2 n r flop fp64       y += a x
 *   saxpy     2 n r flop fp32
 *   mixed     2 n r flop fp64 and n r fp32: y += a x in fp64, then z = z * 0.5f
 *   copy      0 flop; reads 8 n, writes 8 n bytes per repetition
 *   dgemv     2 n^2 r flop fp64     y += A x, row by row
 *   dgemm     2 n^3 r flop fp64     C += A B
 *   stencil   5 (n-2)^2 r flop fp64: 4 additions and 1 multiplication per inner point
 *   spmv      2 nnz r flop fp64 with nnz = 3 n - 2 (tridiagonal, CSR)
 *   sort      0 flop: integers, insertion sort
 *
 * Filling the arrays and choosing the kernel does integer work and conversions only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone)) void

KERNEL daxpy(long n, double a, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
}
KERNEL saxpy(long n, float a, const float *restrict x, float *restrict y) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
}
KERNEL mixed(long n, double a, const double *restrict x, double *restrict y, float *restrict z) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
    for (long i = 0; i < n; i++) z[i] *= 0.5f;
}
KERNEL copy(long n, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) { y[i] = x[i]; __asm__ volatile("" ::: "memory"); }
}
KERNEL dgemv(long n, const double *restrict a, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
}
KERNEL dgemm(long n, const double *restrict a, const double *restrict b, double *restrict c) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
KERNEL stencil(long n, const double *restrict u, double *restrict v) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            v[i * n + j] = 0.2 * (u[i * n + j] + u[i * n + j - 1] + u[i * n + j + 1]
                                  + u[(i - 1) * n + j] + u[(i + 1) * n + j]);
}
KERNEL spmv(long n, const int *restrict start, const int *restrict column,
            const double *restrict value, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++) y[i] += value[k] * x[column[k]];
}
KERNEL sort(long n, int *x) {
    for (long i = 1; i < n; i++) {
        int v = x[i];
        long j = i;
        for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
        x[j] = v;
    }
}

static double *filled(size_t n) {
    double *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    for (size_t i = 0; i < n; i++) x[i] = (double)(i % 7 + 1);
    return x;
}

int main(int argc, char **argv) {
    const char *name = argv[1];
    long n = atol(argv[2]), repeats = argc > 3 ? atol(argv[3]) : 1;
    int square = !strcmp(name, "dgemm") || !strcmp(name, "dgemv") || !strcmp(name, "stencil");
    size_t size = square ? (size_t)n * n : 3 * (size_t)n;
    double *x = filled(size), *y = filled(size), *z = filled(size);
    int *start = malloc((n + 1) * sizeof *start), *column = malloc(3 * n * sizeof *column);
    int nnz = 0;
    for (long i = 0; i < n; i++) {
        start[i] = nnz;
        for (long j = i > 0 ? i - 1 : 0; j <= (i < n - 1 ? i + 1 : i); j++) column[nnz++] = (int)j;
    }
    start[n] = nnz;
    for (long r = 0; r < repeats; r++) {
        if (!strcmp(name, "daxpy")) daxpy(n, 3.0, x, y);
        else if (!strcmp(name, "saxpy")) saxpy(n, 3.0f, (float *)x, (float *)y);
        else if (!strcmp(name, "mixed")) mixed(n, 3.0, x, y, (float *)z);
        else if (!strcmp(name, "copy")) copy(n, x, y);
        else if (!strcmp(name, "dgemv")) dgemv(n, x, y, z);
        else if (!strcmp(name, "dgemm")) dgemm(n, x, y, z);
        else if (!strcmp(name, "stencil")) stencil(n, x, y);
        else if (!strcmp(name, "spmv")) spmv(n, start, column, x, y, z);
        else if (!strcmp(name, "sort")) sort(n, column);
        else return 2;
    }
    fprintf(stderr, "done\n");
    return 0;
}
