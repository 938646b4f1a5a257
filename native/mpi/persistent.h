/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent requests: what each sends whenever it is started. */
#include <pthread.h>
#include <stdlib.h>

typedef struct persistent {
    MPI_Request request;
    MPI_Comm comm;
    int dest;
    uint64_t bytes;
    struct persistent *next;
} persistent_t;

static persistent_t *persistents;
static pthread_mutex_t persistent_lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(MPI_Request request, uint64_t bytes, int dest, MPI_Comm comm) {
    persistent_t *made = malloc(sizeof *made);
    if (!made) return;
    *made = (persistent_t){request, comm, dest, bytes, NULL};
    pthread_mutex_lock(&persistent_lock);
    made->next = persistents;
    persistents = made;
    pthread_mutex_unlock(&persistent_lock);
}

static void count_started(thread_t *thread, MPI_Request request) {
    pthread_mutex_lock(&persistent_lock);
    const persistent_t *each = persistents;
    while (each && each->request != request) each = each->next;
    persistent_t found = each ? *each : (persistent_t){.dest = MPI_PROC_NULL};
    pthread_mutex_unlock(&persistent_lock);
    if (found.dest != MPI_PROC_NULL) rp_sent_to(thread, found.dest, found.comm, found.bytes);
}

static void forget_request(MPI_Request request) {
    pthread_mutex_lock(&persistent_lock);
    for (persistent_t **link = &persistents; *link; link = &(*link)->next)
        if ((*link)->request == request) {
            persistent_t *gone = *link;
            *link = gone->next;
            free(gone);
            break;
        }
    pthread_mutex_unlock(&persistent_lock);
}
