#include "runtime/support/files/file.h"

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
#include <mutex>
#include <system_error>

#include "dsl/lasting.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

// On Linux, one call transfers at most about 2^31 bytes.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;
constexpr std::size_t kFirstStreamBytes = std::size_t{1} << 16;

/// Follows symbolic links, so that a rename replaces the file and not the link. The file at the end may not
/// exist yet.
std::string follow_links(const std::string& path)
{
    constexpr int kMostLinks = 40;  // the limit of Linux on links in a path
    std::error_code error;
    std::filesystem::path target = std::filesystem::canonical(path, error);
    if (!error)
        return target.string();
    // Some files have no path of their own, such as a pipe behind /dev/stdout. These are opened through the
    // link.
    struct stat status {};
    if (stat(path.c_str(), &status) == 0)
        return path;
    target = path;
    for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
        if (links == kMostLinks)
            refuse(path, "cannot be written: its links lead in a circle");
        target = target.parent_path() / std::filesystem::read_symlink(target, error);
    }
    return target.string();
}

std::mutex kept_mutex;

bool is_pipe(const struct stat& status) { return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode); }

/// Duplicates the descriptor of standard input. Throws at a second call, because the bytes can be read only
/// once.
int take_standard_input()
{
    static std::atomic<bool> is_taken = false;
    if (is_taken.exchange(true))
        refuse("-", "standard input has been read already; it can be read once");
    const int descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor < 0)
        refuse("-", "standard input cannot be read: " + error_text(errno));
    return descriptor;
}

}  // namespace

OpenError::OpenError(const std::string& path, const std::string& reason, const std::string& purpose)
    : InputError(
          fmt::format("{}: cannot be opened{}{}: {}", path, purpose.empty() ? "" : " ", purpose, reason)),
      path_(path),
      reason_(reason)
{}

/// An open stream that keep_for_next() saves for the next InputFile of the same path.
struct InputFile::Kept {
    int descriptor = -1;
    std::uint64_t bytes = 0;
    std::shared_ptr<const std::vector<std::byte>> contents;
};

std::map<std::string, InputFile::Kept>& InputFile::kept()
{
    static auto& kept = lasting([] { return std::map<std::string, Kept>(); });
    return kept;
}

bool InputFile::take_kept()
{
    const std::scoped_lock lock(kept_mutex);
    const auto found = kept().find(path_);
    if (found == kept().end())
        return false;
    descriptor_ = found->second.descriptor;
    bytes_ = found->second.bytes;
    contents_ = found->second.contents;
    kept().erase(found);
    return true;
}

void InputFile::keep_for_next() const
{
    if (!is_stream() && path_ != "-")
        return;
    const std::scoped_lock lock(kept_mutex);
    kept()[path_] = {fcntl(descriptor_, F_DUPFD_CLOEXEC, 3), bytes_, contents_};
}

InputFile::InputFile(const std::string& path, Accepts accepts) : path_(path)
{
    if (accepts == Accepts::files_and_streams && take_kept())
        return;
    if (accepts == Accepts::files_and_streams && path == "-")
        descriptor_ = take_standard_input();
    else
        open_file(accepts);
    struct stat status = {};
    const bool is_known = fstat(descriptor_, &status) == 0;
    try {
        if (is_known && S_ISREG(status.st_mode))
            bytes_ = static_cast<std::uint64_t>(status.st_size);
        else if (is_known && accepts == Accepts::files_and_streams && is_pipe(status))
            read_stream();
        else
            refuse(path, is_known && S_ISDIR(status.st_mode) ? "is a folder; a regular file is needed"
                         : accepts == Accepts::files_and_streams
                             ? "is neither a regular file nor a pipe; one of them is needed"
                             : "is not a regular file, which is needed");
    } catch (...) {
        close(descriptor_);
        throw;
    }
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::open_file(Accepts accepts)
{
    struct stat status = {};
    const bool waits = accepts == Accepts::files_and_streams && stat(path_.c_str(), &status) == 0 &&
                       S_ISFIFO(status.st_mode);
    // Opens without blocking unless a named pipe is accepted. A blocking open would wait for a writer of a
    // pipe that is then refused.
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK));
    if (descriptor_ < 0)
        throw OpenError(path_, error_text(errno));
}

void InputFile::read_stream()
{
    const auto most = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto gathered = std::make_shared<std::vector<std::byte>>(kFirstStreamBytes);
    auto& contents = *gathered;
    contents_ = gathered;
    for (;;) {
        if (bytes_ == contents.size())
            contents.resize(std::min(2 * contents.size(), most));
        if (bytes_ == most)
            refuse(path_,
                   fmt::format("gives more than {} bytes, half of this machine's memory; write them to a "
                               "file",
                               most));
        const ssize_t count = ::read(descriptor_, contents.data() + bytes_,
                                     std::min(contents.size() - bytes_, kLargestTransfer));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            refuse(path_, "cannot be read: " + error_text(errno));
        if (count == 0)
            return;
        bytes_ += static_cast<std::uint64_t>(count);
    }
}

void InputFile::refuse_short(std::uint64_t end) const
{
    // The file may have become shorter. All threads that read it must report the same length.
    struct stat status = {};
    const auto bytes = fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    refuse(path_, fmt::format("ends after {} bytes, where {} more were expected", std::min(bytes, end),
                              end - std::min(bytes, end)));
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    if (contents_) {
        const auto begin = std::min(offset, bytes_);
        if (bytes_ - begin < into.size())
            refuse(path_, fmt::format("ends after {} bytes, where {} more were expected", bytes_,
                                      into.size() - (bytes_ - begin)));
        std::ranges::copy_n(contents_->begin() + static_cast<std::ptrdiff_t>(begin), std::ssize(into),
                            into.begin());
        return;
    }
    while (!into.empty()) {
        const std::size_t size = std::min(into.size(), kLargestTransfer);
        const ssize_t count = pread(descriptor_, into.data(), size, static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            refuse(path_, "cannot be read: " + error_text(errno));
        if (count == 0)
            refuse_short(offset + into.size());
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
        refuse_to_write(path + ": ", errno);
    if (!temporary_.empty())
        leftover_.emplace(temporary_);
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
            refuse_to_write(path_ + ": ", errno);
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
        refuse_to_write(path_ + ": ", errno);
    if (temporary_.empty())
        return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
        refuse_to_write(path_ + ": ", errno);
    leftover_.reset();
    temporary_.clear();
}

void write_whole(const std::string& path, std::string_view text)
{
    OutputFile file(path);
    file.write(text);
    file.commit();
}

void require_appendable(const std::string& path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        require_writable(path);
    else if (access(path.c_str(), W_OK) != 0)
        refuse_to_write(path + ": ", errno);
}

void require_writable(const std::string& path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode))
        (void)OutputFile(path);
    else if (S_ISDIR(status.st_mode) || access(path.c_str(), W_OK) != 0)
        refuse(path, "cannot be written: " + error_text(S_ISDIR(status.st_mode) ? EISDIR : errno));
}

}  // namespace segfold
