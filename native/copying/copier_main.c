/* SPDX-License-Identifier: Apache-2.0 */
/* ridgepoint-copier MODULE COPYFILE [--recording | --both] [--selecting] [--statistics]: copies a module. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copier.h"
#include "functions.h"
#include "lines.h"

static int fail(const char *path, const char *problem) {
    fprintf(stderr, "%s: cannot be copied: %s\n", path, problem);
    return 1;
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

static void print_statistics(const Copy *copy) {
    const CopyHeader *header = &copy->header;
    printf("%llu instructions, %llu functions, %llu left alone, %llu rows, %llu indirect jumps "
           "(%llu functions unresolved), %zu anchors, %llu unpatched, %llu heads with live flags, "
           "%llu masks, %zu bytes of code\n",
           (unsigned long long)header->n_instructions, (unsigned long long)header->n_functions,
           (unsigned long long)header->n_left_alone, (unsigned long long)copy->n_blocks,
           (unsigned long long)copy->n_indirect, (unsigned long long)copy->n_unresolved,
           copy->sections[SECTION_ANCHORS].n, (unsigned long long)copy->n_unpatched,
           (unsigned long long)copy->n_flagged, (unsigned long long)copy->n_masks,
           copy->sections[SECTION_CODE].n);
}

int main(int argc, char **argv) {
    CopyKind kind = COPY_COUNTING;
    bool statistics = false, selects = false;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--recording")) {
            kind = COPY_RECORDING;
        } else if (!strcmp(argv[i], "--both")) {
            kind = COPY_BOTH;
        } else if (!strcmp(argv[i], "--selecting")) {
            selects = true;
        } else if (!strcmp(argv[i], "--statistics")) {
            statistics = true;
        } else {
            argc = 0;
        }
    }
    if (argc < 3) {
        fprintf(stderr,
                "usage: ridgepoint-copier MODULE COPYFILE [--recording | --both] [--selecting] "
                "[--statistics]\n");
        return 2;
    }
    Module module;
    Copy copy;
    const char *problem = module_open(&module, argv[1]);
    if (problem) {
        return fail(argv[1], problem);
    }
    problem = copy_make(&module, selects ? kind | COPY_SELECTING : kind, NULL, 0, &copy);
    if (!problem) {
        functions_name(&module, demangle, &copy);
        lines_add(&module, unpack_zlib, &copy);
    }
    problem = problem ? problem : copy_write(&copy, argv[2]);
    if (problem) {
        return fail(argv[1], problem);
    }
    if (statistics) {
        print_statistics(&copy);
    }
    return 0;
}
