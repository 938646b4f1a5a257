/* Ends in many ways, after `work(100)`: 100 additions to `done`, and of its loop 101 comparisons and
   100 steps: 301 operations that no end may lose. `main` adds one step; `switch` counts nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long volatile done;
static jmp_buf back;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        done += 1;
}

static void *work_in_thread(void *unused)
{
    work(100);
    return unused;
}

static void jump(void)
{
    work(100);
    longjmp(back, 1);
}

static void fork_and_wait(void)
{
    pid_t child = fork();
    switch (child) {
    case 0:
        work(100);
        _exit(0);
    default:
        waitpid(child, NULL, 0);
        work(100);
    }
}

static void threads(void)
{
    pthread_t all[8];
    for (int i = 0; i < 8; i++) /* 9 comparisons, 8 steps, 8 addressings */
        pthread_create(&all[i], NULL, work_in_thread, NULL);
    for (int i = 0; i < 8; i++) /* the same */
        pthread_join(all[i], NULL);
}

static void one_by_one(void)
{
    pthread_t one;
    for (int i = 0; i < 200; i++) { /* 201 comparisons, 200 steps */
        pthread_create(&one, NULL, work_in_thread, NULL);
        pthread_join(one, NULL);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    switch (**++argv) { /* 1: a step */
    case 'r':
        break;
    case 't':
        threads();
        return 0;
    case 'o':
        one_by_one();
        return 0;
    case 'f':
        fork_and_wait();
        return 0;
    case 'j':
        switch (setjmp(back)) {
        case 0:
            jump();
        default:
            work(100);
        }
        return 0;
    case 'x':
        work(100);
        execv("/bin/true", argv);
    }
    work(100);
    switch (**argv) {
    case 'e':
        exit(3);
    case '_':
        _exit(4);
    case 'a':
        abort();
    case 'k':
        kill(getpid(), SIGKILL);
    }
    return 0;
}
