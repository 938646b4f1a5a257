/* Processes in all ways in which they begin, become others and end. usage: processes MODE [WITH] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modes.h"

extern char **environ;
static const char *self;

static void say(const char *what, uint64_t number) {
    char line[200];
    int n = snprintf(line, sizeof line, "%s %016llx\n", what, (unsigned long long)number);
    EXPECT(write(1, line, n) == n);
}
static int waited(pid_t pid) {
    int status;
    pid_t got;
    while ((got = waitpid(pid, &status, __WALL)) < 0 && errno == EINTR) {}
    EXPECT(got == pid);
    return status;
}

static int work_only(int argc, char **argv) {
    say("work", work(argc > 2 ? atoi(argv[2]) : 0, 10000));
    return 3;
}

/* Both work afterwards. */
static int forks(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 30; i++) {
        pid_t pid = fork();
        EXPECT(pid >= 0);
        if (pid == 0) {
            say("child", work(i, 20000));
            _exit(i);
        }
        EXPECT(WEXITSTATUS(waited(pid)) == i);
        say("parent", work(i + 1000, 20000));
    }
    return 0;
}

/* Children of children. */
static int deep(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int depth = 0; depth < 20; depth++) {
        say("deep", work(depth, 1000));
        pid_t pid = fork();
        if (pid != 0) {
            int status = waited(pid);
            return depth == 0 ? WEXITSTATUS(status) : (WEXITSTATUS(status) + 1) & 255;
        }
    }
    return 1;
}

/* fork() while other threads compute; the child has one thread, and makes more. */
static volatile int stop;
static void *computes(void *seed) {
    uint64_t sum = 0;
    while (!stop) sum += work((uintptr_t)seed, 100);
    return (void *)(uintptr_t)(sum & 1);
}
static void *once(void *seed) { return (void *)(uintptr_t)work((uintptr_t)seed, 100); }
static void *forker(void *seed) {
    for (uintptr_t i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t thread;
            void *answer;
            EXPECT(pthread_create(&thread, NULL, once, (void *)i) == 0);
            pthread_join(thread, &answer);
            _exit((uintptr_t)answer == work(i, 100) ? 5 : 6);
        }
        EXPECT(WEXITSTATUS(waited(pid)) == 5);
    }
    return seed;
}
static int fork_threads(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t busy[2], forkers[3];
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&busy[i], NULL, computes, (void *)i);
    for (uintptr_t i = 0; i < 3; i++) pthread_create(&forkers[i], NULL, forker, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(forkers[i], NULL);
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(busy[i], NULL);
    say("fork_threads", 30);
    return 0;
}

static int vforks(int argc, char **argv) {
    (void)argc, (void)argv;
    for (volatile int i = 0; i < 50; i++) {
        volatile int shared = 0;
        char number[12];
        snprintf(number, sizeof number, "%d", i);
        pid_t pid = vfork();
        EXPECT(pid >= 0);
        if (pid == 0) {
            shared = i; /* the parent sees it */
            if (i % 3 == 0) _exit(4);
            if (i % 3 == 1) execl("/nowhere/at/all", "nowhere", NULL); /* and goes on */
            execl(self, self, "work", number, NULL);
            _exit(9);
        }
        int status = waited(pid);
        EXPECT(shared == i && WEXITSTATUS(status) == (i % 3 == 0 ? 4 : 3));
    }
    say("vforks", work(9, 99));
    return 0;
}

static int spawns(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 30; i++) {
        char number[12];
        snprintf(number, sizeof number, "%d", i);
        char *arguments[] = {(char *)self, "work", number, NULL};
        pid_t pid;
        EXPECT(posix_spawn(&pid, self, NULL, NULL, arguments, environ) == 0);
        EXPECT(WEXITSTATUS(waited(pid)) == 3);
    }
    pid_t pid;
    char *arguments[] = {"x", NULL};
    EXPECT(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, arguments, environ) == ENOENT);
    return 0;
}

