// A library that exceptions pass through: compiled with -DPART=1, 2 and 3.
#include "thrown.hpp"

#include <cstdio>
#include <memory>

#define JOINED(a, b) a##b
#define NAME(part) JOINED(passes_on_, part)

static int undone;

struct Undoes {
    ~Undoes() { undone++; }
};

// The first translates, the second catches and throws again, the third only cleans up.
extern "C" void NAME(PART)(int depth, Callback last) {
    Undoes undoes;
    auto owned = std::make_unique<int>(depth);
#if PART == 1
    try {
        depth % 2 ? passes_on_2(*owned - 1, last) : last(*owned);
    } catch (const std::out_of_range &error) {
        throw Odd(std::string("1:") + error.what(), depth + undone % 2);
    }
#elif PART == 2
    try {
        passes_on_3(*owned - 1, last);
    } catch (...) {
        if (undone % 2) throw;
        std::rethrow_exception(std::current_exception());
    }
#else
    if (*owned < 0) throw std::out_of_range("below");
    if (*owned % 3 == 0) passes_on_1(*owned - 1, last);
    last(*owned);
#endif
}

extern "C" int undone_so_far() { return undone; }
