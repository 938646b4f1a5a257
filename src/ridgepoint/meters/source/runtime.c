/* Counters of basic operations, for programs that `ridgepoint cc` compiled: linked into each program
   and each shared library.

   A thread has its own counters for each module (object file), so that no increment is lost; they
   lie in files that are mapped shared, so that whatever ends a process, they are there. Whoever
   counts names a folder for these files in RIDGEPOINT_BOPS; without it counts go nowhere.

   Nothing here calls malloc: a program may have its own, and that may be counted. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the instrumenter writes it. */
struct module {
    uint64_t digest;
    uint64_t n_counters;
    const char *table;
    uint64_t table_bytes;
};

/* As the reader expects it: a file is a chunk, a header and then blocks up to `used_bytes`. */
struct chunk {
    char magic[8];
    uint64_t ended; /* 1: the process left by itself */
    uint64_t pid;
    uint64_t image; /* random, another one after each exec */
    uint64_t used_bytes;
    uint64_t size_bytes;
    uint64_t reserved[2];
};

struct block {
    uint64_t digest;
    uint64_t n_counters;
    uint64_t owner;     /* the thread's number */
    uint64_t abandoned; /* 1: the thread is ending, or has */
    uint64_t reserved[4];
    uint64_t counters[];
};

enum { LINE = 64, FIRST_BYTES = 1 << 16, MOST_CHUNKS = 64 };

#define HIDDEN __attribute__((visibility("hidden")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *chunks[MOST_CHUNKS];
static unsigned n_chunks;
static char folder[3072];
static pthread_key_t key;
static int is_ready, has_key;
static pid_t process;
static sigset_t before_fork;

static uint64_t image(void)
{
    uint64_t bytes = 0;
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(&bytes, random, sizeof bytes);
    return bytes;
}

/* Say that counts are lost, to the user and to the reader. */
static void lose(const char *why)
{
    char path[sizeof folder + 64];
    dprintf(2, "ridgepoint: counts of process %d are lost: %s\n", (int)getpid(), why);
    snprintf(path, sizeof path, "%s/lost", folder);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* Make a file of so many bytes that is another process's or chunk's nowhere else; -1: cannot. */
static int new_file(size_t size_bytes)
{
    char path[sizeof folder + 64];
    int fd = -1, error;
    for (unsigned n = 0; fd < 0; n++) {
        snprintf(path, sizeof path, "%s/%d-%016llx-%u.counts", folder, (int)getpid(),
                 (unsigned long long)image(), n);
        fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) {
            lose(strerror(errno));
            return -1;
        }
    }
    /* A full disk shall be noticed here and not as a SIGBUS at some increment. */
    if ((error = posix_fallocate(fd, 0, (off_t)size_bytes))) {
        lose(strerror(error));
        close(fd);
        unlink(path);
        return -1;
    }
    return fd;
}

/* Map a new file, or, where nobody counts or it cannot be, memory of our own. */
static void *map(void *at, size_t size_bytes)
{
    int fd = folder[0] ? new_file(size_bytes) : -1;
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = mmap(at, size_bytes, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd, 0);
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED) {
        lose(strerror(errno));
        abort();
    }
    return memory;
}

static void write_header(struct chunk *chunk, size_t used_bytes, size_t size_bytes)
{
    memcpy(chunk->magic, "RPBOPS1", 8);
    chunk->pid = (uint64_t)getpid();
    chunk->image = image();
    chunk->size_bytes = size_bytes;
    chunk->used_bytes = used_bytes;
}

static struct chunk *new_chunk(size_t needed_bytes)
{
    size_t size_bytes = (size_t)FIRST_BYTES << (n_chunks < 10 ? n_chunks : 10);
    while (size_bytes < needed_bytes + sizeof(struct chunk))
        size_bytes *= 2;
    if (n_chunks == MOST_CHUNKS) {
        lose("there are too many threads");
        abort();
    }
    struct chunk *chunk = map(NULL, size_bytes);
    write_header(chunk, sizeof *chunk, size_bytes);
    chunks[n_chunks++] = chunk;
    return chunk;
}

static size_t block_bytes(uint64_t n_counters)
{
    return (sizeof(struct block) + n_counters * sizeof(uint64_t) + LINE - 1) / LINE * LINE;
}

static struct block *next_block(struct chunk *chunk, struct block *block)
{
    char *at = block ? (char *)block + block_bytes(block->n_counters) : (char *)(chunk + 1);
    return at < (char *)chunk + chunk->used_bytes ? (struct block *)at : NULL;
}

