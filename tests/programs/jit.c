/* Code made at run time, twice at the same address. usage: jit N
 *
 * N times 3 additions of fp64, then, from other bytes at the same place, N times 5
 * multiplications of fp32 and a copy of 40 bytes by REP MOVSB; the code changes itself once more
 * in between the rounds: N times 2 additions of fp32, of which the code writes the second.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char added[] = "\xf2\x0f\x58\xc1\xf2\x0f\x58\xc1\xf2\x0f\x58\xc1\xc3";
static const char multiplied[] =
    "\xf3\x0f\x59\xc1\xf3\x0f\x59\xc1\xf3\x0f\x59\xc1\xf3\x0f\x59\xc1\xf3\x0f\x59\xc1"
    "\xb9\x28\x00\x00\x00" /* mov $40, %ecx */
    "\xf3\xa4\xc3";        /* rep movsb; ret */
static const char changing[] =
    "\xf3\x0f\x58\xc1"                 /* addss %xmm1, %xmm0 */
    "\xc7\x05\x01\x00\x00\x00\xf3\x0f\x58\xc1" /* movl $(addss), 1(%rip) */
    "\xc3"                             /* ret */
    "\x90\x90\x90\x90"                 /* becomes addss %xmm1, %xmm0 */
    "\xc3";

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1;
    char from[64] = {0}, to[64];
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*run)(char *, char *) = (void (*)(char *, char *))code;
    memcpy(code, added, sizeof added);
    for (long i = 0; i < n; i++) run(to, from);
    memcpy(code, multiplied, sizeof multiplied);
    for (long i = 0; i < n; i++) run(to, from);
    memcpy(code, changing, sizeof changing);
    for (long i = 0; i < n; i++) {
        memset(code + 15, 0x90, 4);
        run(to, from);                                        /* writes the second */
        ((void (*)(char *, char *))(code + 15))(to, from);    /* runs it */
    }
    return 0;
}
