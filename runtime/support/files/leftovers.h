#pragma once
// Removes temporary files and folders even if a signal ends the process.
#include <filesystem>
#include <string>

namespace segfold {

/// While this object lives, a signal that ends the process also removes `path`.
///
/// A folder is removed with its files, but not if it contains folders. If no signal ends the process, the
/// owner must remove the path. At most 64 paths are registered at a time. Further paths are not removed.
class Leftover {
public:
    explicit Leftover(const std::string& path);
    ~Leftover();
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;

private:
    int place_;
};

/// Makes SIGINT, SIGTERM and SIGHUP remove the paths of all Leftovers before they end the process as usual.
/// The program calls this function at its start. A signal that the parent ignores stays ignored.
void remove_leftovers_at_signals();

/// Returns the folder for temporary files: $TMPDIR, or /tmp. Throws InputError if that path is not a folder.
std::filesystem::path temporary_folder();

/// A new private folder in temporary_folder(). It is removed with its files by the destructor or by a signal.
class ScratchFolder {
public:
    /// `stem` is the beginning of the folder's name. Throws InputError if the folder cannot be made.
    explicit ScratchFolder(const std::string& stem);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Keeps the folder and its files for the user to look at.
    void keep() { is_kept_ = true; }

private:
    std::filesystem::path path_;
    Leftover leftover_;
    bool is_kept_ = false;
};

}  // namespace segfold
