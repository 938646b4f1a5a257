// SPDX-License-Identifier: Apache-2.0
// STREAM (J. McCalpin, 1995): copy, scale, add and triad of three arrays, ten times; each kernel's
// best time counts, the first time apart, and the values are compared with those of scalars.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "file.hpp"
#include "program.hpp"

namespace {

constexpr int rounds = 10;
constexpr double scalar = 3;
constexpr int64_t repetitions_in_range = 20; // values grow by 15^10 in each, up to 1e308

// Not zeroed, so that each thread touches its part first.
struct Arrays {
    uint64_t n;
    std::unique_ptr<double[]> a, b, c;
    explicit Arrays(uint64_t size)
        : n(size), a(new double[size]), b(new double[size]), c(new double[size]) {}
};

template <class Kernel> double timed(Kernel kernel) {
    const auto begin = std::chrono::steady_clock::now();
    kernel();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Call element(i) for all i, shared among threads.
template <class Element> void for_all(uint64_t n, int threads, Element element) {
    parallel(threads, [&](int thread) {
        const Share own(n, thread, threads);
        for (uint64_t i = own.begin; i < own.end; i++) element(i);
    });
}

void fill(Arrays &arrays, int threads) {
    double *a = arrays.a.get(), *b = arrays.b.get(), *c = arrays.c.get();
    for_all(arrays.n, threads, [=](uint64_t i) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    });
}

using Times = std::array<double, 4>;

// Run all kernels ten times; return the best time of each, s.
Times run_kernels(Arrays &arrays, int threads) {
    double *a = arrays.a.get(), *b = arrays.b.get(), *c = arrays.c.get();
    const uint64_t n = arrays.n;
    Times best;
    best.fill(std::numeric_limits<double>::infinity());
    for (int round = 0; round < rounds; round++) {
        const Times now{
            timed([&] { for_all(n, threads, [=](uint64_t i) { c[i] = a[i]; }); }),
            timed([&] { for_all(n, threads, [=](uint64_t i) { b[i] = scalar * c[i]; }); }),
            timed([&] { for_all(n, threads, [=](uint64_t i) { c[i] = a[i] + b[i]; }); }),
            timed([&] { for_all(n, threads, [=](uint64_t i) { a[i] = b[i] + scalar * c[i]; }); }),
        };
        for (size_t k = 0; round > 0 && k < now.size(); k++) best[k] = std::min(best[k], now[k]);
    }
    return best;
}

void check(const Arrays &arrays, int64_t times) {
    double a = 1, b = 2, c = 0;
    for (int64_t round = 0; round < times * rounds; round++) {
        c = a;
        b = scalar * c;
        c = a + b;
        a = b + scalar * c;
    }
    for (uint64_t i = 0; i < arrays.n; i++)
        if (std::fabs(arrays.a[i] - a) > 1e-13 * a || std::fabs(arrays.b[i] - b) > 1e-13 * b ||
            std::fabs(arrays.c[i] - c) > 1e-13 * c)
            throw Mismatch("element " + std::to_string(i) + " is not that of STREAM");
}

void stream(const Options &options) {
    const uint64_t n = uint64_t(options.number("size", 10000000));
    if (options.has("input"))
        throw Failure("cannot read arrays", "stream makes its own", "leave --input out");
    require_memory(24.0L * n, "the arrays");
    const int threads = options.threads();
    Arrays arrays(n);
    for (int64_t i = 0; i < options.repeat(); i++) {
        const int64_t before = i % repetitions_in_range;
        if (before == 0) fill(arrays, threads);
        Times best{};
        const double seconds = measured([&] { best = run_kernels(arrays, threads); });
        if (options.has("check")) check(arrays, before + 1);
        if (options.has("results")) {
            const File file = create(options.text("results"));
            Writer out(file);
            char text[100];
            std::snprintf(text, sizeof text, "%.17g %.17g %.17g\n", arrays.a[n - 1],
                          arrays.b[n - 1], arrays.c[n - 1]);
            out.add(text);
            out.flush();
        }
        const double bytes = 8 * double(n); // STREAM counts no write-allocate
        Report(options, i, seconds)
            .add("elements", n).add("copy_bytes_per_s", 2 * bytes / best[0])
            .add("scale_bytes_per_s", 2 * bytes / best[1])
            .add("add_bytes_per_s", 3 * bytes / best[2])
            .add("triad_bytes_per_s", 3 * bytes / best[3])
            .add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"stream", "copy, scale, add, triad; --size is the elements of each array",
                        {"original"}, {}, {}}, stream);
}
