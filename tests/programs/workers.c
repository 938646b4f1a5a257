/* A main thread that marks regions, and 4 workers that know nothing of them. usage: workers MODE
 *
 * adds(n) does n scalar additions of fp64. Steps end at barriers, so that nobody works in the step
 * of another. In a step outside main adds 1000 and each worker 100; in one inside, 10 and 7.
 *   pool      outside; inside, main in region "solve"; outside
 *   function  the same with the function solve() in place of the region
 *   nested    main in "solve" within itself within "outer", a step inside; then in "solve" alone,
 *             another step inside; the workers mark their steps inside as region "chunk"
 *   ends      like pool, but a fifth thread is in "solve", adds 10 in place of main, and ends there
 *   fork      like pool, and in the step inside main forks a child that adds 50, a worker one
 *             that adds 3
 *   two       worker 0 is in "solve" too, and stays there when main leaves for a further step inside
 *   lines     outside each worker reads its own 512 lines; main enters "solve", they read them again;
 *             worker 0 enters "solve" too, they read them again
 *   cpu       inside each thread takes 2 ms of CPU time; prints the sum of what they saw, and what
 *             the process took from before the marks to after them, in ns
 *   spins     one worker alone, which never waits in the kernel: main lets it add 7 in "solve"
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ridgepoint.h"

#define WORKERS 4
#define LINES 512

double data[1000];
static volatile double sink;
_Alignas(64) double lines[WORKERS][8 * LINES];
static pthread_barrier_t barrier;
static const char *mode;
static atomic_long cpu_ns;

static int is(const char *name) { return !strcmp(mode, name); }
static void together(void) { pthread_barrier_wait(&barrier); }
/* Until the others, who are on their way to a barrier, sleep there. */
static void lets_them_sleep(void) { usleep(2000); }

__attribute__((noinline, noclone)) void adds(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += data[i];
    sink = sum;
}
static long now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}
static void takes_cpu_time(void) {
    long begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), end_ns = begin_ns;
    while (end_ns < begin_ns + 2000000) end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    cpu_ns += end_ns - begin_ns;
}
static void forks(long n) {
    pid_t child = fork();
    if (child == 0) {
        adds(n);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
static void reads(long worker) {
    for (long i = 0; i < 8 * LINES; i += 8) sink = lines[worker][i];
}

/* ---- workers ---- */

static void works_inside(long worker) {
    if (is("nested")) RIDGEPOINT_REGION_BEGIN("chunk");
    if (is("lines")) reads(worker);
    else adds(7);
    if (is("cpu")) takes_cpu_time();
    if (is("fork") && worker == 0) forks(3);
    if (is("nested")) RIDGEPOINT_REGION_END("chunk");
}
static void *works(void *number) {
    long worker = (long)number;
    int is_inside = worker == 0 && (is("two") || is("lines"));
    if (is("lines")) reads(worker);
    else adds(100);
    together();
    if (is_inside && is("two")) RIDGEPOINT_REGION_BEGIN("solve");
    together(); /* main is inside */
    works_inside(worker);
    together();
    if (is_inside && is("lines")) RIDGEPOINT_REGION_BEGIN("solve");
    together(); /* main may have left */
    if (is("nested") || is("two") || is("lines")) works_inside(worker);
    together();
    if (is_inside) RIDGEPOINT_REGION_END("solve");
    together();
    adds(100);
    return NULL;
}

static atomic_int turn;
static void *spins(void *unused) {
    while (turn != 1) continue;
    adds(7);
    turn = 2;
    while (turn != 3) continue;
    return unused;
}
static int lets_one_spin(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, spins, NULL);
    usleep(50000);
    RIDGEPOINT_REGION_BEGIN("solve");
    turn = 1;
    while (turn != 2) continue;
    RIDGEPOINT_REGION_END("solve");
    turn = 3;
    pthread_join(worker, NULL);
    return 0;
}

/* ---- main, and what may stand in for it ---- */

__attribute__((noinline, noclone)) void solve(void) {
    together();
    adds(10);
    if (is("cpu")) takes_cpu_time();
    if (is("fork")) forks(50);
    together();
}
static void *enters_and_ends(void *unused) {
    lets_them_sleep();
    RIDGEPOINT_REGION_BEGIN("solve");
    solve();
    /* Beside milliseconds it does not matter by how many microseconds somebody is late. */
    for (volatile long i = 0; i < 3000000; i++) continue;
    return unused;
}
static void one_step(void) {
    pthread_t other;
    if (is("ends")) {
        pthread_create(&other, NULL, enters_and_ends, NULL);
        pthread_join(other, NULL);
        return;
    }
    lets_them_sleep();
    if (is("nested")) {
        RIDGEPOINT_REGION_BEGIN("outer");
        RIDGEPOINT_REGION_BEGIN("solve");
    }
    if (!is("function")) RIDGEPOINT_REGION_BEGIN("solve");
    solve();
    lets_them_sleep();
    if (!is("function") && !is("lines")) RIDGEPOINT_REGION_END("solve");
}
static void another_step(void) {
    together();
    if (is("nested") || is("two")) adds(10);
    together();
    if (is("nested")) RIDGEPOINT_REGION_END("outer");
    if (is("lines")) RIDGEPOINT_REGION_END("solve");
    together();
}

int main(int argc, char **argv) {
    pthread_t workers[WORKERS];
    long before_ns;
    if (argc < 2) return 2;
    mode = argv[1];
    if (is("spins")) return lets_one_spin();
    pthread_barrier_init(&barrier, NULL, WORKERS + 1);
    for (long i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, works, (void *)i);
    adds(1000);
    together();
    before_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    one_step();
    if (is("cpu")) printf("%ld %ld\n", cpu_ns, now_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns);
    another_step();
    adds(1000);
    for (long i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    return 0;
}
