/* Programs that give up what others need: memory, descriptors, calls, the sight of files, rights.
 * usage: limits MODE */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modes.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static int report(const char *what, uint64_t number) {
    printf("%s %016llx\n", what, (unsigned long long)number);
    return 0;
}
static void limit(int resource, rlim_t most) {
    struct rlimit both = {most, most};
    EXPECT(setrlimit(resource, &both) == 0);
}
static void *in_thread(void *seed) { return (void *)(uintptr_t)work((uintptr_t)seed, 1000); }
/* A thread and a process, and work in both. */
static uint64_t lives_on(void) {
    uint64_t sum = 0;
    for (uintptr_t i = 0; i < 5; i++) {
        pthread_t thread;
        void *answer;
        EXPECT(pthread_create(&thread, NULL, in_thread, (void *)i) == 0);
        pthread_join(thread, &answer);
        pid_t pid = fork();
        EXPECT(pid >= 0);
        if (pid == 0) _exit(work(i, 1000) & 127);
        int status;
        EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        sum = sum * 3 + (uintptr_t)answer + WEXITSTATUS(status);
    }
    return sum;
}

static int memory(int argc, char **argv) { /* 1 GiB of addresses more than now */
    (void)argc, (void)argv;
    limit(RLIMIT_AS, 1ul << 30);
    struct rlimit now;
    EXPECT(getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_cur == 1ul << 30 && now.rlim_max == 1ul << 30);
    now.rlim_cur -= 1 << 20;
    EXPECT(prlimit(0, RLIMIT_AS, &now, &now) == 0 && now.rlim_cur == 1ul << 30);
    EXPECT(prlimit(0, RLIMIT_AS, NULL, &now) == 0 && now.rlim_cur == (1ul << 30) - (1 << 20));
    void *little = malloc(100 << 20), *much = malloc(2ul << 30);
    printf("100 MiB: %d, 2 GiB: %d\n", little != NULL, much != NULL);
    free(little);
    return report("memory", lives_on());
}
static int exec_limited(int argc, char **argv) { /* and then becomes another program */
    (void)argc;
    limit(RLIMIT_AS, 300ul << 20);
    execl(argv[0], argv[0], "lives", NULL);
    return 97;
}
static int lives(int argc, char **argv) { (void)argc, (void)argv; return report("lives", lives_on()); }
static int files(int argc, char **argv) { /* as many as it has */
    (void)argc, (void)argv;
    limit(RLIMIT_NOFILE, 3);
    EXPECT(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
    return report("files", lives_on());
}
static int exec_files(int argc, char **argv) { /* a descriptor too few for libraries to be found */
    (void)argc;
    limit(RLIMIT_NOFILE, 4);
    execl(argv[0], argv[0], "lives", NULL);
    return 97;
}
static int processes(int argc, char **argv) {
    (void)argc, (void)argv;
    if (geteuid() == 0) EXPECT(setuid(65534) == 0);
    limit(RLIMIT_NPROC, 1);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    printf("fork: %s\n", pid < 0 && errno == EAGAIN ? "refused" : "allowed");
    return report("processes", work(1, 1000));
}
static int size(int argc, char **argv) {
    (void)argc, (void)argv;
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 4096);
    int file = memfd_create("x", 0);
    EXPECT(ftruncate(file, 8192) == -1 && errno == EFBIG);
    return report("size", lives_on());
}
static int stack(int argc, char **argv) {
    (void)argc;
    limit(RLIMIT_STACK, 64 << 10);
    execl(argv[0], argv[0], "lives", NULL);
    return 97;
}
static int locked(int argc, char **argv) { /* every page that is mapped, now and later */
    (void)argc, (void)argv;
    printf("locked: %d\n", mlockall(MCL_CURRENT) == 0);
    return report("locked", lives_on());
}
static int cpu(int argc, char **argv) {
    (void)argc, (void)argv;
    limit(RLIMIT_CPU, 1);
    printf("cpu\n");
    fflush(stdout);
    for (;;) work(1, 1000);
    return 0;
}

