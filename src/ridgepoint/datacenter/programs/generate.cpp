// SPDX-License-Identifier: Apache-2.0
// Write seeded data for the workloads to a file.
#include <sys/statvfs.h>

#include "data.hpp"
#include "program.hpp"

namespace {

struct Kind {
    const char *name;
    long double most_bytes; // for each unit of --size
};

const Kind kinds[] = {
    {"text", 1},
    {"integers", 21},
    {"reviews", 1.01L},
    {"points", 10 * point_dimensions},
    {"documents", 7 * most_document_words},
    {"graph", 2 * edge_factor * 22},
};

const Kind &kind_of(const std::string &name) {
    std::string names;
    for (const Kind &kind : kinds) {
        if (name == kind.name) return kind;
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    }
    throw Failure("cannot generate " + quoted(name), "there is no such kind of data",
                  "choose from " + names);
}

void require_disk(const std::string &path, long double bytes) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    struct statvfs disk;
    if (::statvfs(folder.c_str(), &disk))
        throw Failure("cannot write " + quoted(path), system_error(), "name a folder that exists");
    const long double room = (long double)disk.f_bavail * disk.f_frsize;
    if (bytes > room) {
        char sizes[120];
        std::snprintf(sizes, sizeof sizes, "it takes up to %.3Lg GB and the disk has %.3Lg GB left",
                      bytes / 1e9L, room / 1e9L);
        throw Failure("cannot write " + quoted(path), sizes, "give less --size, or another disk");
    }
}

void generate(const std::string &name, const Options &options) {
    const Kind &kind = kind_of(name);
    const std::string path = options.text("output");
    if (path.empty() || !options.has("size"))
        throw Failure("cannot generate " + name, "--size and --output are both needed",
                      "give for example --size 1M --output " + name + ".txt");
    const uint64_t size = uint64_t(options.number("size", 1000000)), seed = options.seed();
    // Graphs are rounded up to a power of two, reviews to a whole one.
    const long double units = name == "graph" ? 2.0L * size : size + (name == "reviews" ? 1e3L : 0);
    require_disk(path, units * (options.has("binary") ? 8 : kind.most_bytes));
    const File file = create(path);
    Writer out(file);
    try {
        if (name == "text") generate_text(out, size, seed);
        if (name == "integers") generate_integers(out, size, seed, options.has("binary"));
        if (name == "reviews") generate_reviews(out, size, seed);
        if (name == "points") generate_points(out, size, seed);
        if (name == "documents") generate_documents(out, size, seed);
        if (name == "graph") generate_graph(out, size, seed);
        out.flush();
    } catch (const Failure &) {
        struct stat status; // half of the data would look like all of it, but spare /dev/full
        if (!::fstat(file.fd(), &status) && S_ISREG(status.st_mode)) ::unlink(path.c_str());
        throw;
    }
    std::printf("{\"kind\": \"%s\", \"bytes\": %" PRIu64 "}\n", name.c_str(), out.written_bytes());
}

} // namespace

int main(int argc, char **argv) {
    const Usage usage{"generate", "generate KIND: text, integers, reviews, points, documents, graph",
                      {"original"}, {"output"}, {"binary"}};
    std::vector<char *> rest(argv, argv + argc);
    std::string kind = argc > 1 ? argv[1] : "nothing";
    if (argc > 1 && kind != "--help") rest.erase(rest.begin() + 1);
    for (char *&argument : rest)
        if (std::string(argument) == "-o") argument = const_cast<char *>("--output");
    return run_program(int(rest.size()), rest.data(), usage,
                       [&](const Options &options) { generate(kind, options); });
}
