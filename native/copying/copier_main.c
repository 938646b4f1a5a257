/* SPDX-License-Identifier: Apache-2.0 */
/* ridgepoint-copier MODULE COPYFILE [--recording | --both | --statistics]: copies a module. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "copier.h"
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
    bool statistics = false;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--recording")) {
            kind = COPY_RECORDING;
        } else if (!strcmp(argv[i], "--both")) {
            kind = COPY_BOTH;
        } else if (!strcmp(argv[i], "--statistics")) {
            statistics = true;
        } else {
            argc = 0;
        }
    }
    if (argc < 3) {
        fprintf(stderr,
                "usage: ridgepoint-copier MODULE COPYFILE [--recording | --both] [--statistics]\n");
        return 2;
    }
    Module module;
    Copy copy;
    const char *problem = module_open(&module, argv[1]);
    if (problem) {
        return fail(argv[1], problem);
    }
    problem = copy_make(&module, kind, NULL, 0, &copy);
    if (!problem) {
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
