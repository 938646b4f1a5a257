/* Makes a function at run time, as oneDNN does: writes it, makes it executable, calls it; then
 * writes another one in its place.
 *
 * The first adds 1.0 to xmm0 as often as rdi says, one fp64 flop each; the second does it twice in
 * each round. argv[1]: rounds; argv[2]: "sealed": what is executable is not writable;
 * "writable": it stays writable, and what the second has else, which is behind the first bytes, is
 * written without a system call. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef double (*Function)(uint64_t rounds, const double *one);

/* push rbx; pxor xmm0, xmm0; L: addsd xmm0, [rsi]; (again); dec rdi; jnz L; pop rbx; ret */
static const uint8_t once[] = {0x53, 0x66, 0x0F, 0xEF, 0xC0, 0xF2, 0x0F, 0x58, 0x06,
                               0x48, 0xFF, 0xCF, 0x75, 0xF7, 0x5B, 0xC3};
static const uint8_t twice[] = {0x53, 0x66, 0x0F, 0xEF, 0xC0, 0xF2, 0x0F, 0x58, 0x06, 0xF2, 0x0F,
                                0x58, 0x06, 0x48, 0xFF, 0xCF, 0x75, 0xF3, 0x5B, 0xC3};

static void protect(uint8_t *memory, int protection) {
    if (mprotect(memory, 4096, protection)) {
        exit(2);
    }
}

int main(int argc, char **argv) {
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    const int stays = argc > 2 && !strcmp(argv[2], "writable");
    const int executable = PROT_READ | PROT_EXEC | (stays ? PROT_WRITE : 0);
    const double one = 1;
    uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return 2;
    }
    memcpy(memory, once, sizeof once);
    protect(memory, executable);
    const double first = ((Function)memory)(rounds, &one);
    if (!stays) {
        protect(memory, PROT_READ | PROT_WRITE);
        if (memcmp(memory, once, sizeof once)) { /* it is as it was written */
            return 3;
        }
    }
    const size_t same = stays ? 9 : 0;
    memcpy(memory + same, twice + same, sizeof twice - same);
    if (!stays) {
        protect(memory, executable);
    }
    const double second = ((Function)memory)(rounds, &one);
    protect(memory, PROT_READ | PROT_WRITE);
    if (memcmp(memory, twice, sizeof twice)) {
        return 3;
    }
    printf("%.0f %.0f\n", first, second);
    return munmap(memory, 4096);
}
