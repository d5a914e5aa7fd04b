#pragma once
// Folders that nobody else can have prepared or can change.
#include <sys/stat.h>

#include <filesystem>

namespace segfold::cache {

inline constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

/// A descriptor of a folder that belongs to this user alone, made with mode 0700 where there is none; the
/// caller closes it.
///
/// Throws InputError with the reason where the folder cannot be made or opened, is a link, belongs to another
/// user, or may be written by others.
[[nodiscard]] int open_private_folder(const std::filesystem::path& path);

/// Throws InputError with the reason where the folder is not there and cannot be made; makes none.
void require_makeable(const std::filesystem::path& path);

/// The check of open_private_folder() for those who go by the path.
void require_private_folder(const std::filesystem::path& path);

}  // namespace segfold::cache
