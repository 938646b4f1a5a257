// SPDX-License-Identifier: Apache-2.0
// Files that are read in chunks and written through a buffer, errors included.
#ifndef DATACENTER_FILE_HPP
#define DATACENTER_FILE_HPP

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"

class File {
  public:
    File(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
    File(File &&other) noexcept : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }

    static File open(const std::string &path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) throw Failure("cannot read " + quoted(path), system_error(), "name another file");
        File file(fd, path);
        struct stat status;
        if (::fstat(fd, &status) || !S_ISREG(status.st_mode))
            throw Failure("cannot read " + quoted(path), "it is not a regular file",
                          "give --input a file on a disk");
        return file;
    }

    // Return a file that lives in memory, and is gone with the program.
    static File memory() {
        const int fd = ::memfd_create("generated", MFD_CLOEXEC);
        if (fd < 0) throw Failure("cannot generate in memory", system_error(), "use --input");
        return File(fd, "generated data");
    }

    // Return a file without a name in the folder for temporary files.
    static File temporary() {
        const char *folder = std::getenv("TMPDIR");
        std::string path = std::string(folder && *folder ? folder : "/tmp") + "/datacenter-XXXXXX";
        const int fd = ::mkostemp(path.data(), O_CLOEXEC);
        if (fd < 0)
            throw Failure("cannot write a temporary file", system_error(),
                          errno == EMFILE ? "give a larger --block, or ulimit -n"
                                          : "name a folder with room in TMPDIR");
        ::unlink(path.c_str());
        return File(fd, path);
    }

    int fd() const { return fd_; }
    const std::string &name() const { return name_; }

    uint64_t size() const {
        struct stat status;
        if (::fstat(fd_, &status)) fail_reading();
        return uint64_t(status.st_size);
    }

    // Read up to `count` bytes from a place of the file; fewer are at its end only.
    size_t read_at(uint64_t offset, char *to, size_t count) const {
        size_t done = 0;
        while (done < count) {
            const ssize_t got = ::pread(fd_, to + done, count - done, off_t(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_reading();
            if (got == 0) break;
            done += size_t(got);
        }
        return done;
    }

    [[noreturn]] void fail_reading() const {
        throw Failure("cannot read " + quoted(name_), system_error(), "look at the disk it is on");
    }

  private:

    int fd_;
    std::string name_;
};

// The bytes of a file where the program itself loads them. A copy into a buffer would be the
// kernel's work, which no count of the program sees, and would hold a file that memory does not.
class Mapping {
  public:
    explicit Mapping(const File &file) : size_(file.size()) {
        if (size_ == 0) return;
        void *bytes = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.fd(), 0);
        if (bytes == MAP_FAILED) file.fail_reading();
        bytes_ = static_cast<const char *>(bytes);
        ::madvise(bytes, size_, MADV_SEQUENTIAL); // only a hint
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping() {
        if (bytes_) ::munmap(const_cast<char *>(bytes_), size_);
    }

    const char *bytes() const { return bytes_; }
    uint64_t size() const { return size_; }

  private:
    uint64_t size_;
    const char *bytes_ = nullptr;
};

// Reads a file, or a part of it, from front to end.
class Reader {
  public:
    explicit Reader(const File &file, uint64_t begin = 0, size_t chunk_bytes = 1 << 16)
        : mapping_(file), offset_(begin), chunk_bytes_(chunk_bytes) {}

    // Return the next byte as 0 to 255, or -1 at the end.
    int next() {
        if (at_ == count_ && !refill()) return -1;
        return (unsigned char)chunk_[at_++];
    }

    // Return the next bytes up to a chunk; `count` is 0 at the end.
    const char *chunk(size_t &count) {
        refill();
        at_ = count = count_;
        return chunk_;
    }

  private:
    bool refill() {
        const uint64_t left = offset_ < mapping_.size() ? mapping_.size() - offset_ : 0;
        chunk_ = mapping_.bytes() + offset_;
        count_ = left < chunk_bytes_ ? size_t(left) : chunk_bytes_;
        offset_ += count_;
        at_ = 0;
        return count_ > 0;
    }

    const Mapping mapping_;
    uint64_t offset_;
    const size_t chunk_bytes_;
    const char *chunk_ = nullptr;
    size_t at_ = 0, count_ = 0;
};

// Writes to a file through a buffer; `flush` before it goes, which is where errors are seen.
class Writer {
  public:
    explicit Writer(const File &file) : file_(file) { buffer_.reserve(capacity); }

    void add(const char *bytes, size_t count) {
        if (buffer_.size() + count > capacity) flush();
        buffer_.insert(buffer_.end(), bytes, bytes + count);
        written_ += count;
    }
    void add(const std::string &text) { add(text.data(), text.size()); }
    void add(char c) { add(&c, 1); }

    void flush() {
        size_t done = 0;
        while (done < buffer_.size()) {
            const ssize_t put = ::write(file_.fd(), buffer_.data() + done, buffer_.size() - done);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0)
                throw Failure("cannot write " + quoted(file_.name()), system_error(),
                              "make room, or write elsewhere");
            done += size_t(put);
        }
        buffer_.clear();
    }

    uint64_t written_bytes() const { return written_; }

  private:
    static constexpr size_t capacity = 1 << 20;
    const File &file_;
    std::vector<char> buffer_;
    uint64_t written_ = 0;
};

// Make a file, or empty one that exists.
inline File create(const std::string &path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) throw Failure("cannot write " + quoted(path), system_error(), "name another file");
    return File(fd, path);
}

// Return all of a file.
inline std::string contents(const File &file) {
    require_memory(double(file.size()), quoted(file.name()));
    std::string text(file.size(), '\0');
    text.resize(file.read_at(0, text.data(), text.size()));
    return text;
}

#endif
