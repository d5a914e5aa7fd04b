#pragma once
// A file that is written over several runs and appears under its name when it is complete.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/support/files/leftovers.h"

namespace segfold {

/// What becomes of a file that is never complete.
enum class Unfinished : std::uint8_t {
    kept,     ///< another process may go on with it
    removed,  ///< as nothing can
};

/// Writes NAME.partial, which becomes NAME by commit().
///
/// What is to be removed has no name until then, where the file system has such files (O_TMPFILE): it goes
/// with the process, even where that is killed.
class PartialFile {
public:
    /// Begins anew, or goes on behind the first `kept_bytes` of what is there. Throws InputError where it
    /// cannot be written, or holds fewer bytes.
    explicit PartialFile(const std::string& path, std::uint64_t kept_bytes = 0,
                         Unfinished unfinished = Unfinished::kept);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    [[nodiscard]] static std::string partial_name(const std::string& path) { return path + ".partial"; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Throws DeviceError, as where the disk is full.
    void append(std::span<const std::byte> bytes);
    /// Takes back what stands behind the first `bytes`, as far as the file can be cut.
    void cut(std::uint64_t bytes);
    /// Writes over what stands at `offset`.
    void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Fills `into` from what was written at `offset`. Throws DeviceError.
    void read(std::uint64_t offset, std::span<std::byte> into) const;
    /// Removes it, where another file holds what it held.
    void remove();
    /// Gives it its name. Throws InputError.
    void commit();

private:
    void open_file(const std::string& partial, bool is_kept, bool begins_anew);
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    std::string path_;
    std::optional<Leftover> leftover_;  ///< of a file that is to be removed
    int descriptor_ = -1;
    bool is_nameless_ = false;
    std::uint64_t bytes_ = 0;
};

}  // namespace segfold