/* Write a module's table, once in all processes. */
static void write_table(const struct module *module)
{
    char path[sizeof folder + 64], whole[sizeof folder + 64];
    snprintf(whole, sizeof whole, "%s/%016llx.table", folder, (unsigned long long)module->digest);
    if (!folder[0] || access(whole, F_OK) == 0)
        return;
    snprintf(path, sizeof path, "%s/%016llx-%d-%ld.part", folder,
             (unsigned long long)module->digest, (int)getpid(), syscall(SYS_gettid));
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    size_t done = 0;
    ssize_t written = fd < 0 ? -1 : 0;
    while (fd >= 0 && done < module->table_bytes) {
        written = write(fd, module->table + done, module->table_bytes - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            break;
        done += (size_t)written;
    }
    if (written < 0 || rename(path, whole))
        lose(strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* Counters of a thread that has ended go on with another: what is in them adds up. */
static struct block *inherit(const struct module *module)
{
    for (unsigned i = 0; i < n_chunks; i++)
        for (struct block *b = next_block(chunks[i], NULL); b; b = next_block(chunks[i], b))
            if (b->abandoned && b->digest == module->digest && b->n_counters == module->n_counters &&
                syscall(SYS_tgkill, process, (pid_t)b->owner, 0) < 0 && errno == ESRCH)
                return b;
    return NULL;
}

static struct block *new_block(const struct module *module)
{
    size_t bytes = block_bytes(module->n_counters);
    struct chunk *chunk = n_chunks ? chunks[n_chunks - 1] : NULL;
    if (!chunk || chunk->used_bytes + bytes > chunk->size_bytes)
        chunk = new_chunk(bytes);
    struct block *block = (struct block *)((char *)chunk + chunk->used_bytes);
    block->digest = module->digest;
    block->n_counters = module->n_counters;
    chunk->used_bytes += bytes;
    write_table(module);
    return block;
}

static void lock(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    pthread_mutex_lock(&mutex);
}

static void unlock(const sigset_t *before)
{
    pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Called when a thread ends; what its destructors still do is counted, since only counters of a
   thread that the kernel knows no more are inherited. */
static void abandon(void *unused)
{
    uint64_t self = (uint64_t)syscall(SYS_gettid);
    sigset_t before;
    (void)unused;
    lock(&before);
    for (unsigned i = 0; i < n_chunks; i++)
        for (struct block *b = next_block(chunks[i], NULL); b; b = next_block(chunks[i], b))
            if (b->owner == self)
                b->abandoned = 1;
    unlock(&before);
}

static void prepare(void)
{
    lock(&before_fork);
}

static void in_parent(void)
{
    unlock(&before_fork);
}

/* A child must not write to its parent's counters: other files take their place, at the same
   address, since the child's one thread goes on with the pointers that it has. */
static void in_child(void)
{
    process = getpid();
    for (unsigned i = 0; i < n_chunks; i++) {
        struct chunk *old = chunks[i];
        size_t size_bytes = old->size_bytes, used_bytes = old->used_bytes;
        if (!folder[0])
            continue;
        struct chunk *fresh = map(NULL, size_bytes);
        write_header(fresh, used_bytes, size_bytes);
        for (struct block *b = next_block(old, NULL); b; b = next_block(old, b)) {
            struct block *copy = (struct block *)((char *)fresh + ((char *)b - (char *)old));
            memcpy(copy, b, sizeof *b);
            copy->owner = (uint64_t)process;
        }
        if (mremap(fresh, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, old) == MAP_FAILED) {
            lose(strerror(errno));
            abort();
        }
    }
    unlock(&before_fork);
}

static void get_ready(void)
{
    const char *named = getenv("RIDGEPOINT_BOPS");
    if (named && strlen(named) < sizeof folder)
        strcpy(folder, named);
    process = getpid();
    has_key = pthread_key_create(&key, abandon) == 0;
    pthread_atfork(prepare, in_parent, in_child);
    is_ready = 1;
}

/* Return the calling thread's counters of a module. */
HIDDEN uint64_t *__ridgepoint_bops_fetch(const struct module *module)
{
    sigset_t before;
    int error = errno;
    lock(&before);
    if (!is_ready)
        get_ready();
    struct block *block = inherit(module);
    if (!block)
        block = new_block(module);
    block->owner = (uint64_t)syscall(SYS_gettid);
    block->abandoned = 0;
    unlock(&before);
    if (has_key)
        pthread_setspecific(key, &mutex);
    errno = error;
    return block->counters;
}

/* Called before _exit and exec: the process leaves by itself. */
HIDDEN void __ridgepoint_bops_ended(void)
{
    sigset_t before;
    int error = errno;
    lock(&before);
    if (!is_ready)
        get_ready();
    if (folder[0] && !n_chunks)
        new_chunk(0);
    /* After vfork this is the parent's memory. */
    for (unsigned i = 0; i < n_chunks && process == getpid(); i++)
        chunks[i]->ended = 1;
    unlock(&before);
    errno = error;
}

__attribute__((destructor)) static void finish(void)
{
    if (is_ready && process == getpid())
        for (unsigned i = 0; i < n_chunks; i++)
            chunks[i]->ended = 1;
    if (has_key)
        pthread_key_delete(key);
    has_key = 0;
}
