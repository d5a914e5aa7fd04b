#pragma once
// A file that several runs write in turn. It gets its name when it is complete.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/support/files/leftovers.h"

namespace segfold {

/// The fate of a file that is never completed.
enum class Unfinished : std::uint8_t {
    kept,     ///< another process may continue it
    removed,  ///< no process could continue it
};

/// Writes NAME.partial, which commit() renames to NAME.
///
/// If unfinished files are to be removed and the file system has files without a name (O_TMPFILE), the file
/// has no name until then. It then vanishes with the process, even if that is killed.
class PartialFile {
public:
    /// Starts a new file, or continues behind the first `kept_bytes` of an existing one. Throws InputError if
    /// the file cannot be written, or is shorter than that.
    explicit PartialFile(const std::string& path, std::uint64_t kept_bytes = 0,
                         Unfinished unfinished = Unfinished::kept);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    [[nodiscard]] static std::string partial_name(const std::string& path) { return path + ".partial"; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Appends bytes. Throws DeviceError, for instance if the disk is full.
    void append(std::span<const std::byte> bytes);
    /// Removes everything behind the first `bytes` bytes, if the file can be cut.
    void cut(std::uint64_t bytes);
    /// Overwrites the bytes at `offset`.
    void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Reads bytes written at `offset`. Throws DeviceError.
    void read(std::uint64_t offset, std::span<std::byte> into) const;
    /// Removes the file, for use once another file holds its content.
    void remove();
    /// Renames the file to its final name. Throws InputError.
    void commit();

private:
    void open_file(const std::string& partial, bool is_kept, bool begins_anew);
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    std::string path_;
    std::optional<Leftover> leftover_;  ///< if the file is to be removed
    int descriptor_ = -1;
    bool is_nameless_ = false;
    std::uint64_t bytes_ = 0;
};

}  // namespace segfold
