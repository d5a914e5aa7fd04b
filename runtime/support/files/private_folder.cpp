#include "runtime/support/files/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "dsl/error.h"
#include "runtime/support/files/refuse.h"

namespace segfold::cache {
namespace {

namespace fs = std::filesystem;

/// Returns the reason why an open folder is not private; empty if it is private.
std::string objection_to(int descriptor)
{
    struct stat status = {};
    if (fstat(descriptor, &status) != 0)
        return fmt::format("cannot be looked at: {}", error_text(errno));
    if (status.st_uid != geteuid())
        return fmt::format("belongs to user {}, and this is user {}", status.st_uid, geteuid());
    if ((status.st_mode & kWritableByOthers) != 0)
        return fmt::format("may be written by others (mode {:04o}); chmod 0700 makes it private",
                           status.st_mode & 07777);
    return "";
}

}  // namespace

int open_private_folder(const fs::path& path)
{
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        throw InputError(fmt::format("{} cannot be made: {}", path.string(), error_text(errno)));
    const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        throw InputError(errno == ENOTDIR || errno == ELOOP
                             ? fmt::format("{} is a link or no folder; a folder is needed", path.string())
                             : fmt::format("{} cannot be opened: {}", path.string(), error_text(errno)));
    const auto objection = objection_to(descriptor);
    if (objection.empty())
        return descriptor;
    close(descriptor);
    throw InputError(fmt::format("{} {}", path.string(), objection));
}

void require_makeable(const fs::path& path)
{
    std::error_code ignored;
    auto missing = path;
    while (missing.has_relative_path() && !fs::exists(fs::symlink_status(missing.parent_path(), ignored)))
        missing = missing.parent_path();
    // Makes a folder and removes it again, because access rights alone do not decide: /proc, for example,
    // accepts no new folders.
    if (mkdir(missing.c_str(), S_IRWXU) == 0)
        rmdir(missing.c_str());
    else if (errno != EEXIST)
        throw InputError(fmt::format("{} cannot be made: {}", path.string(), error_text(errno)));
}

void require_private_folder(const fs::path& path) { close(open_private_folder(path)); }

}  // namespace segfold::cache
