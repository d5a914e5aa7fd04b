#include "runtime/session/choice/record_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/user_folders.h"

namespace segfold {

std::span<const EmbeddedFile> tuning_records();

namespace {

constexpr std::uint64_t kMostRecordBytes = std::uint64_t{1} << 30;

[[noreturn]] void fail(const std::string& path, const std::string& what)
{
    throw InputError(fmt::format("{}: {}: {}; set SEGFOLD_TUNING_DIR to a folder that can be written", path,
                                 what, std::generic_category().message(errno)));
}

std::string read_whole(const std::string& path)
{
    const InputFile file(path);
    if (file.bytes() > kMostRecordBytes)
        throw InputError(fmt::format("{}: the file has {} bytes; records have at most {}", path, file.bytes(),
                                     kMostRecordBytes));
    std::string text(file.bytes(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

/// Returns the files of records in a folder. If the folder cannot be read, adds a complaint.
std::vector<std::string> record_paths(const std::string& folder, std::vector<std::string>& complaints)
{
    std::vector<std::string> paths;
    std::error_code error;
    if (!folder.empty() && std::filesystem::exists(folder, error)) {
        for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
             at.increment(error))
            if (at->path().extension() == ".jsonl")
                paths.push_back(at->path().string());
        if (error)
            complaints.push_back(fmt::format("{}: cannot be read: {}", folder, error.message()));
    }
    std::ranges::sort(paths);
    return paths;
}

/// Keeps out other processes that lock the same file.
class Lock {
public:
    explicit Lock(int descriptor) : descriptor_(descriptor)
    {
        while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {}
    }
    ~Lock() { release(); }
    Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Lock& operator=(Lock&& other) noexcept
    {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

    void release()
    {
        if (descriptor_ >= 0)
            ::flock(descriptor_, LOCK_UN);
        descriptor_ = -1;
    }

private:
    int descriptor_;
};

/// True if `path` still names the open file `descriptor`.
bool is_at(int descriptor, const std::string& path)
{
    struct stat open = {}, now = {};
    return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &now) == 0 && open.st_ino == now.st_ino &&
           open.st_dev == now.st_dev;
}

}  // namespace

std::string record_folder()
{
    const char* folder = std::getenv("SEGFOLD_TUNING_DIR");
    return folder != nullptr && *folder != '\0' ? folder : user_data_folder("tuning").string();
}

RecordFile::RecordFile(std::string path) : path_(std::move(path))
{
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
    open();
}

RecordFile::~RecordFile() { close(); }

void RecordFile::open()
{
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
        fail(path_, "cannot be opened for writing");
    const auto bytes = ::lseek(descriptor_, 0, SEEK_END);
    char last = '\n';
    if (bytes > 0 && ::pread(descriptor_, &last, 1, bytes - 1) == 1 && last != '\n' &&
        ::write(descriptor_, "\n", 1) != 1)
        fail(path_, "cannot be written");
}

void RecordFile::close()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
    descriptor_ = -1;
}

void RecordFile::append(const TuningRecord& record)
{
    // forget_records() may have replaced the file.
    Lock lock(descriptor_);
    while (!is_at(descriptor_, path_)) {
        lock.release();
        close();
        open();
        lock = Lock(descriptor_);
    }
    // One write() call, so that rows of two processes never mix.
    const auto line = print(record) + "\n";
    const auto written = ::write(descriptor_, line.data(), line.size());
    // If only a part of the line was written, a second call writes the rest or reports the error.
    if (written < 0 ||
        (written < std::ssize(line) &&
         ::write(descriptor_, line.data() + written, line.size() - static_cast<std::size_t>(written)) !=
             std::ssize(line) - written))
        fail(path_, "cannot be written");
    if (::fsync(descriptor_) != 0 && errno != EINVAL)
        fail(path_, "cannot be brought to the disk");
}

std::size_t forget_records(const std::string& folder,
                           const std::function<bool(const TuningRecord& record)>& is_gone)
{
    std::vector<std::string> complaints;
    std::size_t num_gone = 0;
    for (const auto& path : record_paths(folder, complaints)) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (descriptor < 0)
            fail(path, "cannot be opened for writing");
        const std::unique_ptr<const int, void (*)(const int*)> closed(&descriptor,
                                                                      [](const int* one) { ::close(*one); });
        const Lock lock(descriptor);
        std::string kept;
        std::size_t gone = 0;
        const auto text = read_whole(path);
        for (std::string_view rest = text; !rest.empty();) {
            const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
            rest.remove_prefix(line.size());
            try {
                if (is_gone(parse_record(path, line.substr(0, line.find_last_not_of('\n') + 1)))) {
                    ++gone;
                    continue;
                }
            } catch (const InputError&) {
                // the line is no record of this version, so it stays
            }
            kept += line;
        }
        if (gone != 0)
            write_whole(path, kept);
        num_gone += gone;
    }
    if (!complaints.empty())
        throw InputError(complaints.front());
    return num_gone;
}

RecordStore RecordStore::open(const std::string& folder, bool for_host)
{
    RecordStore store;
    if (!for_host)
        for (const auto& file : tuning_records())
            store.add(parse_records("records/" + std::string(file.path), file.text));
    store.num_shipped_ = store.rows_.size();
    for (const auto& path : record_paths(folder, store.complaints_)) {
        try {
            store.add(parse_records(path, read_whole(path)));
        } catch (const InputError& failure) {
            store.complaints_.emplace_back(failure.what());
        }
    }
    return store;
}

RecordStore RecordStore::of(std::vector<TuningRecord> rows)
{
    RecordStore store;
    store.add({std::move(rows), {}});
    return store;
}

void RecordStore::add(TuningRecords records)
{
    for (auto& row : records.rows)
        (row.phase == TuningPhase::spot ? spot_rows_ : rows_).push_back(std::move(row));
    std::ranges::move(records.complaints, std::back_inserter(complaints_));
}

std::string record_path(const std::string& folder, const DeviceIdentity& device)
{
    std::string stem;
    for (const unsigned char c : device.name)
        if (std::isalnum(c) != 0)
            stem += static_cast<char>(std::tolower(c));
        else if (!stem.empty() && stem.back() != '_')
            stem += '_';
    return fmt::format("{}/{}.jsonl", folder, stem.empty() ? "unknown" : stem);
}

}  // namespace segfold
