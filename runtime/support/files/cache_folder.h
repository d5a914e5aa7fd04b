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
    std::int64_t used_nanoseconds = 0;  ///< when it was last written or read, since 1970
};

/// The name of a file: a digest of 64 hexadecimal digits and what kind of file it is, "kernel".
[[nodiscard]] std::string file_name(std::string_view key, std::string_view kind);

/// A folder that belongs to this user alone, bounded in bytes; files appear whole or not at all.
///
/// Everything goes through a descriptor of the folder, so that a path that changes under way leads nowhere
/// else. Links, pipes and files of other users are not read; what is not named as file_name() names it is
/// neither listed, counted nor removed. May be used from any thread and any number of
/// processes.
class Folder {
public:
    /// Opens the folder, made with mode 0700 where there is none.
    ///
    /// Throws InputError with the reason where it cannot be made or read, is a link, belongs to another user,
    /// or may be written by others.
    Folder(std::filesystem::path path, std::uint64_t most_bytes);
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// The bytes of a file, which then counts as used just now; nothing where there is no readable file.
    [[nodiscard]] std::optional<std::string> read(const std::string& name) const;

    /// The same, without counting as a use.
    [[nodiscard]] std::optional<std::string> peek(const std::string& name) const;

    /// Puts a file in place of any other of the name, then removes the least recently used ones while there
    /// are more bytes than the bound.
    ///
    /// Returns why it could not be written, or nothing; the folder is as before then.
    [[nodiscard]] std::string write(const std::string& name, std::string_view bytes);

    /// Removes a file; false where that is impossible. One that is gone already counts as removed.
    bool remove(const std::string& name) const;

    /// The files, most recently used first; without those that a writer has not finished.
    [[nodiscard]] std::vector<FileInfo> list() const;

    /// Removes what writers that were stopped have left; all of it where `even_young`.
    void remove_unfinished(bool even_young) const;

private:
    [[nodiscard]] std::vector<FileInfo> scan(bool unfinished) const;
    void keep_within_bound(std::uint64_t added_bytes);

    std::filesystem::path path_;
    std::uint64_t most_bytes_;
    int descriptor_ = -1;
    std::mutex mutex_;
    std::optional<std::uint64_t> estimated_bytes_;  ///< of all files; nothing: never counted
};

}  // namespace segfold::cache
