#pragma once
// Lets the processes of a user do something one after the other, such as time kernels on one device.
#include <filesystem>

namespace segfold {

/// A turn at something of which `file` is the name. At most one object for a file exists at a time, over all
/// processes of this user; a process that ends gives its turn back.
///
/// The file's folder is one of this user alone, and made if it is missing. Where it cannot be made or opened,
/// as for an empty path, nobody waits. A thread that has a turn must not ask for another one of the same
/// file.
class Turn {
public:
    /// Waits until the others have had theirs. Throws Stopped if this thread is stopped meanwhile.
    explicit Turn(const std::filesystem::path& file);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    int descriptor_ = -1;
};

}  // namespace segfold
