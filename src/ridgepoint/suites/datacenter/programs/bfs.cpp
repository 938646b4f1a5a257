// SPDX-License-Identifier: Apache-2.0
// Breadth-first search of an undirected graph from several roots, level by level from the top, like
// kernel 2 of Graph500 (its specification 2.0), with its five checks of each tree.
#include <atomic>
#include <limits>
#include <memory>

#include "data.hpp"
#include "program.hpp"

namespace {

using Vertex = uint32_t;
constexpr Vertex nobody = std::numeric_limits<Vertex>::max();
constexpr size_t edges_ahead = 16;

// Neighbours of v are edges[first[v]] ... edges[first[v + 1] - 1]; without loops, both ways.
struct Graph {
    std::vector<uint64_t> first;
    std::vector<Vertex> edges;
    uint64_t vertices() const { return first.size() - 1; }
};

using Edges = std::vector<std::pair<Vertex, Vertex>>;

Edges read_edges(const File &file) {
    // "0 1\n" is an edge: 4 bytes of text, 8 here in a vector that doubles, 8 in the graph.
    require_memory(6.0L * file.size(), "the graph");
    Edges edges;
    Reader reader(file);
    uint64_t line = 1, number = 0, ends[2];
    int found = 0, digits = 0;
    const auto refuse = [&](const std::string &why) {
        throw Failure("cannot read " + quoted(file.name()), "line " + std::to_string(line) + why,
                      "give two numbers of vertices on each line, below 4294967295");
    };
    for (int c = 0; c >= 0;) {
        c = reader.next();
        if (c >= '0' && c <= '9') {
            number = 10 * number + uint64_t(c - '0');
            if (number >= nobody) refuse(" has a number that is too large");
            digits++;
            continue;
        }
        if (c >= 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n')
            refuse(" holds what is no number");
        if (digits > 0) {
            if (found == 2) refuse(" has more than two numbers");
            ends[found++] = number;
            number = 0;
            digits = 0;
        }
        if (c >= 0 && c != '\n') continue;
        if (found == 1) refuse(" has one number");
        if (found == 2) edges.emplace_back(Vertex(ends[0]), Vertex(ends[1]));
        found = 0;
        line++;
    }
    return edges;
}

Edges edges_of(const Options &options) {
    if (options.has("input")) return read_edges(File::open(options.text("input")));
    const uint64_t size = uint64_t(options.number("size", 1 << 16, 1, int64_t(1) << 31));
    const uint64_t n = uint64_t(1) << exponent_of(size);
    require_memory(16.0L * edge_factor * n, "a graph of that size");
    Edges edges;
    edges.reserve(edge_factor * n);
    kronecker_edges(size, options.seed(), [&](uint64_t from, uint64_t to) {
        edges.emplace_back(Vertex(from), Vertex(to));
    });
    return edges;
}

Graph graph_of(const Edges &edges) {
    uint64_t n = 0;
    for (const auto &[from, to] : edges) n = std::max<uint64_t>(n, std::max(from, to) + uint64_t(1));
    require_memory(16.0L * n + 8.0L * edges.size(), "the graph");
    Graph graph;
    graph.first.assign(n + 1, 0);
    for (const auto &[from, to] : edges) {
        if (from == to) continue;
        graph.first[from + uint64_t(1)]++;
        graph.first[to + uint64_t(1)]++;
    }
    for (uint64_t v = 0; v < n; v++) graph.first[v + 1] += graph.first[v];
    graph.edges.resize(graph.first[n]);
    std::vector<uint64_t> place(graph.first.begin(), graph.first.end() - 1);
    for (const auto &[from, to] : edges) {
        if (from == to) continue;
        graph.edges[place[from]++] = to;
        graph.edges[place[to]++] = from;
    }
    return graph;
}

// Return different vertices with neighbours, drawn at random as Graph500 draws its search keys.
std::vector<Vertex> choose_roots(const Graph &graph, uint64_t count, uint64_t seed) {
    std::vector<Vertex> candidates;
    for (uint64_t v = 0; v < graph.vertices(); v++)
        if (graph.first[v + 1] > graph.first[v]) candidates.push_back(Vertex(v));
    Random random(seed + 1);
    if (count > candidates.size()) count = candidates.size();
    for (uint64_t i = 0; i < count; i++)
        std::swap(candidates[i], candidates[i + random.below(candidates.size() - i)]);
    candidates.resize(count);
    return candidates;
}

// Parents are set by whichever thread comes first: the tree may differ, the levels do not.
class Search {
  public:
    Search(const Graph &graph, int threads)
        : graph_(graph), threads_(threads), parents_(new std::atomic<Vertex>[graph.vertices()]),
          found_(size_t(threads)) {}

    template <bool prefetch> void from(Vertex root) {
        for (uint64_t v = 0; v < graph_.vertices(); v++)
            parents_[v].store(nobody, std::memory_order_relaxed);
        parents_[root].store(root, std::memory_order_relaxed);
        frontier_.assign(1, root);
        levels_ = 0;
        while (!frontier_.empty()) {
            // Threads are not worth their start for the few vertices of the first levels.
            const int threads = frontier_.size() < 1024 ? 1 : threads_;
            parallel(threads, [&](int thread) { expand<prefetch>(thread, threads); });
            frontier_.clear();
            for (std::vector<Vertex> &own : found_) {
                frontier_.insert(frontier_.end(), own.begin(), own.end());
                own.clear();
            }
            levels_++;
        }
    }

    Vertex parent(uint64_t v) const { return parents_[v].load(std::memory_order_relaxed); }
    uint64_t levels() const { return levels_; }

  private:
    template <bool prefetch> void expand(int thread, int threads) {
        const Share own(frontier_.size(), thread, threads);
        std::vector<Vertex> &found = found_[size_t(thread)];
        for (uint64_t i = own.begin; i < own.end; i++) {
            const Vertex v = frontier_[i];
            const uint64_t end = graph_.first[v + uint64_t(1)];
            for (uint64_t e = graph_.first[v]; e < end; e++) {
                if (prefetch && e + edges_ahead < graph_.edges.size())
                    __builtin_prefetch(&parents_[graph_.edges[e + edges_ahead]], 1);
                const Vertex neighbour = graph_.edges[e];
                std::atomic<Vertex> &parent = parents_[neighbour];
                if (parent.load(std::memory_order_relaxed) != nobody) continue;
                Vertex expected = nobody;
                if (parent.compare_exchange_strong(expected, v, std::memory_order_relaxed))
                    found.push_back(neighbour);
            }
        }
    }

    const Graph &graph_;
    int threads_;
    std::unique_ptr<std::atomic<Vertex>[]> parents_;
    std::vector<Vertex> frontier_;
    std::vector<std::vector<Vertex>> found_;
    uint64_t levels_ = 0;
};

constexpr uint64_t unreached = std::numeric_limits<uint64_t>::max();

// Return each vertex's level in the tree of its parents; what has a cycle or no root is no tree.
std::vector<uint64_t> levels_of(const Graph &graph, const Search &search, Vertex root) {
    std::vector<uint64_t> levels(graph.vertices(), unreached);
    levels[root] = 0;
    std::vector<uint64_t> path;
    for (uint64_t v = 0; v < graph.vertices(); v++) {
        if (search.parent(v) == nobody) continue;
        uint64_t at = v;
        for (; levels[at] == unreached; at = search.parent(at)) {
            path.push_back(at);
            if (path.size() > graph.vertices() || search.parent(at) == nobody)
                throw Mismatch("the parents are no tree");
        }
        for (uint64_t level = levels[at]; !path.empty(); path.pop_back())
            levels[path.back()] = ++level;
    }
    return levels;
}

// The checks of Graph500: a tree from the root; each of its edges is one of the graph's and joins
// neighbouring levels; each edge of the graph joins levels that differ by 1 at most, or none.
void check(const Graph &graph, const Search &search, Vertex root) {
    const std::vector<uint64_t> levels = levels_of(graph, search, root);
    if (search.parent(root) != root) throw Mismatch("the root is not its own parent");
    for (uint64_t v = 0; v < graph.vertices(); v++) {
        bool joined = v == root || levels[v] == unreached;
        for (uint64_t e = graph.first[v]; e < graph.first[v + 1]; e++) {
            const uint64_t other = levels[graph.edges[e]];
            joined = joined || (graph.edges[e] == search.parent(v) && other + 1 == levels[v]);
            if ((levels[v] == unreached) != (other == unreached))
                throw Mismatch("a neighbour was not reached");
            if (levels[v] != unreached && levels[v] > other + 1)
                throw Mismatch("an edge leaves out a level");
        }
        if (!joined) throw Mismatch("a parent is no neighbour");
    }
}

struct Totals {
    uint64_t reached = 0, traversed = 0, levels = 0;
};

void add(Totals &totals, const Graph &graph, const Search &search) {
    uint64_t ends = 0;
    for (uint64_t v = 0; v < graph.vertices(); v++) {
        if (search.parent(v) == nobody) continue;
        totals.reached++;
        ends += graph.first[v + 1] - graph.first[v];
    }
    totals.traversed += ends / 2;
    totals.levels += search.levels();
}

// Write the levels of one search on a line, -1 for what it does not reach.
void write_levels(Writer &out, const Graph &graph, const Search &search, Vertex root) {
    out.add(std::to_string(root) + ':');
    for (const uint64_t level : levels_of(graph, search, root))
        out.add(level == unreached ? " -1" : ' ' + std::to_string(level));
    out.add('\n');
}

void bfs(const Options &options) {
    const Graph graph = [&] { // the list of edges is gone once it is sorted
        return graph_of(edges_of(options));
    }();
    require_memory(20.0L * graph.vertices(), "a search");
    const uint64_t wanted = uint64_t(options.number("roots", 16));
    const std::vector<Vertex> roots = choose_roots(graph, wanted, options.seed());
    Totals totals; // the same each time
    for (int64_t i = 0; i < options.repeat(); i++) {
        Search search(graph, options.threads());
        double seconds = 0;
        const File file = options.has("results") ? create(options.text("results")) : File::memory();
        Writer out(file);
        for (const Vertex root : roots) {
            seconds += measured([&] {
                options.prefetches() ? search.from<true>(root) : search.from<false>(root);
            });
            if (options.has("check")) check(graph, search, root);
            if (options.has("results")) write_levels(out, graph, search, root);
            if (i == 0) add(totals, graph, search);
        }
        out.flush();
        Report(options, i, seconds)
            .add("vertices", graph.vertices()).add("edges", uint64_t(graph.edges.size() / 2))
            .add("searches", uint64_t(roots.size())).add("reached", totals.reached)
            .add("levels", totals.levels).add("traversed", totals.traversed)
            .add("edges_per_s", double(totals.traversed) / seconds)
            .add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"bfs", "search a graph breadth first; --size is its vertices",
                        {"original", "prefetch"}, {"roots"}, {}}, bfs);
}
