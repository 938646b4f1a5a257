/* Libraries that come and go. usage: libraries MODE LIBRARY... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "modes.h"

typedef uint64_t (*Calls)(uint64_t, uint64_t (*)(uint64_t));

static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}
static uint64_t back(uint64_t with) { return work(with, 9); }

static void *opens(const char *name, int how) {
    void *handle = dlopen(name, how);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    EXPECT(handle);
    return handle;
}
static void *finds(void *handle, const char *name) {
    void *found = dlsym(handle, name);
    EXPECT(found);
    return found;
}
static void uses(void *handle, int i) {
    Calls calls = (Calls)finds(handle, "library_calls");
    mix(calls(i, back));
    int (*knows)(Calls) = (int (*)(Calls))finds(handle, "library_knows");
    mix(knows(calls));
}

static int again(int argc, char **argv) { /* the same, 200 times */
    EXPECT(argc > 2);
    for (int i = 0; i < 200; i++) {
        void *handle = opens(argv[2], i % 2 ? RTLD_NOW : RTLD_LAZY);
        for (int j = 0; j < 3; j++) uses(handle, i + j);
        EXPECT(dlclose(handle) == 0);
        EXPECT(dlopen(argv[2], RTLD_NOLOAD | RTLD_NOW) == NULL);
    }
    return report("again");
}
static int changing(int argc, char **argv) { /* others where one was before */
    EXPECT(argc > 4);
    void *open[3] = {NULL};
    for (int i = 0; i < 200; i++) {
        int which = (i * 7 + i / 5) % 3;
        if (open[which]) {
            uses(open[which], i);
            EXPECT(dlclose(open[which]) == 0);
            open[which] = NULL;
        } else {
            open[which] = opens(argv[2 + which], (i % 2 ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL);
            uses(open[which], i);
        }
    }
    return report("changing");
}
static int says(int argc, char **argv) { /* constructors and destructors in their order */
    EXPECT(argc > 4);
    static const char *names[] = {"one", "two", "three"};
    void *handles[3];
    for (int i = 0; i < 3; i++) {
        handles[i] = opens(argv[2 + i], RTLD_NOW | RTLD_GLOBAL);
        *(const char **)finds(handles[i], "library_says") = names[i];
        uses(handles[i], i);
    }
    dlclose(handles[1]);
    return report("says");
}
static int counting(int argc, char **argv) { /* referred to many times, and kept */
    EXPECT(argc > 2);
    void *handles[10];
    for (int i = 0; i < 10; i++) handles[i] = opens(argv[2], RTLD_LAZY);
    for (int i = 0; i < 10; i++) EXPECT(handles[i] == handles[0]);
    for (int i = 0; i < 9; i++) dlclose(handles[i]);
    uses(handles[9], 3);
    EXPECT(dlopen(argv[2], RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY) == handles[0]);
    for (int i = 0; i < 5; i++) dlclose(handles[0]);
    uses(handles[9], 4);
    return report("counting");
}
static int spaces(int argc, char **argv) { /* copies of one library, each with its own libc */
    EXPECT(argc > 2);
    for (int i = 0; i < 6; i++) {
        void *handle = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW | RTLD_LOCAL);
        if (!handle) fprintf(stderr, "%s\n", dlerror());
        EXPECT(handle);
        for (int j = 0; j < 100; j++) uses(handle, j);
        if (i % 2) dlclose(handle);
    }
    return report("spaces");
}
static char *of_threads;
static void *loads(void *seed) {
    uint64_t own = (uintptr_t)seed;
    for (int i = 0; i < 100; i++) {
        void *handle = opens(of_threads, RTLD_NOW);
        Calls calls = (Calls)finds(handle, "library_calls");
        own = own * 3 + (calls(i, NULL) != 0);
        dlclose(handle);
    }
    return (void *)own;
}
static int threads(int argc, char **argv) { /* by several threads at once */
    EXPECT(argc > 2);
    of_threads = argv[2];
    pthread_t all[4];
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&all[i], NULL, loads, (void *)i);
    for (int i = 0; i < 4; i++) {
        void *answer;
        pthread_join(all[i], &answer);
        mix((uintptr_t)answer);
    }
    return report("threads");
}
static int callers(int argc, char **argv) { /* who calls decides what is found */
    EXPECT(argc > 4);
    void *handle = opens(argv[2], RTLD_NOW);
    void *(*next)(const char *) = (void *(*)(const char *))finds(handle, "library_next");
    void *(*loads_it)(const char *) = (void *(*)(const char *))finds(handle, "library_loads");
    const char *plain = strrchr(argv[4], '/') + 1;
    printf("main finds strlen after itself: %d\n", dlsym(RTLD_NEXT, "strlen") != NULL);
    printf("main finds main by default: %d\n", dlsym(RTLD_DEFAULT, "exported") != NULL);
    printf("main finds main after itself: %d\n", dlsym(RTLD_NEXT, "exported") != NULL);
    printf("the library finds strlen after itself: %d\n", next("strlen") != NULL);
    printf("main loads %s without a path: %d\n", plain, dlopen(plain, RTLD_NOW) != NULL);
    printf("the library loads %s without a path: %d\n", plain, loads_it(plain) != NULL);
    printf("versioned: %d\n", dlvsym(RTLD_NEXT, "memcpy", "GLIBC_2.14") != NULL);
    return report("callers");
}
__attribute__((visibility("default"))) int exported(void) { return 5; }

static int names(int argc, char **argv) { /* dladdr of pointers and of places in a function */
    (void)argc, (void)argv;
    Dl_info info;
    struct link_map *map;
    EXPECT(dladdr((void *)exported, &info) && !strcmp(info.dli_sname, "exported"));
    EXPECT(info.dli_saddr == (void *)exported);
    EXPECT(dladdr((char *)qsort + 3, &info) && !strcmp(info.dli_sname, "qsort"));
    EXPECT(dladdr1((void *)printf, &info, (void **)&map, RTLD_DL_LINKMAP));
    EXPECT(strstr(map->l_name, "libc.so"));
    EXPECT(!dladdr((void *)&info, &info));
    return report("names");
}
static int seen(struct dl_phdr_info *info, size_t size, void *data) {
    int *counts = data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD) continue;
        if ((uintptr_t)exported - from < part->p_memsz) counts[0]++;
        if ((uintptr_t)qsort - from < part->p_memsz) counts[1]++;
    }
    return 0;
}
static int objects(int argc, char **argv) { /* code is where the list of objects says */
    (void)argc, (void)argv;
    int counts[2] = {0};
    dl_iterate_phdr(seen, counts);
    printf("main %d, libc %d\n", counts[0], counts[1]);
    return report("objects");
}

static const Mode modes[] = {
    {"again", again},     {"changing", changing}, {"says", says},   {"counting", counting},
    {"spaces", spaces},   {"threads", threads},   {"callers", callers}, {"names", names},
    {"objects", objects},
};
RUN_MODES(modes)
