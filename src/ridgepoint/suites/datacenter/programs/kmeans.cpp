// SPDX-License-Identifier: Apache-2.0
// K-means by Lloyd's iteration in float32, as the code of Northwestern University (W.-K. Liao) in
// BigDataBench: the first K points are the seeds, squared Euclidean distance, and an end once the
// fraction of points that changed their cluster is at most the threshold, or after 500 iterations.
//
// Mended: an empty cluster keeps its centre, as in the sequential original; in the MPI one it
// becomes the zero vector. Sums are in double, so that they hold as many points as memory does.
#include "data.hpp"
#include "program.hpp"

namespace {

constexpr int64_t most_iterations = 500;
constexpr size_t points_ahead = 16;

struct Points {
    std::vector<float> coordinates;
    size_t dimensions = 0;
    size_t count() const { return dimensions ? coordinates.size() / dimensions : 0; }
    const float *at(size_t i) const { return coordinates.data() + i * dimensions; }
};

[[noreturn]] void refuse(const File &file, uint64_t line, const std::string &why) {
    throw Failure("cannot read " + quoted(file.name()), "line " + std::to_string(line) + " " + why,
                  "give a point on each line, its coordinates between blanks");
}

// Append the numbers of a line; return how many they are.
size_t parse_line(const std::string &line, std::vector<float> &to, const File &file,
                  uint64_t number) {
    size_t found = 0;
    const char *at = line.c_str(), *end = at + line.size();
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
        if (at == end) return found;
        char *after = nullptr;
        const float value = std::strtof(at, &after);
        const bool whole = after == end || *after == ' ' || *after == '\t' || *after == '\r';
        if (after == at || !whole || !std::isfinite(value))
            refuse(file, number, "holds what is no finite number");
        to.push_back(value);
        at = after;
        found++;
    }
}

Points read_points(const File &file) {
    // A coordinate has 2 bytes of text at least and 4 in memory; std::vector doubles as it grows.
    require_memory(6.0L * file.size(), "the points");
    Points points;
    Reader reader(file);
    std::string line;
    uint64_t number = 0;
    for (int c = 0; c >= 0;) {
        line.clear();
        for (c = reader.next(); c >= 0 && c != '\n'; c = reader.next()) line += char(c);
        number++;
        const size_t found = parse_line(line, points.coordinates, file, number);
        if (found && !points.dimensions) points.dimensions = found;
        if (found && found != points.dimensions)
            refuse(file, number, "has " + std::to_string(found) + " coordinates, others have " +
                                     std::to_string(points.dimensions));
    }
    return points;
}

struct Clusters {
    std::vector<float> centres;
    std::vector<int> membership;
    int64_t iterations = 0;
};

