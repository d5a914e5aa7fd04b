#pragma once
// Files and folders that must not outlive the process, however it ends.
#include <filesystem>
#include <string>

namespace segfold {

/// Names a path that is to be removed where a signal ends the process while this lives.
///
/// A folder is removed with the files in it, but not with folders in it. Removing the path at any other end
/// is the owner's affair. At most 64 are known at a time; what comes beyond is not removed.
class Leftover {
public:
    explicit Leftover(const std::string& path);
    ~Leftover();
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;

private:
    int place_;
};

/// Lets SIGINT, SIGTERM and SIGHUP remove what Leftovers name before they end the process as they would have;
/// for the program, at its start. A signal that the parent has switched off stays off.
void remove_leftovers_at_signals();

/// The folder for temporary files: $TMPDIR, or /tmp. Throws InputError where it is none.
std::filesystem::path temporary_folder();

/// A new folder of this user alone in temporary_folder(), removed at its end or by a signal, with its files.
class ScratchFolder {
public:
    /// `stem` begins the folder's name. Throws InputError where the folder cannot be made.
    explicit ScratchFolder(const std::string& stem);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Leaves a file, and thereby the folder, for the user to look at.
    void keep() { is_kept_ = true; }

private:
    std::filesystem::path path_;
    Leftover leftover_;
    bool is_kept_ = false;
};

}  // namespace segfold
