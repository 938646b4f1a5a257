#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 25, REPEATS = 15, MOST = 128 };
static double c[MOST + 1];

int main(void) { /* a polynomial of degree n for 2^25 numbers: 2n flop and 24 byte each */
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (int k = 0; k <= MOST; k++) c[k] = 1.0 / (k + 1);
  for (long i = 0; i < N; i++) x[i] = (double)i / N, y[i] = 0;
  puts("nodes,cores,size,time_s");
  for (int r = 0; r < REPEATS; r++)
    for (int n = 2; n <= MOST; n *= 2)
      for (int q = 1; q <= 2; q++) {
        double begin = omp_get_wtime();
#pragma omp parallel for num_threads(q)
        for (long i = 0; i < N; i += 32) {
          double s[32];
          for (int j = 0; j < 32; j++) s[j] = c[n];
          for (int k = n; k-- > 0;)
            for (int j = 0; j < 32; j++) s[j] = s[j] * x[i + j] + c[k];
          for (int j = 0; j < 32; j++) y[i + j] = s[j];
        }
        printf("1,%d,%d,%.6f\n", q, n, omp_get_wtime() - begin);
      }
  return y[N / 2] < 0;
}
