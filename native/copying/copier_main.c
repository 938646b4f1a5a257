/* SPDX-License-Identifier: Apache-2.0 */
/* ridgepoint-copier MODULE COPYFILE [--recording | --both] [--selecting] [--plan FILE]
 * [--statistics]: copies a module. FILE says which counters were planned already. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "copier.h"
#include "functions.h"
#include "lines.h"
#include "plan.h"

/* How it ends. What lacks room may find it another time, and is no fault of the module's. */
enum { MADE, FAULTY, MISUSED, NO_ROOM };

static int fail(const char *path, const char *problem) {
    fprintf(stderr, "%s: cannot be copied: %s\n", path, problem);
    return strcmp(problem, NO_MEMORY) && strcmp(problem, NOT_OPENED) ? FAULTY : NO_ROOM;
}

/* zlib is asked for when it is needed: hardly a system is without it, but its headers are rare. */
static bool unpack_zlib(const uint8_t *packed, size_t n, uint8_t *out, size_t room) {
    typedef int Uncompress(uint8_t *out, unsigned long *room, const uint8_t *packed,
                           unsigned long n);
    void *zlib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    Uncompress *uncompress = zlib ? (Uncompress *)dlsym(zlib, "uncompress") : NULL;
    unsigned long filled = room;
    return uncompress && !uncompress(out, &filled, packed, n) && filled == room;
}

/* The demangler of a C++ library: a program of C++ has one. */
static const char *demangle(const char *name) {
    typedef char *Demangle(const char *name, char *room, size_t *n, int *status);
    static Demangle *known;
    static char *last;
    static bool is_looked_for;
    if (!is_looked_for) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        library = library ? library : dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
        known = library ? (Demangle *)dlsym(library, "__cxa_demangle") : NULL;
        is_looked_for = true;
    }
    int status = 0;
    free(last);
    last = known ? known(name, NULL, NULL, &status) : NULL;
    return last;
}

static bool lock(int file) {
    static const struct timespec pause = {.tv_nsec = 2000000};
    for (int trial = 0; trial < 100; trial++) {
        if (!flock(file, LOCK_EX | LOCK_NB)) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The first of counters that no other copy is planned to have, as long as there are any, then from
   the beginning again; 0: none. The file holds how many units were given. */
static uint64_t take_counters(const char *path, uint64_t n) {
    const uint64_t units = (n + PLANNED_UNIT - 1) / PLANNED_UNIT;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    uint64_t given = 0, first = 0;
    if (file >= 0 && units <= PLANNED_UNITS && lock(file)) {
        if (pread(file, &given, sizeof given, 0) != sizeof given
            || given > PLANNED_UNITS - units) {
            given = 0;
        }
        first = FIRST_PLANNED + given * PLANNED_UNIT;
        given += units;
        first = pwrite(file, &given, sizeof given, 0) == sizeof given ? first : 0;
    }
    if (file >= 0) {
        close(file);
    }
    return first;
}

/* ---- one at a time ---- */

static bool is_number(const char *text) {
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* What copiers left behind that were killed while they wrote this copy; nobody else writes it. */
static void remove_halves(const char *copy_path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(copy_path, '/');
    const char *name = slash ? slash + 1 : copy_path;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - copy_path), copy_path);
    DIR *listed = opendir(slash ? folder : ".");
    for (struct dirent *entry; listed && (entry = readdir(listed));) {
        const size_t n = strlen(name);
        if (!strncmp(entry->d_name, name, n) && entry->d_name[n] == '.'
            && is_number(entry->d_name + n + 1)) {
            unlinkat(dirfd(listed), entry->d_name, 0);
        }
    }
    if (listed) {
        closedir(listed);
    }
}

/* Processes that begin together want the same copies: the others wait for the first to make them,
   which takes gigabytes of memory for the largest. True: another made it meanwhile. */
static bool is_made_by_another(const char *copy_path, char *lock_path, size_t room) {
    const bool fits = snprintf(lock_path, room, "%s.lock", copy_path) < (int)room;
    int file = fits ? open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    const int other = dup(file); /* there has to be a descriptor for the module as well */
    if (other >= 0) {
        close(other);
    } else if (file >= 0) {
        close(file);
        file = -1;
    }
    if (file < 0) {
        lock_path[0] = 0;
        return false;
    }
    if (flock(file, LOCK_EX | LOCK_NB)) {
        if (!flock(file, LOCK_EX) && !access(copy_path, F_OK)) {
            return true;
        }
    } else {
        remove_halves(copy_path);
    }
    return false; /* it stays locked until the end of this process */
}

static void print_statistics(const Copy *copy) {
    const CopyHeader *header = &copy->header;
    printf("%llu instructions, %llu functions, %llu left alone, %llu rows, %llu indirect jumps "
           "(%llu functions unresolved), %zu anchors, %llu unpatched, %llu heads with live flags, "
           "%llu masks, %llu tables, %zu bytes of code\n",
           (unsigned long long)header->n_instructions, (unsigned long long)header->n_functions,
           (unsigned long long)header->n_left_alone, (unsigned long long)copy->n_blocks,
           (unsigned long long)copy->n_indirect, (unsigned long long)copy->n_unresolved,
           copy->sections[SECTION_ANCHORS].n, (unsigned long long)copy->n_unpatched,
           (unsigned long long)copy->n_flagged, (unsigned long long)copy->n_masks,
           (unsigned long long)copy->n_tables,
           copy->sections[SECTION_CODE].n);
}

static int copy_module(const char *path, const char *copy_path, CopyKind kind, const char *plan,
                       bool statistics) {
    Module module;
    Copy copy;
    const char *problem = module_open(&module, path);
    problem = problem ? problem : copy_make(&module, kind, NULL, 0, &copy);
    if (problem) {
        return fail(path, problem);
    }
    functions_name(&module, demangle, &copy);
    lines_add(&module, unpack_zlib, &copy);
    if (plan) {
        plan_counters(&copy, take_counters(plan, copy.sections[SECTION_ROWS].n));
    }
    problem = copy_write(&copy, copy_path);
    if (problem) {
        fail(path, problem);
        return NO_ROOM;
    }
    if (statistics) {
        print_statistics(&copy);
    }
    return MADE;
}

int main(int argc, char **argv) {
    CopyKind kind = COPY_COUNTING;
    bool statistics = false, selects = false;
    const char *plan = NULL;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--recording")) {
            kind = COPY_RECORDING;
        } else if (!strcmp(argv[i], "--both")) {
            kind = COPY_BOTH;
        } else if (!strcmp(argv[i], "--selecting")) {
            selects = true;
        } else if (!strcmp(argv[i], "--plan") && i + 1 < argc) {
            plan = argv[++i];
        } else if (!strcmp(argv[i], "--statistics")) {
            statistics = true;
        } else {
            argc = 0;
        }
    }
    if (argc < 3) {
        fprintf(stderr,
                "usage: ridgepoint-copier MODULE COPYFILE [--recording | --both] [--selecting] "
                "[--plan FILE] [--statistics]\n");
        return MISUSED;
    }
    char lock_path[PATH_MAX] = "";
    if (plan && is_made_by_another(argv[2], lock_path, sizeof lock_path)) {
        unlink(lock_path);
        return MADE;
    }
    const int status = copy_module(argv[1], argv[2], selects ? kind | COPY_SELECTING : kind, plan,
                                   statistics);
    if (status == MADE && lock_path[0]) { /* else the next one takes its turn */
        unlink(lock_path);
    }
    return status;
}
