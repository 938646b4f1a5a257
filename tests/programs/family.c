/* Processes and threads of known work. usage: family MODE
 *
 * work(n) is n additions of fp64, scalar. Every mode does 10000 of them before all else, in
 * before(), and then:
 *   fork      5000 in work() of a forked child that does not exec, and 1000 in the parent's
 *   closing   as fork, after closing every file descriptor and changing directory
 *   exec      becomes this program in the mode named next
 *   badexec   1000 in the child after an exec that fails, 1000 in the parent's
 *   threads   four threads at a time, 4 x 1000
 *   kill      5000 in a child that is killed by SIGKILL, 1000 in the parent's
 *   plain     1000
 *   crash     raises SIGSEGV
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

double data[10000]; /* not static, else the compiler sees that it stays zero */
static volatile double sink;
static pthread_barrier_t barrier;

__attribute__((noinline, noclone)) double work(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += data[i];
    return sum;
}
__attribute__((noinline, noclone)) double before(int n) {
    double sum = 1;
    for (int i = 0; i < n; i++) sum += data[i];
    return sum;
}
static void *in_thread(void *unused) {
    pthread_barrier_wait(&barrier);
    sink = work(1000);
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    sink = before(10000);
    const char *mode = argv[1];
    if (!strcmp(mode, "closing")) {
        for (int i = 0; i < 1024; i++) close(i);
        if (chdir("/")) return 3;
        mode = "fork";
    }
    if (!strcmp(mode, "exec")) {
        argv[1] = argv[0];
        execv(argv[0], argv + 1);
        return 3;
    }
    if (!strcmp(mode, "threads")) {
        pthread_t threads[4];
        pthread_barrier_init(&barrier, NULL, 4);
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, in_thread, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        return 0;
    }
    if (!strcmp(mode, "crash")) raise(SIGSEGV);
    if (strcmp(mode, "plain")) {
        pid_t child = fork();
        if (child == 0) {
            if (!strcmp(mode, "badexec")) {
                execl("/nonexistent", "nonexistent", (char *)NULL);
                sink = work(1000);
                _exit(0);
            }
            sink = work(5000);
            if (!strcmp(mode, "kill")) raise(SIGKILL);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    sink = work(1000);
    return 0;
}
