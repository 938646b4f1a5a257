/* Threads that each find primes: no thread may lose a count, nor wait for another's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int last;

static void *search(void *found)
{
    for (int n = 2; n < last; n++) {
        int prime = 1;
        for (int d = 2; prime && d * d <= n; d++)
            prime = n % d != 0;
        *(long *)found += prime;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    long found[2] = {0, 0};
    last = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, search, &found[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", found[0] + found[1]);
    return 0;
}
