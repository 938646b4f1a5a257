/* Makes a function at run time, as oneDNN does: writes it, seals it, calls it; then changes it.
 *
 * The function adds 1.0 to xmm0 as often as rdi says, one fp64 flop each; the second does it twice
 * in each round. argv[1]: rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef double (*Function)(uint64_t rounds, const double *one);

/* push rbx; L: addsd xmm0, [rsi]; (again); dec rdi; jnz L; pop rbx; ret */
static const uint8_t once[] = {0x53, 0x66, 0x0F, 0xEF, 0xC0, 0xF2, 0x0F, 0x58, 0x06,
                               0x48, 0xFF, 0xCF, 0x75, 0xF7, 0x5B, 0xC3};
static const uint8_t twice[] = {0x53, 0x66, 0x0F, 0xEF, 0xC0, 0xF2, 0x0F, 0x58, 0x06, 0xF2, 0x0F,
                                0x58, 0x06, 0x48, 0xFF, 0xCF, 0x75, 0xF3, 0x5B, 0xC3};

static double call(uint8_t *memory, const uint8_t *code, size_t n, uint64_t rounds) {
    const double one = 1;
    if (mprotect(memory, 4096, PROT_READ | PROT_WRITE)) {
        exit(2);
    }
    const int is_clean = !memory[0] || !memcmp(memory, once, sizeof once);
    memcpy(memory, code, n);
    if (mprotect(memory, 4096, PROT_READ | PROT_EXEC)) {
        exit(2);
    }
    return is_clean ? ((Function)memory)(rounds, &one) : -1;
}

int main(int argc, char **argv) {
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return 2;
    }
    const double first = call(memory, once, sizeof once, rounds);
    const double second = call(memory, twice, sizeof twice, rounds);
    printf("%.0f %.0f\n", first, second);
    return munmap(memory, 4096);
}
