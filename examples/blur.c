/* Blurs a picture: blur N TIMES. Every inner point becomes the mean of its four neighbours and itself.
 *
 * The loops run down the columns while the picture is stored row by row: slow, on purpose. With
 * -DBY_ROWS they run along the rows. docs/tutorial_vm.md finds out which of the two a machine likes.
 */
#include <stdio.h>
#include <stdlib.h>

static void blur(long n, const double *restrict from, double *restrict to)
{
#ifdef BY_ROWS
    for (long y = 1; y < n - 1; y++)
        for (long x = 1; x < n - 1; x++)
#else
    for (long x = 1; x < n - 1; x++)
        for (long y = 1; y < n - 1; y++)
#endif
            to[y * n + x] = 0.2 * (from[y * n + x] + from[(y - 1) * n + x] + from[(y + 1) * n + x] +
                                   from[y * n + x - 1] + from[y * n + x + 1]);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 2000, times = argc > 2 ? atol(argv[2]) : 10;
    if (n < 3 || times < 1) {
        fprintf(stderr, "usage: blur N TIMES (N >= 3, TIMES >= 1)\n");
        return 2;
    }
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
    if (!a || !b) {
        fprintf(stderr, "blur: no memory for two pictures of %ld x %ld\n", n, n);
        return 1;
    }
    for (long i = 0; i < n * n; i++) /* stripes */
        a[i] = b[i] = i % 16 < 8 ? 1.0 : 0.0;
    for (long t = 0; t < times; t++) {
        blur(n, a, b);
        double *swapped = a;
        a = b;
        b = swapped;
    }
    printf("blur: the point in the middle is %.6f\n", a[n / 2 * n + n / 2]);
    free(a);
    free(b);
    return 0;
}
