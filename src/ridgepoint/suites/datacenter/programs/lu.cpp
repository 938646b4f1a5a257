// SPDX-License-Identifier: Apache-2.0
// Solve a dense system of equations in fp64, as HPL does on one node: LU factorisation with partial
// pivoting, right-looking and in blocks, then two triangular solves; HPL's residual decides.
#include <algorithm>
#include <limits>

#include "data.hpp"
#include "program.hpp"

namespace {

constexpr size_t block = 64, columns_at_once = 256;

// A square matrix by rows, and the right-hand side.
struct System {
    size_t n;
    std::vector<double> a, b;
    double *row(size_t i) { return a.data() + i * n; }
    const double *row(size_t i) const { return a.data() + i * n; }
};

// Fill with numbers from -0.5 to 0.5, which HPL does too.
System random_system(size_t n, uint64_t seed) {
    System system{n, std::vector<double>(n * n), std::vector<double>(n)};
    Random random(seed);
    const auto draw = [&] { return double(random.next() >> 11) * 0x1p-53 - 0.5; };
    for (double &value : system.a) value = draw();
    for (double &value : system.b) value = draw();
    return system;
}

// Factor the columns [begin, end), exchanging whole rows.
void factor_panel(System &system, size_t begin, size_t end) {
    const size_t n = system.n;
    for (size_t k = begin; k < end; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (std::fabs(system.row(i)[k]) > std::fabs(system.row(pivot)[k])) pivot = i;
        if (system.row(pivot)[k] == 0) throw Mismatch("the matrix is singular");
        if (pivot != k) {
            std::swap_ranges(system.row(k), system.row(k) + n, system.row(pivot));
            std::swap(system.b[k], system.b[pivot]);
        }
        const double *top = system.row(k);
        for (size_t i = k + 1; i < n; i++) {
            double *row = system.row(i);
            const double factor = row[k] / top[k];
            row[k] = factor;
            for (size_t j = k + 1; j < end; j++) row[j] -= factor * top[j];
        }
    }
}

// Solve for the rows of U to the right of a panel, columns [from, to).
void solve_rows(System &system, size_t begin, size_t end, size_t from, size_t to) {
    for (size_t k = begin; k < end; k++) {
        const double *top = system.row(k);
        for (size_t i = k + 1; i < end; i++) {
            double *row = system.row(i);
            const double factor = row[k];
            for (size_t j = from; j < to; j++) row[j] -= factor * top[j];
        }
    }
}

// Subtract L times U from a row, columns [from, to): four of the panel's columns at once, so that
// the row is loaded and stored a quarter as often.
void update_row(System &system, size_t i, size_t begin, size_t end, size_t from, size_t to) {
    double *__restrict row = system.row(i);
    const double *factors = system.row(i);
    size_t k = begin;
    for (; k + 4 <= end; k += 4) {
        const double l0 = factors[k], l1 = factors[k + 1], l2 = factors[k + 2],
                     l3 = factors[k + 3];
        const double *u0 = system.row(k), *u1 = system.row(k + 1), *u2 = system.row(k + 2),
                     *u3 = system.row(k + 3);
        for (size_t j = from; j < to; j++)
            row[j] -= l0 * u0[j] + l1 * u1[j] + l2 * u2[j] + l3 * u3[j];
    }
    for (; k < end; k++) {
        const double factor = factors[k];
        const double *u = system.row(k);
        for (size_t j = from; j < to; j++) row[j] -= factor * u[j];
    }
}

void factor(System &system, int threads) {
    const size_t n = system.n;
    for (size_t begin = 0; begin < n; begin += block) {
        const size_t end = std::min(begin + block, n);
        factor_panel(system, begin, end);
        const size_t left = n - end;
        parallel(threads, [&](int thread) {
            const Share own(left, thread, threads);
            solve_rows(system, begin, end, end + own.begin, end + own.end);
        });
        parallel(threads, [&](int thread) {
            const Share own(left, thread, threads);
            for (size_t from = end; from < n; from += columns_at_once) {
                const size_t to = std::min(from + columns_at_once, n);
                for (uint64_t i = end + own.begin; i < end + own.end; i++)
                    update_row(system, i, begin, end, from, to);
            }
        });
    }
}

// Return the solution, once the matrix holds L and U.
std::vector<double> substitute(const System &system) {
    std::vector<double> x = system.b;
    for (size_t i = 0; i < system.n; i++)
        for (size_t j = 0; j < i; j++) x[i] -= system.row(i)[j] * x[j];
    for (size_t i = system.n; i-- > 0;) {
        for (size_t j = i + 1; j < system.n; j++) x[i] -= system.row(i)[j] * x[j];
        x[i] /= system.row(i)[i];
    }
    return x;
}

double largest(const std::vector<double> &values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::fabs(value));
    return most;
}

// Return HPL's scaled residual |Ax - b| / (eps (|A| |x| + |b|) n), norms of infinity.
double residual(const System &system, const std::vector<double> &x) {
    double most = 0, norm = 0;
    for (size_t i = 0; i < system.n; i++) {
        double sum = -system.b[i], absolute = 0;
        for (size_t j = 0; j < system.n; j++) {
            sum += system.row(i)[j] * x[j];
            absolute += std::fabs(system.row(i)[j]);
        }
        most = std::max(most, std::fabs(sum));
        norm = std::max(norm, absolute);
    }
    const double epsilon = std::numeric_limits<double>::epsilon() / 2; // HPL's: of rounding
    return most / (epsilon * (norm * largest(x) + largest(system.b)) * double(system.n));
}

constexpr double most_residual = 16; // HPL's threshold

void lu(const Options &options) {
    const size_t n = size_t(options.number("size", 500, 1, 1000000));
    if (options.has("input"))
        throw Failure("cannot read a system of equations", "lu makes its own from the seed",
                      "leave --input out");
    require_memory(16.0L * n * n, "the matrix, and a copy to begin again with");
    const System original = random_system(n, options.seed());
    for (int64_t i = 0; i < options.repeat(); i++) {
        System system = original;
        std::vector<double> x;
        const double seconds = measured([&] {
            factor(system, options.threads());
            x = substitute(system);
        });
        const double found = options.has("check") ? residual(original, x) : NAN;
        if (options.has("check") && !(found <= most_residual))
            throw Mismatch("the residual is " + std::to_string(found) + ", above HPL's 16");
        if (options.has("results")) {
            const File file = create(options.text("results"));
            Writer out(file);
            char text[40];
            for (const double value : x) {
                std::snprintf(text, sizeof text, "%.17g\n", value);
                out.add(text);
            }
            out.flush();
        }
        const double order = double(n), flop = (2 * order / 3 + 1.5) * order * order; // as in HPL
        Report(options, i, seconds)
            .add("order", uint64_t(n)).add("residual", found).add("flop", flop)
            .add("flop_per_s", flop / seconds).add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"lu", "solve a dense system of equations; --size is its order",
                        {"original"}, {}, {}}, lu);
}
