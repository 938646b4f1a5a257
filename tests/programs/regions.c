/* Marked regions whose times are known between bounds. usage: regions MODE [N]
 *
 * Prints "NAME ENTRIES LOW HIGH" for each region that it reads the clock around: LOW is what the
 * clock says from just inside the marks, HIGH from just outside, both in ns, summed over entries.
 * C99 and C++; with -DOTHER the other translation unit of the same program.
 */
#include "ridgepoint.h"

static int64_t clock_ns(void) { return ridgepoint_now_ns_(); }
static void spin(int64_t ns) {
    int64_t end = clock_ns() + ns;
    while (clock_ns() < end) continue;
}

#ifdef __cplusplus
extern "C" void other(void);
#else
void other(void);
#endif

#ifdef OTHER
void other(void) {
    RIDGEPOINT_REGION_BEGIN("shared");
    spin(200000);
    RIDGEPOINT_REGION_END("shared");
}
#else
#include <signal.h>
#include <sys/wait.h>

static pthread_barrier_t barrier;
static int64_t low_ns, high_ns;

static void bracket(const char *name, int64_t ns, long n) {
    low_ns = high_ns = 0;
    for (long i = 0; i < n; i++) {
        int64_t before = clock_ns(), first, last;
        RIDGEPOINT_REGION_BEGIN(name);
        first = clock_ns();
        spin(ns);
        last = clock_ns();
        RIDGEPOINT_REGION_END(name);
        low_ns += last - first;
        high_ns += clock_ns() - before;
    }
}
static void print(const char *name, long entries) {
    printf("%s %ld %lld %lld\n", name, entries, (long long)low_ns, (long long)high_ns);
    fflush(stdout);
}
static void nested(long n) {
    int64_t before = clock_ns();
    RIDGEPOINT_REGION_BEGIN("outer");
    bracket("inner", 100000, n);
    RIDGEPOINT_REGION_END("outer");
    print("inner", n);
    high_ns = clock_ns() - before;
    print("outer", 1);
}
static long recurse(long n) {
    long sum;
    RIDGEPOINT_REGION_BEGIN("recursive");
    sum = n > 0 ? n + recurse(n - 1) : 0;
    RIDGEPOINT_REGION_END("recursive");
    return sum;
}
static void *together(void *unused) {
    pthread_barrier_wait(&barrier);
    RIDGEPOINT_REGION_BEGIN("together");
    pthread_barrier_wait(&barrier); /* all are inside */
    spin(1000000);
    pthread_barrier_wait(&barrier);
    RIDGEPOINT_REGION_END("together");
    return unused;
}
static void *alone(void *unused) {
    RIDGEPOINT_REGION_BEGIN("alone");
    spin(500000);
    RIDGEPOINT_REGION_END("alone");
    return unused;
}
static void *never_ended(void *unused) {
    RIDGEPOINT_REGION_BEGIN("never ended");
    spin(500000);
    return unused;
}
static void *ends_process(void *unused) {
    spin(500000);
    exit(0);
    return unused;
}
static void *hammer(void *n) {
    for (long i = 0; i < *(long *)n; i++) {
        RIDGEPOINT_REGION_BEGIN("hammered");
        RIDGEPOINT_REGION_END("hammered");
    }
    return NULL;
}
/* Run a function in n threads, one after another or at once. */
static void in_threads(void *(*function)(void *), long n, int at_once) {
    pthread_t threads[64];
    for (long i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, function, &n);
        if (!at_once) pthread_join(threads[i], NULL);
    }
    for (long i = 0; at_once && i < n; i++) pthread_join(threads[i], NULL);
}
static void crossed(void) { /* the end of "a" is that of "b" too; a later end of "b" is nothing */
    RIDGEPOINT_REGION_BEGIN("a");
    RIDGEPOINT_REGION_BEGIN("b");
    RIDGEPOINT_REGION_END("a");
    spin(2000000);
    RIDGEPOINT_REGION_END("b");
    RIDGEPOINT_REGION_END("never begun");
}
static void forked(int by_exit) {
    pid_t child;
    bracket("before", 100000, 3);
    RIDGEPOINT_REGION_BEGIN("around");
    child = fork();
    if (child == 0) {
        bracket("child", 100000, 2);
        if (by_exit) exit(0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    RIDGEPOINT_REGION_END("around");
}
static void many_names(long n) {
    char name[32];
    for (long i = 0; i < n; i++) {
        snprintf(name, sizeof name, "name %ld", i);
        RIDGEPOINT_REGION_BEGIN(name);
        RIDGEPOINT_REGION_END(name);
    }
}
static void odd_names(void) {
    char longest[301];
    memset(longest, 'x', 300);
    longest[300] = 0;
    bracket("tab\tand\nline", 0, 1);
    bracket("L\xc3\xb6sung", 0, 1);
    bracket(longest, 0, 1);
    bracket("", 0, 1);
    bracket(NULL, 0, 1);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1;
    errno = 77;
    if (!strcmp(mode, "nested")) nested(n);
    if (!strcmp(mode, "recursive")) printf("%ld\n", recurse(n));
    if (!strcmp(mode, "together")) {
        int64_t before = clock_ns();
        pthread_barrier_init(&barrier, NULL, (unsigned)n);
        in_threads(together, n, 1);
        low_ns = 1000000;
        high_ns = clock_ns() - before;
        print("together", n);
    }
    if (!strcmp(mode, "alone")) in_threads(alone, n, 0);
    if (!strcmp(mode, "hammer")) in_threads(hammer, n, 1);
    if (!strcmp(mode, "never")) {
        in_threads(never_ended, 1, 0);
        RIDGEPOINT_REGION_BEGIN("main");
        spin(4000000);
        if (n) in_threads(ends_process, 1, 1);
    }
    if (!strcmp(mode, "crossed")) crossed();
    if (!strcmp(mode, "fork")) forked((int)n);
    if (!strcmp(mode, "many")) many_names(n);
    if (!strcmp(mode, "odd")) odd_names();
    if (!strcmp(mode, "killed")) {
        bracket("done", 100000, 1);
        RIDGEPOINT_REGION_BEGIN("cut");
        bracket("done", 100000, 1);
        raise(SIGKILL);
    }
    if (!strcmp(mode, "exec")) {
        RIDGEPOINT_REGION_BEGIN("left by exec");
        execl(argv[0], argv[0], "crossed", (char *)NULL);
    }
    if (!strcmp(mode, "units")) {
        RIDGEPOINT_REGION_BEGIN("shared");
        other();
        RIDGEPOINT_REGION_END("shared");
        other();
    }
    /* VG_USERREQ__GDB_MONITOR_COMMAND, which any tool of Valgrind answers */
    if (!strcmp(mode, "monitor")) ridgepoint_mark_(0x1202, "help");
    if (!strcmp(mode, "errno")) {
        RIDGEPOINT_REGION_BEGIN("errno");
        RIDGEPOINT_REGION_END("errno");
        printf("%d\n", errno);
    }
    return 0;
}
#endif
