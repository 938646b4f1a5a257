// SPDX-License-Identifier: Apache-2.0
// What all programs share: a main that turns errors into one line, threads, the measured part, and
// results as lines of JSON.
#ifndef DATACENTER_PROGRAM_HPP
#define DATACENTER_PROGRAM_HPP

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "failure.hpp"
#include "options.hpp"

#if __has_include("ridgepoint.h")
#include "ridgepoint.h"
#else
#define RIDGEPOINT_REGION_BEGIN(name) ((void)sizeof(name))
#define RIDGEPOINT_REGION_END(name) ((void)sizeof(name))
#endif

// The region "measured" of this thread, for as long as this object lives.
struct Marked {
    Marked() { RIDGEPOINT_REGION_BEGIN("measured"); }
    ~Marked() { RIDGEPOINT_REGION_END("measured"); }
    Marked(const Marked &) = delete;
    Marked &operator=(const Marked &) = delete;
};

// Do the measured part; return its seconds, worked out when the region is left. What a program
// does for each repetition outside is kept small, so that what a second repetition adds to a count
// of the whole program is what the measured part does.
template <class Work> double measured(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    {
        const Marked mark;
        work();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Call work(0) ... work(threads - 1) at once, the first in this thread. Others mark themselves,
// since a region belongs to the thread that is inside.
template <class Work> void parallel(int threads, Work work) {
    std::vector<std::exception_ptr> failures(size_t(threads), nullptr);
    const auto guarded = [&](int thread) {
        try {
            work(thread);
        } catch (...) {
            failures[size_t(thread)] = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (int thread = 1; thread < threads; thread++)
            others.emplace_back([&guarded, thread] {
                const Marked mark;
                guarded(thread);
            });
    } catch (const std::system_error &error) { // a limit of the system's: those there are end first
        for (std::thread &other : others) other.join();
        throw Failure("cannot start " + std::to_string(threads) + " threads", error.code().message(),
                      "give fewer --threads");
    }
    guarded(0);
    for (std::thread &other : others) other.join();
    for (const std::exception_ptr &failure : failures)
        if (failure) std::rethrow_exception(failure);
}

// The part of 0 ... n - 1 that is a thread's own.
struct Share {
    uint64_t begin, end;
    Share(uint64_t n, int thread, int threads)
        : begin(at(n, thread, threads)), end(at(n, thread + 1, threads)) {}

  private:
    static uint64_t at(uint64_t n, int thread, int threads) {
        const uint64_t all = uint64_t(threads), which = uint64_t(thread);
        return n / all * which + n % all * which / all;
    }
};

// A line of JSON. Keys and texts are this program's own and need no escapes.
class Report {
  public:
    Report(const Options &options, int64_t repeat, double seconds) {
        add("workload", options.usage().name).add("form", options.form());
        add("threads", options.threads()).add("repeat", repeat).add("seconds", seconds);
    }
    Report &add(const char *key, const std::string &text) { return put(key, '"' + text + '"'); }
    Report &add(const char *key, const char *text) { return add(key, std::string(text)); }
    Report &add(const char *key, bool value) { return put(key, value ? "true" : "false"); }
    Report &add(const char *key, int value) { return put(key, std::to_string(value)); }
    Report &add(const char *key, int64_t value) { return put(key, std::to_string(value)); }
    Report &add(const char *key, uint64_t value) { return put(key, std::to_string(value)); }
    Report &add(const char *key, double value) {
        char text[40];
        std::snprintf(text, sizeof text, "%.16e", value); // as long for every time: counts alike
        return put(key, std::isfinite(value) ? text : "null"); // JSON has no infinity
    }
    void print() const {
        std::printf("{%s}\n", line_.c_str());
        if (std::fflush(stdout)) throw Failure("cannot print results", system_error(), "make room");
    }

  private:
    Report &put(const char *key, const std::string &value) {
        line_ += (line_.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
        return *this;
    }
    std::string line_;
};

// Order-dependent checksum, the same on every machine.
inline uint64_t mixed(uint64_t sum, uint64_t value) {
    return (sum ^ value) * 0x9E3779B97F4A7C15u + (sum >> 32);
}

// Run a program's body; return its exit status.
template <class Body> int run_program(int argc, char **argv, const Usage &usage, Body body) {
    try {
        const Options options(argc, argv, usage);
        if (options.has("help"))
            print_usage(usage);
        else
            body(options);
        return 0;
    } catch (const Mismatch &error) {
        std::fprintf(stderr, "%s: wrong result: %s\n", usage.name.c_str(), error.what());
        return 1;
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "%s: cannot hold the data: memory ran out; give less --size\n",
                     usage.name.c_str());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", usage.name.c_str(), error.what());
    }
    return 2;
}

#endif
