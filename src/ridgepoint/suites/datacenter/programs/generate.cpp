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

std::string folder_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Half of the data would look like all of it: a file gets its name when it is complete, so that
// nothing is left of it if this program is stopped or killed, and an older one stays till then.
class Output {
  public:
    explicit Output(std::string path) : path_(target_of(std::move(path))), file_(open()) {}
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;
    ~Output() {
        if (!part_.empty()) ::unlink(part_.c_str());
    }

    const File &file() const { return file_; }

    void publish() {
        if (is_direct_) return;
        if (part_.empty()) { // it has no name at all, and linking may not take one that is in use
            const std::string part = path_ + ".part",
                              self = "/proc/self/fd/" + std::to_string(file_.fd());
            ::unlink(part.c_str());
            if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, part.c_str(), AT_SYMLINK_FOLLOW)) fail();
            part_ = part;
        }
        if (::rename(part_.c_str(), path_.c_str())) fail();
        part_.clear();
    }

  private:
    // Return where a path leads: a link stays one.
    static std::string target_of(std::string path) {
        char *real = ::realpath(path.c_str(), nullptr);
        if (real) path = real;
        std::free(real);
        return path;
    }

    File open() {
        struct stat status;
        const bool is_there = !::stat(path_.c_str(), &status);
        is_direct_ = is_there && !S_ISREG(status.st_mode); // as /dev/full is
        if (is_direct_) return create(path_);
        if (is_there && ::access(path_.c_str(), W_OK)) fail();
        const int fd = ::open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0) return File(fd, path_);
        part_ = path_ + ".part"; // where a disk knows no files without a name
        return create(part_);
    }

    [[noreturn]] void fail() const {
        throw Failure("cannot write " + quoted(path_), system_error(), "name another file");
    }

    std::string path_, part_; // `part_`: its name until it is complete; none if empty
    bool is_direct_ = false;
    File file_;
};

void require_disk(const std::string &path, long double bytes) {
    const std::string folder = folder_of(path);
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
    Output output(path);
    Writer out(output.file());
    if (name == "text") generate_text(out, size, seed);
    if (name == "integers") generate_integers(out, size, seed, options.has("binary"));
    if (name == "reviews") generate_reviews(out, size, seed);
    if (name == "points") generate_points(out, size, seed);
    if (name == "documents") generate_documents(out, size, seed);
    if (name == "graph") generate_graph(out, size, seed);
    out.flush();
    output.publish();
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
