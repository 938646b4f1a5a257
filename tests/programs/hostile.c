/* Programs that make counting hard, 1000 additions of fp64 each. usage: hostile MODE [FOLDER]
 *
 *   closing    closes every descriptor      removed   goes to FOLDER and removes it
 *   jail       chroot to FOLDER             nobody    drops its privileges
 *   files      may open no more files       memory    may map 4 GiB
 *   size       may write files of 100 byte  sparse    maps 4 GiB and touches 10 pages of them
 *   jailfork, nobodyfork   and then forks: 2000 additions
 *   abort, overflow, status   end by abort(), by an overflow of the stack, with status 3
 *   masked     blocks every signal          umask     creates files that none may read
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

double data[1000];
static volatile double sink;

__attribute__((noinline, noclone)) double work(void) {
    double sum = 0;
    for (int i = 0; i < 1000; i++) sum += data[i];
    return sum;
}
__attribute__((noinline, noclone)) int deeper(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0] + 1;
    return deeper(here) + here[0];
}
static void limit(int resource, rlim_t most) {
    struct rlimit both = {most, most};
    if (setrlimit(resource, &both)) exit(11);
}
static void drop(void) {
    if (setgid(65534) || setuid(65534)) exit(12);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : "";
    if (!strcmp(mode, "closing")) {
        for (int i = 0; i < 4096; i++) close(i);
    } else if (!strcmp(mode, "removed")) {
        if (chdir(folder) || rmdir(folder)) return 13;
    } else if (!strncmp(mode, "jail", 4)) {
        if (chroot(folder) || chdir("/")) return 14;
    } else if (!strncmp(mode, "nobody", 6)) {
        drop();
    } else if (!strcmp(mode, "files")) {
        struct rlimit few;
        getrlimit(RLIMIT_NOFILE, &few);
        few.rlim_cur = 3;
        if (setrlimit(RLIMIT_NOFILE, &few)) return 16;
    } else if (!strcmp(mode, "memory")) {
        limit(RLIMIT_AS, 4l << 30);
    } else if (!strcmp(mode, "size")) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, RLIM_INFINITY});
    } else if (!strcmp(mode, "sparse")) {
        char *much = mmap(NULL, 4ul << 30, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (much == MAP_FAILED) return 15;
        for (long i = 0; i < 10; i++) much[i * (400l << 20)] = 1;
    } else if (!strcmp(mode, "masked")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    } else if (!strcmp(mode, "umask")) {
        umask(0777);
    }
    sink = work();
    if (strstr(mode, "fork")) {
        if (fork() == 0) {
            sink = work();
            _exit(0);
        }
        wait(NULL);
    }
    if (!strcmp(mode, "abort")) abort();
    if (!strcmp(mode, "overflow")) return deeper("");
    return strcmp(mode, "status") ? 0 : 3;
}