/* A filter: `action` for a call; everything else is allowed. */
static void forbid(const long *calls, int n, uint32_t action) {
    struct sock_filter code[64];
    int at = 0;
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                              offsetof(struct seccomp_data, nr));
    for (int i = 0; i < n; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {(unsigned short)at, code};
    EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0);
}
static int no_mprotect(int argc, char **argv) { /* nor anything else that a loader does */
    (void)argc, (void)argv;
    static const long calls[] = {SYS_mprotect, SYS_execve, SYS_execveat, SYS_arch_prctl,
                                 SYS_timer_create, SYS_open, SYS_openat, SYS_memfd_create,
                                 SYS_vfork, SYS_kill, SYS_rt_sigaction, SYS_readlink,
                                 SYS_sigaltstack, SYS_setitimer, SYS_perf_event_open, SYS_ptrace,
                                 SYS_getpid, SYS_sched_yield, SYS_fstat};
    printf("before\n");
    fflush(stdout);
    forbid(calls, sizeof calls / sizeof *calls, SECCOMP_RET_KILL_PROCESS);
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) sum = sum * 3 + work(i, 3000);
    pid_t pid = (pid_t)syscall(SYS_fork);
    if (pid == 0) syscall(SYS_exit_group, (int)(work(5, 100) & 127));
    int status;
    EXPECT(syscall(SYS_wait4, pid, &status, 0, NULL) == pid && WIFEXITED(status));
    printf("after %016llx %d\n", (unsigned long long)sum, WEXITSTATUS(status));
    fflush(stdout);
    syscall(SYS_exit_group, 5);
    return 0;
}
static int no_clone(int argc, char **argv) {
    (void)argc, (void)argv;
    static const long calls[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_mprotect};
    forbid(calls, 5, SECCOMP_RET_ERRNO | EPERM);
    pthread_t thread;
    printf("thread %d, fork %d\n", pthread_create(&thread, NULL, in_thread, NULL) != 0, fork());
    return report("no_clone", work(1, 10000));
}
static int killed_by_clone(int argc, char **argv) {
    (void)argc, (void)argv;
    static const long calls[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork};
    forbid(calls, 4, SECCOMP_RET_KILL_PROCESS);
    printf("before %016llx\n", (unsigned long long)work(1, 10000));
    fflush(stdout);
    fork();
    printf("never\n");
    return 0;
}
static int strict(int argc, char **argv) { /* read, write, exit and sigreturn only */
    (void)argc, (void)argv;
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    char line[64];
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) sum = sum * 3 + work(i, 3000);
    int n = snprintf(line, sizeof line, "strict %016llx\n", (unsigned long long)sum);
    EXPECT(write(1, line, n) == n);
    syscall(SYS_exit, 6);
    return 0;
}
static int trapped_calls; /* a program that emulates a call of its own */
static void emulates(int number, siginfo_t *info, void *context) {
    (void)number;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    trapped_calls++;
    registers[REG_RAX] = info->si_syscall == SYS_getppid ? 4242 : -1;
}
static int emulated(int argc, char **argv) {
    (void)argc, (void)argv;
    static const long calls[] = {SYS_getppid};
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = emulates};
    sigaction(SIGSYS, &action, NULL);
    forbid(calls, 1, SECCOMP_RET_TRAP);
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) sum = sum * 3 + getppid() + work(i, 10);
    printf("%d\n", trapped_calls);
    return report("emulated", sum);
}
static int no_executable(int argc, char **argv) { /* nothing writable becomes executable */
    (void)argc;
    if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0) {
        printf("no such option\n");
        return 0;
    }
    printf("alone %016llx\n", (unsigned long long)lives_on());
    fflush(stdout);
    execl(argv[0], argv[0], "lives", NULL);
    return 97;
}
static int not_dumpable(int argc, char **argv) { /* /proc/self belongs to root then */
    (void)argc, (void)argv;
    EXPECT(prctl(PR_SET_DUMPABLE, 0) == 0);
    return report("not_dumpable", lives_on());
}