inline float squared_distance(const float *a, const float *b, size_t dimensions) {
    float sum = 0;
    for (size_t d = 0; d < dimensions; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

int nearest(const float *point, const std::vector<float> &centres, size_t k, size_t dimensions) {
    int best = 0;
    float least = squared_distance(point, centres.data(), dimensions);
    for (size_t i = 1; i < k; i++) {
        const float distance = squared_distance(point, centres.data() + i * dimensions, dimensions);
        if (distance < least) {
            least = distance;
            best = int(i);
        }
    }
    return best;
}

// What a thread found out about its points.
struct Sums {
    std::vector<double> sums;
    std::vector<uint64_t> sizes;
    uint64_t changed = 0;
};

template <bool prefetch>
void assign(const Points &points, const Share &own, size_t k, Clusters &clusters, Sums &sums) {
    const size_t dimensions = points.dimensions;
    sums.sums.assign(k * dimensions, 0);
    sums.sizes.assign(k, 0);
    sums.changed = 0;
    for (size_t i = own.begin; i < own.end; i++) {
        const float *point = points.at(i);
        if (prefetch) __builtin_prefetch(point + points_ahead * dimensions);
        const int cluster = nearest(point, clusters.centres, k, dimensions);
        sums.changed += clusters.membership[i] != cluster;
        clusters.membership[i] = cluster;
        sums.sizes[size_t(cluster)]++;
        double *sum = &sums.sums[size_t(cluster) * dimensions];
        for (size_t d = 0; d < dimensions; d++) sum[d] += point[d];
    }
}

// Move centres to the means of their points; return how many points changed their cluster.
uint64_t move_centres(const std::vector<Sums> &parts, size_t k, size_t dimensions,
                      std::vector<float> &centres) {
    uint64_t changed = 0;
    for (const Sums &part : parts) changed += part.changed;
    for (size_t i = 0; i < k; i++) {
        uint64_t size = 0;
        for (const Sums &part : parts) size += part.sizes[i];
        if (size == 0) continue;
        for (size_t d = 0; d < dimensions; d++) {
            double sum = 0;
            for (const Sums &part : parts) sum += part.sums[i * dimensions + d];
            centres[i * dimensions + d] = float(sum / double(size));
        }
    }
    return changed;
}

template <bool prefetch>
Clusters find_clusters(const Points &points, size_t k, double threshold, int threads) {
    const size_t n = points.count(), dimensions = points.dimensions;
    Clusters clusters;
    clusters.centres.assign(points.at(0), points.at(k));
    clusters.membership.assign(n, -1);
    std::vector<Sums> parts{size_t(threads)};
    uint64_t changed = n;
    while (double(changed) / double(n) > threshold && clusters.iterations < most_iterations) {
        parallel(threads, [&](int thread) {
            assign<prefetch>(points, Share(n, thread, threads), k, clusters, parts[size_t(thread)]);
        });
        changed = move_centres(parts, k, dimensions, clusters.centres);
        clusters.iterations++;
    }
    return clusters;
}

// Return the sum of squared distances of all points to their centres.
double inertia(const Points &points, const Clusters &clusters) {
    double sum = 0;
    for (size_t i = 0; i < points.count(); i++) {
        const size_t cluster = size_t(clusters.membership[i]);
        sum += squared_distance(points.at(i), clusters.centres.data() + cluster * points.dimensions,
                                points.dimensions);
    }
    return sum;
}

// Compute the means of the clusters again, in one pass, and compare.
void check(const Points &points, const Clusters &clusters, size_t k) {
    const size_t dimensions = points.dimensions;
    std::vector<long double> sums(k * dimensions, 0);
    std::vector<uint64_t> sizes(k, 0);
    for (size_t i = 0; i < points.count(); i++) {
        const size_t cluster = size_t(clusters.membership[i]);
        sizes[cluster]++;
        for (size_t d = 0; d < dimensions; d++) sums[cluster * dimensions + d] += points.at(i)[d];
    }
    for (size_t i = 0; i < k * dimensions; i++) {
        const uint64_t size = sizes[i / dimensions];
        if (size == 0) continue;
        const double mean = double(sums[i] / size), found = clusters.centres[i];
        if (std::fabs(found - mean) > 1e-6 * (1 + std::fabs(mean)))
            throw Mismatch("a centre is not the mean of its points");
    }
}

void write_results(const Points &points, const Clusters &clusters, const std::string &path) {
    const File file = create(path);
    Writer out(file);
    for (const int cluster : clusters.membership) out.add(std::to_string(cluster) + '\n');
    for (size_t i = 0; i < clusters.centres.size(); i++) {
        char text[40];
        const bool last = (i + 1) % points.dimensions == 0;
        std::snprintf(text, sizeof text, "%.9g%c", double(clusters.centres[i]), last ? '\n' : ' ');
        out.add(text);
    }
    out.flush();
}

void kmeans(const Options &options) {
    const uint64_t size = uint64_t(options.number("size", 100000));
    const size_t k = size_t(options.number("clusters", 8, 1, 1 << 20));
    const double threshold = options.fraction("threshold", 0.001);
    const Points points = [&] { // the text is gone once it is read
        return read_points(input_of(options, 100.0L * size, [&](Writer &out) {
            generate_points(out, size, options.seed());
        }));
    }();
    if (points.count() < k)
        throw Failure("cannot find " + std::to_string(k) + " clusters",
                      "there are " + std::to_string(points.count()) + " points",
                      "give fewer --clusters, or more points");
    double sum = 0; // the same each time
    for (int64_t i = 0; i < options.repeat(); i++) {
        Clusters clusters;
        const double seconds = measured([&] {
            clusters = options.prefetches()
                           ? find_clusters<true>(points, k, threshold, options.threads())
                           : find_clusters<false>(points, k, threshold, options.threads());
        });
        if (i == 0) sum = inertia(points, clusters);
        if (options.has("check")) check(points, clusters, k);
        if (options.has("results")) write_results(points, clusters, options.text("results"));
        Report(options, i, seconds)
            .add("points", uint64_t(points.count())).add("dimensions", uint64_t(points.dimensions))
            .add("clusters", uint64_t(k)).add("iterations", clusters.iterations)
            .add("inertia", sum).add("checked", options.has("check")).print();
    }
}

} // namespace

int main(int argc, char **argv) {
    return run_program(argc, argv,
                       {"kmeans", "cluster points; --size is how many",
                        {"original", "prefetch"}, {"clusters", "threshold"}, {}}, kmeans);
}
