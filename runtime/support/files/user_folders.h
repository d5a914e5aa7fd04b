#pragma once
// Folders of a user's files, by the XDG Base Directory Specification.
#include <filesystem>
#include <string_view>

namespace segfold {

/// Returns the folder for files that can be made again: $XDG_CACHE_HOME/segfold/NAME, else
/// ~/.cache/segfold/NAME. Empty if neither XDG_CACHE_HOME nor HOME is an absolute path.
[[nodiscard]] std::filesystem::path user_cache_folder(std::string_view name);

/// Returns the folder for files that must be kept: $XDG_DATA_HOME/segfold/NAME, else
/// ~/.local/share/segfold/NAME. Empty if neither XDG_DATA_HOME nor HOME is an absolute path.
[[nodiscard]] std::filesystem::path user_data_folder(std::string_view name);

}  // namespace segfold
