// C++ exceptions in every way. usage: thrown MODE [LIBRARY]
#include "thrown.hpp"

#include <dlfcn.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <typeinfo>
#include <vector>

#include "modes.h"

static std::uint64_t sum = 1;
static void mix(std::uint64_t number) { sum = sum * 1099511628211u + number; }
static int report(const char *what) {
    std::printf("%s %016llx\n", what, (unsigned long long)sum);
    return 0;
}

struct Counts {
    int which;
    explicit Counts(int which) : which(which) { mix(which); }
    ~Counts() { mix(which * 7 + 3); }
};

__attribute__((noinline)) static int throws(int i) {
    Counts here(i);
    switch (i % 6) {
    case 0: throw i;
    case 1: throw Odd("odd", i);
    case 2: throw std::string("text") + std::to_string(i);
    case 3: throw std::out_of_range("range");
    case 4: throw 2.5 * i;
    }
    return i;
}
__attribute__((noinline)) static int between(int i, int depth) {
    Counts here(depth);
    return depth ? between(i, depth - 1) + 1 : throws(i);
}
static int catches(int, char **) {
    for (int i = 0; i < 3000; i++) {
        try {
            mix(between(i, i % 5));
        } catch (int number) {
            mix(number);
        } catch (const Odd &odd) {
            mix(odd.depth + std::strlen(odd.what()));
        } catch (const std::string &text) {
            mix(text.size());
        } catch (const std::exception &error) {
            mix(std::strlen(typeid(error).name()));
        } catch (...) {
            mix(9);
        }
    }
    return report("catches");
}

// Thrown while another is handled, nested, kept and thrown elsewhere.
static int rethrown(int, char **) {
    std::exception_ptr kept;
    for (int i = 0; i < 1000; i++) {
        try {
            try {
                if (kept && i % 4 == 0) std::rethrow_exception(kept);
                throw Odd("inner", i);
            } catch (Odd &odd) {
                odd.depth++;
                if (i % 3 == 0) throw;
                if (i % 3 == 1) std::throw_with_nested(std::runtime_error("outer"));
                kept = std::current_exception();
            }
        } catch (const Odd &odd) {
            mix(odd.depth);
        } catch (const std::runtime_error &error) {
            try {
                std::rethrow_if_nested(error);
            } catch (const Odd &odd) {
                mix(odd.depth * 3 + std::uncaught_exceptions());
            }
        }
    }
    return report("rethrown");
}

// From constructors, half of an array made; function-try blocks; static objects whose
// initialization fails at first.
struct Fails {
    static int made;
    Counts before{1};
    Fails() try : before(made) {
        if (++made % 7 == 0) throw made;
    } catch (int number) {
        mix(number);
    }
    ~Fails() { mix(5); }
};
int Fails::made;
static int tries;
static int initial() {
    if (++tries < 4) throw tries;
    return 40 + tries;
}
static int &initialized() {
    static int value = initial();
    return value;
}
static int constructors(int, char **) {
    for (int i = 0; i < 300; i++) {
        try {
            Fails some[5];
            mix(some[2].before.which);
        } catch (int number) {
            mix(number * 3);
        }
        try {
            mix(initialized());
        } catch (int number) {
            mix(number * 5);
        }
    }
    return report("constructors");
}

// Over C's qsort and bsearch: they were compiled with -fexceptions.
static int compares(const void *one, const void *other) {
    const int a = *(const int *)one, b = *(const int *)other;
    if (a == 13 && b == 14) throw Odd("compared", a + b);
    return a - b;
}
static int through_c(int, char **) {
    for (int i = 0; i < 200; i++) {
        int numbers[64];
        for (int j = 0; j < 64; j++) numbers[j] = (j * 29 + i) % 64;
        try {
            std::qsort(numbers, 64, sizeof *numbers, compares);
            mix(1);
        } catch (const Odd &odd) {
            mix(odd.depth);
        }
    }
    return report("through_c");
}

static std::once_flag once;
static std::atomic<int> called;
static int threads(int, char **) {
    std::vector<std::thread> all;
    std::vector<std::uint64_t> results(8);
    for (int t = 0; t < 8; t++)
        all.emplace_back([t, &results] {
            std::uint64_t own = t;
            for (int i = 0; i < 1000; i++) {
                try {
                    if (i % 5 == t % 5) throw Odd("thread", i);
                    if (i % 5 == 1) throw i;
                    own = own * 3 + i;
                } catch (const Odd &odd) {
                    own += odd.depth;
                } catch (int number) {
                    own ^= number;
                }
            }
            // The first calls of it fail, and another thread tries again.
            try {
                std::call_once(once, [] {
                    if (++called < 3) throw 1;
                });
            } catch (int) {
            }
            results[t] = own;
        });
    for (auto &one : all) one.join();
    for (auto result : results) mix(result);
    auto future = std::async(std::launch::async, [] { (void)throws(1); });
    try {
        future.get();
    } catch (const Odd &odd) {
        mix(odd.depth);
    }
    mix(called);
    return report("threads");
}

