#include "runtime/session/choice/record_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <system_error>

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
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
        fail(path_, "cannot be opened for writing");
    const auto bytes = ::lseek(descriptor_, 0, SEEK_END);
    char last = '\n';
    if (bytes > 0 && ::pread(descriptor_, &last, 1, bytes - 1) == 1 && last != '\n' &&
        ::write(descriptor_, "\n", 1) != 1)
        fail(path_, "cannot be written");
}

RecordFile::~RecordFile()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void RecordFile::append(const TuningRecord& record)
{
    // One write() call, so that rows of two programs never mix.
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

RecordStore RecordStore::open(const std::string& folder, bool for_host)
{
    RecordStore store;
    if (!for_host)
        for (const auto& file : tuning_records())
            store.add(parse_records("records/" + std::string(file.path), file.text));
    store.num_shipped_ = store.rows_.size();
    std::vector<std::string> paths;
    std::error_code error;
    if (!folder.empty() && std::filesystem::exists(folder, error)) {
        for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
             at.increment(error))
            if (at->path().extension() == ".jsonl")
                paths.push_back(at->path().string());
        if (error)
            store.complaints_.push_back(fmt::format("{}: cannot be read: {}", folder, error.message()));
    }
    std::ranges::sort(paths);
    for (const auto& path : paths) {
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
    store.rows_ = std::move(rows);
    return store;
}

void RecordStore::add(TuningRecords records)
{
    std::ranges::move(records.rows, std::back_inserter(rows_));
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
