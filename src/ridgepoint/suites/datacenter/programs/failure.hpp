// SPDX-License-Identifier: Apache-2.0
// What can go wrong in these programs: one line on stderr, status 2 for bad input, 1 for a result
// that is not what it should be.
#ifndef DATACENTER_FAILURE_HPP
#define DATACENTER_FAILURE_HPP

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

// Something that was asked for cannot be done: what, why, and what to do instead.
struct Failure : std::runtime_error {
    Failure(const std::string &what, const std::string &why, const std::string &remedy)
        : std::runtime_error(what + ": " + why + "; " + remedy) {}
};

// A result is not what a check says it has to be.
struct Mismatch : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Return a text of a user's in quotes, on one line and no longer than a line.
inline std::string quoted(const std::string &text) {
    std::string safe = "'";
    for (unsigned char c : text.substr(0, 60)) safe += c < 32 || c > 126 ? '?' : char(c);
    return safe + (text.size() > 60 ? "...'" : "'");
}

inline std::string system_error() { return std::strerror(errno); }

// Return how much memory is available now, byte; 0 if the system does not say.
inline uint64_t available_bytes() {
    FILE *info = std::fopen("/proc/meminfo", "r");
    if (!info) return 0;
    char line[256];
    unsigned long long kib = 0;
    while (std::fgets(line, sizeof line, info))
        if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
    std::fclose(info);
    return kib * 1024;
}

// Refuse what memory does not hold. Linux promises more than it has, and then kills the program.
inline void require_memory(long double bytes, const std::string &what) {
    const uint64_t available = available_bytes();
    if (available && bytes > (long double)available) {
        char sizes[120];
        std::snprintf(sizes, sizeof sizes, "that takes %.3Lg GB of memory and %.3g GB are available",
                      bytes / 1e9L, double(available) / 1e9);
        throw Failure("cannot hold " + what, sizes, "give less --size, or a smaller input");
    }
}

#endif
