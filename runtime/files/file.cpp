#include "runtime/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "dsl/error.h"

namespace segfold {
namespace {

// One call moves at most about 2^31 bytes on Linux, whatever is asked.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;

[[noreturn]] void refuse(const std::string& path, const std::string& what)
{
    throw InputError(fmt::format("{}: {}", path, what));
}

std::string reason(int error) { return std::generic_category().message(error); }

/// The path with symbolic links followed, so that a rename replaces the file and not the link.
std::string follow_links(const std::string& path)
{
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path)
{
    // Non-blocking, so that opening a pipe without a writer returns and the pipe is refused below.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0)
        refuse(path, errno == ENOENT ? "the file does not exist" : "cannot be opened: " + reason(errno));
    struct stat status = {};
    const bool is_known = fstat(descriptor_, &status) == 0;
    if (!is_known || !S_ISREG(status.st_mode)) {
        close(descriptor_);
        refuse(path, is_known && S_ISDIR(status.st_mode) ? "is a folder; a regular file is needed"
                                                         : "is not a regular file, which is needed");
    }
    bytes_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    while (!into.empty()) {
        const std::size_t size = std::min(into.size(), kLargestTransfer);
        const ssize_t count = pread(descriptor_, into.data(), size, static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            refuse(path_, "cannot be read: " + reason(errno));
        if (count == 0)
            refuse(path_,
                   fmt::format("ends after {} bytes, where {} more were expected", offset, into.size()));
        into = into.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(follow_links(path))
{
    struct stat status = {};
    if (stat(target_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        static std::atomic<unsigned> counter = 0;
        temporary_ = fmt::format("{}.{}.{}.tmp", target_, getpid(), counter++);
        descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (descriptor_ < 0)
        refuse(path, "cannot be written: " + reason(errno));
}

OutputFile::~OutputFile()
{
    if (descriptor_ >= 0)
        close(descriptor_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes)
{
    bytes_ += bytes.size();
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLargestTransfer));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            refuse(path_, "cannot be written: " + reason(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::commit()
{
    const int descriptor = descriptor_;
    descriptor_ = -1;
    // Some file systems report a full disk only here.
    if (close(descriptor) != 0)
        refuse(path_, "cannot be written: " + reason(errno));
    if (temporary_.empty())
        return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
        refuse(path_, "cannot be written: " + reason(errno));
    temporary_.clear();
}

}  // namespace segfold
