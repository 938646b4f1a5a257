/* The heat equation on a square: heat N STEPS. Jacobi iteration, five-point stencil, fp64.
 *
 * Each step does 4 flop in each of the (N-2)^2 inner points (three additions, one product).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void step(long n, const double *restrict from, double *restrict to)
{
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                                    from[i * n + j - 1] + from[i * n + j + 1]);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 2000, steps = argc > 2 ? atol(argv[2]) : 20;
    if (n < 3 || steps < 1) {
        fprintf(stderr, "usage: heat N STEPS (N >= 3, STEPS >= 1)\n");
        return 2;
    }
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
    if (!a || !b) {
        fprintf(stderr, "heat: no memory for two grids of %ld x %ld\n", n, n);
        return 1;
    }
    for (long i = 0; i < n * n; i++) /* one side hot, the rest nearly cold */
        a[i] = b[i] = i < n ? 100.0 : 1.0;
    for (long s = 0; s < steps; s++) {
        step(n, a, b);
        double *t = a;
        a = b;
        b = t;
    }
    printf("heat: the middle of the second row is at %.6f\n", a[n + n / 2]);
    free(a);
    free(b);
    return 0;
}
