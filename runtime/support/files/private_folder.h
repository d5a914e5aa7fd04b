#pragma once
// Folders that belong to this user and cannot be changed by other users.
#include <sys/stat.h>

#include <filesystem>

namespace segfold::cache {

inline constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

/// Opens a folder of this user, and makes it with mode 0700 if it does not exist. Returns a descriptor, which
/// the caller must close.
///
/// Throws InputError with the reason if the folder cannot be made or opened, is a link, belongs to another
/// user, or may be written by other users.
[[nodiscard]] int open_private_folder(const std::filesystem::path& path);

/// Throws InputError with the reason if the folder is missing and cannot be made. Leaves no new folder.
void require_makeable(const std::filesystem::path& path);

/// Makes and checks a folder like open_private_folder(), for callers that use the path.
void require_private_folder(const std::filesystem::path& path);

}  // namespace segfold::cache
