/* Quicksort and binary search: comparisons, and steps through arrays. */
#include <stdio.h>
#include <stdlib.h>

static void sort(int *v, int n)
{
    while (n > 16) {
        int pivot = v[n / 2], i = 0, j = n - 1;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        sort(v, j + 1);
        v += i;
        n -= i;
    }
    for (int i = 1; i < n; i++) {
        int t = v[i], j = i - 1;
        for (; j >= 0 && v[j] > t; j--)
            v[j + 1] = v[j];
        v[j + 1] = t;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int *v = malloc(n * sizeof *v);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = seed >> 4;
    }
    sort(v, n);
    for (int i = 1; i < n; i++)
        if (v[i - 1] > v[i])
            return 1;
    printf("%d\n", v[n / 2]);
    return 0;
}
