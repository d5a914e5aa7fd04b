#pragma once
// A private folder of small files that many processes share without locks.
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cache {

/// One file of a folder.
struct FileInfo {
    std::string name;
    std::uint64_t bytes = 0;
    std::int64_t used_nanoseconds = 0;  ///< time of last use (write or read), since 1970
};

/// Kind of files that came from other machines. No writer removes them to keep the bound, because this
/// machine may be unable to make them again. The same holds for kinds that begin with this word.
inline constexpr std::string_view kImportedKind = "imported";

/// Makes a file's name from a digest of 64 hexadecimal digits and the kind of file, such as "kernel".
[[nodiscard]] std::string file_name(std::string_view key, std::string_view kind);

/// A private folder of this user with a bound on its bytes. Files appear whole or not at all.
///
/// All access goes through a descriptor of the folder, so a later change of the path does not redirect it.
/// Links, pipes and files of other users are not read. Files without a name of file_name() are not listed,
/// counted or removed. Threads and processes may share a folder.
class Folder {
public:
    /// Opens the folder, and makes it with mode 0700 if it does not exist.
    ///
    /// Throws InputError with the reason if the folder cannot be made or read, is a link, belongs to another
    /// user, or may be written by other users.
    Folder(std::filesystem::path path, std::uint64_t most_bytes);
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Reads a file and marks it as used now. Returns nothing if no readable file has this name.
    [[nodiscard]] std::optional<std::string> read(const std::string& name) const;

    /// Reads a file without marking it as used.
    [[nodiscard]] std::optional<std::string> peek(const std::string& name) const;

    /// Writes a file, or replaces the file of that name. Then removes the least recently used files while the
    /// folder exceeds its bound, but no imported ones.
    ///
    /// Returns empty text, or the reason of a failure. A failure leaves the folder unchanged.
    [[nodiscard]] std::string write(const std::string& name, std::string_view bytes);

    /// Removes a file. Returns false if that fails; a missing file counts as removed.
    bool remove(const std::string& name) const;

    /// Lists the files, most recently used first. Omits files that a writer has not finished.
    [[nodiscard]] std::vector<FileInfo> list() const;

    /// Removes unfinished files that were last written more than 15 minutes ago. Their writers must have
    /// stopped. If `even_young` is true, removes all unfinished files.
    void remove_unfinished(bool even_young) const;

private:
    [[nodiscard]] std::vector<FileInfo> scan(bool unfinished) const;
    void keep_within_bound(std::uint64_t added_bytes);

    std::filesystem::path path_;
    std::uint64_t most_bytes_;
    int descriptor_ = -1;
    std::mutex mutex_;
    std::optional<std::uint64_t> estimated_bytes_;  ///< bytes of all files; empty before the first count
};

}  // namespace segfold::cache
