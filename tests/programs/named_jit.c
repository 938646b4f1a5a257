/* Code made at run time, and its names. usage: named_jit map|dump|none SECONDS N
 *
 * Two loops of N additions of fp64: "add slowly", a chain of 16 each round, and "add once". They
 * are called in turns until the thread has used so many seconds of CPU time (0: once each). The
 * names are written to /tmp/perf-PID.map, or to jit-PID.dump in the current folder; a map ends with
 * the text of NAMED_JIT_MARK, by which whoever started the program finds it.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CHAIN = 16, APART = 512 };

/* additions times addsd %xmm1,%xmm0; dec %rdi; jnz back; ret */
static size_t loop_at(char *code, int additions) {
    size_t n = 0;
    for (int i = 0; i < additions; i++, n += 4) memcpy(code + n, "\xf2\x0f\x58\xc1", 4);
    memcpy(code + n, "\x48\xff\xcf\x0f\x85", 5);
    int32_t back = -(int32_t)(n + 9);
    memcpy(code + n + 5, &back, 4);
    code[n + 9] = (char)0xc3;
    return n + 10;
}

static void record(FILE *file, const char *name, char *code, size_t size, uint64_t index) {
    uint64_t numbers[] = {(uint64_t)code, (uint64_t)code, size, index}, time = 0;
    uint32_t head[] = {0, (uint32_t)(16 + 8 + 32 + strlen(name) + 1 + size)};
    uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid()};
    fwrite(head, 4, 2, file);
    fwrite(&time, 8, 1, file);
    fwrite(ids, 4, 2, file);
    fwrite(numbers, 8, 4, file);
    fwrite(name, 1, strlen(name) + 1, file);
    fwrite(code, 1, size, file);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    double seconds = atof(argv[2]), used;
    long rounds = atol(argv[3]);
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const char *names[] = {"add slowly", "add once"};
    size_t sizes[] = {loop_at(code, CHAIN), loop_at(code + APART, 1)};
    char path[64];
    snprintf(path, sizeof path, *argv[1] == 'm' ? "/tmp/perf-%d.map" : "jit-%d.dump", getpid());
    FILE *file = *argv[1] == 'n' ? NULL : fopen(path, "w");
    if (file && *argv[1] == 'd') {
        uint32_t head[] = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid()};
        uint64_t rest[] = {0, 0};
        fwrite(head, 4, 6, file);
        fwrite(rest, 8, 2, file);
    }
    for (int i = 0; file && i < 2; i++) {
        if (*argv[1] == 'd') record(file, names[i], code + i * APART, sizes[i], i);
        else fprintf(file, "%lx %zx %s\n", (long)(code + i * APART), sizes[i], names[i]);
    }
    const char *mark = getenv("NAMED_JIT_MARK"); /* a line that names nothing */
    if (file && mark && *argv[1] == 'm') fprintf(file, "mark %s\n", mark);
    if (file) fclose(file);
    do {
        ((void (*)(long))code)(rounds);
        ((void (*)(long))(code + APART))(rounds);
        struct timespec now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        used = now.tv_sec + now.tv_nsec * 1e-9;
    } while (used < seconds);
    return 0;
}
