#include "runtime/support/files/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <memory>
#include <random>
#include <system_error>

#include "dsl/error.h"
#include "runtime/support/files/private_folder.h"
#include "runtime/support/files/refuse.h"

namespace segfold::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".segfold-unfinished-";
constexpr std::int64_t kNanoseconds = 1'000'000'000;
// Age from which an unfinished file counts as abandoned by its writer. Writing takes only a moment.
constexpr std::int64_t kUnfinishedNanoseconds = 15 * 60 * kNanoseconds;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kNanoseconds + time.tv_nsec; }

std::int64_t now()
{
    timespec time = {};
    clock_gettime(CLOCK_REALTIME, &time);
    return nanoseconds(time);
}

// True for names that file_name() makes. Files with other names must be neither counted nor removed.
bool is_our_name(std::string_view name)
{
    constexpr std::size_t kDigits = 64;
    return name.size() > kDigits + 1 && name[kDigits] == '.' &&
           name.find_first_not_of("0123456789abcdef") == kDigits;
}

// True for a file that came from another machine, and for the record of the compiler that made it.
bool is_imported(std::string_view name)
{
    return is_our_name(name) && name.substr(name.find('.') + 1).starts_with(kImportedKind);
}

class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor()
    {
        if (value_ >= 0)
            close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return value_; }

private:
    int value_;
};

// True for a regular file of this user that no other user may write.
bool is_trusted(const struct stat& status)
{
    return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & kWritableByOthers) == 0;
}

// Reads a trusted file. Opens it without blocking, so that a pipe of this name does not hang.
std::optional<std::string> read_trusted(int folder, const std::string& name, std::uint64_t most_bytes,
                                        bool is_use)
{
    const Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status = {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !is_trusted(status) ||
        static_cast<std::uint64_t>(status.st_size) > most_bytes)
        return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t count = ::read(file.get(), bytes.data() + at, bytes.size() - at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return std::nullopt;
        at += static_cast<std::size_t>(count);
    }
    // The modification time records the last use, because some mounts keep no access times and backups change
    // them. A failure on a read-only disk does no harm, since no file is removed there.
    if (is_use)
        (void)futimens(file.get(), nullptr);
    return bytes;
}

int write_all(int file, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR)
            return errno;
        if (count > 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return fsync(file) == 0 ? 0 : errno;
}

// True if a file of this size exceeds the process's limit. Writing it would end the process with a signal.
bool exceeds_file_limit(std::size_t bytes)
{
    rlimit limit = {};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

std::string unfinished_name()
{
    static std::atomic<unsigned> count = 0;
    std::random_device random;
    return fmt::format("{}{}-{}-{:08x}", kUnfinished, getpid(), count++, random());
}

}  // namespace

std::string file_name(std::string_view key, std::string_view kind)
{
    auto name = fmt::format("{}.{}", key, kind);
    if (!is_our_name(name))
        throw InternalError("'" + name + "' does not begin with a digest");
    return name;
}

Folder::Folder(fs::path path, std::uint64_t most_bytes)
    : path_(std::move(path)), most_bytes_(most_bytes), descriptor_(open_private_folder(path_))
{}

Folder::~Folder() { close(descriptor_); }

std::optional<std::string> Folder::read(const std::string& name) const
{
    return read_trusted(descriptor_, name, most_bytes_, true);
}

std::optional<std::string> Folder::peek(const std::string& name) const
{
    return read_trusted(descriptor_, name, most_bytes_, false);
}

std::string Folder::write(const std::string& name, std::string_view bytes)
{
    if (bytes.size() > most_bytes_)
        return fmt::format("{} bytes are more than the {} that the folder may hold", bytes.size(),
                           most_bytes_);
    if (exceeds_file_limit(bytes.size()))
        return fmt::format("{} bytes are more than this process may write to a file (ulimit -f)",
                           bytes.size());
    const std::string unfinished = unfinished_name();
    int error = 0;
    {
        const Descriptor file(openat(descriptor_, unfinished.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                     S_IRUSR | S_IWUSR));
        if (file.get() < 0)
            return error_text(errno);
        error = write_all(file.get(), bytes);
    }
    if (error == 0 && renameat(descriptor_, unfinished.c_str(), descriptor_, name.c_str()) != 0)
        error = errno;
    if (error != 0) {
        unlinkat(descriptor_, unfinished.c_str(), 0);
        return error_text(error);
    }
    keep_within_bound(bytes.size());
    return {};
}

bool Folder::remove(const std::string& name) const
{
    return unlinkat(descriptor_, name.c_str(), 0) == 0 || errno == ENOENT;
}

std::vector<FileInfo> Folder::scan(bool unfinished) const
{
    // Opens the folder anew, because duplicated descriptors share their position in the listing.
    const int own = openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(own < 0 ? nullptr : fdopendir(own), closedir);
    std::vector<FileInfo> files;
    if (!stream)
        return files;
    while (const dirent* entry = readdir(stream.get())) {
        const std::string name = entry->d_name;
        struct stat status = {};
        if (!(unfinished ? name.starts_with(kUnfinished) : is_our_name(name)) ||
            fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(status.st_mode))
            continue;
        files.push_back({name, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim)});
    }
    std::ranges::sort(files, [](const FileInfo& a, const FileInfo& b) {
        return std::pair(b.used_nanoseconds, a.name) < std::pair(a.used_nanoseconds, b.name);
    });
    return files;
}

std::vector<FileInfo> Folder::list() const { return scan(false); }

void Folder::remove_unfinished(bool even_young) const
{
    const std::int64_t oldest = now() - kUnfinishedNanoseconds;
    for (const FileInfo& file : scan(true))
        if (even_young || file.used_nanoseconds < oldest)
            remove(file.name);
}

// Removes old files if the folder exceeds its bound. Counts the bytes of all files once. Later, adds only the
// bytes that this process writes.
void Folder::keep_within_bound(std::uint64_t added_bytes)
{
    const std::lock_guard lock(mutex_);
    if (estimated_bytes_) {
        *estimated_bytes_ += added_bytes;
        if (*estimated_bytes_ <= most_bytes_)
            return;
    }
    remove_unfinished(false);
    const std::vector<FileInfo> files = list();
    std::uint64_t bytes = 0;
    for (const FileInfo& file : files)
        bytes += file.bytes;
    // Frees an eighth of the bound, so that the next write need not count again.
    if (bytes > most_bytes_)
        for (std::size_t i = files.size(); i-- > 1 && bytes > most_bytes_ - most_bytes_ / 8;)
            if (!is_imported(files[i].name) && remove(files[i].name))
                bytes -= files[i].bytes;
    estimated_bytes_ = bytes;
}

}  // namespace segfold::cache
