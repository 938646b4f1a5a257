/* What the programs of this folder share: modes by name, and work whose result shows any slip.
 * Every mode prints results that are the same in every run, and returns its exit status. */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the program, argv[1] the mode */
} Mode;

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

/* Integers and doubles, branches and a table: 64 bits that depend on every step. */
__attribute__((noinline, unused)) static uint64_t work(uint64_t seed, int steps) {
    static const uint32_t table[8] = {3, 5, 7, 11, 13, 17, 19, 23};
    uint64_t state = seed * 2654435761u + 1;
    double sum = 1;
    for (int i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        switch (state & 7) {
        case 0: sum += 0.5; break;
        case 1: sum *= 1.0009765625; break;
        case 2: sum -= 0.25; break;
        case 3: state += table[i & 7]; break;
        case 4: sum = sum > 100 ? sum / 128 : sum + 1; break;
        case 5: state *= table[(state >> 9) & 7]; break;
        default: sum = -sum; break;
        }
    }
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return state ^ bits;
}

__attribute__((unused)) static int run_mode(const Mode *modes, int n, int argc, char **argv) {
    for (int i = 0; i < n; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) return modes[i].run(argc, argv);
    fprintf(stderr, "modes:");
    for (int i = 0; i < n; i++) fprintf(stderr, " %s", modes[i].name);
    fprintf(stderr, "\n");
    return 98;
}

#define RUN_MODES(modes)                                                                           \
    int main(int argc, char **argv) {                                                              \
        return run_mode(modes, (int)(sizeof modes / sizeof *modes), argc, argv);                   \
    }

#endif