static int jail(int argc, char **argv) { /* in a folder without anything */
    EXPECT(argc > 2);
    EXPECT(chroot(argv[2]) == 0 && chdir("/") == 0);
    EXPECT(access("/proc", F_OK) == -1 && access("/bin", F_OK) == -1);
    return report("jail", lives_on());
}
static int nobody(int argc, char **argv) {
    (void)argc, (void)argv;
    EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
    return report("nobody", lives_on());
}
static int exec_nobody(int argc, char **argv) {
    (void)argc, (void)argv;
    EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
    execl("/usr/bin/env", "env", "-i", "/usr/bin/expr", "3", "+", "4", NULL);
    return 97;
}
static int exec_nobody_same(int argc, char **argv) {
    (void)argc, (void)argv;
    EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
    execl("/usr/bin/expr", "expr", "3", "+", "4", NULL);
    return 97;
}
static int for_a_while(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 20; i++) {
        EXPECT(seteuid(65534) == 0);
        pid_t pid = fork();
        if (pid == 0) _exit(geteuid() == 65534 ? 4 : 5);
        int status;
        EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 4);
        EXPECT(seteuid(0) == 0);
    }
    return report("for_a_while", lives_on());
}
static int new_spaces(int argc, char **argv) { /* namespaces of processes, mounts and users */
    (void)argc, (void)argv;
    EXPECT(unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        EXPECT(mount("none", "/proc", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
        EXPECT(mount("proc", "/proc", "proc", 0, NULL) == 0);
        printf("pid %d\n", getpid());
        exit(report("inside", lives_on()));
    }
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid);
    return WEXITSTATUS(status);
}
static int removed(int argc, char **argv) { /* where it is there is nothing any more */
    EXPECT(argc > 2);
    EXPECT(mkdir(argv[2], 0777) == 0 && chdir(argv[2]) == 0 && rmdir(argv[2]) == 0);
    char place[4096];
    EXPECT(getcwd(place, sizeof place) == NULL || place[0] == '(');
    return report("removed", lives_on());
}
static int unmapped(int argc, char **argv) { /* takes all addresses that it can reach */
    (void)argc, (void)argv;
    uint64_t taken = 0;
    for (int shift = 46; shift > 20; shift--)
        while (mmap(NULL, 1ul << shift, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0) != MAP_FAILED)
            taken++;
    return report("unmapped", taken > 0 ? work(3, 10000) : 0);
}
static int own_mappings(int argc, char **argv) { /* what is mapped: only what can be read back */
    (void)argc, (void)argv;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1000];
    int text = 0, both = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char how[5];
        EXPECT(sscanf(line, "%lx-%lx %4s", &from, &to, how) == 3 && from < to);
        text += how[2] == 'x' && strstr(line, "limits") != NULL;
        both += how[1] == 'w' && how[2] == 'x';
    }
    printf("text %s, %d writable and executable\n", text ? "there" : "gone", both);
    return 0;
}
/* PR_SET_NAME, PR_SET_PDEATHSIG, alarms, nice, affinity: what a child takes over. */
static int attributes(int argc, char **argv) {
    (void)argc, (void)argv;
    char name[17] = "";
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    EXPECT(prctl(PR_SET_NAME, "own name") == 0 && sched_setaffinity(0, sizeof one, &one) == 0);
    EXPECT(prctl(PR_SET_TIMERSLACK, 12345) == 0 && nice(3) >= 3);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_GET_NAME, name);
        sched_getaffinity(0, sizeof one, &one);
        printf("%s %d %d %d\n", name, CPU_COUNT(&one), prctl(PR_GET_TIMERSLACK),
               getpriority(PRIO_PROCESS, 0) - 3 >= 0);
        exit(0);
    }
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid);
    return status;
}

static const Mode modes[] = {
    {"memory", memory}, {"exec_limited", exec_limited}, {"lives", lives}, {"files", files},
    {"exec_files", exec_files}, {"processes", processes}, {"size", size}, {"stack", stack},
    {"locked", locked}, {"cpu", cpu}, {"no_mprotect", no_mprotect}, {"no_clone", no_clone},
    {"killed_by_clone", killed_by_clone}, {"strict", strict}, {"emulated", emulated},
    {"no_executable", no_executable}, {"not_dumpable", not_dumpable}, {"jail", jail},
    {"nobody", nobody}, {"exec_nobody", exec_nobody}, {"exec_nobody_same", exec_nobody_same},
    {"for_a_while", for_a_while}, {"new_spaces", new_spaces}, {"removed", removed},
    {"unmapped", unmapped}, {"own_mappings", own_mappings}, {"attributes", attributes},
};
RUN_MODES(modes)
