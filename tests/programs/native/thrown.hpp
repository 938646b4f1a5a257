// What thrown.cpp and its libraries share.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

struct Odd : std::runtime_error {
    int depth;
    Odd(const std::string &what, int depth) : std::runtime_error(what), depth(depth) {}
};
using Callback = void (*)(int);
extern "C" {
void passes_on_1(int depth, Callback last);
void passes_on_2(int depth, Callback last);
void passes_on_3(int depth, Callback last);
}
