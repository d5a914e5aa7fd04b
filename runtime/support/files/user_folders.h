#pragma once
// Where a user's files are, as the XDG Base Directory Specification says.
#include <filesystem>
#include <string_view>

namespace segfold {

/// Files that can be made again: $XDG_CACHE_HOME/segfold/NAME, else ~/.cache/segfold/NAME; empty where
/// neither variable holds an absolute path.
[[nodiscard]] std::filesystem::path user_cache_folder(std::string_view name);

/// Files that are to stay: $XDG_DATA_HOME/segfold/NAME, else ~/.local/share/segfold/NAME; empty where neither
/// variable holds an absolute path.
[[nodiscard]] std::filesystem::path user_data_folder(std::string_view name);

}  // namespace segfold
