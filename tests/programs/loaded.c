/* What a program does that others' loaders must see, or survive. usage: loaded MODE N [LIBRARY]
 *
 * How often work() of work.h is called:
 *   bare      execs itself as "works" with an empty environment, after working once: twice
 *   spawned   spawns N children with an empty environment, which work once each: N + 1
 *   closes    closes all descriptors, works, and works in a thread: twice
 *   opens     opens LIBRARY N times, calls its work(), and closes it
 *   keeps     opens it N times in namespaces of their own, calls its work(), and keeps it
 *   waits     N waits of 1 ms for nothing, each after much work of the kernel; prints how many of
 *             them ended early
 *   alive     N threads that work and are all alive at once: N
 *   lists     prints the names of all modules that are loaded
 *   works     works once
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static char *self;
static char *const nothing[] = {NULL};

static void threads(void *(*begin)(void *), long n) {
    pthread_t made[n];
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (long i = 0; i < n; i++)
        if (pthread_create(&made[i], NULL, begin, NULL)) exit(3);
    for (long i = 0; i < n; i++) pthread_join(made[i], NULL);
}
static void bare(long n) {
    char *const arguments[] = {self, "works", "1", NULL};
    (void)n;
    sink = work();
    execve(self, arguments, nothing);
    exit(4);
}
static void spawned(long n) {
    char *const arguments[] = {self, "works", "1", NULL};
    for (long i = 0; i < n; i++) {
        pid_t child;
        int status;
        if (posix_spawn(&child, self, NULL, NULL, arguments, nothing)) exit(4);
        if (waitpid(child, &status, 0) != child || status) exit(5);
    }
    sink = work();
}
static void opens(long n, const char *library, int keep) {
    for (long i = 0; i < n; i++) {
        void *opened = keep ? dlmopen(LM_ID_NEWLM, library, RTLD_NOW) : dlopen(library, RTLD_NOW);
        double (*found)(void) = opened ? (double (*)(void))dlsym(opened, "library_work") : NULL;
        if (!found) exit(4);
        sink = found();
        if (!keep) dlclose(opened);
    }
}
static void polls(long n) {
    static struct pollfd asked[1000];
    int both[2], early = 0;
    if (pipe(both)) exit(4);
    for (int i = 0; i < 1000; i++) asked[i] = (struct pollfd){.fd = both[0], .events = POLLIN};
    for (long i = 0; i < n; i++) early += poll(asked, 1000, 1) < 0 && errno == EINTR;
    printf("%d\n", early);
}
static int prints(struct dl_phdr_info *info, size_t bytes, void *data) {
    (void)bytes, (void)data;
    puts(info->dlpi_name);
    return 0;
}
int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[1] : "works", *library = argc > 3 ? argv[3] : NULL;
    long n = argc > 2 ? atol(argv[2]) : 1;
    self = argv[0];
    if (!strcmp(mode, "bare")) bare(n);
    else if (!strcmp(mode, "spawned")) spawned(n);
    else if (!strcmp(mode, "closes")) {
        for (int i = 0; i < 1024; i++) close(i);
        sink = work();
        threads(works, 1);
    } else if (!strcmp(mode, "opens")) opens(n, library, 0);
    else if (!strcmp(mode, "keeps")) opens(n, library, 1);
    else if (!strcmp(mode, "waits")) polls(n);
    else if (!strcmp(mode, "alive")) threads(waits, n);
    else if (!strcmp(mode, "lists")) dl_iterate_phdr(prints, NULL);
    else sink = work();
    return 0;
}
