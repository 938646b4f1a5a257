/* Code made at run time whose unwind tables are registered, as compilers do that run in programs.
 * usage: registered MODE */
#include <csetjmp>
#include <execinfo.h>
#include <sys/mman.h>

#include "modes.h"

extern "C" void __register_frame(void *);
extern "C" void __deregister_frame(void *);
typedef uint64_t Function(uint64_t);

static uint64_t sum = 1;
static void mix(uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}

/* rdi + what another function returns for rdi. */
static const uint8_t CODE[] = {
    0x53, 0x48, 0x89, 0xfb,                         /* push rbx; mov rbx, rdi */
    0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, /* movabs rax, function; call rax */
    0x48, 0x05, 0, 0, 0, 0,                         /* add rax, number */
    0x48, 0x01, 0xd8, 0x5b, 0xc3};                  /* add rax, rbx; pop rbx; ret */
/* rdi - 1 by a tail call of another; nothing unwinds through it, and it has no table. */
static const uint8_t TAIL[] = {
    0x48, 0x8d, 0x7f, 0xff,                         /* lea rdi, [rdi - 1] */
    0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* movabs rax, function; jmp rax */
enum { TAIL_AT = 32, NUMBER_AT = 18, BYTES = 8192 };
static const uint8_t FRAMES[] = {
    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* pointers relative, 4 bytes */
    0x0c, 7, 8, 0x90, 1, 0, 0,                                     /* cfa rsp + 8; rip at cfa - 8 */
    24, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, sizeof CODE, 0, 0, 0, 0,
    0x41, 0x0e, 16, 0x83, 2, 0x40 + 25, 0x0e, 8, 0, 0, 0,          /* push rbx; behind pop rbx */
    0, 0, 0, 0};
enum { FUNCTION_AT = 32 };

struct Made {
    uint8_t *at;

    explicit Made(Function *calls, uint32_t number = 7) {
        const int how = PROT_READ | PROT_WRITE;
        at = (uint8_t *)mmap(NULL, BYTES, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(at != MAP_FAILED);
        uint8_t *frames = at + 4096;
        memcpy(at, CODE, sizeof CODE);
        memcpy(at + TAIL_AT, TAIL, sizeof TAIL);
        memcpy(at + TAIL_AT + 6, &at, 8);
        memcpy(frames, FRAMES, sizeof FRAMES);
        const int32_t distance = (int32_t)(at - (frames + FUNCTION_AT));
        memcpy(frames + FUNCTION_AT, &distance, 4);
        calling(calls, number);
        __register_frame(frames);
        seal();
    }
    ~Made() {
        __deregister_frame(at + 4096);
        munmap(at, BYTES);
    }
    void calling(Function *calls, uint32_t number) {
        memcpy(at + 6, &calls, 8);
        memcpy(at + NUMBER_AT, &number, 4);
    }
    void seal() { EXPECT(mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0); }
    void open() { EXPECT(mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0); }
    uint64_t operator()(uint64_t n) const { return ((Function *)at)(n); }
    uint64_t tail(uint64_t n) const { return ((Function *)(at + TAIL_AT))(n); }
};

static uint64_t twice(uint64_t n) { return 2 * n; }
static int called(int, char **) {
    Made made(twice);
    for (uint64_t i = 0; i < 1000; i++) mix(made(i) + made.tail(i));
    return report("called");
}

static uint64_t some(uint64_t n) {
    if (n % 3 == 0) throw n;
    return n;
}
static int thrown(int, char **) {
    Made made(some);
    for (uint64_t i = 0; i < 300; i++) {
        try {
            mix(i % 2 ? made(i) : made.tail(i));
        } catch (uint64_t n) {
            mix(n + 1);
        }
    }
    return report("thrown");
}

static Made *itself;
static uint64_t deeper(uint64_t n) {
    struct Counts {
        ~Counts() { mix(3); }
    } counts;
    if (n == 0) throw 1;
    return (*itself)(n - 1);
}
static int deep(int, char **) {
    Made made(deeper);
    itself = &made;
    for (uint64_t i = 0; i < 20; i++) {
        try {
            mix(made(i));
        } catch (int n) {
            mix(n);
        }
    }
    return report("deep");
}

static uint64_t depth(uint64_t) {
    void *frames[64];
    return backtrace(frames, 64);
}
static int traced(int, char **) {
    Made made(depth, 0);
    for (uint64_t i = 0; i < 10; i++) printf("%d ", (int)(made(0) - depth(0)));
    return report("traced");
}

static jmp_buf back;
static uint64_t jumps(uint64_t n) { longjmp(back, (int)n); }
static int jumped(int, char **) {
    Made made(jumps);
    for (volatile int i = 1; i < 100; i++) {
        if (const int n = setjmp(back)) mix(n);
        else mix(made(i));
    }
    return report("jumped");
}

/* It is opened, changed and sealed again by what it calls. */
static uint64_t changes(uint64_t n) {
    itself->open();
    itself->calling(n % 2 ? changes : twice, (uint32_t)n);
    itself->seal();
    return n;
}
static int changed(int, char **) {
    Made made(changes);
    itself = &made;
    for (uint64_t i = 0; i < 20; i++) {
        mix(made(i));
        if (i % 2 == 0) changes(1);
    }
    return report("changed");
}

/* What is registered is no table, or ends where nothing is mapped: nobody looks at it. */
static int odd(int, char **) {
    uint8_t *at = (uint8_t *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(at != MAP_FAILED && munmap(at + 4096, 4096) == 0);
    const uint32_t bytes[] = {12, 60000, 4080, 16, 0xffffffff, 1};
    for (uint32_t n : bytes) {
        memcpy(at, &n, 4);
        memcpy(at + 16, &n, 4);
        memset(at + 4, (int)n, 12);
        __register_frame(at);
        __deregister_frame(at);
        mix(n);
    }
    Made made(twice);
    mix(made(3));
    return report("odd");
}

static int many(int, char **) { /* one after the other, at the same place or elsewhere */
    for (uint32_t i = 0; i < 30; i++) {
        Made one(twice, i), other(some, i + 1);
        mix(one(i) + one.tail(i) + other(3 * i + 1));
    }
    return report("many");
}

static const Mode modes[] = {
    {"called", called}, {"thrown", thrown}, {"deep", deep}, {"traced", traced},
    {"jumped", jumped}, {"changed", changed}, {"many", many},
    {"odd", odd},
};
RUN_MODES(modes)
