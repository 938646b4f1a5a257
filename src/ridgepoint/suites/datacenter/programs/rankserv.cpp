// SPDX-License-Identifier: Apache-2.0
// Answer queries by ranked search: the best documents by Okapi BM25 (Robertson et al., TREC-3,
// 1994) over an inverted index, term at a time, with threads that take queries from one queue.
//
// This is a program of our own. No source of the paper's RankServ, "a simple search engine service"
// of which its 20 * 100 requests and its many threads are known, is to be found.
#include <atomic>
#include <unordered_map>

#include "data.hpp"
#include "program.hpp"
#include "words.hpp"

namespace {

constexpr double k1 = 1.2, b = 0.75;
constexpr size_t postings_ahead = 16;

struct Posting {
    uint32_t document, frequency;
};

struct Index {
    std::unordered_map<std::string, uint32_t> terms;
    std::vector<std::vector<Posting>> postings;
    std::vector<double> norms; // k1 (1 - b + b length / mean length), for each document
    uint64_t words = 0;
};

using Query = std::vector<uint32_t>; // terms, as often as they were asked for

struct Hit {
    double score;
    uint32_t document;
};

// A better hit has a higher score, or an equal one and a lower number.
inline bool is_better(const Hit &one, const Hit &other) {
    if (one.score != other.score) return one.score > other.score;
    return one.document < other.document;
}

// Index a file of one document on each line.
Index index_of(const File &file) {
    // A word takes 2 bytes of text at least and a posting of 8, in a vector that doubles.
    require_memory(8.0L * file.size(), "the index");
    Index index;
    std::vector<uint32_t> lengths;
    Reader reader(file);
    std::string word;
    uint32_t length = 0;
    const auto take = [&] {
        if (word.empty()) return;
        const auto [place, is_new] = index.terms.try_emplace(word, uint32_t(index.terms.size()));
        if (is_new) index.postings.emplace_back();
        std::vector<Posting> &list = index.postings[place->second];
        const uint32_t document = uint32_t(lengths.size());
        if (list.empty() || list.back().document != document) list.push_back({document, 0});
        list.back().frequency++;
        length++;
        word.clear();
    };
    bool inside = false; // of a line
    for (int c = reader.next(); c >= 0; c = reader.next()) {
        inside = c != '\n';
        if (is_word_character(c)) {
            word += lowered(c);
            continue;
        }
        take();
        if (c != '\n') continue;
        lengths.push_back(length);
        index.words += length;
        length = 0;
    }
    if (inside) {
        take();
        lengths.push_back(length);
        index.words += length;
    }
    const double mean = lengths.empty() ? 0 : double(index.words) / double(lengths.size());
    for (const uint32_t own : lengths)
        index.norms.push_back(k1 * (1 - b + (mean > 0 ? b * own / mean : 0)));
    return index;
}

// Return the terms of a line that the index knows.
Query query_of(const Index &index, const std::string &line) {
    Query query;
    std::string word;
    for (size_t i = 0; i <= line.size(); i++) {
        const int c = i < line.size() ? (unsigned char)line[i] : ' ';
        if (is_word_character(c)) {
            word += lowered(c);
            continue;
        }
        const auto found = index.terms.find(word);
        if (found != index.terms.end()) query.push_back(found->second);
        word.clear();
    }
    return query;
}

std::vector<Query> read_queries(const Index &index, const std::string &path) {
    const std::string text = contents(File::open(path));
    std::vector<Query> queries;
    for (size_t begin = 0; begin < text.size();) {
        const size_t newline = text.find('\n', begin);
        const size_t end = newline == std::string::npos ? text.size() : newline;
        queries.push_back(query_of(index, text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return queries;
}

// Make queries of 1 to 4 words with the frequencies that words have in generated documents.
std::vector<Query> make_queries(const Index &index, uint64_t count, uint64_t seed) {
    Random random(seed + 1); // not the numbers that the documents were made of
    const Words words;
    std::vector<Query> queries(count);
    for (Query &query : queries) {
        std::string line;
        for (uint64_t left = 1 + random.below(4); left > 0; left--)
            line += words.at(random.rank(vocabulary_bits)) + ' ';
        query = query_of(index, line);
    }
    return queries;
}

// Searches, with room for the scores of all documents.
class Searcher {
  public:
    Searcher(const Index &index, size_t k) : index_(index), k_(k), scores_(index.norms.size(), 0) {}

    template <bool prefetch> std::vector<Hit> search(const Query &query) {
        const double documents = double(index_.norms.size());
        for (const uint32_t term : query) {
            const std::vector<Posting> &list = index_.postings[term];
            const double frequency = double(list.size());
            score<prefetch>(list, std::log(1 + (documents - frequency + 0.5) / (frequency + 0.5)));
        }
        std::vector<Hit> best;
        for (const uint32_t document : touched_) {
            keep(best, {scores_[document], document});
            scores_[document] = 0;
        }
        touched_.clear();
        return best;
    }

  private:
    template <bool prefetch> void score(const std::vector<Posting> &list, double weight) {
        const Posting *postings = list.data();
        const double *norms = index_.norms.data();
        double *scores = scores_.data();
        const size_t n = list.size();
        for (size_t i = 0; i < n; i++) {
            if (prefetch && i + postings_ahead < n) {
                __builtin_prefetch(scores + postings[i + postings_ahead].document, 1);
                __builtin_prefetch(norms + postings[i + postings_ahead].document);
            }
            const uint32_t document = postings[i].document;
            const double frequency = postings[i].frequency;
            if (scores[document] == 0) touched_.push_back(document); // no score is 0
            scores[document] += weight * frequency * (k1 + 1) / (frequency + norms[document]);
        }
    }

    // Insert a hit where it belongs among the k best.
    void keep(std::vector<Hit> &best, const Hit &hit) const {
        if (best.size() == k_) {
            if (!is_better(hit, best.back())) return;
            best.pop_back();
        }
        size_t at = best.size();
        best.push_back(hit);
        for (; at > 0 && is_better(hit, best[at - 1]); at--) best[at] = best[at - 1];
        best[at] = hit;
    }

    const Index &index_;
    size_t k_;
    std::vector<double> scores_;
    std::vector<uint32_t> touched_;
};

using Answers = std::vector<std::vector<Hit>>;

template <bool prefetch>
Answers answer(const Index &index, const std::vector<Query> &queries, size_t k, int threads) {
    Answers answers(queries.size());
    std::atomic<size_t> next{0};
    parallel(threads, [&](int) {
        Searcher searcher(index, k);
        for (size_t i = next++; i < queries.size(); i = next++)
            answers[i] = searcher.search<prefetch>(queries[i]);
    });
    return answers;
}

// Score a document by looking up its postings, and compare with what was found.
void check(const Index &index, const std::vector<Query> &queries, const Answers &answers) {
    const double documents = double(index.norms.size());
    for (size_t i = 0; i < queries.size(); i++)
        for (const Hit &hit : answers[i]) {
            double score = 0;
            for (const uint32_t term : queries[i]) {
                const auto &list = index.postings[term];
                const double n = double(list.size());
                for (const Posting &posting : list)
                    if (posting.document == hit.document) {
                        const double tf = posting.frequency;
                        score += std::log((documents + 1) / (n + 0.5)) * tf * (k1 + 1) /
                                 (tf + index.norms[hit.document]);
                    }
            }
            if (!(std::fabs(score - hit.score) <= 1e-9 * score))
                throw Mismatch("the score of a document is another");
        }
}

void write_results(const Answers &answers, const std::string &path) {
    const File file = create(path);
    Writer out(file);
    for (const std::vector<Hit> &hits : answers) {
        std::string line;
        for (const Hit &hit : hits) {
            char text[60];
            std::snprintf(text, sizeof text, "%s%" PRIu32 ":%.17g", line.empty() ? "" : " ",
                          hit.document, hit.score);
            line += text;
        }
        out.add(line + '\n');
    }
    out.flush();
}

void rankserv(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 20000, 1, 4000000000));
    const size_t k = size_t(options.number("top", 10, 1, 1000000));
    const uint64_t count = uint64_t(options.number("requests", 2000)); // the paper's 20 * 100
    const Index index = index_of(input_of(options, 700.0L * size, [&](Writer &out) {
        generate_documents(out, size, options.seed());
    }));
    require_memory(100.0L * count, "the requests");
    const std::vector<Query> queries = options.has("queries")
                                           ? read_queries(index, options.text("queries"))
                                           : make_queries(index, count, options.seed());
    uint64_t hits = 0, checksum = 0; // the same each time
    for (int64_t i = 0; i < options.repeat(); i++) {
        Answers answers;
        const double seconds = measured([&] {
            answers = options.prefetches() ? answer<true>(index, queries, k, options.threads())
                                           : answer<false>(index, queries, k, options.threads());
        });
        if (options.has("check")) check(index, queries, answers);
        if (options.has("results")) write_results(answers, options.text("results"));
        for (size_t j = 0; i == 0 && j < answers.size(); j++)
            for (const Hit &hit : answers[j]) {
                hits++;
                checksum = mixed(checksum, hit.document);
            }
        Report(options, i, seconds)
            .add("documents", uint64_t(index.norms.size())).add("terms", uint64_t(index.terms.size()))
            .add("requests", uint64_t(queries.size())).add("hits", hits).add("checksum", checksum)
            .add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"rankserv", "answer queries by ranked search; --size is how many documents",
                        {"original", "prefetch"}, {"top", "requests", "queries"}, {}}, rankserv);
}
