// SPDX-License-Identifier: Apache-2.0
// The command line that all these programs share.
#ifndef DATACENTER_OPTIONS_HPP
#define DATACENTER_OPTIONS_HPP

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "failure.hpp"

// What a program accepts: its forms, the first being the default, and options of its own.
struct Usage {
    std::string name, summary;
    std::vector<std::string> forms;
    std::vector<std::string> own; // options with a value, without their dashes
    std::vector<std::string> own_flags;
};

class Options {
  public:
    Options(int argc, char **argv, const Usage &usage) : usage_(usage) {
        for (int i = 1; i < argc; i++) i += take(argv[i], i + 1 < argc ? argv[i + 1] : nullptr);
        check_form();
        if (has("input") && has("generate"))
            throw Failure("cannot take both --input and --generate", "they say where data come from",
                          "give one of them");
    }

    bool has(const std::string &name) const { return given_.count(name) > 0; }

    std::string text(const std::string &name, const std::string &otherwise = "") const {
        const auto found = given_.find(name);
        return found == given_.end() ? otherwise : found->second;
    }

    // Return a whole number, which may end in K, M, G or T (1e3, 1e6, 1e9, 1e12).
    int64_t number(const std::string &name, int64_t otherwise, int64_t least = 1,
                   int64_t most = std::numeric_limits<int64_t>::max()) const {
        if (!has(name)) return otherwise;
        const std::string text = given_.at(name);
        int64_t value = 0;
        if (!parse(text, value) || value < least || value > most)
            throw Failure("cannot use --" + name + " " + quoted(text),
                          "it has to be a whole number from " + std::to_string(least) +
                              (most == std::numeric_limits<int64_t>::max()
                                   ? " up" : " to " + std::to_string(most)),
                          "give for example --" + name + " " + std::to_string(otherwise));
        return value;
    }

    double fraction(const std::string &name, double otherwise) const {
        if (!has(name)) return otherwise;
        char *end = nullptr;
        const double value = std::strtod(given_.at(name).c_str(), &end);
        if (given_.at(name).empty() || *end || !(value >= 0 && value <= 1))
            throw Failure("cannot use --" + name + " " + quoted(given_.at(name)),
                          "it has to be a number from 0 to 1", "give for example 0.001");
        return value;
    }

    std::string form() const { return text("form", usage_.forms.front()); }
    bool prefetches() const { return form() == "prefetch"; }
    int threads() const { return int(number("threads", 1, 1, 4096)); }
    int64_t repeat() const { return number("repeat", 1); }
    uint64_t seed() const {
        return uint64_t(number("seed", 1, 0));
    }
    const Usage &usage() const { return usage_; }

  private:
    // Take an option; return how many arguments its value is.
    int take(const std::string &argument, const char *next) {
        std::string name = argument.rfind("--", 0) == 0 ? argument.substr(2) : "";
        const size_t sign = name.find('=');
        const bool joined = sign != std::string::npos;
        const std::string value = joined ? name.substr(sign + 1) : next ? next : "";
        if (joined) name.resize(sign);
        if (!joined && (is(name, {"generate", "check", "help"}) || is(name, usage_.own_flags))) {
            given_[name] = "";
            return 0;
        }
        if (!is(name, {"form", "size", "threads", "seed", "input", "repeat", "results"}) &&
            !is(name, usage_.own))
            throw Failure("cannot take " + quoted(argument), "there is no such option",
                          "see " + usage_.name + " --help");
        if (!joined && !next)
            throw Failure("cannot take " + quoted(argument), "its value is missing",
                          "see " + usage_.name + " --help");
        given_[name] = value;
        return joined ? 0 : 1;
    }

    void check_form() const {
        if (is(form(), usage_.forms)) return;
        std::string forms;
        for (const std::string &one : usage_.forms) forms += (forms.empty() ? "" : ", ") + one;
        throw Failure("cannot run form " + quoted(form()), usage_.name + " has no such form",
                      "choose from " + forms);
    }

    static bool is(const std::string &name, const std::vector<std::string> &names) {
        for (const std::string &one : names)
            if (name == one) return true;
        return false;
    }

    static bool parse(const std::string &text, int64_t &value) {
        errno = 0;
        char *end = nullptr;
        value = std::strtoll(text.c_str(), &end, 10);
        if (end == text.c_str() || errno) return false;
        const std::string unit = end, units = "KMGT";
        if (unit.empty()) return true;
        const size_t power = units.find(unit[0]);
        if (unit.size() != 1 || power == std::string::npos) return false;
        for (size_t i = 0; i <= power; i++)
            if (__builtin_mul_overflow(value, int64_t(1000), &value)) return false;
        return true;
    }

    Usage usage_;
    std::map<std::string, std::string> given_;
};

inline void print_usage(const Usage &usage) {
    std::string forms, own;
    for (const std::string &form : usage.forms) forms += (forms.empty() ? "" : "|") + form;
    for (const std::string &name : usage.own) own += " [--" + name + " VALUE]";
    for (const std::string &name : usage.own_flags) own += " [--" + name + "]";
    std::printf("%s: %s\n\nusage: %s [--form %s] [--size N] [--threads N] [--seed S]\n"
                "    [--input FILE | --generate] [--check] [--repeat N] [--results FILE]\n   %s\n\n"
                "N may end in K, M, G or T. One line of JSON for each repetition.\n",
                usage.name.c_str(), usage.summary.c_str(), usage.name.c_str(), forms.c_str(),
                own.c_str());
}

#endif
