// SPDX-License-Identifier: Apache-2.0
// Naive Bayes on reviews, each a line of a category, a tab and a text: train on four of five, then
// classify every fifth, as MPI_naivebayes of BigDataBench does with two files. Terms begin with a
// letter and end before a delimiter; a term unseen in a category has probability 1e-5; of equal
// categories the last one wins.
//
// Mended: probabilities are added as logarithms in double, where the original multiplies floats
// that become 0 in a long text, and the last term of a line counts without a delimiter after it.
#include <map>
#include <memory>
#include <string_view>

#include "data.hpp"
#include "program.hpp"
#include "words.hpp"

namespace {

constexpr double unseen_probability = 1e-5;
constexpr uint64_t fold = 5;

struct Review {
    std::string category;
    std::string_view text;
};

struct Reviews {
    std::shared_ptr<const std::string> bytes; // what the texts are views of, wherever this moves
    std::vector<Review> all;
    uint64_t skipped = 0;
};

// Split a file into reviews; lines without a tab are skipped, and counted.
Reviews read_reviews(const File &file) {
    require_memory(2.5L * file.size(), "the reviews");
    Reviews reviews;
    reviews.bytes = std::make_shared<const std::string>(contents(file));
    const std::string_view bytes = *reviews.bytes;
    for (size_t begin = 0; begin < bytes.size();) {
        const size_t newline = bytes.find('\n', begin);
        const size_t end = newline == std::string_view::npos ? bytes.size() : newline;
        const std::string_view line = bytes.substr(begin, end - begin);
        const size_t tab = line.find('\t');
        if (tab == std::string_view::npos)
            reviews.skipped += !line.empty();
        else
            reviews.all.push_back({std::string(line.substr(0, tab)), line.substr(tab + 1)});
        begin = end + 1;
    }
    return reviews;
}

inline bool is_delimiter(char c) {
    for (const char one : {' ', ',', '.', '!', '?', ':', ';', '"', '-', '/', '=', '(', ')', '\t'})
        if (c == one) return true;
    return false;
}

// Call take(term) for each term of a text.
template <bool prefetch, class Take> void split_terms(std::string_view text, Take take) {
    const char *at = text.data();
    const size_t n = text.size();
    std::string term;
    for (size_t i = 0; i < n;) {
        while (i < n && !is_letter((unsigned char)at[i])) i++;
        if (prefetch) __builtin_prefetch(at + i + text_prefetch_bytes);
        term.clear();
        while (i < n && !is_delimiter(at[i])) term += at[i++];
        if (!term.empty()) take(static_cast<const std::string &>(term));
    }
}

using Counts = std::map<std::string, uint64_t, WordLess>;
using Logarithms = std::map<std::string, double, WordLess>;

struct Tally {
    Counts documents, terms; // of each category
    Counts pairs;            // of each category and term
};

struct Model {
    Logarithms priors, pairs;
};

inline std::string pair_of(const std::string &category, const std::string &term) {
    return category + '\t' + term;
}

inline bool is_tested(uint64_t review) { return review % fold == fold - 1; }

template <bool prefetch> Tally tally(const Reviews &reviews, const Share &own) {
    Tally counts;
    for (uint64_t i = own.begin; i < own.end; i++) {
        if (is_tested(i)) continue;
        const Review &review = reviews.all[i];
        counts.documents[review.category]++;
        uint64_t &terms = counts.terms[review.category];
        split_terms<prefetch>(review.text, [&](const std::string &term) {
            counts.pairs[pair_of(review.category, term)]++;
            terms++;
        });
    }
    return counts;
}

void add(Counts &to, const Counts &from) {
    for (const auto &[key, count] : from) to[key] += count;
}

Model model_of(const Tally &tally) {
    Model model;
    uint64_t documents = 0;
    for (const auto &[category, count] : tally.documents) documents += count;
    for (const auto &[category, count] : tally.documents)
        model.priors[category] = std::log(double(count) / double(documents));
    for (const auto &[pair, count] : tally.pairs) {
        const uint64_t terms = tally.terms.at(pair.substr(0, pair.find('\t')));
        model.pairs.emplace_hint(model.pairs.end(), pair,
                                 std::log(double(count) / double(terms)));
    }
    return model;
}

template <bool prefetch> Model train(const Reviews &reviews, int threads) {
    std::vector<Tally> parts{size_t(threads)};
    parallel(threads, [&](int thread) {
        parts[size_t(thread)] = tally<prefetch>(reviews, Share(reviews.all.size(), thread, threads));
    });
    for (size_t i = 1; i < parts.size(); i++) {
        add(parts[0].documents, parts[i].documents);
        add(parts[0].terms, parts[i].terms);
        add(parts[0].pairs, parts[i].pairs);
    }
    return model_of(parts[0]);
}

template <bool prefetch> std::string classify(const Model &model, std::string_view text) {
    static const double unseen = std::log(unseen_probability);
    Logarithms scores = model.priors;
    split_terms<prefetch>(text, [&](const std::string &term) {
        for (auto &[category, score] : scores) {
            const auto hit = model.pairs.find(pair_of(category, term));
            score += hit == model.pairs.end() ? unseen : hit->second;
        }
    });
    auto best = scores.begin();
    for (auto it = scores.begin(); it != scores.end(); ++it)
        if (it->second >= best->second) best = it;
    return best == scores.end() ? "" : best->first;
}

// Return the categories of the reviews that were not trained on, in their order.
template <bool prefetch>
std::vector<std::string> classify_all(const Model &model, const Reviews &reviews, int threads) {
    std::vector<std::string> classes(reviews.all.size() / fold);
    parallel(threads, [&](int thread) {
        const Share own(classes.size(), thread, threads);
        for (uint64_t i = own.begin; i < own.end; i++)
            classes[i] = classify<prefetch>(model, reviews.all[fold * i + fold - 1].text);
    });
    return classes;
}

// A category's probabilities are those of its terms: together they are 1.
void check(const Model &model) {
    std::map<std::string, double> sums;
    for (const auto &[pair, logarithm] : model.pairs)
        sums[pair.substr(0, pair.find('\t'))] += std::exp(logarithm);
    for (const auto &[category, sum] : sums)
        if (std::fabs(sum - 1) > 1e-9)
            throw Mismatch("probabilities of the terms of a category are not 1 together");
}

void bayes(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 5000000));
    const Reviews reviews = [&] { // the file is gone once it is read
        return read_reviews(input_of(options, size, [&](Writer &out) {
            generate_reviews(out, size, options.seed());
        }));
    }();
    for (int64_t i = 0; i < options.repeat(); i++) {
        Model model;
        std::vector<std::string> classes;
        const int threads = options.threads();
        const double seconds = measured([&] {
            model = options.prefetches() ? train<true>(reviews, threads)
                                         : train<false>(reviews, threads);
            classes = options.prefetches() ? classify_all<true>(model, reviews, threads)
                                           : classify_all<false>(model, reviews, threads);
        });
        if (options.has("check")) check(model);
        uint64_t correct = 0;
        for (size_t j = 0; j < classes.size(); j++)
            correct += classes[j] == reviews.all[fold * j + fold - 1].category;
        if (options.has("results")) {
            const File file = create(options.text("results"));
            Writer out(file);
            for (const std::string &category : classes) out.add(category + '\n');
            out.flush();
        }
        Report(options, i, seconds)
            .add("bytes", uint64_t(reviews.bytes->size())).add("reviews", uint64_t(reviews.all.size()))
            .add("skipped", reviews.skipped).add("classified", uint64_t(classes.size()))
            .add("correct", correct).add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"bayes", "train on reviews and classify; --size is their bytes",
                        {"original", "prefetch"}, {}, {}}, bayes);
}
