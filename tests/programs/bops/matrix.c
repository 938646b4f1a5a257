/* A product of matrices, with two dimensions of addressing. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 200 };
static double a[N][N], b[N][N], c[N][N];

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    while (times--)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
    printf("%g\n", c[3][4]);
    return 0;
}
