/* AVX-512 in a function of its own. usage: wide [catch|child]
 *
 * wide() is one 512-bit addition of fp64. "catch" survives the SIGILL that a CPU without AVX-512
 * raises; "child" executes it in a forked child and ignores how that ended.
 */
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static double x[16];

static void caught(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}
__attribute__((noinline, noclone, target("avx512f"))) void wide(double *y) {
    _mm512_storeu_pd(y, _mm512_add_pd(_mm512_loadu_pd(y), _mm512_loadu_pd(y + 8)));
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "catch")) signal(SIGILL, caught);
    if (!strcmp(mode, "child")) {
        pid_t child = fork();
        if (child) {
            waitpid(child, NULL, 0);
            return 0;
        }
    }
    if (!sigsetjmp(back, 1)) wide(x);
    return 0;
}
