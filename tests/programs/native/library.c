/* A library that libraries.c loads: compiled with -DWHICH=1, 2, 3. It says when it comes and goes,
 * has thread-local and static state, an indirect function, and calls back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "modes.h"

static int calls;
static _Thread_local uint64_t mine = WHICH;
const char *library_says = NULL;

__attribute__((constructor(200))) static void second(void) { calls += 10; }
__attribute__((constructor(101))) static void first(void) { calls = calls * 3 + 1; }
__attribute__((destructor)) static void gone(void) {
    if (library_says) printf("%s goes after %d calls\n", library_says, calls);
}

static uint64_t way_one(uint64_t with) { return work(with, 20 + WHICH); }
static uint64_t way_two(uint64_t with) { return work(with, 30 + WHICH); }
static uint64_t (*chooses(void))(uint64_t) { return WHICH % 2 ? way_one : way_two; }
uint64_t chosen(uint64_t with) __attribute__((ifunc("chooses")));

uint64_t library_calls(uint64_t with, uint64_t (*back)(uint64_t)) {
    calls++;
    mine += with;
    return chosen(with) * 3 + (back ? back(with + WHICH) : 0) + mine + calls;
}

/* What a pointer to a function of its own looks like from outside and inside. */
int library_knows(uint64_t (*function)(uint64_t, uint64_t (*)(uint64_t))) {
    Dl_info info;
    if (!dladdr((void *)library_calls, &info) || !info.dli_sname) return -1;
    if (info.dli_saddr != (void *)library_calls || strcmp(info.dli_sname, "library_calls")) return -2;
    return function == library_calls;
}

/* Finds what comes after it, as wrappers of malloc do. */
void *library_next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found)); /* no jump at the end: they ask who called them */
    return found;
}

/* Loads a library by a name that only its own RUNPATH can find. */
void *library_loads(const char *name) {
    void *handle = dlopen(name, RTLD_NOW);
    __asm__ volatile("" : "+r"(handle));
    return handle;
}
