#pragma once
// A lock between the processes of a user, for example for timing kernels on one device.
#include <filesystem>

namespace segfold {

/// Holds a lock on `file`. At most one object holds this lock at a time, over all processes of this user. A
/// process that ends releases its locks.
///
/// The file's folder is made if it is missing, and must be private to this user. If the folder or the file
/// cannot be made or opened, as for an empty path, there is no lock and nobody waits. A thread that holds a
/// lock must not lock the same file again.
class Turn {
public:
    /// Waits until no other object holds the lock. Throws Stopped if this thread is stopped during this time.
    explicit Turn(const std::filesystem::path& file);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    int descriptor_ = -1;
};

}  // namespace segfold
