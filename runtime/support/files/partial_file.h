#pragma once
// A file that several runs write one after the other. It gets its name when it is complete.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/support/files/leftovers.h"

namespace segfold {

/// What happens to a file that is never completed.
enum class Unfinished : std::uint8_t {
    kept,     ///< another process may continue the file
    removed,  ///< no process could continue the file
};

/// Writes NAME.partial, which commit() renames to NAME.
///
/// With Unfinished::removed, the file has no name at all before commit(), if the file system supports that
/// (O_TMPFILE). It then vanishes with the process, even if the process is killed.
class PartialFile {
public:
    /// Starts a new file if `kept_bytes` is 0. Otherwise continues an existing file after its first
    /// `kept_bytes` bytes. Throws InputError if the file cannot be written or is shorter than that.
    explicit PartialFile(const std::string& path, std::uint64_t kept_bytes = 0,
                         Unfinished unfinished = Unfinished::kept);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    [[nodiscard]] static std::string partial_name(const std::string& path) { return path + ".partial"; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Appends bytes. Throws like refuse_to_write() if that fails, for example DeviceError if the disk is
    /// full.
    void append(std::span<const std::byte> bytes);
    /// Shortens the file to its first `bytes` bytes, if the system allows it.
    void cut(std::uint64_t bytes);
    /// Writes bytes at `offset`. Overwrites existing bytes, and extends the file if needed.
    void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Reads bytes that were written at `offset`. Throws DeviceError if that fails.
    void read(std::uint64_t offset, std::span<std::byte> into) const;
    /// Removes the file. For callers that have copied its content to another file.
    void remove();
    /// Gives the file its final name. Throws like refuse_to_write() if that fails.
    void commit();

private:
    void open_file(const std::string& partial, bool is_kept, bool begins_anew);
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    std::string path_;
    std::optional<Leftover> leftover_;  ///< empty if a signal must not remove the file
    int descriptor_ = -1;
    bool is_nameless_ = false;
    std::uint64_t bytes_ = 0;
};

}  // namespace segfold
