/* Functions of known CPU time of their own: rounds of additions, each of them timed.
 *
 * usage: spin two|threads|family HEAVY LIGHT, spin library HEAVY LIGHT FILE
 *
 * Seconds in heavy() and in light(), without what the kernel did for others meanwhile: one after the other; at the same time in two
 * threads; light() in a child that executes this program anew; light() of a library that dlopen
 * finds, compiled of this file with -DLIBRARY.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND 5000 /* some 7 us: reading the clock, without the kernel, is a hundredth of it */

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* The kernel's clock of a thread goes on while it serves packets and interrupts of others, and what
 * it accounts to user mode is a guess at its ticks. So a round that took more than twice the mean
 * of those before was interrupted, by the kernel or another process, and counts as that much. */
#define SPIN(seconds)                                                     \
    do {                                                                  \
        volatile double kept;                                             \
        double own = 0, before = now_s();                                 \
        for (int rounds = 0; own < (seconds); rounds++) {                 \
            double sum = rounds;                                          \
            for (int i = 0; i < ROUND; i++) sum = sum + 1;                \
            kept = sum;                                                   \
            const double now = now_s(), took = now - before;              \
            const double most = rounds ? 2 * own / rounds : took;         \
            own += took < most ? took : most;                             \
            before = now;                                                 \
        }                                                                 \
        (void)kept;                                                       \
    } while (0)

#ifdef LIBRARY
void plugin(double seconds) { SPIN(seconds); }
#else
__attribute__((noinline)) void heavy(double seconds) { SPIN(seconds); }
__attribute__((noinline)) void light(double seconds) { SPIN(seconds); }

static void *light_thread(void *seconds) {
    light(*(double *)seconds);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    double heavy_s = atof(argv[2]), light_s = atof(argv[3]);
    if (strcmp(argv[1], "two") == 0) {
        if (heavy_s > 0) heavy(heavy_s);
        if (light_s > 0) light(light_s);
    } else if (strcmp(argv[1], "threads") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, light_thread, &light_s);
        heavy(heavy_s);
        pthread_join(thread, NULL);
    } else if (strcmp(argv[1], "family") == 0) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], "two", "0", argv[3], (char *)NULL);
            _exit(3);
        }
        heavy(heavy_s);
        waitpid(child, NULL, 0);
    } else if (strcmp(argv[1], "library") == 0 && argc == 5) {
        void *library = dlopen(argv[4], RTLD_NOW);
        if (!library) return 4;
        void (*plugin)(double) = (void (*)(double))dlsym(library, "plugin");
        heavy(heavy_s);
        plugin(light_s);
    } else {
        return 2;
    }
    return 0;
}
#endif