struct OfThread {
    int value = 3;
    ~OfThread() { destroyed += value; }
    static std::atomic<int> destroyed;
};
std::atomic<int> OfThread::destroyed;
static thread_local OfThread of_thread;
static thread_local std::map<int, std::string> map_of_thread;
static int locals(int, char **) {
    for (int i = 0; i < 100; i++)
        std::thread([i] {
            of_thread.value = i;
            map_of_thread[i] = "x";
        }).join();
    mix(OfThread::destroyed);
    return report("locals");
}

// Three libraries, forth and back.
static void last(int depth) {
    mix(depth);
    if (depth % 2) throw Odd("last", depth);
    if (depth % 5 == 0) throw depth;
}
static int libraries(int, char **) {
    for (int i = 0; i < 2000; i++) {
        try {
            passes_on_1(i % 40, last);
            mix(1);
        } catch (const Odd &odd) {
            mix(odd.depth);
        } catch (const std::exception &error) {
            mix(2);
        } catch (int number) {
            mix(number + 3);
        }
    }
    return report("libraries");
}
// The same of a library that comes and goes.
static int loaded(int argc, char **argv) {
    EXPECT(argc > 2);
    for (int i = 0; i < 60; i++) {
        void *handle = dlopen(argv[2], i % 2 ? RTLD_NOW : RTLD_LAZY);
        if (!handle) std::fprintf(stderr, "%s\n", dlerror());
        EXPECT(handle);
        auto passes_on = (void (*)(int, Callback))dlsym(handle, "passes_on_3");
        for (int depth = -1; depth < 4; depth++) {
            try {
                passes_on(depth, last);
                mix(1);
            } catch (const Odd &odd) {
                mix(odd.depth);
            } catch (const std::out_of_range &error) {
                mix(std::strlen(error.what()));
            } catch (int number) {
                mix(number);
            }
        }
        dlclose(handle);
    }
    return report("loaded");
}

// An exception that nobody catches, or that may not leave: std::terminate, with a handler.
static void ends() {
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception &error) {
        std::printf("terminated: %s\n", error.what());
    } catch (...) {
        std::printf("terminated\n");
    }
    std::fflush(stdout);
    std::_Exit(21);
}
static void never_throws() noexcept { throws(1); }
static int terminates(int, char **) {
    std::set_terminate(ends);
    never_throws();
    return 0;
}
static int uncaught(int, char **) {
    std::printf("uncaught\n");
    std::fflush(stdout);
    return between(1, 5);
}
// From a handler of a synchronous signal (-fnon-call-exceptions).
static void on_fault(int) { throw Odd("fault", 5); }
__attribute__((noinline)) static int loads(volatile int *from) {
    Counts here(4);
    return *from;
}
static int from_handler(int, char **) {
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    int good = 6;
    for (int i = 0; i < 300; i++) {
        try {
            mix(loads(i % 3 ? &good : nullptr));
        } catch (const Odd &odd) {
            mix(odd.depth);
        }
    }
    return report("from_handler");
}
// pthread_cancel and pthread_exit unwind by the same tables.
static int unwound(int, char **) {
    for (int i = 0; i < 200; i++) {
        std::atomic<int> gone{0};
        struct Says {
            std::atomic<int> &gone;
            ~Says() { gone += 2; }
        };
        pthread_t thread;
        pthread_create(&thread, nullptr, [](void *with) -> void * {
            Says says{*(std::atomic<int> *)with};
            Counts *none = nullptr;
            try {
                pthread_exit(none);
            } catch (...) {
                says.gone += 1;
                throw;
            }
        }, &gone);
        pthread_join(thread, nullptr);
        mix(gone);
    }
    return report("unwound");
}

static const Mode modes[] = {
    {"catches", catches},       {"rethrown", rethrown},   {"constructors", constructors},
    {"through_c", through_c},   {"threads", threads},     {"locals", locals},
    {"libraries", libraries},   {"loaded", loaded},       {"terminates", terminates},
    {"uncaught", uncaught},     {"from_handler", from_handler}, {"unwound", unwound},
};
RUN_MODES(modes)