/* system(), popen() and what a shell does. */
static int shells(int argc, char **argv) {
    (void)argc, (void)argv;
    char line[4096];
    snprintf(line, sizeof line, "'%s' work 1 | cat; '%s' work 2; exit 6", self, self);
    EXPECT(WEXITSTATUS(system(line)) == 6);
    FILE *from = popen("echo one; echo two >&2; seq 3 | tac", "r");
    while (fgets(line, sizeof line, from)) EXPECT(write(1, line, strlen(line)) > 0);
    return WEXITSTATUS(pclose(from));
}

/* One after the other in the same process: `processes chain N`. */
static int chain(int argc, char **argv) {
    int left = argc > 2 ? atoi(argv[2]) : 20;
    say("chain", work(left, 5000));
    if (left == 0) return 17;
    char number[12];
    snprintf(number, sizeof number, "%d", left - 1);
    execl(self, self, "chain", number, NULL);
    return 97;
}

/* exec by a thread that is not the first, while others compute. */
static void *becomes(void *unused) {
    (void)unused;
    usleep(5000);
    execl(self, self, "work", "8", NULL);
    return NULL;
}
static int thread_execs(int argc, char **argv) {
    (void)argc, (void)argv;
    pthread_t thread;
    for (uintptr_t i = 0; i < 3; i++) pthread_create(&thread, NULL, computes, (void *)i);
    pthread_create(&thread, NULL, becomes, NULL);
    pthread_join(thread, NULL);
    return 97;
}

static int becomes_with(int argc, char **argv, char **environment) {
    EXPECT(argc > 2);
    say("becomes", work(1, 1));
    execve(argv[2], argv + 2, environment);
    return 97;
}
static int exec_empty(int argc, char **argv) { return becomes_with(argc, argv, (char *[]){NULL}); }
static int exec_null(int argc, char **argv) { return becomes_with(argc, argv, NULL); }
static int exec_same(int argc, char **argv) { return becomes_with(argc, argv, environ); }
static int exec_file(int argc, char **argv) { /* a program without a name */
    EXPECT(argc > 2);
    int from = open(argv[2], O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    char buffer[65536];
    for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
        EXPECT(write(to, buffer, n) == n);
    fexecve(to, argv + 2, environ);
    return 97;
}
static int exec_failing(int argc, char **argv) {
    (void)argc, (void)argv;
    char *none[] = {"x", NULL}, *bad = (char *)16;
    for (int i = 0; i < 20; i++) {
        EXPECT(execve("/nowhere", none, environ) == -1 && errno == ENOENT);
        EXPECT(execve("/dev/null", none, environ) == -1 && errno == EACCES);
        EXPECT(syscall(SYS_execve, "/bin/true", &bad, environ) == -1 && errno == EFAULT);
        EXPECT(syscall(SYS_execve, bad, none, environ) == -1 && errno == EFAULT);
    }
    say("exec_failing", work(2, 5000));
    return 0;
}

/* As daemons do it: closes all descriptors, twice forked, a session of its own. */
static int daemon_like(int argc, char **argv) {
    (void)argc, (void)argv;
    int ends[2];
    EXPECT(pipe(ends) == 0 && dup2(ends[1], 600) == 600);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() > 0) _exit(0);
        EXPECT(chdir("/") == 0);
        for (int i = 0; i < 1024; i++)
            if (i != 600) close(i);
        uint64_t result = work(4, 100000);
        EXPECT(open("/dev/null", O_RDWR) == 0); /* the first descriptor is free for it */
        EXPECT(write(600, &result, sizeof result) == sizeof result);
        _exit(0);
    }
    waited(pid);
    uint64_t result;
    EXPECT(read(ends[0], &result, sizeof result) == sizeof result);
    say("daemon", result);
    return 0;
}
static int close_all(int argc, char **argv) {
    (void)argc, (void)argv;
    int keeps = dup(1);
    EXPECT(keeps == 3); /* nobody else has taken a number */
    EXPECT(close_range(4, ~0u, 0) == 0);
    uint64_t result = work(4, 100000);
    pid_t pid = fork();
    if (pid == 0) _exit(2);
    EXPECT(WEXITSTATUS(waited(pid)) == 2);
    say("close_all", result);
    return 0;
}
static int descriptors(int argc, char **argv) { /* the same ones are open as without us */
    (void)argc, (void)argv;
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0) say("open", i);
    return 0;
}

