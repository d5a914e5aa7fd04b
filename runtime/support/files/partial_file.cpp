#include "runtime/support/files/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::size_t kLargestWrite = std::size_t{1} << 30;

}  // namespace

PartialFile::PartialFile(const std::string& path, std::uint64_t kept_bytes, Unfinished unfinished)
    : path_(path), bytes_(kept_bytes)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        refuse(path, "is no regular file; a stream's results need one");
    const auto partial = partial_name(path);
    open_file(partial, unfinished == Unfinished::kept, kept_bytes == 0);
    if (descriptor_ < 0 && kept_bytes != 0 && errno == ENOENT)
        refuse(partial,
               fmt::format("is missing, and {} bytes were written to it; begin anew without --resume",
                           kept_bytes));
    if (descriptor_ < 0)
        refuse_to_write(path + ": ", errno);
    if (kept_bytes != 0 &&
        (fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < kept_bytes ||
         ftruncate(descriptor_, static_cast<off_t>(kept_bytes)) != 0)) {
        close(descriptor_);
        refuse(partial, fmt::format("holds {} bytes, and {} were written; begin anew without --resume",
                                    status.st_size, kept_bytes));
    }
}

void PartialFile::open_file(const std::string& partial, bool is_kept, bool begins_anew)
{
    struct stat status = {};
    if (!is_kept && lstat(partial.c_str(), &status) != 0) {
        const auto folder = std::filesystem::path(partial).parent_path();
        descriptor_ = open(folder.empty() ? "." : folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
        is_nameless_ = descriptor_ >= 0;
        if (is_nameless_)
            return;
    }
    if (!is_kept)
        leftover_.emplace(partial);
    descriptor_ = open(partial.c_str(), O_RDWR | O_CLOEXEC | (begins_anew ? O_CREAT | O_TRUNC : 0), 0666);
}

PartialFile::~PartialFile()
{
    if (descriptor_ < 0)
        return;
    close(descriptor_);
    if (leftover_)
        std::remove(partial_name(path_).c_str());
}

void PartialFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t count = pwrite(descriptor_, bytes.data(), std::min(bytes.size(), kLargestWrite),
                                     static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            refuse_to_write(path_ + ": ", errno);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
}

void PartialFile::append(std::span<const std::byte> bytes)
{
    write_at(bytes_, bytes);
    bytes_ += bytes.size();
}

void PartialFile::cut(std::uint64_t bytes)
{
    bytes_ = std::min(bytes_, bytes);
    // A failure does no harm, because the next process that continues the file cuts it again.
    [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(bytes_));
}

void PartialFile::rewrite(std::uint64_t offset, std::span<const std::byte> bytes)
{
    write_at(offset, bytes);
    bytes_ = std::max(bytes_, offset + bytes.size());
}

void PartialFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    while (!into.empty()) {
        const ssize_t count =
            pread(descriptor_, into.data(), std::min(into.size(), kLargestWrite), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            throw DeviceError(fmt::format("{}: cannot be read: {}", partial_name(path_),
                                          count == 0 ? "it has become shorter" : error_text(errno)));
        into = into.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
}

void PartialFile::remove()
{
    close(std::exchange(descriptor_, -1));
    if (!is_nameless_)
        std::remove(partial_name(path_).c_str());
}

void PartialFile::commit()
{
    const int descriptor = descriptor_;
    descriptor_ = -1;
    const auto partial = partial_name(path_);
    if (is_nameless_) {
        leftover_.emplace(partial);
        const auto own = fmt::format("/proc/self/fd/{}", descriptor);
        if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, partial.c_str(), AT_SYMLINK_FOLLOW) != 0) {
            const auto error = errno;
            close(descriptor);
            refuse_to_write(path_ + ": ", error);
        }
    }
    // Some file systems report a full disk only here.
    if (close(descriptor) == 0 && std::rename(partial.c_str(), path_.c_str()) == 0)
        return;
    const auto error = errno;
    if (leftover_)
        std::remove(partial.c_str());
    refuse_to_write(path_ + ": ", error);
}

}  // namespace segfold
