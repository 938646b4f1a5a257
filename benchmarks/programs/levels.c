/* Kernels without calls, each in one function, for levels of counting. usage: levels NAME
 *
 * Their work is fixed, so that counts of several compilers can be compared.
 */
#include <stdio.h>
#include <string.h>

#define N 4096
#define ALONE __attribute__((noinline))

static long cells[N], other[N];
static int grid[66][66], result_grid[66][66];
static double reals[N], more[N];
static unsigned char text[1 << 16];
static long table[512];

ALONE static long clear(void) {
    for (int i = 0; i < N; i++) cells[i] = 0;
    return cells[7];
}

ALONE static long dot(void) {
    long sum = 0;
    for (int i = 0; i < N; i++) sum += cells[i] * other[i];
    return sum;
}

ALONE static long hash(void) {
    unsigned value = 2166136261u;
    for (int i = 0; i < (int)sizeof text; i++) value = (value ^ text[i]) * 16777619u;
    return value;
}

ALONE static long histogram(void) {
    for (int i = 0; i < (int)sizeof text; i++) table[(text[i] * 31u) & 511]++;
    return table[7];
}

ALONE static long search(void) {
    const char *wanted = "aab";
    long found = 0;
    for (int i = 0; i + 3 <= (int)sizeof text; i++) {
        int j = 0;
        while (j < 3 && text[i + j] == (unsigned char)wanted[j]) j++;
        found += j == 3;
    }
    return found;
}

ALONE static long words(void) {
    long count = 0;
    int inside = 0;
    for (int i = 0; i < (int)sizeof text; i++) {
        int letter = (text[i] | 32) >= 'b' && (text[i] | 32) <= 'z';
        if (letter && !inside) count++;
        inside = letter;
    }
    return count;
}

ALONE static long sort(void) {
    for (int gap = N / 2; gap > 0; gap /= 2)
        for (int i = gap; i < N; i++) {
            long key = cells[i];
            int j = i;
            for (; j >= gap && cells[j - gap] > key; j -= gap) cells[j] = cells[j - gap];
            cells[j] = key;
        }
    return cells[N / 2];
}

ALONE static long stencil(void) {
    for (int i = 1; i < 65; i++)
        for (int j = 1; j < 65; j++)
            result_grid[i][j] = 4 * grid[i][j] - grid[i - 1][j] - grid[i + 1][j] - grid[i][j - 1]
                                - grid[i][j + 1];
    return result_grid[3][3];
}

ALONE static long axpy(void) {
    for (int i = 0; i < N; i++) reals[i] += 3.0 * more[i];
    return (long)reals[7];
}

static const struct {
    const char *name;
    long (*run)(void);
} kernels[] = {
    {"clear", clear}, {"dot", dot},   {"hash", hash}, {"histogram", histogram}, {"search", search},
    {"words", words}, {"sort", sort}, {"stencil", stencil}, {"axpy", axpy},
};

int main(int argc, char **argv) {
    unsigned seed = 1;
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = 'a' + ((seed = seed * 1664525u + 1013904223u) >> 16 & 3) * 12 % 26;
    for (int i = 0; i < N; i++) {
        cells[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
        other[i] = i;
        reals[i] = more[i] = i;
    }
    for (int i = 0; i < 66; i++)
        for (int j = 0; j < 66; j++) grid[i][j] = i * j;
    for (int k = 0; k < (int)(sizeof kernels / sizeof *kernels); k++)
        if (argc > 1 && !strcmp(argv[1], kernels[k].name)) printf("%ld\n", kernels[k].run());
    return 0;
}