static int dies_by(int signal_number) {
    say("dies", work(6, 1000));
    signal(signal_number, SIG_DFL);
    kill(getpid(), signal_number);
    for (;;) work(7, 1000);
    return 0;
}
static int killed(int argc, char **argv) { (void)argc, (void)argv; return dies_by(SIGKILL); }
static int terminated(int argc, char **argv) { (void)argc, (void)argv; return dies_by(SIGTERM); }
static int aborted(int argc, char **argv) {
    (void)argc, (void)argv;
    say("aborts", work(6, 1000));
    abort();
}
static int crashes(int argc, char **argv) {
    (void)argc, (void)argv;
    say("crashes", work(6, 1000));
    char *volatile nowhere = (char *)8;
    *nowhere = 1;
    return 0;
}

/* The three calls that begin a process, without a library. */
static int raw(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 30; i++) {
        struct clone_args how = {.exit_signal = SIGCHLD};
        long pid = i % 3 == 0 ? syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)
                   : i % 3 == 1 ? syscall(SYS_fork)
                                : syscall(SYS_clone3, &how, sizeof how);
        EXPECT(pid >= 0);
        if (pid == 0) {
            say("raw child", work(i, 1000));
            syscall(SYS_exit_group, i);
        }
        EXPECT(WEXITSTATUS(waited((pid_t)pid)) == i);
        say("raw parent", work(i, 1000));
    }
    return 0;
}

/* A child that shares the memory, on a stack of its own, and one that also lets it wait. */
static uint64_t from_child;
static int shares(void *seed) {
    from_child = work((uintptr_t)seed, 2000);
    return 8;
}
static int share(int argc, char **argv) {
    (void)argc, (void)argv;
    static _Alignas(64) char stack[65536];
    for (uintptr_t i = 0; i < 30; i++) {
        int flags = CLONE_VM | SIGCHLD | (i % 2 ? CLONE_VFORK : 0);
        pid_t pid = clone(shares, stack + sizeof stack, flags, (void *)i);
        EXPECT(pid > 0 && WEXITSTATUS(waited(pid)) == 8);
        say("share", from_child);
    }
    return 0;
}

/* Its own debugger: steps through a child, whose trap flag and breakpoints must be its own. */
static int traced(int argc, char **argv) {
    (void)argc, (void)argv;
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        say("traced", work(3, 50));
        _exit(6);
    }
    int status = waited(pid), steps = 0;
    while (WIFSTOPPED(status)) {
        steps++;
        ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        status = waited(pid);
    }
    say(steps > 1000 ? "many steps" : "few steps", WEXITSTATUS(status));
    return 0;
}

/* Handlers of exit, in order, and what is buffered. */
static void last(void) { say("last", work(1, 10)); }
static void first(void) { say("first", work(2, 10)); }
static int at_exit(int argc, char **argv) {
    (void)argc, (void)argv;
    atexit(last);
    atexit(first);
    printf("buffered\n");
    exit(12);
}

static const Mode modes[] = {
    {"work", work_only},       {"fork", forks},
    {"deep", deep},            {"fork_threads", fork_threads},
    {"vfork", vforks},         {"spawn", spawns},
    {"shells", shells},        {"chain", chain},
    {"thread_execs", thread_execs}, {"exec_empty", exec_empty},
    {"exec_null", exec_null},  {"exec_same", exec_same},
    {"exec_file", exec_file},  {"exec_failing", exec_failing},
    {"daemon", daemon_like},   {"close_all", close_all},
    {"descriptors", descriptors}, {"killed", killed},
    {"terminated", terminated}, {"aborted", aborted},
    {"crashes", crashes},      {"raw", raw},
    {"share", share},          {"traced", traced},
    {"at_exit", at_exit},
};

int main(int argc, char **argv) {
    self = argv[0];
    return run_mode(modes, (int)(sizeof modes / sizeof *modes), argc, argv);
}
