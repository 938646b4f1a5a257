// SPDX-License-Identifier: Apache-2.0
// Sorting a file of whole numbers of 64 bits in blocks, whoever sorts a block: threads or ranks.
// Several blocks become runs in temporary files, merged at the end by a linear scan over their
// heads.
#ifndef DATACENTER_SORT_FILE_HPP
#define DATACENTER_SORT_FILE_HPP

#include <limits>
#include <memory>

#include "data.hpp"
#include "program.hpp"

constexpr int64_t original_block = 50000000; // integers that the original sorts at once

// Reads integers, as text or as 8 bytes each.
class Integers {
  public:
    Integers(const File &file, bool binary) : file_(file), reader_(file), binary_(binary) {
        if (binary && file.size() % 8)
            throw Failure("cannot read " + quoted(file.name()),
                          "its size is not a multiple of 8 byte", "leave --binary out for text");
    }

    bool next(int64_t &value) { return binary_ ? next_binary(value) : next_text(value); }

  private:
    bool next_binary(int64_t &value) {
        uint64_t bits = 0;
        for (int i = 0; i < 8; i++) {
            const int byte = reader_.next();
            if (byte < 0) return false;
            bits |= uint64_t(byte) << (8 * i);
        }
        value = int64_t(bits);
        return true;
    }

    bool next_text(int64_t &value) {
        int c = reader_.next();
        while (c == ' ' || (c >= '\t' && c <= '\r')) {
            line_ += c == '\n';
            c = reader_.next();
        }
        if (c < 0) return false;
        const bool negative = c == '-';
        if (c == '-' || c == '+') c = reader_.next();
        if (c < '0' || c > '9') refuse("no integer");
        // Below zero, where there is room for one more than above.
        constexpr int64_t least = std::numeric_limits<int64_t>::min();
        int64_t sum = 0;
        for (; c >= '0' && c <= '9'; c = reader_.next()) {
            const int64_t digit = c - '0';
            if (sum < (least + digit) / 10) refuse("an integer of more than 64 bits");
            sum = 10 * sum - digit;
        }
        if (c >= 0 && c != ' ' && !(c >= '\t' && c <= '\r')) refuse("no integer");
        if (!negative && sum == least) refuse("an integer of more than 64 bits");
        line_ += c == '\n';
        value = negative ? sum : -sum;
        return true;
    }

    [[noreturn]] void refuse(const std::string &what) const {
        throw Failure("cannot read " + quoted(file_.name()),
                      "line " + std::to_string(line_) + " holds " + what,
                      "give whole numbers of 64 bits between blanks or newlines");
    }

    const File &file_;
    Reader reader_;
    bool binary_;
    uint64_t line_ = 1;
};

// Takes the sorted integers.
struct Output {
    uint64_t count = 0, checksum = 0, sum = 0;
    int64_t first = 0, last = 0;
    bool sorted = true;
    std::unique_ptr<File> file;
    std::unique_ptr<Writer> writer;

    explicit Output(const Options &options) {
        if (!options.has("results")) return;
        file = std::make_unique<File>(create(options.text("results")));
        writer = std::make_unique<Writer>(*file);
    }

    void take(int64_t value) {
        if (count++ == 0) first = value;
        else if (value < last) sorted = false;
        last = value;
        checksum = mixed(checksum, uint64_t(value));
        sum += uint64_t(value);
        if (writer) writer->add(std::to_string(value) + '\n');
    }
};

// Merge runs by a linear scan over their heads, as the original does.
inline void merge_runs(const std::vector<std::unique_ptr<File>> &runs, Output &output) {
    std::vector<std::unique_ptr<Integers>> sources;
    std::vector<int64_t> heads;
    for (const auto &run : runs) {
        auto source = std::make_unique<Integers>(*run, true);
        int64_t head;
        if (!source->next(head)) continue;
        sources.push_back(std::move(source));
        heads.push_back(head);
    }
    while (!heads.empty()) {
        size_t least = 0;
        for (size_t i = 1; i < heads.size(); i++)
            if (heads[i] < heads[least]) least = i;
        output.take(heads[least]);
        if (!sources[least]->next(heads[least])) {
            sources.erase(sources.begin() + int64_t(least));
            heads.erase(heads.begin() + int64_t(least));
        }
    }
}

struct Totals {
    uint64_t count = 0, sum = 0; // sum of what was read, modulo 2^64
};

// Sort what a file holds in blocks, each by sort_block(values, room, count).
template <class SortBlock>
Totals sort_file(const File &input, bool binary, int64_t block, Output &output,
                 SortBlock sort_block) {
    Totals totals;
    Integers integers(input, binary);
    std::vector<int64_t> values, room;
    std::vector<std::unique_ptr<File>> runs;
    for (bool more = true; more;) {
        values.clear();
        int64_t value;
        while (int64_t(values.size()) < block && (more = integers.next(value))) {
            values.push_back(value);
            totals.sum += uint64_t(value);
        }
        if (values.empty()) break;
        totals.count += values.size();
        room.resize(values.size());
        sort_block(values.data(), room.data(), int64_t(values.size()));
        if (!more && runs.empty()) {
            for (const int64_t sorted : values) output.take(sorted);
            return totals;
        }
        runs.push_back(std::make_unique<File>(File::temporary()));
        Writer run(*runs.back());
        for (const int64_t sorted : values)
            run.add(reinterpret_cast<const char *>(&sorted), sizeof sorted);
        run.flush();
    }
    merge_runs(runs, output);
    return totals;
}

// Refuse numbers that memory does not hold: those of a block are held twice.
inline void require_block(const File &input, bool binary, int64_t block) {
    // A number takes 2 bytes of text at least.
    const long double most = (long double)input.size() / (binary ? 8 : 2);
    require_memory(16 * (most < block ? most : block), "a block of integers");
}

// Return the file that --input names, or one in memory.
inline File integers_of(const Options &options, bool binary) {
    const uint64_t size = uint64_t(options.number("size", 1000000));
    return input_of(options, 21.0L * size, [&](Writer &out) {
        generate_integers(out, size, options.seed(), binary);
    });
}

inline void check_sorted(const Output &output, const Totals &totals) {
    if (!output.sorted || output.count != totals.count || output.sum != totals.sum)
        throw Mismatch("the output is not the input in ascending order");
}

#endif
